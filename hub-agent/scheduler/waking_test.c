/* What wakes the scheduler: it never polls, so whatever moves a placement has to, at once. */
#include "hub-agent/hub_agent_test.h"

#define BINDINGS FLEET "clusterresourcebindings"

static void report(struct rig *r, const char *member, const char *status)
{
        char path[256], patch[512];

        snprintf(path, sizeof(path), CLUSTERS "namespaces/fleet-member-%s/internalmemberclusters/%s/status",
                 member, member);
        snprintf(patch, sizeof(patch), "{\"status\":{%s}}", status);
        merge_and_settle(r, path, patch);
        rig_settle(r); /* it goes on to the MemberCluster */
        fiber_sleep(r->loop, 2000);
}

/* "member-1 member-2": the clusters that bindings place on. */
static const char *picked(struct rig *r, const char *path)
{
        const char *text = "", *const names[] = { "member-1", "member-2", "member-3" };
        json_t *item;
        size_t i;

        rig_get(r, path);
        for (size_t k = 0; k < ARRAY_LEN(names); k++)
                json_array_foreach(json_object_get(r->answer, "items"), i, item)
                        if (text_equal(doc_get_string(item, "spec.targetCluster"), names[k]) &&
                            !text_equal(doc_get_string(item, "spec.state"), "Unscheduled") &&
                            !doc_get_string(item, "metadata.deletionTimestamp"))
                                text = arena_printf(&r->arena, "%s%s%s", text, *text ? " " : "", names[k]);
        return text;
}

static void begin(struct rig *r, struct fleet *f, const char *policy)
{
        char rest[768];

        start(r, f);
        add_member(f, "member-1", "\"env\":\"prod\"");
        add_member(f, "member-2", "\"env\":\"test\"");
        add_app(r);
        snprintf(rest, sizeof(rest), ",\"policy\":{%s}", policy);
        place(r, rest);
        rig_settle(r);
}

#define REQUIRED(term)                                                                                       \
        "\"affinity\":{\"clusterAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"            \
        "\"clusterSelectorTerms\":[{" term "}]}}}"
#define PROD "\"labelSelector\":{\"matchLabels\":{\"env\":\"prod\"}}"
#define NODES(operator, n)                                                                                   \
        "\"propertySelector\":{\"matchExpressions\":[{\"name\":\"kubernetes-fleet.io/node-count\","          \
        "\"operator\":\""                                                                                    \
        operator"\",\"values\":[\"" n "\"]}]}"
#define NODE_COUNT(n)                                                                                        \
        "\"properties\":{\"kubernetes-fleet.io/node-count\":{\"value\":\"" n "\",\"observationTime\":"       \
        "\"2026-01-01T00:00:00Z\"}}"

/* ---- members ---- */

RIG_TEST(labels_that_come_to_fit, {
        struct fleet f;

        begin(r, &f, "\"placementType\":\"PickAll\"," REQUIRED(PROD));
        assert_string_equal(picked(r, BINDINGS), "member-1");
        merge_and_settle(r, CLUSTERS "memberclusters/member-2",
                         "{\"metadata\":{\"labels\":{\"env\":\"prod\"}}}");
        assert_string_equal(picked(r, BINDINGS), "member-1 member-2");
        stop(&f);
})

RIG_TEST(labels_that_a_placement_waits_for, {
        struct fleet f;

        begin(r, &f, "\"placementType\":\"PickN\",\"numberOfClusters\":2," REQUIRED(PROD));
        assert_string_equal(picked(r, BINDINGS), "member-1");
        merge_and_settle(r, CLUSTERS "memberclusters/member-2",
                         "{\"metadata\":{\"labels\":{\"env\":\"prod\"}}}");
        assert_string_equal(picked(r, BINDINGS), "member-1 member-2");
        stop(&f);
})

RIG_TEST(a_taint_that_goes, {
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        merge_and_settle(
                r, CLUSTERS "memberclusters/member-1",
                "{\"spec\":{\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]}}");
        add_app(r);
        place(r, "");
        rig_settle(r);
        assert_string_equal(picked(r, BINDINGS), "");
        merge_and_settle(r, CLUSTERS "memberclusters/member-1", "{\"spec\":{\"taints\":null}}");
        assert_string_equal(picked(r, BINDINGS), "member-1");
        stop(&f);
})

RIG_TEST(a_property_that_comes_to_fit, {
        struct fleet f;

        begin(r, &f, "\"placementType\":\"PickAll\"," REQUIRED(NODES("Ge", "5")));
        report(r, "member-1", NODE_COUNT("4"));
        assert_string_equal(picked(r, BINDINGS), "");
        report(r, "member-1", NODE_COUNT("5"));
        assert_string_equal(picked(r, BINDINGS), "member-1");
        stop(&f);
})

RIG_TEST(a_member_that_joins_under_a_name_that_is_waited_for, {
        struct fleet f;

        begin(r, &f, "\"placementType\":\"PickFixed\",\"clusterNames\":[\"member-1\",\"member-3\"]");
        assert_string_equal(picked(r, BINDINGS), "member-1");
        add_member(&f, "member-3", "");
        assert_string_equal(picked(r, BINDINGS), "member-1 member-3");
        stop(&f);
})

