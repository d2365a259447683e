/* What report-back costs within a whole agent, and what it notices: members are played by hand. */
#include "hub-agent/hub_agent_test.h"

#define WEB FLEET "clusterresourceplacements/web"
#define WORK "namespaces/fleet-member-member-1/works/web-work"
#define WIDGETS "/apis/play.test/v1/namespaces/app/widgets"
#define N_WIDGETS 5

static const char definition[] =
        "{\"metadata\":{\"name\":\"widgets.play.test\"},\"spec\":{\"group\":\"play.test\",\"scope\":"
        "\"Namespaced\",\"names\":{\"kind\":\"Widget\",\"plural\":\"widgets\"},\"versions\":[{\"name\":"
        "\"v1\","
        "\"served\":true,\"storage\":true,\"subresources\":{\"status\":{}},\"schema\":{\"openAPIV3Schema\":{"
        "\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}]}}";

static void make_widget(struct rig *r, int i)
{
        char body[160];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"play.test/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"w-%d\"}}", i);
        assert_int_equal(rig_post(r, WIDGETS, body), 201);
}

/* What the member says of its widgets; none: of its Work alone. */
static void report(struct rig *r, const int *sizes, int n)
{
        AUTO_BUF struct buf b;
        char now[RFC3339_SIZE];
        long long generation;

        rig_get(r, FLEET WORK);
        generation = doc_get_int(r->answer, "metadata.generation", 0);
        time_format_rfc3339(loop_wall_ms(r->loop), now);
        buf_init(&b, 8000);
        buf_append_str(&b, "{\"status\":{\"conditions\":[");
        for (int i = 0; i < 2; i++)
                buf_printf(&b,
                           "%s{\"type\":\"%s\",\"status\":\"True\",\"reason\":\"A\",\"message\":\"%s\","
                           "\"lastTransitionTime\":\"%s\",\"observedGeneration\":%lld}",
                           i ? "," : "", i ? "Available" : "Applied", now, now, generation);
        buf_append_str(&b, "],\"manifestConditions\":[");
        for (int i = 0; i < n; i++)
                buf_printf(&b,
                           "%s{\"identifier\":{\"ordinal\":%d,\"group\":\"play.test\",\"version\":\"v1\","
                           "\"kind\":\"Widget\",\"resource\":\"widgets\",\"namespace\":\"app\",\"name\":"
                           "\"w-%d\"},\"conditions\":[],\"backReportedStatus\":{\"observationTime\":\"%s\","
                           "\"observedStatus\":{\"apiVersion\":\"play.test/v1\",\"kind\":\"Widget\","
                           "\"status\":{\"size\":%d}}}}",
                           i ? "," : "", i, i, now, sizes[i]);
        buf_append_str(&b, "]}}");
        assert_int_equal(rig_merge(r, FLEET WORK "/status", b.data), 200);
}

static int size_on_hub(struct rig *r, int i)
{
        char path[120];

        snprintf(path, sizeof(path), WIDGETS "/w-%d", i);
        rig_get(r, path);
        return (int)doc_get_int(r->answer, "status.size", 0);
}

/* Requests of the agent alone: nothing of the test's own between the reset and this. */
static unsigned asked(struct rig *r, const char *verb, const char *resource)
{
        return (unsigned)count_of(r, "hub", verb, resource);
}

static void begin(struct rig *r, struct fleet *f, struct line *line)
{
        static const int first[N_WIDGETS] = { 1, 1, 1, 1, 1 };

        start(r, f);
        line_lay(f, line);
        start_again(r, f);
        add_member(f, "member-1", "");
        add_member(f, "member-2", "");
        assert_int_equal(rig_post(r, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition),
                         201);
        rig_settle(r);
        add_app(r);
        for (int i = 0; i < N_WIDGETS; i++)
                make_widget(r, i);
        rig_settle(r);
        place(r,
              ",\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"member-1\"]},\"strategy\":{"
              "\"rollingUpdate\":{\"maxUnavailable\":0,\"maxSurge\":1},"
              "\"reportBackStrategy\":{\"type\":\"Mirror\",\"destination\":\"OriginalResource\"}}");
        settle(f);
        report(r, first, N_WIDGETS);
        rig_settle(r);
        for (int i = 0; i < N_WIDGETS; i++)
                assert_int_equal(size_on_hub(r, i), 1);
        devcluster_reset_requests(r->devcluster);
}

