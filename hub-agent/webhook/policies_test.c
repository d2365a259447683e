#include "hub-agent/webhook/policies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"

#define PODS "deny-pods-and-replicasets-outside-reserved-namespaces"
#define ACCOUNTS "deny-serviceaccounts-and-tokenrequests-in-reserved-namespaces"
#define BUILT_IN                                                                                             \
        "(request.userInfo.username == \"system:kube-scheduler\") || "                                       \
        "(request.userInfo.username == \"system:kube-controller-manager\") || "                              \
        "(\"system:nodes\" in request.userInfo.groups) || (\"system:masters\" in request.userInfo.groups) "  \
        "|| (\"kubeadm:cluster-admins\" in request.userInfo.groups) || (\"system:serviceaccounts\" in "      \
        "request.userInfo.groups)"
#define BY_DEFAULT "(request.namespace.startsWith(\"fleet-\")) || (request.namespace.startsWith(\"kube-\"))"

static json_t *made_from(const char *text)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct slice s = slice_of(text);
        struct admission_policies p;
        struct error err = { 0 };
        json_t *all = NULL;

        if (admission_policies_parse(&arena, text ? &s : NULL, &p, &err) < 0)
                fail_msg("%s: %s", text, err.text);
        assert_int_equal(admission_policies_make(&p, &all, &err), 0);
        return all;
}

static void assert_json(const json_t *doc, const char *wanted)
{
        AUTO_JSON json_t *other = NULL;
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 16);
        assert_int_equal(doc_parse(slice_of(wanted), &other, NULL), 0);
        assert_int_equal(doc_write_canonical(doc, &b), 0);
        if (!doc_equal(doc, other))
                fail_msg("wanted %s, is %s", wanted, b.data);
}

static const char *expression_of(const json_t *policy)
{
        return doc_get_string(json_array_get(doc_get(policy, "spec.validations"), 0), "expression");
}

#define METADATA(name)                                                                                       \
        "\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"metadata\":{\"name\":\"" name                  \
        "\",\"labels\":{"                                                                                    \
        "\"app.kubernetes.io/managed-by\":\"fleet-hub-agent\",\"app.kubernetes.io/part-of\":\"fleet\","      \
        "\"app.kubernetes.io/component\":\"admission-policy-manager\"}}"
#define CONSTRAINTS(rules)                                                                                   \
        "\"failurePolicy\":\"Fail\",\"matchConstraints\":{\"matchPolicy\":\"Equivalent\","                   \
        "\"namespaceSelector\":{},\"objectSelector\":{},\"resourceRules\":[" rules "]}"
#define RULE(group, resource, operations)                                                                    \
        "{\"apiGroups\":[\"" group "\"],\"apiVersions\":[\"v1\"],\"operations\":[" operations                \
        "],\"resources\":[\"" resource "\"],\"scope\":\"*\"}"

/* spec/membership-webhooks-charts.md checklist 42 */
static void without_a_file_there_are_both_policies(void **state)
{
        AUTO_JSON json_t *all = made_from(NULL);

        assert_int_equal(json_array_size(all), 4);
        assert_string_equal(expression_of(json_array_get(all, 0)), BY_DEFAULT);
        assert_string_equal(expression_of(json_array_get(all, 2)), "(!(" BY_DEFAULT ")) || (" BUILT_IN ")");
        json_object_del(json_array_get(doc_get(json_array_get(all, 0), "spec.validations"), 0), "expression");
        assert_json(json_array_get(all, 0),
                    "{\"kind\":\"ValidatingAdmissionPolicy\"," METADATA(PODS) ",\"spec\":{" CONSTRAINTS(
                            RULE("", "pods", "\"CREATE\"") "," RULE(
                                    "apps", "replicasets",
                                    "\"CREATE\"")) ","
                                                   "\"validations\":[{\"message\":\"creating pods and "
                                                   "replicas is disallowed in the fleet hub "
                                                   "cluster\",\"reason\":\"Forbidden\"}]}}");
        assert_json(json_array_get(all, 1), "{\"kind\":\"ValidatingAdmissionPolicyBinding\"," METADATA(
                                                    PODS "-binding") ",\"spec\":{\"policyName\":\"" PODS
                                                                     "\",\"validationActions\":[\"Deny\"]}}");
        json_object_del(json_array_get(doc_get(json_array_get(all, 2), "spec.validations"), 0), "expression");
        assert_json(json_array_get(all, 2),
                    "{\"kind\":\"ValidatingAdmissionPolicy\"," METADATA(ACCOUNTS) ",\"spec\":{" CONSTRAINTS(
                            RULE("", "serviceaccounts", "\"CREATE\",\"UPDATE\",\"DELETE\"") "," RULE(
                                    "", "serviceaccounts/token",
                                    "\"CREATE\"")) ","
                                                   "\"validations\":[{\"message\":\"writing service accounts "
                                                   "in reserved namespaces or "
                                                   "requesting tokens from such service accounts is "
                                                   "disallowed\",\"reason\":"
                                                   "\"Forbidden\"}]}}");
}

