/* What a member agent tells of itself: proto/metrics.h, spec/member-agent.md 2.18. */
#include "common/ctrl/metrics.h"
#include "member-agent/member_agent_test.h"

static void expect(const struct buf *text, const char *line)
{
        if (!strstr(text->data, line))
                fail_msg("there is no %s in %s", line, text->data);
}

static void expect_families(const struct buf *text)
{
        static const char *const types[] = { "counter", "gauge", "histogram" };

        for (size_t i = 0; i < N_METRICS; i++) {
                const struct metric_family *one = &metric_families[i];
                char line[160];

                snprintf(line, sizeof(line), "# TYPE %s %s\n", one->name, types[one->type]);
                if (one->of & METRIC_OF_MEMBER)
                        expect(text, line);
                else
                        assert_null(strstr(text->data, line));
        }
}

/* spec/membership-webhooks-charts.md checklist 49 */
RIG_TEST(every_metric_of_a_member_agent_is_told, {
        AUTO_BUF struct buf text;
        struct agent a;

        begin(&a, r);
        a.options.metrics = metrics_new(METRIC_OF_MEMBER);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        buf_init(&text, 8 << 20);
        assert_int_equal(metrics_print(a.options.metrics, &text), 0);
        expect_families(&text);
        expect(&text, "join_result_counter{result=\"success\"} 1\n");
        expect(&text, "fleet_work_processing_requests_total{apply_status=\"AllManifestsApplied\","
                      "availability_status=\"AllManifestsAvailable\",diff_reporting_status=\"Skipped\"} ");
        expect(&text, "fleet_manifest_processing_requests_total{apply_status=\"Applied\",availability_status="
                      "\"Available\",diff_reporting_status=\"Skipped\",drift_detection_status=\"NotFound\","
                      "diff_detection_status=\"NotFound\"} ");
        expect(&text, "controller_runtime_max_concurrent_reconciles{controller=\"work-applier\"} ");
        expect(&text, "workqueue_adds_total{name=\"internalmembercluster-controller\",controller="
                      "\"internalmembercluster-controller\"} ");
        expect(&text, "rest_client_requests_total{code=\"200\",host=\"dev\",method=\"GET\"} ");
        expect(&text, "\nargosy_metric_series_dropped_total 0\n");
        stop(&a);
        a.options.metrics = metrics_free(a.options.metrics);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_metric_of_a_member_agent_is_told),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
