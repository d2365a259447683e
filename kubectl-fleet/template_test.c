/* ResourceSets of files, rendered without a hub: the rules are tested where the hub's agent has them. */
#include "kubectl-fleet/fleet_test.h"

#define SET(more)                                                                                            \
        "apiVersion: fluxcd.controlplane.io/v1\n"                                                            \
        "kind: ResourceSet\n"                                                                                \
        "metadata: {name: apps, namespace: team}\n"                                                          \
        "spec:\n" more
#define PROVIDER(name, more)                                                                                 \
        "---\n"                                                                                              \
        "apiVersion: fluxcd.controlplane.io/v1\n"                                                            \
        "kind: ResourceSetInputProvider\n"                                                                   \
        "metadata: {name: " name ", namespace: team, labels: {of: apps}}\n" more
#define RESOURCES                                                                                            \
        "  resources:\n"                                                                                     \
        "  - {apiVersion: v1, kind: ConfigMap, metadata: {name: << inputs.name >>, namespace: apps}}\n"      \
        "  - {apiVersion: v1, kind: Namespace, metadata: {name: apps}}\n"
#define STATIC "spec: {type: Static, defaultValues: {name: fixed}}\n"
#define BRANCHES "spec: {type: GitHubBranch, url: 'https://github.com/a/b'}\n"
#define EXPORTS "status: {exportedInputs: [{id: '1', name: main}, {id: '2', name: next}]}\n"
#define NO_UID                                                                                               \
        "ResourceSetInputProvider team/p has no uid here: the id of its input is another one on the hub.\n"

static int render(struct user *u, const char *text, const char *output)
{
        u->input = text;
        return FLEET_RUN(u, "template", "-f", "-", "-o", output);
}

static void assert_fails(struct user *u, const char *text, const char *words)
{
        assert_int_equal(render(u, text, "name"), 1);
        if (!strstr(u->err.data, words))
                fail_msg("wanted \"%s\", got \"%s\"", words, u->err.data);
        assert_string_equal(u->out.data, "");
}

USER_TEST(objects_are_printed_in_the_order_in_which_they_are_applied, {
        u->input = SET("  inputs: [{name: b}, {name: a}]\n" RESOURCES);
        assert_int_equal(FLEET_RUN(u, "template", "-f", "-"), 0);
        assert_int_equal(u->requests, 0);
        assert_string_equal(u->err.data, "");
        assert_on_page(u);
        assert_int_equal(render(u, u->input, "name"), 0);
        assert_string_equal(u->out.data, "namespace/apps\nconfigmap/a\nconfigmap/b\n");
        assert_int_equal(render(u, u->input, "json"), 0);
        parse_output(u);
        assert_string_equal(rig_string(u->rig, "kind"), "List");
        assert_int_equal(json_array_size(doc_get_array(u->rig->answer, "items")), 3);
})

USER_TEST(inputs_come_from_the_providers_of_the_same_files, {
        assert_int_equal(
                render(u, SET("  inputsFrom: [{name: p}]\n" RESOURCES) PROVIDER("p", STATIC), "name"), 0);
        assert_string_equal(u->out.data, "namespace/apps\nconfigmap/fixed\n");
        assert_string_equal(u->err.data, NO_UID);
        assert_int_equal(render(u,
                                SET("  inputsFrom: [{selector: {matchLabels: {of: apps}}}]\n" RESOURCES)
                                        PROVIDER("q", BRANCHES EXPORTS) PROVIDER("p", STATIC),
                                "name"),
                         0);
        assert_string_equal(u->out.data, "namespace/apps\nconfigmap/fixed\nconfigmap/main\nconfigmap/next\n");
})

/* The id that Static ones export is made of the uid. */
USER_TEST(a_provider_with_its_uid_gives_the_id_of_the_hub, {
        static const char set[] =
                SET("  inputsFrom: [{name: p}]\n"
                    "  resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: 'a<< inputs.id "
                    ">>'}}]\n") "---\n"
                                "apiVersion: fluxcd.controlplane.io/v1\n"
                                "kind: ResourceSetInputProvider\n"
                                "metadata: {name: p, namespace: team, uid: main}\n"
                                "spec: {type: Static}\n";

        assert_int_equal(render(u, set, "name"), 0);
        assert_string_equal(u->out.data, "configmap/a68878758\n");
        assert_string_equal(u->err.data, "");
})