static void a_file_says_which_policies_and_for_whom(void **state)
{
        AUTO_JSON json_t *all = made_from("DENYserviceaccountsAndTokenRequestsInReservedNamespaces:\n"
                                          "  reservedNamespacePrefixes: [sys-]\n"
                                          "  whitelistedUsernames: [alice]\n"
                                          "  WHITELISTEDUSERGROUPS: [ops, dev]\n");

        assert_int_equal(json_array_size(all), 2);
        assert_string_equal(doc_get_string(json_array_get(all, 0), "metadata.name"), ACCOUNTS);
        assert_string_equal(
                expression_of(json_array_get(all, 0)),
                "(!((request.namespace.startsWith(\"sys-\")))) || (" BUILT_IN
                " || (request.userInfo.username == \"alice\") || (\"ops\" in request.userInfo.groups) || "
                "(\"dev\" in request.userInfo.groups))");
}

static void a_file_without_policies_wants_none(void **state)
{
        static const char *const texts[] = { "", "  \n", "{}", "null", "# none\n" };

        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
                AUTO_JSON json_t *all = made_from(texts[i]);

                assert_int_equal(json_array_size(all), 0);
        }
}

#define PODS_KEY "denyPodsAndReplicaSetsOutsideReservedNamespaces"
#define OF_PODS(inner) "{\"" PODS_KEY "\":{" inner "}}"

static void what_is_wrong_with_a_file_is_told(void **state)
{
        static const struct {
                const char *text, *says;
        } rows[] = {
                { "[]", "the configuration must be an object" },
                { "{", "yaml: line" },
                { "a: {}\n---\nb: {}\n", "the configuration must be an object" },
                { "denyPods: {}", "the file.denyPods: is not known" },
                { "{\"" PODS_KEY "\":3}", "the file." PODS_KEY ": must be an object" },
                { OF_PODS(""), PODS_KEY ".ReservedNamespacePrefixes: must name one prefix at least" },
                { OF_PODS("\"ReservedNamespacePrefixes\":[]"), "must name one prefix at least" },
                { OF_PODS("\"ReservedNamespacePrefixes\":\"a\""), "must be a list of strings" },
                { OF_PODS("\"ReservedNamespacePrefixes\":[\"Fleet-\"]"), "each must match ^[a-z0-9-]+$" },
                { OF_PODS("\"ReservedNamespacePrefixes\":[\"\"]"), "each must match ^[a-z0-9-]+$" },
                { OF_PODS("\"ReservedNamespacePrefixes\":[\"a\\\") || (\"]"), "each must match" },
                { OF_PODS("\"ReservedNamespacePrefixes\":[\"a\"],\"WhitelistedUsernames\":[\"x\\\"y\"]"),
                  PODS_KEY ".WhitelistedUsernames: none may have a quote or a backslash" },
                { OF_PODS("\"ReservedNamespacePrefixes\":[\"a\"],\"WhitelistedUserGroups\":[\"x\\\\y\"]"),
                  PODS_KEY ".WhitelistedUserGroups: none may have a quote or a backslash" },
                { OF_PODS("\"ReservedNamespacePrefixes\":[\"a\"],\"WhitelistedUserGroups\":[1]"),
                  "none may have a quote" },
                { OF_PODS("\"ReservedNamespacePrefixes\":[\"a\"],\"Users\":[]"),
                  PODS_KEY ".Users: is not known" },
                { OF_PODS("\"ReservedNamespacePrefixes\":[\"A\"],\"Users\":[]"),
                  "each must match ^[a-z0-9-]+$; " PODS_KEY ".Users: is not known" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct slice text = slice_of(rows[i].text);
                struct admission_policies p;
                struct error err = { 0 };

                if (admission_policies_parse(&arena, &text, &p, &err) != ERR_INVALID ||
                    !strstr(err.text, rows[i].says))
                        fail_msg("%s: wanted \"%s\" in \"%s\"", rows[i].text, rows[i].says, err.text);
        }
}

static void the_agent_knows_its_own_by_name(void **state)
{
        assert_true(admission_policy_is_named(PODS));
        assert_true(admission_policy_is_named(ACCOUNTS "-binding"));
        assert_false(admission_policy_is_named(PODS "-bindings"));
        assert_false(admission_policy_is_named("mine"));
        assert_false(admission_policy_is_named(""));
}

static void every_failing_allocation_is_reported(void **state)
{
        static const char text[] = OF_PODS("\"ReservedNamespacePrefixes\":[\"a\"],\"WhitelistedUsernames\":["
                                           "\"b\"]");
        bool fired = true;

        for (uint64_t n = 1; fired; n++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                const struct slice s = slice_of(text);
                struct admission_policies p;
                AUTO_JSON json_t *all = NULL;
                int code;

                mem_fail_at(n, false);
                code = admission_policies_parse(&arena, &s, &p, NULL);
                if (code == 0)
                        code = admission_policies_make(&p, &all, NULL);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                if (code != (fired ? ERR_NO_MEMORY : 0))
                        fail_msg("allocation %u: %d", (unsigned)n, code);
        }
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(without_a_file_there_are_both_policies),
                cmocka_unit_test(a_file_says_which_policies_and_for_whom),
                cmocka_unit_test(a_file_without_policies_wants_none),
                cmocka_unit_test(what_is_wrong_with_a_file_is_told),
                cmocka_unit_test(the_agent_knows_its_own_by_name),
                cmocka_unit_test(every_failing_allocation_is_reported),
        };
        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
