/* Many ResourceSets at once. */
#include "hub-agent/resource-set/resource_set_test.h"

#define MANY 100

/* A set that waits for another one, which is never ready. */
static void add_waiting(struct rig *r, int i)
{
        AUTO_FREE char *body = mem_printf(
                "{\"apiVersion\":\"fluxcd.controlplane.io/"
                "v1\",\"kind\":\"ResourceSet\",\"metadata\":{\"name\":"
                "\"w%d\"},\"spec\":{\"wait\":true,\"resources\":[{\"apiVersion\":\"fluxcd.controlplane.io/"
                "v1\","
                "\"kind\":\"ResourceSet\",\"metadata\":{\"name\":\"of-w%d\",\"namespace\":\"default\"},"
                "\"spec\":{"
                "\"dependsOn\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"never\"}],"
                "\"resources\":[]}}]}}",
                i, i);

        if (rig_post(r, SETS, body) != 201)
                fail_msg("%s", r->text);
}

static int mentions(struct rig *r, const char *words)
{
        int n = 0;

        assert_int_equal(rig_get(r, SETS), 200);
        for (const char *at = r->text; (at = strstr(at, words)); at++)
                n++;
        return n;
}

/* spec/resource-set.md checklist 124 */
RIG_TEST(a_hundred_sets_that_wait_hold_up_nobody, {
        struct fleet f;
        int64_t before;

        begin(r, &f);
        for (int i = 0; i < MANY; i++)
                add_waiting(r, i);
        fiber_sleep(r->loop, 30000);
        assert_int_equal(mentions(r, "DependencyNotReady"), MANY);
        assert_int_equal(mentions(r, "\"reason\":\"Progressing\""), 2 * MANY);
        before = loop_now_ms(r->loop);
        create(r, PLAIN("", TENANT("team1"), OBJECTS));
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        add_member(&f, "member-1", "");
        add_app(r);
        place(r, "");
        settle(&f);
        settle(&f);
        assert_in_range(loop_now_ms(r->loop) - before, 0, 60000);
        assert_int_equal(rig_get(r, FLEET "clusterresourceplacements/web"), 200);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        stop(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_hundred_sets_that_wait_hold_up_nobody),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
