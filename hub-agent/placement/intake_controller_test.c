/* Indexes of snapshots within a whole agent whose caches are behind, whose reads fail, or beside which
 * another agent was at work. */
#include "hub-agent/placement/intake_test.h"

/* As another agent did that led before. */
static void bind(struct rig *r, const char *field, const char *snapshot)
{
        char path[256], patch[256];

        find_binding(r, path);
        snprintf(patch, sizeof(patch), "{\"spec\":{\"%s\":\"%s\"}}", field, snapshot);
        assert_int_equal(rig_merge(r, path, patch), 200);
}

static const char *bound_to(struct rig *r, const char *field)
{
        rig_get(r, BINDINGS);
        return or_empty(doc_get_string(
                json_object_get(json_array_get(json_object_get(r->answer, "items"), 0), "spec"), field));
}

RIG_TEST(an_index_that_a_binding_names_is_not_given_again_though_the_cache_of_bindings_is_behind, {
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        line.lagging = "clusterresourcebindings";
        bind(r, "resourceSnapshotName", "web-7-snapshot");
        rig_delete(r, SNAPSHOTS "/web-0-snapshot");
        wait_ms(r, 2000);
        assert_true(is_there(r, "web-8-snapshot"));
        assert_false(is_there(r, "web-1-snapshot"));
        close_all(&f);
})

/* The binding was torn out while nobody was there; a new one of its name takes over what is left of it.
 * Whether there is one is asked late: else the Work may go before. */
RIG_TEST(an_index_that_only_a_work_tells_is_not_given_again, {
        struct line line;
        struct fleet f;
        char path[256];

        start_on(r, &f, &line);
        stop(&f);
        find_binding(r, path);
        assert_int_equal(rig_merge(r, path, "{\"metadata\":{\"finalizers\":null}}"), 200);
        rig_delete(r, path);
        rig_delete(r, SNAPSHOTS "/web-0-snapshot");
        assert_int_equal(count(r, BINDINGS), 0);
        change_content(r, "c");
        line.slow = "clusterresourcebindings/web-";
        start_again(r, &f);
        settle(&f);
        line.slow = NULL;
        settle(&f);
        wait_ms(r, 5000);
        assert_true(is_there(r, "web-1-snapshot"));
        assert_false(is_there(r, "web-0-snapshot"));
        rig_get(r, FLEET "namespaces/fleet-member-member-1/works/web-work");
        assert_non_null(strstr(r->text, "\"data\":{\"a\":\"c\"}"));
        close_all(&f);
})

/* The server takes its time to tell of bindings: what Works tell meanwhile counts. */
RIG_TEST(an_index_that_a_work_tells_while_the_server_is_asked_is_not_given_again, {
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        line.slow = "clusterresourcebindings?labelSelector";
        rig_delete(r, SNAPSHOTS "/web-0-snapshot");
        fiber_sleep(r->loop, SLOW_MS / 2);
        assert_int_equal(rig_merge(r, FLEET "namespaces/fleet-member-member-1/works/web-work",
                                   "{\"metadata\":{\"labels\":{\"kubernetes-fleet.io/"
                                   "parent-resource-snapshot-index\":\"5\"}}}"),
                         200);
        wait_ms(r, 10000);
        assert_true(is_there(r, "web-6-snapshot"));
        assert_false(is_there(r, "web-1-snapshot"));
        close_all(&f);
})

RIG_TEST(nothing_is_made_while_it_cannot_be_told_which_indexes_were_given, {
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        line.path = "clusterresourcebindings?labelSelector=";
        line.fate = 503;
        rig_delete(r, SNAPSHOTS "/web-0-snapshot");
        wait_ms(r, 5000);
        assert_int_equal(count(r, SNAPSHOTS), 0);
        line.path = NULL;
        wait_ms(r, 90000);
        assert_int_equal(count(r, SNAPSHOTS), 1);
        assert_true(is_there(r, "web-1-snapshot"));
        close_all(&f);
})

