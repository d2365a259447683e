/* Rolling updates: carries out what plan_rollout decides. spec/rollout-and-work.md 2. */
#include "hub-agent/agent.h"
#include "hub-agent/override/load.h"
#include "hub-agent/placement/given.h"
#include "hub-agent/placement/snapshots.h"
#include "hub-agent/rollout/rollout.h"
#include "hub-agent/shards.h"
#include "hub-agent/work-generator/binding_memory.h"
#include "hub-agent/work-generator/work_generator.h"
#include "hub-agent/work-generator/work_index.h"

#define CLEANUP_WAIT_MS 5000

/* RolloutStarted=True is not written here, but by the work generator. If this process ends in between, the
 * next round finds it missing again. */
static int block(struct reconcile *rc, void *plan, size_t i)
{
        const struct binding *b = ((const struct rollout_plan *)plan)->blocked.at[i];
        struct condition c =
                make_condition(CONDITION_ROLLOUT_STARTED, CONDITION_FALSE, REASON_ROLLOUT_NOT_STARTED_YET,
                               rollout_false_message, b->object.meta.generation);
        struct binding *wanted = (struct binding *)object_copy(&b->object, rc->arena);

        if (!wanted || (!wanted->status && !(wanted->status = ARENA_NEW(rc->arena, struct binding_status))) ||
            condition_set(&wanted->status->conditions, &c, rc->now_ms, rc->arena) < 0)
                return error_no_memory(rc->err);
        return rc_patch_diff(rc, &b->object, &wanted->object, OBJECT_STATUS, NULL);
}

static int push_strategy(struct reconcile *rc, void *plan, size_t i)
{
        const struct rollout_write *w = &((const struct rollout_plan *)plan)->strategy[i];

        return rc_patch_diff(rc, &w->now->object, &w->wanted->object, OBJECT_META_SPEC, NULL);
}

static int update(struct reconcile *rc, void *plan, size_t i)
{
        const struct rollout_write *w = &((const struct rollout_plan *)plan)->update[i];
        const struct object *stored;

        TRY(rc_patch_diff(rc, &w->now->object, &w->wanted->object, OBJECT_META_SPEC, &stored));
        binding_rollout_started(rc, stored, NULL);
        return 0;
}

static int take_away(struct reconcile *rc, void *plan, size_t i)
{
        return rc_delete(rc, &((const struct rollout_plan *)plan)->remove.at[i]->object);
}

static int take_surplus(struct reconcile *rc, const struct object *placement, const struct rollout_surplus *s)
{
        const char *name = s->b->object.meta.name, *cluster = s->b->spec->target_cluster,
                   *stays = s->stays->object.meta.name;

        TRY(rc_delete(rc, &s->b->object));
        log_warn(&rc->log, "a cluster had a second binding, which is deleted", "cluster", cluster, "binding",
                 name, "stays", stays);
        rc_event(rc, placement, EVENT_TYPE_WARNING, EVENT_PLACEMENT_SECOND_BINDING,
                 "cluster %s had a second binding: \"%s\" is deleted, and \"%s\" stays", cluster, name,
                 stays);
        return 0;
}

static int carry_out(struct reconcile *rc, const struct rollout_input *in, struct rollout_plan *p)
{
        for (size_t i = 0; i < p->n_surplus; i++)
                TRY(take_surplus(rc, &in->placement->object, &p->surplus[i]));
        TRY(rc_for_each(rc, p->n_strategy, push_strategy, p));
        TRY(rc_for_each(rc, p->blocked.n, block, p));
        for (size_t i = 0; i < p->started.n; i++)
                binding_rollout_started(rc, &p->started.at[i]->object, NULL);
        TRY(rc_for_each(rc, p->n_update, update, p));
        return rc_for_each(rc, p->remove.n, take_away, p);
}

/* A binding whose spec changed and that then had to wait says so for its new generation; what is on its
 * cluster is still to be reported for that generation, or it never counts as ready again and holds the
 * rollout up. The work generator does not see status changes by itself. */
