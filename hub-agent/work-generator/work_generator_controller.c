/* Works of a binding, and the binding's status from them. spec/rollout-and-work.md 6. */
#include "common/base/memory.h"
#include "hub-agent/agent.h"
#include "hub-agent/override/load.h"
#include "hub-agent/report-back/report_back.h"
#include "hub-agent/rollout/rollout.h"
#include "hub-agent/shards.h"
#include "hub-agent/work-generator/binding_memory.h"
#include "hub-agent/work-generator/rendering.h"
#include "hub-agent/work-generator/work_generator.h"
#include "hub-agent/work-generator/work_index.h"

#define DELETION_FALLBACK_MS 30000
#define UNSEEN_MS 1000   /* until a Work that the cache lacks is asked for again */
#define WAITING_MS 15000 /* what moves on by itself is told when it takes longer */

struct pass {
        struct reconcile *rc;
        struct hub_agent *agent;
        const struct scope *scope;
        const struct binding *b;
        const struct placement *placement; /* NULL = it is gone */
        struct binding_memory *memory;
        struct object_list works; /* live ones */
        struct override_applier overrides;
        const char *labels; /* override_labels_hash() of them; NULL: not known */
};

/* ---- memory ---- */

static void clear_memory(void *record)
{
        struct binding_memory *m = record;

        hold_let_go(&m->hold);
        mem_free(m->rollout_message);
        known_works_free(m);
        generations_free(m);
}

/* Whether what is left is that this process has looked at the Works. */
static bool is_at_rest(const void *record)
{
        const struct binding_memory *m = record;

        return m->passed && !m->hold.held && !m->hold.dirty_since_ms && !m->rollout_generation &&
               !m->rollout_message && !m->creation_in_doubt && !m->works_changed && !m->ahead_until_ms &&
               !m->waiting_since_ms && m->generations.n == 0 && map_count(&m->known_works) == 0;
}

static void wake(void *record)
{
        ((struct binding_memory *)record)->passed = true;
}
const struct memory_kind binding_memory_kind = { sizeof(struct binding_memory), clear_memory, is_at_rest,
                                                 wake };

void binding_rollout_started(struct reconcile *rc, const struct object *b, const char *message)
{
        struct hub_agent *a = agent_of(rc);
        struct binding_memory *m = memory_of(&a->bindings, b, rc->arena);
        AUTO_KEY struct key key = KEY_EMPTY;
        char *copy = NULL;

        if (!m || (message && !text_equal(message, m->rollout_message) && !(copy = mem_strdup(message))))
                return;
        if (copy || !message) {
                mem_free(m->rollout_message);
                m->rollout_message = copy;
        }
        m->rollout_generation = b->meta.generation;
        manager_enqueue(a->manager, &work_generator_controller, key_text(&key, b->meta.ns, b->meta.name),
                        QUEUE_NORMAL);
}

const char *binding_message_due(struct reconcile *rc, const struct object *b)
{
        const struct binding_memory *m = memory_of(&agent_of(rc)->bindings, b, rc->arena);

        return m && m->rollout_generation == b->meta.generation ? m->rollout_message : NULL;
}

/* ---- index and watch of Works ---- */

void emit_work_binding(const struct object *o, index_emit emit, void *to)
{
        const char *name = label_of(o, LABEL_PARENT_BINDING);
        AUTO_KEY struct key key = KEY_EMPTY;

        if (!text_empty(name))
                emit(to, key_text(&key, label_of(o, LABEL_PARENT_PLACEMENT_NAMESPACE), name));
}

static void map_work(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        emit_work_binding(e->now, emit, to);
}

/* Labels of a Work can be written by the member in whose namespace it is: one that names the binding of
 * another cluster must neither speak for that one nor hold it. */
static bool is_in_target(const struct binding *b, const struct object *work)
{
        const char *ns = or_empty(work->meta.ns);

        if (!b)
                return true; /* nobody's: they are to go wherever they are */
        return b->spec && text_starts_with(ns, NAMESPACE_MEMBER_PREFIX) &&
               text_equal(ns + strlen(NAMESPACE_MEMBER_PREFIX), b->spec->target_cluster);
}

int works_of_binding(struct reconcile *rc, const char *key, const struct binding *b, bool terminating_too,
                     struct object_list *ret)
{
        struct object_list all;
        size_t n = 0;

