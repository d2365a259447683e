/* The simulation's network: client fibers on one side, handler fibers on the other, nothing but memory
 * between. */
#include "common/net/http_credentials.h"
#include "common/net/loopback_call.h"

struct loopback_client {
        struct http_transport base;
        struct loopback *net;
        const struct loopback_faults *faults;
        size_t open; /* streams and roundtrips under way */
};

struct loopback_stream {
        struct http_stream base;
        struct loopback_client *client;
        struct loopback_call *call;
        struct loopback_piece *current; /* what the last read gave out */
};

/* ---- sending ---- */

static void arrive(struct timer *t)
{
        struct loopback_call *c = container_of(t, struct loopback_call, arrival);
        list_remove(&c->node);
        loopback_call_deliver(c);
}

/* Lets the message arrive after its delay, in the server's hold. */
static int send_after_delay(struct loopback_call *c, const struct loopback_faults *faults, struct error *err)
{
        int64_t delay = faults && faults->delay ? faults->delay(faults->ctx, &c->rq, false) : 0;
        c->holders++;
        if (delay <= 0) {
                loopback_call_deliver(c);
                return 0;
        }
        if (timer_start(c->net->loop, &c->arrival, network_now_ms(c->net) + delay, arrive) == 0) {
                timer_disown(&c->arrival);
                list_append(&c->net->travelling, &c->node);
                return 0;
        }
        c->holders--;
        return error_no_memory(err);
}

/* The same request once more, with nobody to take its answer. */
static void send_duplicate(struct loopback_client *t, const struct http_request *rq, bool stream)
{
        struct loopback_call *c = NULL;
        if (loopback_call_new(t->net, rq, stream, &c, NULL) < 0)
                return;
        int r = send_after_delay(c, t->faults, NULL);
        (void)r; /* a duplicate that does not come is none */
        loopback_call_leave(c);
}

static const char *status_reason(int status)
{
        static const struct {
                int status;
                const char *reason;
        } table[] = {
                { 400, "BadRequest" },    { 401, "Unauthorized" },
                { 403, "Forbidden" },     { 404, "NotFound" },
                { 409, "Conflict" },      { 410, "Expired" },
                { 422, "Invalid" },       { 429, "TooManyRequests" },
                { 500, "InternalError" }, { 503, "ServiceUnavailable" },
                { 504, "Timeout" },
        };
        for (size_t i = 0; i < ARRAY_LEN(table); i++)
                if (table[i].status == status)
                        return table[i].reason;
        return "";
}

/* An answer that no server gave, in the form API servers use. */
static void answer_with_status(struct loopback_call *c, int status)
{
        struct http_header wait = { "Retry-After", "1" };
        struct http_headers extra = { &wait, status == 429 || status == 503 ? 1 : 0 };
        const char *text = arena_printf(
                &c->server_arena,
                "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
                "\"message\":\"injected fault\",\"reason\":\"%s\",\"code\":%d}\n",
                status_reason(status), status);
        if (!text || http_reply(&c->x, status, "application/json", slice_of(text), &extra) == ERR_NO_MEMORY)
                loopback_call_cut(c, "no memory for an answer");
}

static int leave_for_server(const struct loopback_client *t, const struct http_request *rq, struct error *err)
{
        if (t->faults && t->faults->hold_back && t->faults->hold_back(t->faults->ctx, rq) &&
            fiber_yield(t->net->loop) < 0)
                return error_set(err, ERR_CANCELLED, "%s %s: cancelled", rq->method, rq->path);
        return rq->may_leave ? rq->may_leave(rq->may_leave_ctx, err) : 0;
}

static int submit(struct loopback_client *t, const struct http_request *rq, bool stream,
                  struct loopback_call **ret, struct error *err)
{
        struct loopback_call *c = NULL;
        TRY(leave_for_server(t, rq, err));
        TRY(loopback_call_new(t->net, rq, stream, &c, err));
        c->faults = t->faults;
        int fate = t->faults && t->faults->fate ? t->faults->fate(t->faults->ctx, &c->rq) : 0;
        int r = 0;
        if (fate > 0)
                answer_with_status(c, fate);
        else if (fate == ERR_RETRY)
                loopback_call_cut(c, "the request was lost");
        else if (fate != ERR_TIMEOUT) {
                c->answer_lost = fate == ERR_CLOSED;
                if (t->faults && t->faults->duplicate && t->faults->duplicate(t->faults->ctx, rq))
                        send_duplicate(t, rq, stream);
                r = send_after_delay(c, t->faults, err);
        }
        if (r < 0)
                loopback_call_leave(c);
        else
                *ret = c;
        return r;
}

/* ---- receiving ---- */

static int give_up(struct loopback_call *c, int code, const char *what, struct error *err)
{
        if (code == ERR_TIMEOUT) {
                error_set(err, code, "%s %s%s: no %s before the deadline", c->rq.method, c->authority,
                          c->rq.path, what);
                error_set_reason(err, HTTP_REASON_NO_ANSWER);
                return code;
        }
        return error_set(err, code, "%s %s%s: cancelled", c->rq.method, c->authority, c->rq.path);
}

