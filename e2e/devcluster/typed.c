/* The rules and words are those of structured-merge-diff, on which server-side apply stands. */
#include "e2e/devcluster/typed.h"

#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"

#define TEXT_MAX_BYTES (64u << 10)
#define PATH_MAX_BYTES (16u << 10)

struct typed {
        struct request *rq;
        struct buf path;  /* of the value being looked at: .spec.ports[port=80] */
        struct buf first; /* the only problem, without indentation */
        struct buf all;
        size_t n;
};

static void typed_free(struct typed *t)
{
        buf_free(&t->path);
        buf_free(&t->first);
        buf_free(&t->all);
}

static int problem(struct typed *t, const char *words, const json_t *value,
                   int (*print)(const json_t *, struct buf *), const char *after)
{
        AUTO_BUF struct buf b;

        buf_init(&b, TEXT_MAX_BYTES);
        (void)buf_printf(&b, "%s: %s", t->path.len ? t->path.data : "", words);
        if (value)
                TRY(print(value, &b));
        TRY(buf_append_str(&b, after));
        if (t->n++ == 0)
                TRY(buf_append_str(&t->first, b.data));
        return buf_printf(&t->all, "\n  %s", b.data);
}

/* ---- scalars ---- */

static int print_type(const json_t *v, struct buf *b)
{
        static const char *const names[] = {
                [JSON_OBJECT] = "map[string]interface {}",
                [JSON_ARRAY] = "[]interface {}",
                [JSON_STRING] = "string",
                [JSON_INTEGER] = "int64",
                [JSON_REAL] = "float64",
                [JSON_TRUE] = "bool",
                [JSON_FALSE] = "bool",
        };
        return buf_append_str(b, names[json_typeof(v)]);
}

static bool is_scalar(const json_t *v)
{
        return !json_is_object(v) && !json_is_array(v);
}

/* Any scalar will do. */
static bool is_quantity(const struct schema *s)
{
        return s->ref && text_ends_with(s->ref, ".resource.Quantity");
}

static int check_scalar(struct typed *t, const struct schema *s, const json_t *v)
{
        if (is_quantity(s))
                return is_scalar(v) ? 0 : problem(t, "expected any scalar, got &{", v, doc_write_go, "}");
        switch (s->type) {
        case SCHEMA_STRING:
                return json_is_string(v)
                               ? 0
                               : problem(t, "expected string, got &value.valueUnstructured{Value:", v,
                                         doc_write_go_syntax, "}");
        case SCHEMA_INTEGER:
        case SCHEMA_NUMBER:
                return json_is_number(v)
                               ? 0
                               : problem(t, "expected numeric (int or float), got ", v, print_type, "");
        case SCHEMA_BOOLEAN:
                return json_is_boolean(v) ? 0 : problem(t, "expected boolean, got &{", v, doc_write_go, "}");
        default:
                return 0;
        }
}

/* ---- lists ---- */

static int check_value(struct typed *t, const struct schema *s, const json_t *v);

