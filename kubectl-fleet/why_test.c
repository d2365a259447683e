/* Answers of `kubectl fleet why`, word by word. */
#include "kubectl-fleet/fleet_test.h"

#define TRUE(type)                                                                                           \
        "{'type':'" type "','status':'True','reason':'R','message':'','lastTransitionTime':"                 \
        "'2025-12-31T23:00:00Z','observedGeneration':1}"

static void add_cluster(struct user *u, const char *name, const char *labels, const char *spec,
                        const char *nodes)
{
        store(u, CLUSTERS "memberclusters",
              "{'apiVersion':'cluster.kubernetes-fleet.io/"
              "v1beta1','kind':'MemberCluster','metadata':{'name':'%s',"
              "'labels':{%s}},'spec':{%s'identity':{'kind':'User','name':'x'}},'status':{'properties':"
              "{'kubernetes-fleet.io/node-count':{'value':'%s','observationTime':'2026-01-01T00:00:00Z'}},"
              "'agentStatus':[{'type':'MemberAgent','lastReceivedHeartbeat':'2025-12-31T23:59:30Z','"
              "conditions':"
              "[" TRUE("Joined") "," TRUE("Healthy") "]}]}}",
              name, labels, spec, nodes);
}

static void set_clusters(struct user *u)
{
        add_cluster(u, "east-1", "'region':'east','tier':'a'", "", "5");
        add_cluster(u, "east-2", "'region':'east'", "", "9");
        add_cluster(u, "east-3", "'region':'east','tier':'b'",
                    "'taints':[{'key':'k','value':'v','effect':'NoSchedule'}],", "5");
        add_cluster(u, "west-1", "'region':'west'", "", "2");
}

#define PICK_N                                                                                               \
        "'placementType':'PickN','numberOfClusters':1,'affinity':{'clusterAffinity':"                        \
        "{'requiredDuringSchedulingIgnoredDuringExecution':{'clusterSelectorTerms':[{'labelSelector':"       \
        "{'matchLabels':{'region':'east'}},'propertySelector':{'matchExpressions':[{'name':"                 \
        "'kubernetes-fleet.io/node-count','operator':'Ge','values':['3']}]}}]},"                             \
        "'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':20,'preference':{'labelSelector':"     \
        "{'matchExpressions':[{'key':'tier','operator':'In','values':['a','c']}]}}}]}}"

static void place(struct user *u, const char *policy)
{
        store(u, FLEET "clusterresourceplacements",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterResourcePlacement','metadata':"
              "{'name':'web'},'spec':{'resourceSelectors':[{'group':'','version':'v1','kind':'Namespace','"
              "name':"
              "'web'}],'policy':{%s}}}",
              policy);
}

static void bind(struct user *u, const char *cluster)
{
        store(u, FLEET "clusterresourcebindings",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterResourceBinding','metadata':"
              "{'name':'web-%s','labels':{'kubernetes-fleet.io/parent-CRP':'web'}},'spec':{'state':'Bound',"
              "'resourceSnapshotName':'','schedulingPolicySnapshotName':'web-0','targetCluster':'%s',"
              "'clusterDecision':{'clusterName':'%s','selected':true,'reason':''}}}",
              cluster, cluster, cluster);
}

static void say(struct user *u, const char *cluster, const char *reason)
{
        store(u, FLEET "clusterschedulingpolicysnapshots",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterSchedulingPolicySnapshot',"
              "'metadata':{'name':'web-0','labels':{'kubernetes-fleet.io/parent-CRP':'web',"
              "'kubernetes-fleet.io/is-latest-snapshot':'true'}},'spec':{'policyHash':''},'status':"
              "{'observedCRPGeneration':1,'conditions':[],'targetClusters':[{'clusterName':'%s','selected':"
              "true,"
              "'reason':'%s'}]}}",
              cluster, reason);
}

