#include "hub-agent/resource-set/testing.h"

#define MAP(name, data)                                                                                      \
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: " name ", namespace: default}, data: " data "}"
#define TWO "inputs: [{id: '1', tenant: team1}, {id: '2', tenant: team2}], "

static const char *data_of(struct arena *arena, const char *inputs, const char *value)
{
        const char *text = arena_printf(
                arena,
                "spec:\n  inputs: %s\n  resources:\n  - apiVersion: v1\n    kind: ConfigMap\n    metadata:\n"
                "      name: a\n    data: {v: %s}\n",
                inputs, value);

        return json_of(arena, doc_get(build_of(arena, text)->at[0].doc, "data.v"));
}

static const char *names(struct arena *arena, const struct build *b)
{
        const char *all = "";

        for (size_t i = 0; i < b->n; i++)
                all = arena_printf(arena, "%s%s%s", all, i ? " " : "", object_words(arena, b->at[i].doc));
        return all;
}

/* spec/resource-set.md checklist 18, 20 */
static void the_output_of_an_action_decides_the_type(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_string_equal(data_of(&arena, "[{n: '2'}]", "<< inputs.n | quote >>"), "\"2\"");
        assert_string_equal(data_of(&arena, "[{n: '2'}]", "<< inputs.n | int >>"), "2");
        assert_string_equal(data_of(&arena, "[{n: '2'}]", "<< inputs.n >>"), "2");
        assert_string_equal(data_of(&arena, "[{n: x}]", "'a: << inputs.n >>'"), "\"a: x\"");
        /* longer than a line */
        assert_string_equal(data_of(&arena, "[{n: x}]",
                                    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb << "
                                    "printf \"ccccccccccc "
                                    "dddddddddddddd eeeeeeeeeeeeeeeee %s\" inputs.n >>'"),
                            "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb ccccccccccc "
                            "dddddddddddddd "
                            "eeeeeeeeeeeeeeeee x\"");
}

/* spec/resource-set.md checklist 19 */
static void a_nested_field_comes_by_to_yaml_and_nindent(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct build *b =
                build_of(&arena, "spec:\n"
                                 "  inputs:\n"
                                 "    - tenant: team1\n"
                                 "      layerSelector: {mediaType: a/b, operation: copy}\n"
                                 "  resources:\n"
                                 "    - apiVersion: source.toolkit.fluxcd.io/v1\n"
                                 "      kind: OCIRepository\n"
                                 "      metadata: {name: << inputs.tenant >>}\n"
                                 "      spec:\n"
                                 "        layerSelector: << inputs.layerSelector | toYaml | nindent 4 >>\n");

        assert_string_equal(json_of(&arena, doc_get(b->at[0].doc, "spec.layerSelector")),
                            "{\"mediaType\":\"a/b\",\"operation\":\"copy\"}");
        assert_string_equal(doc_get_string(b->at[0].doc, "metadata.name"), "team1");
}

/* spec/resource-set.md checklist 47 */
static void objects_come_by_template_then_by_set(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct build *b =
                build_of(&arena, "{spec: {" TWO "resources: [" MAP("a-<< inputs.tenant >>", "{}") ", " MAP(
                                         "b-<< inputs.tenant >>",
                                         "{}") "], resourcesTemplate: "
                                               "\"{apiVersion: v1, kind: ConfigMap, metadata: {name: c-<< "
                                               "inputs.tenant >>}}\"}}");

        assert_string_equal(names(&arena, b),
                            "ConfigMap/default/a-team1 ConfigMap/default/a-team2 ConfigMap/default/b-team1 "
                            "ConfigMap/default/b-team2 ConfigMap/c-team1 ConfigMap/c-team2");
        assert_int_equal(b->n_sets, 2);
        assert_string_equal(b->at[1].set_id, "2");
        assert_string_equal(b->at[1].provider, "ResourceSet/my-rset");
}

