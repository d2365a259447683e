/* What happens to messages of a simulated fleet: those of agents that are cut off, dead or stopped, and those
 * of their webhooks; and what the run's faults add to it. */
#include "e2e/simulation/sim_fleet_internal.h"
#include "e2e/simulation/sim_webhooks.h"
#include "e2e/simulation/traffic.h"

/* ---- of an agent ---- */

static bool goes_to_hub(const struct http_request *rq)
{
        return text_ends_with(rq->endpoint->base_url, "/clusters/hub");
}

static bool is_cut(const struct sim_agent *a, const struct http_request *rq)
{
        return a->killed || (a->link_down && goes_to_hub(rq));
}

static int64_t agent_delay(void *ctx, const struct http_request *rq, bool answer)
{
        struct sim_agent *a = ctx;
        const struct loopback_faults *more = a->sim->options.faults;

        return more && more->delay ? more->delay(more->ctx, rq, answer) : 1;
}

static void put_text(struct slice from, char *to, size_t size)
{
        snprintf(to, size, "%.*s", (int)from.len, from.len ? from.data : "");
}

/* As the store names things: by group and resource, what is made by the name in its body. */
static void tell_sent(const struct sim_agent *a, const struct http_request *rq)
{
        static const char before_cluster[] = "/clusters/";
        const char *cluster = strstr(rq->endpoint->base_url, before_cluster);
        char resource[2 * TRAFFIC_TEXT], ns[TRAFFIC_TEXT], name[TRAFFIC_TEXT], sub[TRAFFIC_TEXT];
        struct traffic_target to;
        struct traffic t;

        if (!a->sim->options.sent || !cluster || text_equal(rq->method, "GET"))
                return;
        traffic_of(rq, &t);
        if (!t.is_write || !traffic_target_of(rq->path, &to))
                return;
        snprintf(resource, sizeof(resource), "%.*s/%.*s", (int)to.group.len,
                 to.group.len ? to.group.data : "", (int)to.resource.len, to.resource.data);
        put_text(to.ns, ns, sizeof(ns));
        put_text(to.name, name, sizeof(name));
        put_text(to.sub, sub, sizeof(sub));
        a->sim->options.sent(a->sim->options.ctx,
                             &(struct sent){ .at_ms = loop_now_us(a->sim->options.loop) / 1000,
                                             .who = a->name,
                                             .cluster = cluster + strlen(before_cluster),
                                             .resource = resource,
                                             .ns = ns,
                                             .name = name,
                                             .sub = sub,
                                             .body = rq->body });
}

static int agent_fate(void *ctx, const struct http_request *rq)
{
        struct sim_agent *a = ctx;
        const struct loopback_faults *more = a->sim->options.faults;

        int code = is_cut(a, rq) ? ERR_RETRY : more && more->fate ? more->fate(more->ctx, rq) : 0;

        tell_sent(a, rq);
        sim_pause_sent(&a->pause, rq);
        log_debug(&a->log, "request", "method", rq->method, "to", rq->endpoint->base_url, "path", rq->path,
                  "fate", LOG_INT(code));
        return code;
}

static bool agent_duplicate(void *ctx, const struct http_request *rq)
{
        struct sim_agent *a = ctx;
        const struct loopback_faults *more = a->sim->options.faults;

        return more && more->duplicate && more->duplicate(more->ctx, rq);
}

static bool agent_cut_stream(void *ctx, const struct http_request *rq)
{
        struct sim_agent *a = ctx;
        const struct loopback_faults *more = a->sim->options.faults;

        return is_cut(a, rq) || (more && more->cut_stream && more->cut_stream(more->ctx, rq));
}

static bool agent_hold_back(void *ctx, const struct http_request *rq)
{
        struct sim_agent *a = ctx;

        return sim_pause_hold_back(&a->pause, rq);
}

void sim_agent_faults(struct sim_agent *a)
{
        a->faults = (struct loopback_faults){
                a, agent_delay, agent_fate, agent_duplicate, agent_cut_stream, agent_hold_back
        };
}

/* ---- of the servers' calls of webhooks ---- */

void sim_webhooks_started(void *agent, http_handler_fn handle, void *ctx)
{
        struct sim_agent *a = agent;
        struct sim_fleet *sim = a->sim;

        a->serves_webhooks = handle && loopback_listen(sim->loopback, a->webhooks_at, handle, ctx) == 0;
        if (!handle)
                (void)loopback_listen(sim->loopback, a->webhooks_at, NULL, NULL);
        for (unsigned i = 0; i < sim_fleet_agents(sim); i++)
                if (sim->agents[i]->serves_webhooks) {
                        sim_server_set_service(sim->server, SIM_WEBHOOK_SERVICE, sim->agents[i]->webhooks_at);
                        return;
                }
}

void sim_fleet_trouble_webhooks(struct fleet *f, bool on)
{
        container_of(f, struct sim_fleet, fleet)->troubles_webhooks = on;
}

/* NULL: none. */
static const struct loopback_faults *webhook_trouble(const struct sim_fleet *sim)
{
        return sim->troubles_webhooks ? sim->options.faults : NULL;
}

static int64_t webhook_delay(void *ctx, const struct http_request *rq, bool answer)
{
        const struct loopback_faults *more = webhook_trouble(ctx);

        return more && more->delay ? more->delay(more->ctx, rq, answer) : 1;
}

/* What cuts an agent off from the API servers does so in both directions. */
static int webhook_fate(void *ctx, const struct http_request *rq)
{
        struct sim_fleet *sim = ctx;
        const struct loopback_faults *more = webhook_trouble(sim);
        const char *to = strstr(rq->endpoint->base_url, "://") + 3;

        for (unsigned i = 0; i < sim_fleet_agents(sim); i++)
                if (text_equal(sim->agents[i]->webhooks_at, to) &&
                    (sim->agents[i]->killed || sim->agents[i]->link_down))
                        return ERR_TIMEOUT;
        return more && more->fate ? more->fate(more->ctx, rq) : 0;
}

void sim_webhook_faults(struct sim_fleet *sim)
{
        sim->webhook_faults =
                (struct loopback_faults){ .ctx = sim, .delay = webhook_delay, .fate = webhook_fate };
}
