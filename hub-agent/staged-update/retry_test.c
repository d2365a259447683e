/* A run with spec.retryOf (not in the reference). */
#include "hub-agent/staged-update/update_run_test.h"

/* A run that ended when a2 was taken from it: a1 has succeeded, b1 was never reached. */
static void begin_after_failure(struct scene *s)
{
        begin_usual(s, "", "");
        step(s);
        arrive(s, "a1");
        step(s);
        binding_of(s, "a2")->spec->resource_snapshot_name = "web-9-snapshot";
        step(s);
        assert_string_equal(run_says(s, "Succeeded"), "False UpdateRunFailed");
        s->in.retried = s->run;
        s->strategy = NULL; /* it is not asked again */
        set_run(s, "", ",\"retryOf\":\"run\"");
}

static void what_failed_or_was_not_reached_gets_the_same_again(void **state)
{
        struct scene s;

        begin_after_failure(&s);
        add_snapshot(&s, 1, true); /* what is selected now does not matter */
        step(&s);
        assert_false(s.plan.take_snapshot);
        assert_string_equal(s.run->status->resource_snapshot_index_used, "0");
        assert_string_equal(clusters_of(&s, 0), "a2");
        assert_string_equal(clusters_of(&s, 1), "b1");
        assert_string_equal(written(&s), "a2");
        s.in.retried = NULL; /* it may be deleted by now */
        arrive(&s, "a2");
        step(&s);
        step(&s);
        assert_string_equal(written(&s), "b1");
        arrive(&s, "b1");
        step(&s);
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        ends(&s);
}

static void skipped_clusters_are_tried_again_too(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.strategy->spec->on_cluster_change = "Continue";
        step(&s);
        drop_binding(&s, "a1");
        step(&s);
        arrive(&s, "a2");
        step(&s);
        step(&s);
        arrive(&s, "b1");
        step(&s);
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        add_cluster(&s, "a1", "\"stage\":\"a\"", "Scheduled");
        s.in.retried = s.run;
        set_run(&s, "0", ",\"retryOf\":\"run\"");
        step(&s);
        assert_string_equal(clusters_of(&s, 0), "a1");
        assert_string_equal(clusters_of(&s, 1), "");
        assert_int_equal(s.run->status->left_out_clusters.n, 0);
        assert_string_equal(written(&s), "a1");
        ends(&s);
}

static void change_placement(struct scene *s)
{
        ((struct update_run *)s->in.retried)->spec->placement_name = "shop";
}
static void change_strategy(struct scene *s)
{
        ((struct update_run *)s->in.retried)->spec->staged_rollout_strategy_name = "fast";
}
static void lose(struct scene *s)
{
        s->in.retried = NULL;
}
static void resume(struct scene *s)
{
        condition_remove(&((struct update_run *)s->in.retried)->status->conditions, "Succeeded");
}
static void forget(struct scene *s)
{
        ((struct update_run *)s->in.retried)->status->resource_snapshot_index_used = NULL;
}
static void forget_stages(struct scene *s)
{
        ((struct update_run *)s->in.retried)->status->strategy_snapshot = NULL;
}
static void ask_for_another(struct scene *s)
{
        set_run(s, "1", ",\"retryOf\":\"run\"");
}

static void only_an_ended_run_of_the_same_kind_can_be_retried(void **state)
{
        static const struct {
                void (*change)(struct scene *s);
                const char *words;
        } rows[] = {
                { lose, "there is no update run `/run`" },
                { change_placement, "update run `/run` is of placement `shop`, and this one of `web`" },
                { change_strategy, "update run `/run` has strategy `fast`, and this one `slow`" },
                { resume, "update run `/run` has not ended" },
                { forget_stages, "update run `/run` never began" },
                { forget, "update run `/run` never began" },
                { ask_for_another,
                  "update run `/run` is of resource snapshot index `0`, and this one of `1`" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct scene s;

                begin_after_failure(&s);
                rows[i].change(&s);
                step(&s);
                assert_init_failed(&s, arena_printf(&s.arena, PREFIX_VALID PREFIX_USER "spec.retryOf: %s",
                                                    rows[i].words));
                assert_non_null(s.run->status->applied_strategy); /* its own placement was read before */
                ends(&s);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_failed_or_was_not_reached_gets_the_same_again),
                cmocka_unit_test(skipped_clusters_are_tried_again_too),
                cmocka_unit_test(only_an_ended_run_of_the_same_kind_can_be_retried),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
