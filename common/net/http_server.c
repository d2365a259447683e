/* The agents' own endpoints: one context of libwebsockets for each server, on our loop through its libuv
 * plugin. docs/network.md says why so. */
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <openssl/ssl.h>
#include <uv.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/net/cert.h"
#include "common/net/held_numbers.h"
#include "common/net/http_server_internal.h"

#define DEFAULT_REQUEST_MS 75000
#define DEFAULT_PING_MS 30000
#define DEFAULT_CLOSING_MS 1000
#define PRESENCE_MS 250
#define TLS_RECORD_BYTES (16u << 10) /* read whole: what stays inside OpenSSL wakes nobody */
#define SPARE_SOCKETS 16 /* of a context, beside connections: it listens, wakes itself, closes others */

/* ---- life of a connection ---- */

static void connection_free(struct connection *c)
{
        timer_stop(&c->patience);
        timer_stop(&c->presence);
        tls_peer_free(&c->peer);
        http_server_websocket_free(c);
        arena_free(&c->arena);
        buf_free(&c->body);
        buf_free(&c->out);
        mem_free(c);
}

void http_server_cut(struct connection *c)
{
        c->leaving = c->cut = true;
        lws_set_timeout(c->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC);
}

static void on_impatience(struct timer *t)
{
        struct connection *c = container_of(t, struct connection, patience);

        http_server_cut(c);
}

int http_server_be_patient(struct connection *c, int64_t ms)
{
        struct loop *l = c->server->loop;

        return timer_start(l, &c->patience, loop_now_ms(l) + ms, on_impatience);
}

/* libwebsockets shuts the connection and lets the client read what it was sent. */
int http_server_leave(struct connection *c)
{
        c->leaving = true;
        http_server_be_patient(c, c->server->closing_ms);
        return -1;
}

static int connection_open(struct http_server *s, struct lws *wsi)
{
        struct connection *c = NEW(struct connection);

        if (!c)
                return -1;
        c->server = s;
        c->wsi = wsi;
        list_init(&c->drained.waiters);
        buf_init(&c->out, LIMIT_SERVER_QUEUE_BYTES);
        if (http_server_be_patient(c, s->request_ms) < 0) {
                mem_free(c);
                return -1;
        }
        lws_set_opaque_user_data(wsi, c);
        list_append(&s->connections, &c->node);
        s->n_connections++;
        return 0;
}

static void connection_closed(struct connection *c)
{
        c->wsi = NULL;
        list_remove(&c->node);
        c->server->n_connections--;
        timer_stop(&c->patience);
        timer_stop(&c->presence);
        if (c->socket)
                http_server_websocket_gone(c);
        if (c->running)
                http_server_wake(c);
        else
                connection_free(c);
}

/* What is closing already holds no place, but a socket: of these there are as many at most, or nobody could
 * come in while they are read out. */
static int make_room(struct http_server *s)
{
        size_t n = 0, n_leaving = 0;
        struct connection *oldest = NULL, *oldest_leaving = NULL;

        if (s->stopping)
                return -1;
        list_for_each(c, &s->connections, struct connection, node)
                if (c->cut || c->socket) /* gone with the next turn of the loop; counted by themselves */
                        continue;
                else if (c->leaving) {
                        oldest_leaving = oldest_leaving ? oldest_leaving : c;
                        n_leaving++;
                } else {
                        oldest = oldest ? oldest : c;
                        n++;
                }
        if (n_leaving >= s->max_connections)
                http_server_cut(oldest_leaving);
        if (n < s->max_connections)
                return 0;
        if (!s->oldest_gives_way)
                return -1;
        http_server_cut(oldest);
        return 0;
}

/* ---- handlers ---- */

bool http_server_client_is_there(struct connection *c)
{
        struct tcp_info info = { 0 };
        socklen_t n = sizeof(info);

        return getsockopt(lws_get_socket_fd(c->wsi), IPPROTO_TCP, TCP_INFO, &info, &n) == 0 &&
               info.tcpi_state == TCP_ESTABLISHED;
}

