/* Staged update runs: carries out what plan_update_run decides. spec/staged-update-and-eviction.md 3, 10. */
#include "common/base/memory.h"
#include "hub-agent/agent.h"
#include "hub-agent/override/load.h"
#include "hub-agent/placement/select.h"
#include "hub-agent/shards.h"
#include "hub-agent/staged-update/plan_maker.h"
#include "hub-agent/staged-update/update_run.h"
#include "hub-agent/staged-update/update_run_metrics.h"
#include "hub-agent/work-generator/binding_memory.h"

#define RETRY_MS 1000

/* ---- memory ---- */

struct ahead { /* a moment (wall clock) yet to come, and since when (loop time) it was seen to be so */
        int64_t moment, since_ms;
};
struct run_memory {
        struct memory memory;
        struct hold hold;
        /* The run with a status that is held back, made from this resourceVersion: passes go on from it. */
        struct arena arena;
        struct update_run *draft;
        int64_t retrying_since_ms; /* loop time; 0 = it does not */
        VEC(struct ahead) ahead;
        struct plan_memory plan;
        struct update_run_series series;
};

static void drop_draft(struct run_memory *m)
{
        m->draft = NULL;
        arena_free(&m->arena);
}

static void clear_memory(void *record)
{
        struct run_memory *m = record;

        hold_let_go(&m->hold);
        drop_draft(m);
        vec_free(&m->ahead);
        update_run_series_free(&m->series);
}
const struct memory_kind update_run_memory_kind = { sizeof(struct run_memory), clear_memory };

struct pass {
        struct reconcile *rc;
        struct hub_agent *agent;
        const struct scope *scope;
        const struct update_run *run; /* as it is stored */
        bool asked;                   /* the server for the placement */
        struct run_memory *memory;
        struct reconcile as_placement; /* the reconcile under the key of the run's placement */
        struct key placement_key;
        struct update_run_input in;
        struct update_run_plan plan;
};

/* ---- deletion (spec 10) ---- */

/* Those of the label, as the cache has them: requests that name the run without it are not the run's. */
static int delete_approvals(struct pass *s)
{
        struct object_list all;

        TRY(cache_list(s->rc, s->scope->approval_request, &all));
        for (size_t i = 0; i < all.n; i++)
                if (text_equal(or_empty(all.at[i]->meta.ns), or_empty(s->rc->ns)) &&
                    text_equal(label_of(all.at[i], LABEL_TARGET_UPDATE_RUN), s->rc->name) &&
                    !is_deleting(all.at[i]))
                        TRY(rc_delete_any_version(s->rc, all.at[i]));
        return 0;
}

static int clean_up(struct pass *s)
{
        const struct object *run = &s->run->object;

        TRY(delete_approvals(s));
        TRY(rc_set_finalizer(s->rc, run, FINALIZER_UPDATE_RUN, false, NULL));
        update_run_series_remove(s->agent->metrics, &s->memory->series, run->meta.ns, run->meta.name);
        return 0;
}

/* The index is stored even if it is empty, or its immutability would not hold. */
static int ensure_finalizer(struct pass *s)
{
        const struct object *run = &s->run->object, *stored;
        struct update_run *wanted;

        if (object_has_finalizer(run, FINALIZER_UPDATE_RUN))
                return 0;
        wanted = (struct update_run *)object_copy(run, s->rc->arena);
        if (!wanted || object_add_finalizer(&wanted->object, FINALIZER_UPDATE_RUN, s->rc->arena) < 0)
                return error_no_memory(s->rc->err);
        if (!wanted->spec->resource_snapshot_index)
                wanted->spec->resource_snapshot_index = "";
        TRY(rc_patch_diff(s->rc, run, &wanted->object, OBJECT_META_SPEC, &stored));
        s->run = (const struct update_run *)stored;
        return 0;
}

/* ---- what the pass decides from ---- */

/* That something is not in a cache, or is there as it was, proves nothing: a run fails for good, and who
 * changes a strategy and makes a run has both heard of in any order. */
