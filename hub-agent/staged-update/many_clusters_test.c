/* What one pass over a run of many clusters costs. Memory is counted here; `valgrind --tool=callgrind
 * --toggle-collect=plan_update_run` with other numbers tells of time. Both are to grow with the clusters, and
 * not with their square. */
#include "hub-agent/staged-update/update_run_test.h"

#ifndef MANY
#define MANY 1000
#endif
#define BYTES_PER_CLUSTER 1024 /* of a pass over a run that is under way */

static void add_many(struct scene *s, int n, const char *prefix, const char *state)
{
        for (int i = 0; i < n; i++)
                add_cluster(s, arena_printf(&s->arena, "%s%04d", prefix, i), "\"stage\":\"a\"", state);
}

/* What the pass took of the arena, and the pass itself is done. */
static size_t cost_of_step(struct scene *s)
{
        size_t before = s->arena.used, planned;

        plan(s);
        planned = s->arena.used - before;
        do_bindings(s);
        if (s->plan.wanted)
                s->run = s->plan.wanted;
        return planned;
}

static size_t cost_of_a_wave(int n, const char *more)
{
        static struct scene s;
        size_t cost;

        begin(&s, STAGE("a", ",\"maxConcurrency\":\"50%\""));
        s.strategy = parse_f(&s, &cluster_staged_update_strategy_kind,
                             "{\"metadata\":{\"name\":\"slow\"},\"spec\":{\"stages\":[" STAGE(
                                     "a", ",\"maxConcurrency\":\"50%%\"") "]%s}}",
                             more);
        add_many(&s, n, "c", "Scheduled");
        add_many(&s, n, "gone", "Unscheduled");
        pass_over(&s); /* it is initialized */
        cost_of_step(&s);
        assert_int_equal(s.plan.n_update, n / 2);
        for (int i = 0; i < n / 4; i++)
                arrive(&s, stage(&s, 0)->clusters.at[i].cluster_name);
        cost = cost_of_step(&s);
        assert_int_equal(s.plan.n_update, n / 4);
        ends(&s);
        return cost;
}

static void a_pass_costs_memory_by_the_cluster(void **state)
{
        static const char *const changes[] = { "", ",\"onClusterChange\":\"Continue\"" };

        for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
                assert_in_range(cost_of_a_wave(MANY, changes[i]), 1, (size_t)MANY * BYTES_PER_CLUSTER);
                assert_in_range(cost_of_a_wave(MANY / 4, changes[i]), 1,
                                (size_t)MANY / 4 * BYTES_PER_CLUSTER);
        }
}

/* A status of so many clusters is an object that a server takes (1.5 MB). */
static void the_status_of_a_thousand_clusters_fits_an_object(void **state)
{
        static struct scene s;
        AUTO_BUF struct buf text;

        begin(&s, STAGE("a", ",\"maxConcurrency\":\"100%\""));
        add_many(&s, MANY, "a-cluster-of-a-name-that-is-not-short-", "Scheduled");
        step(&s);
        for (int i = 0; i < MANY; i++)
                arrive(&s, stage(&s, 0)->clusters.at[i].cluster_name);
        cost_of_step(&s);
        assert_string_equal(stage_says(&s, 0, "Succeeded"), "True StageUpdatingSucceeded");
        buf_init(&text, 8u << 20);
        assert_int_equal(object_encode(&s.run->object, &text), 0);
        assert_in_range(text.len, 1, 1000000);
        ends(&s);
}

static void all_are_taken_off_in_one_pass(void **state)
{
        static struct scene s;

        begin(&s, STAGE("a", ""));
        add_many(&s, MANY, "gone", "Unscheduled");
        step(&s);
        assert_in_range(cost_of_step(&s), 1, (size_t)MANY * BYTES_PER_CLUSTER);
        assert_int_equal(s.plan.remove.n, MANY);
        s.in.bindings.n = 0;
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        ends(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_pass_costs_memory_by_the_cluster),
                cmocka_unit_test(the_status_of_a_thousand_clusters_fits_an_object),
                cmocka_unit_test(all_are_taken_off_in_one_pass),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
