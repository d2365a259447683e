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
        AUTO_BUF struct buf b;

        buf_init(&b, 65536);
        if (manager_ready(h->manager, &b))
                http_reply(x, 200, TEXT, SLICE("ok\n"), NULL);
        else
                http_reply(x, 503, TEXT, (struct slice){ b.data, b.len }, NULL);
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
