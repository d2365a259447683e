/* The agent keeps its admission policies, and the server refuses by them. */
#include "hub-agent/hub_agent_test.h"
#include "hub-agent/webhook/policies.h"

#define REGISTRATION "/apis/admissionregistration.k8s.io/v1/"
#define POLICIES REGISTRATION "validatingadmissionpolicies"
#define BINDINGS REGISTRATION "validatingadmissionpolicybindings"
#define OF_PODS "/deny-pods-and-replicasets-outside-reserved-namespaces"
#define OF_ACCOUNTS "/deny-serviceaccounts-and-tokenrequests-in-reserved-namespaces"
#define POD "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"

static void parse_policies(struct rig *r, const char *text, struct admission_policies *ret)
{
        const struct slice s = slice_of(text);

        assert_int_equal(admission_policies_parse(&r->arena, text ? &s : NULL, ret, NULL), 0);
}

static void start_with(struct rig *r, struct fleet *f, const struct admission_policies *p)
{
        stop(f);
        f->admission_policies = p;
        start_again(r, f);
        rig_settle(r);
}

static void begin(struct rig *r, struct fleet *f, struct admission_policies *p)
{
        parse_policies(r, NULL, p);
        start(r, f);
        start_with(r, f, p);
}

static size_t installed(struct rig *r)
{
        return count(r, POLICIES) + count(r, BINDINGS);
}

/* spec/membership-webhooks-charts.md checklist 42 */
RIG_TEST(policies_are_installed_and_refuse, {
        struct admission_policies p;
        struct fleet f;

        begin(r, &f, &p);
        assert_int_equal(count(r, POLICIES), 2);
        assert_int_equal(count(r, BINDINGS), 2);
        assert_int_equal(rig_post(r, "/api/v1/namespaces/default/pods", POD), 403);
        assert_non_null(strstr(rig_string(r, "message"),
                               "creating pods and replicas is disallowed in the fleet hub cluster"));
        assert_int_equal(rig_post(r, "/api/v1/namespaces/fleet-system/pods", POD), 201);
        stop(&f);
})

static int make_account(struct rig *r, const char *user, const char *ns, const char *name, struct error *err)
{
        const struct kube_resource accounts = { "", "v1", "serviceaccounts", "ServiceAccount", true };
        struct world world = r->world;
        struct kube_client kube = { .world = &world, .endpoint = &r->endpoint, .log = &r->log };
        AUTO_JSON json_t *doc = json_pack("{s:s,s:s,s:{s:s,s:s}}", "apiVersion", "v1", "kind",
                                          "ServiceAccount", "metadata", "name", name, "namespace", ns);

        world.transport = r->client;
        kube.impersonate = user;
        return kube_doc_create(&kube, &accounts, ns, doc, NULL, NULL, err);
}

RIG_TEST(accounts_in_reserved_namespaces_are_for_those_who_are_named, {
        struct admission_policies p;
        struct error err = { 0 };
        struct fleet f;

        begin(r, &f, &p);
        assert_int_equal(
                rig_post(r, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                         "{\"metadata\":{\"name\":\"all\"},\"roleRef\":{\"apiGroup\":"
                         "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"cluster-admin\"},"
                         "\"subjects\":[{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"Group\","
                         "\"name\":\"system:authenticated\"}]}"),
                201);
        rig_settle(r);
        assert_int_equal(make_account(r, "alice", "fleet-system", "a1", &err), ERR_FORBIDDEN);
        assert_non_null(
                strstr(err.text, "writing service accounts in reserved namespaces or requesting tokens"));
        assert_int_equal(make_account(r, "alice", "default", "a2", &err), 0);
        assert_int_equal(make_account(r, "system:kube-controller-manager", "fleet-system", "a3", &err), 0);
        parse_policies(r,
                       "denyServiceAccountsAndTokenRequestsInReservedNamespaces:\n"
                       "  reservedNamespacePrefixes: [fleet-]\n  whitelistedUsernames: [alice]\n",
                       &p);
        start_with(r, &f, &p);
        assert_int_equal(make_account(r, "alice", "fleet-system", "a4", &err), 0);
        assert_int_equal(make_account(r, "bob", "fleet-system", "a5", &err), ERR_FORBIDDEN);
        stop(&f);
})

RIG_TEST(what_somebody_edits_or_deletes_is_put_right, {
        struct admission_policies p;
        struct fleet f;

        begin(r, &f, &p);
        assert_int_equal(rig_merge(r, POLICIES OF_PODS, "{\"spec\":{\"failurePolicy\":\"Ignore\"}}"), 200);
        assert_int_equal(rig_delete(r, BINDINGS OF_ACCOUNTS "-binding"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, POLICIES OF_PODS), 200);
        assert_string_equal(rig_string(r, "spec.failurePolicy"), "Fail");
        assert_int_equal(rig_get(r, BINDINGS OF_ACCOUNTS "-binding"), 200);
        stop(&f);
})

RIG_TEST(what_is_right_is_not_written_again, {
        struct admission_policies p;
        struct fleet f;
        char version[64];

        begin(r, &f, &p);
        rig_get(r, POLICIES OF_ACCOUNTS);
        snprintf(version, sizeof(version), "%s", rig_string(r, "metadata.resourceVersion"));
        start_with(r, &f, &p);
        rig_get(r, POLICIES OF_ACCOUNTS);
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), version);
        stop(&f);
})

#define FOREIGN                                                                                              \
        "{\"metadata\":{\"name\":\"mine\",\"labels\":{\"app.kubernetes.io/managed-by\":\"fleet-hub-agent\"," \
        "\"app.kubernetes.io/part-of\":\"fleet\",\"app.kubernetes.io/component\":"                           \
        "\"admission-policy-manager\"}},\"spec\":{\"matchConstraints\":{\"resourceRules\":[{\"apiGroups\":"  \
        "[\"\"],\"apiVersions\":[\"v1\"],\"operations\":[\"CREATE\"],\"resources\":[\"pods\"]}]},"           \
        "\"validations\":[{\"expression\":\"true\"}]}}"

/* spec/membership-webhooks-charts.md checklist 42 */
RIG_TEST(what_is_not_wanted_any_more_is_removed, {
        struct admission_policies p;
        struct fleet f;

        begin(r, &f, &p);
        assert_int_equal(rig_post(r, POLICIES, FOREIGN), 201);
        parse_policies(
                r, "denyPodsAndReplicaSetsOutsideReservedNamespaces: {reservedNamespacePrefixes: [a]}\n", &p);
        start_with(r, &f, &p);
        assert_int_equal(installed(r), 3);
        assert_int_equal(rig_get(r, POLICIES OF_ACCOUNTS), 404);
        assert_int_equal(rig_get(r, BINDINGS OF_ACCOUNTS "-binding"), 404);
        assert_int_equal(rig_get(r, POLICIES OF_PODS), 200);
        start_with(r, &f, NULL);
        assert_int_equal(installed(r), 1); /* the agent has no right for other names */
        assert_int_equal(rig_get(r, POLICIES "/mine"), 200);
        stop(&f);
})

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(policies_are_installed_and_refuse),
                cmocka_unit_test(accounts_in_reserved_namespaces_are_for_those_who_are_named),
                cmocka_unit_test(what_somebody_edits_or_deletes_is_put_right),
                cmocka_unit_test(what_is_right_is_not_written_again),
                cmocka_unit_test(what_is_not_wanted_any_more_is_removed),
        };
        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