/* What is read of it while a handler runs would only be kept, so nothing is read, and the end of the
 * connection is asked for. */
static void on_presence(struct timer *t)
{
        struct connection *c = container_of(t, struct connection, presence);
        struct loop *l = c->server->loop;

        if (http_server_client_is_there(c))
                timer_start(l, t, loop_now_ms(l) + PRESENCE_MS, on_presence);
        else
                http_server_cut(c);
}

/* What the handler left open. */
static void settle_answer(struct connection *c)
{
        if (!c->began && c->wsi) {
                int status = fiber_cancelled(c->server->loop) ? 503 : 500;

                c->close_after = true;
                http_reply(&c->x, status, "text/plain", SLICE("no answer\n"), NULL);
        }
        if (!c->ended)
                c->close_after = true;
}

/* The connection may be gone with it. */
void http_server_fiber_ended(struct connection *c)
{
        c->running = false;
        if (!c->wsi)
                connection_free(c);
}

static void run_handler(void *ctx)
{
        struct connection *c = ctx;
        struct http_server *s = c->server;

        s->handle(s->ctx, &c->x);
        settle_answer(c);
        timer_stop(&c->presence);
        if (c->wsi) {
                http_server_be_patient(c, s->request_ms);
                http_server_want_write(c);
        }
        http_server_fiber_ended(c);
}

int http_server_describe_peer(struct connection *c)
{
        char address[64] = "";
        SSL *ssl = lws_get_ssl(c->wsi);

        lws_get_peer_simple(c->wsi, address, sizeof(address));
        c->x.remote_address = arena_strdup(&c->arena, address);
        if (ssl && !c->peer_known)
                TRY(tls_peer_read(ssl, &c->peer));
        c->peer_known = true;
        if (c->peer.common_name) {
                c->x.peer_common_name = c->peer.common_name;
                c->x.peer_organizations = (const char *const *)c->peer.organizations;
                c->x.peer_fingerprint = c->peer.fingerprint;
        }
        return c->x.remote_address ? 0 : ERR_NO_MEMORY;
}

static int start_handler(struct connection *c)
{
        struct loop *l = c->server->loop;

        c->x.body = (struct slice){ c->body.data, c->body.len };
        c->began = c->ended = false;
        timer_stop(&c->patience);
        if (http_server_describe_peer(c) < 0 ||
            timer_start(l, &c->presence, loop_now_ms(l) + PRESENCE_MS, on_presence) < 0 ||
            !fiber_spawn(c->server->handlers, "http handler", run_handler, c))
                return -1;
        c->running = true;
        lws_rx_flow_control(c->wsi, 0);
        return 0;
}

/* ---- what libwebsockets tells ---- */

/* A few bytes, outside the order of answers. */
static int say(struct connection *c, const char *text, size_t n)
{
        unsigned char piece[LWS_PRE + 512];

        ASSERT(n <= sizeof(piece) - LWS_PRE);
        memcpy(piece + LWS_PRE, text, n);
        return lws_write(c->wsi, piece + LWS_PRE, n, LWS_WRITE_HTTP) < (int)n ? -1 : 0;
}

/* Answered at once, and then the connection ends. A body that is on its way is read for a moment and dropped:
 * a reset would take the answer from the client. */
int http_server_refuse(struct connection *c, int status, const char *why)
{
        char text[512];
        int n = snprintf(text, sizeof(text),
                         "HTTP/1.1 %d Refused\r\nConnection: close\r\nContent-Type: text/plain\r\n"
                         "%sContent-Length: %zu\r\n\r\n%s\n",
                         status, status == 426 ? "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" : "",
                         strlen(why) + 1, why);

        if (say(c, text, (size_t)n) < 0 || c->taken)
                return http_server_leave(c);
        http_server_leave(c);
        return status == 413 && !text_equal(c->x.method, "GET") ? 0 : -1;
}

