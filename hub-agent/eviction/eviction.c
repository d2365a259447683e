#include "hub-agent/eviction/eviction.h"

#include "hub-agent/rollout/rollout.h"

struct deciding {
        struct arena *arena;
        const struct eviction_input *in;
        struct error *err;
        const struct eviction_decision *earlier; /* NULL = none */
        const struct binding *decided;           /* its binding; NULL = gone */
        const struct binding *target;
        struct eviction_plan plan;
};

static const struct condition_list *conditions_of(const struct eviction *e)
{
        static const struct condition_list none;

        return e->status ? &e->status->conditions : &none;
}

bool eviction_is_over(const struct eviction *e)
{
        return condition_is_false(conditions_of(e), CONDITION_VALID, e->object.meta.generation) ||
               condition_find(conditions_of(e), CONDITION_EXECUTED) ||
               (is_deleting(&e->object) && !(e->status && e->status->decision));
}

static int set(struct arena *arena, struct eviction *e, int64_t now_ms, const char *type, const char *status,
               const char *reason, const char *message)
{
        struct condition c = make_condition(type, status, reason, message, e->object.meta.generation);

        return condition_set(&e->status->conditions, &c, now_ms, arena);
}

static struct eviction *copy_with_status(struct arena *arena, const struct eviction *e)
{
        struct eviction *copy = (struct eviction *)object_copy(&e->object, arena);

        if (copy && !copy->status && !(copy->status = ARENA_NEW(arena, struct eviction_status)))
                return NULL;
        return copy;
}

struct eviction *eviction_executed(struct arena *arena, const struct eviction *e, const char *message,
                                   int64_t now_ms)
{
        struct eviction *done = copy_with_status(arena, e);

        if (!done || set(arena, done, now_ms, CONDITION_EXECUTED, CONDITION_TRUE, REASON_EVICTION_EXECUTED,
                         message) < 0)
                return NULL;
        done->status->decision = NULL;
        return done;
}

/* ---- answers: each one ends the deciding ---- */

/* A request to delete that version may still be under way, from a pass that did not hear what came of it. */
static void take_back(struct deciding *d)
{
        if (d->decided &&
            text_equal(d->earlier->binding_resource_version, d->decided->object.meta.resource_version))
                d->plan.touch = d->decided;
}

static int set_valid(struct deciding *d, const char *status, const char *reason, const char *message)
{
        d->plan.wanted->status->decision = NULL;
        return set(d->arena, d->plan.wanted, d->in->now_ms, CONDITION_VALID, status, reason, message) < 0
                       ? error_no_memory(d->err)
                       : 0;
}

static int is_invalid(struct deciding *d, const char *message)
{
        take_back(d);
        return set_valid(d, CONDITION_FALSE, REASON_EVICTION_INVALID, message);
}

static int is_valid(struct deciding *d)
{
        return set_valid(d, CONDITION_TRUE, REASON_EVICTION_VALID, MESSAGE_EVICTION_VALID);
}

static int is_blocked(struct deciding *d, const char *message)
{
        if (!message)
                return error_no_memory(d->err);
        take_back(d);
        TRY(is_valid(d));
        return set(d->arena, d->plan.wanted, d->in->now_ms, CONDITION_EXECUTED, CONDITION_FALSE,
                   REASON_EVICTION_NOT_EXECUTED, message) < 0
                       ? error_no_memory(d->err)
                       : 0;
}

static int is_executed(struct deciding *d, const char *message)
{
        TRY(is_valid(d));
        d->plan.wanted = eviction_executed(d->arena, d->plan.wanted, message, d->in->now_ms);
        return d->plan.wanted ? 0 : error_no_memory(d->err);
}

static int is_allowed(struct deciding *d, const char *message)
{
        struct eviction_decision *decision = ARENA_NEW(d->arena, struct eviction_decision);

        if (!message || !decision)
                return error_no_memory(d->err);
        *decision = (struct eviction_decision){
                .binding_name = d->target->object.meta.name,
                .binding_uid = d->target->object.meta.uid,
                .binding_resource_version = d->target->object.meta.resource_version,
                .message = message,
        };
        TRY(is_valid(d));
        d->plan.wanted->status->decision = decision;
        d->plan.remove = d->target;
        d->plan.message = message;
        return 0;
}

/* ---- what an earlier pass decided ---- */

static const struct binding *find_by_uid(const struct object_list *bindings, const char *uid)
{
        for (size_t i = 0; i < bindings->n; i++)
                if (text_equal(bindings->at[i]->meta.uid, uid))
                        return (const struct binding *)bindings->at[i];
        return NULL;
}

static bool was_carried_out(struct deciding *d)
{
        if (!d->earlier)
                return false;
        d->decided = find_by_uid(&d->in->bindings, d->earlier->binding_uid);
        return !d->decided || is_deleting(&d->decided->object);
}

/* Where the definition of evictions is another maker's, no decision is kept: Valid=True alone then stands for
 * a deletion that was about to be. */
