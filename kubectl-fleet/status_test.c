/* The screens of `kubectl fleet status`, word by word. */
#include "kubectl-fleet/fleet_test.h"

#define CONDITION(type, status, reason, message, generation)                                                 \
        "{'type':'" type "','status':'" status "','reason':'" reason "','message':'" message                 \
        "','lastTransitionTime':'2025-12-31T23:00:00Z','observedGeneration':" generation "}"
#define FINE(generation)                                                                                     \
        CONDITION("RolloutStarted", "True", "R", "", generation)                                             \
        "," CONDITION("Overridden", "True", "R", "", generation) "," CONDITION("WorkSynchronized", "True",   \
                                                                               "R", "", generation)
#define WELL(generation)                                                                                     \
        FINE(generation)                                                                                     \
        "," CONDITION("Applied", "True", "R", "", generation) "," CONDITION("Available", "True", "R", "",    \
                                                                            generation)
#define BROKEN(generation)                                                                                   \
        FINE(generation)                                                                                     \
        "," CONDITION("Applied", "False", "NotAllWorkHaveBeenApplied", "Work web-work is not applied",       \
                      generation)
#define SELECTED "'selectedResources':[{'version':'v1','kind':'Namespace','name':'web'}]"

static void place(struct user *u, const char *name, const char *policy, const char *scheduled,
                  const char *clusters)
{
        store(u, FLEET "clusterresourceplacements",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterResourcePlacement','metadata':"
              "{'name':'%s'},'spec':{'resourceSelectors':[{'group':'','version':'v1','kind':'Namespace','"
              "name':"
              "'web'}],'policy':%s},'status':{" SELECTED ",'observedResourceIndex':'4','conditions':[%s],"
              "'placementStatuses':[%s]}}",
              name, policy, scheduled, clusters);
}
#define SCHEDULED CONDITION("ClusterResourcePlacementScheduled", "True", "F", "found all", "1")

static void bind(struct user *u, const char *cluster, const char *state, const char *index,
                 const char *status)
{
        store(u, FLEET "clusterresourcebindings",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterResourceBinding','metadata':"
              "{'name':'web-%s','labels':{'kubernetes-fleet.io/parent-CRP':'web'}},'spec':{'state':'%s',"
              "'resourceSnapshotName':'web-%s-snapshot','schedulingPolicySnapshotName':'web-0','"
              "targetCluster':"
              "'%s','clusterDecision':{'clusterName':'%s','selected':true,'reason':''}},'status':{%s}}",
              cluster, state, index, cluster, cluster, status);
}

static void add_work(struct user *u, const char *cluster)
{
        char body[256], path[256];

        snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"fleet-member-%s\"}}", cluster);
        assert_int_equal(rig_post(u->rig, "/api/v1/namespaces", body), 201);
        snprintf(path, sizeof(path), FLEET "namespaces/fleet-member-%s/works", cluster);
        store(u, path,
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'Work','metadata':{'name':'web-work',"
              "'labels':{'kubernetes-fleet.io/parent-CRP':'web'}}}");
}

/* A placement on four clusters: one is well, one broken, one held back, one going. */
static void set_scene(struct user *u)
{
        place(u, "web", "{'placementType':'PickN','numberOfClusters':4}", SCHEDULED, "");
        store(u, FLEET "clusterresourcesnapshots",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterResourceSnapshot','metadata':"
              "{'name':'web-4-snapshot','labels':{'kubernetes-fleet.io/parent-CRP':'web',"
              "'kubernetes-fleet.io/is-latest-snapshot':'true'}},'spec':{'selectedResources':[]}}");
        bind(u, "alpha", "Bound", "4", "'conditions':[" WELL("1") "]");
        bind(u, "bravo", "Bound", "4",
             "'conditions':[" BROKEN(
                     "1") "],'failedPlacements':[{'group':'apps','version':'v1','kind':'Deployment',"
                          "'name':'nginx','namespace':'web','condition':" CONDITION(
                                  "Applied", "False", "ManifestApplyFailed", "no such namespace", "1") "}]");
        bind(u, "charlie", "Bound", "3",
             "'conditions':[" CONDITION("RolloutStarted", "False", "R", "blocked by the strategy", "1") "]");
        bind(u, "delta", "Unscheduled", "3",
             "'conditions':[" WELL(
                     "1") "],'driftedPlacements':[{'version':'v1','kind':'ConfigMap','name':'c',"
                          "'namespace':'web','observationTime':'2026-01-01T00:00:00Z','"
                          "firstDriftedObservedTime':"
                          "'2026-01-01T00:00:00Z','targetClusterObservedGeneration':1,'observedDrifts':[{'"
                          "path':'/data/a',"
                          "'valueInHub':'1','valueInMember':'2'}]}]");
        add_work(u, "alpha");
        add_work(u, "bravo");
}

