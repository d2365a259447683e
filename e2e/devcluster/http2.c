#include "e2e/devcluster/http2.h"

#include <nghttp2/nghttp2.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/base/vec.h"

#define STREAMS_MAX 2000
#define STREAM_WINDOW (1 << 20)
#define CONNECTION_WINDOW (16 << 20)
#define SEND_AHEAD (512u << 10) /* bytes given to the connection before it has sent them */
#define ANSWER_MAX (LIMIT_RESPONSE_BYTES + (8u << 20))
#define HEADERS_MAX 100

struct connection {
        struct tls_stream *tls; /* NULL once closed */
        struct loop *loop;
        nghttp2_session *session;
        struct http2_options options;
        struct list streams;
        size_t live; /* streams not freed yet */
        bool flushing, closed;
};

struct stream {
        struct http_exchange x;
        struct list node;
        struct connection *connection;
        int32_t id;
        int holders; /* the session and the handler */
        struct arena arena;
        VEC(struct http_header) headers;
        struct buf body, out;
        bool began, ended, gone, deferred;
        bool received, handled; /* the whole request is here; the handler has it */
        struct waitq waits;
        struct fiber *watcher;
};

/* ---- life ---- */

static void connection_release(struct connection *c)
{
        if (!c->closed || c->live > 0)
                return;
        nghttp2_session_del(c->session);
        mem_free(c);
}

static void stream_release(struct stream *s)
{
        if (--s->holders > 0)
                return;
        struct connection *c = s->connection;
        list_remove(&s->node);
        vec_free(&s->headers);
        buf_free(&s->body);
        buf_free(&s->out);
        arena_free(&s->arena);
        mem_free(s);
        c->live--;
        connection_release(c);
}

static void stream_gone(struct stream *s)
{
        s->gone = true;
        waitq_wake_all(&s->waits);
        if (s->watcher)
                fiber_wake(s->watcher);
}

/* Hands what the session has to say to the connection, as far as that takes it. */
static void flush(struct connection *c)
{
        if (c->flushing || c->closed)
                return;
        c->flushing = true;
        const uint8_t *data;
        while (tls_stream_queued(c->tls) < SEND_AHEAD) {
                ssize_t n = nghttp2_session_mem_send(c->session, &data);
                if (n <= 0 || tls_stream_write(c->tls, data, (size_t)n) < 0)
                        break;
        }
        c->flushing = false;
        if (!nghttp2_session_want_read(c->session) && !nghttp2_session_want_write(c->session))
                tls_stream_close(c->tls, 1000);
}

/* ---- the handler's side ---- */

static ssize_t read_answer(nghttp2_session *session, int32_t id, uint8_t *buf, size_t length, uint32_t *flags,
                           nghttp2_data_source *source, void *user)
{
        struct stream *s = source->ptr;
        size_t n = MIN(length, s->out.len);
        if (n == 0 && !s->ended) {
                s->deferred = true;
                return NGHTTP2_ERR_DEFERRED;
        }
        if (n > 0) {
                memcpy(buf, s->out.data, n);
                buf_consume(&s->out, n);
                waitq_wake_all(&s->waits);
        }
        if (s->ended && s->out.len == 0)
                *flags |= NGHTTP2_DATA_FLAG_EOF;
        return (ssize_t)n;
}

static nghttp2_nv header_of(const char *name, const char *value)
{
        return (nghttp2_nv){ (uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value),
                             NGHTTP2_NV_FLAG_NONE };
}

static const char *lower(struct arena *a, const char *name)
{
        char *copy = arena_strdup(a, name);
        for (char *p = copy; p && *p; p++)
                if (*p >= 'A' && *p <= 'Z')
                        *p = (char)(*p + 'a' - 'A');
        return copy;
}

static int exchange_begin(struct http_exchange *x, int status, const struct http_headers *headers)
{
        struct stream *s = (struct stream *)x;
        nghttp2_nv nv[HEADERS_MAX + 1];
        size_t n = 0;
        ASSERT(!s->began);
        if (s->gone)
                return ERR_CLOSED;
        const char *code = arena_printf(&s->arena, "%d", status);
        if (!code)
                return ERR_NO_MEMORY;
        nv[n++] = header_of(":status", code);
        for (size_t i = 0; headers && i < headers->n && n < HEADERS_MAX; i++) {
                const char *name = lower(&s->arena, headers->at[i].name);
                if (!name || !headers->at[i].value)
                        return ERR_NO_MEMORY;
                nv[n++] = header_of(name, headers->at[i].value);
        }
        nghttp2_data_provider provider = { .source = { .ptr = s }, .read_callback = read_answer };
        if (nghttp2_submit_response(s->connection->session, s->id, nv, n, &provider) != 0)
                return ERR_NO_MEMORY;
        s->began = true;
        flush(s->connection);
        return 0;
}