/* The other agent made a group that the cache does not show yet. Another one above it would be a second one
 * marked as the latest. */
RIG_TEST(a_snapshot_that_a_binding_names_and_the_cache_lacks_is_waited_for, {
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        rig_merge(r, SNAPSHOTS "/web-0-snapshot",
                  "{\"metadata\":{\"labels\":{\"kubernetes-fleet.io/is-latest-snapshot\":\"false\"}}}");
        rig_settle(r);
        line.lagging = "clusterresourcesnapshots";
        assert_int_equal(rig_post(r, SNAPSHOTS, made_group), 201);
        bind(r, "resourceSnapshotName", "web-1-snapshot");
        rig_settle(r);
        change_content(r, "c");
        wait_ms(r, 5000);
        assert_false(is_there(r, "web-2-snapshot"));
        line.lagging = NULL;
        wait_ms(r, 90000);
        assert_true(is_there(r, "web-2-snapshot"));
        assert_int_equal(count(r, SNAPSHOTS "?labelSelector=kubernetes-fleet.io%2Fis-latest-snapshot%3Dtrue"),
                         1);
        assert_int_equal(count(r, SNAPSHOTS), 3);
        close_all(&f);
})

RIG_TEST(a_rollout_goes_not_back_to_the_snapshot_before_for_its_cache_is_behind, {
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        line.lagging = "clusterresourcesnapshots";
        assert_int_equal(rig_post(r, SNAPSHOTS, made_group), 201);
        bind(r, "resourceSnapshotName", "web-1-snapshot");
        wait_ms(r, 5000);
        assert_string_equal(bound_to(r, "resourceSnapshotName"), "web-1-snapshot");
        line.lagging = NULL;
        wait_ms(r, 90000);
        settle(&f);
        settle(&f);
        assert_string_equal(bound_to(r, "resourceSnapshotName"), "web-2-snapshot");
        close_all(&f);
})

RIG_TEST(clusters_are_not_picked_by_the_policy_before_for_its_cache_is_behind, {
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        line.lagging = "clusterschedulingpolicysnapshots";
        rig_merge(r, POLICIES "/web-0",
                  "{\"metadata\":{\"labels\":{\"kubernetes-fleet.io/is-latest-snapshot\":\"false\"}}}");
        assert_int_equal(rig_post(r, POLICIES, made_policy), 201);
        bind(r, "schedulingPolicySnapshotName", "web-1");
        add_member(&f, "member-2", ""); /* of interest to the policy before */
        wait_ms(r, 5000);
        assert_string_equal(bound_to(r, "schedulingPolicySnapshotName"), "web-1");
        assert_int_equal(count(r, BINDINGS), 1);
        line.lagging = NULL;
        wait_ms(r, 90000);
        assert_string_equal(bound_to(r, "schedulingPolicySnapshotName"), "web-2");
        assert_int_equal(count(r, BINDINGS), 2);
        close_all(&f);
})

/* The other agent's snapshot comes to light while the server is asked which indexes were given. */
RIG_TEST(a_policy_snapshot_that_comes_to_light_meanwhile_is_not_followed_by_a_second_latest, {
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        line.slow = "clusterresourcebindings?labelSelector=";
        rig_delete(r, POLICIES "/web-0");
        fiber_sleep(r->loop, 500);
        assert_int_equal(rig_post(r, POLICIES, made_policy), 201);
        bind(r, "schedulingPolicySnapshotName", "web-1");
        wait_ms(r, 60000);
        line.slow = NULL;
        wait_ms(r, 60000);
        assert_int_equal(count(r, POLICIES "?labelSelector=kubernetes-fleet.io%2Fis-latest-snapshot%3Dtrue"),
                         1);
        close_all(&f);
})

