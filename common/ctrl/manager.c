/* The manager: owns informers, controllers, the event recorder and leadership. manager_run() is
 *
 *     wait for caches -> [lead: acquire -> run controllers -> hold] -> drain -> release
 *
 * or, where something may be worked on early (early.c), the lease at once, and all else once they are filled.
 *
 * A cache that cannot be filled holds up its own controllers alone, and reads from it fail instead of finding
 * nothing. Until it leads a manager keeps its caches warm. Losing the lease ends it:
 * spec/membership-webhooks-charts.md 7.1.7. */
#include "common/base/memory.h"
#include "common/ctrl/frame.h"
#include "common/kube/connection.h"

#define DRAIN_MS 300
#define NEVER_MS INT64_MIN
#define ON_ITS_WAY_MS 10000 /* a request without an answer may still arrive, that long */
#define CACHES_MS 30000

/* Events are written by whoever has something to tell. */
static bool is_leaders_write(const char *verb, const char *resource)
{
        static const char *const reads[] = { "get", "list", "watch" };

        return !text_in(verb, reads, ARRAY_LEN(reads)) && resource[0] != '/' &&
               !text_equal(resource, "events") && !text_equal(resource, "leases");
}

void manager_count_request(struct manager *m, const struct kube_counted *c, int64_t *unanswered_ms)
{
        frame_count_request(m->options.metrics, c);
        if (c->status == 0 && is_leaders_write(c->verb, c->resource))
                *unanswered_ms = loop_now_ms(m->options.world->loop);
}

static void count_request(void *ctx, const struct kube_counted *c)
{
        struct manager *m = ctx;

        manager_count_request(m, c, &m->unanswered_ms);
}

/* Who shares the keys out takes each share over with caches that were listed anew. */
static bool begins_early(const struct manager_options *o)
{
        return o->n_early > 0 && o->shards == 0;
}

struct manager *manager_new(const struct manager_options *o, struct fiber_group *group, struct error *err)
{
        struct manager *m = NEW(struct manager);
        struct leader_options leader = { o->lease_namespace,   o->lease_name,        o->identity,
                                         o->lease_duration_ms, o->renew_deadline_ms, o->retry_period_ms };

        if (!m) {
                error_no_memory(err);
                return NULL;
        }
        m->options = *o;
        m->unanswered_ms = m->former_ms = NEVER_MS;
        for (size_t k = 0; k < ARRAY_LEN(m->unanswered_of); k++)
                m->unanswered_of[k] = NEVER_MS;
        m->log = *o->log;
        if (!o->identity) {
                leader_identity(o->world, o->component, m->identity);
                m->options.identity = m->identity;
        }
        frame_metrics_begin(m);
        if (o->kube && !o->kube->count) {
                o->kube->count = count_request;
                o->kube->count_ctx = m;
        }
        leader.identity = m->options.identity;
        leader_init(&m->leader, o->kube, &leader);
        m->group = fiber_group_new(o->world->loop, group, o->component);
        if (m->group)
                m->events = event_recorder_new(o->kube, m->group, o->component);
        if (m->group && o->shards > 0)
                m->shards = frame_shards_new(m);
        if (begins_early(o))
                m->early = early_new(m);
        if (!m->group || !m->events || (o->shards > 0 && !m->shards) || (begins_early(o) && !m->early)) {
                error_no_memory(err);
                return manager_free(m);
        }
        return m;
}

/* ---- informers ---- */

struct informer *manager_find_informer(struct manager *m, const struct kind *kind, const char *ns)
{
        struct informer *found = NULL;

        vec_for_each(&m->caches, c) {
                if (informer_holds(c->informer, kind, NULL))
                        return c->informer;
                if (!found && ns && informer_holds(c->informer, kind, ns))
                        found = c->informer;
        }
        return found;
}

int manager_add_informer(struct manager *m, const struct informer_options *o, struct informer **ret)
{
        struct informer_options own = *o;
        struct informer *i;

        if (!own.interns)
                own.interns = m->options.interns;
        own.metrics = m->options.metrics;
        early_options(m, &own);
        if (vec_reserve(&m->caches, m->caches.n + 1) < 0)
                return ERR_NO_MEMORY;
        i = informer_new(m->options.kube, m->group, &own);
        if (!i)
                return ERR_NO_MEMORY;
        m->caches.at[m->caches.n++] = (struct cache){ .informer = i };
        if (ret)
                *ret = i;
        return 0;
}