        TRY(cache_by_index(rc, &work_kind, INDEX_BINDING, key, &all));
        for (size_t i = 0; i < all.n; i++)
                if ((terminating_too || !is_deleting(all.at[i])) && is_in_target(b, all.at[i]))
                        all.at[n++] = all.at[i];
        *ret = (struct object_list){ all.at, n };
        return 0;
}

static int list_works(struct pass *s, bool terminating_too, struct object_list *ret)
{
        return works_of_binding(s->rc, s->rc->key, s->b, terminating_too, ret);
}

/* ---- deletion (spec 6.10) ---- */

/* The member has to know before the Work goes. */
static int drop_work(struct pass *s, const struct object *work)
{
        const char *policy = annotation_of(&s->b->object, ANNOTATION_DELETE_POLICY);

        if (is_deleting(work))
                return 0;
        if (text_equal(policy, DELETE_ABANDON))
                TRY(rc_annotate(s->rc, work, ANNOTATION_DELETE_POLICY, policy, NULL));
        return rc_delete_any_version(s->rc, work);
}

struct unseen {
        struct pass *pass;
        size_t n;
};

static int drop_unseen(void *ctx, struct object *work)
{
        struct unseen *u = ctx;

        if (!text_equal(or_empty(label_of(work, LABEL_PARENT_PLACEMENT_NAMESPACE)),
                        or_empty(u->pass->rc->ns)))
                return 0;
        u->n++;
        return drop_work(u->pass, work);
}

/* Works that a request made which nobody answered, and that the cache does not have. */
static int drop_unseen_works(struct pass *s, size_t *ret_n)
{
        struct kube_list_options o = { .flags = DECODE_PROJECTION };
        struct unseen u = { .pass = s };

        *ret_n = 0;
        if (!s->memory->creation_in_doubt || !s->b->spec)
                return 0;
        o.ns = arena_printf(s->rc->arena, NAME_MEMBER_NAMESPACE, s->b->spec->target_cluster);
        o.label_selector = arena_printf(s->rc->arena, "%s=%s", LABEL_PARENT_BINDING, s->rc->name);
        if (!o.ns || !o.label_selector)
                return error_no_memory(s->rc->err);
        TRY(kube_list_resource(s->rc->kube, &work_kind, NULL, &o, drop_unseen, &u, NULL, s->rc->err));
        s->memory->creation_in_doubt = u.n > 0;
        *ret_n = u.n;
        return 0;
}

/* The binding stays until its Works are really gone, so that what is left on a cluster stays visible; a
 * departed cluster has nobody who could take them away. */
static struct outcome clean_up(struct pass *s)
{
        bool has_cluster = false;
        struct object_list all;
        size_t unseen = 0;

        if (s->b->spec && cache_has(s->rc, &member_cluster_kind, NULL, or_empty(s->b->spec->target_cluster),
                                    &has_cluster) < 0)
                return failed(s->rc->err);
        if (cache_await_filled(s->rc, &work_kind) < 0 || list_works(s, true, &all) < 0)
                return failed(s->rc->err);
        for (size_t i = 0; i < all.n; i++)
                if (drop_work(s, all.at[i]) < 0)
                        return failed(s->rc->err);
        if (all.n == 0 && has_cluster && drop_unseen_works(s, &unseen) < 0)
                return failed(s->rc->err);
        if (all.n + unseen > 0 && has_cluster)
                return again_after(unseen > 0 ? UNSEEN_MS : DELETION_FALLBACK_MS);
        if (rc_set_finalizer(s->rc, &s->b->object, FINALIZER_WORK, false, NULL) < 0)
                return failed(s->rc->err);
        memory_drop(&s->agent->bindings, s->rc->key);
        return done();
}

/* Works that outlived their binding: made by a request that was still on its way when the binding went, or
 * not in the cache of the agent that let it go. Nobody else would take them away. That the binding is not in
 * the cache proves nothing: the server is asked. */
static struct outcome remove_orphans(struct pass *s)
{
        struct object_list all;
        struct object *b;
        int code;

