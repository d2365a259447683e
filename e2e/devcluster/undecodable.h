/* What a patch is answered whose result is none of the kind. */
#pragma once

#include "e2e/devcluster/request.h"

enum patch_form { PATCH_JSON, PATCH_MERGE, PATCH_STRATEGIC, PATCH_APPLY };

/* 422 with the patched object (of a strategic patch: the patch) and why it does not decode, as the request's
 * status tells it. */
int fail_undecodable(struct request *rq, enum patch_form form, const json_t *patch, const json_t *patched);
