/* A ClusterObjectSet rolls out phase by phase and is kept so: spec/cluster-object-set.md 3, 5, 8, 13. */
#include "member-agent/object_set_test.h"

#define CRD                                                                                                  \
        "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':{'name':"      \
        "'widgets.example.com'},'spec':{'group':'example.com','names':{'kind':'Widget','plural':'widgets'}," \
        "'scope':'Namespaced','versions':[{'name':'v1','served':true,'storage':true,'schema':{"              \
        "'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object',"                          \
        "'x-kubernetes-preserve-unknown-fields':true}}}}}]}}"
#define WIDGET                                                                                               \
        "{'apiVersion':'example.com/v1','kind':'Widget','metadata':{'name':'w','namespace':'default'},"      \
        "'spec':{'size':1}}"
#define ACCOUNT "{'apiVersion':'v1','kind':'ServiceAccount','metadata':{'name':'sa','namespace':'default'}}"
#define SITE "/apis/apps/v1/namespaces/default/deployments/site"
#define WIDGETS "/apis/example.com/v1/namespaces/default/widgets"

static const char three_phases[] =
        SET("app-1", OWNED_BY("app"), "1", "",
            PHASE("crds", INLINE(CRD)) "," PHASE(
                    "rbac", INLINE(ACCOUNT) "," INLINE(CONFIG_MAP(
                                    "c", "1"))) "," PHASE("deploy", INLINE(DEPLOYMENT) "," INLINE(WIDGET)));

/* spec/cluster-object-set.md checklist 12, 18, 28, 33, 36 */
RIG_TEST(a_set_rolls_out_phase_by_phase_and_succeeds, {
        struct agent a;
        const json_t *owner;

        begin_sets(&a, r);
        post(r, MEMBER, SETS, three_phases);
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        assert_true(loop_now_ms(r->loop) < 5000); /* nothing was waited for */
        assert_set(r, "app-1", "Progressing", "True/Succeeded Revision 1 has rolled out.");
        assert_set(r, "app-1", "Available",
                   "True/ProbesSucceeded Objects are available and pass all probes.");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.observedPhases")), 3);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.finalizers")), 1);
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        owner = json_array_get(doc_get_array(r->answer, "metadata.ownerReferences"), 0);
        assert_string_equal(doc_get_string(owner, "name"), "app-1");
        assert_true(doc_get_bool(owner, "controller", false));
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.managedFields")), 1);
        assert_string_equal(
                doc_get_string(json_array_get(doc_get_array(r->answer, "metadata.managedFields"), 0),
                               "operation"),
                "Apply");
        assert_int_equal(get(r, MEMBER, WIDGETS "/w"), 200);
        stop(&a);
})

static uint64_t what_sets_ask(struct rig *r)
{
        return requests(r, "m1", "get", "configmaps") + requests(r, "m1", "get", "deployments") +
               requests(r, "m1", "get", "clusterobjectsets") +
               requests(r, "m1", "patch", "clusterobjectsets") +
               requests(r, "m1", "patch", "clusterobjectsets/status");
}

/* spec/cluster-object-set.md checklist 17 */
RIG_TEST(a_steady_set_costs_no_request, {
        uint64_t before;
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS, three_phases);
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        settle(r, 10000);
        before = what_sets_ask(r);
        merge(r, MEMBER, SETS "/app-1", "{'metadata':{'annotations':{'x':'y'}}}");
        settle(r, 600000);
        assert_int_equal(what_sets_ask(r), before + 1); /* ours */
        stop(&a);
})

/* spec/cluster-object-set.md checklist 37, 83 */
RIG_TEST(what_others_change_or_delete_comes_back, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS, three_phases);
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        settle(r, 5000);
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'theirs','more':'stays'}}");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        assert_string_equal(rig_string(r, "data.more"), "stays");
        delete (r, MEMBER, CONFIG_MAP_PATH("c"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        assert_string_equal(rig_string(r, "data.more"), "");
        delete (r, MEMBER, WIDGETS "/w");
        wait_for(r, MEMBER, WIDGETS "/w", "metadata.name", "w");
        wait_for_set(r, "app-1", "Progressing", "True/Succeeded");
        stop(&a);
})

