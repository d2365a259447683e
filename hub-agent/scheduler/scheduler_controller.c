/* The scheduler: one cycle per placement key. spec/scheduler.md 4, 5, 13. */
#include "hub-agent/scheduler/scheduler_agent.h"

#include "common/base/memory.h"
#include "hub-agent/placement/given.h"
#include "hub-agent/placement/snapshots.h"
#include "hub-agent/scheduler/scheduler.h"
#include "hub-agent/shards.h"

#define BACK_COLLECT_MS 1000

struct scheduler_memory *scheduler_memory_new(void)
{
        struct scheduler_memory *m = NEW(struct scheduler_memory);

        if (!m)
                return NULL;
        map_init(&m->unreadable_told, MAP_OWN_KEYS, mem_free);
        map_init(&m->turned_away, MAP_OWN_KEYS, NULL);
        map_init(&m->unanswered, MAP_OWN_KEYS, mem_free);
        return m;
}

struct scheduler_memory *scheduler_memory_free(struct scheduler_memory *m)
{
        if (!m)
                return NULL;
        map_free(&m->unreadable_told);
        map_free(&m->turned_away);
        map_free(&m->unanswered);
        mem_free(m);
        return NULL;
}

void scheduler_memory_keep_if(struct scheduler_memory *m, bool (*keep)(void *ctx, const char *key), void *ctx)
{
        map_for_each(&m->unanswered, e) {
                AUTO_FREE char *placement = mem_strndup(e->key, strcspn(e->key, " "));

                if (!placement || !keep(ctx, placement))
                        map_remove(&m->unanswered, e->key);
        }
}

/* ---- the metrics (spec 15) ---- */

/* What no retry mends waits for the next event. */
static void measure(struct reconcile *rc, int64_t began_ms, int code)
{
        struct hub_agent *a = agent_of(rc);

        metric_observe(a->metrics, METRIC_SCHEDULING_CYCLES, (double)(loop_now_ms(a->world->loop) - began_ms),
                       (const char *const[]){ code < 0 ? "true" : "false",
                                              code < 0 && code != ERR_INVALID ? "true" : "false" });
}

/* ---- a placement goes (spec 5.2) ---- */

static int release_binding(struct reconcile *rc, const struct object *b)
{
        int code = rc_set_finalizer(rc, b, FINALIZER_SCHEDULER_BINDING, false, NULL);

        return code == ERR_NOT_FOUND ? 0 : code;
}

struct dropping {
        struct object_list bindings;
        bool abandons; /* what they placed stays on the clusters */
};

static int drop_binding(struct reconcile *rc, void *ctx, size_t i)
{
        const struct dropping *d = ctx;
        const struct object *b = d->bindings.at[i];

        /* The binding outlives its placement: it says itself what becomes of what it placed. Of one that goes
         * already that is decided. */
        if (d->abandons && !is_deleting(b))
                TRY(rc_annotate(rc, b, ANNOTATION_DELETE_POLICY, DELETE_ABANDON, &b));
        TRY(release_binding(rc, b));
        return is_deleting(b) ? 0 : rc_delete_any_version(rc, b);
}

static bool abandons(const struct object *placement)
{
        const struct placement_spec *spec = ((const struct placement *)placement)->spec;
        const struct delete_strategy *s = spec && spec->strategy ? spec->strategy->delete_strategy : NULL;

        return s && text_equal(s->propagation_policy, DELETE_ABANDON);
}

static int clean_up(struct reconcile *rc, const struct scope *scope, const struct object *p)
{
        struct dropping d = { .abandons = abandons(p) };

        if (!object_has_finalizer(p, FINALIZER_SCHEDULER))
                return 0;
        TRY(cache_by_index(rc, scope->binding, INDEX_OWNER, rc->key, &d.bindings));
        TRY(rc_for_each(rc, d.bindings.n, drop_binding, &d));
        return rc_set_finalizer(rc, p, FINALIZER_SCHEDULER, false, NULL);
}

/* ---- carrying out a plan (spec 13.2) ---- */

struct carrying {
        const struct schedule_input *in;
        const struct schedule_plan *plan;
};

