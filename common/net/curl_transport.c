#include "common/net/curl_internal.h"
#include "common/net/http_credentials.h"

#define KEEP_BUFFER_BYTES (256u << 10) /* a stream's buffers beyond this are given back after use */

struct curl_stream {
        struct http_stream base;
        struct curl_transport *transport;
        struct loop *loop;
        struct curl_transfer transfer;
        struct buf current; /* what the last read gave out */
};

/* ---- waiting ---- */

static int give_up(const struct curl_transport *t, const struct curl_transfer *tr, int code, int64_t since_ms,
                   const char *what, struct error *err)
{
        if (code == ERR_TIMEOUT) {
                curl_multi_doubt(tr->multi, t, since_ms);
                error_set(err, code, "%s: no %s before the deadline", tr->what, what);
                error_set_reason(err, HTTP_REASON_NO_ANSWER);
                return code;
        }
        return error_set(err, code, "%s: cancelled", tr->what);
}

/* Parks until the answer's head (whole: all of it) is there. */
static int await_answer(struct curl_transport *t, struct curl_transfer *tr, bool whole, int64_t deadline_ms,
                        struct error *err)
{
        struct loop *l = t->world->loop;
        int64_t since_ms = loop_now_ms(l);
        while (!tr->done && (whole || !tr->head_done)) {
                int r = waitq_wait(l, &tr->waits, deadline_ms);
                if (r < 0)
                        return give_up(t, tr, r, since_ms, "answer", err);
        }
        if (tr->done)
                return curl_transfer_status(tr, err);
        return 0;
}

static int take_headers(const struct curl_transfer *tr, struct http_headers *ret)
{
        struct http_headers h = { 0 };
        if (tr->answer_headers.n > 0) {
                h.at = arena_memdup(tr->arena, tr->answer_headers.at, tr->answer_headers.n * sizeof(*h.at));
                if (!h.at)
                        return ERR_NO_MEMORY;
                h.n = tr->answer_headers.n;
        }
        *ret = h;
        return 0;
}

/* ---- roundtrips ---- */

/* The body changes hands: the arena frees what the buffer grew. */
static int take_answer(struct curl_transfer *tr, struct arena *arena, struct http_response *ret,
                       struct error *err)
{
        struct http_response answer = { .status = tr->status };
        if (take_headers(tr, &answer.headers) < 0)
                return error_no_memory(err);
        char *body = buf_take(&tr->body, &answer.body.len);
        if (!body || arena_defer(arena, mem_free, body) < 0)
                return error_no_memory(err);
        answer.body.data = body;
        *ret = answer;
        return 0;
}

static int check_cancelled(struct curl_transport *t, const struct http_request *rq, struct error *err)
{
        if (!fiber_cancelled(t->world->loop))
                return 0;
        return error_set(err, ERR_CANCELLED, "%s %s%s: cancelled", rq->method, rq->endpoint->base_url,
                         rq->path);
}

static int ask(struct curl_transport *t, const struct http_request *rq, enum curl_way way,
               struct arena *arena, struct http_response *ret, bool *ret_lost, struct error *err)
{
        struct curl_transfer tr;
        TRY(check_cancelled(t, rq, err));
        TRY(curl_transfer_start(t, &tr, rq, arena, way, err));
        int r = await_answer(t, &tr, true, rq->deadline_ms, err);
        *ret_lost = r < 0 && curl_transfer_answer_lost(&tr);
        if (r == 0)
                r = take_answer(&tr, arena, ret, err);
        curl_transfer_end(&tr);
        return r;
}

/* An answer that came before the whole request was sent (a refusal: 401, 403, 413, 429) and was lost is asked
 * for again, over HTTP/1.1, where libcurl reads it. */
static int curl_roundtrip(struct http_transport *base, const struct http_request *rq, struct arena *arena,
                          struct http_response *ret, struct error *err)
{
        struct curl_transport *t = (struct curl_transport *)base;
        bool lost = false;
        int r = ask(t, rq, CURL_WAY_WHOLE, arena, ret, &lost, err);
        return lost ? ask(t, rq, CURL_WAY_WHOLE_HTTP1, arena, ret, &lost, err) : r;
}

/* ---- streams ---- */

