/* Builds schema nodes from OpenAPI JSON: the keywords that CRDs and built-in definitions have in common. */
#include <stdlib.h>

#include "common/json/regex.h"
#include "common/json/schema_internal.h"

static int wrong(struct schema_builder *b, const struct schema_path *at, const char *keyword,
                 const char *wanted)
{
        struct schema_path here = PATH_CHILD_OF(at, keyword);
        return schema_error_at(b->err, &here, "Invalid value: must be %s", wanted);
}

/* --- Typed keywords: absent leaves *ret as it is
 * --------------------------------------------------------------- */

static int read_string(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                       const char *keyword, const char **ret)
{
        const json_t *value = json_object_get(j, keyword);
        if (!value)
                return 0;
        if (!json_is_string(value))
                return wrong(b, at, keyword, "a string");
        if (!json_string_length(value))
                return 0;
        const char *copy = arena_strdup(b->arena, json_string_value(value));
        if (!copy)
                return error_no_memory(b->err);
        *ret = copy;
        return 0;
}

static int read_bool(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                     const char *keyword, bool *ret)
{
        const json_t *value = json_object_get(j, keyword);
        if (!value)
                return 0;
        if (!json_is_boolean(value))
                return wrong(b, at, keyword, "a boolean");
        *ret = json_is_true(value);
        return 0;
}

static int read_count(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                      const char *keyword, int64_t *ret)
{
        const json_t *value = json_object_get(j, keyword);
        *ret = -1;
        if (!value)
                return 0;
        double d = json_number_value(value);
        if (!json_is_number(value) || d < 0 || d > 0x1p53 || d != (double)(int64_t)d)
                return wrong(b, at, keyword, "a non-negative integer");
        *ret = (int64_t)d;
        return 0;
}

static int read_number(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                       const char *keyword, bool *ret_has, double *ret)
{
        const json_t *value = json_object_get(j, keyword);
        if (!value)
                return 0;
        if (!json_is_number(value))
                return wrong(b, at, keyword, "a number");
        *ret_has = true;
        *ret = json_number_value(value);
        return 0;
}

static int read_strings(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                        const char *keyword, const char *const **ret, size_t *ret_n)
{
        const json_t *value = json_object_get(j, keyword);
        size_t n = json_array_size(value);
        if (!value)
                return 0;
        if (!json_is_array(value))
                return wrong(b, at, keyword, "an array of strings");
        const char **list = ARENA_NEW_ARRAY(b->arena, const char *, n ? n : 1);
        for (size_t i = 0; list && i < n; i++) {
                const char *s = json_string_value(json_array_get(value, i));
                if (!s)
                        return wrong(b, at, keyword, "an array of strings");
                list[i] = arena_strdup(b->arena, s);
                if (!list[i])
                        return error_no_memory(b->err);
        }
        if (!list)
                return error_no_memory(b->err);
        *ret = list;
        *ret_n = n;
        return 0;
}

/* A copy that lives as long as the schema. */
static int keep_json(struct schema_builder *b, const json_t *value, const json_t **ret)
{
        json_t *copy = doc_copy(value);
        if (!copy)
                return error_no_memory(b->err);
        TRY(doc_keep(b->arena, copy, b->err));
        *ret = copy;
        return 0;
}

/* --- Groups of keywords
 * -------------------------------------------------------------------------------------- */

static int read_type(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                     struct schema *s)
{
        const char *type = NULL;
        TRY(read_string(b, j, at, "type", &type));
        for (int t = SCHEMA_ANY; t <= SCHEMA_BOOLEAN; t++)
                if (text_equal(type ? type : "", schema_type_name((enum schema_type)t))) {
                        s->type = (enum schema_type)t;
                        return 0;
                }
        struct schema_path here = PATH_CHILD_OF(at, "type");
        return schema_error_at(
                b->err, &here,
                "Unsupported value: \"%s\": supported values: \"array\", \"boolean\", \"integer\", "
                "\"number\", \"object\", \"string\"",
                type);
}

