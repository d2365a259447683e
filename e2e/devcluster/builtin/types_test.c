#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/devcluster/builtin/types.h"

static const struct schema *property(const struct schema *s, const char *name)
{
        for (size_t i = 0; i < s->n_properties; i++)
                if (text_equal(s->properties[i].name, name))
                        return s->properties[i].schema;
        return NULL;
}

static void a_deployment_knows_its_fields_keys_and_types(void **state)
{
        struct builtin_types *t = builtin_types_new(NULL);
        const struct schema *s = NULL, *pod, *containers, *ports;

        assert_int_equal(builtin_types_kind(t, "apps", "v1", "Deployment", &s, NULL), 0);
        assert_string_equal(s->ref, "io.k8s.api.apps.v1.Deployment");
        pod = property(property(property(s, "spec"), "template"), "spec");
        containers = property(pod, "containers");
        assert_int_equal(containers->type, SCHEMA_ARRAY);
        assert_int_equal(containers->list_type, SCHEMA_LIST_MAP);
        assert_string_equal(containers->list_map_keys[0], "name");
        assert_string_equal(containers->patch_merge_key, "name");
        ports = property(containers->items, "ports");
        assert_int_equal(ports->n_list_map_keys, 2);
        assert_string_equal(json_string_value(property(ports->items, "protocol")->default_value), "TCP");
        assert_true(property(pod, "volumes")->patch_retain_keys);
        assert_string_equal(property(property(s, "spec"), "replicas")->format, "int32");
        assert_string_equal(property(s, "spec")->required[0], "selector");
        builtin_types_free(t);
}

static void every_kind_of_the_table_can_be_built(void **state)
{
        struct builtin_types *t = builtin_types_new(NULL);
        static const char *const kinds[][3] = { { "", "v1", "Pod" },
                                                { "", "v1", "Service" },
                                                { "apiextensions.k8s.io", "v1", "CustomResourceDefinition" },
                                                { "autoscaling", "v2", "HorizontalPodAutoscaler" },
                                                { "flowcontrol.apiserver.k8s.io", "v1", "FlowSchema" },
                                                { "", "v1", "Event" },
                                                { "admissionregistration.k8s.io", "v1",
                                                  "ValidatingAdmissionPolicy" } };

        for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
                const struct schema *s = NULL;

                assert_int_equal(builtin_types_kind(t, kinds[i][0], kinds[i][1], kinds[i][2], &s, NULL), 0);
                assert_non_null(property(s, "metadata"));
        }
        builtin_types_free(t);
}

static void an_unknown_kind_is_not_found(void **state)
{
        struct builtin_types *t = builtin_types_new(NULL);
        const struct schema *s = NULL;
        struct error err;

        assert_int_equal(builtin_types_kind(t, "apps", "v1", "Spaceship", &s, &err), ERR_NOT_FOUND);
        assert_string_equal(err.text, "no built-in kind apps/v1/Spaceship");
        builtin_types_free(t);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_deployment_knows_its_fields_keys_and_types),
                cmocka_unit_test(every_kind_of_the_table_can_be_built),
                cmocka_unit_test(an_unknown_kind_is_not_found),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
