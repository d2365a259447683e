/* Puts one agent together: clients, caches of the hub, watches of the member, state file, controllers; runs
 * them; takes them apart in reverse. One manager serves both sides: it queues, retries, elects on the member
 * cluster. The hub's caches are not the manager's, since the agent has to work while the hub is away. */
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "common/base/version.h"
#include "member-agent/agent.h"
#include "member-agent/apply/pass.h"
#include "member-agent/connections.h"
#include "member-agent/hub-token/renewal.h"
#include "member-agent/membership/membership.h"
#include "member-agent/object-set/sets.h"
#include "member-agent/properties/properties.h"
#include "member-agent/store/keeper.h"
#include "member-agent/watch/applied.h"
#include "proto/names.h"

#define DELETION_WAIT_MS (5 * 60 * 1000)
#define MAX_ALSO 8

/* ---- what the parts call ---- */

struct work_memory *agent_memory(struct member_agent *a, const char *work)
{
        struct work_memory *m = map_get(&a->memory, work);

        if (m)
                return m;
        m = NEW(struct work_memory);
        if (m && map_put(&a->memory, work, m) < 0) {
                mem_free(m);
                return NULL;
        }
        return m;
}

void agent_forget(struct member_agent *a, const char *work)
{
        map_remove(&a->memory, work);
}

bool agent_made(const struct member_agent *a, const struct object *applied_work)
{
        return text_equal(string_map_get(&applied_work->meta.annotations, ANNOTATION_OWNER), a->owner);
}

int agent_observe(struct member_agent *a, struct informer *i, const struct object *answer, struct error *err)
{
        struct object *block = NULL;
        AUTO_BUF struct buf text;

        buf_init(&text, LIMIT_WATCH_EVENT_BYTES);
        if (object_encode(answer, &text) < 0)
                return buf_status(&text, err, "object") < 0 ? ERR_LIMIT : error_no_memory(err);
        TRY(object_decode(answer->kind, (struct slice){ text.data, text.len }, informer_flags(i), a->interns,
                          &block, err));
        informer_observe(i, block);
        object_unref(block);
        return 0;
}

int agent_patch_diff(struct member_agent *a, struct kube_client *k, struct informer *i,
                     const struct object *now, const struct object *wanted, enum object_part part,
                     struct error *err)
{
        const struct kube_block_options b = { informer_flags(i), a->interns };
        struct object *block;

        TRY(kube_patch_diff_block(k, now, wanted, part, &b, &block, err));
        if (!block) /* there was no difference */
                return informer_get(i, now->meta.ns, now->meta.name) == now ? 0
                                                                            : agent_observe(a, i, now, err);
        informer_observe(i, block);
        object_unref(block);
        return 0;
}

void agent_enqueue_work(struct member_agent *a, const char *work, enum queue_priority priority)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        const char *key = arena_printf(&arena, "%s/%s", a->ns, work);

        if (key)
                manager_enqueue(a->manager, &work_applier_controller, key, priority);
        else
                log_error(a->log, "no memory to queue a Work", "work", work);
}

/* Who lost the state file finds what no Work stands for any more by what it left on the cluster. */
static void enqueue_if_orphan(struct member_agent *a, const struct object *applied_work,
                              enum queue_priority priority)
{
        const char *name = applied_work->meta.name;

        if (agent_made(a, applied_work) && !informer_get(a->works, a->ns, name))
                agent_enqueue_work(a, name, priority);
}

int agent_enqueue_all(struct member_agent *a, enum queue_priority priority, struct error *err)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct object_list works = { 0 }, applied_works = { 0 };
        const char **names;
        size_t n = 0;

        if (informer_list(a->works, &arena, &works) < 0 ||
            (a->applied_works && informer_list(a->applied_works, &arena, &applied_works) < 0))
                return error_no_memory(err);
        for (size_t i = 0; i < works.n; i++)
                agent_enqueue_work(a, works.at[i]->meta.name, priority);
        for (size_t i = 0; i < applied_works.n; i++)
                enqueue_if_orphan(a, applied_works.at[i], priority);
        TRY(store_work_names(a->store, &arena, &names, &n, err));
        for (size_t i = 0; i < n; i++)
                if (!sets_holds(names[i]))
                        agent_enqueue_work(a, names[i], priority);
        return 0;
}

/* ---- events ---- */

static enum queue_priority priority_of(const struct informer_event *e)
{
        return e->initial ? QUEUE_LOW : QUEUE_HIGH;
}

