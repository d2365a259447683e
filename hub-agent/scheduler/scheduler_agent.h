/* What the hub agent prepares for the scheduler. */
#pragma once

#include "hub-agent/agent.h"

int scheduler_register(struct hub_agent *a); /* the metrics */
