#include "hub-agent/webhook/webhook_test.h"

#define CRO_PATH PLACEMENT_PATH("validate", "clusterresourceoverride")
#define RO_PATH PLACEMENT_PATH("validate", "resourceoverride")

#define ROLE(name, more)                                                                                     \
        "{\"group\":\"rbac.authorization.k8s.io\",\"version\":\"v1\",\"kind\":\"ClusterRole\"" name more "}"
#define NAMED(name) ",\"name\":\"" name "\""
#define ADD_LABEL "{\"op\":\"add\",\"path\":\"/metadata/labels/a\",\"value\":\"b\"}"
#define POLICY(rules) "\"policy\":{\"overrideRules\":[" rules "]}"
#define RULE(more, patches) "{\"overrideType\":\"JSONPatch\"" more ",\"jsonPatchOverrides\":[" patches "]}"
#define CRO(name, selectors, rules)                                                                          \
        "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"clusterResourceSelectors\":[" selectors           \
        "]," POLICY(rules) "}}"
#define TARGET(name) "{\"group\":\"\",\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"" name "\"}"
#define RO(ns, name, selectors, rules)                                                                       \
        "{\"metadata\":{\"namespace\":\"" ns "\",\"name\":\"" name                                           \
        "\"},\"spec\":{\"resourceSelectors\":[" selectors "]," POLICY(rules) "}}"
#define FINE RULE("", ADD_LABEL)
#define ROLE_TEXT(name, labels)                                                                              \
        "{Group:rbac.authorization.k8s.io Version:v1 Kind:ClusterRole Name:" name " LabelSelector:" labels   \
        " SelectionScope:}"

struct row {
        const char *object, *says; /* NULL: let in */
};

static void check(const char *path, const struct row *rows, size_t n)
{
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < n; i++) {
                if (ask(h, &(struct question){ path, .object = rows[i].object }) != !rows[i].says)
                        fail_msg("%s: %s", rows[i].object, h->message);
                if (!rows[i].says)
                        continue;
                assert_int_equal(h->code, 403);
                if (!text_equal(h->message, rows[i].says))
                        fail_msg("%s: wanted \"%s\", got \"%s\"", rows[i].object, rows[i].says, h->message);
        }
}

static void an_override_names_each_of_its_resources_once(void **state)
{
        static const struct row cluster[] = {
                { CRO("o", ROLE(NAMED("a"), ""), FINE), NULL },
                { CRO("o", ROLE(NAMED("a"), "") "," ROLE(NAMED("b"), ""), FINE), NULL },
                { CRO("o", ROLE(NAMED("a"), "") "," ROLE(NAMED("a"), ""), FINE),
                  "resource selector " ROLE_TEXT("a", "nil") " already exists, and must be unique" },
                { CRO("o", ROLE("", ""), FINE),
                  "resource name is required for resource selection " ROLE_TEXT("", "nil") },
                { CRO("o", ROLE("", ",\"labelSelector\":{}"), FINE),
                  "label selector is not supported for resource selection "
                  "{Group:rbac.authorization.k8s.io Version:v1 Kind:ClusterRole Name: "
                  "LabelSelector:&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]"
                  "LabelSelectorRequirement{},} SelectionScope:}" },
                /* with these nothing more is looked at */
                { CRO("o", ROLE("", "") "," ROLE(NAMED("a"), "") "," ROLE(NAMED("a"), ""), RULE("", "")),
                  "[resource name is required for resource selection " ROLE_TEXT(
                          "", "nil") ", resource selector " ROLE_TEXT("a", "nil") " already exists, and must "
                                                                                  "be unique]" },
        };
        static const struct row own[] = {
                { RO("app", "o", TARGET("a") "," TARGET("b"), FINE), NULL },
                { RO("app", "o", TARGET("a") "," TARGET("a"), FINE),
                  "resource selector {Group: Version:v1 Kind:ConfigMap Name:a} already exists, and must be "
                  "unique" },
        };

        check(CRO_PATH, cluster, ARRAY_LEN(cluster));
        check(RO_PATH, own, ARRAY_LEN(own));
}

static void put_other(struct hub *h, size_t i, const char *text)
{
        h->overrides[i] = arena_strdup(&h->arena, text);
        assert_non_null(h->overrides[i]);
}