static int find(struct pass *s, const struct kind *kind, const char *name, bool live,
                const struct object **ret)
{
        struct reconcile *rc = s->rc;
        struct object *o;
        int code;

        *ret = NULL;
        if (text_empty(name))
                return 0;
        if (!live)
                TRY(cache_get(rc, kind, rc->ns, name, ret));
        if (*ret)
                return 0;
        code = kube_get(rc->kube, kind, rc->ns, name, rc->arena, &o, rc->err);
        if (code == ERR_NOT_FOUND) {
                error_clear(rc->err);
                return 0;
        }
        TRY(code);
        *ret = o;
        return 0;
}

static bool has_begun(const struct update_run *run)
{
        return run->status && condition_find(&run->status->conditions, CONDITION_INITIALIZED);
}

static int check_policy(struct pass *s)
{
        const struct policy_snapshot *latest = latest_policy_snapshot(&s->in.policy_snapshots);
        const struct placement_spec *spec = s->in.placement->spec;
        bool is_current;

        s->in.policy_is_outdated = false;
        if (!latest || has_begun(s->run))
                return 0;
        TRY(policy_snapshot_is_current(s->rc->arena, latest, spec ? spec->policy : NULL, &is_current,
                                       s->rc->err));
        s->in.policy_is_outdated = !is_current;
        return 0;
}

static int load_placement(struct pass *s)
{
        const char *name = s->run->spec->placement_name;
        const struct object *placement;

        s->asked = s->asked || !has_begun(s->run);
        TRY(find(s, s->scope->placement, name, s->asked, &placement));
        s->in.placement = (const struct placement *)placement;
        s->as_placement = *s->rc;
        s->as_placement.name = or_empty(name);
        s->as_placement.key = key_text(&s->placement_key, s->rc->ns, or_empty(name));
        if (!s->as_placement.key)
                return error_no_memory(s->rc->err);
        TRY(cache_by_index(s->rc, s->scope->policy_snapshot, INDEX_OWNER, s->as_placement.key,
                           &s->in.policy_snapshots));
        TRY(cache_by_index(s->rc, s->scope->resource_snapshot, INDEX_OWNER, s->as_placement.key,
                           &s->in.resource_snapshots));
        TRY(cache_by_index(s->rc, s->scope->binding, INDEX_OWNER, s->as_placement.key, &s->in.bindings));
        if (!placement)
                return 0;
        drop_of_predecessors(&s->in.policy_snapshots, placement);
        drop_of_predecessors(&s->in.resource_snapshots, placement);
        return check_policy(s);
}

static int load_targets(struct pass *s)
{
        size_t n = s->in.bindings.n;
        const struct member_cluster **clusters =
                ARENA_NEW_ARRAY(s->rc->arena, const struct member_cluster *, n + 1);

        if (!clusters)
                return error_no_memory(s->rc->err);
        for (size_t i = 0; i < n; i++) {
                const struct binding *b = (const struct binding *)s->in.bindings.at[i];
                const struct object *cluster = NULL;

                if (b->spec)
                        TRY(cache_get(s->rc, &member_cluster_kind, NULL, or_empty(b->spec->target_cluster),
                                      &cluster));
                clusters[i] = (const struct member_cluster *)cluster;
        }
        s->in.clusters = clusters;
        return 0;
}

static int load_strategy(struct pass *s)
{
        const struct object *o;

        if (has_begun(s->run) && s->run->status->strategy_snapshot)
                return 0;
        TRY(find(s, s->scope->update_strategy, s->run->spec->staged_rollout_strategy_name, true, &o));
        s->in.strategy = (const struct update_strategy *)o;
        TRY(find(s, s->scope->update_run, s->run->spec->retry_of, true, &o));
        s->in.retried = (const struct update_run *)o;
        return 0;
}

/* ---- what the plan asks for ---- */

static int find_approval(void *ctx, const char *name, const struct approval_request **ret)
{
        struct pass *s = ctx;
        const struct object *o;

        TRY(cache_get(s->rc, s->scope->approval_request, s->rc->ns, name, &o));
        *ret = (const struct approval_request *)o;
        return 0;
}

static int find_overrides(void *ctx, const struct resource_snapshot *master,
                          const struct cluster_overrides **ret)
{
        struct pass *s = ctx;

        return overrides_for_bindings(&s->as_placement, &s->in.bindings, &s->in.resource_snapshots, master,
                                      ret);
}

