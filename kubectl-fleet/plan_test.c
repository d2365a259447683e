/* What `kubectl fleet plan` shows: plans of the hub, and snapshots that are compared where it makes none. */
#include "kubectl-fleet/fleet_test.h"

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

#define ALIKE PLANNED("a") "," PLANNED("b")
#define ALIKE_TOO PLANNED("d") "," PLANNED("e") "," PLANNED("f")
#define NOTHING_FOR_C "{'clusterName':'c','added':0,'changed':0,'removed':0}"
#define PROBLEM_OF_G                                                                                         \
        "{'clusterName':'g','added':0,'changed':0,'removed':0,'problem':'an override cannot be applied'}"

USER_TEST(a_plan_shows_what_changes_once_for_clusters_that_get_the_same, {
        add_run(u);
        request(u, "r-before-production", "production",
                ",'status':{'planHash':'abc','plan':{'resourceSnapshotIndex':'2','omittedObjects':7,'"
                "clusters':[" ALIKE "," NOTHING_FOR_C "," ALIKE_TOO "," PROBLEM_OF_G "]}}");
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
        assert_int_equal(FLEET_RUN(u, "plan", "r", "--color", "always"), 0);
        assert_on_page(u);
        assert_int_equal(FLEET_RUN(u, "plan", "r", "canary"), 0);
        assert_string_equal(u->out.data, "before stage canary  revision 2  approved  r-before-canary\n");
        assert_int_equal(FLEET_RUN(u, "plan", "r", "-oyaml"), 0);
        assert_lines(u->out.data, "plans:\n- approvalRequest: r-before-production\n  approved: false\n"
                                  "  planHash: abc\n- approvalRequest: r-before-canary\n");
        assert_int_equal(FLEET_RUN(u, "plan", "r", "-oname"), 0);
        assert_lines(u->out.data,
                     "clusterapprovalrequest.placement.kubernetes-fleet.io/r-before-production\n");
})

/* Writes the rig's answer back. */
static void put_status(struct user *u, const char *path)
{
        char where[512];
        AUTO_BUF struct buf text;

        buf_init(&text, 1u << 20);
        doc_write(u->rig->answer, &text);
        snprintf(where, sizeof(where), "%s/status", path);
        assert_int_equal(rig_put(u->rig, where, text.data), 200);
}

/* ---- of hubs that make none ---- */

static void add_snapshot(struct user *u, const char *name, const char *index, const char *resources)
{
        store(u, FLEET "clusterresourcesnapshots",
              "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'ClusterResourceSnapshot',"
              "'metadata':{'name':'%s','labels':{'kubernetes-fleet.io/parent-CRP':'web',"
              "'kubernetes-fleet.io/resource-index':'%s'}},'spec':{'selectedResources':[%s]}}",
              name, index, resources);
}

static void add_binding(struct user *u, const char *cluster, const char *state, const char *snapshot)
{
        store(u, FLEET "clusterresourcebindings",
              "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'ClusterResourceBinding',"
              "'metadata':{'name':'web-%s','labels':{'kubernetes-fleet.io/"
              "parent-CRP':'web'}},'spec':{'state':"
              "'%s','resourceSnapshotName':'%s','schedulingPolicySnapshotName':'web-0','targetCluster':'%s',"
              "'clusterDecision':{'clusterName':'%s','selected':true,'reason':''}}}",
              cluster, state, snapshot, cluster, cluster);
}

#define NAMESPACE "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'web'}}"
static const char old_settings[] = NAMESPACE ",{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','"
                                             "namespace':'web'},'data':{'a':'one'}}";
static const char old_secret[] =
        "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':'web'},'data':{'key':'b25l'}}";
static const char new_all[] = NAMESPACE
        ",{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','namespace':'web'},'data':{'a':'two'}}"
        ",{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':'web'},'data':{'key':'dHdv'}"
        "}";

static void add_run_of(struct user *u, const char *name, const char *stages)
{
        store(u, FLEET "clusterstagedupdateruns",
              "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'ClusterStagedUpdateRun',"
              "'metadata':{'name':'%s'},'spec':{'placementName':'web','stagedRolloutStrategyName':'three'},"
              "'status':{'resourceSnapshotIndexUsed':'2',%s}}",
              name, stages);
}

