#include "e2e/simulation/model_test.h"

#define BOTH (1u << 1 | 1u << 2)
#define MAIN_WORK "app-0-work"
#define FAILED "failedPlacements"
#define DRIFTED "driftedPlacements"
#define DIFFED "diffedPlacements"

static struct wish_placement *place_of(struct bench *b, enum wish_place place)
{
        return &b->wish.apps[0].placements[place];
}

static struct wish_strategy *strategy(struct bench *b)
{
        return &place_of(b, PLACE_MAIN)->strategy;
}

/* Namespace and settings on member-1, owned by the placement that is on both. */
static void place_all(struct bench *b)
{
        bench_place(b, PLACE_MAIN, BOTH);
        bench_put(b, SLOT_HOME, MAIN_WORK);
        bench_put(b, SLOT_SETTINGS, MAIN_WORK);
}

static void change_color(struct bench *b)
{
        doc_set_string(b->live[SLOT_SETTINGS], "data.color", "99");
}

static void take_away(struct bench *b, unsigned slot)
{
        json_decref(b->live[slot]);
        b->live[slot] = NULL;
}

static void what_is_placed_as_rendered_agrees(void **state)
{
        struct bench *b = *state;

        place_all(b);
        assert_agrees(bench_judge_app(b));
}

static void what_is_missing_or_another_is_told(void **state)
{
        struct bench *b = *state;

        place_all(b);
        change_color(b);
        assert_says(bench_judge_app(b), "ConfigMap app-0/settings on member-1: its /data/color is not what");
        take_away(b, SLOT_SETTINGS);
        assert_says(bench_judge_app(b), "ConfigMap app-0/settings on member-1: it is not there");
        take_away(b, SLOT_HOME);
        assert_says(bench_judge_app(b), "Namespace app-0 on member-1: it is not there");
}

static void fields_that_nobody_put_there_are_told(void **state)
{
        struct bench *b = *state;

        place_all(b);
        doc_set_string(b->live[SLOT_SETTINGS], "data.override", "v1");
        assert_says(bench_judge_app(b), "it has /data/override, which nobody put there");
        b->wish.members[1].meddled_ms[0][SLOT_SETTINGS] = 1;
        assert_agrees(bench_judge_app(b));
        strategy(b)->compare = COMPARE_FULL;
        assert_says(bench_judge_app(b), "ConfigMap app-0/settings is not in driftedPlacements, should be");
        bench_tell(b, PLACE_MAIN, DRIFTED, SLOT_SETTINGS);
        assert_agrees(bench_judge_app(b));
}

static void what_nobody_wants_is_gone(void **state)
{
        struct bench *b = *state;

        place_all(b);
        bench_put(b, SLOT_EXTRA, MAIN_WORK);
        assert_says(bench_judge_app(b), "it is owned by app-0-work, which does not place it there");
        bench_put(b, SLOT_EXTRA, NULL);
        assert_says(bench_judge_app(b), "ConfigMap app-0/extra-0 on member-1: it is there, should be gone");
        b->member.cleaning = true;
        assert_agrees(bench_judge_app(b));
        take_away(b, SLOT_EXTRA);
        b->member.cleaning = false;
        place_of(b, PLACE_MAIN)->exists = false;
        json_decref(b->docs[PLACE_MAIN]);
        b->places[PLACE_MAIN].doc = b->docs[PLACE_MAIN] = NULL;
        assert_says(bench_judge_app(b), "Namespace app-0 on member-1");
}

static void what_lingers_behind_a_budget_may(void **state)
{
        struct bench *b = *state;

        place_of(b, PLACE_MAIN)->policy =
                (struct wish_policy){ .type = POLICY_PICK_FIXED, .fixed = 1 << 2 | 1 };
        strategy(b)->max_unavailable = 0;
        place_all(b);
        bench_place(b, PLACE_MAIN, 1 << 2);
        bench_condition(bench_status(b, PLACE_MAIN), "ClusterResourcePlacement", "Scheduled", false,
                        "SchedulingPolicyUnfulfilled");
        assert_agrees(bench_judge_app(b));
        strategy(b)->max_unavailable = 50;
        assert_says(bench_judge_app(b), "which does not place it there");
}