static bool was_about_to_delete(const struct deciding *d)
{
        const struct eviction *e = d->in->eviction;

        return condition_is_true(conditions_of(e), CONDITION_VALID, e->object.meta.generation);
}

/* ---- is there anything to evict (spec 14.1 step 3) ---- */

static bool is_on_cluster(const struct deciding *d, const struct object *binding)
{
        const struct binding_spec *spec = ((const struct binding *)binding)->spec;

        return spec && text_equal(spec->target_cluster, d->in->eviction->spec->cluster_name);
}

/* The message of Valid=False; NULL: the target is known. */
static const char *find_target(struct deciding *d)
{
        size_t n = 0;

        for (size_t i = 0; i < d->in->bindings.n; i++)
                if (is_on_cluster(d, d->in->bindings.at[i]) && n++ == 0)
                        d->target = (const struct binding *)d->in->bindings.at[i];
        if (n > 1)
                return MESSAGE_EVICTION_MANY_DECISIONS;
        return n == 0 ? MESSAGE_EVICTION_NO_DECISION : NULL;
}

static const char *find_problem(struct deciding *d)
{
        const struct placement *p = d->in->placement;

        if (!p)
                return MESSAGE_EVICTION_NO_PLACEMENT;
        if (is_deleting(&p->object))
                return MESSAGE_EVICTION_PLACEMENT_DELETING;
        if (text_equal(placement_type_of(p), PLACEMENT_PICK_FIXED))
                return MESSAGE_EVICTION_PICK_FIXED;
        return find_target(d);
}

/* ---- may it be evicted (spec 14.1 step 4) ---- */

static bool is_decided(const struct deciding *d, const struct object *binding)
{
        return text_in(or_empty(binding->meta.uid), d->in->decided, d->in->n_decided);
}

/* Of the target it does not matter who else is about to delete it: that is one disruption. */
static size_t count_available(const struct deciding *d)
{
        size_t n = 0;

        for (size_t i = 0; i < d->in->bindings.n; i++) {
                const struct binding *b = (const struct binding *)d->in->bindings.at[i];

                n += b->status && !is_deleting(&b->object) &&
                     (b == d->target || !is_decided(d, &b->object)) &&
                     condition_is_true(&b->status->conditions, CONDITION_AVAILABLE,
                                       b->object.meta.generation);
        }
        return n;
}

static int64_t number_wanted(const struct placement *p)
{
        bool counted = text_equal(placement_type_of(p), PLACEMENT_PICK_N);

        return counted ? MIN(MAX(p->spec->policy->number_of_clusters.value, 0), INT32_MAX) : 0;
}

static int ask_budget(struct deciding *d)
{
        const struct placement *p = d->in->placement;
        size_t available, total = d->in->bindings.n;

        if (!d->in->budget)
                return is_allowed(d, MESSAGE_EVICTION_ALLOWED_NO_BUDGET);
        if (budget_is_misconfigured(d->in->budget, p))
                return is_blocked(d, MESSAGE_EVICTION_MISCONFIGURED_BUDGET);
        available = count_available(d);
        if (budget_allows(d->in->budget, number_wanted(p), available, total) > 0)
                return is_allowed(
                        d, arena_printf(d->arena, MESSAGE_EVICTION_ALLOWED_BY_BUDGET, available, total));
        return is_blocked(d, arena_printf(d->arena, MESSAGE_EVICTION_BLOCKED_BY_BUDGET, available, total));
}

static int execute(struct deciding *d)
{
        bool works_failed = false;

        if (is_deleting(&d->target->object))
                return is_executed(d, MESSAGE_EVICTION_ALLOWED_BEING_REMOVED);
        if (!binding_is_in_use(d->target))
                return is_blocked(d, MESSAGE_EVICTION_BLOCKED_NOT_PROPAGATED);
        if (d->in->works_failed)
                TRY(d->in->works_failed(d->in->ctx, d->target, &works_failed));
        if (binding_failed(d->target, works_failed) || binding_diff_reported(d->target))
                return is_allowed(d, MESSAGE_EVICTION_ALLOWED_FAILED);
        return ask_budget(d);
}

static int decide(struct deciding *d)
{
        const char *problem;

        if (was_carried_out(d))
                return is_executed(d, d->earlier->message);
        problem = find_problem(d);
        if (!problem)
                return execute(d);
        if (text_equal(problem, MESSAGE_EVICTION_NO_DECISION) && was_about_to_delete(d))
                return is_executed(d, MESSAGE_EVICTION_ALLOWED_BEING_REMOVED);
        return is_invalid(d, problem);
}

int plan_eviction(struct arena *arena, const struct eviction_input *in, struct eviction_plan *ret,
                  struct error *err)
{
        struct deciding d = { .arena = arena, .in = in, .err = err };

        d.plan.wanted = copy_with_status(arena, in->eviction);
        if (!d.plan.wanted)
                return error_no_memory(err);
        d.earlier = in->eviction->status ? in->eviction->status->decision : NULL;
        TRY(decide(&d));
        *ret = d.plan;
        return 0;
}
