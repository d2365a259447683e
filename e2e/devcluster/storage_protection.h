/* The two controllers that let go of claims and volumes once nothing uses them any more: admission gives them
 * a finalizer (admission_plugins.h), which stays as long as a pod mounts the claim, or a claim has the
 * volume. */
#pragma once

#include "e2e/devcluster/request.h"

/* Looks at a claim or volume that is being deleted and finishes it when it is free; others are left alone. */
void storage_protection_release(struct request *rq, const json_t *live);
