/* The definition of ResourceSets against spec/resource-set.md 2, by the same validation the API server has.
 */
#include "proto/crd_test.h"

#define SETS "resourcesets.fluxcd.controlplane.io"
#define SET(more) "{spec: {resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]" more "}}"
#define STEPS(steps) "{spec: {steps: [" steps "]}}"
#define STEP(name) "{name: " name ", resourcesTemplate: x}"
#define FROM(fields) SET(", inputsFrom: [{" fields "}]")
#define IS(text, problem)                                                                                    \
        {                                                                                                    \
                SETS, "v1", NULL, text, problem                                                              \
        }

/* spec/resource-set.md checklist 1 */
static void kubectl_shows_age_readiness_and_status(void **state)
{
        static const char *const paths[] = { ".metadata.creationTimestamp",
                                             ".status.conditions[?(@.type==\"Ready\")].status",
                                             ".status.conditions[?(@.type==\"Ready\")].message" };
        static const struct {
                const char *crd, *plural, *short_name, *category;
        } rows[] = {
                { SETS, "resourcesets", "rset", "fluxcd-appliers" },
                { "resourcesetinputproviders.fluxcd.controlplane.io", "resourcesetinputproviders", "rsip",
                  "fluxcd-sources" },
        };
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_JSON json_t *crd = crd_named(rows[i].crd);
                const json_t *version = json_array_get(doc_get_array(crd, "spec.versions"), 0);
                const json_t *columns = doc_get_array(version, "additionalPrinterColumns");

                assert_string_equal(doc_get_string(crd, "spec.names.plural"), rows[i].plural);
                assert_string_equal(doc_get_string(crd, "spec.scope"), "Namespaced");
                assert_string_equal(
                        json_string_value(json_array_get(doc_get(crd, "spec.names.shortNames"), 0)),
                        rows[i].short_name);
                assert_string_equal(
                        json_string_value(json_array_get(doc_get(crd, "spec.names.categories"), 2)),
                        rows[i].category);
                assert_non_null(doc_get(version, "subresources.status"));
                assert_int_equal(json_array_size(columns), ARRAY_LEN(paths));
                for (size_t c = 0; c < ARRAY_LEN(paths); c++)
                        assert_string_equal(doc_get_string(json_array_get(columns, c), "jsonPath"), paths[c]);
        }
}