        if (list_works(s, false, &all) < 0)
                return failed(s->rc->err);
        if (all.n == 0)
                return done();
        code = kube_get(s->rc->kube, s->scope->binding, s->rc->ns, s->rc->name, s->rc->arena, &b, s->rc->err);
        if (code != ERR_NOT_FOUND)
                return code < 0 ? failed(s->rc->err) : done();
        for (size_t i = 0; i < all.n; i++) {
                if (text_empty(label_of(all.at[i], LABEL_PARENT_PLACEMENT)))
                        continue;
                log_info(&s->rc->log, "deleting a Work without a binding", "namespace", all.at[i]->meta.ns,
                         "work", all.at[i]->meta.name);
                if (rc_delete_any_version(s->rc, all.at[i]) < 0)
                        return failed(s->rc->err);
        }
        return done();
}

/* ---- syncing Works (spec 6.3) ---- */

/* A Work that somebody else changed is given its whole content again, as if it were of another snapshot. */
static int doubt_changed_works(struct pass *s)
{
        for (size_t i = 0; i < s->works.n; i++) {
                struct object *doubted;

                if (work_is_as_left(s->memory, s->works.at[i]))
                        continue;
                doubted = object_copy(s->works.at[i], s->rc->arena);
                if (!doubted)
                        return error_no_memory(s->rc->err);
                string_map_remove(&doubted->meta.labels, LABEL_PARENT_RESOURCE_SNAPSHOT_INDEX);
                string_map_remove(&doubted->meta.annotations, ANNOTATION_PARENT_RESOURCE_SNAPSHOT);
                s->works.at[i] = doubted;
        }
        return 0;
}

static void tell(struct pass *s, const struct object *about, const char *reason, const char *message)
{
        const char *source =
                s->rc->ns ? "resource binding work generator" : "cluster resource binding work generator";

        event_record_by(manager_events(s->rc->manager), source, about, EVENT_TYPE_WARNING, reason, "%s",
                        message);
}

/* That it was not what it should be shows only now. */
static void tell_restored(struct pass *s, const struct object *work)
{
        log_warn(&s->rc->log, "somebody changed what a Work holds, and it is written anew", "namespace",
                 work->meta.ns, "work", work->meta.name);
        tell(s, work, EVENT_WORK_RESTORED, "somebody changed what the Work holds; it is written anew");
}

/* What was foreseen is nearly always true: then nothing is written. */
static int keep_promise(struct pass *s, const struct object *stored)
{
        struct object *wanted;

        if (work_is_as_left(s->memory, stored))
                return 0;
        wanted = object_copy(stored, s->rc->arena);
        if (!wanted || work_keep_promise(stored, wanted, s->rc->arena) < 0)
                return error_no_memory(s->rc->err);
        return rc_patch_diff(s->rc, stored, wanted, OBJECT_META_SPEC, NULL);
}

static int patch_work(struct pass *s, const struct work_write *w, bool content, bool *changed)
{
        const struct object *now = &w->now->object, *stored;
        bool as_left = work_is_as_left(s->memory, now);

        if (work_promise(w, content, as_left, s->rc->arena) < 0)
                return error_no_memory(s->rc->err);
        TRY(rc_patch_diff(s->rc, now, &w->wanted->object, OBJECT_META_SPEC, &stored));
        if (content && !as_left && stored->meta.generation != now->meta.generation)
                tell_restored(s, stored);
        *changed = *changed || !text_equal(stored->meta.resource_version, now->meta.resource_version);
        return content || as_left ? keep_promise(s, stored) : 0;
}

static int create_work(struct pass *s, const struct work_write *w)
{
        const struct object *stored;
        int code;

        if (work_promise(w, true, true, s->rc->arena) < 0)
                return error_no_memory(s->rc->err);
        code = rc_create(s->rc, &w->wanted->object, &stored);
        if (code < 0) {
                s->memory->creation_in_doubt |=
                        s->rc->err->http_status == 0 || s->rc->err->http_status >= 500;
                return code;
        }
        return keep_promise(s, stored);
}

/* `content`: the plan gives Works all they should hold. *changed becomes true if any Work did. */
static int write_works(struct pass *s, const struct work_plan *plan, bool content, bool *changed)
{
        for (size_t i = 0; i < plan->n; i++) {
                const struct work_write *w = &plan->at[i];

                if (w->now && w->wanted) {
                        TRY(patch_work(s, w, content, changed));
                        continue;
                }
                *changed = true;
                TRY(w->now ? rc_delete(s->rc, &w->now->object) : create_work(s, w));
        }
        return 0;
}

