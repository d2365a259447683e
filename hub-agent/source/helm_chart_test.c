/* Charts within a whole agent: spec/helm-chart.md 5, 8.3, 8.5. */
#include "common/base/digest.h"
#include "hub-agent/source/chart/chart.h"
#include "hub-agent/source/chart/chart_test.h"
#include "hub-agent/source/source_test.h"

#define CHARTS SOURCES "helmcharts"
#define CHART CHARTS "/podinfo"
#define ENTRY(version) "  - {name: podinfo, version: " version ", urls: [charts/podinfo-" version ".tgz]}\n"
#define INDEX(entries) "apiVersion: v1\nentries:\n  podinfo:\n" entries

static const struct test_file podinfo[] = {
        { "Chart.yaml", "apiVersion: v2\nname: podinfo\nversion: 4.0.6\n" },
        { "values.yaml", "replicas: 1\n" },
        { "values-prod.yaml", "replicas: 3\n" },
        { "templates/deployment.yaml", "kind: Deployment\n" },
        { NULL, NULL },
};

static void begin(struct rig *r, struct fleet *f, struct web *w)
{
        begin_sources(r, f, w);
        w->body = INDEX(ENTRY("3.0.0") ENTRY("4.0.6") ENTRY("5.0.0-rc.1"));
        for (size_t i = 0; i < 3; i++) {
                static const char *const versions[] = { "3.0.0", "4.0.6", "5.1.0" };

                w->files[i] = (struct web_file){ arena_printf(&r->arena, "/stable/charts/podinfo-%s.tgz",
                                                              versions[i]),
                                                 archive_of(&r->arena, "podinfo", podinfo) };
        }
        add_repository(r, "\"url\":\"https://charts.example/stable\",\"interval\":\"5m\"");
}

