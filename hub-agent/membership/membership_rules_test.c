/* What joining and leaving look like on the hub, rule by rule: spec/membership-webhooks-charts.md 2. */
#include "hub-agent/membership/membership_agent_test.h"

#define ROLE RBAC "roles/fleet-role-member-1"
#define BINDING RBAC "rolebindings/fleet-rolebinding-member-1"

static void add_silent(struct rig *r, const char *identity)
{
        char body[512];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"cluster.kubernetes-fleet.io/v1beta1\",\"kind\":\"MemberCluster\","
                 "\"metadata\":{\"name\":\"member-1\"},\"spec\":{\"identity\":%s}}",
                 identity);
        assert_int_equal(rig_post(r, CLUSTERS "memberclusters", body), 201);
        rig_settle(r);
}
#define USER "{\"kind\":\"User\",\"name\":\"jane\"}"

/* spec/membership-webhooks-charts.md checklist 1; spec/api.md checklist 39 */
RIG_TEST(a_member_yields_four_objects_that_it_controls, {
        static const char *const paths[] = { NAMESPACE, ROLE, BINDING, REPORT };
        struct fleet f;
        char uid[64];

        begin(r, &f);
        add_silent(r, USER);
        assert_condition(r, "ReadyToJoin", "True");
        snprintf(uid, sizeof(uid), "%s", rig_string(r, "metadata.uid"));
        for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
                const json_t *owners, *owner;

                assert_int_equal(rig_get(r, paths[i]), 200);
                owners = doc_get_array(r->answer, "metadata.ownerReferences");
                assert_int_equal(json_array_size(owners), 1);
                owner = json_array_get(owners, 0);
                assert_string_equal(doc_get_string(owner, "apiVersion"),
                                    "cluster.kubernetes-fleet.io/v1beta1");
                assert_string_equal(doc_get_string(owner, "kind"), "MemberCluster");
                assert_string_equal(doc_get_string(owner, "name"), "member-1");
                assert_string_equal(doc_get_string(owner, "uid"), uid);
                assert_true(json_is_true(json_object_get(owner, "controller")));
                assert_null(json_object_get(owner, "blockOwnerDeletion"));
        }
        assert_int_equal(rig_get(r, NAMESPACE), 200);
        assert_non_null(strstr(r->text, "\"kubernetes-fleet.io/is-fleet-resource\":\"true\""));
        assert_string_equal(rig_string(r, "metadata.name"), "fleet-member-member-1");
        assert_int_equal(rig_get(r, MEMBER), 200);
        assert_non_null(strstr(r->text, "\"kubernetes-fleet.io/member-name\":\"member-1\""));
        assert_int_equal(rig_get(r, BINDING), 200);
        assert_string_equal(rig_string(r, "roleRef.name"), "fleet-role-member-1");
        end(&f);
})

/* spec/membership-webhooks-charts.md checklist 2 */
RIG_TEST(who_has_not_reported_is_ready_to_join_and_no_more, {
        struct fleet f;

        begin(r, &f);
        add_silent(r, USER);
        assert_int_equal(rig_get(r, MEMBER), 200);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.conditions")), 1);
        assert_string_equal(condition_of(r, "ReadyToJoin"), "True");
        assert_null(doc_get_array(r->answer, "status.agentStatus"));
        report_member(&f, "member-1", "True");
        rig_settle(r);
        assert_condition(r, "Joined", "True");
        end(&f);
})

/* spec/membership-webhooks-charts.md checklist 4 */
RIG_TEST(a_user_without_a_group_is_bound_once, {
        struct fleet f;

        begin(r, &f);
        add_silent(r, USER);
        report_member(&f, "member-1", "True");
        rig_settle(r);
        stop(&f);
        start_again(r, &f);
        assert_int_equal(rig_get(r, BINDING), 200);
        assert_string_equal(
                doc_get_string(json_array_get(doc_get_array(r->answer, "subjects"), 0), "apiGroup"),
                "rbac.authorization.k8s.io");
        assert_int_equal(told(r, "RoleBindingCreated"), 1);
        assert_int_equal(told(r, "RoleBindingUpdated"), 0);
        end(&f);
})

/* spec/membership-webhooks-charts.md checklist 5 */
RIG_TEST(labels_that_somebody_removes_come_back, {
        static const char *const taken[] = { "null", "\"other\"" };
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "\"team\":\"a\"");
        for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
                char patch[128];

                snprintf(patch, sizeof(patch),
                         "{\"metadata\":{\"labels\":{\"kubernetes-fleet.io/member-name\":%s}}}", taken[i]);
                merge_and_settle(r, MEMBER, patch);
                report_member(&f, "member-1", "True");
                rig_settle(r);
                assert_int_equal(rig_get(r, MEMBER), 200);
                assert_non_null(strstr(r->text, "\"kubernetes-fleet.io/member-name\":\"member-1\""));
                assert_string_equal(rig_string(r, "metadata.labels.team"), "a");
        }
        merge_and_settle(r, NAMESPACE,
                         "{\"metadata\":{\"labels\":{\"kubernetes-fleet.io/is-fleet-resource\":null}}}");
        assert_int_equal(rig_get(r, NAMESPACE), 200);
        assert_non_null(strstr(r->text, "\"kubernetes-fleet.io/is-fleet-resource\":\"true\""));
        merge_and_settle(r, NAMESPACE,
                         "{\"metadata\":{\"labels\":{\"kubernetes-fleet.io/is-fleet-resource\":\"yes\"}}}");
        assert_int_equal(rig_get(r, NAMESPACE), 200);
        assert_non_null(
                strstr(r->text, "\"kubernetes-fleet.io/is-fleet-resource\":\"yes\"")); /* any value will do */
        end(&f);
})

