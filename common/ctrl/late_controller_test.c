/* Controllers whose kinds may be absent: they are added when the kinds are there, and hold up nobody. */
#include "common/ctrl/controller_test.h"

#define CRD                                                                                                  \
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"                                           \
        "internalmemberclusters.cluster.kubernetes-fleet.io"
#define LATE "/apis/cluster.kubernetes-fleet.io/v1beta1/namespaces/default/internalmemberclusters"

static struct outcome reconcile_late(struct reconcile *rc)
{
        struct bench *b = rc->agent;
        struct visit v = { .at_ms = loop_now_ms(b->rig->loop) };

        snprintf(v.key, sizeof(v.key), "%s", rc->key);
        assert_int_equal(vec_push(&b->visits, v), 0);
        return done();
}

static const struct watch late_watches[] = { { &internal_member_cluster_kind, ON_ALL, NULL } };
static const struct controller late = { .name = "late",
                                        .watches = late_watches,
                                        .n_watches = ARRAY_LEN(late_watches),
                                        .reconcile = reconcile_late,
                                        .optional = true };

static void make_late(struct rig *r, const char *name)
{
        char body[256];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"cluster.kubernetes-fleet.io/v1beta1\",\"kind\":\"InternalMemberCluster\","
                 "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"state\":\"Join\"}}",
                 name);
        assert_int_equal(rig_post(r, LATE, body), 201);
}

static bool is_visited(const struct bench *b, const char *key)
{
        vec_for_each(&b->visits, v)
                if (text_equal(v->key, key))
                        return true;
        return false;
}

static void is_ready(struct bench *b)
{
        AUTO_BUF struct buf why_not;

        buf_init(&why_not, 1000);
        if (!manager_ready(b->manager, &why_not))
                fail_msg("%s", why_not.data);
}

RIG_TEST(a_controller_that_is_added_while_the_manager_leads_begins_at_once, {
        struct bench b;

        open_bench(r, &b, true);
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"default\"}}");
        make_late(r, "x");
        run_manager(&b);
        assert_true(manager_is_leader(b.manager));
        assert_int_equal(manager_add_controller(b.manager, &late), 0);
        wait_ms(&b, 1000);
        assert_true(is_visited(&b, "default/x"));
        make_late(r, "y");
        wait_ms(&b, 1000);
        assert_true(is_visited(&b, "default/y"));
        close_bench(&b);
})

RIG_TEST(one_that_is_added_before_begins_with_the_lease_and_again_with_the_next, {
        struct bench b;

        open_bench(r, &b, true);
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"default\"}}");
        assert_int_equal(rig_post(r, "/apis/coordination.k8s.io/v1/namespaces/default/leases",
                                  "{\"metadata\":{\"name\":\"test\"},\"spec\":{\"holderIdentity\":\"other\","
                                  "\"leaseDurationSeconds\":15}}"),
                         201);
        run_manager(&b);
        assert_false(manager_is_leader(b.manager));
        make_late(r, "x");
        assert_int_equal(manager_add_controller(b.manager, &late), 0);
        wait_ms(&b, 5000);
        assert_false(is_visited(&b, "default/x"));
        wait_ms(&b, 30000);
        assert_true(manager_is_leader(b.manager));
        assert_true(is_visited(&b, "default/x"));
        close_bench(&b);
})

/* Whoever may remove a definition could keep reviews from being answered. */
RIG_TEST(an_agent_is_ready_though_the_kind_of_an_optional_controller_is_gone, {
        struct bench b;

        assert_int_equal(rig_get(r, GROUP), 404);
        open_bench(r, &b, false);
        assert_int_equal(rig_delete(r, CRD), 200);
        rig_settle(r);
        assert_int_equal(manager_add_controller(b.manager, &late), 0);
        make(r, "a");
        run_manager(&b);
        assert_true(is_visited(&b, "a"));
        is_ready(&b);
        wait_ms(&b, 120000);
        is_ready(&b);
        close_bench(&b);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_controller_that_is_added_while_the_manager_leads_begins_at_once),
                cmocka_unit_test(one_that_is_added_before_begins_with_the_lease_and_again_with_the_next),
                cmocka_unit_test(an_agent_is_ready_though_the_kind_of_an_optional_controller_is_gone),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