static int read_bounds(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                       struct schema *s)
{
        TRY(read_count(b, j, at, "minLength", &s->min_length));
        TRY(read_count(b, j, at, "maxLength", &s->max_length));
        TRY(read_count(b, j, at, "minItems", &s->min_items));
        TRY(read_count(b, j, at, "maxItems", &s->max_items));
        TRY(read_count(b, j, at, "minProperties", &s->min_properties));
        TRY(read_count(b, j, at, "maxProperties", &s->max_properties));
        TRY(read_number(b, j, at, "minimum", &s->has_minimum, &s->minimum));
        TRY(read_number(b, j, at, "maximum", &s->has_maximum, &s->maximum));
        TRY(read_number(b, j, at, "multipleOf", &s->has_multiple_of, &s->multiple_of));
        TRY(read_bool(b, j, at, "exclusiveMinimum", &s->exclusive_minimum));
        TRY(read_bool(b, j, at, "exclusiveMaximum", &s->exclusive_maximum));
        return read_bool(b, j, at, "uniqueItems", &s->unique_items);
}

static int read_pattern(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                        struct schema *s)
{
        TRY(read_string(b, j, at, "pattern", &s->pattern));
        if (!s->pattern)
                return 0;
        const struct regex *re = NULL;
        struct error why = { 0 };
        int code = regex_compile(b->arena, slice_of(s->pattern), &re, &why);
        struct schema_path here = PATH_CHILD_OF(at, "pattern");
        if (code == ERR_NO_MEMORY)
                return error_no_memory(b->err);
        if (code < 0)
                return schema_error_at(
                        b->err, &here,
                        "Invalid value: \"%s\": must be a valid regular expression, but isn't: %s",
                        s->pattern, why.text);
        s->pattern_code = (void *)re;
        return 0;
}

static int read_list_type(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                          struct schema *s)
{
        const char *type = NULL, *map_type = NULL, *strategy = NULL;
        TRY(read_string(b, j, at, "x-kubernetes-list-type", &type));
        if (text_equal(type, "set"))
                s->list_type = SCHEMA_LIST_SET;
        else if (text_equal(type, "map"))
                s->list_type = SCHEMA_LIST_MAP;
        else if (type && strcmp(type, "atomic") != 0)
                return wrong(b, at, "x-kubernetes-list-type", "atomic, set or map");
        TRY(read_strings(b, j, at, "x-kubernetes-list-map-keys", &s->list_map_keys, &s->n_list_map_keys));
        TRY(read_string(b, j, at, "x-kubernetes-map-type", &map_type));
        if (map_type && strcmp(map_type, "atomic") != 0 && strcmp(map_type, "granular") != 0)
                return wrong(b, at, "x-kubernetes-map-type", "atomic or granular");
        s->map_atomic = text_equal(map_type, "atomic");
        TRY(read_string(b, j, at, "x-kubernetes-patch-merge-key", &s->patch_merge_key));
        TRY(read_string(b, j, at, "x-kubernetes-patch-strategy", &strategy));
        s->patch_merge = strategy && strstr(strategy, "merge");
        s->patch_retain_keys = strategy && strstr(strategy, "retainKeys");
        s->patch_replace = strategy && strstr(strategy, "replace");
        return 0;
}

static int read_scalars(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                        struct schema *s)
{
        TRY(read_type(b, j, at, s));
        TRY(read_string(b, j, at, "format", &s->format));
        TRY(read_string(b, j, at, "description", &s->description));
        TRY(read_bounds(b, j, at, s));
        TRY(read_pattern(b, j, at, s));
        TRY(read_strings(b, j, at, "required", &s->required, &s->n_required));
        TRY(read_bool(b, j, at, "nullable", &s->nullable));
        TRY(read_bool(b, j, at, "x-kubernetes-int-or-string", &s->int_or_string));
        TRY(read_bool(b, j, at, "x-kubernetes-preserve-unknown-fields", &s->preserve_unknown));
        TRY(read_bool(b, j, at, "x-kubernetes-embedded-resource", &s->embedded_resource));
        TRY(read_list_type(b, j, at, s));
        const json_t *choices = json_object_get(j, "enum");
        if (choices && !json_is_array(choices))
                return wrong(b, at, "enum", "an array");
        if (choices)
                TRY(keep_json(b, choices, &s->enum_values));
        return 0;
}

/* --- Children
 * ------------------------------------------------------------------------------------------------ */

static enum schema_level level_below(enum schema_level level, enum schema_level wanted)
{
        return level == SCHEMA_LEVEL_NESTED ? level : wanted;
}

