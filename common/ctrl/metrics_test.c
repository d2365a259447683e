#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "common/ctrl/metrics.h"

static const char *const labels[] = { "verb", "code", NULL }, *const one[] = { "n", NULL };
static const double bounds[] = { 1, 2, 4 };
enum { COUNTER, GAUGE, HISTOGRAM, ELSEWHERE };
static const struct metric_family table[] = {
        [COUNTER] = { "b_total", METRIC_COUNTER, METRIC_OF_HUB, labels, .help = "Back\\slash." },
        [GAUGE] = { "g", METRIC_GAUGE, METRIC_OF_BOTH, one, .help = "G." },
        [HISTOGRAM] = { "a_seconds", METRIC_HISTOGRAM, METRIC_OF_HUB, one, bounds, 3, "Time." },
        [ELSEWHERE] = { "c", METRIC_GAUGE, METRIC_OF_MEMBER, one, .help = "Of members alone." },
};

static struct metrics *made(void)
{
        struct metrics *m = metrics_new_of(table, ARRAY_LEN(table), METRIC_OF_HUB);

        assert_non_null(m);
        return m;
}

static void counters_add_up_per_label_values(void **state)
{
        struct metrics *m = made();

        metric_add(m, COUNTER, 1, (const char *const[]){ "get", "200" });
        metric_add(m, COUNTER, 2, (const char *const[]){ "get", "200" });
        metric_add(m, COUNTER, 5, (const char *const[]){ "get", "404" });
        assert_true(metric_value(m, COUNTER, (const char *const[]){ "get", "200" }) == 3);
        assert_true(metric_value(m, COUNTER, (const char *const[]){ "get", "404" }) == 5);
        assert_true(metric_value(m, COUNTER, (const char *const[]){ "put", "404" }) == 0);
        metrics_free(m);
}

static void the_text_form_is_sorted_and_escaped(void **state)
{
        struct metrics *m = made();
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        metric_add(m, COUNTER, 1, (const char *const[]){ "say \"x\"\n", "1" });
        metric_observe(m, HISTOGRAM, 0.5, (const char *const[]){ "x" });
        metric_observe(m, HISTOGRAM, 1.5, (const char *const[]){ "x" });
        metric_observe(m, HISTOGRAM, 7, (const char *const[]){ "x" });
        assert_int_equal(metrics_print(m, &b), 0);
        assert_string_equal(b.data,
                            "# HELP a_seconds Time.\n# TYPE a_seconds histogram\n"
                            "a_seconds_bucket{n=\"x\",le=\"1\"} 1\na_seconds_bucket{n=\"x\",le=\"2\"} 2\n"
                            "a_seconds_bucket{n=\"x\",le=\"4\"} 2\na_seconds_bucket{n=\"x\",le=\"+Inf\"} 3\n"
                            "a_seconds_sum{n=\"x\"} 9\na_seconds_count{n=\"x\"} 3\n"
                            "# HELP b_total Back\\\\slash.\n# TYPE b_total counter\n"
                            "b_total{verb=\"say \\\"x\\\"\\n\",code=\"1\"} 1\n"
                            "# HELP g G.\n# TYPE g gauge\n");
        metrics_free(m);
}

static void what_is_another_agents_is_neither_kept_nor_told(void **state)
{
        static const char *const x[] = { "x" };
        struct metrics *m = made();

        metric_set(m, ELSEWHERE, 5, x);
        metric_set(NULL, GAUGE, 5, x);
        assert_null(metric_series(m, ELSEWHERE, x));
        assert_null(metric_series(NULL, GAUGE, x));
        series_add(NULL, 1);
        series_observe(NULL, 1);
        assert_true(metric_value(m, ELSEWHERE, x) == 0);
        metrics_free(m);
}

