/* What a ResourceSet would do on the hub, as `kubectl fleet diff` tells it. */
#include "kubectl-fleet/fleet_test.h"

#define SETS "/apis/fluxcd.controlplane.io/v1/namespaces/team/resourcesets"
#define PROVIDERS "/apis/fluxcd.controlplane.io/v1/namespaces/team/resourcesetinputproviders"
#define MAPS "/api/v1/namespaces/apps/configmaps"
#define SECRETS "/api/v1/namespaces/apps/secrets"
#define OWNER(set)                                                                                           \
        "'labels':{'resourceset.fluxcd.controlplane.io/name':'" set                                          \
        "','resourceset.fluxcd.controlplane.io/namespace':'team'}"
#define MAP(name, more, data)                                                                                \
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'" name "','namespace':'apps'" more        \
        "},'data':{" data "}}"
#define SECRET(more, value)                                                                                  \
        "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':'apps'" more                  \
        "},'type':'Opaque','data':{'key':'" value "'}}"
#define SET(name, spec, ids)                                                                                 \
        "{'apiVersion':'fluxcd.controlplane.io/v1','kind':'ResourceSet','metadata':{'name':'" name           \
        "','namespace':'team'},'spec':{" spec "},'status':{'inventory':{'entries':[" ids "]}}}"
#define ID(name) "{'id':'apps_" name "__ConfigMap','v':'v1'}"
#define INPUTS "'inputs':[{'id':'1','name':'a'},{'id':'2','name':'b'},{'id':'3','name':'c'}]"
#define EACH MAP("<< inputs.name >>", "", "'k':'<< 2 | quote >>'")

static const char *const everything =
        "ResourceSet team/apps\n"
        "  hub  1 to add, 2 to change, 1 to remove, 2 unchanged, 1 refused\n"
        "    ~ ConfigMap apps/a\n"
        "        /data/k  \"1\" → \"2\"\n"
        "    = ConfigMap apps/b\n"
        "    + ConfigMap apps/c\n"
        "    ! ConfigMap apps/theirs\n"
        "        ConfigMap/apps/theirs is managed by ResourceSet/team/other (ResourceSet/apps, id 1)\n"
        "    ~ Secret apps/s\n"
        "        /data/key\n"
        "    - ConfigMap apps/old  not before all others are applied\n"
        "    = ConfigMap apps/kept  left the set, and stays: its pruning is disabled\n";

static void add_namespaces(struct user *u)
{
        static const char *const names[] = { "team", "apps" };

        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                store(u, "/api/v1/namespaces", "{'metadata':{'name':'%s'}}", names[i]);
}

static void set_scene(struct user *u)
{
        add_namespaces(u);
        store(u, MAPS, "%s", MAP("a", "," OWNER("apps"), "'k':'1'"));
        store(u, MAPS, "%s", MAP("b", "," OWNER("apps"), "'k':'2'"));
        store(u, MAPS, "%s", MAP("old", "," OWNER("apps"), ""));
        store(u, MAPS, "%s",
              MAP("kept", "," OWNER("apps") ",'annotations':{'fluxcd.controlplane.io/prune':'disabled'}",
                  ""));
        store(u, MAPS, "%s", MAP("theirs", "," OWNER("other"), ""));
        store(u, SECRETS, "%s", SECRET("," OWNER("apps"), "b25l"));
        store(u, SETS, "%s", SET("other", "'resources':[]", ID("theirs")));
        store(u, SETS, "%s",
              SET("apps",
                  INPUTS ",'resources':[" EACH "," SECRET("", "dHdv") "," MAP("theirs", "", "'k':'2'") "]",
                  ID("a") "," ID("gone") "," ID("kept") "," ID("old")));
}

static const char *version_of(struct user *u, const char *path)
{
        return rig_get(u->rig, path) == 200
                       ? arena_strdup(&u->rig->arena, rig_string(u->rig, "metadata.resourceVersion"))
                       : "";
}