USER_TEST(every_cluster_has_a_reason_and_those_that_fit_a_rank, {
        set_clusters(u);
        place(u, PICK_N);
        assert_int_equal(FLEET_RUN(u, "why", "web"), 0);
        assert_string_equal(
                u->out.data,
                "ClusterResourcePlacement web  PickN 1\n"
                "CLUSTER   STATE             WHY\n"
                "east-1    would be picked   it fits best: affinity 20, spread 0\n"
                "east-2    not picked        it fits, but 1 ranks higher: affinity 0, spread 0\n"
                "east-3    not picked        taint k=v:NoSchedule cannot be tolerated\n"
                "west-1    not picked        cluster does not match with any of the required cluster "
                "affinity terms\n");
        assert_int_equal(u->requests, 4);
        assert_int_equal(FLEET_RUN(u, "why", "web", "-o", "name"), 0);
        assert_string_equal(u->out.data, "membercluster.cluster.kubernetes-fleet.io/east-1\n");
})

USER_TEST(what_is_placed_stays_and_is_told_with_the_schedulers_words, {
        set_clusters(u);
        place(u, PICK_N);
        bind(u, "west-1");
        say(u, "west-1", "picked by scheduling policy");
        assert_int_equal(FLEET_RUN(u, "why", "web"), 0);
        assert_lines(u->out.data,
                     "west-1    picked       it stays, but would not be picked anew: cluster does not match\n"
                     "east-1    not picked   it fits best: affinity 20, spread 0; what is placed already is "
                     "not moved "
                     "for it\n");
        assert_int_equal(FLEET_RUN(u, "why", "web", "--color", "always"), 0);
        assert_on_page(u);
        assert_int_equal(FLEET_RUN(u, "why", "web", "west-1", "--color", "always"), 0);
        assert_on_page(u);
        assert_int_equal(FLEET_RUN(u, "why", "web", "west-1"), 0);
        assert_string_equal(
                u->out.data,
                "west-1 is picked for ClusterResourcePlacement web (PickN 1)\n"
                "  required\n"
                "    fails  region=east  it is west\n"
                "    fails  kubernetes-fleet.io/node-count Ge 3  it is 2\n"
                "  preferred, weight 20\n"
                "    fails  tier in (a,c)  the cluster has none\n"
                "  binding: web-west-1\n"
                "  the scheduler said: picked by scheduling policy\n"
                "  now: it stays, but would not be picked anew: cluster does not match with any of the "
                "required cluster affinity terms\n");
        assert_int_equal(FLEET_RUN(u, "why", "web", "--member=west-1", "-ojson"), 0);
        assert_lines(u->out.data, "\"cluster\": \"west-1\"\n\"scheduler\": \"picked by scheduling policy\"\n"
                                  "\"state\": \"picked\"");
        assert_null(strstr(u->out.data, "east-1"));
})

USER_TEST(taints_are_written_as_people_write_them, {
        set_clusters(u);
        place(u, PICK_N);
        say(u, "west-1", "ClusterUnschedulable, taint &{Key:z Value: Effect:NoSchedule} cannot be tolerated");
        assert_int_equal(FLEET_RUN(u, "why", "web", "west-1"), 0);
        assert_lines(u->out.data,
                     "  the scheduler said: ClusterUnschedulable, taint z:NoSchedule cannot be tolerated\n");
})

USER_TEST(a_named_cluster_is_told_requirement_by_requirement, {
        set_clusters(u);
        place(u, PICK_N);
        user_gets_terminal(u, 100, 24);
        assert_int_equal(FLEET_RUN(u, "why", "web", "east-3"), 0);
        assert_lines(u->out.data, "east-3\n is not picked\n for ClusterResourcePlacement web (PickN 1)\n"
                                  "✔ \n\033[0mregion=east\n  it is east\n"
                                  "✘ \n\033[0mtier in (a,c)\n  it is b\n"
                                  "taint: k=v:NoSchedule\n");
        assert_int_equal(FLEET_RUN(u, "why", "web", "north"), 1);
        assert_string_equal(u->err.data, "Error: MemberCluster \"north\" not found\n");
})

USER_TEST(fixed_and_all_are_told_too, {
        set_clusters(u);
        place(u, "'placementType':'PickFixed','clusterNames':['east-1','nowhere']");
        assert_int_equal(FLEET_RUN(u, "why", "web", "--no-headers"), 0);
        assert_string_equal(u->out.data, "ClusterResourcePlacement web  PickFixed 2\n"
                                         "east-1   would be picked   it fits\n"
                                         "east-2   not picked        the policy does not name the cluster\n"
                                         "east-3   not picked        the policy does not name the cluster\n"
                                         "west-1   not picked        the policy does not name the cluster\n");
})