static const char canary_is_over[] =
        "'stagesStatus':[{'stageName':'canary','clusters':[{'clusterName':'canary'}],'conditions':[{'type':"
        "'Succeeded','status':'True','reason':'R','message':'','lastTransitionTime':'2026-01-01T00:00:00Z'}]"
        "}";
static const char others_are_ahead[] =
        ",{'stageName':'production','clusters':[{'clusterName':'a'},{'clusterName':'b'},{'clusterName':'c'},"
        "{'clusterName':'d'}]}],'deletionStageStatus':{'stageName':'kubernetes-fleet.io/deleteStage',"
        "'clusters':[{'clusterName':'old'}]}";

/* Revision 2 comes; canary has it, a and c have revision 1, b nothing, d a revision that is gone. */
static void set_scene(struct user *u)
{
        char stages[2048];

        snprintf(stages, sizeof(stages), "%s%s", canary_is_over, others_are_ahead);
        add_run_of(u, "r", stages);
        add_snapshot(u, "web-1-snapshot", "1", old_settings);
        add_snapshot(u, "web-1-0", "1", old_secret);
        add_snapshot(u, "web-2-snapshot", "2", new_all);
        add_binding(u, "canary", "Bound", "web-2-snapshot");
        add_binding(u, "a", "Bound", "web-1-snapshot");
        add_binding(u, "b", "Scheduled", "");
        add_binding(u, "c", "Bound", "web-1-snapshot");
        add_binding(u, "d", "Bound", "web-0-snapshot");
        add_binding(u, "old", "Bound", "web-1-snapshot");
}

USER_TEST(where_no_request_shows_a_plan_snapshots_are_compared, {
        set_scene(u);
        request(u, "r-before-production", "production", "");
        assert_int_equal(FLEET_RUN(u, "plan", "r"), 0);
        assert_string_equal(
                u->out.data,
                "before stage production  revision 2  waits for approval  r-before-production\n"
                "  a, c  0 to add, 2 to change, 0 to remove\n"
                "    ~ ConfigMap web/c\n"
                "        /data/a  \"one\" → \"two\"\n"
                "    ~ Secret web/s\n"
                "        /data/key\n"
                "  b  3 to add, 0 to change, 0 to remove\n"
                "    + ConfigMap web/c\n"
                "    + Namespace web\n"
                "    + Secret web/s\n"
                "  d  resource snapshot \"web-0-snapshot\" is gone\n"
                "  kubectl fleet approve careq --name r-before-production --hub-cluster-context hub\n"
                "stage cleanup\n"
                "  old  0 to add, 0 to change, 3 to remove\n"
                "    - ConfigMap web/c\n"
                "    - Namespace web\n"
                "    - Secret web/s\n"
                "Snapshots were compared here: overrides and what envelopes hold are left out of account.\n");
        assert_int_equal(u->requests, 4);
        assert_int_equal(FLEET_RUN(u, "plan", "r", "--color", "always"), 0);
        assert_on_page(u);
})

/* The approval after a stage lets the next one begin. */
USER_TEST(an_approval_after_a_stage_is_that_before_the_next, {
        set_scene(u);
        store(u, FLEET "clusterapprovalrequests",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterApprovalRequest','metadata':"
              "{'name':'r-after-canary','labels':{'kubernetes-fleet.io/targetUpdateRun':'r',"
              "'kubernetes-fleet.io/taskType':'afterStage'}},'spec':{'parentStageRollout':'r','targetStage':"
              "'canary'}}");
        assert_int_equal(FLEET_RUN(u, "plan", "r"), 0);
        assert_lines(u->out.data,
                     "before stage production  revision 2  waits for approval  r-after-canary\n  a, c  \n"
                     "  kubectl fleet approve careq --name r-after-canary --hub-cluster-context hub\n"
                     "stage cleanup\n");
        assert_null(strstr(u->out.data, "stage canary"));
})

