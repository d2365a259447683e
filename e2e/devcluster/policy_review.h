/* One write while the policies look at it: shared by admission.c, policy_scope.c, policy_trial.c and
 * policy_params.c. Whatever they make lives as long as the request. */
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

/* ---- policy_trial.c ---- */
int review_try(struct policy_review *v, const struct policy *p, const struct policy_binding *b,
               const char *version, const json_t *params);

/* ---- policy_params.c ---- */
/* *ret: a request for objects of the policy's parameter kind. False: there is no such kind. */
bool review_find_param_kind(struct policy_review *v, const struct policy *p, struct request *ret);
/* Tries the policy with every object that the binding names. */
int review_try_params(struct policy_review *v, const struct policy *p, const struct policy_binding *b,
                      const char *version, struct request *of);
