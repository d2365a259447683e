/* Apply strategies: which of them are one and the same. */
#include "hub-agent/rollout/rollout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const struct placement *placement_of(const char *json, struct arena *arena)
{
        struct error err;
        struct object *o;

        if (object_decode_arena(&cluster_resource_placement_kind, slice_of(json), arena, &o, &err) < 0)
                fail_msg("%s: %s", json, err.text);
        return (const struct placement *)o;
}

static void strategies_are_alike_only_in_all_parts(void **state)
{
        static const char *const others[] = {
                "\"type\":\"ReportDiff\"",
                "\"comparisonOption\":\"FullComparison\"",
                "\"whenToApply\":\"IfNotDrifted\"",
                "\"whenToTakeOver\":\"Never\"",
                "\"allowCoOwnership\":true",
                "\"type\":\"ServerSideApply\"",
                "\"type\":\"ServerSideApply\",\"serverSideApplyConfig\":{\"force\":true}",
        };
        struct apply_strategy *made[ARRAY_LEN(others) + 1];
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i <= ARRAY_LEN(others); i++) {
                char json[256];

                snprintf(json, sizeof(json),
                         "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"strategy\":{"
                         "\"applyStrategy\":{%s}}}}",
                         i ? others[i - 1] : "");
                made[i] = defaulted_apply_strategy(placement_of(json, &arena), &arena);
                assert_non_null(made[i]);
                for (size_t k = 0; k <= i; k++)
                        assert_int_equal(equal_apply_strategies(made[i], made[k]), i == k);
        }
        assert_true(equal_apply_strategies(NULL, NULL));
        assert_false(equal_apply_strategies(made[0], NULL));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(strategies_are_alike_only_in_all_parts),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