USER_TEST(what_is_compared_may_be_one_stage_and_a_document, {
        set_scene(u);
        assert_int_equal(FLEET_RUN(u, "plan", "r", "canary"), 0); /* over, but asked for */
        assert_lines(u->out.data, "stage canary  revision 2\n  canary  no change\n");
        assert_null(strstr(u->out.data, "production"));
        assert_int_equal(FLEET_RUN(u, "plan", "r", "production", "-oyaml"), 0);
        assert_lines(u->out.data, "compared: true\n  - added: 0\n    changed: 2\n    - a\n    - c\n"
                                  "  stage: production\n");
        assert_null(strstr(u->out.data, "approvalRequest"));
        assert_int_equal(FLEET_RUN(u, "plan", "r", "-oname"), 0);
        assert_string_equal(u->out.data, "");
        assert_int_equal(FLEET_RUN(u, "plan", "r", "staging"), 1);
        assert_string_equal(u->err.data, "Error: ClusterStagedUpdateRun \"r\" has no stage \"staging\"\n");
})

USER_TEST(a_run_that_nothing_can_be_told_of_says_why, {
        char stages[1024];

        add_run(u);
        assert_int_equal(FLEET_RUN(u, "plan", "r"), 1);
        assert_string_equal(u->err.data,
                            "Error: ClusterStagedUpdateRun \"r\" is not initialized: nobody knows yet what "
                            "it brings\n");
        snprintf(stages, sizeof(stages), "%s]", canary_is_over);
        add_run_of(u, "over", stages);
        assert_int_equal(FLEET_RUN(u, "plan", "over"), 1);
        assert_string_equal(u->err.data,
                            "Error: ClusterStagedUpdateRun \"over\" has nothing ahead: all its clusters "
                            "are updated\n");
})

USER_TEST(a_plan_that_was_asked_for_and_not_made_is_told_apart, {
        store(u, FLEET "clusterstagedupdateruns",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterStagedUpdateRun','metadata':"
              "{'name':'r'},'spec':{'placementName':'web','stagedRolloutStrategyName':'three'},'status':"
              "{'resourceSnapshotIndexUsed':'1','stagesStatus':[{'stageName':'canary','clusters':[]}],"
              "'stagedUpdateStrategySnapshot':{'stages':[{'name':'canary','beforeStageTasks':[{'type':'"
              "Approval',"
              "'plan':true}]}]}}}");
        request(u, "r-before-canary", "canary", "");
        assert_int_equal(FLEET_RUN(u, "plan", "r"), 1);
        assert_string_equal(u->err.data,
                            "Error: ClusterStagedUpdateRun \"r\" shows no plan: its strategy asks for "
                            "one, but the hub's agent has made none\n");
})

/* One gate shows a plan, the other need not: it is compared, and nobody waits for the agent. */
USER_TEST(a_plan_is_missed_only_where_the_task_asks_for_one, {
        set_scene(u);
        rig_get(u->rig, FLEET "clusterstagedupdateruns/r");
        json_object_set_new(json_object_get(u->rig->answer, "status"), "stagedUpdateStrategySnapshot",
                            json_pack("{s:[{s:s, s:[{s:s}]}, {s:s, s:[{s:s, s:b}]}]}", "stages", "name",
                                      "production", "beforeStageTasks", "type", "Approval", "name", "rest",
                                      "beforeStageTasks", "type", "Approval", "plan", 1));
        put_status(u, FLEET "clusterstagedupdateruns/r");
        request(u, "r-before-production", "production", "");
        assert_int_equal(FLEET_RUN(u, "plan", "r"), 0);
        assert_lines(u->out.data,
                     "before stage production  revision 2  waits for approval\n  a, c  0 to add\n");
        request(u, "r-before-rest", "rest", "");
        assert_int_equal(FLEET_RUN(u, "plan", "r"), 1);
        assert_lines(u->err.data, "shows no plan: its strategy asks for one");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_plan_shows_what_changes_once_for_clusters_that_get_the_same),
                cmocka_unit_test(where_no_request_shows_a_plan_snapshots_are_compared),
                cmocka_unit_test(an_approval_after_a_stage_is_that_before_the_next),
                cmocka_unit_test(what_is_compared_may_be_one_stage_and_a_document),
                cmocka_unit_test(a_run_that_nothing_can_be_told_of_says_why),
                cmocka_unit_test(a_plan_that_was_asked_for_and_not_made_is_told_apart),
                cmocka_unit_test(a_plan_is_missed_only_where_the_task_asks_for_one),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
