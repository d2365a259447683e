/* Revisions take over from each other, are archived and deleted: spec/cluster-object-set.md 4, 12. */
#include "member-agent/object_set_test.h"

#define FIRST(objects) SET("app-1", OWNED_BY("app"), "1", "", PHASE("one", objects))
#define READY_PROBE                                                                                          \
        ",'progressionProbes':[{'selector':{'type':'GroupKind','groupKind':{'group':'','kind':'ConfigMap'}}" \
        ","                                                                                                  \
        "'assertions':[{'type':'FieldValue','fieldValue':{'fieldPath':'data.ready','value':'yes'}}]}]"
#define SECOND(spec, objects) SET("app-2", OWNED_BY("app"), "2", spec, PHASE("one", objects))
#define A(value) INLINE(CONFIG_MAP("a", value))
#define B(value) INLINE(CONFIG_MAP("b", value))

/* The set that controls a ConfigMap; "" = none. */
static const char *controller_of(struct rig *r, const char *path)
{
        size_t i;
        json_t *owner;

        get(r, MEMBER, path);
        json_array_foreach(doc_get_array(r->answer, "metadata.ownerReferences"), i, owner)
                if (doc_get_bool(owner, "controller", false))
                        return doc_get_string(owner, "name");
        return "";
}

static const char *uid_of(struct rig *r, const char *path)
{
        get(r, MEMBER, path);
        return arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
}

static void begin_first(struct agent *a, struct rig *r, const char *set)
{
        begin_sets(a, r);
        post(r, MEMBER, SETS, set);
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
}

/* spec/cluster-object-set.md checklist 38, 65, 67, 68, 75, 76 */
RIG_TEST(a_later_revision_takes_over_and_archives_the_earlier, {
        const char *uid;
        struct agent a;

        begin_first(&a, r, FIRST(A("1") "," B("1")));
        uid = uid_of(r, CONFIG_MAP_PATH("a"));
        post(r, MEMBER, SETS, SECOND("", A("2")));
        wait_for_set(r, "app-2", "Succeeded", "True/Succeeded");
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        assert_set(r, "app-1", "Progressing", "False/Archived revision is archived");
        assert_set(r, "app-1", "Available", "Unknown/Archived revision is archived");
        assert_set(r, "app-1", "Succeeded", "True/Succeeded Revision succeeded rolling out.");
        settle(r, 1000);
        get(r, MEMBER, SETS "/app-1");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.finalizers")), 0);
        assert_string_equal(controller_of(r, CONFIG_MAP_PATH("a")), "app-2");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.ownerReferences")), 1);
        assert_string_equal(rig_string(r, "data.k"), "2");
        assert_string_equal(uid_of(r, CONFIG_MAP_PATH("a")), uid);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("b")), 404);
        stop(&a);
})

#define THREE(value) A(value) "," B(value) "," INLINE(CONFIG_MAP("c", value))
#define SIX(value)                                                                                           \
        PHASE("one", THREE(value))                                                                           \
        "," PHASE("two", INLINE(CONFIG_MAP("d", value)) "," INLINE(CONFIG_MAP("e", value)) "," INLINE(       \
                                 CONFIG_MAP("f", value)))

/* By the later one that takes it, by the earlier one that lets go of it in the end, and by the later one that
 * is told of that. What the earlier one loses meanwhile it loses one by one, and does not look at. */
RIG_TEST(in_a_handover_each_object_is_looked_at_three_times, {
        struct agent a;
        uint64_t looks;

        begin_first(&a, r, SET("app-1", OWNED_BY("app"), "1", "", SIX("1")));
        settle(r, 10000);
        looks = requests(r, "m1", "get", "configmaps");
        post(r, MEMBER, SETS, SET("app-2", OWNED_BY("app"), "2", "", SIX("2")));
        wait_for_set(r, "app-2", "Succeeded", "True/Succeeded");
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        settle(r, 60000);
        assert_int_equal(requests(r, "m1", "get", "configmaps") - looks, 3 * 6);
        stop(&a);
})

