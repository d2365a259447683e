/* /metrics, /healthz, /readyz (and /livez) for one agent, as an http_handler. */
#pragma once

#include "common/ctrl/controller.h"
#include "common/kube/connection.h"
#include "common/net/http_server.h"

/* /readyz is 200 "ok" or 503 and what is not ready, and names behind that, on a line each, what is wrong with
 * the ways to the API servers. A way that is bad does not make the agent unready by itself: a member works on
 * without its hub, and a restart mends nothing. Whoever reaches the port may read it, so it is fixed words:
 * addresses, names of objects and what servers said stand in the log. */
struct health {
        struct manager *manager;
        struct metrics *metrics;
        const struct kube_connection *connections[2]; /* NULL = none */
        /* What else readiness waits for: false and, on a line each, what; NULL = nothing. */
        bool (*also_ready)(void *ctx, struct buf *why_not);
        void *also_ctx;
};
void health_handle(void *health, struct http_exchange *x);
/* Serves it: requests without bodies, small, few at a time, in a bounded time (LIMIT_PROBE_*). bind NULL or a
 * negative port: nothing is served, *ret is left. `h` is borrowed until http_server_stop(). */
int health_serve(struct health *h, struct world *w, const char *bind, int port, struct http_server **ret,
                 struct error *err);

/* The same on /metrics: argosy_connection_good{server} and argosy_connection_trouble{server,reason}. */
void connection_metrics_note(struct metrics *m, const struct kube_connection_change *change);
