/* A server of nothing but http1_conn, for tests of connections and of clients. */
#pragma once

#include "common/base/memory.h"
#include "e2e/devcluster/serving/http1_conn.h"

#define HTTP1_SERVER_FLUSH_MS 1000

struct http1_server {
        struct http_server_options options;
        struct tls_listener *listener;
        struct fiber_group *handlers;
};

static inline void http1_server_opened(void *owner, struct tls_stream *stream)
{
        struct http1_server *s = owner;
        const struct http1_conn_options o = { .group = s->handlers,
                                              .handle = s->options.handle,
                                              .ctx = s->options.ctx,
                                              .idle_ms = s->options.request_ms };
        if (http1_conn_start(stream, &o) < 0)
                tls_stream_close(stream, 0);
}
static inline void http1_server_closed(void *owner, struct tls_stream *stream, const struct error *why)
{
}

/* As http_server_start() and its like. */
static inline int http1_server_start(struct world *w, const struct http_server_options *o,
                                     struct http1_server **ret, struct error *err)
{
        static const struct tls_stream_events events = { .opened = http1_server_opened,
                                                         .closed = http1_server_closed };
        struct http1_server *s = mem_must(NEW(struct http1_server));
        const struct tls_listen_options listen = { .bind = o->bind,
                                                   .port = o->port,
                                                   .tls = o->tls,
                                                   .alpn = (const char *[]){ "http/1.1", NULL },
                                                   .events = &events,
                                                   .owner = s };
        int r;

        s->options = *o;
        s->handlers = fiber_group_new(w->loop, NULL, "http server");
        r = tls_listen(w->loop, &listen, &s->listener, err);
        if (r < 0) {
                fiber_group_end(s->handlers);
                mem_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

static inline int http1_server_port(const struct http1_server *s)
{
        return tls_listener_port(s->listener);
}

static inline struct http1_server *http1_server_stop(struct http1_server *s)
{
        if (!s)
                return NULL;
        tls_listener_close(s->listener);
        fiber_group_end(s->handlers);
        tls_listener_drain(s->listener, HTTP1_SERVER_FLUSH_MS);
        tls_listener_free(s->listener);
        mem_free(s);
        return NULL;
}
