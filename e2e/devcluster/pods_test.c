/* Pods and ReplicaSets of workloads, on the simulated loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"

#define CORE "/api/v1/namespaces/default"
#define APPS "/apis/apps/v1/namespaces/default"
#define BATCH "/apis/batch/v1/namespaces/default"
#define TEMPLATE(image)                                                                                      \
        "\"selector\":{\"matchLabels\":{\"app\":\"w\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":"    \
        "\"w\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"" image "\"}]}}"
#define WORKLOAD(more) "{\"metadata\":{\"name\":\"w\"},\"spec\":{" more TEMPLATE("i") "}}"

static void begin(struct rig *r)
{
        struct error err = { 0 };
        assert_int_equal(devcluster_set_pods(r->devcluster, "hub", true), 0);
        assert_int_equal(devcluster_add_nodes(r->devcluster, "hub", 2, "4", "16Gi", &err), 0);
        rig_settle(r);
}

/* How many there are; *ret is one of those whose text holds `with`. */
static size_t pods_with(struct rig *r, const char *with, char ret[256])
{
        size_t i, n = 0;
        json_t *pod;
        rig_settle(r);
        assert_int_equal(rig_get(r, CORE "/pods"), 200);
        json_array_foreach(doc_get_array(r->answer, "items"), i, pod) {
                AUTO_FREE char *text = json_dumps(pod, JSON_COMPACT);
                if (!strstr(text, with))
                        continue;
                if (ret)
                        snprintf(ret, 256, "%s", doc_get_string(pod, "metadata.name"));
                n++;
        }
        return n;
}
#define RUNNING "\"phase\":\"Running\""
#define UNREADY "\"reason\":\"ContainersNotReady\""

RIG_TEST(without_being_asked_no_pods_are_made, {
        assert_int_equal(rig_post(r, APPS "/deployments", WORKLOAD("")), 201);
        assert_int_equal(pods_with(r, "", NULL), 0);
})

RIG_TEST(a_deployment_has_a_replica_set_and_that_has_pods, {
        char name[256];
        begin(r);
        assert_int_equal(rig_post(r, APPS "/deployments", WORKLOAD("\"replicas\":3,")), 201);
        assert_int_equal(pods_with(r, RUNNING, name), 3);
        assert_int_equal(pods_with(r, "\"nodeName\":\"node-", NULL), 3);
        assert_int_equal(pods_with(r, "\"pod-template-hash\":", NULL), 3);
        assert_int_equal(rig_get(r, APPS "/replicasets"), 200);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "items")), 1);
        assert_true(text_starts_with(
                name, doc_get_string(json_array_get(doc_get_array(r->answer, "items"), 0), "metadata.name")));
        assert_int_equal(rig_merge(r, APPS "/deployments/w", "{\"spec\":{\"replicas\":1}}"), 200);
        assert_int_equal(pods_with(r, "", NULL), 1);
        assert_int_equal(rig_get(r, APPS "/deployments/w"), 200);
        assert_null(strstr(r->text, "pod-template-hash")); /* that is the replica set's */
        assert_int_equal(rig_delete(r, APPS "/deployments/w"), 200);
        assert_int_equal(pods_with(r, "", NULL), 0);
})

RIG_TEST(a_new_template_is_a_new_replica_set, {
        begin(r);
        assert_int_equal(rig_post(r, APPS "/deployments", WORKLOAD("\"replicas\":2,")), 201);
        rig_settle(r);
        assert_int_equal(rig_merge(r, APPS "/deployments/w",
                                   "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","
                                   "\"image\":\"i2\"}]}}}}"),
                         200);
        assert_int_equal(pods_with(r, "\"image\":\"i2\"", NULL), 2);
        assert_int_equal(pods_with(r, "", NULL), 2);
        assert_int_equal(rig_get(r, APPS "/replicasets"), 200);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "items")), 2);
})

