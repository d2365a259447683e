/* WebSockets on the agents' own server. libwebsockets does the handshake, the frames and their rules; here
 * are messages, their limits, and who waits for what. */
#include <strings.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/net/http_server_internal.h"

#define FRAGMENT_BYTES (16u << 10) /* handed to libwebsockets at a time */
#define HELD_MESSAGES 16 /* that nobody has received yet: beyond these, or their limit, nothing is read */
#define PRESENCE_MS 250
#define REASON_BYTES 123

/* With room in front for libwebsockets to write a frame's head. */
struct message {
        struct list node;
        size_t len, sent;
        bool binary;
        unsigned char space[LWS_PRE];
        char text[];
};

struct server_socket {
        struct websocket s; /* first */
        struct connection *c;
        struct list in, out;
        size_t n_in, in_bytes, out_bytes; /* out_bytes: with what each message costs beside its text */
        struct buf arriving;              /* the message whose fragments are coming */
        struct message *given;            /* what the last receive gave out */
        struct waitq received, drained;
        struct timer quiet, presence;
        int64_t heard_ms;
        bool paused, ping_due, pinged;
        bool closing;  /* nothing more is sent or received */
        bool finished; /* the function has returned */
        int failure;   /* what the next receive says; then it is ERR_CLOSED */
        unsigned close_code;
        char close_reason[REASON_BYTES + 1];
};

static struct server_socket *socket_of(const struct websocket *s)
{
        return (struct server_socket *)s;
}

static void messages_free(struct list *l)
{
        list_for_each_safe(m, next, l, struct message, node) {
                list_remove(&m->node);
                mem_free(m);
        }
}

void http_server_websocket_free(struct connection *c)
{
        struct server_socket *w = c->socket;

        if (!w)
                return;
        timer_stop(&w->quiet);
        timer_stop(&w->presence);
        messages_free(&w->in);
        messages_free(&w->out);
        mem_free(w->given);
        buf_free(&w->arriving);
        c->server->n_sockets--;
        mem_free(w);
        c->socket = NULL;
}

/* Nothing goes over it any more; who waits is told. */
static void end_talk(struct server_socket *w)
{
        w->closing = true;
        timer_stop(&w->quiet);
        timer_stop(&w->presence);
        waitq_wake_all(&w->received);
        waitq_wake_all(&w->drained);
}

void http_server_websocket_gone(struct connection *c)
{
        end_talk(c->socket);
}

/* ---- the handshake ---- */

static bool has_token(const char *list, const char *token)
{
        struct slice rest = slice_of(list), one;
        size_t n = strlen(token);

        while (rest.len > 0) {
                slice_cut(&rest, ',', &one);
                one = slice_trim(one);
                if (one.len == n && strncasecmp(one.data, token, n) == 0)
                        return true;
        }
        return false;
}

static bool is_key(const char *key)
{
        char raw[24];
        size_t n = 0;

        return key && strlen(key) == 24 &&
               text_base64_decode(slice_of(key), raw, sizeof(raw), &n, false) == 0 && n == 16;
}

/* RFC 6455 4.2.1. 0, or the status to refuse it with. */
static int check_handshake(struct connection *c, const char **ret_why)
{
        const struct http_headers *h = &c->x.headers;

        if (!text_equal(c->x.method, "GET") || c->http_1_0 || c->body_length > 0 ||
            !has_token(http_header_get(h, "connection"), "upgrade") ||
            !is_key(http_header_get(h, "sec-websocket-key"))) {
                *ret_why = "the handshake of the WebSocket is malformed";
                return 400;
        }
        if (!text_equal(http_header_get(h, "sec-websocket-version"), "13")) {
                *ret_why = "only version 13 of WebSockets is spoken here";
                return 426;
        }
        if (http_header_get(h, "sec-websocket-protocol")) {
                *ret_why = "there are no subprotocols here";
                return 400;
        }
        return 0;
}

static int decide(struct connection *c, const char **ret_why)
{
        struct http_server *s = c->server;
        int status = http_server_read_head(c, ret_why);

        if (status == 0)
                status = check_handshake(c, ret_why);
        if (status == 0 && http_server_describe_peer(c) < 0) {
                *ret_why = "no memory for another request";
                status = 503;
        }
        if (status == 0 && (s->stopping || s->n_sockets >= s->websockets.sockets)) {
                *ret_why = s->stopping ? "the server is stopping" : "too many WebSockets are open";
                status = 503;
        }
        if (status == 0) {
                *ret_why = "refused";
                status = s->websocket_accept(s->ctx, &c->x, ret_why);
        }
        return status;
}