/* spec/membership-webhooks-charts.md checklist 30 */
static void no_two_overrides_are_for_one_resource(void **state)
{
        AUTO_HUB struct hub *h = hub_new();

        put_other(h, 0, CRO("first", ROLE(NAMED("a"), "") "," ROLE(NAMED("b"), ""), FINE));
        assert_false(
                ask(h, &(struct question){ CRO_PATH, .object = CRO("mine", ROLE(NAMED("b"), ""), FINE) }));
        assert_string_equal(
                h->message,
                "invalid resource selector " ROLE_TEXT(
                        "b", "nil") ": the resource has "
                                    "been selected by both mine and first, which is not supported");
        assert_true(
                ask(h, &(struct question){ CRO_PATH, .object = CRO("mine", ROLE(NAMED("c"), ""), FINE) }));
        /* itself is not another */
        assert_true(ask(h, &(struct question){ CRO_PATH, "UPDATE", .old = CRO("first", "", ""),
                                               .object = CRO("first", ROLE(NAMED("a"), ""), FINE) }));
        /* its faults are told along with those of the rules */
        assert_false(ask(h, &(struct question){ CRO_PATH,
                                                .object = CRO("mine", ROLE(NAMED("b"), ""), RULE("", "")) }));
        assert_says(h, "[invalid resource selector ");
        assert_says(h, ", invalid JSONPatchOverrides: JSONPatchOverrides cannot be empty]");
}

static void overrides_of_other_namespaces_do_not_count(void **state)
{
        AUTO_HUB struct hub *h = hub_new();

        put_other(h, 0, RO("app", "first", TARGET("a"), FINE));
        assert_false(ask(h, &(struct question){ RO_PATH, .object = RO("app", "mine", TARGET("a"), FINE) }));
        assert_says(h, "{Group: Version:v1 Kind:ConfigMap Name:a}: the resource has been selected by both "
                       "mine and first");
        assert_true(ask(h, &(struct question){ RO_PATH, .object = RO("shop", "mine", TARGET("a"), FINE) }));
}

/* spec/membership-webhooks-charts.md checklist 29 */
static void there_are_a_hundred_overrides_at_most(void **state)
{
        static const char mine[] = RO("app", "mine", TARGET("mine"), FINE),
                          cluster[] = CRO("mine", ROLE(NAMED("mine"), ""), FINE);
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < 100; i++) {
                char name[256];

                assert_true(ask(h, &(struct question){ RO_PATH, .object = mine }));
                snprintf(name, sizeof(name),
                         "{\"metadata\":{\"namespace\":\"app\",\"name\":\"o%zu\"},\"spec\":{\"policy\":{"
                         "\"overrideRules\":[]}}}",
                         i);
                put_other(h, i, name);
        }
        assert_false(ask(h, &(struct question){ RO_PATH, .object = mine }));
        assert_string_equal(h->message,
                            "resourceOverride limit has been reached: at most 100 resources can be created.");
        assert_true(ask(h, &(struct question){ RO_PATH, "UPDATE", .object = mine }));
        assert_true(ask(h, &(struct question){ RO_PATH, .object = RO("shop", "o", TARGET("a"), FINE) }));

        for (size_t i = 0; i < 100; i++)
                put_other(h, i, "{\"metadata\":{\"name\":\"other\"},\"spec\":{}}");
        assert_false(ask(h, &(struct question){ CRO_PATH, .object = cluster }));
        assert_string_equal(h->message, "clusterResourceOverride limit has been reached: at most 100 cluster "
                                        "resources can be created.");
        assert_true(ask(h, &(struct question){ CRO_PATH, "UPDATE", .object = cluster }));
}

static void overrides_that_cannot_be_read_are_an_error(void **state)
{
        AUTO_HUB struct hub *h = hub_new();

        h->list_fails = "no answer";
        assert_false(ask(h, &(struct question){ CRO_PATH, .object = CRO("o", ROLE(NAMED("a"), ""), FINE) }));
        assert_int_equal(h->code, 400);
        assert_string_equal(h->message,
                            "failed to list clusterResourceOverrides, please retry the request: no answer");
        assert_false(ask(h, &(struct question){ RO_PATH, .object = RO("app", "o", TARGET("a"), FINE) }));
        assert_int_equal(h->code, 500);
}

/* The agents' finalizers come and go whatever the spec, and without a look at the others. */
static void an_update_that_keeps_the_spec_is_let_in(void **state)
{
        static const char bad[] = CRO("o", ROLE("", ""), "");
        AUTO_HUB struct hub *h = hub_new();

        h->list_fails = "no answer";
        assert_true(ask(h, &(struct question){ CRO_PATH, "UPDATE", .old = bad, .object = bad }));
        assert_false(ask(h, &(struct question){ CRO_PATH, "CREATE", .object = bad }));
        assert_false(ask(h, &(struct question){ CRO_PATH, "UPDATE", .object = bad, .old = "{\"spec\":{}}" }));
        assert_true(ask(h, &(struct question){ CRO_PATH, "DELETE", .old = bad }));
}

#define ONE(patch) RO("app", "o", TARGET("a"), RULE("", patch))
#define PATCH(op, path, value) "{\"op\":\"" op "\",\"path\":\"" path "\"" value "}"
#define TO_B ",\"value\":\"b\""
#define BAD(what) "invalid JSONPatchOverride {" what