#define MANIFEST                                                                                             \
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n---\n"                                      \
        "apiVersion: placement.kubernetes-fleet.io/v1\nkind: ClusterResourcePlacement\nmetadata: {name: "    \
        "idea}\n"                                                                                            \
        "spec:\n  resourceSelectors: [{group: '', version: v1, kind: Namespace, name: web}]\n"               \
        "  policy:\n    tolerations: [{key: k, value: v}]\n"

/* Defaults of the definition hold: PickAll, and the operator of a toleration. */
USER_TEST(a_manifest_is_asked_about_before_it_is_applied, {
        set_clusters(u);
        u->file = MANIFEST;
        assert_int_equal(FLEET_RUN(u, "why", "-f", "crp.yaml"), 0);
        assert_lines(u->out.data, "ClusterResourcePlacement idea  PickAll\n"
                                  "east-1    would be picked   it fits\n"
                                  "east-3    would be picked   it fits\n");
        assert_int_equal(u->requests, 2);
        u->input = MANIFEST;
        assert_int_equal(FLEET_RUN(u, "why", "idea", "west-1", "-f-"), 0);
        assert_lines(u->out.data, "west-1 would be picked for ClusterResourcePlacement idea (PickAll)\n");
        assert_int_equal(FLEET_RUN(u, "why", "-f", "/dev/fd/63"), 0); /* as of <(command) */
        assert_lines(u->out.data, "ClusterResourcePlacement idea  PickAll\n");
        rig_get(u->rig, FLEET "clusterresourceplacements");
        assert_int_equal(json_array_size(doc_get_array(u->rig->answer, "items")), 0);
})

#define IDEA(policy)                                                                                         \
        "apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterResourcePlacement\nmetadata: "      \
        "{name: "                                                                                            \
        "idea}\nspec:\n  resourceSelectors: [{group: '', version: v1, kind: Namespace, name: web}]\n"        \
        "  policy: {" policy "}\n"

