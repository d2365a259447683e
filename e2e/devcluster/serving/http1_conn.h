/* HTTP/1.1 on one accepted connection: requests one after another, each answered by a handler fiber through
 * struct http_exchange. devcluster runs those connections through this whose ALPN is not h2. */
#pragma once

#include "e2e/devcluster/serving/http1_parse.h"
#include "e2e/devcluster/serving/tls_stream.h"

struct http1_conn;

struct http1_conn_options {
        struct fiber_group *group; /* handlers live here; ending it cancels them */
        http_handler_fn handle;
        void *ctx;
        struct http1_limits limits;
        int64_t idle_ms; /* a connection without a request, or a request that does not complete, or answers
                            that are not taken, is closed after this; 0 = 75,000 */
        /* Called once with the connection's end, after its last handler returned. May be NULL. */
        void (*ended)(void *ctx);
};

/* Takes over the stream's events; call it in `opened`. Frees itself after the stream closed and the last
 * handler ended. ERR_NO_MEMORY leaves the stream alone. `o` is copied. */
int http1_conn_start(struct tls_stream *s, const struct http1_conn_options *o);
