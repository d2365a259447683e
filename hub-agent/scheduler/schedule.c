/* The scheduling cycle. spec/scheduler.md 6, 8-10, 13. */
#include <stdlib.h>

#include "common/base/digest.h"
#include "hub-agent/scheduler/ranking.h"
#include "hub-agent/scheduler/report.h"

/* Bindings by class; the first test that holds decides (spec 6). */
struct classes {
        struct binding_refs deleting, unscheduled, dangling, obsolete, scheduled, bound;
};

static const char *target_of(const struct binding *b)
{
        return b->spec ? or_empty(b->spec->target_cluster) : "";
}

static const char *state_of(const struct binding *b)
{
        return b->spec ? or_empty(b->spec->state) : "";
}

static struct binding_refs *class_of(const struct cycle *c, struct classes *k, const struct binding *b,
                                     const struct candidate *target)
{
        if (is_deleting(&b->object))
                return &k->deleting;
        if (text_equal(state_of(b), BINDING_UNSCHEDULED))
                return &k->unscheduled;
        if (!target || is_deleting(&target->cluster->object))
                return &k->dangling;
        if (!b->spec ||
            !text_equal(b->spec->scheduling_policy_snapshot_name, c->in->snapshot->object.meta.name))
                return &k->obsolete;
        if (text_equal(state_of(b), BINDING_SCHEDULED))
                return &k->scheduled;
        return text_equal(state_of(b), BINDING_BOUND) ? &k->bound : NULL;
}

static int refs_init(struct cycle *c, struct binding_refs *r)
{
        r->at = ARENA_NEW_ARRAY(c->arena, const struct binding *, c->in->bindings.n + 1);
        return r->at ? 0 : error_no_memory(c->err);
}

static void refs_push(struct binding_refs *r, const struct binding *b)
{
        r->at[r->n++] = b;
}

static void note_first(const struct binding **noted, const struct binding *b)
{
        if (!*noted)
                *noted = b;
}

/* Notes on its cluster who holds it; bindings come in order of their names. */
static void note_holder(struct candidate *target, const struct classes *k, const struct binding_refs *class,
                        const struct binding *b)
{
        if (class == &k->obsolete)
                note_first(&target->obsolete, b);
        else if (class == &k->unscheduled)
                note_first(&target->unscheduled, b);
        else if (class == &k->deleting)
                note_first(&target->deleting, b);
        else if (class == &k->scheduled || class == &k->bound)
                target->taken = true;
}

static int classify(struct cycle *c, struct classes *k)
{
        struct binding_refs *all[] = { &k->deleting, &k->unscheduled, &k->dangling,
                                       &k->obsolete, &k->scheduled,   &k->bound };
        size_t at = 0;

        *k = (struct classes){ 0 };
        for (size_t i = 0; i < ARRAY_LEN(all); i++)
                TRY(refs_init(c, all[i]));
        for (size_t i = 0; i < c->in->bindings.n; i++) {
                const struct binding *b = (const struct binding *)c->in->bindings.at[i];
                struct candidate *target = candidate_find_next(c, target_of(b), &at);
                struct binding_refs *r = class_of(c, k, b, target);

                if (r)
                        refs_push(r, b);
                if (target)
                        note_holder(target, k, r, b);
        }
        return 0;
}

static int cycle_init(struct cycle *c, struct arena *arena, const struct schedule_input *in,
                      struct error *err)
{
        *c = (struct cycle){ .in = in, .arena = arena, .err = err, .n = in->clusters.n };
        c->policy = in->snapshot->spec ? in->snapshot->spec->policy : NULL;
        c->candidates = ARENA_NEW_ARRAY(arena, struct candidate, c->n + 1);
        if (!c->candidates)
                return error_no_memory(err);
        for (size_t i = 0; i < c->n; i++)
                c->candidates[i].cluster = (const struct member_cluster *)in->clusters.at[i];
        return 0;
}

static int plan_init(struct cycle *c, struct schedule_plan *p)
{
        *p = (struct schedule_plan){ 0 };
        p->create = ARENA_NEW_ARRAY(c->arena, struct schedule_create, c->n + 1);
        p->patch = ARENA_NEW_ARRAY(c->arena, struct schedule_patch, c->in->bindings.n + 1);
        p->unreadable = ARENA_NEW_ARRAY(c->arena, struct unreadable_property, c->n + 1);
        p->silent = ARENA_NEW_ARRAY(c->arena, const struct member_cluster *, c->n + 1);
        if (!p->create || !p->patch || !p->unreadable || !p->silent)
                return error_no_memory(c->err);
        TRY(refs_init(c, &p->release));
        return refs_init(c, &p->unschedule);
}

