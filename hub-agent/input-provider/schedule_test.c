/* Schedules: spec/resource-set.md 21. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/timefmt.h"
#include "common/base/zone_test.h"
#include "hub-agent/input-provider/schedule.h"

#define MINUTE_MS INT64_C(60000)

static int64_t ms(const char *text)
{
        int64_t at;

        if (time_parse_rfc3339(slice_of(text), &at) < 0)
                fail_msg("%s: no time", text);
        return at;
}

static int find_zone(void *ctx, const char *name, struct arena *arena, const struct zone **ret,
                     struct error *err)
{
        AUTO_BUF struct buf file;

        zone_test_file(&file, "CET-1CEST,M3.5.0,M10.5.0/3");
        if (!text_equal(name, "Europe/Berlin"))
                return error_set(err, ERR_NOT_FOUND, "unknown time zone %s", name);
        return zone_parse(arena, (struct slice){ file.data, file.len }, ret, err);
}
static const struct zone_source zones = { find_zone, NULL };

static void next_is(const char *cron, const char *zone, const char *after, const char *wanted)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct schedule_entry e = { .cron = cron, .time_zone = zone };
        struct schedule s = { &e, 1, MINUTE_MS };
        struct error err = { 0 };
        char text[RFC3339_SIZE] = "never";
        int64_t next;

        if (schedule_parse(&s, &zones, &arena, &err) < 0)
                fail_msg("%s", err.text);
        if (schedule_next(&s, ms(after), &next))
                time_format_rfc3339(next, text);
        if (!text_equal(text, wanted))
                fail_msg("%s in %s after %s: %s, not %s", cron, zone, after, text, wanted);
}

/* spec/resource-set.md checklist 121 */
static void the_next_time_is_the_first_that_fits(void **state)
{
        next_is("* * * * *", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z");
        next_is("* * * * *", "UTC", "2026-01-01T00:00:59Z", "2026-01-01T00:01:00Z");
        next_is("30 2 * * *", "", "2026-01-01T02:30:00Z", "2026-01-02T02:30:00Z");
        next_is("0 9-17/4 * * *", "UTC", "2026-01-01T10:00:00Z", "2026-01-01T13:00:00Z");
        next_is("*/20 * * * *", "UTC", "2026-01-01T00:41:00Z", "2026-01-01T01:00:00Z");
        next_is("5/20 * * * *", "UTC", "2026-01-01T00:06:00Z", "2026-01-01T00:25:00Z");
        next_is("0 0 1,15 * *", "UTC", "2026-01-02T00:00:00Z", "2026-01-15T00:00:00Z");
        next_is("0 0 * mar,JUN *", "UTC", "2026-03-31T00:00:00Z", "2026-06-01T00:00:00Z");
        next_is("0 0 ? * MON-FRI", "UTC", "2026-01-02T01:00:00Z", "2026-01-05T00:00:00Z");
        next_is("0 0 13 * 5", "UTC", "2026-01-03T00:00:00Z", "2026-01-09T00:00:00Z"); /* either */
        next_is("0 0 */2 * 5", "UTC", "2026-01-03T00:00:00Z", "2026-01-05T00:00:00Z");
        next_is("0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z");
        next_is("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z");
        next_is("0 0 31 2 *", "UTC", "2026-01-01T00:00:00Z", "never");
        next_is("@hourly", "UTC", "2026-01-01T00:10:00Z", "2026-01-01T01:00:00Z");
        next_is("@weekly", "UTC", "2026-01-01T00:10:00Z", "2026-01-04T00:00:00Z");
        next_is("@monthly", "UTC", "2026-01-01T00:10:00Z", "2026-02-01T00:00:00Z");
        next_is("@annually", "UTC", "2026-01-01T00:10:00Z", "2027-01-01T00:00:00Z");
        next_is("@every 90m", "UTC", "2026-01-01T00:10:00Z", "2026-01-01T01:30:00Z");
}

/* spec/resource-set.md checklist 121 */
static void a_time_zone_moves_the_times(void **state)
{
        next_is("0 9 * * *", "Europe/Berlin", "2026-01-01T00:00:00Z", "2026-01-01T08:00:00Z");
        next_is("0 9 * * *", "Europe/Berlin", "2026-07-01T00:00:00Z", "2026-07-01T07:00:00Z");
        next_is("0 0 1 * *", "Europe/Berlin", "2026-06-30T00:00:00Z", "2026-06-30T22:00:00Z");
        next_is("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-30T00:30:00Z"); /* skipped */
        next_is("0 3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z");
}

static void refused(const char *cron, const char *zone, const char *window, const char *words)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct schedule_entry e[2] = { { .cron = "@daily" },
                                       { .cron = cron, .time_zone = zone, .window = window } };
        struct schedule s = { e, 2, 2 * MINUTE_MS };
        struct error err = { 0 };

        if (schedule_parse(&s, &zones, &arena, &err) == 0)
                fail_msg("%s: was taken", cron);
        if (!text_equal(err.text, words))
                fail_msg("%s, not %s", err.text, words);
}