static int compare_properties(const void *a, const void *b)
{
        return strcmp(((const struct schema_property *)a)->name, ((const struct schema_property *)b)->name);
}

static int build_properties(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                            enum schema_level level, size_t depth, struct schema *s)
{
        json_t *properties = json_object_get(j, "properties");
        if (!properties)
                return 0;
        if (!json_is_object(properties))
                return wrong(b, at, "properties", "an object");
        struct schema_property *list =
                ARENA_NEW_ARRAY(b->arena, struct schema_property, json_object_size(properties) + 1);
        if (!list)
                return error_no_memory(b->err);
        struct schema_path up = PATH_CHILD_OF(at, "properties");
        const char *key;
        json_t *value;
        json_object_foreach(properties, key, value) {
                struct schema_path here = PATH_KEY_OF(&up, key);
                struct schema_property *p = &list[s->n_properties];
                p->name = arena_strdup(b->arena, key);
                if (!p->name)
                        return error_no_memory(b->err);
                TRY(schema_build(b, value, &here, level_below(level, SCHEMA_LEVEL_FIELD), depth + 1,
                                 &p->schema));
                s->n_properties++;
        }
        qsort(list, s->n_properties, sizeof(*list), compare_properties);
        s->properties = list;
        return 0;
}

static int build_additional(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                            enum schema_level level, size_t depth, struct schema *s)
{
        const json_t *additional = json_object_get(j, "additionalProperties");
        struct schema_path here = PATH_CHILD_OF(at, "additionalProperties");
        s->additional_allowed = json_is_true(additional);
        if (!additional || json_is_boolean(additional))
                return 0;
        return schema_build(b, additional, &here, level_below(level, SCHEMA_LEVEL_FIELD), depth + 1,
                            &s->additional);
}

static int build_choices(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                         const char *keyword, size_t depth, const struct schema *const **ret, size_t *ret_n)
{
        const json_t *choices = json_object_get(j, keyword);
        size_t n = json_array_size(choices);
        if (!choices)
                return 0;
        if (!json_is_array(choices))
                return wrong(b, at, keyword, "an array");
        const struct schema **list = ARENA_NEW_ARRAY(b->arena, const struct schema *, n + 1);
        if (!list)
                return error_no_memory(b->err);
        struct schema_path up = PATH_CHILD_OF(at, keyword);
        for (size_t i = 0; i < n; i++) {
                struct schema_path here = PATH_INDEX_OF(&up, i);
                TRY(schema_build(b, json_array_get(choices, i), &here, SCHEMA_LEVEL_NESTED, depth + 1,
                                 &list[i]));
        }
        *ret = list;
        *ret_n = n;
        return 0;
}

bool schema_is_int_or_string_choice(const json_t *any_of)
{
        const json_t *first = json_array_get(any_of, 0), *second = json_array_get(any_of, 1);
        return json_array_size(any_of) == 2 && json_object_size(first) == 1 &&
               json_object_size(second) == 1 && text_equal(doc_get_string(first, "type"), "integer") &&
               text_equal(doc_get_string(second, "type"), "string");
}

static int build_junctors(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                          size_t depth, struct schema *s)
{
        const json_t *not = json_object_get(j, "not");
        struct schema_path here = PATH_CHILD_OF(at, "not");
        TRY(build_choices(b, j, at, "allOf", depth, &s->all_of, &s->n_all_of));
        TRY(build_choices(b, j, at, "oneOf", depth, &s->one_of, &s->n_one_of));
        /* [integer, string] says what x-kubernetes-int-or-string says. */
        if (!schema_is_int_or_string_choice(json_object_get(j, "anyOf")))
                TRY(build_choices(b, j, at, "anyOf", depth, &s->any_of, &s->n_any_of));
        return not ? schema_build(b, not, &here, SCHEMA_LEVEL_NESTED, depth + 1, &s->not_) : 0;
}

static int build_children(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                          enum schema_level level, size_t depth, struct schema *s)
{
        const json_t *items = json_object_get(j, "items");
        struct schema_path here = PATH_CHILD_OF(at, "items");
        TRY(build_properties(b, j, at, level, depth, s));
        TRY(build_additional(b, j, at, level, depth, s));
        if (items)
                TRY(schema_build(b, items, &here, level_below(level, SCHEMA_LEVEL_ITEM), depth + 1,
                                 &s->items));
        return build_junctors(b, j, at, depth, s);
}

