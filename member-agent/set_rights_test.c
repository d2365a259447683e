/* Sets with the rights of the chart, and no more: spec/cluster-object-set.md 2. */
#include <stdio.h>

#include "member-agent/object_set_test.h"

#define RBAC "/apis/rbac.authorization.k8s.io/v1"
#define RULES "charts/member-agent/files/rules.yaml"
#define CONFIG_MAP_RULE                                                                                      \
        "{\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"],\"verbs\":[\"get\",\"list\",\"watch\","        \
        "\"create\","                                                                                        \
        "\"patch\",\"delete\"]}"
#define NAMESPACE_RULE                                                                                       \
        "{\"apiGroups\":[\"\"],\"resources\":[\"namespaces\"],\"verbs\":[\"get\",\"list\",\"watch\"]}"
#define SECRET_RULE                                                                                          \
        "{\"apiGroups\":[\"\"],\"resources\":[\"secrets\"],\"verbs\":[\"get\",\"list\",\"watch\"]}"

#define WIDGET_RULE                                                                                          \
        "{\"apiGroups\":[\"example.com\"],\"resources\":[\"widgets\"],\"verbs\":[\"get\",\"list\","          \
        "\"watch\","                                                                                         \
        "\"create\",\"patch\"]}"

static json_t *read_rules(void)
{
        AUTO_BUF struct buf text;
        struct error err = { 0 };
        json_t *rules = NULL;
        char piece[4096];
        FILE *f = fopen(RULES, "re");
        size_t n;

        assert_non_null(f);
        buf_init(&text, 1u << 20);
        while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
                buf_append(&text, piece, n);
        fclose(f);
        if (yaml_parse((struct slice){ text.data, text.len }, &rules, &err) < 0)
                fail_msg("%s", err.text);
        return rules;
}

/* post() writes double quotes for single ones; rules have none. */
static void grant(struct rig *r, const char *name, json_t *rules)
{
        AUTO_JSON json_t *role =
                json_pack("{s:s, s:s, s:{s:s}, s:o}", "apiVersion", "rbac.authorization.k8s.io/v1", "kind",
                          "ClusterRole", "metadata", "name", name, "rules", rules);
        char *text = json_dumps(role, 0);

        post(r, MEMBER, RBAC "/clusterroles", text);
        free(text);
        post(r, MEMBER, RBAC "/clusterrolebindings",
             arena_printf(&r->arena,
                          "{'apiVersion':'rbac.authorization.k8s.io/"
                          "v1','kind':'ClusterRoleBinding','metadata':{'name':'%s'},"
                          "'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole','name':'%s'"
                          "},'subjects':[{"
                          "'kind':'ServiceAccount','name':'agent','namespace':'default'}]}",
                          name, name));
}

static json_t *rules_of(const char *text)
{
        json_t *rules = NULL;

        assert_int_equal(doc_parse(slice_of(text), &rules, NULL), 0);
        return rules;
}

/* The agent's own rights, and those for what the sets hold. */
static void begin_with(struct agent *a, struct rig *r, const char *rules)
{
        prepare_clusters(r);
        post(r, MEMBER, NS "/default/serviceaccounts",
             "{'apiVersion':'v1','kind':'ServiceAccount','metadata':{'name':'agent','namespace':'default'}}");
        grant(r, "agent", read_rules());
        grant(r, "contents", rules_of(rules));
        post(r, MEMBER, NS "/default/serviceaccounts/agent/token", "{'spec':{'expirationSeconds':86400}}");
        start(a, r, ":memory:");
        a->member.bearer_token = arena_strdup(&r->arena, rig_string(r, "status.token"));
}

#define CM(name, value) INLINE(CONFIG_MAP(name, value))

/* spec/cluster-object-set.md checklist 102: a life with rollout, drift, handover, archiving and deletion. */
RIG_TEST(the_rights_of_the_chart_are_enough, {
        struct agent a;

        begin_with(&a, r, "[" CONFIG_MAP_RULE "," SECRET_RULE "]");
        post(r, MEMBER, SECRETS,
             "{'metadata':{'name':'packed'},'immutable':true,'stringData':{'k':'{\\\"apiVersion\\\":"
             "\\\"v1\\\",\\\"kind\\\":"
             "\\\"ConfigMap\\\",\\\"metadata\\\":{\\\"name\\\":\\\"b\\\",\\\"namespace\\\":\\\"default\\\"}}'"
             "}}");
        post(r, MEMBER, SETS,
             SET("s1", OWNED_BY("s"), "1", "", PHASE("p", CM("a", "1") "," REF("packed", "k"))));
        wait_for_set(r, "s1", "Progressing", "True/Succeeded");
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'data':{'k':'9'}}");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("a"), "data.k", "1");
        post(r, MEMBER, SETS, SET("s2", OWNED_BY("s"), "2", "", PHASE("p", CM("a", "2"))));
        wait_for_set(r, "s2", "Progressing", "True/Succeeded");
        wait_for_set(r, "s1", "Progressing", "False/Archived");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("b"));
        delete (r, MEMBER, SETS "/s2");
        wait_until_gone(r, MEMBER, SETS "/s2");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("a"));
        stop(&a);
})

/* Nobody has to ask every ten seconds. */
RIG_TEST(what_is_waited_for_may_be_followed_with_the_rights_of_the_chart, {
        struct agent a;

        begin_with(&a, r, "[" WIDGET_RULE "]");
        post(r, MEMBER, SETS,
             SET("s", OWNED_BY("s"), "1", "",
                 PHASE("p", INLINE("{'apiVersion':'example.com/v1','kind':'Widget','metadata':{'name':'w',"
                                   "'namespace':'default'}}"))));
        wait_for_set(r, "s", "Progressing", "True/Retrying");
        settle(r, 3000);
        post(r, MEMBER, CRDS,
             "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition',"
             "'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com','scope':'Namespaced',"
             "'names':{'kind':'Widget','plural':'widgets'},'versions':[{'name':'v1','served':true,"
             "'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
             "'x-kubernetes-preserve-unknown-fields':true}}}]}}");
        settle(r, 2000);
        assert_set(r, "s", "Progressing", "True/Succeeded Revision 1 has rolled out.");
        stop(&a);
})

/* rbac.applyRules narrowed: the set says what is missing, and goes on when it is granted. */
RIG_TEST(a_right_that_is_missing_is_told_and_waited_for, {
        struct agent a;

        begin_with(&a, r, "[" NAMESPACE_RULE "]");
        post(r, MEMBER, SETS, SET("s", OWNED_BY("s"), "1", "", PHASE("p", CM("a", "1"))));
        wait_for_set(r, "s", "Progressing", "True/Retrying");
        assert_non_null(strstr(set_says(r, "s", "Progressing"), "configmaps"));
        assert_non_null(strstr(set_says(r, "s", "Progressing"), "forbidden"));
        settle(r, 1500000);
        grant(r, "more", rules_of("[" CONFIG_MAP_RULE "]"));
        wait_for_set(r, "s", "Progressing", "True/Succeeded");
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_rights_of_the_chart_are_enough),
                cmocka_unit_test(what_is_waited_for_may_be_followed_with_the_rights_of_the_chart),
                cmocka_unit_test(a_right_that_is_missing_is_told_and_waited_for),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
