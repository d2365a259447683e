/* What must hold at each step and at rest: the rules that watch.h shows every change to. */
#pragma once

#include "e2e/simulation/watch.h"
#include "proto/names.h"

#define RULE_LAG_MS 120000 /* longer than watches stall and links stay down: what is older was heard of */

#define RES_BINDINGS "placement.kubernetes-fleet.io/clusterresourcebindings"
#define RES_NS_BINDINGS "placement.kubernetes-fleet.io/resourcebindings"
#define RES_WORKS "placement.kubernetes-fleet.io/works"
#define RES_APPLIED_WORKS "placement.kubernetes-fleet.io/appliedworks"
#define RES_PLACEMENTS "placement.kubernetes-fleet.io/clusterresourceplacements"
#define RES_NS_PLACEMENTS "placement.kubernetes-fleet.io/resourceplacements"
#define RES_SNAPSHOTS "placement.kubernetes-fleet.io/clusterresourcesnapshots"
#define RES_NS_SNAPSHOTS "placement.kubernetes-fleet.io/resourcesnapshots"
#define RES_POLICIES "placement.kubernetes-fleet.io/clusterschedulingpolicysnapshots"
#define RES_NS_POLICIES "placement.kubernetes-fleet.io/schedulingpolicysnapshots"
#define RES_DEFINITIONS "apiextensions.k8s.io/customresourcedefinitions"
#define RES_MEMBERS "cluster.kubernetes-fleet.io/memberclusters"
#define RES_INTERNAL_MEMBERS "cluster.kubernetes-fleet.io/internalmemberclusters"
#define RES_BUDGETS "placement.kubernetes-fleet.io/clusterresourceplacementdisruptionbudgets"
#define RES_EVICTIONS "placement.kubernetes-fleet.io/clusterresourceplacementevictions"
#define RES_RUNS "placement.kubernetes-fleet.io/clusterstagedupdateruns"
#define RES_NS_RUNS "placement.kubernetes-fleet.io/stagedupdateruns"
#define RES_APPROVALS "placement.kubernetes-fleet.io/clusterapprovalrequests"
#define RES_NS_APPROVALS "placement.kubernetes-fleet.io/approvalrequests"
#define RES_SETS "olm.operatorframework.io/clusterobjectsets"
#define RES_HELM_CHARTS "source.toolkit.fluxcd.io/helmcharts"
#define RES_HELM_REPOSITORIES "source.toolkit.fluxcd.io/helmrepositories"
#define RES_PLACEMENT_STATUSES "placement.kubernetes-fleet.io/clusterresourceplacementstatuses"
#define RES_LEASES "coordination.k8s.io/leases"

/* the hub */
extern const struct rule rule_one_leader;          /* who does not hold the lease writes nothing */
extern const struct rule rule_shard_owner;         /* of a shard's placements nobody but its holder writes */
extern const struct rule rule_shard_zero;          /* nor what belongs to none but the holder of shard 0 */
extern const struct rule rule_live_bindings;       /* never above N, never two on one cluster */
extern const struct rule rule_binding_after_works; /* no binding goes while its Works live */
extern const struct rule rule_fresh_news;          /* nothing is told of a binding before its Works tell it */
extern const struct rule rule_latest_snapshot;     /* never two latest ones */
extern const struct rule rule_index_once;          /* no snapshot's name stands for two contents */
extern const struct rule rule_budget;              /* maxUnavailable of each rollout */
extern const struct rule rule_picks;               /* and of each decision of it */
extern const struct rule rule_external;            /* strategy External: only runs roll it out */
extern const struct rule rule_evictions;   /* each decided once, as the budget allows; nothing else evicts */
extern const struct rule rule_run_forward; /* what an update run says only grows */
extern const struct rule rule_run_stages_in_order; /* one after the other, each with its tasks */
extern const struct rule rule_run_clusters;        /* so many at a time, and to the run's snapshot */
extern const struct rule rule_run_policy;          /* of none that was given up before it was made */
extern const struct rule rule_heard; /* nobody is called silent who spoke within its limit: rules_heard.c */
/* members */
extern const struct rule rule_work_after_objects; /* no Work goes before its objects */
extern const struct rule rule_wanted_stays;       /* what is wanted is never away, nor made again */
extern const struct rule rule_one_owner;          /* several only where they share */
extern const struct rule rule_not_ours;           /* what is not ours is not written */
extern const struct rule rule_origin; /* AppliedWorks say what their Works are of: rules_origin.c */
extern const struct rule rule_back;   /* statuses come back as asked for: rules_back.c */
/* ClusterObjectSets: rules_set.c */
extern const struct rule rule_set_order;      /* phases up and down, and successors, one after the other */
extern const struct rule rule_set_controller; /* never two, and it passes upwards */
extern const struct rule rule_set_foreign;    /* only what collisionProtection allows */
/* ResourceSets on the hub: rules_table.c */
extern const struct rule rule_table_kept;    /* what a set wants is not deleted */
extern const struct rule rule_table_listed;  /* nothing is made that no inventory lists */
extern const struct rule rule_table_order;   /* no namespace goes before its placement */
extern const struct rule rule_table_foreign; /* what is not a set's is neither written nor deleted */
/* charts and their repositories on the hub: rules_chart.c */
extern const struct rule rule_chart_kept;  /* what a status names is there, and is not given up */
extern const struct rule rule_chart_ready; /* nor is anything Ready without */
extern const struct rule rule_chart_tidy;  /* and what is of no use is gone, at rest */
/* the garden's repository: rules_garden.c */
extern const struct rule rule_garden_kept;     /* what the branch has is not deleted, nor what is held */
extern const struct rule rule_garden_foreign;  /* nothing is written that is not its agent's */
extern const struct rule rule_garden_answered; /* a request has one answer */
extern const struct rule rule_garden_order;    /* no namespace goes before its placement */
/* at rest */
extern const struct rule rule_tidy;  /* no stale snapshots, bindings, Works, AppliedWorks */
extern const struct rule rule_state; /* nothing stale in the members' state files */
extern const struct rule rule_quiet; /* nothing is written any more but signs of life */

