/* A run from stage to stage, its last stage, and what it says about itself. */
#include "hub-agent/staged-update/update_run_test.h"

static void finish(struct scene *s, const char *cluster)
{
        arrive(s, cluster);
        step(s);
}

/* spec/staged-update-and-eviction.md checklist 34 */
static void stages_come_one_after_the_other_and_the_deletion_stage_last(void **state)
{
        struct stage_status *last;
        struct scene s;

        begin_usual(&s, APPROVAL("after"), "");
        add_cluster(&s, "z1", "", "Unscheduled");
        step(&s);
        finish(&s, "a1");
        finish(&s, "a2");
        assert_int_equal(s.plan.n_update, 0);
        approve(&s, "run-after-a");
        step(&s);
        assert_string_equal(stage_says(&s, 0, "Succeeded"), "True StageUpdatingSucceeded");
        assert_string_equal(stage_says(&s, 0, "Progressing"), "False StageUpdatingSucceeded");
        assert_int_equal(s.plan.n_update, 0); /* first it is written down */
        assert_int_equal(s.plan.after_ms, 0);
        step(&s);
        assert_string_equal(written(&s), "b1");
        assert_int_equal(s.plan.remove.n, 0);
        finish(&s, "b1");
        assert_int_equal(s.plan.remove.n, 0);
        step(&s);
        assert_int_equal(s.plan.remove.n, 1);
        last = s.run->status->deletion_stage_status;
        assert_string_equal(says(&s, &last->conditions, "Progressing"), "True StageUpdatingStarted");
        drop_binding(&s, "z1");
        step(&s);
        last = s.run->status->deletion_stage_status;
        assert_string_equal(says(&s, &last->conditions, "Succeeded"), "True StageUpdatingSucceeded");
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        assert_string_equal(run_message(&s, "Succeeded"), "All stages are completed successfully");
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunSucceeded");
        assert_string_equal(run_message(&s, "Progressing"), "All stages are completed");
        assert_int_equal(s.plan.after_ms, NO_WAKE_UP);
        ends(&s);
}