static int release(struct reconcile *rc, void *ctx, size_t i)
{
        const struct carrying *carrying = ctx;

        return release_binding(rc, &carrying->plan->release.at[i]->object);
}

/* A binding's name is made of what the cache shows, which may move on while nobody knows whether a binding
 * was made: the next attempt takes the same name, so that there cannot be two. */
static int note_answer(struct reconcile *rc, const char *key, const char *name, int code)
{
        struct map *unanswered = &agent_of(rc)->scheduler->unanswered;
        bool refused = code < 0 && error_is_refusal(rc->err);
        char *copy;

        if (code == 0 || refused) {
                map_remove(unanswered, key);
                return code == ERR_EXISTS ? 0 : code;
        }
        copy = mem_strdup(name);
        if (copy && map_put(unanswered, key, copy) == 0)
                return code;
        mem_free(copy);
        return error_no_memory(rc->err);
}

static int create_binding(struct reconcile *rc, void *ctx, size_t i)
{
        const struct carrying *carrying = ctx;
        const struct schedule_input *in = carrying->in;
        const struct schedule_create *c = &carrying->plan->create[i];
        AUTO_KEY struct key key = KEY_EMPTY;
        const char *name;
        struct binding *b;

        if (key_join(&key, rc->key, ' ', c->cluster) < 0)
                return error_no_memory(rc->err);
        name = map_get(&agent_of(rc)->scheduler->unanswered, key.text);
        name = arena_strdup(rc->arena, name ? name : c->name);
        b = name ? (struct binding *)object_new(scope_of(in->ns)->binding, in->ns, name, rc->arena) : NULL;
        if (!b || !(b->spec = ARENA_NEW(rc->arena, struct binding_spec)) ||
            set_label(&b->object, LABEL_PARENT_PLACEMENT, in->placement_name, rc->arena) < 0 ||
            object_add_finalizer(&b->object, FINALIZER_SCHEDULER_BINDING, rc->arena) < 0)
                return error_no_memory(rc->err);
        b->spec->state = BINDING_SCHEDULED;
        b->spec->resource_snapshot_name = "";
        b->spec->scheduling_policy_snapshot_name = in->snapshot->object.meta.name;
        b->spec->target_cluster = c->cluster;
        b->spec->cluster_decision = (struct cluster_decision *)&c->decision;
        return note_answer(rc, key.text, name, rc_create(rc, &b->object, NULL));
}

static int patch_binding(struct reconcile *rc, void *ctx, size_t i)
{
        const struct carrying *carrying = ctx;
        const struct schedule_patch *p = &carrying->plan->patch[i];
        struct binding *wanted = (struct binding *)object_copy(&p->now->object, rc->arena);

        if (!wanted)
                return error_no_memory(rc->err);
        wanted->spec->state = p->state;
        wanted->spec->scheduling_policy_snapshot_name = carrying->in->snapshot->object.meta.name;
        wanted->spec->cluster_decision = (struct cluster_decision *)&p->decision;
        string_map_remove(&wanted->object.meta.annotations, ANNOTATION_PREVIOUS_BINDING_STATE);
        return rc_patch_diff(rc, &p->now->object, &wanted->object, OBJECT_META_SPEC, NULL);
}

static int unschedule(struct reconcile *rc, const struct binding *b)
{
        struct binding *wanted = (struct binding *)object_copy(&b->object, rc->arena);

        if (!wanted ||
            set_annotation(&wanted->object, ANNOTATION_PREVIOUS_BINDING_STATE, b->spec->state, rc->arena) < 0)
                return error_no_memory(rc->err);
        wanted->spec->state = BINDING_UNSCHEDULED;
        return rc_patch_diff(rc, &b->object, &wanted->object, OBJECT_META_SPEC, NULL);
}

static int unschedule_departed(struct reconcile *rc, void *ctx, size_t i)
{
        const struct schedule_plan *p = ((const struct carrying *)ctx)->plan;

        return unschedule(rc, p->unschedule.at[i]);
}

static int unschedule_rest(struct reconcile *rc, void *ctx, size_t i)
{
        const struct schedule_plan *p = ((const struct carrying *)ctx)->plan;

        return unschedule(rc, p->unschedule.at[p->n_departed + i]);
}

