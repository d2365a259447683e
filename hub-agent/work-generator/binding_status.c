/* The binding's conditions and lists from what became of its Works. spec/rollout-and-work.md 6.7, 6.8. */
#include <stdlib.h>

#include "common/base/limits.h"
#include "hub-agent/entries.h"
#include "hub-agent/rollout/rollout.h"
#include "hub-agent/work-generator/work_generator.h"

#define LIST_MAX 100

struct building {
        struct arena *arena;
        const struct binding *now;
        struct binding_status *s;
        const struct object_list *live;
        const struct resource_identifier_list *identities; /* of each live Work */
        size_t n_cut;                                      /* entries and details that are left out */
        struct condition kept[8];                          /* conditions set in this pass */
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
        static const char *const types[] = { CONDITION_OVERRIDDEN, CONDITION_WORK_SYNCHRONIZED,
                                             CONDITION_APPLIED, CONDITION_AVAILABLE,
                                             CONDITION_DIFF_REPORTED };

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
        return text_equal(c->status, CONDITION_TRUE) ? TRUE : FAILED;
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

bool works_have_failed(const struct object_list *live)
{
        const char *work;
        enum verdict applied = overall(live, CONDITION_APPLIED, &work);

        return applied == FAILED || (applied == TRUE && overall(live, CONDITION_AVAILABLE, &work) == FAILED);
}

/* ---- lists ---- */

/* Only which manifest it is comes from the member; 0 = none of the Work's. */
static int identify(struct building *b, size_t work, const struct manifest_condition *m,
                    struct resource_identifier *ret)
{
        const struct resource_identifier_list *known = b->identities ? &b->identities[work] : NULL;
        const struct opt_int ordinal = m->identifier ? m->identifier->ordinal : (struct opt_int){ 0 };
        const struct object *w = b->live->at[work];
        const char *kind = label_of(w, LABEL_ENVELOPE_TYPE);

        if (!known || !ordinal.set || ordinal.value < 0 || ordinal.value >= (int64_t)known->n)
                return 0;
        *ret = known->at[ordinal.value];
        ret->envelope = NULL;
        if (!kind)
                return 1;
        ret->envelope = ARENA_NEW(b->arena, struct envelope_identifier);
        if (!ret->envelope)
                return ERR_NO_MEMORY;
        *ret->envelope = (struct envelope_identifier){ .name = label_of(w, LABEL_ENVELOPE_NAME),
                                                       .ns = label_of(w, LABEL_ENVELOPE_NAMESPACE),
                                                       .type = kind };
        return 1;
}

/* The text group/version/kind/namespace/name, of enveloped ones followed by /type/namespace/name of the
 * envelope, read character by character: spec 6.8. */
struct sort_key {
        const char *part[8], *at;
        size_t n, i;
};

static struct sort_key key_of(const struct resource_identifier *id)
{
        struct sort_key k = { .part = { id->group, id->version, id->kind, id->ns, id->name }, .n = 5 };

