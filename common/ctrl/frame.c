/* One controller at work: events become keys, keys become reconciles, outcomes become retries. */
#include "common/ctrl/frame.h"

#include <stdarg.h>

#include "common/base/memory.h"
#include "common/ctrl/informer_internal.h"
#include "common/kube/connection.h"

#define RECONCILE_DEADLINE_MS 120000
#define BACKOFF_MAX_MS 60000
#define RIGHT_RETRY_MS 60000
#define CONFLICT_RETRY_MS 1000
#define REQUEUED_AT_ONCE 256
#define PASSING_MS 10000 /* what passes within that is not worth a warning */

/* ---- events to keys ---- */

static bool equal_strings(const char *const *a, size_t n_a, const char *const *b, size_t n_b)
{
        if (n_a != n_b)
                return false;
        for (size_t i = 0; i < n_a; i++)
                if (!text_equal(a[i], b[i]))
                        return false;
        return true;
}

static bool equal_owners(const struct object_meta *a, const struct object_meta *b)
{
        if (a->n_owners != b->n_owners)
                return false;
        for (size_t i = 0; i < a->n_owners; i++)
                if (!text_equal(a->owners[i].uid, b->owners[i].uid) ||
                    a->owners[i].controller != b->owners[i].controller)
                        return false;
        return true;
}

static bool equal_meta(const struct object_meta *a, const struct object_meta *b)
{
        return string_map_equal(&a->labels, &b->labels) &&
               string_map_equal(&a->annotations, &b->annotations) &&
               equal_strings(a->finalizers, a->n_finalizers, b->finalizers, b->n_finalizers) &&
               equal_owners(a, b);
}

/* What changed, as a mask of enum watch_on: of `on`, and of what tells how urgent it is. Comparing statuses
 * takes longest, and most who look at an event do not ask for it. */
static unsigned changes(const struct informer_event *e, unsigned on)
{
        const struct object_meta *old = e->old ? &e->old->meta : NULL, *now = &e->now->meta;
        unsigned mask = 0;

        if (e->type == INFORMER_DELETED)
                return ON_DELETION;
        if (e->type == INFORMER_ADDED)
                return ON_SPEC | ON_STATUS | ON_META | ON_VERSION |
                       (now->deletion_ms != TIME_NONE ? ON_DELETION : 0);
        if (!text_equal(old->resource_version, now->resource_version))
                mask |= ON_VERSION;
        if (old->deletion_ms != now->deletion_ms)
                mask |= ON_DELETION;
        if ((on & ON_META) && !equal_meta(old, now))
                mask |= ON_META;
        if (old->generation != now->generation || !text_equal(old->uid, now->uid))
                mask |= ON_SPEC;
        if (now->generation == 0 && !object_equal_part(e->old, e->now, OBJECT_META_SPEC))
                mask |= ON_SPEC; /* kinds without generations */
        if ((on & ON_STATUS) && !(mask & on) && e->now->kind->has_status &&
            !object_equal_part(e->old, e->now, OBJECT_STATUS))
                mask |= ON_STATUS;
        return mask;
}

struct emission {
        struct running *running;
        const struct object *about;
        enum queue_priority priority;
        bool lost; /* there was no memory for a key */
};

static void emit_key(void *to, const char *key)
{
        struct emission *em = to;

        if (key && em->priority == QUEUE_HIGH && em->running->controller->early == EARLY_PLACEMENTS)
                early_want(em->running->manager, key);
        em->lost |= !key || running_add(em->running, key, em->about, em->priority) < 0;
}

static void emit_self(const struct object *o, struct emission *em)
{
        AUTO_KEY struct key key = KEY_EMPTY;

        emit_key(em, informer_key(o, &key) < 0 ? NULL : key.text);
}

/* An event of another object than the key's own speaks of work that is under way: finishing it comes before
 * what users begin anew, or in a burst nothing is finished before all is begun. */
static enum queue_priority class_of(const struct watch *w, const struct informer_event *e, unsigned changed)
{
        if (e->initial && !(w->pressing && w->pressing(e->now)))
                return QUEUE_LOW;
        if (w->map)
                return QUEUE_FOLLOW_UP;
        return (changed & (ON_SPEC | ON_DELETION)) && !w->by_agents ? QUEUE_HIGH : QUEUE_NORMAL;
}

void frame_handle_event(void *running_watch, const struct informer_event *e)
{
        const struct running_watch *w = running_watch;
        unsigned changed = w->watch->on ? changes(e, w->watch->on) : 0;
        struct emission em = { .running = w->running, .about = e->now };

        /* While a shard comes it is no event but what the cache holds, and keys of others are dropped. */
        if (!w->running->manager->requeued)
                running_settle_doubt(w->running, e->now);
        if (!(changed & w->watch->on))
                return;
        em.priority = class_of(w->watch, e, changed);
        if (w->watch->map)
                w->watch->map(w->running->manager->options.agent, e, emit_key, &em);
        else
                emit_self(e->now, &em);
        if (em.lost)
                running_lose_key(w->running, w, e);
}

