/* What ends a run that is under way. */
#include "hub-agent/staged-update/update_run_test.h"

static void lose_placement(struct scene *s)
{
        s->placement = NULL;
}
static void change_apply_strategy(struct scene *s)
{
        set_placement(s, "\"type\":\"External\",\"applyStrategy\":{\"whenToTakeOver\":\"Never\"}");
}
static void change_policy(struct scene *s)
{
        s->in.policy_snapshots.n = 0;
        add_policy(s, 1, "\"placementType\":\"PickAll\"", 0);
}
static void resize(struct scene *s)
{
        s->in.policy_snapshots.n = 0;
        add_policy(s, 0, "\"placementType\":\"PickN\",\"numberOfClusters\":4", 4);
}
static void add_to_stage(struct scene *s)
{
        add_cluster(s, "a3", "\"stage\":\"a\"", "Scheduled");
}
static void relabel(struct scene *s)
{
        s->clusters[1] = parse(s, &member_cluster_kind,
                               "{\"metadata\":{\"name\":\"a2\",\"labels\":{\"stage\":"
                               "\"b\"}}}");
}
static void add_outside(struct scene *s)
{
        add_cluster(s, "x1", "", "Scheduled");
}
static void change_cluster(struct scene *s)
{
        drop_binding(s, "b1");
        add_cluster(s, "b2", "\"stage\":\"b\"", "Scheduled");
}
static void unschedule_unlisted(struct scene *s)
{
        add_cluster(s, "y1", "", "Unscheduled");
}
static void lose_strategy(struct scene *s)
{
        s->run->status->strategy_snapshot = NULL;
}
static void lose_stages(struct scene *s)
{
        s->run->status->stages_status = (struct stage_status_list){ 0 };
}
static void lose_deletion_stage(struct scene *s)
{
        s->run->status->deletion_stage_status = NULL;
}
static void finish_later_stage(struct scene *s)
{
        struct condition c = make_condition("Succeeded", "True", "R", "", 1);

        condition_set(&stage(s, 1)->conditions, &c, NOW, &s->arena);
        condition_set(&stage(s, 1)->clusters.at[0].conditions, &c, NOW, &s->arena);
}
static void finish_stage_alone(struct scene *s)
{
        struct condition c = make_condition("Succeeded", "True", "R", "", 1);

        condition_set(&stage(s, 0)->conditions, &c, NOW, &s->arena);
}
static void fail_stage(struct scene *s)
{
        struct condition c = make_condition("Succeeded", "False", "R", "by hand", 1);

        condition_set(&stage(s, 0)->conditions, &c, NOW, &s->arena);
}
static void begin_two(struct scene *s)
{
        struct condition c = make_condition("Progressing", "True", "R", "", 1);

        condition_set(&stage(s, 1)->conditions, &c, NOW, &s->arena);
}
static void start_too_many(struct scene *s)
{
        struct condition c = make_condition("Started", "True", "R", "", 1);

        condition_set(&cluster(s, "a2")->conditions, &c, NOW, &s->arena);
}
static void begin_deletion(struct scene *s)
{
        struct condition c = make_condition("Progressing", "True", "R", "", 1);

        condition_set(&s->run->status->deletion_stage_status->conditions, &c, NOW, &s->arena);
}

static void lose_snapshot(struct scene *s)
{
        s->in.resource_snapshots.n = 0;
}
static void edit_snapshot(struct scene *s)
{
        ((struct object *)s->snapshots[0])->meta.generation = 2;
}
static void name_another_snapshot(struct scene *s)
{
        s->run->status->resource_snapshot_index_used = "9";
}
static void name_no_snapshot(struct scene *s)
{
        s->run->status->resource_snapshot_index_used = NULL;
}
static void lose_task(struct scene *s)
{
        stage(s, 1)->before_stage_task_status = (struct stage_task_status_list){ 0 };
}
static void rename_request(struct scene *s)
{
        stage(s, 1)->before_stage_task_status.at[0].approval_request_name = "another";
}