        if (id->envelope) {
                k.part[5] = id->envelope->type;
                k.part[6] = id->envelope->ns;
                k.part[7] = id->envelope->name;
                k.n = 8;
        }
        k.at = or_empty(k.part[0]);
        return k;
}

static int next_character(struct sort_key *k)
{
        if (*k->at)
                return (unsigned char)*k->at++;
        if (k->i + 1 == k->n)
                return 0;
        k->at = or_empty(k->part[++k->i]);
        return '/';
}

static int compare_ids(const struct resource_identifier *a, const struct resource_identifier *b)
{
        struct sort_key x = key_of(a), y = key_of(b);

        for (;;) {
                int c = next_character(&x), d = next_character(&y);

                if (c != d || c == 0)
                        return c - d;
        }
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
typedef int (*manifest_fn)(struct building *b, size_t work, const struct manifest_condition *m);
static int for_each_manifest(struct building *b, manifest_fn fn)
{
        for (size_t i = 0; i < b->live->n; i++) {
                const struct work *w = (const struct work *)b->live->at[i];

                for (uint32_t k = 0; w->status && k < w->status->manifest_conditions.n; k++)
                        TRY(fn(b, i, &w->status->manifest_conditions.at[k]));
        }
        return 0;
}

static const struct condition *false_condition(const struct manifest_condition *m)
{
        static const char *const types[] = { CONDITION_APPLIED, CONDITION_AVAILABLE };

        for (size_t i = 0; i < ARRAY_LEN(types); i++) {
                const struct condition *c = condition_find(&m->conditions, types[i]);

                if (c && text_equal(c->status, CONDITION_FALSE))
                        return c;
        }
        return NULL;
}

static bool has_failed(const struct work *w)
{
        return work_verdict(w, CONDITION_APPLIED) == FAILED || work_verdict(w, CONDITION_AVAILABLE) == FAILED;
}

/* Writes the condition's texts into the entry next in the list, whose identifier is set. */
static int push_failed(struct building *b, const struct condition *c)
{
        struct failed_placement *f = &b->s->failed_placements->at[b->s->failed_placements->n];

        f->condition = arena_memdup(b->arena, c, sizeof(*c));
        if (!f->condition)
                return ERR_NO_MEMORY;
        f->condition->reason = entry_text(b->arena, or_empty(c->reason), &b->n_cut);
        f->condition->message = entry_text(b->arena, or_empty(c->message), &b->n_cut);
        b->s->failed_placements->n++;
        return f->condition->reason && f->condition->message ? 0 : ERR_NO_MEMORY;
}

static int add_failed(struct building *b, size_t work, const struct manifest_condition *m)
{
        struct failed_placement *f = &b->s->failed_placements->at[b->s->failed_placements->n];
        const struct condition *c = false_condition(m);
        int known;

        if (!c || !has_failed((const struct work *)b->live->at[work]))
                return 0;
        known = identify(b, work, m, &f->id);
        return known <= 0 ? known : push_failed(b, c);
}

static int add_drifted(struct building *b, size_t work, const struct manifest_condition *m)
{
        struct drifted_placement *d = &b->s->drifted_placements->at[b->s->drifted_placements->n];
        const struct drift_details *is = m->drift_details;
        int known = is ? identify(b, work, m, &d->id) : 0;

        if (known <= 0)
                return known;
        d->observation_time = is->observation_time;
        d->first_drifted_observed_time = is->first_drifted_observed_time;
        d->target_cluster_observed_generation = is->observed_in_member_cluster_generation;
        b->s->drifted_placements->n++;
        return entry_details(b->arena, &is->observed_drifts, &d->observed_drifts, &b->n_cut);
}

static int add_diffed(struct building *b, size_t work, const struct manifest_condition *m)
{
        struct diffed_placement *d = &b->s->diffed_placements->at[b->s->diffed_placements->n];
        const struct diff_details *is = m->diff_details;
        int known = is ? identify(b, work, m, &d->id) : 0;

        if (known <= 0)
                return known;
        d->observation_time = is->observation_time;
        d->first_diffed_observed_time = is->first_diffed_observed_time;
        d->target_cluster_observed_generation = is->observed_in_member_cluster_generation;
        b->s->diffed_placements->n++;
        return entry_details(b->arena, &is->observed_diffs, &d->observed_diffs, &b->n_cut);
}

/* Collects one list in the order of Works and manifests; of one that is too long the first in `order` (NULL:
 * as they came) stay; none if it would be empty. */
#define COLLECT(b, list, fn, order)                                                                          \
        ({                                                                                                   \
                typeof((b)->s->list) l_ = ARENA_NEW((b)->arena, typeof(*l_));                                \
                int (*order_)(const void *, const void *) = (order);                                         \
                (b)->s->list = l_;                                                                           \
                if (l_)                                                                                      \
                        l_->at =                                                                             \
                                arena_calloc((b)->arena, count_manifests((b)->live) + 1, sizeof(l_->at[0])); \
                int code_ = l_ && l_->at ? for_each_manifest((b), (fn)) : ERR_NO_MEMORY;                     \
                if (code_ == 0) {                                                                            \
                        if (l_->n > LIST_MAX && order_)                                                      \
                                qsort(l_->at, l_->n, sizeof(l_->at[0]), order_);                             \
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

/* All lists of a binding together are bounded too, and that something is missing stands in its last
 * condition. */
static int bound_lists(struct building *b)
{
        const struct entry_lists lists = { b->s->failed_placements, b->s->drifted_placements,
                                           b->s->diffed_placements };
        const struct condition *last = b->n_kept ? &b->kept[b->n_kept - 1] : NULL;

        b->n_cut += entries_cut(&lists, LIMIT_BINDING_ENTRIES_BYTES);
        if (lists.drifted && lists.drifted->n == 0)
                b->s->drifted_placements = NULL;
        if (lists.diffed && lists.diffed->n == 0)
                b->s->diffed_placements = NULL;
        if (b->n_cut && last)
                put(b, last->type, last->status, last->reason,
                    entries_note(b->arena, last->message, b->n_cut));
        return 0;
}

static int collect(struct building *b, struct lists which)
{
        if (which.failed)
                TRY(COLLECT(b, failed_placements, add_failed, NULL));
        if (which.drifted)
                TRY(COLLECT(b, drifted_placements, add_drifted, by_drifted));
        if (which.diffed)
                TRY(COLLECT(b, diffed_placements, add_diffed, by_diffed));
        return bound_lists(b);
}

/* ---- aggregation ---- */

static const char *about(struct building *b, const char *format_head, const char *work,
                         const char *format_tail)
{
        return arena_printf(b->arena, "%s%s%s", format_head, work, format_tail);
}

static bool is_untrackable(const struct work *w)
{
        const struct condition *c = condition_find(&w->status->conditions, CONDITION_AVAILABLE);

        return text_equal(c->reason, REASON_WORK_NOT_TRACKABLE) ||
               text_equal(c->reason, REASON_WORK_SOME_NOT_TRACKABLE);
}

static void put_available_true(struct building *b, const struct object_list *live)
{
        for (size_t i = 0; i < live->n; i++)
                if (is_untrackable((const struct work *)live->at[i])) {
                        put(b, CONDITION_AVAILABLE, CONDITION_TRUE, REASON_BINDING_NOT_TRACKABLE,
                            about(b, "The availability of work object ", live->at[i]->meta.name,
                                  " is not trackable"));
                        return;
                }
        put(b, CONDITION_AVAILABLE, CONDITION_TRUE, REASON_BINDING_ALL_AVAILABLE,
            "All corresponding work objects are available");
}

static struct lists aggregate_diff(struct building *b, const struct object_list *live, bool *ret_settled)
{
        const char *work;
        enum verdict v = overall(live, CONDITION_DIFF_REPORTED, &work);

        *ret_settled = v != INCOMPLETE;
        if (v == TRUE) {
                put(b, CONDITION_DIFF_REPORTED, CONDITION_TRUE, REASON_BINDING_ALL_DIFF_REPORTED,
                    "All corresponding work objects have reported diff");
                return (struct lists){ .diffed = true };
        }
        put(b, CONDITION_DIFF_REPORTED, CONDITION_FALSE, REASON_BINDING_NOT_ALL_DIFF_REPORTED,
            about(b, "Work object ", work,
                  v == FAILED ? " has failed to report diff" : " has not yet completed diff reporting"));
        return (struct lists){ 0 };
}

static struct lists aggregate_apply(struct building *b, const struct object_list *live,
                                    const struct sync_result *sync, bool *ret_settled)
{
        const char *work;
        enum verdict v = overall(live, CONDITION_APPLIED, &work);

        *ret_settled = v == FAILED;
        if (v != TRUE) {
                put(b, CONDITION_APPLIED, CONDITION_FALSE, REASON_BINDING_NOT_ALL_APPLIED,
                    about(b, "Work object ", work,
                          v == FAILED ? " has failed to apply" : " has not yet completed the apply op"));
                return v == FAILED ? (struct lists){ true, true, true } : (struct lists){ 0 };
        }
        put(b, CONDITION_APPLIED, CONDITION_TRUE, REASON_BINDING_ALL_APPLIED,
            "All corresponding work objects are applied");
        v = overall(live, CONDITION_AVAILABLE, &work);
        *ret_settled = v == TRUE;
        if (v == TRUE) {
                if (sync->available_anew)
                        condition_remove(&b->s->conditions, CONDITION_AVAILABLE);
                put_available_true(b, live);
                return (struct lists){ .drifted = true };
        }
        put(b, CONDITION_AVAILABLE, CONDITION_FALSE, REASON_BINDING_NOT_ALL_AVAILABLE,
            about(b, "Work object ", work,
                  v == FAILED ? " is not yet available" : " has not yet completed availability check"));
        return (struct lists){ .failed = v == FAILED, .drifted = true };
}

static void put_overridden(struct building *b)
{
        if (b->now->spec->resource_override_snapshots.n ||
            b->now->spec->cluster_resource_override_snapshots.n)
                put(b, CONDITION_OVERRIDDEN, CONDITION_TRUE, REASON_OVERRIDDEN_SUCCEEDED,
                    "Successfully applied the override rules on the resources");
        else
                put(b, CONDITION_OVERRIDDEN, CONDITION_TRUE, REASON_NO_OVERRIDE_SPECIFIED,
                    MESSAGE_NO_OVERRIDE_SPECIFIED);
}

static int build(struct building *b, const struct object_list *live, const struct sync_result *sync,
                 bool *ret_settled)
{
        bool diff = b->now->spec->apply_strategy &&
                    text_equal(b->now->spec->apply_strategy->type, APPLY_REPORT_DIFF);
        struct lists which = { 0 };

        *ret_settled = true;
        if (sync->code < 0 && sync->override_failed) {
                put(b, CONDITION_OVERRIDDEN, CONDITION_FALSE, REASON_OVERRIDDEN_FAILED,
                    about(b, "Failed to apply the override rules on the resources: ", or_empty(sync->detail),
                          ""));
                return 0;
        }
        put_overridden(b);
        if (sync->code < 0) {
                put(b, CONDITION_WORK_SYNCHRONIZED, CONDITION_FALSE, REASON_BINDING_SYNC_WORK_FAILED,
                    about(b, "Failed to synchronize the work to the latest: ", or_empty(sync->detail), ""));
                return 0;
        }
        put(b, CONDITION_WORK_SYNCHRONIZED, CONDITION_TRUE, REASON_BINDING_ALL_WORK_SYNCED,
            "All of the works are synchronized to the latest");
        if (sync->works_changed) {
                *ret_settled = false;
                if (diff)
                        put(b, CONDITION_DIFF_REPORTED, CONDITION_FALSE,
                            REASON_BINDING_DIFF_REPORT_IN_PROGRESS,
                            "Diff reporting on resources is in progress");
                else
                        put(b, CONDITION_APPLIED, CONDITION_FALSE, REASON_BINDING_APPLY_IN_PROGRESS,
                            "Resources are being applied");
                return 0;
        }
        which = diff ? aggregate_diff(b, live, ret_settled) : aggregate_apply(b, live, sync, ret_settled);
        return collect(b, which);
}

struct binding *binding_with_status(struct arena *arena, const struct binding *b,
                                    const struct object_list *live, const struct sync_result *sync,
                                    const struct condition *rollout_started, int64_t now_ms,
                                    bool *ret_settled)
{
        struct binding *wanted = (struct binding *)object_copy(&b->object, arena);
        struct building w = {
                .arena = arena, .now = b, .live = live, .identities = sync->identities, .now_ms = now_ms
        };

        if (!wanted || (!wanted->status && !(wanted->status = ARENA_NEW(arena, struct binding_status))))
                return NULL;
        w.s = wanted->status;
        w.s->failed_placements = NULL;
        w.s->drifted_placements = NULL;
        w.s->diffed_placements = NULL;
        if (rollout_started && rollout_started->last_transition_ms != TIME_NONE)
                condition_remove(&w.s->conditions, CONDITION_ROLLOUT_STARTED);
        if (rollout_started && condition_set(&w.s->conditions, rollout_started, now_ms, arena) < 0)
                return NULL;
        if (build(&w, live, sync, ret_settled) < 0 || w.no_memory)
                return NULL;
        drop_unset(&w);
        return wanted;
}