/* ---- one reconcile ---- */

static void deadline_passed(struct timer *t)
{
        struct attempt *a = container_of(t, struct attempt, deadline);

        a->timed_out = true;
        fiber_cancel(a->fiber);
}

static int split_key(struct reconcile *rc, const char *key)
{
        const char *slash = strchr(key, '/');

        rc->key = key;
        rc->name = slash ? slash + 1 : key;
        if (!slash)
                return 0;
        rc->ns = arena_strndup(rc->arena, key, (size_t)(slash - key));
        return rc->ns ? 0 : ERR_NO_MEMORY;
}

struct trouble {
        int64_t since_ms;
        uint64_t told; /* hash of the error that was told */
};

/* What a log needs to know of a failure is told once, not with each try; and what the next try mends, as long
 * as one waits for something that is under way, is nobody's trouble. */
static bool is_news(struct running *r, const char *key, int code, const struct error *err)
{
        struct trouble *t = map_get(&r->troubles, key);
        int64_t now = loop_now_ms(r->manager->options.world->loop);
        uint64_t hash = hash_bytes(err->text, strlen(err->text), 0);

        if (!t) {
                t = NEW(struct trouble);
                if (!t || map_put(&r->troubles, key, t) < 0) {
                        mem_free(t);
                        return true;
                }
                t->since_ms = now;
        }
        if (t->told == hash || (error_is_retryable(code) && now - t->since_ms < PASSING_MS))
                return false;
        t->told = hash;
        return true;
}

/* Begun early, and it cannot be done before they are filled. */
static bool waits_for_caches(const struct attempt *a)
{
        return a->unfilled && !a->running->open;
}

/* `waits`: for caches, as all keys do. */
static void tell_outcome(struct running *r, const struct reconcile *rc, int code, bool waits)
{
        if (code == ERR_CANCELLED)
                return;
        if (code >= 0)
                map_remove(&r->troubles, rc->key);
        else if (code == ERR_CONFLICT)
                log_debug(&rc->log, "reconcile met a newer state", "error", rc->err->text);
        else if (waits ||
                 kube_connection_tells(rc->kube, rc->err) || /* once for all that wait for the server */
                 !is_news(r, rc->key, code, rc->err))
                log_debug(&rc->log, "reconcile failed", "code", error_code_name(code), "error",
                          rc->err->text);
        else
                log_warn(&rc->log, "reconcile failed", "code", error_code_name(code), "error", rc->err->text);
}

static const char *source_of_events(const struct reconcile *rc)
{
        return rc->running ? rc->running->controller->event_source : NULL;
}

static void PRINTF_LIKE(6, 7)
        rc_event_of(struct reconcile *rc, const struct object *about, const struct string_map *annotations,
                    const char *type, const char *reason, const char *fmt, ...)
{
        va_list ap;

        va_start(ap, fmt);
        event_recordv(manager_events(rc->manager), source_of_events(rc), annotations, about, type, reason,
                      fmt, ap);
        va_end(ap);
}

void rc_event(struct reconcile *rc, const struct object *about, const char *type, const char *reason,
              const char *fmt, ...)
{
        va_list ap;

        va_start(ap, fmt);
        event_recordv(manager_events(rc->manager), source_of_events(rc), NULL, about, type, reason, fmt, ap);
        va_end(ap);
}

void rc_event_annotated(struct reconcile *rc, const struct object *about,
                        const struct string_map *annotations, const char *type, const char *reason,
                        const char *message)
{
        rc_event_of(rc, about, annotations, type, reason, "%s", message);
}

static struct outcome run_reconcile(struct attempt *a, struct arena *arena, struct error *err)
{
        struct running *r = a->running;
        struct manager *m = r->manager;
        char id[24];
        struct reconcile rc = { .arena = arena,
                                .manager = m,
                                .running = r,
                                .kube = attempt_client(a),
                                .agent = m->options.agent,
                                .err = err,
                                .id = ++m->next_id,
                                .unfilled = &a->unfilled,
                                .now_ms = loop_wall_ms(m->options.world->loop) };
        struct log by_controller = log_with(&m->log, "controller", r->controller->name);
        struct log by_key = log_with(&by_controller, "key", a->key);
        struct outcome o;

