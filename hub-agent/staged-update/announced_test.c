/* Bindings that a run has begun: who changes one ends the run, and what was begun is announced. */
#include "hub-agent/staged-update/update_run_test.h"

static const char preempted[] =
        PREFIX_USER "the binding of the updating cluster `a1` in the stage `a` is not up-to-date with the "
                    "desired status, please check the status of binding `web-a1` and see if there is a "
                    "concurrent updateRun referencing the same placement and updating the same cluster";

static void change_snapshot(struct scene *s, struct binding *b)
{
        b->spec->resource_snapshot_name = "web-1-snapshot";
}
static void change_state(struct scene *s, struct binding *b)
{
        b->spec->state = "Scheduled";
}
static void take_back(struct scene *s, struct binding *b)
{
        set_binding_condition(s, b, "RolloutStarted", "False", "R");
}
static void change_overrides(struct scene *s, struct binding *b)
{
        static const char *names[] = { "tier-9" };

        b->spec->cluster_resource_override_snapshots = (struct string_list){ names, 1, true };
}
static void let_go(struct scene *s, struct binding *b)
{
        b->object.meta.deletion_ms = s->now_ms;
}

/* spec/staged-update-and-eviction.md checklist 30 */
static void whoever_changes_a_binding_under_way_ends_the_run(void **state)
{
        static void (*const changes[])(struct scene * s, struct binding * b) = { change_snapshot,
                                                                                 change_state, take_back,
                                                                                 change_overrides, let_go };

        for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
                struct update_run_reading reading;
                struct scene s;

                begin_usual(&s, "", "");
                step(&s);
                changes[i](&s, binding_of(&s, "a1"));
                step(&s);
                assert_int_equal(s.plan.confirm.n, 1);
                assert_int_equal(s.plan.n_update, 0);
                assert_run_failed(&s, arena_printf(&s.arena, PREFIX_ABORT "%s", preempted));
                assert_string_equal(cluster_says(&s, "a1", "Succeeded"), "False ClusterUpdatingFailed");
                assert_string_equal(condition_find(&cluster(&s, "a1")->conditions, "Succeeded")->message,
                                    preempted);
                assert_string_equal(stage_says(&s, 0, "Succeeded"), "False StageUpdatingFailed");
                assert_string_equal(stage_says(&s, 0, "Progressing"), "False StageUpdatingFailed");
                assert_int_equal(stage(&s, 0)->end_time, NOW);
                assert_true(update_run_reading(s.run, &reading));
                assert_string_equal(reading.failure_type, "user_error");
                ends(&s);
        }
}

/* Their order is the one the errors come in; equal ones are told once. */
static void several_clusters_that_are_preempted_are_all_told(void **state)
{
        struct scene s;

        begin_usual(&s, ",\"maxConcurrency\":2", "");
        step(&s);
        change_snapshot(&s, binding_of(&s, "a1"));
        change_snapshot(&s, binding_of(&s, "a2"));
        step(&s);
        assert_true(text_starts_with(run_message(&s, "Succeeded"), "[" PREFIX_ABORT PREFIX_USER));
        assert_non_null(strstr(run_message(&s, "Succeeded"), "`web-a1`"));
        assert_non_null(strstr(run_message(&s, "Succeeded"), "`web-a2`"));
        ends(&s);
}

static void a_run_that_ends_begins_nothing_new(void **state)
{
        struct scene s;

        begin_usual(&s, ",\"maxConcurrency\":2", "");
        add_cluster(&s, "a3", "\"stage\":\"a\"", "Scheduled");
        step(&s);
        change_snapshot(&s, binding_of(&s, "a1"));
        arrive(&s, "a2"); /* so there is room for a3 */
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "False UpdateRunFailed");
        assert_int_equal(s.plan.n_update, 0);
        assert_string_equal(cluster_says(&s, "a3", "Started"), "absent");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 31 */
