/* The boards of `kubectl fleet runs`, word by word, and what stop, resume and retry do and refuse. */
#include "kubectl-fleet/runs_test.h"
#include "kubectl-fleet/fleet_test.h"

static void add_run(struct user *u, const char *name, const char *spec, const char *status)
{
        store(u, FLEET "clusterstagedupdateruns",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterStagedUpdateRun','metadata':"
              "{'name':'%s'},'spec':{'placementName':'web','stagedRolloutStrategyName':'three',"
              "'resourceSnapshotIndex':'1'%s}%s}",
              name, spec, status);
}

USER_TEST(a_run_is_a_board_of_stages_and_gates, {
        add_run(u, "r", "", WAITING);
        assert_int_equal(FLEET_RUN(u, "runs", "r"), 0);
        assert_string_equal(
                u->out.data,
                "ClusterStagedUpdateRun r  placement web  revision 1  strategy three\n"
                "  3/5  waiting  The updateRun is waiting for after-stage tasks in stage canary to complete\n"
                "  staging     2/2  done  in 2m30s\n"
                "    before  approved  r-before-staging\n"
                "    after   wait is over\n"
                "  canary      1/1  waiting  for 5m\n"
                "    after   waits another 58m\n"
                "    after   waits for approval\n"
                "            kubectl fleet approve careq --name r-after-canary --hub-cluster-context hub\n"
                "  production  0/2  to come\n"
                "    before  asked for later\n");
        assert_int_equal(u->requests, 2);
        assert_int_equal(FLEET_RUN(u, "runs", "r", "--color", "always"), 0);
        assert_on_page(u);
        user_gets_terminal(u, 90, 24);
        assert_int_equal(FLEET_RUN(u, "runs", "r"), 0);
        assert_lines(u->out.data, "\033[32m██████\033[0m\033[2m░░░░\033[0m 3/5\033[33m  waiting\033[0m\n"
                                  "\033[32m✔ \033[0mstaging   \n\033[33m▶ \033[0m\033[1mcanary      \033[0m\n"
                                  "\033[2m○ \033[0mproduction  ");
        user_gets_terminal(u, 40, 24); /* what is to be typed is never cut */
        assert_int_equal(FLEET_RUN(u, "runs", "r"), 0);
        assert_lines(u->out.data,
                     "  placement web…\033[0m\n"
                     "kubectl fleet approve careq --name r-after-canary --hub-cluster-context hub\n");
})

USER_TEST(what_is_to_be_typed_names_the_same_hub, {
        add_run(u, "r", "", WAITING);
        u->file = "clusters: [{name: c, cluster: {server: 'https://dev/clusters/hub'}}]\n"
                  "contexts: [{name: 'the hub', context: {cluster: c}}]\ncurrent-context: the hub\n";
        assert_int_equal(FLEET_RUN(u, "runs", "r", "--kubeconfig", "/it's"), 0);
        assert_lines(u->out.data, "kubectl fleet approve careq --name r-after-canary --hub-cluster-context "
                                  "'the hub' --kubeconfig '/it'\\''s'\n");
})

USER_TEST(an_approval_that_waits_for_the_run_is_told_as_one, {
        add_run(u, "r", ",'state':'Stop'", WAITING);
        store(u, FLEET "clusterapprovalrequests",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterApprovalRequest','metadata':"
              "{'name':'r-after-canary','labels':{'kubernetes-fleet.io/targetUpdateRun':'r'}},'spec':"
              "{'parentStageRollout':'r','targetStage':'canary'},'status':{'conditions':[" NOW(
                      "Approved", "True", "R", "") "]}}");
        assert_int_equal(FLEET_RUN(u, "runs", "r"), 0);
        assert_lines(u->out.data, "    after   approved, and not taken up yet\n");
        assert_null(strstr(u->out.data, "kubectl fleet approve"));
})

USER_TEST(gates_that_a_run_never_came_to_are_not_announced, {
        add_run(u, "r", "",
                ",'status':{" STAGES ",'conditions':[" INITIALIZED ENDED("False", "UpdateRunFailed") "]}");
        assert_int_equal(FLEET_RUN(u, "runs", "r"), 0);
        assert_lines(u->out.data, "  production  0/2  to come\n    before  not asked for\n");
})

