/* The definitions of charts and their sources against spec/helm-chart.md 2, by the same validation the API
 * server has. */
#include "proto/crd_test.h"

#define GROUP ".source.toolkit.fluxcd.io"
#define CHARTS "helmcharts" GROUP
#define REPOSITORIES "helmrepositories" GROUP
#define GIT "gitrepositories" GROUP
#define BUCKETS "buckets" GROUP
#define CHART(more)                                                                                          \
        "{spec: {chart: podinfo, interval: 5m0s, sourceRef: {kind: HelmRepository, name: podinfo}" more "}}"
#define FROM_GIT(more)                                                                                       \
        "{spec: {chart: ./podinfo, interval: 1m, sourceRef: {kind: GitRepository, name: podinfo}" more "}}"
#define REPOSITORY(url, more) "{spec: {url: '" url "'" more "}}"
#define GIT_AT(url, more) "{spec: {url: '" url "', interval: 1m" more "}}"
#define BUCKET(more) "{spec: {bucketName: a, endpoint: s3.example, interval: 1m" more "}}"
#define IS(name, text, problem)                                                                              \
        {                                                                                                    \
                name, "v1", NULL, text, problem                                                              \
        }

#define READY ".status.conditions[?(@.type==\"Ready\")].status"
#define STATUS ".status.conditions[?(@.type==\"Ready\")].message"
#define AGE ".metadata.creationTimestamp"

/* spec/helm-chart.md checklist 1 */
static void kubectl_shows_where_each_is_from_and_how_it_is(void **state)
{
        static const struct {
                const char *crd, *short_name, *columns[8];
        } rows[] = {
                { CHARTS,
                  "hc",
                  { ".spec.chart", ".spec.version", ".spec.sourceRef.kind", ".spec.sourceRef.name", AGE,
                    READY, STATUS } },
                { REPOSITORIES, "helmrepo", { ".spec.url", AGE, READY, STATUS } },
                { GIT, "gitrepo", { ".spec.url", AGE, READY, STATUS } },
                { BUCKETS, NULL, { ".spec.endpoint", AGE, READY, STATUS } },
        };
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_JSON json_t *crd = crd_named(rows[i].crd);
                const json_t *versions = doc_get_array(crd, "spec.versions");
                size_t v, c;
                json_t *version;

                assert_int_equal(json_array_size(versions), 2);
                assert_string_equal(doc_get_string(crd, "spec.scope"), "Namespaced");
                assert_string_equal(
                        json_string_value(json_array_get(doc_get(crd, "spec.names.categories"), 2)),
                        "fluxcd-sources");
                assert_string_equal(
                        or_empty(json_string_value(json_array_get(doc_get(crd, "spec.names.shortNames"), 0))),
                        or_empty(rows[i].short_name));
                json_array_foreach((json_t *)versions, v, version) {
                        const json_t *columns = doc_get_array(version, "additionalPrinterColumns");

                        assert_string_equal(doc_get_string(version, "name"), v ? "v1beta2" : "v1");
                        assert_int_equal(json_is_true(doc_get(version, "storage")), v == 0);
                        assert_true(json_is_true(doc_get(version, "served")));
                        assert_non_null(doc_get(version, "subresources.status"));
                        for (c = 0; rows[i].columns[c]; c++)
                                assert_string_equal(doc_get_string(json_array_get(columns, c), "jsonPath"),
                                                    rows[i].columns[c]);
                        assert_int_equal(json_array_size(columns), c);
                }
        }
}

