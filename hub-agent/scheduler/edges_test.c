/* What no usual fleet has: more bindings than one, than are asked for, than fit; names and policies at the
 * edge. spec/scheduler.md, where it says "Improve". */
#define CLUSTERS_MAX 1100
#include "hub-agent/scheduler/scheduler_test.h"

#include "common/json/quantity.h"
#include "hub-agent/scheduler/framework.h"

#define STALE "2025-12-31T20:00:00Z"
#define WAS(state) "\"annotations\":{\"kubernetes-fleet.io/previous-binding-state\":\"" state "\"},"

/* spec/scheduler.md 13.1: one of a cluster's bindings comes back, the obsolete one first, and the first by
 * name. */
static void of_several_bindings_on_a_cluster_one_is_taken_up(void **state)
{
        static const struct {
                struct {
                        const char *name, *state, *snapshot;
                } bindings[3];
                const char *patched, *unscheduled;
        } rows[] = {
                { { { "b1", "Unscheduled", "web-0" }, { "b2", "Bound", "web-0" } }, "b2", "" },
                { { { "b1", "Unscheduled", "web-0" }, { "b2", "Unscheduled", "web-0" } }, "b1", "" },
                { { { "b1", "Bound", "web-0" }, { "b2", "Scheduled", "web-0" } }, "b1", "b2" },
                { { { "b1", "Bound", "web-0" },
                    { "b2", "Unscheduled", "web-0" },
                    { "b3", "Bound", "web-0" } },
                  "b1",
                  "b3" },
        };
        static const struct {
                const char *policy, *wanted;
        } policies[] = { { "\"policy\":{\"placementType\":\"PickAll\"}", NULL },
                         { PICK_N "}", "1" },
                         { "\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"a\"]}", NULL } };

        for (size_t i = 0; i < ARRAY_LEN(rows) * ARRAY_LEN(policies); i++) {
                size_t row = i / ARRAY_LEN(policies), policy = i % ARRAY_LEN(policies);
                struct case_ c;

                begin(&c, policies[policy].policy, policies[policy].wanted);
                add_plain(&c, "a");
                for (size_t k = 0; k < 3 && rows[row].bindings[k].name; k++)
                        add_binding(&c, rows[row].bindings[k].name, "a", rows[row].bindings[k].state,
                                    rows[row].bindings[k].snapshot, 0, 0, WAS("Bound"));
                run(&c);
                assert_int_equal(c.plan.n_create, 0);
                assert_int_equal(c.plan.n_patch, 1);
                if (!text_equal(c.plan.patch[0].now->object.meta.name, rows[row].patched) ||
                    !text_equal(unscheduled(&c), rows[row].unscheduled))
                        fail_msg("row %zu, policy %zu: %s, unscheduled \"%s\"", row, policy,
                                 c.plan.patch[0].now->object.meta.name, unscheduled(&c));
                assert_string_equal(c.plan.scheduled.status, "True");
                end(&c);
        }
}

/* spec/scheduler.md 14.3: a status holds a thousand; what is beyond is not told. */
static void a_thousand_decisions_are_told(void **state)
{
        static const int selected[] = { 980, 999, 1000, 1050 };

        for (size_t i = 0; i < ARRAY_LEN(selected); i++) {
                struct case_ c;

                begin(&c, "\"policy\":{\"placementType\":\"PickAll\"}", NULL);
                for (int k = 0; k < 1090; k++) {
                        char name[16];

                        snprintf(name, sizeof(name), "c%04d", k);
                        add_cluster(&c, name, "", k < selected[i] ? ALIVE : STALE, "", "");
                }
                run(&c);
                assert_int_equal(c.plan.n_create, selected[i]);
                assert_int_equal(c.plan.n_decisions, MIN(selected[i] + 20, 1000));
                assert_true(c.plan.decisions[MIN(selected[i], 1000) - 1].selected.value);
                if (selected[i] < 1000)
                        assert_false(c.plan.decisions[selected[i]].selected.value);
                assert_string_equal(c.plan.scheduled.status, "True");
                end(&c);
        }
}

/* spec/scheduler.md 14.3: one that is filtered and has the placement all the same takes no place. */
static void whoever_has_the_placement_takes_no_place_among_the_others(void **state)
{
        struct case_ c;

        begin(&c, PICK_N "}", "9");
        for (int k = 0; k < 30; k++) {
                char name[16];

                snprintf(name, sizeof(name), "s%02d", k);
                add_cluster(&c, name, "", STALE, "", "");
        }
        for (int k = 0; k < 5; k++) {
                char name[16], binding[16];

                snprintf(name, sizeof(name), "s%02d", k);
                snprintf(binding, sizeof(binding), "on-s%02d", k);
                add_binding(&c, binding, name, "Bound", "web-1", 0, 0, "");
        }
        run(&c);
        assert_int_equal(c.plan.n_decisions, 5 + 20);
        assert_string_equal(c.plan.decisions[5].cluster_name, "s05");
        assert_string_equal(c.plan.decisions[24].cluster_name, "s24");
        end(&c);
}

