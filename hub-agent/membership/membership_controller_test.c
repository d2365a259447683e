/* Members join, report and leave, within a whole agent. */
#include "hub-agent/hub_agent_test.h"

#include "common/ctrl/metrics.h"

#define MEMBER CLUSTERS "memberclusters/member-1"
#define NAMESPACE "/api/v1/namespaces/fleet-member-member-1"
#define REPORT CLUSTERS "namespaces/fleet-member-member-1/internalmemberclusters/member-1"
#define RBAC "/apis/rbac.authorization.k8s.io/v1/namespaces/fleet-member-member-1/"

static void begin(struct rig *r, struct fleet *f)
{
        start(r, f);
        stop(f);
        f->metrics = metrics_new();
        start_again(r, f);
}

static void end(struct fleet *f)
{
        stop(f);
        metrics_free(f->metrics);
}

static void merge(struct rig *r, const char *path, const char *patch)
{
        if (rig_merge(r, path, patch) != 200)
                fail_msg("%s: %s", path, r->text);
        rig_settle(r);
}

/* How often it was told, repetitions included. */
static int64_t told(struct rig *r, const char *reason)
{
        int64_t n = 0;
        json_t *item;
        size_t i;

        rig_settle(r);
        rig_get(r, "/api/v1/namespaces/default/events");
        json_array_foreach(json_object_get(r->answer, "items"), i, item)
                if (text_equal(doc_get_string(item, "reason"), reason))
                        n += doc_get_int(item, "count", 1);
        return n;
}

static int counted(struct fleet *f, const char *name)
{
        static const char *const labels[] = { "result", NULL };

        return (int)metric_value(metrics_register(f->metrics, METRIC_COUNTER, name, "", labels, NULL, 0),
                                 (const char *const[]){ "success" });
}

static void assert_condition(struct rig *r, const char *type, const char *status)
{
        assert_int_equal(rig_get(r, MEMBER), 200);
        if (!text_equal(condition_of(r, type), status))
                fail_msg("%s: wanted %s, got %s", type, status, condition_of(r, type));
}

/* ---- joining ---- */

RIG_TEST(who_joins_is_told_and_counted_once, {
        static const char *const events[] = { "NamespaceCreated", "RoleCreated", "RoleBindingCreated",
                                              "InternalMemberClusterCreated", "MemberClusterJoined" };
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        report_member(&f, "member-1", "True");
        for (size_t i = 0; i < ARRAY_LEN(events); i++)
                assert_int_equal(told(r, events[i]), 1);
        assert_int_equal(counted(&f, "join_result_counter"), 1);
        assert_condition(r, "ReadyToJoin", "True");
        assert_condition(r, "Joined", "True");
        end(&f);
})

RIG_TEST(the_member_hears_at_once_how_often_to_report, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        merge(r, MEMBER, "{\"spec\":{\"heartbeatPeriodSeconds\":17}}");
        assert_int_equal(rig_get(r, REPORT), 200);
        assert_int_equal(doc_get_int(r->answer, "spec.heartbeatPeriodSeconds", 0), 17);
        assert_string_equal(rig_string(r, "spec.state"), "Join");
        end(&f);
})

RIG_TEST(another_identity_gets_the_rights_of_the_one_before, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        merge(r, MEMBER,
              "{\"spec\":{\"identity\":{\"kind\":\"User\",\"name\":\"somebody\",\"namespace\":null,"
              "\"apiGroup\":\"rbac.authorization.k8s.io\"}}}");
        assert_int_equal(rig_get(r, RBAC "rolebindings/fleet-rolebinding-member-1"), 200);
        assert_non_null(strstr(r->text, "\"name\":\"somebody\""));
        assert_null(strstr(r->text, "\"ServiceAccount\""));
        assert_int_equal(told(r, "RoleBindingUpdated"), 1);
        end(&f);
})

/* ---- silence ---- */

RIG_TEST(silence_is_told_once_and_so_is_its_end, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        fiber_sleep(r->loop, 110000);
        assert_condition(r, "Joined", "True");
        assert_int_equal(told(r, "MemberAgentHeartbeatLost"), 0);
        fiber_sleep(r->loop, 30000);
        assert_int_equal(told(r, "MemberAgentHeartbeatLost"), 1);
        fiber_sleep(r->loop, 300000);
        assert_int_equal(told(r, "MemberAgentHeartbeatLost"), 1);
        assert_int_equal(told(r, "MemberAgentHeartbeatBack"), 0);
        report_member(&f, "member-1", "True");
        assert_int_equal(told(r, "MemberAgentHeartbeatBack"), 1);
        end(&f);
})

