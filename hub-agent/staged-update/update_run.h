/* Staged update runs: what a run does next. Pure. spec/staged-update-and-eviction.md 3-9. */
#pragma once

#include "hub-agent/common.h"
#include "hub-agent/rollout/rollout.h"

#define UPDATE_RUN_CLUSTER_POLL_MS INT64_C(15000) /* nets under the watches (spec 6) */
#define UPDATE_RUN_STAGE_POLL_MS INT64_C(60000)
#define UPDATE_RUN_STUCK_MS INT64_C(300000)
#define UPDATE_RUN_GRACE_MS INT64_C(20000) /* what passes by itself ends no run before that */

/* What one pass decides from. What it asks for by name comes through the calls; they fail as caches do. */
struct update_run_input {
        const struct update_run *run;
        const struct placement *placement;      /* NULL: there is none */
        const struct update_strategy *strategy; /* NULL: there is none */
        const struct update_run *retried;       /* the run of spec.retryOf; NULL: there is none */
        struct object_list policy_snapshots, resource_snapshots, bindings; /* of the placement; by name */
        /* The latest policy snapshot is not of what the placement asks for by now: asked of runs that have
         * not begun. */
        bool policy_is_outdated;
        const struct member_cluster *const
                *clusters; /* one per binding: its target, or NULL if that is gone */
        /* An empty index: the head of what is selected now, or why it cannot be taken in the user's words.
         * Neither: the plan asks for it (take_snapshot). */
        const struct resource_snapshot *taken;
        const char *not_taken;
        int (*approval)(void *ctx, const char *name, const struct approval_request **ret); /* NULL: none */
        /* What applies to the cluster of each binding with the snapshot's resources; NULL = none anywhere. */
        int (*overrides)(void *ctx, const struct resource_snapshot *master,
                         const struct cluster_overrides **ret);
        /* What changes on the clusters of `stage` when it goes on; `removal`: the placement goes off them.
         * The plan may be left out (NULL) if its hash is `known` (NULL: no plan is). */
        int (*plan)(void *ctx, const struct update_run *run, const struct stage_status *stage, bool removal,
                    const char *known, struct update_plan **ret, const char **ret_hash);
        /* Words with which somebody here is about to announce the binding as it is; NULL: nobody is. */
        const char *(*announcing)(void *ctx, const struct binding *b);
        /* For how long a moment that is yet to come was seen to be so: a clock was set back. */
        int64_t (*ahead_ms)(void *ctx, int64_t moment);
        void *ctx;
        int64_t retrying_ms; /* for how long passes have ended in `retry` */
        int64_t now_ms;
};

struct update_run_approval {
        const struct approval_request *now; /* NULL: create, with a status to be written after */
        struct approval_request *wanted;
};
enum update_run_measure_kind { MEASURED_APPROVAL, MEASURED_STAGE };
struct update_run_measure {
        enum update_run_measure_kind kind;
        const char *task_type; /* of an approval */
        int64_t ms;
};
#define UPDATE_RUN_MEASURES_MAX 4

/* To be carried out in this order; what fails ends the pass, and nothing behind it is done. */
struct update_run_plan {
        bool take_snapshot; /* nothing else: take what is selected, and plan again */
        struct rollout_list
                confirm; /* on their word the run fails, or skips a cluster: ask the server first */
        struct update_run_approval *approvals; /* create, or write the status */
        size_t n_approvals;
        struct rollout_write *update; /* become Bound to the run's snapshot, and RolloutStarted=True after */
        size_t n_update;
        struct rollout_list started; /* up to date, RolloutStarted to be made True */
        struct rollout_list remove;  /* delete */
        struct update_run *wanted;   /* with its next status; NULL: it stays */
        bool urgent;       /* more changed in it than how single clusters fare: it is not held back */
        const char *retry; /* what has to pass first, beside what is done here; NULL = nothing */
        int64_t after_ms;  /* 0 = at once, NO_WAKE_UP = by events alone */
        struct update_run_measure measured[UPDATE_RUN_MEASURES_MAX];
        size_t n_measured;
};
#define NO_WAKE_UP INT64_MAX

/* A run that is being deleted, too, may have something to start before it goes. Fails for want of memory, or
 * with what the calls fail with. */
int plan_update_run(struct arena *arena, const struct update_run_input *in, struct update_run_plan *ret,
                    struct error *err);

bool update_run_ended(const struct update_run *run); /* it failed to initialize, failed or succeeded */
const char *
update_run_index(const struct update_run *run); /* of the snapshots it needs; NULL: not known yet */
/* RolloutStarted is True of the binding as it is. */
bool update_run_binding_has_started(const struct binding *b);
/* Words of RolloutStarted on a binding that the run has set going. NULL on no memory. */
const char *update_run_rollout_message(const struct update_run *run, struct arena *arena);

/* ---- metrics (spec 11) ---- */

struct update_run_reading {
        const char *state, *condition, *status, *reason, *failure_type;
};
/* The condition that tells how the run fares; false when none speaks of its generation. */
bool update_run_reading(const struct update_run *run, struct update_run_reading *ret);
