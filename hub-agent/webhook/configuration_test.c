#include "hub-agent/webhook/webhook_test.h"

static const struct webhook_client by_service = {
        .ns = "fleet-system", .service = "fleetwebhook", .port = 9443, .ca_bundle = { "PEM", 3 }
};

static json_t *make(enum webhook_configuration_id id, struct admission_flags f,
                    const struct webhook_client *client)
{
        struct error err = { 0 };
        json_t *doc = NULL;

        assert_int_equal(webhook_configuration_make(id, &f, client, &doc, &err), 0);
        return doc;
}

static size_t n_webhooks_of(enum webhook_configuration_id id, struct admission_flags f)
{
        AUTO_JSON json_t *doc = make(id, f, &by_service);

        return doc ? json_array_size(json_object_get(doc, "webhooks")) : 0;
}

/* spec/membership-webhooks-charts.md checklist 18 */
static void flags_decide_which_webhooks_there_are(void **state)
{
        static const struct {
                struct admission_flags flags;
                size_t validating, guard_rail;
        } rows[] = {
                { { 0 }, 9, 0 },
                { { .workload = true }, 7, 0 },
                { { .pdbs = true }, 8, 0 },
                { { .workload = true, .pdbs = true }, 6, 0 },
                { { .guard_rail = true }, 9, 6 },
                { { .resource_placements = true }, 10, 0 },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                assert_int_equal(n_webhooks_of(WEBHOOKS_VALIDATING, rows[i].flags), rows[i].validating);
                assert_int_equal(n_webhooks_of(WEBHOOKS_GUARD_RAIL, rows[i].flags), rows[i].guard_rail);
                assert_int_equal(n_webhooks_of(WEBHOOKS_MUTATING, rows[i].flags), 1);
        }
}

static const json_t *entry(const json_t *configuration, const char *name)
{
        json_t *w;
        size_t i;

        json_array_foreach(json_object_get(configuration, "webhooks"), i, w)
                if (text_equal(doc_get_string(w, "name"), name))
                        return w;
        fail_msg("no webhook %s", name);
        return NULL;
}

static void assert_json(const json_t *doc, const char *wanted)
{
        AUTO_JSON json_t *other = json_of(wanted);
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 16);
        assert_int_equal(doc_write_canonical(doc, &b), 0);
        if (!doc_equal(doc, other))
                fail_msg("wanted %s, is %s", wanted, b.data);
}

static void a_webhook_says_what_it_is_about_and_how_it_is_reached(void **state)
{
        AUTO_JSON json_t *doc = make(WEBHOOKS_VALIDATING, (struct admission_flags){ 0 }, &by_service);

        assert_string_equal(doc_get_string(doc, "metadata.name"), "fleet-validating-webhook-configuration");
        assert_json(entry(doc, "fleet.membercluster.validating"),
                    "{\"name\":\"fleet.membercluster.validating\",\"clientConfig\":{\"caBundle\":\"UEVN\","
                    "\"service\":{\"namespace\":\"fleet-system\",\"name\":\"fleetwebhook\",\"port\":9443,"
                    "\"path\":\"/validate-cluster.kubernetes-fleet.io-v1beta1-membercluster\"}},"
                    "\"rules\":[{\"operations\":[\"CREATE\",\"UPDATE\",\"DELETE\"],\"apiGroups\":"
                    "[\"cluster.kubernetes-fleet.io\"],\"apiVersions\":[\"v1beta1\"],\"resources\":"
                    "[\"memberclusters\"],\"scope\":\"Cluster\"}],\"failurePolicy\":\"Fail\","
                    "\"sideEffects\":\"None\",\"timeoutSeconds\":5,\"matchPolicy\":\"Equivalent\","
                    "\"admissionReviewVersions\":[\"v1\",\"v1beta1\"],\"namespaceSelector\":{},"
                    "\"objectSelector\":{}}");
        assert_json(json_object_get(
                            json_array_get(json_object_get(entry(doc, "fleet.pod.validating"), "rules"), 0),
                            "apiGroups"),
                    "[\"\"]");
}

static void a_webhook_can_be_reached_by_url_with_a_certificate_to_come(void **state)
{
        const struct webhook_client client = { .ns = "fleet-system",
                                               .service = "fleetwebhook",
                                               .port = 9443,
                                               .url = true,
                                               .inject_from = "fleet-system/fleet-webhook-certificate" };
        AUTO_JSON json_t *doc = make(WEBHOOKS_MUTATING, (struct admission_flags){ 0 }, &client);
        const json_t *w = entry(doc, "fleet.clusterresourceplacementv1beta1.mutating");

        assert_json(json_object_get(doc, "metadata"),
                    "{\"name\":\"fleet-mutating-webhook-configuration\",\"labels\":"
                    "{\"admissions.enforcer/disabled\":\"true\"},\"annotations\":"
                    "{\"cert-manager.io/inject-ca-from\":\"fleet-system/fleet-webhook-certificate\"}}");
        assert_json(json_object_get(w, "clientConfig"),
                    "{\"url\":\"https://fleetwebhook.fleet-system.svc.cluster.local:9443"
                    "/mutate-placement.kubernetes-fleet.io-v1beta1-clusterresourceplacement\"}");
        assert_string_equal(doc_get_string(w, "failurePolicy"), "Ignore");
        assert_string_equal(doc_get_string(w, "reinvocationPolicy"), "Never");
        assert_int_equal(doc_get_int(w, "timeoutSeconds", 0), 5);
}