static void a_run_that_ended_is_left_as_it_is(void **state)
{
        struct scene s;

        begin(&s, STAGE("a", ""));
        add_cluster(&s, "a1", "\"stage\":\"a\"", "Scheduled");
        step(&s);
        finish(&s, "a1");
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        set_state(&s, "Stop");
        s.in.bindings.n = 0;
        plan(&s);
        assert_null(s.plan.wanted);
        assert_int_equal(s.plan.after_ms, NO_WAKE_UP);
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 32 */
static void an_empty_stage_is_skipped_with_its_tasks(void **state)
{
        struct scene s;

        begin(&s, STAGE("x", APPROVAL("before") APPROVAL("after")) "," STAGE("a", ""));
        add_cluster(&s, "a1", "\"stage\":\"a\"", "Scheduled");
        step(&s);
        assert_string_equal(stage_says(&s, 0, "Progressing"), "False StageUpdatingSkippedNoClusters");
        assert_string_equal(stage_says(&s, 0, "Succeeded"), "True StageUpdatingSkippedNoClusters");
        assert_string_equal(condition_find(&stage(&s, 0)->conditions, "Succeeded")->message,
                            "Stage skipped because it has no clusters");
        assert_int_equal(stage(&s, 0)->start_time, NOW);
        assert_int_equal(stage(&s, 0)->end_time, NOW);
        assert_int_equal(stage(&s, 0)->before_stage_task_status.at[0].conditions.n, 0);
        assert_int_equal(stage(&s, 0)->after_stage_task_status.at[0].conditions.n, 0);
        assert_int_equal(s.n_requests, 0);
        assert_int_equal(s.plan.after_ms, 0);
        step(&s);
        assert_string_equal(written(&s), "a1");
        ends(&s);
}

static void a_binding_that_went_by_itself_counts_as_removed(void **state)
{
        const struct condition_list *l;
        struct scene s;

        begin(&s, STAGE("a", ""));
        add_cluster(&s, "z0", "", "Unscheduled");
        step(&s);
        drop_binding(&s, "z0");
        step(&s);
        l = &s.run->status->deletion_stage_status->clusters.at[0].conditions;
        assert_string_equal(says(&s, l, "Started"), "True ClusterUpdatingStarted");
        assert_string_equal(says(&s, l, "Succeeded"), "True ClusterUpdatingSucceeded");
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        ends(&s);
}

/* Somebody took its last condition away. */
static void a_run_whose_stages_all_are_over_has_succeeded(void **state)
{
        struct scene s;

        begin(&s, STAGE("a", ""));
        add_cluster(&s, "a1", "\"stage\":\"a\"", "Scheduled");
        step(&s);
        finish(&s, "a1");
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        s.run->status->conditions.n--;
        assert_string_equal(run_says(&s, "Succeeded"), "absent");
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        s.run->status->conditions.n--;
        set_state(&s, "Initialize"); /* whatever somebody wrote since */
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 35 */
static void the_deletion_stage_deletes_all_at_once_and_waits_until_they_are_gone(void **state)
{
        struct stage_status *last;
        struct scene s;

        begin(&s, STAGE("a", ""));
        for (int i = 0; i < 3; i++)
                add_cluster(&s, (char[]){ 'z', '0' + (char)i, '\0' }, "", "Unscheduled");
        step(&s); /* the empty stage */
        step(&s);
        assert_int_equal(s.plan.remove.n, 3);
        assert_int_equal(s.plan.after_ms, UPDATE_RUN_CLUSTER_POLL_MS);
        step(&s);
        assert_int_equal(s.plan.remove.n, 0);
        drop_binding(&s, "z1");
        step(&s);
        last = s.run->status->deletion_stage_status;
        assert_string_equal(says(&s, &last->clusters.at[0].conditions, "Started"),
                            "True ClusterUpdatingStarted");
        assert_string_equal(says(&s, &last->clusters.at[0].conditions, "Succeeded"), "absent");
        assert_string_equal(says(&s, &last->clusters.at[1].conditions, "Succeeded"),
                            "True ClusterUpdatingSucceeded");
        drop_binding(&s, "z0");
        drop_binding(&s, "z2");
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        ends(&s);
}

static void a_deletion_that_was_lost_is_asked_for_again(void **state)
{
        struct scene s;

        begin(&s, STAGE("a", ""));
        add_cluster(&s, "z0", "", "Unscheduled");
        step(&s);
        step(&s);
        binding_of(&s, "z0")->object.meta.deletion_ms = TIME_NONE;
        step(&s);
        assert_int_equal(s.plan.remove.n, 1);
        ends(&s);
}

static void a_deleted_cluster_that_has_a_binding_again_ends_the_run(void **state)
{
        struct scene s;

        begin(&s, STAGE("a", ""));
        add_cluster(&s, "z0", "", "Unscheduled");
        add_cluster(&s, "z1", "", "Unscheduled");
        step(&s);
        step(&s);
        drop_binding(&s, "z0");
        step(&s);
        add_cluster(&s, "z0", "", "Unscheduled");
        step(&s);
        assert_run_failed(
                &s, PREFIX_ABORT PREFIX_UNEXPECTED
                "the deleted cluster `z0` in the deleting stage still has a binding during execution");
        assert_string_equal(says(&s, &s.run->status->deletion_stage_status->conditions, "Succeeded"),
                            "False StageUpdatingFailed");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 40 */
static void a_new_state_takes_all_conditions_along(void **state)
{
        struct scene s;

        begin_usual(&s, APPROVAL("before") WAIT("1h"), "");
        step(&s);
        approve(&s, "run-before-a");
        step(&s);
        set_state(&s, "Stop");
        step(&s);
        assert_string_equal(run_says(&s, "Initialized"), "True UpdateRunInitializedSuccessfully");
        assert_string_equal(run_says(&s, "Progressing"), "Unknown UpdateRunStopping");
        assert_string_equal(stage_says(&s, 0, "Progressing"), "Unknown StageUpdatingStopping");
        assert_string_equal(cluster_says(&s, "a1", "Started"), "True ClusterUpdatingStarted");
        assert_string_equal(
                says(&s, &stage(&s, 0)->before_stage_task_status.at[0].conditions, "ApprovalRequestApproved"),
                "True StageTaskApprovalRequestApproved");
        assert_string_equal(
                says(&s, &stage(&s, 0)->before_stage_task_status.at[0].conditions, "ApprovalRequestCreated"),
                "True StageTaskApprovalRequestCreated");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 42 */
static void a_reading_tells_the_first_condition_that_is_current(void **state)
{
        static const struct {
                const char *conditions, *expected;
        } rows[] = {
                { "I True X \"\"", "Run Initialized True X none" },
                { "I True X \"\",P True UpdateRunProgressing \"\"",
                  "Run Progressing True UpdateRunProgressing none" },
                { "P False UpdateRunStuck \"\"", "Run Progressing False UpdateRunStuck internal_error" },
                { "P False UpdateRunWaiting \"\"", "Run Progressing False UpdateRunWaiting none" },
                { "P False UpdateRunStopped \"\"", "Run Progressing False UpdateRunStopped none" },
                { "P False UpdateRunFailed \"\",S False UpdateRunFailed \"x: failed to process the request "
                  "due "
                  "to a client error: y\"",
                  "Run Succeeded False UpdateRunFailed user_error" },
                { "S False UpdateRunFailed \"something else\"",
                  "Run Succeeded False UpdateRunFailed internal_error" },
                { "I False UpdateRunInitializedFailed \"failed to process the request due to a client "
                  "error\"",
                  "Run Initialized False UpdateRunInitializedFailed user_error" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct update_run_reading r;
                char text[256];
                struct scene s;

                begin_usual(&s, "", "");
                s.run->status = ARENA_NEW(&s.arena, struct update_run_status);
                for (const char *at = rows[i].conditions; *at;) {
                        char status[16], reason[64], message[128] = "";
                        struct condition c;
                        int used = 0;

                        assert_true(sscanf(at + 1, " %15s %63s \"%127[^\"]", status, reason, message) >= 2);
                        c = make_condition(*at == 'I'   ? "Initialized"
                                           : *at == 'P' ? "Progressing"
                                                        : "Succeeded",
                                           arena_strdup(&s.arena, status), arena_strdup(&s.arena, reason),
                                           arena_strdup(&s.arena, message), 1);
                        assert_int_equal(condition_set(&s.run->status->conditions, &c, NOW, &s.arena), 1);
                        at = strchr(strchr(at, '"') + 1, '"') + 1;
                        used = *at == ',';
                        at += used;
                }
                assert_true(update_run_reading(s.run, &r));
                snprintf(text, sizeof(text), "%s %s %s %s %s", r.state, r.condition, r.status, r.reason,
                         r.failure_type);
                assert_string_equal(text, rows[i].expected);
                s.run->object.meta.generation = 2;
                assert_false(update_run_reading(s.run, &r));
                ends(&s);
        }
}

static void the_time_a_stage_took_is_measured_once(void **state)
{
        struct scene s;

        begin_usual(&s, WAIT("1m"), "");
        step(&s);
        s.now_ms += 5000;
        finish(&s, "a1");
        s.now_ms += 5000;
        finish(&s, "a2");
        assert_int_equal(s.plan.n_measured, 1);
        assert_int_equal(s.plan.measured[0].kind, MEASURED_STAGE);
        assert_int_equal(s.plan.measured[0].ms, 10000);
        step(&s);
        assert_int_equal(s.plan.n_measured, 0);
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 60 */
static void two_runs_may_follow_each_other_from_stage_to_stage(void **state)
{
        struct update_run *first, *second;
        struct scene s;

        begin_usual(&s, "", "");
        add_snapshot(&s, 1, true);
        step(&s);
        finish(&s, "a1");
        finish(&s, "a2");
        step(&s); /* b1 is under way */
        first = s.run;
        set_run(&s, "1", "");
        step(&s);
        finish(&s, "a1");
        assert_string_equal(binding_of(&s, "a1")->spec->resource_snapshot_name, "web-1-snapshot");
        second = s.run;
        s.run = first; /* what it has finished does not concern it any more */
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "absent");
        first = s.run;
        s.run = second;
        finish(&s, "a2");
        step(&s);
        assert_string_equal(written(&s), "b1");
        s.run = first; /* which had started b1 and not seen it finish */
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "False UpdateRunFailed");
        assert_non_null(strstr(run_message(&s, "Succeeded"), "see if there is a concurrent updateRun"));
        ends(&s);
}

static void two_runs_of_one_snapshot_do_not_disturb_each_other(void **state)
{
        struct update_run *first;
        struct scene s;

        begin_usual(&s, "", "");
        step(&s);
        first = s.run;
        set_run(&s, "0", "");
        step(&s);
        finish(&s, "a1");
        s.run = first;
        step(&s);
        assert_string_equal(cluster_says(&s, "a1", "Succeeded"), "True ClusterUpdatingSucceeded");
        ends(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(stages_come_one_after_the_other_and_the_deletion_stage_last),
                cmocka_unit_test(a_run_that_ended_is_left_as_it_is),
                cmocka_unit_test(an_empty_stage_is_skipped_with_its_tasks),
                cmocka_unit_test(a_binding_that_went_by_itself_counts_as_removed),
                cmocka_unit_test(a_run_whose_stages_all_are_over_has_succeeded),
                cmocka_unit_test(the_deletion_stage_deletes_all_at_once_and_waits_until_they_are_gone),
                cmocka_unit_test(a_deletion_that_was_lost_is_asked_for_again),
                cmocka_unit_test(a_deleted_cluster_that_has_a_binding_again_ends_the_run),
                cmocka_unit_test(a_new_state_takes_all_conditions_along),
                cmocka_unit_test(a_reading_tells_the_first_condition_that_is_current),
                cmocka_unit_test(the_time_a_stage_took_is_measured_once),
                cmocka_unit_test(two_runs_may_follow_each_other_from_stage_to_stage),
                cmocka_unit_test(two_runs_of_one_snapshot_do_not_disturb_each_other),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
