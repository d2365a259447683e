#include <openssl/sha.h>

#include <strings.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "e2e/devcluster/serving/http1_conn_internal.h"
#include "e2e/devcluster/serving/websocket.h"

#define FRAME_HEAD_MAX 14
#define CONTROL_MAX 125

enum opcode { CONTINUATION = 0, TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10 };
enum close_code { PROTOCOL_ERROR = 1002, BAD_TEXT = 1007, TOO_BIG = 1009 };

struct websocket {
        struct http1_conn *conn;
        struct buf input;   /* bytes of frames not complete yet */
        struct buf message; /* gathered from fragments */
        struct buf current; /* what the last receive gave out */
        bool in_message, binary;
        bool ready; /* message is whole */
        bool said_close;
        int ended; /* 0, ERR_CLOSED (the peer said goodbye) or ERR_RETRY (it broke the rules) */
};

/* ---- sending ---- */

static int send_frame(struct websocket *ws, enum opcode opcode, const void *data, size_t n)
{
        struct tls_stream *s = ws->conn->stream;
        if (!s || ws->said_close)
                return ERR_CLOSED;
        unsigned char head[10] = { 0x80 | opcode };
        size_t head_len = 2;
        if (n <= CONTROL_MAX) {
                head[1] = (unsigned char)n;
        } else {
                size_t bytes = n <= UINT16_MAX ? 2 : 8;
                head[1] = bytes == 2 ? 126 : 127;
                for (size_t i = 0; i < bytes; i++)
                        head[2 + i] = (unsigned char)((uint64_t)n >> 8 * (bytes - 1 - i));
                head_len += bytes;
        }
        TRY(tls_stream_write(s, head, head_len));
        return tls_stream_write(s, data, n);
}

static void say_close(struct websocket *ws, int code)
{
        unsigned char payload[2] = { (unsigned char)(code >> 8), (unsigned char)code };
        if (send_frame(ws, CLOSE, payload, sizeof(payload)) == 0)
                ws->said_close = true;
}

int websocket_send(struct websocket *ws, struct slice message, bool binary)
{
        struct http1_conn *c = ws->conn;
        if (c->stream && tls_stream_queued(c->stream) + message.len > LIMIT_STREAM_QUEUE_BYTES)
                return ERR_LIMIT;
        return send_frame(ws, binary ? BINARY : TEXT, message.data, message.len);
}

/* ---- receiving ---- */

struct frame {
        bool final;
        enum opcode opcode;
        unsigned char mask[4];
        size_t head_len, len;
};

static void fail(struct websocket *ws, int close_code)
{
        say_close(ws, close_code);
        ws->ended = ERR_RETRY;
}

/* Reads the head of the next frame: 1, 0 if more bytes are needed, -1 after fail(). RFC 6455 5.2. */
static int read_head(struct websocket *ws, struct frame *f)
{
        const unsigned char *at = (const unsigned char *)ws->input.data;
        if (ws->input.len < 2)
                return 0;
        size_t extra = (at[1] & 0x7f) == 126 ? 2 : (at[1] & 0x7f) == 127 ? 8 : 0;
        *f = (struct frame){ .final = at[0] & 0x80, .opcode = at[0] & 0x0f, .head_len = 2 + extra + 4 };
        bool control = f->opcode >= CLOSE;
        bool known = f->opcode <= BINARY || (control && f->opcode <= PONG);
        if (at[0] & 0x70 || !(at[1] & 0x80) || !known || (control && (!f->final || extra > 0))) {
                fail(ws, PROTOCOL_ERROR);
                return -1;
        }
        if (ws->input.len < f->head_len)
                return 0;
        uint64_t len = at[1] & 0x7f;
        if (extra > 0)
                len = 0;
        for (size_t i = 0; i < extra; i++)
                len = len << 8 | at[2 + i];
        if (len > LIMIT_REQUEST_BODY_BYTES) {
                fail(ws, TOO_BIG);
                return -1;
        }
        memcpy(f->mask, at + 2 + extra, 4);
        f->len = (size_t)len;
        return 1;
}

