#include "hub-agent/resource-set/inventory.h"

#include "hub-agent/resource-set/testing.h"

static inventory entries(struct arena *arena, const char *ids)
{
        struct slice rest = slice_of(arena_strdup(arena, ids)), id;
        inventory l = { .at = ARENA_NEW_ARRAY(arena, struct resource_set_inventory_entry, 64), .set = true };

        while (rest.len) {
                slice_cut(&rest, ' ', &id);
                l.at[l.n].id = arena_strndup(arena, id.data, id.len);
                l.at[l.n++].v = "v1";
        }
        return l;
}

static const char *ids_of(struct arena *arena, const inventory *l)
{
        const char *all = "";

        for (uint32_t i = 0; i < l->n; i++)
                all = arena_printf(arena, "%s%s%s", all, i ? " " : "", l->at[i].id);
        return all;
}

/* spec/resource-set.md checklist 85 */
static void ids_name_objects_and_can_be_read(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        static const struct {
                const char *group, *kind, *ns, *name;
                bool namespaced;
                const char *id;
        } rows[] = {
                { "", "Namespace", "", "team1", false, "_team1__Namespace" },
                { "helm.toolkit.fluxcd.io", "HelmRelease", "apps", "podinfo", true,
                  "apps_podinfo_helm.toolkit.fluxcd.io_HelmRelease" },
                { "rbac.authorization.k8s.io", "ClusterRole", "", "system:a:b", false,
                  "_system__a__b_rbac.authorization.k8s.io_ClusterRole" },
                { "", "ConfigMap", "default", "a.b-c", true, "default_a.b-c__ConfigMap" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct object_place p = { slice_of(rows[i].group), rows[i].kind, rows[i].ns, rows[i].name },
                                    q;

                assert_string_equal(inventory_id(&arena, &p, rows[i].namespaced), rows[i].id);
                assert_true(inventory_parse(&arena, rows[i].id, &q));
                assert_true(slice_equal(p.group, q.group));
                assert_string_equal(q.kind, p.kind);
                assert_string_equal(q.ns, p.ns);
                assert_string_equal(q.name, p.name);
        }
        assert_string_equal(
                inventory_id(&arena, &(struct object_place){ SLICE(""), "Namespace", "stray", "a" }, false),
                "_a__Namespace");
        assert_false(inventory_parse(&arena, "", &(struct object_place){ 0 }));
        assert_false(inventory_parse(&arena, "a_b_C", &(struct object_place){ 0 }));
}

/* spec/resource-set.md checklist 86 */
static void nothing_is_lost_between_two_inventories(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        inventory before = entries(&arena, "b_b__X a_a__X"), now = entries(&arena, "c_c__X b_b__X"), all;

        now.at[1].v = "v2";
        assert_int_equal(inventory_union(&arena, &before, &now, &all, NULL), 0);
        assert_string_equal(ids_of(&arena, &all), "a_a__X b_b__X c_c__X");
        assert_string_equal(all.at[1].v, "v2");
        assert_string_equal(before.at[0].v, "v1");
        assert_true(inventory_equal(&before, &before));
        assert_false(inventory_equal(&before, &now));
}

/* spec/resource-set.md checklist 87 */
static void what_is_stale_goes_in_reverse(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        inventory before = entries(&arena, "_t__Namespace t_a__ConfigMap t_d_apps_Deployment "
                                           "_x_apiextensions.k8s.io_CustomResourceDefinition t_k__ConfigMap "
                                           "t_r_rbac.authorization.k8s.io_Role"),
                  now = entries(&arena, "t_k__ConfigMap"), stale;

        assert_int_equal(inventory_stale(&arena, &before, &now, &stale, NULL), 0);
        assert_string_equal(ids_of(&arena, &stale),
                            "t_d_apps_Deployment t_a__ConfigMap t_r_rbac.authorization.k8s.io_Role "
                            "_t__Namespace _x_apiextensions.k8s.io_CustomResourceDefinition");
        assert_true(collected_first(slice_of("kustomize.toolkit.fluxcd.io")));
        assert_true(collected_first(slice_of("helm.toolkit.fluxcd.io")));
        assert_true(collected_first(slice_of(GROUP_PLACEMENT)));
        assert_false(collected_first(slice_of("source.toolkit.fluxcd.io")));
}

/* spec/resource-set.md checklist 70 */
static void definitions_come_first_and_webhooks_last(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        static const struct {
                const char *version, *kind;
                enum apply_stage stage;
        } rows[] = {
                /* in the order in which they are applied */
                { "apiextensions.k8s.io/v1", "CustomResourceDefinition", STAGE_DEFINITIONS },
                { "v1", "Namespace", STAGE_DEFINITIONS },
                { "rbac.authorization.k8s.io/v1", "ClusterRole", STAGE_DEFINITIONS },
                { "storage.k8s.io/v1", "StorageClass", STAGE_CLASSES },
                { "networking.k8s.io/v1", "IngressClass", STAGE_CLASSES },
                { "x.io/v1", "OtherClass", STAGE_CLASSES },
                { "rbac.authorization.k8s.io/v1", "Role", STAGE_ROLES },
                { "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", STAGE_REST },
                { "v1", "ServiceAccount", STAGE_REST },
                { "rbac.authorization.k8s.io/v1", "RoleBinding", STAGE_REST },
                { "v1", "ConfigMap", STAGE_REST },
                { "v1", "Secret", STAGE_REST },
                { "apps/v1", "Deployment", STAGE_REST },
                { "apps/v1", "DaemonSet", STAGE_REST },
                { "placement.kubernetes-fleet.io/v1beta1", "ClusterResourcePlacement", STAGE_REST },
                { "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", STAGE_REST },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                static const char form[] = "{apiVersion: %s, kind: %s, metadata: {name: a}}";
                struct object_place a = place_of_doc(
                        yaml_of(&arena, arena_printf(&arena, form, rows[i].version, rows[i].kind)));

                assert_int_equal(apply_stage_of(&a), rows[i].stage);
                for (size_t k = i + 1; k < ARRAY_LEN(rows); k++) {
                        struct object_place b = place_of_doc(
                                yaml_of(&arena, arena_printf(&arena, form, rows[k].version, rows[k].kind)));

                        if (rows[i].stage == rows[k].stage && apply_compare(&a, &b) >= 0)
                                fail_msg("%s does not come before %s", rows[i].kind, rows[k].kind);
                        assert_true(rows[i].stage <= rows[k].stage);
                }
        }
}

/* spec/resource-set.md checklist 88, 89 */
static void what_is_protected_or_foreign_stays(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct resource_set *set = set_of(&arena, "{spec: {}}");
        static const struct {
                const char *labels, *annotations;
                enum collect wanted;
        } rows[] = {
                { "name: my-rset, resourceset.fluxcd.controlplane.io/namespace: default", "",
                  COLLECT_DELETE },
                { "name: my-rset, resourceset.fluxcd.controlplane.io/namespace: default",
                  "fluxcd.controlplane.io/prune: Disabled", COLLECT_SKIP },
                { "name: my-rset, resourceset.fluxcd.controlplane.io/namespace: default, "
                  "fluxcd.controlplane.io/prune: disabled",
                  "", COLLECT_SKIP },
                { "name: my-rset, resourceset.fluxcd.controlplane.io/namespace: default",
                  "fluxcd.controlplane.io/prune: enabled", COLLECT_DELETE },
                { "name: other, resourceset.fluxcd.controlplane.io/namespace: default", "", COLLECT_SKIP },
                { "name: my-rset, resourceset.fluxcd.controlplane.io/namespace: other", "", COLLECT_SKIP },
                { "name: my-rset", "", COLLECT_SKIP },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                assert_int_equal(
                        collect_decide(
                                set, yaml_of(&arena, arena_printf(&arena,
                                                                  "{metadata: {labels: "
                                                                  "{resourceset.fluxcd.controlplane.io/%s}, "
                                                                  "annotations: {%s}}}",
                                                                  rows[i].labels, rows[i].annotations))),
                        rows[i].wanted);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(ids_name_objects_and_can_be_read),
                cmocka_unit_test(nothing_is_lost_between_two_inventories),
                cmocka_unit_test(what_is_stale_goes_in_reverse),
                cmocka_unit_test(definitions_come_first_and_webhooks_last),
                cmocka_unit_test(what_is_protected_or_foreign_stays),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
