/* Rights of the agent's own on its cluster that come late. */
#include "member-agent/member_agent_test.h"

#define RBAC "/apis/rbac.authorization.k8s.io/v1"

static void grant(struct rig *r, const char *name, const char *rules)
{
        post(r, MEMBER, RBAC "/clusterroles",
             arena_printf(&r->arena,
                          "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRole','metadata':{"
                          "'name':'%s'},'rules':[%s]}",
                          name, rules));
        post(r, MEMBER, RBAC "/clusterrolebindings",
             arena_printf(&r->arena,
                          "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRoleBinding',"
                          "'metadata':{'name':'%s'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':"
                          "'ClusterRole','name':'%s'},'subjects':[{'kind':'ServiceAccount','name':'agent',"
                          "'namespace':'default'}]}",
                          name, name));
}

/* An agent that may do all it needs but nothing with what it places. */
static void begin_poor(struct agent *a, struct rig *r)
{
        prepare_clusters(r);
        invite(r);
        post(r, MEMBER, NS "/default/serviceaccounts",
             "{'apiVersion':'v1','kind':'ServiceAccount','metadata':{'name':'agent','namespace':'default'}}");
        grant(r, "agent",
              "{'apiGroups':['placement.kubernetes-fleet.io','coordination.k8s.io','apiextensions.k8s.io'],"
              "'resources':['*'],'verbs':['*']},{'apiGroups':[''],'resources':['nodes','pods','events'],"
              "'verbs':['*']}");
        post(r, MEMBER, NS "/default/serviceaccounts/agent/token", "{'spec':{'expirationSeconds':86400}}");
        start(a, r, ":memory:");
        a->member.bearer_token = arena_strdup(&r->arena, rig_string(r, "status.token"));
}

/* How often the hub was told, about this member. */
static int64_t told(struct rig *r, const char *type, const char *reason)
{
        size_t i;
        json_t *e;
        int64_t n = 0;

        get(r, HUB, NS "/fleet-member-m1/events");
        json_array_foreach(doc_get_array(r->answer, "items"), i, e)
                if (text_equal(doc_get_string(e, "reason"), reason) &&
                    text_equal(doc_get_string(e, "type"), type) &&
                    text_equal(doc_get_string(e, "involvedObject.kind"), "InternalMemberCluster"))
                        n += doc_get_int(e, "count", 1);
        return n;
}

/* By the time it is granted the pauses between tries have become minutes. */
static void granted_late_body(struct rig *r)
{
        struct agent a;

        begin_poor(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        assert_int_equal(fiber_sleep(r->loop, 1500000), 0);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 404);
        assert_true(told(r, "Warning", "RightMissing") > 0);
        assert_int_equal(told(r, "Normal", "RightRestored"), 0);
        grant(r, "more", "{'apiGroups':[''],'resources':['configmaps'],'verbs':['*']}");
        assert_in_range(wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1"), 0, 8000);
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_int_equal(fiber_sleep(r->loop, 20000), 0);
        assert_true(told(r, "Normal", "RightRestored") > 0);
        assert_int_equal(told(r, "Warning", "ConnectionFailed"), 0);
        stop(&a);
}

static void what_was_refused_is_applied_soon_after_the_right_is_there(void **state)
{
        rig_run(granted_late_body);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_was_refused_is_applied_soon_after_the_right_is_there),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
