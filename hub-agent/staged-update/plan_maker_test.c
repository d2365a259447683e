/* What an approval request shows of each cluster: what it has, as its Works hold it, against what it gets. */
#include "hub-agent/staged-update/update_run_agent_test.h"

#define PLAN(when) ",\"" when "StageTasks\":[{\"type\":\"Approval\",\"plan\":true}]"
#define REQUEST REQUESTS "/second-before-prod"

/* Run "first" has brought snapshot 0 to all clusters. */
static void begin_placed(struct rig *r, struct fleet *f, const char *policy)
{
        begin_with(r, f, policy);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "0", "");
        settle_often(f, 6);
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        assert_int_equal(rig_delete(r, STRATEGIES "/slow"), 200);
}

/* Run "second" waits for an approval before stage prod. */
static void begin_second(struct rig *r, struct fleet *f)
{
        change_app(r, "c");
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", PLAN("before")));
        post_run(r, "second", "1", "");
        settle_often(f, 4);
        assert_run(r, "second", "Progressing", "False UpdateRunWaiting");
}

/* What the request that was read last tells of a cluster: "+added ~changed -removed problem". */
static const char *told_of(struct rig *r, const char *cluster, char ret[512])
{
        json_t *c;
        size_t i;

        snprintf(ret, 512, "nothing");
        json_array_foreach(doc_get_array(r->answer, "status.plan.clusters"), i, c) {
                const char *problem = doc_get_string(c, "problem");

                if (text_equal(doc_get_string(c, "clusterName"), cluster))
                        snprintf(ret, 512, "+%lld ~%lld -%lld%s%s", (long long)doc_get_int(c, "added", -1),
                                 (long long)doc_get_int(c, "changed", -1),
                                 (long long)doc_get_int(c, "removed", -1), problem ? " " : "",
                                 problem ? problem : "");
        }
        return ret;
}

static void assert_told(struct rig *r, const char *request, const char *cluster, const char *expected)
{
        char got[512];

        assert_int_equal(rig_get(r, request), 200);
        if (!text_equal(told_of(r, cluster, got), expected))
                fail_msg("%s: wanted %s, got %s in %s", cluster, expected, got, r->text);
}

static void post_override(struct rig *r, const char *operation)
{
        char body[1024];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"ResourceOverride\","
                 "\"metadata\":{\"name\":\"gold\"},\"spec\":{\"placement\":{\"name\":\"web\"},"
                 "\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":"
                 "\"settings\"}],\"policy\":{\"overrideRules\":[{\"clusterSelector\":{"
                 "\"clusterSelectorTerms\":[{\"labelSelector\":{\"matchLabels\":{\"tier\":\"gold\"}}}]},"
                 "\"jsonPatchOverrides\":[%s]}]}}}",
                 operation);
        assert_int_equal(rig_post(r, FLEET "namespaces/app/resourceoverrides", body), 201);
        merge(r, CLUSTERS "memberclusters/member-3", "{\"metadata\":{\"labels\":{\"tier\":\"gold\"}}}");
        rig_settle(r);
}

static void overridden(struct rig *r)
{
        struct fleet f;

        begin_placed(r, &f, "");
        post_override(r, "{\"op\":\"replace\",\"path\":\"/data/a\",\"value\":\"b\"}");
        begin_second(r, &f);
        assert_told(r, REQUEST, "member-2", "+0 ~1 -0");
        assert_told(r, REQUEST, "member-3", "+0 ~0 -0"); /* it has b, and keeps it */
        assert_told(r, REQUEST, "member-1", "nothing");  /* of another stage */
        stop(&f);
}
static void a_plan_counts_in_what_is_overridden_on_each_cluster(void **state)
{
        rig_run(overridden);
}

