/* The compiled form of CEL expressions and the values they compute with; shared by the files of the
 * evaluator. */
#pragma once

#include "common/json/cel.h"
#include "common/json/schema.h"

#define CEL_MAX_NESTING 60             /* brackets, lambdas and operators within each other while parsing */
#define CEL_MAX_DEPTH 160              /* of the tree; bounds the evaluator's recursion on a fiber's stack */
#define CEL_MAX_EXPRESSION (64u << 10) /* bytes */
#define CEL_MAX_VARIABLES 16   /* named from outside; and, apart from these, lambda variables in each other */
#define CEL_MAX_ARGUMENTS 8    /* of functions; math.greatest and the like take lists beyond */
#define CEL_COST_LIMIT 1000000 /* steps of one evaluation, as kube-apiserver's limit per call */
#define CEL_MEMORY_LIMIT (32u << 20) /* of one evaluation */

enum cel_kind {
        CEL_NULL,
        CEL_BOOL,
        CEL_INT,
        CEL_UINT,
        CEL_DOUBLE,
        CEL_STRING,
        CEL_BYTES,
        CEL_LIST,
        CEL_MAP,
        CEL_TIMESTAMP,
        CEL_DURATION,
        CEL_TYPE,
        CEL_OPTIONAL,
        CEL_QUANTITY,
        CEL_URL,
        CEL_IP,
        CEL_CIDR,
        CEL_FORMAT,
        CEL_ACCESS, /* the authorizer and what its functions give */
        CEL_FAILED, /* a member of `variables` that has no value: reading it fails */
};

struct cel_value {
        enum cel_kind kind;
        bool is_doc; /* LIST and MAP: a borrowed document node instead of computed items */
        union {
                bool boolean;
                int64_t integer;
                uint64_t uinteger;
                double real;
                struct slice text; /* STRING, BYTES; TYPE: its name; URL: as written; FAILED: why */
                struct {
                        const json_t *node;
                        const struct schema *schema; /* of the node; may be NULL */
                } doc;
                struct {
                        const struct cel_value *items;
                        size_t n;
                } list;
                struct {
                        const struct cel_entry *entries;
                        size_t n;
                } map;
                struct {
                        int64_t seconds; /* since 1970 */
                        int32_t nanos;
                } time;
                int64_t nanos;                 /* DURATION */
                const struct cel_value *inner; /* OPTIONAL; NULL = none */
                const struct quantity *quantity;
                const struct cel_address *address; /* IP, CIDR */
                const struct cel_access *access;
        };
};

struct cel_entry {
        struct cel_value key, value;
};

struct cel_address {
        uint8_t bytes[16];
        uint8_t size; /* 4 or 16 */
        uint8_t bits; /* CIDR: prefix length */
};

enum cel_node_kind {
        CEL_NODE_CONSTANT,
        CEL_NODE_LOCAL,  /* lambda variable `slot` */
        CEL_NODE_GLOBAL, /* variable `slot` of the program */
        CEL_NODE_SELECT, /* args[0].name */
        CEL_NODE_HAS,    /* has(args[0].name) */
        CEL_NODE_INDEX,  /* args[0][args[1]] */
        CEL_NODE_CALL,
        CEL_NODE_NOT,
        CEL_NODE_NEGATE,
        CEL_NODE_BINARY,
        CEL_NODE_AND, /* of two and more */
        CEL_NODE_OR,
        CEL_NODE_CHOICE, /* args[0] ? args[1] : args[2] */
        CEL_NODE_LIST,
        CEL_NODE_MAP, /* key, value, key, value... */
        CEL_NODE_FOLD,
        CEL_NODE_BIND, /* slot = args[0] in args[1] */
};

enum cel_operator {
        CEL_EQUAL,
        CEL_NOT_EQUAL,
        CEL_LESS,
        CEL_LESS_EQUAL,
        CEL_GREATER,
        CEL_GREATER_EQUAL,
        CEL_IN,
        CEL_ADD,
        CEL_SUBTRACT,
        CEL_MULTIPLY,
        CEL_DIVIDE,
        CEL_MODULO,
};

