#include "common/base/limits.h"
#include "common/base/memory.h"
#include "e2e/devcluster/serving/http1_conn_internal.h"
#include "e2e/devcluster/serving/websocket.h"

#define DEFAULT_IDLE_MS 75000
#define CLOSE_FLUSH_MS 5000
#define PIPELINE_BYTES (64u << 10) /* held of further requests while one is answered */
#define UNTAKEN_BYTES (64u << 10)  /* of answers: who takes them no faster gets no further ones */

static void take_held(struct http1_conn *c);
static void next_request(struct http1_conn *c);

/* ---- life ---- */

static void conn_free(struct http1_conn *c)
{
        timer_stop(&c->idle);
        if (c->o.ended)
                c->o.ended(c->o.ctx);
        http1_parser_free(&c->parser);
        buf_free(&c->input);
        mem_free(c);
}

static void on_closed(void *owner, struct tls_stream *s, const struct error *why)
{
        struct http1_conn *c = owner;
        c->stream = NULL;
        if (c->running)
                http1_exchange_wake(c);
        else
                conn_free(c);
}

static void on_drained(void *owner, struct tls_stream *s)
{
        struct http1_conn *c = owner;
        waitq_wake_all(&c->drained);
        if (!c->running && !(c->close_after && c->ended))
                take_held(c);
}

static void on_idle(struct timer *t)
{
        struct http1_conn *c = container_of(t, struct http1_conn, idle);
        if (c->stream)
                tls_stream_close(c->stream, CLOSE_FLUSH_MS);
}

static void start_idle_timer(struct http1_conn *c)
{
        int64_t ms = c->o.idle_ms ? c->o.idle_ms : DEFAULT_IDLE_MS;
        if (timer_start(c->loop, &c->idle, loop_now_ms(c->loop) + ms, on_idle) < 0)
                tls_stream_close(c->stream, 0);
}

/* ---- handlers ---- */

/* What the handler left open. */
static void settle_answer(struct http1_conn *c)
{
        if (!c->began && c->stream) {
                int status = fiber_cancelled(c->loop) ? 503 : 500;
                c->close_after = true;
                http_reply(&c->x, status, "text/plain", SLICE("no answer\n"), NULL);
        }
        if (!c->stream)
                return;
        if (!c->ended)
                tls_stream_close(c->stream, 0);
        else if (c->close_after)
                tls_stream_close(c->stream, CLOSE_FLUSH_MS);
}

static void run_handler(void *ctx)
{
        struct http1_conn *c = ctx;
        c->o.handle(c->o.ctx, &c->x);
        websocket_close(c->websocket, 1011); /* one that the handler left open */
        settle_answer(c);
        c->running = false;
        if (!c->stream)
                conn_free(c);
        else if (c->ended && !c->close_after)
                next_request(c);
}

/* An error that the parser found: answered, and nothing further is read from this client. */
static void refuse(struct http1_conn *c, int status, const char *text)
{
        char head[256];
        int n = snprintf(head, sizeof(head),
                         "HTTP/1.1 %d Refused\r\nConnection: close\r\nContent-Type: text/plain\r\n"
                         "Content-Length: %zu\r\n\r\n",
                         status, strlen(text) + 1);
        tls_stream_write(c->stream, head, (size_t)n);
        tls_stream_write(c->stream, text, strlen(text));
        tls_stream_write(c->stream, "\n", 1);
        tls_stream_linger(c->stream);
        tls_stream_close(c->stream, CLOSE_FLUSH_MS);
}

static int copy_peer(struct http1_conn *c)
{
        struct arena *arena = &c->parser.arena;
        c->x.remote_address = arena_strdup(arena, tls_stream_remote(c->stream));
        const char *name = tls_stream_peer_common_name(c->stream);
        const char *const *from = tls_stream_peer_organizations(c->stream);
        if (!name)
                return c->x.remote_address ? 0 : ERR_NO_MEMORY;
        size_t n = 0;
        while (from[n])
                n++;
        const char **to = ARENA_NEW_ARRAY(arena, const char *, n + 1);
        for (size_t i = 0; to && i < n; i++)
                if (!(to[i] = arena_strdup(arena, from[i])))
                        return ERR_NO_MEMORY;
        c->x.peer_common_name = arena_strdup(arena, name);
        c->x.peer_fingerprint = arena_strdup(arena, tls_stream_peer_fingerprint(c->stream));
        c->x.peer_organizations = to;
        return c->x.remote_address && c->x.peer_common_name && c->x.peer_fingerprint && to ? 0
                                                                                           : ERR_NO_MEMORY;
}