static void broken(struct rig *r)
{
        char told[512];
        struct fleet f;

        begin_placed(r, &f, "");
        post_override(r, "{\"op\":\"remove\",\"path\":\"/data/none\"}");
        begin_second(r, &f);
        assert_told(r, REQUEST, "member-2", "+0 ~1 -0");
        told_of(r, "member-3", told);
        if (!strstr(told, "remove operation does not apply"))
                fail_msg("%s", told);
        stop(&f);
}
static void what_cannot_be_rendered_is_told_of_that_cluster(void **state)
{
        rig_run(broken);
}

static void give(struct rig *r, const char *cluster, const char *spec)
{
        char path[256], patch[256];

        snprintf(patch, sizeof(patch), "{\"spec\":{%s}}", spec);
        merge(r, path_of_binding(r, cluster, "", path), patch);
        rig_settle(r);
}

/* The request follows what the cluster has: whoever approves knows what it changes. */
static void had(struct rig *r)
{
        struct fleet f;
        char path[256];

        begin_placed(r, &f, "");
        begin_second(r, &f);
        assert_told(r, REQUEST, "member-2", "+0 ~1 -0");
        give(r, "member-2", "\"resourceSnapshotName\":\"web-1-snapshot\"");
        assert_told(r, REQUEST, "member-2", "+0 ~0 -0");
        give(r, "member-2", "\"resourceSnapshotName\":\"web-9-snapshot\"");
        assert_told(r, REQUEST, "member-2", "+2 ~0 -0 resource snapshot \"web-9-snapshot\" is gone");
        give(r, "member-2", "\"resourceSnapshotName\":\"\"");
        assert_told(r, REQUEST, "member-2", "+2 ~0 -0");
        /* what it was before says something only of one that is to go */
        merge(r, path_of_binding(r, "member-2", "", path),
              "{\"metadata\":{\"annotations\":{\"kubernetes-fleet.io/previous-binding-state\":\"Bound\"}}}");
        rig_settle(r);
        give(r, "member-2", "\"resourceSnapshotName\":\"web-0-snapshot\",\"state\":\"Scheduled\"");
        assert_told(r, REQUEST, "member-2", "+2 ~0 -0");
        assert_told(r, REQUEST, "member-3", "+0 ~1 -0");
        stop(&f);
}
static void a_plan_compares_with_what_the_cluster_has_now(void **state)
{
        rig_run(had);
}

/* Neither polls nor an agent that has just begun write what is shown already. */
static void kept(struct rig *r)
{
        char version[64], hash[65];
        struct fleet f;

        begin_placed(r, &f, "");
        begin_second(r, &f);
        assert_int_equal(rig_get(r, REQUEST), 200);
        snprintf(version, sizeof(version), "%s", rig_string(r, "metadata.resourceVersion"));
        snprintf(hash, sizeof(hash), "%s", rig_string(r, "status.planHash"));
        assert_int_equal(strlen(hash), 64);
        fiber_sleep(r->loop, 130000);
        stop(&f);
        start_again(r, &f);
        fiber_sleep(r->loop, 130000);
        assert_int_equal(rig_get(r, REQUEST), 200);
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), version);
        approve(r, "second-before-prod");
        settle_often(&f, 4);
        assert_run(r, "second", "Succeeded", "True UpdateRunSucceeded");
        stop(&f);
}
static void a_plan_that_is_shown_is_not_written_again(void **state)
{
        rig_run(kept);
}

static void removed(struct rig *r)
{
        struct fleet f;

        begin_placed(r, &f, PICK_FIXED("\"member-1\",\"member-2\",\"member-3\""));
        merge(r, FLEET "clusterresourceplacements/web",
              "{\"spec\":{\"policy\":{\"clusterNames\":[\"member-1\",\"member-2\"]}}}");
        change_app(r, "c");
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", PLAN("after")));
        post_run(r, "second", "1", "");
        settle_often(&f, 6);
        assert_told(r, REQUESTS "/second-after-prod", "member-3", "+0 ~0 -2");
        assert_null(json_object_get(json_object_get(json_object_get(r->answer, "status"), "plan"),
                                    "resourceSnapshotIndex"));
        approve(r, "second-after-prod");
        rig_settle(r);
        let_go(r, "member-3");
        settle_often(&f, 2);
        assert_run(r, "second", "Succeeded", "True UpdateRunSucceeded");
        assert_int_equal(count(r, FLEET "works"), 2);
        stop(&f);
}
static void the_last_plan_tells_what_is_removed(void **state)
{
        rig_run(removed);
}