static int open_socket(struct connection *c)
{
        struct server_socket *w = NEW(struct server_socket);

        if (!w)
                return ERR_NO_MEMORY;
        w->c = c;
        w->s = (struct websocket){ .loop = c->server->loop,
                                   .arena = &c->arena,
                                   .path = c->x.path,
                                   .query = c->x.query,
                                   .headers = c->x.headers,
                                   .remote_address = c->x.remote_address };
        list_init(&w->in);
        list_init(&w->out);
        list_init(&w->received.waiters);
        list_init(&w->drained.waiters);
        buf_init(&w->arriving, c->server->websockets.message_bytes);
        c->server->n_sockets++;
        c->socket = w;
        return 0;
}

/* What is refused is answered here, and then the connection ends: libwebsockets uses a head after it has let
 * it go when it is left to it. */
int http_server_upgrade(struct connection *c, const char *protocol)
{
        const char *why = NULL;
        int status;

        if (!c->server->websocket_accept || !protocol || strcasecmp(protocol, "websocket") != 0)
                return -1;
        status = decide(c, &why);
        if (status == 0 && open_socket(c) < 0) {
                status = 503;
                why = "no memory for another WebSocket";
        }
        if (status == 0)
                return 0;
        c->taken = true;
        return http_server_refuse(c, status, why);
}

/* ---- closing ---- */

/* Tells libwebsockets to close, with a code; what the client still says is read for a moment. */
static int close_now(struct server_socket *w, unsigned code, const char *reason)
{
        end_talk(w);
        messages_free(&w->out);
        w->out_bytes = 0;
        lws_close_reason(w->c->wsi, (enum lws_close_status)code, (unsigned char *)reason, strlen(reason));
        return http_server_leave(w->c);
}

static int fail(struct server_socket *w, int failure, unsigned code, const char *reason)
{
        w->failure = failure;
        return close_now(w, code, reason);
}

/* Behind a callback for writing libwebsockets takes the socket for broken, and sends no code any more. */
static void on_farewell(struct timer *t)
{
        struct connection *c = container_of(t, struct connection, patience);
        struct lws *wsi = c->wsi;

        close_now(c->socket, c->socket->close_code, c->socket->close_reason);
        lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC); /* which is to say, begin to */
}

/* ---- receiving ---- */

static void heard(struct server_socket *w)
{
        w->heard_ms = loop_now_ms(w->s.loop);
        w->pinged = false;
}

/* While nothing is read libwebsockets does not see the client leave. */
static void on_presence(struct timer *t)
{
        struct server_socket *w = container_of(t, struct server_socket, presence);

        if (http_server_client_is_there(w->c))
                timer_start(w->s.loop, t, loop_now_ms(w->s.loop) + PRESENCE_MS, on_presence);
        else
                http_server_cut(w->c);
}

static void pause_reading(struct server_socket *w)
{
        if (w->paused || (w->n_in < HELD_MESSAGES && w->in_bytes < w->c->server->websockets.message_bytes))
                return;
        if (timer_start(w->s.loop, &w->presence, loop_now_ms(w->s.loop) + PRESENCE_MS, on_presence) < 0)
                return;
        w->paused = true;
        lws_rx_flow_control(w->c->wsi, 0);
}

static void resume_reading(struct server_socket *w)
{
        if (!w->paused || w->n_in > 0 || w->closing)
                return;
        w->paused = false;
        heard(w);
        timer_stop(&w->presence);
        lws_rx_flow_control(w->c->wsi, 1);
}

static int take_message(struct server_socket *w)
{
        struct message *m;

        if (!text_is_utf8(w->arriving.data, w->arriving.len))
                return fail(w, ERR_INVALID, LWS_CLOSE_STATUS_INVALID_PAYLOAD, "not UTF-8");
        m = mem_alloc(sizeof(*m) + w->arriving.len + 1);
        if (!m)
                return fail(w, ERR_NO_MEMORY, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION, "no memory");
        m->len = w->arriving.len;
        memcpy(m->text, w->arriving.data, m->len);
        m->text[m->len] = '\0';
        buf_clear(&w->arriving);
        if (w->arriving.cap > FRAGMENT_BYTES)
                buf_free(&w->arriving);
        list_append(&w->in, &m->node);
        w->n_in++;
        w->in_bytes += m->len;
        waitq_wake_all(&w->received);
        pause_reading(w);
        return 0;
}