USER_TEST(what_only_the_hub_knows_is_asked_for_or_told, {
        assert_fails(
                u, SET("  inputsFrom: [{name: p}]\n" RESOURCES) PROVIDER("p", BRANCHES),
                "ResourceSet team/apps: failed to compute inputs: provider team/p has not exported inputs "
                "yet: only the hub's agent can ask it, and its status has no exportedInputs; --inputs gives "
                "others");
        assert_fails(u, SET("  inputsFrom: [{name: p}]\n" RESOURCES),
                     "failed to compute inputs: failed to get provider team/p: not found");
        assert_int_equal(render(u,
                                SET("  resources:\n"
                                    "  - apiVersion: v1\n"
                                    "    kind: Secret\n"
                                    "    metadata:\n"
                                    "      name: s\n"
                                    "      namespace: apps\n"
                                    "      annotations: {fluxcd.controlplane.io/copyFrom: base/pull}\n"),
                                "name"),
                         0);
        assert_string_equal(u->out.data, "secret/s\n");
        assert_string_equal(
                u->err.data,
                "Secret/apps/s is printed without the data of Secret base/pull, which the hub has.\n");
})

USER_TEST(other_inputs_take_the_place_of_all, {
        u->file = "[{name: one}, {name: two}]";
        u->input = SET("  inputs: [{name: a}]\n  inputsFrom: [{name: p}]\n" RESOURCES) PROVIDER("p", STATIC);
        assert_int_equal(FLEET_RUN(u, "template", "-f", "-", "--inputs", "two.yaml", "-oname"), 0);
        assert_string_equal(u->out.data, "namespace/apps\nconfigmap/one\nconfigmap/two\n");
        assert_string_equal(u->err.data, "");
        u->file = "name: one\n---\nname: three\n";
        assert_int_equal(FLEET_RUN(u, "template", "-f", "-", "--inputs", "two.yaml", "-oname"), 0);
        assert_string_equal(u->out.data, "namespace/apps\nconfigmap/one\nconfigmap/three\n");
        u->file = "[one]";
        assert_int_equal(FLEET_RUN(u, "template", "-f", "-", "--inputs", "two.yaml"), 1);
        assert_lines(u->err.data, "two.yaml: input set 0 is no object\n");
})

USER_TEST(several_files_are_one, {
        u->input = SET("  inputsFrom: [{name: p}]\n" RESOURCES);
        u->file = PROVIDER("p", STATIC) "---\napiVersion: v1\nkind: Service\nmetadata: {name: x}\n";
        assert_int_equal(FLEET_RUN(u, "template", "-f", "-", "-f", "more.yaml", "-o", "name"), 0);
        assert_string_equal(u->out.data, "namespace/apps\nconfigmap/fixed\n");
        assert_lines(u->err.data,
                     "1 object is neither a ResourceSet nor a ResourceSetInputProvider: passed over.\n");
        u->input = PROVIDER("p", STATIC);
        assert_int_equal(FLEET_RUN(u, "template", "-f", "-", "-f", "more.yaml"), 1);
        assert_lines(u->err.data, "ResourceSetInputProvider team/p stands in the files twice");
})

USER_TEST(a_set_without_a_namespace_is_in_the_one_that_is_named, {
        static const char set[] =
                "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: s}\n"
                "spec: {resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a, "
                "namespace: << inputs | len >>x}}]}\n";

        assert_int_equal(render(u, set, "yaml"), 0);
        assert_lines(u->out.data,
                     "    resourceset.fluxcd.controlplane.io/namespace: default\n  namespace: 0x\n");
        assert_int_equal(FLEET_RUN(u, "template", "-f", "-", "-n", "team"), 0);
        assert_lines(u->out.data, "    resourceset.fluxcd.controlplane.io/namespace: team\n");
})

USER_TEST(what_cannot_be_built_is_told_as_by_the_agent, {
        assert_fails(
                u, SET("  inputs: [{id: '7', nam: a}]\n" RESOURCES),
                "Error: ResourceSet team/apps: build failed: failed to build resources[0]: failed to execute "
                "template: template: resourceset:4:11: executing \"resourceset\" at <inputs>: map has no "
                "entry "
                "for key \"name\" (input set id 7)\n");
        assert_fails(u, SET("  resources: []\n  stepz: []\n"), "unknown field \"spec.stepz\"");
        assert_fails(u, PROVIDER("p", STATIC), "the files hold no ResourceSet");
        assert_int_equal(FLEET_RUN(u, "template"), 1);
        assert_lines(u->err.data, "filename");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(objects_are_printed_in_the_order_in_which_they_are_applied),
                cmocka_unit_test(inputs_come_from_the_providers_of_the_same_files),
                cmocka_unit_test(a_provider_with_its_uid_gives_the_id_of_the_hub),
                cmocka_unit_test(what_only_the_hub_knows_is_asked_for_or_told),
                cmocka_unit_test(other_inputs_take_the_place_of_all),
                cmocka_unit_test(several_files_are_one),
                cmocka_unit_test(a_set_without_a_namespace_is_in_the_one_that_is_named),
                cmocka_unit_test(what_cannot_be_built_is_told_as_by_the_agent),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