static int compare_texts(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const json_t *key_value(const struct schema *list, const json_t *item, const char *key)
{
        const json_t *v = json_object_get(item, key);
        const struct schema *s = list->items ? schema_property(list->items, key) : NULL;

        return v ? v : s ? s->default_value : NULL;
}

/* port=80,protocol="TCP"; a set's element stands behind a bare "=". */
static int write_keys(const struct schema *list, const json_t *item, struct buf *b)
{
        const char *keys[8];
        size_t n = MIN(list->n_list_map_keys, ARRAY_LEN(keys)), written = 0;

        if (list->list_type == SCHEMA_LIST_SET) {
                TRY(buf_append_char(b, '='));
                return doc_write(item, b);
        }
        memcpy(keys, list->list_map_keys, n * sizeof(keys[0]));
        qsort(keys, n, sizeof(keys[0]), compare_texts);
        for (size_t i = 0; i < n; i++) {
                const json_t *v = key_value(list, item, keys[i]);
                if (!v)
                        continue;
                TRY(buf_printf(b, "%s%s=", written++ ? "," : "", keys[i]));
                TRY(doc_write(v, b));
        }
        return written ? 0 : ERR_NOT_FOUND;
}

/* Writes the element's step; *ret_doubled when another one has it already. */
static int name_element(struct typed *t, const struct schema *list, const json_t *item, struct map *seen,
                        bool *ret_doubled)
{
        AUTO_BUF struct buf b;

        buf_init(&b, PATH_MAX_BYTES);
        TRY(write_keys(list, item, &b));
        if (buf_status(&b, NULL, "a list key") < 0)
                return ERR_NO_MEMORY;
        *ret_doubled = map_has(seen, b.data);
        if (!*ret_doubled && map_put(seen, b.data, (void *)list) < 0)
                return ERR_NO_MEMORY;
        return buf_printf(&t->path, "[%s]", b.data);
}

/* An element's step onto the path, if it has one; what is wrong with that is said of the whole list. */
static int step_into(struct typed *t, const struct schema *list, const json_t *item, size_t index,
                     struct map *seen, bool *ret_doubled)
{
        if (list->list_type == SCHEMA_LIST_ATOMIC)
                return buf_printf(&t->path, "[%zu]", index);
        int r = name_element(t, list, item, seen, ret_doubled);
        return r == ERR_NOT_FOUND ? buf_printf(&t->path, "[%zu]", index) : r;
}

static int report_doubled(struct typed *t, size_t before)
{
        AUTO_BUF struct buf words;

        buf_init(&words, PATH_MAX_BYTES);
        TRY(buf_printf(&words, "duplicate entries for key %s", t->path.data + before));
        buf_truncate(&t->path, before);
        return problem(t, words.data, NULL, NULL, "");
}

static int check_element(struct typed *t, const struct schema *list, const json_t *item, size_t index,
                         struct map *seen)
{
        size_t before = t->path.len;
        bool doubled = false;
        int r = step_into(t, list, item, index, seen, &doubled);

        if (r == 0 && doubled)
                return report_doubled(t, before);
        if (r == 0 && list->items)
                r = check_value(t, list->items, item);
        buf_truncate(&t->path, before);
        return r;
}

/* Elements without keys cannot be told apart: one that is no map ends the look at the list. */
static int find_other_than_map(struct typed *t, const json_t *list, bool *ret_found)
{
        AUTO_BUF struct buf words;
        const json_t *item;
        size_t i;

        buf_init(&words, PATH_MAX_BYTES);
        json_array_foreach((json_t *)list, i, item)
                if (!json_is_object(item))
                        break;
        *ret_found = i < json_array_size(list);
        if (!*ret_found)
                return 0;
        TRY(buf_printf(&words, "element %zu: associative list with keys may not have non-map elements", i));
        return problem(t, words.data, NULL, NULL, "");
}

static int check_list(struct typed *t, const struct schema *s, const json_t *v)
{
        CLEANUP(map_free) struct map seen = { 0 };
        bool ended = false;
        int r = 0;

        if (!json_is_array(v))
                return problem(t, "expected list, got &{", v, doc_write_go, "}");
        map_init(&seen, MAP_OWN_KEYS, NULL);
        if (s->list_type == SCHEMA_LIST_MAP)
                TRY(find_other_than_map(t, v, &ended));
        for (size_t i = 0; !ended && r == 0 && i < json_array_size(v); i++)
                r = check_element(t, s, json_array_get(v, i), i, &seen);
        return r;
}

/* ---- maps ---- */

/* What an embedded resource has although its schema does not say so. */
static bool is_implied(const struct schema *s, const char *key)
{
        static const char *const implied[] = { "apiVersion", "kind", "metadata" };

        return s->embedded_resource && text_in(key, implied, ARRAY_LEN(implied));
}

static int check_member(struct typed *t, const struct schema *s, const char *key, const json_t *v)
{
        const struct schema *p = schema_property(s, key);
        size_t before = t->path.len;
        int r = buf_printf(&t->path, ".%s", key);

        if (r == 0 && p)
                r = check_value(t, p, v);
        else if (r == 0 && !s->preserve_unknown && !s->additional_allowed && !is_implied(s, key))
                r = problem(t, "field not declared in schema", NULL, NULL, "");
        buf_truncate(&t->path, before);
        return r;
}

static int check_map(struct typed *t, const struct schema *s, const json_t *v)
{
        const char *key;
        json_t *member;

        if (!json_is_object(v))
                return s->preserve_unknown ? 0 : problem(t, "expected map, got &{", v, doc_write_go, "}");
        json_object_foreach((json_t *)v, key, member)
                TRY(check_member(t, s, key, member));
        return 0;
}

static int check_value(struct typed *t, const struct schema *s, const json_t *v)
{
        if (json_is_null(v))
                return 0;
        if (s->type == SCHEMA_OBJECT)
                return check_map(t, s, v);
        return s->type == SCHEMA_ARRAY ? check_list(t, s, v) : check_scalar(t, s, v);
}

/* ---- objects ---- */

/* A CRD's schema says of identity and metadata no more than that they are there. */
static int check_object(struct typed *t, const struct schema *s, const json_t *config)
{
        static const char *const identity[] = { "apiVersion", "kind" };
        const struct schema *meta = NULL;
        const char *key;
        json_t *v;

        if (builtin_types_named(t->rq->devcluster->types, "m:apis.meta.v1.ObjectMeta", &meta, NULL) < 0)
                return ERR_NO_MEMORY;
        json_object_foreach((json_t *)config, key, v) {
                if (text_in(key, identity, ARRAY_LEN(identity)))
                        continue;
                if (strcmp(key, "metadata") != 0) {
                        TRY(check_member(t, s, key, v));
                        continue;
                }
                TRY(buf_append_str(&t->path, ".metadata"));
                TRY(check_value(t, meta, v));
                buf_truncate(&t->path, 0);
        }
        return 0;
}

static int fail_typed(struct typed *t, const json_t *config)
{
        struct request *rq = t->rq;
        const char *version = request_api_version(rq), *slash = strchr(version, '/') ? "" : "/";

        return request_fail(rq, 500, NULL, "failed to create typed patch object (%s/%s; %s%s, Kind=%s): %s%s",
                            meta_ns(config), meta_name(config), slash, version, rq->resource->kind,
                            t->n > 1 ? "errors:" : "", t->n > 1 ? t->all.data : t->first.data);
}

int typed_check(struct request *rq, const json_t *config)
{
        const struct schema *s = resource_schema(rq->devcluster, rq->resource, rq->resource_version);
        CLEANUP(typed_free) struct typed t = { .rq = rq };

        buf_init(&t.path, PATH_MAX_BYTES);
        buf_init(&t.first, TEXT_MAX_BYTES);
        buf_init(&t.all, TEXT_MAX_BYTES);
        if (!s)
                return 0;
        int r = check_object(&t, s, config);
        if (r < 0 && r != ERR_LIMIT)
                return request_fail_memory(rq);
        return r == ERR_LIMIT || t.n ? fail_typed(&t, config) : 0;
}
