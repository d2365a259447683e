#include "e2e/differential/differential.h"

#include "common/base/limits.h"
#include "common/base/memory.h"

#define SHOWN_BYTES 400

/* What no answer is compared by: texts for people that say what a column of a table means. */
static const char *const not_compared[] = {
        "body.columnDefinitions[*].description",
        "body[*].object.columnDefinitions[*].description",
        "events[*].object.columnDefinitions[*].description",
};

struct comparison {
        struct differences *out;
        const json_t *only, *ignore;
};

/* "a.b[0]" lies below "a", "a.b" and "a.*[0]"; each "*" stands for one member or index. */
static bool path_is_below(const char *path, const char *rule)
{
        while (*rule && *path) {
                if (*rule == '*') {
                        rule++;
                        path += strcspn(path, ".[]");
                } else if (*rule++ != *path++) {
                        return false;
                }
        }
        return !*rule && (!*path || *path == '.' || *path == '[');
}

static bool any_below(const json_t *rules, const char *path)
{
        json_t *rule;
        size_t i;

        json_array_foreach((json_t *)rules, i, rule)
                if (json_is_string(rule) && path_is_below(path, json_string_value(rule)))
                        return true;
        return false;
}

static const char *shown(const json_t *v, struct arena *arena)
{
        AUTO_BUF struct buf b;

        buf_init(&b, LIMIT_RESPONSE_BYTES);
        if (!v)
                return "(absent)";
        (void)doc_write_canonical(v, &b);
        return b.len <= SHOWN_BYTES ? arena_strndup(arena, b.data, b.len)
                                    : arena_printf(arena, "%.*s... (%zu bytes)", SHOWN_BYTES, b.data, b.len);
}

static int add_difference(struct comparison *c, const char *path, const json_t *a, const json_t *b,
                          struct error *err)
{
        struct arena *arena = c->out->arena;
        struct difference d = { arena_strdup(arena, path), shown(a, arena), shown(b, arena) };

        if (any_below(c->ignore, path) || (c->only && !any_below(c->only, path)))
                return 0;
        return d.path && d.a && d.b && vec_push(&c->out->at, d) == 0 ? 0 : error_no_memory(err);
}

static int compare(struct comparison *c, const char *path, const json_t *a, const json_t *b,
                   struct error *err);

static int compare_member(struct comparison *c, const char *path, const char *key, const json_t *a,
                          const json_t *b, struct error *err)
{
        bool plain = !key[strcspn(key, ".[]\"")];
        AUTO_FREE char *sub = *path ? mem_printf(plain ? "%s.%s" : "%s[\"%s\"]", path, key) : mem_strdup(key);

        return sub ? compare(c, sub, json_object_get(a, key), json_object_get(b, key), err)
                   : error_no_memory(err);
}

static int compare_objects(struct comparison *c, const char *path, const json_t *a, const json_t *b,
                           struct error *err)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)a, key, value)
                TRY(compare_member(c, path, key, a, b, err));
        json_object_foreach((json_t *)b, key, value)
                if (!json_object_get(a, key))
                        TRY(compare_member(c, path, key, a, b, err));
        return 0;
}

static int compare_arrays(struct comparison *c, const char *path, const json_t *a, const json_t *b,
                          struct error *err)
{
        size_t n = json_array_size(a) > json_array_size(b) ? json_array_size(a) : json_array_size(b);

        for (size_t i = 0; i < n; i++) {
                AUTO_FREE char *sub = mem_printf("%s[%zu]", path, i);

                if (!sub)
                        return error_no_memory(err);
                TRY(compare(c, sub, json_array_get(a, i), json_array_get(b, i), err));
        }
        return 0;
}

static int compare(struct comparison *c, const char *path, const json_t *a, const json_t *b,
                   struct error *err)
{
        if (any_below(c->ignore, path))
                return 0;
        for (size_t i = 0; i < ARRAY_LEN(not_compared); i++)
                if (path_is_below(path, not_compared[i]))
                        return 0;
        if (json_is_object(a) && json_is_object(b))
                return compare_objects(c, path, a, b, err);
        if (json_is_array(a) && json_is_array(b))
                return compare_arrays(c, path, a, b, err);
        if (a && b && doc_equal(a, b))
                return 0;
        return add_difference(c, path, a, b, err);
}

