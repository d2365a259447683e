/* Policy and resource snapshots of a placement: which to make, re-mark and remove. Pure. spec/placement.md 9.
 */
#pragma once

#include "hub-agent/common.h"

#define SNAPSHOT_BYTES_MAX (800u << 10) /* raw resources in one snapshot */

/* Lower-case hex SHA-256 of the policy without numberOfClusters; NULL policy hashes "null" (spec 6.3). */
int policy_hash(const struct placement_policy *policy, char ret[65], struct error *err);
/* "eyJ..." of the hex text, as policyHash is on the wire. NULL on no memory. */
const char *hash_on_wire(struct arena *arena, const char hash[65]);

/* Whether it is of this policy, but for the number of clusters: says so, and holds it; nobody edited it. */
int policy_snapshot_is_of(struct arena *arena, const struct policy_snapshot *s,
                          const struct placement_policy *policy, bool *ret, struct error *err);

/* The same, and of PickN it was told that number. */
int policy_snapshot_is_current(struct arena *arena, const struct policy_snapshot *s,
                               const struct placement_policy *policy, bool *ret, struct error *err);

/* An existing object and what it is to look like. */
struct relabel {
        const struct object *now;
        struct object *wanted;
};

/* Of snapshots that are not seen; NO_INDEX: there is none. */
struct indexes {
        int64_t given;     /* the highest that is named anywhere: it is not given again */
        int64_t asked_for; /* of one that may have been made, or may yet be: the next one is asked for by this
                            * index again, so that there cannot be two */
};
#define NO_INDEXES ((struct indexes){ NO_INDEX, NO_INDEX })
/* Below it no snapshot is the latest; and what the next one gets, above those that there are. */
static inline int64_t lowest_index(struct indexes i)
{
        return MAX(i.given, i.asked_for);
}
static inline int64_t next_index(struct indexes i, int64_t highest)
{
        return MAX(MAX(highest, i.given) + 1, i.asked_for);
}

struct policy_snapshot_plan {
        struct relabel update;        /* .now NULL = nothing; runs first */
        const struct object **remove; /* oldest first */
        size_t n_remove;
        struct policy_snapshot *create;       /* NULL = the latest one is right */
        const struct policy_snapshot *latest; /* after the plan, if nothing is created */
};
/* existing: all policy snapshots of the placement. A snapshot below what `indexes` tells of is not the
 * latest, whatever it says, nor one whose policy is not what its hash is of. ERR_INVALID: broken labels, two
 * marked latest. */
int plan_policy_snapshots(struct arena *arena, const struct placement *p, const struct object_list *existing,
                          struct indexes indexes, struct policy_snapshot_plan *ret, struct error *err);

/* What was selected, ready to be stored. */
struct selection {
        struct slice *resources; /* canonical JSON plus newline, in order */
        size_t n;
        char hash[65]; /* spec 6.3 */
        size_t n_envelopes;
};
void selection_hash(struct selection *s);

struct snapshot_timing {
        int64_t now_ms, min_interval_ms, collect_ms; /* both <= 0: new snapshots at once */
};
struct resource_snapshot_plan {
        struct relabel update;  /* runs first */
        struct relabel *unmark; /* older heads that are marked latest beside it, and stay */
        size_t n_unmark;
        const struct object **remove;
        size_t n_remove;
        struct resource_snapshot **create; /* head first */
        size_t n_create;
        const struct resource_snapshot *latest; /* head after the plan if none is created; NULL: create[0] */
        int64_t delay_ms;                       /* > 0: a new group is due then; `latest` is the old one */
};
/* Groups that stay although the placement may not keep as many: bindings and update runs that have not ended
 * name them, or are going to. */
struct snapshots_in_use {
        int64_t *index;
        size_t n;
        bool unknown; /* who names them is not heard of yet, or has yet to say which: all stay */
};
bool resource_snapshot_is_in_use(const struct object *snapshot, const struct snapshots_in_use *in_use);
/* A group below what `indexes` tells of, or one that somebody edited, is not used again, and neither is a
 * part of one if something else is selected by now. There is nothing to be waited for then: the next one
 * replaces it. */
int plan_resource_snapshots(struct arena *arena, const struct placement *p, const struct selection *s,
                            const struct object_list *existing, struct indexes indexes,
                            const struct snapshots_in_use *in_use, const struct snapshot_timing *t,
                            struct resource_snapshot_plan *ret, struct error *err);

int64_t snapshot_history_limit(const struct placement *p); /* of either kind, at least 1 */
/* So many groups are above this one that it stays only as long as it is in use. */
bool resource_group_is_past(const struct placement *p, const struct object_list *existing, int64_t index);
/* No group is there that is too much. */
bool resource_history_is_kept(const struct placement *p, const struct object_list *existing,
                              const struct snapshots_in_use *in_use);

/* The head marked latest, by highest index; NULL if there is none. */
const struct resource_snapshot *latest_resource_snapshot(const struct object_list *existing);
/* The head of the newest group, marked latest or not; NULL if there is none. */
const struct resource_snapshot *newest_resource_snapshot(const struct object_list *existing);
const struct policy_snapshot *latest_policy_snapshot(const struct object_list *existing);
/* At most one head that stays is marked so. */
bool one_resource_snapshot_is_latest(const struct object_list *existing);
bool is_snapshot_head(const struct object *snapshot);
/* Whether all members of the head's group are there. Who ended while a group was made leaves a part of it:
 * that is completed only as long as the same is selected. */
bool resource_group_is_whole(const struct object_list *existing, const struct object *head);
/* Somebody changed what it holds: agents write that once. */
bool resource_snapshot_was_edited(const struct object *snapshot);
