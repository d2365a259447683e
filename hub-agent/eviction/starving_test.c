/* An eviction is not decided by a pass that found no memory: it is passed over again. */
#include "hub-agent/eviction/eviction_test.h"

#include "hub-agent/starve_test.h"

struct scene {
        struct arena arena;
        struct eviction_input in;
        const struct object *bindings[1];
};

static int decide(void *ctx, struct arena *arena)
{
        struct eviction_plan plan;
        struct error err;

        return plan_eviction(arena, &((struct scene *)ctx)->in, &plan, &err);
}

static void starve(const char *policy, const char *budget, const char *state, const char *status)
{
        struct scene s = { .in.now_ms = 1 };
        char text[512];

        snprintf(text, sizeof(text),
                 "{\"metadata\":{\"name\":\"e\",\"generation\":1},\"spec\":{\"placementName\":\"web\","
                 "\"clusterName\":\"c\"},\"status\":{%s}}",
                 status);
        s.in.eviction = parse(&s.arena, &cluster_resource_placement_eviction_kind, text);
        snprintf(text, sizeof(text),
                 "{\"metadata\":{\"name\":\"b\",\"uid\":\"u\",\"resourceVersion\":\"v\"},\"spec\":{\"state\":"
                 "\"%s\",\"targetCluster\":\"c\",\"resourceSnapshotName\":\"\","
                 "\"schedulingPolicySnapshotName\":\"\"}}",
                 state);
        s.bindings[0] = parse(&s.arena, &cluster_resource_binding_kind, text);
        s.in.bindings = (struct object_list){ s.bindings, 1 };
        s.in.placement = placement_of(&s.arena, policy);
        s.in.budget = budget ? budget_of(&s.arena, budget) : NULL;
        each_allocation_fails(decide, &s);
        arena_free(&s.arena);
}

static void one_that_is_allowed(void **state)
{
        starve("PickN 2", NULL, "Bound", "");
}

static void one_that_is_allowed_by_a_budget(void **state)
{
        starve("PickN 2", "min 0", "Bound", "");
}

static void one_that_is_blocked(void **state)
{
        starve("PickN 2", "min 1", "Bound", "");
}

static void one_that_is_invalid(void **state)
{
        starve("PickFixed", NULL, "Bound", "");
}

static void one_that_was_carried_out(void **state)
{
        starve("PickN 2", NULL, "Bound",
               "\"decision\":{\"bindingName\":\"a\",\"bindingUID\":\"gone\",\"bindingResourceVersion\":\"v\","
               "\"message\":\"m\"}");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(one_that_is_allowed),      cmocka_unit_test(one_that_is_allowed_by_a_budget),
                cmocka_unit_test(one_that_is_blocked),      cmocka_unit_test(one_that_is_invalid),
                cmocka_unit_test(one_that_was_carried_out),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
