/* Tokens of service accounts: JSON web tokens signed with the devcluster's key (ES256), with Kubernetes'
 * claims. The same key signs for all logical clusters; a token is good only where its service account's uid
 * lives. */
#pragma once

#include "e2e/devcluster/request.h"

#define TOKEN_ISSUER "https://kubernetes.default.svc.cluster.local"
#define TOKEN_LEGACY_ISSUER "kubernetes/serviceaccount"
#define TOKEN_SECONDS_DEFAULT 3600
#define TOKEN_SECONDS_MIN 600

/* What a token is made for. */
struct token_request {
        const char *ns, *account, *account_uid;
        const json_t *audiences;                         /* array; NULL or empty = the API server's */
        int64_t seconds;                                 /* of life */
        const char *bound_kind, *bound_name, *bound_uid; /* "Pod" or "Secret"; NULL = not bound */
};

/* *ret in the arena. */
int token_sign(struct devcluster *d, const struct token_request *t, struct arena *arena, const char **ret,
               struct error *err);
/* The token of a Secret of type kubernetes.io/service-account-token: without end and audience. */
int token_sign_legacy(struct devcluster *d, const struct token_request *t, struct arena *arena,
                      const char **ret, struct error *err);

/* Checks signature, times, audience, and that account and bound object are still there. wanted_audience NULL
 * = the API server's. *ret and *ret_audiences (may be NULL: array of the token's, borrowed by the arena) are
 * written on success; ERR_UNAUTHORIZED with the reason otherwise. */
int token_identify(struct devcluster *d, struct cluster *c, const char *token, const char *wanted_audience,
                   struct arena *arena, struct identity *ret, const json_t **ret_audiences,
                   struct error *err);
void token_cache_free(struct devcluster *d);

/* Groups of a service account of a namespace, NULL-terminated; NULL on no memory. */
const char *const *token_account_groups(struct arena *arena, const char *ns);
