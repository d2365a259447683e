/* What the hub agent prepares for ResourceSets, where they are enabled. */
#pragma once

#include "hub-agent/agent.h"

extern const struct controller resource_set_controller;
/* Watches the ConfigMaps and Secrets that sets copy from. ERR_NO_MEMORY, or ERR_INVALID for a wrong selector.
 */
int resource_sets_watch_configs(struct hub_agent *a, struct error *err);
