/* What a Work would do on a member, as `kubectl fleet plan` tells it, and that its agent then does that. */
#include "kubectl-fleet/plan_work_test.h"

#define DATA(value) ",'data':{'k':'" value "'}"
#define SECRET(value) AT_HOME("Secret", "s", ",'data':{'key':'" value "'}")
#define BEFORE                                                                                               \
        AT_HOME("ConfigMap", "keep", DATA("1"))                                                              \
        "," AT_HOME("ConfigMap", "web", DATA("1")) "," AT_HOME("ConfigMap", "old",                           \
                                                               DATA("1")) "," SECRET("b25l")
#define IN_NEW_NAMESPACE "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','namespace':'web'}}"
#define WIDGET "{'apiVersion':'example.com/v1','kind':'Widget','metadata':{'name':'w','namespace':'default'}}"
#define AFTER                                                                                                \
        AT_HOME("ConfigMap", "keep", DATA("1"))                                                              \
        "," AT_HOME("ConfigMap", "web", DATA("2")) "," SECRET("dHdv") "," WIDGET "," NAMED(                  \
                "Namespace", "web") "," IN_NEW_NAMESPACE "," AT_HOME("ConfigMap", "theirs", DATA("2"))
static const char *const everything =
        "Work fleet-member-m1/w  ClientSideApply\n"
        "  m1  2 to add, 2 to change, 1 to remove, 1 unchanged, 2 refused\n"
        "    - ConfigMap default/old\n"
        "    + Namespace web\n"
        "    = ConfigMap default/keep\n"
        "    ~ ConfigMap default/web\n"
        "        /data/k  \"1\" → \"2\"\n"
        "    ~ Secret default/s\n"
        "        /data/key\n"
        "    + ConfigMap web/c  after its namespace\n"
        "    ! ConfigMap default/theirs  FailedToTakeOver\n"
        "        failed to take over a pre-existing object: the object is already owned by some other "
        "sources(s) and co-ownership is disallowed (existingOwnerRefs: ConfigMap/parent)\n"
        "    ! Widget default/w  DecodingErred\n"
        "        failed to decode manifest: no kind \"Widget\" is served in group \"example.com\", version "
        "\"v1\"\n";

static void set_scene(struct user *u)
{
        struct rig *r = u->rig;

        add_member(u);
        invite(r);
        place(r, "w", "", BEFORE);
        let_agent_work(u, "w");
        add_owned(u, "theirs");
        replace_manifests(r, "w", AFTER);
}

/* Where it was when `path` was read last: "" = it is not there. */
static const char *version_of(struct user *u, const char *path)
{
        return get(u->rig, MEMBER, path) == 200
                       ? arena_strdup(&u->rig->arena, rig_string(u->rig, "metadata.resourceVersion"))
                       : "";
}

USER_TEST(a_work_is_tried_object_by_object_and_nothing_is_written, {
        static const char *const paths[] = { CONFIG_MAP_PATH("keep"),
                                             CONFIG_MAP_PATH("web"),
                                             CONFIG_MAP_PATH("old"),
                                             CONFIG_MAP_PATH("theirs"),
                                             "/api/v1/namespaces/default/secrets/s",
                                             "/api/v1/namespaces/web" };
        const char *before[ARRAY_LEN(paths)];

        set_scene(u);
        for (size_t i = 0; i < ARRAY_LEN(paths); i++)
                before[i] = version_of(u, paths[i]);
        assert_int_equal(FLEET_RUN(u, "plan", "work/w", ON_M1), 0);
        assert_string_equal(u->out.data, everything);
        for (size_t i = 0; i < ARRAY_LEN(paths); i++)
                assert_string_equal(version_of(u, paths[i]), before[i]);
        assert_int_equal(FLEET_RUN(u, "plan", "work/w", ON_M1, "--color", "always"), 0);
        assert_on_page(u);
        assert_int_equal(FLEET_RUN(u, "plan", "work/w", ON_M1, "-oname"), 0);
        assert_string_equal(u->out.data,
                            "configmap/old\nnamespace/web\nconfigmap/web\nsecret/s\nconfigmap/c\n");
})

static const json_t *change_of(const json_t *plan, const char *kind, const char *name)
{
        json_t *o;
        size_t i;

        json_array_foreach(doc_get_array(plan, "objects"), i, o)
                if (text_equal(doc_get_string(o, "kind"), kind) &&
                    text_equal(doc_get_string(o, "name"), name))
                        return o;
        fail_msg("the plan has no %s %s", kind, name);
        return NULL;
}

/* The value of a field as the plan shows it is what the object has. */
static void assert_as_planned(struct user *u, const json_t *plan, const char *name)
{
        const json_t *field = json_array_get(doc_get_array(change_of(plan, "ConfigMap", name), "fields"), 0);
        const char *shown = arena_printf(&u->rig->arena, "\"%s\"", rig_string(u->rig, "data.k"));

        assert_string_equal(doc_get_string(field, "to"), shown);
}

