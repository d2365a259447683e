#include <arpa/inet.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/net/cert.h"
#include "common/net/openssl_text.h"
#include "common/net/tls_context.h"
#include "e2e/devcluster/serving/tls_stream_internal.h"

#define DEFAULT_HANDSHAKE_MS 120000 /* a client on a busy machine may be that slow */
#define BACKLOG 512

/* ---- the TLS context ---- */

/* Our order decides. No overlap goes on without a protocol, as clients without ALPN do. */
static int select_alpn(SSL *ssl, const unsigned char **ret, unsigned char *ret_len,
                       const unsigned char *theirs, unsigned theirs_len, void *ctx)
{
        const struct tls_listener *t = ctx;
        unsigned char *chosen;
        if (SSL_select_next_proto(&chosen, ret_len, t->alpn, t->alpn_len, theirs, theirs_len) !=
            OPENSSL_NPN_NEGOTIATED)
                return SSL_TLSEXT_ERR_NOACK;
        *ret = chosen;
        return SSL_TLSEXT_ERR_OK;
}

static int encode_alpn(struct tls_listener *t, const char *const *protocols, struct error *err)
{
        AUTO_BUF struct buf wire;
        buf_init(&wire, 256);
        for (const char *const *p = protocols; p && *p; p++) {
                buf_append_char(&wire, (char)strlen(*p));
                buf_append_str(&wire, *p);
        }
        TRY(buf_status(&wire, err, "ALPN list"));
        size_t n = 0;
        t->alpn = wire.len > 0 ? (unsigned char *)buf_take(&wire, &n) : NULL;
        t->alpn_len = (unsigned)n;
        return 0;
}

int tls_listener_set_identity(struct tls_listener *t, const struct tls_identity *tls, struct error *err)
{
        SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
        if (!ctx)
                return openssl_error(err, ERR_INTERNAL, "TLS");
        tls_context_set_policy(ctx);
        if (t->alpn)
                SSL_CTX_set_alpn_select_cb(ctx, select_alpn, t);
        int r = tls_context_set_identity(ctx, tls, err);
        if (r < 0) {
                SSL_CTX_free(ctx);
                return r;
        }
        SSL_CTX_free(t->ctx);
        t->ctx = ctx;
        return 0;
}

/* ---- life ---- */

static void listener_free(struct tls_listener *t)
{
        SSL_CTX_free(t->ctx);
        mem_free(t->alpn);
        mem_free(t->input);
        mem_free(t);
}

void tls_listener_handle_closed(struct tls_listener *t)
{
        t->open_handles--;
        if (!list_empty(&t->closed.waiters))
                waitq_wake_all(&t->closed);
        else if (t->open_handles == 0 && t->freeing && !t->joined)
                listener_free(t);
}

static void handle_closed(uv_handle_t *handle)
{
        tls_listener_handle_closed(handle->data);
}

void tls_listener_close(struct tls_listener *t)
{
        if (!t->listening)
                return;
        t->listening = false;
        uv_close((uv_handle_t *)&t->handle, handle_closed);
}

void tls_listener_drain(struct tls_listener *t, int64_t flush_ms)
{
        tls_listener_close(t);
        tls_streams_close(t, flush_ms);
        fiber_mask_cancel(t->loop);
        while (t->n_streams > 0)
                waitq_wait(t->loop, &t->closed, DEADLINE_NONE);
        fiber_unmask_cancel(t->loop);
}

struct tls_listener *tls_listener_free(struct tls_listener *t)
{
        if (!t)
                return NULL;
        tls_listener_close(t);
        tls_streams_cut(t);
        t->freeing = true;
        if (t->open_handles == 0) {
                listener_free(t);
                return NULL;
        }
        if (!fiber_self(t->loop))
                return NULL; /* freed by the last handle's close */
        t->joined = true;
        fiber_mask_cancel(t->loop);
        while (t->open_handles > 0)
                waitq_wait(t->loop, &t->closed, DEADLINE_NONE);
        fiber_unmask_cancel(t->loop);
        listener_free(t);
        return NULL;
}

/* ---- accepting ---- */

static void refuse(struct tls_listener *t);

static void take(struct tls_listener *t)
{
        bool full = t->n_streams - t->n_cut >= t->max_streams;

        if (full || tls_stream_accept(t) < 0)
                refuse(t);
}