static void a_rollout_that_was_begun_and_not_announced_is_announced_again(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.work_generator_is_late = true;
        step(&s);
        step(&s);
        assert_int_equal(s.plan.n_update, 0);
        assert_int_equal(s.plan.started.n, 1);
        assert_string_equal(run_says(&s, "Progressing"), "True UpdateRunProgressing");
        set_run(&s, "0", ""); /* as if the run's status had been lost, too */
        step(&s);
        assert_int_equal(s.plan.n_update, 0);
        assert_int_equal(s.plan.started.n, 1);
        assert_string_equal(cluster_says(&s, "a1", "Started"), "True ClusterUpdatingStarted");
        s.work_generator_is_late = false;
        step(&s);
        arrive(&s, "a1");
        step(&s);
        assert_string_equal(cluster_says(&s, "a1", "Succeeded"), "True ClusterUpdatingSucceeded");
        ends(&s);
}

/* ---- what a binding has to name ---- */

static void rename_override(struct scene *s, struct binding *b)
{
        static const char *names[] = { "tier-0", "tier-9" };

        b->spec->cluster_resource_override_snapshots = (struct string_list){ names, 2, true };
}
static void rename_first_override(struct scene *s, struct binding *b)
{
        static const char *names[] = { "tier-9", "tier-1" };

        b->spec->cluster_resource_override_snapshots = (struct string_list){ names, 2, true };
}
static void rename_first_own_override(struct scene *s, struct binding *b)
{
        static struct namespaced_name own[] = { { .name = "zone-9", .ns = "app" },
                                                { .name = "zone-2", .ns = "app" } };

        b->spec->resource_override_snapshots = (struct namespaced_name_list){ own, 2, true };
}
static void drop_override(struct scene *s, struct binding *b)
{
        b->spec->cluster_resource_override_snapshots.n = 1;
}
static void rename_own_override(struct scene *s, struct binding *b)
{
        static struct namespaced_name own[] = { { .name = "zone-1", .ns = "app" },
                                                { .name = "zone-9", .ns = "app" } };

        b->spec->resource_override_snapshots = (struct namespaced_name_list){ own, 2, true };
}
static void move_own_override(struct scene *s, struct binding *b)
{
        static struct namespaced_name own[] = { { .name = "zone-1", .ns = "app" },
                                                { .name = "zone-2", .ns = "shop" } };

        b->spec->resource_override_snapshots = (struct namespaced_name_list){ own, 2, true };
}
static void drop_own_override(struct scene *s, struct binding *b)
{
        b->spec->resource_override_snapshots.n = 1;
}
static void change_apply_strategy(struct scene *s, struct binding *b)
{
        struct apply_strategy *other = ARENA_NEW(&s->arena, struct apply_strategy);

        *other = *b->spec->apply_strategy;
        other->when_to_take_over = "Never";
        b->spec->apply_strategy = other;
}
static void change_nothing(struct scene *s, struct binding *b)
{
}

static void a_binding_under_way_names_all_that_the_run_recorded(void **state)
{
        static void (*const changes[])(struct scene * s, struct binding * b) = {
                change_nothing,        rename_override,       drop_override,
                rename_own_override,   move_own_override,     drop_own_override,
                change_apply_strategy, rename_first_override, rename_first_own_override
        };
        static const char *names[] = { "tier-0", "tier-1" };
        struct namespaced_name own[] = { { .name = "zone-1", .ns = "app" },
                                         { .name = "zone-2", .ns = "app" } };
        struct cluster_overrides list[3] = { { .cluster = { names, 2, true }, .own = { own, 2, true } } };

        for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
                struct scene s;

                begin_usual(&s, "", "");
                s.overrides = list;
                step(&s);
                changes[i](&s, binding_of(&s, "a1"));
                step(&s);
                assert_string_equal(run_says(&s, "Succeeded"), i ? "False UpdateRunFailed" : "absent");
                assert_int_equal(s.plan.confirm.n, i != 0);
                ends(&s);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(whoever_changes_a_binding_under_way_ends_the_run),
                cmocka_unit_test(several_clusters_that_are_preempted_are_all_told),
                cmocka_unit_test(a_run_that_ends_begins_nothing_new),
                cmocka_unit_test(a_rollout_that_was_begun_and_not_announced_is_announced_again),
                cmocka_unit_test(a_binding_under_way_names_all_that_the_run_recorded),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
