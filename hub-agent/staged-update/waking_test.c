/* What wakes an update run. All that it rests on does, at once: runs that were initialized and not started
 * are never polled, and those under way only after 15 s. */
#include "hub-agent/staged-update/update_run_agent_test.h"

#define TWO_STAGES STAGE("canary", "") "," STAGE("prod", "")

static void begin_initialized(struct rig *r, struct fleet *f)
{
        begin(r, f);
        post_strategy(r, TWO_STAGES);
        post_run(r, "first", "0", ",\"state\":\"Initialize\"");
        rig_settle(r);
        assert_run(r, "first", "Initialized", "True UpdateRunInitializedSuccessfully");
        fiber_sleep(r->loop, 60000);
        assert_run(r, "first", "Succeeded", "absent");
}

/* With member-1 under way, which does not answer. */
static void begin_running(struct rig *r, struct fleet *f)
{
        begin(r, f);
        post_strategy(r, TWO_STAGES);
        post_run(r, "first", "0", "");
        rig_settle(r);
        rig_settle(r);
        assert_run(r, "first", "Progressing", "True UpdateRunProgressing");
}

static void assert_failed_soon(struct rig *r, const char *words)
{
        rig_settle(r);
        assert_run(r, "first", "Succeeded", "False UpdateRunFailed");
        if (!strstr(r->text, words))
                fail_msg("wanted \"%s\" in %s", words, r->text);
}

/* ---- its placement, policy and members ---- */

static void of_placement(struct rig *r)
{
        struct fleet f;

        begin_initialized(r, &f);
        merge(r, FLEET "clusterresourceplacements/web",
              "{\"spec\":{\"strategy\":{\"applyStrategy\":{\"whenToApply\":\"IfNotDrifted\"}}}}");
        assert_failed_soon(r, "the applyStrategy in the updateRun is outdated");
        stop(&f);
}
static void a_changed_placement_wakes_its_runs(void **state)
{
        rig_run(of_placement);
}

static void of_labels(struct rig *r)
{
        struct fleet f;

        begin_initialized(r, &f);
        merge(r, CLUSTERS "memberclusters/member-1", "{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}");
        rig_settle(r);
        assert_run(r, "first", "Succeeded", "absent");
        merge(r, CLUSTERS "memberclusters/member-1", "{\"metadata\":{\"labels\":{\"stage\":\"prod\"}}}");
        assert_failed_soon(r, "the number of clusters in index `0` stage has changed");
        stop(&f);
}
static void changed_labels_of_a_member_wake_the_runs_that_place_on_it(void **state)
{
        rig_run(of_labels);
}

/* A new member, which a policy that picks all gets a binding on. */
static void of_new_binding(struct rig *r)
{
        struct fleet f;

        begin_initialized(r, &f);
        add_member(&f, "member-4", "\"stage\":\"prod\"");
        assert_failed_soon(r, "the number of clusters in index `1` stage has changed");
        stop(&f);
}
static void a_new_binding_wakes_the_runs_of_its_placement(void **state)
{
        rig_run(of_new_binding);
}

static void of_others(struct rig *r)
{
        struct fleet f;

        begin_initialized(r, &f);
        assert_int_equal(
                rig_post(
                        r, FLEET "clusterresourceplacements",
                        "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                        "\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"other\"},\"spec\":{" SELECT_APP
                        ",\"strategy\":{\"type\":\"External\"}}}"),
                201);
        post(r, RUNS, "ClusterStagedUpdateRun", "others",
             "\"placementName\":\"other\",\"stagedRolloutStrategyName\":\"slow\",\"state\":\"Initialize\"");
        rig_settle(r);
        assert_int_equal(rig_delete(r, FLEET "clusterresourceplacements/web"), 200);
        assert_failed_soon(r, "parent placement not found");
        assert_run(r, "others", "Succeeded", "absent");
        stop(&f);
}
static void what_becomes_of_one_placement_ends_no_run_of_another(void **state)
{
        rig_run(of_others);
}

/* ---- a binding under way ---- */

