/* ResourceSets whose objects take something from ConfigMaps and Secrets. */
#include "common/base/digest.h"
#include "hub-agent/resource-set/resource_set_test.h"

#define SECRETS "/api/v1/namespaces/default/secrets"
#define DERIVED(key, value, more)                                                                            \
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"derived\",\"namespace\":"    \
        "\"default\",\"annotations\":{\"fluxcd.controlplane.io/" key "\":\"" value "\"}}" more "}"
#define WATCHED "\"labels\":{\"reconcile.fluxcd.io/watch\":\"Enabled\"}"

static void derive(struct rig *r, const char *object)
{
        AUTO_FREE char *body = mem_printf("{\"spec\":{\"resources\":[%s]}}", object);

        merge_and_settle(r, SET, body);
}

static void put_kubeconfig(struct rig *r, const char *name, const char *key, const char *text)
{
        AUTO_FREE char *path = mem_printf(SECRETS "/%s", name);
        json_t *body = json_pack("{s:{s:s},s:{s:s}}", "metadata", "name", name, "stringData", key, text);
        AUTO_FREE char *sent = json_dumps(body, 0);

        json_decref(body);
        if (rig_get(r, path) == 200)
                rig_delete(r, path);
        assert_int_equal(rig_post(r, SECRETS, sent), 201);
}

#define CLUSTER(name, server, authority)                                                                     \
        "- name: " name "\n  cluster: {server: '" server "', certificate-authority-data: '" authority "'}\n"

static void derived_is(struct rig *r, const char *address, const char *authority)
{
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_int_equal(rig_get(r, MAPS("default") "/derived"), 200);
        assert_string_equal(rig_string(r, "data.address"), address);
        assert_string_equal(
                or_empty(json_string_value(json_object_get(doc_get(r->answer, "data"), "ca.crt"))),
                authority);
}

/* spec/resource-set.md checklist 57 */
RIG_TEST(address_and_authority_come_from_a_kubeconfig, {
        static const struct {
                const char *text, *words;
        } bad[] = {
                { "clusters: [",
                  "failed to extract fields from kubeconfig Secret/default/kc: failed to parse "
                  "kubeconfig YAML: " },
                { "clusters: []", "no clusters found in kubeconfig" },
                { "clusters:\n" CLUSTER("a", "https://a", "QQ==") CLUSTER("b", "", "QQ=="),
                  "server field is empty in kubeconfig cluster \"b\"" },
                { "clusters:\n" CLUSTER("a", "https://a", ""),
                  "certificate-authority-data field is empty in kubeconfig cluster \"a\"" },
        };
        struct fleet f;

        begin(r, &f);
        create(r, HEAD("") "\"resources\":[" DERIVED("convertKubeConfigFrom", "kc", "") "]}}");
        assert_ready(
                r, "False", "ReconciliationFailed",
                "invalid fluxcd.controlplane.io/convertKubeConfigFrom annotation value 'kc' must be in the "
                "format 'namespace/name' or 'namespace/name:key'");
        derive(r, DERIVED("convertKubeConfigFrom", "default/kc", ""));
        assert_ready(r, "False", "ReconciliationFailed", "failed to get kubeconfig Secret/default/kc: ");
        put_kubeconfig(r, "kc", "other", "x");
        derive(r, DERIVED("convertKubeConfigFrom", "default/kc:mine", ""));
        assert_ready(r, "False", "ReconciliationFailed",
                     "kubeconfig Secret/default/kc:mine does not have 'mine' field");
        derive(r, DERIVED("convertKubeConfigFrom", "default/kc", ""));
        assert_ready(r, "False", "ReconciliationFailed",
                     "kubeconfig Secret/default/kc does not have 'kubeconfig' or 'value' field");
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                put_kubeconfig(r, "kc", "kubeconfig", bad[i].text);
                merge_and_settle(r, SET,
                                 i % 2 ? "{\"metadata\":{\"annotations\":{\"again\":\"1\"}}}"
                                       : "{\"metadata\":{\"annotations\":{\"again\":\"2\"}}}");
                assert_ready(r, "False", "ReconciliationFailed", bad[i].words);
        }
        put_kubeconfig(r, "kc", "value",
                       "clusters:\n" CLUSTER("a", "https://a", "QQ==") CLUSTER("b", "https://b", "Qg=="));
        derive(r, DERIVED("convertKubeConfigFrom", "default/kc", ",\"data\":{\"x\":\"y\"}"));
        derived_is(r, "https://a", "A");
        assert_string_equal(rig_string(r, "data.x"), "y");
        derive(r, DERIVED("convertKubeConfigFrom", "default/kc:value",
                          ",\"data\":{\"address\":\"https://mine\"}"));
        derived_is(r, "https://mine", "A");
        stop(&f);
})

