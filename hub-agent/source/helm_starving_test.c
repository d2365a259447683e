/* What becomes of a run when there is no memory for one thing in it: spec/helm-chart.md 3. Agent and API
 * server are in one process, so that an allocation of either fails. */
#include "common/base/memory.h"
#include "hub-agent/source/again_test.h"
#include "hub-agent/source/chart/chart_test.h"

#define CHART SOURCES "helmcharts/podinfo"
#define STEP 5
#define CACHE_MS (15 * 1000)

static const struct test_file podinfo[] = {
        { "Chart.yaml", "apiVersion: v2\nname: podinfo\nversion: 4.0.6\n" },
        { "values.yaml", "replicas: 1\n" },
        { "values-prod.yaml", "replicas: 3\n" },
        { NULL, NULL },
};

static void begin(struct rig *r, struct fleet *f, struct web *w)
{
        begin_sources(r, f, w);
        stop(f);
        w->options.cache_most = 1;
        w->options.cache_ttl_ms = w->options.cache_purge_ms = CACHE_MS;
        start_again(r, f);
        w->body = "apiVersion: v1\nentries:\n  podinfo:\n  - {name: podinfo, version: 4.0.6, urls: "
                  "[podinfo.tgz]}\n";
        w->files[0] = (struct web_file){ "/stable/podinfo.tgz", archive_of(&r->arena, "podinfo", podinfo) };
        add_repository(r, "\"url\":\"https://charts.example/stable\",\"interval\":\"10h\"");
        if (rig_post(r, SOURCES "helmcharts",
                     "{\"apiVersion\":\"source.toolkit.fluxcd.io/"
                     "v1\",\"kind\":\"HelmChart\",\"metadata\":{\"name\":\"podinfo\"},\"spec\":{\"chart\":"
                     "\"podinfo\",\"interval\":"
                     "\"10h\",\"sourceRef\":{\"kind\":\"HelmRepository\",\"name\":\"podinfo\"},"
                     "\"valuesFiles\":"
                     "[\"values-prod.yaml\"]}}") != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
}

/* Begins with a run that makes everything anew, and ends when the cache has forgotten it. */
static bool run_without(struct rig *r, struct web *w, const char *path, uint64_t n)
{
        bool fired;

        ask_for_run(r, path, n);
        mem_fail_at(n, false);
        fiber_sleep(r->loop, 100);
        fired = mem_fault_fired();
        mem_fail_at(0, false);
        wait_until_right(r, path, n);
        pass_time(r, 2 * CACHE_MS);
        return fired;
}

/* spec/helm-chart.md checklist 97 */
RIG_TEST(a_run_of_a_chart_survives_each_allocation_that_fails, {
        struct fleet f;
        struct web w;
        bool fired = true;

        begin(r, &f, &w);
        for (uint64_t n = 1; fired; n += STEP) {
                assert_int_equal(volume_remove_all(w.options.volume, "helmchart", NULL), 0);
                fired = run_without(r, &w, CHART, n);
                assert_condition(r, CHART, "Ready", "True", "ChartPackageSucceeded", NULL);
                assert_true(is_kept(&w, "helmchart/apps/podinfo/podinfo-4.0.6+1.tgz"));
                assert_condition(r, REPOSITORY, "Ready", "True", NULL, NULL);
        }
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 97 */
RIG_TEST(a_run_of_a_repository_survives_each_allocation_that_fails, {
        struct fleet f;
        struct web w;
        bool fired = true;

        begin(r, &f, &w);
        for (uint64_t n = 1; fired; n += STEP) {
                assert_int_equal(volume_remove_all(w.options.volume, "helmrepository", NULL), 0);
                fired = run_without(r, &w, REPOSITORY, n);
                assert_condition(r, REPOSITORY, "Ready", "True", NULL, NULL);
                AUTO_FREE char *path = mem_strdup(rig_string(r, "status.artifact.path"));

                assert_true(is_kept(&w, path));
                assert_condition(r, CHART, "Ready", "True", "ChartPackageSucceeded", NULL);
        }
        end_sources(r, &f, &w);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_run_of_a_chart_survives_each_allocation_that_fails),
                cmocka_unit_test(a_run_of_a_repository_survives_each_allocation_that_fails),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