/* spec/scheduler.md 11.1.1: the type of capacity ends at the first dash. */
static void a_resource_may_have_dashes_in_its_name(void **state)
{
        struct quantity q;
        struct candidate k = { 0 };
        struct case_ c;

        begin(&c,
              "\"policy\":{\"placementType\":\"PickAll\"," REQUIRED(PROPERTY(
                      "resources.kubernetes-fleet.io/available-ephemeral-storage", "Ge", "\"2Gi\"")) "}",
              NULL);
        add_cluster(&c, "a", "", ALIVE, "\"resourceUsage\":{\"available\":{\"ephemeral-storage\":\"3Gi\"}},",
                    "");
        add_cluster(&c, "b", "", ALIVE, "\"resourceUsage\":{\"available\":{\"ephemeral-storage\":\"1Gi\"}},",
                    "");
        run(&c);
        assert_string_equal(created(&c), "a");
        k.cluster = (const struct member_cluster *)c.clusters[0];
        assert_int_equal(
                cluster_property(&k, "resources.kubernetes-fleet.io/available-ephemeral-storage", &q, &c.err),
                1);
        end(&c);
}

/* spec/scheduler.md 6: told, not passed over. */
static void a_type_that_nobody_knows_is_told(void **state)
{
        struct case_ c;

        begin(&c, "\"policy\":{\"placementType\":\"PickSome\"}", NULL);
        add_plain(&c, "a");
        add_binding(&c, "b", "a", "Bound", "web-1", 0, 0, "");
        run(&c);
        assert_int_equal(c.plan.n_create + c.plan.n_patch + c.plan.unschedule.n, 0);
        assert_string_equal(c.plan.scheduled.status, "False");
        assert_non_null(strstr(c.plan.scheduled.message, "PickSome"));
        end(&c);
}

/* spec/scheduler.md 10.2: a number that is not there is 0. */
static void a_score_that_lacks_a_part_is_compared(void **state)
{
        struct case_ c;

        begin(&c, PICK_N "}", "1");
        add_plain(&c, "a");
        add_plain(&c, "b");
        add_binding(&c, "on-a", "a", "Bound", "web-1", -1, 0, "");
        add_binding(&c, "on-b", "b", "Bound", "web-1", 0, 0, "");
        ((struct binding *)c.bindings[1])->spec->cluster_decision->cluster_score->affinity_score =
                (struct opt_int){ 0 };
        ((struct binding *)c.bindings[1])->spec->cluster_decision->cluster_score->priority_score =
                (struct opt_int){ 0 };
        run(&c);
        assert_string_equal(unscheduled(&c), "on-a");
        end(&c);
}

/* Whoever was away finds the snapshot of what was asked for then. */
static void by_a_policy_that_is_asked_for_no_more_nobody_comes_or_goes(void **state)
{
        static const struct {
                const char *policy, *wanted;
        } policies[] = {
                { "\"policy\":{\"placementType\":\"PickAll\"}", NULL },
                { PICK_N "}", "4" },
                { PICK_N "}", "1" },
                { "\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"a\",\"b\",\"c\"]}", NULL }
        };

        for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
                struct case_ c;

                begin(&c, policies[i].policy, policies[i].wanted);
                c.in.outdated = true;
                add_plain(&c, "a");
                add_plain(&c, "b");
                add_plain(&c, "c");
                add_binding(&c, "on-a", "a", "Bound", "web-1", 0, 0, "");
                add_binding(&c, "on-b", "b", "Bound", "web-0", 0, 0, "");
                add_binding(&c, "on-c", "c", "Unscheduled", "web-1", 0, 0, WAS("Bound"));
                add_binding(&c, "on-d", "d", "Bound", "web-1", 0, 0, "");
                add_binding(&c, "on-e", "e", "Bound", "web-1", 0, 0,
                            "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\",\"finalizers\":["
                            "\"kubernetes-fleet.io/scheduler-crb-cleanup\"],");
                run(&c);
                assert_int_equal(c.plan.n_create + c.plan.n_patch, 0);
                assert_string_equal(unscheduled(&c), "on-d"); /* its cluster is gone */
                assert_int_equal(c.plan.n_departed, 1);
                assert_int_equal(c.plan.release.n, 1);
                assert_false(c.plan.report); /* nor is anything said of what it asks for */
                end(&c);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(of_several_bindings_on_a_cluster_one_is_taken_up),
                cmocka_unit_test(a_thousand_decisions_are_told),
                cmocka_unit_test(whoever_has_the_placement_takes_no_place_among_the_others),
                cmocka_unit_test(a_resource_may_have_dashes_in_its_name),
                cmocka_unit_test(a_type_that_nobody_knows_is_told),
                cmocka_unit_test(a_score_that_lacks_a_part_is_compared),
                cmocka_unit_test(by_a_policy_that_is_asked_for_no_more_nobody_comes_or_goes),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
