/* A pod made from a ReplicaSet's template: with the node a scheduler would choose and the token volume that
 * the API server's service-account admission would add. */
#pragma once

#include "e2e/chart-runner/runner.h"

/* `owner` (the ownerReferences) is taken. ERR_NOT_FOUND when the service account is missing, as admission
 * refuses such pods. */
int pod_from_template(struct runner *r, const json_t *replica_set, json_t *owner, json_t **ret,
                      struct error *err);

/* Adds the projected volume and a mount of it to every container without one at its path. Pure. */
int pod_add_token_volume(json_t *spec);
