/* The scheduling cycle as a pure function: from the active policy snapshot, the member clusters and the
 * bindings that exist to the bindings that shall exist and the decisions to report. spec/scheduler.md 6-14.
 */
#pragma once

#include "hub-agent/common.h"

struct schedule_input {
        const char *placement_name, *placement_uid;
        const char *ns; /* of a ResourcePlacement, else NULL */
        const struct policy_snapshot *snapshot;
        /* PickN: the number that the placement has by now, which the snapshot may not yet have been told. */
        struct opt_int asked;
        /* It is not of the policy that the placement has by now: another one follows as soon as the placement
         * is taken in. Until then nothing is picked or taken away by it but what goes by itself. */
        bool outdated;
        struct object_list clusters; /* struct member_cluster, sorted by name */
        struct object_list bindings; /* struct binding of this placement, sorted by name; no status is read */
        int64_t now_ms;              /* wall */
        bool silence_is_told;        /* struct patience */
        int64_t heartbeat_grace_ms;  /* so too */
        bool tell_all;               /* verdicts on all clusters are wanted, for who asks why */
};

/* What a cycle made of one cluster. */
struct schedule_verdict {
        const struct member_cluster *cluster;
        bool picked;          /* in this cycle */
        const char *filtered; /* why resources cannot be placed there; NULL = nothing speaks against it */
        int32_t affinity, topology; /* its scores, of PickN; in the eyes of the last pick */
};

struct schedule_create {
        const char *name, *cluster;
        struct cluster_decision decision;
};
struct schedule_patch {
        const struct binding *now;
        const char *state; /* wanted */
        struct cluster_decision decision;
};
struct binding_refs {
        const struct binding **at;
        size_t n;
};

/* A property the policy looks at, which the member reports as something that is no quantity. */
struct unreadable_property {
        const struct member_cluster *cluster;
        const char *property, *value;
};

/* Everything lives in the arena given, or is borrowed from the input. */
struct schedule_plan {
        struct schedule_create *create;
        size_t n_create;
        struct schedule_patch *patch;
        size_t n_patch;
        struct binding_refs unschedule; /* state becomes Unscheduled, the state before is noted */
        /* The first so many of those: their clusters are gone, they are written before anything is created in
         * their place, or the placement would have more live bindings than it may. */
        size_t n_departed;
        struct binding_refs release; /* being deleted: the scheduler's finalizer goes */
        bool report;                 /* decisions and condition are to be written */
        bool write_status;           /* and they differ from what the snapshot says */
        struct cluster_decision *decisions;
        size_t n_decisions;
        struct condition scheduled;
        int64_t observed_generation;       /* of the placement */
        struct schedule_verdict *verdicts; /* one per cluster in their order, if all were to be told of */
        struct unreadable_property *unreadable; /* at most one per cluster; it counts as absent there */
        size_t n_unreadable;
        const struct member_cluster **silent; /* out of the question for the time that has gone by */
        size_t n_silent;
        uint64_t steps; /* what it cost: clusters, domains and groups of clusters that were looked at */
};

/* ERR_INVALID for a snapshot without its generation. A policy that cannot be evaluated (unknown
 * operators, malformed selectors, properties, quantities) is no error: nothing is picked nor taken away by
 * it, and the condition says what is wrong. */
int schedule_cycle(struct arena *arena, const struct schedule_input *in, struct schedule_plan *ret,
                   struct error *err);

/* How a cluster is judged that was heard of too long ago. Where its silence is told on the MemberCluster, by
 * who asked the API server first (membership/hearing.h), it counts once it is told, as the view of heartbeats
 * may be late. But where that would be later than the scheduler's five minutes (long periods, a longer
 * --cluster-unhealthy-threshold) the clock counts. */
struct patience {
        int64_t now_ms; /* wall */
        bool told;
        int64_t grace_ms; /* of the operator, 0 = its default: member_silence_ms() */
};
static inline struct patience patience_of(const struct schedule_input *in)
{
        return (struct patience){ in->now_ms, in->silence_is_told, in->heartbeat_grace_ms };
}

/* spec 11.2. True if resources may be placed there now; else *ret says why. */
struct ineligibility {
        const char *reason; /* in the arena, NULL on no memory */
        bool counts_time;   /* it tells minutes that have gone by: another text at every look, and no news */
        bool silence;       /* nothing is heard of it, which no event of it told */
};
bool cluster_is_eligible(const struct member_cluster *c, const struct patience *p, struct arena *arena,
                         struct ineligibility *ret);

/* spec 13.4, with the digits from a hash so that a retry cannot make a second binding: of the placement's
 * UID, the cluster and the binding being deleted on it, if any. Characters a label cannot hold become '-'.
 * NULL on no memory. */
const char *binding_name(struct arena *arena, const char *placement, const char *placement_uid,
                         const char *cluster, const char *deleting_uid);

/* What a member reports for a property (spec 11.1.1), as it stands; NULL if nothing, or for a malformed name.
 */
const char *cluster_property_text(const struct member_cluster *c, const char *name);

/* Whether what a member reports holds against one requirement: 1, 0, ERR_INVALID for a requirement that is
 * none. */
int cluster_meets(const struct property_requirement *r, const struct member_cluster *c, struct error *err);

/* spec 4.4: what of a member cluster changed that can move placements, so that the figures of a heartbeat
 * wake only placements that look at figures. `before` NULL: created (nothing); `after` NULL: gone.
 * `turned_away`: somebody looked for clusters and found it not eligible. A cluster that was silent
 * meanwhile, and that nobody turned away for it, has changed nothing.
 */
enum cluster_change {
        CHANGED_CLUSTER = 1,    /* labels, taints, eligibility */
        CHANGED_PROPERTIES = 2, /* properties, resource usage */
        CHANGED_NAMESPACES = 4, /* its namespaces: ResourcePlacements only */
        CHANGED_GONE = 8,       /* concerns every placement */
        CHANGED_BACK = 16       /* turned away for the time that had gone by, and eligible again */
};
unsigned cluster_changes(const struct member_cluster *before, const struct member_cluster *after,
                         bool turned_away, const struct patience *p);
/* Whether a policy looks at properties of clusters. */
bool policy_reads_properties(const struct placement_policy *p);