static void have_reported(struct reconcile *rc, const struct rollout_input *in)
{
        for (size_t i = 0; i < in->bindings.n; i++) {
                const struct binding *b = (const struct binding *)in->bindings.at[i];
                int64_t generation = b->object.meta.generation;
                AUTO_KEY struct key key = KEY_EMPTY;

                if (b->status &&
                    fresh_condition(&b->status->conditions, CONDITION_ROLLOUT_STARTED, generation) &&
                    !fresh_condition(&b->status->conditions, CONDITION_WORK_SYNCHRONIZED, generation) &&
                    !fresh_condition(&b->status->conditions, CONDITION_OVERRIDDEN, generation))
                        manager_enqueue(agent_of(rc)->manager, &work_generator_controller,
                                        key_text(&key, b->object.meta.ns, b->object.meta.name), QUEUE_NORMAL);
        }
}

static int find_departed(struct reconcile *rc, struct rollout_input *in)
{
        bool *departed = ARENA_NEW_ARRAY(rc->arena, bool, in->bindings.n + 1);

        if (!departed)
                return error_no_memory(rc->err);
        for (size_t i = 0; i < in->bindings.n; i++) {
                const struct binding *b = (const struct binding *)in->bindings.at[i];

                bool has_cluster = true;

                if (b->spec)
                        TRY(cache_has(rc, &member_cluster_kind, NULL, or_empty(b->spec->target_cluster),
                                      &has_cluster));
                departed[i] = !has_cluster;
        }
        in->departed = departed;
        return 0;
}

static int list_works(struct reconcile *rc, const struct binding *b, bool terminating_too,
                      struct object_list *ret)
{
        AUTO_KEY struct key key = KEY_EMPTY;

        if (object_key(&key, b->object.meta.ns, b->object.meta.name) < 0)
                return error_no_memory(rc->err);
        return works_of_binding(rc, key.text, b, terminating_too, ret);
}

static int has_works(void *rc, const struct binding *b, bool *ret)
{
        struct object_list works;

        TRY(cache_await_filled(rc, &work_kind));
        TRY(list_works(rc, b, true, &works));
        *ret = works.n > 0;
        return 0;
}

/* Only where the binding itself leaves it open. */
static int find_failed_works(struct reconcile *rc, struct rollout_input *in)
{
        bool *failed = ARENA_NEW_ARRAY(rc->arena, bool, in->bindings.n + 1);

        if (!failed)
                return error_no_memory(rc->err);
        for (size_t i = 0; i < in->bindings.n; i++) {
                const struct binding *b = (const struct binding *)in->bindings.at[i];
                struct object_list works;

                if (binding_failed(b, false) || !binding_failed(b, true))
                        continue;
                TRY(list_works(rc, b, false, &works));
                failed[i] = works_have_failed(&works);
        }
        in->works_failed = failed;
        return 0;
}

/* A wall clock that was set back makes a short wait as long as the jump: what is available since a moment yet
 * to come is timed by our own clock. */
static int find_ahead(struct reconcile *rc, struct rollout_input *in)
{
        int64_t now = loop_now_ms(agent_of(rc)->world->loop);
        int64_t *ahead = ARENA_NEW_ARRAY(rc->arena, int64_t, in->bindings.n + 1);

        if (!ahead)
                return error_no_memory(rc->err);
        for (size_t i = 0; i < in->bindings.n; i++) {
                const struct binding *b = (const struct binding *)in->bindings.at[i];
                const struct condition *c =
                        b->status ? condition_find(&b->status->conditions, CONDITION_AVAILABLE) : NULL;
                struct binding_memory *m;

                if (!c || c->last_transition_ms <= rc->now_ms)
                        continue;
                m = memory_of(&agent_of(rc)->bindings, &b->object, rc->arena);
                if (!m)
                        return error_no_memory(rc->err);
                if (m->ahead_until_ms != c->last_transition_ms) {
                        m->ahead_until_ms = c->last_transition_ms;
                        m->ahead_since_ms = now;
                }
                ahead[i] = now - m->ahead_since_ms;
        }
        in->ahead_ms = ahead;
        return 0;
}

