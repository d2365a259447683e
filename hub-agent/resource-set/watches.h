/* How events become keys of ResourceSets. Private to this folder. */
#pragma once

#include "hub-agent/agent.h"

void map_set(void *agent, const struct informer_event *e, key_emit emit, void *to);
void map_provider(void *agent, const struct informer_event *e, key_emit emit, void *to);
/* Watches the ConfigMaps and Secrets that sets copy from; "" = all. ERR_NO_MEMORY: the same call again goes
 * on where it stopped. */
int resource_sets_watch_configs(struct hub_agent *a, const char *selector);
