/* The metrics fleet_workload_...: passes over placements, and changes of what they select, under the names
 * that the reference's three queues have. spec/placement.md 14. */
#pragma once

#include "hub-agent/agent.h"

enum workload_queue { WORKLOAD_CLUSTER_PLACEMENTS, WORKLOAD_PLACEMENTS, WORKLOAD_CHANGES, N_WORKLOADS };

void workload_metrics_init(struct metrics *m); /* all of them with 0 */
/* Around one pass; what begins returns its time in microseconds. */
int64_t workload_begin(struct hub_agent *a, enum workload_queue w);
void workload_end(struct hub_agent *a, enum workload_queue w, int64_t began_us, const struct outcome *o);
