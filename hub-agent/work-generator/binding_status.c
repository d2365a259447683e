/* The binding's conditions and lists from what became of its Works. spec/rollout-and-work.md 6.7, 6.8. */
#include <stdlib.h>

#include "hub-agent/rollout/rollout.h"
#include "hub-agent/work-generator/work_generator.h"

#define LIST_MAX 100

struct building {
        struct arena *arena;
        const struct binding *now;
        struct binding_status *s;
        struct condition kept[8]; /* conditions set in this pass */
        size_t n_kept;
        int64_t now_ms;
        bool no_memory;
};

static void put(struct building *b, const char *type, const char *status, const char *reason,
                const char *message)
{
        struct condition c = make_condition(type, status, reason, message, b->now->object.meta.generation);

        if (!message || condition_set(&b->s->conditions, &c, b->now_ms, b->arena) < 0)
                b->no_memory = true;
        if (b->n_kept < ARRAY_LEN(b->kept))
                b->kept[b->n_kept++] = c;
}

static void drop_unset(struct building *b)
{
        static const char *const types[] = { "Overridden", "WorkSynchronized", "Applied", "Available",
                                             "DiffReported" };

        for (size_t i = 0; i < ARRAY_LEN(types); i++) {
                bool set = false;

                for (size_t k = 0; k < b->n_kept; k++)
                        set = set || text_equal(b->kept[k].type, types[i]);
                if (!set)
                        condition_remove(&b->s->conditions, types[i]);
        }
}

/* ---- Work conditions ---- */

enum verdict { INCOMPLETE, FAILED, TRUE };

static enum verdict work_verdict(const struct work *w, const char *type)
{
        const struct condition *c =
                w->status ? fresh_condition(&w->status->conditions, type, w->object.meta.generation) : NULL;

        if (!c)
                return INCOMPLETE;
        return text_equal(c->status, "True") ? TRUE : FAILED;
}

/* The worst of all Works, and the first Work (by name) that has it. */
static enum verdict overall(const struct object_list *live, const char *type, const char **ret_work)
{
        enum verdict worst = TRUE;

        *ret_work = "";
        for (size_t i = 0; i < live->n; i++) {
                enum verdict v = work_verdict((const struct work *)live->at[i], type);

                if (v >= worst)
                        continue;
                worst = v;
                *ret_work = live->at[i]->meta.name;
        }
        return worst;
}

/* ---- lists ---- */

static int identify(struct building *b, const struct work *w, const struct manifest_condition *m,
                    struct resource_identifier *ret)
{
        const struct work_resource_identifier *id = m->identifier;
        const char *kind = label_of(&w->object, LABEL_ENVELOPE_TYPE);
        static const struct work_resource_identifier none;

        id = id ? id : &none;
        *ret = (struct resource_identifier){
                .group = id->group, .version = id->version, .kind = id->kind, .name = id->name, .ns = id->ns
        };
        if (!kind)
                return 0;
        ret->envelope = ARENA_NEW(b->arena, struct envelope_identifier);
        if (!ret->envelope)
                return ERR_NO_MEMORY;
        *ret->envelope = (struct envelope_identifier){ .name = label_of(&w->object, LABEL_ENVELOPE_NAME),
                                                       .ns = label_of(&w->object, LABEL_ENVELOPE_NAMESPACE),
                                                       .type = kind };
        return 0;
}

static int compare_texts(const char *a, const char *b)
{
        return strcmp(or_empty(a), or_empty(b));
}

static int compare_ids(const struct resource_identifier *a, const struct resource_identifier *b)
{
        const char *pairs[][2] = { { a->group, b->group },
                                   { a->version, b->version },
                                   { a->kind, b->kind },
                                   { a->ns, b->ns },
                                   { a->name, b->name } };

        for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
                int order = compare_texts(pairs[i][0], pairs[i][1]);

                if (order)
                        return order;
        }
        if (!a->envelope || !b->envelope)
                return (a->envelope != NULL) - (b->envelope != NULL);
        return compare_texts(a->envelope->name, b->envelope->name);
}

static int by_failed(const void *a, const void *b)
{
        return compare_ids(&((const struct failed_placement *)a)->id,
                           &((const struct failed_placement *)b)->id);
}
static int by_drifted(const void *a, const void *b)
{
        return compare_ids(&((const struct drifted_placement *)a)->id,
                           &((const struct drifted_placement *)b)->id);
}
static int by_diffed(const void *a, const void *b)
{
        return compare_ids(&((const struct diffed_placement *)a)->id,
                           &((const struct diffed_placement *)b)->id);
}

static size_t count_manifests(const struct object_list *live)
{
        size_t n = 0;

        for (size_t i = 0; i < live->n; i++) {
                const struct work *w = (const struct work *)live->at[i];

                n += w->status ? w->status->manifest_conditions.n : 0;
        }
        return n;
}

