/* A run is not ended, nor brought further, by a pass that found no memory: it is passed over again. */
#include "hub-agent/staged-update/update_run_test.h"
#include "hub-agent/starve_test.h"

static int show_plan(void *ctx, const struct update_run *run, const struct stage_status *stage, bool removal,
                     const char *known, struct update_plan **ret, const char **ret_hash)
{
        static struct update_plan shown;

        *ret = &shown;
        *ret_hash = "h2";
        return 0;
}

static int decide(void *ctx, struct arena *arena)
{
        struct scene *s = ctx;
        struct update_run_plan plan;

        return plan_update_run(arena, &s->in, &plan, &s->err);
}

static void starve(struct scene *s)
{
        plan(s); /* sets the input */
        s->in.plan = show_plan;
        each_allocation_fails(decide, s);
        ends(s);
}

static void a_run_that_begins(void **state)
{
        struct scene s;

        begin_usual(&s, APPROVAL("before"), WAIT("1h"));
        add_cluster(&s, "z1", "", "Unscheduled");
        starve(&s);
}

static void a_run_that_cannot_begin(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        add_cluster(&s, "x1", "", "Scheduled");
        starve(&s);
}

static void a_run_that_has_no_policy_yet(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.in.policy_snapshots.n = 0;
        starve(&s);
}

static void a_run_under_way(void **state)
{
        struct scene s;

        begin_usual(&s, ",\"maxConcurrency\":2", "");
        step(&s);
        arrive(&s, "a1");
        starve(&s);
}

static void a_run_that_is_stuck(void **state)
{
        struct scene s;

        begin_usual(&s, ",\"maxConcurrency\":2", "");
        step(&s);
        s.now_ms += UPDATE_RUN_STUCK_MS + 1000;
        starve(&s);
}

static void a_run_with_failed_clusters(void **state)
{
        struct scene s;

        begin_usual(&s, ",\"maxConcurrency\":2,\"maxFailedClusters\":1,\"clusterTimeout\":\"1m\"", "");
        step(&s);
        s.now_ms += 61000;
        starve(&s);
}

static void a_run_that_is_overtaken(void **state)
{
        struct scene s;

        begin_usual(&s, ",\"maxConcurrency\":2", "");
        step(&s);
        binding_of(&s, "a1")->spec->state = "Scheduled";
        binding_of(&s, "a2")->spec->state = "Scheduled";
        starve(&s);
}

static void a_run_that_asks_for_approval_of_a_plan(void **state)
{
        struct scene s;

        begin_usual(&s, ",\"beforeStageTasks\":[{\"type\":\"Approval\",\"plan\":true}]", "");
        step(&s);
        step(&s);
        approve(&s, "run-before-a");
        starve(&s);
}

static void a_run_that_was_approved(void **state)
{
        struct scene s;

        begin_usual(&s, APPROVAL("before"), "");
        step(&s);
        approve(&s, "run-before-a");
        starve(&s);
}

static void a_run_after_a_stage(void **state)
{
        struct scene s;

        begin_usual(&s, WAIT("1h"), "");
        for (int i = 0; i < 2; i++) {
                step(&s);
                arrive(&s, i ? "a2" : "a1");
        }
        starve(&s);
}

static void a_run_that_removes(void **state)
{
        struct scene s;

        begin(&s, STAGE("a", ""));
        add_cluster(&s, "z1", "", "Unscheduled");
        step(&s);
        starve(&s);
}

static void a_run_that_stops(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        step(&s);
        set_state(&s, "Stop");
        starve(&s);
}

static void a_run_that_keeps_its_clusters(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.strategy->spec->on_cluster_change = "Continue";
        step(&s);
        add_cluster(&s, "x1", "", "Scheduled");
        drop_binding(&s, "a1");
        starve(&s);
}

/* What there was no memory for would be missing in the run for good. */
static void begin_again(struct scene *s)
{
        begin_usual(s, "", "");
        step(s);
        binding_of(s, "a1")->spec->resource_snapshot_name = "web-9-snapshot";
        step(s);
        assert_string_equal(run_says(s, "Succeeded"), "False UpdateRunFailed");
        s->in.retried = s->run;
        set_run(s, "", ",\"retryOf\":\"run\"");
}

static void a_run_that_tries_again_what_another_left(void **state)
{
        struct scene s;

        begin_again(&s);
        starve(&s);
}

static void a_run_that_is_amid_what_another_left(void **state)
{
        struct scene s;

        begin_again(&s);
        step(&s);
        assert_string_equal(clusters_of(&s, 0), "a1 a2");
        starve(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_run_that_begins),
                cmocka_unit_test(a_run_that_cannot_begin),
                cmocka_unit_test(a_run_that_has_no_policy_yet),
                cmocka_unit_test(a_run_under_way),
                cmocka_unit_test(a_run_that_is_stuck),
                cmocka_unit_test(a_run_with_failed_clusters),
                cmocka_unit_test(a_run_that_is_overtaken),
                cmocka_unit_test(a_run_that_asks_for_approval_of_a_plan),
                cmocka_unit_test(a_run_that_was_approved),
                cmocka_unit_test(a_run_after_a_stage),
                cmocka_unit_test(a_run_that_removes),
                cmocka_unit_test(a_run_that_stops),
                cmocka_unit_test(a_run_that_keeps_its_clusters),
                cmocka_unit_test(a_run_that_tries_again_what_another_left),
                cmocka_unit_test(a_run_that_is_amid_what_another_left),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
