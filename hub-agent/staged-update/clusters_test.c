/* How the clusters of a stage are updated. */
#include "hub-agent/staged-update/update_run_test.h"

/* spec/staged-update-and-eviction.md checklist 21 */
static void so_many_clusters_at_a_time(void **state)
{
        static const struct {
                const char *max;
                int clusters, at_once;
        } rows[] = { { "\"33%\"", 10, 3 }, { "\"25%\"", 7, 1 }, { "\"10%\"", 1, 1 },   { "\"70%\"", 3, 2 },
                     { "2", 10, 2 },       { "200", 10, 10 },   { "\"100%\"", 10, 10 } };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char stages[256];
                struct scene s;

                snprintf(stages, sizeof(stages),
                         "{\"name\":\"a\",\"labelSelector\":{},\"maxConcurrency\":%s}", rows[i].max);
                begin(&s, stages);
                for (int k = 0; k < rows[i].clusters; k++)
                        add_cluster(&s, (char[]){ 'c', '0' + (char)k, '\0' }, "", "Scheduled");
                step(&s);
                assert_int_equal(s.plan.n_update, rows[i].at_once);
                assert_int_equal(s.plan.after_ms, UPDATE_RUN_CLUSTER_POLL_MS);
                step(&s);
                assert_int_equal(s.plan.n_update, 0);
                arrive(&s, "c0");
                step(&s);
                assert_int_equal(s.plan.n_update, rows[i].at_once < rows[i].clusters ? 1 : 0);
                ends(&s);
        }
}

static void a_concurrency_that_is_neither_number_nor_percentage_ends_the_run(void **state)
{
        static const char *const rows[] = { "50", "%", "x%", "-1%", "101%" };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char more[64], message[256];
                struct scene s;

                snprintf(more, sizeof(more), ",\"maxConcurrency\":\"%s\"", rows[i]);
                begin_usual(&s, more, "");
                step(&s);
                snprintf(message, sizeof(message),
                         PREFIX_ABORT PREFIX_UNEXPECTED
                         "maxConcurrency `%s` of stage `a` is neither a number nor a percentage",
                         rows[i]);
                assert_run_failed(&s, message);
                assert_int_equal(s.plan.n_update, 0);
                ends(&s);
        }
}

/* spec/staged-update-and-eviction.md checklist 27 */
static void a_started_cluster_gets_all_that_the_run_recorded(void **state)
{
        static const char *names[] = { "tier-0" };
        struct namespaced_name own[] = { { .name = "zone-1", .ns = "app" } };
        struct cluster_overrides list[3] = { { .cluster = { names, 1, true }, .own = { own, 1, true } } };
        const struct binding *b;
        struct scene s;

        begin_usual(&s, "", "");
        s.overrides = list;
        step(&s);
        b = binding_of(&s, "a1");
        assert_string_equal(b->spec->state, "Bound");
        assert_string_equal(b->spec->resource_snapshot_name, "web-0-snapshot");
        assert_string_equal(b->spec->cluster_resource_override_snapshots.at[0], "tier-0");
        assert_string_equal(b->spec->resource_override_snapshots.at[0].name, "zone-1");
        assert_string_equal(b->spec->apply_strategy->type, "ClientSideApply");
        assert_string_equal(update_run_rollout_message(s.run, &s.arena),
                            "Detected the new changes on the resources and started the rollout process, "
                            "resourceSnapshotIndex: 0, updateRun: run");
        assert_string_equal(cluster_says(&s, "a1", "Started"), "True ClusterUpdatingStarted");
        assert_string_equal(cluster_says(&s, "a2", "Started"), "absent");
        assert_string_equal(stage_says(&s, 0, "Progressing"), "True StageUpdatingStarted");
        assert_int_equal(stage(&s, 0)->start_time, NOW);
        assert_string_equal(run_says(&s, "Progressing"), "True UpdateRunProgressing");
        ends(&s);
}

