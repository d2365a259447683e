/* A run that is made right after what it rests on was changed: caches may not have heard of that yet, and a
 * run has one chance only. */
#include "hub-agent/hub_agent_test.h"

#define RUNS FLEET "clusterstagedupdateruns"
#define STRATEGIES FLEET "clusterstagedupdatestrategies"
#define PLACEMENT FLEET "clusterresourceplacements/web"

static void post(struct rig *r, const char *path, const char *kind, const char *name, const char *spec)
{
        char body[1024];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"%s\",\"metadata\":{"
                 "\"name\":\"%s\"},\"spec\":{%s}}",
                 kind, name, spec);
        if (rig_post(r, path, body) != 201)
                fail_msg("%s: %s", name, r->text);
}

#define ONE_STAGE "\"stages\":[{\"name\":\"all\",\"labelSelector\":{}}]"

static void begin(struct rig *r, struct fleet *f, struct line *line, const char *strategy)
{
        start(r, f);
        line_lay(f, line);
        start_again(r, f);
        add_member(f, "member-1", "");
        add_app(r);
        place(r, strategy);
        post(r, STRATEGIES, "ClusterStagedUpdateStrategy", "all", ONE_STAGE);
        settle(f);
}

static void post_run(struct rig *r)
{
        post(r, RUNS, "ClusterStagedUpdateRun", "first",
             "\"placementName\":\"web\",\"stagedRolloutStrategyName\":\"all\"");
}

static void assert_succeeds(struct rig *r, struct fleet *f)
{
        for (int i = 0; i < 8; i++)
                settle(f);
        fiber_sleep(r->loop, LAG_MS);
        for (int i = 0; i < 8; i++)
                settle(f);
        rig_get(r, RUNS "/first");
        if (!text_equal(condition_of(r, "Succeeded"), "True"))
                fail_msg("%s", r->text);
}

static void end(struct fleet *f)
{
        stop(f);
        http_transport_free(f->world.transport);
}

RIG_TEST(that_a_placement_is_external_now_is_heard_by_a_run_made_after_it, {
        struct line line;
        struct fleet f;

        begin(r, &f, &line, "");
        line.lagging = "clusterresourceplacements";
        merge(r, PLACEMENT, "{\"spec\":{\"strategy\":{\"type\":\"External\",\"rollingUpdate\":null}}}");
        post_run(r);
        assert_succeeds(r, &f);
        end(&f);
})

RIG_TEST(how_a_placement_applies_now_is_heard_by_a_run_made_after_it, {
        struct line line;
        struct fleet f;

        begin(r, &f, &line, ",\"strategy\":{\"type\":\"External\"}");
        line.lagging = "clusterresourceplacements";
        merge(r, PLACEMENT,
              "{\"spec\":{\"strategy\":{\"applyStrategy\":{\"whenToApply\":\"IfNotDrifted\"}}}}");
        post_run(r);
        assert_succeeds(r, &f);
        rig_get(r, RUNS "/first");
        assert_string_equal(doc_get_string(r->answer, "status.appliedStrategy.whenToApply"), "IfNotDrifted");
        end(&f);
})

RIG_TEST(a_strategy_as_it_is_now_is_taken_by_a_run_made_after_it, {
        struct line line;
        struct fleet f;

        begin(r, &f, &line, ",\"strategy\":{\"type\":\"External\"}");
        line.lagging = "clusterstagedupdatestrategies";
        merge(r, STRATEGIES "/all", "{\"spec\":{\"stages\":[{\"name\":\"anew\",\"labelSelector\":{}}]}}");
        post_run(r);
        assert_succeeds(r, &f);
        rig_get(r, RUNS "/first");
        assert_string_equal(doc_get_string(json_array_get(doc_get_array(r->answer, "status.stagesStatus"), 0),
                                           "stageName"),
                            "anew");
        end(&f);
})

/* The intake has still to make a snapshot of the policy, and that takes a while. */
static void a_policy_that_changes(struct rig *r, const char *before, const char *after, const char *index)
{
        struct line line;
        struct fleet f;

        begin(r, &f, &line, before);
        add_member(&f, "member-2", "");
        settle(&f);
        line.slow = "clusterschedulingpolicysnapshots";
        merge(r, PLACEMENT, after);
        post(r, RUNS, "ClusterStagedUpdateRun", "first",
             "\"placementName\":\"web\",\"stagedRolloutStrategyName\":\"all\",\"resourceSnapshotIndex\":"
             "\"0\"");
        assert_succeeds(r, &f);
        rig_get(r, RUNS "/first");
        assert_string_equal(rig_string(r, "status.policySnapshotIndexUsed"), index);
        assert_int_equal(doc_get_int(r->answer, "status.policyObservedClusterCount", 0), 2);
        end(&f);
}

RIG_TEST(a_policy_as_it_is_now_is_taken_by_a_run_made_after_it, {
        a_policy_that_changes(r,
                              ",\"strategy\":{\"type\":\"External\"},\"policy\":{\"placementType\":"
                              "\"PickFixed\",\"clusterNames\":[\"member-1\"]}",
                              "{\"spec\":{\"policy\":{\"clusterNames\":[\"member-1\",\"member-2\"]}}}", "1");
})

RIG_TEST(a_number_as_it_is_now_is_taken_by_a_run_made_after_it, {
        a_policy_that_changes(r,
                              ",\"strategy\":{\"type\":\"External\"},\"policy\":{\"placementType\":"
                              "\"PickN\",\"numberOfClusters\":1}",
                              "{\"spec\":{\"policy\":{\"numberOfClusters\":2}}}", "0");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(that_a_placement_is_external_now_is_heard_by_a_run_made_after_it),
                cmocka_unit_test(how_a_placement_applies_now_is_heard_by_a_run_made_after_it),
                cmocka_unit_test(a_strategy_as_it_is_now_is_taken_by_a_run_made_after_it),
                cmocka_unit_test(a_policy_as_it_is_now_is_taken_by_a_run_made_after_it),
                cmocka_unit_test(a_number_as_it_is_now_is_taken_by_a_run_made_after_it),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
