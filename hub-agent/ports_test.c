/* Who cannot be reached where it was told to serve ends, and says so: a Pod that serves nothing would look
 * like one that hangs. */
#include "hub-agent/hub_agent_test.h"
#include "hub-agent/webhook/serving.h"

struct ports {
        int metrics, health, webhooks; /* -1: none, 0: any that is free */
};

struct ended {
        struct fleet *fleet;
        struct ports ports;
        int code;
        struct error err;
};

static void run_to_the_end(void *ctx)
{
        struct ended *e = ctx;
        const struct webhook_options served = { .ns = "fleet-system",
                                                .service = "fleetwebhook",
                                                .bind = "127.0.0.1",
                                                .port = e->ports.webhooks };
        struct hub_agent_options o = { .world = &e->fleet->world,
                                       .log = &e->fleet->log,
                                       .hub = &e->fleet->rig->endpoint,
                                       .webhooks = &served,
                                       .bind = "127.0.0.1",
                                       .metrics_port = e->ports.metrics,
                                       .health_port = e->ports.health };

        e->code = hub_agent_run(&o, &e->err);
}

/* The agent is ended after 30 s, if it has not ended itself. */
static struct ended run_with(struct fleet *f, struct ports ports)
{
        struct fiber_group *group = fiber_group_new(f->rig->loop, NULL, "agents");
        struct ended e = { .fleet = f, .ports = ports };

        assert_non_null(fiber_spawn(group, "hub-agent", run_to_the_end, &e));
        fiber_sleep(f->rig->loop, 30000);
        fiber_group_end(group);
        return e;
}

/* A simulated loop has no sockets, which is as good as ports that somebody else has. */
RIG_TEST(an_agent_that_cannot_serve_one_of_its_ports_ends_and_says_why, {
        static const struct ports rows[] = {
                { 8080, -1, -1 },   { -1, 8081, -1 }, { 8080, 8081, -1 },
                { 8080, 8080, -1 }, { -1, -1, 9443 }, { 0, -1, -1 },
                { -1, 0, -1 },      { -1, -1, 0 },    { 8080, 8081, 9443 },
        };
        struct fleet f;

        start(r, &f);
        stop(&f);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct ended e = run_with(&f, rows[i]);

                if (e.code != ERR_UNSUPPORTED || !strstr(e.err.text, "no sockets"))
                        fail_msg("ports of row %zu: %d %s", i, e.code, e.err.text);
        }
        assert_int_equal(run_with(&f, (struct ports){ -1, -1, -1 }).code, ERR_CANCELLED);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_agent_that_cannot_serve_one_of_its_ports_ends_and_says_why),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