static int take_error(const struct loopback_call *c, struct error *err)
{
        if (err)
                *err = c->broken;
        return c->broken.code;
}

/* Parks the client until `at_ms`, the deadline, or something new about the call. */
static int await(struct loopback_call *c, int64_t at_ms, int64_t deadline_ms)
{
        int r = waitq_wait(c->net->loop, &c->client_waits, MIN(at_ms, deadline_ms));
        return r == ERR_TIMEOUT && at_ms < deadline_ms ? 0 : r;
}

/* Parks until the head of the answer (whole: all of it) is there. */
static int await_answer(struct loopback_call *c, bool whole, int64_t deadline_ms, struct error *err)
{
        struct loop *l = c->net->loop;
        for (;;) {
                bool there = whole ? c->ended : c->began;
                int64_t at = whole ? c->last_at_ms : c->head_at_ms;
                if (!there && c->broken.code)
                        return take_error(c, err);
                if (there && at <= loop_now_ms(l))
                        break;
                if (loop_now_ms(l) >= deadline_ms)
                        return give_up(c, ERR_TIMEOUT, "answer", err);
                int r = await(c, there ? at : DEADLINE_NONE, deadline_ms);
                if (r < 0)
                        return give_up(c, r, "answer", err);
        }
        if (c->answer_lost)
                return error_set(err, ERR_RETRY, "%s %s%s: the connection broke before the answer",
                                 c->rq.method, c->authority, c->rq.path);
        return 0;
}

static int gather(struct loopback_call *c, struct arena *arena, struct http_response *ret, struct error *err)
{
        struct http_response answer = { .status = c->status };
        char *body = arena_alloc(arena, c->queued + 1);
        if (!body || http_headers_copy(arena, &c->headers, &answer.headers) < 0)
                return error_no_memory(err);
        size_t n = 0;
        list_for_each(piece, &c->pieces, struct loopback_piece, node) {
                memcpy(body + n, piece->data, piece->n);
                n += piece->n;
        }
        body[n] = 0;
        answer.body = (struct slice){ body, n };
        *ret = answer;
        return 0;
}

static int client_roundtrip(struct http_transport *base, const struct http_request *rq, struct arena *arena,
                            struct http_response *ret, struct error *err)
{
        struct loopback_client *t = (struct loopback_client *)base;
        if (fiber_cancelled(t->net->loop))
                return error_set(err, ERR_CANCELLED, "%s %s: cancelled", rq->method, rq->path);
        struct loopback_call *c = NULL;
        TRY(submit(t, rq, false, &c, err));
        t->open++;
        int r = await_answer(c, true, rq->deadline_ms, err);
        if (r == 0)
                r = gather(c, arena, ret, err);
        t->open--;
        loopback_call_leave(c);
        return r;
}

/* ---- streams ---- */

static void drop_current(struct loopback_stream *s)
{
        if (!s->current)
                return;
        s->call->queued -= s->current->n;
        mem_free(TAKE_PTR(s->current));
        waitq_wake_all(&s->call->server_waits);
}

static int stream_read(struct http_stream *base, int64_t deadline_ms, struct slice *ret_data,
                       struct error *err)
{
        struct loopback_stream *s = (struct loopback_stream *)base;
        struct loopback_call *c = s->call;
        struct loop *l = c->net->loop;
        drop_current(s);
        for (;;) {
                int64_t at = DEADLINE_NONE;
                if (!list_empty(&c->pieces)) {
                        struct loopback_piece *piece = list_first(&c->pieces, struct loopback_piece, node);
                        at = piece->at_ms;
                        if (at <= loop_now_ms(l)) {
                                list_remove(&piece->node);
                                s->current = piece;
                                *ret_data = (struct slice){ piece->data, piece->n };
                                return 0;
                        }
                } else if (c->broken.code) {
                        return take_error(c, err);
                } else if (c->ended) {
                        return error_set(err, ERR_CLOSED, "%s %s%s: the stream ended", c->rq.method,
                                         c->authority, c->rq.path);
                }
                if (loop_now_ms(l) >= deadline_ms)
                        return give_up(c, ERR_TIMEOUT, "data", err);
                int r = await(c, at, deadline_ms);
                if (r < 0)
                        return give_up(c, r, "data", err);
        }
}

static void stream_close(struct http_stream *base)
{
        struct loopback_stream *s = (struct loopback_stream *)base;
        drop_current(s);
        s->client->open--;
        loopback_call_leave(s->call);
        arena_free(&s->base.arena);
        mem_free(s);
}

static const struct http_stream_ops stream_ops = { .read = stream_read, .close = stream_close };

