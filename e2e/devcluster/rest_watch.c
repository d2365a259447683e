/* watch: a fiber per watcher reads the table's event queue from its own position and sleeps on the table's
 * wait queue. Nothing is queued per watcher but what its connection has not taken; one that falls behind the
 * history, or does not take its bytes in time, is cut and must list anew. */
#include <inttypes.h>

#include "common/base/limits.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/options.h"
#include "e2e/devcluster/rest_read.h"
#include "e2e/devcluster/selector.h"
#include "e2e/devcluster/table.h"

#define WATCH_QUEUE_HIGH (1u << 20) /* bytes behind which the fiber waits for the client */
#define WATCH_DRAIN_MS 30000        /* how long */
#define BOOKMARK_INTERVAL_MS 60000
#define BOOKMARK_BEFORE_END_MS 2000
#define WATCH_TIMEOUT_MIN_S 1800

struct watch {
        struct request *rq;
        struct table *table;
        struct watch_scope *scope; /* NULL = every change of the table wakes it */
        struct selector selector;
        uint64_t position; /* of the next event in the table's queue */
        uint64_t rv;       /* everything up to here was sent or did not match */
        uint64_t epoch;
        bool bookmarks, sent_object;
        int64_t end_ms, next_bookmark_ms;
        struct buf out;
};

static int send(struct watch *w)
{
        struct http_exchange *x = w->rq->x;
        if (w->out.failed)
                return ERR_NO_MEMORY;
        int r = http_write(x, w->out.data, w->out.len);
        buf_clear(&w->out);
        if (r < 0)
                return r;
        if (x->ops->queued(x) <= WATCH_QUEUE_HIGH)
                return 0;
        return x->ops->drain(x, WATCH_QUEUE_HIGH / 4, loop_now_ms(w->rq->devcluster->loop) + WATCH_DRAIN_MS);
}

static int send_object(struct watch *w, const char *type, const struct blob *b)
{
        (void)buf_append_str(&w->out, "{\"type\":\"");
        (void)buf_append_str(&w->out, type);
        (void)buf_append_str(&w->out, "\",\"object\":");
        TRY(render_event_object(w->rq, b, !w->sent_object, &w->out));
        (void)buf_append_str(&w->out, "}\n");
        w->sent_object = true;
        return send(w);
}

static int send_bookmark(struct watch *w, bool initial_end)
{
        (void)buf_append_str(&w->out, "{\"type\":\"BOOKMARK\",\"object\":");
        TRY(render_bookmark(w->rq, w->rv, initial_end, &w->out));
        (void)buf_append_str(&w->out, "}\n");
        return send(w);
}

static int send_expired(struct watch *w)
{
        (void)fail_expired(w->rq, w->rv);
        AUTO_JSON json_t *status = status_to_doc(&w->rq->status);
        (void)buf_append_str(&w->out, "{\"type\":\"ERROR\",\"object\":");
        if (!status || doc_write(status, &w->out) < 0)
                return ERR_NO_MEMORY;
        (void)buf_append_str(&w->out, "}\n");
        (void)send(w);
        return ERR_GONE;
}

/* The last state that was in view, under the resourceVersion of the event. */
static int send_left(struct watch *w, const struct event *e)
{
        AUTO_JSON json_t *doc = NULL;
        struct blob *b = NULL;
        struct error err;
        if (blob_parse(e->previous, &doc, &err) < 0 || blob_from_doc(doc, e->rv, &b, &err) < 0)
                return ERR_NO_MEMORY;
        int r = send_object(w, "DELETED", b);
        blob_unref(b);
        return r;
}

static bool in_scope(struct watch *w, const struct blob *b)
{
        const struct request *rq = w->rq;
        if (rq->ns && strcmp(blob_ns(b), rq->ns) != 0)
                return false;
        if (rq->name && strcmp(blob_name(b), rq->name) != 0)
                return false;
        return selector_matches(w->rq, &w->selector, b);
}