/* With a further request behind a body libwebsockets tells of that body again, without end: it is cut. */
static int on_request(struct connection *c)
{
        if (c->taken)
                return -1;
        c->taken = true;
        if (c->server->stopping)
                return http_server_refuse(c, 503, "the server is stopping");
        return start_handler(c) < 0 ? http_server_refuse(c, 503, "no memory for another request") : 0;
}

static int on_head(struct connection *c)
{
        const char *why = NULL;
        int status = http_server_read_head(c, &why);

        if (status > 0)
                return http_server_refuse(c, status, why);
        buf_init(&c->body, c->body_length);
        if (!c->has_body)
                return on_request(c);
        if (c->body_length > 0 && http_header_get(&c->x.headers, "expect"))
                return say(c, "HTTP/1.1 100 Continue\r\n\r\n", 25);
        return 0;
}

/* The socket takes bytes: what is left of the answer, then the next request. */
static int on_writable(struct connection *c)
{
        if (c->leaving)
                return -1;
        if (http_server_write(c) < 0)
                return -1;
        if (c->running || c->out.len > 0 || lws_partial_buffered(c->wsi))
                return 0;
        if (!c->ended || c->close_after)
                return http_server_leave(c);
        arena_free(&c->arena);
        buf_free(&c->body);
        c->began = c->ended = c->taken = false;
        http_server_be_patient(c, c->server->request_ms);
        return lws_http_transaction_completed(c->wsi) ? http_server_leave(c)
                                                      : 0; /* may begin the next request */
}

static int on_connection_event(struct connection *c, enum lws_callback_reasons reason, void *in, size_t len)
{
        switch (reason) {
        case LWS_CALLBACK_HTTP:
                return on_head(c);
        case LWS_CALLBACK_HTTP_BODY:
                if (c->leaving)
                        return 0;
                return buf_append(&c->body, in, len) < 0 ? -1 : 0;
        case LWS_CALLBACK_HTTP_BODY_COMPLETION:
                return c->leaving ? -1 : on_request(c);
        case LWS_CALLBACK_HTTP_WRITEABLE:
                return on_writable(c);
        case LWS_CALLBACK_WSI_DESTROY:
                connection_closed(c);
                return 0;
        case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
                return http_server_upgrade(c, in);
        case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
                return c->socket ? 0 : -1;
        case LWS_CALLBACK_RAW_ADOPT:
        case LWS_CALLBACK_RAW_RX:
                return -1; /* neither HTTP nor a WebSocket */
        default:
                return c->socket ? http_server_websocket_event(c, reason, in, len) : 0;
        }
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len)
{
        struct http_server *s = lws_context_user(lws_get_context(wsi));
        struct connection *c;

        switch (reason) {
        case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS:
                s->tls = user;
                tls_context_set_policy(s->tls);
                return tls_context_set_identity(s->tls, s->identity, &s->tls_error) < 0 ? -1 : 0;
        case LWS_CALLBACK_FILTER_NETWORK_CONNECTION:
                return make_room(s);
        case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
                return connection_open(s, wsi);
        default:
                c = lws_get_opaque_user_data(wsi);
                return c ? on_connection_event(c, reason, in, len) : 0;
        }
}

/* ---- the server ---- */

/* libwebsockets allocates through the one door, too. */
static void *reallocate(void *p, size_t size, const char *reason)
{
        if (size > 0)
                return mem_realloc(p, size);
        mem_free(p);
        return NULL;
}

static int check_address(const struct http_server_options *o, struct sockaddr_storage *ret, struct error *err)
{
        if (o->port < 0 || o->port > 65535)
                return error_set(err, ERR_INVALID, "port %d: not between 0 and 65535", o->port);
        if (uv_ip4_addr(o->bind, o->port, (struct sockaddr_in *)ret) == 0 ||
            uv_ip6_addr(o->bind, o->port, (struct sockaddr_in6 *)ret) == 0)
                return 0;
        return error_set(err, ERR_INVALID, "%s: not an IP address to listen on", o->bind);
}

