/* Versions and ranges: spec/resource-set.md 20.3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/semver.h"

static struct semver version(const char *text)
{
        struct semver v;

        if (semver_parse(slice_of(text), &v) < 0)
                fail_msg("%s: no version", text);
        return v;
}

static void versions_are_read_as_tags_write_them(void **state)
{
        static const char *const bad[] = { "",
                                           "v",
                                           "1.2.3.4",
                                           "1..2",
                                           "a.b.c",
                                           "1.2.3-",
                                           "1.2.3+",
                                           "1.2.3-a..b",
                                           "1.2.3-01",
                                           "-1.2.3",
                                           "1.2.3-a_b",
                                           "1.2.x",
                                           "99999999999999999999.0.0",
                                           "V1.2.3" };
        struct semver v = version("v1.02.3-rc.1+build.5");

        assert_int_equal(v.number[0], 1);
        assert_int_equal(v.number[1], 2);
        assert_int_equal(v.number[2], 3);
        assert_true(slice_is(v.pre, "rc.1"));
        assert_int_equal(version("7").n_written, 1);
        assert_int_equal(version("1.2+a-b").n_written, 2);
        assert_int_equal(version("1.2+a-b").pre.len, 0);
        for (size_t i = 0; i < ARRAY_LEN(bad); i++)
                if (semver_parse(slice_of(bad[i]), &v) == 0)
                        fail_msg("%s: was taken", bad[i]);
}

static void versions_have_the_order_of_precedence(void **state)
{
        static const char *const rising[] = {
                "0.9.9",      "1.0.0-alpha",  "1.0.0-alpha.1", "1.0.0-alpha.beta",
                "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",
                "1.0.0",      "1.0.1",        "1.2.0",         "1.10.0",
                "2.0.0",      "10.0.0"
        };

        for (size_t i = 0; i < ARRAY_LEN(rising); i++)
                for (size_t k = 0; k < ARRAY_LEN(rising); k++) {
                        struct semver a = version(rising[i]), b = version(rising[k]);
                        int c = semver_compare(&a, &b);

                        if ((c > 0) - (c < 0) != (i > k) - (i < k))
                                fail_msg("%s and %s: %d", rising[i], rising[k], c);
                }
        struct semver a = version("1.0.0+a"), b = version("1.0.0+b");
        assert_int_equal(semver_compare(&a, &b), 0);
}

/* spec/resource-set.md checklist 119, spec/helm-chart.md checklist 28, 29 */
static void ranges_hold_what_they_say(void **state)
{
        static const struct {
                const char *range, *in, *out; /* versions separated by blanks */
        } table[] = {
                { "1.2.3", "1.2.3 v1.2.3 1.2.3+b", "1.2.4 1.2.2" },
                { "=1.2.3", "1.2.3", "1.2.4" },
                { "!=1.2.3", "1.2.4 1.2.2", "1.2.3" },
                { "!=1.2", "1.3.0 1.1.9", "1.2.0 1.2.9" },
                { "> 1.2.3", "1.2.4 2.0.0", "1.2.3 1.0.0" },
                { ">1.2", "1.3.0 2.0.0", "1.2.9 1.2.0" },
                { ">1", "2.0.0", "1.9.9" },
                { "<1.2.3", "1.2.2 0.0.1", "1.2.3" },
                { "<1.2", "1.1.9", "1.2.0" },
                { ">=1.2.3", "1.2.3 9.0.0", "1.2.2" },
                { "=>1.2.3", "1.2.3", "1.2.2" },
                { "<=1.2.3", "1.2.3 1.0.0", "1.2.4" },
                { "=<1.2.3", "1.2.3", "1.2.4" },
                { "<=2.x", "2.9.9", "3.0.0" },
                { "1.2", "1.2.0 1.2.9", "1.3.0 1.1.9" },
                { "1.x", "1.0.0 1.9.9", "2.0.0 0.9.9" },
                { "1.2.X", "1.2.7", "1.3.0" },
                { "*", "0.0.0 9.9.9", "1.0.0-rc.1" },
                { ">=*", "1.0.0", "" },
                { ">*", "0.0.1 1.0.0", "0.0.0" },
                { "!=*", "0.0.1 1.0.0", "0.0.0" },
                { "<*", "", "0.0.0 1.0.0" },
                { "<=*", "0.0.0 0.0.9", "0.1.0 1.0.0" },
                { "^*", "0.0.0", "0.0.1 1.0.0" },
                { "~*", "0.0.0 7.0.0", "" },
                { "~0.0.0", "0.0.0 0.3.0 7.0.0", "" },
                { "!=1", "0.9.0 2.0.0", "1.0.0 1.9.9" },
                { "!=1.2-0", "1.3.0 1.2.5 1.2.5-rc.1", "1.2.5-0" },
                { "<1", "0.9.9", "1.0.0" },
                { "<=1", "0.9.9 1.9.9", "2.0.0" },
                { "<=1.2", "1.2.9 0.3.0", "1.3.0" },
                { ">=1", "1.0.0 2.0.0", "0.9.9" },
                { ">=1.2.x", "1.2.0 2.0.0", "1.1.9" },
                { "^1.2", "1.2.0 1.9.9", "1.1.0 2.0.0" },
                { "^0.2", "0.2.0 0.2.9", "0.3.0 0.1.0" },
                { "^0.0.0", "0.0.0", "0.0.1" },
                { "1.x.3", "1.0.0 1.9.0", "2.0.0" },
                { "1.2 - 2.3", "2.3.5", "2.4.0" },
                { "1.2.3 - 2", "2.4.0", "3.0.0 1.2.2" },
                { "*-0", "1.3.0-rc.1 1.0.0", "" },
                { ">=1.2.3-0", "1.3.0-rc.1", "1.2.2" },
                { "<2.0.0-0", "1.3.0-rc.1 1.0.0", "2.0.0-beta.1 2.0.0" },
                { "1.2.x-beta", "1.2.0-beta 1.2.9", "1.2.0-alpha 1.3.0-beta" },
                { ">=18446744073709551615.0.0", "18446744073709551615.0.1", "1.0.0" },
                { "~1.2.3", "1.2.3 1.2.9", "1.3.0 1.2.2" },
                { "~>1.2.3", "1.2.9", "1.3.0" },
                { "~1.2", "1.2.0 1.2.9", "1.3.0" },
                { "~1", "1.0.0 1.9.0", "2.0.0" },
                { "^1.2.3", "1.2.3 1.9.0", "2.0.0 1.2.2" },
                { "^0.2.3", "0.2.3 0.2.9", "0.3.0" },
                { "^0.0.3", "0.0.3", "0.0.4" },
                { "^0.0", "0.0.9", "0.1.0" },
                { "^0", "0.9.0", "1.0.0" },
                { "^1.x", "1.0.0 1.9.0", "2.0.0" },
                { "1.2 - 2.3", "1.2.0 2.3.9", "2.4.0 1.1.9" },
                { "1.2.3 - 2.3.4", "1.2.3 2.3.4", "2.3.5 1.2.2" },
                { ">=1.0.0 <2.0.0", "1.5.0", "2.0.0 0.9.0" },
                { ">= 1.0.0, < 2.0.0, !=1.5.0", "1.6.0", "1.5.0 2.0.0" },
                { "1.x || >=3.0.0 <4", "1.5.0 3.2.0", "2.0.0 4.0.0" },
                { ">=1.0.0", "1.0.0", "1.1.0-rc.1" },
                { ">=1.0.0-0", "1.1.0-rc.1 1.0.0", "0.9.0" },
                { ">=1.0.0-0 <2.0.0", "1.1.0-rc.1 2.0.0-rc.1", "2.0.0" },
                { "~1.2.3-beta", "1.2.3-beta 1.2.3 1.2.9", "1.3.0-alpha 1.2.3-alpha" },
                { "1.x || ^2.0.0-0", "2.1.0-rc.1 1.0.0", "1.1.0-rc.1" },
                { "=v1.2.3", "1.2.3", "" },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                const struct semver_range *r;
                struct error err = { 0 };

                if (semver_range_parse(&arena, slice_of(table[i].range), &r, &err) < 0)
                        fail_msg("%s: %s", table[i].range, err.text);
                for (int in = 0; in < 2; in++) {
                        struct slice all = slice_of(in ? table[i].in : table[i].out), one;

                        while (all.len > 0) {
                                struct semver v;

                                slice_cut(&all, ' ', &one);
                                assert_int_equal(semver_parse(one, &v), 0);
                                if (semver_range_has(r, &v) != (bool)in)
                                        fail_msg("%s %s %.*s", table[i].range, in ? "lacks" : "holds",
                                                 (int)one.len, one.data);
                        }
                }
        }
}

