/* The scheduler within a whole agent: what is told, and how often. */
#include "hub-agent/hub_agent_test.h"

static void report_nodes(struct rig *r, const char *value)
{
        char patch[256];

        snprintf(patch, sizeof(patch),
                 "{\"status\":{\"properties\":{\"kubernetes-fleet.io/node-count\":{\"value\":\"%s\","
                 "\"observationTime\":\"2026-01-01T00:00:00Z\"}}}}",
                 value);
        assert_int_equal(rig_merge(r,
                                   CLUSTERS
                                   "namespaces/fleet-member-member-1/internalmemberclusters/member-1/status",
                                   patch),
                         200);
        rig_settle(r);
        fiber_sleep(r->loop, 2000);
        rig_settle(r);
}

/* How often it was told that a property is unreadable, repetitions included. */
static int64_t times_told(struct rig *r)
{
        int64_t n = 0;
        json_t *item;
        size_t i;

        rig_get(r, "/api/v1/namespaces/default/events");
        json_array_foreach(json_object_get(r->answer, "items"), i, item) {
                if (!text_equal(doc_get_string(item, "reason"), "PropertyUnreadable"))
                        continue;
                assert_string_equal(doc_get_string(item, "type"), "Warning");
                assert_string_equal(doc_get_string(item, "involvedObject.kind"), "MemberCluster");
                assert_string_equal(doc_get_string(item, "involvedObject.name"), "member-1");
                assert_non_null(
                        strstr(doc_get_string(item, "message"), "\"kubernetes-fleet.io/node-count\""));
                n += doc_get_int(item, "count", 1);
        }
        return n;
}

static void place_by_nodes(struct rig *r, const char *name, const char *operator)
{
        char body[1024];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                 "v1beta1\",\"kind\":\"ClusterResourcePlacement\","
                 "\"metadata\":{\"name\":\"%s\"},\"spec\":{" SELECT_APP
                 ",\"policy\":{\"placementType\":\"PickAll\","
                 "\"affinity\":{\"clusterAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
                 "\"clusterSelectorTerms\":[{\"propertySelector\":{\"matchExpressions\":[{\"name\":"
                 "\"kubernetes-fleet.io/node-count\",\"operator\":\"%s\",\"values\":[\"1\"]}]}}]}}}}}}",
                 name, operator);
        assert_int_equal(rig_post(r, FLEET "clusterresourceplacements", body), 201);
        rig_settle(r);
        fiber_sleep(r->loop, 2000);
        rig_settle(r);
}

static void tells_once(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        report_nodes(r, "abc");
        assert_int_equal(times_told(r), 0); /* nobody looks at it */
        place_by_nodes(r, "one", "Gt");
        assert_int_equal(times_told(r), 1);
        place_by_nodes(r, "two", "Lt");
        report_member(&f, "member-1", "True");
        rig_settle(r);
        assert_int_equal(times_told(r), 1);
        report_nodes(r, "1e400000");
        assert_int_equal(times_told(r), 2);
        report_nodes(r, "3");
        report_nodes(r, "1e400000");
        assert_int_equal(times_told(r), 3);
        stop(&f);
}
static void an_unreadable_property_is_told_on_its_member_once_per_change(void **state)
{
        rig_run(tells_once);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_unreadable_property_is_told_on_its_member_once_per_change),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
