/* One model of types for everything that must know them: CRD structural schemas and the built-in kinds. It
 * drives validation, defaulting, pruning, strategic merge, server-side apply and OpenAPI output. Immutable
 * once built; nodes are shared and live in their owner's arena. */
#pragma once

#include "common/json/doc.h"

enum schema_type {
        SCHEMA_ANY,
        SCHEMA_OBJECT,
        SCHEMA_ARRAY,
        SCHEMA_STRING,
        SCHEMA_INTEGER,
        SCHEMA_NUMBER,
        SCHEMA_BOOLEAN
};
enum schema_list_type { SCHEMA_LIST_ATOMIC, SCHEMA_LIST_SET, SCHEMA_LIST_MAP };

struct cel_program; /* common/json/cel.h */

struct schema_rule { /* one x-kubernetes-validations entry */
        const char *rule, *message, *message_expression, *reason, *field_path;
        bool optional_old_self;
        bool is_transition; /* refers to oldSelf */
        struct cel_program *program, *message_program;
};

/* How Go writes a field of a built-in kind. */
enum schema_presence {
        SCHEMA_WHEN_SET,
        SCHEMA_ALWAYS_ZERO,  /* in every object, as {}, "", 0 or false when nobody set it */
        SCHEMA_ALWAYS_NULL,  /* in every object, as null when nobody set it */
        SCHEMA_NOT_WHEN_ZERO /* "", 0 and false are as good as absent */
};

struct schema_property {
        const char *name;
        const struct schema *schema;
        enum schema_presence presence; /* built-ins only */
};

struct schema {
        enum schema_type type;
        const char *format;      /* "int32", "date-time", "byte", "quantity"...; NULL */
        const char *description; /* for explain; NULL */
        const char *ref;         /* definition name in OpenAPI ("io.k8s.api.core.v1.Pod"); NULL */
        const struct schema_property *properties; /* sorted by name */
        size_t n_properties;
        const struct schema *additional; /* of map values; NULL if none */
        const struct schema *items;
        const char *const *required;
        size_t n_required;
        const json_t *enum_values; /* array or NULL */
        const json_t *default_value;
        const char *pattern;
        void *pattern_code; /* compiled, owned by the arena */
        double minimum, maximum, multiple_of;
        int64_t min_length, max_length, min_items, max_items, min_properties, max_properties; /* -1 = none */
        bool has_minimum, has_maximum, exclusive_minimum, exclusive_maximum, has_multiple_of, unique_items;
        bool nullable, int_or_string, preserve_unknown, embedded_resource;
        bool map_atomic, additional_allowed; /* the latter: additionalProperties: true */
        enum schema_list_type list_type;
        const char *const *list_map_keys;
        size_t n_list_map_keys;
        const char *patch_merge_key; /* strategic merge, built-ins only; NULL */
        bool patch_merge, patch_retain_keys, patch_replace;
        const struct schema *const *all_of, *const *any_of, *const *one_of, *not_; /* value validation only */
        size_t n_all_of, n_any_of, n_one_of;
        const struct schema_rule *rules;
        size_t n_rules;
        bool has_rules;                             /* here or anywhere below */
        bool without_keyed_lists, without_embedded; /* neither here nor below; known of CRDs only */
};

const struct schema *schema_property(const struct schema *s,
                                     const char *name); /* declared, else additional, else NULL */

/* Builds from a CRD's openAPIV3Schema (the error's path begins with this word); checks that it is structural
 * and within limits; compiles patterns and rules. Errors name the path as kube-apiserver does. Everything
 * lives in `arena`. */
int schema_from_crd(struct arena *arena, const json_t *openapi, const struct schema **ret, struct error *err);

/* Builds from OpenAPI definitions (an object: name -> schema), the way the built-in kinds are described: $ref
 * to
 * "#/definitions/NAME" or "#/components/schemas/NAME" (also the one entry of an allOf),
 * x-kubernetes-patch-merge-key, x-kubernetes-patch-strategy, x-kubernetes-list-type, -list-map-keys,
 * -map-type, -int-or-string. Each definition is built once and shared; definitions that refer to themselves
 * (JSONSchemaProps) give cyclic graphs. An object without properties and additionalProperties keeps unknown
 * fields. Everything lives in `arena`. */
int schema_from_definitions(struct arena *arena, const json_t *definitions, const char *root_name,
                            const struct schema **ret, struct error *err);

/* One problem as Kubernetes reports it: FieldValueRequired, "Required value", spec.x. */
struct schema_problem {
        const char *reason, *field, *message; /* the whole sentence is "field: message" */
};
struct schema_problems {
        struct schema_problem *at;
        size_t n, cap;
        size_t n_values; /* of them, the first ones are about single values; then embedded, lists, rules */
        struct arena *arena; /* of the texts; set by the caller */
};
/* Validates types, bounds, enums, formats, embedded resources, set and map lists, then the CEL rules; the
 * latter are left out, with a problem that says so, when the object is so wrong that they could not be
 * trusted. What an update leaves unchanged is not held against it (CRDValidationRatcheting). At most 500
 * problems are kept. `old` is the stored object or NULL on create. Returns 0 with problems->n counting what
 * is wrong; only ERR_NO_MEMORY and ERR_LIMIT are returned as errors.
 */
int schema_validate(const struct schema *s, const json_t *doc, const json_t *old,
                    struct schema_problems *problems, struct error *err);
/* The same for an update. Parts that `doc` shares with `sound` (the same nodes at the same place) are known
 * to be valid in every respect, which costs nothing to find out then. NULL: there is no such document. */
int schema_validate_update(const struct schema *s, const json_t *doc, const json_t *old, const json_t *sound,
                           struct schema_problems *problems, struct error *err);
/* Whether the rules on an object itself may say something else when only that member is another. */
bool schema_rules_read(const struct schema *s, const char *member);
/* Whether a rule here or below compares with what was. */
bool schema_rules_compare(const struct schema *s);
int schema_apply_defaults(const struct schema *s, json_t *doc, struct error *err); /* in place */
/* The same, but for parts shared with `sound`, which has its defaults; may be NULL. */
int schema_apply_defaults_beside(const struct schema *s, json_t *doc, const json_t *sound, struct error *err);
/* Removes unknown fields in place; their dotted paths are appended to the array `ret_removed` if not NULL. */
int schema_prune(const struct schema *s, json_t *doc, json_t *ret_removed, struct error *err);
/* The same, but for parts shared with `sound`, in which no field is unknown; may be NULL. */
int schema_prune_beside(const struct schema *s, json_t *doc, const json_t *sound, json_t *ret_removed,
                        struct error *err);
