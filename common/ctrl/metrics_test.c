#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "common/ctrl/metrics.h"

static const char *const labels[] = { "verb", "code", NULL }, *const one[] = { "n", NULL };

static void counters_add_up_per_label_values(void **state)
{
        struct metrics *m = metrics_new();
        struct metric *c =
                metrics_register(m, METRIC_COUNTER, "requests_total", "Requests.", labels, NULL, 0);

        metric_add(c, 1, (const char *const[]){ "get", "200" });
        metric_add(c, 2, (const char *const[]){ "get", "200" });
        metric_add(c, 5, (const char *const[]){ "get", "404" });
        assert_true(metric_value(c, (const char *const[]){ "get", "200" }) == 3);
        assert_true(metric_value(c, (const char *const[]){ "get", "404" }) == 5);
        assert_true(metric_value(c, (const char *const[]){ "put", "404" }) == 0);
        assert_ptr_equal(c,
                         metrics_register(m, METRIC_COUNTER, "requests_total", "Requests.", labels, NULL, 0));
        metrics_free(m);
}

static void the_text_form_is_sorted_and_escaped(void **state)
{
        static const double buckets[] = { 0.1, 1 };
        struct metrics *m = metrics_new();
        struct metric *c = metrics_register(m, METRIC_COUNTER, "b_total", "Back\\slash.", labels, NULL, 0);
        struct metric *h = metrics_register(m, METRIC_HISTOGRAM, "a_seconds", "Time.", NULL, buckets, 2);
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        metric_add(c, 1, (const char *const[]){ "say \"x\"\n", "1" });
        metric_observe(h, 0.05, NULL);
        metric_observe(h, 0.5, NULL);
        metric_observe(h, 7, NULL);
        assert_int_equal(metrics_print(m, &b), 0);
        assert_string_equal(
                b.data,
                "# HELP a_seconds Time.\n# TYPE a_seconds histogram\n"
                "a_seconds_bucket{le=\"0.1\"} 1\na_seconds_bucket{le=\"1\"} 2\na_seconds_bucket{le=\"+Inf\"} "
                "3\n"
                "a_seconds_sum 7.55\na_seconds_count 3\n"
                "# HELP b_total Back\\\\slash.\n# TYPE b_total counter\n"
                "b_total{verb=\"say \\\"x\\\"\\n\",code=\"1\"} 1\n"
                "# HELP argosy_metric_series_dropped_total Series not kept because a metric was full.\n"
                "# TYPE argosy_metric_series_dropped_total counter\nargosy_metric_series_dropped_total 0\n");
        metrics_free(m);
}

static void a_full_metric_drops_and_counts_new_series(void **state)
{
        struct metrics *m = metrics_new();
        struct metric *c = metrics_register(m, METRIC_GAUGE, "g", "G.", one, NULL, 0);
        AUTO_BUF struct buf b;

        for (int i = 0; i < METRIC_SERIES_MAX + 3; i++) {
                char name[16];

                snprintf(name, sizeof(name), "%d", i);
                metric_set(c, i, (const char *const[]){ name });
        }
        buf_init(&b, 8 << 20);
        assert_int_equal(metrics_print(m, &b), 0);
        assert_non_null(strstr(b.data, "argosy_metric_series_dropped_total 3\n"));
        metrics_free(m);
}

static void what_is_removed_is_told_no_more_and_makes_room(void **state)
{
        static const char *const longer[] = { "a longer one" }, *const shorter[] = { "a" },
                                 *const next[] = { "next" };
        struct metrics *m = metrics_new();
        struct metric *g = metrics_register(m, METRIC_GAUGE, "g", "G.", one, NULL, 0);
        AUTO_BUF struct buf b;

        metric_set(g, 1, longer);
        metric_set(g, 2, shorter);
        for (int i = 2; i < METRIC_SERIES_MAX; i++) {
                char name[16];

                snprintf(name, sizeof(name), "%d", i);
                metric_set(g, i, (const char *const[]){ name });
        }
        metric_remove(g, longer);
        metric_remove(g, next); /* it never was */
        metric_remove(NULL, next);
        assert_true(metric_value(g, longer) == 0 && metric_value(g, shorter) == 2);
        metric_remove(g, shorter);
        metric_set(g, 3, next);
        assert_true(metric_value(g, shorter) == 0 && metric_value(g, next) == 3);
        buf_init(&b, 8 << 20);
        assert_int_equal(metrics_print(m, &b), 0);
        assert_null(strstr(b.data, "n=\"a"));
        assert_non_null(strstr(b.data, "argosy_metric_series_dropped_total 0\n"));
        metrics_free(m);
}

