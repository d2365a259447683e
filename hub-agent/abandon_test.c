/* What a placement that is deleted says to the members about what it placed. */
#include "hub-agent/hub_agent_test.h"

#include "proto/names.h"

#define PLACEMENT FLEET "clusterresourceplacements/web"
#define WORK FLEET "namespaces/fleet-member-member-1/works/web-work"
#define POLICY "\"" ANNOTATION_DELETE_POLICY "\":\"Abandon\""

/* The application on one member, whose Work is held as the member's agent holds it. */
static void begin(struct rig *r, struct fleet *f, const char *strategy)
{
        start(r, f);
        add_member(f, "member-1", "");
        add_app(r);
        place(r, strategy);
        settle(f);
        assert_int_equal(
                rig_merge(r, WORK, "{\"metadata\":{\"finalizers\":[\"kubernetes-fleet.io/work-cleanup\"]}}"),
                200);
        rig_settle(r);
}

static void let_go(struct rig *r)
{
        assert_int_equal(rig_merge(r, WORK, "{\"metadata\":{\"finalizers\":null}}"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, WORK), 404);
        assert_int_equal(count(r, FLEET "clusterresourcebindings"), 0);
}

#define ABANDON ",\"strategy\":{\"deleteStrategy\":{\"propagationPolicy\":\"Abandon\"}}"

RIG_TEST(works_of_a_placement_that_abandons_say_so_before_they_go, {
        struct fleet f;

        begin(r, &f, ABANDON);
        assert_int_equal(rig_get(r, WORK), 200);
        assert_null(strstr(r->text, POLICY));
        rig_delete(r, PLACEMENT);
        rig_settle(r);
        assert_int_equal(rig_get(r, WORK), 200);
        assert_non_null(strstr(r->text, POLICY));
        assert_non_null(strstr(r->text, "\"deletionTimestamp\""));
        let_go(r);
        assert_int_equal(rig_get(r, PLACEMENT), 404);
        stop(&f);
})

RIG_TEST(works_of_another_placement_do_not, {
        static const char *const strategies[] = {
                "", ",\"strategy\":{\"deleteStrategy\":{\"propagationPolicy\":\"Delete\"}}"
        };
        struct fleet f;

        for (size_t i = 0; i < ARRAY_LEN(strategies); i++) {
                if (i == 0)
                        begin(r, &f, strategies[i]);
                else
                        place(r, strategies[i]), settle(&f);
                assert_int_equal(rig_merge(r, WORK,
                                           "{\"metadata\":{\"finalizers\":[\"kubernetes-fleet.io/"
                                           "work-cleanup\"]}}"),
                                 200);
                rig_delete(r, PLACEMENT);
                rig_settle(r);
                assert_int_equal(rig_get(r, WORK), 200);
                assert_non_null(strstr(r->text, "\"deletionTimestamp\""));
                assert_null(strstr(r->text, POLICY));
                let_go(r);
        }
        stop(&f);
})

/* It is the placement's end that abandons, no cluster's. */
RIG_TEST(a_cluster_that_is_picked_no_more_is_cleaned_up, {
        struct fleet f;

        begin(r, &f, ABANDON);
        assert_int_equal(
                rig_merge(r, PLACEMENT,
                          "{\"spec\":{\"policy\":{\"placementType\":\"PickAll\",\"affinity\":{"
                          "\"clusterAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
                          "\"clusterSelectorTerms\":[{\"labelSelector\":{\"matchLabels\":{\"a\":\"b\"}}}"
                          "]}}}}}}"),
                200);
        fiber_sleep(r->loop, 5000);
        assert_int_equal(rig_get(r, WORK), 200);
        assert_non_null(strstr(r->text, "\"deletionTimestamp\""));
        assert_null(strstr(r->text, POLICY));
        let_go(r);
        stop(&f);
})

/* What somebody deleted before is on its way, and its member was told how. */
RIG_TEST(a_work_that_goes_already_is_told_nothing_more, {
        struct fleet f;

        begin(r, &f, ABANDON);
        assert_int_equal(rig_delete(r, WORK), 200);
        rig_delete(r, PLACEMENT);
        rig_settle(r);
        assert_int_equal(rig_get(r, WORK), 200);
        assert_null(strstr(r->text, POLICY));
        let_go(r);
        assert_int_equal(rig_get(r, PLACEMENT), 404);
        stop(&f);
})

/* The agent that decided is not the one that carries it out. */
RIG_TEST(what_was_decided_outlives_the_placement_and_the_agent, {
        struct fleet f;

        begin(r, &f, ABANDON);
        rig_delete(r, PLACEMENT);
        fiber_sleep(r->loop, 1);
        stop(&f);
        start_again(r, &f);
        fiber_sleep(r->loop, 5000);
        assert_int_equal(rig_get(r, WORK), 200);
        assert_non_null(strstr(r->text, POLICY));
        let_go(r);
        stop(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(works_of_a_placement_that_abandons_say_so_before_they_go),
                cmocka_unit_test(works_of_another_placement_do_not),
                cmocka_unit_test(a_cluster_that_is_picked_no_more_is_cleaned_up),
                cmocka_unit_test(a_work_that_goes_already_is_told_nothing_more),
                cmocka_unit_test(what_was_decided_outlives_the_placement_and_the_agent),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