static int find_placement(struct pass *s)
{
        const struct object *p;

        TRY(cache_get(s->rc, s->scope->placement, s->b->object.meta.ns,
                      or_empty(label_of(&s->b->object, LABEL_PARENT_PLACEMENT)), &p));
        s->placement = (const struct placement *)p;
        return 0;
}

/* NULL in *ret if it is not there. A placement that was made anew has snapshots of the same names as before:
 * what the cache still has of the former one must not be rendered, as Works of equal index are not compared
 * again. */
static int find_master(struct pass *s, const struct object **ret)
{
        TRY(cache_get(s->rc, s->scope->resource_snapshot, s->b->object.meta.ns,
                      s->b->spec->resource_snapshot_name, ret));
        if (*ret && s->placement && is_of_predecessor(*ret, &s->placement->object))
                return error_set(s->rc->err, ERR_RETRY, "snapshot \"%s\" is of a former placement",
                                 s->b->spec->resource_snapshot_name);
        return 0;
}

static bool carry_snapshot(const struct object_list *works, const char *snapshot)
{
        for (size_t i = 0; i < works->n; i++)
                if (!text_equal(annotation_of(works->at[i], ANNOTATION_PARENT_RESOURCE_SNAPSHOT), snapshot))
                        return false;
        return works->n > 0;
}

/* One view of the cluster's labels for both: Works are marked with what they are rendered from. */
static int load_overrides(struct pass *s)
{
        TRY(overrides_of_binding(s->rc, s->b, &s->overrides));
        return override_labels_hash(&s->overrides, s->rc->arena, &s->labels, s->rc->err);
}

/* Whether there is nothing to render: one plain Work per snapshot of the group, each up to date. Overrides
 * that cannot be read any more hold up only who has to render; then Works of envelopes are taken for up to
 * date by their own marks, too. */
static int nothing_to_render(struct pass *s, const struct object *master, bool *ret)
{
        const char *envelopes = annotation_of(master, ANNOTATION_NUMBER_OF_ENVELOPED_OBJECTS),
                   *index = label_of(master, LABEL_RESOURCE_INDEX);
        bool plain = !envelopes || text_equal(envelopes, "0");
        int64_t parts;
        int code;

        *ret = false;
        if (annotation_number(master, ANNOTATION_NUMBER_OF_RESOURCE_SNAPSHOTS, &parts, NULL) < 0)
                return 0;
        code = load_overrides(s);
        if (code == ERR_INVALID)
                error_clear(s->rc->err);
        else
                TRY(code);
        if (plain)
                *ret = works_in_sync(s->rc->arena, s->b, &s->works, index, (size_t)parts, s->labels);
        else if (code == ERR_INVALID)
                *ret = works_are_complete(s->rc->arena, s->b, &s->works, index);
        return 0;
}

static enum kube_scope scope_of_kind(void *agent, const char *group, const char *kind)
{
        return kube_mapper_scope(((struct hub_agent *)agent)->mapper, group, kind);
}

static bool is_allowed(void *agent, const char *group, const char *version, const char *kind)
{
        return filter_api_allowed(&((struct hub_agent *)agent)->filters, group, version, kind);
}

/* A name that another placement's Work has is told, and tried again: that one may go. Before the cache is
 * filled the server refuses the name, and with that the Work comes into the cache. */
static int refuse_taken_names(struct pass *s, const struct work_plan *plan)
{
        for (size_t i = 0; i < plan->n; i++) {
                const struct object *wanted, *other = NULL;
                const char *owner;

                if (plan->at[i].now)
                        continue;
                wanted = &plan->at[i].wanted->object;
                TRY(cache_find(s->rc, &work_kind, wanted->meta.ns, wanted->meta.name, &other));
                owner = other ? work_of_another(s->rc->arena, other, s->b) : NULL;
                if (owner)
                        return error_set(
                                s->rc->err, ERR_INTERNAL,
                                "Work \"%s\" in namespace \"%s\" belongs to %s; two placements whose "
                                "Works have one name cannot share a cluster, so one has to be renamed",
                                wanted->meta.name, wanted->meta.ns, owner);
        }
        return 0;
}