USER_TEST(clusters_under_way_failed_skipped_and_left_out_are_named, {
        add_run(u, "r", ",'retryOf':'q'",
                UPDATING("," NOW("Progressing", "True", "UpdateRunProgressing", "")));
        assert_int_equal(FLEET_RUN(u, "runs", "csur/r"), 0);
        assert_string_equal(
                u->out.data,
                "ClusterStagedUpdateRun r  placement web  revision 1  strategy three  retry of q\n"
                "  1/4  in progress\n"
                "  all      1/4  in progress  for 2m\n"
                "    b  updating  for 60s\n"
                "    c  failed  the binding is not up-to-date\n"
                "    d  skipped  the cluster left\n"
                "  cleanup  0/1  to come\n"
                "  left out  f: it was picked after the run began\n"
                "  left out  g: no stage selects it\n");
        assert_int_equal(FLEET_RUN(u, "runs", "r", "--all"), 0);
        assert_lines(u->out.data, "    a  done\n    b  updating\n    e  to come\n");
        assert_int_equal(FLEET_RUN(u, "runs", "r", "-oyaml"), 0);
        assert_lines(u->out.data,
                     "leftOutClusters:\n- cluster: f\n  reason: Joined\nname: r\nretryOf: q\nstages:\n"
                     "  - cluster: b\n    state: updating\n  name: all\n  skipped: 1\nstate: in progress");
})

USER_TEST(runs_stand_in_a_table_with_the_stage_they_are_at, {
        assert_int_equal(FLEET_RUN(u, "runs"), 0);
        assert_string_equal(u->err.data, "No update runs found\n");
        add_run(u, "failed", "",
                ",'status':{'conditions':[" NOW("Initialized", "False", "UpdateRunInitializedFailed",
                                                "no") "]}");
        add_run(u, "going", "", UPDATING("," NOW("Progressing", "False", "UpdateRunStuck", "stuck")));
        add_run(u, "new", "", "");
        add_run(u, "ready", ",'state':'Initialize'", ",'status':{'conditions':[" INITIALIZED "]}");
        add_run(u, "waiting", "", WAITING);
        assert_int_equal(FLEET_RUN(u, "runs"), 0);
        assert_string_equal(u->out.data,
                            "NAME      PLACEMENT   REVISION   STAGE    CLUSTERS   STATE               AGE\n"
                            "failed    web         1                   0/0        not initialized     0s\n"
                            "going     web         1          all      1/4        stuck               0s\n"
                            "new       web         1                   0/0        being initialized   0s\n"
                            "ready     web         1                   0/0        initialized         0s\n"
                            "waiting   web         1          canary   3/5        waiting             0s\n");
        assert_int_equal(u->requests, 1);
        assert_int_equal(FLEET_RUN(u, "runs", "-o", "name"), 0);
        assert_lines(u->out.data, "clusterstagedupdaterun.placement.kubernetes-fleet.io/failed\n");
        assert_int_equal(FLEET_RUN(u, "runs", "missing"), 1);
        assert_lines(u->err.data,
                     "Error: ClusterStagedUpdateRun \"missing\" not found; -n NAMESPACE looks for a "
                     "namespaced one");
})

static const char *state_of(struct user *u, const char *name)
{
        char path[256];

        snprintf(path, sizeof(path), FLEET "clusterstagedupdateruns/%s", name);
        rig_get(u->rig, path);
        return rig_string(u->rig, "spec.state");
}

USER_TEST(a_run_is_stopped_and_resumed_by_its_state, {
        add_run(u, "r", "", WAITING);
        assert_int_equal(FLEET_RUN(u, "runs", "stop", "r"), 0);
        assert_string_equal(u->out.data, "clusterstagedupdaterun.placement.kubernetes-fleet.io/r stopping\n");
        assert_string_equal(state_of(u, "r"), "Stop");
        assert_int_equal(FLEET_RUN(u, "runs", "stop", "r"), 0);
        assert_string_equal(u->out.data,
                            "clusterstagedupdaterun.placement.kubernetes-fleet.io/r is stopped already\n");
        assert_int_equal(FLEET_RUN(u, "runs", "resume", "csur/r"), 0);
        assert_string_equal(u->out.data, "clusterstagedupdaterun.placement.kubernetes-fleet.io/r resumed\n");
        assert_string_equal(state_of(u, "r"), "Run");
        add_run(u, "ready", ",'state':'Initialize'", "");
        assert_int_equal(FLEET_RUN(u, "runs", "stop", "ready"), 1);
        assert_lines(u->err.data,
                     "Error: ClusterStagedUpdateRun \"ready\" has not been started (spec.state is "
                     "Initialize): there is nothing to stop\n");
        assert_int_equal(FLEET_RUN(u, "runs", "resume", "ready"), 0);
        add_run(u, "over", "", UPDATING(ENDED("False", "UpdateRunFailed")));
        assert_int_equal(FLEET_RUN(u, "runs", "resume", "over"), 1);
        assert_lines(u->err.data,
                     "Error: ClusterStagedUpdateRun \"over\" is over (failed): it cannot be resumed; "
                     "`kubectl fleet runs retry` begins a new one\n");
        assert_int_equal(FLEET_RUN(u, "runs", "stop"), 1);
        assert_lines(u->err.data, "Error: the run is missing: stop <run>\n");
        assert_int_equal(FLEET_RUN(u, "runs", "stop", "missing"), 1);
        assert_lines(u->err.data, "Error: ClusterStagedUpdateRun \"missing\" not found");
})