static int on_receive(struct server_socket *w, const void *data, size_t n)
{
        struct lws *wsi = w->c->wsi;
        int r;

        heard(w);
        if (w->closing)
                return 0;
        if (lws_frame_is_binary(wsi))
                return fail(w, ERR_INVALID, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE, "text messages only");
        r = buf_append(&w->arriving, data, n);
        if (r == 0 && lws_remaining_packet_payload(wsi) > w->arriving.max - w->arriving.len)
                r = ERR_LIMIT;
        if (r == ERR_LIMIT)
                return fail(w, r, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, "the message is too long");
        if (r < 0)
                return fail(w, r, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION, "no memory");
        return lws_is_final_fragment(wsi) ? take_message(w) : 0;
}

static int socket_receive(struct websocket *s, struct slice *ret, int64_t deadline_ms)
{
        struct server_socket *w = socket_of(s);
        struct message *m;

        mem_free(TAKE_PTR(w->given));
        while (list_empty(&w->in)) {
                int failure = w->failure;

                w->failure = 0;
                if (failure)
                        return failure;
                if (w->closing)
                        return ERR_CLOSED;
                TRY(waitq_wait(s->loop, &w->received, deadline_ms));
        }
        m = list_first(&w->in, struct message, node);
        list_remove(&m->node);
        w->n_in--;
        w->in_bytes -= m->len;
        w->given = m;
        resume_reading(w);
        *ret = (struct slice){ m->text, m->len };
        return 0;
}

/* ---- sending ---- */

static int enqueue(struct server_socket *w, struct slice data, bool binary)
{
        size_t cost = sizeof(struct message) + data.len;
        struct message *m;

        if (cost > w->c->server->websockets.queue_bytes - w->out_bytes)
                return ERR_LIMIT;
        m = mem_alloc(cost);
        if (!m)
                return ERR_NO_MEMORY;
        m->len = data.len;
        m->sent = 0;
        m->binary = binary;
        if (data.len > 0)
                memcpy(m->text, data.data, data.len);
        list_append(&w->out, &m->node);
        w->out_bytes += cost;
        lws_callback_on_writable(w->c->wsi);
        return 0;
}

static int socket_send(struct websocket *s, struct slice text)
{
        struct server_socket *w = socket_of(s);

        if (w->closing)
                return ERR_CLOSED;
        return text_is_utf8(text.data, text.len) ? enqueue(w, text, false) : ERR_INVALID;
}

static int socket_send_binary(struct websocket *s, struct slice data)
{
        struct server_socket *w = socket_of(s);

        return w->closing ? ERR_CLOSED : enqueue(w, data, true);
}

/* The next fragment. Its head is written over what went before it. */
static int write_fragment(struct server_socket *w)
{
        struct message *m = list_first(&w->out, struct message, node);
        size_t n = MIN(m->len - m->sent, FRAGMENT_BYTES);
        int how = lws_write_ws_flags(m->binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT, m->sent == 0,
                                     m->sent + n == m->len);

        if (lws_write(w->c->wsi, (unsigned char *)m->text + m->sent, n, (enum lws_write_protocol)how) <
            (int)n)
                return -1;
        m->sent += n;
        w->out_bytes -= n;
        if (m->sent == m->len) {
                list_remove(&m->node);
                w->out_bytes -= sizeof(*m);
                mem_free(m);
        }
        waitq_wake_all(&w->drained);
        return 0;
}

static int write_ping(struct server_socket *w)
{
        unsigned char space[LWS_PRE + 1] = { 0 };

        w->ping_due = false;
        w->pinged = true;
        return lws_write(w->c->wsi, space + LWS_PRE, 1, LWS_WRITE_PING) < 0 ? -1 : 0;
}

static int on_writable(struct server_socket *w)
{
        struct lws *wsi = w->c->wsi;

        if (w->c->leaving || w->closing)
                return 0;
        if (w->ping_due && write_ping(w) < 0)
                return -1;
        if (!lws_partial_buffered(wsi) && !list_empty(&w->out) && write_fragment(w) < 0)
                return -1;
        if (!list_empty(&w->out) || lws_partial_buffered(wsi)) {
                lws_callback_on_writable(wsi);
                return 0;
        }
        if (w->finished)
                timer_start(w->s.loop, &w->c->patience, loop_now_ms(w->s.loop), on_farewell);
        return 0;
}