static void end(struct fleet *f)
{
        stop(f);
        http_transport_free(f->world.transport);
}

RIG_TEST(a_report_costs_requests_for_what_changed_alone, {
        static const int sizes[N_WIDGETS] = { 1, 1, 2, 1, 1 };
        struct line line;
        struct fleet f;

        begin(r, &f, &line);
        report(r, sizes, N_WIDGETS);
        rig_settle(r);
        assert_int_equal(asked(r, "get", "works"), 1 + 1); /* the test asks once */
        assert_int_equal(asked(r, "get", "widgets"), 1);
        assert_int_equal(asked(r, "patch", "widgets/status"), 1);
        assert_int_equal(size_on_hub(r, 2), 2);
        end(&f);
})

RIG_TEST(a_status_write_of_the_placement_costs_none, {
        struct line line;
        struct fleet f;

        begin(r, &f, &line);
        merge_and_settle(
                r, WEB "/status",
                "{\"status\":{\"conditions\":[{\"type\":\"Mine\",\"status\":\"True\",\"reason\":\"A\","
                "\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}");
        assert_int_equal(asked(r, "get", "works"), 0);
        assert_int_equal(asked(r, "get", "widgets"), 0);
        end(&f);
})

/* Another one of the name, or somebody else's status: neither is what we left. */
RIG_TEST(what_was_changed_on_the_hub_gets_its_status_with_the_next_report, {
        static const int sizes[N_WIDGETS] = { 1, 1, 1, 1, 1 };
        struct line line;
        struct fleet f;

        begin(r, &f, &line);
        assert_int_equal(rig_delete(r, WIDGETS "/w-1"), 200);
        make_widget(r, 1);
        assert_int_equal(rig_merge(r, WIDGETS "/w-3/status", "{\"status\":{\"size\":7}}"), 200);
        rig_settle(r);
        assert_int_equal(size_on_hub(r, 1), 0);
        report(r, sizes, N_WIDGETS);
        rig_settle(r);
        assert_int_equal(size_on_hub(r, 1), 1);
        assert_int_equal(size_on_hub(r, 3), 1);
        end(&f);
})

/* A long pass: the first object takes two seconds, and meanwhile nobody asks any more. */
RIG_TEST(what_is_not_asked_for_any_more_is_not_written, {
        static const int sizes[N_WIDGETS] = { 2, 2, 2, 2, 2 };
        struct line line;
        struct fleet f;

        begin(r, &f, &line);
        line.slow = "widgets/w-0";
        report(r, sizes, N_WIDGETS);
        assert_int_equal(fiber_sleep(r->loop, SLOW_MS / 2), 0);
        merge(r, WEB, "{\"spec\":{\"strategy\":{\"reportBackStrategy\":{\"destination\":\"WorkAPI\"}}}}");
        assert_int_equal(fiber_sleep(r->loop, 4 * SLOW_MS), 0);
        assert_int_equal(size_on_hub(r, 0), 2); /* it was under way */
        for (int i = 1; i < N_WIDGETS; i++)
                assert_int_equal(size_on_hub(r, i), 1);
        end(&f);
})

/* A cluster that was left and is taken again, while its Work stayed as it was. */
RIG_TEST(what_a_cluster_told_while_another_was_in_view_counts_when_it_is_bound_again, {
        static const int sizes[N_WIDGETS] = { 3, 3, 3, 3, 3 };
        struct line line;
        struct fleet f;

        begin(r, &f, &line);
        merge_and_settle(r, WEB, "{\"spec\":{\"policy\":{\"clusterNames\":[\"member-2\"]}}}");
        report(r, sizes, N_WIDGETS);
        rig_settle(r);
        assert_int_equal(size_on_hub(r, 0), 1);
        merge_and_settle(r, WEB, "{\"spec\":{\"policy\":{\"clusterNames\":[\"member-1\"]}}}");
        rig_settle(r);
        assert_int_equal(size_on_hub(r, 0), 3);
        end(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_report_costs_requests_for_what_changed_alone),
                cmocka_unit_test(a_status_write_of_the_placement_costs_none),
                cmocka_unit_test(what_was_changed_on_the_hub_gets_its_status_with_the_next_report),
                cmocka_unit_test(what_is_not_asked_for_any_more_is_not_written),
                cmocka_unit_test(what_a_cluster_told_while_another_was_in_view_counts_when_it_is_bound_again),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
