/* What kube-apiserver demands of a CRD's schema: it must be structural, and its lists, maps and defaults
 * sound. */
#include "common/json/schema_internal.h"

static int forbidden(struct schema_builder *b, const struct schema_path *at, const char *keyword,
                     const char *why)
{
        struct schema_path here = PATH_CHILD_OF(at, keyword);
        return schema_error_at(b->err, &here, "Forbidden: %s", why);
}

static int required(struct schema_builder *b, const struct schema_path *at, const char *keyword,
                    const char *why)
{
        struct schema_path here = PATH_CHILD_OF(at, keyword);
        return schema_error_at(b->err, &here, "Required value: %s", why);
}

static int check_unsupported(struct schema_builder *b, const json_t *j, const struct schema_path *at)
{
        static const char *const unsupported[] = { "$ref", "additionalItems",  "definitions", "dependencies",
                                                   "id",   "patternProperties" };
        for (size_t i = 0; i < ARRAY_LEN(unsupported); i++) {
                char why[64];
                snprintf(why, sizeof(why), "%s is not supported", unsupported[i]);
                if (json_object_get(j, unsupported[i]))
                        return forbidden(b, at, unsupported[i], why);
        }
        if (json_is_true(json_object_get(j, "uniqueItems")))
                return forbidden(
                        b, at, "uniqueItems",
                        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
        if (json_is_false(json_object_get(j, "additionalProperties")))
                return forbidden(b, at, "additionalProperties",
                                 "additionalProperties cannot be set to false");
        if (json_object_get(j, "additionalProperties") && json_object_size(json_object_get(j, "properties")))
                return forbidden(b, at, "additionalProperties",
                                 "additionalProperties and properties are mutual exclusive");
        return 0;
}

/* Inside allOf, anyOf, oneOf and not, only value validations may stand. */
static int check_nested(struct schema_builder *b, const json_t *j, const struct schema_path *at)
{
        static const struct {
                const char *keyword, *why;
        } rules[] = {
                { "type", "must be empty to be structural" },
                { "additionalProperties", "must be undefined to be structural" },
                { "default", "must be undefined to be structural" },
                { "title", "must be empty to be structural" },
                { "description", "must be empty to be structural" },
                { "nullable", "must be false to be structural" },
                { "x-kubernetes-preserve-unknown-fields", "must be false to be structural" },
                { "x-kubernetes-embedded-resource", "must be false to be structural" },
                { "x-kubernetes-int-or-string", "must be false to be structural" },
                { "x-kubernetes-list-map-keys", "must be empty to be structural" },
                { "x-kubernetes-list-type", "must be undefined to be structural" },
                { "x-kubernetes-map-type", "must be undefined to be structural" },
                { "x-kubernetes-validations", "must be empty to be structural" },
        };
        for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
                const json_t *value = json_object_get(j, rules[i].keyword);
                if (value && !json_is_false(value) && !json_is_null(value))
                        return forbidden(b, at, rules[i].keyword, rules[i].why);
        }
        if (doc_get(j, "properties.metadata"))
                return forbidden(b, at, "properties[metadata]", "must not be specified in a nested context");
        return 0;
}

/* Metadata is the API server's own: a schema may only say that it is an object and restrict the name. */
static int check_root_metadata(struct schema_builder *b, const json_t *j, const struct schema_path *at)
{
        const json_t *metadata = doc_get(j, "properties.metadata");
        struct schema_path up = PATH_CHILD_OF(at, "properties"), here = PATH_KEY_OF(&up, "metadata");
        if (!metadata)
                return 0;
        if (!text_equal(doc_get_string(metadata, "type"), "object"))
                return schema_error_at(b->err, &here, "Invalid value: must be object");
        bool only_names = true;
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)metadata, key, value)
                only_names &= text_in(key, (const char *const[]){ "type", "description", "properties" }, 3);
        json_object_foreach(doc_get_object(metadata, "properties"), key, value)
                only_names &= text_in(key, (const char *const[]){ "name", "generateName" }, 2);
        if (!only_names)
                return schema_error_at(
                        b->err, &here,
                        "Forbidden: must not specify anything other than name and generateName, but "
                        "metadata is implicitly specified");
        return 0;
}

int schema_crd_check_json(struct schema_builder *b, const json_t *j, const struct schema_path *at,
                          enum schema_level level)
{
        TRY(check_unsupported(b, j, at));
        if (level == SCHEMA_LEVEL_NESTED)
                return check_nested(b, j, at);
        if (level != SCHEMA_LEVEL_ROOT)
                return 0;
        if (json_object_get(j, "additionalProperties"))
                return forbidden(b, at, "additionalProperties", "must not be used at the root");
        return check_root_metadata(b, j, at);
}