/* libwebsockets seeds itself from it, and crashes where it is not there. */
static int check_random_device(struct error *err)
{
        static const char path[] = "/dev/urandom";

        if (access(path, R_OK) == 0)
                return 0;
        return error_errno(err, errno, "serving: %s cannot be read, and libwebsockets needs it", path);
}

static int open_context(struct http_server *s, struct lws_context_creation_info *info, struct error *err)
{
        TRY(check_random_device(err));
        lws_set_log_level(0, NULL);
        lws_set_allocator(reallocate);
        s->foreign_loops[0] = loop_uv(s->loop);
        info->foreign_loops = s->foreign_loops;
        info->pcontext = &s->context;
        info->user = s;
        info->options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
                        LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS |
                        (s->identity ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0);
        info->fd_limit_per_thread =
                (unsigned)(4 * s->max_connections + SPARE_SOCKETS + 2 * s->websockets.sockets);
        info->pt_serv_buf_size = s->identity ? TLS_RECORD_BYTES : 0;
        info->max_http_header_data2 = (unsigned)s->limits.header_bytes;
        info->max_http_header_pool2 = info->fd_limit_per_thread;
        info->timeout_secs = (unsigned)(s->request_ms / 1000 + 2); /* ours are exact, and sooner */
        s->context = lws_create_context(info);
        if (!s->context)
                return error_set(err, ERR_SYSTEM,
                                 "serving: libwebsockets does not start; is its libuv plugin installed "
                                 "(libwebsockets-evlib-uv)?");
        return 0;
}

/* Why libwebsockets could not listen: it tells its log only. */
static int why_not_listening(struct http_server *s, const struct http_server_options *o,
                             const struct sockaddr_storage *address, struct error *err)
{
        int fd, r = 0;

        if (s->tls_error.code) {
                *err = s->tls_error;
                return err->code;
        }
        fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 || listen(fd, 1) < 0)
                r = -errno;
        if (fd >= 0)
                close(fd);
        return error_set(err, ERR_SYSTEM, "listening on %s:%d: %s", o->bind, o->port,
                         r ? uv_strerror(r) : "libwebsockets refused");
}

static const lws_retry_bo_t no_policy;

static int open_vhost(struct http_server *s, const struct http_server_options *o,
                      struct lws_context_creation_info *info, struct error *err)
{
        struct sockaddr_storage address = { 0 };

        TRY(check_address(o, &address, err));
        info->options |= LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND |
                         (address.ss_family == AF_INET ? LWS_SERVER_OPTION_DISABLE_IPV6 : 0) |
                         (s->identity ? LWS_SERVER_OPTION_CREATE_VHOST_SSL_CTX : 0);
        info->iface = o->bind;
        info->port = o->port;
        info->protocols = s->protocols;
        info->alpn = "http/1.1";
        info->keepalive_timeout = (int)(s->request_ms / 1000 + 2);
        info->retry_and_idle_policy = &no_policy; /* pings are ours */
        s->vhost = lws_create_vhost(s->context, info);
        if (!s->vhost)
                return why_not_listening(s, o, &address, err);
        s->port = lws_get_vhost_listen_port(s->vhost);
        return 0;
}

/* A context on a foreign loop ends in two steps, with the turns between in which libuv closes its handles. */
static void close_context(struct http_server *s)
{
        struct held_numbers *held;

        if (!s->context)
                return;
        held = held_numbers_look();
        lws_context_destroy(s->context);
        held_numbers_take(held);
        while (!list_empty(&s->connections))
                fiber_sleep(s->loop, 1);
        for (int turn = 0; turn < 2; turn++)
                fiber_sleep(s->loop, 1);
        if (s->context)
                lws_context_destroy(s->context);
        held_numbers_free(held);
}