USER_TEST(a_placement_is_a_tree_with_its_troubles_first, {
        set_scene(u);
        assert_int_equal(FLEET_RUN(u, "status", "web"), 0);
        assert_string_equal(u->err.data, "");
        assert_string_equal(u->out.data,
                            "ClusterResourcePlacement web  PickN 4  1/4  failed\n"
                            "  snapshot web-4-snapshot  1 resource  0s old\n"
                            "  bravo    revision 4  apply failed  Work web-work is not applied\n"
                            "    work web-work\n"
                            "    Deployment web/nginx  Applied ManifestApplyFailed: no such namespace\n"
                            "  delta    revision 3 (4 is latest)  being removed\n"
                            "    ConfigMap web/c  drifted in 1 field\n"
                            "  charlie  revision 3 (4 is latest)  held back  blocked by the strategy\n"
                            "  alpha    revision 4  available\n"
                            "    work web-work\n");
        assert_int_equal(u->requests, 4);
        fiber_sleep(u->rig->loop, 120000);
        assert_int_equal(FLEET_RUN(u, "status", "web", "--color", "always"), 0);
        assert_on_page(u);
})

USER_TEST(on_a_terminal_the_tree_has_lines_bars_and_an_edge, {
        set_scene(u);
        user_gets_terminal(u, 60, 24);
        assert_int_equal(FLEET_RUN(u, "status", "crp/web"), 0);
        assert_string_equal(
                u->out.data,
                "\033[1mClusterResourcePlacement web\033[0m  PickN 4  "
                "\033[32m██\033[0m\033[31m███\033[0m\033[33m▒▒"
                "\033[0m\033[2m░░░\033[0m 1/4\033[31m  fail…\033[0m\n"
                "\033[2m├─ \033[0msnapshot web-4-snapshot  1 resource\033[2m  0s old\033[0m\n"
                "\033[2m├─ \033[0mbravo    revision 4  \033[31mapply failed\033[0m  Work web-work is "
                "not …\033[0m\n"
                "\033[2m│  \033[0m\033[2m├─ \033[0mwork web-work\n"
                "\033[2m│  \033[0m\033[2m└─ \033[0m\033[31mDeployment web/nginx\033[0m  Applied "
                "ManifestApplyFailed: "
                "no…\033[0m\n"
                "\033[2m├─ \033[0mdelta    revision 3\033[33m (4 is latest)\033[0m  \033[33mbeing "
                "removed\033[0m\n"
                "\033[2m│  \033[0m\033[2m└─ \033[0m\033[33mConfigMap web/c\033[0m  drifted in 1 field\n"
                "\033[2m├─ \033[0mcharlie  revision 3\033[33m (4 is latest)\033[0m  \033[2mheld back\033[0m  "
                "blocked by…\033[0m\n"
                "\033[2m└─ \033[0malpha    revision 4  \033[32mavailable\033[0m\n"
                "\033[2m   \033[0m\033[2m└─ \033[0mwork web-work\n");
})