/* spec/resource-set.md checklist 47, 48 */
static void an_object_that_says_disabled_is_left_out(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        static const char text[] =
                "spec:\n  %s\n  resources:\n  - apiVersion: v1\n    kind: ServiceAccount\n    metadata:\n"
                "      name: flux\n      namespace: x\n      annotations:\n"
                "        fluxcd.controlplane.io/reconcile: %s\n";

        assert_int_equal(build_of(&arena, arena_printf(&arena, text, "wait: true", "disabled"))->n, 0);
        assert_int_equal(build_of(&arena, arena_printf(&arena, text, "wait: true", "Disabled"))->n, 1);
        assert_int_equal(build_of(&arena, arena_printf(&arena, text, "inputs: [{t: a}, {t: b}]",
                                                       "<< if eq inputs.t \"a\" >>enabled<< else >>disabled"
                                                       "<< end >>"))
                                 ->n,
                         1);
}

/* spec/resource-set.md checklist 49, 50 */
static void an_object_is_made_once_and_the_first_wins(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct build *b = build_of(
                &arena,
                "{spec: {" TWO "resources: [" MAP(
                        "shared", "{by: << inputs.tenant >>}") "], "
                                                               "resourcesTemplate: '" MAP(
                                                                       "shared", "{by: template}") "'}}");

        assert_int_equal(b->n, 1);
        assert_string_equal(doc_get_string(b->at[0].doc, "data.by"), "team1");
        assert_int_equal(b->n_different, 3);
        b = build_of(&arena, "{spec: {resources: [{apiVersion: apps/v1, kind: X, metadata: {name: a}}, "
                             "{apiVersion: apps/v2, kind: X, metadata: {name: a}}, "
                             "{apiVersion: batch/v1, kind: X, metadata: {name: a}}]}}");
        assert_int_equal(b->n, 2);
        b = build_of(&arena, "{spec: {" TWO "resources: [" MAP("same", "{}") "]}}");
        assert_int_equal(b->n_different, 0);
}

/* spec/resource-set.md checklist 51 */
static void an_object_belongs_to_one_step(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct build *b =
                build_of(&arena, "{spec: {steps: [{name: a, resources: [" MAP(
                                         "x", "{}") "]}, "
                                                    "{name: b, resources: [" MAP("y", "{}") "]}]}}");

        assert_int_equal(b->n_steps, 2);
        assert_int_equal(b->at[1].step, 1);
        assert_fails_to_build("{spec: {steps: [{name: a, resources: [" MAP(
                                      "x", "{}") "]}, "
                                                 "{name: b, resources: [" MAP("x", "{}") "]}]}}",
                              "duplicate resource ConfigMap/default/x in step \"b\", already defined in step "
                              "\"a\"");
        assert_fails_to_build(
                "{spec: {steps: [{name: a, resourcesTemplate: '<< nope >>'}]}}",
                "step \"a\": failed to build resources: failed to parse multi-doc YAML template: ");
}

/* spec/resource-set.md checklist 52 */
static void owner_labels_and_common_metadata_win(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct build *b = build_of(
                &arena,
                "{spec: {commonMetadata: {labels: {a: common}, annotations: {b: common}}, resources: ["
                "{apiVersion: v1, kind: X, metadata: {name: a, labels: {a: own, c: own, "
                "resourceset.fluxcd.controlplane.io/name: other}, annotations: {b: own}}}]}}");

        assert_string_equal(json_of(&arena, doc_get(b->at[0].doc, "metadata.labels")),
                            "{\"a\":\"common\",\"c\":\"own\",\"resourceset.fluxcd.controlplane.io/name\":"
                            "\"my-rset\",\"resourceset.fluxcd.controlplane.io/namespace\":\"default\"}");
        assert_string_equal(doc_get_string(b->at[0].doc, "metadata.annotations.b"), "common");
}

/* spec/resource-set.md checklist 53 */
static void status_is_left_out_and_strings_of_secrets_are_data(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct build *b = build_of(
                &arena,
                "{spec: {resources: ["
                "{apiVersion: v1, kind: Pod, metadata: {name: a}, status: {phase: Running}}, "
                "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
                "a}, status: {x: 1}}, "
                "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {k: eA==, l: eQ==}, "
                "stringData: {k: open}}]}}");

        assert_null(doc_get(b->at[0].doc, "status"));
        assert_non_null(doc_get(b->at[1].doc, "status"));
        assert_string_equal(json_of(&arena, doc_get(b->at[2].doc, "data")),
                            "{\"k\":\"b3Blbg==\",\"l\":\"eQ==\"}");
        assert_null(doc_get(b->at[2].doc, "stringData"));
}

