/* What is told while an object moves between the Works of one placement: nothing failed. */
#include "member-agent/moves_test.h"

/* The heir comes first, and the Work that has the object still lists it. */
static void early_heir_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        make_part(r, "", &(struct part){ "w", 1, 1, A "," B });
        wait_until_applied(r, "w", 1);
        make_part(r, "", &(struct part){ "w-1", 2, 2, B2 });
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        assert_string_equal(owner_of(r, B_PATH), "w");
        get(r, HUB, WORKS "/w-1");
        assert_null(strstr(r->text, "ManifestsAreNotApplied"));
        change_part(r, &(struct part){ "w", 2, 2, A });
        wait_for_owner(r, B_PATH, "w-1");
        wait_until_applied(r, "w-1", 1);
        stop(&a);
}

static void an_heir_that_comes_early_tells_no_failure(void **state)
{
        rig_run(early_heir_body);
}

/* Who has the object is of the same set: both list it, which is no move. */
static void twins_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        make_part(r, "", &(struct part){ "w", 1, 2, A "," B });
        wait_until_applied(r, "w", 1);
        make_part(r, "", &(struct part){ "w-1", 1, 2, B2 });
        wait_for(r, HUB, WORKS "/w-1", "type=Applied", "SomeManifestsAreNotApplied");
        assert_string_equal(owner_of(r, B_PATH), "w");
        stop(&a);
}

static void what_two_works_of_one_set_list_is_a_conflict(void **state)
{
        rig_run(twins_body);
}

/* A user's object has an owner of its own that is called as the sibling which lets everything go. */
static void namesake_body(struct rig *r)
{
        const char *path = CONFIG_MAP_PATH("w"), *uid;
        struct agent a;

        begin(&a, r);
        post(r, MEMBER, "/api/v1/namespaces/default/configmaps", CONFIG_MAP("w", "1"));
        uid = uid_of(r, path);
        post(r, MEMBER, "/api/v1/namespaces/default/configmaps",
             arena_printf(&r->arena,
                          "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'b','ownerReferences':["
                          "{'apiVersion':'v1','kind':'ConfigMap','name':'w','uid':'%s'}]}}",
                          uid));
        make_part(r, "", &(struct part){ "w", 1, 2, A });
        wait_until_applied(r, "w", 1);
        make_part(r, "", &(struct part){ "w-1", 1, 2, B });
        wait_for(r, HUB, WORKS "/w-1", "type=Applied", "SomeManifestsAreNotApplied");
        assert_string_equal(owner_uid_of(r, B_PATH), uid);
        stop(&a);
}

static void an_owner_with_the_name_of_a_sibling_is_none(void **state)
{
        rig_run(namesake_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_heir_that_comes_early_tells_no_failure),
                cmocka_unit_test(what_two_works_of_one_set_list_is_a_conflict),
                cmocka_unit_test(an_owner_with_the_name_of_a_sibling_is_none),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