RIG_TEST(a_pod_that_goes_is_made_again, {
        char name[256], path[300];
        begin(r);
        assert_int_equal(rig_post(r, APPS "/deployments", WORKLOAD("\"replicas\":2,")), 201);
        assert_int_equal(pods_with(r, RUNNING, name), 2);
        snprintf(path, sizeof(path), CORE "/pods/%s", name);
        assert_int_equal(rig_delete(r, path), 200);
        assert_int_equal(pods_with(r, RUNNING, NULL), 2);
        assert_int_equal(rig_get(r, path), 404);
})

RIG_TEST(a_stateful_set_has_numbered_pods, {
        begin(r);
        assert_int_equal(rig_post(r, APPS "/statefulsets", WORKLOAD("\"serviceName\":\"s\",\"replicas\":2,")),
                         201);
        assert_int_equal(pods_with(r, RUNNING, NULL), 2);
        assert_int_equal(rig_get(r, CORE "/pods/w-0"), 200);
        assert_int_equal(rig_get(r, CORE "/pods/w-1"), 200);
        assert_int_equal(rig_delete(r, CORE "/pods/w-0"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, CORE "/pods/w-0"), 200);
        assert_int_equal(
                rig_merge(r, APPS "/statefulsets/w",
                          "{\"spec\":{\"replicas\":1,\"template\":{\"spec\":{\"containers\":[{\"name\":"
                          "\"c\",\"image\":\"i2\"}]}}}}"),
                200);
        assert_int_equal(pods_with(r, "", NULL), 1);
        assert_int_equal(pods_with(r, "\"image\":\"i2\"", NULL), 1);
})

RIG_TEST(a_daemon_set_has_a_pod_on_each_node, {
        begin(r);
        assert_int_equal(rig_post(r, APPS "/daemonsets", WORKLOAD("")), 201);
        assert_int_equal(pods_with(r, "\"nodeName\":\"node-1\"", NULL), 1);
        assert_int_equal(pods_with(r, "\"nodeName\":\"node-2\"", NULL), 1);
        assert_int_equal(rig_delete(r, "/api/v1/nodes/node-2"), 200);
        assert_int_equal(pods_with(r, "", NULL), 1);
})

RIG_TEST(the_pods_of_a_job_end_with_it, {
        begin(r);
        assert_int_equal(
                rig_post(r, BATCH "/jobs",
                         "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"completions\":2,\"parallelism\":2,"
                         "\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{"
                         "\"name\":\"c\",\"image\":\"i\"}]}}}}"),
                201);
        assert_int_equal(pods_with(r, "\"phase\":\"Succeeded\"", NULL), 2);
        assert_int_equal(pods_with(r, "", NULL), 2);
})

RIG_TEST(pods_are_as_ready_as_their_workload, {
        begin(r);
        assert_int_equal(devcluster_set_readiness(r->devcluster, "hub", "Deployment", "default", "w", false),
                         0);
        assert_int_equal(rig_post(r, APPS "/deployments", WORKLOAD("\"replicas\":2,")), 201);
        assert_int_equal(pods_with(r, UNREADY, NULL), 2);
        assert_int_equal(devcluster_set_readiness(r->devcluster, "hub", "Deployment", "default", "w", true),
                         0);
        assert_int_equal(pods_with(r, UNREADY, NULL), 0);
        assert_int_equal(pods_with(r, RUNNING, NULL), 2);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(without_being_asked_no_pods_are_made),
                cmocka_unit_test(a_deployment_has_a_replica_set_and_that_has_pods),
                cmocka_unit_test(a_new_template_is_a_new_replica_set),
                cmocka_unit_test(a_pod_that_goes_is_made_again),
                cmocka_unit_test(a_stateful_set_has_numbered_pods),
                cmocka_unit_test(a_daemon_set_has_a_pod_on_each_node),
                cmocka_unit_test(the_pods_of_a_job_end_with_it),
                cmocka_unit_test(pods_are_as_ready_as_their_workload),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
