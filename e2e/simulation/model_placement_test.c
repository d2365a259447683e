#include "e2e/simulation/model_test.h"

#define BOTH (1u << 1 | 1u << 2)
#define CRP "ClusterResourcePlacement"

static struct wish_placement *main_of(struct bench *b)
{
        return &b->wish.apps[0].placements[PLACE_MAIN];
}

static int judge(struct bench *b)
{
        return bench_judge(b, PLACE_MAIN);
}

static void what_is_as_wished_agrees(void **state)
{
        struct bench *b = *state;

        bench_place(b, PLACE_MAIN, BOTH);
        assert_agrees(judge(b));
        assert_int_equal(b->places[PLACE_MAIN].chosen, BOTH);
        assert_int_equal(b->places[PLACE_MAIN].outcomes[2], OUTCOME_GOOD);
}

static void a_placement_is_there_if_wished_for(void **state)
{
        struct bench *b = *state;

        assert_says(judge(b), "ClusterResourcePlacement app-0: it is not there");
        bench_place(b, PLACE_MAIN, BOTH);
        main_of(b)->leaving = true;
        assert_says(judge(b), "should be gone");
}

static void a_cluster_too_few_or_too_many_is_told(void **state)
{
        struct bench *b = *state;

        bench_place(b, PLACE_MAIN, 1 << 1);
        assert_says(judge(b), "member-2 is not chosen");
        main_of(b)->policy = (struct wish_policy){ .type = POLICY_PICK_FIXED, .fixed = 1 << 1 };
        bench_place(b, PLACE_MAIN, BOTH);
        bench_condition(bench_status(b, PLACE_MAIN), CRP, "Scheduled", false, "SchedulingPolicyUnfulfilled");
        assert_says(judge(b), "member-2 is chosen, should not be");
}

static void pick_n_that_is_not_reached_says_so(void **state)
{
        struct bench *b = *state;

        main_of(b)->policy = (struct wish_policy){ .type = POLICY_PICK_N, .n = 3 };
        bench_place(b, PLACE_MAIN, BOTH);
        assert_says(judge(b), "Scheduled is True with 2 clusters");
        bench_condition(bench_status(b, PLACE_MAIN), CRP, "Scheduled", false, "SchedulingPolicyUnfulfilled");
        assert_agrees(judge(b));
        main_of(b)->policy.n = 1;
        assert_says(judge(b), "2 clusters are chosen, should be 1 to 1");
        bench_place(b, PLACE_MAIN, 0);
        assert_says(judge(b), "Scheduled is True with 0 clusters chosen");
}

static void a_placement_on_no_cluster_has_no_other_condition(void **state)
{
        struct bench *b = *state;

        main_of(b)->policy = (struct wish_policy){ .type = POLICY_PICK_N, .n = 0 };
        bench_place(b, PLACE_MAIN, 0);
        assert_agrees(judge(b));
        bench_condition(bench_status(b, PLACE_MAIN), CRP, "Applied", true, "ApplySucceeded");
        assert_says(judge(b), "should be absent");
}

static void conditions_are_of_this_generation_and_known(void **state)
{
        struct bench *b = *state;

        bench_place(b, PLACE_MAIN, BOTH);
        doc_set_int(b->docs[PLACE_MAIN], "metadata.generation", TEST_GENERATION + 1);
        assert_says(judge(b), "is of generation 3, should be 4");
        bench_place(b, PLACE_MAIN, BOTH);
        bench_condition(bench_entry(b, PLACE_MAIN, 2), "", "WorkSynchronized", false, "SyncWorkFailed");
        assert_says(judge(b), "member-2: condition WorkSynchronized is False");
        bench_place(b, PLACE_MAIN, BOTH);
        bench_drop_condition(bench_entry(b, PLACE_MAIN, 2), "Available");
        assert_says(judge(b), "member-2: condition Available is missing");
}

static void the_sum_says_what_its_clusters_say(void **state)
{
        struct bench *b = *state;

        bench_place(b, PLACE_MAIN, BOTH);
        bench_not_applied(b, PLACE_MAIN);
        assert_agrees(judge(b));
        assert_int_equal(b->places[PLACE_MAIN].outcomes[1], OUTCOME_NOT_APPLIED);
        bench_condition(bench_status(b, PLACE_MAIN), CRP, "Applied", true, "ApplySucceeded");
        assert_says(judge(b), "ClusterResourcePlacementApplied is True, which is not what its clusters say");
}

