/* Time zones: spec/resource-set.md 21. The files are made here, so that a machine without them tests too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/timefmt.h"
#include "common/base/zone_test.h"

static int64_t at(const char *text)
{
        int64_t ms;

        assert_int_equal(time_parse_rfc3339(slice_of(text), &ms), 0);
        return ms / 1000;
}

static const struct zone *zone(struct arena *arena, const char *rule)
{
        const struct zone *z;
        struct error err = { 0 };
        AUTO_BUF struct buf file;

        zone_test_file(&file, rule);
        if (zone_parse(arena, (struct slice){ file.data, file.len }, &z, &err) < 0)
                fail_msg("%s: %s", rule, err.text);
        return z;
}

static void summer_begins_and_ends_by_the_rule(void **state)
{
        static const struct {
                const char *rule, *at;
                int offset;
                const char *until;
        } table[] = {
                { "CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T00:59:59Z", 3600, "2026-03-29T01:00:00Z" },
                { "CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00Z", 7200, "2026-10-25T01:00:00Z" },
                { "CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T01:00:00Z", 3600, "2027-03-28T01:00:00Z" },
                { "EST5EDT,M3.2.0,M11.1.0", "2026-03-08T06:59:59Z", -18000, "2026-03-08T07:00:00Z" },
                { "EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00Z", -14400, "2026-11-01T06:00:00Z" },
                { "AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-01-01T00:00:00Z", 39600, "2026-04-04T16:00:00Z" },
                { "AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-06-01T00:00:00Z", 36000, "2026-10-03T16:00:00Z" },
                { "<+0330>-3:30", "2026-06-01T00:00:00Z", 12600, NULL },
                { "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59Z", -7200, "2026-03-29T01:00:00Z" },
                { "IST-1GMT0,M10.5.0,M3.5.0/1", "2026-01-01T00:00:00Z", 0, "2026-03-29T01:00:00Z" },
                { "XXX3YYY,J60/0,J300/0", "2024-03-01T02:59:59Z", -10800, "2024-03-01T03:00:00Z" },
                { "XXX3YYY,59/0,299/0", "2026-03-01T02:59:59Z", -10800, "2026-03-01T03:00:00Z" },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                int64_t until, offset = zone_offset(zone(&arena, table[i].rule), at(table[i].at), &until);

                if (offset != table[i].offset || until != (table[i].until ? at(table[i].until) : INT64_MAX))
                        fail_msg("%s at %s: %lld until %lld", table[i].rule, table[i].at, (long long)offset,
                                 (long long)until);
        }
}

static void before_the_rule_the_table_holds(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct zone *z = zone(&arena, "AAA-2");
        int64_t until;

        assert_int_equal(zone_offset(z, ZONE_TEST_CHANGE_S - 1, &until), 600);
        assert_int_equal(until, ZONE_TEST_CHANGE_S);
        assert_int_equal(zone_offset(z, ZONE_TEST_CHANGE_S, &until), 7200);
        z = zone(&arena, "");
        assert_int_equal(zone_offset(z, ZONE_TEST_CHANGE_S, &until), 1200);
        assert_int_equal(until, INT64_MAX);
        assert_int_equal(zone_offset(&zone_utc, 5, &until), 0);
}

static void a_broken_file_is_refused_wherever_it_ends(void **state)
{
        static const char *const bad[] = { "X",
                                           "CET",
                                           "CET-1CEST",
                                           "CET-1CEST,M13.1.0,M1.1.0",
                                           "CET-1CEST,M3.5.0",
                                           "CET-168",
                                           "<>1",
                                           "CET-1 ",
                                           "CET-1CEST,M3.6.0,M1.1.0",
                                           "CET-1CEST,J0,J1",
                                           "CET-1CEST,M3.1.0,M4.1.0,",
                                           "CET-1:60" };
        AUTO_BUF struct buf file;

        zone_test_file(&file, "CET-1");
        for (size_t n = 0; n < file.len; n++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                const struct zone *z;

                assert_int_equal(zone_parse(&arena, (struct slice){ file.data, n }, &z, NULL), ERR_INVALID);
        }
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                AUTO_BUF struct buf b;
                const struct zone *z;

                zone_test_file(&b, bad[i]);
                if (zone_parse(&arena, (struct slice){ b.data, b.len }, &z, NULL) != ERR_INVALID)
                        fail_msg("%s: was taken", bad[i]);
        }
}

static void a_name_stays_below_the_folder(void **state)
{
        static const char *const good[] = { "UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires",
                                            "Etc/GMT+5" };
        static const char *const bad[] = { "",     "/etc/passwd", "../x", "Europe/../x",
                                           "a//b", "Europe/",     "a b",  ".x" };

        for (size_t i = 0; i < ARRAY_LEN(good); i++)
                assert_true(zone_name_is_valid(good[i]));
        for (size_t i = 0; i < ARRAY_LEN(bad); i++)
                assert_false(zone_name_is_valid(bad[i]));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(summer_begins_and_ends_by_the_rule),
                cmocka_unit_test(before_the_rule_the_table_holds),
                cmocka_unit_test(a_broken_file_is_refused_wherever_it_ends),
                cmocka_unit_test(a_name_stays_below_the_folder),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
