/* Charts that are in buckets, within a whole agent: spec/helm-chart.md 5.5. */
#include "hub-agent/source/bucket_test.h"
#include "hub-agent/source/chart/chart.h"
#include "hub-agent/source/chart/chart_test.h"

#define CHART SOURCES "helmcharts/podinfo"
#define CHART_YAML(version) "apiVersion: v2\nname: podinfo\nversion: " version "\n"

static void begin(struct rig *r, struct fleet *f, struct web *w, struct object_store *s)
{
        begin_store(r, f, w, s);
        s->n = 0;
        keep_in(s, "charts/podinfo/Chart.yaml", "c1", CHART_YAML("6.0.3"));
        keep_in(s, "charts/podinfo/values.yaml", "v1", "replicas: 1\n");
        keep_in(s, "charts/podinfo/templates/deployment.yaml", "t1", "kind: Deployment\n");
        keep_in(s, "environments/prod.yaml", "p1", "replicas: 3\n");
        add_bucket(r, BUCKET_SPEC);
        pass_time(r, 5000);
}

static void add_chart(struct rig *r, const char *path, const char *more)
{
        AUTO_FREE char *body = mem_printf("{\"apiVersion\":\"source.toolkit.fluxcd.io/"
                                          "v1\",\"kind\":\"HelmChart\",\"metadata\":{\"name\":"
                                          "\"podinfo\"},\"spec\":{\"chart\":\"%s\",\"interval\":\"5m\","
                                          "\"version\":\"9.*\",\"sourceRef\":{"
                                          "\"kind\":\"Bucket\",\"name\":\"files\"}%s}}",
                                          path, more);

        if (rig_post(r, SOURCES "helmcharts", body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
}

static void change(struct rig *r, struct object_store *s, size_t which, const char *tag, const char *text)
{
        s->at[which].tag = tag;
        s->at[which].data = slice_of(text);
        look_again(r, BUCKET, tag);
        pass_time(r, 5000);
}

static struct chart chart_kept(struct rig *r, struct web *w)
{
        struct chart c;

        assert_int_equal(rig_get(r, CHART), 200);
        assert_int_equal(chart_of_archive(&r->arena, bytes_kept(r, w, rig_string(r, "status.artifact.path")),
                                          1 << 20, &c, NULL),
                         0);
        return c;
}

/* spec/helm-chart.md checklist 44, 46, 47 */
RIG_TEST(a_folder_is_packaged_and_anew_when_its_version_changes, {
        struct fleet f;
        struct web w;
        struct object_store s;

        begin(r, &f, &w, &s);
        add_chart(r, "charts/podinfo", "");
        assert_condition(r, CHART, "Ready", "True", "ChartPackageSucceeded",
                         "packaged 'podinfo' chart with version '6.0.3'");
        assert_string_equal(rig_string(r, "status.artifact.path"),
                            "helmchart/apps/podinfo/podinfo-6.0.3.tgz");
        struct chart c = chart_kept(r, &w);
        assert_string_equal(c.metadata.version, "6.0.3");
        assert_true(slice_is(c.values, "replicas: 1\n"));
        AUTO_FREE char *digest = mem_strdup(rig_string(r, "status.artifact.digest"));
        AUTO_FREE char *revision = mem_strdup(rig_string(r, "status.observedSourceArtifactRevision"));
        change(r, &s, 2, "t2", "kind: StatefulSet\n");
        assert_condition(r, CHART, "Ready", "True", "ChartPackageSucceeded", NULL);
        assert_string_equal(rig_string(r, "status.artifact.digest"), digest);
        assert_string_not_equal(rig_string(r, "status.observedSourceArtifactRevision"), revision);
        change(r, &s, 0, "c2", CHART_YAML("6.0.4"));
        assert_condition(r, CHART, "Ready", "True", "ChartPackageSucceeded",
                         "packaged 'podinfo' chart with version '6.0.4'");
        assert_string_not_equal(rig_string(r, "status.artifact.digest"), digest);
        end_store(r, &f, &w);
})

/* spec/helm-chart.md checklist 43, 45 */
RIG_TEST(the_revision_is_part_of_the_version_where_it_is_to_count, {
        struct fleet f;
        struct web w;
        struct object_store s;

        begin(r, &f, &w, &s);
        add_chart(r, "charts/podinfo", ",\"reconcileStrategy\":\"Revision\"");
        assert_int_equal(rig_get(r, BUCKET), 200);
        AUTO_FREE char *version =
                mem_printf("6.0.3+%.12s", rig_string(r, "status.artifact.revision") + strlen("sha256:"));
        assert_int_equal(rig_get(r, CHART), 200);
        assert_string_equal(rig_string(r, "status.artifact.revision"), version);
        change(r, &s, 2, "t2", "kind: StatefulSet\n");
        assert_int_equal(rig_get(r, CHART), 200);
        assert_string_not_equal(rig_string(r, "status.artifact.revision"), version);
        merge_and_settle(r, CHART,
                         "{\"spec\":{\"valuesFiles\":[\"charts/podinfo/values.yaml\",\"environments/"
                         "prod.yaml\"]}}");
        assert_int_equal(rig_get(r, BUCKET), 200);
        AUTO_FREE char *merged =
                mem_printf("6.0.3+%.12s.2", rig_string(r, "status.artifact.revision") + strlen("sha256:"));
        assert_condition(r, CHART, "Ready", "True", "ChartPackageSucceeded", NULL);
        assert_string_equal(rig_string(r, "status.artifact.revision"), merged);
        assert_true(slice_is(chart_kept(r, &w).values, "replicas: 3\n"));
        end_store(r, &f, &w);
})

/* spec/helm-chart.md checklist 18, 47 */
RIG_TEST(an_archive_in_a_bucket_is_taken_as_it_is, {
        static const struct test_file podinfo[] = { { "Chart.yaml", CHART_YAML("4.0.6") }, { NULL, NULL } };
        struct fleet f;
        struct web w;
        struct object_store s;

        begin(r, &f, &w, &s);
        struct slice archive = archive_of(&r->arena, "podinfo", podinfo);
        s.at[s.n++] = (struct stored){ "podinfo-4.0.6.tgz", "a1", archive };
        add_chart(r, "podinfo-4.0.6.tgz", "");
        assert_condition(r, CHART, "Stalled", "True", "InvalidChartReference", NULL);
        look_again(r, BUCKET, "with the archive");
        pass_time(r, 5000);
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded",
                         "pulled 'podinfo' chart with version '4.0.6'");
        assert_true(slice_equal(bytes_kept(r, &w, rig_string(r, "status.artifact.path")), archive));
        rig_delete(r, BUCKET);
        rig_settle(r);
        look_again(r, CHART, "without the bucket");
        assert_condition(r, CHART, "FetchFailed", "True", "SourceUnavailable",
                         "failed to get source: buckets.source.toolkit.fluxcd.io \"files\" not found");
        s.look_status = 404;
        add_bucket(r, BUCKET_SPEC);
        look_again(r, CHART, "before the bucket is there");
        assert_condition(r, CHART, "FetchFailed", "True", "NoSourceArtifact",
                         "no artifact available for Bucket source 'files'");
        end_store(r, &f, &w);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_folder_is_packaged_and_anew_when_its_version_changes),
                cmocka_unit_test(the_revision_is_part_of_the_version_where_it_is_to_count),
                cmocka_unit_test(an_archive_in_a_bucket_is_taken_as_it_is),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
