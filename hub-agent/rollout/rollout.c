#include <stdlib.h>

#include "hub-agent/rollout/rollout.h"

#define DEFAULT_PERIOD_S 60
#define PERIOD_MAX_S INT64_C(3153600000) /* a hundred years: longer is the same, and milliseconds fit */
#define DEFAULT_PERCENT 25

const char rollout_true_message[] =
        "Detected the new changes on the resources and started the rollout process";
const char rollout_false_message[] =
        "The resources cannot be updated to the latest because of the rollout strategy";

/* ---- predicates ---- */

static const struct condition *fresh(const struct binding *b, const char *type)
{
        return b->status ? fresh_condition(&b->status->conditions, type, b->object.meta.generation) : NULL;
}

static bool is_false(const struct condition *c)
{
        return c && text_equal(c->status, CONDITION_FALSE);
}

/* The same reason stands for a Work that failed and for one that has not reported yet: only of the former the
 * binding lists what failed (binding_with_status), or the Works themselves tell. */
static bool is_underway(const struct binding *b, const struct condition *c, bool works_failed)
{
        static const char *const always[] = { REASON_OVERRIDDEN_PENDING, REASON_WORK_NOT_SYNCHRONIZED_YET,
                                              REASON_APPLY_PENDING, REASON_RESOURCE_NOT_AVAILABLE_YET,
                                              REASON_BINDING_APPLY_IN_PROGRESS };
        static const char *const unless_listed[] = { REASON_BINDING_NOT_ALL_APPLIED,
                                                     REASON_BINDING_NOT_ALL_AVAILABLE };

        return text_in(or_empty(c->reason), always, ARRAY_LEN(always)) ||
               (text_in(or_empty(c->reason), unless_listed, ARRAY_LEN(unless_listed)) && !works_failed &&
                LIST_OR_NONE(b->status->failed_placements).n == 0);
}

bool binding_failed(const struct binding *b, bool works_failed)
{
        static const char *const types[] = { CONDITION_OVERRIDDEN, CONDITION_WORK_SYNCHRONIZED,
                                             CONDITION_APPLIED, CONDITION_AVAILABLE };

        for (size_t i = 0; i < ARRAY_LEN(types); i++) {
                const struct condition *c = fresh(b, types[i]);

                if (is_false(c) && !is_underway(b, c, works_failed))
                        return true;
        }
        return false;
}

bool binding_diff_reported(const struct binding *b)
{
        const struct condition *c =
                b->status ? condition_find(&b->status->conditions, CONDITION_DIFF_REPORTED) : NULL;

        return c && c->observed_generation.value == b->object.meta.generation;
}

bool binding_ready(const struct binding *b, int64_t unavailable_period_ms, int64_t now_ms,
                   int64_t *ret_wait_ms)
{
        const struct condition *diff = fresh(b, CONDITION_DIFF_REPORTED),
                               *available = fresh(b, CONDITION_AVAILABLE);
        int64_t wait;

        *ret_wait_ms = 0;
        if (diff && text_equal(diff->status, CONDITION_TRUE))
                return true;
        if (!available || !text_equal(available->status, CONDITION_TRUE)) {
                *ret_wait_ms = WAIT_UNKNOWN;
                return false;
        }
        if (!text_equal(available->reason, REASON_BINDING_NOT_TRACKABLE) &&
            !text_equal(available->reason, REASON_WORK_NOT_TRACKABLE))
                return true;
        wait = MIN(available->last_transition_ms + unavailable_period_ms - now_ms, unavailable_period_ms);
        *ret_wait_ms = MAX(wait, 0);
        return wait <= 0;
}

/* ---- apply strategy ---- */

static const char *or_default(const char *s, const char *fallback)
{
        return text_empty(s) ? fallback : s;
}

/* The user documentation writes these two values with a small first letter; bindings carry one spelling. */
static const char *canonical_comparison(const char *s)
{
        if (text_empty(s) || text_equal(s, "partialComparison"))
                return COMPARISON_PARTIAL;
        return text_equal(s, "fullComparison") ? COMPARISON_FULL : s;
}

