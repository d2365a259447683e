/* One write while the policies look at it: shared by admission.c, policy_scope.c, policy_trial.c,
 * policy_params.c and webhook*.c. Whatever they make lives as long as the request. */
#pragma once

#include "e2e/devcluster/admission.h"
#include "e2e/devcluster/policy.h"

struct policy_review {
        struct request *rq;
        const struct admission_kind *as;
        const json_t *live, *doc;
        struct policy_target target;
        const json_t *ns_doc; /* of the request's namespace; NULL until read or if there is none */
        bool ns_read;
        struct cel_authorizer authorizer;
        const char *denial, *reason; /* the first; NULL = none */
};

/* ---- admission.c ---- */
void review_init(struct policy_review *v, struct request *rq, const char *operation,
                 const struct admission_kind *as, const json_t *live, const json_t *doc);
/* Rules and selectors; *ret_version as policy_match_rules(). */
int review_matches(struct policy_review *v, const struct policy_match *m, const char **ret_version,
                   bool *ret);
int review_keep(struct request *rq, json_t *doc); /* frees the document with the request; fails for NULL */
/* Denies the request in the end, unless something else did before. reason NULL: Invalid. */
int review_deny(struct policy_review *v, const char *reason, const char *message);
/* A policy (b NULL) or binding is set up wrongly: the request is denied, whatever the binding's actions. */
int review_misconfigured(struct policy_review *v, const struct policy *p, const struct policy_binding *b,
                         const char *why);
int review_read_namespace(struct policy_review *v); /* into ns_doc */

/* ---- policy_scope.c ---- */
void review_init_authorizer(struct policy_review *v);
/* Sets what expressions see, apart from `variables`. version: the one that the rules name. */
int review_fill_scope(struct policy_review *v, struct cel_scope *scope, const char *version,
                      const json_t *params);

/* An AdmissionRequest, without the objects; new. version: the one that the rules name. */
json_t *review_request(const struct policy_review *v, const char *version);
/* The document in the version that the rules name; lives as long as the request. */
int review_in_version(struct policy_review *v, const char *version, const json_t *doc, const json_t **ret);

/* ---- policy_trial.c ---- */
#define POLICY_BUDGET 10000000 /* steps for all expressions of a policy, as kube-apiserver's */
/* *ret_matches false: the policy or webhook has nothing to say. *ret_why: what kept conditions from an
 * answer, NULL if nothing did. */
int review_conditions(struct policy_review *v, struct cel_scope *scope, const struct policy *p,
                      bool *ret_matches, const char **ret_why);
int review_try(struct policy_review *v, const struct policy *p, const struct policy_binding *b,
               const char *version, const json_t *params);

/* ---- policy_params.c ---- */
/* *ret: a request for objects of the policy's parameter kind. False: there is no such kind. */
bool review_find_param_kind(struct policy_review *v, const struct policy *p, struct request *ret);
/* Tries the policy with every object that the binding names. */
int review_try_params(struct policy_review *v, const struct policy *p, const struct policy_binding *b,
                      const char *version, struct request *of);
