/* What a member cluster has and what is taken: sums over nodes and pods, kept by addition and subtraction as
 * they come and go. Pure: no I/O. spec/member-agent.md 3.3, with the scheduler's idea of what a pod requests.
 */
#pragma once

#include "common/base/map.h"
#include "common/json/quantity.h"
#include "member-agent/properties/pod_table.h"
#include "proto/gen/kinds.h"

struct amounts {
        int64_t cpu_milli, memory_bytes;
};

/* Of a label that nodes have: how many have this value. */
struct tally {
        uint32_t n;
        char name[]; /* the value */
};

struct usage {
        struct map nodes;             /* name -> entry */
        struct map machines, regions; /* value -> tally */
        struct pod_table pods;
        struct amounts capacity, allocatable, requested;
        uint32_t node_round, pod_round; /* of lists: what a list did not touch is gone */
};

void usage_init(struct usage *u);
void usage_free(struct usage *u);
int usage_put_node(struct usage *u, const struct node *n);
void usage_remove_node(struct usage *u, const char *name);
/* A pod that is not on a node, or has finished, counts nothing. */
int usage_put_pod(struct usage *u, const struct pod *p);
void usage_remove_pod(struct usage *u, const char *ns, const char *name);
/* Around a whole list. */
void usage_begin_nodes(struct usage *u);
void usage_end_nodes(struct usage *u);
void usage_begin_pods(struct usage *u);
void usage_end_pods(struct usage *u);

/* The region that a node's label says; any, if they differ. NULL = none does. */
const char *usage_region(const struct usage *u);
#define MACHINE_UNDEFINED "undefined" /* of nodes without the label */

/* max(sum of containers and restartable init containers, each init container with those before it) plus
 * overhead. */
struct amounts usage_of_pod(const struct pod_spec *spec);
/* status.resourceUsage in the arena; without `available` nothing is said of what is free. */
int usage_report(const struct usage *u, bool available, int64_t now_ms, struct arena *arena,
                 struct resource_usage **ret, struct error *err);
