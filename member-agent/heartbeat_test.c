/* When a member's agent looks at its cluster and when it writes to the hub: spec/member-agent.md 3.1. */
#include "member-agent/member_agent_test.h"

#define DOES_NOT_ANSWER (INT64_C(3600) * 1000)

/* The ways of the agent: what is counted, and what goes wrong. */
struct ways {
        size_t probes, versions, reports;
        int probe_fate, report_fate;
        int64_t nodes_delay_ms, probe_delay_ms;
};

static int fate_of(void *ctx, const struct http_request *rq)
{
        struct ways *w = ctx;
        bool is_report = text_equal(rq->method, "PATCH") && strstr(rq->path, "/internalmemberclusters/");
        bool is_probe = text_equal(rq->path, "/readyz");

        w->probes += is_probe;
        w->versions += text_equal(rq->path, "/version");
        w->reports += is_report;
        return is_probe ? w->probe_fate : is_report ? w->report_fate : 0;
}

static int64_t delay_of(void *ctx, const struct http_request *rq, bool answer)
{
        const struct ways *w = ctx;

        if (!answer && text_starts_with(rq->path, "/api/v1/nodes?"))
                return w->nodes_delay_ms;
        return answer && text_equal(rq->path, "/readyz") ? w->probe_delay_ms : 0;
}

static void begin_on(struct agent *a, struct rig *r, struct ways *w, struct loopback_faults *faults,
                     int period_s)
{
        *faults = (struct loopback_faults){ .ctx = w, .fate = fate_of, .delay = delay_of };
        prepare_clusters(r);
        post(r, MEMBER, "/api/v1/nodes", "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1'}}");
        merge(r, MEMBER, "/api/v1/nodes/n1/status",
              "{'status':{'capacity':{'cpu':'4'},'allocatable':{'cpu':'4'}}}");
        post(r, HUB, IMCS,
             arena_printf(
                     &r->arena,
                     "{'apiVersion':'cluster.kubernetes-fleet.io/v1beta1','kind':'InternalMemberCluster',"
                     "'metadata':{'name':'m1'},'spec':{'state':'Join','heartbeatPeriodSeconds':%d}}",
                     period_s));
        start(a, r, ":memory:");
        meet(a, faults);
}

static void wait_ms(struct rig *r, int64_t ms)
{
        assert_int_equal(fiber_sleep(r->loop, ms), 0);
}

static const json_t *own_entry(struct rig *r)
{
        get(r, HUB, IMCS "/m1");
        return json_array_get(doc_get_array(r->answer, "status.agentStatus"), 0);
}

static const char *status_of(struct rig *r, const char *type)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(own_entry(r), "conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return doc_get_string(c, "status");
        return "";
}

/* How long it takes, at most a minute. */
static int64_t wait_for_status(struct rig *r, const char *type, const char *status)
{
        int64_t begin = loop_now_ms(r->loop);

        while (!text_equal(status_of(r, type), status)) {
                if (loop_now_ms(r->loop) - begin > 60000)
                        fail_msg("%s is not %s", type, status);
                wait_ms(r, 10);
        }
        return loop_now_ms(r->loop) - begin;
}

static void quiet_body(struct rig *r)
{
        struct loopback_faults faults;
        struct ways w = { 0 };
        struct agent a;

        begin_on(&a, r, &w, &faults, 60);
        wait_ms(r, 5000);
        assert_string_equal(status_of(r, "Joined"), "True");
        assert_string_equal(rig_string(r, "status.resourceUsage.capacity.cpu"), "4");
        w = (struct ways){ 0 };
        wait_ms(r, 50000);
        assert_int_equal(w.probes, 0);
        assert_int_equal(w.reports, 0);
        wait_ms(r, 550000);
        assert_int_equal(w.reports, 10);
        assert_in_range(w.probes, 10, 11);
        stop(&a);
}

static void a_healthy_cluster_is_looked_at_and_written_of_once_a_period(void **state)
{
        rig_run(quiet_body);
}