static void trim(struct buf *b)
{
        if (b->cap > KEEP_BUFFER_BYTES)
                buf_free(b);
        else
                buf_clear(b);
}

static int stream_read(struct http_stream *base, int64_t deadline_ms, struct slice *ret_data,
                       struct error *err)
{
        struct curl_stream *s = (struct curl_stream *)base;
        struct curl_transfer *tr = &s->transfer;
        int64_t since_ms = loop_now_ms(s->loop);
        trim(&s->current);
        while (tr->body.len == 0 && !tr->done) {
                int r = waitq_wait(s->loop, &tr->waits, deadline_ms);
                if (r < 0)
                        return give_up(s->transport, tr, r, since_ms, "data", err);
        }
        if (tr->body.len > 0) {
                struct buf arrived = tr->body;
                tr->body = s->current;
                tr->body.failed = 0;
                s->current = arrived;
                *ret_data = (struct slice){ arrived.data, arrived.len };
                curl_transfer_go_on(tr);
                return 0;
        }
        if (tr->failed == ERR_LIMIT)
                return error_set(err, ERR_LIMIT, "%s: the reader is too slow: %zu bytes were waiting",
                                 tr->what, tr->body.max);
        TRY(curl_transfer_status(tr, err));
        return error_set(err, ERR_CLOSED, "%s: the stream ended", tr->what);
}

static void stream_close(struct http_stream *base)
{
        struct curl_stream *s = (struct curl_stream *)base;
        curl_transfer_end(&s->transfer);
        buf_free(&s->current);
        arena_free(&s->base.arena);
        mem_free(s);
}

static const struct http_stream_ops stream_ops = { .read = stream_read, .close = stream_close };

static int curl_open(struct http_transport *base, const struct http_request *rq, struct http_stream **ret,
                     struct error *err)
{
        struct curl_transport *t = (struct curl_transport *)base;
        TRY(check_cancelled(t, rq, err));
        struct curl_stream *s = NEW(struct curl_stream);
        if (!s)
                return error_no_memory(err);
        s->base.ops = &stream_ops;
        s->transport = t;
        s->loop = t->world->loop;
        buf_init(&s->current, LIMIT_STREAM_QUEUE_BYTES);
        int r = curl_transfer_start(t, &s->transfer, rq, &s->base.arena, CURL_WAY_STREAM, err);
        if (r < 0) {
                arena_free(&s->base.arena);
                mem_free(s);
                return r;
        }
        r = await_answer(t, &s->transfer, false, rq->deadline_ms, err);
        if (r == 0 && take_headers(&s->transfer, &s->base.headers) < 0)
                r = error_no_memory(err);
        if (r < 0) {
                stream_close(&s->base);
                return r;
        }
        s->base.status = s->transfer.status;
        *ret = &s->base;
        return 0;
}

/* ---- life ---- */

static struct http_transport *curl_free_transport(struct http_transport *base)
{
        struct curl_transport *t = (struct curl_transport *)base;
        list_for_each_safe(p, next, &t->pools, struct curl_pool, node)
                curl_pool_free(p);
        http_credentials_free(t->base.credentials);
        mem_free(t);
        curl_global_cleanup();
        return NULL;
}

static const struct http_transport_ops transport_ops = {
        .roundtrip = curl_roundtrip,
        .open = curl_open,
        .free = curl_free_transport,
};

/* libcurl counts its global initialisations itself, so any number of transports may come and go. */
struct http_transport *http_transport_curl(struct world *w, struct error *err)
{
        if (!loop_uv(w->loop)) {
                error_set(err, ERR_UNSUPPORTED, "HTTP client: a simulated loop has no sockets");
                return NULL;
        }
        struct curl_transport *t = NEW(struct curl_transport);
        struct http_credentials *credentials = http_credentials_new(w);
        if (!t || !credentials || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
                http_credentials_free(credentials);
                mem_free(t);
                error_no_memory(err);
                return NULL;
        }
        t->base.ops = &transport_ops;
        t->base.credentials = credentials;
        t->world = w;
        t->rest_ms = CURL_REST_MS;
        t->deaf_ms = CURL_DEAF_MS;
        list_init(&t->pools);
        return &t->base;
}