USER_TEST(a_set_is_tried_object_by_object_and_nothing_is_written, {
        static const char *const paths[] = { MAPS "/a",   MAPS "/b",    MAPS "/c",   MAPS "/theirs",
                                             MAPS "/old", SECRETS "/s", SETS "/apps" };
        const char *before[ARRAY_LEN(paths)];

        set_scene(u);
        for (size_t i = 0; i < ARRAY_LEN(paths); i++)
                before[i] = version_of(u, paths[i]);
        assert_int_equal(FLEET_RUN(u, "diff", "resourceset/apps"), 0);
        assert_string_equal(u->out.data, everything);
        for (size_t i = 0; i < ARRAY_LEN(paths); i++)
                assert_string_equal(version_of(u, paths[i]), before[i]);
        assert_int_equal(FLEET_RUN(u, "diff", "rset/apps", "-n", "team", "--color", "always"), 0);
        assert_on_page(u);
        assert_int_equal(FLEET_RUN(u, "diff", "resourceset/apps", "-oname"), 0);
        assert_string_equal(u->out.data, "configmap/a\nconfigmap/c\nsecret/s\nconfigmap/old\n");
        assert_int_equal(FLEET_RUN(u, "diff", "resourceset/apps", "-ojson"), 0);
        parse_output(u);
        assert_int_equal(json_integer_value(doc_get(u->rig->answer, "added")), 1);
        assert_string_equal(rig_string(u->rig, "namespace"), "team");
        assert_null(strstr(u->out.data, "dHdv"));
})

#define HEAD(name)                                                                                           \
        "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: " name                   \
        ", namespace: team}\nspec:\n"

USER_TEST(a_set_of_a_file_is_compared_with_what_the_hub_has_of_it, {
        set_scene(u);
        u->input = HEAD("apps") "  resources:\n"
                                "  - {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: apps}, "
                                "data: {k: '2', new: x}}\n";
        assert_int_equal(FLEET_RUN(u, "diff", "-f", "-"), 0);
        assert_string_equal(u->out.data, "ResourceSet team/apps\n"
                                         "  hub  0 to add, 1 to change, 2 to remove, 1 unchanged\n"
                                         "    ~ ConfigMap apps/b\n"
                                         "        /data/new  (none) → \"x\"\n"
                                         "    - ConfigMap apps/old\n"
                                         "    = ConfigMap apps/kept  left the set, and stays: its pruning is "
                                         "disabled\n"
                                         "    - ConfigMap apps/a\n");
        u->input =
                HEAD("new") "  resources:\n"
                            "  - {apiVersion: v1, kind: ConfigMap, metadata: {name: n, namespace: apps}}\n";
        assert_int_equal(FLEET_RUN(u, "diff", "-f", "-", "-oname"), 0);
        assert_string_equal(u->out.data, "configmap/n\n");
        assert_int_equal(FLEET_RUN(u, "diff", "resourceset/apps", "-f", "-"), 1);
        assert_lines(u->err.data, "the files hold no resourceset/apps");
})

/* A provider of the files stands for the hub's of that name. */
USER_TEST(providers_of_the_hub_and_of_files_give_inputs, {
        add_namespaces(u);
        store(u, PROVIDERS, "%s",
              "{'apiVersion':'fluxcd.controlplane.io/"
              "v1','kind':'ResourceSetInputProvider','metadata':{'name':"
              "'p','namespace':'team'},'spec':{'type':'Static'},'status':{'lastExportedRevision':'sha256:1',"
              "'exportedInputs':[{'id':'1','name':'hub'}]}}");
        u->input = HEAD("s") "  inputsFrom: [{name: p}]\n"
                             "  resources:\n"
                             "  - {apiVersion: v1, kind: ConfigMap, metadata: {name: << inputs.name >>, "
                             "namespace: apps}}\n";
        u->file = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSetInputProvider\n"
                  "metadata: {name: p, namespace: team}\n"
                  "spec: {type: Static, defaultValues: {name: file}}\n";
        assert_int_equal(FLEET_RUN(u, "diff", "-f", "-", "-oname"), 0);
        assert_string_equal(u->out.data, "configmap/hub\n");
        assert_int_equal(FLEET_RUN(u, "diff", "-f", "-", "-f", "p.yaml", "-oname"), 0);
        assert_string_equal(u->out.data, "configmap/file\n");
        u->file = "[{name: given}]";
        assert_int_equal(FLEET_RUN(u, "diff", "-f", "-", "--inputs", "i.yaml", "-oname"), 0);
        assert_string_equal(u->out.data, "configmap/given\n");
})

