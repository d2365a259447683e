#include "member-agent/apply/limiter.h"

#include "member-agent/apply/testing.h"

/* Sequences of spec/member-agent.md 2.14, in ms, to three digits. */
static void assert_sequence(bool settled, const double *seconds, size_t n)
{
        struct limiter l = { 0 };

        for (size_t i = 0; i < n; i++) {
                double is = (double)limiter_next_ms(&l, &limiter_defaults, 1, 1, settled) / 1000;

                assert_true(is > seconds[i] * 0.99 && is < seconds[i] * 1.01);
        }
}

/* spec/member-agent.md checklist 49 */
static void an_unavailable_work_backs_off_slowly_then_fast(void **state)
{
        static const double s[] = { 5,   2,    2.4,  2.88, 3.46, 4.15, 4.98, 5.97, 7.17,
                                    8.6, 10.3, 12.4, 14.9, 22.3, 33.4, 50.2, 75.2, 113,
                                    169, 254,  381,  571,  857,  900,  900 };

        assert_sequence(false, s, ARRAY_LEN(s));
}

/* spec/member-agent.md checklist 49 */
static void an_available_work_backs_off_fast(void **state)
{
        static const double s[] = { 5,    2,   3,   4.5, 6.75, 10.1, 15.2, 22.8, 34.2, 51.3,
                                    76.9, 115, 173, 259, 389,  584,  876,  900,  900 };

        assert_sequence(true, s, ARRAY_LEN(s));
}

/* spec/member-agent.md checklist 49: every option of its own. */
static void delays_follow_the_options(void **state)
{
        static const struct limiter_options options = { 3, 7, 1.5, 4, 8, 2, 60, true };
        static const struct {
                bool skips, settled;
                int max_slow_s, seconds[10];
        } lines[] = {
                { false, false, 8, { 7, 7, 7, 4, 6, 12, 24, 48, 60, 60 } }, /* 9 is beyond the slow ones */
                { false, true, 8, { 7, 7, 7, 4, 6, 12, 24, 48, 60, 60 } },
                { true, false, 8, { 7, 7, 7, 4, 6, 12, 24, 48, 60, 60 } },
                { true, true, 8, { 7, 7, 7, 4, 8, 16, 32, 60, 60, 60 } },
                { true, false, 6, { 7, 7, 7, 4, 6, 12, 24, 48, 60, 60 } }, /* 6 is the last slow one */
                { true, false, 9, { 7, 7, 7, 4, 6, 9, 18, 36, 60, 60 } },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct limiter_options o = options;
                struct limiter l = { 0 };

                o.skip_to_fast = lines[i].skips;
                o.max_slow_s = lines[i].max_slow_s;
                for (size_t k = 0; k < ARRAY_LEN(lines[i].seconds); k++)
                        assert_int_equal(limiter_next_ms(&l, &o, 1, 1, lines[i].settled),
                                         lines[i].seconds[k] * 1000);
        }
}

/* spec/member-agent.md checklist 49 */
static void a_new_generation_or_result_starts_over(void **state)
{
        struct limiter l = { 0 };

        for (int i = 0; i < 10; i++)
                limiter_next_ms(&l, &limiter_defaults, 1, 1, false);
        assert_int_equal(limiter_next_ms(&l, &limiter_defaults, 2, 1, false), 5000);
        assert_int_equal(limiter_next_ms(&l, &limiter_defaults, 2, 1, false), 2000);
        assert_int_equal(limiter_next_ms(&l, &limiter_defaults, 2, 9, false), 5000);
}

static void impossible_options_are_replaced(void **state)
{
        struct limiter_options o = limiter_checked((struct limiter_options){ .attempts_with_fixed_delay = 41,
                                                                             .fixed_delay_s = 1,
                                                                             .slow_base = 2,
                                                                             .fast_base = 1.5,
                                                                             .initial_slow_s = 20,
                                                                             .max_slow_s = 10,
                                                                             .max_fast_s = 900 });

        assert_int_equal(o.attempts_with_fixed_delay, 1);
        assert_true(o.fixed_delay_s == 2 && o.slow_base == 1.2 && o.fast_base == 1.2);
        assert_true(o.initial_slow_s == 2 && o.max_slow_s == 30 && o.max_fast_s == 900);
}

