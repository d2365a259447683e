/* Stopping a run, and letting it go on. */
#include "hub-agent/staged-update/update_run_test.h"

/* spec/staged-update-and-eviction.md checklist 37 */
static void what_is_under_way_is_finished_and_nothing_new_begins(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        step(&s);
        set_state(&s, "Stop");
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "Unknown UpdateRunStopping");
        assert_string_equal(stage_says(&s, 0, "Progressing"), "Unknown StageUpdatingStopping");
        assert_int_equal(s.plan.n_update, 0);
        assert_int_equal(s.plan.after_ms, UPDATE_RUN_CLUSTER_POLL_MS);
        arrive(&s, "a1");
        step(&s);
        assert_string_equal(cluster_says(&s, "a1", "Succeeded"), "True ClusterUpdatingSucceeded");
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStopped");
        assert_string_equal(run_message(&s, "Progressing"), "The update run has been stopped");
        assert_string_equal(stage_says(&s, 0, "Progressing"), "False StageUpdatingStopped");
        assert_int_equal(s.plan.n_update, 0);
        assert_int_equal(s.plan.after_ms, NO_WAKE_UP);
        set_state(&s, "Run");
        step(&s);
        assert_string_equal(written(&s), "a2");
        assert_string_equal(stage_says(&s, 0, "Progressing"), "True StageUpdatingStarted");
        assert_string_equal(run_says(&s, "Progressing"), "True UpdateRunProgressing");
        ends(&s);
}

static void a_run_that_begins_stopped_begins_nothing(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.run->spec->state = "Stop";
        step(&s);
        assert_string_equal(run_says(&s, "Initialized"), "True UpdateRunInitializedSuccessfully");
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStopped");
        assert_int_equal(s.plan.n_update, 0);
        set_state(&s, "Run");
        step(&s);
        assert_string_equal(written(&s), "a1");
        ends(&s);
}

static void a_stage_that_is_stopped_may_be_stuck(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        step(&s);
        set_state(&s, "Stop");
        s.now_ms += UPDATE_RUN_STUCK_MS + 1;
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStuck");
        assert_non_null(strstr(run_message(&s, "Progressing"), "for a1 cluster(s) in stage a"));
        ends(&s);
}

static void whoever_takes_a_cluster_over_does_not_end_a_run_that_stops(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        step(&s);
        set_state(&s, "Stop");
        binding_of(&s, "a1")->spec->resource_snapshot_name = "web-1-snapshot";
        arrive(&s, "a1");
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStopped");
        ends(&s);
}

static void a_start_that_was_not_announced_is_announced_while_stopping(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.work_generator_is_late = true;
        step(&s);
        set_state(&s, "Stop");
        step(&s);
        assert_int_equal(s.plan.started.n, 1);
        ends(&s);
}

/* The agent ended when it had written the binding, and the user stopped the run before the next one came.
 * spec/staged-update-and-eviction.md checklist 31 */
static void what_was_begun_and_not_written_down_comes_to_its_end_before_the_run_has_stopped(void **state)
{
        struct update_run *said;
        struct scene s;

        begin_usual(&s, "", "");
        s.work_generator_is_late = true;
        pass_over(&s);
        said = s.run;
        pass_over(&s);
        assert_string_equal(written(&s), "a1");
        s.run = said; /* the status was lost, and RolloutStarted */
        set_state(&s, "Stop");
        s.work_generator_is_late = false;
        step(&s);
        assert_int_equal(s.plan.n_update, 0);
        assert_int_equal(s.plan.started.n, 1);
        assert_string_equal(s.plan.started.at[0]->spec->target_cluster, "a1");
        assert_string_equal(cluster_says(&s, "a1", "Started"), "True ClusterUpdatingStarted");
        assert_string_equal(run_says(&s, "Progressing"), "Unknown UpdateRunStopping");
        assert_int_equal(stage(&s, 0)->start_time, NOW);
        step(&s);
        assert_int_equal(s.plan.started.n, 0);
        arrive(&s, "a1");
        step(&s);
        assert_string_equal(cluster_says(&s, "a1", "Succeeded"), "True ClusterUpdatingSucceeded");
        assert_string_equal(cluster_says(&s, "a2", "Started"), "absent");
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStopped");
        ends(&s);
}

/* The same behind an approval: its request was accepted before anything began, and the run says so with the
 * rest. spec/staged-update-and-eviction.md 6.2 */
static void what_was_begun_with_an_approval_is_written_down_with_it(void **state)
{
        const struct stage_task_status *task;
        struct update_run *said;
        struct scene s;

        begin_usual(&s, APPROVAL("before"), "");
        step(&s);
        said = s.run;
        approve(&s, "run-before-a");
        s.work_generator_is_late = true;
        pass_over(&s);
        assert_string_equal(written(&s), "a1");
        s.run = said; /* the status was lost: the run had been stopped a moment before */
        set_state(&s, "Stop");
        s.work_generator_is_late = false;
        step(&s);
        task = &stage(&s, 0)->before_stage_task_status.at[0];
        assert_string_equal(cluster_says(&s, "a1", "Started"), "True ClusterUpdatingStarted");
        assert_string_equal(says(&s, &task->conditions, "ApprovalRequestApproved"),
                            "True StageTaskApprovalRequestApproved");
        assert_string_equal(run_says(&s, "Progressing"), "Unknown UpdateRunStopping");
        assert_int_equal(s.plan.n_approvals, 0);
        arrive(&s, "a1");
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStopped");
        ends(&s);
}

/* What the run says of an approval holds, though somebody deleted the request since.
 * spec/staged-update-and-eviction.md 6.2 */
