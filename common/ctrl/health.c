#include "common/ctrl/health.h"

#include "common/base/limits.h"

#define TEXT "text/plain; charset=utf-8"
#define PROMETHEUS "text/plain; version=0.0.4; charset=utf-8"

static void reply_metrics(const struct health *h, struct http_exchange *x)
{
        AUTO_BUF struct buf b;

        buf_init(&b, LIMIT_RESPONSE_BYTES);
        if (metrics_print(h->metrics, &b) < 0)
                http_reply(x, 500, TEXT, SLICE("metrics do not fit into memory\n"), NULL);
        else
                http_reply(x, 200, PROMETHEUS, (struct slice){ b.data, b.len }, NULL);
}

static void reply_ready(const struct health *h, struct http_exchange *x)
{
        AUTO_BUF struct buf b, why;
        bool ready;

        buf_init(&b, 65536);
        buf_init(&why, 32768);
        ready = manager_ready(h->manager, &why);
        if (h->also_ready && !h->also_ready(h->also_ctx, &why))
                ready = false;
        buf_printf(&b, "%s", ready ? "ok\n" : why.data ? why.data : "not ready\n");
        for (size_t i = 0; i < ARRAY_LEN(h->connections) && h->connections[i]; i++)
                kube_connection_print(h->connections[i], &b);
        http_reply(x, ready ? 200 : 503, TEXT, (struct slice){ b.data, b.len }, NULL);
}

static bool is_right(const char *reason)
{
        return text_equal(reason, KUBE_REASON_RIGHT_MISSING);
}

/* There is one trouble with the way at a time, and any number of missing rights. */
static void forget_troubles(struct metrics *m, const char *name)
{
        for (size_t i = 0; i < n_kube_troubles; i++)
                if (!is_right(kube_troubles[i].reason))
                        metric_remove(m, METRIC_CONNECTION_TROUBLE,
                                      (const char *const[]){ name, kube_troubles[i].reason });
}

void connection_metrics_note(struct metrics *m, const struct kube_connection_change *change)
{
        const char *reason = change->trouble ? change->trouble->reason : "";
        const char *const labels[] = { change->name, reason };

        if (!is_right(reason)) {
                metric_set(m, METRIC_CONNECTION_GOOD, change->over, labels);
                forget_troubles(m, change->name);
        }
        if (change->left > 0)
                metric_set(m, METRIC_CONNECTION_TROUBLE, (double)change->left, labels);
        else if (change->trouble)
                metric_remove(m, METRIC_CONNECTION_TROUBLE, labels);
}

void health_handle(void *health, struct http_exchange *x)
{
        const struct health *h = health;

        if (!text_equal(x->method, "GET") && !text_equal(x->method, "HEAD"))
                http_reply(x, 405, TEXT, SLICE("only GET is served here\n"), NULL);
        else if (text_equal(x->path, "/healthz") || text_equal(x->path, "/livez"))
                http_reply(x, 200, TEXT, SLICE("ok\n"), NULL);
        else if (text_equal(x->path, "/readyz"))
                reply_ready(h, x);
        else if (text_equal(x->path, "/metrics"))
                reply_metrics(h, x);
        else
                http_reply(x, 404, TEXT, SLICE("served here: /healthz /livez /readyz /metrics\n"), NULL);
}

int health_serve(struct health *h, struct world *w, const char *bind, int port, struct http_server **ret,
                 struct error *err)
{
        struct http_server_options o = {
                .bind = bind,
                .port = port,
                .handle = health_handle,
                .ctx = h,
                .limits = { .header_bytes = LIMIT_PROBE_HEAD_BYTES, .body_bytes = HTTP_NO_BODY },
                .connections = LIMIT_PROBE_CONNECTIONS,
                .request_ms = LIMIT_PROBE_REQUEST_MS,
        };

        return bind && port >= 0 ? http_server_start(w, &o, ret, err) : 0;
}