static void share_ownership(struct scene *s)
{
        set_placement(s, "\"type\":\"External\",\"applyStrategy\":{\"type\":\"ServerSideApply\","
                         "\"allowCoOwnership\":true,\"serverSideApplyConfig\":{\"force\":true}}");
}
static void lose_apply_strategy(struct scene *s)
{
        s->run->status->applied_strategy = NULL;
}
static void lose_stage(struct scene *s)
{
        s->run->status->stages_status.n = 1;
}
static void rename_stage(struct scene *s)
{
        stage(s, 1)->stage_name = "c";
}
static void skip_first_stage(struct scene *s)
{
        finish_later_stage(s);
        stage(s, 0)->conditions.n = 0;
}
static void begin_second_stage(struct scene *s)
{
        begin_two(s);
        stage(s, 0)->conditions.n = 0;
}
static void finish_both(struct scene *s)
{
        struct condition c = make_condition("Succeeded", "True", "R", "", 1);

        finish_stage_alone(s);
        finish_later_stage(s);
        condition_set(&cluster(s, "a1")->conditions, &c, NOW, &s->arena);
        condition_set(&cluster(s, "a2")->conditions, &c, NOW, &s->arena);
}
static void fail_deletion(struct scene *s)
{
        struct condition c = make_condition("Succeeded", "False", "R", "by hand", 1);

        finish_both(s);
        condition_set(&s->run->status->deletion_stage_status->conditions, &c, NOW, &s->arena);
}
static void finish_deletion(struct scene *s)
{
        struct condition c = make_condition("Succeeded", "True", "R", "", 1);

        condition_set(&s->run->status->deletion_stage_status->conditions, &c, NOW, &s->arena);
}
static void fail_cluster(struct scene *s)
{
        struct condition c = make_condition("Succeeded", "False", "R", "by hand", 1);

        condition_set(&cluster(s, "a1")->conditions, &c, NOW, &s->arena);
}
static void change_task(struct scene *s)
{
        stage(s, 1)->before_stage_task_status.at[0].type = "TimedWait";
}

/* spec/staged-update-and-eviction.md checklist 36
 * A status that somebody edited is among them. */
