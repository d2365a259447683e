/* Rolling update: which bindings move to the latest resources now, which wait, which go. Pure.
 * spec/rollout-and-work.md 2. */
#pragma once

#include "hub-agent/common.h"

/* Overrides that apply to one binding's cluster, in the order they are stored (spec 3.2). */
struct cluster_overrides {
        struct string_list cluster;      /* ClusterResourceOverrideSnapshots */
        struct namespaced_name_list own; /* ResourceOverrideSnapshots */
};

struct rollout_input {
        const struct placement *placement;
        struct object_list bindings;               /* of the placement, sorted by name */
        const struct resource_snapshot *master;    /* latest head; NULL: none can be rolled out */
        const struct cluster_overrides *overrides; /* one per binding; NULL = none anywhere */
        const bool *departed; /* one per binding: its member cluster is gone; NULL = none */
        /* One per binding: it was given a group of which only a part was made and that another one follows,
         * so it can never report. NULL = none. */
        const bool *stranded;
        const bool *works_failed; /* one per binding: its Works say so (works_have_failed); NULL = none */
        /* One per binding: how long it has been seen to be available since a moment yet to come, as when the
         * clock was set back; so long it is ready at the latest. NULL = none, else 0 for those that are not.
         */
        const int64_t *ahead_ms;
        /* Whether the cluster's Works are this binding's; asked of clusters with two. */
        int (*has_works)(void *ctx, const struct binding *b, bool *ret);
        void *ctx;
        bool external; /* update runs roll it out: only surplus bindings are planned */
        int64_t now_ms;
};

/* A cluster has one binding. A second one comes by hand, or from two leaders for a moment, and goes again. */
struct rollout_surplus {
        const struct binding *b, *stays;
};
struct rollout_write {
        const struct binding *now;
        struct binding *wanted;
};
struct rollout_list {
        const struct binding **at;
        size_t n;
};
struct rollout_plan {
        struct rollout_surplus *surplus; /* delete; if any, nothing else is planned */
        size_t n_surplus;
        struct rollout_write *strategy; /* apply strategy pushed; if any, nothing else is planned */
        size_t n_strategy;
        bool wait_for_cleanup; /* a binding is still going from a cluster that shall get a new one: the new
                                * one waits, all others go on */
        struct rollout_write *update; /* become Bound to the latest, and RolloutStarted=True afterwards */
        size_t n_update;
        struct rollout_list remove;  /* delete */
        struct rollout_list blocked; /* RolloutStarted=False */
        struct rollout_list started; /* up to date, RolloutStarted to be made True */
        int64_t after_ms;            /* > 0: look again then; state changes look again by themselves */
};

/* Fails for want of memory, or with what has_works fails with. */
int plan_rollout(struct arena *arena, const struct rollout_input *in, struct rollout_plan *ret,
                 struct error *err);

/* Predicates of spec 2.5; staged runs and evictions use them too. What has not reported yet has not failed:
 * it may well be available, and has to wait for its turn like any other. Of what failed to apply or to become
 * available the binding lists failed placements, of what has not reported yet none; nor of a Work that failed
 * without naming a manifest of its own, for which `works_failed` stands. */
bool binding_failed(const struct binding *b, bool works_failed);
bool binding_diff_reported(const struct binding *b);
/* Resources were placed by it, and not taken away: Bound, or Unscheduled since
 * (spec/staged-update-and-eviction.md 12). */
bool binding_is_in_use(const struct binding *b);
/* *ret_wait_ms: until the binding counts as ready by itself: 0 if it does, more if it does not, WAIT_UNKNOWN
 * if only a change of its conditions can tell. */
#define WAIT_UNKNOWN (-1)
bool binding_ready(const struct binding *b, int64_t unavailable_period_ms, int64_t now_ms,
                   int64_t *ret_wait_ms);

/* The placement's apply strategy with all defaults filled in (spec 2.2 step 2). NULL on no memory. */
struct apply_strategy *defaulted_apply_strategy(const struct placement *p, struct arena *arena);
bool equal_apply_strategies(const struct apply_strategy *a, const struct apply_strategy *b);

extern const char rollout_true_message[], rollout_false_message[];
