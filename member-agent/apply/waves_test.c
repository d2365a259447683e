#include "member-agent/apply/waves.h"

#include "member-agent/apply/testing.h"

/* spec/member-agent.md 2.5: spec/member-agent.md checklist 19, 20 */
static void resources_go_in_the_order_of_their_waves(void **state)
{
        static const struct {
                const char *group, *plural;
                int wave;
        } lines[] = {
                { "", "namespaces", 0 },
                { "scheduling.k8s.io", "priorityclasses", 0 },
                { "", "configmaps", 1 },
                { "", "secrets", 1 },
                { "apiextensions.k8s.io", "customresourcedefinitions", 1 },
                { "rbac.authorization.k8s.io", "roles", 2 },
                { "rbac.authorization.k8s.io", "rolebindings", 3 },
                { "apps", "deployments", 4 },
                { "batch", "jobs", 4 },
                { "networking.k8s.io", "ingresses", 4 },
                { "admissionregistration.k8s.io", "validatingwebhookconfigurations", 5 },
                { "apiregistration.k8s.io", "apiservices", 5 },
                { "example.com", "widgets", WAVE_LAST },
                { "example.com", "deployments", WAVE_LAST },
                { "apps", "widgets", WAVE_LAST },
                { "apps", "namespaces", 0 }, /* group and name are looked at independently */
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++)
                assert_int_equal(wave_of(lines[i].group, lines[i].plural), lines[i].wave);
}

int main(void)
{
        const struct CMUnitTest tests[] = { cmocka_unit_test(resources_go_in_the_order_of_their_waves) };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