USER_TEST(what_waits_for_an_update_run_says_so, {
        place(u, "web", "{'placementType':'PickAll'}", SCHEDULED, "");
        bind(u, "alpha", "Scheduled", "4", "'conditions':[]");
        assert_int_equal(FLEET_RUN(u, "status", "web"), 0);
        assert_lines(u->out.data, "  alpha  revision 4  picked, waiting\n");
        assert_int_equal(rig_merge(u->rig, FLEET "clusterresourceplacements/web",
                                   "{\"spec\":{\"strategy\":{\"type\":\"External\"}}}"),
                         200);
        assert_int_equal(FLEET_RUN(u, "status", "web"), 0);
        assert_lines(u->out.data, "  alpha  revision 4  picked, waiting  for an update run\n");
})

USER_TEST(a_cluster_whose_works_are_being_applied_has_not_failed, {
        place(u, "web", "{'placementType':'PickAll'}", SCHEDULED,
              "{'clusterName':'a','observedResourceIndex':'4','conditions':[" FINE("1") "]}");
        bind(u, "alpha", "Bound", "4",
             "'conditions':[" FINE("1") "," CONDITION(
                     "Applied", "False", "NotAllWorkHaveBeenApplied",
                     "Work object web-work has not yet completed the apply op", "1") "]");
        assert_int_equal(FLEET_RUN(u, "status", "web"), 0);
        assert_lines(u->out.data, "  alpha  revision 4  applying  Work object web-work has not yet completed "
                                  "the apply op\n");
})

USER_TEST(a_placement_between_revisions_says_those_of_its_clusters, {
        static const char *const other[] = { "5", "4" };
        static const char *const said[] = { "several", "4" };

        for (size_t i = 0; i < ARRAY_LEN(other); i++) {
                char clusters[512];

                snprintf(clusters, sizeof(clusters),
                         "{'clusterName':'a','observedResourceIndex':'4'},{'clusterName':'b'},"
                         "{'clusterName':'c','observedResourceIndex':'%s'}",
                         other[i]);
                place(u, i ? "one" : "two", "{'placementType':'PickAll'}", SCHEDULED, clusters);
                assert_int_equal(rig_merge(u->rig,
                                           i ? FLEET "clusterresourceplacements/one/status"
                                             : FLEET "clusterresourceplacements/two/status",
                                           "{\"status\":{\"observedResourceIndex\":null}}"),
                                 200);
                assert_int_equal(FLEET_RUN(u, "status", i ? "one" : "two", "-o", "json"), 0);
                parse_output(u);
                assert_string_equal(rig_string(u->rig, "revision"), said[i]);
        }
})

USER_TEST(programs_get_documents_and_names, {
        set_scene(u);
        assert_int_equal(FLEET_RUN(u, "status", "web", "-ojson"), 0);
        parse_output(u);
        assert_string_equal(rig_string(u->rig, "state"), "failed");
        assert_string_equal(rig_string(u->rig, "snapshot"), "web-4-snapshot");
        assert_int_equal(doc_get_int(u->rig->answer, "progress.available", 0), 1);
        assert_int_equal(json_array_size(doc_get_array(u->rig->answer, "clusters")), 4);
        assert_string_equal(
                doc_get_string(json_array_get(doc_get_array(u->rig->answer, "clusters"), 0), "cluster"),
                "bravo");
        assert_int_equal(FLEET_RUN(u, "status", "web", "-o", "name"), 0);
        assert_string_equal(u->out.data, "clusterresourceplacement.placement.kubernetes-fleet.io/web\n");
        assert_int_equal(FLEET_RUN(u, "status", "web", "-o", "yaml"), 0);
        assert_lines(u->out.data,
                     "clusters:\n- binding: web-bravo\n  cluster: bravo\nsnapshot: web-4-snapshot");
        assert_int_equal(FLEET_RUN(u, "status", "web", "-o", "wide"), 1);
        assert_lines(u->err.data, "unable to match a printer suitable for the output format \"wide\"");
})