static void resume(struct stream *s)
{
        if (s->deferred) {
                s->deferred = false;
                (void)nghttp2_session_resume_data(s->connection->session, s->id);
        }
        flush(s->connection);
}

static int exchange_write(struct http_exchange *x, const void *data, size_t n)
{
        struct stream *s = (struct stream *)x;
        if (!s->began || s->ended)
                return ERR_INVALID;
        if (s->gone)
                return ERR_CLOSED;
        int r = buf_append(&s->out, data, n);
        if (r < 0)
                return r;
        resume(s);
        return 0;
}

static size_t exchange_queued(const struct http_exchange *x)
{
        return ((const struct stream *)x)->out.len;
}

static bool exchange_gone(const struct http_exchange *x)
{
        return ((const struct stream *)x)->gone;
}

static int exchange_drain(struct http_exchange *x, size_t level, int64_t deadline_ms)
{
        struct stream *s = (struct stream *)x;
        while (!s->gone && s->out.len > level)
                TRY(waitq_wait(x->loop, &s->waits, deadline_ms));
        return s->gone ? ERR_CLOSED : 0;
}

static int exchange_wait(struct http_exchange *x, struct waitq *q, int64_t deadline_ms)
{
        struct stream *s = (struct stream *)x;
        if (s->gone)
                return ERR_CLOSED;
        s->watcher = fiber_self(x->loop);
        int r = waitq_wait(x->loop, q, deadline_ms);
        s->watcher = NULL;
        return s->gone ? ERR_CLOSED : r;
}

static int exchange_end(struct http_exchange *x)
{
        struct stream *s = (struct stream *)x;
        if (!s->began || s->ended)
                return ERR_INVALID;
        s->ended = true;
        if (s->gone)
                return ERR_CLOSED;
        resume(s);
        return 0;
}

static const struct http_exchange_ops exchange_ops = { .begin = exchange_begin,
                                                       .write = exchange_write,
                                                       .queued = exchange_queued,
                                                       .drain = exchange_drain,
                                                       .gone = exchange_gone,
                                                       .wait = exchange_wait,
                                                       .end = exchange_end };

static void run_handler(void *ctx)
{
        struct stream *s = ctx;
        struct connection *c = s->connection;
        if (!s->gone)
                c->options.handle(c->options.ctx, &s->x);
        if (!s->gone && !s->began)
                (void)http_reply(&s->x, 500, "text/plain", SLICE("the handler gave no answer\n"), NULL);
        if (!s->gone && !s->ended) { /* left open: the client must not take it for whole */
                (void)nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_INTERNAL_ERROR);
                flush(c);
        }
        stream_release(s);
}

/* ---- the request ---- */

static int refuse(struct connection *c, int32_t id)
{
        return nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM) == 0
                       ? 0
                       : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
        struct connection *c = user;
        if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
                return 0;
        struct stream *s = NEW(struct stream);
        if (!s)
                return refuse(c, frame->hd.stream_id);
        s->connection = c;
        s->id = frame->hd.stream_id;
        s->holders = 1;
        buf_init(&s->body, LIMIT_REQUEST_BODY_BYTES + 1);
        buf_init(&s->out, ANSWER_MAX);
        list_init(&s->waits.waiters);
        list_append(&c->streams, &s->node);
        c->live++;
        s->x = (struct http_exchange){ .ops = &exchange_ops,
                                       .loop = c->loop,
                                       .arena = &s->arena,
                                       .method = "",
                                       .path = "",
                                       .query = "",
                                       .peer_common_name = tls_stream_peer_common_name(c->tls),
                                       .peer_organizations = tls_stream_peer_organizations(c->tls),
                                       .peer_fingerprint = tls_stream_peer_fingerprint(c->tls),
                                       .remote_address = tls_stream_remote(c->tls) };
        return nghttp2_session_set_stream_user_data(session, s->id, s);
}

static int set_path(struct stream *s, const char *value)
{
        const char *mark = strchr(value, '?');
        s->x.path = mark ? arena_strndup(&s->arena, value, (size_t)(mark - value)) : value;
        s->x.query = mark ? mark + 1 : "";
        return s->x.path ? 0 : ERR_NO_MEMORY;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags, void *user)
{
        struct stream *s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
        if (!s)
                return 0;
        const char *n = arena_strndup(&s->arena, (const char *)name, name_len);
        const char *v = arena_strndup(&s->arena, (const char *)value, value_len);
        if (!n || !v || s->headers.n >= HEADERS_MAX || s->arena.used > LIMIT_HEADER_BYTES)
                return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        if (strcmp(n, ":method") == 0)
                s->x.method = v;
        else if (strcmp(n, ":path") == 0)
                return set_path(s, v) < 0 ? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE : 0;
        else if (strcmp(n, ":authority") == 0)
                n = "host";
        if (*n != ':' && vec_push(&s->headers, ((struct http_header){ n, v })) < 0)
                return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        return 0;
}