enum cel_fold { CEL_ALL, CEL_EXISTS, CEL_EXISTS_ONE, CEL_TRANSFORM_LIST, CEL_FILTER, CEL_TRANSFORM_MAP };

struct cel_node {
        enum cel_node_kind kind;
        uint16_t depth;
        uint32_t at;        /* GLOBAL, SELECT, HAS: offset in the expression, for complaints */
        bool optional;      /* SELECT, INDEX: .? and [?; an element of LIST or MAP: ?e */
        bool two_variables; /* FOLD */
        enum cel_operator operator;
        enum cel_fold fold;     /* args: range, body or (filter, body) */
        uint32_t slot;          /* LOCAL, GLOBAL, BIND, FOLD (and slot + 1 with two variables) */
        const char *name;       /* SELECT, HAS */
        const char *plain_name; /* `name` with __dot__ and the like undone; NULL if there are none */
        const struct cel_function *function;
        const struct regex *regex; /* CALL: the pattern, if it is a literal */
        struct cel_value constant;
        struct cel_node **args;
        size_t n_args, cap_args;
};

struct cel_program {
        const char *expression;
        struct cel_node *root;
        const char *variables[CEL_MAX_VARIABLES]; /* names from outside, in order of appearance */
        size_t n_variables, n_slots;
};

/* One evaluation. */
struct cel_run {
        const struct cel_program *program;
        struct cel_value globals[CEL_MAX_VARIABLES], slots[2 * CEL_MAX_VARIABLES];
        bool has_global[CEL_MAX_VARIABLES];
        struct arena arena;
        struct error *err; /* never NULL */
        uint64_t cost, limit;
        const struct regex *regex; /* of the call being made, if its pattern is a literal */
};

enum cel_access_stage { CEL_AUTHORIZER, CEL_PATH_CHECK, CEL_GROUP_CHECK, CEL_RESOURCE_CHECK, CEL_DECISION };

struct cel_access {
        enum cel_access_stage stage;
        const struct cel_authorizer *by;
        struct cel_access_question question;
        bool allowed; /* DECISION */
        const char *reason;
};

struct cel_function {
        const char *name; /* with its namespace: "math.greatest" */
        bool member;      /* args[0] is what stands before the dot */
        uint8_t least, most;
        int (*call)(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret);
};

const struct cel_function *cel_function_find(const char *name, bool member);
bool cel_namespace_known(const char *name); /* "math", "sets", ... */
bool cel_type_named(const char *name, struct cel_value *ret);

/* Evaluates with variables of any kind; the caller has set run->program, globals and err, and frees the
 * arena. */
int cel_run_program(struct cel_run *run, struct cel_value *ret);
/* Takes the value of the variable if the program uses it. */
int cel_run_bind(struct cel_run *run, const char *name, const json_t *value, const struct schema *schema,
                 bool optional);
/* The same for a value at hand. */
void cel_run_bind_value(struct cel_run *run, const char *name, const struct cel_value *value);
int cel_eval_node(struct cel_run *run, const struct cel_node *node, struct cel_value *ret);
int cel_eval_fold(struct cel_run *run, const struct cel_node *node, struct cel_value *ret);

/* Errors of evaluation: ERR_INVALID may be absorbed by && and ||, ERR_LIMIT and ERR_NO_MEMORY may not. */
int cel_fail(struct cel_run *run, const char *fmt, ...) PRINTF_LIKE(2, 3);
int cel_no_overload(struct cel_run *run);
int cel_no_memory(struct cel_run *run); /* or the arena's limit */
int cel_spend(struct cel_run *run, uint64_t steps);

/* Values. */
static inline struct cel_value cel_bool(bool b)
{
        return (struct cel_value){ .kind = CEL_BOOL, .boolean = b };
}
static inline struct cel_value cel_int(int64_t i)
{
        return (struct cel_value){ .kind = CEL_INT, .integer = i };
}
static inline struct cel_value cel_double(double d)
{
        return (struct cel_value){ .kind = CEL_DOUBLE, .real = d };
}
static inline struct cel_value cel_text(enum cel_kind kind, const char *s, size_t n)
{
        return (struct cel_value){ .kind = kind, .text = { s, n } };
}
int cel_from_json(struct cel_run *run, const json_t *node, const struct schema *schema,
                  struct cel_value *ret);
