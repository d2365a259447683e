/* What a placement selects, and when that is taken up, within a whole agent. */
#include "hub-agent/placement/selecting_test.h"

/* ---- what is refused ---- */

RIG_TEST(a_resource_placement_selects_nothing_outside_its_namespace, {
        struct fleet f;

        begin(r, &f);
        add_role(r, "reader");
        place_in_namespace(r, SELECT(RBAC, "ClusterRole", "reader"));
        assert_int_equal(rig_get(r, FLEET "namespaces/app/resourceplacements/own"), 200);
        assert_string_equal(condition_of(r, "ResourcePlacementScheduled"), "False");
        assert_non_null(strstr(r->text, "cannot select cluster-scoped resource " RBAC
                                        "/v1, Resource=clusterroles in a resourcePlacement"));
        stop(&f);
})

RIG_TEST(what_two_selectors_name_is_refused_wherever_they_stand, {
        struct fleet f;

        begin(r, &f);
        add_role(r, "a");
        add_role(r, "b");
        place_selecting(r,
                        SELECT(RBAC, "ClusterRole", "b") "," SELECT(RBAC, "ClusterRole",
                                                                    "a") "," SELECT(RBAC, "ClusterRole", "b"),
                        "");
        assert_int_equal(rig_get(r, PLACEMENT), 200);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementScheduled"), "False");
        assert_non_null(strstr(r->text, "found duplicate resource {Group:" RBAC
                                        " Version:v1 Kind:ClusterRole Name:b Namespace: Envelope:<nil>}"));
        stop(&f);
})

/* Who may read its status is said by the namespace that was picked first. */
RIG_TEST(a_placement_that_is_read_from_its_namespace_stays_with_it, {
        struct fleet f;

        begin(r, &f);
        post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"other\"}}");
        place_selecting(r, SELECT("", "Namespace", "app"),
                        ",\"statusReportingScope\":\"NamespaceAccessible\"");
        settle(&f);
        settle(&f);
        assert_int_equal(
                rig_merge(r, PLACEMENT,
                          "{\"spec\":{\"resourceSelectors\":[" SELECT("", "Namespace", "other") "]}}"),
                200);
        rig_settle(r);
        assert_int_equal(rig_get(r, PLACEMENT), 200);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementScheduled"), "False");
        assert_non_null(strstr(r->text, "is choosing a different namespace 'other' from what was originally "
                                        "picked 'app'"));
        assert_int_equal(count(r, SNAPSHOTS), 1);
        stop(&f);
})

/* ---- what is taken ---- */

RIG_TEST(what_each_cluster_makes_itself_is_not_placed_by_name_either, {
        struct fleet f;

        begin(r, &f);
        rig_post(r, "/api/v1/namespaces/app/configmaps",
                 "{\"metadata\":{\"name\":\"kube-root-ca.crt\"},\"data\":{\"ca\":\"hubs-own\"}}");
        assert_int_equal(rig_get(r, "/api/v1/namespaces/app/configmaps/kube-root-ca.crt"), 200);
        place_in_namespace(
                r, SELECT("", "ConfigMap", "kube-root-ca.crt") "," SELECT("", "ConfigMap", "settings"));
        settle(&f);
        rig_get(r, FLEET "namespaces/fleet-member-member-1/works");
        assert_non_null(strstr(r->text, "\"name\":\"settings\""));
        assert_null(strstr(r->text, "kube-root-ca.crt"));
        stop(&f);
})

RIG_TEST(resources_are_kept_in_the_order_in_which_they_are_applied, {
        const char *namespace, *role;
        struct fleet f;

        begin(r, &f);
        add_role(r, "reader");
        place_selecting(r, SELECT(RBAC, "ClusterRole", "reader") "," SELECT("", "Namespace", "app"), "");
        assert_int_equal(rig_get(r, SNAPSHOTS "/web-0-snapshot"), 200);
        namespace = strstr(r->text, "\"kind\":\"Namespace\"");
        role = strstr(r->text, "\"kind\":\"ClusterRole\"");
        assert_non_null(namespace);
        assert_non_null(role);
        assert_true(namespace < role);
        stop(&f);
})

/* ---- when ---- */

static void change_app(struct rig *r, const char *value)
{
        char patch[64];

        snprintf(patch, sizeof(patch), "{\"data\":{\"a\":\"%s\"}}", value);
        assert_int_equal(rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", patch), 200);
        rig_settle(r);
}

/* Between two snapshots lies a minute, and what changed meanwhile is taken up then without another event. */
static void takes_up(struct rig *r, const char *strategy)
{
        struct fleet f;

        begin(r, &f);
        stop(&f);
        f.snapshot_interval_ms = 60000;
        start_again(r, &f);
        place(r, strategy);
        rig_settle(r);
        assert_int_equal(count(r, SNAPSHOTS), 1);
        change_app(r, "c");
        change_app(r, "d");
        assert_int_equal(count(r, SNAPSHOTS), 1);
        assert_int_equal(rig_get(r, PLACEMENT), 200);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementScheduled"), "True");
        fiber_sleep(r->loop, 60000);
        assert_int_equal(count(r, SNAPSHOTS), 2);
        assert_non_null(strstr(r->text, "\"a\":\"d\""));
        assert_null(strstr(r->text, "\"a\":\"c\""));
        stop(&f);
}

RIG_TEST(changes_in_quick_succession_are_taken_up_together, { takes_up(r, ""); })
RIG_TEST(so_they_are_where_only_update_runs_roll_out,
         { takes_up(r, ",\"strategy\":{\"type\":\"External\"}"); })

/* A server that does not answer for a moment says nothing about what there is. */
RIG_TEST(what_cannot_be_read_at_the_moment_is_not_taken_for_gone, {
        struct line line;
        struct fleet f;

        begin(r, &f);
        post(r, "/api/v1/namespaces/app/configmaps",
             "{\"metadata\":{\"name\":\"other\"},\"data\":{\"a\":\"o\"}}");
        line_lay(&f, &line);
        start_again(r, &f);
        place_selecting(r, SELECT("", "Namespace", "app"), "");
        settle(&f);
        assert_int_equal(count(r, SNAPSHOTS), 1);
        line.path = "namespaces/app/configmaps";
        line.fate = 503;
        assert_int_equal(
                rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"changed\"}}"),
                200);
        fiber_sleep(r->loop, 120000);
        assert_int_equal(count(r, SNAPSHOTS), 1);
        line.path = NULL;
        fiber_sleep(r->loop, 300000);
        assert_int_equal(count(r, SNAPSHOTS), 2);
        assert_non_null(strstr(r->text, "\"a\":\"changed\""));
        stop(&f);
        http_transport_free(f.world.transport);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_resource_placement_selects_nothing_outside_its_namespace),
                cmocka_unit_test(what_two_selectors_name_is_refused_wherever_they_stand),
                cmocka_unit_test(a_placement_that_is_read_from_its_namespace_stays_with_it),
                cmocka_unit_test(what_each_cluster_makes_itself_is_not_placed_by_name_either),
                cmocka_unit_test(resources_are_kept_in_the_order_in_which_they_are_applied),
                cmocka_unit_test(changes_in_quick_succession_are_taken_up_together),
                cmocka_unit_test(so_they_are_where_only_update_runs_roll_out),
                cmocka_unit_test(what_cannot_be_read_at_the_moment_is_not_taken_for_gone),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
