/* Why a placement is on a cluster or not: the scheduler's own cycle on what the hub has, as if nothing were
 * placed yet, beside what is placed. Pure. spec/scheduler.md 6-14. */
#pragma once

#include "hub-agent/scheduler/scheduler.h"
#include "kubectl-fleet/screen.h"

struct why_parts {
        const struct placement *placement; /* from the hub or a manifest */
        /* The same placement with another policy, which is tried out in place of its own; NULL = none is. */
        const struct placement *tried;
        struct object_list clusters; /* struct member_cluster, sorted by name */
        struct object_list bindings; /* struct binding, of the placement */
        struct object_list policies; /* struct policy_snapshot, marked latest; empty for a manifest */
        bool bindings_unknown;       /* they may not be read: no changes are told */
        int64_t now_ms;
};

/* What a policy that is tried out would change against what is placed now. */
enum why_change { WHY_NEITHER, WHY_JOINS, WHY_LEAVES, WHY_STAYS };

struct why_cluster {
        const struct schedule_verdict *verdict;
        const struct binding *held;          /* what places on it now; NULL = nothing */
        const struct cluster_decision *told; /* what the scheduler last said of it; NULL = nothing */
        bool scored, tried;
        enum why_change change;     /* of a policy that is tried out */
        const char *against;        /* the verdict's reason against it, in words; NULL = none */
        const char *said;           /* what `told` gives as its reason, in words; NULL = nothing was told */
        const char *word, *because; /* "picked", "not picked", "would be picked", "would join" */
        enum tone tone;
};
struct why_view {
        const struct placement *placement; /* with the policy that was looked at */
        const char *policy;                /* "PickN 3" */
        struct why_cluster *clusters;      /* those picked first, then the best, then by name */
        size_t n_clusters, n_held, n_fresh, n_fit;
        size_t n_changes[4]; /* by enum why_change */
        const char *problem; /* the policy cannot be evaluated; NULL */
};
/* ERR_INVALID names what in the policy cannot be. */
int why_look(struct arena *arena, const struct why_parts *parts, struct why_view *ret, struct error *err);
const struct why_cluster *why_find(const struct why_view *v,
                                   const char *cluster); /* NULL = no such cluster */

/* The requirements of the policy, and what one cluster has. */
struct why_requirement {
        bool holds;
        const char *text, *actual; /* "region=east"; "west", NULL = the cluster has none */
};
struct why_term {
        const char *title; /* "required, term 1 of 2", "preferred, weight 20" */
        struct why_requirement *at;
        size_t n, n_left;                             /* n_left: those that were left out */
        const char *sorted_by, *order, *sorter_value; /* of a preference that sorts; NULL */
};
struct why_terms {
        struct why_term *at;
        size_t n, n_left;
};
/* At most so many requirements, and as many terms. `like`: those of another cluster, whose words are shared;
 * NULL = none. 0 or ERR_NO_MEMORY. */
int why_terms_of(struct arena *arena, const struct why_view *v, const struct why_cluster *c, size_t most,
                 const struct why_terms *like, struct why_terms *ret);

void why_draw(const struct why_view *v, struct screen *s, bool headless);
/* One cluster, requirement by requirement. 0 or ERR_NO_MEMORY. */
int why_draw_cluster(const struct why_view *v, const struct why_cluster *c, struct screen *s,
                     struct arena *arena);
json_t *why_doc(const struct why_view *v, const struct why_cluster *only); /* only NULL = all; new */