static int64_t ahead_ms(void *ctx, int64_t moment)
{
        struct pass *s = ctx;
        int64_t now = loop_now_ms(s->agent->world->loop);
        size_t kept = 0;

        for (size_t i = 0; i < s->memory->ahead.n; i++) { /* those that have come are of no use any more */
                struct ahead a = s->memory->ahead.at[i];

                if (a.moment == moment)
                        return now - a.since_ms;
                if (a.moment > s->rc->now_ms)
                        s->memory->ahead.at[kept++] = a;
        }
        s->memory->ahead.n = kept;
        if (vec_push(&s->memory->ahead, ((struct ahead){ moment, now })) < 0)
                log_warn(&s->rc->log, "no memory to time a wait by our own clock", "run", s->rc->key);
        return 0;
}

static int plan_stage(void *ctx, const struct update_run *run, const struct stage_status *stage, bool removal,
                      const char *known, struct update_plan **ret, const char **ret_hash)
{
        struct pass *s = ctx;
        struct plan_question q = { .run = run,
                                   .stage = stage,
                                   .removal = removal,
                                   .bindings = &s->in.bindings,
                                   .snapshots = &s->in.resource_snapshots,
                                   .known = known };

        return make_update_plan(&s->as_placement, &q, &s->memory->plan, ret, ret_hash);
}

static const char *find_announcement(void *ctx, const struct binding *b)
{
        return binding_message_due(((struct pass *)ctx)->rc, &b->object);
}

/* ---- the input ---- */

static int load(struct pass *s)
{
        struct run_memory *m = s->memory;
        bool is_current = m->draft && text_equal(m->draft->object.meta.resource_version,
                                                 s->run->object.meta.resource_version);

        if (!is_current)
                drop_draft(m);
        s->in = (struct update_run_input){ .run = is_current ? m->draft : s->run,
                                           .approval = find_approval,
                                           .overrides = find_overrides,
                                           .plan = plan_stage,
                                           .announcing = find_announcement,
                                           .ahead_ms = ahead_ms,
                                           .ctx = s,
                                           .now_ms = s->rc->now_ms };
        if (m->retrying_since_ms)
                s->in.retrying_ms = loop_now_ms(s->agent->world->loop) - m->retrying_since_ms;
        TRY(load_placement(s));
        TRY(load_targets(s));
        return load_strategy(s);
}

/* ---- planning ---- */

static int take_snapshot(struct pass *s)
{
        struct refusal refusal;

        TRY(take_resource_snapshot(&s->as_placement, s->in.placement, s->rc->name, &s->in.taken, &refusal));
        if (is_refused(&refusal) && (refusal.passing || !refusal.words))
                return error_set(s->rc->err, ERR_RETRY, "what the placement selects cannot be told yet: %s",
                                 refusal.words ? refusal.words : "caches are being filled");
        s->in.not_taken = refusal.words;
        TRY(cache_by_index(s->rc, s->scope->resource_snapshot, INDEX_OWNER, s->as_placement.key,
                           &s->in.resource_snapshots));
        drop_of_predecessors(&s->in.resource_snapshots, &s->in.placement->object);
        return 0;
}

static int decide(struct pass *s)
{
        TRY(plan_update_run(s->rc->arena, &s->in, &s->plan, s->rc->err));
        if (!s->plan.take_snapshot)
                return 0;
        TRY(take_snapshot(s));
        return plan_update_run(s->rc->arena, &s->in, &s->plan, s->rc->err);
}

static bool is_to_fail(const struct pass *s)
{
        const struct update_run *wanted = s->plan.wanted;

        return wanted && update_run_ended(wanted) &&
               !condition_is_true(&wanted->status->conditions, CONDITION_SUCCEEDED,
                                  wanted->object.meta.generation);
}

/* Before a run fails for good the placement is asked for. */
static int plan(struct pass *s)
{
        TRY(decide(s));
        if (!is_to_fail(s) || s->asked)
                return 0;
        s->asked = true;
        TRY(load_placement(s));
        TRY(load_targets(s));
        return decide(s);
}

/* ---- carrying out ---- */

/* A run fails for good on the word of a cache, which may be behind. */
static int confirm(struct pass *s)
{
        for (size_t i = 0; i < s->plan.confirm.n; i++) {
                const struct object *b = &s->plan.confirm.at[i]->object;
                struct object *live;
                int code = kube_get(s->rc->kube, b->kind, b->meta.ns, b->meta.name, s->rc->arena, &live,
                                    s->rc->err);

                if (code == ERR_NOT_FOUND ||
                    (code == 0 && !text_equal(live->meta.resource_version, b->meta.resource_version)))
                        return error_set(s->rc->err, ERR_RETRY, "binding \"%s\" is not in the cache as it is",
                                         b->meta.name);
                TRY(code);
        }
        return 0;
}