/* With a selector, an object may come into view or leave it without being created or deleted. */
static int send_event(struct watch *w, const struct event *e)
{
        bool now = e->type != EVENT_DELETED && in_scope(w, e->object);
        bool before = e->previous && in_scope(w, e->previous);
        if (now)
                return send_object(w, before ? "MODIFIED" : "ADDED", e->object);
        if (!before)
                return 0;
        if (e->type == EVENT_DELETED)
                return send_object(w, "DELETED", e->object);
        return send_left(w, e); /* as it was when it still matched, with the version of its leaving */
}

/* Whether history has lost what this watch has not seen. */
static bool is_behind(const struct watch *w)
{
        return !w->scope || w->scope->forgotten_rv > w->rv;
}

/* Events of other namespaces, of which a thousand may have come, are passed over at once. */
static void skip_others(struct watch *w)
{
        uint64_t rv = watch_scope_skip(w->table, w->scope, w->rv);
        if (rv == w->rv)
                return;
        w->rv = rv;
        w->position = MAX(w->position, api_store_events_after(w->table, rv));
}

/* Sends what is there; the queue may move while the fiber waits for the client. */
static int send_pending(struct watch *w)
{
        skip_others(w);
        struct event_queue *q = &w->table->events;
        struct cluster *c = w->table->cluster;
        for (;;) {
                if (w->position < q->base && is_behind(w))
                        return send_expired(w);
                w->position = MAX(w->position, q->base);
                if (w->position >= q->base + q->n)
                        break;
                struct event *e = event_queue_get(q, w->position);
                if (e->rv > c->committed_rv)
                        break;
                w->position++;
                w->rv = e->rv;
                TRY(send_event(w, e));
                if (w->epoch != c->watch_epoch)
                        return ERR_CLOSED;
        }
        w->rv = MAX(w->rv, c->committed_rv);
        return 0;
}

struct snapshot {
        VEC(struct blob *) items;
};

static void free_snapshot(struct snapshot *s)
{
        for (size_t i = 0; i < s->items.n; i++)
                blob_unref(s->items.at[i]);
        vec_free(&s->items);
}

/* The state as ADDED events: taken before the first wait, together with the position to go on from. */
static int take_snapshot(struct watch *w, struct snapshot *s)
{
        for (size_t i = 0; i < w->table->items.n; i++) {
                struct blob *b = w->table->items.at[i];
                if (!in_scope(w, b))
                        continue;
                if (vec_push(&s->items, b) < 0)
                        return request_fail_memory(w->rq);
                blob_ref(b);
        }
        return 0;
}

static int send_snapshot(struct watch *w, const struct snapshot *s)
{
        for (size_t i = 0; i < s->items.n; i++)
                TRY(send_object(w, "ADDED", s->items.at[i]));
        return 0;
}

/* One a minute, and one shortly before the end. */
static int64_t next_bookmark(const struct watch *w, int64_t now)
{
        int64_t last = w->end_ms - BOOKMARK_BEFORE_END_MS, next = now + BOOKMARK_INTERVAL_MS;
        return last > now ? MIN(last, next) : next;
}

static int follow(struct watch *w)
{
        struct http_exchange *x = w->rq->x;
        struct cluster *c = w->table->cluster;
        struct loop *loop = w->rq->devcluster->loop;
        for (;;) {
                if (w->epoch != c->watch_epoch || c->deleted)
                        return ERR_CLOSED;
                TRY(send_pending(w));
                int64_t until = w->bookmarks ? MIN(w->end_ms, w->next_bookmark_ms) : w->end_ms;
                int r = x->ops->wait(x, watch_scope_queue(w->table, w->scope), until);
                if (r < 0 && r != ERR_TIMEOUT)
                        return r;
                int64_t now = loop_now_ms(loop);
                if (now >= w->end_ms)
                        return ERR_CLOSED;
                if (w->bookmarks && now >= w->next_bookmark_ms) {
                        w->next_bookmark_ms = next_bookmark(w, now);
                        TRY(send_pending(w));
                        TRY(send_bookmark(w, false));
                }
        }
}