static void the_guard_rail_watches_the_content_of_three_sorts_of_namespaces(void **state)
{
        static const struct {
                const char *name, *selector;
        } rows[] = {
                { "fleet.fleetmembernamespacedresources.guardrail.validating",
                  "{\"matchExpressions\":[{\"key\":\"kubernetes-fleet.io/is-fleet-resource\","
                  "\"operator\":\"In\",\"values\":[\"true\"]}]}" },
                { "fleet.fleetsystemnamespacedresources.guardrail.validating",
                  "{\"matchExpressions\":[{\"key\":\"kubernetes.io/metadata.name\",\"operator\":\"In\","
                  "\"values\":[\"fleet-system\"]}]}" },
                { "fleet.kubenamespacedresources.guardrail.validating",
                  "{\"matchExpressions\":[{\"key\":\"kubernetes.io/metadata.name\",\"operator\":\"In\","
                  "\"values\":[\"kube-system\",\"kube-public\",\"kube-node-lease\"]}]}" },
        };
        AUTO_JSON json_t *doc =
                make(WEBHOOKS_GUARD_RAIL, (struct admission_flags){ .guard_rail = true }, &by_service);

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const json_t *w = entry(doc, rows[i].name), *rules = json_object_get(w, "rules");

                assert_json(json_object_get(w, "namespaceSelector"), rows[i].selector);
                assert_string_equal(doc_get_string(w, "failurePolicy"), "Ignore");
                assert_int_equal(doc_get_int(w, "timeoutSeconds", 0), 1);
                assert_int_equal(json_array_size(rules), 14);
                assert_json(json_array_get(rules, 0),
                            "{\"operations\":[\"DELETE\"],\"apiGroups\":[\"*\"],\"apiVersions\":[\"*\"],"
                            "\"resources\":[\"*/*\"],\"scope\":\"Namespaced\"}");
        }
}

/* They fail closed: a hub whose last agent went could make no pod of another one. */
static void the_agents_own_pods_wait_for_no_agent(void **state)
{
        static const char *const names[] = { "fleet.pod.validating", "fleet.replicaset.validating",
                                             "fleet.poddisruptionbudget.validating" };
        AUTO_JSON json_t *doc = make(WEBHOOKS_VALIDATING, (struct admission_flags){ 0 }, &by_service);

        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                assert_json(json_object_get(entry(doc, names[i]), "namespaceSelector"),
                            "{\"matchExpressions\":[{\"key\":\"kubernetes.io/metadata.name\","
                            "\"operator\":\"NotIn\",\"values\":[\"fleet-system\",\"kube-system\","
                            "\"kube-public\",\"kube-node-lease\"]}]}");
}

static void the_agents_pods_may_be_where_it_was_installed(void **state)
{
        const struct webhook_client client = { .ns = "argosy", .service = "s", .port = 9443 };
        AUTO_JSON json_t *doc = make(WEBHOOKS_VALIDATING, (struct admission_flags){ 0 }, &client);

        assert_json(json_object_get(entry(doc, "fleet.pod.validating"), "namespaceSelector"),
                    "{\"matchExpressions\":[{\"key\":\"kubernetes.io/metadata.name\","
                    "\"operator\":\"NotIn\",\"values\":[\"fleet-system\",\"kube-system\","
                    "\"kube-public\",\"kube-node-lease\",\"argosy\"]}]}");
}

static void every_webhook_is_served_and_named_once(void **state)
{
        for (size_t i = 0; i < n_webhooks; i++) {
                assert_true(webhook_serves(webhooks[i].path));
                assert_non_null(webhooks[i].answer);
                for (size_t k = 0; k < i; k++) {
                        assert_string_not_equal(webhooks[i].name, webhooks[k].name);
                        if (text_equal(webhooks[i].path, webhooks[k].path))
                                assert_ptr_equal(webhooks[i].answer, webhooks[k].answer);
                }
        }
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(flags_decide_which_webhooks_there_are),
                cmocka_unit_test(a_webhook_says_what_it_is_about_and_how_it_is_reached),
                cmocka_unit_test(a_webhook_can_be_reached_by_url_with_a_certificate_to_come),
                cmocka_unit_test(the_guard_rail_watches_the_content_of_three_sorts_of_namespaces),
                cmocka_unit_test(the_agents_own_pods_wait_for_no_agent),
                cmocka_unit_test(the_agents_pods_may_be_where_it_was_installed),
                cmocka_unit_test(every_webhook_is_served_and_named_once),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
