/* Admission: what policies and webhooks of the cluster say about a write, when everything else about it is
 * settled. */
#pragma once

#include "e2e/devcluster/request.h"

/* What is written, where it is not an object of the request's resource: a Scale, an Eviction. */
struct admission_kind {
        const char *group, *version, *kind;
};

/* Whether no policy and no webhook of the cluster has a rule for such a write, whatever is written: then none
 * is asked. False also without the memory to know. */
bool admission_is_silent(struct request *rq, const char *operation);
/* operation: "CREATE", "UPDATE", "DELETE". live and doc (each may be NULL) are in the request's version, `as`
 * is NULL for the resource's own kind. Fails the request when it is denied; warnings go to its answer. Parks
 * where a webhook is asked, and sets rq->waited then (request.h). */
int admission_review(struct request *rq, const char *operation, const struct admission_kind *as,
                     const json_t *live, const json_t *doc);
