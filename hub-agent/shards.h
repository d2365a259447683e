/* Replicas of the hub agent share placements out (common/ctrl/shards.h): which placement a controller's keys
 * belong to, and what goes when a placement is another's. */
#pragma once

#include "hub-agent/agent.h"

/* For struct controller. Of bindings, update runs and evictions what names the placement cannot be changed by
 * users. What is there and names none belongs to the empty name. */
int placement_of_self(void *agent, const char *key, const struct object *about, struct key *ret);
int placement_of_binding(void *agent, const char *key, const struct object *about, struct key *ret);
int placement_of_work(void *agent, const char *key, const struct object *about, struct key *ret);
int placement_of_update_run(void *agent, const char *key, const struct object *about, struct key *ret);
int placement_of_eviction(void *agent, const char *key, const struct object *about, struct key *ret);

/* Of the update runs' controller: its memory of other runs, and their series. */
void update_runs_keep_if(struct hub_agent *a, bool (*keep)(void *ctx, const char *key), void *ctx);
void shards_forget(void *agent); /* for struct manager_options */