static int client_open(struct http_transport *base, const struct http_request *rq, struct http_stream **ret,
                       struct error *err)
{
        struct loopback_client *t = (struct loopback_client *)base;
        if (fiber_cancelled(t->net->loop))
                return error_set(err, ERR_CANCELLED, "%s %s: cancelled", rq->method, rq->path);
        AUTO_FREE struct loopback_stream *s = NEW(struct loopback_stream);
        if (!s)
                return error_no_memory(err);
        struct loopback_call *c = NULL;
        TRY(submit(t, rq, true, &c, err));
        t->open++;
        int r = await_answer(c, false, rq->deadline_ms, err);
        if (r == 0 && http_headers_copy(&s->base.arena, &c->headers, &s->base.headers) < 0)
                r = error_no_memory(err);
        if (r < 0) {
                t->open--;
                arena_free(&s->base.arena);
                loopback_call_leave(c);
                return r;
        }
        s->base.ops = &stream_ops;
        s->base.status = c->status;
        s->client = t;
        s->call = c;
        *ret = &TAKE_PTR(s)->base;
        return 0;
}

static struct http_transport *client_free(struct http_transport *base)
{
        struct loopback_client *t = (struct loopback_client *)base;
        ASSERT(t->open == 0);
        http_credentials_free(t->base.credentials);
        mem_free(t);
        return NULL;
}

static const struct http_transport_ops client_ops = {
        .roundtrip = client_roundtrip,
        .open = client_open,
        .free = client_free,
};

int64_t loopback_sent_ms(const struct http_exchange *x)
{
        return ((const struct loopback_call *)x)->sent_ms;
}

bool loopback_is_heard(const struct http_exchange *x)
{
        const struct loopback_call *c = (const struct loopback_call *)x;

        return !c->answer_lost && !c->client_gone;
}

struct http_transport *loopback_transport(struct loopback *lb, struct world *w,
                                          const struct loopback_faults *faults)
{
        struct loopback_client *t = NEW(struct loopback_client);
        if (!t)
                return NULL;
        t->base.ops = &client_ops;
        t->base.credentials = http_credentials_new(w);
        t->net = lb;
        t->faults = faults;
        if (!t->base.credentials) {
                mem_free(t);
                return NULL;
        }
        return &t->base;
}

/* ---- servers ---- */

static void server_free(struct loopback_server *s)
{
        fiber_group_end(s->group);
        mem_free(s);
}

/* Cuts what is open. In a fiber the handlers are joined; outside, they unwind later and loopback_free()
 * tidies up. */
static void server_close(struct loopback *lb, struct loopback_server *s)
{
        s->closed = true;
        list_for_each_safe(c, next, &s->calls, struct loopback_call, node)
                loopback_call_cut(c, "the server went away");
        if (fiber_self(lb->loop)) {
                server_free(s);
                return;
        }
        fiber_group_cancel(s->group);
        list_append(&lb->retired, &s->node);
}

static struct loopback_server *server_new(struct loopback *lb, http_handler_fn handle, void *ctx)
{
        struct loopback_server *s = NEW(struct loopback_server);
        if (!s)
                return NULL;
        list_init(&s->calls);
        list_init(&s->node);
        s->handle = handle;
        s->ctx = ctx;
        s->group = fiber_group_new(lb->loop, lb->group, "loopback server");
        if (!s->group) {
                mem_free(s);
                return NULL;
        }
        if (loop_process_running(lb->loop)) /* its handlers are stopped with who serves */
                loop_process_add(loop_process_running(lb->loop), s->group);
        return s;
}

int loopback_listen(struct loopback *lb, const char *authority, http_handler_fn handle, void *ctx)
{
        struct loopback_server *old = map_take(&lb->servers, authority);
        if (old)
                server_close(lb, old);
        if (!handle)
                return 0;
        struct loopback_server *s = server_new(lb, handle, ctx);
        if (s && map_put(&lb->servers, authority, s) == 0)
                return 0;
        if (s)
                server_free(s);
        return ERR_NO_MEMORY;
}

struct loopback *loopback_new(struct loop *l)
{
        struct loopback *lb = NEW(struct loopback);
        if (!lb)
                return NULL;
        lb->loop = l;
        list_init(&lb->retired);
        list_init(&lb->travelling);
        map_init(&lb->servers, MAP_OWN_KEYS, NULL);
        loopback_people_init(lb);
        lb->group = fiber_group_new(l, NULL, "loopback");
        if (!lb->group) {
                mem_free(lb);
                return NULL;
        }
        return lb;
}

struct loopback *loopback_free(struct loopback *lb)
{
        if (!lb)
                return NULL;
        map_for_each(&lb->servers, e) {
                struct loopback_server *s = e->value;
                server_close(lb, s);
        }
        list_for_each_safe(s, next, &lb->retired, struct loopback_server, node)
                server_free(s);
        list_for_each_safe(c, next, &lb->travelling, struct loopback_call, node) {
                timer_stop(&c->arrival);
                list_remove(&c->node);
                loopback_call_release(c);
        }
        fiber_group_end(lb->group);
        map_free(&lb->servers);
        map_free(&lb->people);
        mem_free(lb);
        return NULL;
}
