/* What the agent's options change for ResourceSets: spec/resource-set.md 16.3. */
#include "hub-agent/resource-set/resource_set_test.h"

#define GATED(name)                                                                                          \
        "\"dependsOn\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"" name                      \
        "\"}],\"inputs\":[" TENANT("team1") "],\"resources\":[" OBJECTS "]}}"

static void begin_with(struct rig *r, struct fleet *f, const struct fleet *wanted)
{
        begin(r, f);
        stop(f);
        f->requeue_dependency_ms = wanted->requeue_dependency_ms;
        f->override_managers = wanted->override_managers;
        f->resource_set_pace = wanted->resource_set_pace;
        f->watch_configs = wanted->watch_configs;
        start_again(r, f);
}

/* spec/resource-set.md checklist 105 */
RIG_TEST(dependencies_are_looked_at_as_often_as_is_wanted, {
        struct fleet f;
        const struct fleet wanted = { .requeue_dependency_ms = 60000 };

        begin_with(r, &f, &wanted);
        create(r, HEAD("") GATED("gate"));
        rig_post(r, MAPS("default"), "{\"metadata\":{\"name\":\"gate\"}}");
        fiber_sleep(r->loop, 40000);
        assert_ready(r, "False", "DependencyNotReady", "");
        fiber_sleep(r->loop, 25000);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        stop(&f);
})

/* spec/resource-set.md checklist 105 */
RIG_TEST(a_manager_that_is_named_loses_its_fields, {
        struct fleet f;
        const struct flag_strings managers = { .at = { "other" }, .n = 1 };
        const struct fleet wanted = { .override_managers = &managers };

        begin_with(r, &f, &wanted);
        create(r, PLAIN("", TENANT("team1"), OBJECTS));
        if (rig_call(r, "PATCH", MAPS("team1") "/settings?fieldManager=other", "application/merge-patch+json",
                     "{\"data\":{\"theirs\":\"x\"}}") != 200)
                fail_msg("%s", r->text);
        merge_and_settle(r, SET,
                         "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"1\"}}}");
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 200);
        assert_null(doc_get(r->answer, "data.theirs"));
        stop(&f);
})

/* spec/resource-set.md checklist 105 */
RIG_TEST(runs_come_at_the_pace_that_is_wanted, {
        struct fleet f;
        const struct resource_set_pace pace = {
                .concurrency = 1, .jitter_percent = 0, .retry_least_ms = 20000, .retry_most_ms = 20000
        };
        const struct fleet wanted = { .resource_set_pace = &pace };

        begin_with(r, &f, &wanted);
        create(r, PLAIN("\"fluxcd.controlplane.io/reconcileEvery\":\"100s\"", TENANT("team1"), CONFIG("")));
        assert_ready(r, "False", "ReconciliationFailed", "");
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team1\"}}");
        fiber_sleep(r->loop, 15000);
        assert_ready(r, "False", "ReconciliationFailed", "");
        fiber_sleep(r->loop, 10000);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_int_equal(rig_get(r, SET), 200);
        assert_int_equal(doc_get_int(json_array_get(doc_get_array(r->answer, "status.history"), 0),
                                     "totalReconciliations", 0),
                         1);
        for (int i = 2; i < 5; i++) { /* twenty seconds after the beginning, and on the second */
                fiber_sleep(r->loop, 100000);
                assert_int_equal(rig_get(r, SET), 200);
                assert_int_equal(doc_get_int(json_array_get(doc_get_array(r->answer, "status.history"), 0),
                                             "totalReconciliations", 0),
                                 i);
        }
        /* One waits for its health: there is no room for another. */
        merge_and_settle(r, SET, "{\"spec\":{\"wait\":true,\"resources\":[" SLOW "]}}");
        rig_post(r, SETS,
                 "{\"apiVersion\":\"fluxcd.controlplane.io/"
                 "v1\",\"kind\":\"ResourceSet\",\"metadata\":{\"name\":"
                 "\"other\"},\"spec\":{\"resources\":[]}}");
        rig_settle(r);
        fiber_sleep(r->loop, 10000);
        assert_int_equal(rig_get(r, SETS "/other"), 200);
        assert_null(doc_get(r->answer, "status.conditions"));
        stop(&f);
})

static void run_wrongly(void *ctx)
{
        struct fleet *f = ctx;
        struct error err = { 0 };
        const struct hub_agent_options o = { .world = &f->world,
                                             .log = &f->log,
                                             .hub = &f->rig->endpoint,
                                             .without_inventory = true,
                                             .resource_sets = true,
                                             .watch_configs = "a b",
                                             .metrics_port = -1,
                                             .health_port = -1 };

        assert_int_equal(hub_agent_run(&o, &err), ERR_INVALID);
        assert_non_null(strstr(err.text, "watch-configs-label-selector"));
        f->probed = true; /* it has ended */
}

/* spec/resource-set.md checklist 105 */
RIG_TEST(an_agent_does_not_start_with_a_selector_that_is_none, {
        struct fleet f;
        struct fiber_group *group = fiber_group_new(r->loop, NULL, "agent");

        begin(r, &f);
        stop(&f);
        assert_non_null(fiber_spawn(group, "agent", run_wrongly, &f));
        fiber_sleep(r->loop, 40000);
        assert_true(f.probed);
        fiber_group_end(group);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(dependencies_are_looked_at_as_often_as_is_wanted),
                cmocka_unit_test(a_manager_that_is_named_loses_its_fields),
                cmocka_unit_test(runs_come_at_the_pace_that_is_wanted),
                cmocka_unit_test(an_agent_does_not_start_with_a_selector_that_is_none),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
