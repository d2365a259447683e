/* The screens of `kubectl fleet diff` and `kubectl fleet plan`, word by word. */
#include "kubectl-fleet/fleet_test.h"

#define APPLIED                                                                                              \
        "'conditions':[{'type':'Applied','status':'True','reason':'R','message':'','lastTransitionTime':"    \
        "'2026-01-01T00:00:00Z','observedGeneration':1}]"
#define CHANGED(list, kind, name, first, generation, fields, values)                                         \
        "'" list "':[{'version':'v1','kind':'" kind "','name':'" name                                        \
        "','namespace':'web','observationTime':"                                                             \
        "'2026-01-01T00:00:00Z','" first                                                                     \
        "':'2025-12-31T23:55:00Z','targetClusterObservedGeneration':1,'" fields "':[" values "]}]"

static void place(struct user *u)
{
        store(u, FLEET "clusterresourceplacements",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterResourcePlacement','metadata':"
              "{'name':'web'},'spec':{'resourceSelectors':[{'group':'','version':'v1','kind':'Namespace','"
              "name':"
              "'web'}]}}");
}

static void bind(struct user *u, const char *cluster, const char *status)
{
        store(u, FLEET "clusterresourcebindings",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterResourceBinding','metadata':"
              "{'name':'web-%s','labels':{'kubernetes-fleet.io/parent-CRP':'web'}},'spec':{'state':'Bound',"
              "'resourceSnapshotName':'','schedulingPolicySnapshotName':'web-0','targetCluster':'%s',"
              "'clusterDecision':{'clusterName':'%s','selected':true,'reason':''}},'status':{%s}}",
              cluster, cluster, cluster, status);
}

USER_TEST(both_sides_of_each_field_are_shown, {
        place(u);
        bind(u, "alpha",
             APPLIED "," CHANGED("driftedPlacements", "ConfigMap", "c", "firstDriftedObservedTime", 1,
                                 "observedDrifts",
                                 "{'path':'/data/a','valueInHub':'1','valueInMember':'2'},{'path':'/data/b',"
                                 "'valueInMember':'new'}"));
        bind(u, "bravo",
             APPLIED
             "," CHANGED("diffedPlacements", "Service", "s", "firstDiffedObservedTime", 1, "observedDiffs",
                         "{'path':'/spec/type','valueInHub':'ClusterIP','valueInMember':'NodePort'}"));
        bind(u, "charlie", APPLIED);
        assert_int_equal(FLEET_RUN(u, "diff", "web"), 0);
        assert_string_equal(u->out.data, "alpha\n"
                                         "  ConfigMap web/c  drifted  for 5m\n"
                                         "    /data/a\n"
                                         "      - hub     1\n"
                                         "      + member  2\n"
                                         "    /data/b\n"
                                         "      - hub     (none)\n"
                                         "      + member  new\n"
                                         "bravo\n"
                                         "  Service web/s  differs  for 5m\n"
                                         "    /spec/type\n"
                                         "      - hub     ClusterIP\n"
                                         "      + member  NodePort\n");
        assert_int_equal(u->requests, 2);
        assert_int_equal(FLEET_RUN(u, "diff", "web", "bravo", "-oyaml"), 0);
        assert_lines(u->out.data, "clusters: 1\n- cluster: bravo\n  drifted: false\n  - hub: ClusterIP\n"
                                  "    member: NodePort\n    path: /spec/type\n  kind: Service\n");
        assert_int_equal(FLEET_RUN(u, "diff", "web", "-o", "name"), 0);
        assert_string_equal(u->out.data, "membercluster.cluster.kubernetes-fleet.io/alpha\n"
                                         "membercluster.cluster.kubernetes-fleet.io/bravo\n");
        assert_int_equal(FLEET_RUN(u, "diff", "web", "charlie"), 0);
        assert_string_equal(u->out.data, "no difference is known on 1 of 1 cluster\n");
        assert_int_equal(FLEET_RUN(u, "diff", "web", "delta"), 1);
        assert_lines(u->err.data, "Error: ClusterResourcePlacement \"web\" is not on cluster \"delta\"\n");
})

/* ---- plans ---- */

static void add_run(struct user *u)
{
        store(u, FLEET "clusterstagedupdateruns",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterStagedUpdateRun','metadata':"
              "{'name':'r'},'spec':{'placementName':'web','stagedRolloutStrategyName':'three'},'status':"
              "{'stagesStatus':[{'stageName':'canary','clusters':[]},{'stageName':'production','clusters':[]}"
              "]}}");
}

static void request(struct user *u, const char *name, const char *stage, const char *status)
{
        store(u, FLEET "clusterapprovalrequests",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterApprovalRequest','metadata':"
              "{'name':'%s','labels':{'kubernetes-fleet.io/targetUpdateRun':'r','kubernetes-fleet.io/"
              "taskType':"
              "'beforeStage'}},'spec':{'parentStageRollout':'r','targetStage':'%s'}%s}",
              name, stage, status);
}

