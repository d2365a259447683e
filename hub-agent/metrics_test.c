/* What a hub agent tells of itself: proto/metrics.h. */
#include "common/ctrl/metrics.h"
#include "hub-agent/hub_agent_test.h"

static void begin(struct rig *r, struct fleet *f)
{
        start(r, f);
        stop(f);
        f->metrics = metrics_new(METRIC_OF_HUB);
        start_again(r, f);
}

static void end(struct fleet *f)
{
        stop(f);
        metrics_free(f->metrics);
}

static void expect(const struct buf *text, const char *line)
{
        if (!strstr(text->data, line))
                fail_msg("there is no %s in %s", line, text->data);
}

static void scrape(struct fleet *f, struct buf *text)
{
        buf_init(text, 8 << 20);
        assert_int_equal(metrics_print(f->metrics, text), 0);
}

/* spec/membership-webhooks-charts.md checklist 49 */
RIG_TEST(every_metric_of_the_hub_agent_is_told, {
        AUTO_BUF struct buf text;
        struct fleet f;

        begin(r, &f);
        scrape(&f, &text);
        for (size_t i = 0; i < N_METRICS; i++) {
                const struct metric_family *one = &metric_families[i];
                char line[160];

                snprintf(line, sizeof(line), "# TYPE %s %s\n", one->name,
                         one->type == METRIC_COUNTER ? "counter"
                         : one->type == METRIC_GAUGE ? "gauge"
                                                     : "histogram");
                if (one->of & METRIC_OF_HUB)
                        expect(&text, line);
                else
                        assert_null(strstr(text.data, line));
        }
        end(&f);
})

/* spec/membership-webhooks-charts.md 8: all combinations are there with 0. */
RIG_TEST(the_queues_of_placements_are_told_of_from_the_start, {
        static const char *const queues[] = { "cluster-resource-placement-controller-v1beta1",
                                              "resource-placement-controller", "resource-change-controller" };
        AUTO_BUF struct buf text;
        struct fleet f;

        begin(r, &f);
        scrape(&f, &text);
        for (size_t i = 0; i < ARRAY_LEN(queues); i++) {
                char line[160];

                for (size_t k = 0; k < N_RESULTS; k++) {
                        snprintf(line, sizeof(line),
                                 "fleet_workload_reconcile_total{controller=\"%s\",result=\"%s\"} ",
                                 queues[i], reconcile_results[k]);
                        expect(&text, line);
                }
                snprintf(line, sizeof(line), "fleet_workload_reconcile_errors_total{controller=\"%s\"} 0\n",
                         queues[i]);
                expect(&text, line);
                snprintf(line, sizeof(line), "fleet_workload_active_workers{controller=\"%s\"} 0\n",
                         queues[i]);
                expect(&text, line);
                snprintf(line, sizeof(line), "fleet_workload_max_concurrent_reconciles{controller=\"%s\"} ",
                         queues[i]);
                expect(&text, line);
                snprintf(line, sizeof(line),
                         "fleet_workload_reconcile_time_seconds_count{controller=\"%s\"} ", queues[i]);
                expect(&text, line);
        }
        expect(&text, "\nscheduling_active_workers 0\n");
        end(&f);
})

static double of_queue(struct fleet *f, const char *queue, const char *result)
{
        return metric_value(f->metrics, METRIC_WORKLOAD_RECONCILES, (const char *const[]){ queue, result });
}

RIG_TEST(passes_over_placements_and_changes_count_where_dashboards_look, {
        static const char cluster[] = "cluster-resource-placement-controller-v1beta1";
        struct fleet f;
        double changes;

        begin(r, &f);
        changes = of_queue(&f, "resource-change-controller", "success");
        assert_int_equal(
                rig_post(r, "/api/v1/namespaces",
                         "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"web\"}"
                         "}"),
                201);
        rig_settle(r);
        assert_true(of_queue(&f, "resource-change-controller", "success") > changes);
        assert_true(of_queue(&f, cluster, "success") + of_queue(&f, cluster, "requeue_after") == 0);
        assert_int_equal(
                rig_post(r, FLEET "clusterresourceplacements",
                         "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                         "\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"web\"},\"spec\":"
                         "{\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\","
                         "\"name\":\"web\"}]}}"),
                201);
        settle(&f);
        assert_true(of_queue(&f, cluster, "success") + of_queue(&f, cluster, "requeue_after") > 0);
        assert_true(of_queue(&f, "resource-placement-controller", "success") == 0);
        assert_true(metric_value(f.metrics, METRIC_WORKLOAD_ACTIVE, (const char *const[]){ cluster }) == 0);
        end(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_metric_of_the_hub_agent_is_told),
                cmocka_unit_test(the_queues_of_placements_are_told_of_from_the_start),
                cmocka_unit_test(passes_over_placements_and_changes_count_where_dashboards_look),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