/* ---- turning picks into bindings (spec 13) ---- */

static void put_label_char(char *at)
{
        if (*at == '.')
                *at = '-';
}

const char *binding_name(struct arena *arena, const char *placement, const char *placement_uid,
                         const char *cluster, const char *deleting_uid)
{
        char *name, *seed = arena_printf(arena, "%s/%s/%s", or_empty(placement_uid), cluster,
                                         or_empty(deleting_uid));
        char digest[SHA256_HEX_SIZE];

        if (!seed)
                return NULL;
        sha256_hex(seed, strlen(seed), digest);
        name = arena_printf(arena, "%.26s-%.27s-%.8s", placement, cluster, digest);
        for (char *at = name; at && *at; at++)
                put_label_char(at);
        return name;
}

static int decide(struct cycle *c, const struct candidate *k, bool scored, struct cluster_decision *ret)
{
        const char *name = k->cluster->object.meta.name;
        struct cluster_score *score = NULL;
        const char *reason;

        if (scored) {
                score = ARENA_NEW(c->arena, struct cluster_score);
                reason = arena_printf(
                        c->arena,
                        "Successfully scheduled resources for placement in \"%s\" (affinity score: %d, "
                        "topology spread score: %d): picked by scheduling policy",
                        name, k->affinity, k->topology);
        } else {
                reason = arena_printf(c->arena,
                                      "Successfully scheduled resources for placement in \"%s\": picked by "
                                      "scheduling policy",
                                      name);
        }
        if (!reason || (scored && !score))
                return error_no_memory(c->err);
        if (score)
                *score = (struct cluster_score){ OPT_INT(k->affinity), OPT_INT(k->topology) };
        *ret = (struct cluster_decision){
                .cluster_name = name, .selected = OPT_BOOL(true), .cluster_score = score, .reason = reason
        };
        return 0;
}

static int plan_create(struct cycle *c, const struct candidate *picked, const struct cluster_decision *d,
                       struct schedule_plan *p)
{
        const char *cluster = picked->cluster->object.meta.name;
        const char *name = binding_name(c->arena, c->in->placement_name, c->in->placement_uid, cluster,
                                        picked->deleting ? picked->deleting->object.meta.uid : NULL);

        if (!name)
                return error_no_memory(c->err);
        p->create[p->n_create++] = (struct schedule_create){ name, cluster, *d };
        return 0;
}

/* One binding per picked cluster: an obsolete one is re-associated, an unscheduled one taken back, else a new
 * one is made. Several for one cluster: the first is used, the rest left alone. */
static int plan_pick(struct cycle *c, struct candidate *picked, bool scored, struct schedule_plan *p)
{
        const struct binding *old = picked->obsolete, *back = old ? NULL : picked->unscheduled;
        struct cluster_decision d;
        const char *state;

        TRY(decide(c, picked, scored, &d));
        picked->picked = true;
        if (!old && !back)
                return plan_create(c, picked, &d, p);
        state = old ? state_of(old) : annotation_of(&back->object, ANNOTATION_PREVIOUS_BINDING_STATE);
        if (!state)
                return error_set(c->err, ERR_INVALID, "binding \"%s\" is Unscheduled and lacks annotation %s",
                                 back->object.meta.name, ANNOTATION_PREVIOUS_BINDING_STATE);
        p->patch[p->n_patch++] = (struct schedule_patch){ old ? old : back, state, d };
        return 0;
}

static void plan_unschedule_rest(struct cycle *c, const struct classes *k, struct schedule_plan *p)
{
        size_t at = 0;

        for (size_t i = 0; i < k->obsolete.n; i++) {
                const struct candidate *on = candidate_find_next(c, target_of(k->obsolete.at[i]), &at);

                if (!on->picked || on->obsolete != k->obsolete.at[i])
                        refs_push(&p->unschedule, k->obsolete.at[i]);
        }
}

/* ---- PickAll (spec 8) ---- */

