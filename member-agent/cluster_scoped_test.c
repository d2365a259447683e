/* Objects that live in no namespace are placed, left, shared and handed over like those that do. */
#include "member-agent/moves_test.h"

#define ROLES "/apis/rbac.authorization.k8s.io/v1/clusterroles"
#define ROLE_PATH ROLES "/reader"
#define ROLE_BODY(more)                                                                                      \
        "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRole','metadata':{'name':'reader'" more \
        "},'rules':[]}"
#define ROLE(mark) ROLE_BODY(",'labels':{'mark':'" mark "'}")

RIG_TEST(one_that_leaves_the_work_goes, {
        struct agent a;

        begin(&a, r);
        make_part(r, "", &(struct part){ "w", 1, 1, A "," ROLE("1") });
        wait_until_applied(r, "w", 1);
        assert_string_equal(owner_of(r, ROLE_PATH), "w");
        change_part(r, &(struct part){ "w", 2, 1, A });
        wait_until_gone(r, MEMBER, ROLE_PATH);
        stop(&a);
})

RIG_TEST(one_that_moves_to_another_work_stays_in_place, {
        const char *uid;
        struct agent a;

        begin(&a, r);
        make_part(r, "", &(struct part){ "w", 1, 1, A "," ROLE("1") });
        wait_until_applied(r, "w", 1);
        uid = uid_of(r, ROLE_PATH);
        change_part(r, &(struct part){ "w", 2, 2, A });
        make_part(r, "", &(struct part){ "w-1", 2, 2, ROLE("2") });
        wait_for(r, MEMBER, ROLE_PATH, "metadata.labels.mark", "2");
        wait_for_owner(r, ROLE_PATH, "w-1");
        assert_int_equal(fiber_sleep(r->loop, PATIENCE_MS), 0);
        assert_string_equal(uid_of(r, ROLE_PATH), uid);
        stop(&a);
})

/* ctx: whether the Work goes, or only what it says of it. */
static void shared_body(struct rig *r)
{
        const bool goes = *(const bool *)r->ctx;
        const char *uid;
        struct agent a;

        begin(&a, r);
        post(r, MEMBER, NS, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'boss'}}");
        uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        post(r, MEMBER, ROLES,
             arena_printf(
                     &r->arena,
                     ROLE_BODY(
                             ",'ownerReferences':[{'apiVersion':'v1','kind':'Namespace','name':'boss','uid':"
                             "'%s'}]"),
                     uid));
        make_part(r, "'applyStrategy':{'allowCoOwnership':true},",
                  &(struct part){ "w", 1, 1, A "," ROLE("1") });
        wait_until_applied(r, "w", 1);
        get(r, MEMBER, ROLE_PATH);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.ownerReferences")), 2);
        if (goes) {
                delete (r, HUB, WORKS "/w");
                wait_until_gone(r, HUB, WORKS "/w");
        } else {
                change_part(r, &(struct part){ "w", 2, 1, A });
        }
        assert_int_equal(fiber_sleep(r->loop, PATIENCE_MS), 0);
        assert_string_equal(owner_of(r, ROLE_PATH), "boss");
        stop(&a);
}

static void of_one_that_others_own_only_our_reference_goes(void **state)
{
        static const bool goes[] = { false, true };

        for (size_t i = 0; i < ARRAY_LEN(goes); i++)
                rig_run_for(shared_body, (void *)(uintptr_t)&goes[i]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(one_that_leaves_the_work_goes),
                cmocka_unit_test(one_that_moves_to_another_work_stays_in_place),
                cmocka_unit_test(of_one_that_others_own_only_our_reference_goes),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
