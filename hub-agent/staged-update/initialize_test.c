/* What a run writes down before it begins. */
#include "hub-agent/staged-update/update_run_test.h"

/* spec/staged-update-and-eviction.md checklist 1: without a state a run starts (spec/README.md decision 1);
 * in state Initialize it goes no further. */
static void in_state_initialize_nothing_begins(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.run->spec->state = "Initialize";
        step(&s);
        assert_string_equal(run_says(&s, "Initialized"), "True UpdateRunInitializedSuccessfully");
        assert_string_equal(run_message(&s, "Initialized"), "The UpdateRun initialized successfully");
        assert_int_equal(s.run->status->conditions.n, 1);
        assert_int_equal(s.plan.n_update, 0);
        assert_int_equal(s.plan.after_ms, NO_WAKE_UP);
        step(&s);
        assert_null(s.plan.wanted);
        assert_int_equal(s.plan.n_update, 0);
        set_state(&s, "Run");
        step(&s);
        assert_string_equal(written(&s), "a1");
        ends(&s);
}

static void without_a_state_a_run_starts(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.run->spec->state = NULL;
        step(&s);
        assert_string_equal(run_says(&s, "Initialized"), "True UpdateRunInitializedSuccessfully");
        assert_string_equal(run_says(&s, "Progressing"), "True UpdateRunProgressing");
        assert_string_equal(written(&s), "a1");
        ends(&s);
}

static void another_state_than_the_known_ones_ends_the_run(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.run->spec->state = "Pause";
        step(&s);
        assert_run_failed(&s, PREFIX_UNEXPECTED "found unsupported updateRun state: Pause");
        ends(&s);
}