/* Nobody can tell what such a cluster has, and its binding stays until a run takes it away. */
static void gone(struct rig *r)
{
        struct fleet f;

        begin_placed(r, &f, "");
        rig_delete(r, CLUSTERS "memberclusters/member-3");
        rig_settle(r);
        report_member(&f, "member-3", "False");
        fiber_sleep(r->loop, 60000);
        assert_int_equal(rig_get(r, CLUSTERS "memberclusters/member-3"), 404);
        change_app(r, "c");
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", PLAN("after")));
        post_run(r, "second", "1", "");
        settle_often(&f, 6);
        assert_told(r, REQUESTS "/second-after-prod", "member-3",
                    "+0 ~0 -0 member cluster \"member-3\" is gone");
        approve(r, "second-after-prod");
        settle_often(&f, 2);
        assert_run(r, "second", "Succeeded", "True UpdateRunSucceeded");
        stop(&f);
}
static void of_a_cluster_that_is_gone_a_plan_tells_that(void **state)
{
        rig_run(gone);
}

static void left(struct rig *r)
{
        struct fleet f;

        begin_placed(r, &f, PICK_FIXED("\"member-1\",\"member-2\",\"member-3\""));
        change_app(r, "c");
        post(r, STRATEGIES, "ClusterStagedUpdateStrategy", "slow",
             "\"onClusterChange\":\"Continue\",\"stages\":[" STAGE("canary",
                                                                   "") "," STAGE("prod", PLAN("before")) "]");
        post_run(r, "second", "1", "");
        settle_often(&f, 4);
        assert_told(r, REQUEST, "member-3", "+0 ~1 -0");
        merge(r, FLEET "clusterresourceplacements/web",
              "{\"spec\":{\"policy\":{\"clusterNames\":[\"member-1\",\"member-2\"]}}}");
        rig_settle(r);
        assert_told(r, REQUEST, "member-2", "+0 ~1 -0");
        assert_int_equal(rig_delete(r, REQUEST), 200);
        settle_often(&f, 2);
        assert_int_equal(rig_get(r, REQUEST), 200);
        stop(&f);
}
static void a_plan_goes_on_without_a_cluster_that_left(void **state)
{
        rig_run(left);
}

/* Nothing that a plan is made of changed meanwhile. */
static void replaced(struct rig *r)
{
        struct fleet f;

        begin_placed(r, &f, "");
        begin_second(r, &f);
        assert_told(r, REQUEST, "member-2", "+0 ~1 -0");
        merge(r, REQUEST "/status", "{\"status\":{\"plan\":null,\"planHash\":\"12345678\"}}");
        settle_often(&f, 2);
        assert_told(r, REQUEST, "member-2", "+0 ~1 -0");
        assert_int_equal(rig_delete(r, REQUEST), 200);
        settle_often(&f, 2);
        assert_told(r, REQUEST, "member-2", "+0 ~1 -0");
        stop(&f);
}

static void a_plan_that_somebody_took_away_is_shown_again(void **state)
{
        rig_run(replaced);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_plan_counts_in_what_is_overridden_on_each_cluster),
                cmocka_unit_test(what_cannot_be_rendered_is_told_of_that_cluster),
                cmocka_unit_test(a_plan_compares_with_what_the_cluster_has_now),
                cmocka_unit_test(a_plan_that_is_shown_is_not_written_again),
                cmocka_unit_test(the_last_plan_tells_what_is_removed),
                cmocka_unit_test(of_a_cluster_that_is_gone_a_plan_tells_that),
                cmocka_unit_test(a_plan_goes_on_without_a_cluster_that_left),
                cmocka_unit_test(a_plan_that_somebody_took_away_is_shown_again),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
