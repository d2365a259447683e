/* The Common Expression Language as CRDs, ValidatingAdmissionPolicies and Argosy's own checks use it.
 *
 * The whole language (without message construction), the macros with one and two variables, optionals (.?,
 * [?, optional.of), and the libraries strings, lists, sets, math, base64, regular expressions (find,
 * findAll), quantity(), url(), ip(), cidr(), timestamps and durations (zones as offsets only). Fields whose
 * names cannot be spelled are written x__dash__y or `x-y`. Types are checked while evaluating, not before:
 * "no such overload".
 *
 * Limits (cel_internal.h): expression 64 KiB, nesting 60, 16 variables; one evaluation 1,000,000 steps and 32
 * MiB. Both compiling and evaluating fit a fiber's stack. */
#pragma once

#include "common/json/doc.h"

struct cel_program;
struct schema;

/* Compiles; ERR_INVALID with line:column and the reason. Lives in `arena`. */
int cel_compile(struct arena *arena, const char *expression, struct cel_program **ret, struct error *err);
bool cel_uses_variable(const struct cel_program *p, const char *name); /* e.g. "oldSelf" */
/* Whether it may depend on that member of the variable: it reads it, or does anything else with the variable
 * than to read a member by its name. */
bool cel_reads_member(const struct cel_program *p, const char *variable, const char *member);

struct cel_variable {
        const char *name;
        const json_t *value;         /* JSON null = CEL null */
        const struct schema *schema; /* types the value (int-or-string, byte, date-time...); may be NULL */
};
/* Evaluates to a document value (new). ERR_INVALID carries CEL's error text ("no such key: x"); ERR_LIMIT
 * when the cost budget is spent. */
int cel_eval(const struct cel_program *p, const struct cel_variable *vars, size_t n, json_t **ret,
             struct error *err);
int cel_eval_bool(const struct cel_program *p, const struct cel_variable *vars, size_t n, bool *ret,
                  struct error *err);

/* ---- checking before the first evaluation ---- */

extern const struct schema cel_anything; /* of a variable whose type nobody knows before it runs */

struct cel_declaration {
        const char *name;
        const struct schema *schema; /* cel_anything, or NULL: not followed */
        bool is_object;              /* has apiVersion, kind and metadata, whatever the schema says */
};
/* ERR_INVALID "undeclared reference to 'x'" or "undefined field 'x'". *ret_type (may be NULL): the result's
 * type, cel_anything, or NULL where only the evaluation can tell. */
int cel_check(const struct cel_program *p, const struct cel_declaration *declared, size_t n,
              const struct schema **ret_type, struct error *err);

/* ---- several programs over the same variables: an admission policy ---- */

struct cel_access_question { /* what does not apply is "" */
        const char *verb, *group, *resource, *subresource, *ns, *name;
        const char *path;                      /* NULL for resources */
        const char *account_ns, *account_name; /* a service account instead of who asks; NULL */
};
struct cel_authorizer { /* behind the variable "authorizer" */
        bool (*allowed)(void *ctx, const struct cel_access_question *q, const char **ret_reason);
        void *ctx;
        struct cel_access_question request; /* authorizer.requestResource */
};

struct cel_scope;
struct cel_result {
        enum { CEL_RESULT_OTHER, CEL_RESULT_BOOL, CEL_RESULT_STRING, CEL_RESULT_NULL } kind;
        bool boolean;
        struct slice text; /* of the scope */
};
/* Borrows all that is set in it. `budget`: steps of all evaluations together. */
struct cel_scope *cel_scope_new(uint64_t budget);
struct cel_scope *cel_scope_free(struct cel_scope *s); /* returns NULL */
/* ERR_LIMIT or ERR_NO_MEMORY. A name that is set again has the new value. */
int cel_scope_set(struct cel_scope *s, const char *name, const json_t *value, const struct schema *schema);
int cel_scope_set_authorizer(struct cel_scope *s, const struct cel_authorizer *by); /* NULL: takes it away */
/* Adds variables.NAME. One that fails, fails who reads it. ERR_NO_MEMORY, or ERR_LIMIT for the budget. */
int cel_scope_define(struct cel_scope *s, const char *name, const struct cel_program *p, struct error *err);
int cel_scope_eval(struct cel_scope *s, const struct cel_program *p, struct cel_result *ret,
                   struct error *err);
