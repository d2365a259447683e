#include "hub-agent/webhook/webhook_test.h"

#define NAMED "{\"metadata\":{\"name\":\"p\"}}"

/* spec/membership-webhooks-charts.md checklist 19 */
static void pods_and_replica_sets_run_in_reserved_namespaces_alone(void **state)
{
        static const struct {
                const char *path, *says;
        } rows[] = {
                { "/validate--v1-pod", "Pod default/p creation is disallowed in the fleet hub cluster" },
                { "/validate-apps-v1-replicaset",
                  "ReplicaSet default/p creation is disallowed in the fleet hub cluster." },
        };
        static const char *const reserved[] = { "kube-system", "fleet-system", "fleet-member-m1", "kube-x" };
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                assert_false(ask(h, &(struct question){ rows[i].path, .ns = "default", .object = NAMED }));
                assert_int_equal(h->code, 403);
                assert_string_equal(h->message, rows[i].says);
                for (size_t k = 0; k < ARRAY_LEN(reserved); k++)
                        assert_true(ask(
                                h, &(struct question){ rows[i].path, .ns = reserved[k], .object = NAMED }));
                assert_true(ask(h, &(struct question){ rows[i].path, "UPDATE", .ns = "default" }));
        }
}

/* spec/membership-webhooks-charts.md checklist 20 (the flag decides whether it is registered: checklist 18)
 */
static void a_pod_disruption_budget_is_refused_outside_reserved_namespaces(void **state)
{
        static const char path[] = "/validate-policy-v1-poddisruptionbudget";
        AUTO_HUB struct hub *h = hub_new();

        assert_false(ask(h, &(struct question){ path, .ns = "app", .object = NAMED }));
        assert_string_equal(h->message,
                            "PDBs app/p cannot be directly created in the hub cluster due to potential side "
                            "effects; to place a PDB to member clusters, consider wrapping it in a resource "
                            "envelope.");
        assert_true(ask(h, &(struct question){ path, .ns = "kube-system", .object = NAMED }));
        assert_false(ask(h, &(struct question){ path, .ns = "app", .object = NULL }));
        assert_int_equal(h->code, 400);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(pods_and_replica_sets_run_in_reserved_namespaces_alone),
                cmocka_unit_test(a_pod_disruption_budget_is_refused_outside_reserved_namespaces),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