static const struct object *find_snapshot(const struct object_list *snapshots, const char *name)
{
        for (size_t i = 0; i < snapshots->n; i++)
                if (text_equal(snapshots->at[i]->meta.name, name))
                        return snapshots->at[i];
        return NULL;
}

/* Its group will not be completed any more: the work generator can do nothing with it, and says nothing. */
static bool is_stranded(const struct rollout_input *in, const struct object_list *snapshots,
                        const struct binding *b)
{
        const struct object *head;

        if (!in->master || !b->spec || !text_equal(b->spec->state, BINDING_BOUND) ||
            (b->status &&
             fresh_condition(&b->status->conditions, CONDITION_WORK_SYNCHRONIZED, b->object.meta.generation)))
                return false;
        head = find_snapshot(snapshots, b->spec->resource_snapshot_name);
        return head && head != &in->master->object && !resource_group_is_whole(snapshots, head);
}

static int find_stranded(struct reconcile *rc, const struct object_list *snapshots, struct rollout_input *in)
{
        bool *stranded = ARENA_NEW_ARRAY(rc->arena, bool, in->bindings.n + 1);

        if (!stranded)
                return error_no_memory(rc->err);
        for (size_t i = 0; i < in->bindings.n; i++)
                stranded[i] = is_stranded(in, snapshots, (const struct binding *)in->bindings.at[i]);
        in->stranded = stranded;
        return 0;
}

static int find_what_to_roll(struct reconcile *rc, const struct scope *scope, struct rollout_input *in)
{
        struct given given = NONE_GIVEN;
        struct object_list snapshots;

        TRY(cache_by_index(rc, scope->resource_snapshot, INDEX_OWNER, rc->key, &snapshots));
        drop_of_predecessors(&snapshots, &in->placement->object);
        in->master = latest_resource_snapshot(&snapshots);
        given_by_bindings(&given, rc->name, &in->bindings);
        if (in->master)
                TRY(check_is_newest(rc, &in->master->object, LABEL_RESOURCE_INDEX, given.resources));
        TRY(find_departed(rc, in));
        TRY(find_failed_works(rc, in));
        TRY(find_ahead(rc, in));
        TRY(find_stranded(rc, &snapshots, in));
        return overrides_for_bindings(rc, &in->bindings, &snapshots, in->master, &in->overrides);
}

/* While a run is under way the cache may have the placement as it was before only runs rolled it out: the
 * server is asked before anything is taken from the run. */
static int is_left_to_runs(struct reconcile *rc, const struct scope *scope, bool *ret)
{
        const struct placement *live;
        struct object_list runs;
        struct object *o;
        int code;

        *ret = false;
        if (agent_of(rc)->options->without_staged_runs ||
            !informer_synced(manager_informer(rc->manager, scope->update_run)))
                return 0;
        TRY(cache_by_index(rc, scope->update_run, INDEX_PLACEMENT, rc->key, &runs));
        if (runs.n == 0)
                return 0;
        code = kube_get(rc->kube, scope->placement, rc->ns, rc->name, rc->arena, &o, rc->err);
        if (code == ERR_NOT_FOUND) {
                error_clear(rc->err);
                *ret = true; /* nothing is rolled out any more */
                return 0;
        }
        TRY(code);
        live = (const struct placement *)o;
        *ret = live->spec && live->spec->strategy && text_equal(live->spec->strategy->type, ROLLOUT_EXTERNAL);
        return 0;
}

static bool writes_bindings(const struct rollout_plan *p)
{
        return p->n_surplus + p->n_strategy + p->blocked.n + p->started.n + p->n_update + p->remove.n > 0;
}

static struct outcome reconcile(struct reconcile *rc)
{
        const struct scope *scope = scope_of(rc->ns);
        struct rollout_input in = { .has_works = has_works, .ctx = rc, .now_ms = rc->now_ms };
        const struct object *placement;
        struct rollout_plan plan;
        bool left = false;