struct apply_strategy *defaulted_apply_strategy(const struct placement *p, struct arena *arena)
{
        const struct apply_strategy *given = p->spec->strategy ? p->spec->strategy->apply_strategy : NULL;
        struct apply_strategy *a =
                given ? arena_memdup(arena, given, sizeof(*given)) : ARENA_NEW(arena, struct apply_strategy);

        if (!a)
                return NULL;
        a->type = or_default(a->type, APPLY_CLIENT_SIDE);
        a->comparison_option = canonical_comparison(a->comparison_option);
        a->when_to_apply = or_default(a->when_to_apply, WHEN_TO_APPLY_ALWAYS);
        a->when_to_take_over = or_default(a->when_to_take_over, TAKE_OVER_ALWAYS);
        if (text_equal(a->type, APPLY_SERVER_SIDE) && !a->server_side_apply_config) {
                a->server_side_apply_config = ARENA_NEW(arena, struct server_side_apply_config);
                if (!a->server_side_apply_config)
                        return NULL;
                a->server_side_apply_config->force = OPT_BOOL(false);
        }
        return a;
}

static bool force_of(const struct apply_strategy *a)
{
        return a->server_side_apply_config && a->server_side_apply_config->force.value;
}

bool equal_apply_strategies(const struct apply_strategy *a, const struct apply_strategy *b)
{
        if (!a || !b)
                return a == b;
        return text_equal(a->type, b->type) && text_equal(a->comparison_option, b->comparison_option) &&
               text_equal(a->when_to_apply, b->when_to_apply) &&
               text_equal(a->when_to_take_over, b->when_to_take_over) &&
               a->allow_co_ownership.value == b->allow_co_ownership.value &&
               !a->server_side_apply_config == !b->server_side_apply_config && force_of(a) == force_of(b);
}

/* ---- the round ---- */

struct entry {
        const struct binding *b;
        const struct cluster_overrides *overrides;
        bool failed; /* of updating ones: failed or stranded; of removing ones: no loss */
};
struct entries {
        struct entry *at;
        size_t n;
};
struct round {
        const struct rollout_input *in;
        struct arena *arena;
        struct error *err;
        struct rollout_plan plan;
        struct apply_strategy *strategy;
        bool *waits; /* one per binding: its cluster is still being cleaned up */
        struct entries removing, bounding, updating; /* candidates; updating holds the failed ones too */
        size_t n_targeted, n_ready, n_can_be_ready, n_can_be_unavailable;
        int64_t period_ms, wait_ms;
        bool all_ready;
};

static bool in_state(const struct binding *b, const char *state)
{
        return b->spec && text_equal(b->spec->state, state);
}

static int entries_init(struct round *r, struct entries *e)
{
        e->at = ARENA_NEW_ARRAY(r->arena, struct entry, r->in->bindings.n + 1);
        return e->at ? 0 : error_no_memory(r->err);
}

static int list_init_for(struct round *r, struct rollout_list *l)
{
        l->at = ARENA_NEW_ARRAY(r->arena, const struct binding *, r->in->bindings.n + 1);
        return l->at ? 0 : error_no_memory(r->err);
}

