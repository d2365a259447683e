/* What completion offers, and the pages of the manual. */
#include "kubectl-fleet/fleet_test.h"

#define COMPLETE(u, want, ...)                                                                               \
        do {                                                                                                 \
                assert_int_equal(FLEET_RUN((u), COMPLETE_COMMAND, __VA_ARGS__), 0);                          \
                assert_string_equal((u)->out.data, want);                                                    \
                assert_string_equal((u)->err.data, "");                                                      \
        } while (0)

USER_TEST(commands_flags_and_fixed_values_are_offered_without_the_hub, {
        COMPLETE(u, "status\tShow how far placements have come\n:4\n", "st");
        COMPLETE(u, "stop\tLet a run finish the clusters it is at, and begin no other\n:4\n", "--context",
                 "hub", "runs", "st");
        COMPLETE(u, "json\nname\nyaml\n:4\n", "status", "-o", "");
        COMPLETE(u, "--output=json\n:4\n", "status", "--output=j");
        COMPLETE(u, "--watch\tStays and shows each change.\n:4\n", "status", "--wa");
        COMPLETE(u, "approvalrequest\nareq\n:4\n", "approve", "a");
        COMPLETE(u, "fish\n:4\n", "completion", "f");
        COMPLETE(u, "hub\n:4\n", "status", "--context", "");
        COMPLETE(u, ":0\n", "why", "-f", "");
        COMPLETE(u, "version\tPrint the version\n:4\n", "help", "ver");
        COMPLETE(u, ":4\n", "draincluster", "");
        COMPLETE(u, ":4\n", "status", "--unknown", "");
        assert_int_equal(u->requests, 0);
        COMPLETE(u, ":4\n", "status", "--", "--wa");
        assert_int_equal(FLEET_RUN(u, COMPLETE_COMMAND), 0);
        assert_lines(u->out.data, "status\t\nruns\t\n:4\n");
        assert_null(strstr(u->out.data, "man\t"));
})

static void add(struct user *u, const char *path, const char *kind, const char *name, const char *rest)
{
        store(u, path, "{'apiVersion':'%s','kind':'%s','metadata':{'name':'%s'},%s}",
              strstr(path, "memberclusters") ? "cluster.kubernetes-fleet.io/v1beta1"
                                             : "placement.kubernetes-fleet.io/v1beta1",
              kind, name, rest);
}
#define SELECTS "'spec':{'resourceSelectors':[{'group':'','version':'v1','kind':'ConfigMap','name':'x'}]}"
#define ASKS "'spec':{'parentStageRollout':'r','targetStage':'canary'}"

USER_TEST(names_are_offered_that_the_hub_has, {
        assert_int_equal(rig_post(u->rig, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team\"}}"), 201);
        add(u, FLEET "clusterresourceplacements", "ClusterResourcePlacement", "web", SELECTS);
        add(u, FLEET "clusterresourceplacements", "ClusterResourcePlacement", "data", SELECTS);
        add(u, FLEET "namespaces/team/resourceplacements", "ResourcePlacement", "api", SELECTS);
        add(u, CLUSTERS "memberclusters", "MemberCluster", "edge-1",
            "'spec':{'identity':{'kind':'User','name':'x'}}");
        add(u, FLEET "clusterstagedupdateruns", "ClusterStagedUpdateRun", "r",
            "'spec':{'placementName':'web','stagedRolloutStrategyName':'s'},'status':{'stagesStatus':[{'"
            "stageName':"
            "'canary','clusters':[]},{'stageName':'rest','clusters':[]}]}");
        add(u, FLEET "clusterapprovalrequests", "ClusterApprovalRequest", "r-after-canary", ASKS);
        add(u, FLEET "clusterapprovalrequests", "ClusterApprovalRequest", "r-before-canary",
            ASKS ",'status':{'conditions':[{'type':'Approved','status':'True','reason':'R','message':'',"
                 "'lastTransitionTime':'2026-01-01T00:00:00Z'}]}");
        COMPLETE(u, "data\nweb\n:4\n", "status", "");
        COMPLETE(u, "web\n:4\n", "why", "w");
        COMPLETE(u, "edge-1\n:4\n", "why", "web", "");
        COMPLETE(u, "api\n:4\n", "status", "-n", "team", "");
        COMPLETE(u, "team\n:4\n", "status", "-n", "te");
        COMPLETE(u, "edge-1\n:4\n", "draincluster", "--cluster-name", "");
        COMPLETE(u, "r\n:4\n", "runs", "stop", "");
        COMPLETE(u, "rest\n:4\n", "plan", "r", "re");
        COMPLETE(u, "r-after-canary\tstage canary of r\n:4\n", "approve", "careq", "--name", "");
        assert_int_equal(u->requests, 1);
        COMPLETE(u, ":4\n", "approve", "areq", "-n", "team", "--name", "");
})