/* Who waits too long begins by the policy that there is: the other cannot be taken in. */
static void what_the_placement_asks_for_by_now_is_waited_for(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.in.policy_is_outdated = true;
        step(&s);
        assert_string_equal(s.plan.retry, "policy snapshot `web-0` is not of the policy that placement "
                                          "`/web` has by now: the next one has still to be made");
        assert_null(s.plan.wanted);
        s.waited_ms = UPDATE_RUN_GRACE_MS;
        step(&s);
        assert_string_equal(written(&s), "a1");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 12 */
static void the_index_names_a_snapshot_that_is_there(void **state)
{
        static const struct {
                const char *index, *message;
        } rows[] = {
                { "abc", "invalid resource snapshot index `abc` provided, expected an integer >= 0" },
                { "-1", "invalid resource snapshot index `-1` provided, expected an integer >= 0" },
                { "7", "no resourceSnapshots with index `7` found for placement `/web`" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct scene s;

                begin_usual(&s, "", "");
                set_run(&s, rows[i].index, "");
                step(&s);
                assert_init_failed(&s,
                                   arena_printf(&s.arena, PREFIX_VALID PREFIX_USER "%s", rows[i].message));
                ends(&s);
        }
}

/* spec/staged-update-and-eviction.md checklist 14 */
static void a_group_without_its_first_snapshot_ends_the_run(void **state)
{
        struct update_run_reading reading;
        struct scene s;

        begin_usual(&s, "", "");
        add_snapshot(&s, 3, false);
        set_run(&s, "3", "");
        step(&s);
        assert_init_failed(&s, PREFIX_VALID PREFIX_UNEXPECTED
                           "no master resourceSnapshot found for placement /web");
        assert_true(update_run_reading(s.run, &reading));
        assert_string_equal(reading.failure_type, "internal_error");
        ends(&s);
}

/* It is made one snapshot after the other. */
static void a_group_that_is_not_whole_yet_is_waited_for(void **state)
{
        static const char message[] = PREFIX_VALID PREFIX_UNEXPECTED
                "resourceSnapshots with index `0` are missing for placement /web";
        struct object *head;
        struct scene s;

        begin_usual(&s, "", "");
        head = (struct object *)s.snapshots[0];
        set_annotation(head, ANNOTATION_NUMBER_OF_RESOURCE_SNAPSHOTS, "2", &s.arena);
        step(&s);
        assert_string_equal(s.plan.retry, message);
        assert_null(s.plan.wanted);
        add_snapshot(&s, 0, false);
        step(&s);
        assert_string_equal(written(&s), "a1");
        ends(&s);
}

static void a_snapshot_that_somebody_edited_is_not_rolled_out(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        ((struct object *)s.snapshots[0])->meta.generation = 2;
        step(&s);
        assert_init_failed(&s, PREFIX_VALID PREFIX_USER
                           "resourceSnapshot `/web-0-snapshot` was changed after it was made");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 13 */
static void without_an_index_what_is_selected_now_is_asked_for(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        set_run(&s, "", "");
        step(&s);
        assert_true(s.plan.take_snapshot);
        assert_null(s.plan.wanted);
        assert_int_equal(s.plan.n_update, 0);
        s.taken = (const struct resource_snapshot *)s.snapshots[0];
        step(&s);
        assert_false(s.plan.take_snapshot);
        assert_string_equal(s.run->status->resource_snapshot_index_used, "0");
        assert_string_equal(binding_of(&s, "a1")->spec->resource_snapshot_name, "web-0-snapshot");
        ends(&s);
}

static void what_cannot_be_selected_ends_the_run_in_the_users_words(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        set_run(&s, "", "");
        s.not_taken = "the kind is not served";
        step(&s);
        assert_init_failed(&s, PREFIX_VALID PREFIX_USER "the kind is not served");
        ends(&s);
}

static void overrides_are_written_down_for_each_cluster_of_a_stage(void **state)
{
        static const char *names[] = { "tier-0", "zone-1" };
        struct cluster_overrides list[3] = { [1] = { .cluster = { names, 2, true } } };
        struct scene s;

        begin_usual(&s, "", "");
        s.overrides = list;
        step(&s);
        assert_int_equal(cluster(&s, "a1")->cluster_resource_override_snapshots.n, 0);
        assert_string_equal(cluster(&s, "a2")->cluster_resource_override_snapshots.at[1], "zone-1");
        ends(&s);
        begin_usual(&s, "", "");
        s.overrides_code = ERR_INVALID;
        step(&s);
        assert_init_failed(&s, PREFIX_VALID "the override is broken");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 19 */
static void a_failed_initialization_keeps_what_was_found_before(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        add_cluster(&s, "z1", "", "Unscheduled");
        set_run(&s, "7", "");
        step(&s);
        assert_string_equal(run_says(&s, "Initialized"), "False UpdateRunInitializedFailed");
        assert_string_equal(s.run->status->policy_snapshot_index_used, "0");
        assert_int_equal(s.run->status->policy_observed_cluster_count.value, 3);
        assert_int_equal(s.run->status->strategy_snapshot->stages.n, 2);
        assert_string_equal(clusters_of(&s, 0), "a1 a2");
        assert_string_equal(s.run->status->deletion_stage_status->clusters.at[0].cluster_name, "z1");
        assert_null(s.run->status->resource_snapshot_index_used);
        ends(&s);
}

static void without_a_strategy_a_run_fails(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.strategy = NULL;
        step(&s);
        assert_init_failed(&s, PREFIX_VALID PREFIX_USER "referenced updateStrategy not found: `/slow`");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 20 */
static void a_strategy_that_is_edited_or_deleted_later_changes_nothing(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        step(&s);
        set_strategy(&s, "{\"name\":\"other\",\"labelSelector\":{}}");
        arrive(&s, "a1");
        step(&s);
        assert_string_equal(written(&s), "a2");
        s.strategy = NULL;
        arrive(&s, "a2");
        step(&s);
        step(&s);
        assert_string_equal(written(&s), "b1");
        ends(&s);
}

static void two_bindings_on_one_cluster_are_one_entry_of_the_deletion_stage(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        add_cluster(&s, "z1", "", "Unscheduled");
        add_cluster(&s, "z1", "", "Unscheduled");
        step(&s);
        assert_int_equal(s.run->status->deletion_stage_status->clusters.n, 1);
        assert_string_equal(s.run->status->deletion_stage_status->stage_name,
                            "kubernetes-fleet.io/deleteStage");
        ends(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(in_state_initialize_nothing_begins),
                cmocka_unit_test(without_a_state_a_run_starts),
                cmocka_unit_test(another_state_than_the_known_ones_ends_the_run),
                cmocka_unit_test(what_the_placement_asks_for_by_now_is_waited_for),
                cmocka_unit_test(the_index_names_a_snapshot_that_is_there),
                cmocka_unit_test(a_group_without_its_first_snapshot_ends_the_run),
                cmocka_unit_test(a_group_that_is_not_whole_yet_is_waited_for),
                cmocka_unit_test(a_snapshot_that_somebody_edited_is_not_rolled_out),
                cmocka_unit_test(without_an_index_what_is_selected_now_is_asked_for),
                cmocka_unit_test(what_cannot_be_selected_ends_the_run_in_the_users_words),
                cmocka_unit_test(overrides_are_written_down_for_each_cluster_of_a_stage),
                cmocka_unit_test(a_failed_initialization_keeps_what_was_found_before),
                cmocka_unit_test(without_a_strategy_a_run_fails),
                cmocka_unit_test(a_strategy_that_is_edited_or_deleted_later_changes_nothing),
                cmocka_unit_test(two_bindings_on_one_cluster_are_one_entry_of_the_deletion_stage),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