/* A member of the fleet holds something of a Work that the hub does not have, which it cleans up only after a
 * while. */
bool rules_miss_works(struct watch *w);
/* The newest snapshot of a placement holds a kind of the game that is defined no more: only after a while the
 * hub agent believes that it is gone for good. */
bool rules_miss_kinds(struct watch *w);

/* A ResourceSet or provider that fails says each time that it tries; a service is asked every few seconds. */
bool rules_table_is_tried_again(const struct change *c);
/* Some of them are at it, or will be: after ever longer pauses. */
bool rules_tables_try_again(struct watch *w);

/* Charts that fail, or whose repository does, say so each time that they try. */
bool rules_chart_is_tried_again(const struct change *c);
bool rules_charts_try_again(struct watch *w);

/* The garden's agent says that it lives, or what it cannot do. */
bool rules_garden_speaks(const struct change *c);

/* ---- shared ---- */
static inline bool rule_is_member(const char *who) /* a cluster or its agent */
{
        return text_starts_with(who, "member-");
}
static inline bool rule_is_hub_agent(const char *who)
{
        return text_starts_with(who, "hub-agent");
}
const char *rule_label(const json_t *doc, const char *key); /* NULL if absent */
/* "app-1/part" or "app-1": whose snapshot, binding or Work it is; false if it has no placement. */
bool rule_placement_of(const json_t *doc, char ret[192]);
bool rule_is_leaving(const json_t *doc); /* has a deletionTimestamp */
/* The placement in the wish of that name; NULL if it is none of the game's. */
const struct wish_placement *rule_wished(const struct wish *w, const char *key);
/* A binding that stands for a choice: neither unscheduled nor leaving. */
bool rule_binding_lives(const json_t *binding);
/* What is placed there is available, or its difference told, of its newest generation: rules_rest.c. */
bool rule_binding_is_ready(const json_t *binding);

/* ---- update runs ---- */

/* Of owner's "conditions": the one of that type, NULL = none; and whether it has that status. */
const json_t *rule_condition(const json_t *owner, const char *type);
bool rule_says(const json_t *owner, const char *type, const char *status);
bool rule_run_began(const json_t *run); /* it is initialized */
bool rule_run_ended(const json_t *run);
bool rule_run_is_of(const json_t *run, const char *placement);
size_t rule_run_stages(const json_t *run);                      /* without the deletion stage */
const json_t *rule_run_stage(const json_t *run, size_t stage);  /* from their number on: the deletion stage */
const json_t *rule_run_config(const json_t *run, size_t stage); /* as its strategy had it */
bool rule_run_cluster_is_over(const json_t *config, const json_t *cluster);
struct rule_run_use { /* for watch_each(): a run of the placement that goes on holds the index */
        const char *placement, *index;
        bool found;
};
bool rule_note_run_use(void *ctx, const json_t *run);
/* Some run that goes on may bring the binding to its snapshot. */
bool rule_run_may_write(struct watch *w, const json_t *binding);
/* Update runs that have not ended. */
bool rules_runs_go_on(struct watch *w);