/* Neither a status nor a metadata edit wakes anyone; a deletion that begins does, and of a Work the labels
 * that say where it is from. */
static bool calls_for_work(const struct informer_event *e)
{
        return e->type != INFORMER_UPDATED || e->old->meta.generation != e->now->meta.generation ||
               e->old->meta.deletion_ms != e->now->meta.deletion_ms ||
               !text_equal(e->old->meta.uid, e->now->meta.uid);
}

static void on_work(void *ctx, const struct informer_event *e)
{
        if (calls_for_work(e))
                agent_enqueue_work(ctx, e->now->meta.name, priority_of(e));
        else if (applied_work_origin_changed(e->old, e->now))
                agent_enqueue_work(ctx, e->now->meta.name, QUEUE_LOW);
        handover_work_changed(ctx, e->now);
}

static void on_cluster(void *ctx, const struct informer_event *e)
{
        struct member_agent *a = ctx;
        struct arena arena AUTO_ARENA = ARENA_INIT;
        const char *key;

        if (!calls_for_work(e))
                return;
        key = arena_printf(&arena, "%s/%s", a->ns, e->now->meta.name);
        if (key)
                manager_enqueue(a->manager, &internal_member_cluster_controller, key, QUEUE_HIGH);
}

static void on_applied_work(void *ctx, const struct informer_event *e)
{
        if (e->type == INFORMER_DELETED)
                agent_enqueue_work(ctx, e->now->meta.name, QUEUE_HIGH);
        else if (e->type == INFORMER_ADDED)
                enqueue_if_orphan(ctx, e->now, QUEUE_LOW);
}

static void on_changed(void *ctx, const char *holder, const struct object *now)
{
        if (sets_holds(holder))
                sets_changed(ctx, holder, now);
        else
                agent_enqueue_work(ctx, holder, QUEUE_NORMAL);
}

static void on_watch_turned(void *ctx)
{
        waitq_wake_all(&((struct member_agent *)ctx)->turned);
}

/* ---- parts ---- */

static int open_store(struct member_agent *a, struct error *err)
{
        struct store_options o = { .path = a->options->state_path,
                                   .random = store_random,
                                   .random_ctx = a->loop };
        struct keeper_options keeper = { .log = a->log, .metrics = a->metrics, .path = o.path };
        struct arena arena AUTO_ARENA = ARENA_INIT;
        const char *joined = NULL;

        TRY(store_key(a->world, o.path, o.key, err));
        TRY(store_open(&o, &a->store, err));
        TRY(store_check_owner(a->store, a->options->member_name, a->options->hub->base_url, a->owner, err));
        TRY(store_meta_get(a->store, "joined", &arena, &joined, err));
        a->joined = text_equal(joined, "true");
        keeper.store = a->store;
        return keeper_start(a->loop, a->group, &keeper, &a->keeper, err);
}

static void set_clients(struct member_agent *a)
{
        a->hub_world = *a->world;
        if (a->options->hub_transport)
                a->hub_world.transport = a->options->hub_transport;
        a->hub = (struct kube_client){ .world = &a->hub_world,
                                       .endpoint = a->options->hub,
                                       .log = a->log,
                                       .field_manager = FIELD_MANAGER_MEMBER_AGENT };
        a->member = (struct kube_client){ .world = a->world,
                                          .endpoint = a->options->member,
                                          .log = a->log,
                                          .field_manager = FIELD_MANAGER_MEMBER_AGENT };
}

static int follow_hub(struct member_agent *a, struct error *err)
{
        struct informer_options works = { .kind = &work_kind,
                                          .ns = a->ns,
                                          .flags = DECODE_PROJECTION,
                                          .interns = a->interns,
                                          .rights_come_ms = MEMBERSHIP_RIGHTS_COME_MS,
                                          .whole_event = work_received,
                                          .whole_event_ctx = a };
        struct informer_options clusters = { .kind = &internal_member_cluster_kind,
                                             .ns = a->ns,
                                             .flags = DECODE_OUTLINED,
                                             .interns = a->interns,
                                             .rights_come_ms = MEMBERSHIP_RIGHTS_COME_MS };

        a->works = informer_new(&a->hub, a->group, &works);
        a->clusters = informer_new(&a->hub, a->group, &clusters);
        if (!a->works || !a->clusters || informer_add_index(a->works, INDEX_SIBLINGS, siblings_index) < 0 ||
            informer_add_handler(a->works, on_work, a) < 0 ||
            informer_add_handler(a->clusters, on_cluster, a) < 0)
                return error_no_memory(err);
        return 0;
}

