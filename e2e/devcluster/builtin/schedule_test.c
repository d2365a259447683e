/* Schedules of cron jobs: which can be read, and what is said of the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/text.h"
#include "e2e/devcluster/builtin/schedule.h"

static void schedules_are_five_fields_or_a_word(void **state)
{
        static const struct {
                const char *text, *problem; /* NULL = fine */
        } cases[] = {
                { "* * * * *", NULL },
                { "*/5 0-6,12 1 jan-mar MON", NULL },
                { "@daily", NULL },
                { "@every 1h", NULL },
                { "every day", "expected exactly 5 fields, found 2: [every day]" },
                { "60 * * * *", "end of range (60) above maximum (59): 60" },
                { "* * 0 * *", "beginning of range (0) below minimum (1): 0" },
                { "5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1" },
                { "*/0 * * * *", "step of range should be a positive number: */0" },
                { "x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax" },
                { "@never", "unrecognized descriptor: @never" },
                { "TZ=UTC * * * * *", "cannot use TZ or CRON_TZ in schedule, use timeZone field instead" },
        };
        char problem[SCHEDULE_PROBLEM_MAX];

        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                assert_int_equal(schedule_is_valid(cases[i].text, problem), !cases[i].problem);
                if (cases[i].problem)
                        assert_string_equal(problem, cases[i].problem);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = { cmocka_unit_test(schedules_are_five_fields_or_a_word) };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