RIG_TEST(a_member_that_leaves_where_another_can_take_its_place, {
        struct fleet f;

        begin(r, &f, "\"placementType\":\"PickN\",\"numberOfClusters\":1," REQUIRED(PROD));
        assert_string_equal(picked(r, BINDINGS), "member-1");
        merge_and_settle(r, CLUSTERS "memberclusters/member-2",
                         "{\"metadata\":{\"labels\":{\"env\":\"prod\"}}}");
        assert_string_equal(picked(r, BINDINGS), "member-1"); /* it has all that it wants */
        rig_delete(r, CLUSTERS "memberclusters/member-1");
        rig_settle(r);
        report_member(&f, "member-1", "False");
        rig_settle(r);
        rig_settle(r);
        assert_string_equal(picked(r, BINDINGS), "member-2");
        stop(&f);
})

#define COLLECTED                                                                                            \
        "\"conditions\":[{\"type\":\"NamespaceCollectionSucceeded\",\"status\":\"True\",\"reason\":\"R\","   \
        "\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}],"

/* A ResourcePlacement goes where its namespace is. */
RIG_TEST(a_namespace_that_comes_to_be, {
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        report(r, "member-1", COLLECTED "\"namespaces\":{\"default\":\"\"}");
        assert_int_equal(
                rig_post(r, FLEET "namespaces/app/resourceplacements",
                         "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                         "\"ResourcePlacement\",\"metadata\":{\"name\":\"own\"},\"spec\":{"
                         "\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"ConfigMap\","
                         "\"name\":\"settings\"}]}}"),
                201);
        rig_settle(r);
        assert_string_equal(picked(r, FLEET "namespaces/app/resourcebindings"), "");
        report(r, "member-1", COLLECTED "\"namespaces\":{\"default\":\"\",\"app\":\"\"}");
        assert_string_equal(picked(r, FLEET "namespaces/app/resourcebindings"), "member-1");
        stop(&f);
})

/* ---- policies and bindings ---- */

RIG_TEST(a_number_that_changes, {
        struct fleet f;

        begin(r, &f, "\"placementType\":\"PickN\",\"numberOfClusters\":1");
        assert_int_equal(strlen(picked(r, BINDINGS)), strlen("member-1"));
        merge_and_settle(r, FLEET "clusterresourceplacements/web",
                         "{\"spec\":{\"policy\":{\"numberOfClusters\":2}}}");
        assert_string_equal(picked(r, BINDINGS), "member-1 member-2");
        stop(&f);
})

#define PLACEMENT FLEET "clusterresourceplacements/web"

/* What is selected is refused, so the snapshot is told nothing. */
RIG_TEST(a_number_that_is_again_what_the_snapshot_was_told, {
        struct fleet f;

        begin(r, &f, "\"placementType\":\"PickN\",\"numberOfClusters\":2," REQUIRED(PROD));
        assert_string_equal(picked(r, BINDINGS), "member-1");
        merge_and_settle(
                r, PLACEMENT,
                "{\"spec\":{\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\","
                "\"name\":\"kube-system\"}],\"policy\":{\"numberOfClusters\":1}}}");
        merge_and_settle(r, CLUSTERS "memberclusters/member-2",
                         "{\"metadata\":{\"labels\":{\"env\":\"prod\"}}}");
        assert_string_equal(picked(r, BINDINGS), "member-1");
        merge_and_settle(r, PLACEMENT, "{\"spec\":{\"policy\":{\"numberOfClusters\":2}}}");
        assert_string_equal(picked(r, BINDINGS), "member-1 member-2");
        stop(&f);
})

/* The same of what else a policy says. Meanwhile nobody is picked by what is asked for no more. */
RIG_TEST(a_policy_that_is_again_what_the_snapshot_holds, {
        struct fleet f;

        begin(r, &f, "\"placementType\":\"PickAll\"," REQUIRED(PROD));
        assert_string_equal(picked(r, BINDINGS), "member-1");
        merge_and_settle(
                r, PLACEMENT,
                "{\"spec\":{\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\","
                "\"name\":\"kube-system\"}],\"policy\":{" REQUIRED(NODES("Ge", "5")) "}}}");
        merge_and_settle(r, CLUSTERS "memberclusters/member-2",
                         "{\"metadata\":{\"labels\":{\"env\":\"prod\"}}}");
        assert_string_equal(picked(r, BINDINGS), "member-1");
        merge_and_settle(r, PLACEMENT, "{\"spec\":{\"policy\":{" REQUIRED(PROD) "}}}");
        assert_string_equal(picked(r, BINDINGS), "member-1 member-2");
        stop(&f);
})

RIG_TEST(a_binding_that_somebody_deletes, {
        char path[256];
        struct fleet f;
        json_t *b;

        begin(r, &f, "\"placementType\":\"PickAll\"," REQUIRED(PROD));
        rig_get(r, BINDINGS);
        b = json_array_get(json_object_get(r->answer, "items"), 0);
        snprintf(path, sizeof(path), BINDINGS "/%s", doc_get_string(b, "metadata.name"));
        assert_int_equal(rig_delete(r, path), 200);
        rig_settle(r);
        assert_string_equal(picked(r, BINDINGS), "member-1");
        stop(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(labels_that_come_to_fit),
                cmocka_unit_test(labels_that_a_placement_waits_for),
                cmocka_unit_test(a_taint_that_goes),
                cmocka_unit_test(a_property_that_comes_to_fit),
                cmocka_unit_test(a_member_that_joins_under_a_name_that_is_waited_for),
                cmocka_unit_test(a_member_that_leaves_where_another_can_take_its_place),
                cmocka_unit_test(a_namespace_that_comes_to_be),
                cmocka_unit_test(a_number_that_changes),
                cmocka_unit_test(a_number_that_is_again_what_the_snapshot_was_told),
                cmocka_unit_test(a_policy_that_is_again_what_the_snapshot_holds),
                cmocka_unit_test(a_binding_that_somebody_deletes),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
