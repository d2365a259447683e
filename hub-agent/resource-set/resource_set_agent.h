/* What the hub agent prepares for ResourceSets, where they are enabled. */
#pragma once

#include "hub-agent/agent.h"

extern const struct controller resource_set_controller;
/* Works on sets and their providers: from now on, or from when the hub serves both kinds, and no cache is
 * filled before. After the first discovery. ERR_NO_MEMORY, or ERR_INVALID for a wrong selector of what is
 * watched. */
int resource_sets_start(struct hub_agent *a, struct error *err);
