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
