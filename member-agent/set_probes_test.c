/* What holds a phase back, and what does not: spec/cluster-object-set.md 5, 10. */
#include "member-agent/object_set_test.h"

/* It stays Pending. */
#define CLAIM                                                                                                \
        "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'data','namespace':'default'," \
        "'annotations':{'devcluster.argosy.dev/never-ready':'true'}},'spec':{'storageClassName':'disk',"     \
        "'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}"
#define CLASS(name, mode)                                                                                    \
        "{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'" name                  \
        "'},'provisioner':'example.com/x','volumeBindingMode':'" mode "'}"
#define CLASSES "/apis/storage.k8s.io/v1/storageclasses"
#define THEN_C PHASE("then", INLINE(CONFIG_MAP("c", "1")))
#define OF(first) SET("app-1", OWNED_BY("app"), "1", "", PHASE("first", INLINE(first)) "," THEN_C)

struct waiting {
        const char *class, *available;
        bool then_c; /* the next phase begins */
};

static void claim_body(struct rig *r)
{
        const struct waiting *w = r->ctx;
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, CLASSES, w->class);
        post(r, MEMBER, SETS, OF(CLAIM));
        wait_for_set(r, "app-1", "Available", w->available);
        settle(r, 5000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), w->then_c ? 200 : 404);
        stop(&a);
}

/* spec/cluster-object-set.md checklist 47, 50 */
static void a_claim_is_waited_for_unless_it_waits_for_its_consumer(void **state)
{
        static const struct waiting cases[] = {
                { CLASS("disk", "WaitForFirstConsumer"), "True/ProbesSucceeded ", true },
                { CLASS("disk", "Immediate"),
                  "False/ProbeFailure Object PersistentVolumeClaim.v1 default/data: value at key "
                  "\"status.phase\" "
                  "!= \"Bound\"; expected: \"Bound\" got: \"Pending\"",
                  false },
                { CLASS("another", "WaitForFirstConsumer"), "False/ProbeFailure ", false },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                rig_run_for(claim_body, (void *)(uintptr_t)&cases[i]);
}

/* spec/cluster-object-set.md checklist 48 */
RIG_TEST(a_stateful_set_completes_its_phase, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS,
             OF("{'apiVersion':'apps/v1','kind':'StatefulSet','metadata':{'name':'db','namespace':'default'},"
                "'spec':{'replicas':2,'serviceName':'db','selector':{'matchLabels':{'app':'db'}},'template':{"
                "'metadata':{'labels':{'app':'db'}},'spec':{'containers':[{'name':'c','image':'i'}]}}}}"));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        stop(&a);
})

#define MUST_BE_READY                                                                                        \
        "[{'selector':{'type':'GroupKind','groupKind':{'group':'','kind':'ConfigMap'}},'assertions':[{'"     \
        "type':"                                                                                             \
        "'FieldValue','fieldValue':{'fieldPath':'data.ready','value':'yes'}}]}]"

/* spec/cluster-object-set.md checklist 7, 83, 86 */
RIG_TEST(a_set_that_has_succeeded_may_fail_later_and_is_kept_all_the_same, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS,
             SET("app-1", OWNED_BY("app"), "1", "", PHASE("first", INLINE(CONFIG_MAP("a", "1"))) "," THEN_C));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        merge(r, MEMBER, SETS "/app-1", "{'spec':{'progressionProbes':" MUST_BE_READY "}}");
        wait_for_set(r, "app-1", "Available", "False/ProbeFailure");
        assert_set(r, "app-1", "Available",
                   "False/ProbeFailure Object ConfigMap.v1 default/a: missing key: \"data.ready\"\n"
                   "Object ConfigMap.v1 default/c: missing key: \"data.ready\"");
        assert_set(r, "app-1", "Progressing",
                   "True/RollingOut Revision 1 is rolling out. Phase \"first\" (1/2).");
        assert_set(r, "app-1", "Succeeded", "True/Succeeded Revision succeeded rolling out.");
        delete (r, MEMBER, CONFIG_MAP_PATH("c"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        merge(r, MEMBER, SETS "/app-1", "{'spec':{'progressionProbes':null}}");
        wait_for_set(r, "app-1", "Available", "True/ProbesSucceeded");
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_claim_is_waited_for_unless_it_waits_for_its_consumer),
                cmocka_unit_test(a_stateful_set_completes_its_phase),
                cmocka_unit_test(a_set_that_has_succeeded_may_fail_later_and_is_kept_all_the_same),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
