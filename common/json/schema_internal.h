/* What the files of the schema module share: paths into documents and schemas, and the texts of problems. */
#pragma once

#include "common/json/schema.h"

#define SCHEMA_MAX_DEPTH 100    /* nesting of a CRD's schema */
#define SCHEMA_MAX_NODES 100000 /* of one CRD version or one set of definitions */
#define SCHEMA_MAX_PROBLEMS                                                                                  \
        500 /* reported about one object; the request is refused with the first already                      \
             */
#define SCHEMA_COST_BUDGET                                                                                   \
        10000000 /* of all rules on one object, in steps of cel_eval; as kube-apiserver's */

/* A place in a document or schema, linked towards the root; lives on the walker's stack. */
enum path_kind { PATH_ROOT, PATH_CHILD, PATH_KEY, PATH_INDEX };
struct schema_path {
        const struct schema_path *parent;
        enum path_kind kind;
        const char *name;
        size_t index;
};

#define PATH_CHILD_OF(up, key) ((struct schema_path){ (up), PATH_CHILD, (key), 0 })
#define PATH_KEY_OF(up, key) ((struct schema_path){ (up), PATH_KEY, (key), 0 })
#define PATH_INDEX_OF(up, i) ((struct schema_path){ (up), PATH_INDEX, NULL, (i) })

/* "spec.map[key].list[0]" as Kubernetes' field paths; with `dotted`, map keys as ".key" like its OpenAPI
 * validator. NULL on no memory. */
const char *schema_path_text(struct arena *arena, const struct schema_path *at, bool dotted);

struct validation {
        struct schema_problems *problems;
        struct error *err;
};

/* "Reason text" of a problem, e.g. FieldValueRequired. */
extern const char REASON_REQUIRED[], REASON_INVALID[], REASON_TYPE[], REASON_NOT_SUPPORTED[],
        REASON_DUPLICATE[], REASON_TOO_LONG[], REASON_TOO_MANY[], REASON_FORBIDDEN[];

/* Add a problem; ERR_NO_MEMORY also when an argument is NULL, so texts may be made in the call. */
int schema_problem_add(struct validation *v, const char *reason, const char *field, const char *message);
/* "Invalid value: BAD: DETAIL" for the value (a JSON node) as Go prints it. */
int schema_problem_invalid(struct validation *v, const char *reason, const char *field, const json_t *bad,
                           const char *detail);
int schema_problem_required(struct validation *v, const struct schema_path *parent, const char *name);
const char *schema_quote(struct arena *arena, const char *s); /* as Go's %q */
const char *schema_value_text(struct arena *arena,
                              const json_t *value);  /* a string quoted, else compact JSON */
void schema_number_text(double d, char ret[32]);     /* as Go's %v */
const char *schema_value_type(const json_t *value);  /* "string", "integer", ... "null" */
const char *schema_type_name(enum schema_type type); /* "" for SCHEMA_ANY */

bool schema_format_valid(const char *format, const char *s, size_t n); /* unknown formats accept everything */
bool schema_string_is_kind(const char *s);                             /* DNS-1035 label in any case */

/* The passes of schema_validate(). */
struct schema_past {
        const json_t *old;   /* what the value was; NULL if that is not known */
        const json_t *sound; /* what is known to be valid at this place; NULL if nothing */
};
int schema_check_value(struct validation *v, const struct schema *s, const json_t *doc,
                       const struct schema_past *past, const struct schema_path *at);
int schema_check_lists(struct validation *v, const struct schema *s, const json_t *doc, const json_t *sound,
                       const struct schema_path *at);
int schema_check_embedded(struct validation *v, const struct schema *s, const json_t *doc,
                          const json_t *sound, const struct schema_path *at);
int schema_check_rules(struct validation *v, const struct schema *s, const json_t *doc, const json_t *old,
                       const struct schema_path *at, uint64_t *budget);

const struct schema_property *schema_declared_property(const struct schema *s, const char *name);
/* The element of `old` that corresponds to `item` in a list of type map; NULL for other lists. */
const json_t *schema_old_item(const struct schema *list, const json_t *old, const json_t *item);

/* Parses and compiles x-kubernetes-validations into `s`. */
int schema_rules_build(struct arena *arena, struct schema *s, const json_t *rules,
                       const struct schema_path *at, struct error *err);
int schema_error_at(struct error *err, const struct schema_path *at, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Building, shared by CRDs and definitions. */
struct schema_builder {
        struct arena *arena;
        struct error *err;
        size_t n_nodes;
        bool structural;           /* CRD rules apply */
        const json_t *definitions; /* NULL for CRDs */
        struct map *built;         /* definition name -> struct schema */
};
enum schema_level { SCHEMA_LEVEL_ROOT, SCHEMA_LEVEL_ITEM, SCHEMA_LEVEL_FIELD, SCHEMA_LEVEL_NESTED };

int schema_build(struct schema_builder *b, const json_t *openapi, const struct schema_path *at,
                 enum schema_level level, size_t depth, const struct schema **ret);
int schema_build_into(struct schema_builder *b, const json_t *openapi, const struct schema_path *at,
                      enum schema_level level, size_t depth, struct schema *s);
/* CRDs only: what must hold of a node's JSON before, and of the node after it is built. */
int schema_crd_check_json(struct schema_builder *b, const json_t *openapi, const struct schema_path *at,
                          enum schema_level level);
int schema_crd_check_node(struct schema_builder *b, const struct schema *s, const struct schema_path *at,
                          enum schema_level level);
/* Definitions only: the shared node a $ref leads to. */
int schema_resolve_reference(struct schema_builder *b, const char *reference, const struct schema_path *at,
                             size_t depth, const struct schema **ret);
bool schema_is_int_or_string_choice(const json_t *any_of); /* [{type: integer}, {type: string}] */