static void numbers_may_be_endless(void **state)
{
        static const struct {
                double value;
                const char *line;
        } lines[] = {
                { INFINITY, "g{n=\"x\"} +Inf\n" },
                { -INFINITY, "g{n=\"x\"} -Inf\n" },
                { -0.25, "g{n=\"x\"} -0.25\n" },
                { 1767225600000.0, "g{n=\"x\"} 1767225600000\n" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct metrics *m = metrics_new();
                struct metric *g = metrics_register(m, METRIC_GAUGE, "g", "G.", one, NULL, 0);
                AUTO_BUF struct buf b;

                buf_init(&b, 1 << 20);
                metric_set(g, lines[i].value, (const char *const[]){ "x" });
                assert_int_equal(metrics_print(m, &b), 0);
                if (!strstr(b.data, lines[i].line))
                        fail_msg("%s lacks %s", b.data, lines[i].line);
                metrics_free(m);
        }
}

/* What is at a limit is within; each bucket holds those of the ones before. */
static void a_value_counts_in_the_first_bucket_that_holds_it(void **state)
{
        static const double buckets[] = { 1, 2, 4 };
        struct metrics *m = metrics_new();
        struct metric *h = metrics_register(m, METRIC_HISTOGRAM, "h", "H.", one, buckets, 3);
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        metric_observe(h, 1, (const char *const[]){ "x" });
        metric_observe(h, 2, (const char *const[]){ "x" });
        metric_observe(h, 3, (const char *const[]){ "x" });
        metric_observe(h, 4, (const char *const[]){ "y" });
        metric_observe(NULL, 4, (const char *const[]){ "y" });
        assert_int_equal(metrics_print(m, &b), 0);
        assert_non_null(strstr(b.data, "h_bucket{n=\"x\",le=\"1\"} 1\nh_bucket{n=\"x\",le=\"2\"} 2\n"
                                       "h_bucket{n=\"x\",le=\"4\"} 3\nh_bucket{n=\"x\",le=\"+Inf\"} 3\n"
                                       "h_sum{n=\"x\"} 6\nh_count{n=\"x\"} 3\n"
                                       "h_bucket{n=\"y\",le=\"1\"} 0\nh_bucket{n=\"y\",le=\"2\"} 0\n"
                                       "h_bucket{n=\"y\",le=\"4\"} 1\n"));
        metrics_free(m);
}

static void values_that_look_alike_when_joined_are_kept_apart(void **state)
{
        static const char *const here[] = { "ab", "" }, *const there[] = { "a", "b" },
                                 *const missing[] = { "ab", NULL };
        struct metrics *m = metrics_new();
        struct metric *c = metrics_register(m, METRIC_COUNTER, "c", "C.", labels, NULL, 0);

        metric_add(c, 1, here);
        metric_add(c, 2, there);
        assert_true(metric_value(c, here) == 1 && metric_value(c, there) == 2);
        assert_true(metric_value(c, missing) == 1); /* none is an empty one */
        metrics_free(m);
}

static void values_that_are_too_long_make_no_series(void **state)
{
        char endless[4096];
        const char *const values[] = { endless };
        struct metrics *m = metrics_new();
        struct metric *c = metrics_register(m, METRIC_COUNTER, "c", "C.", one, NULL, 0);

        memset(endless, 'x', sizeof(endless) - 1);
        endless[sizeof(endless) - 1] = '\0';
        metric_add(c, 1, values);
        assert_true(metric_value(c, values) == 0);
        metric_remove(c, values);
        metrics_free(m);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(counters_add_up_per_label_values),
                cmocka_unit_test(the_text_form_is_sorted_and_escaped),
                cmocka_unit_test(a_full_metric_drops_and_counts_new_series),
                cmocka_unit_test(what_is_removed_is_told_no_more_and_makes_room),
                cmocka_unit_test(numbers_may_be_endless),
                cmocka_unit_test(a_value_counts_in_the_first_bucket_that_holds_it),
                cmocka_unit_test(values_that_look_alike_when_joined_are_kept_apart),
                cmocka_unit_test(values_that_are_too_long_make_no_series),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
