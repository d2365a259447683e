/* A Work whose end something is in the way of: it is looked at again when that changes, and else rarely. */
#include "member-agent/member_agent_test.h"

#define OBJECTS 10
#define STUCK_MS 310000 /* longer than the agent waits before it looks what is in the way */

static const char *path_of(struct rig *r, int i)
{
        return arena_printf(&r->arena, CONFIG_MAP_PATH("c") "-%d", i);
}

/* A Work of so many objects, each with somebody's finalizer, that has been going for longer than is usual. */
static void begin_stuck(struct agent *a, struct rig *r)
{
        const char *all = "";

        begin(a, r);
        for (int i = 0; i < OBJECTS; i++)
                all = arena_printf(&r->arena,
                                   "%s%s{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c-%d',"
                                   "'namespace':'default'}}",
                                   all, i ? "," : "", i);
        place(r, "w", "", all);
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        for (int i = 0; i < OBJECTS; i++)
                merge(r, MEMBER, path_of(r, i), "{'metadata':{'finalizers':['example.com/hold']}}");
        delete (r, HUB, WORKS "/w");
        assert_int_equal(fiber_sleep(r->loop, STUCK_MS), 0);
}

static void quiet_body(struct rig *r)
{
        uint64_t objects, owners;
        struct agent a;

        begin_stuck(&a, r);
        objects = requests(r, "m1", "get", "configmaps");
        owners = requests(r, "m1", "get", "appliedworks");
        assert_true(objects >= OBJECTS);
        assert_int_equal(fiber_sleep(r->loop, 300000), 0);
        assert_in_range(requests(r, "m1", "get", "configmaps") - objects, 9 * OBJECTS, 11 * OBJECTS);
        assert_in_range(requests(r, "m1", "get", "appliedworks") - owners, 9, 11);
        for (int i = 0; i < OBJECTS; i++)
                merge(r, MEMBER, path_of(r, i), "{'metadata':{'finalizers':null}}");
        assert_int_equal(fiber_sleep(r->loop, 2000), 0);
        assert_int_equal(get(r, HUB, WORKS "/w"), 404);
        stop(&a);
}

static void what_is_in_the_way_is_looked_at_twice_a_minute(void **state)
{
        rig_run(quiet_body);
}

/* Our reference stops asking for foreground deletion as soon as there is another owner. */
static void second_owner_body(struct rig *r)
{
        const char *uid;
        json_t *ours;
        struct agent a;

        begin_stuck(&a, r);
        assert_int_equal(fiber_sleep(r->loop, 40000), 0);
        get(r, MEMBER, path_of(r, 1));
        uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        get(r, MEMBER, path_of(r, 0));
        ours = json_array_get(doc_get_array(r->answer, "metadata.ownerReferences"), 0);
        assert_true(json_is_true(json_object_get(ours, "blockOwnerDeletion")));
        merge(r, MEMBER, path_of(r, 0),
              arena_printf(&r->arena,
                           "{'metadata':{'ownerReferences':[{'apiVersion':'placement.kubernetes-fleet.io/"
                           "v1beta1','kind':'AppliedWork','name':'w','uid':'%s','blockOwnerDeletion':true},{"
                           "'apiVersion':'v1','kind':'ConfigMap','name':'c-1','uid':'%s'}]}}",
                           doc_get_string(ours, "uid"), uid));
        assert_int_equal(fiber_sleep(r->loop, 3000), 0);
        get(r, MEMBER, path_of(r, 0));
        ours = json_array_get(doc_get_array(r->answer, "metadata.ownerReferences"), 0);
        assert_string_equal(doc_get_string(ours, "kind"), "AppliedWork");
        assert_false(json_is_true(json_object_get(ours, "blockOwnerDeletion")));
        stop(&a);
}

static void a_change_in_what_is_in_the_way_is_seen_at_once(void **state)
{
        rig_run(second_owner_body);
}

/* Somebody who writes all the time makes no flood of requests. */
static void busy_body(struct rig *r)
{
        uint64_t before;
        struct agent a;

        begin_stuck(&a, r);
        before = requests(r, "m1", "get", "configmaps");
        for (int i = 0; i < 300; i++) {
                merge(r, MEMBER, path_of(r, 0), arena_printf(&r->arena, "{'data':{'k':'%d'}}", i));
                assert_int_equal(fiber_sleep(r->loop, 100), 0);
        }
        assert_in_range(requests(r, "m1", "get", "configmaps") - before, OBJECTS, 17 * OBJECTS);
        stop(&a);
}

static void changes_without_end_are_looked_at_now_and_then(void **state)
{
        rig_run(busy_body);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_is_in_the_way_is_looked_at_twice_a_minute),
                cmocka_unit_test(a_change_in_what_is_in_the_way_is_seen_at_once),
                cmocka_unit_test(changes_without_end_are_looked_at_now_and_then),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
