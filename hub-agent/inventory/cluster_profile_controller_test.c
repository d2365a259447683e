/* ClusterProfiles within a whole agent: spec/membership-webhooks-charts.md 3. */
#include "hub-agent/hub_agent_test.h"

#define MEMBER CLUSTERS "memberclusters/member-1"
#define PROFILES "/apis/multicluster.x-k8s.io/v1alpha1/namespaces/fleet-system/clusterprofiles"
#define PROFILE PROFILES "/member-1"

static void begin(struct rig *r, struct fleet *f)
{
        start(r, f);
        stop(f);
        f->inventory = true;
        start_again(r, f);
}

static void assert_health(struct rig *r, const char *reason)
{
        AUTO_FREE char *wanted = mem_printf("\"reason\":\"%s\"", reason);

        rig_settle(r);
        assert_int_equal(rig_get(r, PROFILE), 200);
        if (!strstr(r->text, wanted))
                fail_msg("wanted %s: %s", reason, r->text);
}

static bool keeps_finalizer(struct rig *r)
{
        assert_int_equal(rig_get(r, MEMBER), 200);
        return strstr(r->text, "kubernetes-fleet.io/cluster-profile-cleanup") != NULL;
}

/* spec/membership-webhooks-charts.md checklist 15 */
RIG_TEST(a_profile_comes_when_its_member_has_joined, {
        struct fleet f;

        begin(r, &f);
        rig_post(r, CLUSTERS "memberclusters",
                 "{\"apiVersion\":\"cluster.kubernetes-fleet.io/v1beta1\",\"kind\":\"MemberCluster\","
                 "\"metadata\":{\"name\":\"member-1\"},\"spec\":{\"identity\":{\"kind\":\"ServiceAccount\","
                 "\"name\":\"m\",\"namespace\":\"fleet-system\"}}}");
        rig_settle(r);
        assert_int_equal(rig_get(r, PROFILE), 404);
        assert_false(keeps_finalizer(r));
        report_member(&f, "member-1", "True");
        rig_settle(r);
        assert_int_equal(rig_get(r, PROFILE), 200);
        assert_string_equal(rig_string(r, "spec.displayName"), "member-1");
        assert_string_equal(rig_string(r, "spec.clusterManager.name"), "KubeFleet");
        assert_true(keeps_finalizer(r));
        assert_health(r, "MemberClusterAPIServerHealthy");
        stop(&f);
})

RIG_TEST(what_the_member_tells_stands_in_its_profile, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        merge_and_settle(
                r, CLUSTERS "namespaces/fleet-member-member-1/internalmemberclusters/member-1/status",
                "{\"status\":{\"conditions\":[{\"type\":\"ClusterPropertyCollectionSucceeded\",\"status\":"
                "\"True\","
                "\"reason\":\"R\",\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\","
                "\"observedGeneration\":1}],\"properties\":{\"k8s.io/k8s-version\":{\"value\":\"v1.36.1\","
                "\"observationTime\":\"2026-01-01T00:00:00Z\"}}}}");
        assert_int_equal(rig_get(r, PROFILE), 200);
        assert_string_equal(rig_string(r, "status.version.kubernetes"), "v1.36.1");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.accessProviders")), 1);
        stop(&f);
})

/* spec/membership-webhooks-charts.md checklist 15 */
RIG_TEST(what_others_change_or_delete_comes_back, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        merge_and_settle(r, PROFILE,
                         "{\"metadata\":{\"labels\":{\"x-k8s.io/cluster-manager\":null,\"team\":\"a\"}},"
                         "\"spec\":{\"displayName\":\"x\"}}");
        assert_int_equal(rig_get(r, PROFILE), 200);
        assert_string_equal(rig_string(r, "spec.displayName"), "member-1");
        assert_string_equal(rig_string(r, "metadata.labels.team"), "a");
        assert_non_null(strstr(r->text, "\"x-k8s.io/cluster-manager\":\"KubeFleet\""));
        merge_and_settle(r, PROFILE "/status", "{\"status\":{\"conditions\":[]}}");
        assert_health(r, "MemberClusterAPIServerHealthy");
        rig_delete(r, PROFILE);
        assert_health(r, "MemberClusterAPIServerHealthy");
        stop(&f);
})

/* Nobody has to write anything: that it is silent is noticed in time, and so is its next word.
 * spec/membership-webhooks-charts.md checklist 16 */
RIG_TEST(a_member_that_is_heard_of_no_more_is_not_healthy, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        fiber_sleep(r->loop, 120000);
        assert_health(r, "MemberClusterAPIServerHealthy");
        fiber_sleep(r->loop, 10000);
        assert_health(r, "MemberAgentHeartbeatLost");
        report_member(&f, "member-1", "True");
        assert_health(r, "MemberClusterAPIServerHealthy");
        stop(&f);
})