static void add_chart(struct rig *r, const char *spec)
{
        AUTO_FREE char *body =
                mem_printf("{\"apiVersion\":\"source.toolkit.fluxcd.io/v1beta2\",\"kind\":\"HelmChart\","
                           "\"metadata\":{\"name\":\"podinfo\"},\"spec\":{\"chart\":\"podinfo\",\"interval\":"
                           "\"5m\",\"sourceRef\":{\"kind\":\"HelmRepository\",\"name\":\"podinfo\"}%s}}",
                           spec);

        if (rig_post(r, "/apis/source.toolkit.fluxcd.io/v1beta2/namespaces/apps/helmcharts", body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
}

static struct slice kept(struct rig *r, struct web *w, const char *path)
{
        CLEANUP(volume_reader_cleanup) struct volume_reader *file = NULL;
        char *bytes = arena_alloc(&r->arena, 1 << 20);
        size_t n;

        assert_int_equal(volume_open_file(w->options.volume, path, &file, NULL), 0);
        assert_int_equal(volume_read(file, 0, bytes, 1 << 20, &n, NULL), 0);
        return (struct slice){ bytes, n };
}

/* spec/helm-chart.md checklist 1, 5, 27, 35 */
RIG_TEST(a_chart_is_pulled_as_its_repository_has_it, {
        struct fleet f;
        struct web w;

        begin(r, &f, &w);
        add_chart(r, ",\"version\":\"4.0.x\"");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded",
                         "pulled 'podinfo' chart with version '4.0.6'");
        assert_condition(r, CHART, "ArtifactInStorage", "True", "ChartPullSucceeded",
                         "pulled 'podinfo' chart with version '4.0.6'");
        assert_string_equal(rig_string(r, "status.artifact.path"),
                            "helmchart/apps/podinfo/podinfo-4.0.6.tgz");
        assert_string_equal(rig_string(r, "status.artifact.revision"), "4.0.6");
        assert_string_equal(rig_string(r, "status.observedChartName"), "podinfo");
        assert_string_equal(rig_string(r, "status.url"),
                            "http://hub.example:9090/helmchart/apps/podinfo/latest.tar.gz");
        assert_int_equal(doc_get_int(r->answer, "status.observedGeneration", 0), 1);
        assert_true(slice_equal(kept(r, &w, "helmchart/apps/podinfo/podinfo-4.0.6.tgz"), w.files[1].data));
        AUTO_FREE char *seen = mem_strdup(rig_string(r, "status.observedSourceArtifactRevision"));
        assert_int_equal(rig_get(r, REPOSITORY), 200);
        assert_string_equal(rig_string(r, "status.artifact.revision"), seen);
        assert_true(has_event(r, "Normal", "ChartPullSucceeded", "pulled 'podinfo' chart"));
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 6 */
RIG_TEST(the_file_is_served_under_the_address_that_the_status_tells, {
        struct fleet f;
        struct web w;
        struct http_response file, newest;

        begin(r, &f, &w);
        add_chart(r, "");
        assert_int_equal(rig_get(r, CHART), 200);
        AUTO_FREE char *url = mem_strdup(rig_string(r, "status.artifact.url"));
        AUTO_FREE char *latest = mem_strdup(rig_string(r, "status.url"));
        AUTO_FREE char *digest = mem_strdup(rig_string(r, "status.artifact.digest"));
        long long size = doc_get_int(r->answer, "status.artifact.size", 0);
        char hex[SHA256_HEX_SIZE];

        assert_int_equal(get_file(r, strchr(url + strlen("http://"), '/'), &file), 200);
        assert_int_equal(file.body.len, size);
        sha256_hex(file.body.data, file.body.len, hex);
        assert_string_equal(digest + strlen("sha256:"), hex);
        assert_int_equal(get_file(r, strchr(latest + strlen("http://"), '/'), &newest), 200);
        assert_true(slice_equal((struct slice){ file.body.data, file.body.len },
                                (struct slice){ newest.body.data, newest.body.len }));
        assert_int_equal(get_file(r, "/helmchart/apps/podinfo/none.tgz", &file), 404);
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 16, 38, 39 */
RIG_TEST(a_chart_follows_its_repository, {
        struct fleet f;
        struct web w;

        begin(r, &f, &w);
        add_chart(r, ",\"version\":\">=4.0.0\"");
        assert_int_equal(w.downloads, 1);
        pass_time(r, 4 * MINUTE_MS);
        merge_and_settle(r, CHART,
                         "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"one\"}}}");
        assert_int_equal(w.downloads, 1);
        assert_true(has_event(r, "Normal", "ArtifactUpToDate",
                              "artifact up-to-date with remote revision: '4.0.6'"));
        w.body = INDEX(ENTRY("4.0.6") ENTRY("5.1.0"));
        merge_and_settle(r, REPOSITORY,
                         "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"one\"}}}");
        assert_int_equal(w.downloads, 2);
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded",
                         "pulled 'podinfo' chart with version '5.1.0'");
        assert_string_equal(part_of_condition(r, "ArtifactOutdated", "status"), "absent");
        assert_true(is_kept(&w, "helmchart/apps/podinfo/podinfo-5.1.0.tgz"));
        rig_delete(r, CHART);
        rig_settle(r);
        assert_false(is_kept(&w, "helmchart/apps/podinfo/podinfo-5.1.0.tgz"));
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 36, 40 */
RIG_TEST(values_files_make_a_chart_of_its_own, {
        struct fleet f;
        struct web w;
        struct chart c;

        begin(r, &f, &w);
        add_chart(r, ",\"version\":\"4.0.6\"");
        merge_and_settle(r, CHART, "{\"spec\":{\"valuesFiles\":[\"values.yaml\",\"values-prod.yaml\"]}}");
        assert_condition(
                r, CHART, "Ready", "True", "ChartPackageSucceeded",
                "packaged 'podinfo' chart with version '4.0.6+2' and merged values files [values.yaml "
                "values-prod.yaml]");
        assert_string_equal(rig_string(r, "status.artifact.path"),
                            "helmchart/apps/podinfo/podinfo-4.0.6+2.tgz");
        assert_int_equal(chart_of_archive(&r->arena,
                                          kept(r, &w, "helmchart/apps/podinfo/podinfo-4.0.6+2.tgz"), 1 << 20,
                                          &c, NULL),
                         0);
        assert_true(slice_is(c.values, "replicas: 3\n"));
        assert_string_equal(c.metadata.version, "4.0.6+2");
        merge_and_settle(r, CHART,
                         "{\"spec\":{\"valuesFiles\":[\"none.yaml\",\"values-prod.yaml\"],"
                         "\"ignoreMissingValuesFiles\":true}}");
        assert_condition(r, CHART, "Ready", "True", "ChartPackageSucceeded", NULL);
        assert_string_equal(
                json_string_value(json_array_get(doc_get_array(r->answer, "status.observedValuesFiles"), 0)),
                "values-prod.yaml");
        assert_string_equal(rig_string(r, "status.artifact.revision"), "4.0.6+3");
        merge_and_settle(r, CHART, "{\"spec\":{\"ignoreMissingValuesFiles\":false}}");
        assert_condition(
                r, CHART, "Stalled", "True", "ValuesFilesError",
                "values files merge error: failed to merge chart values: no values file found at path "
                "'none.yaml'");
        assert_condition(r, CHART, "BuildFailed", "True", "ValuesFilesError", NULL);
        assert_string_equal(rig_string(r, "status.artifact.revision"), "4.0.6+3");
        assert_true(is_kept(&w, "helmchart/apps/podinfo/podinfo-4.0.6+3.tgz"));
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 14, 33, 34 */
RIG_TEST(a_chart_that_is_not_there_stalls_until_something_changes, {
        static const char text[] =
                "invalid chart reference: failed to get chart version for remote reference: no "
                "'podinfo' chart with version matching '9.*' found";
        struct fleet f;
        struct web w;

        begin(r, &f, &w);
        add_chart(r, ",\"version\":\"9.*\"");
        assert_condition(r, CHART, "FetchFailed", "True", "InvalidChartReference", text);
        assert_condition(r, CHART, "Ready", "False", "InvalidChartReference", text);
        assert_condition(r, CHART, "Stalled", "True", "InvalidChartReference", text);
        assert_int_equal(doc_get_int(r->answer, "status.observedGeneration", 0), 1);
        assert_true(has_event(r, "Warning", "InvalidChartReference", text));
        int passes = passes_of(&f, "helmchart");
        pass_time(r, 60 * MINUTE_MS);
        assert_int_equal(passes_of(&f, "helmchart"), passes);
        w.body = INDEX("  - {name: podinfo, version: 9.1.0, urls: [charts/podinfo-5.1.0.tgz]}\n");
        merge_and_settle(r, REPOSITORY,
                         "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"one\"}}}");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        merge_and_settle(r, CHART, "{\"spec\":{\"chart\":\"Podinfo\"}}");
        assert_condition(
                r, CHART, "Stalled", "True", "InvalidChartReference",
                "invalid chart reference: invalid chart name 'Podinfo': a valid name must be lower case "
                "letters and numbers and MAY be separated with dashes (-), slashes (/) or periods (.)");
        merge_and_settle(r, CHART, "{\"spec\":{\"chart\":\"nothing\"}}");
        assert_condition(
                r, CHART, "Stalled", "True", "InvalidChartReference",
                "invalid chart reference: failed to get chart version for remote reference: no chart "
                "name found");
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 17, 18 */
RIG_TEST(a_source_that_is_not_there_is_waited_for, {
        struct fleet f;
        struct web w;

        begin(r, &f, &w);
        rig_delete(r, REPOSITORY);
        rig_settle(r);
        add_chart(r, "");
        assert_condition(
                r, CHART, "FetchFailed", "True", "SourceUnavailable",
                "failed to get source: helmrepositories.source.toolkit.fluxcd.io \"podinfo\" not found");
        w.status = 503;
        add_repository(r, "\"url\":\"https://charts.example/stable\",\"interval\":\"5m\"");
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, CHART, "FetchFailed", "True", "NoSourceArtifact",
                         "no artifact available for HelmRepository source 'podinfo'");
        w.status = 200;
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        assert_string_equal(part_of_condition(r, "FetchFailed", "status"), "absent");
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 67, 68 */
RIG_TEST(an_archive_is_bounded_and_compared_with_what_the_index_says, {
        struct fleet f;
        struct web w;

        begin(r, &f, &w);
        w.options.chart_bytes = 100;
        add_chart(r, ",\"version\":\"4.0.6\"");
        assert_condition(r, CHART, "FetchFailed", "True", "ChartPullError",
                         "chart pull error: failed to download chart for remote reference: size of chart "
                         "'podinfo' exceeds '100' bytes limit");
        w.options.chart_bytes = SOURCE_CHART_BYTES;
        w.body =
                INDEX("  - {name: podinfo, version: 4.0.6, urls: [charts/podinfo-4.0.6.tgz], digest: abc}\n");
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        assert_int_equal(rig_delete(r, CHART), 200);
        rig_settle(r);
        add_chart(r, "");
        assert_true(has_event(r, "Warning", "DigestMismatch", "the index says abc"));
        rig_delete(r, CHART);
        rig_settle(r);
        w.options.enforces_digests = true;
        add_chart(r, "");
        assert_condition(r, CHART, "FetchFailed", "True", "ChartPullError", NULL);
        assert_false(is_kept(&w, "helmchart/apps/podinfo/podinfo-4.0.6.tgz"));
        end_sources(r, &f, &w);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_chart_is_pulled_as_its_repository_has_it),
                cmocka_unit_test(the_file_is_served_under_the_address_that_the_status_tells),
                cmocka_unit_test(a_chart_follows_its_repository),
                cmocka_unit_test(values_files_make_a_chart_of_its_own),
                cmocka_unit_test(a_chart_that_is_not_there_stalls_until_something_changes),
                cmocka_unit_test(a_source_that_is_not_there_is_waited_for),
                cmocka_unit_test(an_archive_is_bounded_and_compared_with_what_the_index_says),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