struct informer *manager_informer(struct manager *m, const struct kind *kind)
{
        struct informer *i = manager_find_informer(m, kind, NULL);
        struct informer_options o = { .kind = kind, .flags = DECODE_PROJECTION };

        if (i)
                return i;
        if (manager_add_informer(m, &o, &i) < 0)
                return NULL;
        manager_await_informer(m, i);
        return i;
}

void manager_await_informer(struct manager *m, struct informer *i)
{
        vec_for_each(&m->caches, c)
                c->awaited |= c->informer == i;
}

void manager_remove_informer(struct manager *m, struct informer *i)
{
        for (size_t k = 0; k < m->caches.n; k++) {
                if (m->caches.at[k].informer != i)
                        continue;
                vec_remove(&m->caches, k);
                informer_stop(i);
                return;
        }
}

/* ---- controllers ---- */

static struct running *running_free(struct running *r)
{
        running_forget_lost(r);
        work_queue_free(r->queue);
        map_free(&r->troubles);
        map_free(&r->doubts);
        mem_free(r->watches);
        mem_free(r);
        return NULL;
}

static struct informer *watched_cache(struct manager *m, const struct controller *c, const struct watch *w)
{
        const struct informer_options o = { .kind = w->kind,
                                            .flags = DECODE_PROJECTION | (w->restless ? DECODE_OUTLINED : 0),
                                            .unhurried = w->unhurried };
        struct informer *i = manager_find_informer(m, w->kind, NULL);

        if (!i && manager_add_informer(m, &o, &i) < 0)
                return NULL;
        if (!c->optional)
                manager_await_informer(m, i);
        return i;
}