static void take_control(struct websocket *ws, const struct frame *f, const char *payload)
{
        if (f->opcode == PING) {
                send_frame(ws, PONG, payload, f->len);
        } else if (f->opcode == CLOSE) {
                int code = f->len >= 2 ? (unsigned char)payload[0] << 8 | (unsigned char)payload[1] : 1000;
                say_close(ws, code);
                ws->ended = ERR_CLOSED;
        }
}

static void take_data(struct websocket *ws, const struct frame *f, const char *payload)
{
        if ((f->opcode == CONTINUATION) != ws->in_message) {
                fail(ws, PROTOCOL_ERROR);
                return;
        }
        if (f->opcode != CONTINUATION)
                ws->binary = f->opcode == BINARY;
        if (buf_append(&ws->message, payload, f->len) < 0) {
                fail(ws, TOO_BIG);
                return;
        }
        ws->in_message = !f->final;
        ws->ready = f->final;
        if (ws->ready && !ws->binary && !text_is_utf8(ws->message.data, ws->message.len))
                fail(ws, BAD_TEXT);
}

/* Takes frames until a message is whole or bytes are missing. */
static void advance(struct websocket *ws)
{
        struct frame f;
        while (!ws->ready && !ws->ended && read_head(ws, &f) > 0 && ws->input.len >= f.head_len + f.len) {
                char *payload = ws->input.data + f.head_len;
                for (size_t i = 0; i < f.len; i++)
                        payload[i] ^= (char)f.mask[i % 4];
                if (f.opcode >= CLOSE)
                        take_control(ws, &f, payload);
                else
                        take_data(ws, &f, payload);
                buf_consume(&ws->input, f.head_len + f.len);
        }
        if (ws->conn->stream)
                tls_stream_pause(ws->conn->stream, ws->ready && ws->input.len > 0);
}

void websocket_input(struct websocket *ws, const char *data, size_t n)
{
        if (buf_append(&ws->input, data, n) < 0)
                fail(ws, TOO_BIG);
        advance(ws);
        http1_exchange_wake(ws->conn);
}

int websocket_receive(struct websocket *ws, int64_t deadline_ms, struct slice *ret, bool *ret_binary,
                      struct error *err)
{
        struct http1_conn *c = ws->conn;
        buf_clear(&ws->current);
        while (!ws->ready) {
                if (ws->ended == ERR_CLOSED)
                        return error_set(err, ERR_CLOSED, "WebSocket: the peer closed it");
                if (ws->ended || !c->stream)
                        return error_set(err, ERR_RETRY, "WebSocket: %s",
                                         ws->ended ? "the peer broke the protocol" : "the connection broke");
                int r = waitq_wait(c->loop, &c->drained, deadline_ms);
                if (r < 0)
                        return error_set(err, r, "WebSocket: %s",
                                         r == ERR_TIMEOUT ? "no message before the deadline" : "cancelled");
        }
        struct buf whole = ws->message;
        ws->message = ws->current;
        ws->current = whole;
        ws->ready = false;
        *ret = (struct slice){ whole.data, whole.len };
        if (ret_binary)
                *ret_binary = ws->binary;
        advance(ws);
        return 0;
}

int websocket_wait(struct websocket *ws, struct waitq *q, int64_t deadline_ms)
{
        struct http1_conn *c = ws->conn;
        if (ws->ready)
                return 1;
        if (ws->ended || !c->stream)
                return ws->ended ? ws->ended : ERR_RETRY;
        c->watcher = fiber_self(c->loop);
        int r = waitq_wait(c->loop, q, deadline_ms);
        c->watcher = NULL;
        if (ws->ready)
                return 1;
        return ws->ended ? ws->ended : !c->stream ? ERR_RETRY : r;
}

/* ---- the handshake ---- */

