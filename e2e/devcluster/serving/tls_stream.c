/* One accepted connection. Everything that calls its owner runs from a libuv callback, a timer or a turn
 * hook. */
#include <arpa/inet.h>

#include <openssl/err.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/net/openssl_text.h"
#include "common/net/tls_context.h"
#include "e2e/devcluster/serving/tls_stream_internal.h"

#define SEND_BYTES (256u << 10) /* plaintext encrypted and handed to the kernel at a time */
#define PEER_GONE_FLUSH_MS 1000
#define LINGER_MS 1000

enum stream_state { HANDSHAKING, OPEN, CLOSING, LINGERING, CLOSED };

struct tls_stream {
        struct list node;
        struct tls_listener *listener;
        uv_tcp_t handle;
        const struct tls_stream_events *events;
        void *owner;
        SSL *ssl; /* NULL = plain */
        enum stream_state state;
        bool was_opened, paused, linger, goodbye_sent, peer_ended, want_input;
        struct buf out;       /* plaintext not yet encrypted */
        char *sending;        /* with the kernel */
        size_t sending_plain; /* plaintext bytes in it */
        uv_write_t write_request;
        uv_shutdown_t shutdown_request;
        struct loop_hook flush_hook;
        struct timer timer; /* handshake, then closing */
        struct error why;
        char remote[64];
        struct tls_peer peer;
};

/* ---- ending ---- */

static void stream_free(struct tls_stream *s)
{
        SSL_free(s->ssl);
        buf_free(&s->out);
        mem_free(s->sending);
        tls_peer_free(&s->peer);
        mem_free(s);
}

static void on_closed(uv_handle_t *handle)
{
        struct tls_stream *s = handle->data;
        struct tls_listener *t = s->listener;
        if (s->was_opened)
                s->events->closed(s->owner, s, &s->why);
        list_remove(&s->node);
        t->n_streams--;
        t->n_cut--;
        stream_free(s);
        tls_listener_handle_closed(t);
}

/* Closes the socket now; the first reason given stays. */
static void cut(struct tls_stream *s, enum error_code code, const char *text)
{
        if (s->state == CLOSED)
                return;
        s->state = CLOSED;
        s->listener->n_cut++;
        if (!s->why.code)
                error_set(&s->why, code, "%s: %s", s->remote, text);
        timer_stop(&s->timer);
        loop_hook_remove(s->listener->loop, &s->flush_hook);
        uv_close((uv_handle_t *)&s->handle, on_closed);
}

static void on_timer(struct timer *timer)
{
        struct tls_stream *s = container_of(timer, struct tls_stream, timer);
        cut(s, ERR_RETRY,
            s->state == HANDSHAKING ? "the TLS handshake took too long" : "the peer did not take its bytes");
}

static void cut_after(struct tls_stream *s, int64_t ms)
{
        if (timer_start(s->listener->loop, &s->timer, loop_now_ms(s->listener->loop) + ms, on_timer) < 0)
                cut(s, ERR_NO_MEMORY, "no memory for a timer");
}

void tls_streams_cut(struct tls_listener *t)
{
        list_for_each(s, &t->streams, struct tls_stream, node)
                cut(s, ERR_CLOSED, "the server stops");
}

/* ---- sending ---- */

static void flush(struct tls_stream *s);

static void on_shutdown(uv_shutdown_t *request, int status)
{
        struct tls_stream *s = request->data;
        if (s->state != LINGERING)
                return;
        if (s->peer_ended || !s->linger)
                cut(s, ERR_CLOSED, "closed");
}

/* All is sent: says so to the peer. */
static void finish_sending(struct tls_stream *s)
{
        s->state = LINGERING;
        s->shutdown_request.data = s;
        if (uv_shutdown(&s->shutdown_request, (uv_stream_t *)&s->handle, on_shutdown) < 0)
                cut(s, ERR_CLOSED, "closed");
        else
                cut_after(s, LINGER_MS);
}

static void on_written(uv_write_t *request, int status)
{
        struct tls_stream *s = request->data;
        mem_free(TAKE_PTR(s->sending));
        size_t plain = s->sending_plain;
        s->sending_plain = 0;
        if (s->state == CLOSED)
                return;
        if (status < 0) {
                cut(s, ERR_RETRY, uv_strerror(status));
                return;
        }
        flush(s);
        if (plain > 0 && s->state == OPEN && s->events->drained)
                s->events->drained(s->owner, s);
}

