/* Uniqueness in lists of type set and map, and the rules of embedded resources. */
#include "common/base/limits.h"
#include "common/base/map.h"
#include "common/json/schema_internal.h"

/* --- Sets and maps
 * ------------------------------------------------------------------------------------------- */

/* The part of an item that must be unique: the item itself in a set, its key fields in a map. New. */
static json_t *identity(const struct schema *s, json_t *item)
{
        if (s->list_type == SCHEMA_LIST_SET)
                return json_incref(item);
        json_t *key = json_object();
        for (size_t i = 0; key && i < s->n_list_map_keys; i++) {
                json_t *value = json_object_get(item, s->list_map_keys[i]);
                if (value && json_object_set(key, s->list_map_keys[i], value) < 0) {
                        json_decref(key);
                        return NULL;
                }
        }
        return key;
}

static int report_duplicate(struct validation *v, const json_t *id, const struct schema_path *at)
{
        struct arena *arena = v->problems->arena;
        const char *text = schema_value_text(arena, id);
        if (!text)
                return error_no_memory(v->err);
        return schema_problem_add(v, REASON_DUPLICATE, schema_path_text(arena, at, false),
                                  arena_printf(arena, "Duplicate value: %s", text));
}

/* Counts the value among those seen; *ret_times is how often it was there before (at most 2). */
static int note_seen(struct map *seen, const json_t *id, struct error *err, size_t *ret_times)
{
        static char once, twice;
        AUTO_BUF struct buf key;
        buf_init(&key, LIMIT_OBJECT_BYTES);
        TRY(doc_write_canonical(id, &key));
        const char *times = map_get_n(seen, key.data, key.len);
        *ret_times = !times ? 0 : times == &once ? 1 : 2;
        return map_put_n(seen, key.data, key.len, times ? &twice : &once) < 0 ? error_no_memory(err) : 0;
}

/* The second appearance of each value is reported, further ones are not. */
static int find_duplicates(struct validation *v, const json_t *ids, struct map *seen,
                           const struct schema_path *at)
{
        for (size_t i = 0; i < json_array_size(ids); i++) {
                size_t times = 0;
                struct schema_path here = PATH_INDEX_OF(at, i);
                TRY(note_seen(seen, json_array_get(ids, i), v->err, &times));
                if (times == 1)
                        TRY(report_duplicate(v, json_array_get(ids, i), &here));
        }
        return 0;
}

static int check_unique(struct validation *v, const struct schema *s, const json_t *doc,
                        const struct schema_path *at)
{
        AUTO_JSON json_t *ids = json_array();
        if (!ids)
                return error_no_memory(v->err);
        for (size_t i = 0; i < json_array_size(doc); i++) {
                json_t *item = json_array_get(doc, i);
                struct schema_path here = PATH_INDEX_OF(at, i);
                if (s->list_type == SCHEMA_LIST_MAP && !json_is_object(item) && !json_is_null(item))
                        return schema_problem_invalid(
                                v, REASON_INVALID, schema_path_text(v->problems->arena, &here, false), item,
                                "must be an object for an array of list-type map");
                if (json_array_append_new(ids, identity(s, item)) < 0)
                        return error_no_memory(v->err);
        }
        CLEANUP(map_free) struct map seen = MAP_INIT;
        return find_duplicates(v, ids, &seen, at);
}

int schema_check_lists(struct validation *v, const struct schema *s, const json_t *doc, const json_t *sound,
                       const struct schema_path *at)
{
        if (doc == sound || s->without_keyed_lists)
                return 0;
        if (json_is_array(doc)) {
                if (s->list_type != SCHEMA_LIST_ATOMIC)
                        TRY(check_unique(v, s, doc, at));
                for (size_t i = 0; s->items && i < json_array_size(doc); i++) {
                        struct schema_path here = PATH_INDEX_OF(at, i);
                        TRY(schema_check_lists(v, s->items, json_array_get(doc, i), json_array_get(sound, i),
                                               &here));
                }
                return 0;
        }
        struct doc_pairs p = DOC_PAIRS(doc, sound);
        while (doc_pairs_next(&p)) {
                const struct schema *property = p.value == p.other ? NULL : schema_property(s, p.key);
                bool in_map = property && property == s->additional;
                struct schema_path here = in_map ? PATH_KEY_OF(at, p.key) : PATH_CHILD_OF(at, p.key);
                if (property)
                        TRY(schema_check_lists(v, property, p.value, p.other, &here));
        }
        return 0;
}

/* --- Embedded resources
 * -------------------------------------------------------------------------------------- */

static const char *child_path(struct validation *v, const struct schema_path *at, const char *name)
{
        struct schema_path here = PATH_CHILD_OF(at, name);
        return schema_path_text(v->problems->arena, &here, false);
}

/* apiVersion and kind: present, a string, not empty. *ret_text is NULL when it is wrong. */
static int check_type_field(struct validation *v, const json_t *doc, const char *name,
                            const struct schema_path *at, const char **ret_text)
{
        const json_t *value = json_object_get(doc, name);
        *ret_text = NULL;
        if (!value || (json_is_string(value) && !json_string_length(value)))
                return schema_problem_add(v, REASON_REQUIRED, child_path(v, at, name), "Required value");
        if (!json_is_string(value))
                return schema_problem_invalid(v, REASON_INVALID, child_path(v, at, name), value,
                                              "must be a string");
        *ret_text = json_string_value(value);
        return 0;
}

