#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/differential/differential.h"

static json_t *normalised(const char *text)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc = json_loads(text, 0, NULL);
        struct normaliser *n = normaliser_new(&arena, NULL);
        json_t *out = NULL;

        assert_non_null(doc);
        assert_non_null(n);
        assert_int_equal(normalise_doc(n, doc, &out, NULL), 0);
        return out;
}

static void assert_same(const char *a, const char *b, bool same)
{
        AUTO_JSON json_t *one = normalised(a), *two = normalised(b);

        assert_int_equal(json_equal(one, two), same);
}

#define STATUS(reason, list, first, second)                                                                  \
        "{\"kind\":\"Status\",\"reason\":\"" reason "\",\"message\":\"Secret \\\"c\\\" is invalid: [" list   \
        "]\","                                                                                               \
        "\"details\":{\"causes\":[" first "," second "]}}"
#define CAUSE_A "{\"field\":\"data[a]\",\"message\":\"not a key\"}"
#define CAUSE_B "{\"field\":\"data[b]\",\"message\":\"nor this\"}"
#define TEXT_A "data[a]: not a key"
#define TEXT_B "data[b]: nor this"

static void problems_of_one_object_may_come_in_any_order(void **state)
{
        assert_same(STATUS("Invalid", TEXT_A ", " TEXT_B, CAUSE_A, CAUSE_B),
                    STATUS("Invalid", TEXT_B ", " TEXT_A, CAUSE_B, CAUSE_A), true);
}

static void a_missing_problem_is_a_difference(void **state)
{
        assert_same(STATUS("Invalid", TEXT_A ", " TEXT_B, CAUSE_A, CAUSE_B),
                    STATUS("Invalid", TEXT_B ", " TEXT_B, CAUSE_B, CAUSE_B), false);
}

static void a_message_that_does_not_follow_its_causes_is_compared_as_it_stands(void **state)
{
        assert_same(STATUS("Invalid", TEXT_A ", " TEXT_B, CAUSE_A, CAUSE_B),
                    STATUS("Invalid", TEXT_B ", " TEXT_A, CAUSE_A, CAUSE_B), false);
}

static void the_order_of_other_causes_counts(void **state)
{
        assert_same(STATUS("Conflict", TEXT_A ", " TEXT_B, CAUSE_A, CAUSE_B),
                    STATUS("Conflict", TEXT_B ", " TEXT_A, CAUSE_B, CAUSE_A), false);
}

#define TIMED_OUT "\"error: timed out waiting for the condition on configmaps/waited\""
#define LOGGED(what)                                                                                         \
        "\"E1124 02:36:36.514106   17411 reflector.go:227] \\\"" what                                        \
        "\\\" err=\\\"context deadline exceeded\\\"\""

static void what_a_program_logs_of_itself_is_left_out(void **state)
{
        assert_same("{\"stderr\":[" LOGGED("Failed to watch") "," TIMED_OUT "]}",
                    "{\"stderr\":[" TIMED_OUT "]}", true);
        assert_same("{\"stderr\":[" LOGGED("Failed to watch") "]}", "{\"stderr\":[" TIMED_OUT "]}", false);
        assert_same("{\"stderr\":[\"Error from server (NotFound): E1124 is no name\"]}", "{\"stderr\":[]}",
                    false);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(problems_of_one_object_may_come_in_any_order),
                cmocka_unit_test(a_missing_problem_is_a_difference),
                cmocka_unit_test(a_message_that_does_not_follow_its_causes_is_compared_as_it_stands),
                cmocka_unit_test(the_order_of_other_causes_counts),
                cmocka_unit_test(what_a_program_logs_of_itself_is_left_out),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