USER_TEST(what_is_planned_is_what_the_agent_then_does, {
        AUTO_JSON json_t *plan = NULL;
        struct rig *r = u->rig;
        const char *kept;

        set_scene(u);
        kept = version_of(u, CONFIG_MAP_PATH("keep"));
        assert_int_equal(FLEET_RUN(u, "plan", "work/w", ON_M1, "-ojson"), 0);
        assert_int_equal(doc_parse((struct slice){ u->out.data, u->out.len }, &plan, NULL), 0);
        let_agent_work(u, "w");
        assert_string_equal(doc_get_string(change_of(plan, "ConfigMap", "keep"), "change"), "Unchanged");
        assert_string_equal(version_of(u, CONFIG_MAP_PATH("keep")), kept);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("web")), 200);
        assert_as_planned(u, plan, "web");
        assert_string_equal(doc_get_string(change_of(plan, "ConfigMap", "old"), "change"), "Removed");
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("old")), 404);
        assert_string_equal(doc_get_string(change_of(plan, "ConfigMap", "c"), "change"), "Added");
        assert_int_equal(get(r, MEMBER, "/api/v1/namespaces/web/configmaps/c"), 200);
        assert_string_equal(doc_get_string(change_of(plan, "Widget", "w"), "reason"),
                            manifest_reason(r, "w", 3, "Applied"));
        assert_string_equal(doc_get_string(change_of(plan, "ConfigMap", "theirs"), "reason"),
                            manifest_reason(r, "w", 6, "Applied"));
        on(r, HUB);
        assert_int_equal(FLEET_RUN(u, "plan", "work/w", ON_M1), 0); /* all is done that can be */
        assert_lines(u->out.data, "  m1  0 to add, 0 to change, 0 to remove, 5 unchanged, 2 refused\n");
})

static const char idea[] =
        "apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: Work\n"
        "metadata: {name: idea}\n"
        "spec:\n"
        "  workload:\n"
        "    manifests:\n"
        "    - {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: default}}\n";

USER_TEST(a_work_need_not_be_on_the_hub, {
        add_member(u);
        u->input = idea;
        assert_int_equal(FLEET_RUN(u, "plan", "-f", "-", ON_M1), 0);
        assert_string_equal(u->out.data, "Work fleet-member-m1/idea  ClientSideApply\n"
                                         "  m1  1 to add, 0 to change, 0 to remove\n"
                                         "    + ConfigMap default/c\n");
        assert_int_equal(FLEET_RUN(u, "plan", "work/idea", "-f", "-", ON_M1, "-oyaml"), 0);
        assert_lines(u->out.data, "added: 1\nkind: Work\nmember: m1\nname: idea\n"
                                  "namespace: fleet-member-m1\nobjects:\n- change: Added\n  wave: 1\n");
        assert_int_equal(get(u->rig, HUB, WORKS "/idea"), 404);
        assert_int_equal(get(u->rig, MEMBER, CONFIG_MAP_PATH("c")), 404);
        assert_int_equal(FLEET_RUN(u, "plan", "work/other", "-f", "-", ON_M1), 1);
        assert_string_equal(u->err.data, "Error: standard input: holds no Work \"other\"\n");
})

static void fails(struct user *u, int code, const char *want)
{
        assert_int_equal(code, 1);
        assert_lines(u->err.data, want);
        assert_string_equal(u->out.data, "");
}

USER_TEST(what_cannot_be_meant_is_said, {
        add_member(u);
        place(u->rig, "w", "", AT_HOME("ConfigMap", "c", ""));
        fails(u, FLEET_RUN(u, "plan"), "Error: the run is missing: plan <run> [stage], or work/NAME\n");
        fails(u, FLEET_RUN(u, "plan", "work/w", "-n", "fleet-member-m1"),
              "Error: --member-context is missing: the context of the member that the Work is for\n");
        fails(u, FLEET_RUN(u, "plan", "r", "--member-context", "m1"),
              "Error: --member-context and --member-kubeconfig are for a Work: work/NAME, or -f\n");
        fails(u, FLEET_RUN(u, "plan", "work/w", "canary", ON_M1), "Error: \"canary\" is one word too many\n");
        fails(u, FLEET_RUN(u, "plan", "w", "-f", "-", ON_M1),
              "Error: \"w\" names no Work of the file: work/NAME\n");
        fails(u, FLEET_RUN(u, "plan", "work/none", ON_M1),
              "Error: Work \"none\" not found in namespace \"fleet-member-m1\"\n");
        fails(u, FLEET_RUN(u, "plan", "work/w", ON_M1, "--member-context", "wrong"),
              "Error: \"wrong\" serves no AppliedWorks: is it a member's?\n");
        fails(u, FLEET_RUN(u, "plan", "work/w", ON_M1, "--member-context", "nobody"),
              "Error: failed to create member cluster client: \n");
        post(u->rig, MEMBER, APPLIED_WORKS,
             "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'AppliedWork','metadata':{'name':"
             "'w'},'spec':{'workName':'w','workNamespace':'fleet-member-m2'}}");
        fails(u, FLEET_RUN(u, "plan", "work/w", ON_M1),
              "Error: AppliedWork \"w\" of that member is of a Work in namespace \"fleet-member-m2\", not "
              "\"fleet-member-m1\": is it another member's?\n");
})

USER_TEST(works_and_contexts_of_members_are_offered, {
        add_member(u);
        place(u->rig, "w", "", AT_HOME("ConfigMap", "c", ""));
        assert_int_equal(FLEET_RUN(u, COMPLETE_COMMAND, "plan", "-n", "fleet-member-m1", "work/"), 0);
        assert_string_equal(u->out.data, "work/w\n:4\n");
        assert_int_equal(FLEET_RUN(u, COMPLETE_COMMAND, "plan", "--member-kubeconfig", "/edge",
                                   "--member-context", ""),
                         0);
        assert_string_equal(u->out.data, "m1\nwrong\n:4\n");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_work_is_tried_object_by_object_and_nothing_is_written),
                cmocka_unit_test(what_is_planned_is_what_the_agent_then_does),
                cmocka_unit_test(a_work_need_not_be_on_the_hub),
                cmocka_unit_test(what_cannot_be_meant_is_said),
                cmocka_unit_test(works_and_contexts_of_members_are_offered),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