static int round_init(struct round *r)
{
        const struct rollout_strategy *s = r->in->placement->spec->strategy;
        const struct rolling_update *u = s ? s->rolling_update : NULL;
        int64_t period = u && u->unavailable_period_seconds.set ? u->unavailable_period_seconds.value
                                                                : DEFAULT_PERIOD_S;

        r->period_ms = r->wait_ms = MIN(MAX(period, 0), PERIOD_MAX_S) * 1000;
        r->all_ready = true;
        r->plan.update = ARENA_NEW_ARRAY(r->arena, struct rollout_write, r->in->bindings.n + 1);
        r->plan.strategy = ARENA_NEW_ARRAY(r->arena, struct rollout_write, r->in->bindings.n + 1);
        r->strategy = defaulted_apply_strategy(r->in->placement, r->arena);
        r->plan.surplus = ARENA_NEW_ARRAY(r->arena, struct rollout_surplus, r->in->bindings.n + 1);
        if (!r->plan.update || !r->plan.strategy || !r->plan.surplus || !r->strategy)
                return error_no_memory(r->err);
        TRY(entries_init(r, &r->removing));
        TRY(entries_init(r, &r->bounding));
        TRY(entries_init(r, &r->updating));
        TRY(list_init_for(r, &r->plan.remove));
        TRY(list_init_for(r, &r->plan.blocked));
        return list_init_for(r, &r->plan.started);
}

/* spec 2.3. A binding that was never rolled out gets its strategy with the write that makes it Bound. */
static int push_strategy(struct round *r)
{
        for (size_t i = 0; i < r->in->bindings.n; i++) {
                const struct binding *b = (const struct binding *)r->in->bindings.at[i];
                struct binding *wanted;

                if (is_deleting(&b->object) || !b->spec ||
                    equal_apply_strategies(b->spec->apply_strategy, r->strategy) ||
                    (in_state(b, BINDING_SCHEDULED) && !b->spec->apply_strategy))
                        continue;
                wanted = (struct binding *)object_copy(&b->object, r->arena);
                if (!wanted)
                        return error_no_memory(r->err);
                wanted->spec->apply_strategy = r->strategy;
                r->plan.strategy[r->plan.n_strategy++] = (struct rollout_write){ b, wanted };
        }
        return 0;
}

/* ---- clusters with more than one binding (spec 2.4) ---- */

struct placed {
        const struct binding *b;
        size_t at; /* in the input */
};

static const char *cluster_of(const struct binding *b)
{
        return b->spec ? or_empty(b->spec->target_cluster) : "";
}

/* Those that are being deleted come last on their cluster. */
static int by_cluster(const void *a, const void *b)
{
        const struct placed *x = a, *y = b;
        int order = strcmp(cluster_of(x->b), cluster_of(y->b));

        if (order == 0)
                order = is_deleting(&x->b->object) - is_deleting(&y->b->object);
        return order ? order : (x->at > y->at) - (x->at < y->at);
}

bool binding_is_in_use(const struct binding *b)
{
        return in_state(b, BINDING_BOUND) ||
               (in_state(b, BINDING_UNSCHEDULED) &&
                text_equal(annotation_of(&b->object, ANNOTATION_PREVIOUS_BINDING_STATE), BINDING_BOUND));
}

/* Whoever the Works belong to stays, or they would go with it; else whoever is in use, or was first. */
static int stays_before(struct round *r, const struct binding *a, const struct binding *b, bool *ret)
{
        bool works_a, works_b;

        TRY(r->in->has_works(r->in->ctx, a, &works_a));
        TRY(r->in->has_works(r->in->ctx, b, &works_b));
        if (works_a != works_b)
                *ret = works_a;
        else if (binding_is_in_use(a) != binding_is_in_use(b))
                *ret = binding_is_in_use(a);
        else
                *ret = a->object.meta.creation_ms <= b->object.meta.creation_ms;
        return 0;
}

/* spec 2.4 lets the placement stand still until somebody deletes one of them by hand. */
static int drop_surplus(struct round *r, const struct placed *on, size_t n_live)
{
        const struct binding *stays = on[0].b;

        for (size_t i = 1; i < n_live; i++) {
                bool first;

                TRY(stays_before(r, stays, on[i].b, &first));
                stays = first ? stays : on[i].b;
        }
        for (size_t i = 0; i < n_live; i++)
                if (on[i].b != stays)
                        r->plan.surplus[r->plan.n_surplus++] = (struct rollout_surplus){ on[i].b, stays };
        return 0;
}