static void late_usage_body(struct rig *r)
{
        struct loopback_faults faults;
        struct ways w = { .nodes_delay_ms = 8000 };
        struct agent a;
        int64_t waited;

        begin_on(&a, r, &w, &faults, 60);
        wait_for_status(r, "Joined", "True");
        waited = wait_for(r, HUB, IMCS "/m1", "status.resourceUsage.capacity.cpu", "4");
        assert_in_range(waited, 6000, 10000);
        stop(&a);
}

static void what_the_cluster_has_is_told_as_soon_as_it_is_known(void **state)
{
        rig_run(late_usage_body);
}

static void sick_body(struct rig *r)
{
        struct loopback_faults faults;
        struct ways w = { 0 };
        struct agent a;

        begin_on(&a, r, &w, &faults, 60);
        wait_ms(r, 5000);
        w.probe_fate = 500;
        wait_ms(r, 60000);
        assert_string_equal(status_of(r, "Healthy"), "False");
        wait_ms(r, 20000);
        w.reports = 0;
        w.probe_fate = 0;
        assert_true(wait_for_status(r, "Healthy", "True") <= 5500);
        assert_int_equal(w.reports, 1);
        stop(&a);
}

static void a_sick_cluster_that_is_well_again_is_told_of_within_seconds(void **state)
{
        rig_run(sick_body);
}

static void silent_body(struct rig *r)
{
        const int period_s = *(const int *)r->ctx;
        struct loopback_faults faults;
        struct ways w = { 0 };
        struct agent a;

        begin_on(&a, r, &w, &faults, period_s);
        wait_ms(r, 5000);
        w.probe_delay_ms = DOES_NOT_ANSWER;
        wait_ms(r, 3000 * period_s);
        assert_string_equal(status_of(r, "Healthy"), "False");
        w.reports = 0;
        wait_ms(r, 20000 * period_s);
        assert_in_range(w.reports, 19, 21);
        stop(&a);
}

/* Each look takes ten seconds. */
static void heartbeats_come_in_time_though_the_cluster_does_not_answer(void **state)
{
        static const int periods_s[] = { 10, 20, 60 };

        for (size_t i = 0; i < ARRAY_LEN(periods_s); i++)
                rig_run_for(silent_body, (void *)(uintptr_t)&periods_s[i]);
}

/* However short or long the period: nobody waits less than two seconds or more than ten for an answer. */
static void patience_body(struct rig *r)
{
        const int *line = r->ctx; /* the period, and what is waited at most, in seconds */
        struct loopback_faults faults;
        struct ways w = { .probe_delay_ms = DOES_NOT_ANSWER };
        struct agent a;
        int64_t waited;

        begin_on(&a, r, &w, &faults, line[0]);
        waited = wait_for_status(r, "Healthy", "False");
        assert_in_range(waited, line[1] * 1000 - 100, line[1] * 1000 + 500);
        stop(&a);
}

static void an_answer_is_waited_for_a_period_within_bounds(void **state)
{
        static const int lines[][2] = { { 1, 2 }, { 6, 6 }, { 60, 10 } };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++)
                rig_run_for(patience_body, (void *)(uintptr_t)lines[i]);
}

static void version_body(struct rig *r)
{
        struct loopback_faults faults;
        struct ways w = { 0 };
        struct agent a;

        begin_on(&a, r, &w, &faults, 60);
        wait_ms(r, 5000);
        w.versions = 0;
        wait_ms(r, 60 * 60 * 1000);
        assert_in_range(w.versions, 3, 4);
        stop(&a);
}

static void the_version_of_the_cluster_is_asked_for_four_times_an_hour(void **state)
{
        rig_run(version_body);
}

static void rights_body(struct rig *r)
{
        struct loopback_faults faults;
        struct ways w = { .report_fate = 403 };
        struct agent a;

        begin_on(&a, r, &w, &faults, 60);
        wait_ms(r, 90000);
        assert_in_range(w.reports, 100, 150);
        w.report_fate = 0;
        assert_true(wait_for_status(r, "Joined", "True") < 1000);
        stop(&a);
}

static void rights_that_come_with_the_agent_are_asked_for_at_short_steps(void **state)
{
        rig_run(rights_body);
}