RIG_TEST(a_history_limit_that_is_lowered_holds_though_the_selection_stays_the_same, {
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        change_content(r, "c");
        wait_ms(r, 90000);
        assert_int_equal(count(r, SNAPSHOTS), 2);
        rig_merge(r, FLEET "clusterresourceplacements/web", "{\"spec\":{\"revisionHistoryLimit\":1}}");
        assert_int_equal(r->status, 200);
        wait_ms(r, 2000);
        assert_int_equal(count(r, SNAPSHOTS), 1);
        assert_true(is_there(r, "web-1-snapshot"));
        close_all(&f);
})

/* A write of a former leader that arrived late, or a user's. */
RIG_TEST(of_two_that_are_marked_latest_the_older_one_is_not_any_more, {
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        change_content(r, "c");
        wait_ms(r, 90000);
        assert_int_equal(rig_merge(r, SNAPSHOTS "/web-0-snapshot",
                                   "{\"metadata\":{\"labels\":{\"kubernetes-fleet.io/is-latest-snapshot\":"
                                   "\"true\"}}}"),
                         200);
        wait_ms(r, 2000);
        rig_get(r, SNAPSHOTS "?labelSelector=kubernetes-fleet.io%2Fis-latest-snapshot%3Dtrue");
        assert_null(strstr(r->text, "web-0-snapshot"));
        assert_non_null(strstr(r->text, "web-1-snapshot"));
        close_all(&f);
})

RIG_TEST(a_snapshot_that_was_kept_for_a_binding_goes_when_the_binding_has_moved_on, {
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        rig_merge(r, FLEET "clusterresourceplacements/web", "{\"spec\":{\"revisionHistoryLimit\":1}}");
        assert_int_equal(r->status, 200);
        wait_ms(r, 2000);
        change_content(r, "c");
        wait_ms(r, 90000);
        assert_string_equal(bound_to(r, "resourceSnapshotName"), "web-1-snapshot");
        assert_int_equal(count(r, SNAPSHOTS), 1);
        assert_true(is_there(r, "web-1-snapshot"));
        close_all(&f);
})

/* Whatever the limit: from it the cluster's Works are made anew when somebody deletes them. */
RIG_TEST(a_snapshot_that_a_cluster_still_has_is_kept_though_there_are_too_many, {
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        place(r, ",\"strategy\":{\"type\":\"External\"},\"revisionHistoryLimit\":1");
        settle(&f);
        bind(r, "resourceSnapshotName", "web-0-snapshot");
        change_content(r, "c");
        wait_ms(r, 5000);
        assert_true(is_there(r, "web-0-snapshot"));
        assert_true(is_there(r, "web-1-snapshot"));
        change_content(r, "d");
        wait_ms(r, 5000);
        assert_true(is_there(r, "web-0-snapshot"));
        assert_false(is_there(r, "web-1-snapshot"));
        bind(r, "resourceSnapshotName", "web-2-snapshot");
        wait_ms(r, 5000);
        assert_false(is_there(r, "web-0-snapshot"));
        assert_true(is_there(r, "web-2-snapshot"));
        stop(&f);
})

/* Any of them may be one that a run, which is not known yet, is to go back to. */
RIG_TEST(where_update_runs_cannot_be_listed_snapshots_are_made_and_none_goes, {
        struct line line;
        struct fleet f;

        start(r, &f);
        line_lay(&f, &line);
        line.path = "stagedupdateruns";
        line.fate = 503;
        start_again(r, &f);
        wait_ms(r, 60000); /* no longer waited for */
        add_member(&f, "member-1", "");
        add_app(r);
        place(r, ",\"strategy\":{\"type\":\"External\"},\"revisionHistoryLimit\":1");
        wait_ms(r, 5000);
        assert_true(is_there(r, "web-0-snapshot"));
        change_content(r, "c");
        wait_ms(r, 5000);
        assert_true(is_there(r, "web-1-snapshot"));
        assert_true(is_there(r, "web-0-snapshot"));
        line.path = NULL;
        wait_ms(r, 120000);
        assert_int_equal(count(r, SNAPSHOTS), 1);
        assert_true(is_there(r, "web-1-snapshot"));
        close_all(&f);
})

