/* Objects that exist already, and the progress deadline: spec/cluster-object-set.md 9, 11. */
#include "member-agent/object_set_test.h"

#define WITH(protection, objects)                                                                            \
        "{'apiVersion':'olm.operatorframework.io/v1','kind':'ClusterObjectSet','metadata':{'name':'app-1'}," \
        "'spec':{'lifecycleState':'Active','revision':1,'collisionProtection':'" protection                  \
        "','phases':[" PHASE("one", objects) "]}}"
#define THEIRS(owners)                                                                                       \
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','namespace':'default'" owners          \
        "},'data':{'k':'theirs'}}"
#define CONTROLLED                                                                                           \
        ",'ownerReferences':[{'apiVersion':'v1','kind':'Namespace','name':'default','uid':'%s','controller'" \
        ":"                                                                                                  \
        "true}]"
#define C INLINE(CONFIG_MAP("c", "1"))
#define D INLINE(CONFIG_MAP("d", "1"))

struct meeting {
        const char *set;
        bool controlled, adopted;
};

static void meeting_body(struct rig *r)
{
        const struct meeting *m = r->ctx;
        const char *text = m->controlled ? THEIRS(CONTROLLED) : THEIRS("%.0s");
        struct agent a;

        begin_sets(&a, r);
        get(r, MEMBER, NS "/default");
        post(r, MEMBER, CONFIG_MAPS, arena_printf(&r->arena, text, rig_string(r, "metadata.uid")));
        post(r, MEMBER, SETS, m->set);
        wait_for_set(r, "app-1", "Progressing", m->adopted ? "True/Succeeded" : "True/Retrying");
        settle(r, 15000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("d")), 200);
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_string_equal(rig_string(r, "data.k"), m->adopted ? "1" : "theirs");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.ownerReferences")),
                         (size_t)m->controlled + m->adopted);
        if (m->adopted && m->controlled)
                assert_false(
                        doc_get_bool(json_array_get(doc_get_array(r->answer, "metadata.ownerReferences"), 0),
                                     "controller", true));
        if (!m->adopted)
                assert_true(text_starts_with(set_says(r, "app-1", "Progressing"),
                                             "True/Retrying revision object collisions in phase 0\n"));
        stop(&a);
}

#define BY(protection) "{'collisionProtection':'" protection "','object':" CONFIG_MAP("c", "1") "}"

/* spec/cluster-object-set.md checklist 16, 40, 41, 42, 43 */
static void what_exists_is_adopted_as_far_as_it_is_allowed(void **state)
{
        static const struct meeting meetings[] = {
                { WITH("Prevent", C "," D), false, false },
                { WITH("Prevent", C "," D), true, false },
                { WITH("IfNoController", C "," D), false, true },
                { WITH("IfNoController", C "," D), true, false },
                { WITH("None", C "," D), true, true },
                { WITH("None", BY("Prevent") "," D), false, false },
                { WITH("Prevent", BY("IfNoController") "," D), false, true },
        };

        for (size_t i = 0; i < ARRAY_LEN(meetings); i++)
                rig_run_for(meeting_body, (void *)(uintptr_t)&meetings[i]);
}

/* spec/cluster-object-set.md checklist 46 */
RIG_TEST(a_collision_is_over_when_the_object_goes, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, CONFIG_MAPS, THEIRS(""));
        post(r, MEMBER, SETS, WITH("Prevent", C));
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        settle(r, 5000);
        delete (r, MEMBER, CONFIG_MAP_PATH("c"));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        stop(&a);
})

/* spec/cluster-object-set.md checklist 44 */
RIG_TEST(sets_and_works_leave_each_other_alone, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "placed"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        post(r, MEMBER, SETS, WITH("IfNoController", C "," D));
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        assert_true(text_starts_with(
                set_says(r, "app-1", "Progressing"),
                "True/Retrying revision object collisions in phase 0\nControlled by AppliedWork \"w\"; "));
        place(r, "v", "", CONFIG_MAP("d", "placed"));
        wait_for(r, HUB, WORKS "/v", "type=Applied", "SomeManifestsAreNotApplied");
        settle(r, 30000);
        assert_string_equal(manifest_reason(r, "v", 0, "Applied"), "FailedToTakeOver");
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_string_equal(rig_string(r, "data.k"), "placed");
        get(r, MEMBER, CONFIG_MAP_PATH("d"));
        assert_string_equal(rig_string(r, "data.k"), "1");
        stop(&a);
})

#define LIMITED(revision)                                                                                    \
        SET("app-1", OWNED_BY("app"), revision, ",'progressDeadlineMinutes':10", PHASE("one", C))
#define EXCEEDED "False/ProgressDeadlineExceeded Revision has not rolled out for 10 minute(s). Last status: "

/* spec/cluster-object-set.md checklist 32: what is there already is tried as it would be adopted. */
RIG_TEST(what_could_not_be_adopted_keeps_its_phase_from_being_applied, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, CONFIG_MAPS,
             "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'b','namespace':'default'},"
             "'immutable':true,'data':{'k':'theirs'}}");
        post(r, MEMBER, SETS,
             SET("app-1", OWNED_BY("app"), "1", "",
                 "{'name':'one','collisionProtection':'IfNoController','objects':[" INLINE(
                         CONFIG_MAP("a", "1")) "," INLINE(CONFIG_MAP("b", "1")) "]}"));
        wait_for_set(r, "app-1", "Progressing", "True/Retrying phase 0 validation error: phase \"one\": ");
        settle(r, 30000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("a")), 404);
        stop(&a);
})

/* spec/cluster-object-set.md checklist 60, 61, 62 */
RIG_TEST(a_deadline_is_told_in_time_and_ends_nothing, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, CONFIG_MAPS, THEIRS(""));
        post(r, MEMBER, SETS, LIMITED("1"));
        settle(r, 10 * 60 * 1000 - 2000);
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        settle(r, 3000);
        assert_true(
                text_starts_with(set_says(r, "app-1", "Progressing"), EXCEEDED "revision object collisions"));
        delete (r, MEMBER, CONFIG_MAP_PATH("c"));
        wait_for_set(r, "app-1", "Progressing", "True/Succeeded");
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_exists_is_adopted_as_far_as_it_is_allowed),
                cmocka_unit_test(a_collision_is_over_when_the_object_goes),
                cmocka_unit_test(sets_and_works_leave_each_other_alone),
                cmocka_unit_test(what_could_not_be_adopted_keeps_its_phase_from_being_applied),
                cmocka_unit_test(a_deadline_is_told_in_time_and_ends_nothing),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