/* The bindings of one cluster. Who waits there for another to be gone takes no part in the round; the other
 * clusters go on. A binding that is in use beside one that goes is what is left of two: it goes on. */
static int check_cluster(struct round *r, const struct placed *on, size_t n)
{
        const struct binding *b = on[0].b;
        size_t n_live = 0;

        if (text_empty(cluster_of(b)))
                return 0; /* the scheduler lets those go */
        while (n_live < n && !is_deleting(&on[n_live].b->object))
                n_live++;
        if (n_live > 1)
                return drop_surplus(r, on, n_live);
        if (n_live == 1 && n > 1 && !binding_is_in_use(b))
                r->waits[on[0].at] = r->plan.wait_for_cleanup = true;
        return 0;
}

static int check_clusters(struct round *r)
{
        size_t n = r->in->bindings.n;
        struct placed *sorted = ARENA_NEW_ARRAY(r->arena, struct placed, n + 1);

        r->waits = ARENA_NEW_ARRAY(r->arena, bool, n + 1);
        if (!sorted || !r->waits)
                return error_no_memory(r->err);
        for (size_t i = 0; i < n; i++)
                sorted[i] = (struct placed){ (const struct binding *)r->in->bindings.at[i], i };
        qsort(sorted, n, sizeof(sorted[0]), by_cluster);
        for (size_t from = 0, to = 0; from < n; from = to) {
                while (to < n && strcmp(cluster_of(sorted[from].b), cluster_of(sorted[to].b)) == 0)
                        to++;
                TRY(check_cluster(r, &sorted[from], to - from));
        }
        return 0;
}

static const struct cluster_overrides *overrides_of(struct round *r, size_t i)
{
        static const struct cluster_overrides none;

        return r->in->overrides ? &r->in->overrides[i] : &none;
}

static bool is_outdated(struct round *r, const struct binding *b, const struct cluster_overrides *o)
{
        return !text_equal(b->spec->resource_snapshot_name, r->in->master->object.meta.name) ||
               !binding_has_overrides(b, &o->cluster, &o->own);
}

static bool is_ready(const struct round *r, const struct binding *b, size_t i, int64_t *ret_wait_ms)
{
        int64_t ahead = r->in->ahead_ms ? r->in->ahead_ms[i] : 0;

        if (binding_ready(b, r->period_ms, r->in->now_ms, ret_wait_ms))
                return true;
        if (ahead <= 0 || *ret_wait_ms == WAIT_UNKNOWN)
                return false;
        *ret_wait_ms = MAX(r->period_ms - ahead, 0);
        return *ret_wait_ms == 0;
}

static bool has_departed(const struct round *r, size_t i)
{
        return r->in->departed && r->in->departed[i];
}

/* Keeps the round's counters and wait. On a cluster that is gone nothing is available, whatever was said. */
static void count_ready(struct round *r, const struct binding *b, size_t i)
{
        int64_t wait;

        if (is_ready(r, b, i, &wait)) {
                r->n_ready++;
                r->n_can_be_unavailable += is_deleting(&b->object) || has_departed(r, i);
                return;
        }
        r->all_ready = false;
        if (wait != WAIT_UNKNOWN)
                r->wait_ms = MIN(r->wait_ms, wait);
}

static bool has_failed(const struct round *r, const struct binding *b, size_t i)
{
        return binding_failed(b, r->in->works_failed && r->in->works_failed[i]);
}

/* Its slot was taken when it was given what it cannot get: another one to move on needs none. */
static bool is_stranded(const struct round *r, size_t i)
{
        return r->in->stranded && r->in->stranded[i];
}