int render_for_binding(struct reconcile *rc, const struct object_list *snapshots, const struct object *master,
                       struct override_applier *overrides, struct wanted_works *ret,
                       bool *ret_override_failed)
{
        const struct resource_snapshot *const *group;
        struct manifest_override override = { override_apply, overrides };
        struct manifest_rules rules = { scope_of_kind, is_allowed, agent_of(rc) };
        size_t n;

        TRY(body_get_group(rc, snapshots, or_empty(label_of(master, LABEL_RESOURCE_INDEX)), &group, &n));
        return render_works(rc->arena, group, n, &override, &rules, ret, ret_override_failed, rc->err);
}

static int sync_rendered(struct pass *s, const struct object *master, struct sync_result *r)
{
        struct object_list snapshots;
        struct wanted_works wanted;
        struct work_plan plan;
        AUTO_KEY struct key owner = KEY_EMPTY;
        int code;

        r->override_failed = true;
        if (object_key(&owner, s->b->object.meta.ns, or_empty(label_of(master, LABEL_PARENT_PLACEMENT))) < 0)
                return error_no_memory(s->rc->err);
        TRY(cache_by_index(s->rc, s->scope->resource_snapshot, INDEX_OWNER, owner.text, &snapshots));
        if (!s->overrides.cluster)
                TRY(load_overrides(s));
        TRY(render_for_binding(s->rc, &snapshots, master, &s->overrides, &wanted, &r->override_failed));
        code = plan_works(s->rc->arena, s->b, &wanted, &s->works, s->labels, &plan, s->rc->err);
        if (code == ERR_INTERNAL)
                tell(s, &s->b->object, EVENT_DUPLICATE_ENVELOPE_WORKS, plan.duplicates);
        TRY(code);
        plan_report_back(&plan, s->placement);
        TRY(refuse_taken_names(s, &plan));
        TRY(write_works(s, &plan, true, &r->works_changed));
        return check_envelopes(s->rc->arena, &wanted, s->rc->err);
}

static int sync_works(struct pass *s, struct sync_result *r)
{
        const struct object *master;
        struct work_plan strategies;
        bool nothing;

        r->override_failed = true;
        TRY(find_placement(s));
        TRY(plan_work_strategies(s->rc->arena, s->b, s->placement, &s->works, &strategies, s->rc->err));
        TRY(write_works(s, &strategies, false, &r->works_changed));
        if (strategies.n > 0)
                TRY(list_works(s, false, &s->works));
        TRY(doubt_changed_works(s));
        TRY(find_master(s, &master));
        if (!master) {
                if (carry_snapshot(&s->works, s->b->spec->resource_snapshot_name))
                        return 0;
                return error_set(s->rc->err, ERR_INVALID, "the master resource snapshot is not found");
        }
        TRY(nothing_to_render(s, master, &nothing));
        return nothing ? 0 : sync_rendered(s, master, r);
}

/* ---- status ---- */

/* A Work or its namespace came or went meanwhile, or the namespace is going: the cache is behind, or the
 * membership controller has still to do its part. */
static bool is_moving(const struct error *err)
{
        return err->code == ERR_NOT_FOUND || err->code == ERR_EXISTS ||
               (err->code == ERR_FORBIDDEN && strstr(err->text, "because it is being terminated"));
}

/* What passes is retried without a word: within WAITING_MS what moves on by itself too. */
static bool is_passing(struct pass *s, int code)
{
        int64_t now = loop_now_ms(agent_of(s->rc)->world->loop) + 1; /* never 0 */
        struct binding_memory *m = s->memory;

        if (code == ERR_CANCELLED || error_is_retryable(code))
                return true;
        if (code == 0 || !is_moving(s->rc->err)) {
                m->waiting_since_ms = 0;
                return false;
        }
        if (!m->waiting_since_ms)
                m->waiting_since_ms = now;
        if (now - m->waiting_since_ms >= WAITING_MS)
                return false;
        s->rc->err->code = ERR_RETRY;
        return true;
}

/* What only the user can mend is told in the status and not tried again before something changes. */
static struct outcome after_sync(const struct pass *s, const struct sync_result *r)
{
        return r->code < 0 && r->code != ERR_INVALID ? failed(s->rc->err) : done();
}