static void what_is_no_range_is_refused_by_name(void **state)
{
        static const char *const bad[] = { "",        "a",      ">=",      "==1.2",  "1.2.3.4", ">>1",
                                           "1.2 -",   "==1",    "1.0 || ", "|| 1.0", "1.2.3-",  "*.x.x.x",
                                           "1 - x y", "V1.2.3", ">=1<2",   "1..2" };

        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                const struct semver_range *r;
                struct error err = { 0 };

                if (semver_range_parse(&arena, slice_of(bad[i]), &r, &err) != ERR_INVALID)
                        fail_msg("%s: was taken", bad[i]);
                assert_true(text_starts_with(err.text, "improper constraint: \""));
        }
}

/* spec/helm-chart.md checklist 30 */
static void what_is_wrong_with_a_range_is_told(void **state)
{
        static const struct {
                const char *range, *text;
        } rows[] = {
                { "==1", "improper constraint: \"==1\"" },
                { "V1.2.3", "improper constraint: \"V1.2.3\"" },
                { "1.0.0 || >=1<2", "improper constraint: \" >=1<2\"" },
                { "1x", "constraint parser error" },
                { ">=1.2x", "constraint parser error" },
                { "", "improper constraint: \"\"" },
        };
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                const struct semver_range *r;
                struct error err = { 0 };

                assert_int_equal(semver_range_parse(&arena, slice_of(rows[i].range), &r, &err), ERR_INVALID);
                assert_string_equal(err.text, rows[i].text);
        }
}