static void an_edit_by_hand_is_told_if_it_is_not_undone(void **state)
{
        struct bench *b = *state;

        strategy(b)->when = WHEN_NOT_DRIFTED;
        place_all(b);
        change_color(b);
        assert_says(bench_judge_app(b), "its /data/color is not what");
        b->wish.members[1].meddled_ms[0][SLOT_SETTINGS] = 1;
        assert_says(bench_judge_app(b),
                    "Applied is True, but ConfigMap app-0/settings is not as it should be");
        bench_not_applied(b, PLACE_MAIN);
        assert_says(bench_judge_app(b), "is not in failedPlacements, should be");
        bench_tell(b, PLACE_MAIN, FAILED, SLOT_SETTINGS);
        bench_tell(b, PLACE_MAIN, DRIFTED, SLOT_SETTINGS);
        assert_agrees(bench_judge_app(b));
        bench_put(b, SLOT_SETTINGS, MAIN_WORK);
        assert_says(bench_judge_app(b), "Applied is False, but all is well there");
}

/* Too large for an annotation, it is applied without force. */
static void an_edit_of_something_big_stays_and_is_a_failure(void **state)
{
        struct bench *b = *state;

        b->wish.apps[0].objects[SLOT_BIG] = (struct wish_object){ .exists = true, .color = 7 };
        place_all(b);
        bench_put(b, SLOT_BIG, MAIN_WORK);
        assert_agrees(bench_judge_app(b));
        doc_set_string(b->live[SLOT_BIG], "data.color", "99");
        assert_says(bench_judge_app(b), "ConfigMap app-0/big-0 on member-1: its /data/color is not what");
        b->wish.members[1].meddled_ms[0][SLOT_BIG] = 1;
        assert_says(bench_judge_app(b), "Applied is True, but ConfigMap app-0/big-0 is not as it should be");
        bench_not_applied(b, PLACE_MAIN);
        assert_says(bench_judge_app(b), "ConfigMap app-0/big-0 is not in failedPlacements, should be");
        bench_tell(b, PLACE_MAIN, FAILED, SLOT_BIG);
        assert_agrees(bench_judge_app(b));
        strategy(b)->apply = APPLY_SERVER_SIDE; /* by force */
        assert_says(bench_judge_app(b), "ConfigMap app-0/big-0 on member-1: its /data/color is not what");
}

static void a_users_object_is_left_alone_if_so_asked(void **state)
{
        struct bench *b = *state;

        strategy(b)->take_over = TAKE_OVER_NEVER;
        place_all(b);
        bench_put(b, SLOT_SETTINGS, NULL);
        assert_says(bench_judge_app(b), "Applied is True, but");
        bench_not_applied(b, PLACE_MAIN);
        bench_tell(b, PLACE_MAIN, FAILED, SLOT_SETTINGS);
        assert_agrees(bench_judge_app(b));
        strategy(b)->take_over = TAKE_OVER_ALWAYS;
        assert_says(bench_judge_app(b), "should have taken it over");
        strategy(b)->take_over = TAKE_OVER_NO_DIFF;
        assert_says(bench_judge_app(b), "should have taken it over");
        change_color(b);
        assert_says(bench_judge_app(b), "is not in diffedPlacements");
        bench_tell(b, PLACE_MAIN, DIFFED, SLOT_SETTINGS);
        assert_agrees(bench_judge_app(b));
}

