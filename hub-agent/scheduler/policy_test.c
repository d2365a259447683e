/* Policies that cannot be evaluated, and members that report nonsense. */
#include "hub-agent/scheduler/scheduler_test.h"

#define TERM "requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms[0]"
#define PREFERENCE "preferredDuringSchedulingIgnoredDuringExecution[0].preference"

/* Whatever clusters there are; field, then rule (spec/membership-webhooks-charts.md 5.2). That it is told is
 * what spec/scheduler.md 5.3 calls better than a cycle that fails: spec/scheduler.md checklist 39 */
static void a_policy_that_cannot_be_evaluated_is_told_in_the_condition(void **state)
{
        static const struct {
                const char *type, *policy, *problem;
        } rows[] = {
                { "PickAll", REQUIRED(PROPERTY(NODE_COUNT, "Like", "\"3\"")),
                  TERM ".propertySelector.matchExpressions[0]: invalid requirement on property " NODE_COUNT
                       ": unsupported operator Like" },
                { "PickAll", REQUIRED(PROPERTY(NODE_COUNT, "Gt", "")),
                  TERM ".propertySelector.matchExpressions[0]: invalid requirement on property " NODE_COUNT
                       ": operator Gt requires exactly one value, got 0" },
                { "PickN", REQUIRED(PROPERTY(NODE_COUNT, "Gt", "\"many\"")),
                  TERM ".propertySelector.matchExpressions[0]: invalid requirement on property " NODE_COUNT
                       ": value \"many\" is not a valid resource.Quantity" },
                { "PickAll", REQUIRED(PROPERTY("resources.kubernetes-fleet.io/used-cpu", "Gt", "\"1\"")),
                  TERM
                  ".propertySelector.matchExpressions[0]: invalid capacity type in resource property name "
                  "resources.kubernetes-fleet.io/used-cpu, supported values are [allocatable available "
                  "total]" },
                { "PickAll", REQUIRED(PROPERTY("resources.kubernetes-fleet.io/cpu", "Gt", "\"1\"")),
                  TERM ".propertySelector.matchExpressions[0]: invalid resource property name "
                       "resources.kubernetes-fleet.io/cpu, expected format is [PREFIX]/[CAPACITY_TYPE]-"
                       "[RESOURCE_NAME]" },
                { "PickAll", REQUIRED(PROPERTY("", "Gt", "\"1\"")),
                  TERM
                  ".propertySelector.matchExpressions[0]: invalid property name : property name segment  is "
                  "not valid" },
                { "PickAll", REQUIRED(PROPERTY("a.b/c d", "Gt", "\"1\"")),
                  TERM ".propertySelector.matchExpressions[0]: invalid property name a.b/c d: property name "
                       "segment c d is not valid" },
                { "PickAll",
                  REQUIRED("{\"labelSelector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Like\"}]}"
                           "}"),
                  TERM
                  ".labelSelector.matchExpressions[0]: \"Like\" is not a valid label selector operator" },
                { "PickN",
                  PREFERRED(
                          "{\"labelSelector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}}"),
                  PREFERENCE
                  ".labelSelector.matchExpressions[0]: values: must be specified when operator is In "
                  "or NotIn" },
                { "PickN",
                  PREFERRED("{\"propertySorter\":{\"name\":\"" NODE_COUNT "\",\"sortOrder\":\"Up\"}}"),
                  PREFERENCE ".propertySorter: invalid property sort order Up" },
                { "PickN",
                  PREFERRED("{\"propertySorter\":{\"name\":\"resources.kubernetes-fleet.io/used-cpu\","
                            "\"sortOrder\":\"Ascending\"}}"),
                  PREFERENCE ".propertySorter: invalid capacity type in resource property name "
                             "resources.kubernetes-fleet.io/used-cpu, supported values are [allocatable "
                             "available total]" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows) * 2; i++) {
                const char *problem = rows[i / 2].problem;
                char policy[1024], wanted[1024];
                struct case_ c;

                snprintf(policy, sizeof(policy), "\"policy\":{\"placementType\":\"%s\",%s}", rows[i / 2].type,
                         rows[i / 2].policy);
                begin(&c, policy, text_equal(rows[i / 2].type, "PickN") ? "2" : NULL);
                if (i % 2)
                        add_cluster(&c, "a", "", ALIVE, NODES("4"), "");
                add_binding(&c, "going", "gone", "Bound", "web-1", 0, 0, "");
                run(&c);
                snprintf(wanted, sizeof(wanted),
                         "the scheduling policy of placement \"web\" is invalid: "
                         "spec.policy.affinity.clusterAffinity.%s",
                         problem);
                if (!text_equal(c.plan.scheduled.status, "False") ||
                    !text_equal(c.plan.scheduled.reason, "SchedulingPolicyInvalid") ||
                    !text_starts_with(c.plan.scheduled.message, wanted))
                        fail_msg("row %zu: %s %s, not %s", i, c.plan.scheduled.status,
                                 c.plan.scheduled.message, wanted);
                assert_true(c.plan.write_status);
                assert_string_equal(unscheduled(&c), "going");
                end(&c);
        }
}