/* Goes on where it stopped for want of memory: a handler stays where it was put. */
static int watch_all(struct manager *m, struct running *r)
{
        const struct controller *c = r->controller;

        for (; r->n_watched < c->n_watches; r->n_watched++) {
                struct informer *informer = watched_cache(m, c, &c->watches[r->n_watched]);

                if (!informer ||
                    informer_add_handler(informer, frame_handle_event, &r->watches[r->n_watched]) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

/* The descriptor's, but for what is wanted otherwise. */
static struct controller_pace pace_of(const struct controller *c, const struct controller_pace *wanted)
{
        struct controller_pace pace = *wanted;

        if (!pace.concurrency)
                pace.concurrency = controller_concurrency(c);
        if (pace.backoff_base_ms <= 0)
                pace.backoff_base_ms = c->backoff_base_ms;
        if (pace.backoff_max_ms <= 0)
                pace.backoff_max_ms = c->backoff_max_ms;
        return pace;
}

static struct running *running_new(struct manager *m, const struct controller *c,
                                   const struct controller_pace *wanted)
{
        const struct controller_pace pace = pace_of(c, wanted);
        struct queue_options queue = { pace.backoff_base_ms, pace.backoff_max_ms, c->name };
        struct running *r = NEW(struct running);

        if (!r)
                return NULL;
        frame_queue_metrics(m->options.metrics, c->name, &queue);
        *r = (struct running){ .manager = m,
                               .controller = c,
                               .pace = pace,
                               .queue = work_queue_new(m->options.world->loop, &queue),
                               .watches = mem_calloc(c->n_watches, sizeof(*r->watches)) };
        list_init(&r->attempts);
        map_init(&r->troubles, MAP_OWN_KEYS, mem_free);
        doubts_init(&r->doubts);
        running_metrics_init(r);
        if (!r->queue || !r->watches || vec_push(&m->running, r) < 0)
                return running_free(r);
        for (size_t i = 0; i < c->n_watches; i++)
                r->watches[i] = (struct running_watch){ r, &c->watches[i] };
        return r;
}

static struct running *find_running(struct manager *m, const struct controller *c)
{
        vec_for_each(&m->running, r)
                if ((*r)->controller == c)
                        return *r;
        return NULL;
}

int manager_add_controller(struct manager *m, const struct controller *c)
{
        return manager_add_controller_at(m, c, &(struct controller_pace){ 0 });
}

int manager_add_controller_at(struct manager *m, const struct controller *c,
                              const struct controller_pace *wanted)
{
        struct running *r = find_running(m, c);

        if (!r && !(r = running_new(m, c, wanted)))
                return ERR_NO_MEMORY;
        TRY(watch_all(m, r));
        if (!m->governing || r->group || running_start(r) == 0)
                return 0;
        running_stop(r);
        return ERR_NO_MEMORY;
}

void manager_enqueue(struct manager *m, const struct controller *c, const char *key, enum queue_priority p)
{
        struct running *r = find_running(m, c);

        ASSERT(r);
        if (!key || running_add(r, key, NULL, p) < 0) {
                log_error(&m->log, "no memory to queue a key", "controller", c->name, "key", key);
                running_lose_key(r, NULL, NULL);
        }
}

void manager_enqueue_after(struct manager *m, const struct controller *c, const char *key, int64_t ms)
{
        struct running *r = find_running(m, c);

        ASSERT(r);
        if (running_add_after(r, key, ms, QUEUE_NORMAL) < 0) {
                log_error(&m->log, "no memory to queue a key", "controller", c->name, "key", key);
                running_lose_key(r, NULL, NULL);
        }
}

/* ---- running ---- */

/* Informers, referenced: walking them parks, and meanwhile the manager's may change. */
struct held {
        VEC(struct informer *) informers;
};

static void held_release(struct held *h)
{
        vec_for_each(&h->informers, i)
                informer_unref(*i);
        vec_free(&h->informers);
}

/* How many lists each had ended. */
struct lists {
        VEC(uint64_t) before;
};

static void lists_release(struct lists *l)
{
        vec_free(&l->before);
}

static int hold_caches(struct manager *m, bool awaited_only, struct held *ret)
{
        vec_for_each(&m->caches, c) {
                if (awaited_only && !c->awaited)
                        continue;
                if (vec_push(&ret->informers, c->informer) < 0)
                        return ERR_NO_MEMORY;
                informer_ref(c->informer);
        }
        return 0;
}

/* Why it takes so long is told where it is seen. */
static int wait_for_cache(struct manager *m, struct informer *i, int64_t deadline_ms)
{
        const struct kube_connection *way = m->options.kube->connection;
        int code = informer_wait_synced(i, deadline_ms);

        if (code == ERR_TIMEOUT && (!way || kube_connection_good(way)))
                log_warn(&m->log, "still waiting for a cache, and what needs it waits too", "problem",
                         informer_problem(i));
        return code == ERR_TIMEOUT || code == ERR_CLOSED ? 0 : code;
}

static int wait_for_caches(struct manager *m)
{
        CLEANUP(held_release) struct held held = { 0 };
        int64_t deadline = loop_now_ms(m->options.world->loop) + CACHES_MS;

        TRY(hold_caches(m, true, &held));
        vec_for_each(&held.informers, i)
                TRY(wait_for_cache(m, *i, deadline));
        return 0;
}

int running_await_caches(struct running *r)
{
        for (size_t i = 0; i < r->controller->n_watches; i++) {
                struct informer *informer =
                        manager_find_informer(r->manager, r->controller->watches[i].kind, NULL);

                if (informer && informer_wait_synced(informer, DEADLINE_NONE) == ERR_CANCELLED)
                        return ERR_CANCELLED;
        }
        return 0;
}

static int start_controllers(struct manager *m)
{
        m->governing = true;
        TRY(early_start(m));
        vec_for_each(&m->running, r)
                if ((*r)->n_watched == (*r)->controller->n_watches && running_start(*r) < 0)
                        return ERR_NO_MEMORY;
        return 0;
}

/* None of them begins anything while others come to an end. Meanwhile one may be added, which is not started:
 * the list may move. */
static void stop_controllers(struct manager *m)
{
        struct loop *l = m->options.world->loop;
        int64_t deadline = loop_now_ms(l) + DRAIN_MS;

        m->governing = false;
        fiber_mask_cancel(l);
        early_stop(m);
        vec_for_each(&m->running, r)
                (*r)->stopping = true;
        for (size_t i = 0; i < m->running.n; i++)
                running_drain(m->running.at[i], deadline);
        for (size_t i = 0; i < m->running.n; i++)
                running_stop(m->running.at[i]);
        fiber_unmask_cancel(l);
}

static void set_leading(struct manager *m, bool leading)
{
        m->leading = leading;
        metric_set(m->options.metrics, METRIC_LEADER, leading,
                   (const char *const[]){ or_empty(m->options.lease_name) });
        if (m->options.lease_name)
                log_info(&m->log, leading ? "leading" : "not leading any more", "lease",
                         m->options.lease_name, "identity", m->options.identity);
}

/* One term of office. */
static int govern(struct manager *m, struct error *err)
{
        int code;

        set_leading(m, true);
        code = start_controllers(m);
        if (code == 0 && m->options.lease_name)
                code = leader_hold(&m->leader, err);
        while (code == 0) /* no election: until cancelled */
                code = fiber_park(m->options.world->loop, DEADLINE_NONE);
        stop_controllers(m);
        set_leading(m, false);
        return code;
}

/* Whoever led before us wrote until a moment ago, and a watch of ours may lag behind: a rollout begun on what
 * it knows would be counted wrongly, and a selection made of it would lack what was placed already. So every
 * cache is filled anew, and those that are awaited are waited for. The lease is renewed after it, as listing
 * may take long. */
static int take_over(struct manager *m, struct error *err)
{
        CLEANUP(held_release) struct held held = { 0 };

        if (hold_caches(m, false, &held) < 0)
                return error_no_memory(err);
        vec_for_each(&held.informers, i)
                if (informer_refresh(*i) == ERR_NO_MEMORY)
                        return error_no_memory(err);
        TRY(wait_for_caches(m));
        return leader_regain(&m->leader, err);
}

static bool is_awaited(const struct manager *m, const struct informer *i)
{
        vec_for_each(&m->caches, c)
                if (c->informer == i)
                        return c->awaited;
        return false;
}

/* What is not listed within that time counts as not filled, and reads from it fail; at once where nobody
 * waits for the cache and it cannot be listed, as its kind may be absent. */
int manager_relist(struct manager *m, struct error *err)
{
        CLEANUP(held_release) struct held held = { 0 };
        CLEANUP(lists_release) struct lists lists = { 0 };
        int64_t deadline = loop_now_ms(m->options.world->loop) + CACHES_MS;

        if (hold_caches(m, false, &held) < 0 || vec_reserve(&lists.before, held.informers.n) < 0)
                return error_no_memory(err);
        lists.before.n = held.informers.n;
        vec_for_each(&held.informers, i)
                if (informer_relist(*i, &lists.before.at[i - held.informers.at]) == ERR_NO_MEMORY)
                        return error_no_memory(err);
        vec_for_each(&held.informers, i) {
                int code = informer_wait_listed(*i, lists.before.at[i - held.informers.at],
                                                !is_awaited(m, *i), deadline);

                if (code == ERR_CANCELLED)
                        return error_set(err, ERR_CANCELLED, "cancelled");
        }
        return 0;
}

/* How long what was cut off may be on its way still. */
static int64_t arriving_since(const struct manager *m, int64_t unanswered_ms)
{
        if (unanswered_ms == NEVER_MS)
                return 0;
        return MAX(unanswered_ms + ON_ITS_WAY_MS - loop_now_ms(m->options.world->loop), 0);
}

int64_t manager_arriving_ms(const struct manager *m)
{
        return arriving_since(m, m->unanswered_ms);
}

int64_t manager_arriving_of(const struct manager *m, shard_set of)
{
        int64_t last = m->unanswered_ms;

        for (unsigned k = 0; k < SHARDS_MAX; k++)
                if (of & SHARD_BIT(k))
                        last = MAX(last, m->unanswered_of[k]);
        return arriving_since(m, last);
}

/* While the API server was away nobody could take the lease either: then we go on where we stopped. What we
 * sent before that would come in between what is decided now, as another's would: it is waited for, under a
 * lease that is renewed meanwhile, for it may be shorter. */
static int go_on(struct manager *m, struct error *err)
{
        struct loop *l = m->options.world->loop;
        int64_t until;

        TRY(leader_regain(&m->leader, err));
        until = loop_now_ms(l) + manager_arriving_ms(m);
        if (until > loop_now_ms(l))
                log_info(&m->log, "the lease is ours again, and what was sent before may still arrive: it is "
                                  "waited for");
        while (loop_now_ms(l) < until) {
                TRY(fiber_sleep(l, MIN(until - loop_now_ms(l), m->leader.options.retry_ms)));
                TRY(leader_regain(&m->leader, err));
        }
        return 0;
}

static int lead(struct manager *m, struct error *err)
{
        int code;

        if (m->options.lease_name)
                TRY(leader_acquire(&m->leader, err));
        if (m->options.lease_name && m->leader.before == LEASE_WAS_OURS)
                m->former_ms = loop_now_ms(m->options.world->loop);
        if (m->leader.followed)
                TRY(take_over(m, err));
        do {
                code = govern(m, err);
                if (code == ERR_TIMEOUT && m->leader.lapsed)
                        code = go_on(m, err);
        } while (code == 0);
        return code;
}

/* As one of several. The controllers run all the time, and get the keys of the shards that are ours. */
static int share(struct manager *m, struct error *err)
{
        int code = start_controllers(m) < 0 ? error_no_memory(err) : shards_run(m->shards, err);

        shards_withdraw(m->shards);
        stop_controllers(m);
        shards_release(m->shards);
        return code;
}

/* The next leader begins as soon as it is released: not before what we sent has arrived. What was cut off may
 * be on its way still, and what a former life under our name sent before we began; then the lease is left to
 * lapse, which takes longer. */
static void release_lease(struct manager *m)
{
        if (m->leader.leading && (manager_arriving_ms(m) > 0 || arriving_since(m, m->former_ms) > 0))
                log_info(&m->log, "the lease is not released but left to lapse: a write may still arrive");
        else
                leader_release(&m->leader);
}

static void await_caches(void *ctx)
{
        struct manager *m = ctx;

        if (wait_for_caches(m) == ERR_CANCELLED)
                return;
        m->caches_awaited = true;
        waitq_wake_all(&m->awaited);
}

/* Who begins early has the lease first. */
static int begin_with_caches(struct manager *m, struct error *err)
{
        if (m->early)
                return fiber_spawn(m->group, "caches", await_caches, m) ? 0 : error_no_memory(err);
        TRY(wait_for_caches(m));
        m->caches_awaited = true;
        return 0;
}

int manager_run(struct manager *m, struct error *err)
{
        int code = 0;

        if (!fiber_spawn(m->group, "lost-keys", lost_keys_run, m))
                code = error_no_memory(err);
        if (code == 0)
                code = begin_with_caches(m, err);
        if (code == 0)
                code = m->shards ? share(m, err) : lead(m, err);
        if (m->options.lease_name && !m->shards)
                release_lease(m);
        return code == ERR_CANCELLED ? error_set(err, ERR_CANCELLED, "cancelled") : code;
}

struct manager *manager_free(struct manager *m)
{
        if (!m)
                return NULL;
        metrics_remove_source(&m->metrics);
        vec_for_each(&m->caches, c)
                informer_silence(c->informer);
        while (m->caches.n > 0)
                informer_stop(m->caches.at[--m->caches.n].informer);
        vec_free(&m->caches);
        event_recorder_free(m->events);
        shards_free(m->shards);
        if (m->group)
                fiber_group_end(m->group);
        early_free(m->early);
        vec_for_each(&m->running, r)
                running_free(*r);
        vec_free(&m->running);
        leader_clear(&m->leader);
        if (m->options.kube && m->options.kube->count_ctx == m)
                m->options.kube->count = NULL;
        mem_free(m);
        return NULL;
}

bool manager_is_leader(const struct manager *m)
{
        return m->shards ? shards_own(m->shards, 0) : m->leading;
}

bool manager_ready(const struct manager *m, struct buf *why_not)
{
        const struct kube_connection *way = m->options.kube->connection;
        bool ready = !way || kube_connection_good(way);

        if (!ready)
                buf_printf(why_not, "the API server cannot be used\n");
        vec_for_each(&m->caches, c) {
                const char *problem = informer_problem(c->informer);

                if (!c->awaited || (informer_synced(c->informer) && !problem[0]))
                        continue;
                buf_printf(why_not, "cache not in sync: %s: %s\n", informer_resource(c->informer)->plural,
                           problem[0] ? "it cannot be listed or watched" : "first list is running");
                ready = false;
        }
        return ready;
}

struct event_recorder *manager_events(struct manager *m)
{
        return m->events;
}

struct metrics *manager_metrics(struct manager *m)
{
        return m->options.metrics;
}

size_t manager_queued(const struct manager *m)
{
        size_t n = 0;

        vec_for_each(&m->running, r)
                n += work_queue_depth((*r)->queue) + work_queue_active((*r)->queue);
        return n;
}
