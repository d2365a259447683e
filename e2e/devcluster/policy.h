/* ValidatingAdmissionPolicies: what they say, compiled, and whom they concern. Compiled once per cluster and
 * kept until a policy or binding is written; a cluster without any costs two hash look-ups per write.
 *
 * Not done: the type check against the schemas of matched kinds that kube-controller-manager reports in
 * status.typeChecking, other groups under which a resource is served too (events) for matchPolicy Equivalent,
 * and what goes to the audit log (Audit, auditAnnotations: evaluated, written nowhere). */
#pragma once

#include "common/json/cel.h"
#include "e2e/devcluster/request.h"

struct policy_rule { /* of resourceRules; lists are NULL-terminated */
        const char *const *operations, *const *groups, *const *versions, *const *resources, *const *names;
        const char *scope;
};

struct policy_match { /* MatchResources */
        struct policy_rule *rules, *excluded;
        size_t n_rules, n_excluded;
        const json_t *ns_selector, *object_selector; /* NULL or empty = everything */
        bool exact;                                  /* matchPolicy */
};

struct policy_expression { /* of variables, match conditions and audit annotations */
        const char *name;
        const struct cel_program *program;
        const char *text;
};

struct policy_validation {
        struct policy_expression expression;
        const struct cel_program *message_program; /* NULL = none */
        const char *message, *reason;              /* NULL = none */
};

struct policy {
        const char *name;
        struct policy_match match;
        struct policy_expression *conditions, *variables, *annotations;
        struct policy_validation *validations;
        size_t n_conditions, n_variables, n_annotations, n_validations;
        bool ignores_failure;
        const char *param_version, *param_kind; /* apiVersion and kind; NULL = no parameters */
        const struct policy_binding *bindings;  /* a list; NULL = none */
};

struct policy_binding {
        const struct policy_binding *next;
        const char *name, *policy;
        struct policy_match match;
        const json_t *param_ref; /* NULL = none */
        bool denies, warns;
};

/* ---- policy_compile.c ---- */

/* Reads a policy as it is stored or sent. It borrows from `doc`, everything else is in the arena. What is
 * wrong with it is added to problems, as kube-apiserver says it. ERR_NO_MEMORY. */
int policy_compile(struct arena *arena, const json_t *doc, struct policy *ret, struct schema_problems *p);
int policy_binding_compile(struct arena *arena, const json_t *doc, struct policy_binding *ret,
                           struct schema_problems *p);
/* The same of an entry of a webhook configuration that was let in: name, match, conditions, ignores_failure.
 */
int policy_compile_webhook(struct arena *arena, const json_t *hook, struct policy *ret);
extern const struct schema policy_request_schema, policy_namespace_schema; /* of those variables */

/* ---- policy_match.c ---- */

struct policy_target {                                                              /* of one request */
        const char *operation, *group, *version, *plural, *subresource, *ns, *name; /* "" = none */
};
/* The rules alone. With Equivalent, target->version may be another one that `r` is served in: *ret_version
 * is the one that the rules name. */
bool policy_match_rules(const struct policy_match *m, const struct policy_target *target,
                        const struct resource *r, const char **ret_version);
/* A LabelSelector; NULL matches everything. */
bool policy_match_labels(const json_t *selector, const json_t *labels);

/* ---- policy_cache.c ---- */

struct policies {
        struct arena arena;
        struct policy *at; /* sorted by name */
        size_t n;
};
/* *ret is NULL when there are none. Good until a policy or binding is written. ERR_NO_MEMORY. */
int policies_of(struct cluster *c, const struct policies **ret);
void policies_forget(struct cluster *c);
