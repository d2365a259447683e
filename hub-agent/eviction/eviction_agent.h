/* What the hub agent prepares for evictions, where they are enabled. */
#pragma once

#include "hub-agent/agent.h"

int eviction_add_index(struct hub_agent *a); /* of evictions: those with a decision, by placement */