/* --- Nodes
 * --------------------------------------------------------------------------------------------------- */

static int check_type(struct schema_builder *b, const struct schema *s, const struct schema_path *at,
                      enum schema_level level)
{
        struct schema_path here = PATH_CHILD_OF(at, "type");
        if (s->embedded_resource && s->type != SCHEMA_OBJECT)
                return required(b, at, "type", "must be object if x-kubernetes-embedded-resource is true");
        if (s->type == SCHEMA_ANY && !s->int_or_string && !s->preserve_unknown)
                return required(b, at, "type",
                                level == SCHEMA_LEVEL_ROOT ? "must not be empty at the root"
                                : level == SCHEMA_LEVEL_ITEM
                                        ? "must not be empty for specified array items"
                                        : "must not be empty for specified object fields");
        if (level == SCHEMA_LEVEL_ROOT && s->type != SCHEMA_OBJECT && s->type != SCHEMA_ANY)
                return schema_error_at(b->err, &here, "Invalid value: \"%s\": must be object at the root",
                                       schema_type_name(s->type));
        if (s->type == SCHEMA_ARRAY && !s->items)
                return required(b, at, "items", "must be specified");
        if (s->int_or_string && s->type != SCHEMA_ANY)
                return forbidden(b, at, "type", "must be empty if x-kubernetes-int-or-string is true");
        return 0;
}

static int check_extensions(struct schema_builder *b, const struct schema *s, const struct schema_path *at)
{
        if (s->int_or_string && s->preserve_unknown)
                return forbidden(b, at, "x-kubernetes-preserve-unknown-fields",
                                 "must be false if x-kubernetes-int-or-string is true");
        if (s->preserve_unknown && s->type != SCHEMA_OBJECT && s->type != SCHEMA_ANY)
                return forbidden(b, at, "x-kubernetes-preserve-unknown-fields", "must be object if set");
        if (s->embedded_resource && !s->preserve_unknown && !s->n_properties)
                return required(b, at, "properties",
                                "must not be empty if x-kubernetes-embedded-resource is true without "
                                "x-kubernetes-preserve-unknown-fields");
        if (s->embedded_resource && (s->additional || s->additional_allowed))
                return forbidden(b, at, "additionalProperties",
                                 "must not be used if x-kubernetes-embedded-resource is set");
        return 0;
}

static bool is_required(const struct schema *s, const char *name)
{
        for (size_t i = 0; i < s->n_required; i++)
                if (!strcmp(s->required[i], name))
                        return true;
        return false;
}

static int check_map_keys(struct schema_builder *b, const struct schema *s, const struct schema_path *at)
{
        struct schema_path keys = PATH_CHILD_OF(at, "x-kubernetes-list-map-keys");
        if (!s->n_list_map_keys)
                return required(b, at, "x-kubernetes-list-map-keys",
                                "must not be empty if x-kubernetes-list-type is map");
        for (size_t i = 0; i < s->n_list_map_keys; i++) {
                const char *name = s->list_map_keys[i];
                const struct schema *key = schema_property(s->items, name);
                if (!key)
                        return schema_error_at(
                                b->err, &keys,
                                "Invalid value: \"%s\": entries must all be names of item properties", name);
                if (key->type == SCHEMA_OBJECT || key->type == SCHEMA_ARRAY)
                        return schema_error_at(b->err, &keys, "Invalid value: \"%s\": must be a scalar type",
                                               name);
                if (!is_required(s->items, name) && !key->default_value)
                        return schema_error_at(
                                b->err, &keys,
                                "Required value: \"%s\": this property is in x-kubernetes-list-map-keys, so "
                                "it must have a default or be a required property",
                                name);
        }
        return 0;
}