/* With words of its own, an update run's, it tells when this one came: it begins anew. */
static struct condition rollout_started(const struct pass *s)
{
        const char *message =
                s->memory->rollout_message ? arena_strdup(s->rc->arena, s->memory->rollout_message) : NULL;
        struct condition c =
                make_condition(CONDITION_ROLLOUT_STARTED, CONDITION_TRUE, REASON_ROLLOUT_STARTED,
                               message ? message : rollout_true_message, s->b->object.meta.generation);

        if (message)
                c.last_transition_ms = s->rc->now_ms;
        return c;
}

static struct outcome report(struct pass *s, const struct sync_result *r)
{
        struct condition started = rollout_started(s);
        bool announced = s->memory->rollout_generation == s->b->object.meta.generation, settled;
        struct binding *wanted = binding_with_status(s->rc->arena, s->b, &s->works, r,
                                                     announced ? &started : NULL, s->rc->now_ms, &settled);
        struct error kept = *s->rc->err;
        int64_t hold;

        if (!wanted) {
                error_no_memory(s->rc->err);
                return failed(s->rc->err);
        }
        if (object_equal_part(&s->b->object, &wanted->object, OBJECT_STATUS)) {
                s->memory->works_changed = false;
                return after_sync(s, r);
        }
        hold = status_due_in(s->agent, &s->memory->hold, settled);
        if (hold > 0)
                return finish_after(hold);
        if (rc_patch_diff(s->rc, &s->b->object, &wanted->object, OBJECT_STATUS, NULL) < 0)
                return failed(s->rc->err);
        hold_written(&s->memory->hold);
        s->memory->works_changed = false;
        if (announced && s->memory->rollout_generation == s->b->object.meta.generation)
                s->memory->rollout_generation =
                        0; /* the rollout may have gone on while the write was under way */
        *s->rc->err = kept;
        return after_sync(s, r);
}

/* How long something has been available is told by the time of the condition, and rollouts are paced by that:
 * it begins anew with each change of the Works, also when they are available again before the status was
 * written in between. What changed while another process was at work shows in a condition of another
 * generation. */
static void note_changes(struct pass *s, struct sync_result *r)
{
        const struct binding_status *status = s->b->status;
        bool known = s->memory->passed || (status && fresh_condition(&status->conditions, CONDITION_AVAILABLE,
                                                                     s->b->object.meta.generation));

        s->memory->passed = true;
        s->memory->works_changed = s->memory->works_changed || r->works_changed || !known;
        r->available_anew = s->memory->works_changed;
}

/* ---- reconcile ---- */

static int ensure_finalizer(struct pass *s)
{
        const struct object *stored;

        TRY(rc_set_finalizer(s->rc, &s->b->object, FINALIZER_WORK, true, &stored));
        s->b = (const struct binding *)stored;
        return 0;
}

/* Bound: only once the rollout has spoken about this generation. Unscheduled: only if something was ever
 * placed. */
static bool is_due(const struct pass *s)
{
        int64_t generation = s->b->object.meta.generation;

        if (text_equal(s->b->spec->state, BINDING_UNSCHEDULED))
                return !text_empty(s->b->spec->resource_snapshot_name);
        if (!text_equal(s->b->spec->state, BINDING_BOUND))
                return false;
        return s->memory->rollout_generation == generation ||
               (s->b->status &&
                fresh_condition(&s->b->status->conditions, CONDITION_ROLLOUT_STARTED, generation));
}

static struct outcome generate(struct pass *s)
{
        struct reconcile *rc = s->rc;
        struct sync_result r = { 0 };
        const struct object *cluster;

        if (!s->b->spec || !is_due(s))
                return done();
        if (cache_get(rc, &member_cluster_kind, NULL, or_empty(s->b->spec->target_cluster), &cluster) < 0)
                return failed(rc->err);
        if (!cluster)
                return done();
        if (ensure_finalizer(s) < 0 || list_works(s, false, &s->works) < 0)
                return failed(rc->err);
        r.code = sync_works(s, &r);
        note_changes(s, &r);
        if (r.code < 0 && is_deleting(cluster) && is_moving(rc->err))
                return done(); /* it leaves: its Works go with the namespace, the binding by the scheduler */
        if (is_passing(s, r.code))
                return failed(rc->err);
        r.detail = r.code < 0 ? arena_strdup(rc->arena, rc->err->text) : NULL;
        if (r.works_changed && list_works(s, false, &s->works) < 0)
                return failed(rc->err);
        if (r.code == 0 && !r.works_changed && identify_works(rc, s->memory, &s->works, &r.identities) < 0)
                return failed(rc->err);
        return report(s, &r);
}