static void say_of_binding(struct rig *r, const char *cluster, const char *type, const char *status)
{
        char path[256], body[512], now[RFC3339_SIZE];
        long long generation = doc_get_int(binding_on(r, cluster), "metadata.generation", 0);

        time_format_rfc3339(loop_wall_ms(r->loop), now);
        snprintf(body, sizeof(body),
                 "{\"status\":{\"conditions\":[{\"type\":\"%s\",\"status\":\"%s\",\"reason\":\"R\","
                 "\"message\":"
                 "\"\",\"lastTransitionTime\":\"%s\",\"observedGeneration\":%lld}]}}",
                 type, status, now, generation);
        merge(r, path_of_binding(r, cluster, "/status", path), body);
}

static void of_rollout_started(struct rig *r)
{
        struct fleet f;

        begin_running(r, &f);
        say_of_binding(r, "member-1", "RolloutStarted", "False");
        assert_failed_soon(r, "see if there is a concurrent updateRun");
        stop(&f);
}
static void a_start_that_is_taken_back_wakes_the_run(void **state)
{
        rig_run(of_rollout_started);
}

static void of_deletion(struct rig *r)
{
        struct fleet f;
        char path[256];

        begin_running(r, &f);
        assert_int_equal(rig_delete(r, path_of_binding(r, "member-1", "", path)), 200);
        assert_failed_soon(r, "cannot continue the updateRun");
        stop(&f);
}
static void a_binding_that_goes_wakes_the_run(void **state)
{
        rig_run(of_deletion);
}

static void of_state(struct rig *r)
{
        struct fleet f;
        char path[256];

        begin_running(r, &f);
        merge(r, path_of_binding(r, "member-1", "", path), "{\"spec\":{\"state\":\"Scheduled\"}}");
        assert_failed_soon(r, "see if there is a concurrent updateRun");
        stop(&f);
}
static void a_binding_that_is_given_something_else_wakes_the_run(void **state)
{
        rig_run(of_state);
}

/* As a member says that only tells how its objects differ. */
static void report_diffs(struct fleet *f)
{
        AUTO_JSON json_t *list = NULL;
        json_t *item;
        size_t i;

        rig_get(f->rig, FLEET "works");
        list = json_incref(f->rig->answer);
        json_array_foreach(json_object_get(list, "items"), i, item) {
                char path[512], body[512], now[RFC3339_SIZE];

                stamp_now(f, now);
                snprintf(path, sizeof(path), FLEET "namespaces/%s/works/%s/status",
                         doc_get_string(item, "metadata.namespace"), doc_get_string(item, "metadata.name"));
                snprintf(body, sizeof(body),
                         "{\"status\":{\"conditions\":[{\"type\":\"DiffReported\",\"status\":\"True\","
                         "\"reason\":"
                         "\"R\",\"message\":\"\",\"lastTransitionTime\":\"%s\",\"observedGeneration\":%lld}]}"
                         "}",
                         now, (long long)doc_get_int(item, "metadata.generation", 0));
                merge(f->rig, path, body);
        }
}

static void of_differences(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        merge(r, FLEET "clusterresourceplacements/web",
              "{\"spec\":{\"strategy\":{\"applyStrategy\":{\"type\":\"ReportDiff\"}}}}");
        rig_settle(r);
        post_strategy(r, TWO_STAGES);
        post_run(r, "first", "0", "");
        rig_settle(r);
        rig_settle(r);
        assert_run(r, "first", "Progressing", "True UpdateRunProgressing");
        assert_null(strstr(r->text, "StageUpdatingSucceeded"));
        report_diffs(&f);
        rig_settle(r);
        rig_settle(r);
        assert_run(r, "first", "Progressing", "True UpdateRunProgressing");
        assert_non_null(strstr(r->text, "StageUpdatingSucceeded"));
        stop(&f);
}
static void differences_that_are_reported_wake_the_run(void **state)
{
        rig_run(of_differences);
}

/* ---- what is removed ---- */

