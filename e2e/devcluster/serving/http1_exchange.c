/* Answers on an HTTP/1.1 connection: framing by length, by chunks, or by the connection's end for HTTP/1.0.
 */
#include <strings.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "e2e/devcluster/serving/http1_conn_internal.h"

static struct http1_conn *conn_of(const struct http_exchange *x)
{
        return (struct http1_conn *)x;
}

void http1_exchange_wake(struct http1_conn *c)
{
        waitq_wake_all(&c->drained);
        if (c->watcher)
                fiber_wake(c->watcher);
}

/* ---- the head of the answer ---- */

static int append_header(struct buf *b, const char *name, const char *value)
{
        if (strpbrk(name, "\r\n: ") || strpbrk(value, "\r\n"))
                return ERR_INVALID;
        return buf_printf(b, "%s: %s\r\n", name, value);
}

/* Decides how the body is delimited; the headers that say so are ours to write. */
static int choose_framing(struct http1_conn *c, int status, const struct http_headers *headers,
                          struct buf *head)
{
        const char *length = headers ? http_header_get(headers, "Content-Length") : NULL;
        bool never_body = status == 204 || status == 304 || status < 200;
        c->no_body = never_body || strcmp(c->x.method, "HEAD") == 0;
        c->length_left = 0;
        c->chunked = false;
        c->has_length = length != NULL;
        if (length && !text_parse_u64(length, &c->length_left))
                return ERR_INVALID;
        if (length && !never_body)
                return append_header(head, "Content-Length", length);
        if (length || never_body)
                return 0;
        if (c->parser.request.http_1_0) {
                c->close_after = true;
                return 0;
        }
        c->chunked = true;
        return append_header(head, "Transfer-Encoding", "chunked");
}

static int write_head(struct http1_conn *c, int status, const struct http_headers *headers)
{
        AUTO_BUF struct buf head;
        buf_init(&head, LIMIT_HEADER_BYTES);
        buf_printf(&head, "HTTP/1.1 %d %s\r\n", status, http_status_text(status));
        TRY(choose_framing(c, status, headers, &head));
        for (size_t i = 0; headers && i < headers->n; i++) {
                const struct http_header *h = &headers->at[i];
                if (strcasecmp(h->name, "Content-Length") != 0 &&
                    strcasecmp(h->name, "Transfer-Encoding") != 0)
                        TRY(append_header(&head, h->name, h->value));
        }
        if (c->close_after && status != 101)
                buf_append_str(&head, "Connection: close\r\n");
        else if (c->parser.request.http_1_0)
                buf_append_str(&head, "Connection: keep-alive\r\n");
        buf_append_str(&head, "\r\n");
        TRY(buf_status(&head, NULL, ""));
        return tls_stream_write(c->stream, head.data, head.len);
}

static int exchange_begin(struct http_exchange *x, int status, const struct http_headers *headers)
{
        struct http1_conn *c = conn_of(x);
        ASSERT(!c->began);
        if (!c->stream) {
                c->began = true;
                return ERR_CLOSED;
        }
        TRY(write_head(c, status, headers));
        c->began = true;
        return 0;
}

/* ---- the body ---- */

static int exchange_write(struct http_exchange *x, const void *data, size_t n)
{
        struct http1_conn *c = conn_of(x);
        if (!c->began || c->ended)
                return ERR_INVALID;
        if (!c->stream)
                return ERR_CLOSED;
        if (n == 0 || c->no_body)
                return 0;
        if (c->has_length) {
                if (n > c->length_left)
                        return ERR_INVALID;
                c->length_left -= n;
        }
        if (!c->chunked)
                return tls_stream_write(c->stream, data, n);
        char size[24];
        int size_len = snprintf(size, sizeof(size), "%zx\r\n", n);
        TRY(tls_stream_write(c->stream, size, (size_t)size_len));
        TRY(tls_stream_write(c->stream, data, n));
        return tls_stream_write(c->stream, "\r\n", 2);
}

static int exchange_end(struct http_exchange *x)
{
        struct http1_conn *c = conn_of(x);
        if (!c->began || c->ended)
                return ERR_INVALID;
        c->ended = true;
        if (!c->stream)
                return ERR_CLOSED;
        if (c->no_body)
                return 0;
        if (c->chunked)
                return tls_stream_write(c->stream, "0\r\n\r\n", 5);
        if (c->length_left == 0)
                return 0;
        tls_stream_close(c->stream, 0); /* less than promised: only a cut says so */
        return ERR_INVALID;
}

/* ---- waiting for the client ---- */

static size_t exchange_queued(const struct http_exchange *x)
{
        struct http1_conn *c = conn_of(x);
        return c->stream ? tls_stream_queued(c->stream) : 0;
}

static bool exchange_gone(const struct http_exchange *x)
{
        return !conn_of(x)->stream;
}

static int exchange_drain(struct http_exchange *x, size_t level, int64_t deadline_ms)
{
        struct http1_conn *c = conn_of(x);
        while (c->stream && tls_stream_queued(c->stream) > level)
                TRY(waitq_wait(c->loop, &c->drained, deadline_ms));
        return c->stream ? 0 : ERR_CLOSED;
}

static int exchange_wait(struct http_exchange *x, struct waitq *q, int64_t deadline_ms)
{
        struct http1_conn *c = conn_of(x);
        if (!c->stream)
                return ERR_CLOSED;
        c->watcher = fiber_self(c->loop);
        int r = waitq_wait(c->loop, q, deadline_ms);
        c->watcher = NULL;
        return c->stream ? r : ERR_CLOSED;
}

const struct http_exchange_ops http1_exchange_ops = {
        .begin = exchange_begin,
        .write = exchange_write,
        .queued = exchange_queued,
        .drain = exchange_drain,
        .gone = exchange_gone,
        .wait = exchange_wait,
        .end = exchange_end,
};
