/* Members join, report and leave, within a whole agent. */
#include "hub-agent/membership/membership_agent_test.h"

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
        assert_int_equal(counted(&f, METRIC_JOINS), 1);
        assert_condition(r, "ReadyToJoin", "True");
        assert_condition(r, "Joined", "True");
        end(&f);
})

RIG_TEST(the_member_hears_at_once_how_often_to_report, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        merge_and_settle(r, MEMBER, "{\"spec\":{\"heartbeatPeriodSeconds\":17}}");
        assert_int_equal(rig_get(r, REPORT), 200);
        assert_int_equal(doc_get_int(r->answer, "spec.heartbeatPeriodSeconds", 0), 17);
        assert_string_equal(rig_string(r, "spec.state"), "Join");
        end(&f);
})

RIG_TEST(another_identity_gets_the_rights_of_the_one_before, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        merge_and_settle(
                r, MEMBER,
                "{\"spec\":{\"identity\":{\"kind\":\"User\",\"name\":\"somebody\",\"namespace\":null,"
                "\"apiGroup\":\"rbac.authorization.k8s.io\"}}}");
        assert_int_equal(rig_get(r, RBAC "rolebindings/fleet-rolebinding-member-1"), 200);
        assert_non_null(strstr(r->text, "\"name\":\"somebody\""));
        assert_null(strstr(r->text, "\"ServiceAccount\""));
        assert_int_equal(told(r, "RoleBindingUpdated"), 1);
        end(&f);
})

/* ---- silence ---- */

/* The metric's lines, all of them. */
static void expect_heard(struct fleet *f, const char *lines)
{
        AUTO_BUF struct buf text;
        const char *at;

        buf_init(&text, 8 << 20);
        assert_int_equal(metrics_print(f->metrics, &text), 0);
        at = strstr(text.data, "# TYPE argosy_member_heard gauge\n");
        assert_non_null(at);
        at = strchr(at, '\n') + 1;
        if (strncmp(at, lines, strlen(lines)) != 0 || at[strlen(lines)] == 'a')
                fail_msg("not \"%s\" but %.80s", lines, at);
}

RIG_TEST(silence_is_told_once_and_so_is_its_end, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        fiber_sleep(r->loop, 110000);
        assert_condition(r, "Joined", "True");
        assert_int_equal(told(r, "MemberAgentHeartbeatLost"), 0);
        expect_heard(&f, "argosy_member_heard{name=\"member-1\"} 1\n");
        fiber_sleep(r->loop, 30000);
        assert_int_equal(told(r, "MemberAgentHeartbeatLost"), 1);
        expect_heard(&f, "argosy_member_heard{name=\"member-1\"} 0\n");
        fiber_sleep(r->loop, 300000);
        assert_int_equal(told(r, "MemberAgentHeartbeatLost"), 1);
        assert_int_equal(told(r, "MemberAgentHeartbeatBack"), 0);
        report_member(&f, "member-1", "True");
        assert_int_equal(told(r, "MemberAgentHeartbeatBack"), 1);
        expect_heard(&f, "argosy_member_heard{name=\"member-1\"} 1\n");
        end(&f);
})

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

/* Once for each spec, until it is another. */
RIG_TEST(a_period_that_is_too_long_is_told_on_the_member, {
        struct fleet f;

        begin(r, &f);
        add_member(&f, "member-1", "");
        merge_and_settle(r, MEMBER, "{\"spec\":{\"heartbeatPeriodSeconds\":285}}");
        assert_int_equal(told(r, "HeartbeatPeriodTooLong"), 0);
        merge_and_settle(r, MEMBER, "{\"spec\":{\"heartbeatPeriodSeconds\":286}}");
        report_member(&f, "member-1", "True");
        assert_int_equal(told(r, "HeartbeatPeriodTooLong"), 1);
        merge_and_settle(r, MEMBER, "{\"spec\":{\"heartbeatPeriodSeconds\":60}}");
        assert_int_equal(told(r, "HeartbeatPeriodTooLong"), 1);
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
        assert_int_equal(counted(&f, METRIC_LEAVES), 1);
        expect_heard(&f, "#");
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

/* Its agent does not answer: what it was to take the finalizers off goes, too.
 * spec/membership-webhooks-charts.md checklist 12 */
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

/* The controller looks at the member again and again, and does not know yet that the namespace goes: what
 * watches tell comes late, or the server fails to remove it. */
struct removal {
        const char *lagging, *path; /* of struct line */
};

static void removal_body(struct rig *r)
{
        const struct removal *removal = r->ctx;
        struct fleet f;
        struct line line;

        begin(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        add_member(&f, "member-1", "");
        report_member(&f, "member-1", "True");
        assert_int_equal(rig_delete(r, MEMBER), 200);
        fiber_sleep(r->loop, 890000);
        assert_int_equal(told(r, "MemberClusterForceDeleted"), 0);
        line.lagging = removal->lagging;
        line.path = removal->path;
        line.fate = 500;
        fiber_sleep(r->loop, 60000);
        assert_int_equal(told(r, "MemberClusterForceDeleted"), 1);
        line.path = NULL;
        fiber_sleep(r->loop, 120000);
        assert_int_equal(rig_get(r, MEMBER), 404);
        assert_int_equal(rig_get(r, NAMESPACE), 404);
        assert_int_equal(told(r, "MemberClusterForceDeleted"), 1);
        end(&f);
        http_transport_free(f.world.transport);
}

static void who_is_removed_without_an_answer_is_told_once_however_long_it_takes(void **state)
{
        static const struct removal removals[] = { { .lagging = "?" }, { .path = NAMESPACE } };

        for (size_t i = 0; i < ARRAY_LEN(removals); i++)
                rig_run_for(removal_body, (void *)(uintptr_t)&removals[i]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(who_joins_is_told_and_counted_once),
                cmocka_unit_test(the_member_hears_at_once_how_often_to_report),
                cmocka_unit_test(another_identity_gets_the_rights_of_the_one_before),
                cmocka_unit_test(silence_is_told_once_and_so_is_its_end),
                cmocka_unit_test(between_its_heartbeats_a_member_is_not_looked_at),
                cmocka_unit_test(a_period_that_is_too_long_is_told_on_the_member),
                cmocka_unit_test(a_member_that_leaves_is_waited_for_and_told),
                cmocka_unit_test(a_member_that_never_came_is_waited_for_by_nobody),
                cmocka_unit_test(a_member_that_does_not_answer_is_removed_after_a_quarter_of_an_hour),
                cmocka_unit_test(who_is_removed_without_an_answer_is_told_once_however_long_it_takes),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
