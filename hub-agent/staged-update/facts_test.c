/* What a run rests on: the placement, its policy snapshot, its bindings. */
#include "hub-agent/staged-update/update_run_test.h"

/* spec/staged-update-and-eviction.md checklist 5 */
static void a_run_without_its_placement_fails_for_good(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.placement = NULL;
        step(&s);
        assert_init_failed(&s, PREFIX_VALID PREFIX_USER "parent placement not found");
        set_placement(&s, "\"type\":\"External\"");
        step(&s);
        assert_null(s.plan.wanted);
        assert_int_equal(s.plan.after_ms, NO_WAKE_UP);
        ends(&s);
}

static void a_placement_that_is_being_deleted_is_none(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.placement->object.meta.deletion_ms = NOW;
        step(&s);
        assert_init_failed(&s, PREFIX_VALID PREFIX_USER "parent placement not found: it is being deleted");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 6 */
static void only_placements_that_are_rolled_out_externally_have_runs(void **state)
{
        static const struct {
                const char *strategy, *type;
        } rows[] = { { "", "RollingUpdate" }, { "\"type\":\"RollingUpdate\"", "RollingUpdate" } };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct scene s;

                begin_usual(&s, "", "");
                set_placement(&s, rows[i].strategy);
                step(&s);
                assert_init_failed(&s, PREFIX_VALID PREFIX_USER
                                   "parent placement does not have an external rollout strategy, current "
                                   "strategy: RollingUpdate");
                ends(&s);
        }
}

static void a_run_records_the_apply_strategy_with_its_defaults(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        set_placement(&s, "\"type\":\"External\",\"applyStrategy\":{\"whenToTakeOver\":\"Never\"}");
        step(&s);
        assert_string_equal(s.run->status->applied_strategy->type, "ClientSideApply");
        assert_string_equal(s.run->status->applied_strategy->comparison_option, "PartialComparison");
        assert_string_equal(s.run->status->applied_strategy->when_to_apply, "Always");
        assert_string_equal(s.run->status->applied_strategy->when_to_take_over, "Never");
        ends(&s);
}

/* Waits for what usually passes by itself, and then fails. */
static void assert_fails_after_a_while(struct scene *s, const char *message)
{
        step(s);
        assert_string_equal(run_says(s, "Initialized"), "absent");
        assert_string_equal(s->plan.retry, message);
        assert_null(s->plan.wanted);
        s->waited_ms = UPDATE_RUN_GRACE_MS;
        step(s);
        assert_init_failed(s, message);
}

/* spec/staged-update-and-eviction.md checklist 7 */
static void there_must_be_exactly_one_latest_policy_snapshot(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.in.policy_snapshots.n = 0;
        assert_fails_after_a_while(&s, PREFIX_VALID "no latest policy snapshot found for placement /web");
        ends(&s);
        begin_usual(&s, "", "");
        add_policy(&s, 1, "", 0)->object.meta.deletion_ms = NOW; /* one that goes is none */
        step(&s);
        assert_string_equal(run_says(&s, "Initialized"), "True UpdateRunInitializedSuccessfully");
        ends(&s);
        begin_usual(&s, "", "");
        string_map_put(&add_policy(&s, 1, "", 0)->object.meta.labels, LABEL_IS_LATEST_SNAPSHOT, "false",
                       &s.arena);
        step(&s);
        assert_string_equal(run_says(&s, "Initialized"), "True UpdateRunInitializedSuccessfully");
        ends(&s);
        begin_usual(&s, "", "");
        add_policy(&s, 1, "", 0);
        step(&s);
        assert_init_failed(&s, PREFIX_VALID PREFIX_UNEXPECTED
                           "multiple active policy snapshots found for placement /web: got 2, want 1");
        ends(&s);
}

