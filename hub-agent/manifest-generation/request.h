/* Requests: ConfigMaps with a label, and the answers in their annotations. spec/flux-yaml.md 9.2. Pure. */
#pragma once

#include "common/ctrl/informer.h"

#define REQUEST_LABEL "fluxcd.io/request"
#define REQUEST_STATUS "fluxcd.io/request-status"
#define REQUEST_COMMIT "fluxcd.io/request-commit"
#define REQUEST_RESULT "fluxcd.io/request-result"

#define REQUEST_QUEUED "queued"
#define REQUEST_RUNNING "running"
#define REQUEST_SUCCEEDED "succeeded"
#define REQUEST_FAILED "failed"

#define REQUEST_RESULT_BYTES (64u << 10)

/* There is no answer yet. */
bool request_is_open(const struct object_meta *m);
/* It was told that it is queued, or is to be gone on with. `without`: uids that are left out. */
bool request_waits(const struct object_meta *m, const struct map *without);
/* Of those that wait the one made first, of equal times the one whose name comes first; NULL = there is none.
 */
const struct object *request_first(const struct object_list *all, const struct map *without);
/* A merge patch; NULLs say nothing. A result that is too long loses its middle. New; NULL on no memory. */
json_t *request_answer(const char *status, const char *commit, const char *result);
