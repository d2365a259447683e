#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/ctrl/metrics.h"

static const char *const labels[] = { "verb", "code", NULL };

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
        static const char *const one[] = { "n", NULL };
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

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(counters_add_up_per_label_values),
                cmocka_unit_test(the_text_form_is_sorted_and_escaped),
                cmocka_unit_test(a_full_metric_drops_and_counts_new_series),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