        if (cache_get(rc, scope->placement, rc->ns, rc->name, &placement) < 0)
                return failed(rc->err);
        in.placement = (const struct placement *)placement;
        if (!in.placement || !in.placement->spec || is_deleting(&in.placement->object))
                return done();
        in.external = in.placement->spec->strategy &&
                      text_equal(in.placement->spec->strategy->type, ROLLOUT_EXTERNAL);
        if (cache_by_index(rc, scope->binding, INDEX_OWNER, rc->key, &in.bindings) < 0 ||
            (!in.external && find_what_to_roll(rc, scope, &in) < 0) ||
            plan_rollout(rc->arena, &in, &plan, rc->err) < 0)
                return failed(rc->err);
        if (!in.external && writes_bindings(&plan) && is_left_to_runs(rc, scope, &left) < 0)
                return failed(rc->err);
        if (left)
                return done(); /* the placement's event comes */
        if (carry_out(rc, &in, &plan) < 0)
                return failed(rc->err);
        if (!in.external)
                have_reported(rc, &in);
        if (plan.wait_for_cleanup)
                return again_after(plan.after_ms > 0 ? MIN(plan.after_ms, CLEANUP_WAIT_MS) : CLEANUP_WAIT_MS);
        return plan.after_ms > 0 ? again_after(plan.after_ms) : done();
}

/* ---- watches ---- */

static void map_snapshot(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        if (is_snapshot_head(e->now) && label_is_true(e->now, LABEL_IS_LATEST_SNAPSHOT))
                emit_owner(e->now, emit, to);
}

/* Only overrides that name their placement move it by themselves. */
static void map_override_snapshot(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        const struct override_snapshot *s = (const struct override_snapshot *)e->now;
        const struct placement_reference *p =
                s->spec && s->spec->override_spec ? s->spec->override_spec->placement : NULL;
        bool namespaced = p && s->object.meta.ns && text_equal(p->scope, PLACEMENT_SCOPE_NAMESPACED);
        AUTO_KEY struct key key = KEY_EMPTY;

        if (!p || !p->name ||
            (e->type != INFORMER_DELETED && !label_is_true(e->now, LABEL_IS_LATEST_SNAPSHOT)))
                return;
        emit(to, key_text(&key, namespaced ? s->object.meta.ns : NULL, p->name));
}

struct relay {
        key_emit emit;
        void *to;
};

static void relay_owner(void *relay, const struct object *binding)
{
        const struct relay *r = relay;

        emit_owner(binding, r->emit, r->to);
}

/* Overrides pick clusters by their labels: others may apply there now. What was given up on a cluster that is
 * gone waits for its turn no longer. */
static void map_member_cluster(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        struct relay to_owner = { emit, to };

        if (e->type == INFORMER_DELETED || labels_changed(e))
                for_each_binding_on(agent, e->now->meta.name, relay_owner, &to_owner);
}

static const struct watch watches[] = {
        { &cluster_resource_snapshot_kind, ON_SPEC | ON_META, map_snapshot },
        { &resource_snapshot_kind, ON_SPEC | ON_META, map_snapshot },
        { &cluster_resource_binding_kind, ON_SPEC | ON_STATUS | ON_DELETION, map_to_owner },
        { &resource_binding_kind, ON_SPEC | ON_STATUS | ON_DELETION, map_to_owner },
        { &cluster_resource_placement_kind, ON_SPEC, NULL, .pressing = placement_is_behind },
        { &resource_placement_kind, ON_SPEC, NULL, .pressing = placement_is_behind },
        { &cluster_resource_override_snapshot_kind, ON_SPEC | ON_META | ON_DELETION, map_override_snapshot },
        { &resource_override_snapshot_kind, ON_SPEC | ON_META | ON_DELETION, map_override_snapshot },
        { &member_cluster_kind, ON_META | ON_DELETION, map_member_cluster },
};

const struct controller rollout_controller = {
        .name = "rollout",
        .placement_of = placement_of_self,
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
        .early = EARLY_PLACEMENTS,
};