static void of_two_placements_one_owns_and_the_other_says_so(void **state)
{
        struct bench *b = *state;

        place_of(b, PLACE_MAIN)->with_role = true;
        *place_of(b, PLACE_TWIN) =
                (struct wish_placement){ .exists = true, .selection = SELECT_ROLE, .strategy = *strategy(b) };
        b->wish.apps[0].objects[SLOT_ROLE] = (struct wish_object){ .exists = true, .color = 1 };
        place_all(b);
        bench_place(b, PLACE_TWIN, BOTH);
        bench_put(b, SLOT_ROLE, "twin-0-work");
        assert_says(bench_judge_app(b),
                    "ClusterResourcePlacement app-0: member-1: Applied is True, but ClusterRole");
        bench_not_applied(b, PLACE_MAIN);
        bench_tell(b, PLACE_MAIN, FAILED, SLOT_ROLE);
        assert_agrees(bench_judge_app(b));
        bench_put(b, SLOT_ROLE, MAIN_WORK);
        assert_says(bench_judge_app(b), "Applied is False, but all is well there");
        json_array_append_new(doc_get_array(b->live[SLOT_ROLE], "metadata.ownerReferences"),
                              json_pack("{s:s, s:s}", "kind", "AppliedWork", "name", "twin-0-work"));
        assert_says(bench_judge_app(b), "2 Works own it, should be one");
}

static void a_namespaced_placement_needs_its_namespace(void **state)
{
        struct bench *b = *state;

        *place_of(b, PLACE_PART) = (struct wish_placement){ .exists = true,
                                                            .selection = SELECT_SETTINGS,
                                                            .strategy = *strategy(b) };
        place_of(b, PLACE_MAIN)->exists = false;
        bench_place(b, PLACE_PART, BOTH);
        assert_says(bench_judge_app(b), "Applied is True, but ConfigMap app-0/settings");
        bench_not_applied(b, PLACE_PART);
        bench_tell(b, PLACE_PART, FAILED, SLOT_SETTINGS);
        assert_agrees(bench_judge_app(b));
        bench_put(b, SLOT_HOME, NULL);
        b->wish.members[1].foreign[0].home = true;
        assert_says(bench_judge_app(b), "it is not there");
        bench_put(b, SLOT_SETTINGS, "app-0.part-work");
        bench_place(b, PLACE_PART, BOTH);
        assert_agrees(bench_judge_app(b));
}

static void a_report_tells_what_differs_and_writes_nothing(void **state)
{
        struct bench *b = *state;

        strategy(b)->apply = APPLY_REPORT_DIFF;
        place_all(b);
        assert_agrees(bench_judge_app(b));
        change_color(b);
        assert_says(bench_judge_app(b), "is not in diffedPlacements, should be");
        bench_tell(b, PLACE_MAIN, DIFFED, SLOT_SETTINGS);
        assert_agrees(bench_judge_app(b));
        take_away(b, SLOT_SETTINGS);
        assert_agrees(bench_judge_app(b));
        bench_put(b, SLOT_SETTINGS, MAIN_WORK);
        assert_says(bench_judge_app(b), "is in diffedPlacements, should not be");
}

static void a_workload_that_is_not_available_is_told(void **state)
{
        struct bench *b = *state;
        json_t *web;

        b->wish.apps[0].objects[SLOT_WEB] = (struct wish_object){ .exists = true };
        place_all(b);
        web = bench_put(b, SLOT_WEB, MAIN_WORK);
        doc_set_int(web, "metadata.generation", 1);
        assert_says(bench_judge_app(b), "Available is True, but a workload is not available");
        bench_bad(b, PLACE_MAIN, "Available", "NotAllWorkAreAvailable", "ResourceNotAvailableYet");
        bench_tell(b, PLACE_MAIN, FAILED, SLOT_WEB);
        assert_agrees(bench_judge_app(b));
        doc_set(web, "status",
                json_pack("{s:i, s:i, s:i}", "observedGeneration", 1, "availableReplicas", 1,
                          "updatedReplicas", 1));
        assert_says(bench_judge_app(b), "Available is False, but all is available");
        bench_place(b, PLACE_MAIN, BOTH);
        assert_agrees(bench_judge_app(b));
}

static void what_cannot_be_tracked_is_said_to_be_so(void **state)
{
        struct bench *b = *state;

        b->wish.apps[0].objects[SLOT_JOB] = (struct wish_object){ .exists = true };
        place_all(b);
        bench_put(b, SLOT_JOB, MAIN_WORK);
        assert_says(bench_judge_app(b), "should be NotAllWorkAreAvailabilityTrackable");
        bench_condition(bench_entry(b, PLACE_MAIN, 1), "", "Available", true,
                        "NotAllWorkAreAvailabilityTrackable");
        assert_agrees(bench_judge_app(b));
}