static int start_handler(struct connection *c, struct stream *s)
{
        if (s->handled)
                return 0;
        s->handled = true;
        s->x.headers = (struct http_headers){ s->headers.at, s->headers.n };
        s->x.body = (struct slice){ s->body.data, s->body.len };
        s->holders++;
        if (fiber_spawn(c->options.group, "devcluster request", run_handler, s))
                return 0;
        s->holders--;
        return refuse(c, s->id);
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t n,
                   void *user)
{
        struct stream *s = nghttp2_session_get_stream_user_data(session, id);
        if (!s)
                return 0;
        /* One byte too many stays in the body: the handler sees that it is too long and says so at once. */
        size_t room = LIMIT_REQUEST_BODY_BYTES + 1 - s->body.len;
        if (buf_append(&s->body, data, MIN(n, room)) < 0)
                return NGHTTP2_ERR_CALLBACK_FAILURE;
        return n >= room ? start_handler(user, s) : 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
        if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
                return 0;
        if (!(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
                return 0;
        struct stream *s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
        if (!s)
                return 0;
        s->received = true;
        return start_handler(user, s);
}

/* Whoever has the whole answer need not send the rest of a request that was too long. */
static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
        if (frame->hd.type != NGHTTP2_DATA || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
                return 0;
        struct stream *s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
        if (!s || s->received)
                return 0;
        return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_NO_ERROR) == 0
                       ? 0
                       : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t error_code, void *user)
{
        struct stream *s = nghttp2_session_get_stream_user_data(session, id);
        if (!s)
                return 0;
        (void)nghttp2_session_set_stream_user_data(session, id, NULL);
        stream_gone(s);
        stream_release(s);
        return 0;
}

/* ---- the connection ---- */

static void on_bytes(void *owner, struct tls_stream *tls, const char *data, size_t n)
{
        struct connection *c = owner;
        ssize_t r = nghttp2_session_mem_recv(c->session, (const uint8_t *)data, n);
        if (r < 0)
                (void)nghttp2_session_terminate_session(c->session, NGHTTP2_PROTOCOL_ERROR);
        flush(c);
}

static void on_drained(void *owner, struct tls_stream *tls)
{
        flush(owner);
}

/* nghttp2 calls no stream-close callback for what is open when a session ends: done here. */
static void on_closed(void *owner, struct tls_stream *tls, const struct error *why)
{
        struct connection *c = owner;
        c->closed = true;
        c->tls = NULL;
        c->live++; /* keeps the connection while the streams go */
        list_for_each_safe(s, next, &c->streams, struct stream, node) {
                bool held = nghttp2_session_get_stream_user_data(c->session, s->id) == s;
                (void)nghttp2_session_set_stream_user_data(c->session, s->id, NULL);
                stream_gone(s);
                s->x.peer_common_name = NULL;
                s->x.peer_fingerprint = NULL;
                s->x.peer_organizations = NULL;
                if (held)
                        stream_release(s);
        }
        c->live--;
        connection_release(c);
}

static const struct tls_stream_events events = { .data = on_bytes,
                                                 .drained = on_drained,
                                                 .closed = on_closed };

static int new_session(struct connection *c)
{
        nghttp2_session_callbacks *callbacks;
        if (nghttp2_session_callbacks_new(&callbacks) != 0)
                return ERR_NO_MEMORY;
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
        nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
        int r = nghttp2_session_server_new(&c->session, callbacks, c);
        nghttp2_session_callbacks_del(callbacks);
        if (r != 0)
                return ERR_NO_MEMORY;
        const nghttp2_settings_entry settings[] = { { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS_MAX },
                                                    { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW } };
        if (nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings, ARRAY_LEN(settings)) != 0 ||
            nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW) != 0)
                return ERR_NO_MEMORY;
        return 0;
}

int http2_start(struct tls_stream *tls, const struct http2_options *o)
{
        struct connection *c = NEW(struct connection);
        if (!c)
                return ERR_NO_MEMORY;
        c->tls = tls;
        c->loop = tls_stream_loop(tls);
        c->options = *o;
        list_init(&c->streams);
        if (new_session(c) < 0) {
                nghttp2_session_del(c->session);
                mem_free(c);
                return ERR_NO_MEMORY;
        }
        tls_stream_set_events(tls, &events, c);
        flush(c);
        return 0;
}