/* spec/helm-chart.md checklist 2 */
static void what_is_missing_or_of_no_kind_is_refused(void **state)
{
        static const struct rule_case cases[] = {
                IS(CHARTS, CHART(""), NULL),
                IS(CHARTS, FROM_GIT(", reconcileStrategy: Revision, valuesFiles: [a.yaml]"), NULL),
                IS(CHARTS, "{spec: {interval: 5m, sourceRef: {kind: Bucket, name: a}}}", "spec.chart"),
                IS(CHARTS, "{spec: {chart: a, sourceRef: {kind: Bucket, name: a}}}", "spec.interval"),
                IS(CHARTS, "{spec: {chart: a, interval: 5m}}", "spec.sourceRef"),
                IS(CHARTS, "{spec: {chart: a, interval: 5m, sourceRef: {kind: Bucket}}}",
                   "spec.sourceRef.name"),
                IS(CHARTS, "{spec: {chart: a, interval: 5m, sourceRef: {kind: OCIRepository, name: a}}}",
                   "spec.sourceRef.kind"),
                IS(CHARTS, CHART(", reconcileStrategy: Always"), "spec.reconcileStrategy"),
                IS(CHARTS, "{spec: {chart: a, interval: 5 m, sourceRef: {kind: Bucket, name: a}}}",
                   "spec.interval"),
                IS(CHARTS, CHART(", verify: {provider: gpg}"), "spec.verify.provider"),
                IS(CHARTS, CHART(", verify: {matchOIDCIdentity: [{issuer: a}]}"), "subject"),
                IS(CHARTS, CHART(", verify: {matchOIDCIdentity: [{subject: a}]}"), "issuer"),
                IS(REPOSITORIES, REPOSITORY("https://a.example", ", interval: 1h30m, timeout: 1m30s"), NULL),
                IS(REPOSITORIES, REPOSITORY("oci://a.example/b", ", type: oci, provider: aws"), NULL),
                IS(REPOSITORIES, REPOSITORY("ftp://a.example", ""), "spec.url"),
                IS(REPOSITORIES, REPOSITORY("http://a", ", type: git"), "spec.type"),
                IS(REPOSITORIES, REPOSITORY("http://a", ", timeout: 1h"), "spec.timeout"),
                IS(REPOSITORIES, REPOSITORY("http://a", ", provider: github"), "spec.provider"),
                IS(REPOSITORIES, "{spec: {interval: 1m}}", "spec.url"),
                IS(GIT,
                   GIT_AT("ssh://git@a.example/b", ", ref: {branch: main}, verify: {secretRef: {name: a}}"),
                   NULL),
                IS(GIT, GIT_AT("git@a.example:b", ""), "spec.url"),
                IS(GIT, GIT_AT("https://a", ", verify: {mode: HEAD}"), "secretRef"),
                IS(GIT, GIT_AT("https://a", ", verify: {mode: all, secretRef: {name: a}}"),
                   "spec.verify.mode"),
                IS(GIT, "{spec: {url: 'https://a'}}", "spec.interval"),
                IS(BUCKETS, BUCKET(""), NULL),
                IS(BUCKETS, BUCKET(", provider: minio"), "spec.provider"),
                IS(BUCKETS, "{spec: {endpoint: a, interval: 1m}}", "spec.bucketName"),
                IS(BUCKETS, "{spec: {bucketName: a, interval: 1m}}", "spec.endpoint"),
                IS(BUCKETS, "{spec: {bucketName: a, endpoint: a}}", "spec.interval"),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

static const char *defaulted_text(struct suite *s, const char *crd, const char *text, const char *path)
{
        AUTO_JSON json_t *doc = defaulted(schema_of(s, crd, "v1"), text);

        return arena_strdup(&s->arena, or_empty(doc_get_string(doc, path)));
}

/* spec/helm-chart.md checklist 2, 4 */
static void what_is_left_out_has_its_default(void **state)
{
        static const char *const kinds[] = { CHARTS, REPOSITORIES, GIT, BUCKETS };
        struct suite *s = suite_new();

        assert_string_equal(defaulted_text(s, CHARTS, CHART(""), "spec.version"), "*");
        assert_string_equal(defaulted_text(s, CHARTS, CHART(""), "spec.reconcileStrategy"), "ChartVersion");
        assert_string_equal(defaulted_text(s, CHARTS, CHART(", verify: {}"), "spec.verify.provider"),
                            "cosign");
        assert_string_equal(defaulted_text(s, REPOSITORIES, REPOSITORY("http://a", ""), "spec.timeout"),
                            "60s");
        assert_string_equal(defaulted_text(s, REPOSITORIES, REPOSITORY("http://a", ""), "spec.provider"),
                            "generic");
        assert_string_equal(defaulted_text(s, GIT, GIT_AT("http://a", ""), "spec.timeout"), "60s");
        assert_string_equal(defaulted_text(s, BUCKETS, BUCKET(""), "spec.provider"), "generic");
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
                AUTO_JSON json_t *doc = defaulted(schema_of(s, kinds[i], "v1"), "{spec: {}}");

                assert_int_equal(json_integer_value(doc_get(doc, "status.observedGeneration")), -1);
        }
        suite_free(s);
}

/* spec/helm-chart.md checklist 3 */
static void signatures_are_looked_for_in_repositories_only(void **state)
{
        static const char only[] =
                "spec.verify is only supported when spec.sourceRef.kind is 'HelmRepository'";
        static const struct rule_case cases[] = {
                IS(CHARTS, CHART(", verify: {provider: cosign, secretRef: {name: a}}"), NULL),
                IS(CHARTS, FROM_GIT(", verify: {provider: cosign}"), only),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(kubectl_shows_where_each_is_from_and_how_it_is),
                cmocka_unit_test(what_is_missing_or_of_no_kind_is_refused),
                cmocka_unit_test(what_is_left_out_has_its_default),
                cmocka_unit_test(signatures_are_looked_for_in_repositories_only),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
