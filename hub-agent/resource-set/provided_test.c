/* ResourceSets whose inputs come from providers. */
#include "hub-agent/resource-set/resource_set_test.h"

#define BY_LABEL                                                                                             \
        HEAD("")                                                                                             \
        "\"inputsFrom\":[{\"selector\":{\"matchLabels\":{\"for\":\"tenants\"}}}],\"resources\":"             \
        "[" OBJECTS "]}}"
#define RELABELLED(value) "{\"metadata\":{\"labels\":{\"for\":" value "}}}"

/* spec/resource-set.md checklist 15, 100 */
RIG_TEST(a_selector_takes_who_is_labelled_and_nobody_means_nothing, {
        struct fleet f;

        begin(r, &f);
        create(r, BY_LABEL);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_inventory(r, 0);
        add_provider(r, "teams", TENANT("team1"), "sha256:1");
        assert_inventory(r, 0);
        merge_and_settle(r, PROVIDERS "/teams", RELABELLED("\"tenants\""));
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_inventory(r, 2);
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 200);
        merge_and_settle(r, PROVIDERS "/teams", RELABELLED("null"));
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_inventory(r, 0);
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 404);
        stop(&f);
})

/* spec/resource-set.md checklist 108 */
RIG_TEST(what_a_failing_provider_exported_goes_on_to_count, {
        struct fleet f;

        begin(r, &f);
        add_provider(r, "teams", TENANT("team1"), "sha256:1");
        merge_and_settle(r, PROVIDERS "/teams/status",
                         "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"reason\":"
                         "\"ReconciliationFailed\",\"message\":\"HTTP 500\",\"lastTransitionTime\":"
                         "\"2026-01-01T00:00:00Z\"}]}}");
        create(r, HEAD("") "\"inputsFrom\":[{\"name\":\"teams\"}],\"resources\":[" OBJECTS "]}}");
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 200);
        stop(&f);
})

/* Long before it would have looked again. spec/resource-set.md 7 */
RIG_TEST(who_waits_for_another_set_is_woken_when_that_is_ready, {
        struct fleet f;

        begin(r, &f);
        rig_post(r, SETS,
                 "{\"apiVersion\":\"fluxcd.controlplane.io/"
                 "v1\",\"kind\":\"ResourceSet\",\"metadata\":{\"name\":"
                 "\"base\"},\"spec\":{\"inputsFrom\":[{\"name\":\"teams\"}],\"resources\":[" NAMESPACE "]}}");
        create(r, HEAD("") "\"dependsOn\":[{\"apiVersion\":\"fluxcd.controlplane.io/v1\",\"kind\":"
                           "\"ResourceSet\",\"name\":\"base\",\"ready\":true}],\"inputs\":[" TENANT(
                                   "team1") "],"
                                            "\"resources\":[" CONFIG("") "]}}");
        fiber_sleep(r->loop, 30000);
        assert_ready(r, "False", "DependencyNotReady", "ResourceSet/default/base not ready");
        int64_t before = loop_now_ms(r->loop);

        add_provider(r, "teams", TENANT("team1"), "sha256:1");
        while (rig_get(r, SETS "/base") == 200 && !strstr(r->text, "ReconciliationSucceeded"))
                assert_int_equal(fiber_sleep(r->loop, 10), 0);
        assert_in_range(loop_now_ms(r->loop) - before, 0, 2000);
        fiber_sleep(r->loop, 100);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        stop(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_selector_takes_who_is_labelled_and_nobody_means_nothing),
                cmocka_unit_test(what_a_failing_provider_exported_goes_on_to_count),
                cmocka_unit_test(who_waits_for_another_set_is_woken_when_that_is_ready),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