/* It was not too much yet when the binding moved on, and the pass that made it too much had read the binding
 * before. */
RIG_TEST(a_snapshot_that_a_binding_lets_go_of_while_the_next_one_is_made_is_not_kept, {
        struct line line;
        struct fleet f;

        start(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        place(r, ",\"strategy\":{\"type\":\"External\"},\"revisionHistoryLimit\":2");
        settle(&f);
        bind(r, "resourceSnapshotName", "web-0-snapshot");
        change_content(r, "c");
        wait_ms(r, 5000);
        assert_int_equal(count(r, SNAPSHOTS), 2);
        line.slow = "clusterresourcesnapshots";
        change_content(r, "d");
        fiber_sleep(r->loop, 1000);
        bind(r, "resourceSnapshotName", "web-1-snapshot");
        fiber_sleep(r->loop, 4000);
        line.slow = NULL;
        assert_true(is_there(r, "web-2-snapshot"));
        wait_ms(r, 5000);
        assert_false(is_there(r, "web-0-snapshot"));
        assert_int_equal(count(r, SNAPSHOTS), 2);
        close_all(&f);
})

#define RUNS FLEET "clusterstagedupdateruns"

/* Prepared, and never let go: until it ends it holds the snapshot with index 0. */
static const char prepared_run[] =
        "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"ClusterStagedUpdateRun\","
        "\"metadata\":{\"name\":\"back\"},\"spec\":{\"placementName\":\"web\",\"resourceSnapshotIndex\":"
        "\"0\","
        "\"stagedRolloutStrategyName\":\"all\",\"state\":\"Initialize\"}}";
static const char one_stage[] =
        "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"ClusterStagedUpdateStrategy\","
        "\"metadata\":{\"name\":\"all\"},\"spec\":{\"stages\":[{\"name\":\"all\",\"labelSelector\":"
        "{\"matchLabels\":{\"wave\":\"one\"}}}]}}";

static void set_wave(struct rig *r, const char *wave)
{
        char patch[128];

        snprintf(patch, sizeof(patch), "{\"metadata\":{\"labels\":{\"wave\":\"%s\"}}}", wave);
        assert_int_equal(rig_merge(r, CLUSTERS "memberclusters/member-1", patch), 200);
}

/* The binding is on the second snapshot, and a run holds the first. */
static void hold_by_run(struct rig *r)
{
        change_content(r, "c");
        wait_ms(r, 90000);
        assert_string_equal(bound_to(r, "resourceSnapshotName"), "web-1-snapshot");
        set_wave(r, "one");
        assert_int_equal(rig_post(r, FLEET "clusterstagedupdatestrategies", one_stage), 201);
        assert_int_equal(
                rig_merge(r, FLEET "clusterresourceplacements/web",
                          "{\"spec\":{\"strategy\":{\"type\":\"External\",\"rollingUpdate\":null}}}"),
                200);
        assert_int_equal(rig_post(r, RUNS, prepared_run), 201);
        wait_ms(r, 5000);
        assert_int_equal(rig_merge(r, FLEET "clusterresourceplacements/web",
                                   "{\"spec\":{\"revisionHistoryLimit\":1}}"),
                         200);
        wait_ms(r, 60000);
        assert_true(is_there(r, "web-0-snapshot"));
}

RIG_TEST(a_snapshot_that_was_kept_for_a_run_goes_with_the_run, {
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        hold_by_run(r);
        rig_delete(r, RUNS "/back");
        wait_ms(r, 5000);
        assert_int_equal(count(r, RUNS), 0);
        assert_false(is_there(r, "web-0-snapshot"));
        assert_true(is_there(r, "web-1-snapshot"));
        close_all(&f);
})

RIG_TEST(a_snapshot_that_was_kept_for_a_run_goes_when_the_run_has_ended, {
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        hold_by_run(r);
        set_wave(r, "two"); /* the run has no stage for that */
        wait_ms(r, 5000);
        rig_get(r, RUNS "/back");
        assert_string_equal(condition_of(r, "Succeeded"), "False");
        assert_false(is_there(r, "web-0-snapshot"));
        close_all(&f);
})

static uint64_t requests(struct rig *r, const char *verb, const char *resource)
{
        struct devcluster_request_count *c;
        uint64_t sum = 0;
        size_t n;

        assert_int_equal(devcluster_requests(r->devcluster, "hub", &r->arena, &c, &n), 0);
        for (size_t i = 0; i < n; i++)
                sum += text_equal(c[i].verb, verb) && text_equal(c[i].resource, resource) ? c[i].n : 0;
        return sum;
}

/* It is marked as the latest no more right before it goes, by which it becomes another version. */
RIG_TEST(a_snapshot_that_is_replaced_and_not_kept_goes_with_one_request, {
        static const char *const resources[] = { "clusterresourcesnapshots",
                                                 "clusterschedulingpolicysnapshots" };
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        place(r, ",\"revisionHistoryLimit\":1,\"strategy\":{\"type\":\"External\"}");
        settle(&f);
        devcluster_reset_requests(r->devcluster);
        change_content(r, "c");
        settle(&f);
        wait_ms(r, 5000); /* a second pass before it is seen to be gone would ask again */
        assert_int_equal(rig_merge(r, FLEET "clusterresourceplacements/web",
                                   "{\"spec\":{\"policy\":{\"placementType\":\"PickAll\",\"tolerations\":[{"
                                   "\"key\":\"k\",\"operator\":\"Exists\"}]}}}"),
                         200);
        settle(&f);
        wait_ms(r, 5000);
        assert_true(is_there(r, "web-1-snapshot"));
        for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
                assert_int_equal(requests(r, "create", resources[i]), 1);
                assert_int_equal(requests(r, "delete", resources[i]), 1);
        }
        stop(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(
                        an_index_that_a_binding_names_is_not_given_again_though_the_cache_of_bindings_is_behind),
                cmocka_unit_test(an_index_that_only_a_work_tells_is_not_given_again),
                cmocka_unit_test(an_index_that_a_work_tells_while_the_server_is_asked_is_not_given_again),
                cmocka_unit_test(nothing_is_made_while_it_cannot_be_told_which_indexes_were_given),
                cmocka_unit_test(a_snapshot_that_a_binding_names_and_the_cache_lacks_is_waited_for),
                cmocka_unit_test(a_rollout_goes_not_back_to_the_snapshot_before_for_its_cache_is_behind),
                cmocka_unit_test(clusters_are_not_picked_by_the_policy_before_for_its_cache_is_behind),
                cmocka_unit_test(
                        a_policy_snapshot_that_comes_to_light_meanwhile_is_not_followed_by_a_second_latest),
                cmocka_unit_test(of_two_that_are_marked_latest_the_older_one_is_not_any_more),
                cmocka_unit_test(a_snapshot_that_a_cluster_still_has_is_kept_though_there_are_too_many),
                cmocka_unit_test(where_update_runs_cannot_be_listed_snapshots_are_made_and_none_goes),
                cmocka_unit_test(a_snapshot_that_was_kept_for_a_binding_goes_when_the_binding_has_moved_on),
                cmocka_unit_test(a_snapshot_that_a_binding_lets_go_of_while_the_next_one_is_made_is_not_kept),
                cmocka_unit_test(a_history_limit_that_is_lowered_holds_though_the_selection_stays_the_same),
                cmocka_unit_test(a_snapshot_that_was_kept_for_a_run_goes_with_the_run),
                cmocka_unit_test(a_snapshot_that_was_kept_for_a_run_goes_when_the_run_has_ended),
                cmocka_unit_test(a_snapshot_that_is_replaced_and_not_kept_goes_with_one_request),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