/* --- Nodes
 * --------------------------------------------------------------------------------------------------- */

/* Allows allOf with one $ref, as OpenAPI v3 writes a reference that has a default or description beside it.
 */
static const char *reference_of(const json_t *j)
{
        const json_t *all_of = json_object_get(j, "allOf");
        const char *direct = json_string_value(json_object_get(j, "$ref"));
        if (direct || json_array_size(all_of) != 1)
                return direct;
        return json_string_value(json_object_get(json_array_get(all_of, 0), "$ref"));
}

/* A reference with keywords beside it (a default, how lists are merged) becomes a node of its own over the
 * shared one's children. The shared node must be complete: nodes in the making are used as they are. */
static int build_reference(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                           size_t depth, const struct schema **ret)
{
        const struct schema *target = NULL;
        TRY(schema_resolve_reference(b, reference_of(j), at, depth, &target));
        /* OpenAPI v3 of the built-in kinds writes `default: {}` beside every reference: it means nothing. */
        const json_t *fallback = json_object_get(j, "default");
        bool has_default = fallback && !(json_is_object(fallback) && !json_object_size(fallback));
        bool plain = !has_default && !json_object_get(j, "x-kubernetes-patch-strategy") &&
                     !json_object_get(j, "x-kubernetes-map-type");
        if (plain) {
                *ret = target;
                return 0;
        }
        struct schema *copy = arena_memdup(b->arena, target, sizeof(*target));
        if (!copy)
                return error_no_memory(b->err);
        TRY(read_list_type(b, j, at, copy));
        if (has_default)
                TRY(keep_json(b, fallback, &copy->default_value));
        *ret = copy;
        return 0;
}

/* What there is of each kind in a node or below it, so that validation need not look for it in documents. */
static void note_child(struct schema *s, const struct schema *child)
{
        s->has_rules |= child->has_rules;
        s->without_keyed_lists &= child->without_keyed_lists;
        s->without_embedded &= child->without_embedded;
}

static void note_what_is_below(struct schema *s)
{
        s->has_rules = s->n_rules;
        s->without_keyed_lists = s->list_type == SCHEMA_LIST_ATOMIC;
        s->without_embedded = !s->embedded_resource;
        if (s->items)
                note_child(s, s->items);
        if (s->additional)
                note_child(s, s->additional);
        for (size_t i = 0; i < s->n_properties; i++)
                note_child(s, s->properties[i].schema);
}

int schema_build_into(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                      enum schema_level level, size_t depth, struct schema *s)
{
        TRY(read_scalars(b, j, at, s));
        TRY(build_children(b, j, at, level, depth, s));
        const json_t *fallback = json_object_get(j, "default");
        if (fallback && !json_is_null(fallback))
                TRY(keep_json(b, fallback, &s->default_value));
        if (!b->structural)
                return 0;
        if (json_object_get(j, "x-kubernetes-validations"))
                TRY(schema_rules_build(b->arena, s, json_object_get(j, "x-kubernetes-validations"), at,
                                       b->err));
        note_what_is_below(s);
        return schema_crd_check_node(b, s, at, level);
}

int schema_build(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                 enum schema_level level, size_t depth, const struct schema **ret)
{
        if (!json_is_object(j))
                return schema_error_at(b->err, at, "Invalid value: must be an object");
        if (depth > SCHEMA_MAX_DEPTH || ++b->n_nodes > SCHEMA_MAX_NODES)
                return error_set(b->err, ERR_LIMIT, "schema nests deeper than %d or has more than %d nodes",
                                 SCHEMA_MAX_DEPTH, SCHEMA_MAX_NODES);
        if (b->definitions && reference_of(j))
                return build_reference(b, j, at, depth, ret);
        if (b->structural)
                TRY(schema_crd_check_json(b, j, at, level));
        struct schema *s = ARENA_NEW(b->arena, struct schema);
        if (!s)
                return error_no_memory(b->err);
        TRY(schema_build_into(b, j, at, level, depth, s));
        *ret = s;
        return 0;
}
