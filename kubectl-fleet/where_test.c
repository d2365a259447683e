/* The screen of `kubectl fleet where`, word by word. */
#include "kubectl-fleet/fleet_test.h"

#define NOW(type, status, message)                                                                           \
        "{'type':'" type "','status':'" status "','reason':'R','message':'" message                          \
        "','lastTransitionTime':'2026-01-01T00:00:00Z','observedGeneration':1}"
#define WELL NOW("Applied", "True", "") "," NOW("Available", "True", "")
#define MANIFEST(n, kind, name, rest)                                                                        \
        "{'identifier':{'ordinal':" #n ",'version':'v1','kind':'" kind "','resource':'x','namespace':'web'," \
        "'name':'" name "'}," rest "}"
#define WORKS FLEET "namespaces/fleet-member-edge/works"

static void add_work(struct user *u, const char *name, const char *labels, const char *manifests,
                     const char *told)
{
        store(u, WORKS,
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'Work','metadata':{'name':'%s','labels':"
              "{%s}},'spec':{'workload':{'manifests':[%s]}},'status':{'conditions':[],'manifestConditions':[%"
              "s]}}",
              name, labels, manifests, told);
}

#define JOINED NOW("Joined", "True", "")
#define HEALTHY NOW("Healthy", "True", "")

static void set_scene(struct user *u)
{
        store(u, CLUSTERS "memberclusters",
              "{'apiVersion':'cluster.kubernetes-fleet.io/v1beta1','kind':'MemberCluster','metadata':{'name':"
              "'edge'},'spec':{'identity':{'kind':'User','name':'x'},'taints':[{'key':'k','value':'v','"
              "effect':"
              "'NoSchedule'}]},'status':{'conditions':[" JOINED "],'agentStatus':[{'type':'MemberAgent',"
              "'lastReceivedHeartbeat':'2025-12-31T23:59:30Z','conditions':[" HEALTHY "]}]}}");
        assert_int_equal(
                rig_post(u->rig, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"fleet-member-edge\"}}"),
                201);
}

#define OF(placement, index)                                                                                 \
        "'kubernetes-fleet.io/parent-CRP':'" placement                                                       \
        "','kubernetes-fleet.io/parent-resource-snapshot-index':'" index "'"

#define APPLIED NOW("Applied", "True", "")
#define NOT_READY NOW("Available", "False", "1 of 3 ready")
#define REFUSED NOW("Applied", "False", "forbidden")
#define DRIFTED                                                                                              \
        "'driftDetails':{'observationTime':'2026-01-01T00:00:00Z','firstDriftedObservedTime':"               \
        "'2026-01-01T00:00:00Z','observedInMemberClusterGeneration':1}"
static const char told_of_web[] = MANIFEST(0, "ConfigMap", "c", "'conditions':[" WELL "]") "," MANIFEST(
        1, "Deployment", "nginx",
        "'conditions':[" APPLIED "," NOT_READY
        "]") "," MANIFEST(2, "Secret", "s", "'conditions':[" REFUSED "]") "," MANIFEST(3, "ConfigMap", "d",
                                                                                       "'conditions':[" WELL
                                                                                       "]," DRIFTED);

USER_TEST(a_cluster_shows_each_placement_and_its_objects, {
        set_scene(u);
        add_work(u, "web-work", OF("web", "4"), "", told_of_web);
        add_work(u, "web-work-envelope-1", OF("web", "4"),
                 "{'apiVersion':'apps/v1','kind':'DaemonSet','metadata':{'name':'agent','namespace':'web'}}",
                 "");
        add_work(u, "team.api-work",
                 OF("api", "0") ",'kubernetes-fleet.io/parent-placement-namespace':'team'", "",
                 MANIFEST(0, "ConfigMap", "x", "'conditions':[" NOW("DiffReported", "True", "") "]"));
        add_work(u, "of-somebody-else", "", "", "");
        assert_int_equal(FLEET_RUN(u, "where", "edge"), 0);
        assert_string_equal(u->out.data,
                            "MemberCluster edge  joined, healthy  heard of 30s ago  taint k=v:NoSchedule\n"
                            "  ClusterResourcePlacement web  revision 4  1/5 objects available\n"
                            "    Secret web/s  apply failed  forbidden\n"
                            "    ConfigMap web/d  drifted\n"
                            "    Deployment web/nginx  not available  1 of 3 ready\n"
                            "    DaemonSet web/agent  not applied yet\n"
                            "    ConfigMap web/c\n"
                            "  ResourcePlacement team/api  revision 0  1/1 object available\n"
                            "    ConfigMap web/x\n");
        assert_int_equal(u->requests, 2);
        assert_int_equal(FLEET_RUN(u, "where", "edge", "--color", "always"), 0);
        assert_on_page(u);
        assert_int_equal(FLEET_RUN(u, "where", "edge", "-o", "name"), 0);
        assert_string_equal(u->out.data, "clusterresourceplacement.placement.kubernetes-fleet.io/web\n"
                                         "resourceplacement.placement.kubernetes-fleet.io/api\n");
        assert_int_equal(FLEET_RUN(u, "where", "edge", "-o", "yaml"), 0);
        assert_lines(u->out.data,
                     "cluster: edge\nhealthy: true\n- kind: ClusterResourcePlacement\n  name: web\n"
                     "    kind: Secret\n    message: forbidden\n");
})

USER_TEST(a_cluster_may_be_empty_or_unknown, {
        set_scene(u);
        assert_int_equal(FLEET_RUN(u, "where", "edge"), 0);
        assert_lines(u->out.data, "MemberCluster edge  joined\n  no placement puts anything there\n");
        assert_int_equal(FLEET_RUN(u, "where", "core"), 1);
        assert_lines(u->err.data, "Error: MemberCluster \"core\" not found\n");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_cluster_shows_each_placement_and_its_objects),
                cmocka_unit_test(a_cluster_may_be_empty_or_unknown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
