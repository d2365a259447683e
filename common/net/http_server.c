/* The agents' own endpoints: a listener, and http1_conn on every connection. */
#include "common/net/http_server.h"
#include "common/base/memory.h"
#include "common/net/cert.h"
#include "common/net/http1_conn.h"
#include "common/net/tls_stream.h"

#define STOP_FLUSH_MS 1000

struct http_server {
        struct loop *loop;
        struct tls_listener *listener;
        struct fiber_group *handlers;
        http_handler_fn handle;
        void *ctx;
        struct http1_limits limits;
        int64_t request_ms;
        bool stopping;
};

static void serve(void *ctx, struct http_exchange *x)
{
        struct http_server *s = ctx;
        if (s->stopping)
                http_reply(x, 503, "text/plain", SLICE("the server is stopping\n"), NULL);
        else
                s->handle(s->ctx, x);
}

static void on_opened(void *owner, struct tls_stream *s)
{
        struct http_server *server = owner;
        struct http1_conn_options o = {
                .group = server->handlers,
                .handle = serve,
                .ctx = server,
                .limits = server->limits,
                .idle_ms = server->request_ms,
        };
        if (http1_conn_start(s, &o) < 0)
                tls_stream_close(s, 0);
}

/* Only for a stream that found no memory for its connection. */
static void on_closed(void *owner, struct tls_stream *s, const struct error *why)
{
}

static const struct tls_stream_events listener_events = { .opened = on_opened, .closed = on_closed };

int http_server_start(struct world *w, const struct http_server_options *o, struct http_server **ret,
                      struct error *err)
{
        AUTO_FREE struct http_server *s = NEW(struct http_server);
        if (!s)
                return error_no_memory(err);
        s->loop = w->loop;
        s->handle = o->handle;
        s->ctx = o->ctx;
        s->limits = o->limits;
        s->request_ms = o->request_ms;
        s->handlers = fiber_group_new(w->loop, NULL, "http server");
        if (!s->handlers)
                return error_no_memory(err);
        struct tls_listen_options listen = {
                .bind = o->bind,
                .port = o->port,
                .tls = o->tls,
                .alpn = (const char *[]){ "http/1.1", NULL },
                .max_streams = o->connections,
                .oldest_gives_way = o->connections > 0,
                .events = &listener_events,
                .owner = s,
        };
        int r = tls_listen(w->loop, &listen, &s->listener, err);
        if (r < 0) {
                fiber_group_end(s->handlers);
                return r;
        }
        *ret = TAKE_PTR(s);
        return 0;
}

int http_server_port(const struct http_server *s)
{
        return tls_listener_port(s->listener);
}

struct http_server *http_server_stop(struct http_server *s)
{
        if (!s)
                return NULL;
        s->stopping = true;
        tls_listener_close(s->listener);
        fiber_group_end(s->handlers);
        tls_listener_drain(s->listener, STOP_FLUSH_MS);
        tls_listener_free(s->listener);
        mem_free(s);
        return NULL;
}