/* The scheduler's rules, for what no scheduler has seen: spec/scheduler.md 11-14. */
USER_TEST(a_manifests_affinity_taints_and_spread_are_those_of_the_scheduler, {
        static const struct {
                const char *manifest, *want;
        } cases[] = {
                { IDEA("placementType: PickN, numberOfClusters: 2, affinity: {clusterAffinity: {"
                       "requiredDuringSchedulingIgnoredDuringExecution: {clusterSelectorTerms: "
                       "[{labelSelector: "
                       "{matchLabels: {region: east}}}]}, preferredDuringSchedulingIgnoredDuringExecution: [{"
                       "weight: 20, preference: {propertySorter: {name: kubernetes-fleet.io/node-count, "
                       "sortOrder: Descending}}}]}}"),
                  "east-2   would be picked   it fits best: affinity 20, spread 0\n"
                  "east-1   would be picked   it fits best: affinity 9, spread 0\n"
                  "east-3   not picked        taint k=v:NoSchedule cannot be tolerated\n"
                  "west-1   not picked        cluster does not match with any of the required cluster "
                  "affinity "
                  "terms\n" },
                { IDEA("placementType: PickN, numberOfClusters: 2, tolerations: [{key: k, operator: "
                       "Exists}], "
                       "affinity: {clusterAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                       "{clusterSelectorTerms: [{labelSelector: {matchExpressions: [{key: tier, operator: "
                       "Exists}"
                       "]}}]}}}"),
                  "east-1   would be picked   it fits best: affinity 0, spread 0\n"
                  "east-3   would be picked   it fits best: affinity 0, spread 0\n"
                  "east-2   not picked        cluster does not match with any of the required cluster "
                  "affinity "
                  "terms\n" },
                { IDEA("placementType: PickN, numberOfClusters: 2, topologySpreadConstraints: [{topologyKey: "
                       "region, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]"),
                  "east-2   would be picked   it fits best\n"
                  "west-1   would be picked   it fits best\n"
                  "east-1   not picked        " },
                { IDEA("placementType: PickN, numberOfClusters: 1"),
                  "west-1   would be picked   it fits best: affinity 0, spread 0\n"
                  "east-1   not picked        it fits as well as one that is picked, and the name decides: "
                  "affinity 0, spread 0\n" },
        };

        set_clusters(u);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                u->file = cases[i].manifest;
                assert_int_equal(FLEET_RUN(u, "why", "-f", "crp.yaml", "--no-headers"), 0);
                assert_lines(u->out.data, cases[i].want);
        }
})

USER_TEST(a_list_is_looked_into, {
        set_clusters(u);
        u->file =
                "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: "
                "web}}\n"
                "- {apiVersion: placement.kubernetes-fleet.io/v1, kind: ClusterResourcePlacement, metadata: {"
                "name: idea}, spec: {resourceSelectors: [{group: '', version: v1, kind: Namespace, name: "
                "web}]}}\n";
        assert_int_equal(FLEET_RUN(u, "why", "-f", "crp.yaml"), 0);
        assert_lines(u->out.data, "ClusterResourcePlacement idea  PickAll\n");
})

USER_TEST(a_wrong_manifest_is_told_with_file_object_field_and_rule, {
        static const struct {
                const char *name, *text, *error;
        } cases[] = {
                { NULL, "kind: [", "Error: crp.yaml: " },
                { NULL, "apiVersion: v1\nkind: Namespace\n",
                  "Error: crp.yaml: holds no ClusterResourcePlacement and no ResourcePlacement\n" },
                { "other", MANIFEST, "Error: crp.yaml: holds no placement \"other\"\n" },
                { NULL, MANIFEST "---\n" MANIFEST,
                  "Error: crp.yaml: holds several placements: name the one that is meant\n" },
                { NULL, MANIFEST "    placementType: PickSome\n",
                  "Error: crp.yaml: ClusterResourcePlacement \"idea\": spec.policy.placementType: "
                  "Unsupported value: "
                  "\"PickSome\"" },
                { NULL, MANIFEST "    placementType: PickN\n    numberOfClusters: many\n",
                  "Error: crp.yaml: ClusterResourcePlacement \"idea\": spec.policy.numberOfClusters: Invalid "
                  "value" },
                { NULL, IDEA("placementTyp: PickN"),
                  "Error: crp.yaml: ClusterResourcePlacement \"idea\": unknown field "
                  "\"spec.policy.placementTyp\"\n" },
                { NULL, "apiVersion: v1\nkind: ClusterResourcePlacement\nmetadata: {name: a}\n",
                  "Error: crp.yaml: ClusterResourcePlacement \"a\": apiVersion: must begin with "
                  "placement.kubernetes-fleet.io/, is \"v1\"\n" },
                { NULL, IDEA("placementType: PickN"),
                  "numberOfClusters must be set when placementType is PickN\n" },
                { NULL,
                  "apiVersion: placement.kubernetes-fleet.io/v7\nkind: ResourcePlacement\nmetadata: {name: "
                  "a}\n",
                  "Error: crp.yaml: ResourcePlacement \"a\": ResourcePlacement has no version \"v7\"\n" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                u->file = cases[i].text;
                assert_int_equal(cases[i].name ? FLEET_RUN(u, "why", cases[i].name, "-f", "crp.yaml")
                                               : FLEET_RUN(u, "why", "-f", "crp.yaml"),
                                 1);
                assert_lines(u->err.data, cases[i].error);
                assert_int_equal(u->requests, 0);
        }
        assert_int_equal(FLEET_RUN(u, "why"), 1);
        assert_lines(u->err.data, "Error: a placement, or a manifest with -f, is required\n");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_cluster_has_a_reason_and_those_that_fit_a_rank),
                cmocka_unit_test(taints_are_written_as_people_write_them),
                cmocka_unit_test(what_is_placed_stays_and_is_told_with_the_schedulers_words),
                cmocka_unit_test(a_named_cluster_is_told_requirement_by_requirement),
                cmocka_unit_test(fixed_and_all_are_told_too),
                cmocka_unit_test(a_manifest_is_asked_about_before_it_is_applied),
                cmocka_unit_test(a_manifests_affinity_taints_and_spread_are_those_of_the_scheduler),
                cmocka_unit_test(a_list_is_looked_into),
                cmocka_unit_test(a_wrong_manifest_is_told_with_file_object_field_and_rule),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
