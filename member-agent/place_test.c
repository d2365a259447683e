/* Where an object belongs, and what a Work may reach: nothing that a refused manifest names is read, written,
 * taken over or removed. */
#include "member-agent/member_agent_test.h"

#define BYSTANDER                                                                                            \
        "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'bystander','namespace':'team-a'}}"
#define ADMIN                                                                                                \
        "{'apiVersion':'rbac.authorization.k8s.io/"                                                          \
        "v1','kind':'ClusterRoleBinding','metadata':{'name':'admin',"                                        \
        "'namespace':'team-a'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole','"     \
        "name':"                                                                                             \
        "'cluster-admin'},'subjects':[{'kind':'ServiceAccount','name':'me','namespace':'team-a'}]}"
#define NOWHERE "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'nowhere'},'data':{'k':'1'}}"
#define IN(ns, name)                                                                                         \
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'" name "','namespace':'" ns               \
        "'},'data':{'k':'1'}}"

static const char *const strategies[] = { "", "'applyStrategy':{'type':'ServerSideApply'},",
                                          "'applyStrategy':{'whenToTakeOver':'IfNoDiff'},",
                                          "'applyStrategy':{'type':'ReportDiff','whenToTakeOver':'Never'}," };

#define OF_PLACEMENT "'kubernetes-fleet.io/parent-placement-namespace':'team-a'"
#define OF_ENVELOPE                                                                                          \
        "'kubernetes-fleet.io/envelope-work':'ResourceEnvelope','kubernetes-fleet.io/"                       \
        "envelope-namespace':'team-a'"

static void place_labelled(struct rig *r, const char *name, const char *labels, const char *strategy,
                           const char *manifests)
{
        post(r, HUB, WORKS,
             arena_printf(&r->arena,
                          "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'Work','metadata':"
                          "{'name':'%s','labels':{%s}},"
                          "'spec':{%s'workload':{'manifests':[%s]}}}",
                          name, labels, strategy, manifests));
}

/* The message of the first condition of the manifest with that ordinal, of the Work read last. */
static const char *told(struct rig *r, size_t ordinal)
{
        const json_t *entry = json_array_get(doc_get_array(r->answer, "status.manifestConditions"), ordinal);
        const char *text = doc_get_string(json_array_get(doc_get_array(entry, "conditions"), 0), "message");

        return text ? text : "";
}

static void assert_told(struct rig *r, size_t ordinal, const char *words)
{
        if (!strstr(told(r, ordinal), words))
                fail_msg("manifest %zu: \"%s\" lacks \"%s\"", ordinal, told(r, ordinal), words);
}

static void settle_work(struct rig *r, const char *name)
{
        for (int i = 0; i < 1000; i++) {
                get(r, HUB, arena_printf(&r->arena, WORKS "/%s", name));
                if (json_array_size(doc_get_array(r->answer, "status.manifestConditions")) > 0)
                        return;
                assert_int_equal(fiber_sleep(r->loop, 10), 0);
        }
        fail_msg("Work %s has no status", name);
}

static uint64_t of_member(struct rig *r, const char *resource)
{
        static const char *const verbs[] = { "get", "create", "update", "patch", "delete" };
        uint64_t sum = 0;

        for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
                sum += requests(r, "m1", verbs[i], resource);
        return sum;
}

static void wrong_scope_body(struct rig *r)
{
        struct agent a;
        uint64_t namespaces, bindings, maps;

        begin(&a, r);
        post(r, MEMBER, NS, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'bystander'}}");
        post(r, MEMBER, NS, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'team-a'}}");
        wait_for(r, HUB, IMCS "/m1", "status.properties.kubernetes-fleet", "");
        assert_int_equal(fiber_sleep(r->loop, 1000), 0);
        namespaces = of_member(r, "namespaces");
        bindings = of_member(r, "clusterrolebindings");
        maps = of_member(r, "configmaps");
        for (size_t i = 0; i < ARRAY_LEN(strategies); i++) {
                const char *name = arena_printf(&r->arena, "w%zu", i);

                place(r, name, strategies[i], BYSTANDER "," ADMIN "," NOWHERE);
                settle_work(r, name);
                assert_told(r, 0, "Namespace is cluster-scoped, but the manifest is in namespace \"team-a\"");
                assert_told(r, 1,
                            "ClusterRoleBinding is cluster-scoped, but the manifest is in namespace "
                            "\"team-a\"");
                assert_told(r, 2, "ConfigMap is namespaced, but the manifest has no namespace");
                delete (r, HUB, arena_printf(&r->arena, WORKS "/%s", name));
                wait_until_gone(r, HUB, arena_printf(&r->arena, WORKS "/%s", name));
        }
        assert_int_equal(of_member(r, "namespaces"), namespaces);
        assert_int_equal(of_member(r, "clusterrolebindings"), bindings);
        assert_int_equal(of_member(r, "configmaps"), maps);
        assert_int_equal(get(r, MEMBER, NS "/bystander"), 200);
        assert_null(doc_get(r->answer, "metadata.ownerReferences"));
        stop(&a);
}

