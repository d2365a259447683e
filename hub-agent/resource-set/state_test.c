#include "hub-agent/resource-set/state.h"

#include "hub-agent/resource-set/testing.h"

static void note(struct arena *arena, struct resource_set *set, const char *digest, const char *status,
                 int64_t now_ms)
{
        struct history_note n = { .digest = digest,
                                  .status = status,
                                  .now_ms = now_ms,
                                  .took_ms = 2818,
                                  .counted = !text_equal(status, REASON_FLUX_BUILD_FAILED),
                                  .n_inputs = 2,
                                  .n_resources = 4 };

        assert_int_equal(history_note(set, &n, arena), 0);
}

/* spec/resource-set.md checklist 102 */
static void runs_alike_are_counted_and_five_kinds_are_kept(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_set *set = set_of(&arena, "{spec: {}}");
        const struct resource_set_snapshot_list *l;

        note(&arena, set, "a", REASON_FLUX_SUCCEEDED, 1000);
        note(&arena, set, "a", REASON_FLUX_FAILED, 2000);
        note(&arena, set, "a", REASON_FLUX_SUCCEEDED, 3000);
        l = &set->status->history;
        assert_int_equal(l->n, 2);
        assert_string_equal(l->at[0].last_reconciled_status, REASON_FLUX_SUCCEEDED);
        assert_int_equal(l->at[0].total_reconciliations.value, 2);
        assert_int_equal(l->at[0].first_reconciled, 1000);
        assert_int_equal(l->at[0].last_reconciled, 3000);
        assert_string_equal(l->at[0].last_reconciled_duration, "2.818s");
        assert_string_equal(string_map_get(&l->at[0].metadata, "inputs"), "2");
        assert_string_equal(string_map_get(&l->at[0].metadata, "resources"), "4");
        for (int i = 0; i < 5; i++)
                note(&arena, set, arena_printf(&arena, "d%d", i), REASON_FLUX_BUILD_FAILED, 4000 + i);
        assert_int_equal(l->n, 5);
        assert_string_equal(l->at[0].digest, "d4");
        assert_int_equal(l->at[0].metadata.n, 0);
        assert_string_equal(l->at[4].digest, "d0");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(runs_alike_are_counted_and_five_kinds_are_kept),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