static void send_bytes(struct tls_stream *s, char *data, size_t n, size_t plain)
{
        uv_buf_t piece = uv_buf_init(data, (unsigned)n);
        s->sending = data;
        s->sending_plain = plain;
        s->write_request.data = s;
        int r = uv_write(&s->write_request, (uv_stream_t *)&s->handle, &piece, 1, on_written);
        if (r < 0) {
                mem_free(TAKE_PTR(s->sending));
                cut(s, ERR_RETRY, uv_strerror(r));
        }
}

/* Encrypts some of `out`; returns how many plaintext bytes went in. */
static size_t encrypt(struct tls_stream *s)
{
        size_t total = 0;
        while (total < s->out.len && total < SEND_BYTES) {
                size_t n = 0;
                if (SSL_write_ex(s->ssl, s->out.data + total, MIN(s->out.len - total, SEND_BYTES - total),
                                 &n) != 1)
                        break;
                total += n;
        }
        buf_consume(&s->out, total);
        if (total == 0)
                ERR_clear_error();
        return total;
}

/* Takes what is to go next; NULL with *ret_n == 0 if nothing is, NULL with *ret_n != 0 if there is no memory.
 */
static char *next_bytes(struct tls_stream *s, size_t *ret_n, size_t *ret_plain)
{
        *ret_plain = 0;
        if (s->ssl) {
                if (s->state != HANDSHAKING && s->out.len > 0)
                        *ret_plain = encrypt(s);
                if (s->state == CLOSING && s->out.len == 0 && !s->goodbye_sent) {
                        s->goodbye_sent = true;
                        SSL_shutdown(s->ssl);
                        ERR_clear_error();
                }
                *ret_n = BIO_ctrl_pending(SSL_get_wbio(s->ssl));
        } else {
                *ret_n = *ret_plain = MIN(s->out.len, SEND_BYTES);
        }
        char *data = *ret_n > 0 ? mem_alloc(*ret_n) : NULL;
        if (data && s->ssl) {
                BIO_read(SSL_get_wbio(s->ssl), data, (int)*ret_n);
        } else if (data) {
                memcpy(data, s->out.data, *ret_n);
                buf_consume(&s->out, *ret_n);
        }
        return data;
}

/* One write is with the kernel at a time; what comes meanwhile gathers in `out`. */
static void flush(struct tls_stream *s)
{
        if (s->state == CLOSED || s->state == LINGERING || s->sending)
                return;
        size_t n, plain;
        char *data = next_bytes(s, &n, &plain);
        if (data)
                send_bytes(s, data, n, plain);
        else if (n > 0)
                cut(s, ERR_NO_MEMORY, "no memory to send");
        else if (s->state == CLOSING)
                finish_sending(s);
}

/* ---- receiving ---- */

/* The peer will send no more. What is queued for it still goes. */
static void peer_ended(struct tls_stream *s)
{
        s->peer_ended = true;
        if (s->state == LINGERING) {
                cut(s, ERR_CLOSED, "closed");
                return;
        }
        if (s->state != OPEN) {
                if (s->state == HANDSHAKING)
                        cut(s, ERR_CLOSED, "the peer left during the handshake");
                return;
        }
        error_set(&s->why, ERR_CLOSED, "%s: the peer closed the connection", s->remote);
        if (s->out.len == 0 && !s->sending)
                cut(s, ERR_CLOSED, "");
        else
                tls_stream_close(s, PEER_GONE_FLUSH_MS);
}

static void tls_failed(struct tls_stream *s, const char *what)
{
        struct error e;
        openssl_error(&e, ERR_RETRY, "%s", what);
        flush(s); /* the alert, as far as the socket takes it at once */
        cut(s, ERR_RETRY, e.text);
}

static void opened(struct tls_stream *s)
{
        s->state = OPEN;
        s->was_opened = true;
        timer_stop(&s->timer);
        s->events->opened(s->owner, s);
}

