/* Admission between defaulting and validation: policies and webhooks of the cluster. */
#pragma once

#include "e2e/devcluster/request.h"

/* operation: "CREATE", "UPDATE", "DELETE"; doc may be changed in place. Fails the request when it is denied.
 */
int admission_review(struct request *rq, const char *operation, const json_t *live, json_t *doc);