static size_t socket_queued(const struct websocket *s)
{
        return socket_of(s)->out_bytes;
}

static int socket_drain(struct websocket *s, size_t level, int64_t deadline_ms)
{
        struct server_socket *w = socket_of(s);

        while (!w->closing && w->out_bytes > level)
                TRY(waitq_wait(s->loop, &w->drained, deadline_ms));
        return w->closing ? ERR_CLOSED : 0;
}

static bool socket_gone(const struct websocket *s)
{
        return socket_of(s)->closing;
}

static void socket_close_with(struct websocket *s, unsigned code, const char *reason)
{
        struct server_socket *w = socket_of(s);
        size_t n = text_utf8_cut(or_empty(reason), REASON_BYTES);

        w->close_code = code;
        memcpy(w->close_reason, or_empty(reason), n);
        w->close_reason[n] = '\0';
}

static const struct websocket_ops socket_ops = {
        .receive = socket_receive,
        .send = socket_send,
        .send_binary = socket_send_binary,
        .queued = socket_queued,
        .drain = socket_drain,
        .gone = socket_gone,
        .close_with = socket_close_with,
};

/* ---- its life ---- */

/* Whom nothing is heard of is asked, and cut when that brings nothing either. Of whom nothing is read,
 * nothing can be heard. */
static void on_quiet(struct timer *t)
{
        struct server_socket *w = container_of(t, struct server_socket, quiet);
        int64_t now = loop_now_ms(w->s.loop), ping_ms = w->c->server->websockets.ping_ms;
        int64_t silent_ms = now - w->heard_ms;

        if (w->paused || silent_ms < ping_ms) {
                timer_start(w->s.loop, t, w->paused ? now + ping_ms : w->heard_ms + ping_ms, on_quiet);
                return;
        }
        if (w->pinged || w->ping_due) {
                http_server_cut(w->c);
                return;
        }
        w->ping_due = true;
        lws_callback_on_writable(w->c->wsi);
        timer_start(w->s.loop, t, now + ping_ms, on_quiet);
}

static void run_socket(void *ctx)
{
        struct server_socket *w = ctx;
        struct connection *c = w->c;
        struct http_server *s = c->server;

        s->websocket_serve(s->ctx, &w->s);
        if (w->close_code == 0)
                w->close_code =
                        fiber_cancelled(s->loop) ? LWS_CLOSE_STATUS_GOINGAWAY : LWS_CLOSE_STATUS_NORMAL;
        w->finished = true;
        if (c->wsi && !w->closing) {
                http_server_be_patient(c, s->request_ms);
                lws_callback_on_writable(c->wsi);
        }
        http_server_fiber_ended(c);
}

static int on_established(struct server_socket *w)
{
        struct connection *c = w->c;
        struct loop *l = w->s.loop;

        w->s.ops = &socket_ops;
        w->heard_ms = loop_now_ms(l);
        timer_stop(&c->patience);
        if (timer_start(l, &w->quiet, w->heard_ms + c->server->websockets.ping_ms, on_quiet) < 0 ||
            !fiber_spawn(c->server->handlers, "websocket", run_socket, w))
                return -1;
        c->running = true;
        return 0;
}

/* libwebsockets repeats the client's code and closes. */
static int on_peer_close(struct server_socket *w, size_t len)
{
        if (len == 1)
                return close_now(w, LWS_CLOSE_STATUS_PROTOCOL_ERR, "half a code");
        end_talk(w);
        http_server_leave(w->c);
        return 0;
}

int http_server_websocket_event(struct connection *c, enum lws_callback_reasons reason, void *in, size_t len)
{
        struct server_socket *w = c->socket;

        switch (reason) {
        case LWS_CALLBACK_ESTABLISHED:
                return on_established(w);
        case LWS_CALLBACK_RECEIVE:
                return on_receive(w, in, len);
        case LWS_CALLBACK_RECEIVE_PONG:
                heard(w);
                return 0;
        case LWS_CALLBACK_SERVER_WRITEABLE:
                return on_writable(w);
        case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
                return on_peer_close(w, len);
        default:
                return 0;
        }
}
