#include "e2e/simulation/sim_webhooks.h"

#include "hub-agent/webhook/serving.h"

int sim_webhooks_run(const struct hub_agent_options *o,
                     void (*started)(void *ctx, http_handler_fn handle, void *handle_ctx), void *ctx,
                     struct error *err)
{
        const struct webhook_options serves = {
                .flags = { .pdbs = true, .guard_rail = true, .networking_agents = o->networking_agents },
                .ns = "fleet-system",
                .service = "fleetwebhook",
                .port = -1,
                .started = started,
                .started_ctx = ctx
        };
        struct hub_agent_options with = *o;

        with.webhooks = &serves;
        return hub_agent_run(&with, err);
}