static void an_index_that_is_behind_is_told(void **state)
{
        struct bench *b = *state;

        bench_place(b, PLACE_MAIN, BOTH);
        json_object_set_new(bench_entry(b, PLACE_MAIN, 2), "observedResourceIndex", json_string("3"));
        assert_says(judge(b), "member-2: resource index is 3, should be 4");
}

static void the_selection_is_exact(void **state)
{
        struct bench *b = *state;

        bench_place(b, PLACE_MAIN, BOTH);
        b->wish.apps[0].objects[SLOT_EXTRA].exists = true;
        assert_says(judge(b), "ConfigMap extra-0 is not among the selected resources");
        b->wish.apps[0].objects[SLOT_EXTRA].exists = b->wish.apps[0].objects[SLOT_SETTINGS].exists = false;
        assert_says(judge(b), "2 resources are selected, should be 1");
}

static void a_strategy_may_hold_a_rollout_up_only_if_it_must(void **state)
{
        struct bench *b = *state;

        bench_place(b, PLACE_MAIN, BOTH);
        bench_bad(b, PLACE_MAIN, "RolloutStarted", "RolloutNotStartedYet", "RolloutNotStartedYet");
        assert_says(judge(b), "the strategy lets 1 go on");
        main_of(b)->strategy.max_unavailable = 0;
        assert_agrees(judge(b));
        assert_false(b->places[PLACE_MAIN].may_linger);
        main_of(b)->strategy.max_unavailable = 25;
        b->wish.members[1].unready = 1;
        assert_agrees(judge(b));
        b->wish.members[1].unready = 0;
        main_of(b)->strategy.apply = APPLY_REPORT_DIFF;
        bench_place(b, PLACE_MAIN, BOTH);
        bench_bad(b, PLACE_MAIN, "RolloutStarted", "RolloutNotStartedYet", "RolloutNotStartedYet");
        assert_agrees(judge(b));
}

static void what_cannot_be_overridden_is_told(void **state)
{
        struct bench *b = *state;

        b->wish.apps[0].overrides[OVERRIDE_SETTINGS] =
                (struct wish_override){ .exists = true, .uses_label = true };
        b->wish.members[2].now.zone = 1;
        bench_place(b, PLACE_MAIN, BOTH);
        assert_says(judge(b), "member-1: Overridden is NoOverrideSpecified, should be OverriddenFailed");
        bench_bad(b, PLACE_MAIN, "Overridden", "OverriddenFailed", "OverriddenFailed");
        assert_says(judge(b), "member-2: Overridden is NoOverrideSpecified, should be OverriddenSucceeded");
        bench_condition(bench_entry(b, PLACE_MAIN, 2), "", "Overridden", true, "OverriddenSucceeded");
        assert_agrees(judge(b));
}

static void reporting_has_conditions_of_its_own(void **state)
{
        struct bench *b = *state;

        bench_place(b, PLACE_MAIN, BOTH);
        main_of(b)->strategy.apply = APPLY_REPORT_DIFF;
        assert_says(judge(b), "condition Applied should be absent");
        bench_place(b, PLACE_MAIN, BOTH);
        assert_agrees(judge(b));
}

static void selectors_that_became_invalid_are_told_and_no_more(void **state)
{
        struct bench *b = *state;

        main_of(b)->selection = SELECT_LABELLED;
        bench_place(b, PLACE_MAIN, BOTH);
        b->wish.apps[0].leaving = true;
        assert_says(judge(b), "Scheduled");
        bench_condition(bench_status(b, PLACE_MAIN), CRP, "Scheduled", false, "InvalidResourceSelectors");
        assert_agrees(judge(b));
        assert_true(b->places[PLACE_MAIN].frozen);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                BENCH_TEST(what_is_as_wished_agrees),
                BENCH_TEST(a_placement_is_there_if_wished_for),
                BENCH_TEST(a_cluster_too_few_or_too_many_is_told),
                BENCH_TEST(pick_n_that_is_not_reached_says_so),
                BENCH_TEST(a_placement_on_no_cluster_has_no_other_condition),
                BENCH_TEST(conditions_are_of_this_generation_and_known),
                BENCH_TEST(the_sum_says_what_its_clusters_say),
                BENCH_TEST(an_index_that_is_behind_is_told),
                BENCH_TEST(the_selection_is_exact),
                BENCH_TEST(a_strategy_may_hold_a_rollout_up_only_if_it_must),
                BENCH_TEST(what_cannot_be_overridden_is_told),
                BENCH_TEST(reporting_has_conditions_of_its_own),
                BENCH_TEST(selectors_that_became_invalid_are_told_and_no_more),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
