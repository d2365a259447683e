/* When the hub comes to serve ResourceSets: spec/resource-set.md 23. */
#include "hub-agent/hub_agent_test.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define OF_SETS "resourcesets.fluxcd.controlplane.io"
#define OF_PROVIDERS "resourcesetinputproviders.fluxcd.controlplane.io"
#define SETS "/apis/fluxcd.controlplane.io/v1/namespaces/default/resourcesets"
#define LEASE "/apis/coordination.k8s.io/v1/namespaces/fleet-system/leases/136224848560.hub.fleet.azure.com"
#define SET(name)                                                                                            \
        "{\"apiVersion\":\"fluxcd.controlplane.io/v1\",\"kind\":\"ResourceSet\",\"metadata\":{\"name\":"     \
        "\"" name "\"},\"spec\":{\"resources\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\""  \
        ":{\"name\":\"of-" name "\",\"namespace\":\"default\"}}]}}"

/* Requests for what only ResourceSets need. */
struct seen {
        struct loopback_faults faults;
        int of_sets, of_secrets;
};

static int look(void *ctx, const struct http_request *rq)
{
        struct seen *seen = ctx;

        seen->of_sets += strstr(rq->path, "/v1/resourceset") != NULL;
        seen->of_secrets += strstr(rq->path, "/api/v1/secrets?") && strstr(rq->path, "labelSelector");
        return 0;
}

static void define(struct rig *r, const char *name)
{
        const char *quoted = arena_printf(&r->arena, "\"%s\"", name);

        for (size_t i = 0; hub_agent_crd(i); i++)
                if (strstr(hub_agent_crd(i), quoted)) {
                        assert_int_equal(rig_post(r, CRDS, hub_agent_crd(i)), 201);
                        return;
                }
        fail_msg("there is no definition of %s", name);
}

static void undefine(struct rig *r)
{
        assert_int_equal(rig_delete(r, CRDS "/" OF_SETS), 200);
        assert_int_equal(rig_delete(r, CRDS "/" OF_PROVIDERS), 200);
        rig_settle(r);
}

static void lay_out(struct rig *r, struct fleet *f)
{
        start(r, f);
        stop(f);
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"default\"}}");
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"fleet-system\"}}");
        undefine(r);
        f->resource_sets = true;
}

static void make_set(struct rig *r, const char *body)
{
        if (rig_post(r, SETS, body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
}

static int status_of_made(struct rig *r, const char *name)
{
        return rig_get(r, arena_printf(&r->arena, "/api/v1/namespaces/default/configmaps/of-%s", name));
}

static void come(struct rig *r)
{
        define(r, OF_PROVIDERS);
        define(r, OF_SETS);
        fiber_sleep(r->loop, 20000);
        rig_settle(r);
}

RIG_TEST(sets_are_worked_on_when_their_definitions_come, {
        struct fleet f;
        struct seen seen = { .faults = { .ctx = &seen, .fate = look } };

        lay_out(r, &f);
        f.probed = true;
        f.world.transport = loopback_transport(r->net, &f.world, &seen.faults);
        start_again(r, &f);
        fiber_sleep(r->loop, 60000);
        struct http_response a;
        assert_int_equal(probe(&f, "/readyz", &a), 200);
        assert_int_equal(seen.of_sets, 0);
        assert_int_equal(seen.of_secrets, 0);
        define(r, OF_SETS);
        fiber_sleep(r->loop, 20000);
        assert_int_equal(seen.of_secrets, 0); /* one of the two is not enough */
        define(r, OF_PROVIDERS);
        fiber_sleep(r->loop, 20000);
        assert_true(seen.of_secrets > 0);
        make_set(r, SET("a"));
        assert_int_equal(status_of_made(r, "a"), 200);
        assert_int_equal(probe(&f, "/readyz", &a), 200);
        stop(&f);
        http_transport_free(f.world.transport);
})

/* A definition that is removed takes its objects along; the agent goes on, and with the next ones too. */
RIG_TEST(definitions_may_go_and_come_back, {
        struct fleet f;
        struct http_response a;

        lay_out(r, &f);
        f.probed = true;
        start_again(r, &f);
        come(r);
        make_set(r, SET("a"));
        assert_int_equal(rig_delete(r, SETS "/a"), 200);
        rig_settle(r);
        assert_int_equal(status_of_made(r, "a"), 404);
        undefine(r);
        fiber_sleep(r->loop, 120000);
        assert_int_equal(probe(&f, "/readyz", &a), 200);
        come(r);
        fiber_sleep(r->loop, 60000);
        make_set(r, SET("b"));
        assert_int_equal(status_of_made(r, "b"), 200);
        stop(&f);
})

static bool one_leads(struct rig *r, const char *before)
{
        return rig_get(r, LEASE) == 200 && !text_empty(rig_string(r, "spec.holderIdentity")) &&
               !text_equal(rig_string(r, "spec.holderIdentity"), before);
}

/* The one that stands by learns of them too. */
RIG_TEST(whoever_leads_next_works_on_them_as_well, {
        struct fleet f, second;

        lay_out(r, &f);
        f.leader_election = true;
        second = f;
        start_again(r, &f);
        fiber_sleep(r->loop, 5000);
        assert_true(one_leads(r, ""));
        AUTO_FREE char *first_leader = mem_strdup(rig_string(r, "spec.holderIdentity"));
        second.sink.ctx = &second;
        second.log.sink = &second.sink;
        start_again(r, &second);
        come(r);
        make_set(r, SET("a"));
        assert_int_equal(status_of_made(r, "a"), 200);
        stop(&f);
        fiber_sleep(r->loop, 90000);
        assert_true(one_leads(r, first_leader));
        make_set(r, SET("b"));
        assert_int_equal(status_of_made(r, "b"), 200);
        rig_delete(r, SETS "/a");
        rig_settle(r);
        assert_int_equal(status_of_made(r, "a"), 404);
        stop(&second);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(sets_are_worked_on_when_their_definitions_come),
                cmocka_unit_test(definitions_may_go_and_come_back),
                cmocka_unit_test(whoever_leads_next_works_on_them_as_well),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
