/* What the listener and its streams share. Internal to tls_listener.c and tls_stream.c. */
#pragma once

#include <uv.h>

#include <openssl/ssl.h>

#include "common/base/buf.h"
#include "e2e/devcluster/serving/tls_stream.h"

#define TLS_READ_BYTES (64u << 10)

struct tls_listener {
        struct loop *loop;
        uv_tcp_t handle;
        uv_tcp_t spare; /* takes a connection that is refused at once */
        bool spare_busy, accept_again;
        bool listening; /* handle is open */
        bool freeing;
        bool joined;         /* a fiber in tls_listener_free() frees it */
        SSL_CTX *ctx;        /* NULL = plain */
        unsigned char *alpn; /* wire form: length byte and name, repeated */
        unsigned alpn_len;
        const struct tls_stream_events *events;
        void *owner;
        size_t max_streams, n_streams; /* n_streams: with those that are cut and not closed yet */
        size_t n_cut;
        int64_t handshake_ms;
        int port;
        struct list streams;
        size_t open_handles; /* of libuv; the listener is freed when none is left */
        struct waitq closed; /* tls_listener_free() waits */
        char *input; /* TLS_READ_BYTES from the socket, then as many decrypted: used within one event only */
};

void tls_listener_handle_closed(struct tls_listener *t);
/* Takes the waiting connection; ERR_NO_MEMORY leaves it waiting. */
int tls_stream_accept(struct tls_listener *t);
void tls_streams_cut(struct tls_listener *t);
void tls_streams_close(struct tls_listener *t, int64_t flush_ms);
