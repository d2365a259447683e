#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/timefmt.h"

static void times_have_their_rfc3339_form(void **state)
{
        static const struct {
                int64_t ms;
                const char *text, *milli;
        } cases[] = {
                { 0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z" },
                { -1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999Z" },
                { 951782399999, "2000-02-28T23:59:59Z", "2000-02-28T23:59:59.999Z" },
                { 951782400000, "2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z" },
                { 951868800000, "2000-03-01T00:00:00Z", "2000-03-01T00:00:00.000Z" },
                { 4107542400000, "2100-03-01T00:00:00Z", "2100-03-01T00:00:00.000Z" },
                { 1767323045006, "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.006Z" },
                { INT64_MAX, "9999-12-31T23:59:59Z", NULL },
                { INT64_MIN, "0000-01-01T00:00:00Z", NULL },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                char text[RFC3339_SIZE];
                time_format_rfc3339(cases[i].ms, text);
                assert_string_equal(text, cases[i].text);
                time_format_rfc3339_milli(cases[i].ms, text);
                if (cases[i].milli)
                        assert_string_equal(text, cases[i].milli);
        }
}

static void every_day_of_nine_centuries_survives_the_round_trip(void **state)
{
        char previous[RFC3339_SIZE] = "";
        for (int64_t day = -165000; day < 165000; day++) {
                char text[RFC3339_SIZE];
                int64_t ms;
                time_format_rfc3339(day * 86400000, text);
                assert_int_equal(time_parse_rfc3339(slice_of(text), &ms), 0);
                assert_true(ms == day * 86400000);
                assert_true(strcmp(previous, text) < 0);
                memcpy(previous, text, sizeof(text));
        }
}

static void micro_times_keep_their_digits(void **state)
{
        char text[RFC3339_SIZE];
        int64_t us;
        time_format_rfc3339_micro(1767323045000007, text);
        assert_string_equal(text, "2026-01-02T03:04:05.000007Z");
        assert_int_equal(time_parse_rfc3339_micro(slice_of(text), &us), 0);
        assert_true(us == 1767323045000007);
}

static void times_are_read_with_offsets_and_fractions_and_nothing_else(void **state)
{
        static const struct {
                const char *text;
                int64_t ms; /* TIME_NONE: refused */
        } cases[] = {
                { "1970-01-01T00:00:01Z", 1000 },           { "1970-01-01T00:00:01.5Z", 1500 },
                { "1970-01-01T00:00:01.123456789Z", 1123 }, { "1970-01-01T02:00:00+02:00", 0 },
                { "1969-12-31T19:30:00-04:30", 0 },         { "1970-01-01T00:00:01", TIME_NONE },
                { "1970-01-01 00:00:01Z", TIME_NONE },      { "1970-13-01T00:00:01Z", TIME_NONE },
                { "1970-02-29T00:00:01Z", TIME_NONE },      { "1900-02-29T00:00:01Z", TIME_NONE },
                { "1970-01-00T00:00:01Z", TIME_NONE },      { "1970-01-01T24:00:00Z", TIME_NONE },
                { "1970-01-01T00:60:00Z", TIME_NONE },      { "1970-01-01T00:00:60Z", TIME_NONE },
                { "1970-01-01T00:00:00.Z", TIME_NONE },     { "1970-01-01T00:00:00Zx", TIME_NONE },
                { "1970-01-01T00:00:00+0200", TIME_NONE },  { "", TIME_NONE },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                int64_t ms = TIME_NONE;
                int code = time_parse_rfc3339(slice_of(cases[i].text), &ms);
                assert_int_equal(code, cases[i].ms == TIME_NONE ? ERR_INVALID : 0);
                assert_true(ms == cases[i].ms);
        }
}

static void what_api_servers_let_pass_as_a_time_is_read_too(void **state)
{
        static const struct {
                const char *text;
                int64_t ms; /* TIME_NONE: refused */
        } cases[] = {
                { "1970-01-01T00:00:01.5Z", 1500 },
                { "1970-01-01t00:00:01z", 1000 },
                { "1970-01-01T00:01Z", 60000 },
                { "1970-01-01T00:01", 60000 },
                { "1970-01-01T00:00:01", 1000 },
                { "1970-01-01 00:00:01", 1000 },
                { "1970-01-01T00:00:01,25Z", 1250 },
                { "1970-01-01T02:00:00+0200", 0 },
                { "1970-01-05T04:39:00+99:99",
                  1000 * (4 * 86400 + 4 * 3600 + 39 * 60 - 99 * 3600 - 99 * 60) },
                { "1970-01-01T24:00:00Z", TIME_NONE },
                { "1970-02-29T00:00:01Z", TIME_NONE },
                { "1970-01-01T00Z", TIME_NONE },
                { "1970-01-01", TIME_NONE },
                { "1970-01-01T00:00:00Zx", TIME_NONE },
                { "1970-01-01T00:00:00+", TIME_NONE },
                { "soon", TIME_NONE },
                { "", TIME_NONE },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                int64_t ms = TIME_NONE;
                int code = time_parse_lenient(slice_of(cases[i].text), &ms);
                assert_int_equal(code, cases[i].ms == TIME_NONE ? ERR_INVALID : 0);
                assert_true(ms == cases[i].ms);
        }
}

static void go_durations_are_read(void **state)
{
        static const struct {
                const char *text;
                int64_t ns;
        } cases[] = {
                { "0", 0 },
                { "1h30m", 5400000000000 },
                { "90s", 90000000000 },
                { "1.5h", 5400000000000 },
                { "300ms", 300000000 },
                { "-1.5us", -1500 },
                { "2\xc2\xb5s", 2000 },
                { "+5ns", 5 },
                { ".5s", 500000000 },
                { "1.s", 1000000000 },
                { "9223372036854775807ns", INT64_MAX },
                { "-9223372036854775808ns", INT64_MIN },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                int64_t ns = -1;
                assert_int_equal(duration_parse_go(slice_of(cases[i].text), &ns), 0);
                assert_true(ns == cases[i].ns);
        }
}

static void what_go_refuses_as_a_duration_is_refused(void **state)
{
        static const char *const cases[] = { "",
                                             "-",
                                             "3",
                                             "s",
                                             ".s",
                                             "1x",
                                             "1h 2m",
                                             "1d",
                                             "9223372036854775808ns",
                                             "3000000h",
                                             "1h-2m",
                                             "--1s",
                                             "1.2.3s",
                                             "99999999999999999999s" };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                int64_t ns;
                assert_int_equal(duration_parse_go(slice_of(cases[i]), &ns), ERR_INVALID);
        }
}

static void durations_print_as_go_prints_them(void **state)
{
        static const struct {
                int64_t ns;
                const char *text;
        } cases[] = {
                { 0, "0s" },
                { 1, "1ns" },
                { 1100, "1.1\xc2\xb5s" },
                { 2200000, "2.2ms" },
                { 3300000000, "3.3s" },
                { 60000000000, "1m0s" },
                { 90000000000, "1m30s" },
                { 245001000000, "4m5.001s" },
                { 18367001000000, "5h6m7.001s" },
                { -480000000001, "-8m0.000000001s" },
                { INT64_MAX, "2562047h47m16.854775807s" },
                { INT64_MIN, "-2562047h47m16.854775808s" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                char text[64];
                duration_format_go(cases[i].ns, text, sizeof(text));
                assert_string_equal(text, cases[i].text);
        }
}

static void ages_print_as_kubectl_prints_them(void **state)
{
        static const struct {
                int64_t seconds;
                const char *text;
        } cases[] = {
                { -2, "<invalid>" },  { -1, "0s" },       { 0, "0s" },          { 119, "119s" },
                { 120, "2m" },        { 130, "2m10s" },   { 599, "9m59s" },     { 600, "10m" },
                { 10799, "179m" },    { 10800, "3h" },    { 11000, "3h3m" },    { 28800, "8h" },
                { 172799, "47h" },    { 172800, "2d" },   { 442800, "5d3h" },   { 691200, "8d" },
                { 63071999, "729d" }, { 63072000, "2y" }, { 63158400, "2y1d" }, { 252288000, "8y" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                char text[32];
                duration_format_human(cases[i].seconds * 1000, text, sizeof(text));
                assert_string_equal(text, cases[i].text);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(times_have_their_rfc3339_form),
                cmocka_unit_test(every_day_of_nine_centuries_survives_the_round_trip),
                cmocka_unit_test(micro_times_keep_their_digits),
                cmocka_unit_test(times_are_read_with_offsets_and_fractions_and_nothing_else),
                cmocka_unit_test(what_api_servers_let_pass_as_a_time_is_read_too),
                cmocka_unit_test(go_durations_are_read),
                cmocka_unit_test(what_go_refuses_as_a_duration_is_refused),
                cmocka_unit_test(durations_print_as_go_prints_them),
                cmocka_unit_test(ages_print_as_kubectl_prints_them),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