/* spec/resource-set.md checklist 121 */
static void what_is_no_schedule_is_named_with_its_place(void **state)
{
        refused("@daily", NULL, "3m59s",
                "failed to validate schedule[1]: a non-zero window (3m59s) must always be at least twice the "
                "timeout (2m0s)");
        refused("@daily", NULL, "-1h", "failed to validate schedule[1]: negative window: -1h");
        refused("@daily", NULL, "x", "failed to validate schedule[1]: invalid window 'x'");
        refused("* * *", NULL, NULL,
                "failed to validate schedule[1]: failed to parse cron spec '* * *' with timezone 'UTC': "
                "expected "
                "exactly 5 fields, found 3");
        refused("@daily", "Mars/Base", NULL,
                "failed to validate schedule[1]: failed to parse cron spec '@daily' with timezone "
                "'Mars/Base': "
                "unknown time zone Mars/Base");
        refused("@daily", "../etc", NULL,
                "failed to validate schedule[1]: failed to parse cron spec '@daily' with timezone '../etc': "
                "unknown time zone ../etc");
}

static void fields_out_of_their_range_are_refused(void **state)
{
        static const char *const bad[] = { "60 * * * *", "* 24 * * *",   "* * 0 * *",    "* * * 13 *",
                                           "* * * * 7",  "5-1 * * * *",  "*/0 * * * *",  "a * * * *",
                                           "1, * * * *", "* * * FOO *",  "1--2 * * * *", "* * * * * *",
                                           "@never",     "@every",       "@every -1h",   "",
                                           "+1 * * * *", "1/+2 * * * *", "-1 * * * *" };

        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                struct cron c;

                if (cron_parse(slice_of(bad[i]), &c, NULL) == 0)
                        fail_msg("%s: was taken", bad[i]);
        }
}

static struct schedule daily(struct schedule_entry *e, const char *window, struct arena *arena)
{
        struct schedule s = { e, 1, 2 * MINUTE_MS };

        *e = (struct schedule_entry){ .cron = "0 8 * * *", .window = window };
        assert_int_equal(schedule_parse(&s, &zones, arena, NULL), 0);
        return s;
}

/* spec/resource-set.md checklist 121 */
static void a_run_must_end_within_the_window(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct schedule_entry e[2];
        struct schedule s = daily(&e[0], "1h", &arena);

        assert_true(schedule_allows(&(struct schedule){ 0 }, 0));
        assert_false(schedule_allows(&s, ms("2026-01-01T07:59:59Z")));
        assert_true(schedule_allows(&s, ms("2026-01-01T08:00:00Z")));
        assert_true(schedule_allows(&s, ms("2026-01-01T08:57:59Z")));
        assert_false(schedule_allows(&s, ms("2026-01-01T08:58:00Z")));
        s = daily(&e[0], "0s", &arena);
        assert_true(schedule_allows(&s, ms("2026-01-01T03:00:00Z")));
        daily(&e[0], "1h", &arena);
        daily(&e[1], "10h", &arena);
        s.n = 2;
        assert_true(schedule_allows(&s, ms("2026-01-01T12:00:00Z")));
}

/* spec/resource-set.md checklist 121 */
static void the_next_run_is_by_interval_only_within_a_window(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct schedule_entry e;
        struct schedule s = daily(&e, "1h", &arena);
        struct next_run n = schedule_after_run(&s, 10 * MINUTE_MS, ms("2026-01-01T08:00:00Z"));

        assert_int_equal(n.at_ms, ms("2026-01-01T08:10:00Z"));
        assert_null(n.entry);
        n = schedule_after_run(&s, 10 * MINUTE_MS, ms("2026-01-01T08:50:00Z"));
        assert_int_equal(n.at_ms, ms("2026-01-02T08:00:00Z"));
        assert_ptr_equal(n.entry, &e);
        n = schedule_after_run(&s, 0, ms("2026-01-01T08:00:00Z"));
        assert_int_equal(n.at_ms, ms("2026-01-02T08:00:00Z"));
        s = daily(&e, "", &arena);
        n = schedule_after_run(&s, 10 * MINUTE_MS, ms("2026-01-01T08:00:00Z"));
        assert_int_equal(n.at_ms, ms("2026-01-02T08:00:00Z"));
        n = schedule_after_run(&(struct schedule){ 0 }, 10 * MINUTE_MS, 0);
        assert_int_equal(n.at_ms, 10 * MINUTE_MS);
        assert_null(n.entry);
        n = schedule_after_run(&(struct schedule){ 0 }, 0, 0);
        assert_int_equal(n.at_ms, INT64_MAX);
}

/* The interval would end within a later window, but that one's own begin comes before. */
static void a_window_that_begins_before_the_interval_ends_comes_first(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct schedule_entry e;
        struct schedule s = daily(&e, "1h", &arena);
        struct next_run n = schedule_after_run(&s, 30 * MINUTE_MS, ms("2026-01-01T07:50:00Z"));

        assert_int_equal(n.at_ms, ms("2026-01-01T08:00:00Z"));
        assert_ptr_equal(n.entry, &e);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_next_time_is_the_first_that_fits),
                cmocka_unit_test(a_time_zone_moves_the_times),
                cmocka_unit_test(what_is_no_schedule_is_named_with_its_place),
                cmocka_unit_test(fields_out_of_their_range_are_refused),
                cmocka_unit_test(a_run_must_end_within_the_window),
                cmocka_unit_test(the_next_run_is_by_interval_only_within_a_window),
                cmocka_unit_test(a_window_that_begins_before_the_interval_ends_comes_first),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