/* spec/member-agent.md 2.14: the ends of each range belong to it. */
static void possible_options_stay(void **state)
{
        static const struct limiter_options rows[] = {
                { 1, 2, 1.05, 2, 2, 1.05, 2, false },
                { 40, 2, 1.05, 2, 15, 100, 3600, true },
                { 2, 60, 100, 3600, 3600, 100, 3600, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct limiter_options o = limiter_checked(rows[i]);

                assert_int_equal(o.attempts_with_fixed_delay, rows[i].attempts_with_fixed_delay);
                assert_true(o.fixed_delay_s == rows[i].fixed_delay_s && o.slow_base == rows[i].slow_base &&
                            o.fast_base == rows[i].fast_base);
                assert_true(o.initial_slow_s == rows[i].initial_slow_s &&
                            o.max_slow_s == rows[i].max_slow_s && o.max_fast_s == rows[i].max_fast_s);
                assert_int_equal(o.skip_to_fast, rows[i].skip_to_fast);
        }
}

/* spec/member-agent.md 2.14: what is out of its range alone takes its group along. */
static void each_bound_counts(void **state)
{
        static const struct {
                struct limiter_options o;
                bool attempts, fixed, bases, times; /* what is replaced */
        } rows[] = {
                { { 0, 5, 1.2, 2, 15, 1.5, 900, true }, .attempts = true },
                { { 41, 5, 1.2, 2, 15, 1.5, 900, true }, .attempts = true },
                { { 3, 1.9, 1.2, 2, 15, 1.5, 900, true }, .fixed = true },
                { { 3, 5, 1.04, 2, 15, 1.5, 900, true }, .bases = true },
                { { 3, 5, 1.6, 2, 15, 1.5, 900, true }, .bases = true },
                { { 3, 5, 1.2, 2, 15, 101, 900, true }, .bases = true },
                { { 3, 5, 1.2, 1.9, 15, 1.5, 900, true }, .times = true },
                { { 3, 5, 1.2, 16, 15, 1.5, 900, true }, .times = true },
                { { 3, 5, 1.2, 2, 901, 1.5, 900, true }, .times = true },
                { { 3, 5, 1.2, 2, 15, 1.5, 3601, true }, .times = true },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct limiter_options is = limiter_checked(rows[i].o), wanted = rows[i].o;

                if (rows[i].attempts)
                        wanted.attempts_with_fixed_delay = 1;
                if (rows[i].fixed)
                        wanted.fixed_delay_s = 2;
                if (rows[i].bases)
                        wanted.slow_base = wanted.fast_base = 1.2;
                if (rows[i].times) {
                        wanted.initial_slow_s = 2;
                        wanted.max_slow_s = 30;
                        wanted.max_fast_s = 900;
                }
                assert_int_equal(is.attempts_with_fixed_delay, wanted.attempts_with_fixed_delay);
                assert_true(is.fixed_delay_s == wanted.fixed_delay_s);
                assert_true(is.slow_base == wanted.slow_base && is.fast_base == wanted.fast_base);
                assert_true(is.initial_slow_s == wanted.initial_slow_s &&
                            is.max_slow_s == wanted.max_slow_s && is.max_fast_s == wanted.max_fast_s);
        }
}

static void all_attempts_with_a_fixed_delay_have_it_and_skipping_is_an_option(void **state)
{
        static const struct limiter_options o = { 3, 7, 2, 2, 8, 3, 30, false };
        static const int64_t ms[] = { 7000, 7000, 7000, 2000, 4000, 8000, 24000, 30000, 30000 };
        struct limiter l = { 0 };

        for (size_t i = 0; i < ARRAY_LEN(ms); i++)
                assert_int_equal(limiter_next_ms(&l, &o, 1, 1, true), ms[i]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_unavailable_work_backs_off_slowly_then_fast),
                cmocka_unit_test(an_available_work_backs_off_fast),
                cmocka_unit_test(delays_follow_the_options),
                cmocka_unit_test(a_new_generation_or_result_starts_over),
                cmocka_unit_test(impossible_options_are_replaced),
                cmocka_unit_test(possible_options_stay),
                cmocka_unit_test(each_bound_counts),
                cmocka_unit_test(all_attempts_with_a_fixed_delay_have_it_and_skipping_is_an_option),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