/* spec/membership-webhooks-charts.md checklist 15 */
/* An agent that comes back finds an old heartbeat, and a moment later one that is not so much newer. */
RIG_TEST(a_member_that_went_on_speaking_while_nobody_listened_is_healthy, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        stop(&f);
        fiber_sleep(r->loop, 120000);
        report_member(&f, "member-1", "True");
        fiber_sleep(r->loop, 6000);
        start_again(r, &f);
        assert_health(r, "MemberClusterAPIServerHealthy");
        stop(&f);
})

static uint64_t profile_statuses_written(struct rig *r)
{
        struct devcluster_request_count *at = NULL;
        uint64_t sum = 0;
        size_t n = 0;

        assert_int_equal(devcluster_requests(r->devcluster, "hub", &r->arena, &at, &n), 0);
        for (size_t i = 0; i < n; i++)
                if (text_equal(at[i].verb, "patch") && text_equal(at[i].resource, "clusterprofiles/status"))
                        sum += at[i].n;
        return sum;
}

/* The agent was away for longer than a member may be silent. What the member said last is in its report, and
 * not in its status yet. */
RIG_TEST(an_agent_that_was_away_for_long_takes_no_member_for_lost_that_has_spoken, {
        struct fleet f;
        uint64_t before;

        begin(r, &f);
        add_member(&f, "member-1", "");
        assert_health(r, "MemberClusterAPIServerHealthy");
        stop(&f);
        before = profile_statuses_written(r);
        assert_true(before > 0);
        fiber_sleep(r->loop, 600000);
        report_member(&f, "member-1", "True");
        start_again(r, &f);
        assert_health(r, "MemberClusterAPIServerHealthy");
        assert_int_equal(profile_statuses_written(r), before);
        stop(&f);
})

RIG_TEST(a_profile_goes_with_its_member, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        rig_delete(r, MEMBER);
        rig_settle(r);
        assert_int_equal(rig_get(r, PROFILE), 404);
        assert_false(keeps_finalizer(r));
        report_member(&f, "member-1", "False");
        rig_settle(r);
        assert_int_equal(rig_get(r, MEMBER), 404);
        stop(&f);
})

RIG_TEST(what_was_left_while_no_agent_ran_is_removed, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        stop(&f);
        merge_and_settle(r, MEMBER, "{\"metadata\":{\"finalizers\":null}}");
        rig_delete(r, MEMBER);
        assert_int_equal(rig_get(r, PROFILE), 200);
        start_again(r, &f);
        assert_int_equal(rig_get(r, PROFILE), 404);
        stop(&f);
})

RIG_TEST(the_profile_of_another_manager_is_left_alone, {
        static const char body[] =
                "{\"apiVersion\":\"multicluster.x-k8s.io/v1alpha1\",\"kind\":\"ClusterProfile\","
                "\"metadata\":{\"name\":\"member-1\"},"
                "\"spec\":{\"displayName\":\"x\",\"clusterManager\":{\"name\":\"other\"}}}";
        struct fleet f;

        begin(r, &f);
        assert_int_equal(rig_post(r, PROFILES, body), 201);
        add_member(&f, "member-1", "");
        assert_int_equal(rig_get(r, PROFILE), 200);
        assert_string_equal(rig_string(r, "spec.displayName"), "x");
        assert_null(strstr(r->text, "ControlPlaneHealthy"));
        rig_delete(r, MEMBER);
        report_member(&f, "member-1", "False");
        rig_settle(r);
        assert_int_equal(rig_get(r, MEMBER), 404);
        assert_int_equal(rig_get(r, PROFILE), 200);
        stop(&f);
})

/* The finalizer of an agent that kept an inventory holds no member of one that does not. */
RIG_TEST(without_an_inventory_a_member_leaves_all_the_same, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        assert_true(keeps_finalizer(r));
        stop(&f);
        f.inventory = false;
        start_again(r, &f);
        rig_delete(r, MEMBER);
        report_member(&f, "member-1", "False");
        rig_settle(r);
        assert_int_equal(rig_get(r, MEMBER), 404);
        stop(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_profile_comes_when_its_member_has_joined),
                cmocka_unit_test(what_the_member_tells_stands_in_its_profile),
                cmocka_unit_test(what_others_change_or_delete_comes_back),
                cmocka_unit_test(a_member_that_is_heard_of_no_more_is_not_healthy),
                cmocka_unit_test(a_member_that_went_on_speaking_while_nobody_listened_is_healthy),
                cmocka_unit_test(an_agent_that_was_away_for_long_takes_no_member_for_lost_that_has_spoken),
                cmocka_unit_test(a_profile_goes_with_its_member),
                cmocka_unit_test(what_was_left_while_no_agent_ran_is_removed),
                cmocka_unit_test(the_profile_of_another_manager_is_left_alone),
                cmocka_unit_test(without_an_inventory_a_member_leaves_all_the_same),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