/* Calls fn for every manifest of every Work. */
typedef int (*manifest_fn)(struct building *b, const struct work *w, const struct manifest_condition *m);
static int for_each_manifest(struct building *b, const struct object_list *live, manifest_fn fn)
{
        for (size_t i = 0; i < live->n; i++) {
                const struct work *w = (const struct work *)live->at[i];

                for (uint32_t k = 0; w->status && k < w->status->manifest_conditions.n; k++)
                        TRY(fn(b, w, &w->status->manifest_conditions.at[k]));
        }
        return 0;
}

static const struct condition *false_condition(const struct manifest_condition *m)
{
        static const char *const types[] = { "Applied", "Available" };

        for (size_t i = 0; i < ARRAY_LEN(types); i++) {
                const struct condition *c = condition_find(&m->conditions, types[i]);

                if (c && text_equal(c->status, "False"))
                        return c;
        }
        return NULL;
}

static int add_failed(struct building *b, const struct work *w, const struct manifest_condition *m)
{
        struct failed_placement *f = &b->s->failed_placements->at[b->s->failed_placements->n];
        const struct condition *c = false_condition(m);

        if (!c || (work_verdict(w, "Applied") != FAILED && work_verdict(w, "Available") != FAILED))
                return 0;
        TRY(identify(b, w, m, &f->id));
        f->condition = arena_memdup(b->arena, c, sizeof(*c));
        b->s->failed_placements->n++;
        return f->condition ? 0 : ERR_NO_MEMORY;
}

static int add_drifted(struct building *b, const struct work *w, const struct manifest_condition *m)
{
        struct drifted_placement *d = &b->s->drifted_placements->at[b->s->drifted_placements->n];

        if (!m->drift_details)
                return 0;
        TRY(identify(b, w, m, &d->id));
        d->observation_time = m->drift_details->observation_time;
        d->first_drifted_observed_time = m->drift_details->first_drifted_observed_time;
        d->target_cluster_observed_generation = m->drift_details->observed_in_member_cluster_generation;
        d->observed_drifts = m->drift_details->observed_drifts;
        b->s->drifted_placements->n++;
        return 0;
}

static int add_diffed(struct building *b, const struct work *w, const struct manifest_condition *m)
{
        struct diffed_placement *d = &b->s->diffed_placements->at[b->s->diffed_placements->n];

        if (!m->diff_details)
                return 0;
        TRY(identify(b, w, m, &d->id));
        d->observation_time = m->diff_details->observation_time;
        d->first_diffed_observed_time = m->diff_details->first_diffed_observed_time;
        d->target_cluster_observed_generation = m->diff_details->observed_in_member_cluster_generation;
        d->observed_diffs = m->diff_details->observed_diffs;
        b->s->diffed_placements->n++;
        return 0;
}

/* Collects one list, sorted and capped; none if it would be empty. */
#define COLLECT(b, live, list, fn, order)                                                                    \
        ({                                                                                                   \
                typeof((b)->s->list) l_ = ARENA_NEW((b)->arena, typeof(*l_));                                \
                (b)->s->list = l_;                                                                           \
                if (l_)                                                                                      \
                        l_->at = arena_calloc((b)->arena, count_manifests(live) + 1, sizeof(l_->at[0]));     \
                int code_ = l_ && l_->at ? for_each_manifest((b), (live), (fn)) : ERR_NO_MEMORY;             \
                if (code_ == 0) {                                                                            \
                        qsort(l_->at, l_->n, sizeof(l_->at[0]), (order));                                    \
                        l_->n = MIN(l_->n, LIST_MAX);                                                        \
                        l_->set = l_->n > 0;                                                                 \
                }                                                                                            \
                if (code_ < 0 || !l_->n)                                                                     \
                        (b)->s->list = NULL;                                                                 \
                code_;                                                                                       \
        })

struct lists {
        bool failed, drifted, diffed;
};

static int collect(struct building *b, const struct object_list *live, struct lists which)
{
        if (which.failed)
                TRY(COLLECT(b, live, failed_placements, add_failed, by_failed));
        if (which.drifted)
                TRY(COLLECT(b, live, drifted_placements, add_drifted, by_drifted));
        if (which.diffed)
                TRY(COLLECT(b, live, diffed_placements, add_diffed, by_diffed));
        return 0;
}

/* ---- aggregation ---- */

static const char *about(struct building *b, const char *format_head, const char *work,
                         const char *format_tail)
{
        return arena_printf(b->arena, "%s%s%s", format_head, work, format_tail);
}

static bool is_untrackable(const struct work *w)
{
        const struct condition *c = condition_find(&w->status->conditions, "Available");

        return text_equal(c->reason, "WorkNotTrackable") ||
               text_equal(c->reason, "SomeManifestsAreNotAvailabilityTrackable");
}

