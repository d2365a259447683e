/* Overrides: their snapshots, which of them concern a placement and a cluster, and what they do to a
 * manifest. Pure. spec/rollout-and-work.md 3-5. */
#pragma once

#include "hub-agent/placement/snapshots.h"
#include "hub-agent/rollout/rollout.h"

#define OVERRIDE_HISTORY 10

/* ---- snapshots of one override (spec 4) ---- */

/* Lower-case hex SHA-256 of the spec as the reference writes it (spec 4), so that agents that take turns make
 * no new snapshots. The override must have a spec. */
int override_hash(const struct resource_override *o, char ret[65], struct error *err);

struct override_snapshot_plan {
        struct relabel update;
        struct relabel *unmark; /* older ones that are marked latest beside the newest, and stay */
        size_t n_unmark;
        const struct object **remove;
        size_t n_remove;
        struct override_snapshot *create;
};
/* given: the highest index that a binding names, or NO_INDEX: a snapshot below it is not used again. */
int plan_override_snapshots(struct arena *arena, const struct resource_override *o,
                            const struct object_list *existing, int64_t given,
                            struct override_snapshot_plan *ret, struct error *err);
/* The highest index of this override's snapshots that a binding names; NO_INDEX if it names none, or is being
 * deleted. */
int64_t override_index_named(const struct object *override, const struct object *binding);

/* ---- matching (spec 3) ---- */

/* What overrides can name of a placement's resources; {0} holds nothing. Lives in the arena that it was
 * filled with. */
struct override_subjects {
        struct map *keys;
};
/* Whether a kind is cluster-scoped, by the hub's discovery. */
typedef bool (*cluster_scoped_fn)(void *ctx, const char *group, const char *version, const char *kind);
struct scope_lookup {
        cluster_scoped_fn is_cluster_scoped;
        void *ctx;
};
/* Adds the subjects of stored resources, envelopes' content included. */
int override_subjects_add(struct arena *arena, const struct raw_list *resources,
                          const struct scope_lookup *scopes, struct override_subjects *ret,
                          struct error *err);

/* The latest snapshots of both kinds that concern the placement, in the order they are stored on bindings. */
struct override_set {
        struct object_list cluster, own; /* struct override_snapshot */
};
int override_set_match(struct arena *arena, const char *placement_ns, const char *placement,
                       const struct override_subjects *subjects, const struct override_set *latest,
                       struct override_set *ret, struct error *err);
/* Those of them with a rule for the cluster. */
int override_set_for_cluster(struct arena *arena, const struct override_set *set,
                             const struct member_cluster *cluster, struct cluster_overrides *ret,
                             struct error *err);

/* ---- applying (spec 5) ---- */

struct override_applier {
        struct override_set set; /* as the binding names them */
        const struct member_cluster *cluster;
        struct scope_lookup scopes;
        /* Called now and then in a long pass: lets others run, < 0 ends the pass as cancelled. NULL: never.
         */
        int (*pause)(void *ctx);
        void *pause_ctx;
        size_t worked; /* since the last pause */
};
/* 0 = nothing applies, 1 = *text is the changed manifest, 2 = dropped. The result is the same object as
 * before: what would change its type, its metadata but labels and annotations, or its status is refused, as
 * is more than LIMIT_OVERRIDE_OPERATIONS and LIMIT_OVERRIDE_BYTES allow. ERR_INVALID in the user's words,
 * with the override's name; ERR_CANCELLED, ERR_NO_MEMORY. */
int override_apply(void *applier, struct arena *arena, struct slice *text, struct error *err);

/* What the overrides take from the cluster's labels, as a hash: the values of variables, and which of an
 * override's several rules apply. What they make of a manifest changes with it, though their snapshots stay
 * the same. "" when they take nothing; NULL when one of them has no rule for the cluster any more, for then
 * the rollout is about to take it off the binding. Pauses as applying does. ERR_CANCELLED, ERR_NO_MEMORY. */
int override_labels_hash(struct override_applier *a, struct arena *arena, const char **ret,
                         struct error *err);
