/* What sets wait for is noticed when it comes, and told before it is needed: spec/cluster-object-set.md 6.3,
 * 15, 21. */
#include "member-agent/object_set_test.h"

#define WIDGET "{'apiVersion':'example.com/v1','kind':'Widget','metadata':{'name':'w','namespace':'default'}}"
#define WIDGET_PATH "/apis/example.com/v1/namespaces/default/widgets/w"
#define DEFINITION                                                                                           \
        "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition',"                         \
        "'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com','scope':'Namespaced',"      \
        "'names':{'kind':'Widget','plural':'widgets'},'versions':[{'name':'v1','served':true,'storage':"     \
        "true,'schema':{'openAPIV3Schema':{'type':'object','x-kubernetes-preserve-unknown-fields':true}}}]}" \
        "}"
#define ELSEWHERE                                                                                            \
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'later'},'data':{'k':"     \
        "'1'}}"
#define NOT_READY                                                                                            \
        ",'progressionProbes':[{'selector':{'type':'GroupKind','groupKind':{'group':'','kind':'ConfigMap'}}" \
        ",'assertions':[{'type':'FieldValue','fieldValue':{'fieldPath':'data.ready','value':'yes'}}]}]"
#define ONE(object) SET("app-1", OWNED_BY("app"), "1", "", PHASE("one", INLINE(object)))

/* Half way between two looks. */
static void wait_between_looks(struct rig *r)
{
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        settle(r, 5000);
}

static uint64_t watches(struct rig *r)
{
        static const char *const resources[] = { "secrets", "namespaces", "customresourcedefinitions" };
        uint64_t sum = 0;

        for (size_t i = 0; i < ARRAY_LEN(resources); i++)
                sum += requests(r, "m1", "watch", resources[i]);
        return sum;
}

#define HOUR 3600000

RIG_TEST(a_kind_that_comes_wakes_who_waits_for_it, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS, ONE(WIDGET));
        wait_between_looks(r);
        post(r, MEMBER, CRDS, DEFINITION);
        settle(r, 2000);
        assert_set(r, "app-1", "Progressing", "True/Succeeded Revision 1 has rolled out.");
        stop(&a);
})

/* Which kinds there are was asked just before. */
RIG_TEST(a_kind_that_comes_at_once_is_asked_for_anew, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS, ONE(WIDGET));
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        post(r, MEMBER, CRDS, DEFINITION);
        settle(r, 500);
        assert_set(r, "app-1", "Progressing", "True/Succeeded Revision 1 has rolled out.");
        stop(&a);
})

RIG_TEST(a_namespace_that_comes_wakes_who_waits_for_it, {
        struct agent a;
        uint64_t before;

        begin_sets(&a, r);
        post(r, MEMBER, SETS, ONE(ELSEWHERE));
        wait_between_looks(r);
        assert_non_null(strstr(set_says(r, "app-1", "Progressing"), "namespace \"later\" does not exist"));
        post(r, MEMBER, NS, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'later'}}");
        settle(r, 2000);
        assert_set(r, "app-1", "Progressing", "True/Succeeded Revision 1 has rolled out.");
        before = watches(r);
        settle(r, HOUR);
        assert_int_equal(watches(r), before);
        stop(&a);
})

/* What brings kinds is none that a phase brings: nothing of its phase is written before it is refused. */
RIG_TEST(a_definition_of_a_version_that_is_not_served_holds_its_phase_up, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS,
             SET("app-1", OWNED_BY("app"), "1", "",
                 PHASE("one",
                       INLINE(CONFIG_MAP("a", "1")) "," INLINE(
                               "{'apiVersion':'apiextensions.k8s.io/v1beta1','kind':"
                               "'CustomResourceDefinition','metadata':{'name':'widgets.example.com'}}"))));
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        assert_non_null(strstr(set_says(r, "app-1", "Progressing"),
                               "no matches for kind \"CustomResourceDefinition\" in version "
                               "\"apiextensions.k8s.io/v1beta1\""));
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("a")), 404);
        stop(&a);
})

/* Not of a kind that the set brings itself. */
RIG_TEST(what_a_later_phase_lacks_is_told_while_an_earlier_one_waits, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS,
             SET("app-1", OWNED_BY("app"), "1", NOT_READY,
                 PHASE("one", INLINE(CONFIG_MAP("a", "1"))) "," PHASE("two", INLINE(WIDGET))));
        wait_for_set(r, "app-1", "Progressing", "True/RollingOut");
        assert_set(r, "app-1", "Progressing",
                   "True/RollingOut Revision 1 is rolling out. Phase \"one\" (1/2). Phase \"two\" cannot "
                   "begin: example.com/v1, Kind=Widget default/w: no matches for kind \"Widget\" in version "
                   "\"example.com/v1\".");
        settle(r, 5000);
        post(r, MEMBER, CRDS, DEFINITION);
        settle(r, 2000);
        assert_set(r, "app-1", "Progressing",
                   "True/RollingOut Revision 1 is rolling out. Phase \"one\" (1/2).");
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'data':{'ready':'yes'}}");
        wait_for_set(r, "app-1", "Progressing", "True/Succeeded");
        stop(&a);
})

RIG_TEST(what_a_set_defines_itself_is_not_missed, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS,
             SET("app-1", OWNED_BY("app"), "1", NOT_READY,
                 PHASE("one", INLINE(CONFIG_MAP("a", "1"))) "," PHASE("two", INLINE(DEFINITION)) "," PHASE(
                         "three", INLINE(WIDGET))));
        wait_for_set(r, "app-1", "Progressing", "True/RollingOut");
        assert_set(r, "app-1", "Progressing",
                   "True/RollingOut Revision 1 is rolling out. Phase \"one\" (1/3).");
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'data':{'ready':'yes'}}");
        wait_for_set(r, "app-1", "Progressing", "True/Succeeded");
        assert_int_equal(get(r, MEMBER, WIDGET_PATH), 200);
        stop(&a);
})

/* A watch is opened again and again; none is when no set waits for anything any more. */
RIG_TEST(what_nobody_waits_for_is_not_followed, {
        struct agent a;
        uint64_t before;

        begin_sets(&a, r);
        before = watches(r);
        settle(r, HOUR);
        assert_int_equal(watches(r), before);
        post(r, MEMBER, SETS, SET("app-1", OWNED_BY("app"), "1", "", PHASE("one", REF("s", "k"))));
        post(r, MEMBER, SETS,
             SET("app-2", OWNED_BY("shop"), "1", "", PHASE("one", INLINE(WIDGET) "," INLINE(ELSEWHERE))));
        settle(r, HOUR);
        assert_in_range(watches(r), before + 4, before + 100);
        delete (r, MEMBER, SETS "/app-2");
        settle(r, 5000);
        delete (r, MEMBER, SETS "/app-1");
        settle(r, 5000);
        before = watches(r);
        settle(r, HOUR);
        assert_int_equal(watches(r), before);
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_kind_that_comes_wakes_who_waits_for_it),
                cmocka_unit_test(a_kind_that_comes_at_once_is_asked_for_anew),
                cmocka_unit_test(a_namespace_that_comes_wakes_who_waits_for_it),
                cmocka_unit_test(a_definition_of_a_version_that_is_not_served_holds_its_phase_up),
                cmocka_unit_test(what_a_later_phase_lacks_is_told_while_an_earlier_one_waits),
                cmocka_unit_test(what_a_set_defines_itself_is_not_missed),
                cmocka_unit_test(what_nobody_waits_for_is_not_followed),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