static int follow_member(struct member_agent *a, struct error *err)
{
        struct informer_options applied_works = { .kind = &applied_work_kind, .interns = a->interns };
        struct applied_watch_options applied = { .kube = &a->member,
                                                 .store = a->store,
                                                 .log = a->log,
                                                 .changed = on_changed,
                                                 .turned = on_watch_turned,
                                                 .ctx = a };

        TRY(manager_add_informer(a->manager, &applied_works, &a->applied_works));
        manager_await_informer(a->manager, a->applied_works);
        if (informer_add_handler(a->applied_works, on_applied_work, a) < 0 ||
            !(a->mapper = kube_mapper_new(&a->member)))
                return error_no_memory(err);
        if (!(a->applied = applied_watch_new(a->group, &applied, err)) ||
            !(a->properties =
                      property_set_new(&a->member, a->group, &a->options->properties, a->metrics, err)))
                return err->code;
        a->follows_since_ms = loop_now_ms(a->loop);
        TRY(applied_watch_reconcile(a->applied, err));
        return sets_start(a, err);
}

static int keep_token(struct member_agent *a, struct error *err)
{
        const struct member_agent_options *o = a->options;
        const struct token_renewal_options renewal = { .hub = &a->hub,
                                                       .member = &a->member,
                                                       .log = a->log,
                                                       .metrics = a->metrics,
                                                       .path = o->hub_token_file,
                                                       .secret_ns = o->hub_token_secret_ns,
                                                       .secret_name = o->hub_token_secret };

        if (!o->hub_token_file)
                return 0;
        a->token = token_renewal_new(a->group, &renewal);
        return a->token ? 0 : error_no_memory(err);
}

static int make_manager(struct member_agent *a, struct error *err)
{
        const struct member_agent_options *o = a->options;
        struct manager_options m = { .world = a->world,
                                     .log = a->log,
                                     .kube = &a->member,
                                     .agent = a,
                                     .component = "member-agent",
                                     .metrics = a->metrics,
                                     .interns = a->interns,
                                     .lease_namespace = o->lease_namespace,
                                     .lease_name = o->lease_namespace ? LEASE_HUB_AGENT : NULL,
                                     .identity = o->identity ? o->identity : a->identity,
                                     .lease_duration_ms = o->lease_duration_ms,
                                     .renew_deadline_ms = o->renew_deadline_ms,
                                     .retry_period_ms = o->retry_period_ms };

        snprintf(a->identity, sizeof(a->identity), "member-agent-%016llx",
                 (unsigned long long)loop_random_u64(a->loop));
        a->manager = manager_new(&m, a->group, err);
        if (!a->manager)
                return err->code;
        a->hub.count = a->member.count; /* requests to the hub are counted beside the member's */
        a->hub.count_ctx = a->member.count_ctx;
        if (manager_add_controller(a->manager, &work_applier_controller) < 0 ||
            manager_add_controller(a->manager, &internal_member_cluster_controller) < 0 ||
            manager_add_controller(a->manager, &object_set_controller) < 0)
                return error_no_memory(err);
        return 0;
}

/* ---- life ---- */

/* Works that were deleted while the agent was down have no event: look at all once the hub has answered. */
static void sweep_fiber(void *ctx)
{
        struct member_agent *a = ctx;
        struct error err = { 0 };

        if (informer_wait_synced(a->works, DEADLINE_NONE) == 0 && agent_enqueue_all(a, QUEUE_LOW, &err) < 0)
                log_warn(a->log, "Works could not be queued", "error", err.text);
        if (informer_wait_synced(a->clusters, DEADLINE_NONE) == 0) {
                struct arena arena AUTO_ARENA = ARENA_INIT;
                const char *key = arena_printf(&arena, "%s/%s", a->ns, a->options->member_name);

                if (key)
                        manager_enqueue(a->manager, &internal_member_cluster_controller, key, QUEUE_NORMAL);
        }
}