/* spec/membership-webhooks-charts.md checklist 31 */
static void paths_that_make_another_object_are_refused(void **state)
{
        static const struct row rows[] = {
                { ONE(PATCH("replace", "/kind", TO_B)),
                  BAD("replace /kind {\"b\"}}: cannot override typeMeta fields") },
                { ONE(PATCH("replace", "/apiVersion", TO_B)),
                  BAD("replace /apiVersion {\"b\"}}: cannot override typeMeta fields") },
                { ONE(PATCH("add", "/metadata", TO_B)),
                  BAD("add /metadata {\"b\"}}: cannot override field metadata") },
                { ONE(PATCH("add", "/metadata/name", TO_B)),
                  BAD("add /metadata/name {\"b\"}}: cannot override metadata fields except annotations and "
                      "labels") },
                { ONE(PATCH("add", "/status/x", TO_B)),
                  BAD("add /status/x {\"b\"}}: cannot override status fields") },
                { ONE(PATCH("add", "/a//b", TO_B)),
                  BAD("add /a//b {\"b\"}}: path cannot contain empty string") },
                { ONE(PATCH("add", "/a/", TO_B)), BAD("add /a/ {\"b\"}}: path cannot contain empty string") },
                { ONE(PATCH("add", "a", TO_B)), BAD("add a {\"b\"}}: path must start with /") },
                { ONE(PATCH("add", "", TO_B)), BAD("add  {\"b\"}}: path cannot be empty") },
                { ONE(PATCH("remove", "/a", TO_B)),
                  BAD("remove /a {\"b\"}}: remove operation cannot have value") },
                { ONE(PATCH("remove", "/a", "")), NULL },
                { ONE(PATCH("add", "/metadata/annotations/a", TO_B)), NULL },
                { ONE(""), "invalid JSONPatchOverrides: JSONPatchOverrides cannot be empty" },
        };

        check(RO_PATH, rows, ARRAY_LEN(rows));
}

#define TERMS(term) ",\"clusterSelector\":{\"clusterSelectorTerms\":[" term "]}"
#define WITH_TERM(term) RO("app", "o", TARGET("a"), RULE(TERMS(term), ADD_LABEL))
#define DELETING(more) "{\"overrideType\":\"Delete\"" more "}"

static void rules_that_cannot_be_meant_are_refused(void **state)
{
        static const struct row rows[] = {
                { WITH_TERM(""), NULL },
                { WITH_TERM("{\"labelSelector\":{\"matchLabels\":{\"a\":\"b\"}}}"), NULL },
                { WITH_TERM("{}"),
                  "invalid clusterSelector {LabelSelector:nil PropertySelector:nil PropertySorter:nil}: "
                  "labelSelector is required" },
                { WITH_TERM(
                          "{\"labelSelector\":{},\"propertySelector\":{\"matchExpressions\":[{\"name\":\"p\","
                          "\"operator\":\"Gt\",\"values\":[\"1\"]}]}}"),
                  "invalid clusterSelector {LabelSelector:&LabelSelector{MatchLabels:map[string]string{},"
                  "MatchExpressions:[]LabelSelectorRequirement{},} "
                  "PropertySelector:{MatchExpressions:[{Name:p "
                  "Operator:Gt Values:[1]}]} PropertySorter:nil}: only labelSelector is supported" },
                { WITH_TERM("{\"propertySorter\":{\"name\":\"p\",\"sortOrder\":\"Ascending\"}}"),
                  "invalid clusterSelector {LabelSelector:nil PropertySelector:nil PropertySorter:{Name:p "
                  "SortOrder:Ascending}}: only labelSelector is supported" },
                { WITH_TERM(
                          "{\"labelSelector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}}"),
                  "the labelSelector in cluster selector &LabelSelector{MatchLabels:map[string]string{},"
                  "MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:a,Operator:In,"
                  "Values:[],},},} is invalid: values: Invalid value: []string(nil): for 'in', 'notin' "
                  "operators, values set can't be empty" },
                { RO("app", "o", TARGET("a"), DELETING("")), NULL },
                { RO("app", "o", TARGET("a"),
                     RULE("", "") "," DELETING(",\"jsonPatchOverrides\":[" ADD_LABEL "]")),
                  "invalid JSONPatchOverrides: JSONPatchOverrides cannot be set when the override type is "
                  "Delete" },
                { RO("app", "o", TARGET("a"), "{}"),
                  NULL }, /* without a type, as the definition never lets it */
        };

        check(RO_PATH, rows, ARRAY_LEN(rows));
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_override_names_each_of_its_resources_once),
                cmocka_unit_test(no_two_overrides_are_for_one_resource),
                cmocka_unit_test(overrides_of_other_namespaces_do_not_count),
                cmocka_unit_test(there_are_a_hundred_overrides_at_most),
                cmocka_unit_test(overrides_that_cannot_be_read_are_an_error),
                cmocka_unit_test(an_update_that_keeps_the_spec_is_let_in),
                cmocka_unit_test(paths_that_make_another_object_are_refused),
                cmocka_unit_test(rules_that_cannot_be_meant_are_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