static void what_the_run_was_made_for_must_still_hold(void **state)
{
        static const struct {
                void (*change)(struct scene *s);
                const char *message;
        } rows[] = {
                { lose_placement, PREFIX_VALID PREFIX_USER "parent placement not found" },
                { change_apply_strategy, PREFIX_ABORT PREFIX_USER
                  "the applyStrategy in the updateRun is outdated, latest: {type: ClientSideApply, "
                  "comparisonOption: PartialComparison, whenToApply: Always, whenToTakeOver: Never, "
                  "allowCoOwnership: false, forceConflicts: false}, recorded: {type: ClientSideApply, "
                  "comparisonOption: PartialComparison, whenToApply: Always, whenToTakeOver: Always, "
                  "allowCoOwnership: false, forceConflicts: false}" },
                { change_policy, PREFIX_ABORT "the policy snapshot index used in the updateRun is outdated, "
                                              "latest: 1, recorded: 0" },
                { resize,
                  PREFIX_ABORT "the cluster count initialized in the updateRun is outdated, latest: 4, "
                               "recorded: 3" },
                { add_to_stage,
                  PREFIX_ABORT "the number of clusters in index `0` stage has changed, new: 3, existing: 2" },
                { relabel,
                  PREFIX_ABORT "the number of clusters in index `0` stage has changed, new: 1, existing: 2" },
                { add_outside, PREFIX_VALID PREFIX_USER
                  "some clusters are not placed in any stage, total 1, showing up to 10: x1" },
                { change_cluster,
                  PREFIX_ABORT "the `0` cluster in the `1` stage has changed, new: b2, existing: b1" },
                { unschedule_unlisted, PREFIX_ABORT PREFIX_UNEXPECTED
                  "the cluster `y1` to be deleted is not in the delete stage" },
                { lose_strategy,
                  PREFIX_ABORT PREFIX_UNEXPECTED "the updateRun has nil updateStrategySnapshot" },
                { lose_stages, PREFIX_ABORT PREFIX_UNEXPECTED "the updateRun has nil stagesStatus" },
                { lose_deletion_stage,
                  PREFIX_ABORT PREFIX_UNEXPECTED "the updateRun has nil deletionStageStatus" },
                { finish_later_stage,
                  PREFIX_ABORT PREFIX_UNEXPECTED "the finished stage `1` is after the updating stage `0`" },
                { finish_stage_alone,
                  PREFIX_ABORT PREFIX_UNEXPECTED "cluster `a1` in the finished stage `a` has not succeeded" },
                { fail_stage, PREFIX_ABORT "the stage `a` has failed, err: by hand" },
                { begin_two, PREFIX_ABORT PREFIX_UNEXPECTED
                  "the stage `b` is updating, but there is already a stage with index `0` updating" },
                { start_too_many,
                  PREFIX_ABORT PREFIX_UNEXPECTED "the number of updating clusters `2` in the updating stage "
                                                 "`a` exceeds maxConcurrency `1`" },
                { begin_deletion, PREFIX_ABORT PREFIX_UNEXPECTED
                  "the delete stage is active, but there are still stages updating, updatingStageIndex: 0, "
                  "lastFinishedStageIndex: -1" },
                { lose_snapshot,
                  PREFIX_VALID PREFIX_USER "no resourceSnapshots with index `0` found for placement `/web`" },
                { edit_snapshot, PREFIX_VALID PREFIX_USER
                  "resourceSnapshot `/web-0-snapshot` was changed after it was made" },
                { name_another_snapshot,
                  PREFIX_VALID PREFIX_USER "no resourceSnapshots with index `9` found for placement `/web`" },
                { name_no_snapshot, PREFIX_VALID PREFIX_USER
                  "invalid resource snapshot index `` provided, expected an integer >= 0" },
                { share_ownership,
                  PREFIX_ABORT PREFIX_USER "the applyStrategy in the updateRun is outdated, latest: {type: "
                                           "ServerSideApply, comparisonOption: PartialComparison, "
                                           "whenToApply: Always, whenToTakeOver: Always, "
                                           "allowCoOwnership: true, forceConflicts: true}, recorded: {type: "
                                           "ClientSideApply, comparisonOption: PartialComparison, "
                                           "whenToApply: Always, whenToTakeOver: Always, "
                                           "allowCoOwnership: false, forceConflicts: false}" },
                { lose_apply_strategy, PREFIX_ABORT PREFIX_USER
                  "the applyStrategy in the updateRun is outdated, latest: {type: "
                  "ClientSideApply, comparisonOption: PartialComparison, "
                  "whenToApply: Always, whenToTakeOver: Always, "
                  "allowCoOwnership: false, forceConflicts: false}, recorded: none" },
                { lose_stage,
                  PREFIX_ABORT "the number of stages in the updateRun has changed, new: 2, existing: 1" },
                { rename_stage,
                  PREFIX_ABORT "index `1` stage name in the updateRun has changed, new: b, existing: c" },
                { skip_first_stage, PREFIX_ABORT PREFIX_UNEXPECTED
                  "the finished stage `b` is not right after the last finished stage with index `-1`" },
                { begin_second_stage, PREFIX_ABORT PREFIX_UNEXPECTED
                  "the updating stage `b` is not right after the last finished stage with index `-1`" },
                { fail_deletion, PREFIX_ABORT "the delete stage has failed, err: by hand" },
                { finish_deletion, PREFIX_ABORT PREFIX_UNEXPECTED
                  "the delete stage is active, but there are still stages updating, updatingStageIndex: 0, "
                  "lastFinishedStageIndex: -1" },
                { fail_cluster, PREFIX_ABORT "the cluster `a1` in the stage a has failed" },
                { change_task, PREFIX_ABORT PREFIX_UNEXPECTED
                  "the tasks of stage `b` in the updateRun are not those of its strategy" },
                { lose_task, PREFIX_ABORT PREFIX_UNEXPECTED
                  "the tasks of stage `b` in the updateRun are not those of its strategy" },
                { rename_request, PREFIX_ABORT PREFIX_UNEXPECTED
                  "the tasks of stage `b` in the updateRun are not those of its strategy" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct scene s;

                begin_usual(&s, "", APPROVAL("before"));
                step(&s);
                rows[i].change(&s);
                step(&s);
                assert_int_equal(s.plan.n_update, 0);
                assert_run_failed(&s, rows[i].message);
                ends(&s);
        }
}

static void a_changed_order_ends_the_run(void **state)
{
        struct scene s;

        begin(&s, STAGE("a", ",\"sortingLabelKey\":\"order\""));
        add_cluster(&s, "c1", "\"stage\":\"a\",\"order\":\"1\"", "Scheduled");
        add_cluster(&s, "c2", "\"stage\":\"a\",\"order\":\"2\"", "Scheduled");
        step(&s);
        s.clusters[0] =
                parse(&s, &member_cluster_kind,
                      "{\"metadata\":{\"name\":\"c1\",\"labels\":{\"stage\":\"a\",\"order\":\"3\"}}}");
        step(&s);
        assert_run_failed(&s,
                          PREFIX_ABORT "the `0` cluster in the `0` stage has changed, new: c2, existing: c1");
        ends(&s);
}

static void a_policy_that_disappears_is_waited_for_and_then_ends_the_run(void **state)
{
        static const char message[] = PREFIX_VALID "no latest policy snapshot found for placement /web";
        struct scene s;

        begin_usual(&s, "", "");
        step(&s);
        arrive(&s, "a1");
        s.in.policy_snapshots.n = 0;
        step(&s);
        assert_string_equal(s.plan.retry, message);
        assert_int_equal(s.plan.n_update, 0);
        s.waited_ms = UPDATE_RUN_GRACE_MS;
        step(&s);
        assert_int_equal(s.plan.n_update, 0);
        assert_run_failed(&s, message);
        ends(&s);
}

/* All clusters have been begun, and nobody reads it any more. */
static void a_snapshot_that_disappears_late_does_no_harm(void **state)
{
        struct scene s;

        begin(&s, STAGE("a", ",\"maxConcurrency\":2"));
        add_cluster(&s, "a1", "\"stage\":\"a\"", "Scheduled");
        add_cluster(&s, "a2", "\"stage\":\"a\"", "Scheduled");
        step(&s);
        lose_snapshot(&s);
        arrive(&s, "a1");
        arrive(&s, "a2");
        step(&s);
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        ends(&s);
}

/* Who empties the status has the run begin anew, and what is done is found to be. */
static void a_status_that_is_gone_is_made_again(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        step(&s);
        arrive(&s, "a1");
        step(&s);
        assert_string_equal(written(&s), "a2");
        arrive(&s, "a2");
        s.run->status = NULL;
        for (int i = 0; i < 3; i++) {
                step(&s);
                assert_true(s.plan.n_update == 0 || text_equal(written(&s), "b1"));
        }
        assert_string_equal(stage_says(&s, 0, "Succeeded"), "True StageUpdatingSucceeded");
        assert_string_equal(cluster_says(&s, "b1", "Started"), "True ClusterUpdatingStarted");
        ends(&s);
}

/* The scheduler may put it back on the same cluster. */
static void a_binding_that_was_evicted_is_waited_for(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.in.policy_snapshots.n = 0;
        add_policy(&s, 0, "\"placementType\":\"PickN\",\"numberOfClusters\":3", 3);
        step(&s);
        drop_binding(&s, "b1");
        step(&s);
        assert_non_null(s.plan.retry);
        assert_null(s.plan.wanted);
        add_cluster(&s, "b1", "\"stage\":\"b\"", "Scheduled");
        arrive(&s, "a1");
        step(&s);
        assert_string_equal(written(&s), "a2");
        ends(&s);
}

static void the_last_binding_may_go(void **state)
{
        struct scene s;

        begin(&s, STAGE("a", ""));
        add_cluster(&s, "z0", "", "Unscheduled");
        step(&s);
        step(&s);
        drop_binding(&s, "z0");
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        ends(&s);
}

/* In any stage, the first and the only one included. */
static void a_snapshot_is_needed_as_long_as_a_cluster_waits_for_it(void **state)
{
        for (int n = 1; n <= 2; n++) {
                struct scene s;

                begin(&s, n == 1 ? STAGE("a", "") : STAGE("a", "") "," STAGE("b", ""));
                add_cluster(&s, "a1", "\"stage\":\"a\"", "Scheduled");
                add_cluster(&s, n == 1 ? "a2" : "b1", n == 1 ? "\"stage\":\"a\"" : "\"stage\":\"b\"",
                            "Scheduled");
                step(&s);
                lose_snapshot(&s);
                step(&s);
                assert_run_failed(&s, PREFIX_VALID PREFIX_USER
                                  "no resourceSnapshots with index `0` found for placement `/web`");
                ends(&s);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_the_run_was_made_for_must_still_hold),
                cmocka_unit_test(a_changed_order_ends_the_run),
                cmocka_unit_test(a_policy_that_disappears_is_waited_for_and_then_ends_the_run),
                cmocka_unit_test(a_snapshot_that_disappears_late_does_no_harm),
                cmocka_unit_test(a_status_that_is_gone_is_made_again),
                cmocka_unit_test(a_binding_that_was_evicted_is_waited_for),
                cmocka_unit_test(the_last_binding_may_go),
                cmocka_unit_test(a_snapshot_is_needed_as_long_as_a_cluster_waits_for_it),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
