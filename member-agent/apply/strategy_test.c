#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "member-agent/apply/strategy.h"

static void words_become_a_strategy(void **state)
{
        static const struct {
                const char *type, *comparison, *apply, *take_over;
                struct strategy expected;
        } rows[] = {
                { NULL, NULL, NULL, NULL, { STRATEGY_CLIENT_SIDE, TAKING_ALWAYS } },
                { "ClientSideApply", "PartialComparison", "Always", "Always", { STRATEGY_CLIENT_SIDE } },
                { "ServerSideApply",
                  "FullComparison",
                  "IfNotDrifted",
                  "IfNoDiff",
                  { STRATEGY_SERVER_SIDE, TAKING_IF_NO_DIFF, .full_comparison = true,
                    .only_if_not_drifted = true } },
                { "ReportDiff",
                  "fullComparison",
                  "",
                  "Never",
                  { STRATEGY_REPORT_DIFF, TAKING_NEVER, .full_comparison = true } },
                { "", "partialComparison", "", "", { STRATEGY_CLIENT_SIDE } },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct strategy s = { 0 };
                struct error err = { 0 };

                assert_int_equal(strategy_from_words(rows[i].type, rows[i].comparison, rows[i].apply,
                                                     rows[i].take_over, &s, &err),
                                 0);
                assert_int_equal(strategy_number(&s), strategy_number(&rows[i].expected));
        }
}

/* What was applied under another strategy is applied anew: no two have one number. */
static void whatever_a_strategy_says_is_in_its_number(void **state)
{
        static const struct strategy others[] = {
                { 0 },
                { STRATEGY_SERVER_SIDE },
                { STRATEGY_REPORT_DIFF },
                { STRATEGY_CLIENT_SIDE, TAKING_IF_NO_DIFF },
                { STRATEGY_CLIENT_SIDE, TAKING_NEVER },
                { .full_comparison = true },
                { .only_if_not_drifted = true },
                { .allow_co_ownership = true },
                { .force = true },
                { STRATEGY_SERVER_SIDE, .force = true },
        };

        for (size_t i = 0; i < ARRAY_LEN(others); i++)
                for (size_t k = 0; k < ARRAY_LEN(others); k++)
                        assert_int_equal(strategy_number(&others[i]) == strategy_number(&others[k]), i == k);
}

static void an_unknown_word_is_named_with_its_field(void **state)
{
        static const struct {
                const char *type, *comparison, *apply, *take_over, *text;
        } rows[] = {
                { "Apply", NULL, NULL, NULL, "spec.applyStrategy.type: \"Apply\" is not a known value" },
                { NULL, "Full", NULL, NULL,
                  "spec.applyStrategy.comparisonOption: \"Full\" is not a known value" },
                { NULL, NULL, "always", NULL,
                  "spec.applyStrategy.whenToApply: \"always\" is not a known value" },
                { NULL, NULL, NULL, "Sometimes",
                  "spec.applyStrategy.whenToTakeOver: \"Sometimes\" is not a known value" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct strategy s = { .force = true };
                struct error err = { 0 };

                assert_int_equal(strategy_from_words(rows[i].type, rows[i].comparison, rows[i].apply,
                                                     rows[i].take_over, &s, &err),
                                 ERR_INVALID);
                assert_string_equal(err.text, rows[i].text);
                assert_true(s.force); /* outputs only on success */
        }
}

/* A row of the state file may be of a newer version. */
static void an_availability_that_is_not_known_has_a_word_too(void **state)
{
        assert_string_equal(availability_word(AVAILABILITY_FAILED), "Failed");
        assert_string_equal(availability_word((enum availability)(AVAILABILITY_FAILED + 1)), "Unknown");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(words_become_a_strategy),
                cmocka_unit_test(whatever_a_strategy_says_is_in_its_number),
                cmocka_unit_test(an_unknown_word_is_named_with_its_field),
                cmocka_unit_test(an_availability_that_is_not_known_has_a_word_too),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