static void shake_hands(struct tls_stream *s)
{
        int r = SSL_do_handshake(s->ssl);
        if (r == 1) {
                if (tls_peer_read(s->ssl, &s->peer) < 0)
                        cut(s, ERR_RETRY, "the client certificate's subject cannot be read");
                else
                        opened(s);
                return;
        }
        int code = SSL_get_error(s->ssl, r);
        if (code != SSL_ERROR_WANT_READ && code != SSL_ERROR_WANT_WRITE)
                tls_failed(s, "TLS handshake");
}

static void decrypt(struct tls_stream *s)
{
        if (s->state == HANDSHAKING)
                shake_hands(s);
        char *plain = s->listener->input + TLS_READ_BYTES;
        while (s->state == OPEN && !s->paused) {
                size_t n = 0;
                int r = SSL_read_ex(s->ssl, plain, TLS_READ_BYTES, &n);
                if (r == 1) {
                        s->events->data(s->owner, s, plain, n);
                        continue;
                }
                int code = SSL_get_error(s->ssl, r);
                if (code == SSL_ERROR_ZERO_RETURN)
                        peer_ended(s);
                else if (code != SSL_ERROR_WANT_READ && code != SSL_ERROR_WANT_WRITE)
                        tls_failed(s, "TLS");
                break;
        }
        ERR_clear_error();
        flush(s);
}

static void give_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
        struct tls_stream *s = handle->data;
        *ret = uv_buf_init(s->listener->input, TLS_READ_BYTES);
}

static void on_read(uv_stream_t *handle, ssize_t n, const uv_buf_t *buffer)
{
        struct tls_stream *s = handle->data;
        if (n == 0 || s->state == CLOSED)
                return;
        if (n == UV_EOF) {
                peer_ended(s);
                return;
        }
        if (n < 0) {
                cut(s, ERR_RETRY, uv_strerror((int)n));
                return;
        }
        if (s->state == CLOSING || s->state == LINGERING)
                return;
        if (!s->ssl) {
                s->events->data(s->owner, s, buffer->base, (size_t)n);
                return;
        }
        if (BIO_write(SSL_get_rbio(s->ssl), buffer->base, (int)n) != n)
                cut(s, ERR_NO_MEMORY, "no memory to receive");
        else
                decrypt(s);
}

/* The turn's writes leave together; after a pause, what was decrypted but not given out comes first. */
static void on_turn_end(void *ctx)
{
        struct tls_stream *s = ctx;
        if (s->want_input) {
                s->want_input = false;
                decrypt(s);
        } else {
                flush(s);
        }
}

/* ---- accepting ---- */

static void note_remote(struct tls_stream *s)
{
        struct sockaddr_storage address;
        int n = sizeof(address);
        char ip[48] = "";
        if (uv_tcp_getpeername(&s->handle, (struct sockaddr *)&address, &n) < 0)
                return;
        bool v6 = address.ss_family == AF_INET6;
        int port = ntohs(v6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                            : ((struct sockaddr_in *)&address)->sin_port);
        uv_ip_name((struct sockaddr *)&address, ip, sizeof(ip));
        snprintf(s->remote, sizeof(s->remote), v6 ? "[%s]:%d" : "%s:%d", ip, port);
}

static int prepare_tls(struct tls_stream *s)
{
        s->ssl = SSL_new(s->listener->ctx);
        BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
        if (!s->ssl || !in || !out) {
                BIO_free(in);
                BIO_free(out);
                return ERR_NO_MEMORY;
        }
        BIO_set_mem_eof_return(in, -1);
        SSL_set_bio(s->ssl, in, out);
        SSL_set_accept_state(s->ssl);
        return 0;
}

static void start(struct tls_stream *s)
{
        note_remote(s);
        uv_tcp_nodelay(&s->handle, 1);
        uv_read_start((uv_stream_t *)&s->handle, give_buffer, on_read);
        if (s->ssl)
                cut_after(s, s->listener->handshake_ms);
        else
                opened(s);
}