/* Answers of different codes have nothing in common: one difference says it all. */
static int compare_codes(struct comparison *c, const json_t *a, const json_t *b, struct error *err)
{
        struct arena *arena = c->out->arena;
        const json_t *both[2] = { a, b };
        const char *text[2];

        for (size_t i = 0; i < 2; i++) {
                const char *message = doc_get_string(both[i], "body.message");

                if (!message)
                        message = doc_get_string(both[i], "failed");
                text[i] = arena_printf(arena, "%lld %.*s", (long long)doc_get_int(both[i], "code", 0),
                                       SHOWN_BYTES, message ? message : "");
                if (!text[i])
                        return error_no_memory(err);
        }
        if (any_below(c->ignore, "code"))
                return 0;
        struct difference d = { "code", text[0], text[1] };
        return vec_push(&c->out->at, d) == 0 ? 0 : error_no_memory(err);
}

int transcript_compare(const json_t *a, const json_t *b, const json_t *only, const json_t *ignore,
                       struct differences *ret, struct error *err)
{
        struct comparison c = { ret, only, ignore };

        if (doc_get_int(a, "code", 0) != doc_get_int(b, "code", 0))
                return compare_codes(&c, a, b, err);
        return compare(&c, "", a, b, err);
}

/* ---- known differences ---- */

/* One entry for each of the requests that it names: each of them must still differ, unless it differs by
 * `timing`. */
static int add_entry(struct known *k, const char *file, const json_t *e, struct error *err)
{
        static const char *const keys[] = { "script", "requests", "path", "reason" };
        json_t *requests = doc_get_array(e, "requests"), *request;
        size_t i;

        for (i = 0; i < ARRAY_LEN(keys); i++)
                if (!json_object_get(e, keys[i]))
                        return error_set(err, ERR_INVALID, "%s: every entry needs %s", file, keys[i]);
        if (!requests)
                return error_set(err, ERR_INVALID, "%s: requests must be a list", file);
        json_array_foreach(requests, i, request) {
                json_t *one = json_pack("{s:O,s:O,s:O}", "script", json_object_get(e, "script"), "request",
                                        request, "path", json_object_get(e, "path"));

                if (!one || doc_set(one, "timing", json_boolean(doc_get_bool(e, "timing", false))) < 0 ||
                    json_array_append_new(k->entries, one) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

int known_read(struct world *w, const char *path, struct known *ret, struct error *err)
{
        AUTO_FREE char *text = NULL;
        AUTO_JSON json_t *doc = NULL;
        json_t *e;
        size_t n, i;

        TRY(w->files->read(w->ctx, path, LIMIT_YAML_BYTES, &text, &n, err));
        TRY(yaml_parse((struct slice){ text, n }, &doc, err));
        if (!doc_get_array(doc, "known"))
                return error_set(err, ERR_INVALID, "%s: known must be a list", path);
        ret->entries = json_array();
        json_array_foreach(doc_get_array(doc, "known"), i, e)
                TRY(add_entry(ret, path, e, err));
        ret->n = json_array_size(ret->entries);
        ret->used = mem_calloc(ret->n + 1, sizeof(*ret->used));
        return ret->used ? 0 : error_no_memory(err);
}

/* A request is named by its `name` or by its number; "*" is any. */
static bool names_request(const json_t *request, size_t step, const json_t *step_doc)
{
        const char *text = json_string_value(request);

        if (json_is_integer(request))
                return (size_t)json_integer_value(request) == step + 1;
        return text && (text_equal(text, "*") || text_equal(text, doc_get_string(step_doc, "name")));
}

bool known_covers(struct known *k, const char *script, size_t step, const json_t *step_doc, const char *path)
{
        bool covered = false;

        for (size_t i = 0; i < k->n; i++) {
                const json_t *e = json_array_get(k->entries, i);
                const char *s = doc_get_string(e, "script"), *p = doc_get_string(e, "path");

                if (s && p && text_equal(s, script) && path_is_below(path, p) &&
                    names_request(json_object_get(e, "request"), step, step_doc))
                        covered = k->used[i] = true;
        }
        return covered;
}

void known_free(struct known *k)
{
        json_decref(k->entries);
        mem_free(k->used);
}