        rc.log = log_with(&by_key, "reconcile", log_int(id, (int64_t)rc.id));
        if (split_key(&rc, a->key) < 0) {
                error_no_memory(err);
                return failed(err);
        }
        o = r->controller->reconcile(&rc);
        if (o.code == ERR_INTERNAL && err->code == 0) {
                error_set(err, ERR_INTERNAL, "the reconcile failed and left no error");
                log_error(&rc.log, err->text); /* our own bug, which tests look for */
        }
        if (a->timed_out && o.code < 0)
                o.code = error_set(err, ERR_TIMEOUT, "the reconcile did not end within its deadline");
        tell_outcome(r, &rc, o.code, waits_for_caches(a));
        return o;
}

/* Retry policy: what the code says the caller may do. */
static void follow_up(struct running *r, const struct attempt *a, const struct outcome *o,
                      const struct error *err)
{
        const char *key = a->key;
        int64_t longest = r->pace.backoff_max_ms > 0 ? r->pace.backoff_max_ms : BACKOFF_MAX_MS;
        int queued = 0;

        if (o->code >= 0) {
                work_queue_forget(r->queue, key);
                if (o->after_ms > 0)
                        queued = work_queue_again_after(r->queue, key, o->after_ms,
                                                        o->unfinished ? QUEUE_FOLLOW_UP : QUEUE_NORMAL);
        } else if (waits_for_caches(a)) {
                work_queue_forget(r->queue, key);
                queued = work_queue_add(r->queue, key, QUEUE_LOW);
        } else if (o->code == ERR_FORBIDDEN && kube_trouble_of(err)) { /* a right, which somebody may grant */
                queued = work_queue_again_after(r->queue, key, MIN(longest, (int64_t)RIGHT_RETRY_MS),
                                                QUEUE_LOW);
        } else if (o->code == ERR_INVALID || o->code == ERR_FORBIDDEN || o->code == ERR_UNSUPPORTED) {
                queued = work_queue_again_after(r->queue, key, longest, QUEUE_LOW);
        } else if (err->retry_after_ms > 0) {
                queued = work_queue_again_after(r->queue, key, err->retry_after_ms, QUEUE_NORMAL);
        } else { /* a conflict: the server answers again, and the newer state is on its way */
                queued = work_queue_add_backoff(r->queue, key,
                                                o->code == ERR_CONFLICT ? CONFLICT_RETRY_MS : INT64_MAX);
        }
        if (queued < 0)
                running_lose_key(r, NULL, NULL);
}

static void attempt_free(struct attempt *a)
{
        list_remove(&a->node);
        mem_free(a->key);
        mem_free(a);
}

static void attempt_fiber(void *ctx)
{
        struct attempt *a = ctx;
        struct running *r = a->running;
        struct loop *l = r->manager->options.world->loop;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        int64_t limit = r->controller->reconcile_deadline_ms > 0 ? r->controller->reconcile_deadline_ms
                                                                 : RECONCILE_DEADLINE_MS;
        int64_t begin = loop_now_us(l);
        struct outcome o = { .code = ERR_NO_MEMORY };
        struct error err;

        error_clear(&err);
        a->fiber = fiber_self(l);
        if (attempt_is_ours(a)) {
                if (timer_start(l, &a->deadline, loop_now_ms(l) + limit, deadline_passed) == 0)
                        o = run_reconcile(a, &arena, &err);
                timer_stop(&a->deadline);
                running_count(r, &o, loop_now_us(l) - begin);
        }
        if (attempt_is_ours(a))
                follow_up(r, a, &o, &err);
        else /* another sees to it; should the shard be ours again by now, the key was queued anew */
                work_queue_forget(r->queue, a->key);
        work_queue_done(r->queue, a->key);
        attempt_free(a);
}

static int start_attempt(struct running *r, const char *key)
{
        struct attempt *a = NEW(struct attempt);

        if (!a)
                return ERR_NO_MEMORY;
        a->running = r;
        a->key = mem_strdup(key);
        list_append(&r->attempts, &a->node);
        if (a->key)
                attempt_bind_shard(a);
        if (a->key && fiber_spawn(r->group, r->controller->name, attempt_fiber, a))
                return 0;
        attempt_free(a);
        return ERR_NO_MEMORY;
}

/* ---- which keys are taken ---- */

static bool may_begin_early(void *running, const char *key)
{
        return early_may_begin(running, key);
}

static void open_when_filled(void *ctx)
{
        struct running *r = ctx;
        struct manager *m = r->manager;

        while (!m->caches_awaited)
                if (waitq_wait(m->options.world->loop, &m->awaited, DEADLINE_NONE) < 0)
                        return;
        if (running_await_caches(r) < 0)
                return;
        r->open = true;
        work_queue_wake(r->queue);
}

static int begin_opening(struct running *r)
{
        struct manager *m = r->manager;

        r->open = false;
        if (!m->early || m->caches_awaited)
                return 0;
        r->opening = fiber_group_new(m->options.world->loop, NULL, "opening");
        return r->opening && fiber_spawn(r->opening, "opening", open_when_filled, r) ? 0 : ERR_NO_MEMORY;
}