/* spec/helm-chart.md checklist 31 */
static void registries_are_strict(void **state)
{
        static const char *const good[] = { "1.2.3", "0.0.0", "1.2.3-rc.1", "1.2.3-0.x+b.01", "10.20.30+a" };
        static const char *const bad[] = { "v1.2.3", "1.2",      "1", "01.2.3", "1.02.3",
                                           "1.2.03", "1.2.3-01", "",  "latest" };

        for (size_t i = 0; i < ARRAY_LEN(good); i++)
                if (!semver_is_strict(slice_of(good[i])))
                        fail_msg("%s is refused", good[i]);
        for (size_t i = 0; i < ARRAY_LEN(bad); i++)
                if (semver_is_strict(slice_of(bad[i])))
                        fail_msg("%s is taken", bad[i]);
}

static void a_range_has_a_most_of_terms(void **state)
{
        char text[2 * SEMVER_TERMS_MAX + 3];
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct semver_range *r;
        struct error err = { 0 };

        for (size_t i = 0; i < sizeof(text); i += 2)
                memcpy(text + i, "1 ", MIN(2, sizeof(text) - i));
        text[2 * SEMVER_TERMS_MAX] = 0;
        assert_int_equal(semver_range_parse(&arena, slice_of(text), &r, &err), 0);
        text[2 * SEMVER_TERMS_MAX] = '1';
        text[2 * SEMVER_TERMS_MAX + 1] = 0;
        assert_int_equal(semver_range_parse(&arena, slice_of(text), &r, &err), ERR_LIMIT);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(versions_are_read_as_tags_write_them),
                cmocka_unit_test(versions_have_the_order_of_precedence),
                cmocka_unit_test(ranges_hold_what_they_say),
                cmocka_unit_test(what_is_no_range_is_refused_by_name),
                cmocka_unit_test(what_is_wrong_with_a_range_is_told),
                cmocka_unit_test(registries_are_strict),
                cmocka_unit_test(a_range_has_a_most_of_terms),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
