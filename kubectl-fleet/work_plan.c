#include "kubectl-fleet/work_plan.h"

#include "hub-agent/common.h"
#include "hub-agent/staged-update/update_plan.h"
#include "member-agent/apply/waves.h"

struct planning {
        struct arena *arena;
        const struct work_tries *tries;
        struct work_plan *plan;
        struct error *err;
};

/* ---- objects of the Work that others need ---- */

static bool is_made(const struct work_trial *x)
{
        return !x->before && result_is_applied(x->manifest->result) && !x->has_run;
}

/* The server cannot try to make an object in a namespace that is not there yet. */
static bool waits_for_namespace(const struct planning *p, const struct work_trial *x)
{
        const struct manifest *m = x->manifest;
        char words[300];

        if (m->result != RESULT_APPLY_FAILED || x->before || !m->ns)
                return false;
        snprintf(words, sizeof(words), "namespaces \"%s\" not found", m->ns);
        if (!strstr(m->cause, words))
                return false;
        for (size_t i = 0; i < p->tries->n_trials; i++) {
                const struct manifest *other = p->tries->trials[i].manifest;

                if (is_made(&p->tries->trials[i]) && text_equal(other->kind, "Namespace") &&
                    text_empty(other->group) && text_equal(other->name, m->ns))
                        return true;
        }
        return false;
}

static bool waits_for_definition(const struct planning *p, const struct work_trial *x)
{
        const struct manifest *m = x->manifest;

        if (m->result != RESULT_DECODING_ERRED || !m->identity || m->resource.plural)
                return false;
        for (size_t i = 0; i < p->tries->n_trials; i++) {
                const struct manifest *other = p->tries->trials[i].manifest;

                if (result_is_applied(other->result) && text_equal(other->kind, "CustomResourceDefinition") &&
                    definition_gives(other->doc, slice_of(m->group), m->version, m->kind, m->ns != NULL))
                        return true;
        }
        return false;
}

/* ---- one object ---- */

static const char *shown(const char *value)
{
        return text_empty(value) || text_equal(value, COMPARE_REDACTED) ? NULL : value;
}

/* What the applier would tell of: from what the member has to what the Work wants. */
static int add_differences(struct planning *p, const struct differences *d, struct planned_object *o)
{
        size_t n = d ? MIN(d->n, (size_t)UPDATE_PLAN_FIELDS_MAX) : 0;

        if (n == 0)
                return 0;
        o->fields.at = ARENA_NEW_ARRAY(p->arena, struct planned_field, n);
        if (!o->fields.at)
                return error_no_memory(p->err);
        for (size_t i = 0; i < n; i++)
                o->fields.at[i] = (struct planned_field){ .path = d->at[i].path,
                                                          .from = shown(d->at[i].member),
                                                          .to = shown(d->at[i].hub) };
        o->fields.n = (uint32_t)n;
        o->fields.set = true;
        if (d->total > n)
                o->omitted_fields = OPT_INT((int64_t)(d->total - n));
        return 0;
}

static int refuse(struct planning *p, const struct work_trial *x, struct planned_change *c)
{
        const struct manifest *m = x->manifest;

        c->object.change = PLANNED_REFUSED;
        c->reason = result_word(m->result);
        c->message = m->cause;
        return add_differences(p, m->drifts ? m->drifts : m->diffs, &c->object);
}

static const char *note_of(const struct work_trial *x)
{
        if (x->has_run)
                return "it has run and gone, and is not made again";
        if (x->adopted)
                return "its fields pass to server-side apply first: what the manifest no longer names goes, "
                       "too";
        if (x->manifest->drifts && result_is_applied(x->manifest->result))
                return "what differs beyond the manifest stays, and is told as a drift";
        if (x->waits)
                return "a Work of its placement holds it, and is about to let go of it";
        return x->taken ? "taken over" : NULL;
}

static int judge(struct planning *p, const struct work_trial *x, struct planned_change *c)
{
        const struct manifest *m = x->manifest;

        if (waits_for_namespace(p, x) || waits_for_definition(p, x)) {
                c->object.change = PLANNED_ADDED;
                c->note = waits_for_namespace(p, x) ? "after its namespace" : "after its definition";
                return 0;
        }
        c->note = note_of(x);
        if (x->has_run || m->result == RESULT_NO_DIFF) {
                c->object.change = PLANNED_UNCHANGED;
                return 0;
        }
        if (m->result == RESULT_FOUND_DIFF || m->result == RESULT_FOUND_DIFF_DEGRADED) {
                c->object.change = PLANNED_REPORTED;
                return add_differences(p, m->diffs, &c->object);
        }
        if (!result_is_applied(m->result))
                return refuse(p, x, c);
        if (x->before)
                return change_compare(p->arena, x->before, x->after, &c->object, p->err);
        c->object.change = PLANNED_ADDED;
        return 0;
}

