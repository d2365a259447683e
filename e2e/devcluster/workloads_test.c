/* Built-in kinds on the simulated loop: what the server fills in, refuses, and brings to life. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"

#define CORE "/api/v1/namespaces/default"
#define APPS "/apis/apps/v1/namespaces/default"
#define BATCH "/apis/batch/v1/namespaces/default"
#define CONTAINERS "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]"
#define TEMPLATE                                                                                             \
        "\"selector\":{\"matchLabels\":{\"app\":\"w\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":"    \
        "\"w\"}},\"spec\":{" CONTAINERS "}}"

static const char deployment[] = "{\"metadata\":{\"name\":\"w\"},\"spec\":{\"replicas\":3," TEMPLATE "}}";

/* Opens a watch from now on, without what is there. */
static void watch_from_now(struct rig *r, struct rig_watch *w, const char *path)
{
        assert_int_equal(rig_get(r, path), 200);
        rig_watch_open(r, w,
                       arena_printf(&r->arena, "%s?watch=1&resourceVersion=%s", path,
                                    rig_string(r, "metadata.resourceVersion")));
}

/* ---- statuses ---- */

static const char *condition(struct rig *r, const char *type, const char *field)
{
        size_t i;
        json_t *c;
        json_array_foreach(doc_get_array(r->answer, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return doc_get_string(c, field);
        return "";
}

static void check_deployment(struct rig *r)
{
        assert_int_equal(rig_post(r, APPS "/deployments", deployment), 201);
        assert_null(doc_get(r->answer, "status.replicas"));
        rig_settle(r);
        assert_int_equal(rig_get(r, APPS "/deployments/w"), 200);
        assert_int_equal(doc_get_int(r->answer, "status.observedGeneration", 0), 1);
        assert_int_equal(doc_get_int(r->answer, "status.replicas", 0), 3);
        assert_int_equal(doc_get_int(r->answer, "status.updatedReplicas", 0), 3);
        assert_int_equal(doc_get_int(r->answer, "status.readyReplicas", 0), 3);
        assert_int_equal(doc_get_int(r->answer, "status.availableReplicas", 0), 3);
        assert_null(doc_get(r->answer, "status.unavailableReplicas"));
        assert_string_equal(condition(r, "Available", "reason"), "MinimumReplicasAvailable");
        assert_string_equal(condition(r, "Available", "message"), "Deployment has minimum availability.");
        assert_string_equal(condition(r, "Progressing", "reason"), "NewReplicaSetAvailable");
        assert_int_equal(rig_merge(r, APPS "/deployments/w", "{\"spec\":{\"replicas\":5}}"), 200);
        assert_int_equal(doc_get_int(r->answer, "status.observedGeneration", 0), 1);
        rig_settle(r);
        assert_int_equal(rig_get(r, APPS "/deployments/w"), 200);
        assert_int_equal(doc_get_int(r->answer, "status.observedGeneration", 0), 2);
        assert_int_equal(doc_get_int(r->answer, "status.availableReplicas", 0), 5);
}

static void a_deployment_becomes_available_and_follows_its_spec(void **state)
{
        rig_run(check_deployment);
}

static void check_rest(struct rig *r)
{
        struct rig_watch w;
        watch_from_now(r, &w, APPS "/deployments");
        assert_int_equal(rig_post(r, APPS "/deployments", deployment), 201);
        assert_string_equal(rig_watch_next(&w, 1000), "ADDED");
        assert_string_equal(rig_watch_next(&w, 1000), "MODIFIED");
        assert_string_equal(rig_watch_next(&w, 60000), "timeout");
        rig_watch_close(&w);
}

static void a_settled_object_is_written_no_more(void **state)
{
        rig_run(check_rest);
}

static void check_revision(struct rig *r)
{
        const char *const keys[] = { "metadata", "annotations", "deployment.kubernetes.io/revision" };
        assert_int_equal(rig_post(r, APPS "/deployments", deployment), 201);
        rig_settle(r);
        assert_int_equal(rig_get(r, APPS "/deployments/w"), 200);
        assert_string_equal(json_string_value(doc_get_keys(r->answer, keys, 3)), "1");
        assert_int_equal(
                rig_merge(r, APPS "/deployments/w",
                          "{\"spec\":{\"template\":{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}}}"),
                200);
        rig_settle(r);
        assert_int_equal(rig_get(r, APPS "/deployments/w"), 200);
        assert_string_equal(json_string_value(doc_get_keys(r->answer, keys, 3)), "2");
}

static void a_new_template_is_a_new_revision(void **state)
{
        rig_run(check_revision);
}

static void check_held(struct rig *r)
{
        assert_int_equal(devcluster_set_readiness(r->devcluster, "hub", "Deployment", NULL, "w", false), 0);
        assert_int_equal(rig_post(r, APPS "/deployments", deployment), 201);
        rig_settle(r);
        assert_int_equal(rig_get(r, APPS "/deployments/w"), 200);
        assert_int_equal(doc_get_int(r->answer, "status.unavailableReplicas", 0), 3);
        assert_int_equal(doc_get_int(r->answer, "status.availableReplicas", 0), 0);
        assert_string_equal(condition(r, "Available", "status"), "False");
        assert_string_equal(condition(r, "Progressing", "reason"), "ReplicaSetUpdated");
        assert_int_equal(devcluster_set_readiness(r->devcluster, "hub", "Deployment", NULL, "w", true), 0);
        rig_settle(r);
        assert_int_equal(rig_get(r, APPS "/deployments/w"), 200);
        assert_string_equal(condition(r, "Available", "status"), "True");
        assert_int_equal(
                rig_merge(
                        r, APPS "/deployments/w",
                        "{\"metadata\":{\"annotations\":{\"devcluster.argosy.dev/never-ready\":\"true\"}}}"),
                200);
        rig_settle(r);
        assert_int_equal(rig_get(r, APPS "/deployments/w"), 200);
        assert_string_equal(condition(r, "Available", "status"), "False");
}

static void rules_and_annotations_keep_objects_unavailable(void **state)
{
        rig_run(check_held);
}

static void check_job(struct rig *r)
{
        struct rig_watch w;
        watch_from_now(r, &w, BATCH "/jobs");
        assert_int_equal(
                rig_post(r, BATCH "/jobs",
                         "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"completions\":2,\"template\":{\"spec\":{"
                         "\"restartPolicy\":\"Never\"," CONTAINERS "}}}}"),
                201);
        const char *const selector[] = { "spec", "selector", "matchLabels",
                                         "batch.kubernetes.io/controller-uid" };
        assert_string_equal(json_string_value(doc_get_keys(r->answer, selector, 4)),
                            rig_string(r, "metadata.uid"));
        assert_string_equal(rig_watch_next(&w, 1000), "ADDED");
        assert_string_equal(rig_watch_next(&w, 1000), "MODIFIED");
        assert_int_equal(doc_get_int(doc_get(w.event, "object"), "status.active", 0), 1);
        assert_string_equal(rig_watch_next(&w, 1000), "MODIFIED");
        rig_watch_close(&w);
        assert_int_equal(rig_get(r, BATCH "/jobs/j"), 200);
        assert_int_equal(doc_get_int(r->answer, "status.succeeded", 0), 2);
        assert_string_equal(condition(r, "Complete", "status"), "True");
        assert_true(*rig_string(r, "status.completionTime"));
}

static void a_job_runs_and_completes(void **state)
{
        rig_run(check_job);
}

static void check_sets(struct rig *r)
{
        assert_int_equal(rig_post(r, "/api/v1/nodes", "{\"metadata\":{\"name\":\"n1\"}}"), 201);
        assert_int_equal(
                rig_post(r, APPS "/daemonsets", "{\"metadata\":{\"name\":\"d\"},\"spec\":{" TEMPLATE "}}"),
                201);
        assert_int_equal(rig_post(r, APPS "/statefulsets",
                                  "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"replicas\":2,\"serviceName\":"
                                  "\"s\"," TEMPLATE "}}"),
                         201);
        rig_settle(r);
        assert_int_equal(rig_get(r, APPS "/daemonsets/d"), 200);
        assert_int_equal(doc_get_int(r->answer, "status.numberAvailable", 0), 1);
        assert_int_equal(rig_get(r, APPS "/statefulsets/s"), 200);
        assert_int_equal(doc_get_int(r->answer, "status.availableReplicas", 0), 2);
        assert_string_equal(rig_string(r, "status.currentRevision"),
                            doc_get_string(r->answer, "status.updateRevision"));
        assert_int_equal(rig_post(r, "/api/v1/nodes", "{\"metadata\":{\"name\":\"n2\"}}"), 201);
        rig_settle(r);
        assert_int_equal(rig_get(r, APPS "/daemonsets/d"), 200);
        assert_int_equal(doc_get_int(r->answer, "status.numberAvailable", 0), 2);
}

static void daemon_sets_follow_the_nodes(void **state)
{
        rig_run(check_sets);
}

static void check_budget(struct rig *r)
{
        assert_int_equal(
                rig_post(r, "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
                         "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"minAvailable\":\"50%\",\"selector\":{"
                         "\"matchLabels\":{\"app\":\"w\"}}}}"),
                201);
        assert_int_equal(rig_post(r, APPS "/deployments", deployment), 201);
        rig_settle(r);
        assert_int_equal(rig_get(r, "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b"), 200);
        assert_int_equal(doc_get_int(r->answer, "status.expectedPods", 0), 3);
        assert_int_equal(doc_get_int(r->answer, "status.desiredHealthy", 0), 2);
        assert_int_equal(doc_get_int(r->answer, "status.disruptionsAllowed", 0), 1);
        assert_int_equal(doc_get_int(r->answer, "status.observedGeneration", 0), 1);
}

static void a_budget_counts_what_it_selects(void **state)
{
        rig_run(check_budget);
}

static void check_pod_and_claim(struct rig *r)
{
        assert_int_equal(
                rig_post(r, CORE "/pods", "{\"metadata\":{\"name\":\"p\"},\"spec\":{" CONTAINERS "}}"), 201);
        assert_string_equal(rig_string(r, "status.phase"), "Pending");
        assert_string_equal(rig_string(r, "status.qosClass"), "BestEffort");
        assert_string_equal(rig_string(r, "spec.serviceAccountName"), "default");
        assert_int_equal(
                rig_post(r, CORE "/persistentvolumeclaims",
                         "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"
                         "\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}"),
                201);
        rig_settle(r);
        assert_int_equal(rig_get(r, CORE "/pods/p/log"), 200);
        assert_int_equal(rig_get(r, CORE "/pods/none/log"), 404);
        assert_int_equal(rig_get(r, CORE "/pods/p"), 200);
        assert_string_equal(rig_string(r, "status.phase"), "Running");
        assert_string_equal(condition(r, "Ready", "status"), "True");
        assert_int_equal(rig_get(r, CORE "/persistentvolumeclaims/c"), 200);
        assert_string_equal(rig_string(r, "status.phase"), "Bound");
        assert_string_equal(rig_string(r, "status.capacity.storage"), "1Gi");
}

static void pods_run_and_claims_are_bound(void **state)
{
        rig_run(check_pod_and_claim);
}

static void check_nodes(struct rig *r)
{
        struct error err = { 0 };
        assert_int_equal(devcluster_add_nodes(r->devcluster, "hub", 2, "8", "32Gi", &err), 0);
        rig_settle(r);
        assert_int_equal(rig_get(r, "/api/v1/nodes/node-2"), 200);
        assert_string_equal(condition(r, "Ready", "status"), "True");
        assert_string_equal(rig_string(r, "status.capacity.cpu"), "8");
        assert_string_equal(rig_string(r, "status.allocatable.memory"), "32Gi");
        assert_int_equal(
                rig_merge(r, "/api/v1/nodes/node-2/status",
                          "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]}}"),
                200);
        rig_settle(r);
        assert_int_equal(rig_get(r, "/api/v1/nodes/node-2"), 200);
        assert_string_equal(condition(r, "Ready", "status"), "False");
}

static void nodes_become_ready_and_keep_what_is_written(void **state)
{
        rig_run(check_nodes);
}

static void check_delay(struct rig *r)
{
        devcluster_set_workload_delay(r->devcluster, 500);
        assert_int_equal(rig_post(r, APPS "/deployments", deployment), 201);
        fiber_sleep(r->loop, 400);
        assert_int_equal(rig_get(r, APPS "/deployments/w"), 200);
        assert_int_equal(doc_get_int(r->answer, "status.availableReplicas", 0), 0);
        fiber_sleep(r->loop, 200);
        assert_int_equal(rig_get(r, APPS "/deployments/w"), 200);
        assert_int_equal(doc_get_int(r->answer, "status.availableReplicas", 0), 3);
}

static void effects_wait_for_the_delay(void **state)
{
        rig_run(check_delay);
}

/* ---- services ---- */

static void check_services(struct rig *r)
{
        char first[32], port[32];
        assert_int_equal(rig_post(r, CORE "/services",
                                  "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"type\":\"LoadBalancer\","
                                  "\"ports\":[{\"port\":"
                                  "80}]}}"),
                         201);
        snprintf(first, sizeof(first), "%s", rig_string(r, "spec.clusterIP"));
        assert_true(text_starts_with(first, "10.96."));
        json_t *given = json_array_get(doc_get_array(r->answer, "spec.ports"), 0);
        snprintf(port, sizeof(port), "%lld", (long long)doc_get_int(given, "nodePort", 0));
        assert_true(doc_get_int(given, "nodePort", 0) >= 30000);
        rig_settle(r);
        assert_int_equal(rig_put(r, CORE "/services/a",
                                 "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"type\":\"LoadBalancer\","
                                 "\"ports\":[{\"port\":"
                                 "80}],\"selector\":{\"a\":\"b\"}}}"),
                         200);
        assert_string_equal(rig_string(r, "spec.clusterIP"), first);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.loadBalancer.ingress")), 1);
        assert_int_equal(rig_merge(r, CORE "/services/a", "{\"spec\":{\"clusterIP\":\"10.96.9.9\"}}"), 422);
        assert_non_null(strstr(rig_string(r, "message"), "may not change once set"));
}

static void services_get_addresses_and_keep_them(void **state)
{
        rig_run(check_services);
}

/* ---- mistakes ---- */

static void check_mistakes(struct rig *r)
{
        static const struct {
                const char *path, *body, *words;
        } cases[] = {
                { APPS "/deployments",
                  "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},"
                  "\"template\":{"
                  "\"metadata\":{\"labels\":{\"a\":\"c\"}},\"spec\":{" CONTAINERS "}}}}",
                  "spec.template.metadata.labels: Invalid value: {\"a\":\"c\"}: `selector` "
                  "does not match "
                  "template `labels`" },
                { APPS "/deployments",
                  "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},"
                  "\"template\":{"
                  "\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}}",
                  "spec.template.spec.containers[0].image: Required value" },
                { CORE "/pods", "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"containers\":[]}}",
                  "spec.containers: Required value" },
                { CORE "/pods",
                  "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"i\"},"
                  "{\"name\":\"a\","
                  "\"image\":\"i\"}]}}",
                  "spec.containers[1].name: Duplicate value: \"a\"" },
                { CORE "/pods",
                  "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"i\","
                  "\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/v\"}]}]}}",
                  "spec.containers[0].volumeMounts[0].name: Not found: \"v\"" },
                { CORE "/services", "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"ports\":[{\"port\":70000}]}}",
                  "spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive" },
                { BATCH "/jobs",
                  "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"template\":{\"spec\":{" CONTAINERS "}}}}",
                  "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", "
                  "\"Never\"" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                assert_int_equal(rig_post(r, cases[i].path, cases[i].body), 422);
                if (!strstr(rig_string(r, "message"), cases[i].words))
                        fail_msg("%s\nshould say: %s", rig_string(r, "message"), cases[i].words);
        }
}

static void mistakes_are_refused_in_kubernetes_words(void **state)
{
        rig_run(check_mistakes);
}

static void check_immutable(struct rig *r)
{
        assert_int_equal(rig_post(r, APPS "/deployments", deployment), 201);
        assert_int_equal(
                rig_merge(
                        r, APPS "/deployments/w",
                        "{\"spec\":{\"selector\":{\"matchLabels\":{\"app\":null,\"b\":\"c\"}},\"template\":{"
                        "\"metadata\":{\"labels\":{\"b\":\"c\"}}}}}"),
                422);
        assert_string_equal(rig_string(r, "message"),
                            "Deployment.apps \"w\" is invalid: spec.selector: Invalid value: "
                            "{\"matchLabels\":{\"b\":\"c\"}}: field is immutable");
        assert_int_equal(
                rig_post(r, CORE "/pods", "{\"metadata\":{\"name\":\"p\"},\"spec\":{" CONTAINERS "}}"), 201);
        assert_int_equal(rig_merge(r, CORE "/pods/p", "{\"spec\":{\"hostNetwork\":true}}"), 422);
}

static void what_cannot_change_is_kept(void **state)
{
        rig_run(check_immutable);
}

/* ---- binding ---- */

static void check_binding(struct rig *r)
{
        assert_int_equal(rig_post(r, CORE "/pods",
                                  "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"schedulingGates\":[{\"name\":"
                                  "\"x/y\"}]," CONTAINERS "}}"),
                         201);
        static const char binding[] = "{\"metadata\":{\"name\":\"p\"},\"target\":{\"kind\":\"Node\",\"name\":"
                                      "\"n\"}}";
        rig_settle(r);
        assert_int_equal(rig_get(r, CORE "/pods/p"), 200);
        assert_string_equal(rig_string(r, "status.phase"), "Pending");
        assert_string_equal(condition(r, "PodScheduled", "reason"), "SchedulingGated");
        assert_int_equal(rig_post(r, CORE "/pods/p/binding", binding), 409);
        assert_int_equal(rig_merge(r, CORE "/pods/p", "{\"spec\":{\"schedulingGates\":null}}"), 200);
        assert_int_equal(rig_post(r, CORE "/bindings", binding), 201);
        assert_int_equal(rig_get(r, CORE "/pods/p"), 200);
        assert_string_equal(rig_string(r, "spec.nodeName"), "n");
        assert_int_equal(rig_post(r, CORE "/pods/p/binding", binding), 409);
}

static void a_pod_is_bound_once_its_gates_are_open(void **state)
{
        rig_run(check_binding);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_pod_is_bound_once_its_gates_are_open),
                cmocka_unit_test(a_deployment_becomes_available_and_follows_its_spec),
                cmocka_unit_test(a_settled_object_is_written_no_more),
                cmocka_unit_test(a_new_template_is_a_new_revision),
                cmocka_unit_test(rules_and_annotations_keep_objects_unavailable),
                cmocka_unit_test(a_job_runs_and_completes),
                cmocka_unit_test(daemon_sets_follow_the_nodes),
                cmocka_unit_test(a_budget_counts_what_it_selects),
                cmocka_unit_test(pods_run_and_claims_are_bound),
                cmocka_unit_test(nodes_become_ready_and_keep_what_is_written),
                cmocka_unit_test(effects_wait_for_the_delay),
                cmocka_unit_test(services_get_addresses_and_keep_them),
                cmocka_unit_test(mistakes_are_refused_in_kubernetes_words),
                cmocka_unit_test(what_cannot_change_is_kept),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