static void spare_closed(uv_handle_t *handle)
{
        struct tls_listener *t = handle->data;
        t->spare_busy = false;
        if (t->accept_again && t->listening) {
                t->accept_again = false;
                take(t);
        }
        tls_listener_handle_closed(t);
}

/* libuv stops accepting while a connection waits, so one that cannot be served is taken and closed. */
static void refuse(struct tls_listener *t)
{
        if (t->spare_busy) {
                t->accept_again = true;
                return;
        }
        if (uv_tcp_init(loop_uv(t->loop), &t->spare) < 0)
                return;
        t->spare.data = t;
        t->spare_busy = true;
        t->open_handles++;
        uv_accept((uv_stream_t *)&t->handle, (uv_stream_t *)&t->spare);
        uv_close((uv_handle_t *)&t->spare, spare_closed);
}

static void on_connection(uv_stream_t *handle, int status)
{
        struct tls_listener *t = handle->data;
        if (status >= 0)
                take(t);
}

static int parse_address(const struct tls_listen_options *o, struct sockaddr_storage *ret, struct error *err)
{
        if (o->port < 0 || o->port > 65535)
                return error_set(err, ERR_INVALID, "port %d: not between 0 and 65535", o->port);
        if (uv_ip4_addr(o->bind, o->port, (struct sockaddr_in *)ret) == 0 ||
            uv_ip6_addr(o->bind, o->port, (struct sockaddr_in6 *)ret) == 0)
                return 0;
        return error_set(err, ERR_INVALID, "%s: not an IP address to listen on", o->bind);
}

static int start_listening(struct tls_listener *t, const struct tls_listen_options *o, struct error *err)
{
        struct sockaddr_storage address = { 0 };
        TRY(parse_address(o, &address, err));
        int r = uv_tcp_init(loop_uv(t->loop), &t->handle);
        if (r < 0)
                return error_set(err, ERR_SYSTEM, "listening on %s:%d: %s", o->bind, o->port, uv_strerror(r));
        t->handle.data = t;
        t->listening = true;
        t->open_handles++;
        r = uv_tcp_bind(&t->handle, (struct sockaddr *)&address, 0);
        if (r == 0)
                r = uv_listen((uv_stream_t *)&t->handle, BACKLOG, on_connection);
        int n = sizeof(address);
        if (r == 0)
                r = uv_tcp_getsockname(&t->handle, (struct sockaddr *)&address, &n);
        if (r < 0)
                return error_set(err, ERR_SYSTEM, "listening on %s:%d: %s", o->bind, o->port, uv_strerror(r));
        t->port = ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                                      : ((struct sockaddr_in *)&address)->sin_port);
        return 0;
}

int tls_listen(struct loop *l, const struct tls_listen_options *o, struct tls_listener **ret,
               struct error *err)
{
        if (!loop_uv(l))
                return error_set(err, ERR_UNSUPPORTED, "listening on %s: a simulated loop has no sockets",
                                 o->bind);
        struct tls_listener *t = NEW(struct tls_listener);
        if (!t)
                return error_no_memory(err);
        t->loop = l;
        t->events = o->events;
        t->owner = o->owner;
        t->max_streams = o->max_streams ? o->max_streams : LIMIT_SERVER_CONNECTIONS;
        t->handshake_ms = o->handshake_ms ? o->handshake_ms : DEFAULT_HANDSHAKE_MS;
        list_init(&t->streams);
        list_init(&t->closed.waiters);
        t->input = mem_alloc((size_t)2 * TLS_READ_BYTES);
        int r = t->input ? encode_alpn(t, o->alpn, err) : error_no_memory(err);
        if (r == 0 && o->tls)
                r = tls_listener_set_identity(t, o->tls, err);
        if (r == 0)
                r = start_listening(t, o, err);
        if (r < 0)
                tls_listener_free(t);
        else
                *ret = t;
        return r;
}

int tls_listener_port(const struct tls_listener *t)
{
        return t->port;
}

size_t tls_listener_count(const struct tls_listener *t)
{
        return t->n_streams;
}

struct loop *tls_listener_loop(const struct tls_listener *t)
{
        return t->loop;
}