static void a_series_counts_by_itself(void **state)
{
        static const char *const x[] = { "x" };
        struct metrics *m = made();
        struct metric_series *s = metric_series(m, GAUGE, x);

        assert_ptr_equal(s, metric_series(m, GAUGE, x));
        assert_true(metric_value(m, GAUGE, x) == 0);
        series_add(s, 2);
        series_add(s, -0.5);
        assert_true(metric_value(m, GAUGE, x) == 1.5);
        series_set(s, 7);
        assert_true(metric_value(m, GAUGE, x) == 7);
        metrics_free(m);
}

struct reader {
        struct metrics_source source;
        struct metrics *to;
        int asked;
};

static void read_off(struct metrics_source *source)
{
        struct reader *r = container_of(source, struct reader, source);

        metric_set(r->to, GAUGE, ++r->asked, (const char *const[]){ "asked" });
}

static void a_source_is_read_off_when_somebody_asks(void **state)
{
        struct reader r = { .source = { .collect = read_off }, .to = made() };

        metrics_remove_source(&r.source); /* it is nowhere yet */
        metrics_add_source(r.to, &r.source);
        for (int i = 1; i <= 2; i++) {
                AUTO_BUF struct buf b;
                char line[32];

                buf_init(&b, 1 << 20);
                assert_int_equal(metrics_print(r.to, &b), 0);
                snprintf(line, sizeof(line), "g{n=\"asked\"} %d\n", i);
                assert_non_null(strstr(b.data, line));
        }
        metrics_remove_source(&r.source);
        AUTO_BUF struct buf b;
        buf_init(&b, 1 << 20);
        assert_int_equal(metrics_print(r.to, &b), 0);
        assert_int_equal(r.asked, 2);
        metrics_add_source(r.to, &r.source);
        metrics_free(r.to);
        metrics_remove_source(&r.source);
}

static void the_manifest_generator_has_what_both_agents_have(void **state)
{
        struct metrics *m = metrics_new(METRIC_OF_GENERATOR);

        metric_set(m, METRIC_GIT_READY, 1, NULL);
        metric_set(m, METRIC_RECONCILE_LIMIT, 2, (const char *const[]){ "x" });
        metric_set(m, METRIC_SCHEDULING_WORKERS, 3, NULL);
        assert_int_equal(metric_value(m, METRIC_GIT_READY, NULL), 1);
        assert_int_equal(metric_value(m, METRIC_RECONCILE_LIMIT, (const char *const[]){ "x" }), 2);
        assert_int_equal(metric_value(m, METRIC_SCHEDULING_WORKERS, NULL), 0);
        metrics_free(m);
}

static void a_full_metric_drops_and_counts_new_series(void **state)
{
        struct metrics *m = metrics_new(METRIC_OF_BOTH);
        AUTO_BUF struct buf b;

        for (int i = 0; i < METRIC_SERIES_MAX + 3; i++) {
                char name[16];

                snprintf(name, sizeof(name), "%d", i);
                metric_set(m, METRIC_RECONCILE_LIMIT, i, (const char *const[]){ name });
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
        struct metrics *m = made();
        AUTO_BUF struct buf b;

        metric_set(m, GAUGE, 1, longer);
        metric_set(m, GAUGE, 2, shorter);
        for (int i = 2; i < METRIC_SERIES_MAX; i++) {
                char name[16];

                snprintf(name, sizeof(name), "%d", i);
                metric_set(m, GAUGE, i, (const char *const[]){ name });
        }
        metric_remove(m, GAUGE, longer);
        metric_remove(m, GAUGE, next); /* it never was */
        metric_remove(NULL, GAUGE, next);
        assert_true(metric_value(m, GAUGE, longer) == 0 && metric_value(m, GAUGE, shorter) == 2);
        metric_remove(m, GAUGE, shorter);
        metric_set(m, GAUGE, 3, next);
        assert_true(metric_value(m, GAUGE, shorter) == 0 && metric_value(m, GAUGE, next) == 3);
        buf_init(&b, 8 << 20);
        assert_int_equal(metrics_print(m, &b), 0);
        assert_null(strstr(b.data, "n=\"a"));
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
                struct metrics *m = made();
                AUTO_BUF struct buf b;

                buf_init(&b, 1 << 20);
                metric_set(m, GAUGE, lines[i].value, (const char *const[]){ "x" });
                assert_int_equal(metrics_print(m, &b), 0);
                if (!strstr(b.data, lines[i].line))
                        fail_msg("%s lacks %s", b.data, lines[i].line);
                metrics_free(m);
        }
}