USER_TEST(all_placements_stand_in_a_table, {
        assert_int_equal(FLEET_RUN(u, "status"), 0);
        assert_string_equal(u->out.data, "");
        assert_string_equal(u->err.data, "No placements found\n");
        place(u, "database", "{'placementType':'PickFixed','clusterNames':['a','b']}", SCHEDULED,
              "{'clusterName':'a','conditions':[" WELL("1") "]},{'clusterName':'b','conditions':[" BROKEN(
                      "1") "]}");
        place(u, "new", "{'placementType':'PickAll'}", "", "");
        place(u, "web", "{'placementType':'PickAll'}", SCHEDULED,
              "{'clusterName':'a','conditions':[" WELL("1") "]},{'clusterName':'b','conditions':[" WELL(
                      "1") "]}");
        place(u, "x-short", "{'placementType':'PickN','numberOfClusters':2}",
              CONDITION("ClusterResourcePlacementScheduled", "False", "U", "found one", "1"),
              "{'clusterName':'a','conditions':[" WELL("1") "]},{'conditions':[" CONDITION(
                      "Scheduled", "False", "S", "no fit", "1") "]}");
        assert_int_equal(FLEET_RUN(u, "status"), 0);
        assert_string_equal(u->out.data,
                            "NAME       POLICY        REVISION   CLUSTERS   STATE             AGE\n"
                            "database   PickFixed 2   4          1/2        failed            0s\n"
                            "new        PickAll       4          0/0        being scheduled   0s\n"
                            "web        PickAll       4          2/2        available         0s\n"
                            "x-short    PickN 2       4          1/2        not scheduled     0s\n");
        assert_int_equal(u->requests, 1);
        fiber_sleep(u->rig->loop, 120000);
        assert_int_equal(FLEET_RUN(u, "status", "--color", "always"), 0);
        assert_on_page(u);
        assert_int_equal(FLEET_RUN(u, "status", "--no-headers", "-o", "name"), 0);
        assert_lines(u->out.data, "clusterresourceplacement.placement.kubernetes-fleet.io/database\n");
        assert_int_equal(FLEET_RUN(u, "status", "-o", "json"), 0);
        parse_output(u);
        assert_int_equal(json_array_size(doc_get_array(u->rig->answer, "items")), 4);
})

USER_TEST(a_namespace_has_its_own_placements, {
        assert_int_equal(rig_post(u->rig, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team\"}}"), 201);
        store(u, FLEET "namespaces/team/resourceplacements",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ResourcePlacement','metadata':{'name':"
              "'api'},'spec':{'resourceSelectors':[{'group':'','version':'v1','kind':'ConfigMap','name':'c'}]"
              "},"
              "'status':{'conditions':[" CONDITION("ResourcePlacementScheduled", "True", "F", "", "1") "]}}");
        place(u, "web", "{'placementType':'PickAll'}", SCHEDULED, "");
        assert_int_equal(FLEET_RUN(u, "status", "-nteam"), 0);
        assert_string_equal(u->out.data, "NAME   POLICY    REVISION   CLUSTERS   STATE           AGE\n"
                                         "api    PickAll              0/0        on no cluster   0s\n");
        assert_int_equal(FLEET_RUN(u, "status", "-A"), 0);
        assert_lines(u->out.data,
                     "NAMESPACE   NAME   POLICY \n            web    PickAll \nteam        api    PickAll ");
        /* the context's namespace, where a kind that has one is named */
        assert_int_equal(FLEET_RUN(u, "status", "rp/api"), 0);
        assert_lines(u->out.data,
                     "ResourcePlacement team/api  PickAll  0/0  on no cluster\n  snapshot none yet");
        assert_int_equal(FLEET_RUN(u, "status", "-nteam", "-A"), 1);
        assert_lines(u->err.data, "Error: --namespace and --all-namespaces exclude each other");
})