/* spec/resource-set.md checklist 2, 3 */
static void providers_are_named_in_one_way(void **state)
{
        static const char one[] =
                "at least one of name or selector must be set for input provider references";
        static const char both[] = "cannot set both name and selector for input provider references";
        static const struct rule_case cases[] = {
                IS(FROM("name: a"), NULL),
                IS(FROM("selector: {matchLabels: {a: b}}"), NULL),
                IS(FROM("selector: {}"), NULL),
                IS(FROM("apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSetInputProvider, name: a"),
                   NULL),
                IS(FROM(""), one),
                IS(FROM("kind: ResourceSetInputProvider"), one),
                IS(FROM("name: a, selector: {}"), both),
                IS(FROM("kind: ResourceSetInputsProvider, name: a"),
                   "supported values: \"ResourceSetInputProvider\""),
                IS(FROM("apiVersion: fluxcd.controlplane.io/v2, name: a"),
                   "supported values: \"fluxcd.controlplane.io/v1\""),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

/* spec/resource-set.md checklist 4 */
static void steps_stand_alone_and_have_names_of_their_own(void **state)
{
        static const char letters_63[] = "abcdefghijklmnopqrstuvwxyz0123456789-abcdefghijklmnopqrstuvwxyz";
        static const struct rule_case cases[] = {
                IS(STEPS(STEP("a")), NULL),
                IS(STEPS(STEP("a") ", " STEP("b")), NULL),
                IS(STEPS("{name: a, resources: [], timeout: 1m30.5s}"), NULL),
                IS("{spec: {steps: [" STEP("a") "], resources: []}}",
                   "steps is mutually exclusive with resources and resourcesTemplate"),
                IS("{spec: {steps: [" STEP("a") "], resourcesTemplate: x}}",
                   "steps is mutually exclusive with resources and resourcesTemplate"),
                IS("{spec: {}}", "at least one of steps, resources or resourcesTemplate must be set"),
                IS("{spec: {inputs: [{a: 1}]}}",
                   "at least one of steps, resources or resourcesTemplate must be set"),
                IS("{spec: {resourcesTemplate: ''}}", NULL),
                IS(STEPS(""), "at least 1 items"),
                IS(STEPS(STEP("a") ", " STEP("b") ", " STEP("a")), "step names must be unique"),
                IS(STEPS("{resourcesTemplate: x}"), "name: Required"),
                IS(STEPS("{name: a}"), "at least one of resources or resourcesTemplate must be set"),
                IS(STEPS(STEP("Upper")), "should match"),
                IS(STEPS(STEP("-a")), "should match"),
                IS(STEPS(STEP("a-")), "should match"),
                IS(STEPS("{name: a, resourcesTemplate: x, timeout: 5}"), "must be of type string"),
                IS(STEPS("{name: a, resourcesTemplate: x, timeout: 5d}"), "should match"),
        };
        struct suite *s = suite_new();
        const char *many = "";

        check_cases(cases, ARRAY_LEN(cases));
        for (int i = 0; i < 20; i++)
                many = arena_printf(&s->arena, "%s{name: s%d, resourcesTemplate: x}, ", many, i);
        assert_string_equal(
                problems_of(s, SETS, "v1", NULL, arena_printf(&s->arena, "{spec: {steps: [%s]}}", many)), "");
        many = arena_printf(&s->arena, "{spec: {steps: [%s" STEP("a") "]}}", many);
        assert_non_null(strstr(problems_of(s, SETS, "v1", NULL, many), "at most 20 items"));
        assert_string_equal(
                problems_of(
                        s, SETS, "v1", NULL,
                        arena_printf(&s->arena, "{spec: {steps: [{name: %s, resources: []}]}}", letters_63)),
                "");
        assert_non_null(
                strstr(problems_of(s, SETS, "v1", NULL,
                                   arena_printf(&s->arena, "{spec: {steps: [{name: %sa, resources: []}]}}",
                                                letters_63)),
                       "may not be more than 63"));
        suite_free(s);
}

static void inputs_are_objects_with_any_values(void **state)
{
        static const struct rule_case cases[] = {
                IS(SET(", inputs: [{a: 1, b: [1, {c: 2.5}], d: null, e: {f: true}}]"), NULL),
                IS(SET(", inputs: [a]"), "must be of type object"),
                IS("{spec: {resources: [a]}}", "must be of type object"),
                IS(SET(", inputStrategy: {name: Flatten}"), NULL),
                IS(SET(", inputStrategy: {name: Permute, includeEmptyProviders: true}"), NULL),
                IS(SET(", inputStrategy: {name: Merge}"), "supported values: \"Flatten\", \"Permute\""),
                IS(SET(", inputStrategy: {}"), "name: Required"),
                IS(SET(", inputStrategy: {name: Flatten, includeEmptyProviders: true}"),
                   "includeEmptyProviders only applies when name is Permute"),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

static void a_dependency_names_an_object(void **state)
{
        static const struct rule_case cases[] = {
                IS(SET(", dependsOn: [{apiVersion: v1, kind: Secret, name: a}]"), NULL),
                IS(SET(", dependsOn: [{apiVersion: v1, kind: Secret, name: a, namespace: b, ready: true, "
                       "readyExpr: 'status.('}]"),
                   NULL),
                IS(SET(", dependsOn: [{kind: Secret, name: a}]"), "apiVersion: Required"),
                IS(SET(", dependsOn: [{apiVersion: v1, name: a}]"), "kind: Required"),
                IS(SET(", dependsOn: [{apiVersion: v1, kind: Secret}]"), "name: Required"),
                IS(SET(", commonMetadata: {labels: {a: 1}}"), "must be of type string"),
                IS(SET(", wait: true, serviceAccountName: a"), NULL),
        };
        check_cases(cases, ARRAY_LEN(cases));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(kubectl_shows_age_readiness_and_status),
                cmocka_unit_test(providers_are_named_in_one_way),
                cmocka_unit_test(steps_stand_alone_and_have_names_of_their_own),
                cmocka_unit_test(inputs_are_objects_with_any_values),
                cmocka_unit_test(a_dependency_names_an_object),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