static void classify_bound(struct round *r, const struct binding *b, size_t i)
{
        const struct cluster_overrides *o = overrides_of(r, i);
        bool failed = has_failed(r, b, i);

        r->n_targeted++;
        count_ready(r, b, i);
        r->n_can_be_ready += !failed && !binding_diff_reported(b);
        if (is_deleting(&b->object))
                return;
        if (is_outdated(r, b, o))
                r->updating.at[r->updating.n++] = (struct entry){ b, o, failed || is_stranded(r, i) };
        else if (!fresh(b, CONDITION_ROLLOUT_STARTED) ||
                 !text_equal(fresh(b, CONDITION_ROLLOUT_STARTED)->status, CONDITION_TRUE))
                r->plan.started.at[r->plan.started.n++] = b;
}

/* What is not known to be of use to anyone can go without waiting for its turn: no resources were placed,
 * they are not reported to be available, differences could not be told, or the cluster is gone. Stale
 * conditions are no such reason. */
static bool is_no_loss(struct round *r, const struct binding *b, size_t i)
{
        return text_equal(annotation_of(&b->object, ANNOTATION_PREVIOUS_BINDING_STATE), BINDING_SCHEDULED) ||
               has_departed(r, i) || has_failed(r, b, i) || is_false(fresh(b, CONDITION_APPLIED)) ||
               is_false(fresh(b, CONDITION_AVAILABLE)) || is_false(fresh(b, CONDITION_DIFF_REPORTED));
}

static void classify_unscheduled(struct round *r, const struct binding *b, size_t i)
{
        count_ready(r, b, i);

        r->n_can_be_ready += !has_failed(r, b, i) && !binding_diff_reported(b);
        if (is_deleting(&b->object) || r->waits[i])
                return;
        r->removing.at[r->removing.n++] = (struct entry){ b, NULL, is_no_loss(r, b, i) };
}

/* Without a snapshot there is nothing to roll out, which may last: what is selected may be refused. Nobody is
 * to keep what is of no use to anyone until then. */
static void remove_no_loss(struct round *r)
{
        for (size_t i = 0; i < r->in->bindings.n; i++) {
                const struct binding *b = (const struct binding *)r->in->bindings.at[i];

                if (in_state(b, BINDING_UNSCHEDULED) && !is_deleting(&b->object) && !r->waits[i] &&
                    is_no_loss(r, b, i))
                        r->plan.remove.at[r->plan.remove.n++] = b;
        }
}

static void classify(struct round *r)
{
        for (size_t i = 0; i < r->in->bindings.n; i++) {
                const struct binding *b = (const struct binding *)r->in->bindings.at[i];

                if (in_state(b, BINDING_UNSCHEDULED)) {
                        classify_unscheduled(r, b, i);
                } else if (in_state(b, BINDING_BOUND)) {
                        classify_bound(r, b, i);
                } else if (in_state(b, BINDING_SCHEDULED)) {
                        r->n_targeted++;
                        if (!is_deleting(&b->object) && !r->waits[i])
                                r->bounding.at[r->bounding.n++] =
                                        (struct entry){ b, overrides_of(r, i), false };
                }
        }
        if (r->all_ready)
                r->wait_ms = 0;
}

/* ---- picking ---- */

/* Numbers as they are, percentages of total rounded up; malformed counts as 0 (spec 2.7). */
static int64_t scaled(const struct int_or_string *v, int64_t total)
{
        int64_t percent = DEFAULT_PERCENT;
        size_t n = v->text ? strlen(v->text) : 0;
        char digits[8];

        if (v->set && !v->text)
                return v->value;
        if (v->set) {
                if (n < 2 || n > sizeof(digits) || v->text[n - 1] != '%')
                        return text_parse_i64(v->text, &percent) ? percent : 0;
                memcpy(digits, v->text, n - 1);
                digits[n - 1] = 0;
                if (!text_parse_i64(digits, &percent))
                        return 0;
        }
        return (total * percent + 99) / 100;
}

static int64_t target_number(struct round *r)
{
        const struct placement_policy *p = r->in->placement->spec->policy;

        if (!p || text_empty(p->placement_type) || text_equal(p->placement_type, PLACEMENT_PICK_ALL))
                return (int64_t)r->n_targeted;
        if (text_equal(p->placement_type, PLACEMENT_PICK_FIXED))
                return p->cluster_names.n;
        return p->number_of_clusters.value;
}