int tls_stream_accept(struct tls_listener *t)
{
        struct tls_stream *s = NEW(struct tls_stream);
        if (!s)
                return ERR_NO_MEMORY;
        s->listener = t;
        s->events = t->events;
        s->owner = t->owner;
        buf_init(&s->out, LIMIT_SERVER_QUEUE_BYTES);
        if ((t->ctx && prepare_tls(s) < 0) || uv_tcp_init(loop_uv(t->loop), &s->handle) < 0) {
                stream_free(s);
                return ERR_NO_MEMORY;
        }
        s->handle.data = s;
        s->flush_hook = (struct loop_hook){ .fn = on_turn_end, .ctx = s };
        loop_hook_add(t->loop, &s->flush_hook);
        list_append(&t->streams, &s->node);
        t->n_streams++;
        t->open_handles++;
        int r = uv_accept((uv_stream_t *)&t->handle, (uv_stream_t *)&s->handle);
        if (r < 0)
                cut(s, ERR_RETRY, uv_strerror(r));
        else
                start(s);
        return 0;
}

/* ---- what owners call ---- */

void tls_stream_set_events(struct tls_stream *s, const struct tls_stream_events *events, void *owner)
{
        s->events = events;
        s->owner = owner;
}

struct loop *tls_stream_loop(const struct tls_stream *s)
{
        return s->listener->loop;
}

bool tls_stream_is_tls(const struct tls_stream *s)
{
        return s->ssl != NULL;
}

/* The agreed name is not NUL-terminated where OpenSSL keeps it, so ours is compared and given. */
const char *tls_stream_alpn(const struct tls_stream *s)
{
        const unsigned char *name = NULL;
        unsigned n = 0;
        if (s->ssl)
                SSL_get0_alpn_selected(s->ssl, &name, &n);
        if (n == 2 && memcmp(name, "h2", 2) == 0)
                return "h2";
        if (n == 8 && memcmp(name, "http/1.1", 8) == 0)
                return "http/1.1";
        return "";
}

const char *tls_stream_server_name(const struct tls_stream *s)
{
        const char *name = s->ssl ? SSL_get_servername(s->ssl, TLSEXT_NAMETYPE_host_name) : NULL;
        return name ? name : "";
}

const char *tls_stream_remote(const struct tls_stream *s)
{
        return s->remote;
}

const char *tls_stream_peer_common_name(const struct tls_stream *s)
{
        return s->peer.common_name;
}

const char *tls_stream_peer_fingerprint(const struct tls_stream *s)
{
        return s->peer.common_name ? s->peer.fingerprint : NULL;
}

const char *const *tls_stream_peer_organizations(const struct tls_stream *s)
{
        return (const char *const *)s->peer.organizations;
}

int tls_stream_write(struct tls_stream *s, const void *data, size_t n)
{
        if (s->state != OPEN)
                return ERR_CLOSED;
        TRY(buf_append(&s->out, data, n));
        loop_hook_arm(&s->flush_hook);
        return 0;
}

size_t tls_stream_queued(const struct tls_stream *s)
{
        return s->out.len + s->sending_plain;
}

void tls_stream_pause(struct tls_stream *s, bool paused)
{
        if (s->paused == paused || s->state != OPEN)
                return;
        s->paused = paused;
        if (paused) {
                uv_read_stop((uv_stream_t *)&s->handle);
                return;
        }
        uv_read_start((uv_stream_t *)&s->handle, give_buffer, on_read);
        if (s->ssl) {
                s->want_input = true;
                loop_hook_arm(&s->flush_hook);
        }
}

void tls_stream_linger(struct tls_stream *s)
{
        s->linger = true;
}

void tls_stream_close(struct tls_stream *s, int64_t flush_ms)
{
        if (s->state == CLOSED || s->state == LINGERING)
                return;
        if (!s->why.code)
                error_set(&s->why, ERR_CLOSED, "%s: closed", s->remote);
        if (flush_ms <= 0 || s->state == HANDSHAKING) {
                cut(s, ERR_CLOSED, "");
                return;
        }
        tls_stream_pause(s, false); /* else nobody sees the peer go */
        s->want_input = false;
        s->state = CLOSING;
        cut_after(s, flush_ms);
        if (s->state == CLOSING)
                loop_hook_arm(&s->flush_hook);
}

void tls_streams_close(struct tls_listener *t, int64_t flush_ms)
{
        list_for_each(s, &t->streams, struct tls_stream, node)
                tls_stream_close(s, flush_ms);
}
