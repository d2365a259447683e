/* Indexes in memory, and what is counted of charts and sources: spec/helm-chart.md 8.4, 14. */
#include "hub-agent/source/chart/chart_test.h"
#include "hub-agent/source/source_test.h"

#define CHART SOURCES "helmcharts/podinfo"
#define INDEX(version)                                                                                       \
        "apiVersion: v1\nentries:\n  podinfo:\n  - name: podinfo\n    version: " version                     \
        "\n    urls: [podinfo.tgz]\n"

static const struct test_file podinfo[] = {
        { "Chart.yaml", "apiVersion: v2\nname: podinfo\nversion: 4.0.6\n" },
        { "values.yaml", "replicas: 1\n" },
        { NULL, NULL },
};

static void begin(struct rig *r, struct fleet *f, struct web *w, size_t most)
{
        begin_sources(r, f, w);
        stop(f);
        w->options.cache_most = most;
        w->options.cache_ttl_ms = 15 * MINUTE_MS;
        w->options.cache_purge_ms = MINUTE_MS;
        start_again(r, f);
        w->body = INDEX("4.0.6");
        w->files[0] = (struct web_file){ "/stable/podinfo.tgz", archive_of(&r->arena, "podinfo", podinfo) };
}

static void add(struct rig *r, const char *plural, const char *kind, const char *name, const char *spec)
{
        AUTO_FREE char *path = mem_printf(SOURCES "%s", plural);
        AUTO_FREE char *body = mem_printf("{\"apiVersion\":\"source.toolkit.fluxcd.io/v1\",\"kind\":\"%s\","
                                          "\"metadata\":{\"name\":\"%s\"},\"spec\":{%s}}",
                                          kind, name, spec);

        if (rig_post(r, path, body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
}

static void add_repository_named(struct rig *r, const char *name, const char *interval)
{
        AUTO_FREE char *spec =
                mem_printf("\"url\":\"https://charts.example/stable\",\"interval\":\"%s\"", interval);

        add(r, "helmrepositories", "HelmRepository", name, spec);
}

static void add_chart(struct rig *r, const char *name, const char *repository)
{
        AUTO_FREE char *spec =
                mem_printf("\"chart\":\"podinfo\",\"interval\":\"10h\",\"sourceRef\":{\"kind\":"
                           "\"HelmRepository\",\"name\":\"%s\"}",
                           repository);

        add(r, "helmcharts", "HelmChart", name, spec);
}

static void ask_for_run(struct rig *r, const char *path, const char *token)
{
        AUTO_FREE char *patch = mem_printf(
                "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"%s\"}}}", token);

        merge_and_settle(r, path, patch);
}

static int counted(struct fleet *f, const char *what, const char *repository)
{
        return (int)metric_value(f->metrics, METRIC_INDEX_CACHE,
                                 (const char *const[]){ what, repository, "apps" });
}

static bool is_told(struct fleet *f, const char *line)
{
        AUTO_BUF struct buf text;

        buf_init(&text, 8 << 20);
        assert_int_equal(metrics_print(f->metrics, &text), 0);
        return strstr(text.data, line) != NULL;
}

/* spec/helm-chart.md checklist 65 */
RIG_TEST(nothing_is_held_unless_it_is_asked_for, {
        struct fleet f;
        struct web w;

        begin(r, &f, &w, 0);
        add_repository_named(r, "podinfo", "10h");
        add_chart(r, "podinfo", "podinfo");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        assert_false(is_told(&f, "gotk_cache_events_total{"));
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 65 */
RIG_TEST(a_full_cache_is_told_and_charts_are_made_all_the_same, {
        struct fleet f;
        struct web w;

        begin(r, &f, &w, 1);
        add_repository_named(r, "podinfo", "10h");
        assert_false(has_event(r, "Warning", "CacheOperationFailed", ""));
        add_repository_named(r, "other", "10h");
        assert_true(has_event(r, "Warning", "CacheOperationFailed", "failed to cache index: Cache is full"));
        add_chart(r, "podinfo", "podinfo");
        add_chart(r, "other", "other");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        assert_condition(r, SOURCES "helmcharts/other", "Ready", "True", "ChartPullSucceeded", NULL);
        assert_int_equal(counted(&f, "cache_hit", "podinfo"), 1);
        assert_int_equal(counted(&f, "cache_miss", "podinfo"), 0);
        assert_int_equal(counted(&f, "cache_miss", "other"), 1);
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 66 */
RIG_TEST(looks_at_what_is_held_are_counted_until_the_repository_goes, {
        struct fleet f;
        struct web w;

        begin(r, &f, &w, 2);
        add_repository_named(r, "podinfo", "10h");
        add_chart(r, "podinfo", "podinfo");
        assert_int_equal(counted(&f, "cache_hit", "podinfo"), 1);
        pass_time(r, 14 * MINUTE_MS);
        ask_for_run(r, CHART, "one"); /* held on from here */
        pass_time(r, 14 * MINUTE_MS);
        ask_for_run(r, CHART, "two");
        assert_int_equal(counted(&f, "cache_hit", "podinfo"), 3);
        pass_time(r, 15 * MINUTE_MS);
        ask_for_run(r, CHART, "three");
        assert_int_equal(counted(&f, "cache_hit", "podinfo"), 3);
        assert_int_equal(counted(&f, "cache_miss", "podinfo"), 1);
        pass_time(r, 10 * MINUTE_MS);
        ask_for_run(r, REPOSITORY, "one"); /* unchanged: held on, too */
        pass_time(r, 10 * MINUTE_MS);
        ask_for_run(r, CHART, "four");
        assert_int_equal(counted(&f, "cache_hit", "podinfo"), 4);
        assert_true(is_told(&f,
                            "gotk_cache_events_total{event_type=\"cache_miss\",name=\"podinfo\",namespace="
                            "\"apps\"} 1\n"));
        rig_delete(r, CHART);
        rig_delete(r, REPOSITORY);
        rig_settle(r);
        assert_false(is_told(&f, "gotk_cache_events_total{"));
        end_sources(r, &f, &w);
})

RIG_TEST(a_replaced_index_is_held_no_longer, {
        struct fleet f;
        struct web w;

        begin(r, &f, &w, 1);
        add_repository_named(r, "podinfo", "10h");
        add_chart(r, "podinfo", "podinfo");
        w.body = INDEX("5.0.0");
        ask_for_run(r, REPOSITORY, "one");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded",
                         "pulled 'podinfo' chart with version '5.0.0'");
        assert_int_equal(counted(&f, "cache_hit", "podinfo"), 2);
        assert_int_equal(counted(&f, "cache_miss", "podinfo"), 0);
        assert_false(has_event(r, "Warning", "CacheOperationFailed", ""));
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 96 */
RIG_TEST(the_length_of_runs_is_told_until_the_object_goes, {
        static const char of_chart[] = "gotk_reconcile_duration_seconds_count{kind=\"HelmChart\",name="
                                       "\"podinfo\",namespace=\"apps\"}",
                          of_repository[] = "gotk_reconcile_duration_seconds_bucket{kind=\"HelmRepository\","
                                            "name=\"podinfo\",namespace=\"apps\",le=\"1800\"} 1\n";
        struct fleet f;
        struct web w;

        begin(r, &f, &w, 0);
        add_repository_named(r, "podinfo", "10h");
        add_chart(r, "podinfo", "podinfo");
        assert_true(is_told(&f, of_chart));
        assert_true(is_told(&f, of_repository));
        assert_true(is_told(&f, "controller_runtime_reconcile_total{controller=\"helmchart\""));
        rig_delete(r, CHART);
        rig_settle(r);
        assert_false(is_told(&f, of_chart));
        assert_true(is_told(&f, of_repository));
        rig_delete(r, REPOSITORY);
        rig_settle(r);
        assert_false(is_told(&f, "gotk_reconcile_duration_seconds_count{"));
        end_sources(r, &f, &w);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(nothing_is_held_unless_it_is_asked_for),
                cmocka_unit_test(a_full_cache_is_told_and_charts_are_made_all_the_same),
                cmocka_unit_test(looks_at_what_is_held_are_counted_until_the_repository_goes),
                cmocka_unit_test(a_replaced_index_is_held_no_longer),
                cmocka_unit_test(the_length_of_runs_is_told_until_the_object_goes),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
