/* Accepted connections on the loop's libuv: plain TCP, or TLS through OpenSSL memory BIOs. Under
 * devcluster and the rigs. Real loop only; ERR_UNSUPPORTED on a simulated one.
 *
 * All calls are made on the loop's thread, from fibers or callbacks. Events are called from the loop, outside
 * any fiber, and never inside one of the calls below, so a handler may call anything here. */
#pragma once

#include "common/loop/loop.h"

struct tls_identity; /* common/net/cert.h */
struct tls_listener;
struct tls_stream;

struct tls_stream_events {
        /* The connection is ready (TLS: the handshake is done, peer and protocol are known). */
        void (*opened)(void *owner, struct tls_stream *s);
        void (*data)(void *owner, struct tls_stream *s, const char *data, size_t n);
        /* Bytes left for the kernel: tls_stream_queued() became smaller. May be NULL. */
        void (*drained)(void *owner, struct tls_stream *s);
        /* The last event, exactly once for each opened stream; s is freed behind it. why->code is ERR_CLOSED
         * when the peer or we closed in good order, else ERR_RETRY and a sentence. */
        void (*closed)(void *owner, struct tls_stream *s, const struct error *why);
};

struct tls_listen_options {
        const char *bind;               /* "127.0.0.1", "::", "0.0.0.0" */
        int port;                       /* 0 = any free one */
        const struct tls_identity *tls; /* NULL = plain TCP; read at once, not kept */
        const char *const *alpn;        /* our protocols, best first, NULL-terminated; NULL = no ALPN */
        size_t max_streams;             /* more are closed at accept; 0 = LIMIT_SERVER_CONNECTIONS */
        int64_t handshake_ms;           /* a TLS handshake may take this long; 0 = 120,000 */
        const struct tls_stream_events *events;
        void *owner; /* of streams until tls_stream_set_events() */
};

/* A client certificate is asked for when tls->client_ca_pem is set, and verified when presented: a bad one
 * fails the handshake, none at all leaves tls_stream_peer_pem() NULL. */
int tls_listen(struct loop *l, const struct tls_listen_options *o, struct tls_listener **ret,
               struct error *err);
int tls_listener_port(const struct tls_listener *t);
/* New certificates for connections to come. */
int tls_listener_set_identity(struct tls_listener *t, const struct tls_identity *tls, struct error *err);
void tls_listener_close(struct tls_listener *t); /* accepts no more; open streams go on */
/* From a fiber: accepts no more, closes every stream as tls_stream_close() does, waits until all are closed.
 */
void tls_listener_drain(struct tls_listener *t, int64_t flush_ms);
/* Cuts what is open and frees. In a fiber: waits until all closed events were delivered. */
struct tls_listener *tls_listener_free(struct tls_listener *t);
size_t tls_listener_count(const struct tls_listener *t); /* open streams */
struct loop *tls_listener_loop(const struct tls_listener *t);

/* Hands the stream's further events to somebody else: in `opened`, once the protocol is known. */
void tls_stream_set_events(struct tls_stream *s, const struct tls_stream_events *events, void *owner);
struct loop *tls_stream_loop(const struct tls_stream *s);
bool tls_stream_is_tls(const struct tls_stream *s);
const char *tls_stream_alpn(const struct tls_stream *s);        /* "" if none was agreed */
const char *tls_stream_server_name(const struct tls_stream *s); /* SNI; "" if none */
const char *tls_stream_remote(const struct tls_stream *s);      /* "127.0.0.1:4711" */
/* Verified client certificate: CN and O values (NULL-terminated); NULL if none was given. */
const char *tls_stream_peer_common_name(const struct tls_stream *s);
const char *const *tls_stream_peer_organizations(const struct tls_stream *s);
const char *tls_stream_peer_fingerprint(const struct tls_stream *s); /* its SHA-256 in hex */

/* Queues a copy; what one loop turn queues leaves in one piece at its end. ERR_CLOSED once closing,
 * ERR_NO_MEMORY, ERR_LIMIT beyond LIMIT_SERVER_QUEUE_BYTES. */
int tls_stream_write(struct tls_stream *s, const void *data, size_t n);
size_t tls_stream_queued(const struct tls_stream *s);     /* bytes the kernel has not taken */
void tls_stream_pause(struct tls_stream *s, bool paused); /* stops reading: back-pressure to the peer */
/* Before tls_stream_close(): the peer may still be sending, so read and drop for a while, else it would get a
 * reset in place of our last answer. */
void tls_stream_linger(struct tls_stream *s);
/* Sends what is queued, says goodbye, closes. `closed` follows within flush_ms. 0 cuts at once. */
void tls_stream_close(struct tls_stream *s, int64_t flush_ms);
