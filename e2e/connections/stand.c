#include "e2e/connections/stand.h"

#include <unistd.h>

#include "common/base/memory.h"
#include "e2e/devcluster/http2.h"
#include "e2e/devcluster/serving/http1_conn.h"
#include "e2e/devcluster/serving/tls_stream.h"
#include "e2e/scenarios/process.h"

#define FLUSH_MS 100

struct stand {
        struct devcluster *devcluster;
        struct loop *loop;
        char *prefix; /* "/clusters/NAME" */
        const struct tls_identity *identity;
        enum stand_mode mode;
        struct tls_listener *listener; /* NULL while nobody listens */
        struct fiber_group *handlers;
        int port, reserved; /* a socket that is only bound, so that the port stays ours */
};

static void handle(void *ctx, struct http_exchange *x)
{
        struct stand *s = ctx;

        if (s->mode == STAND_HTML) {
                http_reply(x, 200, "text/html", SLICE("<html><body>Please log in</body></html>"), NULL);
        } else if (s->mode == STAND_OLD && text_equal(x->path, "/version")) {
                http_reply(x, 200, "application/json",
                           SLICE("{\"major\":\"1\",\"minor\":\"20\",\"gitVersion\":\"v1.20.15\"}"), NULL);
        } else if ((x->path = arena_printf(x->arena, "%s%s", s->prefix, x->path))) {
                devcluster_handle(s->devcluster, x);
        }
}

static void on_opened(void *owner, struct tls_stream *tls)
{
        struct stand *s = owner;
        int r;

        if (strcmp(tls_stream_alpn(tls), "h2") == 0)
                r = http2_start(tls, &(struct http2_options){ s->handlers, handle, s });
        else
                r = http1_conn_start(tls, &(struct http1_conn_options){
                                                  .group = s->handlers, .handle = handle, .ctx = s });
        if (r < 0)
                tls_stream_close(tls, 0);
}

static void ignore_opened(void *owner, struct tls_stream *tls)
{
}

static void ignore_data(void *owner, struct tls_stream *tls, const char *data, size_t n)
{
}

static void on_closed(void *owner, struct tls_stream *tls, const struct error *why)
{
}

static void stop_listening(struct stand *s)
{
        if (s->listener)
                tls_listener_close(s->listener);
        if (s->handlers)
                s->handlers = fiber_group_end(s->handlers);
        if (s->listener) {
                tls_listener_drain(s->listener, FLUSH_MS);
                s->listener = tls_listener_free(s->listener);
        }
}

static int start_listening(struct stand *s, struct error *err)
{
        static const struct tls_stream_events serve = { .opened = on_opened, .closed = on_closed };
        static const struct tls_stream_events hang = { ignore_opened, ignore_data, NULL, on_closed };
        bool hangs = s->mode == STAND_HANGS;
        const struct tls_listen_options o = { .bind = "127.0.0.1",
                                              .port = s->port,
                                              .tls = hangs ? NULL : s->identity,
                                              .alpn = (const char *[]){ "h2", "http/1.1", NULL },
                                              .events = hangs ? &hang : &serve,
                                              .owner = s };

        if (s->mode == STAND_REFUSES)
                return 0;
        s->handlers = fiber_group_new(s->loop, NULL, "stand");
        return s->handlers ? tls_listen(s->loop, &o, &s->listener, err) : error_no_memory(err);
}

int stand_set(struct stand *s, enum stand_mode mode, const struct tls_identity *identity, struct error *err)
{
        stop_listening(s);
        s->mode = mode;
        s->identity = identity;
        return start_listening(s, err);
}

int stand_open(struct devcluster *d, struct loop *l, const char *cluster, const struct tls_identity *identity,
               struct stand **ret, struct error *err)
{
        struct stand *s = NEW(struct stand);
        int r;

        if (!s)
                return error_no_memory(err);
        *s = (struct stand){ .devcluster = d, .loop = l, .identity = identity, .reserved = -1 };
        s->prefix = mem_printf("/clusters/%s", cluster);
        r = s->prefix ? process_reserve_port(&s->port, &s->reserved, err) : error_no_memory(err);
        if (r == 0)
                r = start_listening(s, err);
        if (r < 0)
                stand_close(s);
        else
                *ret = s;
        return r;
}

struct stand *stand_close(struct stand *s)
{
        if (!s)
                return NULL;
        stop_listening(s);
        if (s->reserved >= 0)
                close(s->reserved);
        mem_free(s->prefix);
        mem_free(s);
        return NULL;
}

int stand_port(const struct stand *s)
{
        return s->port;
}
