#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/builtin/protobuf.h"

#define BYTES(literal) ((struct slice){ "" literal, sizeof(literal) - 1 })
#define CONFIG_MAP                                                                                           \
        "k8s\0\x0a\x0f\x0a\x02v1\x12\x09"                                                                    \
        "ConfigMap"

/* As kubectl 1.32 sends it: `create configmap a --from-literal=x=y`; zero values are on the wire. */
static const struct slice config_map = BYTES(CONFIG_MAP "\x12\x1b\x0a\x11\x0a\x01"
                                                        "a\x12\0\x1a\0\"\0*\0"
                                                        "2\0"
                                                        "8\0"
                                                        "B\0\x12\x06\x0a\x01x\x12\x01y\x1a\0\"\0");

static json_t *decode(struct slice body, int want)
{
        struct protobuf_types *t = protobuf_types_new();
        struct error err = { 0 };
        json_t *doc = NULL;
        assert_non_null(t);
        assert_int_equal(protobuf_decode(t, body, &doc, &err), want);
        protobuf_types_free(t);
        return doc;
}

static void assert_json(struct slice body, const char *want)
{
        AUTO_JSON json_t *doc = decode(body, 0);
        AUTO_BUF struct buf b;
        buf_init(&b, 1 << 20);
        assert_int_equal(doc_write_canonical(doc, &b), 0);
        assert_string_equal(b.data, want);
}

static void a_config_map_is_read_without_its_zero_values(void **state)
{
        assert_json(config_map, "{\"apiVersion\":\"v1\",\"data\":{\"x\":\"y\"},\"kind\":\"ConfigMap\","
                                "\"metadata\":{\"name\":\"a\"}}");
}

static void a_zero_behind_a_pointer_stays(void **state)
{
        /* DeploymentSpec.replicas is a pointer (kept), minReadySeconds is none (left out). */
        assert_json(BYTES("k8s\0\x0a\x15\x0a\x07"
                          "apps/v1\x12\x0a"
                          "Deployment\x12\x06\x12\x04\x08\0(\0"),
                    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"spec\":{\"replicas\":0}}");
}

static void special_values_become_their_json_forms(void **state)
{
        /* PodDisruptionBudget.spec.minAvailable is int-or-string; Secret.data is base64. */
        assert_json(BYTES("k8s\0\x0a "
                          "\x0a\x09policy/"
                          "v1\x12\x13PodDisruptionBudget\x12\x0c\x12\x0a\x0a\x08\x08\x01\x10\0\x1a\x02"
                          "5%"),
                    "{\"apiVersion\":\"policy/"
                    "v1\",\"kind\":\"PodDisruptionBudget\",\"spec\":{\"minAvailable\":\"5%\"}}");
        assert_json(BYTES("k8s\0\x0a\x0c\x0a\x02v1\x12\x06Secret\x12\x08\x12\x06\x0a\x01k\x12\x01v"),
                    "{\"apiVersion\":\"v1\",\"data\":{\"k\":\"dg==\"},\"kind\":\"Secret\"}");
}

static void embedded_structs_lie_in_their_parent(void **state)
{
        /* Pod.spec.volumes[0] = {name: v, configMap: {name: c}}: VolumeSource and LocalObjectReference are
         * embedded. */
        assert_json(BYTES("k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x11\x12\x0f\x0a\x0d\x0a\x01v\x12\x08\x9a"
                          "\x01\x05\x0a\x03\x0a\x01"
                          "c"),
                    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"volumes\":[{\"configMap\":{\"name\":"
                    "\"c\"},\"name\":\"v\"}]}}");
}

static void a_cut_message_is_refused(void **state)
{
        for (size_t n = 0; n < config_map.len; n++) {
                struct protobuf_types *t = protobuf_types_new();
                json_t *doc = NULL;
                struct error err = { 0 };
                int r = protobuf_decode(t, (struct slice){ config_map.data, n }, &doc, &err);
                assert_true(r <= 0);
                json_decref(doc);
                protobuf_types_free(t);
        }
        assert_null(decode(BYTES("{}"), ERR_INVALID));
        assert_null(decode(BYTES("k8s\0\x0a\xff\xff\xff\xff\x0f"), ERR_INVALID));
        assert_null(decode(BYTES("k8s\0\x0a\x09\x0a\x02v1\x12\x03Pot\x12\0"), ERR_UNSUPPORTED));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_config_map_is_read_without_its_zero_values),
                cmocka_unit_test(a_zero_behind_a_pointer_stays),
                cmocka_unit_test(special_values_become_their_json_forms),
                cmocka_unit_test(embedded_structs_lie_in_their_parent),
                cmocka_unit_test(a_cut_message_is_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