/* spec/scheduler.md 11.1: a malformed term behind one that matches has no effect. */
static void a_malformed_term_that_is_never_reached_changes_nothing(void **state)
{
        struct case_ c;

        begin(&c,
              "\"policy\":{\"placementType\":\"PickAll\"," REQUIRED(
                      "{\"labelSelector\":{}}," PROPERTY(NODE_COUNT, "Like", "\"3\"")) "}",
              NULL);
        add_plain(&c, "a");
        run(&c);
        assert_string_equal(created(&c), "a");
        assert_string_equal(c.plan.scheduled.status, "True");
        end(&c);
}

/* What was placed before stays, and is still told, when the policy turns out to be malformed. */
static void a_policy_that_cannot_be_evaluated_takes_nothing_away(void **state)
{
        struct case_ c;

        begin(&c,
              "\"policy\":{\"placementType\":\"PickAll\"," REQUIRED(
                      PROPERTY(NODE_COUNT, "Like", "\"3\"")) "}",
              NULL);
        add_cluster(&c, "a", "", ALIVE, NODES("4"), "");
        add_cluster(&c, "b", "", ALIVE, NODES("4"), "");
        add_binding(&c, "on-a", "a", "Bound", "web-0", 0, 0, "");
        add_binding(&c, "on-b", "b", "Bound", "web-1", 0, 0, "");
        run(&c);
        assert_int_equal(c.plan.n_create + c.plan.n_patch + c.plan.unschedule.n, 0);
        assert_true(decision_on(&c, "b")->selected.value);
        end(&c);
}

/* spec/scheduler.md checklist 19: it is not picked, and that is told. */
static void what_was_spoilt_by_hand_is_told(void **state)
{
        struct case_ c;

        begin(&c, PICK_N "}", "2");
        add_plain(&c, "a");
        add_plain(&c, "b");
        add_binding(&c, "on-a", "a", "Bound", "web-1", 0, 0, "");
        add_binding(&c, "on-b", "b", "Unscheduled", "web-1", 0, 0, "");
        run(&c);
        assert_int_equal(c.plan.n_create + c.plan.n_patch + c.plan.unschedule.n, 0);
        assert_string_equal(c.plan.scheduled.status, "False");
        assert_string_equal(c.plan.scheduled.reason, "SchedulingPolicyUnfulfilled");
        assert_non_null(
                strstr(c.plan.scheduled.message, "binding \"on-b\" is Unscheduled and lacks annotation"));
        assert_true(decision_on(&c, "a")->selected.value);
        end(&c);
        begin(&c, PICK_N "}", "many");
        run(&c);
        assert_string_equal(c.plan.scheduled.status, "False");
        assert_non_null(strstr(c.plan.scheduled.message, "number-of-clusters"));
        end(&c);
}

/* A member can report what it likes: that is a matter of this member alone, and no cycle fails of it.
 * spec/scheduler.md checklist 39 */
static void what_a_member_reports_unreadably_counts_as_absent_and_is_told(void **state)
{
        static const char *const values[] = { "abc", "1e400000", "1e-400000x", "", "0x10" };
        static const char *const policies[] = {
                PICK_N "," REQUIRED(PROPERTY(NODE_COUNT, "Gt", "\"3\"")) "}",
                PICK_N "," PREFERRED("{\"propertySorter\":{\"name\":\"" NODE_COUNT
                                     "\",\"sortOrder\":\"Descending\"}}") "}",
        };

        for (size_t i = 0; i < ARRAY_LEN(values) * ARRAY_LEN(policies); i++) {
                const char *value = values[i / ARRAY_LEN(policies)];
                char status[512];
                struct case_ c;

                begin(&c, policies[i % ARRAY_LEN(policies)], "1");
                snprintf(status, sizeof(status), NODES("%s"), value);
                add_cluster(&c, "z", "", ALIVE, status,
                            "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}],");
                add_cluster(&c, "m", "", ALIVE, NODES("4"), "");
                add_cluster(&c, "a", "", ALIVE, NODES("3"), "");
                run(&c);
                assert_string_equal(created(&c), "m");
                assert_string_equal(c.plan.scheduled.status, "True");
                assert_int_equal(c.plan.n_unreadable, 1);
                assert_string_equal(c.plan.unreadable[0].cluster->object.meta.name, "z");
                assert_string_equal(c.plan.unreadable[0].property, NODE_COUNT);
                assert_string_equal(c.plan.unreadable[0].value, value);
                end(&c);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_policy_that_cannot_be_evaluated_is_told_in_the_condition),
                cmocka_unit_test(a_malformed_term_that_is_never_reached_changes_nothing),
                cmocka_unit_test(a_policy_that_cannot_be_evaluated_takes_nothing_away),
                cmocka_unit_test(what_was_spoilt_by_hand_is_told),
                cmocka_unit_test(what_a_member_reports_unreadably_counts_as_absent_and_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