/* The member takes its time over the Work. */
static void of_removal(struct rig *r)
{
        struct fleet f;

        begin_with(r, &f, PICK_FIXED("\"member-1\",\"member-3\""));
        post_strategy(r, TWO_STAGES);
        post_run(r, "before", "0", "");
        settle_often(&f, 6);
        assert_run(r, "before", "Succeeded", "True UpdateRunSucceeded");
        merge(r, FLEET "clusterresourceplacements/web",
              "{\"spec\":{\"policy\":{\"clusterNames\":[\"member-1\"]}}}");
        rig_settle(r);
        post_run(r, "first", "0", "");
        for (int i = 0; i < 20; i++)
                rig_settle(r);
        assert_run(r, "first", "Succeeded", "absent");
        let_go(r, "member-3");
        rig_settle(r);
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        stop(&f);
}
static void a_binding_that_is_gone_wakes_the_run_that_removes_it(void **state)
{
        rig_run(of_removal);
}

/* ---- in a namespace ---- */

static void begin_initialized_in_namespace(struct rig *r, struct fleet *f)
{
        begin_in_namespace(r, f, "");
        post_run_in_namespace(r, ",\"state\":\"Initialize\"");
        rig_settle(r);
        assert_int_equal(rig_get(r, OWN "stagedupdateruns/first"), 200);
        assert_string_equal(condition_of(r, "Initialized"), "True");
        fiber_sleep(r->loop, 60000);
}

static void assert_own_run_failed_soon(struct rig *r, const char *words)
{
        rig_settle(r);
        assert_int_equal(rig_get(r, OWN "stagedupdateruns/first"), 200);
        assert_string_equal(condition_of(r, "Succeeded"), "False");
        if (!strstr(r->text, words))
                fail_msg("wanted \"%s\" in %s", words, r->text);
}

static void of_own_placement(struct rig *r)
{
        struct fleet f;

        begin_initialized_in_namespace(r, &f);
        merge(r, OWN "resourceplacements/own",
              "{\"spec\":{\"strategy\":{\"applyStrategy\":{\"whenToApply\":\"IfNotDrifted\"}}}}");
        assert_own_run_failed_soon(r, "the applyStrategy in the updateRun is outdated");
        stop(&f);
}
static void of_own_placement_that_goes(struct rig *r)
{
        struct fleet f;

        begin_initialized_in_namespace(r, &f);
        assert_int_equal(rig_delete(r, OWN "resourceplacements/own"), 200);
        assert_own_run_failed_soon(r, "parent placement not found");
        stop(&f);
}
static void of_own_binding(struct rig *r)
{
        struct fleet f;

        begin_initialized_in_namespace(r, &f);
        add_member(&f, "member-2", "");
        assert_own_run_failed_soon(r, "the number of clusters in index `0` stage has changed");
        stop(&f);
}
static void of_own_state(struct rig *r)
{
        struct fleet f;

        begin_initialized_in_namespace(r, &f);
        merge(r, OWN "stagedupdateruns/first", "{\"spec\":{\"state\":\"Run\"}}");
        rig_settle(r);
        assert_int_equal(rig_get(r, OWN "stagedupdateruns/first"), 200);
        assert_string_equal(condition_of(r, "Progressing"), "True");
        stop(&f);
}
static void what_wakes_a_run_wakes_one_of_a_namespace(void **state)
{
        rig_run(of_own_placement);
        rig_run(of_own_placement_that_goes);
        rig_run(of_own_binding);
        rig_run(of_own_state);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_changed_placement_wakes_its_runs),
                cmocka_unit_test(changed_labels_of_a_member_wake_the_runs_that_place_on_it),
                cmocka_unit_test(a_new_binding_wakes_the_runs_of_its_placement),
                cmocka_unit_test(what_becomes_of_one_placement_ends_no_run_of_another),
                cmocka_unit_test(a_start_that_is_taken_back_wakes_the_run),
                cmocka_unit_test(a_binding_that_goes_wakes_the_run),
                cmocka_unit_test(a_binding_that_is_given_something_else_wakes_the_run),
                cmocka_unit_test(differences_that_are_reported_wake_the_run),
                cmocka_unit_test(a_binding_that_is_gone_wakes_the_run_that_removes_it),
                cmocka_unit_test(what_wakes_a_run_wakes_one_of_a_namespace),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