static void a_manifest_in_the_wrong_scope_makes_no_request(void **state)
{
        rig_run(wrong_scope_body);
}

static void other_namespace_body(struct rig *r)
{
        struct agent a;
        uint64_t namespaces, maps;

        begin(&a, r);
        post(r, MEMBER, NS, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'bystander'}}");
        post(r, MEMBER, NS, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'team-a'}}");
        post(r, MEMBER, NS "/bystander/configmaps", IN("bystander", "theirs"));
        wait_for(r, HUB, IMCS "/m1", "status.properties.kubernetes-fleet", "");
        assert_int_equal(fiber_sleep(r->loop, 1000), 0);
        namespaces = of_member(r, "namespaces");
        maps = of_member(r, "configmaps");
        for (size_t i = 0; i < 2 * ARRAY_LEN(strategies); i++) {
                const char *name = arena_printf(&r->arena, "w%zu", i);

                place_labelled(r, name, i % 2 ? OF_ENVELOPE : OF_PLACEMENT, strategies[i / 2],
                               IN("bystander", "theirs") ","
                                                         "{'apiVersion':'v1','kind':'Namespace','metadata':"
                                                         "{'name':'bystander'}}");
                settle_work(r, name);
                assert_told(r, 0,
                            "the manifest is in namespace \"bystander\", but this Work may reach namespace "
                            "\"team-a\" alone");
                assert_told(
                        r, 1,
                        "Namespace is cluster-scoped, but this Work may reach namespace \"team-a\" alone");
                delete (r, HUB, arena_printf(&r->arena, WORKS "/%s", name));
                wait_until_gone(r, HUB, arena_printf(&r->arena, WORKS "/%s", name));
        }
        assert_int_equal(of_member(r, "namespaces"), namespaces);
        assert_int_equal(of_member(r, "configmaps"), maps);
        stop(&a);
}

static void a_namespaced_work_reaches_nothing_outside_its_namespace(void **state)
{
        rig_run(other_namespace_body);
}

static void own_namespace_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        post(r, MEMBER, NS, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'team-a'}}");
        place_labelled(r, "w", OF_PLACEMENT, "", IN("team-a", "ours") "," IN("bystander", "theirs"));
        wait_for(r, MEMBER, NS "/team-a/configmaps/ours", "data.k", "1");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        replace_manifests(r, "w", IN("team-a", "ours"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        stop(&a);
}

static void a_refused_manifest_does_not_hold_up_the_others(void **state)
{
        rig_run(own_namespace_body);
}

/* What a Work may reach by its labels: namespace team-a alone, or all of the cluster. */
static void reach_body(struct rig *r)
{
        static const struct {
                const char *labels;
                bool all;
        } lines[] = {
                { "", true },
                { OF_PLACEMENT, false },
                { OF_ENVELOPE, false },
                { OF_PLACEMENT ",'kubernetes-fleet.io/envelope-work':'ResourceEnvelope',"
                               "'kubernetes-fleet.io/envelope-namespace':'bystander'",
                  false },
                { "'kubernetes-fleet.io/envelope-work':'ClusterResourceEnvelope',"
                  "'kubernetes-fleet.io/envelope-namespace':'team-a'",
                  true },
                { "'kubernetes-fleet.io/envelope-work':'ResourceEnvelope'", true },
        };
        struct agent a;

        begin(&a, r);
        post(r, MEMBER, NS, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'bystander'}}");
        post(r, MEMBER, NS, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'team-a'}}");
        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                const char *name = arena_printf(&r->arena, "w%zu", i);

                place_labelled(r, name, lines[i].labels, "",
                               IN("bystander", "theirs") "," IN("team-a", "ours"));
                settle_work(r, name);
                if (get(r, MEMBER, NS "/bystander/configmaps/theirs") != (lines[i].all ? 200 : 404))
                        fail_msg("labels %s: %d", lines[i].labels, r->status);
                assert_int_equal(get(r, MEMBER, NS "/team-a/configmaps/ours"), 200);
                delete (r, HUB, arena_printf(&r->arena, WORKS "/%s", name));
                wait_until_gone(r, HUB, arena_printf(&r->arena, WORKS "/%s", name));
        }
        stop(&a);
}

static void what_a_work_may_reach_is_said_by_its_placement_or_else_its_envelope(void **state)
{
        rig_run(reach_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_manifest_in_the_wrong_scope_makes_no_request),
                cmocka_unit_test(a_namespaced_work_reaches_nothing_outside_its_namespace),
                cmocka_unit_test(a_refused_manifest_does_not_hold_up_the_others),
                cmocka_unit_test(what_a_work_may_reach_is_said_by_its_placement_or_else_its_envelope),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
