/* A hub-agent of a simulated fleet that serves admission webhooks. */
#pragma once

#include "common/net/http_server.h"
#include "hub-agent/hub_agent.h"

#define SIM_WEBHOOK_SERVICE "fleet-system/fleetwebhook"

/* hub_agent_run() with webhooks and the guard rail; started: as in webhook_options
 * (hub-agent/webhook/serving.h).
 */
int sim_webhooks_run(const struct hub_agent_options *o,
                     void (*started)(void *ctx, http_handler_fn handle, void *handle_ctx), void *ctx,
                     struct error *err);