static void labels_and_annotations_of_the_policy_snapshot_must_be_whole(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        string_map_remove(&s.policy->object.meta.labels, LABEL_POLICY_INDEX);
        step(&s);
        assert_init_failed(&s, PREFIX_VALID PREFIX_UNEXPECTED
                           "policy snapshot `/web-0` does not have a policy index label");
        ends(&s);
        begin_usual(&s, "", "");
        s.in.policy_snapshots.n = 0;
        add_policy(&s, 0, "\"placementType\":\"PickN\",\"numberOfClusters\":3", -1);
        step(&s);
        assert_non_null(strstr(run_message(&s, "Initialized"),
                               "cannot continue the updateRun: failed to validate the updateRun, unexpected "
                               "behavior"));
        assert_non_null(strstr(run_message(&s, "Initialized"),
                               ": the policy snapshot `/web-0` doesn't have valid cluster count annotation"));
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 8 */
static void a_policy_that_is_not_carried_out_is_waited_for_and_then_fails_the_run(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.policy->object.meta.generation = 2;
        assert_fails_after_a_while(&s, PREFIX_VALID "policy snapshot `web-0` not fully scheduled yet");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 9 */
static void bindings_of_an_old_policy_are_waited_for(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        binding_of(&s, "a2")->spec->scheduling_policy_snapshot_name = "web-7";
        s.waited_ms = 10 * UPDATE_RUN_GRACE_MS;
        step(&s);
        assert_string_equal(run_says(&s, "Initialized"), "absent");
        assert_non_null(s.plan.retry);
        assert_null(s.plan.wanted);
        binding_of(&s, "a2")->spec->state = "Unscheduled";
        step(&s);
        assert_string_equal(run_says(&s, "Initialized"), "True UpdateRunInitializedSuccessfully");
        assert_int_equal(s.run->status->deletion_stage_status->clusters.n, 1);
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 10 */
static void the_bindings_must_be_as_many_as_the_policy_wants(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.in.bindings.n = 0;
        assert_fails_after_a_while(&s, PREFIX_VALID
                                   "no scheduled or to-be-deleted bindings found for the latest policy "
                                   "snapshot /web-0");
        ends(&s);
        begin_usual(&s, "", "");
        s.in.policy_snapshots.n = 0;
        add_policy(&s, 0, "\"placementType\":\"PickN\",\"numberOfClusters\":10", 10);
        drop_binding(&s, "a1");
        drop_binding(&s, "a2");
        assert_fails_after_a_while(&s, PREFIX_VALID PREFIX_UNEXPECTED
                                   "the number of selected bindings 1 is not equal to the observed cluster "
                                   "count 10");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 11 */
static void the_observed_count_is_the_policys_or_that_of_the_bindings(void **state)
{
        static const struct {
                const char *policy;
                int annotation;
        } rows[] = { { "\"placementType\":\"PickAll\"", 7 },
                     { "\"placementType\":\"PickN\",\"numberOfClusters\":9", 3 },
                     { "\"placementType\":\"PickFixed\",\"clusterNames\":[\"a1\",\"a2\",\"b1\"]", 7 } };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct scene s;

                begin_usual(&s, "", "");
                s.in.policy_snapshots.n = 0;
                add_policy(&s, 0, rows[i].policy, rows[i].annotation);
                step(&s);
                assert_string_equal(run_says(&s, "Initialized"), "True UpdateRunInitializedSuccessfully");
                assert_int_equal(s.run->status->policy_observed_cluster_count.value, 3);
                assert_string_equal(s.run->status->policy_snapshot_index_used, "0");
                ends(&s);
        }
}

/* What was evicted from a1 is still there when a1 has been chosen again: before or behind it in the list. */
static void a_binding_that_goes_leaves_its_cluster_to_the_one_after_it(void **state)
{
        for (int old = 0; old < 2; old++) {
                struct scene s;
                struct binding *two[2];

                begin_usual(&s, "", "");
                two[0] = binding_of(&s, "a1");
                two[1] = add_cluster(&s, "a1", "\"stage\":\"a\"", "Scheduled");
                two[1]->object.meta.name = "web-a1-again";
                two[old]->object.meta.deletion_ms = NOW;
                step(&s);
                assert_string_equal(run_says(&s, "Initialized"), "True UpdateRunInitializedSuccessfully");
                assert_int_equal(s.run->status->policy_observed_cluster_count.value, 3);
                for (size_t i = 0; i < s.plan.n_update; i++)
                        assert_ptr_not_equal(s.plan.update[i].now, two[old]);
                ends(&s);
        }
}

static void two_bindings_of_a_cluster_are_waited_for(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        add_cluster(&s, "a1", "\"stage\":\"a\"", "Scheduled")->object.meta.name = "web-a1-again";
        assert_fails_after_a_while(&s, PREFIX_VALID PREFIX_UNEXPECTED
                                   "cluster `a1` has two bindings: web-a1 and web-a1-again");
        ends(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_run_without_its_placement_fails_for_good),
                cmocka_unit_test(a_binding_that_goes_leaves_its_cluster_to_the_one_after_it),
                cmocka_unit_test(two_bindings_of_a_cluster_are_waited_for),
                cmocka_unit_test(a_placement_that_is_being_deleted_is_none),
                cmocka_unit_test(only_placements_that_are_rolled_out_externally_have_runs),
                cmocka_unit_test(a_run_records_the_apply_strategy_with_its_defaults),
                cmocka_unit_test(there_must_be_exactly_one_latest_policy_snapshot),
                cmocka_unit_test(labels_and_annotations_of_the_policy_snapshot_must_be_whole),
                cmocka_unit_test(a_policy_that_is_not_carried_out_is_waited_for_and_then_fails_the_run),
                cmocka_unit_test(bindings_of_an_old_policy_are_waited_for),
                cmocka_unit_test(the_bindings_must_be_as_many_as_the_policy_wants),
                cmocka_unit_test(the_observed_count_is_the_policys_or_that_of_the_bindings),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
