/* How events become keys of ResourceSets. Private to this folder. */
#pragma once

#include "common/ctrl/controller.h"

void map_set(void *agent, const struct informer_event *e, key_emit emit, void *to);
void map_provider(void *agent, const struct informer_event *e, key_emit emit, void *to);
