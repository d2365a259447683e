/* Approvals and waits around a stage. */
#include "hub-agent/staged-update/update_run_test.h"

static const char *task_says(struct scene *s, const struct stage_task_status *t, const char *type)
{
        return says(s, &t->conditions, type);
}

static const struct stage_task_status *before(struct scene *s, size_t i)
{
        return &stage(s, i)->before_stage_task_status.at[0];
}

static const struct stage_task_status *after(struct scene *s, size_t i, size_t task)
{
        return &stage(s, i)->after_stage_task_status.at[task];
}

/* spec/staged-update-and-eviction.md checklist 22 */
static void a_stage_waits_for_the_approval_before_it(void **state)
{
        struct scene s;

        begin_usual(&s, APPROVAL("before"), "");
        step(&s);
        assert_int_equal(s.plan.n_update, 0);
        assert_true(stage(&s, 0)->start_time == TIME_NONE);
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunWaiting");
        assert_string_equal(run_message(&s, "Progressing"),
                            "The updateRun is waiting for before-stage tasks in stage a to complete");
        assert_string_equal(stage_says(&s, 0, "Progressing"), "False StageUpdatingWaiting");
        assert_string_equal(condition_find(&stage(&s, 0)->conditions, "Progressing")->message,
                            "Not all before-stage tasks are completed, waiting for approval");
        assert_string_equal(task_says(&s, before(&s, 0), "ApprovalRequestCreated"),
                            "True StageTaskApprovalRequestCreated");
        assert_int_equal(s.plan.after_ms, UPDATE_RUN_STAGE_POLL_MS);
        step(&s);
        assert_false(s.plan.urgent);
        assert_int_equal(s.plan.n_approvals, 0);
        approve(&s, "run-before-a");
        step(&s);
        assert_string_equal(written(&s), "a1");
        assert_int_equal(stage(&s, 0)->start_time, NOW);
        ends(&s);
}

static void finish_a(struct scene *s);

static void check_request(struct scene *s, const char *name, const char *task)
{
        const struct approval_request *r;

        find_request(s, name, &r);
        assert_non_null(r);
        assert_string_equal(r->spec->parent_stage_rollout, "run");
        assert_string_equal(r->spec->target_stage, "a");
        assert_ptr_equal(r->object.kind, &cluster_approval_request_kind);
        assert_int_equal(r->object.meta.labels.n, 4);
        assert_string_equal(label_of(&r->object, "kubernetes-fleet.io/targetUpdatingStage"), "a");
        assert_string_equal(label_of(&r->object, "kubernetes-fleet.io/targetUpdateRun"), "run");
        assert_string_equal(label_of(&r->object, "kubernetes-fleet.io/taskType"), task);
        assert_string_equal(label_of(&r->object, "kubernetes-fleet.io/isLatestUpdateRunApproval"), "true");
        assert_int_equal(r->object.meta.n_owners, 0);
}