static int write_approval(struct reconcile *rc, const struct update_run_approval *a)
{
        const struct object *stored;

        if (a->now)
                return rc_patch_diff(rc, &a->now->object, &a->wanted->object, OBJECT_STATUS, NULL);
        return rc_create(rc, &a->wanted->object, &stored);
}

static const char *rollout_message(const struct pass *s)
{
        return update_run_rollout_message(s->plan.wanted ? s->plan.wanted : s->in.run, s->rc->arena);
}

static int write_binding(struct reconcile *rc, void *ctx, size_t i)
{
        struct pass *s = ctx;
        const struct rollout_write *w = &s->plan.update[i];
        const char *message = rollout_message(s);
        const struct object *stored;

        if (!message)
                return error_no_memory(rc->err);
        TRY(rc_patch_diff(rc, &w->now->object, &w->wanted->object, OBJECT_META_SPEC, &stored));
        binding_rollout_started(rc, stored, message);
        return 0;
}

/* The pass may have taken long for what it wrote: a start that was announced meanwhile does not begin anew,
 * and one of another generation is left to the next pass. */
static int let_start(struct pass *s)
{
        const char *message = rollout_message(s);

        if (!message)
                return error_no_memory(s->rc->err);
        for (size_t i = 0; i < s->plan.started.n; i++) {
                const struct object *planned = &s->plan.started.at[i]->object, *now;

                TRY(cache_get(s->rc, planned->kind, planned->meta.ns, planned->meta.name, &now));
                if (now && now->meta.generation == planned->meta.generation &&
                    !update_run_binding_has_started((const struct binding *)now))
                        binding_rollout_started(s->rc, now, message);
        }
        return 0;
}

static int take_away(struct reconcile *rc, void *ctx, size_t i)
{
        return rc_delete(rc, &((struct pass *)ctx)->plan.remove.at[i]->object);
}

static int carry_out(struct pass *s)
{
        TRY(confirm(s));
        for (size_t i = 0; i < s->plan.n_approvals; i++)
                TRY(write_approval(s->rc, &s->plan.approvals[i]));
        TRY(rc_for_each(s->rc, s->plan.n_update, write_binding, s));
        if (s->plan.started.n > 0)
                TRY(let_start(s));
        return rc_for_each(s->rc, s->plan.remove.n, take_away, s);
}

/* ---- the run's status ---- */

/* Passes that follow go on from what is not written yet, so nothing that was seen is lost to the wait. */
static int keep_draft(struct pass *s)
{
        struct run_memory *m = s->memory;
        struct arena arena = ARENA_INIT;
        struct object *draft = object_copy(&s->plan.wanted->object, &arena);

        if (!draft) {
                arena_free(&arena);
                return error_no_memory(s->rc->err);
        }
        drop_draft(m);
        m->arena = arena;
        m->draft = (struct update_run *)draft;
        return 0;
}

static struct outcome after(const struct pass *s)
{
        if (s->plan.after_ms == NO_WAKE_UP)
                return done();
        return again_after(s->plan.after_ms);
}

static struct outcome write_status(struct pass *s)
{
        const struct update_run *wanted = s->plan.wanted;
        int64_t hold;

        if (!wanted || object_equal_part(&s->run->object, &wanted->object, OBJECT_STATUS))
                return after(s);
        hold = status_due_in(s->agent, &s->memory->hold, s->plan.urgent);
        if (hold > 0) {
                if (keep_draft(s) < 0)
                        return failed(s->rc->err);
                return finish_after(MIN(hold, s->plan.after_ms));
        }
        if (rc_patch_diff(s->rc, &s->run->object, &wanted->object, OBJECT_STATUS, NULL) < 0)
                return failed(s->rc->err);
        hold_written(&s->memory->hold);
        drop_draft(s->memory);
        return after(s);
}

/* ---- reconcile ---- */

static struct outcome put_off(struct pass *s)
{
        int64_t now = loop_now_ms(s->agent->world->loop);

