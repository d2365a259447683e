/* Why a placement is on a cluster or not: the scheduler's own cycle on what the hub has, as if nothing were
 * placed yet, beside what is placed. Pure. spec/scheduler.md 6-14. */
#pragma once

#include "hub-agent/scheduler/scheduler.h"
#include "kubectl-fleet/screen.h"

struct why_parts {
        const struct placement *placement; /* from the hub or a manifest */
        struct object_list clusters;       /* struct member_cluster, sorted by name */
        struct object_list bindings;       /* struct binding, of the placement */
        struct object_list policies;       /* struct policy_snapshot, marked latest; empty for a manifest */
        int64_t now_ms;
};

struct why_cluster {
        const struct schedule_verdict *verdict;
        const struct binding *held;          /* what places on it now; NULL = nothing */
        const struct cluster_decision *told; /* what the scheduler last said of it; NULL = nothing */
        bool scored;
        const char *word, *because; /* "picked", "not picked", "would be picked" */
        enum tone tone;
};
struct why_view {
        const struct placement *placement;
        const char *policy;           /* "PickN 3" */
        struct why_cluster *clusters; /* those picked first, then the best, then by name */
        size_t n_clusters, n_held, n_fresh;
        const char *problem; /* the policy cannot be evaluated; NULL */
};
/* ERR_INVALID names what in the policy cannot be. */
int why_look(struct arena *arena, const struct why_parts *parts, struct why_view *ret, struct error *err);
const struct why_cluster *why_find(const struct why_view *v,
                                   const char *cluster); /* NULL = no such cluster */

void why_draw(const struct why_view *v, struct screen *s, bool headless);
/* One cluster, requirement by requirement. 0 or ERR_NO_MEMORY. */
int why_draw_cluster(const struct why_view *v, const struct why_cluster *c, struct screen *s,
                     struct arena *arena);
json_t *why_doc(const struct why_view *v, const struct why_cluster *only); /* only NULL = all; new */
