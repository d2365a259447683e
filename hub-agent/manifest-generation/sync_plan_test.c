/* spec/flux-yaml.md 7.2, 11. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hub-agent/manifest-generation/sync_plan.h"

static struct sync_object object(const char *api_version, const char *kind, const char *ns, const char *name)
{
        return (struct sync_object){
                .identity = name, .ns = ns, .kind = kind, .name = name, .api_version = api_version
        };
}

/* spec/flux-yaml.md checklist 36 */
static void users_of_a_kind_come_after_it_and_placements_last(void **state)
{
        static const char *const order[] = { "Namespace",  "Service",    "CustomResourceDefinition",
                                             "ConfigMap",  "Deployment", "ClusterResourcePlacement",
                                             "HelmRelease" };
        static const char *const names[] = { "z", "a", "b", "a", "a", "a", "b" };
        struct sync_object all[ARRAY_LEN(order)];
        const struct sync_object *sorted[ARRAY_LEN(order)];

        for (size_t i = 0; i < ARRAY_LEN(order); i++) {
                all[i] = object("v1", order[i], NULL, names[i]);
                sorted[(i * 3 + 2) % ARRAY_LEN(order)] = &all[i];
        }
        sync_sort(sorted, ARRAY_LEN(order));
        for (size_t i = 0; i < ARRAY_LEN(order); i++)
                assert_ptr_equal(sorted[i], &all[i]);
}

/* spec/flux-yaml.md checklist 41 */
static void other_namespaces_than_the_allowed_are_left_alone(void **state)
{
        static const char *const allowed[] = { "apps", "shop" };
        const struct sync_rules r = { allowed, 2, "fleet-system" };
        struct sync_object in = object("v1", "ConfigMap", "shop", "a"),
                           out = object("v1", "ConfigMap", "other", "a"),
                           itself = object("v1", "Namespace", NULL, "apps"),
                           another = object("v1", "Namespace", NULL, "other"),
                           cluster = object("rbac.authorization.k8s.io/v1", "ClusterRole", NULL, "a");

        assert_int_equal(sync_fate_of(&r, &in, NULL), SYNC_APPLY);
        assert_int_equal(sync_fate_of(&r, &out, NULL), SYNC_OUTSIDE);
        assert_int_equal(sync_fate_of(&r, &itself, NULL), SYNC_APPLY);
        assert_int_equal(sync_fate_of(&r, &another, NULL), SYNC_OUTSIDE);
        assert_int_equal(sync_fate_of(&r, &cluster, NULL), SYNC_APPLY);
}

/* spec/flux-yaml.md checklist 68 */
static void what_agents_write_for_each_other_is_refused(void **state)
{
        const struct sync_rules r = { .agent_namespace = "fleet-system" };
        struct sync_object work = object("placement.kubernetes-fleet.io/v1", "Work", "fleet-member-a",
                                         "fleet-member-a:work/w"),
                           theirs = object("example.com/v1", "Work", "apps", "w"),
                           secret = object("v1", "Secret", "fleet-system", "fleet-system:secret/s"),
                           other = object("v1", "Secret", "apps", "s");
        struct error err = { 0 };

        assert_int_equal(sync_fate_of(&r, &work, &err), SYNC_REFUSED);
        assert_string_equal(err.text, "not allowed: fleet-member-a:work/w");
        assert_int_equal(sync_fate_of(&r, &secret, &err), SYNC_REFUSED);
        assert_string_equal(err.text, "not allowed: fleet-system:secret/s");
        assert_int_equal(sync_fate_of(&r, &theirs, &err), SYNC_APPLY);
        assert_int_equal(sync_fate_of(&r, &other, &err), SYNC_APPLY);
}

/* spec/flux-yaml.md checklist 38 */
static void what_git_says_to_ignore_is_left_alone(void **state)
{
        static const struct {
                const char *annotations;
                enum sync_fate fate;
        } cases[] = { { "{\"fluxcd.io/ignore\":\"true\"}", SYNC_IGNORED },
                      { "{\"flux.weave.works/ignore\":\"true\"}", SYNC_IGNORED },
                      { "{\"fluxcd.io/ignore\":\"sync_only\"}", SYNC_APPLY },
                      { "{\"fluxcd.io/ignore\":\"false\"}", SYNC_APPLY } };
        const struct sync_rules r = { .agent_namespace = "fleet-system" };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct sync_object o = object("v1", "ConfigMap", "apps", "a");
                AUTO_JSON json_t *doc = json_pack("{s:{s:o}}", "metadata", "annotations",
                                                  json_loads(cases[i].annotations, 0, NULL));

                o.doc = doc;
                assert_int_equal(sync_fate_of(&r, &o, NULL), cases[i].fate);
        }
}

static void an_identity_has_the_kind_in_lower_case(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_string_equal(sync_identity(&arena, "Apps", "Deployment", "Web"), "Apps:deployment/Web");
        assert_string_equal(sync_identity(&arena, NULL, "Namespace", "apps"), "<cluster>:namespace/apps");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(users_of_a_kind_come_after_it_and_placements_last),
                cmocka_unit_test(other_namespaces_than_the_allowed_are_left_alone),
                cmocka_unit_test(what_agents_write_for_each_other_is_refused),
                cmocka_unit_test(what_git_says_to_ignore_is_left_alone),
                cmocka_unit_test(an_identity_has_the_kind_in_lower_case),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
