/* A strategy with onClusterChange: Continue (not in the reference): the run keeps the clusters it began with.
 */
#include "hub-agent/staged-update/update_run_test.h"

static void begin_keeping(struct scene *s)
{
        begin_usual(s, "", "");
        s->strategy->spec->on_cluster_change = "Continue";
}

static const char *left_out(struct scene *s)
{
        const struct left_out_cluster_list *l = &s->run->status->left_out_clusters;
        const char *text = "";

        assert_int_equal(l->set, l->n > 0);
        for (uint32_t i = 0; i < l->n; i++)
                text = arena_printf(&s->arena, "%s%s%s:%s", text, i ? " " : "", l->at[i].cluster_name,
                                    l->at[i].reason);
        return text;
}

static void relabel(struct scene *s, size_t i, const char *name, const char *stage)
{
        s->clusters[i] =
                parse_f(s, &member_cluster_kind,
                        "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"stage\":\"%s\"}}}", name, stage);
}

static void a_cluster_of_no_stage_is_left_out_and_named(void **state)
{
        struct scene s;

        begin_keeping(&s);
        add_cluster(&s, "x1", "", "Scheduled");
        step(&s);
        assert_string_equal(run_says(&s, "Initialized"), "True UpdateRunInitializedSuccessfully");
        assert_string_equal(left_out(&s), "x1:InNoStage");
        assert_int_equal(s.run->status->policy_observed_cluster_count.value, 4);
        ends(&s);
}

static void one_that_joins_is_left_out_and_named_as_long_as_it_is_there(void **state)
{
        struct scene s;

        begin_keeping(&s);
        add_cluster(&s, "x1", "", "Scheduled");
        step(&s);
        add_cluster(&s, "a3", "\"stage\":\"a\"", "Scheduled");
        step(&s);
        assert_string_equal(left_out(&s), "a3:Joined x1:InNoStage");
        assert_string_equal(clusters_of(&s, 0), "a1 a2");
        drop_binding(&s, "a3");
        step(&s);
        assert_string_equal(left_out(&s), "x1:InNoStage");
        assert_string_equal(run_says(&s, "Succeeded"), "absent");
        ends(&s);
}

static void one_that_leaves_is_skipped_and_the_next_gets_its_turn(void **state)
{
        struct scene s;

        begin_keeping(&s);
        step(&s);
        drop_binding(&s, "a1"); /* while it is under way */
        step(&s);
        assert_string_equal(cluster_says(&s, "a1", "Skipped"), "True ClusterLeft");
        assert_string_equal(condition_find(&cluster(&s, "a1")->conditions, "Skipped")->message,
                            "cluster `a1` is not picked for the placement any more");
        assert_string_equal(written(&s), "a2");
        drop_binding(&s, "b1"); /* before its stage */
        arrive(&s, "a2");
        step(&s);
        step(&s);
        step(&s);
        assert_string_equal(cluster_says(&s, "b1", "Skipped"), "True ClusterLeft");
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        ends(&s);
}

static void one_that_is_to_go_while_the_run_lasts_is_left_to_the_next_run(void **state)
{
        struct scene s;

        begin_keeping(&s);
        step(&s);
        binding_of(&s, "b1")->spec->state = "Unscheduled";
        arrive(&s, "a1");
        step(&s);
        arrive(&s, "a2");
        step(&s);
        step(&s);
        assert_string_equal(cluster_says(&s, "b1", "Skipped"), "True ClusterLeft");
        step(&s);
        assert_int_equal(s.plan.remove.n, 0);
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        ends(&s);
}

static void neither_labels_nor_the_policy_end_the_run(void **state)
{
        struct scene s;

        begin_keeping(&s);
        step(&s);
        relabel(&s, 1, "a2", "b");
        s.in.policy_snapshots.n = 0;
        add_policy(&s, 1, "\"placementType\":\"PickAll\"", 0);
        arrive(&s, "a1");
        step(&s);
        assert_string_equal(written(&s), "a2");
        assert_string_equal(run_says(&s, "Progressing"), "True UpdateRunProgressing");
        ends(&s);
}

static void another_run_that_takes_a_cluster_still_ends_it(void **state)
{
        struct scene s;

        begin_keeping(&s);
        step(&s);
        binding_of(&s, "a1")->spec->resource_snapshot_name = "web-1-snapshot";
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "False UpdateRunFailed");
        ends(&s);
}

static void is_on_its_way_out(struct scene *s)
{
        binding_of(s, "a1")->object.meta.deletion_ms = s->now_ms;
}
static void was_picked_again(struct scene *s)
{
        drop_binding(s, "a1");
        add_cluster(s, "a1", "\"stage\":\"a\"", "Scheduled");
}

/* That is no other run's doing. Whether the scheduler has picked the cluster again, or will, is all one: the
 * next run brings it what it lacks. */
static void one_that_is_evicted_while_it_is_updated_is_skipped(void **state)
{
        static void (*const evictions[])(struct scene * s) = { is_on_its_way_out, was_picked_again };
        static const char *const states[] = { "Run", "Stop" };

        for (size_t i = 0; i < ARRAY_LEN(evictions) * ARRAY_LEN(states); i++) {
                struct scene s;

                begin_keeping(&s);
                step(&s);
                if (i % 2)
                        set_state(&s, "Stop");
                evictions[i / 2](&s);
                step(&s);
                assert_string_equal(s.run->spec->state ? s.run->spec->state : "Run", states[i % 2]);
                assert_string_equal(cluster_says(&s, "a1", "Skipped"), "True ClusterLeft");
                assert_string_equal(condition_find(&cluster(&s, "a1")->conditions, "Skipped")->message,
                                    "cluster `a1` lost what was placed on it while it was updated, as by an "
                                    "eviction: it is left to the next run");
                assert_string_equal(run_says(&s, "Succeeded"), "absent");
                assert_string_equal(run_says(&s, "Progressing"),
                                    i % 2 ? "False UpdateRunStopped" : "True UpdateRunProgressing");
                assert_string_equal(written(&s), i % 2 ? "" : "a2");
                ends(&s);
        }
}

static void one_that_leaves_while_the_run_stops_is_skipped_and_not_waited_for(void **state)
{
        struct scene s;

        begin_keeping(&s);
        step(&s);
        set_state(&s, "Stop");
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "Unknown UpdateRunStopping");
        assert_string_equal(cluster_says(&s, "a1", "Skipped"), "absent");
        drop_binding(&s, "a1");
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStopped");
        assert_string_equal(cluster_says(&s, "a1", "Skipped"), "True ClusterLeft");
        assert_string_equal(cluster_says(&s, "a2", "Skipped"), "absent");
        set_state(&s, "Run");
        step(&s);
        assert_string_equal(written(&s), "a2");
        ends(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_cluster_of_no_stage_is_left_out_and_named),
                cmocka_unit_test(one_that_joins_is_left_out_and_named_as_long_as_it_is_there),
                cmocka_unit_test(one_that_leaves_is_skipped_and_the_next_gets_its_turn),
                cmocka_unit_test(one_that_is_to_go_while_the_run_lasts_is_left_to_the_next_run),
                cmocka_unit_test(neither_labels_nor_the_policy_end_the_run),
                cmocka_unit_test(another_run_that_takes_a_cluster_still_ends_it),
                cmocka_unit_test(one_that_leaves_while_the_run_stops_is_skipped_and_not_waited_for),
                cmocka_unit_test(one_that_is_evicted_while_it_is_updated_is_skipped),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
