/* Placements that others roll out, that show their status in a namespace, and what is held back. */
#include "e2e/simulation/model_test.h"

#define BOTH (1u << 1 | 1u << 2)
#define CRP "ClusterResourcePlacement"
#define MAIN_WORK "app-0-work"

static struct wish_placement *main_of(struct bench *b)
{
        return &b->wish.apps[0].placements[PLACE_MAIN];
}

static int judge(struct bench *b)
{
        return bench_judge(b, PLACE_MAIN);
}

/* ---- External ---- */

static void place_external(struct bench *b)
{
        main_of(b)->strategy.external_ms = 1000;
        bench_place(b, PLACE_MAIN, BOTH);
}

/* member-1 is on another index, and nobody says what is rolled out. */
static void come_apart(struct bench *b, const char *index)
{
        static const char *const behind[] = { "Overridden", "WorkSynchronized", "Applied", "Available" };
        json_t *status = bench_status(b, PLACE_MAIN);
        char type[96];

        doc_set_string(bench_entry(b, PLACE_MAIN, 1), "observedResourceIndex", index);
        json_object_del(status, "observedResourceIndex");
        bench_condition(status, CRP, "RolloutStarted", false, "RolloutControlledByExternalController");
        for (size_t i = 0; i < ARRAY_LEN(behind); i++) {
                snprintf(type, sizeof(type), CRP "%s", behind[i]);
                bench_drop_condition(status, type);
        }
}

static void what_others_roll_out_says_what_its_clusters_are_on(void **state)
{
        struct bench *b = *state;

        place_external(b);
        assert_agrees(judge(b));
        doc_set_string(bench_status(b, PLACE_MAIN), "observedResourceIndex", "5");
        assert_says(judge(b), "its resource index is 5, its clusters' is 4");
        come_apart(b, "3");
        assert_agrees(judge(b));
        bench_condition(bench_status(b, PLACE_MAIN), CRP, "Applied", true, "ApplySucceeded");
        assert_says(judge(b), "ClusterResourcePlacementApplied should be absent");
        bench_condition(bench_status(b, PLACE_MAIN), CRP, "RolloutStarted", true, "RolloutStarted");
        assert_says(judge(b), "does not say that others roll it out");
}

static void on_no_cluster_nobody_rolls_anything_out(void **state)
{
        struct bench *b = *state;

        main_of(b)->policy = (struct wish_policy){ .type = POLICY_PICK_N, .n = 0 };
        main_of(b)->strategy.external_ms = 1000;
        bench_place(b, PLACE_MAIN, 0);
        assert_agrees(judge(b));
        bench_condition(bench_status(b, PLACE_MAIN), CRP, "RolloutStarted", true, "RolloutStarted");
        assert_says(judge(b), "should be absent");
}

static void set_color(struct bench *b, unsigned color, int64_t at_ms)
{
        b->wish.apps[0].objects[SLOT_SETTINGS].color = color;
        assert_int_equal(wish_ask(&b->wish, 0, SLOT_SETTINGS, at_ms), 0);
}

static void what_others_roll_out_keeps_what_was_asked_for_before(void **state)
{
        struct bench *b = *state;

        set_color(b, 7, 500);
        set_color(b, 8, 1000 + MODEL_SLACK_MS + 1);
        place_external(b);
        bench_put(b, SLOT_HOME, MAIN_WORK);
        bench_put(b, SLOT_SETTINGS, MAIN_WORK);
        assert_says(bench_judge_app(b), "it holds 8, which was not asked for in time");
        doc_set_string(b->live[SLOT_SETTINGS], "data.color", "7");
        assert_agrees(bench_judge_app(b));
        doc_set_string(b->live[SLOT_SETTINGS], "data.color", "9");
        assert_says(bench_judge_app(b), "it holds 9");
        json_object_del(json_object_get(b->live[SLOT_SETTINGS], "data"), "color");
        assert_says(bench_judge_app(b), "it holds nothing that was ever asked for");
        b->wish.members[1].meddled_ms[0][SLOT_SETTINGS] = 1;
        assert_agrees(bench_judge_app(b));
}

static void what_is_held_back_holds_what_was_asked_for_once(void **state)
{
        struct bench *b = *state;

        set_color(b, 7, 500);
        set_color(b, 8, 900000);
        main_of(b)->strategy.max_unavailable = 0;
        bench_place(b, PLACE_MAIN, BOTH);
        bench_bad(b, PLACE_MAIN, "RolloutStarted", "RolloutNotStartedYet", "RolloutNotStartedYet");
        bench_put(b, SLOT_HOME, MAIN_WORK);
        bench_put(b, SLOT_SETTINGS, MAIN_WORK);
        assert_agrees(bench_judge_app(b));
        doc_set_string(b->live[SLOT_SETTINGS], "data.color", "7");
        assert_agrees(bench_judge_app(b));
        doc_set_string(b->live[SLOT_SETTINGS], "data.color", "9");
        assert_says(bench_judge_app(b), "it holds 9, which was not asked for in time");
}

/* ---- NamespaceAccessible ---- */

static void show(struct bench *b, const char *index)
{
        AUTO_JSON json_t *status = json_deep_copy(bench_status(b, PLACE_MAIN));

        doc_set_string(status, "observedResourceIndex", index);
        json_decref(b->live[SLOT_JOB]);
        b->live[SLOT_JOB] = json_pack("{s:O}", "sourceStatus", status);
        b->places[PLACE_MAIN].shown = b->live[SLOT_JOB];
}

static void a_namespace_shows_the_status_that_there_is(void **state)
{
        struct bench *b = *state;

        main_of(b)->accessible = true;
        bench_place(b, PLACE_MAIN, BOTH);
        assert_says(judge(b), "its status is not shown in its namespace");
        show(b, "4");
        assert_says(judge(b), "ClusterResourcePlacementStatusSynced is  of generation -1");
        bench_condition(bench_status(b, PLACE_MAIN), CRP, "StatusSynced", true, "StatusSyncSucceeded");
        assert_agrees(judge(b));
        show(b, "3");
        assert_says(judge(b), "its namespace shows another status than it has");
}

static void what_may_not_be_shown_is_not(void **state)
{
        struct bench *b = *state;

        bench_place(b, PLACE_MAIN, BOTH);
        show(b, "4");
        assert_says(judge(b), "its status is shown in its namespace");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                BENCH_TEST(what_others_roll_out_says_what_its_clusters_are_on),
                BENCH_TEST(on_no_cluster_nobody_rolls_anything_out),
                BENCH_TEST(what_others_roll_out_keeps_what_was_asked_for_before),
                BENCH_TEST(what_is_held_back_holds_what_was_asked_for_once),
                BENCH_TEST(a_namespace_shows_the_status_that_there_is),
                BENCH_TEST(what_may_not_be_shown_is_not),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
