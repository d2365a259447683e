/* From a binding and its resource snapshots to Works, and from Works back to the binding's status. Pure.
 * spec/rollout-and-work.md 6. */
#pragma once

#include "common/kube/mapping.h"
#include "hub-agent/common.h"

/* One Work that shall exist. */
struct wanted_work {
        const char *name;
        const char *snapshot_index;
        const char *envelope_kind, *envelope_name, *envelope_ns; /* NULL: plain manifests */
        struct raw_list manifests;
        const char *invalid; /* why the envelope cannot be placed: what there is of its Work stays as it is */
};
struct wanted_works {
        struct wanted_work *at;
        size_t n;
};

/* Changes or drops one manifest: 1 changed (*text replaced), 0 as it was, 2 dropped, or an error. */
struct manifest_override {
        int (*apply)(void *ctx, struct arena *arena, struct slice *text, struct error *err);
        void *ctx;
};
/* What a manifest may be. The kind decides its scope, not what its author wrote; a kind that the hub does not
 * serve is taken as it is written, and the member, which knows it, looks again. */
struct manifest_rules {
        enum kube_scope (*scope_of)(void *ctx, const char *group, const char *kind);
        bool (*is_allowed)(void *ctx, const char *group, const char *version, const char *kind);
        void *ctx;
};
/* Renders the group's resources for a cluster; snapshots in order, head first, bodies included. `overrides`
 * may be NULL. An envelope that breaks a rule fails alone (`invalid` of its Work); of a namespaced placement
 * every manifest must be in its namespace. *ret_override_failed tells whose fault an error is. */
int render_works(struct arena *arena, const struct resource_snapshot *const *group, size_t n_group,
                 const struct manifest_override *overrides, const struct manifest_rules *rules,
                 struct wanted_works *ret, bool *ret_override_failed, struct error *err);
/* ERR_INVALID with the words of all envelopes that cannot be placed. */
int check_envelopes(struct arena *arena, const struct wanted_works *wanted, struct error *err);

struct work_write {
        const struct work *now; /* NULL = create */
        struct work *wanted;    /* NULL = delete */
};
struct work_plan {
        struct work_write *at;
        size_t n;
        const char *duplicates; /* with ERR_INTERNAL: which Works carry one envelope; words for an event */
};
/* Whether every live Work already carries what the binding asks for: then nothing needs to be rendered.
 * `labels`, here and below: override_labels_hash() of the binding's overrides; NULL = not known, and not
 * compared. */
bool works_in_sync(struct arena *arena, const struct binding *b, const struct object_list *live,
                   const char *index, size_t n_expected, const char *labels);
/* The same by what the Works say of themselves: how many there are to be, and that each of these is one. An
 * agent that does not say how many is not believed. */
bool works_are_complete(struct arena *arena, const struct binding *b, const struct object_list *live,
                        const char *index);
/* ERR_INTERNAL: several Works carry one envelope; none is touched, for nobody can tell which is right. */
int plan_works(struct arena *arena, const struct binding *b, const struct wanted_works *wanted,
               const struct object_list *live, const char *labels, struct work_plan *ret, struct error *err);
/* Works whose apply strategy differs from the binding's, or that report back otherwise than the placement
 * says: refreshed even when the snapshot is gone (spec 6.3 step 1). p NULL: it is not known, and they report
 * as they do.
 */
int plan_work_strategies(struct arena *arena, const struct binding *b, const struct placement *p,
                         const struct object_list *live, struct work_plan *ret, struct error *err);
/* Those that are made report back as the placement says. */
void plan_report_back(struct work_plan *plan, const struct placement *p);

/* Whose a Work is that has a name which the binding needs, in words; NULL if it is the binding's own, or on
 * no memory. Placement "web" in "team-a" and ClusterResourcePlacement "team-a.web" name their Works alike. */
const char *work_of_another(struct arena *arena, const struct object *work, const struct binding *b);

/* spec 1.4: "null" for an empty list. */
int override_list_hashes(struct arena *arena, const struct binding *b, const char **ret_own,
                         const char **ret_cluster);

/* What came of making the Works. */
struct sync_result {
        int code; /* 0 or the error's code */
        const char *detail;
        bool override_failed;
        bool works_changed; /* in this pass */
        /* What the manifests of each live Work are, by ordinal, as the hub made them; NULL or an empty list =
         * not known: the member's word for it is not taken. */
        const struct resource_identifier_list *identities;
        bool available_anew; /* Works changed since the status was written: what is available now is so from
                                now */
};
/* Every live Work has reported, and one that it failed: to apply, or else to become available. */
bool works_have_failed(const struct object_list *live);
/* The binding with its new status: spec 6.7, 6.8. RolloutStarted is kept, or set to `rollout_started` if not
 * NULL, anew if that has a time. *ret_settled: nothing more is expected to change soon. NULL on no memory. */
struct binding *binding_with_status(struct arena *arena, const struct binding *b,
                                    const struct object_list *live, const struct sync_result *sync,
                                    const struct condition *rollout_started, int64_t now_ms,
                                    bool *ret_settled);