/* A later revision may stop half way. */
RIG_TEST(what_an_earlier_revision_lost_is_looked_at_together_after_a_while, {
        struct agent a;
        uint64_t looks;

        begin_first(&a, r, SET("app-1", OWNED_BY("app"), "1", "", SIX("1")));
        settle(r, 10000);
        post(r, MEMBER, SETS, SET("app-2", OWNED_BY("app"), "2", READY_PROBE, SIX("2")));
        wait_for_set(r, "app-2", "Progressing", "True/RollingOut");
        settle(r, 5000);
        looks = requests(r, "m1", "get", "configmaps");
        settle(r, 60000);
        assert_int_equal(requests(r, "m1", "get", "configmaps") - looks, 3);
        delete (r, MEMBER, CONFIG_MAP_PATH("f")); /* what it still has it makes again at once */
        settle(r, 1000);
        assert_string_equal(controller_of(r, CONFIG_MAP_PATH("f")), "app-1");
        stop(&a);
})

/* spec/cluster-object-set.md checklist 65, 66, 67, 72 */
RIG_TEST(an_earlier_revision_stays_and_keeps_the_rest_while_the_later_is_not_complete, {
        struct agent a;

        begin_first(&a, r, FIRST(A("1") "," B("1")));
        post(r, MEMBER, SETS, SECOND(READY_PROBE, A("2")));
        wait_for_set(r, "app-2", "Progressing", "True/RollingOut");
        settle(r, 30000);
        assert_string_equal(controller_of(r, CONFIG_MAP_PATH("a")), "app-2");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.ownerReferences")), 2);
        assert_string_equal(rig_string(r, "data.k"), "2");
        assert_string_equal(controller_of(r, CONFIG_MAP_PATH("b")), "app-1");
        assert_set(r, "app-1", "Available",
                   "True/ProbesSucceeded Objects are available and pass all probes.");
        merge(r, MEMBER, CONFIG_MAP_PATH("b"), "{'data':{'k':'theirs'}}");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("b"), "data.k", "1");
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'data':{'ready':'yes'}}");
        wait_for_set(r, "app-2", "Succeeded", "True/Succeeded");
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("b")), 404);
        stop(&a);
})

/* spec/cluster-object-set.md checklist 71 */
RIG_TEST(a_revision_that_comes_late_creates_nothing, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS, SECOND("", A("2")));
        wait_for_set(r, "app-2", "Succeeded", "True/Succeeded");
        post(r, MEMBER, SETS, FIRST(A("1") "," B("1")));
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("b")), 404);
        assert_int_equal(requests(r, "m1", "patch", "configmaps"), 2); /* tried, and done */
        get(r, MEMBER, CONFIG_MAP_PATH("a"));
        assert_string_equal(rig_string(r, "data.k"), "2");
        stop(&a);
})

/* spec/cluster-object-set.md checklist 69 */
RIG_TEST(sets_of_another_owner_take_nothing_and_archive_nobody, {
        struct agent a;

        begin_first(&a, r, FIRST(A("1")));
        post(r, MEMBER, SETS, SET("other-2", OWNED_BY("other"), "2", "", PHASE("one", A("2"))));
        wait_for_set(r, "other-2", "Progressing", "True/Retrying");
        assert_true(text_starts_with(set_says(r, "other-2", "Progressing"),
                                     "True/Retrying revision object collisions in phase 0\n"));
        assert_non_null(strstr(set_says(r, "other-2", "Progressing"),
                               "Conflicting Owner: &OwnerReference{Kind:ClusterObjectSet,Name:app-1,UID:"));
        settle(r, 30000);
        assert_string_equal(controller_of(r, CONFIG_MAP_PATH("a")), "app-1");
        assert_set(r, "app-1", "Progressing", "True/Succeeded Revision 1 has rolled out.");
        delete (r, MEMBER, SETS "/app-1");
        wait_for_set(r, "other-2", "Succeeded", "True/Succeeded");
        assert_string_equal(controller_of(r, CONFIG_MAP_PATH("a")), "other-2");
        stop(&a);
})

