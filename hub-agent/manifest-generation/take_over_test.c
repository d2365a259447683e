/* spec/flux-yaml.md 7.2.5. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/devcluster/rig.h"
#include "hub-agent/manifest-generation/sync_marks.h"
#include "hub-agent/manifest-generation/take_over.h"

#define CONFIGS "/api/v1/namespaces/default/configmaps"
#define LAST "kubectl.kubernetes.io/last-applied-configuration"

static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };

static void take(struct rig *r)
{
        struct kube_client kube = { .world = &r->world, .endpoint = &r->endpoint, .log = &r->log };

        r->world.transport = r->client;
        assert_int_equal(rig_get(r, CONFIGS "/a"), 200);
        assert_int_equal(take_over(&kube, &config_maps, r->answer, NULL), 0);
}

RIG_TEST(a_field_that_kubectl_applied_goes_when_the_sync_does_not_have_it, {
        assert_int_equal(rig_post(r, CONFIGS "?fieldManager=kubectl-client-side-apply",
                                  "{\"metadata\":{\"name\":\"a\",\"annotations\":{\"" LAST "\":\"{}\"}},"
                                  "\"data\":{\"keep\":\"1\",\"drop\":\"1\"}}"),
                         201);
        take(r);
        assert_int_equal(
                rig_apply(r, CONFIGS "/a?fieldManager=flux&force=true",
                          "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},"
                          "\"data\":{\"keep\":\"2\"}}"),
                200);
        assert_string_equal(rig_string(r, "data.keep"), "2");
        assert_null(doc_get(r->answer, "data.drop"));
        assert_null(sync_annotation(r->answer, LAST));
})

RIG_TEST(what_kubectl_did_not_apply_is_left_alone, {
        AUTO_FREE char *version = NULL;

        assert_int_equal(rig_post(r, CONFIGS "?fieldManager=kubectl-create",
                                  "{\"metadata\":{\"name\":\"a\"},\"data\":{\"keep\":\"1\"}}"),
                         201);
        version = mem_strdup(rig_string(r, "metadata.resourceVersion"));
        take(r);
        assert_int_equal(rig_get(r, CONFIGS "/a"), 200);
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), version);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_field_that_kubectl_applied_goes_when_the_sync_does_not_have_it),
                cmocka_unit_test(what_kubectl_did_not_apply_is_left_alone),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