static int pick_all(struct cycle *c, const struct classes *k, struct schedule_plan *p)
{
        TRY(framework_filter(c));
        for (size_t i = 0; i < c->n; i++)
                if (candidate_is_open(&c->candidates[i]))
                        TRY(plan_pick(c, &c->candidates[i], true, p));
        plan_unschedule_rest(c, k, p);
        struct report_input r = { .c = c, .plan = p, .kept = { k->scheduled, k->bound } };
        r.wanted = (int64_t)(p->n_create + p->n_patch + k->scheduled.n + k->bound.n);
        return report_picks(&r);
}

/* ---- PickFixed (spec 9) ---- */

static bool listed_before(const struct string_list *names, uint32_t i)
{
        for (uint32_t j = 0; j < i; j++)
                if (text_equal(names->at[j], names->at[i]))
                        return true;
        return false;
}

static int pick_fixed(struct cycle *c, const struct classes *k, struct schedule_plan *p)
{
        const struct string_list *names = &c->policy->cluster_names;
        struct fixed_report *lines = ARENA_NEW_ARRAY(c->arena, struct fixed_report, names->n + 1);
        struct patience patience = patience_of(c->in);

        if (names->n == 0)
                return 0;
        if (!lines)
                return error_no_memory(c->err);
        for (uint32_t i = 0; i < names->n; i++) {
                struct candidate *candidate = candidate_find(c, names->at[i]);
                struct ineligibility is;

                lines[i].name = names->at[i];
                if (listed_before(names, i)) {
                        lines[i].repeated = true;
                        continue;
                }
                if (!candidate)
                        continue;
                lines[i].found = true;
                lines[i].valid = cluster_is_eligible(candidate->cluster, &patience, c->arena, &is);
                if (!lines[i].valid && !is.reason)
                        return error_no_memory(c->err);
                lines[i].reason = is.reason;
                candidate->counts_time = is.counts_time;
                /* A listed cluster that only lost its connection keeps what it has. */
                if (lines[i].valid ? !candidate->taken
                                   : candidate->obsolete && !is_deleting(&candidate->cluster->object))
                        TRY(plan_pick(c, candidate, false, p));
        }
        plan_unschedule_rest(c, k, p);
        return report_fixed(c, lines, names->n, p);
}

/* ---- PickN (spec 10) ---- */

static int64_t score_part(const struct binding *b, bool topology)
{
        const struct cluster_score *s = b->spec->cluster_decision->cluster_score;

        return topology ? s->priority_score.value : s->affinity_score.value;
}

/* Least fitting first: no score, lower topology, lower affinity, smaller name. */
static int by_fitness(const void *a, const void *b)
{
        const struct binding *x = *(const struct binding *const *)a, *y = *(const struct binding *const *)b;
        bool scored_x = x->spec->cluster_decision && x->spec->cluster_decision->cluster_score;
        bool scored_y = y->spec->cluster_decision && y->spec->cluster_decision->cluster_score;

        if (scored_x != scored_y)
                return scored_x ? 1 : -1;
        for (int part = 1; scored_x && part >= 0; part--) {
                int64_t p = score_part(x, part), q = score_part(y, part);

                if (p != q)
                        return p < q ? -1 : 1;
        }
        return strcmp(target_of(x), target_of(y));
}

/* Takes the `count` least fitting out of the set and leaves the rest in order. */
static void shed(struct binding_refs *set, size_t count, struct schedule_plan *p)
{
        if (count < set->n)
                qsort(set->at, set->n, sizeof(set->at[0]), by_fitness);
        for (size_t i = 0; i < count; i++)
                refs_push(&p->unschedule, set->at[i]);
        set->at += count;
        set->n -= count;
}

static int scale_down(struct cycle *c, struct classes *k, int64_t wanted, struct schedule_plan *p)
{
        size_t excess = k->scheduled.n + k->bound.n - (size_t)wanted;
        size_t from_scheduled = MIN(excess, k->scheduled.n);
        struct report_input r = { .c = c, .plan = p, .wanted = wanted, .keep_unselected = true };

        plan_unschedule_rest(c, k, p);
        shed(&k->scheduled, from_scheduled, p);
        shed(&k->bound, excess - from_scheduled, p);
        r.kept[0] = k->scheduled;
        r.kept[1] = k->bound;
        return report_picks(&r);
}