static const char *or_none(const char *text)
{
        return text_empty(text) ? NULL : text;
}

static int add_trial(struct planning *p, const struct work_trial *x)
{
        const struct manifest *m = x->manifest;
        struct planned_change *c = &p->plan->changes.at[p->plan->changes.n++];

        *c = (struct planned_change){ .object = { .group = or_none(m->group),
                                                  .version = m->version,
                                                  .kind = m->kind,
                                                  .ns = m->ns,
                                                  .name = m->name },
                                      .wave = NO_WAVE };
        TRY(judge(p, x, c));
        if (m->resource.plural && !result_is_preprocessing(m->result))
                c->wave = wave_under(&p->tries->strategy, m->group, m->resource.plural);
        else if (text_equal(c->object.change, PLANNED_ADDED))
                c->wave = WAVE_LAST;
        return 0;
}

/* ---- left-overs ---- */

static const char *note_of_leftover(struct planning *p, const struct work_leftover *l)
{
        if (l->handover == HANDOVER_GIVE)
                return arena_printf(p->arena, "handed to Work %s", l->to);
        if (l->handover == HANDOVER_WAIT)
                return "stays until all Works of its placement are there: one may list it";
        if (l->what == LEFTOVER_STAYS)
                return "stays while the Work only reports differences";
        return "let go of, and stays: others own it, or it was never applied";
}

static int add_leftover(struct planning *p, const struct work_leftover *l)
{
        const struct work_resource_identifier *id = &l->object->id;
        struct planned_change *c = &p->plan->changes.at[p->plan->changes.n];

        if (l->what == LEFTOVER_GONE && !l->problem)
                return 0;
        p->plan->changes.n++;
        *c = (struct planned_change){ .object = { .group = or_none(id->group),
                                                  .version = id->version,
                                                  .kind = id->kind,
                                                  .ns = or_none(id->ns),
                                                  .name = id->name,
                                                  .change = PLANNED_UNCHANGED },
                                      .wave = NO_WAVE };
        if (l->problem) {
                c->object.change = PLANNED_REFUSED;
                c->reason = EVENT_REMOVAL_FAILED;
                c->message = l->problem;
                return 0;
        }
        if (l->handover == HANDOVER_REMOVE && l->what == LEFTOVER_REMOVED) {
                c->object.change = PLANNED_REMOVED;
                return 0;
        }
        c->note = note_of_leftover(p, l);
        return c->note ? 0 : error_no_memory(p->err);
}

/* ---- the whole ---- */

/* Those that are in no wave come behind. */
static void add_in_order(struct planning *p, struct planned_change *all, size_t n)
{
        for (int from = 0; from <= WAVE_LAST + 1;) {
                int next = WAVE_LAST + 2;

                for (size_t i = 0; i < n; i++) {
                        int wave = all[i].wave == NO_WAVE ? WAVE_LAST + 1 : all[i].wave;

                        if (wave == from)
                                p->plan->changes.at[p->plan->changes.n++] = all[i];
                        else if (wave > from)
                                next = MIN(next, wave);
                }
                from = next;
        }
}

static int add_trials(struct planning *p)
{
        size_t first = p->plan->changes.n, n;
        struct planned_change *all;

        for (size_t i = 0; i < p->tries->n_trials; i++)
                TRY(add_trial(p, &p->tries->trials[i]));
        n = p->plan->changes.n - first;
        all = ARENA_NEW_ARRAY(p->arena, struct planned_change, n + 1);
        if (!all)
                return error_no_memory(p->err);
        for (size_t i = 0; i < n; i++)
                all[i] = p->plan->changes.at[first + i];
        p->plan->changes.n = first;
        add_in_order(p, all, n);
        return 0;
}

int work_plan_of(struct arena *arena, const struct work_tries *tries, const char *member,
                 struct work_plan *ret, struct error *err)
{
        static const char *const types[] = { [STRATEGY_CLIENT_SIDE] = APPLY_CLIENT_SIDE,
                                             [STRATEGY_SERVER_SIDE] = APPLY_SERVER_SIDE,
                                             [STRATEGY_REPORT_DIFF] = APPLY_REPORT_DIFF };
        struct planning p = { arena, tries, ret, err };

        *ret = (struct work_plan){ .work = tries->work,
                                   .member = member,
                                   .type = types[tries->strategy.type] };
        ret->changes.at =
                ARENA_NEW_ARRAY(arena, struct planned_change, tries->n_trials + tries->n_leftovers + 1);
        if (!ret->changes.at)
                return error_no_memory(err);
        for (size_t i = 0; i < tries->n_leftovers; i++)
                TRY(add_leftover(&p, &tries->leftovers[i]));
        return add_trials(&p);
}
