/* HTTP/2 on one accepted connection (nghttp2): each request is answered by a handler fiber of its own, many
 * at a time. The counterpart of e2e/devcluster/serving/http1_conn.h, for connections whose ALPN is h2. */
#pragma once

#include "common/net/http_server.h"
#include "e2e/devcluster/serving/tls_stream.h"

struct http2_options {
        struct fiber_group *group; /* handlers live here; ending it cancels them */
        http_handler_fn handle;
        void *ctx;
};
/* Takes over the stream's events; call it in `opened`. Frees itself after the stream closed and the last
 * handler ended. ERR_NO_MEMORY leaves the stream alone. */
int http2_start(struct tls_stream *s, const struct http2_options *o);
