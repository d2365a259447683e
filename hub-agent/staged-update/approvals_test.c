/* Approvals of a plan (not in the reference): shown on the request, approved for exactly that. */
#include "hub-agent/staged-update/update_run_test.h"

#define PLANNED(when) ",\"" when "StageTasks\":[{\"type\":\"Approval\",\"plan\":true}]"

static const struct approval_request *request(struct scene *s, const char *name)
{
        const struct approval_request *r;

        find_request(s, name, &r);
        assert_non_null(r);
        return r;
}

static void a_request_shows_the_plan_as_soon_as_it_is_there(void **state)
{
        struct scene s;

        begin_usual(&s, PLANNED("before"), "");
        step(&s);
        assert_int_equal(s.plan.after_ms, 0);
        step(&s);
        assert_string_equal(request(&s, "run-before-a")->status->plan_hash, "h1");
        assert_string_equal(request(&s, "run-before-a")->status->plan->resource_snapshot_index, "0");
        assert_string_equal(s.planned_stage, "a");
        assert_int_equal(s.plan.n_update, 0);
        step(&s);
        assert_int_equal(s.plan.n_approvals, 0);
        ends(&s);
}

static void with_an_approval_of_the_plan_shown_the_run_goes_on(void **state)
{
        static const char *const given[] = { NULL, "h1" };

        for (size_t i = 0; i < ARRAY_LEN(given); i++) {
                struct scene s;

                begin_usual(&s, PLANNED("before"), "");
                step(&s);
                step(&s);
                approve(&s, "run-before-a");
                request(&s, "run-before-a")->status->approved_plan_hash = given[i];
                step(&s);
                assert_string_equal(written(&s), "a1");
                assert_true(condition_is_true(&request(&s, "run-before-a")->status->conditions,
                                              "ApprovalAccepted", 1));
                ends(&s);
        }
}

static void assert_refused(struct scene *s, const char *given, const char *hash)
{
        const struct condition_list *l = &request(s, "run-before-a")->status->conditions;
        char words[256];

        snprintf(words, sizeof(words),
                 "the approval was given for plan %s, and what is planned now is %s: see status.plan, and "
                 "approve again",
                 given, hash);
        assert_true(condition_is_false(l, "ApprovalAccepted", 1));
        assert_true(condition_is_false(l, "Approved", 1));
        assert_string_equal(condition_find(l, "ApprovalAccepted")->message, words);
        assert_string_equal(condition_find(l, "ApprovalAccepted")->reason, "ApprovalOfAnotherPlan");
        assert_string_equal(request(s, "run-before-a")->status->plan_hash, hash);
        assert_null(request(s, "run-before-a")->status->approved_plan_hash);
        assert_int_equal(s->plan.n_update, 0);
}

static void an_approval_of_another_plan_is_refused_until_it_is_given_again(void **state)
{
        struct scene s;

        begin_usual(&s, PLANNED("before"), "");
        step(&s);
        step(&s);
        s.plan_hash = "h2"; /* it changes while somebody looks at it */
        approve(&s, "run-before-a");
        step(&s);
        assert_refused(&s, "h1", "h2");
        step(&s);
        assert_int_equal(s.plan.n_approvals, 0);
        approve(&s, "run-before-a");
        request(&s, "run-before-a")->status->approved_plan_hash = "h1"; /* still the old one */
        step(&s);
        assert_refused(&s, "h1", "h2");
        approve(&s, "run-before-a");
        step(&s);
        assert_string_equal(written(&s), "a1");
        assert_true(
                condition_is_true(&request(&s, "run-before-a")->status->conditions, "ApprovalAccepted", 1));
        ends(&s);
}

static void an_approval_before_there_was_a_plan_is_refused(void **state)
{
        struct scene s;

        begin_usual(&s, PLANNED("before"), "");
        step(&s);
        approve(&s, "run-before-a");
        step(&s);
        assert_refused(&s, "(none)", "h1");
        ends(&s);
}

static void a_plan_that_changes_while_nobody_answers_is_shown_anew(void **state)
{
        struct scene s;

        begin_usual(&s, PLANNED("before"), "");
        step(&s);
        step(&s);
        s.plan_hash = "h2";
        step(&s);
        assert_string_equal(request(&s, "run-before-a")->status->plan_hash, "h2");
        assert_int_equal(request(&s, "run-before-a")->status->conditions.n, 0);
        ends(&s);
}

static void finish(struct scene *s, const char *cluster)
{
        arrive(s, cluster);
        step(s);
}

static void after_a_stage_the_plan_is_that_of_the_next_one_and_at_last_of_the_removal(void **state)
{
        struct scene s;

        begin_usual(&s, PLANNED("after"), PLANNED("after"));
        add_cluster(&s, "z1", "", "Unscheduled");
        step(&s);
        finish(&s, "a1");
        finish(&s, "a2");
        step(&s);
        assert_string_equal(s.planned_stage, "b");
        assert_false(s.planned_removal);
        approve(&s, "run-after-a");
        step(&s);
        step(&s);
        finish(&s, "b1");
        step(&s);
        assert_string_equal(s.planned_stage, "kubernetes-fleet.io/deleteStage");
        assert_true(s.planned_removal);
        ends(&s);
}

static void a_task_that_asks_for_none_gets_none(void **state)
{
        struct scene s;

        begin_usual(&s, APPROVAL("before"), "");
        step(&s);
        step(&s);
        assert_null(s.planned_stage);
        ends(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_request_shows_the_plan_as_soon_as_it_is_there),
                cmocka_unit_test(with_an_approval_of_the_plan_shown_the_run_goes_on),
                cmocka_unit_test(an_approval_of_another_plan_is_refused_until_it_is_given_again),
                cmocka_unit_test(an_approval_before_there_was_a_plan_is_refused),
                cmocka_unit_test(a_plan_that_changes_while_nobody_answers_is_shown_anew),
                cmocka_unit_test(after_a_stage_the_plan_is_that_of_the_next_one_and_at_last_of_the_removal),
                cmocka_unit_test(a_task_that_asks_for_none_gets_none),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
