/* The definition of ResourceSetInputProviders against spec/resource-set.md 17, by the same validation the API
 * server has. */
#include "proto/crd_test.h"

#define OF(type, more) "{spec: {type: " type more "}}"
#define AT(type, url, more) OF(type, ", url: '" url "'" more)
#define IS(text, problem)                                                                                    \
        {                                                                                                    \
                "resourcesetinputproviders.fluxcd.controlplane.io", "v1", NULL, text, problem                \
        }
#define SECRET ", secretRef: {name: a}"
#define CERTS ", certSecretRef: {name: a}"
#define ACCOUNT ", serviceAccountName: a"

/* spec/resource-set.md checklist 106 */
static void an_address_belongs_to_the_type(void **state)
{
        static const char needed[] =
                "spec.url must not be empty when spec.type is not 'Static' or 'ExternalArtifact'";
        static const char artifact[] = "spec.url must be empty when spec.type is 'ExternalArtifact'";
        static const char git[] =
                "spec.url must start with 'http://' or 'https://' when spec.type is a Git provider";
        static const char azure[] =
                "spec.url must start with 'http://' or 'https://' when spec.type is an AzureDevOps provider";
        static const char service[] =
                "spec.url must start with 'http://' or 'https://' when spec.type is 'ExternalService'";
        static const char path[] = "spec.url must include the repository path after the registry host when "
                                   "spec.type is an OCI provider";
        static const struct rule_case cases[] = {
                IS(OF("Static", ""), NULL),
                IS(OF("Static", ", url: ''"), NULL),
                IS(AT("Static", "https://a", ""), "spec.url must be empty when spec.type is 'Static'"),
                IS(AT("ExternalArtifact", "https://a", ", selectors: []"), artifact),
                IS(OF("GitHubTag", ""), needed),
                IS(OF("ExternalService", ", url: ''"), needed),
                IS(AT("GitHubTag", "https://a/b/c", ""), NULL),
                IS(AT("GiteaBranch", "http://a/b/c", ""), NULL),
                IS(AT("GitLabEnvironment", "oci://a/b/c", ""), git),
                IS(AT("GiteaTag", "oci://a/b/c", ""), git),
                IS(AT("GitHubTag", "ftp://a/b/c", ""), "should match"),
                IS(AT("AzureDevOpsTag", "https://a/b/c", ""), NULL),
                IS(AT("AzureDevOpsTag", "oci://a/b/c", ""), azure),
                IS(AT("ExternalService", "oci://a", ""), service),
                IS(AT("AWSCodeCommitTag", "https://a/b", ""), NULL),
                IS(AT("AWSCodeCommitTag", "http://a/b", ""),
                   "spec.url must start with 'https://' when spec.type is a AWSCodeCommit provider"),
                IS(AT("OCIArtifactTag", "oci://a/b", ""), NULL),
                IS(AT("OCIArtifactTag", "oci://a:5000/b/c", ""), NULL),
                IS(AT("GARArtifactTag", "https://a/b", ""),
                   "spec.url must start with 'oci://' when spec.type is an OCI provider"),
                IS(AT("OCIArtifactTag", "oci://a", ""), path),
                IS(AT("OCIArtifactTag", "oci://a/", ""), path),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

/* spec/resource-set.md checklist 106 */
static void credentials_are_given_to_those_who_ask_for_them(void **state)
{
        static const char account[] =
                "cannot specify spec.serviceAccountName when spec.type is not one of AzureDevOps*, "
                "AWSCodeCommit*, *ArtifactTag or ExternalArtifact";
        static const char certs[] =
                "cannot specify spec.certSecretRef when spec.type is one of Static, ExternalArtifact, "
                "AzureDevOps*, AWSCodeCommit*, ACRArtifactTag, ECRArtifactTag or GARArtifactTag";
        static const char secret[] =
                "cannot specify spec.secretRef when spec.type is one of Static, ExternalArtifact, "
                "AWSCodeCommit*, ACRArtifactTag, ECRArtifactTag or GARArtifactTag";
        static const char insecure[] =
                "spec.insecure can only be set when spec.type is 'ExternalService' or 'OCIArtifactTag'";
        static const struct rule_case cases[] = {
                IS(AT("GitHubTag", "https://a/b/c", SECRET CERTS), NULL),
                IS(AT("OCIArtifactTag", "oci://a/b", SECRET CERTS ACCOUNT), NULL),
                IS(AT("AzureDevOpsTag", "https://a/b", SECRET ACCOUNT), NULL),
                IS(AT("ECRArtifactTag", "oci://a/b", ACCOUNT), NULL),
                IS(OF("ExternalArtifact", ACCOUNT ", selectors: [{}]"), NULL),
                IS(OF("Static", ACCOUNT), account),
                IS(AT("GitLabTag", "https://a/b", ACCOUNT), account),
                IS(AT("ExternalService", "https://a", ACCOUNT), account),
                IS(OF("Static", CERTS), certs),
                IS(OF("ExternalArtifact", CERTS ", selectors: [{}]"), certs),
                IS(AT("AzureDevOpsBranch", "https://a/b", CERTS), certs),
                IS(AT("AWSCodeCommitBranch", "https://a/b", CERTS), certs),
                IS(AT("ACRArtifactTag", "oci://a/b", CERTS), certs),
                IS(AT("GARArtifactTag", "oci://a/b", CERTS), certs),
                IS(OF("Static", SECRET), secret),
                IS(AT("AWSCodeCommitBranch", "https://a/b", SECRET), secret),
                IS(AT("ECRArtifactTag", "oci://a/b", SECRET), secret),
                IS(AT("GitHubTag", "https://a/b", ", insecure: true"), insecure),
                IS(AT("GitHubTag", "https://a/b", ", insecure: false"), NULL),
                IS(AT("OCIArtifactTag", "oci://a/b", ", insecure: true"), NULL),
                IS(AT("ExternalService", "http://a", ", insecure: true"), NULL),
                IS(AT("ExternalService", "http://a", ""),
                   "spec.url must use 'https://' unless spec.insecure is true"),
                IS(AT("GitHubTag", "https://a/b", ", secretRef: {}"), "secretRef.name: Required"),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

/* spec/resource-set.md checklist 106 */
static void selectors_are_of_artifacts(void **state)
{
        static const char mixed[] = "name is mutually exclusive with matchLabels and matchExpressions";
        static const struct rule_case cases[] = {
                IS(OF("ExternalArtifact", ", selectors: [{name: a, namespace: '*'}]"), NULL),
                IS(OF("ExternalArtifact", ", selectors: [{matchLabels: {a: b}}]"), NULL),
                IS(OF("ExternalArtifact", ", selectors: [{name: a, matchLabels: {a: b}}]"), mixed),
                IS(OF("ExternalArtifact", ", selectors: [{name: a, matchExpressions: []}]"), mixed),
                IS(OF("ExternalArtifact", ""),
                   "spec.selectors must be set when spec.type is 'ExternalArtifact'"),
                IS(OF("Static", ", selectors: [{}]"),
                   "spec.selectors must not be set when spec.type is not 'ExternalArtifact'"),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

static void filters_and_schedules_have_bounds(void **state)
{
        static const struct rule_case cases[] = {
                IS(OF("Static", ", filter: {limit: 10000}"), NULL),
                IS(OF("Static", ", filter: {limit: 0}"), NULL),
                IS(OF("Static", ", filter: {limit: 10001}"), "less than or equal to 10000"),
                IS(OF("Static", ", schedule: [{cron: '@daily'}]"), NULL),
                IS(OF("Static", ", schedule: [{timeZone: UTC}]"), "cron: Required"),
                IS(OF("Dynamic", ""), "supported values: \"Static\""),
                IS("{spec: {}}", "spec.type: Required"),
        };
        struct suite *s = suite_new();
        const struct schema *schema = schema_of(s, cases[0].name, "v1");
        AUTO_JSON json_t *doc = defaulted(schema, OF("Static", ", filter: {}, schedule: [{cron: x}]"));
        const json_t *schedule = json_array_get(doc_get_array(doc, "spec.schedule"), 0);

        check_cases(cases, ARRAY_LEN(cases));
        assert_int_equal(doc_get_int(doc, "spec.filter.limit", 0), 100);
        assert_string_equal(doc_get_string(schedule, "timeZone"), "UTC");
        assert_string_equal(doc_get_string(schedule, "window"), "0s");
        suite_free(s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_address_belongs_to_the_type),
                cmocka_unit_test(credentials_are_given_to_those_who_ask_for_them),
                cmocka_unit_test(selectors_are_of_artifacts),
                cmocka_unit_test(filters_and_schedules_have_bounds),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
