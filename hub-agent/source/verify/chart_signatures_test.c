/* Signatures of charts, within a whole agent: spec/helm-chart.md 11. */
#include "hub-agent/source/chart/chart_test.h"
#include "hub-agent/source/source_test.h"

#define CHARTS SOURCES "helmcharts"
#define CHART CHARTS "/podinfo"

static const struct test_file podinfo[] = {
        { "Chart.yaml", "apiVersion: v2\nname: podinfo\nversion: 4.0.6\n" },
        { NULL, NULL },
};

static void add_chart(struct rig *r, const char *verify)
{
        AUTO_FREE char *body =
                mem_printf("{\"apiVersion\":\"source.toolkit.fluxcd.io/v1\",\"kind\":\"HelmChart\","
                           "\"metadata\":{\"name\":\"podinfo\"},\"spec\":{\"chart\":\"podinfo\",\"interval\":"
                           "\"5m\",\"sourceRef\":{\"kind\":\"HelmRepository\",\"name\":\"podinfo\"}%s}}",
                           verify);

        if (rig_post(r, CHARTS, body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
}

/* ---- a repository that is no registry ---- */

static void begin_default(struct rig *r, struct fleet *f, struct web *w)
{
        begin_sources(r, f, w);
        w->body = "apiVersion: v1\nentries:\n  podinfo:\n"
                  "  - {name: podinfo, version: 4.0.6, urls: [charts/podinfo-4.0.6.tgz]}\n";
        w->files[0] = (struct web_file){ "/stable/charts/podinfo-4.0.6.tgz",
                                         archive_of(&r->arena, "podinfo", podinfo) };
        add_repository(r, "\"url\":\"https://charts.example/stable\",\"interval\":\"5m\"");
}

/* spec/helm-chart.md checklist 84, 85 */
RIG_TEST(charts_of_an_index_cannot_be_verified, {
        static const char text[] = "chart verification error: not implemented";
        struct fleet f;
        struct web w;

        begin_default(r, &f, &w);
        add_chart(r, "");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        merge_and_settle(r, CHART, "{\"spec\":{\"verify\":{\"provider\":\"cosign\"}}}");
        assert_condition(r, CHART, "SourceVerified", "False", "VerificationError", text);
        assert_condition(r, CHART, "BuildFailed", "True", "ChartVerificationError", text);
        assert_condition(r, CHART, "Ready", "False", "VerificationError", text);
        assert_true(has_event(r, "Warning", "ChartVerificationError", text));
        assert_true(is_kept(&w, "helmchart/apps/podinfo/podinfo-4.0.6.tgz"));
        merge_and_settle(r, CHART, "{\"spec\":{\"verify\":null}}");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        assert_string_equal(part_of_condition(r, "SourceVerified", "status"), "absent");
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 92 */
RIG_TEST(a_provider_that_is_not_acted_on_stalls_and_is_named, {
        static const char text[] = "spec.verify.provider: 'notation' is not supported";
        struct fleet f;
        struct web w;

        begin_default(r, &f, &w);
        add_chart(r, ",\"verify\":{\"provider\":\"notation\"}");
        assert_condition(r, CHART, "FetchFailed", "True", "InvalidProviderConfiguration", text);
        assert_condition(r, CHART, "Stalled", "True", "InvalidProviderConfiguration", text);
        assert_condition(r, CHART, "Ready", "False", "InvalidProviderConfiguration", text);
        assert_string_equal(part_of_condition(r, "SourceVerified", "status"), "absent");
        end_sources(r, &f, &w);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(charts_of_an_index_cannot_be_verified),
                cmocka_unit_test(a_provider_that_is_not_acted_on_stalls_and_is_named),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