int cel_to_json(struct cel_run *run, const struct cel_value *v, json_t **ret); /* new */
int cel_equal(struct cel_run *run, const struct cel_value *a, const struct cel_value *b, bool *ret);
int cel_compare(struct cel_run *run, const struct cel_value *a, const struct cel_value *b, int *ret);
int cel_binary(struct cel_run *run, enum cel_operator operator, const struct cel_value * a,
               const struct cel_value *b, struct cel_value *ret);
const char *cel_kind_name(const struct cel_value *v); /* "int", "google.protobuf.Timestamp" ... */

size_t cel_list_size(const struct cel_value *list);
int cel_list_at(struct cel_run *run, const struct cel_value *list, size_t i, struct cel_value *ret);
size_t cel_map_size(const struct cel_value *map);
/* *ret_found tells whether the key is there. A key of another type is simply not there. */
int cel_map_get(struct cel_run *run, const struct cel_value *map, const struct cel_value *key,
                bool *ret_found, struct cel_value *ret);
int cel_map_field(struct cel_run *run, const struct cel_value *map, const char *name, const char *plain_name,
                  bool *ret_found, struct cel_value *ret);

/* Walks a list (index, item) or a map (key, value). */
struct cel_iterator {
        const struct cel_value *over;
        size_t i, n;
        void *at; /* jansson's */
};
int cel_iterator_init(struct cel_run *run, struct cel_iterator *it, const struct cel_value *over);
/* 1 with *key and *value, 0 at the end, or an error. */
int cel_iterator_next(struct cel_run *run, struct cel_iterator *it, struct cel_value *key,
                      struct cel_value *value);

/* Text forms, in the run's arena. */
int cel_printf(struct cel_run *run, struct cel_value *ret, const char *fmt, ...) PRINTF_LIKE(3, 4);
int cel_to_string(struct cel_run *run, const struct cel_value *v, struct cel_value *ret); /* string(v) */
int cel_parse_timestamp(struct cel_run *run, struct slice text, struct cel_value *ret);
int cel_parse_duration(struct cel_run *run, struct slice text, struct cel_value *ret);
int cel_make_optional(struct cel_run *run, const struct cel_value *inner,
                      struct cel_value *ret); /* NULL: none */

/* Function tables of the libraries, each ended by a NULL name. */
extern const struct cel_function cel_standard_functions[], cel_string_functions[], cel_list_functions[],
        cel_time_functions[], cel_kubernetes_functions[], cel_math_functions[], cel_network_functions[],
        cel_access_functions[];

/* authorizer.requestResource */
int cel_access_field(struct cel_run *run, const struct cel_value *v, const char *name, struct cel_value *ret);
const char *cel_access_name(const struct cel_access *a);

/* UTF-8 by code points. */
size_t cel_count_runes(struct slice s);
size_t cel_rune_offset(struct slice s, size_t runes); /* byte offset; s.len beyond the end */
int cel_string_index_of(struct cel_run *run, const struct cel_value *args, size_t n, bool last,
                        struct cel_value *ret);
int cel_address_to_text(struct cel_run *run, const struct cel_value *v, struct cel_value *ret);

/* ERR_INVALID: "ERROR: <input>:LINE:COLUMN: text", the line itself, and a mark below the place. */
int cel_source_error(struct error *err, const char *source, size_t at, const char *text);

/* The kind of the program's result as far as its outermost operation tells; -1 if it does not. */
int cel_result_kind(const struct cel_program *p);
/* Follows fields from `self` and `oldSelf` through the schema: ERR_INVALID "undefined field 'x'" for one that
 * it does not declare, "undeclared reference to 'x'" for a variable other than these two. */
int cel_check_fields(const struct cel_program *p, const struct schema *self, struct error *err);
