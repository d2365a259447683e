/* Overrides from the caches: for a rollout, and as a binding names them. */
#pragma once

#include "hub-agent/agent.h"
#include "hub-agent/override/override.h"

/* What applies to each of the bindings' clusters, NULL when there is no override anywhere. A binding whose
 * member cluster is gone keeps what it has. Parks now and then. */
int overrides_for_bindings(struct reconcile *rc, const struct object_list *bindings,
                           const struct object_list *snapshots, const struct resource_snapshot *master,
                           const struct cluster_overrides **ret);
/* The snapshots a binding names, referenced until the reconcile ends. ERR_INVALID when one is gone; ERR_RETRY
 * when the member cluster is, which may happen while the caller was parked. Applying parks now and then. */
int overrides_of_binding(struct reconcile *rc, const struct binding *b, struct override_applier *ret);