USER_TEST(what_the_set_makes_first_is_waited_for, {
        add_namespaces(u);
        u->input = HEAD(
                "s") "  resourcesTemplate: |\n"
                     "    {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: later}}\n"
                     "    ---\n"
                     "    {apiVersion: v1, kind: Namespace, metadata: {name: later}}\n"
                     "    ---\n"
                     "    {apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: apps}}\n"
                     "    ---\n"
                     "    apiVersion: apiextensions.k8s.io/v1\n"
                     "    kind: CustomResourceDefinition\n"
                     "    metadata: {name: widgets.example.com}\n"
                     "    spec:\n"
                     "      group: example.com\n"
                     "      names: {kind: Widget, plural: widgets}\n"
                     "      scope: Namespaced\n"
                     "      versions:\n"
                     "      - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: "
                     "object}}}\n"
                     "    ---\n"
                     "    {apiVersion: example.com/v2, kind: Widget, metadata: {name: x, namespace: apps}}\n";
        assert_int_equal(FLEET_RUN(u, "diff", "-f", "-"), 0);
        assert_lines(u->out.data, "    + CustomResourceDefinition widgets.example.com\n"
                                  "    + Namespace later\n"
                                  "    + ConfigMap later/c  after its namespace\n"
                                  "    + Widget apps/w  after its definition\n"
                                  "    ! Widget apps/x\n"
                                  "        Widget/apps/x dry-run failed: no kind \"Widget\" is served\n");
})

USER_TEST(data_is_copied_as_the_agent_copies_it, {
        add_namespaces(u);
        store(u, SECRETS, "%s", SECRET("", "b25l"));
        u->input = HEAD("s") "  resources:\n"
                             "  - apiVersion: v1\n"
                             "    kind: Secret\n"
                             "    metadata:\n"
                             "      name: copy\n"
                             "      namespace: team\n"
                             "      annotations: {fluxcd.controlplane.io/copyFrom: apps/s}\n";
        store(u, "/api/v1/namespaces/team/secrets", "%s",
              "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'copy','namespace':'team'},'type':'"
              "Opaque'}");
        assert_int_equal(FLEET_RUN(u, "diff", "-f", "-"), 0);
        assert_lines(u->out.data, "    ~ Secret team/copy\n        /data\n");
        assert_null(strstr(u->out.data, "b25l"));
        assert_int_equal(rig_delete(u->rig, SECRETS "/s"), 200);
        assert_int_equal(FLEET_RUN(u, "diff", "-f", "-"), 1);
        assert_lines(u->err.data, "ResourceSet team/s: failed to copy data from Secret/apps/s: ");
})

USER_TEST(what_cannot_be_meant_is_said_of_sets, {
        add_namespaces(u);
        assert_int_equal(FLEET_RUN(u, "diff", "resourceset/none"), 1);
        assert_lines(u->err.data, "ResourceSet \"none\" not found in namespace \"team\"");
        assert_int_equal(FLEET_RUN(u, "diff", "resourceset/s", "--watch"), 1);
        assert_lines(u->err.data, "--watch is for placements, not for ResourceSets");
        assert_int_equal(FLEET_RUN(u, "diff", "resourceset/s", "edge"), 1);
        assert_lines(u->err.data, "\"edge\" is one word too many");
        assert_int_equal(FLEET_RUN(u, "diff", "web", "--inputs", "x"), 1);
        assert_lines(u->err.data, "--inputs is for ResourceSets: resourceset/NAME, or -f");
        assert_int_equal(FLEET_RUN(u, "diff"), 1);
        assert_lines(u->err.data,
                     "the placement is missing: diff <placement> [cluster], resourceset/NAME, or -f");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_set_is_tried_object_by_object_and_nothing_is_written),
                cmocka_unit_test(a_set_of_a_file_is_compared_with_what_the_hub_has_of_it),
                cmocka_unit_test(providers_of_the_hub_and_of_files_give_inputs),
                cmocka_unit_test(what_the_set_makes_first_is_waited_for),
                cmocka_unit_test(data_is_copied_as_the_agent_copies_it),
                cmocka_unit_test(what_cannot_be_meant_is_said_of_sets),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