/* spec/membership-webhooks-charts.md checklist 6 */
RIG_TEST(labels_do_not_make_it_look_and_reports_do, {
        struct fleet f;
        int before;

        begin(r, &f);
        add_member(&f, "member-1", "");
        fiber_sleep(r->loop, 1000);
        before = passes(&f);
        merge_and_settle(r, MEMBER,
                         "{\"metadata\":{\"labels\":{\"team\":\"a\"},\"annotations\":{\"x\":\"y\"}}}");
        assert_int_equal(passes(&f), before);
        report_member(&f, "member-1", "True");
        rig_settle(r);
        assert_true(passes(&f) > before);
        end(&f);
})

/* spec/membership-webhooks-charts.md checklist 9 */
RIG_TEST(what_the_member_reports_stands_on_it_with_its_generation, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        merge_and_settle(r, MEMBER, "{\"spec\":{\"heartbeatPeriodSeconds\":30}}");
        merge_and_settle(
                r, REPORT "/status",
                "{\"status\":{\"conditions\":[{\"type\":\"Own\",\"status\":\"True\",\"reason\":\"R\","
                "\"message\":\"m\","
                "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\",\"observedGeneration\":1}],"
                "\"properties\":{\"kubernetes-fleet.io/node-count\":{\"value\":\"3\",\"observationTime\":"
                "\"2026-01-01T00:00:00Z\"}},\"resourceUsage\":{\"capacity\":{\"cpu\":\"4\"},"
                "\"observationTime\":"
                "\"2026-01-01T00:00:00Z\"},\"namespaces\":{\"web\":\"w\",\"own\":\"\"}}}");
        assert_int_equal(rig_get(r, MEMBER), 200);
        assert_int_equal(doc_get_int(r->answer, "metadata.generation", 0), 2);
        assert_string_equal(rig_string(r, "status.resourceUsage.capacity.cpu"), "4");
        assert_string_equal(rig_string(r, "status.namespaces.web"), "w");
        assert_string_equal(rig_string(r, "status.namespaces.own"), "");
        assert_non_null(strstr(r->text, "\"kubernetes-fleet.io/node-count\":{\"observationTime\":"
                                        "\"2026-01-01T00:00:00Z\",\"value\":\"3\"}"));
        assert_non_null(strstr(r->text,
                               "\"observedGeneration\":2,\"reason\":\"R\",\"status\":\"True\",\"type\":"
                               "\"Own\""));
        end(&f);
})

/* spec/membership-webhooks-charts.md checklist 10, 11 */
RIG_TEST(who_leaves_is_a_member_until_it_says_so_and_nothing_holds_it_then, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        place(r, "");
        settle(&f);
        assert_int_equal(count(r, FLEET "works"), 1);
        assert_int_equal(rig_delete(r, MEMBER), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, REPORT), 200);
        assert_string_equal(rig_string(r, "spec.state"), "Leave");
        assert_condition(r, "Joined", "True");
        merge_and_settle(r, FLEET "namespaces/fleet-member-member-1/works/web-work",
                         "{\"metadata\":{\"finalizers\":[\"kubernetes-fleet.io/work-cleanup\"]}}");
        report_member(&f, "member-1", "False");
        fiber_sleep(r->loop, 5000);
        assert_int_equal(count(r, FLEET "works"), 0);
        assert_int_equal(rig_get(r, NAMESPACE), 404);
        assert_int_equal(rig_get(r, MEMBER), 404);
        end(&f);
})

static int failures(struct fleet *f)
{
        return (int)metric_value(f->metrics, METRIC_RECONCILES,
                                 (const char *const[]){ "membership", "error" });
}

/* spec/membership-webhooks-charts.md checklist 13 */
RIG_TEST(a_namespace_that_does_not_go_for_a_quarter_of_an_hour_is_an_error, {
        struct fleet f;
        int before;

        begin(r, &f);
        add_member(&f, "member-1", "");
        assert_int_equal(
                rig_post(r, "/api/v1/namespaces/fleet-member-member-1/configmaps",
                         "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\","
                         "\"finalizers\":[\"example.com/stay\"]}}"),
                201);
        assert_int_equal(rig_delete(r, MEMBER), 200);
        report_member(&f, "member-1", "False");
        fiber_sleep(r->loop, 60000);
        before = failures(&f); /* conflicts */
        fiber_sleep(r->loop, 13 * 60000);
        assert_int_equal(rig_get(r, NAMESPACE), 200);
        assert_int_equal(failures(&f), before);
        fiber_sleep(r->loop, 2 * 60000);
        assert_true(failures(&f) > before);
        assert_int_equal(rig_get(r, MEMBER), 200);
        merge_and_settle(r, "/api/v1/namespaces/fleet-member-member-1/configmaps/c",
                         "{\"metadata\":{\"finalizers\":null}}");
        fiber_sleep(r->loop, 120000);
        assert_int_equal(rig_get(r, NAMESPACE), 404);
        assert_int_equal(rig_get(r, MEMBER), 404);
        end(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_member_yields_four_objects_that_it_controls),
                cmocka_unit_test(who_has_not_reported_is_ready_to_join_and_no_more),
                cmocka_unit_test(a_user_without_a_group_is_bound_once),
                cmocka_unit_test(labels_that_somebody_removes_come_back),
                cmocka_unit_test(labels_do_not_make_it_look_and_reports_do),
                cmocka_unit_test(what_the_member_reports_stands_on_it_with_its_generation),
                cmocka_unit_test(who_leaves_is_a_member_until_it_says_so_and_nothing_holds_it_then),
                cmocka_unit_test(a_namespace_that_does_not_go_for_a_quarter_of_an_hour_is_an_error),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
