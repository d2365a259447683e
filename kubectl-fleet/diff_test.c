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
        assert_int_equal(FLEET_RUN(u, "diff", "web", "--color", "always"), 0);
        assert_on_page(u);
        assert_int_equal(FLEET_RUN(u, "diff", "web", "bravo", "-oyaml"), 0);
        assert_lines(u->out.data, "clusters: 1\n- cluster: bravo\n  drifted: false\n  - hub: ClusterIP\n"
                                  "    member: NodePort\n    path: /spec/type\n  kind: Service\n");
        assert_int_equal(FLEET_RUN(u, "diff", "web", "-o", "name"), 0);
        assert_string_equal(u->out.data, "membercluster.cluster.kubernetes-fleet.io/alpha\n"
                                         "membercluster.cluster.kubernetes-fleet.io/bravo\n");
        assert_int_equal(FLEET_RUN(u, "diff", "web", "charlie"), 0);
        assert_string_equal(u->out.data, "no difference is known on 1 cluster\n");
        assert_int_equal(FLEET_RUN(u, "diff", "web", "delta"), 1);
        assert_lines(u->err.data, "Error: ClusterResourcePlacement \"web\" is not on cluster \"delta\"\n");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(both_sides_of_each_field_are_shown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
