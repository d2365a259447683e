/* A Work that goes and leaves what it placed: the hub marks it before it deletes it. */
#include "member-agent/member_agent_test.h"

#include "proto/names.h"

#define MARK(policy) "{'metadata':{'annotations':{'" ANNOTATION_DELETE_POLICY "':'" policy "'}}}"

static void begin_with_work(struct agent *a, struct rig *r)
{
        begin(a, r);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
}

RIG_TEST(an_abandoned_object_stays_and_belongs_to_nobody, {
        struct agent a;
        char uid[64];

        begin_with_work(&a, r);
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        snprintf(uid, sizeof(uid), "%s", rig_string(r, "metadata.uid"));
        merge(r, HUB, WORKS "/w", MARK("Abandon"));
        delete (r, HUB, WORKS "/w");
        wait_until_gone(r, HUB, WORKS "/w");
        assert_int_equal(get(r, MEMBER, APPLIED_WORKS "/w"), 404);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 200);
        assert_string_equal(rig_string(r, "metadata.uid"), uid);
        assert_string_equal(rig_string(r, "data.k"), "1");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.ownerReferences")), 0);
        stop(&a);
})

RIG_TEST(nobody_minds_what_was_abandoned, {
        struct agent a;

        begin_with_work(&a, r);
        merge(r, HUB, WORKS "/w", MARK("Abandon"));
        delete (r, HUB, WORKS "/w");
        wait_until_gone(r, HUB, WORKS "/w");
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'edited'}}");
        fiber_sleep(r->loop, 300000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 200);
        assert_string_equal(rig_string(r, "data.k"), "edited");
        place(r, "w", "", CONFIG_MAP("c", "2")); /* and may be placed again */
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_string_equal(rig_string(r, "data.k"), "2");
        stop(&a);
})

RIG_TEST(another_policy_takes_the_objects_along, {
        struct agent a;

        begin_with_work(&a, r);
        merge(r, HUB, WORKS "/w", MARK("Delete"));
        delete (r, HUB, WORKS "/w");
        wait_until_gone(r, HUB, WORKS "/w");
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 404);
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_abandoned_object_stays_and_belongs_to_nobody),
                cmocka_unit_test(nobody_minds_what_was_abandoned),
                cmocka_unit_test(another_policy_takes_the_objects_along),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