        if (!s->memory->retrying_since_ms)
                s->memory->retrying_since_ms = now + 1; /* never 0 */
        log_debug(&s->rc->log, "an update run waits", "run", s->rc->key, "for", s->plan.retry);
        return again_after(RETRY_MS);
}

static struct outcome proceed(struct pass *s)
{
        struct outcome o;

        if (load(s) < 0 || plan(s) < 0)
                return failed(s->rc->err);
        if (carry_out(s) < 0)
                return failed(s->rc->err);
        if (s->plan.retry)
                return put_off(s);
        s->memory->retrying_since_ms = 0;
        o = write_status(s);
        update_run_show(s->agent->metrics, &s->memory->series, s->plan.wanted ? s->plan.wanted : s->run,
                        s->rc->now_ms);
        update_run_measured(s->agent->metrics, &s->memory->series, s->run, &s->plan);
        return o;
}

static struct outcome leave(struct pass *s)
{
        if (!object_has_finalizer(&s->run->object, FINALIZER_UPDATE_RUN))
                return done();
        if (s->run->spec && (load(s) < 0 || plan(s) < 0 || carry_out(s) < 0))
                return failed(s->rc->err);
        if (s->plan.retry)
                return put_off(s);
        return clean_up(s) < 0 ? failed(s->rc->err) : done();
}

void update_runs_keep_if(struct hub_agent *a, bool (*keep)(void *ctx, const char *key), void *ctx)
{
        map_for_each(&a->update_runs.by_key, e) {
                struct run_memory *m = e->value;
                const char *slash = strchr(e->key, '/');
                AUTO_FREE char *ns = mem_strndup(e->key, slash ? (size_t)(slash - e->key) : 0);

                if (keep(ctx, e->key))
                        continue;
                if (ns)
                        update_run_series_remove(a->metrics, &m->series, slash ? ns : NULL,
                                                 slash ? slash + 1 : e->key);
                map_remove(&a->update_runs.by_key, e->key);
        }
}

static struct outcome reconcile_run(struct pass *s)
{
        if (is_deleting(&s->run->object))
                return leave(s);
        if (!s->run->spec)
                return done();
        if (ensure_finalizer(s) < 0)
                return failed(s->rc->err);
        return hold_pass_ended(&s->memory->hold, proceed(s));
}

static struct outcome reconcile(struct reconcile *rc)
{
        struct pass s = {
                .rc = rc, .agent = agent_of(rc), .scope = scope_of(rc->ns), .placement_key = KEY_EMPTY
        };
        const struct object *run;
        struct outcome o;

        if (cache_get(rc, s.scope->update_run, rc->ns, rc->name, &run) < 0)
                return failed(rc->err);
        if (!run) {
                memory_drop(&s.agent->update_runs, rc->key);
                return done();
        }
        s.run = (const struct update_run *)run;
        s.memory = memory_of(&s.agent->update_runs, run, rc->arena);
        if (!s.memory) {
                error_no_memory(rc->err);
                return failed(rc->err);
        }
        o = reconcile_run(&s);
        key_free(&s.placement_key);
        return o;
}

/* ---- index and watches ---- */

void emit_update_run_placement(const struct object *o, index_emit emit, void *to)
{
        const struct update_run *run = (const struct update_run *)o;
        AUTO_KEY struct key key = KEY_EMPTY;

        if (run->spec && !text_empty(run->spec->placement_name) && !update_run_ended(run))
                emit(to, key_text(&key, o->meta.ns, run->spec->placement_name));
}

static void emit_runs_of(struct hub_agent *a, const char *ns, const char *placement, key_emit emit, void *to)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_KEY struct key of = KEY_EMPTY;
        struct object_list runs;

        if (text_empty(placement) || !key_text(&of, ns, placement))
                return;
        if (informer_by_index(manager_informer(a->manager, scope_of(ns)->update_run), INDEX_PLACEMENT,
                              of.text, &arena, &runs) < 0) {
                emit(to, NULL);
                return;
        }
        for (size_t i = 0; i < runs.n; i++) {
                AUTO_KEY struct key key = KEY_EMPTY;

                emit(to, key_text(&key, runs.at[i]->meta.ns, runs.at[i]->meta.name));
        }
}