static void a_kind_that_is_not_served_fails(void **state)
{
        struct bench *b = *state;

        b->wish.apps[0].objects[SLOT_WIDGET] = (struct wish_object){ .exists = true };
        place_all(b);
        assert_says(bench_judge_app(b), "Applied is True, but Widget app-0/thing");
        bench_not_applied(b, PLACE_MAIN);
        bench_tell(b, PLACE_MAIN, FAILED, SLOT_WIDGET);
        assert_agrees(bench_judge_app(b));
        strategy(b)->apply = APPLY_REPORT_DIFF;
        bench_place(b, PLACE_MAIN, BOTH);
        assert_says(bench_judge_app(b), "Widget app-0/thing is not in diffedPlacements, should be");
        bench_bad(b, PLACE_MAIN, "DiffReported", "NotAllWorkHaveDiffReported",
                  "DiffReportingIncompleteOrFailed");
        assert_agrees(bench_judge_app(b));
}

static void an_enveloped_object_is_listed_with_its_envelope(void **state)
{
        struct bench *b = *state;

        b->wish.apps[0].objects[SLOT_BUNDLE] = (struct wish_object){ .exists = true };
        strategy(b)->take_over = TAKE_OVER_NEVER;
        place_all(b);
        bench_put(b, SLOT_BUNDLE, NULL);
        bench_not_applied(b, PLACE_MAIN);
        bench_tell(b, PLACE_MAIN, FAILED, SLOT_BUNDLE);
        assert_says(bench_judge_app(b), "ConfigMap packed is listed without an envelope");
        doc_set(json_array_get(doc_get_array(bench_entry(b, PLACE_MAIN, 1), FAILED), 0), "envelope",
                json_pack("{s:s}", "name", "bundle"));
        assert_agrees(bench_judge_app(b));
}

static void what_is_held_back_may_be_old(void **state)
{
        struct bench *b = *state;

        strategy(b)->max_unavailable = 0;
        place_all(b);
        change_color(b);
        bench_bad(b, PLACE_MAIN, "RolloutStarted", "RolloutNotStartedYet", "RolloutNotStartedYet");
        assert_says(bench_judge_app(b), "it holds 99, which was not asked for in time");
        b->wish.apps[0].objects[SLOT_SETTINGS].color = 99;
        assert_int_equal(wish_ask(&b->wish, 0, SLOT_SETTINGS, 1), 0);
        b->wish.apps[0].objects[SLOT_SETTINGS].color = 100;
        assert_agrees(bench_judge_app(b));
        take_away(b, SLOT_SETTINGS);
        assert_agrees(bench_judge_app(b));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                BENCH_TEST(what_is_placed_as_rendered_agrees),
                BENCH_TEST(what_is_missing_or_another_is_told),
                BENCH_TEST(fields_that_nobody_put_there_are_told),
                BENCH_TEST(what_nobody_wants_is_gone),
                BENCH_TEST(what_lingers_behind_a_budget_may),
                BENCH_TEST(an_edit_by_hand_is_told_if_it_is_not_undone),
                BENCH_TEST(an_edit_of_something_big_stays_and_is_a_failure),
                BENCH_TEST(a_users_object_is_left_alone_if_so_asked),
                BENCH_TEST(of_two_placements_one_owns_and_the_other_says_so),
                BENCH_TEST(a_namespaced_placement_needs_its_namespace),
                BENCH_TEST(a_report_tells_what_differs_and_writes_nothing),
                BENCH_TEST(a_workload_that_is_not_available_is_told),
                BENCH_TEST(what_cannot_be_tracked_is_said_to_be_so),
                BENCH_TEST(a_kind_that_is_not_served_fails),
                BENCH_TEST(an_enveloped_object_is_listed_with_its_envelope),
                BENCH_TEST(what_is_held_back_may_be_old),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