static void a_binding_that_is_up_to_date_is_not_written(void **state)
{
        struct scene s;

        begin_usual(&s, ",\"maxConcurrency\":2", "");
        step(&s);
        s.run = NULL;
        set_run(&s, "0", ""); /* another one, which finds all done */
        arrive(&s, "a1");
        step(&s);
        assert_int_equal(s.plan.n_update, 0);
        assert_string_equal(cluster_says(&s, "a1", "Succeeded"), "True ClusterUpdatingSucceeded");
        assert_string_equal(cluster_says(&s, "a2", "Started"), "True ClusterUpdatingStarted");
        ends(&s);
}

/* spec/staged-update-and-eviction.md checklist 28 */
static void a_cluster_is_done_when_it_is_available_or_has_reported_its_differences(void **state)
{
        static const struct {
                const char *type, *status;
                int64_t behind;
                const char *says;
        } rows[] = {
                { "Available", "True", 0, "True ClusterUpdatingSucceeded" },
                { "DiffReported", "True", 0, "True ClusterUpdatingSucceeded" },
                { "Available", "True", 1, "absent" },
                { "DiffReported", "True", 1, "absent" },
                { "Available", "False", 0, "absent" },
                { "Applied", "False", 0, "absent" },
                { "WorkSynchronized", "False", 0, "absent" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct scene s;

                begin_usual(&s, "", "");
                step(&s);
                set_binding_condition(&s, binding_of(&s, "a1"), rows[i].type, rows[i].status, "R");
                ((struct condition *)condition_find(&binding_of(&s, "a1")->status->conditions, rows[i].type))
                        ->observed_generation.value -= rows[i].behind;
                step(&s);
                assert_string_equal(cluster_says(&s, "a1", "Succeeded"), rows[i].says);
                assert_string_equal(written(&s), text_equal(rows[i].says, "absent") ? "" : "a2");
                ends(&s);
        }
}

/* spec/staged-update-and-eviction.md checklist 29 */
static void a_cluster_that_takes_more_than_five_minutes_is_named(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        step(&s);
        s.now_ms += UPDATE_RUN_STUCK_MS;
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "True UpdateRunProgressing");
        s.now_ms += 1;
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStuck");
        assert_string_equal(run_message(&s, "Progressing"),
                            "The updateRun is stuck waiting for a1 cluster(s) in stage a to finish updating, "
                            "please check placement status for potential errors");
        assert_string_equal(run_says(&s, "Succeeded"), "absent");
        assert_true(s.plan.after_ms > 0);
        arrive(&s, "a1");
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "True UpdateRunProgressing");
        assert_string_equal(written(&s), "a2");
        ends(&s);
}

static void a_stage_may_have_a_time_of_its_own(void **state)
{
        struct scene s;

        begin_usual(&s, ",\"clusterTimeout\":\"10s\"", "");
        step(&s);
        s.now_ms += 10000;
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "True UpdateRunProgressing");
        assert_int_equal(s.plan.after_ms, 1);
        s.now_ms += 1;
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStuck");
        assert_string_equal(cluster_says(&s, "a1", "Succeeded"), "absent");
        ends(&s);
}

static void of_many_that_are_stuck_three_are_named(void **state)
{
        struct scene s;

        begin(&s, "{\"name\":\"a\",\"labelSelector\":{},\"maxConcurrency\":4}");
        for (int i = 0; i < 4; i++)
                add_cluster(&s, (char[]){ 'c', '0' + (char)i, '\0' }, "", "Scheduled");
        step(&s);
        s.now_ms += UPDATE_RUN_STUCK_MS + 1;
        step(&s);
        assert_non_null(strstr(run_message(&s, "Progressing"), "for c0, c1, c2... cluster(s) in stage a"));
        ends(&s);
}

/* Its time counts although the binding needed no write. */
static void a_binding_in_place_that_is_not_available_becomes_stuck_too(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        step(&s);
        set_run(&s, "0", "");
        set_binding_condition(&s, binding_of(&s, "a1"), "Applied", "False", "ApplyFailed");
        step(&s);
        s.now_ms += UPDATE_RUN_STUCK_MS + 1;
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStuck");
        ends(&s);
}