static void map_owned(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        emit_runs_of(agent, e->now->meta.ns, label_of(e->now, LABEL_PARENT_PLACEMENT), emit, to);
}

static void map_placement(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        emit_runs_of(agent, e->now->meta.ns, e->now->meta.name, emit, to);
}

static bool differs(const struct binding *a, const struct binding *b, const char *type)
{
        return !conditions_agree(a->status ? &a->status->conditions : NULL,
                                 b->status ? &b->status->conditions : NULL, type);
}

/* Of what a binding reports, runs look at three conditions. One that begins to go has another generation. */
static void map_binding(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        const struct binding *old = (const struct binding *)e->old, *now = (const struct binding *)e->now;

        if (e->type == INFORMER_UPDATED && old->object.meta.generation == now->object.meta.generation &&
            !differs(old, now, CONDITION_ROLLOUT_STARTED) && !differs(old, now, CONDITION_AVAILABLE) &&
            !differs(old, now, CONDITION_DIFF_REPORTED))
                return;
        map_owned(agent, e, emit, to);
}

struct relay {
        void *agent;
        key_emit emit;
        void *to;
};

static void relay_binding(void *relay, const struct object *binding)
{
        const struct relay *r = relay;

        emit_runs_of(r->agent, binding->meta.ns, label_of(binding, LABEL_PARENT_PLACEMENT), r->emit, r->to);
}

static void map_member_cluster(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        struct relay relay = { agent, emit, to };

        if (labels_changed(e) || e->type == INFORMER_DELETED)
                for_each_binding_on(agent, e->now->meta.name, relay_binding, &relay);
}

static void map_approval(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        const struct approval_request *r = (const struct approval_request *)e->now;
        AUTO_KEY struct key key = KEY_EMPTY;

        if (e->type != INFORMER_ADDED && r->spec && !text_empty(r->spec->parent_stage_rollout))
                emit(to, key_text(&key, r->object.meta.ns, r->spec->parent_stage_rollout));
}

/* Until it ends a run holds its snapshot, and all there are until it has said which one that is. */
static void map_let_go(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        const struct update_run *was = (const struct update_run *)e->old,
                                *run = (const struct update_run *)e->now;
        const char *held = e->type == INFORMER_ADDED ? NULL : or_empty(update_run_index(was));
        bool same = held && e->type == INFORMER_UPDATED && !update_run_ended(run) &&
                    text_equal(or_empty(update_run_index(run)), held);
        int64_t index = NO_INDEX;

        if (!held || same || !run->spec || update_run_ended(was) ||
            (!text_empty(held) && !text_parse_i64(held, &index)))
                return;
        intake_let_go(agent, e->now->meta.ns, or_empty(run->spec->placement_name), index);
}

static const struct watch watches[] = {
        { &cluster_staged_update_run_kind, ON_SPEC | ON_DELETION, NULL },
        { &staged_update_run_kind, ON_SPEC | ON_DELETION, NULL },
        { &cluster_staged_update_run_kind, ON_STATUS | ON_DELETION, map_let_go },
        { &staged_update_run_kind, ON_STATUS | ON_DELETION, map_let_go },
        { &cluster_staged_update_strategy_kind, 0, NULL }, /* read, not followed: a run has a copy */
        { &staged_update_strategy_kind, 0, NULL },
        { &cluster_approval_request_kind, ON_STATUS | ON_DELETION, map_approval },
        { &approval_request_kind, ON_STATUS | ON_DELETION, map_approval },
        { &cluster_resource_binding_kind, ON_SPEC | ON_STATUS | ON_DELETION, map_binding },
        { &resource_binding_kind, ON_SPEC | ON_STATUS | ON_DELETION, map_binding },
        { &cluster_scheduling_policy_snapshot_kind, ON_ALL, map_owned },
        { &scheduling_policy_snapshot_kind, ON_ALL, map_owned },
        { &cluster_resource_placement_kind, ON_SPEC | ON_DELETION, map_placement },
        { &resource_placement_kind, ON_SPEC | ON_DELETION, map_placement },
        { &cluster_resource_snapshot_kind, 0, NULL },
        { &resource_snapshot_kind, 0, NULL },
        { &member_cluster_kind, ON_META | ON_DELETION, map_member_cluster },
};

const struct controller update_run_controller = {
        .name = "update-run",
        .placement_of = placement_of_update_run,
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
};