static int check_list(struct schema_builder *b, const struct schema *s, const struct schema_path *at)
{
        if (s->list_type == SCHEMA_LIST_ATOMIC)
                return s->n_list_map_keys ? forbidden(b, at, "x-kubernetes-list-map-keys",
                                                      "must be empty unless x-kubernetes-list-type is map")
                                          : 0;
        if (s->type != SCHEMA_ARRAY)
                return forbidden(b, at, "x-kubernetes-list-type",
                                 "must be array if x-kubernetes-list-type is specified");
        if (s->items->nullable)
                return forbidden(b, at, "items.nullable",
                                 "cannot be nullable when x-kubernetes-list-type is map or set");
        if (s->list_type == SCHEMA_LIST_MAP) {
                if (s->items->type != SCHEMA_OBJECT)
                        return forbidden(b, at, "items.type",
                                         "must be object if parent array's x-kubernetes-list-type is map");
                return check_map_keys(b, s, at);
        }
        bool granular = (s->items->type == SCHEMA_OBJECT && !s->items->map_atomic) ||
                        (s->items->type == SCHEMA_ARRAY && s->items->list_type != SCHEMA_LIST_ATOMIC);
        return granular ? forbidden(b, at, "items",
                                    "must be atomic as item of a list with x-kubernetes-list-type=set")
                        : 0;
}

/* A default must be a value the schema accepts. */
static int check_default(struct schema_builder *b, const struct schema *s, const struct schema_path *at)
{
        AUTO_ARENA struct arena scratch = ARENA_INIT;
        struct schema_problems problems = { .arena = &scratch };
        struct validation v = { .problems = &problems, .err = b->err };
        struct schema_path here = PATH_CHILD_OF(at, "default"), root = { 0 };
        AUTO_JSON json_t *value = doc_copy(s->default_value);
        if (!value)
                return error_no_memory(b->err);
        TRY(schema_apply_defaults(s, value, b->err));
        AUTO_JSON json_t *unknown = json_array();
        if (!unknown)
                return error_no_memory(b->err);
        TRY(schema_prune(s, value, unknown, b->err));
        if (json_array_size(unknown))
                return schema_error_at(b->err, &here, "Invalid value: must not have unknown fields: %s",
                                       json_string_value(json_array_get(unknown, 0)));
        struct schema_past none = { 0 };
        TRY(schema_check_value(&v, s, value, &none, &root));
        if (problems.n)
                return schema_error_at(b->err, &here, "%s", problems.at[0].message);
        return 0;
}

/* Fields that a junctor speaks of must be declared outside of it. */
static int check_complete(struct schema_builder *b, const struct schema *s, const struct schema *nested,
                          const struct schema_path *at)
{
        for (size_t i = 0; i < nested->n_properties; i++) {
                const char *name = nested->properties[i].name;
                const struct schema *declared = schema_property(s, name);
                struct schema_path up = PATH_CHILD_OF(at, "properties"), here = PATH_KEY_OF(&up, name);
                if (!declared)
                        return schema_error_at(
                                b->err, &here,
                                "Required value: because it is defined in a nested value validation");
                TRY(check_complete(b, declared, nested->properties[i].schema, &here));
        }
        struct schema_path items = PATH_CHILD_OF(at, "items");
        if (nested->items && !s->items)
                return schema_error_at(b->err, &items,
                                       "Required value: because it is defined in a nested value validation");
        return nested->items ? check_complete(b, s->items, nested->items, &items) : 0;
}

static int check_junctors(struct schema_builder *b, const struct schema *s, const struct schema *nested,
                          const struct schema_path *at)
{
        const struct {
                const struct schema *const *list;
                size_t n;
        } groups[] = { { nested->all_of, nested->n_all_of },
                       { nested->any_of, nested->n_any_of },
                       { nested->one_of, nested->n_one_of },
                       { &nested->not_, nested->not_ ? 1 : 0 } };
        for (size_t g = 0; g < ARRAY_LEN(groups); g++)
                for (size_t i = 0; i < groups[g].n; i++) {
                        TRY(check_complete(b, s, groups[g].list[i], at));
                        TRY(check_junctors(b, s, groups[g].list[i], at));
                }
        return 0;
}

int schema_crd_check_node(struct schema_builder *b, const struct schema *s, const struct schema_path *at,
                          enum schema_level level)
{
        if (level == SCHEMA_LEVEL_NESTED)
                return 0;
        TRY(check_type(b, s, at, level));
        TRY(check_extensions(b, s, at));
        TRY(check_list(b, s, at));
        TRY(check_junctors(b, s, s, at));
        return s->default_value ? check_default(b, s, at) : 0;
}

int schema_from_crd(struct arena *arena, const json_t *openapi, const struct schema **ret, struct error *err)
{
        struct schema_builder b = { .arena = arena, .err = err, .structural = true };
        struct schema_path root = { .kind = PATH_CHILD, .name = "openAPIV3Schema" };
        return schema_build(&b, openapi, &root, SCHEMA_LEVEL_ROOT, 0, ret);
}