static void what_was_begun_behind_an_approval_is_found_without_its_request(void **state)
{
        struct update_run *said;
        struct scene s;

        begin_usual(&s, APPROVAL("before"), "");
        step(&s);
        approve(&s, "run-before-a");
        step(&s);
        arrive(&s, "a1");
        s.work_generator_is_late = true;
        said = s.run;
        pass_over(&s);
        assert_string_equal(written(&s), "a2");
        s.run = said;
        s.n_requests = 0;
        set_state(&s, "Stop");
        s.work_generator_is_late = false;
        step(&s);
        assert_string_equal(cluster_says(&s, "a2", "Started"), "True ClusterUpdatingStarted");
        assert_string_equal(run_says(&s, "Progressing"), "Unknown UpdateRunStopping");
        ends(&s);
}

/* spec/staged-update-and-eviction.md 7.5: it is accepted when the run goes on */
static void an_approval_of_a_run_that_is_stopped_waits_for_it(void **state)
{
        const struct stage_task_status *task;
        struct scene s;

        begin_usual(&s, APPROVAL("before"), "");
        step(&s);
        set_state(&s, "Stop");
        approve(&s, "run-before-a");
        step(&s);
        task = &stage(&s, 0)->before_stage_task_status.at[0];
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStopped");
        assert_string_equal(says(&s, &task->conditions, "ApprovalRequestApproved"), "absent");
        assert_int_equal(s.plan.n_approvals, 0);
        set_state(&s, "Run");
        step(&s);
        assert_string_equal(written(&s), "a1");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 39 */
static void in_the_deletion_stage_those_that_go_are_waited_for(void **state)
{
        struct stage_status *last;
        struct scene s;

        begin(&s, STAGE("a", ""));
        add_cluster(&s, "z0", "", "Unscheduled");
        add_cluster(&s, "z1", "", "Unscheduled");
        step(&s); /* the empty stage */
        set_state(&s, "Stop");
        binding_of(&s, "z0")->object.meta.deletion_ms = NOW; /* by a pass whose status was lost */
        step(&s);
        assert_int_equal(s.plan.remove.n, 0);
        assert_string_equal(run_says(&s, "Progressing"), "Unknown UpdateRunStopping");
        assert_int_equal(s.plan.after_ms, UPDATE_RUN_CLUSTER_POLL_MS);
        drop_binding(&s, "z0");
        step(&s);
        last = s.run->status->deletion_stage_status;
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStopped");
        assert_string_equal(says(&s, &last->conditions, "Progressing"), "False StageUpdatingStopped");
        assert_string_equal(says(&s, &last->clusters.at[1].conditions, "Started"), "absent");
        assert_int_equal(s.plan.after_ms, NO_WAKE_UP);
        set_state(&s, "Run");
        step(&s);
        assert_int_equal(s.plan.remove.n, 1);
        ends(&s);
}

/* What was asked for and is not seen yet was lost: it is asked for again, and waited for. */
static void a_deletion_that_was_lost_is_asked_for_again_while_stopping(void **state)
{
        struct scene s;

        begin(&s, STAGE("a", ""));
        add_cluster(&s, "z0", "", "Unscheduled");
        add_cluster(&s, "z1", "", "Unscheduled");
        step(&s); /* the empty stage */
        step(&s);
        assert_int_equal(s.plan.remove.n, 2);
        binding_of(&s, "z0")->object.meta.deletion_ms = TIME_NONE;
        drop_binding(&s, "z1");
        set_state(&s, "Stop");
        step(&s);
        assert_int_equal(s.plan.remove.n, 1);
        assert_string_equal(run_says(&s, "Progressing"), "Unknown UpdateRunStopping");
        drop_binding(&s, "z0");
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStopped");
        ends(&s);
}

/* Whose start was taken back is another's business, also for a run that stops. */
static void a_start_that_was_taken_back_is_not_announced_while_stopping(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        step(&s);
        set_binding_condition(&s, binding_of(&s, "a1"), "RolloutStarted", "False", "R");
        set_state(&s, "Stop");
        step(&s);
        assert_int_equal(s.plan.started.n, 0);
        ends(&s);
        begin_usual(&s, "", "");
        s.work_generator_is_late = true;
        step(&s);
        binding_of(&s, "a1")->spec->state = "Scheduled";
        set_state(&s, "Stop");
        step(&s);
        assert_int_equal(s.plan.started.n, 0);
        ends(&s);
        begin_usual(&s, "", "");
        s.work_generator_is_late = true;
        step(&s);
        binding_of(&s, "a1")->spec->resource_snapshot_name = "web-9-snapshot";
        set_state(&s, "Stop");
        step(&s);
        assert_int_equal(s.plan.started.n, 0);
        ends(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_is_under_way_is_finished_and_nothing_new_begins),
                cmocka_unit_test(a_run_that_begins_stopped_begins_nothing),
                cmocka_unit_test(a_stage_that_is_stopped_may_be_stuck),
                cmocka_unit_test(whoever_takes_a_cluster_over_does_not_end_a_run_that_stops),
                cmocka_unit_test(a_start_that_was_not_announced_is_announced_while_stopping),
                cmocka_unit_test(
                        what_was_begun_and_not_written_down_comes_to_its_end_before_the_run_has_stopped),
                cmocka_unit_test(what_was_begun_with_an_approval_is_written_down_with_it),
                cmocka_unit_test(what_was_begun_behind_an_approval_is_found_without_its_request),
                cmocka_unit_test(an_approval_of_a_run_that_is_stopped_waits_for_it),
                cmocka_unit_test(in_the_deletion_stage_those_that_go_are_waited_for),
                cmocka_unit_test(a_deletion_that_was_lost_is_asked_for_again_while_stopping),
                cmocka_unit_test(a_start_that_was_taken_back_is_not_announced_while_stopping),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
