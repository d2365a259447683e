/* What a run announces before it ends or is deleted: what it began, and nobody else would know of. */
#include "hub-agent/staged-update/update_run_test.h"

static void change_snapshot(struct scene *s, struct binding *b)
{
        b->spec->resource_snapshot_name = "web-1-snapshot";
}

static void is_announced(struct scene *s, const char *cluster)
{
        set_binding_condition(s, binding_of(s, cluster), "RolloutStarted", "True", "R");
}

/* A crash may come between the two writes, and nobody else would finish what the run began. */
static void a_run_ends_when_what_it_began_is_announced(void **state)
{
        struct scene s;

        begin_usual(&s, ",\"maxConcurrency\":2", "");
        s.work_generator_is_late = true;
        step(&s);
        change_snapshot(&s, binding_of(&s, "a1"));
        step(&s);
        assert_non_null(s.plan.retry);
        assert_null(s.plan.wanted);
        assert_int_equal(s.plan.confirm.n, 0);
        assert_int_equal(s.plan.started.n, 1);
        assert_ptr_equal(s.plan.started.at[0], binding_of(&s, "a2"));
        s.waited_ms = UPDATE_RUN_GRACE_MS;
        plan(&s);
        assert_null(s.plan.retry); /* it is not for ever */
        s.waited_ms = 0;
        is_announced(&s, "a2");
        step(&s);
        assert_null(s.plan.retry);
        assert_int_equal(s.plan.started.n, 0);
        assert_string_equal(run_says(&s, "Succeeded"), "False UpdateRunFailed");
        ends(&s);
}

/* The placement, too, may end it. */
static void a_run_whose_ground_is_gone_announces_what_it_began(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.work_generator_is_late = true;
        step(&s);
        set_placement(&s, "\"type\":\"RollingUpdate\"");
        step(&s);
        assert_non_null(s.plan.retry);
        assert_int_equal(s.plan.started.n, 1);
        is_announced(&s, "a1");
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "False UpdateRunFailed");
        ends(&s);
}

/* Who had not heard yet that runs roll the placement out brought the cluster to the snapshot. */
static struct binding *bring(struct scene *s, const char *cluster)
{
        struct binding *b = binding_of(s, cluster);

        b->spec->state = "Bound";
        b->spec->resource_snapshot_name = "web-0-snapshot";
        b->spec->apply_strategy = s->run->status->applied_strategy;
        return b;
}

static void a_run_that_ends_announces_nothing_beyond_its_turn(void **state)
{
        struct scene s;
        struct binding *a1, *a2;

        begin_usual(&s, "", "");
        s.work_generator_is_late = true;
        step(&s);
        a1 = binding_of(&s, "a1");
        a2 = bring(&s, "a2");
        set_placement(&s, "\"type\":\"RollingUpdate\"");
        plan(&s);
        assert_int_equal(s.plan.started.n, 1);
        assert_ptr_equal(s.plan.started.at[0], a1);
        is_announced(&s, "a1");
        plan(&s);
        assert_int_equal(s.plan.started.n, 0);
        arrive(&s, "a1"); /* from here on it may have begun a2, and not come to write that down */
        plan(&s);
        assert_int_equal(s.plan.started.n, 1);
        assert_ptr_equal(s.plan.started.at[0], a2);
        ends(&s);
}

static void is_deleted(struct scene *s)
{
        s->run->object.meta.deletion_ms = s->now_ms;
        plan(s);
}

/* Of stage a all is there, and what comes after it is not over. */
static void a_run_that_ends_announces_nothing_of_the_stages_to_come(void **state)
{
        static const char *const after[] = { WAIT("1h"), APPROVAL("after") };

        for (size_t i = 0; i < ARRAY_LEN(after); i++) {
                struct scene s;

                begin_usual(&s, after[i], "");
                for (int k = 0; k < 3; k++) {
                        step(&s);
                        arrive(&s, k ? "a2" : "a1");
                }
                assert_string_equal(stage_says(&s, 0, "Progressing"), "False StageUpdatingWaiting");
                bring(&s, "b1");
                is_deleted(&s);
                assert_int_equal(s.plan.started.n, 0);
                assert_null(s.plan.retry);
                ends(&s);
        }
}

static void a_run_that_ends_announces_nothing_of_a_stage_that_is_not_approved(void **state)
{
        struct scene s;
        struct binding *a1;

        begin_usual(&s, APPROVAL("before"), "");
        step(&s);
        step(&s);
        a1 = bring(&s, "a1");
        is_deleted(&s);
        assert_int_equal(s.plan.started.n, 0);
        approve(&s, "run-before-a"); /* of which the run took no notice */
        plan(&s);
        assert_int_equal(s.plan.started.n, 0);
        set_approval_condition(&s, "run-before-a", "ApprovalAccepted");
        plan(&s); /* and here it may have, and not come to write down how it went on */
        assert_int_equal(s.plan.started.n, 1);
        assert_ptr_equal(s.plan.started.at[0], a1);
        ends(&s);
}

static void a_run_that_was_only_to_be_initialized_announces_nothing(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.run->spec->state = "Initialize";
        step(&s);
        bring(&s, "a1");
        is_deleted(&s);
        assert_int_equal(s.plan.started.n, 0);
        s.run->spec->state = "Run";
        plan(&s);
        assert_int_equal(s.plan.started.n, 1);
        ends(&s);
}

/* Another run brings the same, and is about to say so. */
static void a_run_that_ends_announces_nothing_that_another_one_does(void **state)
{
        static const char *const words = "Detected the new changes on the resources and started the rollout "
                                         "process, resourceSnapshotIndex: 0, updateRun: ";
        struct scene s;

        begin_usual(&s, "", "");
        s.work_generator_is_late = true;
        step(&s);
        s.announcement = arena_printf(&s.arena, "%sother", words);
        is_deleted(&s);
        assert_int_equal(s.plan.started.n, 0);
        assert_null(s.plan.retry);
        s.announcement = arena_printf(&s.arena, "%srun", words);
        plan(&s);
        assert_int_equal(s.plan.started.n, 1);
        assert_non_null(s.plan.retry);
        ends(&s);
}

static void a_deleted_run_announces_what_it_began_and_no_more(void **state)
{
        struct scene s;

        begin_usual(&s, ",\"maxConcurrency\":2", "");
        s.work_generator_is_late = true;
        step(&s);
        is_announced(&s, "a2");
        s.run->object.meta.deletion_ms = s.now_ms;
        plan(&s);
        assert_non_null(s.plan.retry);
        assert_int_equal(s.plan.started.n, 1);
        assert_int_equal(s.plan.n_update + s.plan.n_approvals + s.plan.remove.n, 0);
        is_announced(&s, "a1");
        plan(&s);
        assert_null(s.plan.retry);
        assert_null(s.plan.wanted);
        assert_int_equal(s.plan.started.n + s.plan.n_update, 0);
        ends(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_run_ends_when_what_it_began_is_announced),
                cmocka_unit_test(a_run_whose_ground_is_gone_announces_what_it_began),
                cmocka_unit_test(a_run_that_ends_announces_nothing_beyond_its_turn),
                cmocka_unit_test(a_run_that_ends_announces_nothing_of_the_stages_to_come),
                cmocka_unit_test(a_run_that_ends_announces_nothing_of_a_stage_that_is_not_approved),
                cmocka_unit_test(a_run_that_was_only_to_be_initialized_announces_nothing),
                cmocka_unit_test(a_run_that_ends_announces_nothing_that_another_one_does),
                cmocka_unit_test(a_deleted_run_announces_what_it_began_and_no_more),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