static int passes(struct fleet *f)
{
        struct metric *m = metrics_register(f->metrics, METRIC_COUNTER, "controller_runtime_reconcile_total",
                                            "", NULL, NULL, 0);

        return (int)(metric_value(m, (const char *const[]){ "membership", "success" }) +
                     metric_value(m, (const char *const[]){ "membership", "requeue_after" }) +
                     metric_value(m, (const char *const[]){ "membership", "error" }));
}

RIG_TEST(between_its_heartbeats_a_member_is_not_looked_at, {
        struct fleet f;
        int before;

        begin(r, &f);
        add_member(&f, "member-1", "");
        fiber_sleep(r->loop, 5000);
        before = passes(&f);
        fiber_sleep(r->loop, 50000);
        assert_int_equal(passes(&f), before);
        end(&f);
})

/* ---- leaving ---- */

RIG_TEST(a_member_that_leaves_is_waited_for_and_told, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        assert_int_equal(rig_delete(r, MEMBER), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, REPORT), 200);
        assert_string_equal(rig_string(r, "spec.state"), "Leave");
        fiber_sleep(r->loop, 60000);
        assert_int_equal(rig_get(r, MEMBER), 200);
        assert_int_equal(rig_get(r, NAMESPACE), 200);
        report_member(&f, "member-1", "False");
        fiber_sleep(r->loop, 5000);
        assert_int_equal(rig_get(r, MEMBER), 404);
        assert_int_equal(rig_get(r, NAMESPACE), 404);
        assert_int_equal(told(r, "MemberClusterLeft"), 1);
        assert_int_equal(told(r, "MemberClusterForceDeleted"), 0);
        assert_int_equal(counted(&f, "leave_result_counter"), 1);
        end(&f);
})

RIG_TEST(a_member_that_never_came_is_waited_for_by_nobody, {
        struct fleet f;

        begin(r, &f);
        assert_int_equal(rig_post(r, CLUSTERS "memberclusters",
                                  "{\"apiVersion\":\"cluster.kubernetes-fleet.io/v1beta1\",\"kind\":"
                                  "\"MemberCluster\",\"metadata\":{\"name\":\"member-1\"},\"spec\":{"
                                  "\"identity\":{\"kind\":\"User\",\"name\":\"x\"}}}"),
                         201);
        rig_settle(r);
        assert_int_equal(rig_get(r, NAMESPACE), 200);
        assert_int_equal(rig_delete(r, MEMBER), 200);
        fiber_sleep(r->loop, 5000);
        assert_int_equal(rig_get(r, MEMBER), 404);
        assert_int_equal(rig_get(r, NAMESPACE), 404);
        end(&f);
})

/* Its agent does not answer: what it was to take the finalizers off goes, too. */
RIG_TEST(a_member_that_does_not_answer_is_removed_after_a_quarter_of_an_hour, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        place(r, "");
        settle(&f);
        assert_int_equal(count(r, FLEET "works"), 1);
        assert_int_equal(rig_delete(r, MEMBER), 200);
        fiber_sleep(r->loop, 890000);
        assert_int_equal(rig_get(r, MEMBER), 200);
        assert_int_equal(rig_get(r, NAMESPACE), 200);
        fiber_sleep(r->loop, 20000);
        assert_int_equal(rig_get(r, MEMBER), 404);
        assert_int_equal(rig_get(r, NAMESPACE), 404);
        assert_int_equal(count(r, FLEET "works"), 0);
        assert_int_equal(told(r, "MemberClusterForceDeleted"), 1);
        end(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(who_joins_is_told_and_counted_once),
                cmocka_unit_test(the_member_hears_at_once_how_often_to_report),
                cmocka_unit_test(another_identity_gets_the_rights_of_the_one_before),
                cmocka_unit_test(silence_is_told_once_and_so_is_its_end),
                cmocka_unit_test(between_its_heartbeats_a_member_is_not_looked_at),
                cmocka_unit_test(a_member_that_leaves_is_waited_for_and_told),
                cmocka_unit_test(a_member_that_never_came_is_waited_for_by_nobody),
                cmocka_unit_test(a_member_that_does_not_answer_is_removed_after_a_quarter_of_an_hour),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