static int check_metadata_map(struct validation *v, const json_t *metadata, const char *name, bool labels,
                              const struct schema_path *at)
{
        const json_t *map = json_object_get(metadata, name);
        struct schema_path here = PATH_CHILD_OF(at, name);
        if (map && !json_is_object(map) && !json_is_null(map))
                return schema_problem_invalid(v, REASON_INVALID,
                                              schema_path_text(v->problems->arena, &here, false), map,
                                              "must be a map of strings");
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)map, key, value) {
                const char *detail = NULL;
                const json_t *bad = value;
                json_t *bad_key = NULL;
                if (!json_is_string(value))
                        detail = "must be a string";
                else if (!text_is_label_key(key))
                        detail = "name part must consist of alphanumeric characters, '-', '_' or '.', and "
                                 "must start "
                                 "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
                                 "'123-abc', "
                                 "regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
                        bad = bad_key = json_string(key);
                else if (labels && !text_is_label_value(json_string_value(value)))
                        detail = "a valid label must be an empty string or consist of alphanumeric "
                                 "characters, '-', "
                                 "'_' or '.', and must start and end with an alphanumeric character (e.g. "
                                 "'MyValue',  "
                                 "or 'my_value',  or '12345', regex used for validation is "
                                 "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
                int code = 0;
                if (detail)
                        code = schema_problem_invalid(v, REASON_INVALID,
                                                      schema_path_text(v->problems->arena, &here, false), bad,
                                                      detail);
                json_decref(bad_key);
                TRY(code);
        }
        return 0;
}

static int check_metadata(struct validation *v, const json_t *metadata, const struct schema_path *at)
{
        if (!metadata || json_is_null(metadata))
                return 0;
        if (!json_is_object(metadata))
                return schema_problem_invalid(v, REASON_INVALID,
                                              schema_path_text(v->problems->arena, at, false), metadata,
                                              "must be an object");
        const json_t *name = json_object_get(metadata, "name");
        const char *text = json_string_value(name), *detail = NULL;
        if (name && !text && !json_is_null(name))
                detail = "must be a string";
        else if (text && (!strcmp(text, ".") || !strcmp(text, "..")))
                detail = !text[1] ? "may not be '.'" : "may not be '..'";
        else if (text && strpbrk(text, "/%"))
                detail = strchr(text, '/') ? "may not contain '/'" : "may not contain '%'";
        if (detail)
                TRY(schema_problem_invalid(v, REASON_INVALID, child_path(v, at, "name"), name, detail));
        TRY(check_metadata_map(v, metadata, "labels", true, at));
        return check_metadata_map(v, metadata, "annotations", false, at);
}

static int check_resource(struct validation *v, const json_t *doc, const struct schema_path *at)
{
        const char *api_version, *kind;
        TRY(check_type_field(v, doc, "apiVersion", at, &api_version));
        TRY(check_type_field(v, doc, "kind", at, &kind));
        const char *slash = api_version ? strchr(api_version, '/') : NULL;
        if (slash && strchr(slash + 1, '/'))
                TRY(schema_problem_invalid(
                        v, REASON_INVALID, child_path(v, at, "apiVersion"),
                        json_object_get(doc, "apiVersion"),
                        arena_printf(v->problems->arena, "unexpected GroupVersion string: %s", api_version)));
        if (kind && !schema_string_is_kind(kind))
                TRY(schema_problem_invalid(
                        v, REASON_INVALID, child_path(v, at, "kind"), json_object_get(doc, "kind"),
                        "may have mixed case, but should otherwise match: a DNS-1035 label must consist of "
                        "lower case "
                        "alphanumeric characters or '-', start with an alphabetic character, and end with an "
                        "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
                        "'[a-z]([-a-z0-9]*[a-z0-9])?')"));
        struct schema_path metadata = PATH_CHILD_OF(at, "metadata");
        return check_metadata(v, json_object_get(doc, "metadata"), &metadata);
}

int schema_check_embedded(struct validation *v, const struct schema *s, const json_t *doc,
                          const json_t *sound, const struct schema_path *at)
{
        if (doc == sound || s->without_embedded)
                return 0;
        if (json_is_object(doc) && s->embedded_resource)
                TRY(check_resource(v, doc, at));
        for (size_t i = 0; s->items && i < json_array_size(doc); i++) {
                struct schema_path here = PATH_INDEX_OF(at, i);
                TRY(schema_check_embedded(v, s->items, json_array_get(doc, i), json_array_get(sound, i),
                                          &here));
        }
        struct doc_pairs p = DOC_PAIRS(doc, sound);
        while (doc_pairs_next(&p)) {
                const struct schema *property = p.value == p.other ? NULL : schema_property(s, p.key);
                bool in_map = property && property == s->additional;
                struct schema_path here = in_map ? PATH_KEY_OF(at, p.key) : PATH_CHILD_OF(at, p.key);
                if (property)
                        TRY(schema_check_embedded(v, property, p.value, p.other, &here));
        }
        return 0;
}
