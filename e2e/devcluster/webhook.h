/* Admission webhooks: the cluster's MutatingWebhookConfigurations and ValidatingWebhookConfigurations, asked
 * over HTTPS. Compiled once per cluster and kept until a configuration is written; a cluster without any
 * costs two hash look-ups per write.
 *
 * A call parks in the middle of a write, whose rule everywhere else is that nothing parks between reading and
 * storing. So: what is sent and what is changed is the request's own copy; nothing borrowed from the store or
 * from a cache is held over a call (the compiled webhooks are counted); and request.waited is set, so that
 * the writer looks again before it stores (request_check_unmoved). What moved meanwhile makes rest.c do the
 * whole request anew: a patch or an update without resourceVersion on the newer object, webhooks and all; an
 * update with one conflicts. Deletions do the same by themselves.
 *
 * Not done: webhooks for what the server's own controllers write, for kinds that are never stored (reviews),
 * mutating ones for Scale; the validating ones are asked one behind the other, until one refuses. */
#pragma once

#include "common/net/http.h"
#include "e2e/devcluster/admission.h"
#include "e2e/devcluster/policy.h"

struct webhook {
        struct policy of; /* name, match, conditions, ignores_failure */
        bool mutates, reinvoked, affects_dry_run, old_review;
        int timeout_seconds;
        const char *url;             /* as errors name it, with the query */
        const char *service;         /* "namespace/name"; NULL: by URL alone */
        struct http_endpoint server; /* base_url: of the URL; a service's is found out for each call */
        const char *path;            /* behind it, with the query */
};

/* ---- webhook_cache.c ---- */

struct webhooks {
        unsigned refs;
        struct arena arena;
        struct webhook *mutating, *validating; /* by configuration's name, then as they stand there */
        size_t n_mutating, n_validating;
};
/* *ret is NULL when there are none, and otherwise a new reference. ERR_NO_MEMORY. */
int webhooks_of(struct cluster *c, struct webhooks **ret);
void webhooks_forget(struct cluster *c);
void webhooks_unref(struct webhooks *w); /* NULL is fine */

/* ---- webhook_call.c ---- */

struct policy_review;
struct webhook_answer {
        bool allowed;
        const char
                *refusal; /* set when there was no answer: what follows `failed calling webhook "NAME": ` */
        json_t *status;   /* of a refusal; borrowed from `review`; may be NULL */
        json_t *patch;    /* an array; NULL = none. new */
        json_t *review;   /* new */
};
/* Asks one webhook, in the version that its rules name. Parks. 0 also when the call failed (`refusal`); fails
 * the request when there is no memory, or when the server is being closed. */
int webhook_call(struct policy_review *v, const struct webhook *w, const char *version,
                 struct webhook_answer *ret);
void webhook_answer_free(struct webhook_answer *a);

/* ---- webhook_admit.c ---- */

/* What makes a changed document whole again. */
struct webhook_settling {
        /* After every patch: shape, defaults, what may not be changed. */
        int (*normalise)(struct request *rq, const json_t *live, json_t *doc);
        /* When webhooks are through: the server's own plugins once more. May be NULL. */
        int (*complete)(struct request *rq, json_t *doc);
};
/* The mutating webhooks change doc in place (NULL: deletion). Parameters as of admission_review(). */
int webhooks_mutate(struct request *rq, const char *operation, const struct admission_kind *as,
                    const json_t *live, json_t *doc, const struct webhook_settling *settling);
int webhooks_validate(struct request *rq, const char *operation, const struct admission_kind *as,
                      const json_t *live, const json_t *doc);
