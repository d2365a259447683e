/* Certificate signing requests: what the API checks, and the controller that signs what was approved. */
#pragma once

#include "e2e/devcluster/request.h"

/* status.certificate of an approved request for one of the cluster's own signers; others are left alone. 0 or
 * an error; a request that cannot be signed gets the condition Failed. */
int csr_sign(struct devcluster *d, json_t *doc, int64_t now_ms, struct error *err);
