#include "hub-agent/resource-set/dependencies.h"

#include "hub-agent/resource-set/testing.h"

static const char *judge(struct arena *arena, const char *dependency, const char *live, bool hidden)
{
        struct error err = { 0 };
        struct dependency *d;
        const struct resource_set *set =
                set_of(arena, arena_printf(arena, "{spec: {dependsOn: [%s]}}", dependency));

        if (dependencies_compile(arena, set, &d, &err) < 0)
                fail_msg("%s: %s", dependency, err.text);
        return dependency_judge(arena, &d[0], yaml_of(arena, live), hidden, 0);
}

#define CRD "apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, name: x.y"
#define SECRET "apiVersion: v1, kind: Secret, name: my-gate, namespace: dev, ready: true, readyExpr: "
#define GATE SECRET "\"string(base64.decode(data.gate)) == 'opened'\""
#define CLUSTER                                                                                              \
        "apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, name: c, namespace: dev, ready: true, "        \
        "readyExpr: "                                                                                        \
        "'metadata.generation == status.observedGeneration && status.controlPlaneReady == true'"
#define OURS "apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSet, name: a, namespace: b, ready: true"
#define LIVE_OURS(conditions)                                                                                \
        "{apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSet, metadata: {generation: 2}, status: "     \
        "{" conditions "}}"

/* spec/resource-set.md checklist 59 */
static void a_dependency_is_there_ready_or_as_an_expression_says(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_null(judge(&arena, "{" CRD "}", "{kind: CustomResourceDefinition}", false));
        assert_string_equal(
                judge(&arena, "{" CRD ", ready: true}",
                      "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}", false),
                "dependency apiextensions.k8s.io/v1/CustomResourceDefinition/x.y not ready: status "
                "InProgress");
        assert_null(judge(&arena, "{" CRD ", ready: true}",
                          "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, status: "
                          "{conditions: [{type: Established, status: 'True'}]}}",
                          false));
        assert_string_equal(
                judge(&arena, "{" OURS "}",
                      LIVE_OURS("conditions: [{type: Ready, status: 'True', observedGeneration: 1}]"), false),
                "dependency fluxcd.controlplane.io/v1/ResourceSet/b/a not ready");
        assert_null(judge(&arena, "{" OURS "}",
                          LIVE_OURS("conditions: [{type: Ready, status: 'True', observedGeneration: 2}]"),
                          false));
        assert_null(judge(&arena, "{" OURS "}", LIVE_OURS("conditions: []"), false));
        assert_non_null(judge(&arena, "{" OURS "}", LIVE_OURS(""), false));
        assert_null(judge(&arena, "{apiVersion: batch/v1, kind: Job, name: a, ready: true}",
                          "{apiVersion: batch/v1, kind: Job, status: {startTime: x}}", false));
}

/* spec/resource-set.md checklist 61 */
static void the_expressions_of_the_documentation_work(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_null(
                judge(&arena, "{" CLUSTER "}",
                      "{metadata: {generation: 2}, status: {observedGeneration: 2, controlPlaneReady: true}}",
                      false));
        assert_true(text_starts_with(
                judge(&arena, "{" CLUSTER "}",
                      "{metadata: {generation: 2}, status: {observedGeneration: 1, controlPlaneReady: true}}",
                      false),
                "dependency cluster.x-k8s.io/v1beta1/Cluster/dev/c not ready: expression "
                "'metadata.generation"));
        assert_true(text_starts_with(judge(&arena, "{" CLUSTER "}", "{metadata: {generation: 2}}", false),
                                     "failed to evaluate the CEL expression 'metadata.generation"));
        assert_null(judge(&arena, "{" GATE "}", "{kind: Secret, data: {gate: b3BlbmVk}}", false));
        assert_non_null(judge(&arena, "{" GATE "}", "{kind: Secret, data: {gate: c2h1dA==}}", false));
        assert_string_equal(
                judge(&arena, "{" SECRET "\"data.gate\"}", "{kind: Secret, data: {gate: a}}", false),
                "failed to evaluate CEL expression as boolean: 'data.gate'");
}

/* spec/resource-set.md checklist 64 */
static void what_is_hidden_is_not_there_for_an_expression(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_non_null(judge(&arena, "{" GATE "}", "{kind: Secret, data: {gate: b3BlbmVk}}", true));
        assert_null(judge(&arena,
                          "{" SECRET "\"!has(metadata.annotations) || size(metadata.annotations) == 0\"}",
                          "{kind: Secret, metadata: {annotations: "
                          "{kubectl.kubernetes.io/last-applied-configuration: x}}}",
                          false));
}

/* spec/resource-set.md checklist 62, 63 */
static void a_malformed_expression_counts_only_where_it_is_used(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };
        struct dependency *d;

        assert_int_equal(dependencies_compile(
                                 &arena,
                                 set_of(&arena, "{spec: {dependsOn: [{apiVersion: v1, kind: Secret, name: a, "
                                                "readyExpr: 'status.('}]}}"),
                                 &d, &err),
                         0);
        assert_null(d[0].program);
        assert_int_equal(dependencies_compile(
                                 &arena,
                                 set_of(&arena, "{spec: {dependsOn: [{apiVersion: v1, kind: Secret, name: a, "
                                                "namespace: b, ready: true, readyExpr: 'status.('}]}}"),
                                 &d, &err),
                         ERR_INVALID);
        assert_true(text_starts_with(err.text,
                                     "failed to parse expression for dependency v1/Secret/b/a: failed "
                                     "to parse the CEL expression 'status.(': "));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_dependency_is_there_ready_or_as_an_expression_says),
                cmocka_unit_test(the_expressions_of_the_documentation_work),
                cmocka_unit_test(what_is_hidden_is_not_there_for_an_expression),
                cmocka_unit_test(a_malformed_expression_counts_only_where_it_is_used),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
