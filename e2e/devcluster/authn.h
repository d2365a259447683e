/* Who sends a request: client certificate, bearer token, or nobody. */
#pragma once

#include "e2e/devcluster/request.h"

/* Sets rq->user (in the arena). A token that is no good fails with 401; no credentials give system:anonymous.
 */
int authenticate(struct request *rq);