USER_TEST(a_retry_is_a_new_run_that_names_the_old_one, {
        add_run(u, "r", "", UPDATING(ENDED("False", "UpdateRunFailed")));
        assert_int_equal(FLEET_RUN(u, "runs", "retry", "r"), 0);
        assert_string_equal(u->out.data,
                            "clusterstagedupdaterun.placement.kubernetes-fleet.io/r-retry-1 created\n");
        assert_string_equal(state_of(u, "r-retry-1"), "Run");
        assert_string_equal(rig_string(u->rig, "spec.retryOf"), "r");
        assert_string_equal(rig_string(u->rig, "spec.resourceSnapshotIndex"), "1");
        assert_string_equal(rig_string(u->rig, "spec.stagedRolloutStrategyName"), "three");
        assert_int_equal(FLEET_RUN(u, "runs", "retry", "r"), 0);
        assert_lines(u->out.data, "/r-retry-2 created\n");
        assert_int_equal(FLEET_RUN(u, "runs", "retry", "r", "--name", "mine"), 0);
        assert_lines(u->out.data, "/mine created\n");
        assert_int_equal(FLEET_RUN(u, "runs", "retry", "r", "--name", "mine"), 1);
        assert_int_equal(FLEET_RUN(u, "runs", "retry", "r-retry-1"), 1);
        assert_lines(u->err.data,
                     "Error: ClusterStagedUpdateRun \"r-retry-1\" is not over (being initialized): ");
        add_run(u, "bad", "",
                ",'status':{'conditions':[" NOW("Initialized", "False", "UpdateRunInitializedFailed",
                                                "no") "]}");
        assert_int_equal(FLEET_RUN(u, "runs", "retry", "bad"), 1);
        assert_lines(u->err.data,
                     "Error: ClusterStagedUpdateRun \"bad\" was never initialized: there is nothing to "
                     "retry; make a new run\n");
        add_run(u, "well", "",
                ",'status':{'resourceSnapshotIndexUsed':'1','stagesStatus':[{'stageName':'all','conditions':"
                "[],'clusters':[" CLUSTER("a", CLUSTER_DONE) "]}],'conditions':[" INITIALIZED ENDED(
                        "True", "UpdateRunSucceeded") "]}");
        assert_int_equal(FLEET_RUN(u, "runs", "retry", "well"), 1);
        assert_lines(u->err.data,
                     "Error: ClusterStagedUpdateRun \"well\" succeeded on all its clusters (1): there is "
                     "nothing to retry\n");
})

/* The original's definition of runs. */
USER_TEST(a_hub_without_retries_gets_no_run_of_all_clusters, {
        AUTO_JSON json_t *crd = NULL;
        json_t *version;
        AUTO_BUF struct buf text;
        size_t i;

        add_run(u, "r", "", UPDATING(ENDED("False", "UpdateRunFailed")));
        rig_get(u->rig, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                        "clusterstagedupdateruns.placement.kubernetes-fleet.io");
        crd = doc_copy(u->rig->answer);
        json_array_foreach(doc_get_array(crd, "spec.versions"), i, version) {
                json_t *spec = doc_get(version, "schema.openAPIV3Schema.properties.spec");

                json_object_del(json_object_get(spec, "properties"), "retryOf");
                json_object_del(spec, "x-kubernetes-validations");
        }
        buf_init(&text, 1u << 20);
        doc_write(crd, &text);
        assert_int_equal(rig_put(u->rig,
                                 "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                                 "clusterstagedupdateruns.placement.kubernetes-fleet.io",
                                 text.data),
                         200);
        assert_int_equal(FLEET_RUN(u, "runs", "retry", "r"), 1);
        assert_lines(u->err.data,
                     "Error: the hub's ClusterStagedUpdateRun has no field spec.retryOf: a new run "
                     "would update all clusters, not only those that are left\n");
        rig_get(u->rig, FLEET "clusterstagedupdateruns");
        assert_int_equal(json_array_size(doc_get_array(u->rig->answer, "items")), 1);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_run_is_a_board_of_stages_and_gates),
                cmocka_unit_test(what_is_to_be_typed_names_the_same_hub),
                cmocka_unit_test(an_approval_that_waits_for_the_run_is_told_as_one),
                cmocka_unit_test(gates_that_a_run_never_came_to_are_not_announced),
                cmocka_unit_test(clusters_under_way_failed_skipped_and_left_out_are_named),
                cmocka_unit_test(runs_stand_in_a_table_with_the_stage_they_are_at),
                cmocka_unit_test(a_run_is_stopped_and_resumed_by_its_state),
                cmocka_unit_test(a_retry_is_a_new_run_that_names_the_old_one),
                cmocka_unit_test(a_hub_without_retries_gets_no_run_of_all_clusters),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
