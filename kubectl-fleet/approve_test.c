#include "kubectl-fleet/fleet_test.h"

#define HUB "--hub-cluster-context", "hub"

static void request(struct user *u, const char *kind, const char *path, const char *name, const char *status)
{
        store(u, path,
              "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'%s','metadata':{'name':'%s'},"
              "'spec':{'parentStageRollout':'run','targetStage':'canary'}%s}",
              kind, name, status);
}

/* spec/staged-update-and-eviction.md checklist 54 */
USER_TEST(kinds_are_told_apart_whatever_their_case_and_want_a_namespace_or_none, {
        static const struct {
                const char *words[5], *text;
        } cases[] = {
                { { "CAREQ", "--name=a", "-nteam" },
                  "clusterapprovalrequest is cluster-scoped and does not accept a namespace" },
                { { "ClusterApprovalRequest", "--name=a", "--namespace=team" },
                  "clusterapprovalrequest is cluster-scoped and does not accept a namespace" },
                { { "areq", "--name=a" },
                  "namespace is required for approvalrequest (use --namespace or -n flag)" },
                { { "ApprovalRequest", "--name=a" },
                  "namespace is required for approvalrequest (use --namespace or -n flag)" },
                { { "", "--name=a" }, "resource kind is required" },
                { { "csur", "--name=a" }, "unsupported resource kind \"csur\"" },
                { { "careq", "--name=" }, "resource name is required" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                const char *argv[8] = { "approve", HUB };
                char want[256];
                int argc = 3;

                for (size_t k = 0; cases[i].words[k]; k++)
                        argv[argc++] = cases[i].words[k];
                assert_int_equal(fleet_command(u, argc, argv), 1);
                snprintf(want, sizeof(want), "Error: %s\n", cases[i].text);
                assert_memory_equal(u->err.data, want, strlen(want));
                assert_int_equal(u->requests, 0);
        }
})

/* spec/staged-update-and-eviction.md checklist 55 */
USER_TEST(an_approval_keeps_other_conditions_and_speaks_of_the_generation, {
        request(u, "ClusterApprovalRequest", FLEET "clusterapprovalrequests", "run-after-canary",
                ",'status':{'conditions':[{'type':'Approved','status':'False','reason':'No','message':'not "
                "yet',"
                "'lastTransitionTime':'2025-01-01T00:00:00Z','observedGeneration':1},{'type':'Seen','status':"
                "'True','reason':'By','message':'ops','lastTransitionTime':'2025-01-01T00:00:00Z'}]}");
        assert_int_equal(FLEET_RUN(u, "approve", "careq", "--name", "run-after-canary", HUB), 0);
        assert_string_equal(u->out.data, "");
        assert_string_equal(u->err.data,
                            "2026/01/01 00:00:00 ClusterApprovalRequest \"run-after-canary\" approved "
                            "successfully\n");
        rig_get(u->rig, FLEET "clusterapprovalrequests/run-after-canary");
        assert_int_equal(json_array_size(doc_get_array(u->rig->answer, "status.conditions")), 2);
        assert_lines(u->rig->text, "\"message\":\"ClusterApprovalRequest has been approved\"\n"
                                   "\"type\":\"Seen\"");
        assert_non_null(strstr(u->rig->text, "\"reason\":\"ClusterApprovalRequestApproved\""));
        assert_int_equal(doc_get_int(json_array_get(doc_get_array(u->rig->answer, "status.conditions"), 0),
                                     "observedGeneration", 0),
                         1);
        /* once more is harmless */
        assert_int_equal(FLEET_RUN(u, "approve", "careq", "--name", "run-after-canary", HUB), 0);
        assert_int_equal(u->requests, 1);
})

USER_TEST(an_approval_is_for_the_plan_that_is_shown, {
        request(u, "ClusterApprovalRequest", FLEET "clusterapprovalrequests", "a",
                ",'status':{'planHash':'abc','plan':{'clusters':[{'clusterName':'edge','added':1,'changed':0,"
                "'removed':0}]}}");
        assert_int_equal(FLEET_RUN(u, "approve", "careq", "--name=a", "--plan-hash=old", HUB), 1);
        assert_lines(u->err.data,
                     "Error: failed to approve ClusterApprovalRequest \"a\": it shows another plan by "
                     "now, with hash abc: `kubectl fleet plan run`");
        assert_int_equal(FLEET_RUN(u, "approve", "careq", "--name=a", HUB), 0);
        rig_get(u->rig, FLEET "clusterapprovalrequests/a");
        assert_string_equal(rig_string(u->rig, "status.approvedPlanHash"), "abc");
        assert_int_equal(json_array_size(doc_get_array(u->rig->answer, "status.plan.clusters")), 1);
        assert_int_equal(FLEET_RUN(u, "approve", "careq", "--name=a", "--plan-hash=abc", HUB), 0);
        request(u, "ClusterApprovalRequest", FLEET "clusterapprovalrequests", "b", "");
        assert_int_equal(FLEET_RUN(u, "approve", "careq", "--name=b", "--plan-hash=abc", HUB), 1);
        assert_lines(u->err.data, "\"b\": it shows no plan, and --plan-hash names one\n");
})

USER_TEST(a_request_in_a_namespace_is_told_with_it, {
        assert_int_equal(rig_post(u->rig, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"web\"}}"), 201);
        request(u, "ApprovalRequest", FLEET "namespaces/web/approvalrequests", "a", "");
        assert_int_equal(FLEET_RUN(u, "approve", "AReq", "--name=a", "-n", "web", HUB), 0);
        assert_lines(u->err.data, " ApprovalRequest \"a\" in namespace \"web\" approved successfully\n");
        rig_get(u->rig, FLEET "namespaces/web/approvalrequests/a");
        assert_lines(u->rig->text, "\"message\":\"ApprovalRequest has been approved\"");
        assert_int_equal(FLEET_RUN(u, "approve", "areq", "--name=b", "-n", "web", HUB), 1);
        assert_lines(u->err.data,
                     "Error: failed to approve ApprovalRequest \"b\" in namespace \"web\": failed to "
                     "get ApprovalRequest \"b\" in namespace \"web\": ");
        assert_non_null(
                strstr(u->err.data, "approvalrequests.placement.kubernetes-fleet.io \"b\" not found"));
})

static int conflict_on_write(struct user *u, const struct http_request *rq)
{
        return text_equal(rq->method, "PATCH") ? 409 : 0;
}

static int conflict_once(struct user *u, const struct http_request *rq)
{
        return text_equal(rq->method, "PATCH") && u->requests <= 2 ? 409 : 0;
}

USER_TEST(a_conflict_is_tried_five_times_anew, {
        request(u, "ClusterApprovalRequest", FLEET "clusterapprovalrequests", "a", "");
        u->fate = conflict_once;
        assert_int_equal(FLEET_RUN(u, "approve", "careq", "--name=a", HUB), 0);
        assert_int_equal(u->requests, 4);
        request(u, "ClusterApprovalRequest", FLEET "clusterapprovalrequests", "b", "");
        u->fate = conflict_on_write;
        assert_int_equal(FLEET_RUN(u, "approve", "careq", "--name=b", HUB), 1);
        assert_int_equal(u->requests, 10);
        assert_lines(u->err.data, "Error: failed to approve ClusterApprovalRequest \"b\": ");
})

static int silence(struct user *u, const struct http_request *rq)
{
        return ERR_TIMEOUT;
}

USER_TEST(a_hub_that_does_not_answer_takes_no_longer_than_the_timeout, {
        int64_t before = loop_now_ms(u->rig->loop);

        u->fate = silence;
        assert_int_equal(FLEET_RUN(u, "approve", "careq", "--name=a", "--timeout=7s", HUB), 1);
        assert_int_equal(loop_now_ms(u->rig->loop) - before, 7000);
        assert_lines(u->err.data, "Error: failed to approve ClusterApprovalRequest \"a\": ");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(kinds_are_told_apart_whatever_their_case_and_want_a_namespace_or_none),
                cmocka_unit_test(an_approval_keeps_other_conditions_and_speaks_of_the_generation),
                cmocka_unit_test(an_approval_is_for_the_plan_that_is_shown),
                cmocka_unit_test(a_request_in_a_namespace_is_told_with_it),
                cmocka_unit_test(a_conflict_is_tried_five_times_anew),
                cmocka_unit_test(a_hub_that_does_not_answer_takes_no_longer_than_the_timeout),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