static void put_available_true(struct building *b, const struct object_list *live)
{
        for (size_t i = 0; i < live->n; i++)
                if (is_untrackable((const struct work *)live->at[i])) {
                        put(b, "Available", "True", "NotAllWorkAreAvailabilityTrackable",
                            about(b, "The availability of work object ", live->at[i]->meta.name,
                                  " is not trackable"));
                        return;
                }
        put(b, "Available", "True", "AllWorkAreAvailable", "All corresponding work objects are available");
}

static struct lists aggregate_diff(struct building *b, const struct object_list *live, bool *ret_settled)
{
        const char *work;
        enum verdict v = overall(live, "DiffReported", &work);

        *ret_settled = v != INCOMPLETE;
        if (v == TRUE) {
                put(b, "DiffReported", "True", "AllWorkHaveDiffReported",
                    "All corresponding work objects have reported diff");
                return (struct lists){ .diffed = true };
        }
        put(b, "DiffReported", "False", "NotAllWorkHaveDiffReported",
            about(b, "Work object ", work,
                  v == FAILED ? " has failed to report diff" : " has not yet completed diff reporting"));
        return (struct lists){ 0 };
}

static struct lists aggregate_apply(struct building *b, const struct object_list *live,
                                    const struct sync_result *sync, bool *ret_settled)
{
        const char *work;
        enum verdict v = overall(live, "Applied", &work);

        *ret_settled = v == FAILED;
        if (v != TRUE) {
                put(b, "Applied", "False", "NotAllWorkHaveBeenApplied",
                    about(b, "Work object ", work, v == FAILED ? " has failed to apply" : NOT_YET_APPLIED));
                return v == FAILED ? (struct lists){ true, true, true } : (struct lists){ 0 };
        }
        put(b, "Applied", "True", "AllWorkHaveBeenApplied", "All corresponding work objects are applied");
        v = overall(live, "Available", &work);
        *ret_settled = v == TRUE;
        if (v == TRUE) {
                if (sync->available_anew)
                        condition_remove(&b->s->conditions, "Available");
                put_available_true(b, live);
                return (struct lists){ .drifted = true };
        }
        put(b, "Available", "False", "NotAllWorkAreAvailable",
            about(b, "Work object ", work, v == FAILED ? " is not yet available" : NOT_YET_AVAILABLE));
        return (struct lists){ .failed = v == FAILED, .drifted = true };
}

static void put_overridden(struct building *b)
{
        if (b->now->spec->resource_override_snapshots.n ||
            b->now->spec->cluster_resource_override_snapshots.n)
                put(b, "Overridden", "True", "OverriddenSucceeded",
                    "Successfully applied the override rules on the resources");
        else
                put(b, "Overridden", "True", "NoOverrideSpecified",
                    "No override rules are configured for the selected resources");
}

static int build(struct building *b, const struct object_list *live, const struct sync_result *sync,
                 bool *ret_settled)
{
        bool diff =
                b->now->spec->apply_strategy && text_equal(b->now->spec->apply_strategy->type, "ReportDiff");
        struct lists which = { 0 };

        *ret_settled = true;
        if (sync->code < 0 && sync->override_failed) {
                put(b, "Overridden", "False", "OverriddenFailed",
                    about(b, "Failed to apply the override rules on the resources: ", or_empty(sync->detail),
                          ""));
                return 0;
        }
        put_overridden(b);
        if (sync->code < 0) {
                put(b, "WorkSynchronized", "False", "SyncWorkFailed",
                    about(b, "Failed to synchronize the work to the latest: ", or_empty(sync->detail), ""));
                return 0;
        }
        put(b, "WorkSynchronized", "True", "AllWorkSynced",
            "All of the works are synchronized to the latest");
        if (sync->works_changed) {
                *ret_settled = false;
                if (diff)
                        put(b, "DiffReported", "False", "DiffReportInProgress",
                            "Diff reporting on resources is in progress");
                else
                        put(b, "Applied", "False", "ApplyInProgress", "Resources are being applied");
                return 0;
        }
        which = diff ? aggregate_diff(b, live, ret_settled) : aggregate_apply(b, live, sync, ret_settled);
        return collect(b, live, which);
}

struct binding *binding_with_status(struct arena *arena, const struct binding *b,
                                    const struct object_list *live, const struct sync_result *sync,
                                    const struct condition *rollout_started, int64_t now_ms,
                                    bool *ret_settled)
{
        struct binding *wanted = (struct binding *)object_copy(&b->object, arena);
        struct building w = { .arena = arena, .now = b, .now_ms = now_ms };

        if (!wanted || (!wanted->status && !(wanted->status = ARENA_NEW(arena, struct binding_status))))
                return NULL;
        w.s = wanted->status;
        w.s->failed_placements = NULL;
        w.s->drifted_placements = NULL;
        w.s->diffed_placements = NULL;
        if (rollout_started && condition_set(&w.s->conditions, rollout_started, now_ms, arena) < 0)
                return NULL;
        if (build(&w, live, sync, ret_settled) < 0 || w.no_memory)
                return NULL;
        drop_unset(&w);
        return wanted;
}
