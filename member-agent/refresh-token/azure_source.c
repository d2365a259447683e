#include "member-agent/refresh-token/azure_source.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/json/doc.h"

#define MAX_ANSWER (256u << 10)

static int token_path(const struct azure_source *s, struct buf *path)
{
        buf_append_str(path, "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=");
        http_escape(path, s->scope);
        buf_append_str(path, "&client_id=");
        http_escape(path, s->client_id);
        return path->failed;
}

/* "expires_on": seconds since 1970, as a string or a number. */
static int read_expiry(const json_t *doc, int64_t *ret_ms, struct error *err)
{
        const json_t *value = doc_get(doc, "expires_on");
        int64_t seconds = json_integer_value(value);

        if (json_is_string(value) && !text_parse_i64(json_string_value(value), &seconds))
                seconds = 0;
        if (seconds <= 0 || seconds > INT64_MAX / 1000)
                return error_set(err, ERR_INVALID, "expires_on is not a time");
        *ret_ms = seconds * 1000;
        return 0;
}

static int read_answer(const struct http_response *answer, struct hub_token *ret, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        const char *token, *why;

        if (answer->status != 200) {
                (void)doc_parse(answer->body, &doc, NULL);
                why = doc_get_string(doc, "error_description");
                return error_set(err, answer->status == 400 ? ERR_INVALID : ERR_RETRY, "status %d%s%.300s",
                                 answer->status, why ? ": " : "", why ? why : "");
        }
        TRY(doc_parse(answer->body, &doc, err));
        TRY(doc_need_string(doc, "access_token", &token, err));
        if (text_empty(token) || strlen(token) > LIMIT_TOKEN_BYTES)
                return error_set(err, ERR_INVALID, "access_token is empty or too long");
        TRY(read_expiry(doc, &ret->expires_ms, err));
        ret->text = mem_strdup(token);
        return ret->text ? 0 : error_no_memory(err);
}

static int ask(struct azure_source *s, int64_t deadline_ms, struct hub_token *ret, struct error *err)
{
        AUTO_BUF struct buf path;
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct http_header metadata = { "Metadata", "true" };
        struct http_response answer;
        int r;

        buf_init(&path, LIMIT_HEADER_BYTES);
        if (token_path(s, &path) < 0)
                return buf_status(&path, err, "client id and scope");
        struct http_request rq = { .endpoint = &s->endpoint,
                                   .method = "GET",
                                   .path = path.data,
                                   .headers = { &metadata, 1 },
                                   .deadline_ms = deadline_ms,
                                   .max_body = MAX_ANSWER };
        r = http_roundtrip(s->world->transport, &rq, &arena, &answer, err);
        if (r == 0)
                r = read_answer(&answer, ret, err);
        return r < 0 ? error_wrap(err, "identity endpoint %s", s->endpoint.base_url) : 0;
}

/* Four tries, a little apart: the endpoint refuses bursts. */
static int fetch(struct token_source *base, int64_t deadline_ms, struct hub_token *ret, struct error *err)
{
        struct azure_source *s = (struct azure_source *)base;
        static const int64_t waits[] = { 10, 50, 250 };

        for (size_t tried = 0;; tried++) {
                int r = ask(s, deadline_ms, ret, err);

                if (r != ERR_RETRY || tried == ARRAY_LEN(waits))
                        return r;
                if (fiber_sleep(s->world->loop, waits[tried]) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
                error_clear(err);
        }
}

void azure_source_init(struct azure_source *s)
{
        s->source.fetch = fetch;
}