static void a_clock_that_was_set_back_delays_the_five_minutes_by_no_more(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        step(&s);
        s.now_ms -= 3600000;
        s.ahead_ms = UPDATE_RUN_STUCK_MS;
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "True UpdateRunProgressing");
        s.ahead_ms++;
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStuck");
        ends(&s);
}

static void no_clock_takes_back_that_a_run_is_stuck(void **state)
{
        static const struct {
                int64_t wall_ms, ahead_ms; /* when it is looked at again, since the cluster started */
        } cases[] = {
                { 1000, 0 },     /* the moment that lay ahead has come */
                { -3600000, 0 }, /* an agent that was started again has seen it lie ahead for no time */
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct scene s;
                int64_t start;

                begin_usual(&s, "", "");
                step(&s);
                start = s.now_ms;
                s.now_ms -= 3600000;
                s.ahead_ms = UPDATE_RUN_STUCK_MS + 1;
                step(&s);
                assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStuck");
                s.now_ms = start + cases[i].wall_ms;
                s.ahead_ms = cases[i].ahead_ms;
                step(&s);
                assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStuck");
                assert_non_null(strstr(run_message(&s, "Progressing"), "for a1 cluster(s) in stage a"));
                arrive(&s, "a1");
                step(&s);
                assert_string_equal(run_says(&s, "Progressing"), "True UpdateRunProgressing");
                ends(&s);
        }
}

/* Somebody may have written the spec and not the state. */
static void a_binding_in_place_but_not_bound_is_bound(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        step(&s);
        set_run(&s, "0", "");
        binding_of(&s, "a1")->spec->state = "Scheduled";
        step(&s);
        assert_string_equal(written(&s), "a1");
        assert_string_equal(binding_of(&s, "a1")->spec->state, "Bound");
        ends(&s);
}

/* ---- maxFailedClusters (not in the reference) ---- */

static void begin_tolerant(struct scene *s, const char *limit)
{
        char stages[256];

        snprintf(stages, sizeof(stages),
                 "{\"name\":\"a\",\"labelSelector\":{},\"maxConcurrency\":2,\"maxFailedClusters\":%s,"
                 "\"clusterTimeout\":\"2m\"}",
                 limit);
        begin(s, stages);
        for (int i = 0; i < 4; i++)
                add_cluster(s, (char[]){ 'c', '0' + (char)i, '\0' }, "", "Scheduled");
}

static void a_cluster_that_fails_gives_way_where_that_is_tolerated(void **state)
{
        struct scene s;

        begin_tolerant(&s, "1");
        step(&s);
        assert_string_equal(written(&s), "c0 c1");
        set_binding_condition(&s, binding_of(&s, "c0"), "Applied", "False", "R");
        s.now_ms += 120000;
        step(&s);
        assert_string_equal(cluster_says(&s, "c0", "Succeeded"), "absent");
        assert_true(s.plan.after_ms <= 1);
        arrive(&s, "c1");
        s.now_ms += 1;
        step(&s);
        assert_string_equal(cluster_says(&s, "c0", "Succeeded"), "False ClusterUpdatingFailed");
        assert_string_equal(condition_find(&cluster(&s, "c0")->conditions, "Succeeded")->message,
                            "cluster `c0` was not updated within 120s: in whatever words");
        assert_string_equal(written(&s), "c2 c3");
        arrive(&s, "c2");
        arrive(&s, "c3");
        step(&s);
        assert_string_equal(stage_says(&s, 0, "Succeeded"), "True StageUpdatingSucceeded");
        step(&s);
        assert_string_equal(run_says(&s, "Succeeded"), "True UpdateRunSucceeded");
        ends(&s);
}