/* What is at a limit is within; each bucket holds those of the ones before. */
static void a_value_counts_in_the_first_bucket_that_holds_it(void **state)
{
        struct metrics *m = made();
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        metric_observe(m, HISTOGRAM, 1, (const char *const[]){ "x" });
        metric_observe(m, HISTOGRAM, 2, (const char *const[]){ "x" });
        metric_observe(m, HISTOGRAM, 3, (const char *const[]){ "x" });
        metric_observe(m, HISTOGRAM, 4, (const char *const[]){ "y" });
        metric_observe(NULL, HISTOGRAM, 4, (const char *const[]){ "y" });
        assert_int_equal(metrics_print(m, &b), 0);
        assert_non_null(strstr(
                b.data, "a_seconds_bucket{n=\"x\",le=\"1\"} 1\na_seconds_bucket{n=\"x\",le=\"2\"} 2\n"
                        "a_seconds_bucket{n=\"x\",le=\"4\"} 3\na_seconds_bucket{n=\"x\",le=\"+Inf\"} 3\n"
                        "a_seconds_sum{n=\"x\"} 6\na_seconds_count{n=\"x\"} 3\n"
                        "a_seconds_bucket{n=\"y\",le=\"1\"} 0\na_seconds_bucket{n=\"y\",le=\"2\"} 0\n"
                        "a_seconds_bucket{n=\"y\",le=\"4\"} 1\n"));
        metrics_free(m);
}

static void values_that_look_alike_when_joined_are_kept_apart(void **state)
{
        static const char *const here[] = { "ab", "" }, *const there[] = { "a", "b" },
                                 *const missing[] = { "ab", NULL };
        struct metrics *m = made();

        metric_add(m, COUNTER, 1, here);
        metric_add(m, COUNTER, 2, there);
        assert_true(metric_value(m, COUNTER, here) == 1 && metric_value(m, COUNTER, there) == 2);
        assert_true(metric_value(m, COUNTER, missing) == 1); /* none is an empty one */
        metrics_free(m);
}

static void values_that_are_too_long_make_no_series(void **state)
{
        char endless[4096];
        const char *const values[] = { endless };
        struct metrics *m = made();

        memset(endless, 'x', sizeof(endless) - 1);
        endless[sizeof(endless) - 1] = '\0';
        metric_add(m, COUNTER, 1, values);
        assert_true(metric_value(m, COUNTER, values) == 0);
        metric_remove(m, COUNTER, values);
        metrics_free(m);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(counters_add_up_per_label_values),
                cmocka_unit_test(the_text_form_is_sorted_and_escaped),
                cmocka_unit_test(what_is_another_agents_is_neither_kept_nor_told),
                cmocka_unit_test(a_series_counts_by_itself),
                cmocka_unit_test(a_source_is_read_off_when_somebody_asks),
                cmocka_unit_test(the_manifest_generator_has_what_both_agents_have),
                cmocka_unit_test(a_full_metric_drops_and_counts_new_series),
                cmocka_unit_test(what_is_removed_is_told_no_more_and_makes_room),
                cmocka_unit_test(numbers_may_be_endless),
                cmocka_unit_test(a_value_counts_in_the_first_bucket_that_holds_it),
                cmocka_unit_test(values_that_look_alike_when_joined_are_kept_apart),
                cmocka_unit_test(values_that_are_too_long_make_no_series),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
