/* The file server of artifacts. spec/helm-chart.md 4.4. */
#pragma once

#include "common/net/http_server.h"
#include "hub-agent/source/store/store.h"

/* An http_handler_fn; ctx is the store. */
void artifact_serve(void *ctx, struct http_exchange *x);