/* What cannot be applied counts when its time is over, not before: it may be mended. */
static void without_a_time_of_its_own_a_cluster_has_five_minutes_to_fail(void **state)
{
        struct scene s;

        begin_usual(&s, ",\"maxFailedClusters\":1", "");
        step(&s);
        set_binding_condition(&s, binding_of(&s, "a1"), "Applied", "False", "ApplyFailed");
        s.now_ms += UPDATE_RUN_STUCK_MS;
        step(&s);
        assert_string_equal(cluster_says(&s, "a1", "Succeeded"), "absent");
        s.now_ms += 1;
        step(&s);
        assert_string_equal(cluster_says(&s, "a1", "Succeeded"), "False ClusterUpdatingFailed");
        assert_string_equal(condition_find(&cluster(&s, "a1")->conditions, "Succeeded")->message,
                            "cluster `a1` was not updated within 300s: in whatever words");
        assert_string_equal(run_says(&s, "Succeeded"), "absent");
        assert_string_equal(written(&s), "a2");
        ends(&s);
}

static void one_more_than_tolerated_ends_the_run(void **state)
{
        static const struct {
                const char *limit;
                int allowed;
        } rows[] = { { "0", 0 }, { "1", 1 }, { "\"25%\"", 1 }, { "\"24%\"", 0 } };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct scene s;

                begin_tolerant(&s, rows[i].limit);
                step(&s);
                s.now_ms += 120001;
                if (rows[i].allowed)
                        arrive(&s, "c1");
                step(&s);
                if (rows[i].allowed) {
                        assert_string_equal(run_says(&s, "Succeeded"), "absent");
                        s.now_ms += 120001;
                        step(&s);
                }
                assert_int_equal(s.plan.n_update, 0);
                assert_string_equal(run_says(&s, "Succeeded"), "False UpdateRunFailed");
                assert_non_null(strstr(
                        run_message(&s, "Succeeded"),
                        rows[i].allowed ? ": 3 cluster(s) of stage a failed, and maxFailedClusters allows 1: "
                                          "c0, c2, c3"
                                        : ": 2 cluster(s) of stage a failed, and maxFailedClusters allows 0: "
                                          "c0, c1"));
                ends(&s);
        }
}

static void how_single_clusters_fare_is_not_urgent(void **state)
{
        struct scene s;

        begin(&s, "{\"name\":\"a\",\"labelSelector\":{},\"maxConcurrency\":2}");
        for (int i = 0; i < 4; i++)
                add_cluster(&s, (char[]){ 'c', '0' + (char)i, '\0' }, "", "Scheduled");
        step(&s);
        assert_true(s.plan.urgent);
        arrive(&s, "c0");
        step(&s);
        assert_string_equal(written(&s), "c2");
        assert_false(s.plan.urgent);
        arrive(&s, "c1");
        arrive(&s, "c2");
        step(&s);
        arrive(&s, "c3");
        step(&s);
        assert_true(s.plan.urgent);
        ends(&s);
}

/* ---- what is told of those that take too long ---- */