/* spec/resource-set.md checklist 21 */
static void documents_that_say_nothing_are_passed_over(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct build *b = build_of(
                &arena, "spec:\n"
                        "  resourcesTemplate: |\n"
                        "    ---\n"
                        "    # nothing\n"
                        "    ---\n"
                        "    null\n"
                        "    ---\n"
                        "    {}\n"
                        "    ---\n"
                        "    {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: X, metadata: {name: "
                        "a}}, {apiVersion: v1, kind: X, metadata: {name: b}}]}\n"
                        "    ---\n"
                        "    {apiVersion: v1, kind: X, metadata: {name: c}}\n");

        assert_string_equal(names(&arena, b), "X/a X/b X/c");
        assert_fails_to_build(
                "{spec: {resourcesTemplate: '{metadata: {name: a}}'}}",
                "failed to build resources: failed to read objects from multi-doc YAML: document "
                "1: Object 'Kind' is missing");
        assert_fails_to_build("{spec: {resourcesTemplate: '{kind: X, metadata: {name: a}}'}}", "document 1");
        assert_fails_to_build("{spec: {resources: [{apiVersion: v1, kind: X, metadata: {name: ''}}]}}",
                              "failed to build resource: failed to read object: document 1");
}

/* spec/resource-set.md checklist 22 */
static void the_documents_of_a_template_come_by_bundle(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct build *b = build_of(
                &arena,
                "spec:\n"
                "  inputs:\n"
                "    - {bundle: addons, decryption: false, components: [ingress-nginx, cert-manager]}\n"
                "    - {bundle: apps, decryption: true, components: [frontend, backend]}\n"
                "  resourcesTemplate: |\n"
                "    ---\n"
                "    apiVersion: source.toolkit.fluxcd.io/v1\n"
                "    kind: OCIRepository\n"
                "    metadata:\n"
                "      name: << inputs.bundle >>\n"
                "    <<- range $component := inputs.components >>\n"
                "    ---\n"
                "    apiVersion: kustomize.toolkit.fluxcd.io/v1\n"
                "    kind: Kustomization\n"
                "    metadata:\n"
                "      name: << $component >>\n"
                "    spec:\n"
                "      <<- if inputs.decryption >>\n"
                "      decryption:\n"
                "        secretRef:\n"
                "          name: << inputs.bundle >>-sops\n"
                "      <<- end >>\n"
                "      path: ./<< $component >>\n"
                "    <<- end >>\n");

        assert_string_equal(names(&arena, b),
                            "OCIRepository/addons Kustomization/ingress-nginx Kustomization/cert-manager "
                            "OCIRepository/apps Kustomization/frontend Kustomization/backend");
        assert_null(doc_get(b->at[1].doc, "spec.decryption"));
        assert_string_equal(doc_get_string(b->at[5].doc, "spec.decryption.secretRef.name"), "apps-sops");
}

/* spec/resource-set.md checklist 17, 26 */
static void what_is_wrong_with_a_template_is_told_with_its_place(void **state)
{
        assert_fails_to_build(
                "{spec: {resources: [" MAP("<< inputs.x >>", "{}") "]}}",
                "failed to build resource: failed to execute template: template: resourceset:5:11: "
                "executing \"resourceset\" at <inputs>: map has no entry for key \"x\"");
        assert_fails_to_build("{spec: {inputs: [{id: '7'}], resources: [" MAP("<< inputs.x >>", "{}") "]}}",
                              "map has no entry for key \"x\" (input set id 7)");
        assert_fails_to_build("{spec: {inputs: [{id: '7'}], resources: [" MAP("<< inputs.x >>", "{}") "]}}",
                              "failed to build resources[0]: failed to execute template: ");
        assert_fails_to_build("{spec: {inputs: [{a: 1}], resources: [" MAP("<< nope >>", "{}") "]}}",
                              "failed to build resources[0]: failed to parse template: template: "
                              "resourceset:5: function \"nope\" not defined");
        assert_fails_to_build("{spec: {resourcesTemplate: '<< fail \"stop\" >>'}}", "stop");
}

