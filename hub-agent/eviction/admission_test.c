#include "hub-agent/eviction/eviction_test.h"

static struct admission of_eviction(struct arena *arena, const struct placement *p)
{
        struct error err = { 0 };
        struct admission a;

        assert_int_equal(eviction_admission(arena, p, &a, &err), 0);
        return a;
}

/* spec/staged-update-and-eviction.md checklist 53 */
static void an_eviction_of_a_placement_that_cannot_be_evicted_is_refused(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct placement *going = parse(&arena, &cluster_resource_placement_kind,
                                              "{\"metadata\":{\"name\":\"web\",\"deletionTimestamp\":"
                                              "\"2026-01-01T00:00:00Z\"},\"spec\":{\"policy\":{"
                                              "\"placementType\":\"PickFixed\"}}}");
        struct admission a = of_eviction(&arena, going);

        assert_false(a.allowed);
        assert_string_equal(a.message, "cluster resource placement web is being deleted");
        a = of_eviction(&arena, placement_of(&arena, "PickFixed"));
        assert_false(a.allowed);
        assert_string_equal(a.message, "cluster resource placement policy type PickFixed is not supported");
}

static void an_eviction_of_any_other_placement_is_let_in(void **state)
{
        static const char *const policies[] = { "", "PickAll", "PickN 3" };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct admission a;

        for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
                a = of_eviction(&arena, placement_of(&arena, policies[i]));
                assert_true(a.allowed);
                assert_null(a.message);
        }
        a = of_eviction(&arena, NULL);
        assert_true(a.allowed);
        assert_string_equal(a.message, "Associated clusterResourcePlacement object for "
                                       "clusterResourcePlacementEviction is not found");
}

#define NOT_MAX                                                                                              \
        "cluster resource placement policy type PickAll is not supported with any specified max "            \
        "unavailable "
#define NOT_PERCENT                                                                                          \
        "cluster resource placement policy type PickAll is not supported with min available as a "           \
        "percentage "

/* spec/staged-update-and-eviction.md checklist 53 */
static void a_budget_that_nobody_could_measure_is_refused(void **state)
{
        static const struct {
                const char *policy, *budget, *refusal;
        } cases[] = {
                { "", "max 1", NOT_MAX "1" },
                { "PickAll", "max 1", NOT_MAX "1" },
                { "PickAll", "max 0", NOT_MAX "0" },
                { "PickAll", "max 50%", NOT_MAX "50%" },
                { "", "min 50%", NOT_PERCENT "50%" },
                { "PickAll", "min 0%", NOT_PERCENT "0%" },
                { "PickAll", "min 1" },
                { "PickAll", "" },
                { "PickN 3", "max 1" },
                { "PickN 3", "max 50%" },
                { "PickN 3", "min 50%" },
                { "PickFixed", "max 1" },
                { "PickFixed", "min 50%" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct error err = { 0 };
                struct admission a;

                assert_int_equal(budget_admission(&arena, budget_of(&arena, cases[i].budget),
                                                  placement_of(&arena, cases[i].policy), &a, &err),
                                 0);
                assert_int_equal(a.allowed, !cases[i].refusal);
                if (cases[i].refusal)
                        assert_string_equal(a.message, cases[i].refusal);
                else
                        assert_null(a.message);
        }
}

static void a_budget_without_a_placement_is_let_in(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };
        struct admission a;

        assert_int_equal(budget_admission(&arena, budget_of(&arena, "max 1"), NULL, &a, &err), 0);
        assert_true(a.allowed);
        assert_string_equal(a.message, "Associated clusterResourcePlacement object for "
                                       "clusterResourcePlacementDisruptionBudget is not found");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_eviction_of_a_placement_that_cannot_be_evicted_is_refused),
                cmocka_unit_test(an_eviction_of_any_other_placement_is_let_in),
                cmocka_unit_test(a_budget_that_nobody_could_measure_is_refused),
                cmocka_unit_test(a_budget_without_a_placement_is_let_in),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