static bool is_true(const char *s)
{
        return s && (strcmp(s, "true") == 0 || strcmp(s, "1") == 0 || strcmp(s, "") == 0);
}

static int read_options(struct watch *w, bool *ret_initial, bool *ret_mark_end)
{
        struct request *rq = w->rq;
        uint64_t rv;
        bool given;
        TRY(selector_parse(rq, http_query_get(rq->x, "labelSelector"), http_query_get(rq->x, "fieldSelector"),
                           &w->selector));
        TRY(options_check_list(rq, true));
        if (rest_version_parameter(rq, &rv, &given) < 0)
                return rest_fail_version(rq);
        const char *send_events = http_query_get(rq->x, "sendInitialEvents");
        w->bookmarks = is_true(http_query_get(rq->x, "allowWatchBookmarks"));
        bool want = send_events && is_true(send_events);
        *ret_initial = want || (!send_events && (!given || rv == 0));
        *ret_mark_end = want && w->bookmarks;
        struct cluster *c = rq->cluster;
        if (!*ret_initial && given && rv && rv < c->compacted_rv)
                return fail_expired(rq, rv);
        w->rv = *ret_initial || !given || rv == 0 ? c->rv : rv;
        w->position = api_store_events_after(w->table, w->rv);

        const char *timeout = http_query_get(rq->x, "timeoutSeconds");
        struct loop *loop = rq->devcluster->loop;
        int64_t seconds = WATCH_TIMEOUT_MIN_S + (int64_t)(loop_random_u64(loop) % WATCH_TIMEOUT_MIN_S);
        if (!text_empty(timeout) && (!text_parse_i64(timeout, &seconds) || seconds < 0))
                seconds = 0;
        if (seconds == 0)
                seconds = WATCH_TIMEOUT_MIN_S;
        w->end_ms = loop_now_ms(loop) + seconds * 1000;
        w->next_bookmark_ms = next_bookmark(w, loop_now_ms(loop));
        return 0;
}

static void run_watch(struct watch *w, const struct snapshot *s, bool mark_end)
{
        if (send_snapshot(w, s) < 0)
                return;
        if (mark_end && send_bookmark(w, true) < 0)
                return;
        (void)follow(w);
}

/* Answers the exchange; nothing but the connection can fail any more. */
static int serve_watch(struct watch *w, const struct snapshot *s, bool mark_end)
{
        struct request *rq = w->rq;
        struct error err = { 0 };
        if (api_store_wait(rq->devcluster->store, &err) < 0)
                return request_fail_error(rq, &err);
        struct http_header at[] = { { "Content-Type", "application/json" },
                                    { "Cache-Control", "no-cache, private" } };
        struct http_headers headers = { at, ARRAY_LEN(at) };
        if (http_begin(rq->x, 200, &headers) < 0)
                return 0;
        buf_init(&w->out, LIMIT_WATCH_EVENT_BYTES);
        run_watch(w, s, mark_end);
        buf_free(&w->out);
        (void)http_end(rq->x);
        return 0;
}

int rest_watch(struct request *rq)
{
        struct watch w = { .rq = rq, .table = request_table(rq, true), .epoch = rq->cluster->watch_epoch };
        CLEANUP(free_snapshot) struct snapshot s = { 0 };
        bool initial = false, mark_end = false;
        if (!w.table)
                return request_fail_memory(rq);
        if (rq->yaml)
                return request_fail(
                        rq, 406, "NotAcceptable",
                        "only the following media types are accepted: application/json;stream=watch, "
                        "application/vnd.kubernetes.protobuf;stream=watch");
        TRY(read_options(&w, &initial, &mark_end));
        if (initial)
                TRY(take_snapshot(&w, &s));
        if (watch_scope_take(w.table, rq->ns, &w.scope) < 0) /* before the first wait */
                return request_fail_memory(rq);
        int r = serve_watch(&w, &s, mark_end);
        watch_scope_give(w.table, rq->ns, w.scope);
        return r;
}
