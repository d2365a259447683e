#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hub-agent/source/index/select.h"

/* spec/helm-chart.md checklist 27, 32 */
static void the_version_that_is_meant_is_found(void **state)
{
        static const struct chart_version all[] = {
                { "6.1.0-rc.1", 9 }, { "6.0.3", 8 }, { "5.2.1+b1", 5 }, { "5.2.1+b2", 7 },
                { "5.2.1+b3", 7 },   { "5.2.0", 4 }, { "4.0.9", 3 },    { "4.0.10", 3 },
                { "v3.1.0", 2 },     { "3.0", 2 },   { "latest", 1 },   { "4.1.0", 3 },
        };
        static const struct {
                const char *wanted, *found; /* NULL = none */
        } rows[] = {
                { "", "6.0.3" },
                { "*", "6.0.3" },
                { "*-0", "6.1.0-rc.1" },
                { "6.0.3", "6.0.3" },
                { "6.1.0-rc.1", "6.1.0-rc.1" },
                { "4.0.x", "4.0.10" },
                { ">=4.0.0 <5.0.0", "4.1.0" },
                { "5.*", "5.2.1+b2" },
                { "5.2.1", "5.2.1+b2" },
                { "5.2.1+b1", "5.2.1+b1" },
                { "~3.1", "v3.1.0" },
                { "3.1.0", "v3.1.0" },
                { "3.0", "3.0" },
                { "3.0.x", NULL },
                { "latest", "latest" },
                { "9.*", NULL },
        };
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct chart_version *found = NULL;
                struct error err = { 0 };
                int code = select_version(all, ARRAY_LEN(all), rows[i].wanted, &found, &err);

                if (rows[i].found ? code < 0 || !text_equal(found->version, rows[i].found)
                                  : code != ERR_NOT_FOUND)
                        fail_msg("%s: %s%s", rows[i].wanted, code ? err.text : "",
                                 code ? "" : found->version);
        }
}

static void what_is_no_range_is_told(void **state)
{
        static const struct chart_version one[] = { { "1.0.0", 0 } };
        const struct chart_version *found;
        struct error err = { 0 };

        assert_int_equal(select_version(one, 1, "==1", &found, &err), ERR_INVALID);
        assert_string_equal(err.text, "improper constraint: \"==1\"");
        assert_int_equal(select_version(one, 0, "", &found, &err), ERR_NOT_FOUND);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_version_that_is_meant_is_found),
                cmocka_unit_test(what_is_no_range_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
