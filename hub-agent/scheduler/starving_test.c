/* Nothing is decided by a cycle that found no memory: it comes again. */
#include "hub-agent/scheduler/scheduler_test.h"
#include "hub-agent/starve_test.h"

static int decide(void *ctx, struct arena *arena)
{
        struct case_ *c = ctx;
        struct schedule_plan plan;

        return schedule_cycle(arena, &c->in, &plan, &c->err);
}

static void starve(const char *policy, const char *wanted)
{
        struct case_ c;

        begin(&c, policy, wanted);
        add_cluster(&c, "a", "\"zone\":\"x\"", ALIVE, NODES("3"), "");
        add_cluster(&c, "b", "\"zone\":\"y\"", ALIVE, NODES("abc"), "");
        add_cluster(&c, "silent", "", "2025-12-30T00:00:00Z", "", "");
        add_binding(&c, "b1", "a", "Bound", "web-0", 0, 0, "");
        add_binding(&c, "b2", "gone", "Bound", "web-0", 0, 0, "");
        each_allocation_fails(decide, &c);
        end(&c);
}

static void one_that_picks_all(void **state)
{
        starve("\"policy\":{\"placementType\":\"PickAll\"}", NULL);
}

static void one_that_picks_by_name(void **state)
{
        starve("\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"a\",\"nowhere\"]}", NULL);
}

static void one_that_scores(void **state)
{
        starve(PICK_N "," PREFERRED(PROPERTY(NODE_COUNT, "Gt", "\"1\"")) "}", "2");
}

static void one_that_spreads(void **state)
{
        starve(PICK_N ",\"topologySpreadConstraints\":[{\"topologyKey\":\"zone\"}]}", "2");
}

static void one_with_a_policy_that_makes_no_sense(void **state)
{
        starve(PICK_N "," REQUIRED(PROPERTY(NODE_COUNT, "Sometimes", "\"1\"")) "}", "2");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(one_that_picks_all),
                cmocka_unit_test(one_that_picks_by_name),
                cmocka_unit_test(one_that_scores),
                cmocka_unit_test(one_that_spreads),
                cmocka_unit_test(one_with_a_policy_that_makes_no_sense),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
