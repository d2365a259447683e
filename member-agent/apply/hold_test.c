#include "member-agent/apply/hold.h"

#include "member-agent/apply/testing.h"
#include "proto/names.h"

static struct condition applied[] = { { .type = "Applied", .status = "True", .reason = "R" },
                                      { .type = "Available", .status = "False", .reason = "R" } };
static struct work_status wanted = { .conditions = { .at = applied, .n = 2, .set = true } };

/* A Work of generation 2 whose one manifest was applied and is not available yet. What lies behind it in
 * memory is none of it. */
static struct hold_input applied_now(struct manifest m[2])
{
        m[0] = (struct manifest){ .result = RESULT_APPLIED, .availability = AVAILABILITY_NOT_YET };
        m[1] = (struct manifest){ .availability = AVAILABILITY_FAILED, .unanswered = true };
        applied[0].status = "True";
        applied[1].status = "False";
        applied[0].observed_generation = applied[1].observed_generation =
                (struct opt_int){ .set = true, .value = 2 };
        return (struct hold_input){ .manifests = m,
                                    .n = 1,
                                    .generation = 2,
                                    .wanted = &wanted,
                                    .member_answers = true,
                                    .now_ms = 1000 };
}

static void the_first_report_of_a_generation_waits_a_moment_for_availability(void **state)
{
        struct hold h = { 0 };
        struct manifest m[2];
        struct hold_input in = applied_now(m);

        assert_int_equal(hold_for_availability(&h, &in), 75);
        in.now_ms += 74;
        assert_int_equal(hold_for_availability(&h, &in), 1);
        in.now_ms += 1;
        assert_int_equal(hold_for_availability(&h, &in), 0);
        in.now_ms += 1000;
        assert_int_equal(hold_for_availability(&h, &in), 0);
        in.generation = 3;
        applied[0].observed_generation.value = 3;
        assert_int_equal(hold_for_availability(&h, &in), 75);
}

static void what_is_settled_or_told_or_failed_is_told_at_once(void **state)
{
        static struct condition before[] = { { .type = "Applied", .status = "True", .reason = "R" } };
        struct work_status told = { .conditions = { .at = before, .n = 1, .set = true } };
        struct differences drifts = { 0 };
        struct hold h = { 0 };
        struct manifest m[2];
        struct hold_input in = applied_now(m);

        applied[1].status = "True";
        assert_int_equal(hold_for_availability(&h, &in), 0);
        in = applied_now(m);
        applied[0].status = "False";
        assert_int_equal(hold_for_availability(&h, &in), 0);
        in = applied_now(m);
        m[0].availability = AVAILABILITY_FAILED;
        assert_int_equal(hold_for_availability(&h, &in), 0);
        in = applied_now(m);
        m[0].drifts = &drifts;
        assert_int_equal(hold_for_availability(&h, &in), 0);
        in = applied_now(m);
        in.told = &told;
        before[0].observed_generation.value = 2;
        assert_int_equal(hold_for_availability(&h, &in), 0);
        before[0].observed_generation.value = 1; /* that was the generation before */
        assert_int_equal(hold_for_availability(&h, &in), 75);
}

static void a_request_without_an_answer_is_told_of_after_ten_seconds(void **state)
{
        struct hold h = { 0 };
        struct manifest m[2];
        struct hold_input in = applied_now(m);

        assert_int_equal(hold_for_answers(&h, &in), 0);
        m[0].unanswered = true;
        assert_int_equal(hold_for_answers(&h, &in), 1000);
        in.now_ms += 9999;
        assert_int_equal(hold_for_answers(&h, &in), 1000);
        in.now_ms += 1;
        assert_int_equal(hold_for_answers(&h, &in), 0);
}

static void an_answer_in_between_begins_the_ten_seconds_anew(void **state)
{
        struct hold h = { 0 };
        struct manifest m[2];
        struct hold_input in = applied_now(m);

        m[0].unanswered = true;
        assert_int_equal(hold_for_answers(&h, &in), 1000);
        in.now_ms += 9000;
        m[0].unanswered = false;
        assert_int_equal(hold_for_answers(&h, &in), 0);
        m[0].unanswered = true;
        in.now_ms += 9000;
        assert_int_equal(hold_for_answers(&h, &in), 1000);
}

static void while_the_whole_api_server_is_away_no_object_is_blamed(void **state)
{
        struct hold h = { 0 };
        struct manifest m[2];
        struct hold_input in = applied_now(m);

        m[0].unanswered = true;
        in.member_answers = false;
        assert_int_equal(hold_for_answers(&h, &in), 1000);
        in.now_ms += 60 * 60 * 1000;
        assert_int_equal(hold_for_answers(&h, &in), 1000);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_first_report_of_a_generation_waits_a_moment_for_availability),
                cmocka_unit_test(what_is_settled_or_told_or_failed_is_told_at_once),
                cmocka_unit_test(a_request_without_an_answer_is_told_of_after_ten_seconds),
                cmocka_unit_test(an_answer_in_between_begins_the_ten_seconds_anew),
                cmocka_unit_test(while_the_whole_api_server_is_away_no_object_is_blamed),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