/* spec/resource-set.md checklist 46 */
static void a_template_that_outgrows_a_limit_fails(void **state)
{
        assert_fails_to_build("{spec: {resourcesTemplate: '<< range until 100000 >><< range until 100000 >>x"
                              "<< end >><< end >>'}}",
                              "failed to execute multi-doc YAML template: ");
        assert_fails_to_build("spec:\n  resourcesTemplate: |\n    << range until 10001 >>\n    ---\n"
                              "    {apiVersion: v1, kind: X, metadata: {name: 'x<< . >>'}}\n    << end >>\n",
                              "more than 10000 objects");
}

/* spec/resource-set.md checklist 45 */
static void equal_inputs_give_equal_objects(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        static const char text[] = "{spec: {" TWO "resources: [" MAP("a-<< inputs.tenant >>", "{}") "]}}";
        char one[BUILD_DIGEST_SIZE], two[BUILD_DIGEST_SIZE], spec[BUILD_DIGEST_SIZE];
        struct error err = { 0 };

        assert_int_equal(build_digest(build_of(&arena, text), one, &err), 0);
        assert_int_equal(build_digest(build_of(&arena, text), two, &err), 0);
        assert_string_equal(one, two);
        assert_int_equal(build_digest(build_of(&arena, "{spec: {resources: []}}"), two, &err), 0);
        assert_string_equal(two, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_int_equal(build_spec_digest(set_of(&arena, text), spec, &err), 0);
        assert_int_equal(build_spec_digest(set_of(&arena, text), two, &err), 0);
        assert_string_equal(spec, two);
        assert_string_not_equal(spec, one);
}

static void a_set_that_is_wrong_is_refused(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };
        struct resource_set *set =
                set_of(&arena, "{spec: {steps: [{name: a, resources: []}], resources: []}}");

        assert_int_equal(build_check(set, &err), ERR_INVALID);
        assert_string_equal(err.text, "spec.steps is mutually exclusive with spec.resources and "
                                      "spec.resourcesTemplate");
        set = set_of(&arena, "{spec: {steps: [{name: a}]}}");
        assert_int_equal(build_check(set, &err), ERR_INVALID);
        assert_string_equal(err.text,
                            "step \"a\": at least one of resources or resourcesTemplate must be set");
        set = set_of(&arena, "{spec: {resources: []}}");
        assert_int_equal(build_check(set, &err), 0);
        set->object.meta.name = "a123456789a123456789a123456789a123456789a123456789a123456789abcd";
        assert_int_equal(build_check(set, &err), ERR_INVALID);
        assert_string_equal(err.text, "name must be no more than 63 characters, it becomes a label value");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_output_of_an_action_decides_the_type),
                cmocka_unit_test(a_nested_field_comes_by_to_yaml_and_nindent),
                cmocka_unit_test(objects_come_by_template_then_by_set),
                cmocka_unit_test(an_object_that_says_disabled_is_left_out),
                cmocka_unit_test(an_object_is_made_once_and_the_first_wins),
                cmocka_unit_test(an_object_belongs_to_one_step),
                cmocka_unit_test(owner_labels_and_common_metadata_win),
                cmocka_unit_test(status_is_left_out_and_strings_of_secrets_are_data),
                cmocka_unit_test(documents_that_say_nothing_are_passed_over),
                cmocka_unit_test(the_documents_of_a_template_come_by_bundle),
                cmocka_unit_test(what_is_wrong_with_a_template_is_told_with_its_place),
                cmocka_unit_test(a_template_that_outgrows_a_limit_fails),
                cmocka_unit_test(equal_inputs_give_equal_objects),
                cmocka_unit_test(a_set_that_is_wrong_is_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
