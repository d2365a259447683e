/* Answers on a connection of libwebsockets: framing by length, by chunks, or by the connection's end for
 * HTTP/1.0. */
#include <strings.h>

#include "common/base/limits.h"
#include "common/net/http_server_internal.h"

#define WRITE_BYTES (16u << 10) /* handed to libwebsockets at a time */

static struct connection *connection_of(const struct http_exchange *x)
{
        return (struct connection *)x;
}

void http_server_wake(struct connection *c)
{
        waitq_wake_all(&c->drained);
        if (c->watcher)
                fiber_wake(c->watcher);
}

/* A connection from which libwebsockets may not read is not written to either. */
void http_server_want_write(struct connection *c)
{
        if (!c->wsi || c->leaving)
                return;
        lws_rx_flow_control(c->wsi, 1);
        lws_callback_on_writable(c->wsi);
}

/* ---- the head of the answer ---- */

struct head {
        struct lws *wsi;
        unsigned char text[LWS_PRE + LIMIT_REPLY_HEAD_BYTES];
        unsigned char *at, *end;
};

static int add_header(struct head *h, const char *name, const char *value)
{
        char with_colon[128];
        int n = snprintf(with_colon, sizeof(with_colon), "%s:", name);

        if (strpbrk(name, "\r\n: ") || strpbrk(value, "\r\n") || n >= (int)sizeof(with_colon))
                return ERR_INVALID;
        return lws_add_http_header_by_name(h->wsi, (const unsigned char *)with_colon,
                                           (const unsigned char *)value, (int)strlen(value), &h->at, h->end)
                       ? ERR_LIMIT
                       : 0;
}

/* Decides how the body is delimited; the headers that say so are ours to write. */
static int add_framing(struct connection *c, struct head *h, int status, const char *length)
{
        bool never_body = status == 204 || status == 304 || status < 200;

        c->no_body = never_body || text_equal(c->x.method, "HEAD");
        c->length_left = 0;
        c->chunked = false;
        c->has_length = length != NULL;
        if (length && !text_parse_u64(length, &c->length_left))
                return ERR_INVALID;
        if (length && !never_body)
                return add_header(h, "Content-Length", length);
        if (length || never_body)
                return 0;
        if (c->http_1_0) {
                c->close_after = true;
                return 0;
        }
        c->chunked = true;
        return add_header(h, "Transfer-Encoding", "chunked");
}

static int append_head(struct connection *c, int status, const struct http_headers *headers)
{
        struct head h = { .wsi = c->wsi, .at = h.text + LWS_PRE, .end = h.text + sizeof(h.text) - 1 };
        const char *length = headers ? http_header_get(headers, "Content-Length") : NULL;

        if (lws_add_http_header_status(c->wsi, (unsigned)status, &h.at, h.end))
                return ERR_LIMIT;
        TRY(add_framing(c, &h, status, length));
        for (size_t i = 0; headers && i < headers->n; i++) {
                const struct http_header *from = &headers->at[i];

                if (strcasecmp(from->name, "Content-Length") != 0 &&
                    strcasecmp(from->name, "Transfer-Encoding") != 0)
                        TRY(add_header(&h, from->name, from->value));
        }
        if (c->close_after)
                TRY(add_header(&h, "Connection", "close"));
        if (lws_finalize_http_header(c->wsi, &h.at, h.end))
                return ERR_LIMIT;
        return buf_append(&c->out, h.text + LWS_PRE, (size_t)(h.at - h.text) - LWS_PRE);
}

static int exchange_begin(struct http_exchange *x, int status, const struct http_headers *headers)
{
        struct connection *c = connection_of(x);

        ASSERT(!c->began);
        if (!c->wsi) {
                c->began = true;
                return ERR_CLOSED;
        }
        TRY(append_head(c, status, headers));
        c->began = true;
        http_server_want_write(c);
        return 0;
}

/* ---- the body ---- */

static int queue(struct connection *c, const void *data, size_t n)
{
        TRY(buf_append(&c->out, data, n));
        http_server_want_write(c);
        return 0;
}

static int exchange_write(struct http_exchange *x, const void *data, size_t n)
{
        struct connection *c = connection_of(x);

        if (!c->began || c->ended)
                return ERR_INVALID;
        if (!c->wsi || c->leaving)
                return ERR_CLOSED;
        if (n == 0 || c->no_body)
                return 0;
        if (c->has_length) {
                if (n > c->length_left)
                        return ERR_INVALID;
                c->length_left -= n;
        }
        if (!c->chunked)
                return queue(c, data, n);
        TRY(buf_printf(&c->out, "%zx\r\n", n));
        TRY(buf_append(&c->out, data, n));
        return queue(c, "\r\n", 2);
}

static int exchange_end(struct http_exchange *x)
{
        struct connection *c = connection_of(x);

        if (!c->began || c->ended)
                return ERR_INVALID;
        c->ended = true;
        if (!c->wsi)
                return ERR_CLOSED;
        if (c->no_body)
                return 0;
        if (c->chunked)
                return queue(c, "0\r\n\r\n", 5);
        if (c->length_left == 0)
                return 0;
        c->close_after = true; /* less than promised: the connection's end says so */
        return ERR_INVALID;
}

int http_server_write(struct connection *c)
{
        unsigned char piece[LWS_PRE + WRITE_BYTES];
        size_t n = MIN(c->out.len, WRITE_BYTES);

        if (n > 0) {
                memcpy(piece + LWS_PRE, c->out.data, n);
                if (lws_write(c->wsi, piece + LWS_PRE, n, LWS_WRITE_HTTP) < (int)n)
                        return -1;
                buf_consume(&c->out, n);
                waitq_wake_all(&c->drained);
        }
        if (c->out.len > 0 || lws_partial_buffered(c->wsi))
                lws_callback_on_writable(c->wsi);
        else if (c->running)
                lws_rx_flow_control(c->wsi, 0);
        return 0;
}

/* ---- waiting for the client ---- */

static size_t exchange_queued(const struct http_exchange *x)
{
        return connection_of(x)->wsi ? connection_of(x)->out.len : 0;
}

static bool exchange_gone(const struct http_exchange *x)
{
        return !connection_of(x)->wsi;
}

static int exchange_drain(struct http_exchange *x, size_t level, int64_t deadline_ms)
{
        struct connection *c = connection_of(x);

        while (c->wsi && c->out.len > level)
                TRY(waitq_wait(x->loop, &c->drained, deadline_ms));
        return c->wsi ? 0 : ERR_CLOSED;
}

static int exchange_wait(struct http_exchange *x, struct waitq *q, int64_t deadline_ms)
{
        struct connection *c = connection_of(x);
        int r;

        if (!c->wsi)
                return ERR_CLOSED;
        c->watcher = fiber_self(x->loop);
        r = waitq_wait(x->loop, q, deadline_ms);
        c->watcher = NULL;
        return c->wsi ? r : ERR_CLOSED;
}

const struct http_exchange_ops http_server_exchange_ops = {
        .begin = exchange_begin,
        .write = exchange_write,
        .queued = exchange_queued,
        .drain = exchange_drain,
        .gone = exchange_gone,
        .wait = exchange_wait,
        .end = exchange_end,
};