/* spec/cluster-object-set.md checklist 19 */
RIG_TEST(a_namespace_and_a_definition_may_share_a_phase_with_what_needs_them, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS,
             SET("app-1", OWNED_BY("app"), "1", "",
                 PHASE("all",
                       INLINE("{'apiVersion':'example.com/v1','kind':'Widget','metadata':{'name':'w',"
                              "'namespace':'fresh'}}") "," INLINE(CRD) "," INLINE("{'apiVersion':'v1','kind':"
                                                                                  "'ConfigMap','metadata':{'"
                                                                                  "name':'c','namespace':"
                                                                                  "'fresh'}}") "," INLINE("{'"
                                                                                                          "ap"
                                                                                                          "iV"
                                                                                                          "er"
                                                                                                          "si"
                                                                                                          "on"
                                                                                                          "':"
                                                                                                          "'v"
                                                                                                          "1'"
                                                                                                          ",'"
                                                                                                          "ki"
                                                                                                          "nd"
                                                                                                          "':"
                                                                                                          "'N"
                                                                                                          "am"
                                                                                                          "es"
                                                                                                          "pa"
                                                                                                          "ce"
                                                                                                          "',"
                                                                                                          "'m"
                                                                                                          "et"
                                                                                                          "ad"
                                                                                                          "at"
                                                                                                          "a'"
                                                                                                          ":{"
                                                                                                          "'n"
                                                                                                          "am"
                                                                                                          "e'"
                                                                                                          ":'"
                                                                                                          "fr"
                                                                                                          "es"
                                                                                                          "h'"
                                                                                                          "}"
                                                                                                          "}"))));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        assert_int_equal(get(r, MEMBER, NS "/fresh/configmaps/c"), 200);
        assert_int_equal(get(r, MEMBER, "/apis/example.com/v1/namespaces/fresh/widgets/w"), 200);
        stop(&a);
})

/* spec/cluster-object-set.md checklist 14, 32 */
RIG_TEST(a_phase_waits_for_the_one_before_and_begins_whole_or_not_at_all, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS,
             SET("app-1", OWNED_BY("app"), "1",
                 ",'progressionProbes':[{'selector':{'type':'GroupKind','groupKind':{'group':'','kind':'"
                 "ConfigMap'"
                 "}},'assertions':[{'type':'FieldValue','fieldValue':{'fieldPath':'data.ready','value':'yes'}"
                 "}]}]",
                 PHASE("first", INLINE(CONFIG_MAP("c", "1")) "," INLINE(ACCOUNT)) "," PHASE(
                         "second",
                         INLINE("{'apiVersion':'v1','kind':'Service','metadata':{'name':'s','namespace':"
                                "'nowhere'},'spec':{'ports':[{'port':80}]}}") "," INLINE(DEPLOYMENT))));
        wait_for_set(r, "app-1", "Progressing", "True/RollingOut");
        assert_set(r, "app-1", "Progressing",
                   "True/RollingOut Revision 1 is rolling out. Phase \"first\" (1/2).");
        assert_set(r, "app-1", "Available",
                   "False/ProbeFailure Object ConfigMap.v1 default/c: missing key: \"data.ready\"");
        assert_int_equal(get(r, MEMBER, "/api/v1/namespaces/default/serviceaccounts/sa"), 200);
        settle(r, 20000);
        assert_int_equal(get(r, MEMBER, SITE), 404);
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'ready':'yes'}}");
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        assert_set(r, "app-1", "Progressing",
                   "True/Retrying phase 1 validation error: phase \"second\": /v1, Kind=Service nowhere/s: "
                   "namespace \"nowhere\" does not exist");
        settle(r, 20000);
        assert_int_equal(get(r, MEMBER, SITE), 404);
        post(r, MEMBER, NS, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'nowhere'}}");
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        stop(&a);
})

/* spec/cluster-object-set.md checklist 15 */
RIG_TEST(a_set_without_objects_has_rolled_out_at_once, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS, SET("app-1", OWNED_BY("app"), "1", "", ""));
        post(r, MEMBER, SETS, SET("app-2", OWNED_BY("other"), "1", "", PHASE("none", "")));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        wait_for_set(r, "app-2", "Succeeded", "True/Succeeded");
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_set_rolls_out_phase_by_phase_and_succeeds),
                cmocka_unit_test(a_steady_set_costs_no_request),
                cmocka_unit_test(what_others_change_or_delete_comes_back),
                cmocka_unit_test(a_namespace_and_a_definition_may_share_a_phase_with_what_needs_them),
                cmocka_unit_test(a_phase_waits_for_the_one_before_and_begins_whole_or_not_at_all),
                cmocka_unit_test(a_set_without_objects_has_rolled_out_at_once),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