static int report(struct reconcile *rc, const struct schedule_input *in, const struct schedule_plan *p)
{
        struct policy_snapshot *wanted;

        if (!p->report || !p->write_status)
                return 0;
        wanted = (struct policy_snapshot *)object_copy(&in->snapshot->object, rc->arena);
        if (!wanted ||
            (!wanted->status && !(wanted->status = ARENA_NEW(rc->arena, struct policy_snapshot_status))))
                return error_no_memory(rc->err);
        wanted->status->observed_crp_generation = OPT_INT(p->observed_generation);
        wanted->status->target_clusters =
                (struct cluster_decision_list){ p->decisions, (uint32_t)p->n_decisions, p->n_decisions > 0 };
        if (condition_set(&wanted->status->conditions, &p->scheduled, in->now_ms, rc->arena) < 0)
                return error_no_memory(rc->err);
        return rc_patch_diff(rc, &in->snapshot->object, &wanted->object, OBJECT_STATUS, NULL);
}

static int carry_out(struct reconcile *rc, const struct schedule_input *in, const struct schedule_plan *p)
{
        struct carrying carrying = { in, p };

        TRY(rc_for_each(rc, p->release.n, release, &carrying));
        TRY(rc_for_each(rc, p->n_departed, unschedule_departed, &carrying));
        TRY(rc_for_each(rc, p->n_create, create_binding, &carrying));
        TRY(rc_for_each(rc, p->n_patch, patch_binding, &carrying));
        TRY(rc_for_each(rc, p->unschedule.n - p->n_departed, unschedule_rest, &carrying));
        return report(rc, in, p);
}

/* ---- what members report unreadably ---- */

#define EVENT_PROPERTY_UNREADABLE "PropertyUnreadable"

/* Told on the MemberCluster once per value, whichever placements look at it and how often. */
static void tell_unreadable(struct reconcile *rc, const struct unreadable_property *u)
{
        struct map *told = &agent_of(rc)->scheduler->unreadable_told;
        AUTO_KEY struct key key = KEY_EMPTY;
        char *value;

        if (key_join(&key, u->cluster->object.meta.name, ' ', u->property) < 0 ||
            text_equal(map_get(told, key.text), u->value))
                return;
        value = mem_strdup(u->value);
        if (!value || map_put(told, key.text, value) < 0) { /* told at the next look */
                mem_free(value);
                return;
        }
        log_warn(&rc->log, "a member reports a property that is no quantity; it counts as absent", "member",
                 u->cluster->object.meta.name, "property", u->property);
        rc_event(rc, &u->cluster->object, EVENT_TYPE_WARNING, EVENT_PROPERTY_UNREADABLE,
                 "property \"%s\" is reported with a value that is no quantity; placements that look at it "
                 "find it absent on this member cluster",
                 u->property);
}

/* What is reported otherwise by now may be told again. */
static void forget_unreadable(struct hub_agent *a, const struct member_cluster *c, bool gone)
{
        const char *name = c->object.meta.name;
        size_t n = strlen(name);

        map_for_each(&a->scheduler->unreadable_told, e)
                if (strncmp(e->key, name, n) == 0 && e->key[n] == ' ' &&
                    (gone || !text_equal(cluster_property_text(c, e->key + n + 1), e->value)))
                        map_remove(&a->scheduler->unreadable_told, e->key);
}

/* ---- clusters that were heard of too long ago ---- */

static int note_silent(struct reconcile *rc, const struct schedule_plan *p)
{
        struct hub_agent *a = agent_of(rc);

        for (size_t i = 0; i < p->n_silent; i++)
                if (map_put(&a->scheduler->turned_away, p->silent[i]->object.meta.name, a) < 0)
                        return error_no_memory(rc->err);
        return 0;
}

/* ---- reconcile ---- */

