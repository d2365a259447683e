#include "common/json/quantity.h"

#include "common/json/doc_test.h"

static struct quantity q(const char *text)
{
        struct quantity v;
        assert_int_equal(quantity_parse(slice_of(text), &v, NULL), 0);
        return v;
}

static void assert_prints(struct quantity v, const char *want)
{
        char got[64];
        quantity_print(v, got);
        assert_string_equal(got, want);
}

static void quantities_print_canonically(void **state)
{
        static const struct {
                const char *in, *out;
        } cases[] = {
                { "0", "0" },
                { "100m", "100m" },
                { "0.1", "100m" },
                { "1000m", "1" },
                { "1500m", "1500m" },
                { "1.5", "1500m" },
                { "3Gi", "3Gi" },
                { "1024Mi", "1Gi" },
                { "1536Mi", "1536Mi" },
                { "1.5Gi", "1536Mi" },
                { "0.5Gi", "512Mi" },
                { "1Ki", "1Ki" },
                { "0.5Ki", "512" },
                { "1000", "1k" },
                { "1000000", "1M" },
                { "12e6", "12e6" },
                { "1e3", "1e3" },
                { "1E3", "1e3" },
                { "1E", "1E" },
                { "100n", "100n" },
                { "0.1n", "1n" },
                { "1u", "1u" },
                { "-1", "-1" },
                { "-100m", "-100m" },
                { "+2", "2" },
                { ".5", "500m" },
                { "2.", "2" },
                { "0.0000000001", "1n" },
                { "1.0000000001Ki", "1024000000103n" },
                { "8Ei", "9223372036854775807" },
                { "007", "7" },
                { "0.3Ki", "307200m" },
                { "1e-3", "1e-3" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                assert_prints(q(cases[i].in), cases[i].out);
}

static void malformed_quantities_are_refused(void **state)
{
        static const char *const cases[] = { "",    "m",   "1x",    "1 ",   " 1",    "1.2.3",         "--1",
                                             "1mm", "1kI", "1e",    "1Kii", "1e1.5", "1e99999999999", ".",
                                             "+",   "-",   "1_000", "0x10", "1K" };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct quantity v;
                if (quantity_parse(slice_of(cases[i]), &v, NULL) == 0)
                        print_error("accepted: %s\n", cases[i]);
                assert_int_equal(quantity_parse(slice_of(cases[i]), &v, NULL), ERR_INVALID);
        }
}

static void quantities_compare_by_value(void **state)
{
        assert_int_equal(quantity_compare(q("1Gi"), q("1024Mi")), 0);
        assert_int_equal(quantity_compare(q("1G"), q("1Gi")), -1);
        assert_int_equal(quantity_compare(q("1"), q("999m")), 1);
        assert_int_equal(quantity_compare(q("-1"), q("0")), -1);
}

static void sums_keep_the_first_format(void **state)
{
        assert_prints(quantity_add(q("1Gi"), q("1Mi")), "1025Mi");
        assert_prints(quantity_add(q("0"), q("1Mi")), "1Mi");
        assert_prints(quantity_add(q("1500m"), q("500m")), "2");
        assert_prints(quantity_subtract(q("2"), q("500m")), "1500m");
        assert_prints(quantity_subtract(q("1"), q("2")), "-1");
}

static void huge_values_saturate(void **state)
{
        struct quantity huge = q("1e30000");
        assert_int_equal(quantity_compare(quantity_add(huge, huge), huge), 0);
        assert_int_equal(quantity_compare(quantity_subtract(q("-1e30000"), huge), q("-1e30000")), 0);
        char digits[3000];
        memset(digits, '9', sizeof(digits));
        struct quantity v;
        assert_int_equal(quantity_parse((struct slice){ digits, sizeof(digits) }, &v, NULL), 0);
        assert_int_equal(quantity_compare(v, huge), 0);
        assert_int_equal(quantity_compare(q("1e-30000"), q("1n")), 0);
}

static void doubles_are_close(void **state)
{
        assert_true(quantity_to_double(q("1.5")) == 1.5);
        assert_true(quantity_to_double(q("3Gi")) == 3.0 * 1024 * 1024 * 1024);
        assert_true(quantity_to_double(q("-250m")) == -0.25);
}

static void percentages_round_as_asked(void **state)
{
        static const struct {
                const char *value;
                int64_t total;
                bool up;
                int64_t want;
        } cases[] = { { "'25%'", 10, true, 3 }, { "'25%'", 10, false, 2 }, { "'25%'", 8, true, 2 },
                      { "5", 10, true, 5 },     { "'0%'", 10, true, 0 },   { "'100%'", 7, false, 7 },
                      { "'150%'", 4, false, 6 } };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_JSON json_t *v = doc_of(cases[i].value);
                int64_t got = -1;
                assert_int_equal(int_or_percent(v, cases[i].total, cases[i].up, &got, NULL), 0);
                assert_int_equal(got, cases[i].want);
        }
        static const char *const bad[] = { "'25'", "'%'", "'x%'", "''",
                                           "true", "1.5", "null", "'9223372036854775807%'" };
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                AUTO_JSON json_t *v = doc_of(bad[i]);
                int64_t got;
                assert_int_equal(int_or_percent(v, 1000, true, &got, NULL), ERR_INVALID);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(quantities_print_canonically),
                cmocka_unit_test(malformed_quantities_are_refused),
                cmocka_unit_test(quantities_compare_by_value),
                cmocka_unit_test(sums_keep_the_first_format),
                cmocka_unit_test(huge_values_saturate),
                cmocka_unit_test(doubles_are_close),
                cmocka_unit_test(percentages_round_as_asked),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
