#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "hub-agent/placement/progress.h"

#define C(type, status, generation)                                                                          \
        "{\"type\":\"ClusterResourcePlacement" type "\",\"status\":\"" status                                \
        "\",\"reason\":\"Because\",\"message\":\"\",\"observedGeneration\":" generation                      \
        ",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}"
#define ALL                                                                                                  \
        C("Scheduled", "True", "2")                                                                          \
        "," C("RolloutStarted", "True", "2") "," C("Overridden", "True", "2") "," C(                         \
                "WorkSynchronized", "True", "2") "," C("Applied", "True", "2") "," C("Available", "True",    \
                                                                                     "2")

static const struct placement *placement(struct arena *arena, const char *conditions)
{
        struct object *o;
        struct error err = { 0 };
        const char *json = arena_printf(arena,
                                        "{\"metadata\":{\"name\":\"web\",\"generation\":2},\"spec\":{},"
                                        "\"status\":{\"conditions\":[%s]}}",
                                        conditions);

        if (object_decode_arena(&cluster_resource_placement_kind, slice_of(json), arena, &o, &err) < 0)
                fail_msg("%s: %s", json, err.text);
        return (const struct placement *)o;
}

/* spec/placement.md checklist 54 */
static void the_first_condition_that_is_not_true_is_named(void **state)
{
        static const struct {
                const char *conditions, *condition, *status, *reason;
        } rows[] = {
                { "", "ClusterResourcePlacementScheduled", "nil", "nil" },
                { C("Scheduled", "True", "1"), "ClusterResourcePlacementScheduled", "nil", "nil" },
                { C("Scheduled", "False", "2"), "ClusterResourcePlacementScheduled", "False", "Because" },
                { C("Scheduled", "True", "2"), "ClusterResourcePlacementRolloutStarted", "nil", "nil" },
                { C("Scheduled", "True", "2") "," C("RolloutStarted", "Unknown", "2"),
                  "ClusterResourcePlacementRolloutStarted", "Unknown", "Because" },
                { ALL, "Completed", "True", "Completed" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct progress_point p = progress_of(placement(&arena, rows[i].conditions));

                assert_string_equal(p.generation, "2");
                assert_string_equal(p.condition, rows[i].condition);
                assert_string_equal(p.status, rows[i].status);
                assert_string_equal(p.reason, rows[i].reason);
        }
}

static void a_placement_has_one_series_until_it_goes(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct hub_agent a = { .metrics = metrics_new(METRIC_OF_HUB) };
        const char *const waiting[] = { "", "web", "2", "ClusterResourcePlacementScheduled", "nil", "nil" };
        const char *const complete[] = { "", "web", "2", "Completed", "True", "Completed" };

        a.progress = progress_series_new();
        assert_non_null(a.progress);
        assert_non_null(a.metrics);
        progress_show(&a, placement(&arena, ""), 5000);
        assert_true(metric_value(a.metrics, METRIC_PLACEMENT_STATUS, waiting) == 5);
        progress_show(&a, placement(&arena, ALL), 7500);
        assert_true(metric_value(a.metrics, METRIC_PLACEMENT_STATUS, waiting) == 0);
        assert_true(metric_value(a.metrics, METRIC_PLACEMENT_STATUS, complete) == 7.5);
        progress_forget(&a, "web");
        assert_true(metric_value(a.metrics, METRIC_PLACEMENT_STATUS, complete) == 0);
        progress_series_free(a.progress);
        metrics_free(a.metrics);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_first_condition_that_is_not_true_is_named),
                cmocka_unit_test(a_placement_has_one_series_until_it_goes),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