/* The one snapshot marked latest; NULL when there is none or more than one: a later event resumes. */
static const struct policy_snapshot *active_snapshot(const struct object_list *all)
{
        const struct policy_snapshot *found = NULL;

        for (size_t i = 0; i < all->n; i++) {
                if (!text_equal(label_of(all->at[i], LABEL_IS_LATEST_SNAPSHOT), LABEL_TRUE))
                        continue;
                if (found)
                        return NULL;
                found = (const struct policy_snapshot *)all->at[i];
        }
        return found;
}

static int release_if_going(struct reconcile *rc, void *ctx, size_t i)
{
        const struct object *b = ((const struct object_list *)ctx)->at[i];

        return is_deleting(b) && object_has_finalizer(b, FINALIZER_SCHEDULER_BINDING) ? release_binding(rc, b)
                                                                                      : 0;
}

/* What goes needs no policy to go by: there may be none for long, while a placement's selectors are invalid.
 */
static int let_go(struct reconcile *rc, const struct scope *scope)
{
        struct object_list bindings;

        TRY(cache_by_index_without_status(rc, scope->binding, INDEX_OWNER, rc->key, &bindings));
        return rc_for_each(rc, bindings.n, release_if_going, &bindings);
}

static const struct placement_policy *asked_policy(const struct object *placement)
{
        const struct placement_spec *spec = ((const struct placement *)placement)->spec;

        return spec ? spec->policy : NULL;
}

static struct opt_int asked_number(const struct object *placement)
{
        const struct placement_policy *policy = asked_policy(placement);

        return policy ? policy->number_of_clusters : (struct opt_int){ .set = false };
}

/* An agent that was away finds the snapshot of what was asked for when it left. */
static int find_outdated(struct reconcile *rc, const struct object *placement, struct schedule_input *in)
{
        bool is;

        TRY(policy_snapshot_is_of(rc->arena, in->snapshot, asked_policy(placement), &is, rc->err));
        in->outdated = !is;
        return 0;
}

static int cycle(struct reconcile *rc, const struct scope *scope, struct schedule_input *in)
{
        struct given given = NONE_GIVEN;
        struct schedule_plan plan;

        TRY(cache_list(rc, &member_cluster_kind, &in->clusters));
        TRY(cache_by_index_without_status(rc, scope->binding, INDEX_OWNER, rc->key, &in->bindings));
        given_by_bindings(&given, rc->name, &in->bindings);
        TRY(check_is_newest(rc, &in->snapshot->object, LABEL_POLICY_INDEX, given.policies));
        TRY(schedule_cycle(rc->arena, in, &plan, rc->err));
        for (size_t i = 0; i < plan.n_unreadable; i++)
                tell_unreadable(rc, &plan.unreadable[i]);
        TRY(note_silent(rc, &plan));
        return carry_out(rc, in, &plan);
}

static int schedule(struct reconcile *rc, const struct scope *scope, const struct object *p)
{
        struct schedule_input in = { .placement_name = rc->name,
                                     .placement_uid = p->meta.uid,
                                     .ns = rc->ns,
                                     .asked = asked_number(p),
                                     .silence_is_told = true,
                                     .heartbeat_grace_ms = agent_of(rc)->options->heartbeat_grace_ms,
                                     .now_ms = rc->now_ms };
        int64_t began_ms = loop_now_ms(agent_of(rc)->world->loop);
        struct object_list snapshots;
        int code;

        TRY(cache_by_index(rc, scope->policy_snapshot, INDEX_OWNER, rc->key, &snapshots));
        drop_of_predecessors(&snapshots, p);
        in.snapshot = active_snapshot(&snapshots);
        if (!in.snapshot)
                return let_go(rc, scope);
        TRY(find_outdated(rc, p, &in));
        TRY(rc_set_finalizer(rc, p, FINALIZER_SCHEDULER, true, NULL));
        code = cycle(rc, scope, &in);
        measure(rc, began_ms, code);
        return code;
}

static struct outcome reconcile(struct reconcile *rc)
{
        const struct scope *scope = scope_of(rc->ns);
        const struct object *p;
        int code = cache_get(rc, scope->placement, rc->ns, rc->name, &p);