static int silence(struct user *u, const struct http_request *rq)
{
        return ERR_TIMEOUT;
}

USER_TEST(a_silent_hub_does_not_hold_the_prompt, {
        int64_t before = loop_now_ms(u->rig->loop);

        u->fate = silence;
        COMPLETE(u, ":4\n", "status", "");
        assert_true(loop_now_ms(u->rig->loop) - before <= 3000);
        u->fate = NULL;
        COMPLETE(u, ":4\n", "status", "--context", "nowhere", "");
})

/* ---- scripts and pages ---- */

USER_TEST(each_shell_gets_a_script_that_asks_the_program, {
        assert_int_equal(FLEET_RUN(u, "completion", "bash"), 0);
        assert_lines(u->out.data,
                     " __complete \"${words[@]:1}\"\ncomplete -F _kubectl_fleet kubectl-fleet\n");
        assert_int_equal(FLEET_RUN(u, "completion", "zsh"), 0);
        assert_lines(u->out.data, "#compdef kubectl-fleet\n __complete ");
        assert_int_equal(FLEET_RUN(u, "completion", "fish"), 0);
        assert_lines(u->out.data, " __complete \ncomplete -c kubectl-fleet ");
        assert_int_equal(FLEET_RUN(u, "completion", "tcsh"), 1);
        assert_lines(u->err.data, "Error: there is no completion for \"tcsh\": bash, fish or zsh\n");
})

USER_TEST(the_manual_has_a_page_about_every_command, {
        AUTO_BUF struct buf pages;
        struct slice rest, line;
        size_t n = 0;

        assert_int_equal(FLEET_RUN(u, "man"), 0);
        assert_lines(u->out.data, ".TH \"KUBECTL\\-FLEET\" 1 \n.SH NAME\nkubectl\\-fleet \\- See and steer\n"
                                  ".SH COMMANDS\n.B status\n");
        assert_int_equal(FLEET_RUN(u, "man", "runs", "stop"), 0);
        assert_lines(u->out.data,
                     ".TH \"KUBECTL\\-FLEET\\-RUNS\\-STOP\" 1 \n.SH SYNOPSIS\n"
                     ".B kubectl\\-fleet runs stop\n<run> [flags]\n.SH DESCRIPTION\n.SH OPTIONS\n"
                     "\\fB\\-\\-context\\fR \\fIvalue\\fR\n.SH EXAMPLES\nkubectl fleet runs stop\n"
                     ".BR kubectl\\-fleet\\-runs (1)\n");
        assert_int_equal(FLEET_RUN(u, "man", "--all"), 0);
        buf_init(&pages, 4096);
        buf_append(&pages, u->out.data, u->out.len);
        rest = (struct slice){ pages.data, pages.len };
        while (slice_cut(&rest, '\n', &line) && line.len) {
                char name[64], *space;

                snprintf(name, sizeof(name), "%.*s", (int)line.len, line.data);
                space = strchr(name, ' ');
                if (space)
                        *space++ = '\0';
                assert_int_equal(space ? FLEET_RUN(u, "man", name, space) : FLEET_RUN(u, "man", name), 0);
                assert_lines(u->out.data, ".TH \n.SH NAME\n.SH SYNOPSIS\n.SH DESCRIPTION\n.SH OPTIONS\n");
                n++;
        }
        assert_int_equal(n, 19);
        assert_int_equal(FLEET_RUN(u, "man", "nothing"), 1);
        assert_lines(u->err.data, "Error: there is no page about \"nothing\"\n");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(commands_flags_and_fixed_values_are_offered_without_the_hub),
                cmocka_unit_test(names_are_offered_that_the_hub_has),
                cmocka_unit_test(a_silent_hub_does_not_hold_the_prompt),
                cmocka_unit_test(each_shell_gets_a_script_that_asks_the_program),
                cmocka_unit_test(the_manual_has_a_page_about_every_command),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