/* spec/cluster-object-set.md checklist 73, 74 */
RIG_TEST(archiving_takes_the_last_phase_first_and_waits_for_finalizers, {
        struct agent a;

        begin_first(&a, r,
                    SET("app-1", OWNED_BY("app"), "1", "", PHASE("one", A("1")) "," PHASE("two", B("1"))));
        settle(r, 5000);
        merge(r, MEMBER, CONFIG_MAP_PATH("b"), "{'metadata':{'finalizers':['example.com/held']}}");
        settle(r, 5000);
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        assert_set(r, "app-1", "Progressing",
                   "True/Retrying removing revision resources that are not owned by another revision: "
                   "waiting for "
                   "/v1, Kind=ConfigMap default/b, finalizers: example.com/held");
        settle(r, 20000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("a")), 200);
        merge(r, MEMBER, CONFIG_MAP_PATH("b"), "{'metadata':{'finalizers':null}}");
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("a")), 404);
        stop(&a);
})

/* spec/cluster-object-set.md checklist 82: somebody holds the set, and makes and deletes an object of it. */
RIG_TEST(a_set_that_goes_applies_nothing, {
        struct agent a;

        begin_first(&a, r, FIRST(A("1") "," B("1")));
        settle(r, 5000);
        merge(r, MEMBER, SETS "/app-1",
              "{'metadata':{'finalizers':['olm.operatorframework.io/teardown','example.com/held']}}");
        delete (r, MEMBER, SETS "/app-1");
        settle(r, 10000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("a")), 404);
        post(r, MEMBER, CONFIG_MAPS, CONFIG_MAP("a", "theirs"));
        settle(r, 5000);
        delete (r, MEMBER, CONFIG_MAP_PATH("a"));
        merge(r, MEMBER, SETS "/app-1", "{'metadata':{'labels':{'x':'y'}}}");
        settle(r, 60000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("a")), 404);
        get(r, MEMBER, SETS "/app-1");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.finalizers")), 1);
        stop(&a);
})

/* spec/cluster-object-set.md checklist 79 */
RIG_TEST(a_deleted_set_takes_its_objects_along, {
        struct agent a;

        begin_first(&a, r, FIRST(A("1") "," B("1")));
        delete (r, MEMBER, SETS "/app-1");
        wait_until_gone(r, MEMBER, SETS "/app-1");
        settle(r, 5000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("a")), 404);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("b")), 404);
        stop(&a);
})

/* spec/cluster-object-set.md checklist 45, 81 */
RIG_TEST(orphans_are_plainly_nobodys_and_may_be_adopted_again, {
        struct agent a;

        begin_first(&a, r, FIRST(A("1")));
        delete (r, MEMBER, SETS "/app-1?propagationPolicy=Orphan");
        wait_until_gone(r, MEMBER, SETS "/app-1");
        settle(r, 10000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("a")), 200);
        assert_null(doc_get(r->answer, "metadata.ownerReferences"));
        assert_int_equal(json_object_size(doc_get(r->answer, "metadata.annotations")), 0);
        assert_int_equal(json_object_size(doc_get(r->answer, "metadata.labels")), 0);
        post(r, MEMBER, SETS,
             "{'apiVersion':'olm.operatorframework.io/"
             "v1','kind':'ClusterObjectSet','metadata':{'name':'new'},"
             "'spec':{'lifecycleState':'Active','revision':1,'collisionProtection':'IfNoController','phases':"
             "[" PHASE("one", A("3")) "]}}");
        wait_for_set(r, "new", "Succeeded", "True/Succeeded");
        assert_string_equal(controller_of(r, CONFIG_MAP_PATH("a")), "new");
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_later_revision_takes_over_and_archives_the_earlier),
                cmocka_unit_test(in_a_handover_each_object_is_looked_at_three_times),
                cmocka_unit_test(what_an_earlier_revision_lost_is_looked_at_together_after_a_while),
                cmocka_unit_test(
                        an_earlier_revision_stays_and_keeps_the_rest_while_the_later_is_not_complete),
                cmocka_unit_test(a_revision_that_comes_late_creates_nothing),
                cmocka_unit_test(sets_of_another_owner_take_nothing_and_archive_nobody),
                cmocka_unit_test(archiving_takes_the_last_phase_first_and_waits_for_finalizers),
                cmocka_unit_test(a_set_that_goes_applies_nothing),
                cmocka_unit_test(a_deleted_set_takes_its_objects_along),
                cmocka_unit_test(orphans_are_plainly_nobodys_and_may_be_adopted_again),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