/* spec/staged-update-and-eviction.md checklist 18; spec/api.md checklist 40 */
static void a_request_names_run_and_stage_and_has_four_labels(void **state)
{
        struct scene s;

        begin_usual(&s, APPROVAL("before"), "");
        step(&s);
        check_request(&s, "run-before-a", "beforeStage");
        ends(&s);
        begin_usual(&s, APPROVAL("after"), "");
        finish_a(&s);
        check_request(&s, "run-after-a", "afterStage");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 18 */
static void a_namespaced_run_asks_in_its_namespace(void **state)
{
        const struct approval_request *r;
        struct scene s;

        begin_usual(&s, APPROVAL("before"), "");
        s.run = parse_f(&s, &staged_update_run_kind,
                        "{\"metadata\":{\"name\":\"run\",\"namespace\":\"team\",\"generation\":1},\"spec\":{"
                        "\"placementName\":\"web\",\"stagedRolloutStrategyName\":\"slow\","
                        "\"resourceSnapshotIndex\":\"0\"}}");
        step(&s);
        find_request(&s, "run-before-a", &r);
        assert_ptr_equal(r->object.kind, &approval_request_kind);
        assert_string_equal(r->object.meta.ns, "team");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 23 */
static void only_an_approval_of_the_requests_generation_counts(void **state)
{
        const struct approval_request *r;
        struct condition *c;
        struct scene s;

        begin_usual(&s, APPROVAL("before"), "");
        step(&s);
        approve(&s, "run-before-a");
        find_request(&s, "run-before-a", &r);
        c = (struct condition *)condition_find(&r->status->conditions, "Approved");
        c->observed_generation = OPT_INT(2);
        step(&s);
        assert_int_equal(s.plan.n_update, 0);
        c->observed_generation = OPT_INT(1);
        c->status = "False";
        step(&s);
        assert_int_equal(s.plan.n_update, 0);
        c->status = "True";
        s.now_ms += 90000;
        step(&s);
        assert_string_equal(written(&s), "a1");
        assert_string_equal(task_says(&s, before(&s, 0), "ApprovalRequestApproved"),
                            "True StageTaskApprovalRequestApproved");
        assert_int_equal(s.plan.n_measured, 1);
        assert_int_equal(s.plan.measured[0].ms, 90000);
        assert_string_equal(s.plan.measured[0].task_type, "beforeStage");
        find_request(&s, "run-before-a", &r);
        assert_true(condition_is_true(&r->status->conditions, "ApprovalAccepted", 1));
        assert_string_equal(condition_find(&r->status->conditions, "ApprovalAccepted")->message,
                            "The approval request has been approved and cannot be reverted");
        assert_string_equal(condition_find(&r->status->conditions, "Approved")->reason, "lgtm");
        ends(&s);
}

/* Whoever writes a request's status by hand may write anything. */
static void conditions_that_are_not_true_approve_nothing(void **state)
{
        static const struct {
                const char *type, *status;
                int64_t generation;
        } rows[] = { { "Approved", "False", 1 },         { "Approved", "Unknown", 1 },
                     { "Approved", "true", 1 },          { "Approved", "", 1 },
                     { "Approved", "True", 0 },          { "Approved", "True", 7 },
                     { "ApprovalAccepted", "False", 1 }, { "ApprovalAccepted", "True", 0 },
                     { "approved", "True", 1 } };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct condition c =
                        make_condition(rows[i].type, rows[i].status, "lgtm", "", rows[i].generation);
                struct approval_request *r;
                struct scene s;

                begin_usual(&s, APPROVAL("before"), "");
                step(&s);
                r = s.requests[0];
                r->status = ARENA_NEW(&s.arena, struct approval_request_status);
                assert_true(condition_set(&r->status->conditions, &c, s.now_ms, &s.arena) >= 0);
                step(&s);
                assert_int_equal(s.plan.n_update + s.plan.n_approvals, 0);
                assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunWaiting");
                assert_string_equal(task_says(&s, before(&s, 0), "ApprovalRequestApproved"), "absent");
                ends(&s);
        }
}

/* spec/staged-update-and-eviction.md checklist 24 */
static void a_request_is_made_again_until_it_was_accepted(void **state)
{
        struct scene s;

        begin_usual(&s, APPROVAL("before"), "");
        step(&s);
        s.n_requests = 0;
        step(&s);
        assert_int_equal(s.n_requests, 1);
        approve(&s, "run-before-a");
        step(&s);
        s.n_requests = 0;
        step(&s);
        assert_int_equal(s.n_requests, 0);
        assert_string_equal(run_says(&s, "Progressing"), "True UpdateRunProgressing");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 25 */
static void an_approval_that_was_accepted_cannot_be_taken_back(void **state)
{
        const struct approval_request *r;
        struct update_run *waiting;
        struct scene s;

        begin_usual(&s, APPROVAL("before"), "");
        step(&s);
        waiting = s.run;
        approve(&s, "run-before-a");
        step(&s);
        find_request(&s, "run-before-a", &r);
        ((struct condition *)condition_find(&r->status->conditions, "Approved"))->status = "False";
        s.run = waiting; /* its status was not written */
        step(&s);
        assert_string_equal(task_says(&s, before(&s, 0), "ApprovalRequestApproved"),
                            "True StageTaskApprovalRequestApproved");
        assert_string_equal(cluster_says(&s, "a1", "Started"), "True ClusterUpdatingStarted");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 26 */
static void a_request_of_another_run_or_stage_ends_the_run(void **state)
{
        static const char *const rows[][2] = { { "other", "a" }, { "run", "b" } };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct scene s;

                begin_usual(&s, APPROVAL("before"), "");
                s.requests[s.n_requests++] =
                        parse_f(&s, &cluster_approval_request_kind,
                                "{\"metadata\":{\"name\":\"run-before-a\",\"generation\":1},\"spec\":{"
                                "\"parentStageRollout\":\"%s\",\"targetStage\":\"%s\"}}",
                                rows[i][0], rows[i][1]);
                step(&s);
                assert_run_failed(&s, arena_printf(&s.arena,
                                                   PREFIX_ABORT PREFIX_UNEXPECTED
                                                   "the approval request task `/run-before-a` is targeting "
                                                   "update run `/%s` and stage `%s`, want target update run "
                                                   "`/run` and stage `a`",
                                                   rows[i][0], rows[i][1]));
                assert_string_equal(stage_says(&s, 0, "Succeeded"), "False StageUpdatingFailed");
                assert_int_equal(s.plan.n_update, 0);
                ends(&s);
        }
}

static void finish_a(struct scene *s)
{
        step(s);
        arrive(s, "a1");
        step(s);
        arrive(s, "a2");
        step(s);
}

/* spec/staged-update-and-eviction.md checklist 33 */
static void the_wait_and_the_approval_run_side_by_side_and_both_count(void **state)
{
        struct scene s;

        begin_usual(&s,
                    ",\"afterStageTasks\":[{\"type\":\"TimedWait\",\"waitTime\":\"1m\"},{\"type\":"
                    "\"Approval\"}]",
                    "");
        step(&s);
        arrive(&s, "a1");
        step(&s);
        s.now_ms += 10000;
        arrive(&s, "a2");
        step(&s);
        assert_int_equal(s.n_requests, 1);
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunWaiting");
        assert_string_equal(run_message(&s, "Progressing"),
                            "The updateRun is waiting for after-stage tasks in stage a to complete");
        assert_string_equal(stage_says(&s, 0, "Progressing"), "False StageUpdatingWaiting");
        assert_int_equal(s.plan.after_ms, 60000);
        s.now_ms += 59999;
        approve(&s, "run-after-a");
        step(&s);
        assert_string_equal(task_says(&s, after(&s, 0, 1), "ApprovalRequestApproved"),
                            "True StageTaskApprovalRequestApproved");
        assert_string_equal(task_says(&s, after(&s, 0, 0), "WaitTimeElapsed"), "absent");
        assert_int_equal(s.plan.after_ms, 1);
        s.now_ms += 1;
        step(&s);
        assert_string_equal(task_says(&s, after(&s, 0, 0), "WaitTimeElapsed"),
                            "True AfterStageTaskWaitTimeElapsed");
        assert_string_equal(stage_says(&s, 0, "Succeeded"), "True StageUpdatingSucceeded");
        assert_int_equal(s.plan.after_ms, 0);
        ends(&s);
}

static void an_approval_that_comes_late_finds_the_wait_over(void **state)
{
        struct scene s;

        begin_usual(&s,
                    ",\"afterStageTasks\":[{\"type\":\"TimedWait\",\"waitTime\":\"1m\"},{\"type\":"
                    "\"Approval\"}]",
                    "");
        finish_a(&s);
        s.now_ms += 60000;
        step(&s);
        assert_string_equal(task_says(&s, after(&s, 0, 0), "WaitTimeElapsed"),
                            "True AfterStageTaskWaitTimeElapsed");
        assert_string_equal(stage_says(&s, 0, "Succeeded"), "absent");
        assert_int_equal(s.plan.after_ms, UPDATE_RUN_STAGE_POLL_MS);
        s.now_ms -= 3600000; /* a wait that is over stays so */
        step(&s);
        assert_int_equal(s.plan.after_ms, UPDATE_RUN_STAGE_POLL_MS);
        approve(&s, "run-after-a");
        step(&s);
        assert_string_equal(stage_says(&s, 0, "Succeeded"), "True StageUpdatingSucceeded");
        ends(&s);
}

/* Passes in between do not move the moment it counts from. */
static void polls_do_not_make_a_wait_longer(void **state)
{
        int64_t since;
        struct scene s;

        begin_usual(&s, WAIT("1m"), "");
        finish_a(&s);
        since = condition_find(&s.run->status->conditions, "Progressing")->last_transition_ms;
        for (int i = 0; i < 3; i++) {
                s.now_ms += 15000;
                step(&s);
                assert_int_equal(s.plan.after_ms, 45000 - i * 15000);
        }
        assert_int_equal(condition_find(&s.run->status->conditions, "Progressing")->last_transition_ms,
                         since);
        s.now_ms += 15000;
        step(&s);
        assert_string_equal(stage_says(&s, 0, "Succeeded"), "True StageUpdatingSucceeded");
        ends(&s);
}

static void a_clock_that_was_set_back_makes_a_wait_no_longer_than_it_is(void **state)
{
        struct scene s;

        begin_usual(&s, WAIT("1m"), "");
        finish_a(&s);
        s.now_ms -= 3600000;
        step(&s);
        assert_int_equal(s.plan.after_ms, 60000);
        s.ahead_ms = 60000;
        step(&s);
        assert_string_equal(stage_says(&s, 0, "Succeeded"), "True StageUpdatingSucceeded");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 38 */
static void being_stopped_does_not_make_a_wait_longer(void **state)
{
        struct scene s;

        begin_usual(&s, WAIT("1m"), "");
        finish_a(&s);
        set_state(&s, "Stop");
        s.now_ms += 30000;
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStopped");
        assert_int_equal(s.plan.after_ms, NO_WAKE_UP);
        set_state(&s, "Run");
        s.now_ms += 29999;
        step(&s);
        assert_int_equal(s.plan.after_ms, 1);
        s.now_ms += 1;
        step(&s);
        assert_string_equal(stage_says(&s, 0, "Succeeded"), "True StageUpdatingSucceeded");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 38 */
static void an_approval_given_to_a_stopped_run_counts_when_it_goes_on(void **state)
{
        const struct approval_request *r;
        struct scene s;

        begin_usual(&s, APPROVAL("before"), "");
        step(&s);
        set_state(&s, "Stop");
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStopped");
        assert_string_equal(stage_says(&s, 0, "Progressing"), "False StageUpdatingStopped");
        approve(&s, "run-before-a");
        step(&s);
        find_request(&s, "run-before-a", &r);
        assert_null(condition_find(&r->status->conditions, "ApprovalAccepted"));
        assert_int_equal(s.plan.n_update, 0);
        set_state(&s, "Run");
        step(&s);
        assert_string_equal(written(&s), "a1");
        ends(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_stage_waits_for_the_approval_before_it),
                cmocka_unit_test(a_request_names_run_and_stage_and_has_four_labels),
                cmocka_unit_test(a_namespaced_run_asks_in_its_namespace),
                cmocka_unit_test(only_an_approval_of_the_requests_generation_counts),
                cmocka_unit_test(conditions_that_are_not_true_approve_nothing),
                cmocka_unit_test(a_request_is_made_again_until_it_was_accepted),
                cmocka_unit_test(an_approval_that_was_accepted_cannot_be_taken_back),
                cmocka_unit_test(a_request_of_another_run_or_stage_ends_the_run),
                cmocka_unit_test(the_wait_and_the_approval_run_side_by_side_and_both_count),
                cmocka_unit_test(an_approval_that_comes_late_finds_the_wait_over),
                cmocka_unit_test(polls_do_not_make_a_wait_longer),
                cmocka_unit_test(a_clock_that_was_set_back_makes_a_wait_no_longer_than_it_is),
                cmocka_unit_test(being_stopped_does_not_make_a_wait_longer),
                cmocka_unit_test(an_approval_given_to_a_stopped_run_counts_when_it_goes_on),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