/* Those that come next in the order of their rank, as many as are told. */
static int note_not_picked(struct cycle *c, struct ranking *ranking, struct report_input *r)
{
        struct candidate **next = ARENA_NEW_ARRAY(c->arena, struct candidate *, UNSELECTED_MAX);

        if (!next)
                return error_no_memory(c->err);
        r->not_picked = next;
        while (r->n_not_picked < UNSELECTED_MAX && (next[r->n_not_picked] = ranking_take(ranking)))
                r->n_not_picked++;
        return 0;
}

/* With topology constraints every pick changes the scores of the next one. All are written together. */
static int scale_up(struct cycle *c, const struct classes *k, int64_t wanted, struct schedule_plan *p)
{
        struct report_input r = { .c = c, .plan = p, .wanted = wanted, .kept = { k->scheduled, k->bound } };
        int64_t missing = wanted - (int64_t)(k->scheduled.n + k->bound.n);
        struct ranking ranking;
        struct candidate *best;

        TRY(framework_filter(c));
        TRY(ranking_begin(c, &ranking));
        while (missing > 0 && (best = ranking_take(&ranking))) {
                TRY(plan_pick(c, best, true, p));
                best->taken = true;
                if (--missing > 0)
                        TRY(ranking_count(&ranking, best));
        }
        TRY(ranking_tell(&ranking));
        plan_unschedule_rest(c, k, p);
        TRY(note_not_picked(c, &ranking, &r));
        return report_picks(&r);
}

/* What is to go waits until the snapshot is told; nothing comes meanwhile that would go again. */
static int64_t wanted_now(const struct cycle *c, int64_t told, int64_t present)
{
        return c->in->asked.set ? MIN(told, MAX(c->in->asked.value, present)) : told;
}

static int pick_n(struct cycle *c, struct classes *k, struct schedule_plan *p)
{
        int64_t wanted, present = (int64_t)(k->scheduled.n + k->bound.n);

        TRY(annotation_number(&c->in->snapshot->object, ANNOTATION_NUMBER_OF_CLUSTERS, &wanted, c->err));
        wanted = wanted_now(c, wanted, present);
        return wanted <= present ? scale_down(c, k, wanted, p) : scale_up(c, k, wanted, p);
}

/* ---- the cycle ---- */

static int pick(struct cycle *c, struct classes *k, struct schedule_plan *p)
{
        const char *type = c->policy ? or_empty(c->policy->placement_type) : PLACEMENT_PICK_ALL;

        if (text_equal(type, PLACEMENT_PICK_ALL) || text_equal(type, ""))
                return pick_all(c, k, p);
        if (text_equal(type, PLACEMENT_PICK_FIXED))
                return pick_fixed(c, k, p);
        if (text_equal(type, PLACEMENT_PICK_N))
                return pick_n(c, k, p);
        return error_set(c->err, ERR_INVALID, "policy snapshot \"%s\": unknown placement type \"%s\"",
                         c->in->snapshot->object.meta.name, type);
}

static bool has_selected(const struct schedule_plan *p)
{
        for (size_t i = 0; i < p->n_decisions; i++)
                if (p->decisions[i].selected.value)
                        return true;
        return false;
}

/* Bindings that are on their way out, whatever the policy says. */
static void plan_departures(struct cycle *c, const struct classes *k, struct schedule_plan *p)
{
        for (size_t i = 0; i < k->deleting.n; i++)
                if (object_has_finalizer(&k->deleting.at[i]->object, FINALIZER_SCHEDULER_BINDING))
                        refs_push(&p->release, k->deleting.at[i]);
        for (size_t i = 0; i < k->dangling.n; i++)
                refs_push(&p->unschedule, k->dangling.at[i]);
        p->n_departed = p->unschedule.n;
}

/* Nothing is picked or taken away; what there is goes on and is told. */
static int keep_all(struct cycle *c, const struct classes *k, const struct schedule_plan *departures,
                    struct schedule_plan *p)
{
        struct report_input r = {
                .c = c, .plan = p, .kept = { k->scheduled, k->bound }, .keep_unselected = true
        };

        *p = *departures;
        return report_picks(&r);
}

/* Picking failed, or found nothing or too little: that may be because the policy cannot be evaluated, and
 * then this is what there is to be said. Terms that were never reached because all is well do not matter
 * (spec 11.1). What else no retry mends, such as an annotation that somebody took away, is told as well. */