#define PLANNED(cluster)                                                                                     \
        "{'clusterName':'" cluster "','added':1,'changed':1,'removed':1,'objects':[{'version':'v1','kind':"  \
        "'ConfigMap','namespace':'web','name':'new','change':'Added'},{'group':'apps','version':'v1','kind'" \
        ":"                                                                                                  \
        "'Deployment','namespace':'web','name':'nginx','change':'Changed','fields':[{'path':'/spec/"         \
        "replicas',"                                                                                         \
        "'from':'1','to':'3'}]},{'version':'v1','kind':'Secret','namespace':'web','name':'s','change':"      \
        "'Removed','fields':[{'path':'/data/key'}]}]}"

USER_TEST(a_plan_shows_what_changes_once_for_clusters_that_get_the_same, {
        add_run(u);
        request(u, "r-before-production", "production",
                ",'status':{'planHash':'abc','plan':{'resourceSnapshotIndex':'2','omittedObjects':7,'"
                "clusters':[" PLANNED("a") "," PLANNED("b") ",{'clusterName':'c','added':0,'changed':0,'"
                                                            "removed':0}," PLANNED("d") "," PLANNED(
                                                                    "e") "," PLANNED("f") ",{'clusterName':'"
                                                                                          "g','added':0,'"
                                                                                          "changed':0,'"
                                                                                          "removed':0,'"
                                                                                          "problem':"
                                                                                          "'an override "
                                                                                          "cannot be "
                                                                                          "applied'}]}}");
        request(u, "r-before-canary", "canary",
                ",'status':{'planHash':'old','conditions':[{'type':'ApprovalAccepted','status':'True','"
                "reason':'R',"
                "'message':'','lastTransitionTime':'2026-01-01T00:00:00Z','observedGeneration':1}],'plan':"
                "{'resourceSnapshotIndex':'2','clusters':[]}}");
        assert_int_equal(FLEET_RUN(u, "plan", "r"), 0);
        assert_string_equal(u->out.data,
                            "before stage production  revision 2  waits for approval  r-before-production\n"
                            "  a, b, d and 2 more  1 to add, 1 to change, 1 to remove\n"
                            "    + ConfigMap web/new\n"
                            "    ~ Deployment web/nginx\n"
                            "        /spec/replicas  1 → 3\n"
                            "    - Secret web/s\n"
                            "        /data/key\n"
                            "  c  no change\n"
                            "  g  an override cannot be applied\n"
                            "  7 more objects are not listed for want of room\n"
                            "  kubectl fleet approve careq --name r-before-production --hub-cluster-context "
                            "hub --plan-hash abc\n"
                            "before stage canary  revision 2  approved  r-before-canary\n");
        assert_int_equal(u->requests, 2);
        assert_int_equal(FLEET_RUN(u, "plan", "r", "canary"), 0);
        assert_string_equal(u->out.data, "before stage canary  revision 2  approved  r-before-canary\n");
        assert_int_equal(FLEET_RUN(u, "plan", "r", "-oyaml"), 0);
        assert_lines(u->out.data, "plans:\n- approvalRequest: r-before-production\n  approved: false\n"
                                  "  planHash: abc\n- approvalRequest: r-before-canary\n");
        assert_int_equal(FLEET_RUN(u, "plan", "r", "-oname"), 0);
        assert_lines(u->out.data,
                     "clusterapprovalrequest.placement.kubernetes-fleet.io/r-before-production\n");
})

USER_TEST(a_run_without_plans_says_why, {
        add_run(u);
        assert_int_equal(FLEET_RUN(u, "plan", "r"), 1);
        assert_string_equal(u->err.data,
                            "Error: ClusterStagedUpdateRun \"r\" has asked for no approval yet\n");
        request(u, "r-before-canary", "canary", "");
        assert_int_equal(FLEET_RUN(u, "plan", "r", "canary"), 1);
        assert_string_equal(
                u->err.data,
                "Error: ClusterStagedUpdateRun \"r\" shows no plan for stage canary: its strategy's "
                "Approval tasks do not ask for one (plan: true)\n");
})

USER_TEST(a_plan_that_was_asked_for_and_not_made_is_told_apart, {
        store(u, FLEET "clusterstagedupdateruns",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterStagedUpdateRun','metadata':"
              "{'name':'r'},'spec':{'placementName':'web','stagedRolloutStrategyName':'three'},'status':"
              "{'stagedUpdateStrategySnapshot':{'stages':[{'name':'canary','beforeStageTasks':[{'type':'"
              "Approval',"
              "'plan':true}]}]}}}");
        request(u, "r-before-canary", "canary", "");
        assert_int_equal(FLEET_RUN(u, "plan", "r"), 1);
        assert_string_equal(u->err.data,
                            "Error: ClusterStagedUpdateRun \"r\" shows no plan: its strategy asks for "
                            "one, but the hub's agent has made none\n");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(both_sides_of_each_field_are_shown),
                cmocka_unit_test(a_plan_shows_what_changes_once_for_clusters_that_get_the_same),
                cmocka_unit_test(a_run_without_plans_says_why),
                cmocka_unit_test(a_plan_that_was_asked_for_and_not_made_is_told_apart),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
