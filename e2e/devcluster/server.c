/* The real server: a TLS listener whose connections speak HTTP/2 or HTTP/1.1, as the client chose. */
#include "common/net/cert.h"
#include "e2e/devcluster/http2.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/serving/http1_conn.h"
#include "e2e/devcluster/serving/tls_stream.h"

#define STOP_FLUSH_MS 500
#define SERVER_CERT_DAYS 3650

struct devcluster_server {
        struct devcluster *devcluster;
        struct tls_listener *listener;
        struct fiber_group *handlers;
        char *prefix; /* "/clusters/NAME"; NULL = paths carry it */
};

/* Requests of a listener that serves one cluster: as if the path had named it. */
static void handle_one_cluster(void *ctx, struct http_exchange *x)
{
        struct devcluster_server *s = ctx;
        x->path = arena_printf(x->arena, "%s%s", s->prefix, x->path);
        if (x->path)
                devcluster_handle(s->devcluster, x);
}

static void on_opened(void *owner, struct tls_stream *tls)
{
        struct devcluster_server *s = owner;
        http_handler_fn handle = s->prefix ? handle_one_cluster : devcluster_handle;
        void *ctx = s->prefix ? (void *)s : s->devcluster;
        int r;
        if (strcmp(tls_stream_alpn(tls), "h2") == 0) {
                const struct http2_options o = { s->handlers, handle, ctx };
                r = http2_start(tls, &o);
        } else {
                const struct http1_conn_options o = { .group = s->handlers, .handle = handle, .ctx = ctx };
                r = http1_conn_start(tls, &o);
        }
        if (r < 0)
                tls_stream_close(tls, 0);
}

static void on_closed(void *owner, struct tls_stream *tls, const struct error *why)
{
}

static const struct tls_stream_events listener_events = { .opened = on_opened, .closed = on_closed };

static int make_identity(struct devcluster *d, const char *bind, struct tls_identity *ret, struct error *err)
{
        const char *names[] = { "localhost",
                                "kubernetes",
                                "kubernetes.default",
                                "kubernetes.default.svc",
                                "kubernetes.default.svc.cluster.local",
                                NULL };
        const char *addresses[] = { "127.0.0.1", "::1", "10.96.0.1", NULL, NULL };
        if (bind && strcmp(bind, "0.0.0.0") != 0 && strcmp(bind, "::") != 0 && strcmp(bind, "127.0.0.1") != 0)
                addresses[3] = bind;
        const struct cert_subject subject = { .common_name = "devcluster",
                                              .dns_names = names,
                                              .ip_addresses = addresses };
        TRY(pki_ensure(d, err));
        TRY(cert_issue(d->ca_cert, d->ca_key, &subject, true, loop_wall_ms(d->loop), SERVER_CERT_DAYS,
                       &ret->cert_pem, &ret->key_pem, err));
        ret->client_ca_pem = mem_strdup(d->ca_cert);
        return ret->client_ca_pem ? 0 : error_no_memory(err);
}

static int listen_on(struct devcluster_server *s, const struct devcluster_server_options *o,
                     struct error *err)
{
        CLEANUP(tls_identity_free) struct tls_identity identity = { 0 };
        TRY(make_identity(o->devcluster, o->bind, &identity, err));
        const struct tls_listen_options listen = { .bind = o->bind ? o->bind : "127.0.0.1",
                                                   .port = o->port,
                                                   .tls = &identity,
                                                   .alpn = (const char *[]){ "h2", "http/1.1", NULL },
                                                   .events = &listener_events,
                                                   .owner = s };
        return tls_listen(o->devcluster->loop, &listen, &s->listener, err);
}

int devcluster_serve(const struct devcluster_server_options *o, struct devcluster_server **ret,
                     struct error *err)
{
        struct devcluster_server *s = NEW(struct devcluster_server);
        if (!s)
                return error_no_memory(err);
        s->devcluster = o->devcluster;
        s->handlers = fiber_group_new(o->devcluster->loop, NULL, "devcluster requests");
        if (o->cluster)
                s->prefix = mem_printf("/clusters/%s", o->cluster);
        int r = s->handlers && (s->prefix || !o->cluster) ? listen_on(s, o, err) : error_no_memory(err);
        if (r < 0) {
                if (s->handlers)
                        fiber_group_end(s->handlers);
                mem_free(s->prefix);
                mem_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

size_t devcluster_server_connections(const struct devcluster_server *s)
{
        return tls_listener_count(s->listener);
}

int devcluster_server_port(const struct devcluster_server *s)
{
        return tls_listener_port(s->listener);
}

struct devcluster_server *devcluster_server_stop(struct devcluster_server *s)
{
        if (!s)
                return NULL;
        tls_listener_close(s->listener);
        fiber_group_end(s->handlers);
        tls_listener_drain(s->listener, STOP_FLUSH_MS);
        tls_listener_free(s->listener);
        mem_free(s->prefix);
        mem_free(s);
        return NULL;
}