        metric_add(agent_of(rc)->metrics, METRIC_SCHEDULING_WORKERS, 1, NULL);
        if (code == 0 && p)
                code = is_deleting(p) ? clean_up(rc, scope, p) : schedule(rc, scope, p);
        metric_add(agent_of(rc)->metrics, METRIC_SCHEDULING_WORKERS, -1, NULL);
        return code < 0 ? failed(rc->err) : done();
}

/* ---- watches ---- */

static bool is_latest(const struct object *snapshot)
{
        return !is_deleting(snapshot) && label_is_true(snapshot, LABEL_IS_LATEST_SNAPSHOT);
}

/* Of two that are marked latest neither counts, and what happened meanwhile was not decided on. */
static void emit_if_one_is_left(struct hub_agent *a, const struct object *unmarked, key_emit emit, void *to)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *owner = label_of(unmarked, LABEL_PARENT_PLACEMENT);
        struct object_list all;

        if (text_empty(owner) ||
            objects_of_owner(a, unmarked->kind, unmarked->meta.ns, owner, &arena, &all) < 0)
                return;
        for (size_t i = 0; i < all.n; i++)
                if (is_latest(all.at[i]) && !text_equal(all.at[i]->meta.name, unmarked->meta.name))
                        return emit_owner(unmarked, emit, to);
}

static void map_policy_snapshot(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        bool gone = e->type == INFORMER_DELETED;

        if (!gone && is_latest(e->now))
                emit_owner(e->now, emit, to);
        else if (e->old && label_is_true(e->old, LABEL_IS_LATEST_SNAPSHOT))
                emit_if_one_is_left(agent, e->now, emit, to);
}

/* A binding may come to light after the cycle that made it, when the answer to its creation was lost and the
 * watch lags behind: another cluster may have been chosen in between. */
static void map_binding(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        if (e->type != INFORMER_UPDATED || (is_deleting(e->now) && !is_deleting(e->old)))
                map_to_owner(agent, e, emit, to);
}

static bool is_fully_scheduled(const struct placement *p, const struct scope *scope)
{
        char type[64];

        snprintf(type, sizeof(type), "%sScheduled", scope->condition_prefix);
        return p->status && condition_is_true(&p->status->conditions, type, p->object.meta.generation);
}

/* What was said of a placement while its status did not yet show that clusters are missing was not heard: it
 * was taken to need none. */
static void map_unfulfilled(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        const struct scope *scope = scope_of(e->now->meta.ns);
        AUTO_KEY struct key key = KEY_EMPTY;

        if (e->type == INFORMER_UPDATED && is_fully_scheduled((const struct placement *)e->old, scope) &&
            !is_fully_scheduled((const struct placement *)e->now, scope))
                emit(to, key_text(&key, e->now->meta.ns, e->now->meta.name));
}

static bool ask_for_the_same(const struct object *a, const struct object *b)
{
        char of_a[65], of_b[65];

        return policy_hash(asked_policy(a), of_a, NULL) == 0 &&
               policy_hash(asked_policy(b), of_b, NULL) == 0 && text_equal(of_a, of_b);
}

/* What is asked for now may be what the snapshot was told before, while less or something else was. */
static void map_asked_anew(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        AUTO_KEY struct key key = KEY_EMPTY;

        if (e->type == INFORMER_UPDATED &&
            (asked_number(e->now).value > asked_number(e->old).value || !ask_for_the_same(e->old, e->now)))
                emit(to, key_text(&key, e->now->meta.ns, e->now->meta.name));
}

static bool may_gain_clusters(const struct placement *p, const struct scope *scope)
{
        const struct placement_policy *policy = p->spec ? p->spec->policy : NULL;

        return !policy || text_empty(policy->placement_type) ||
               text_equal(policy->placement_type, PLACEMENT_PICK_ALL) || !is_fully_scheduled(p, scope);
}

static bool is_concerned(const struct placement *p, const struct scope *scope, unsigned changes)
{
        if (changes & CHANGED_GONE)
                return true;
        if (!may_gain_clusters(p, scope))
                return false;
        return (changes & (CHANGED_CLUSTER | CHANGED_BACK)) ||
               ((changes & CHANGED_NAMESPACES) && scope->namespaced) ||
               ((changes & CHANGED_PROPERTIES) && p->spec && policy_reads_properties(p->spec->policy));
}