bool websocket_is_wanted(const struct http_exchange *x)
{
        const char *upgrade = http_header_get(&x->headers, "Upgrade");
        return upgrade && strcasecmp(upgrade, "websocket") == 0;
}

/* A browser says from whose page it comes; only our own may talk to us. */
static bool origin_is_ours(const struct http_exchange *x)
{
        const char *origin = http_header_get(&x->headers, "Origin");
        const char *host = http_header_get(&x->headers, "Host");
        const char *authority = origin ? strstr(origin, "://") : NULL;
        return !origin || (authority && host && strcasecmp(authority + 3, host) == 0);
}

static bool is_key(const char *key)
{
        char raw[24];
        size_t n = 0;
        return key && strlen(key) == 24 &&
               text_base64_decode(slice_of(key), raw, sizeof(raw), &n, false) == 0 && n == 16;
}

/* RFC 6455 4.2.2. */
static const char *accept_key(struct arena *arena, const char *key)
{
        const char *text = arena_printf(arena, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
        char *ret = arena_alloc(arena, text_base64_size(SHA_DIGEST_LENGTH));
        unsigned char digest[SHA_DIGEST_LENGTH];
        if (!text || !ret || !SHA1((const unsigned char *)text, strlen(text), digest))
                return NULL;
        text_base64_encode(digest, sizeof(digest), ret);
        return ret;
}

static int check_handshake(const struct http_exchange *x, struct error *err)
{
        if (x->ops != &http1_exchange_ops)
                return error_set(err, ERR_UNSUPPORTED, "WebSocket: only over HTTP/1.1");
        if (!websocket_is_wanted(x) || !((const struct http1_conn *)x)->parser.request.upgrade ||
            strcmp(x->method, "GET") != 0 ||
            !text_equal(http_header_get(&x->headers, "Sec-WebSocket-Version"), "13") ||
            !is_key(http_header_get(&x->headers, "Sec-WebSocket-Key")))
                return error_set(err, ERR_INVALID, "WebSocket: the handshake is malformed");
        if (!origin_is_ours(x))
                return error_set(err, ERR_FORBIDDEN, "WebSocket: the page comes from another host");
        return 0;
}

int websocket_accept(struct http_exchange *x, struct websocket **ret, struct error *err)
{
        TRY(check_handshake(x, err));
        struct http1_conn *c = (struct http1_conn *)x;
        const char *accept = accept_key(x->arena, http_header_get(&x->headers, "Sec-WebSocket-Key"));
        struct websocket *ws = accept ? NEW(struct websocket) : NULL;
        if (!ws)
                return error_no_memory(err);
        struct http_header headers[] = {
                { "Upgrade", "websocket" },
                { "Connection", "Upgrade" },
                { "Sec-WebSocket-Accept", accept },
        };
        int r = http_begin(x, 101, &(struct http_headers){ headers, ARRAY_LEN(headers) });
        if (r < 0) {
                mem_free(ws);
                return error_set(err, r, "WebSocket: the client is gone");
        }
        ws->conn = c;
        buf_init(&ws->input, LIMIT_REQUEST_BODY_BYTES + FRAME_HEAD_MAX + (256u << 10));
        buf_init(&ws->message, LIMIT_REQUEST_BODY_BYTES);
        buf_init(&ws->current, LIMIT_REQUEST_BODY_BYTES);
        c->websocket = ws;
        *ret = ws;
        struct buf early = c->input; /* frames that came right behind the request */
        buf_init(&c->input, early.max);
        tls_stream_pause(c->stream, false);
        websocket_input(ws, early.data, early.len);
        buf_free(&early);
        return 0;
}

void websocket_close(struct websocket *ws, int code)
{
        if (!ws)
                return;
        struct http1_conn *c = ws->conn;
        say_close(ws, code);
        c->websocket = NULL;
        c->ended = true;
        c->close_after = true;
        buf_free(&ws->input);
        buf_free(&ws->message);
        buf_free(&ws->current);
        mem_free(ws);
}