static struct outcome reconcile(struct reconcile *rc)
{
        struct pass s = { .rc = rc, .agent = agent_of(rc), .scope = scope_of(rc->ns) };
        const struct object *b;
        struct outcome o;

        if (cache_get(rc, s.scope->binding, rc->ns, rc->name, &b) < 0)
                return failed(rc->err);
        s.b = (const struct binding *)b;
        if (!s.b) {
                memory_drop(&s.agent->bindings, rc->key);
                return remove_orphans(&s);
        }
        s.memory = memory_of(&s.agent->bindings, &s.b->object, rc->arena);
        if (!s.memory) {
                error_no_memory(rc->err);
                return failed(rc->err);
        }
        if (is_deleting(&s.b->object))
                return clean_up(&s);
        o = hold_pass_ended(&s.memory->hold, generate(&s));
        memory_rest(&s.agent->bindings, rc->key, s.memory);
        return o;
}

struct relay {
        key_emit emit;
        void *to;
};

static void relay_binding(void *relay, const struct object *binding)
{
        const struct relay *r = relay;
        AUTO_KEY struct key key = KEY_EMPTY;

        r->emit(r->to, key_text(&key, binding->meta.ns, binding->meta.name));
}

/* Overrides take values from the labels: one that failed for want of a label may be made now. */
static void map_member_cluster(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        struct relay relay = { emit, to };

        if (labels_changed(e))
                for_each_binding_on(agent, e->now->meta.name, relay_binding, &relay);
}

/* A binding may name a snapshot that is not there: deleted by hand, and made again under its name. */
static void map_snapshot(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *ns = e->now->meta.ns, *placement = label_of(e->now, LABEL_PARENT_PLACEMENT);
        struct relay relay = { emit, to };
        struct object_list bindings;

        if (e->type != INFORMER_ADDED || text_empty(placement))
                return;
        if (objects_of_owner(agent, scope_of(ns)->binding, ns, placement, &arena, &bindings) < 0) {
                emit(to, NULL);
                return;
        }
        for (size_t i = 0; i < bindings.n; i++) {
                const struct binding *b = (const struct binding *)bindings.at[i];

                if (b->spec && text_equal(b->spec->resource_snapshot_name, e->now->meta.name))
                        relay_binding(&relay, &b->object);
        }
}

/* Whether the status of what it placed comes back is the Works' to say; everything else of it the rollout
 * brings. */
static void map_placement(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct object_meta *m = &e->now->meta;
        struct relay relay = { emit, to };
        struct object_list bindings;

        if (e->type != INFORMER_UPDATED ||
            equal_report_back(works_report_back((const struct placement *)e->old),
                              works_report_back((const struct placement *)e->now)))
                return;
        if (objects_of_owner(agent, scope_of(m->ns)->binding, m->ns, m->name, &arena, &bindings) < 0) {
                emit(to, NULL);
                return;
        }
        for (size_t i = 0; i < bindings.n; i++)
                relay_binding(&relay, bindings.at[i]);
}

static const struct watch watches[] = {
        { &cluster_resource_binding_kind, ON_SPEC | ON_DELETION, NULL, true, .pressing = binding_is_behind },
        { &resource_binding_kind, ON_SPEC | ON_DELETION, NULL, true, .pressing = binding_is_behind },
        { &work_kind, ON_ALL, map_work },
        { &member_cluster_kind, ON_META, map_member_cluster },
        { &cluster_resource_snapshot_kind, ON_SPEC, map_snapshot },
        { &resource_snapshot_kind, ON_SPEC, map_snapshot },
        { &cluster_resource_placement_kind, ON_SPEC, map_placement },
        { &resource_placement_kind, ON_SPEC, map_placement },
};

const struct controller work_generator_controller = {
        .name = "work-generator",
        .placement_of = placement_of_binding,
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
        .early = EARLY_OBJECTS,
        .concurrency = 100,
};