#define POD_TEMPLATE(list)                                                                                   \
        "{\"apiVersion\":\"v1\",\"kind\":\"PodTemplate\",\"metadata\":{\"name\":\"app\",\"namespace\":"      \
        "\"default\"},\"template\":{\"metadata\":{\"annotations\":{\"fluxcd.controlplane.io/checksumFrom\":" \
        "\"" list "\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}"
#define OWN(value)                                                                                           \
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"own\",\"namespace\":"        \
        "\"default\"},\"data\":{\"k\":\"" value "\"}}"
#define LIST "ConfigMap/default/own, Secret/default/s,,ConfigMap/default/given"

/* The checksum beside the list, in the arena. */
static const char *sum(struct rig *r)
{
        const char *const path[] = { "template", "metadata", "annotations",
                                     "fluxcd.controlplane.io/checksum" };

        assert_int_equal(rig_get(r, "/api/v1/namespaces/default/podtemplates/app"), 200);
        return arena_strdup(&r->arena, or_empty(json_string_value(doc_get_keys(r->answer, path, 4))));
}

static const char *sum_of(struct rig *r, const char *bytes, size_t n)
{
        char hex[SHA256_HEX_SIZE];

        sha256_hex(bytes, n, hex);
        return arena_printf(&r->arena, "sha256:%s", hex);
}
#define SUM_OF(r, own, given)                                                                                \
        sum_of(r,                                                                                            \
               "ConfigMap/default/own\0k\0" own                                                              \
               "\0Secret/default/s\0p\0word\0ConfigMap/default/given\0a\0" given "\0b\0\xff\0",              \
               sizeof("ConfigMap/default/own\0k\0" own "\0Secret/default/s\0p\0word\0ConfigMap/default/"     \
                      "given\0a\0" given "\0b\0\xff\0") -                                                    \
                       1)

/* spec/resource-set.md checklist 58 */
RIG_TEST(a_checksum_follows_what_it_is_of, {
        struct fleet f;

        begin(r, &f);
        create(r, HEAD("") "\"resources\":[" POD_TEMPLATE("ConfigMap/default") "]}}");
        assert_ready(
                r, "False", "ReconciliationFailed",
                "invalid fluxcd.controlplane.io/checksumFrom reference 'ConfigMap/default' must be in the "
                "format 'Kind/namespace/name'");
        derive(r, POD_TEMPLATE("Pod/default/x"));
        assert_ready(r, "False", "ReconciliationFailed",
                     "unsupported kind 'Pod' in fluxcd.controlplane.io/checksumFrom, only ConfigMap and "
                     "Secret are "
                     "allowed");
        derive(r, POD_TEMPLATE(LIST) "," OWN("1"));
        assert_ready(r, "False", "ReconciliationFailed",
                     "failed to resolve fluxcd.controlplane.io/checksumFrom reference Secret/default/s: ");
        rig_post(r, SECRETS, "{\"metadata\":{\"name\":\"s\"},\"stringData\":{\"p\":\"word\"}}");
        rig_post(r, MAPS("default"),
                 "{\"metadata\":{\"name\":\"given\"," WATCHED
                 "},\"data\":{\"a\":\"1\"},\"binaryData\":{\"b\":"
                 "\"/w==\"}}");
        fiber_sleep(r->loop, 60000);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_non_null(strstr(
                r->text, "\"externalChecksumRefs\":[\"ConfigMap/default/given\",\"Secret/default/s\"]"));
        assert_string_equal(sum(r), SUM_OF(r, "1", "1"));
        merge_and_settle(r, MAPS("default") "/given", "{\"data\":{\"a\":\"2\"}}");
        assert_string_equal(sum(r), SUM_OF(r, "1", "2"));
        derive(r, POD_TEMPLATE(LIST) "," OWN("3"));
        assert_string_equal(sum(r), SUM_OF(r, "3", "2"));
        derive(r, POD_TEMPLATE("ConfigMap/default/own") "," OWN("3"));
        assert_int_equal(rig_get(r, SET), 200);
        assert_null(doc_get(r->answer, "status.externalChecksumRefs"));
        stop(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(address_and_authority_come_from_a_kubeconfig),
                cmocka_unit_test(a_checksum_follows_what_it_is_of),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