static void start_handler(struct http1_conn *c)
{
        const struct http1_request *rq = &c->parser.request;
        c->x = (struct http_exchange){
                .ops = &http1_exchange_ops,
                .loop = c->loop,
                .arena = &c->parser.arena,
                .method = rq->method,
                .path = rq->path,
                .query = rq->query,
                .headers = rq->headers,
                .body = rq->body,
        };
        c->began = c->ended = false;
        c->close_after = !rq->keep_alive;
        timer_stop(&c->idle);
        if (copy_peer(c) == 0 && fiber_spawn(c->o.group, "http handler", run_handler, c))
                c->running = true;
        else
                refuse(c, 503, "no memory for another request");
}

/* ---- input ---- */

static void answer_expectation(struct http1_conn *c)
{
        if (!c->parser.headers_done || !c->parser.request.expect_continue || c->continued)
                return;
        c->continued = true;
        tls_stream_write(c->stream, "HTTP/1.1 100 Continue\r\n\r\n", 25);
}

static bool is_behind(const struct http1_conn *c)
{
        return tls_stream_queued(c->stream) > UNTAKEN_BYTES;
}

/* Keeps what belongs to later requests; a client that sends too many of them is read no further. */
static void keep_input(struct http1_conn *c, const char *data, size_t n)
{
        if (n == 0)
                return;
        if (buf_append(&c->input, data, n) < 0)
                tls_stream_close(c->stream, 0);
        else if (c->input.len > MIN(PIPELINE_BYTES, c->parser.limits.header_bytes))
                tls_stream_pause(c->stream, true);
}

static void feed(struct http1_conn *c, const char *data, size_t n)
{
        size_t used = 0;
        struct error err;
        int r = http1_parse(&c->parser, data, n, &used, &err);
        if (r < 0) {
                refuse(c, c->parser.http_status, err.text);
                return;
        }
        if (r == 0) {
                answer_expectation(c);
                return;
        }
        keep_input(c, data + used, n - used);
        start_handler(c);
}

/* The requests that came meanwhile, once the client has taken the answers so far. */
static void take_held(struct http1_conn *c)
{
        if (c->input.len == 0 || is_behind(c))
                return;
        struct buf input = c->input;
        buf_init(&c->input, input.max);
        tls_stream_pause(c->stream, false);
        feed(c, input.data, input.len);
        buf_free(&input);
}

static void next_request(struct http1_conn *c)
{
        http1_parser_reset(&c->parser);
        c->continued = false;
        start_idle_timer(c);
        take_held(c);
}

static void on_data(void *owner, struct tls_stream *s, const char *data, size_t n)
{
        struct http1_conn *c = owner;
        if (c->websocket)
                websocket_input(c->websocket, data, n);
        else if (c->close_after && c->ended)
                return; /* nothing more is answered here */
        else if (c->running || is_behind(c))
                keep_input(c, data, n);
        else
                feed(c, data, n);
}

static const struct tls_stream_events stream_events = {
        .data = on_data,
        .drained = on_drained,
        .closed = on_closed,
};

int http1_conn_start(struct tls_stream *s, const struct http1_conn_options *o)
{
        struct http1_conn *c = NEW(struct http1_conn);
        if (!c)
                return ERR_NO_MEMORY;
        c->o = *o;
        c->loop = tls_stream_loop(s);
        c->stream = s;
        http1_parser_init(&c->parser, &o->limits);
        buf_init(&c->input, PIPELINE_BYTES + (256u << 10));
        list_init(&c->drained.waiters);
        tls_stream_set_events(s, &stream_events, c);
        start_idle_timer(c);
        return 0;
}
