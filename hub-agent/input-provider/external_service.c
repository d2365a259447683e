/* Any service that answers with sets. spec/resource-set.md 19.8. */
#include "common/base/limits.h"
#include "hub-agent/input-provider/sources.h"

#define RETRIES 4
#define RETRY_MS 1000
#define RETRY_MAX_MS 30000

static int authorize(struct source *s, struct transfer_call *c, struct error *err)
{
        const struct source_credentials *k = &s->credentials;

        if (!k->token && !k->username)
                return 0;
        c->secret = (struct http_header){
                "Authorization", k->token ? arena_printf(s->arena, "Bearer %s", k->token)
                                          : transfer_basic(s->arena, k->username, or_empty(k->password))
        };
        return c->secret.value ? 0 : error_no_memory(err);
}

static int call(struct source *s, const char *url, struct http_response *ret, struct error *err)
{
        struct transfer_call c = { .url = s->url,
                                   .headers = { { "Accept", "application/json" } },
                                   .n_headers = 1,
                                   .max_body = LIMIT_INPUT_SERVICE_BYTES,
                                   .network_retries = RETRIES,
                                   .retry_ms = RETRY_MS,
                                   .retry_max_ms = RETRY_MAX_MS };

        TRY(authorize(s, &c, err));
        int code = source_call(s, &c, ret, err);

        if (code == ERR_LIMIT)
                error_wrap(err, "external service '%s'", url);
        else if (code < 0)
                error_wrap(err, "failed to call external service '%s'", url);
        if (code < 0 || (ret->status >= 200 && ret->status < 300))
                return code;
        code = source_status_error(s, &c, ret, NULL, NULL);
        struct error words = { 0 };

        source_status_error(s, &c, ret, NULL, &words);
        error_set(err, code, "external service '%s' returned HTTP %d", url, ret->status);
        if (err)
                err->retry_after_ms = words.retry_after_ms;
        return code;
}

/* Each has an id of its own. */
static int check_sets(const json_t *sets, const char *url, struct arena *arena, struct error *err)
{
        struct map *seen = map_of_arena(arena);
        const json_t *set;
        size_t i;

        if (!seen)
                return error_no_memory(err);
        json_array_foreach(sets, i, set) {
                const json_t *id = json_object_get(set, "id");
                const char *text = json_string_value(id);

                if (!json_is_object(set))
                        return error_set(err, ERR_INVALID,
                                         "external service '%s' input at index %zu is no object", url, i);
                if (!id || json_is_null(id) || text_empty(text ? text : "x"))
                        return error_set(
                                err, ERR_INVALID,
                                "external service '%s' input at index %zu is missing the required 'id' "
                                "field",
                                url, i);
                if (!text)
                        return error_set(
                                err, ERR_INVALID,
                                "external service '%s' input at index %zu has a non-string 'id' field", url,
                                i);
                if (map_has(seen, text))
                        return error_set(
                                err, ERR_INVALID,
                                "external service '%s' input at index %zu has a duplicate 'id' value '%s'",
                                url, i, text);
                if (map_put(seen, text, seen) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

int external_service_collect(struct source *s, enum listing_of what, struct error *err)
{
        const char *url = web_url_public(s->url, s->arena);
        struct http_response a;
        json_t *sets;

        if (!url)
                return error_no_memory(err);
        TRY(call(s, url, &a, err));
        json_decref(s->sets);
        s->sets = NULL;
        AUTO_JSON json_t *doc = NULL;
        int code = doc_parse(a.body, &doc, err);

        if (code < 0)
                return error_wrap(err, "failed to parse JSON response from external service '%s'", url), code;
        sets = json_object_get(doc, "inputs");
        if (!sets || json_is_null(sets))
                return error_set(err, ERR_INVALID,
                                 "external service '%s' response does not contain an 'inputs' field", url);
        if (!json_is_array(sets))
                return error_set(
                        err, ERR_INVALID,
                        "failed to parse JSON response from external service '%s': inputs: must be an "
                        "array",
                        url);
        TRY(check_sets(sets, url, s->arena, err));
        while (json_array_size(sets) > s->filter.limit)
                json_array_remove(sets, json_array_size(sets) - 1);
        s->sets = json_incref(sets);
        return 0;
}