static void missing_rights_body(struct rig *r)
{
        struct loopback_faults faults;
        struct ways w = { .report_fate = 403 };
        struct agent a;

        begin_on(&a, r, &w, &faults, 60);
        wait_ms(r, 150000);
        w.reports = 0;
        wait_ms(r, 60000);
        assert_in_range(w.reports, 2, 6);
        stop(&a);
}

static void rights_that_are_missing_for_minutes_are_asked_for_seldom(void **state)
{
        rig_run(missing_rights_body);
}

/* ---- namespaces ---- */

#define NAMESPACE(name) "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'" name "'}}"

static const char *collected(struct rig *r)
{
        get(r, HUB, IMCS "/m1");
        return read_field(r, "type=NamespaceCollectionSucceeded");
}

static const char *work_of_namespace(struct rig *r, const char *name)
{
        get(r, HUB, IMCS "/m1");
        return json_string_value(json_object_get(doc_get_object(r->answer, "status.namespaces"), name));
}

/* spec/member-agent.md checklist 58 */
RIG_TEST(the_hub_is_told_whose_the_namespaces_are_up_to_two_hundred, {
        struct loopback_faults faults;
        struct ways w = { 0 };
        struct agent a;

        begin_on(&a, r, &w, &faults, 60);
        a.options.properties.namespaces = true;
        wait_ms(r, 5000);
        assert_string_equal(collected(r), "Succeeded"); /* it does not wait for the next heartbeat */
        assert_string_equal(work_of_namespace(r, "default"), "");
        post(r, MEMBER, NS, NAMESPACE("mine"));
        place(r, "w", "", NAMESPACE("web"));
        wait_ms(r, 61000);
        assert_string_equal(work_of_namespace(r, "web"), "w");
        assert_string_equal(work_of_namespace(r, "mine"), "");
        for (int i = 0; i < 200; i++)
                post(r, MEMBER, NS,
                     arena_printf(&r->arena,
                                  "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'n%d'}}", i));
        delete (r, HUB, WORKS "/w");
        wait_ms(r, 61000);
        assert_string_equal(collected(r), "Degraded");
        assert_int_equal(json_object_size(doc_get_object(r->answer, "status.namespaces")), 200);
        assert_null(work_of_namespace(r, "web"));
        for (int i = 0; i < 10; i++)
                delete (r, MEMBER, arena_printf(&r->arena, NS "/n%d", i));
        wait_ms(r, 61000);
        assert_string_equal(collected(r), "Succeeded");
        assert_string_equal(work_of_namespace(r, "n199"), "");
        stop(&a);
})

RIG_TEST(nobody_who_is_not_asked_to_looks_at_namespaces, {
        struct loopback_faults faults;
        struct ways w = { 0 };
        struct agent a;

        begin_on(&a, r, &w, &faults, 60);
        wait_ms(r, 100000);
        assert_string_equal(collected(r), "");
        assert_null(doc_get(r->answer, "status.namespaces"));
        assert_int_equal(requests(r, "m1", "list", "namespaces") + requests(r, "m1", "watch", "namespaces"),
                         0);
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_healthy_cluster_is_looked_at_and_written_of_once_a_period),
                cmocka_unit_test(what_the_cluster_has_is_told_as_soon_as_it_is_known),
                cmocka_unit_test(a_sick_cluster_that_is_well_again_is_told_of_within_seconds),
                cmocka_unit_test(heartbeats_come_in_time_though_the_cluster_does_not_answer),
                cmocka_unit_test(an_answer_is_waited_for_a_period_within_bounds),
                cmocka_unit_test(the_version_of_the_cluster_is_asked_for_four_times_an_hour),
                cmocka_unit_test(rights_that_come_with_the_agent_are_asked_for_at_short_steps),
                cmocka_unit_test(rights_that_are_missing_for_minutes_are_asked_for_seldom),
                cmocka_unit_test(the_hub_is_told_whose_the_namespaces_are_up_to_two_hundred),
                cmocka_unit_test(nobody_who_is_not_asked_to_looks_at_namespaces),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