/* Before the caches are filled only what may begin early. */
static int next_key(struct running *r, const char **ret)
{
        while (!r->open) {
                if (work_queue_get_fitting(r->queue, may_begin_early, r, ret) == 0)
                        return 0;
                TRY(work_queue_wait(r->queue));
        }
        return work_queue_get(r->queue, DEADLINE_NONE, ret);
}

static void dispatcher(void *ctx)
{
        struct running *r = ctx;
        const char *key;

        if (!r->opening) {
                if (running_await_caches(r) < 0)
                        return;
                r->open = true;
        }
        for (;;) {
                /* One more than the limit: the dispatcher is a fiber of the same group. */
                if (fiber_group_wait_below(r->group, r->pace.concurrency + 1) == ERR_CANCELLED || r->stopping)
                        return;
                if (next_key(r, &key) < 0)
                        return;
                if (running_drops(r, key)) {
                        work_queue_drop(r->queue, key);
                        work_queue_done(r->queue, key);
                } else if (r->stopping || start_attempt(r, key) < 0) {
                        if (work_queue_add_backoff(r->queue, key, INT64_MAX) < 0)
                                running_lose_key(r, NULL, NULL);
                        work_queue_done(r->queue, key);
                }
        }
}

static void resync(void *ctx)
{
        struct running *r = ctx;

        while (fiber_sleep(r->manager->options.world->loop, r->controller->resync_ms) == 0)
                running_requeue_all(r);
}

static int requeue(void *watch, const struct object *o)
{
        struct informer_event e = { .type = INFORMER_ADDED, .now = o, .initial = true };

        frame_handle_event(watch, &e);
        return 0;
}

/* Those of n keys that are still there. 0 or ERR_NO_MEMORY. */
static int requeue_keys(struct running_watch *w, const struct informer *informer, const char *const *keys,
                        size_t n)
{
        for (size_t i = 0; i < n; i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                const struct object *o;

                TRY(informer_read_key(informer, keys[i], &arena, &o));
                if (o)
                        (void)requeue(w, o);
        }
        return 0;
}

static int requeue_by_pieces(struct running *r, const struct watch *w, shard_set shards)
{
        struct manager *m = r->manager;
        struct informer *informer = manager_find_informer(m, w->kind, NULL);
        struct running_watch rw = { r, w };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *const *keys = NULL;
        size_t n = 0;
        int code;

        if (!informer)
                return 0;
        code = informer_keys(informer, &arena, &keys, &n);
        for (size_t i = 0; code == 0 && i < n; i += REQUEUED_AT_ONCE) {
                if (i)
                        TRY(fiber_yield(m->options.world->loop));
                m->requeued = shards;
                code = requeue_keys(&rw, informer, keys + i, MIN(n - i, (size_t)REQUEUED_AT_ONCE));
                m->requeued = 0;
        }
        if (code < 0)
                running_lose_key(r, NULL, NULL);
        return 0;
}

int running_requeue(struct running *r, shard_set shards)
{
        for (size_t i = 0; i < r->controller->n_watches; i++)
                TRY(requeue_by_pieces(r, &r->controller->watches[i], shards));
        return 0;
}

void running_requeue_all(struct running *r)
{
        for (size_t i = 0; i < r->controller->n_watches; i++) {
                const struct watch *w = &r->controller->watches[i];
                struct informer *informer = manager_find_informer(r->manager, w->kind, NULL);
                struct running_watch rw = { r, w };

                if (informer && informer_for_each(informer, requeue, &rw) < 0)
                        running_lose_key(r, NULL, NULL);
        }
}

int running_start(struct running *r)
{
        struct manager *m = r->manager;

        r->stopping = false;
        TRY(begin_opening(r));
        r->group = fiber_group_new(m->options.world->loop, m->group, r->controller->name);
        if (!r->group || !fiber_spawn(r->group, r->controller->name, dispatcher, r))
                return ERR_NO_MEMORY;
        if (r->controller->resync_ms > 0 && !fiber_spawn(r->group, r->controller->name, resync, r))
                return ERR_NO_MEMORY;
        return 0;
}

void running_drain(struct running *r, int64_t deadline_ms)
{
        struct loop *l = r->manager->options.world->loop;

        while (r->group && work_queue_active(r->queue) > 0 && loop_now_ms(l) < deadline_ms)
                if (fiber_sleep(l, 5) < 0)
                        return;
}

void running_stop(struct running *r)
{
        r->opening = fiber_group_end(r->opening);
        if (r->group)
                r->group = fiber_group_end(r->group);
        r->open = false;
}