static struct http_server *server_free(struct http_server *s)
{
        fiber_mask_cancel(s->loop);
        close_context(s);
        fiber_unmask_cancel(s->loop);
        if (s->handlers)
                fiber_group_end(s->handlers);
        mem_free(s);
        return NULL;
}

static void read_websocket_options(struct http_server *s, const struct http_server_options *o)
{
        const struct websocket_limits *l = &o->websockets;

        if (!o->websocket_accept)
                return;
        s->websocket_accept = o->websocket_accept;
        s->websocket_serve = o->websocket_serve;
        s->websockets.message_bytes = l->message_bytes ? l->message_bytes : LIMIT_WEBSOCKET_MESSAGE_BYTES;
        s->websockets.queue_bytes = l->queue_bytes ? l->queue_bytes : LIMIT_WEBSOCKET_QUEUE_BYTES;
        s->websockets.sockets = l->sockets ? l->sockets : LIMIT_WEBSOCKETS;
        s->websockets.ping_ms = l->ping_ms ? l->ping_ms : DEFAULT_PING_MS;
}

int http_server_start(struct world *w, const struct http_server_options *o, struct http_server **ret,
                      struct error *err)
{
        struct lws_context_creation_info info = { 0 };
        struct http_server *s;
        int r;

        if (!loop_uv(w->loop))
                return error_set(err, ERR_UNSUPPORTED, "serving: there are no sockets on a simulated loop");
        s = NEW(struct http_server);
        if (!s)
                return error_no_memory(err);
        s->loop = w->loop;
        s->handle = o->handle;
        s->ctx = o->ctx;
        s->identity = o->tls;
        s->limits.header_bytes = o->limits.header_bytes ? o->limits.header_bytes : LIMIT_HEADER_BYTES;
        s->limits.body_bytes = o->limits.body_bytes ? o->limits.body_bytes : LIMIT_REQUEST_BODY_BYTES;
        s->request_ms = o->request_ms ? o->request_ms : DEFAULT_REQUEST_MS;
        s->closing_ms = o->closing_ms ? o->closing_ms : DEFAULT_CLOSING_MS;
        s->max_connections = o->connections ? o->connections : LIMIT_SERVER_CONNECTIONS;
        s->oldest_gives_way = o->connections > 0;
        read_websocket_options(s, o);
        s->protocols[0] = (struct lws_protocols){ .name = "http", .callback = on_event };
        list_init(&s->connections);
        s->handlers = fiber_group_new(w->loop, NULL, "http server");
        r = s->handlers ? open_context(s, &info, err) : error_no_memory(err);
        if (r == 0)
                r = open_vhost(s, o, &info, err);
        s->identity = NULL;
        if (r < 0)
                server_free(s);
        else
                *ret = s;
        return r;
}

int http_server_port(const struct http_server *s)
{
        return s->port;
}

int http_server_set_identity(struct http_server *s, const struct tls_identity *tls, struct error *err)
{
        return tls_context_set_identity(s->tls, tls, err);
}

static bool is_busy(const struct http_server *s)
{
        list_for_each(c, &s->connections, struct connection, node)
                if (c->running || c->out.len > 0 || c->ended || c->socket)
                        return true;
        return false;
}

struct http_server *http_server_stop(struct http_server *s)
{
        int64_t deadline;

        if (!s)
                return NULL;
        s->stopping = true;
        fiber_mask_cancel(s->loop);
        s->handlers = fiber_group_end(s->handlers);
        deadline = loop_now_ms(s->loop) + s->closing_ms;
        while (is_busy(s) && loop_now_ms(s->loop) < deadline)
                fiber_sleep(s->loop, 1);
        fiber_unmask_cancel(s->loop);
        return server_free(s);
}
