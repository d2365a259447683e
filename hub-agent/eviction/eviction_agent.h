/* What the hub agent prepares for evictions, where they are enabled. */
#pragma once

#include "hub-agent/agent.h"

/* Takes the series of other evictions off /metrics. */
void evictions_show_only(struct hub_agent *a, bool (*keep)(void *ctx, const char *key), void *ctx);
int eviction_add_index(struct hub_agent *a); /* of evictions: those with a decision, by placement */