static int pick(struct round *r, const struct entry *e)
{
        struct binding *wanted = (struct binding *)object_copy(&e->b->object, r->arena);

        if (!wanted || object_add_finalizer(&wanted->object, FINALIZER_WORK, r->arena) < 0)
                return error_no_memory(r->err);
        wanted->spec->state = BINDING_BOUND;
        wanted->spec->resource_snapshot_name = r->in->master->object.meta.name;
        wanted->spec->cluster_resource_override_snapshots = e->overrides->cluster;
        wanted->spec->resource_override_snapshots = e->overrides->own;
        wanted->spec->apply_strategy = r->strategy;
        r->plan.update[r->plan.n_update++] = (struct rollout_write){ e->b, wanted };
        return 0;
}

static int pick_or_block(struct round *r, const struct entry *e, int64_t *room)
{
        if (*room > 0) {
                --*room;
                return pick(r, e);
        }
        r->plan.blocked.at[r->plan.blocked.n++] = e->b;
        return 0;
}

/* spec 2.7, 2.8 */
static int pick_candidates(struct round *r)
{
        static const struct rolling_update defaults;
        const struct rollout_strategy *s = r->in->placement->spec->strategy;
        const struct rolling_update *u = s && s->rolling_update ? s->rolling_update : &defaults;
        int64_t n = target_number(r);
        int64_t room = (int64_t)(r->n_ready - r->n_can_be_unavailable) - (n - scaled(&u->max_unavailable, n));
        int64_t add = n + scaled(&u->max_surge, n) - (int64_t)r->n_can_be_ready;

        for (size_t i = 0; i < r->updating.n; i++)
                if (r->updating.at[i].failed)
                        TRY(pick(r, &r->updating.at[i]));
        for (size_t i = 0; i < r->removing.n; i++) {
                bool free_to_go = r->removing.at[i].failed;

                if (!free_to_go && room <= 0)
                        continue;
                room -= !free_to_go;
                r->plan.remove.at[r->plan.remove.n++] = r->removing.at[i].b;
        }
        for (size_t i = 0; i < r->updating.n; i++)
                if (!r->updating.at[i].failed)
                        TRY(pick_or_block(r, &r->updating.at[i], &room));
        for (size_t i = 0; i < r->bounding.n; i++)
                TRY(pick_or_block(r, &r->bounding.at[i], &add));
        return 0;
}

/* Those that already say so need no write. */
static void drop_known_blocked(struct round *r)
{
        size_t kept = 0;

        for (size_t i = 0; i < r->plan.blocked.n; i++) {
                const struct condition *c = fresh(r->plan.blocked.at[i], CONDITION_ROLLOUT_STARTED);

                if (!c || !text_equal(c->status, CONDITION_FALSE))
                        r->plan.blocked.at[kept++] = r->plan.blocked.at[i];
        }
        r->plan.blocked.n = kept;
}

int plan_rollout(struct arena *arena, const struct rollout_input *in, struct rollout_plan *ret,
                 struct error *err)
{
        struct round r = { .in = in, .arena = arena, .err = err };
        bool to_roll;

        TRY(round_init(&r));
        TRY(check_clusters(&r));
        if (r.plan.n_surplus == 0 && !in->external)
                TRY(push_strategy(&r));
        if (r.plan.n_surplus > 0 || in->external || r.plan.n_strategy > 0) {
                *ret = r.plan;
                return 0;
        }
        if (!in->master) {
                remove_no_loss(&r);
                *ret = r.plan;
                return 0;
        }
        classify(&r);
        to_roll = r.updating.n + r.bounding.n + r.removing.n > 0;
        TRY(pick_candidates(&r));
        drop_known_blocked(&r);
        r.plan.after_ms = to_roll ? r.wait_ms : 0;
        *ret = r.plan;
        return 0;
}
