/* What admission completes and refuses, through the front door. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"

#define CORE "/api/v1/namespaces/default"
#define STORAGE_CLASSES "/apis/storage.k8s.io/v1/storageclasses"
#define POD(name, more)                                                                                      \
        "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"         \
        "\"i:1\"" more "}]}}"
#define CLAIM                                                                                                \
        "{\"metadata\":{\"name\":\"data\"},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"resources\":"     \
        "{\"requests\":{\"storage\":\"1Gi\"}}}}"

static void post(struct rig *r, const char *path, const char *body)
{
        assert_int_equal(rig_post(r, path, body), 201);
}

static int64_t number(struct rig *r, const char *path)
{
        return doc_get_int(r->answer, path, -1);
}

/* ---- pods ---- */

static const char *first(struct rig *r, const char *list, const char *path)
{
        const char *s = doc_get_string(json_array_get(doc_get_array(r->answer, list), 0), path);
        return s ? s : "";
}

static void check_token(struct rig *r)
{
        post(r, CORE "/pods", POD("a", ""));
        const char *volume = first(r, "spec.volumes", "name");
        assert_true(text_starts_with(volume, "kube-api-access-"));
        const json_t *c = json_array_get(doc_get_array(r->answer, "spec.containers"), 0);
        const json_t *mount = json_array_get(doc_get_array(c, "volumeMounts"), 0);
        assert_string_equal(doc_get_string(mount, "name"), volume);
        post(r, CORE "/serviceaccounts",
             "{\"metadata\":{\"name\":\"bare\"},\"automountServiceAccountToken\":false,\"imagePullSecrets\":"
             "[{\"name\":\"pull\"}]}");
        post(r, CORE "/pods",
             "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"serviceAccountName\":\"bare\",\"containers\":"
             "[{\"name\":\"c\",\"image\":\"i\"}]}}");
        assert_null(doc_get(r->answer, "spec.volumes"));
        assert_string_equal(first(r, "spec.imagePullSecrets", "name"), "pull");
        assert_int_equal(rig_post(r, CORE "/pods",
                                  "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"serviceAccountName\":\"no\","
                                  "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"),
                         403);
}

static void a_pod_gets_the_token_of_its_account(void **state)
{
        rig_run(check_token);
}

static void check_priority(struct rig *r)
{
        static const char classes[] = "/apis/scheduling.k8s.io/v1/priorityclasses";
        post(r, CORE "/pods", POD("a", ""));
        assert_int_equal(number(r, "spec.priority"), 0);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "spec.tolerations")), 2);
        post(r, classes, "{\"metadata\":{\"name\":\"high\"},\"value\":7,\"globalDefault\":true}");
        post(r, classes,
             "{\"metadata\":{\"name\":\"low\"},\"value\":5,\"preemptionPolicy\":\"Never\",\"globalDefault\":"
             "true}");
        post(r, CORE "/pods", POD("b", ""));
        assert_string_equal(rig_string(r, "spec.priorityClassName"), "low");
        assert_string_equal(rig_string(r, "spec.preemptionPolicy"), "Never");
        assert_int_equal(number(r, "spec.priority"), 5);
        assert_int_equal(rig_post(r, CORE "/pods",
                                  "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"priority\":9,\"containers\":"
                                  "[{\"name\":\"c\",\"image\":\"i\"}]}}"),
                         403);
}

static void a_pod_has_the_priority_of_its_class(void **state)
{
        rig_run(check_priority);
}

/* ---- limits ---- */

#define RANGE(limit)                                                                                         \
        "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"limits\":[{\"type\":\"Container\"," limit "}]}}"

static void check_limits(struct rig *r)
{
        static const char *const note[] = { "metadata", "annotations", "kubernetes.io/limit-ranger" };
        post(r, CORE "/limitranges",
             RANGE("\"default\":{\"cpu\":\"2\"},\"defaultRequest\":{\"cpu\":\"100m\"},\"max\":{\"cpu\":"
                   "\"3\"}"));
        post(r, CORE "/pods", POD("a", ""));
        const json_t *c = json_array_get(doc_get_array(r->answer, "spec.containers"), 0);
        assert_string_equal(doc_get_string(c, "resources.requests.cpu"), "100m");
        assert_string_equal(doc_get_string(c, "resources.limits.cpu"), "2");
        assert_string_equal(rig_string(r, "status.qosClass"), "Burstable");
        assert_string_equal(json_string_value(doc_get_keys(r->answer, note, 3)),
                            "LimitRanger plugin set: cpu request for container c; cpu limit for container c");
        assert_int_equal(rig_post(r, CORE "/pods", POD("b", ",\"resources\":{\"limits\":{\"cpu\":\"4\"}}")),
                         403);
        assert_string_equal(
                rig_string(r, "message"),
                "pods \"b\" is forbidden: [maximum cpu usage per Container is 3, but limit is 4, maximum cpu "
                "usage per Container is 3, but request is 4]");
}

static void limit_ranges_complete_and_refuse_pods(void **state)
{
        rig_run(check_limits);
}

/* ---- claims ---- */

static void check_protection(struct rig *r)
{
        post(r, CORE "/persistentvolumeclaims", CLAIM);
        assert_string_equal(
                json_string_value(json_array_get(doc_get_array(r->answer, "metadata.finalizers"), 0)),
                "kubernetes.io/pvc-protection");
        post(r, CORE "/pods",
             "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],"
             "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"data\"}}]}}");
        assert_int_equal(rig_delete(r, CORE "/persistentvolumeclaims/data"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, CORE "/persistentvolumeclaims/data"), 200);
        assert_int_equal(rig_delete(r, CORE "/pods/a?gracePeriodSeconds=0"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, CORE "/persistentvolumeclaims/data"), 404);
}

static void a_claim_stays_while_a_pod_mounts_it(void **state)
{
        rig_run(check_protection);
}

static void check_default_class(struct rig *r)
{
        post(r, STORAGE_CLASSES, "{\"metadata\":{\"name\":\"other\"},\"provisioner\":\"p\"}");
        post(r, STORAGE_CLASSES,
             "{\"metadata\":{\"name\":\"std\",\"annotations\":{\"storageclass.kubernetes.io/"
             "is-default-class\":"
             "\"true\"}},\"provisioner\":\"p\"}");
        post(r, CORE "/persistentvolumeclaims", CLAIM);
        assert_string_equal(rig_string(r, "spec.storageClassName"), "std");
}

static void a_claim_without_a_class_gets_the_default_one(void **state)
{
        rig_run(check_default_class);
}

/* ---- nodes ---- */

static void check_node(struct rig *r)
{
        post(r, "/api/v1/nodes", "{\"metadata\":{\"name\":\"n\"}}");
        assert_string_equal(first(r, "spec.taints", "key"), "node.kubernetes.io/not-ready");
        rig_settle(r);
        assert_int_equal(rig_get(r, "/api/v1/nodes/n"), 200);
        assert_null(doc_get(r->answer, "spec.taints"));
}

static void a_node_is_tainted_until_it_is_ready(void **state)
{
        rig_run(check_node);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_pod_gets_the_token_of_its_account),
                cmocka_unit_test(a_pod_has_the_priority_of_its_class),
                cmocka_unit_test(limit_ranges_complete_and_refuse_pods),
                cmocka_unit_test(a_claim_stays_while_a_pod_mounts_it),
                cmocka_unit_test(a_claim_without_a_class_gets_the_default_one),
                cmocka_unit_test(a_node_is_tainted_until_it_is_ready),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
