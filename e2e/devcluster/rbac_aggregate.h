/* Cluster roles made of others: aggregationRule. */
#pragma once

#include "e2e/devcluster/store.h"

/* Sets `rules` of a role with an aggregationRule to the rules of all roles it selects, each rule once, in the
 * order of the roles' names; leaves other roles alone. Selectors count by matchLabels. 0 or ERR_NO_MEMORY. */
int rbac_aggregate(struct cluster *c, json_t *role);
