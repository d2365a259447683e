/* Who sends a request: client certificate, bearer token, or nobody; then, where asked for, as whom. */
#pragma once

#include "e2e/devcluster/request.h"

/* Sets rq->user (in the arena). A token that is no good fails with 401; no credentials give system:anonymous.
 * Impersonate-... headers fail with 403 unless the sender may impersonate. */
int authenticate(struct request *rq);
/* What is known of a user beyond name, uid and groups: an object of lists, new; NULL if nothing. */
json_t *identity_extra(const struct identity *who);
void authn_free(struct devcluster *d); /* what authentication hung on the devcluster */
