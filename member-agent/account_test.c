/* Works that may reach one namespace alone, applied as a service account of that namespace. */
#include "member-agent/member_agent_test.h"

#define ACCOUNT "system:serviceaccount:team-a:applier"
#define RBAC "/apis/rbac.authorization.k8s.io/v1/namespaces/team-a"
#define MAP                                                                                                  \
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','namespace':'team-a'},'data':{'k':'1'" \
        "}}"
#define TO_ADMIN                                                                                             \
        "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'RoleBinding','metadata':{'name':'all',"        \
        "'namespace':'team-a'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole','"     \
        "name':"                                                                                             \
        "'cluster-admin'},'subjects':[{'kind':'ServiceAccount','name':'me','namespace':'team-a'}]}"

static void begin_as(struct agent *a, struct rig *r, const char *account)
{
        begin(a, r);
        a->options.namespace_account = account; /* the agent's fiber has not run yet */
        post(r, MEMBER, NS, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'team-a'}}");
}

static void place_in(struct rig *r, const char *name, const char *labels, const char *manifests)
{
        post(r, HUB, WORKS,
             arena_printf(&r->arena,
                          "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'Work','metadata':"
                          "{'name':'%s','labels':{%s}},'spec':{'workload':{'manifests':[%s]}}}",
                          name, labels, manifests));
}

#define OF_PLACEMENT "'kubernetes-fleet.io/parent-placement-namespace':'team-a'"

static void allow_config_maps(struct rig *r)
{
        post(r, MEMBER, RBAC "/roles",
             "{'apiVersion':'rbac.authorization.k8s.io/"
             "v1','kind':'Role','metadata':{'name':'applier'},'rules':"
             "[{'apiGroups':[''],'resources':['configmaps'],'verbs':['get','create','patch']},{'apiGroups':["
             "'rbac.authorization.k8s.io'],'resources':['rolebindings'],'verbs':['*']}]}");
        post(r, MEMBER, RBAC "/rolebindings",
             "{'apiVersion':'rbac.authorization.k8s.io/"
             "v1','kind':'RoleBinding','metadata':{'name':'applier'},"
             "'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'Role','name':'applier'},'subjects':[{"
             "'kind':'ServiceAccount','name':'applier','namespace':'team-a'}]}");
}

static void assert_told(struct rig *r, size_t ordinal, const char *words)
{
        const json_t *entry = json_array_get(doc_get_array(r->answer, "status.manifestConditions"), ordinal);
        const char *text = doc_get_string(json_array_get(doc_get_array(entry, "conditions"), 0), "message");

        if (!text || !strstr(text, words))
                fail_msg("manifest %zu: \"%s\" lacks \"%s\"", ordinal, text, words);
}

static void rights_body(struct rig *r)
{
        struct agent a;

        begin_as(&a, r, "applier");
        place_in(r, "w", OF_PLACEMENT, MAP "," TO_ADMIN);
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        assert_told(r, 0, "\"" ACCOUNT "\" cannot");
        assert_int_equal(get(r, MEMBER, NS "/team-a/configmaps/c"), 404);
        allow_config_maps(r);
        wait_for(r, MEMBER, NS "/team-a/configmaps/c", "data.k", "1");
        assert_int_equal(fiber_sleep(r->loop, 30000), 0);
        get(r, HUB, WORKS "/w");
        assert_told(r, 0, "applied successfully");
        assert_told(r, 1, "attempting to grant RBAC permissions not currently held");
        assert_int_equal(get(r, MEMBER, RBAC "/rolebindings/all"), 404);
        delete (r, HUB, WORKS "/w");
        wait_until_gone(r, HUB, WORKS "/w");
        assert_int_equal(get(r, MEMBER, NS "/team-a/configmaps/c"), 404);
        stop(&a);
}

static void a_namespaced_work_has_the_rights_of_the_account_and_no_more(void **state)
{
        rig_run(rights_body);
}

static void envelope_body(struct rig *r)
{
        struct agent a;

        begin_as(&a, r, "applier");
        place_in(r, "w",
                 "'kubernetes-fleet.io/envelope-work':'ResourceEnvelope','kubernetes-fleet.io/"
                 "envelope-namespace':'team-a'",
                 TO_ADMIN);
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        assert_told(r, 0, "\"" ACCOUNT "\" cannot");
        stop(&a);
}

static void what_was_in_an_envelope_of_a_namespace_too(void **state)
{
        rig_run(envelope_body);
}

static void cluster_wide_body(struct rig *r)
{
        struct agent a;

        begin_as(&a, r, "applier");
        place(r, "w", "", MAP);
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        stop(&a);
}

static void a_cluster_wide_work_has_the_agents_own_rights(void **state)
{
        rig_run(cluster_wide_body);
}

static void no_account_body(struct rig *r)
{
        struct agent a;

        begin_as(&a, r, NULL);
        place_in(r, "w", OF_PLACEMENT, MAP);
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        stop(&a);
}

static void without_the_option_all_is_done_by_the_agent(void **state)
{
        rig_run(no_account_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_namespaced_work_has_the_rights_of_the_account_and_no_more),
                cmocka_unit_test(what_was_in_an_envelope_of_a_namespace_too),
                cmocka_unit_test(a_cluster_wide_work_has_the_agents_own_rights),
                cmocka_unit_test(without_the_option_all_is_done_by_the_agent),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
