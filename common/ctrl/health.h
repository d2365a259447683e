/* /metrics, /healthz, /readyz (and /livez) for one manager, as an http_handler. */
#pragma once

#include "common/ctrl/controller.h"
#include "common/net/http_server.h"

struct health {
        struct manager *manager;
        struct metrics *metrics;
};
void health_handle(void *health, struct http_exchange *x);