static void emit_placements(struct hub_agent *a, const struct scope *scope, unsigned changes, key_emit emit,
                            void *to)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list list;
        AUTO_KEY struct key key = KEY_EMPTY;

        if (informer_list(manager_informer(a->manager, scope->placement), &arena, &list) < 0)
                return;
        for (size_t i = 0; i < list.n; i++)
                if (is_concerned((const struct placement *)list.at[i], scope, changes))
                        emit(to, key_text(&key, list.at[i]->meta.ns, list.at[i]->meta.name));
}

static void emit_all(struct hub_agent *a, unsigned changes, key_emit emit, void *to)
{
        emit_placements(a, scope_of(NULL), changes, emit, to);
        emit_placements(a, scope_of("any"), changes, emit, to);
}

static struct patience patience_now(const struct hub_agent *a)
{
        return (struct patience){ loop_wall_ms(a->world->loop), true, a->options->heartbeat_grace_ms };
}

/* By the clock of a later event it may look as if it had been eligible by now. Who turns it away for its
 * silence alone notes that himself: note_silent(). */
static int note_turned_away(struct hub_agent *a, const struct member_cluster *c)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct patience p = patience_now(a);
        struct ineligibility why;

        return cluster_is_eligible(c, &p, &arena, &why) || why.silence
                       ? 0
                       : map_put(&a->scheduler->turned_away, c->object.meta.name, a);
}

/* Many come back at once, when what kept them away is over: one cycle is enough for those of a moment. */
static void emit_later(void *agent, const char *key)
{
        const struct hub_agent *a = agent;

        if (key)
                manager_enqueue_after(a->manager, &scheduler_controller, key, BACK_COLLECT_MS);
        else
                manager_enqueue(a->manager, &scheduler_controller, NULL, QUEUE_NORMAL); /* no memory */
}

static void map_member_cluster(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        struct hub_agent *a = agent;
        bool gone = e->type == INFORMER_DELETED;
        const struct member_cluster *before = gone ? NULL : (const struct member_cluster *)e->old;
        const struct member_cluster *after = gone ? NULL : (const struct member_cluster *)e->now;
        const char *name = e->now->meta.name;
        struct patience p = patience_now(a);
        unsigned changes = cluster_changes(before, after, map_has(&a->scheduler->turned_away, name), &p);

        if (changes & (CHANGED_CLUSTER | CHANGED_BACK | CHANGED_GONE)) /* who is still silent is noted anew */
                map_remove(&a->scheduler->turned_away, name);
        if (after && note_turned_away(a, after) < 0)
                emit(to, NULL);
        if (changes & (CHANGED_PROPERTIES | CHANGED_GONE))
                forget_unreadable(a, (const struct member_cluster *)e->now, gone);
        if (!changes)
                return;
        if (changes == CHANGED_BACK)
                return emit_all(a, changes, emit_later, a);
        emit_all(a, changes, emit, to);
}

static const struct watch watches[] = {
        { &cluster_scheduling_policy_snapshot_kind, ON_SPEC | ON_META | ON_DELETION, map_policy_snapshot },
        { &scheduling_policy_snapshot_kind, ON_SPEC | ON_META | ON_DELETION, map_policy_snapshot },
        { &cluster_resource_placement_kind, ON_DELETION, NULL },
        { &resource_placement_kind, ON_DELETION, NULL },
        { &cluster_resource_placement_kind, ON_SPEC, map_asked_anew },
        { &resource_placement_kind, ON_SPEC, map_asked_anew },
        { &cluster_resource_placement_kind, ON_STATUS, map_unfulfilled },
        { &resource_placement_kind, ON_STATUS, map_unfulfilled },
        { &cluster_resource_binding_kind, ON_SPEC | ON_DELETION, map_binding },
        { &resource_binding_kind, ON_SPEC | ON_DELETION, map_binding },
        { &member_cluster_kind, ON_ALL, map_member_cluster },
};

const struct controller scheduler_controller = {
        .name = "scheduler",
        .placement_of = placement_of_self,
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
        .early = EARLY_PLACEMENTS,
};
