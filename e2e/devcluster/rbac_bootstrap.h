/* The cluster roles and bindings every cluster has from the start. */
#pragma once

#include "common/json/doc.h"

/* The i-th object (ClusterRole or ClusterRoleBinding), without server-owned metadata: new. ERR_NOT_FOUND
 * behind the last, ERR_NO_MEMORY. */
int rbac_bootstrap_object(size_t i, json_t **ret);