static void the_first_thing_that_holds_a_cluster_up_is_told(void **state)
{
        static const struct {
                const char *type, *status, *message;
                int64_t behind; /* generations */
                const char *told;
        } rows[] = {
                { "Overridden", "False", "no such field", 0, "no such field" },
                { "WorkSynchronized", "False", "too large", 0, "too large" },
                { "Applied", "False", "refused", 0, "refused" },
                { "Available", "False", "no pods", 0, "no pods" },
                { "DiffReported", "False", "no access", 0, "no access" },
                { "Applied", "False", "", 0, "ItsReason" },
                { "Applied", "Unknown", "who knows", 0, "it has not reported yet" },
                { "Applied", "False", "of before", 1, "it has not reported yet" },
                { "Elsewhere", "False", "of no concern", 0, "it has not reported yet" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct condition c;
                struct binding *b;
                struct scene s;

                begin_usual(&s, ",\"maxFailedClusters\":1,\"clusterTimeout\":\"2m\"", "");
                step(&s);
                b = binding_of(&s, "a1");
                c = make_condition(rows[i].type, rows[i].status, "ItsReason", rows[i].message,
                                   b->object.meta.generation - rows[i].behind);
                assert_true(condition_set(&b->status->conditions, &c, s.now_ms, &s.arena) >= 0);
                s.now_ms += 120001;
                step(&s);
                assert_string_equal(
                        condition_find(&cluster(&s, "a1")->conditions, "Succeeded")->message,
                        arena_printf(&s.arena, "cluster `a1` was not updated within 120s: %s", rows[i].told));
                ends(&s);
        }
}

static void of_many_that_failed_three_are_named(void **state)
{
        for (int n = 3; n <= 4; n++) {
                struct scene s;

                begin(&s,
                      "{\"name\":\"a\",\"labelSelector\":{},\"maxConcurrency\":5,\"maxFailedClusters\":2}");
                for (int i = 0; i < n; i++)
                        add_cluster(&s, (char[]){ 'c', '0' + (char)i, '\0' }, "", "Scheduled");
                step(&s);
                s.now_ms += UPDATE_RUN_STUCK_MS + 1;
                step(&s);
                assert_run_failed(&s, arena_printf(&s.arena,
                                                   PREFIX_ABORT "%d cluster(s) of stage a failed, and "
                                                                "maxFailedClusters allows 2: c0, c1, c2%s",
                                                   n, n > 3 ? "..." : ""));
                ends(&s);
        }
}

/* The scheduler takes it away, and it gets another binding or leaves. */
static void a_binding_that_is_on_its_way_out_is_not_begun(void **state)
{
        struct scene s;

        begin_usual(&s, ",\"maxConcurrency\":2", "");
        binding_of(&s, "a1")->object.meta.deletion_ms = s.now_ms;
        step(&s);
        assert_string_equal(written(&s), "a2");
        assert_string_equal(cluster_says(&s, "a1", "Started"), "absent");
        assert_string_equal(run_says(&s, "Succeeded"), "absent");
        ends(&s);
}

/* A cluster that reports nothing at all is under way as any other. */
static void a_binding_without_any_status_is_waited_for(void **state)
{
        struct scene s;

        begin_usual(&s, "", "");
        s.work_generator_is_late = true;
        step(&s);
        assert_null(binding_of(&s, "a1")->status);
        step(&s);
        assert_int_equal(s.plan.started.n, 1);
        s.now_ms += UPDATE_RUN_STUCK_MS + 1;
        step(&s);
        assert_string_equal(run_says(&s, "Progressing"), "False UpdateRunStuck");
        ends(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(so_many_clusters_at_a_time),
                cmocka_unit_test(a_concurrency_that_is_neither_number_nor_percentage_ends_the_run),
                cmocka_unit_test(a_started_cluster_gets_all_that_the_run_recorded),
                cmocka_unit_test(a_binding_that_is_up_to_date_is_not_written),
                cmocka_unit_test(a_cluster_is_done_when_it_is_available_or_has_reported_its_differences),
                cmocka_unit_test(a_cluster_that_takes_more_than_five_minutes_is_named),
                cmocka_unit_test(a_stage_may_have_a_time_of_its_own),
                cmocka_unit_test(of_many_that_are_stuck_three_are_named),
                cmocka_unit_test(a_binding_in_place_that_is_not_available_becomes_stuck_too),
                cmocka_unit_test(a_clock_that_was_set_back_delays_the_five_minutes_by_no_more),
                cmocka_unit_test(no_clock_takes_back_that_a_run_is_stuck),
                cmocka_unit_test(a_binding_in_place_but_not_bound_is_bound),
                cmocka_unit_test(a_cluster_that_fails_gives_way_where_that_is_tolerated),
                cmocka_unit_test(without_a_time_of_its_own_a_cluster_has_five_minutes_to_fail),
                cmocka_unit_test(one_more_than_tolerated_ends_the_run),
                cmocka_unit_test(how_single_clusters_fare_is_not_urgent),
                cmocka_unit_test(the_first_thing_that_holds_a_cluster_up_is_told),
                cmocka_unit_test(of_many_that_failed_three_are_named),
                cmocka_unit_test(a_binding_that_is_on_its_way_out_is_not_begun),
                cmocka_unit_test(a_binding_without_any_status_is_waited_for),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