/* What is there while this cluster's API server is away: health, metrics, and who tells of it. */
static int prepare(struct member_agent *a, struct error *err)
{
        const struct member_agent_options *o = a->options;

        a->ns = mem_printf(NAME_MEMBER_NAMESPACE, o->member_name);
        a->group = fiber_group_new(a->loop, NULL, "member-agent");
        a->interns = intern_table_new();
        a->metrics = o->metrics ? o->metrics : metrics_new(METRIC_OF_MEMBER);
        if (!a->ns || !a->group || !a->interns || !a->metrics)
                return error_no_memory(err);
        map_init(&a->memory, MAP_OWN_KEYS, mem_free);
        set_clients(a);
        TRY(connections_open(a, err));
        TRY(open_store(a, err));
        TRY(make_manager(a, err));
        a->hub_events = event_recorder_new(&a->hub, a->group, "member-agent");
        return a->hub_events ? 0 : error_no_memory(err);
}

static int begin_work(struct member_agent *a, struct error *err)
{
        const struct member_agent_options *o = a->options;

        if (kube_connection_wait(a->member_connection, DEADLINE_NONE) < 0)
                return error_set(err, ERR_CANCELLED, "cancelled");
        if (o->begin)
                TRY(o->begin(o->begin_ctx, err));
        TRY(follow_hub(a, err));
        TRY(follow_member(a, err));
        TRY(keep_token(a, err));
        if (a->joined)
                TRY(agent_enqueue_all(a, QUEUE_LOW, err));
        a->sweep = fiber_group_new(a->loop, a->group, "sweep");
        return a->sweep && fiber_spawn(a->sweep, "sweep", sweep_fiber, a) &&
                               fiber_spawn(a->sweep, "sets sweep", sets_sweep_fiber, a)
                       ? 0
                       : error_no_memory(err);
}

static void tear_down(struct member_agent *a)
{
        if (a->group)
                fiber_group_cancel(a->group);
        fiber_group_end(a->sweep); /* it waits on the informers */
        a->token = token_renewal_free(a->token);
        a->properties = property_set_free(a->properties);
        a->applied = applied_watch_free(a->applied);
        if (a->works)
                informer_stop(a->works);
        if (a->clusters)
                informer_stop(a->clusters);
        a->hub.count = NULL; /* counts into the manager */
        manager_free(a->manager);
        a->sets = sets_free(a->sets);
        event_recorder_free(a->hub_events);
        connections_close(a);
        fiber_group_end(a->group);
        kube_mapper_free(a->mapper);
        keeper_end(a->keeper);
        store_close(a->store);
        map_free(&a->memory);
        intern_table_free(a->interns);
        if (!a->options->metrics)
                metrics_free(a->metrics);
        mem_free(a->ns);
}

static int serve_all(struct member_agent *a, struct health *health, struct http_server **servers,
                     struct error *err)
{
        const struct member_agent_options *o = a->options;

        TRY(health_serve(health, a->world, o->bind, o->metrics_port, &servers[0], err));
        TRY(health_serve(health, a->world, o->bind, o->health_port, &servers[1], err));
        for (size_t i = 0; i < o->n_also; i++)
                TRY(health_serve(health, a->world, o->also[i].host, o->also[i].port, &servers[2 + i], err));
        return 0;
}

static int run(struct member_agent *a, struct error *err)
{
        struct health health = { a->manager, a->metrics, { a->hub_connection, a->member_connection } };
        struct http_server *servers[2 + MAX_ALSO] = { NULL };
        int r = serve_all(a, &health, servers, err);

        if (r == 0)
                r = begin_work(a, err);
        if (r == 0)
                r = manager_run(a->manager, err);
        for (size_t i = 0; i < ARRAY_LEN(servers); i++)
                if (servers[i])
                        http_server_stop(servers[i]);
        return r;
}

int member_agent_run(const struct member_agent_options *o, struct error *err)
{
        struct error own = { 0 };
        struct member_agent a = { .options = o,
                                  .world = o->world,
                                  .loop = o->world->loop,
                                  .begun_ms = loop_now_ms(o->world->loop),
                                  .log = o->log,
                                  .limits = limiter_checked(o->limits ? *o->limits : limiter_defaults),
                                  .deletion_wait_ms =
                                          o->deletion_wait_ms ? o->deletion_wait_ms : DELETION_WAIT_MS };
        int r;

        ASSERT(o->n_also <= MAX_ALSO);
        r = prepare(&a, &own);

        log_info(o->log, "member agent starts", "member", o->member_name, "version", ARGOSY_VERSION);
        if (r == 0)
                r = run(&a, &own);
        fiber_mask_cancel(a.loop);
        tear_down(&a);
        fiber_unmask_cancel(a.loop);
        if (r < 0 && err)
                *err = own;
        return r;
}