static int explain(struct cycle *c, const struct classes *k, const struct schedule_plan *departures, int code,
                   struct schedule_plan *p)
{
        bool well = code == 0 &&
                    (!p->report || (text_equal(p->scheduled.status, CONDITION_TRUE) && has_selected(p)));
        const char *problem, *message;

        if (well || (code < 0 && code != ERR_INVALID))
                return code;
        if (policy_problem(c->arena, c->policy, &problem) < 0)
                return error_no_memory(c->err);
        if (code == 0 && !problem)
                return 0;
        message = problem ? arena_printf(c->arena, "the scheduling policy of placement \"%s\" is invalid: %s",
                                         c->in->placement_name, problem)
                          : arena_strdup(c->arena, c->err->text);
        *c->err = (struct error){ 0 };
        if (!message)
                return error_no_memory(c->err);
        if (code < 0)
                TRY(keep_all(c, k, departures, p));
        report_unfulfilled(c, problem ? REASON_SCHEDULING_POLICY_INVALID : REASON_SCHEDULING_UNFULFILLED,
                           message, p);
        return 0;
}

static void plan_unreadable(const struct cycle *c, struct schedule_plan *p)
{
        for (size_t i = 0; i < c->n; i++)
                if (c->candidates[i].unreadable_property)
                        p->unreadable[p->n_unreadable++] =
                                (struct unreadable_property){ c->candidates[i].cluster,
                                                              c->candidates[i].unreadable_property,
                                                              c->candidates[i].unreadable_value };
}

static void plan_silent(const struct cycle *c, struct schedule_plan *p)
{
        for (size_t i = 0; i < c->n; i++)
                if (c->candidates[i].counts_time)
                        p->silent[p->n_silent++] = c->candidates[i].cluster;
}

#define NOT_NAMED "the policy does not name the cluster"

/* PickFixed runs no filters: the policy names a cluster or not, and it can be used or not. */
static int judge_fixed(const struct cycle *c, const struct candidate *k, const char **ret)
{
        struct patience patience = patience_of(c->in);
        struct ineligibility is;

        *ret = NULL;
        if (!text_in(k->cluster->object.meta.name, c->policy->cluster_names.at, c->policy->cluster_names.n))
                *ret = NOT_NAMED;
        else if (!cluster_is_eligible(k->cluster, &patience, c->arena, &is) && !(*ret = is.reason))
                return error_no_memory(c->err);
        return 0;
}

static int plan_verdicts(const struct cycle *c, struct schedule_plan *p)
{
        bool fixed = c->policy && text_equal(c->policy->placement_type, PLACEMENT_PICK_FIXED);

        p->verdicts = ARENA_NEW_ARRAY(c->arena, struct schedule_verdict, c->n + 1);
        if (!p->verdicts)
                return error_no_memory(c->err);
        for (size_t i = 0; i < c->n; i++) {
                const struct candidate *k = &c->candidates[i];
                struct schedule_verdict *v = &p->verdicts[i];

                *v = (struct schedule_verdict){ k->cluster, k->picked, k->filtered, k->affinity,
                                                k->topology };
                if (fixed)
                        TRY(judge_fixed(c, k, &v->filtered));
                if (v->picked)
                        v->filtered = NULL; /* what spoke against it was its being picked */
        }
        return 0;
}

int schedule_cycle(struct arena *arena, const struct schedule_input *in, struct schedule_plan *ret,
                   struct error *err)
{
        struct schedule_plan plan, departures;
        struct error local = { 0 };
        struct classes k;
        struct cycle c;

        TRY(cycle_init(&c, arena, in, err ? err : &local));
        TRY(plan_init(&c, &plan));
        TRY(classify(&c, &k));
        TRY(annotation_number(&in->snapshot->object, ANNOTATION_PLACEMENT_GENERATION,
                              &plan.observed_generation, c.err));
        plan_departures(&c, &k, &plan);
        departures = plan;
        if (!in->outdated)
                TRY(explain(&c, &k, &departures, pick(&c, &k, &plan), &plan));
        plan_unreadable(&c, &plan);
        plan_silent(&c, &plan);
        plan.steps = c.steps;
        if (in->tell_all)
                TRY(plan_verdicts(&c, &plan));
        *ret = plan;
        return 0;
}