USER_TEST(what_is_not_there_is_told_by_kind_and_name, {
        assert_int_equal(FLEET_RUN(u, "status", "web"), 1);
        assert_lines(u->err.data,
                     "Error: ClusterResourcePlacement \"web\" not found; -n NAMESPACE looks for a "
                     "namespaced one\n");
        assert_int_equal(FLEET_RUN(u, "status", "web", "-n", "team"), 1);
        assert_lines(u->err.data, "Error: ResourcePlacement \"web\" not found in namespace \"team\"\n");
        assert_int_equal(FLEET_RUN(u, "status", "csur/web"), 1);
        assert_lines(u->err.data,
                     "Error: \"csur\" is neither ClusterResourcePlacement (crp) nor ResourcePlacement "
                     "(rp)\n");
        assert_int_equal(FLEET_RUN(u, "status", "crp/"), 1);
        assert_lines(u->err.data, "Error: a name is missing in \"crp/\"\n");
})

/* ---- watching ---- */

struct watching {
        struct user *user;
        const char *const *argv;
        int argc, code;
};

static void command_fiber(void *ctx)
{
        struct watching *w = ctx;

        w->code = fleet_command(w->user, w->argc, w->argv);
}

static struct fiber_group *start_watching(struct watching *w)
{
        struct fiber_group *group = fiber_group_new(w->user->rig->loop, NULL, "user");

        assert_non_null(fiber_spawn(group, "command", command_fiber, w));
        rig_settle(w->user->rig);
        return group;
}

USER_TEST(who_watches_sees_each_change_until_asked_to_end, {
        static const char *const argv[] = { "status", "web", "-w" };
        struct watching w = { u, argv, 3, -1 };
        struct fiber_group *group;

        place(u, "web", "{'placementType':'PickAll'}", SCHEDULED, "");
        group = start_watching(&w);
        assert_string_equal(u->out.data, "ClusterResourcePlacement web  PickAll  0/0  on no cluster\n"
                                         "  snapshot none yet  1 resource\n");
        buf_clear(&u->out);
        bind(u, "alpha", "Bound", "4", "'conditions':[" WELL("1") "]");
        rig_settle(u->rig);
        assert_lines(u->out.data, "\nClusterResourcePlacement web  PickAll  1/1  available\n"
                                  "  snapshot none yet  1 resource\n"
                                  "  alpha  revision 4  available\n");
        buf_clear(&u->out);
        rig_settle(u->rig);
        assert_string_equal(u->out.data, "");
        fiber_group_end(group);
        assert_int_equal(w.code, 0);
        assert_string_equal(u->err.data, "");
})

USER_TEST(on_a_terminal_the_screen_is_drawn_anew_and_cut_to_its_rows, {
        static const char *const argv[] = { "status", "web", "-w", "--color=never" };
        struct watching w = { u, argv, 4, -1 };
        struct fiber_group *group;

        user_gets_terminal(u, 80, 3);
        place(u, "web", "{'placementType':'PickAll'}", SCHEDULED, "");
        bind(u, "alpha", "Bound", "4", "'conditions':[" WELL("1") "]");
        group = start_watching(&w);
        assert_string_equal(u->out.data,
                            "\033[2J\033[HClusterResourcePlacement web  PickAll  1/1  available\033[K\n"
                            "  snapshot none yet  1 resource\033[K\n\033[J");
        fiber_group_end(group);
        assert_int_equal(w.code, 0);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_placement_is_a_tree_with_its_troubles_first),
                cmocka_unit_test(on_a_terminal_the_tree_has_lines_bars_and_an_edge),
                cmocka_unit_test(what_waits_for_an_update_run_says_so),
                cmocka_unit_test(a_cluster_whose_works_are_being_applied_has_not_failed),
                cmocka_unit_test(a_placement_between_revisions_says_those_of_its_clusters),
                cmocka_unit_test(programs_get_documents_and_names),
                cmocka_unit_test(all_placements_stand_in_a_table),
                cmocka_unit_test(a_namespace_has_its_own_placements),
                cmocka_unit_test(what_is_not_there_is_told_by_kind_and_name),
                cmocka_unit_test(who_watches_sees_each_change_until_asked_to_end),
                cmocka_unit_test(on_a_terminal_the_screen_is_drawn_anew_and_cut_to_its_rows),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
