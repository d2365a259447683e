#include "hub-agent/placement/status_test.h"

static void all_clusters_true_complete_the_placement(void **state)
{
        struct scene s;

        begin(&s, "", 2, BOTH);
        bind(&s, "c1", "new", "TTTTT");
        bind(&s, "c2", "new", "TTTTT");
        run(&s);
        assert_true(s.plan.complete);
        assert_string_equal(own(&s, "Scheduled"), "True SchedulingPolicyFulfilled");
        assert_string_equal(own(&s, "Overridden"), "True NoOverrideSpecified");
        assert_string_equal(own(&s, "Available"), "True ResourceAvailable");
        assert_string_equal(own(&s, "DiffReported"), "absent");
        assert_string_equal(s.plan.wanted->status->observed_resource_index, "1");
        assert_int_equal(s.plan.n_events, 6);
        assert_string_equal(s.plan.events[5].reason, "PlacementRolloutCompleted");
        arena_free(&s.arena);
}

/* How many overrides, and objects that failed, drifted, differ. */
static const char *details_of(struct scene *s, const char *strategy, const char *conditions)
{
        const struct per_cluster_status *e;

        begin(s, strategy, 2, DECISION("c1"));
        bind(s, "c1", "new", conditions);
        list_all(s, "c1");
        run(s);
        e = &s->plan.wanted->status->placement_statuses.at[0];
        return arena_printf(&s->arena, "%u %u %u %u", e->applicable_cluster_resource_overrides.n,
                            e->failed_placements.n, e->drifted_placements.n, e->diffed_placements.n);
}

static void details_are_those_of_the_condition_that_was_reached(void **state)
{
        static const struct {
                const char *conditions, *details;
        } rows[] = { { "U", "0 0 0 0" },     { "F", "0 0 0 0" },    { "T", "1 0 0 0" },
                     { "TTT", "1 0 0 0" },   { "TTTF", "1 1 1 1" }, { "TTTT", "1 0 1 0" },
                     { "TTTTF", "1 1 1 1" }, { "TTTTT", "1 0 1 0" } };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct scene s;

                assert_string_equal(details_of(&s, "", rows[i].conditions), rows[i].details);
                arena_free(&s.arena);
        }
}

/* spec/placement.md checklist 42 */
static void an_unknown_cluster_outweighs_a_failed_one_and_stops_the_walk(void **state)
{
        struct scene s;

        begin(&s, "", 2, BOTH);
        bind(&s, "c1", "new", "TTTF");
        bind(&s, "c2", "new", "TTT");
        run(&s);
        assert_string_equal(own(&s, "Applied"), "Unknown ApplyPending");
        assert_string_equal(own(&s, "Available"), "absent");
        assert_false(s.plan.settled);
        arena_free(&s.arena);
}

static void what_is_under_way_may_wait_to_be_told_but_a_failure_not(void **state)
{
        static const struct {
                const char *reason, *failed;
                bool settled;
        } cases[] = {
                { "ApplyInProgress", "", false },
                { "NotAllWorkHaveBeenApplied", "", false },
                { "NotAllWorkHaveBeenApplied", "\"failedPlacements\":[{\"kind\":\"Pod\",\"name\":\"p\"}],",
                  true },
                { "SyncWorkFailed", "", true },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                char json[1024];
                struct scene s;

                begin(&s, "", 2, DECISION("c1"));
                snprintf(json, sizeof(json),
                         "{\"metadata\":{\"name\":\"b\",\"generation\":1},\"spec\":{\"state\":\"Bound\","
                         "\"targetCluster\":\"c1\",\"resourceSnapshotName\":\"new\","
                         "\"schedulingPolicySnapshotName\":\"web-0\"},\"status\":{%"
                         "s\"conditions\":["
                         "{\"type\":\"RolloutStarted\",\"status\":\"True\",\"observedGeneration\":1},"
                         "{\"type\":\"Overridden\",\"status\":\"True\",\"observedGeneration\":1},"
                         "{\"type\":\"WorkSynchronized\",\"status\":\"True\",\"observedGeneration\":1},"
                         "{\"type\":\"Applied\",\"status\":\"False\",\"reason\":\"%s\","
                         "\"observedGeneration\":1}]}}",
                         cases[i].failed, cases[i].reason);
                s.bindings[s.in.bindings.n++] = parse(&s, &cluster_resource_binding_kind, json);
                run(&s);
                assert_int_equal(s.plan.settled, cases[i].settled);
                arena_free(&s.arena);
        }
}

/* The scheduler names no cluster where a filter objected: there is no score then, whatever the words. */
static void a_cluster_that_was_filtered_is_named(void **state)
{
        static const struct {
                const char *decision, *message;
        } cases[] = {
                { "{\"clusterName\":\"c1\",\"selected\":false,\"reason\":\"it has a taint\"}",
                  "c1 is not selected: it has a taint" },
                { "{\"clusterName\":\"c1\",\"selected\":false,\"reason\":\"ClusterUnschedulable is c1\","
                  "\"clusterScore\":{\"affinityScore\":0,\"priorityScore\":0}}",
                  "ClusterUnschedulable is c1" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct scene s;
                const struct per_cluster_status_list *l;

                begin(&s, "", 2, cases[i].decision);
                s.in.placement =
                        parse(&s, &cluster_resource_placement_kind,
                              "{\"metadata\":{\"name\":\"web\",\"generation\":2},\"spec\":{\"policy\":{"
                              "\"placementType\":\"PickN\",\"numberOfClusters\":1}}}");
                run(&s);
                l = &s.plan.wanted->status->placement_statuses;
                assert_int_equal(l->n, 1);
                assert_string_equal(l->at[0].conditions.at[0].message, cases[i].message);
                arena_free(&s.arena);
        }
}

static void a_cluster_that_is_still_missing_is_so_since_it_was_first_told(void **state)
{
        static const char *const placement =
                "{\"metadata\":{\"name\":\"web\",\"generation\":2},\"spec\":{\"policy\":{"
                "\"placementType\":\"PickN\",\"numberOfClusters\":1}}}";
        static const char *const reasons[] = { "it has a taint", "it is silent" };

        for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
                const struct per_cluster_status_list *l;
                const struct placement_status *first;
                struct placement *later;
                char decision[256];
                struct scene s;

                begin(&s, "", 2, "{\"clusterName\":\"c1\",\"selected\":false,\"reason\":\"it has a taint\"}");
                s.in.placement = parse(&s, &cluster_resource_placement_kind, placement);
                run(&s);
                first = s.plan.wanted->status;
                assert_int_equal(first->placement_statuses.at[0].conditions.at[0].last_transition_ms, NOW);
                later = parse(&s, &cluster_resource_placement_kind, placement);
                later->status = (struct placement_status *)(uintptr_t)first;
                s.in.placement = later;
                s.in.now_ms = NOW + 60000;
                snprintf(decision, sizeof(decision), "%s", reasons[i]);
                ((struct cluster_decision *)s.in.policy->status->target_clusters.at)[0].reason = decision;
                run(&s);
                l = &s.plan.wanted->status->placement_statuses;
                assert_int_equal(l->at[0].conditions.at[0].last_transition_ms, i == 0 ? NOW : NOW + 60000);
                arena_free(&s.arena);
        }
}

/* spec/placement.md checklist 40 */
static void a_binding_on_an_old_snapshot_has_not_started(void **state)
{
        static const struct {
                const char *conditions, *expected;
        } rows[] = {
                { "F", "False RolloutNotStartedYet" },
                { "TTTTT", "Unknown RolloutStartedUnknown" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct scene s;

                begin(&s, "", 2, DECISION("c1"));
                bind(&s, "c1", "old", rows[i].conditions);
                run(&s);
                assert_string_equal(own(&s, "RolloutStarted"), rows[i].expected);
                arena_free(&s.arena);
        }
}

static void an_older_schedule_is_pending(void **state)
{
        struct scene s;

        begin(&s, "", 1, BOTH);
        run(&s);
        assert_string_equal(own(&s, "Scheduled"), "Unknown SchedulePending");
        assert_string_equal(own(&s, "RolloutStarted"), "absent");
        arena_free(&s.arena);
}

static void report_diff_goes_another_way(void **state)
{
        struct scene s;

        begin(&s, "\"applyStrategy\":{\"type\":\"ReportDiff\"}", 2, DECISION("c1"));
        bind(&s, "c1", "new", "TTTTTT");
        run(&s);
        assert_string_equal(own(&s, "DiffReported"), "True DiffReportingCompleted");
        assert_string_equal(own(&s, "Applied"), "absent");
        assert_true(s.plan.complete);
        arena_free(&s.arena);
}

static void external_clusters_on_different_snapshots_show_no_index(void **state)
{
        struct scene s;

        begin(&s, "\"type\":\"External\"", 2, BOTH);
        s.in.latest = NULL;
        bind(&s, "c1", "new", "TTTTT");
        bind(&s, "c2", "old", "TTTTT");
        run(&s);
        assert_string_equal(own(&s, "RolloutStarted"), "Unknown RolloutControlledByExternalController");
        assert_string_equal(own(&s, "Applied"), "absent");
        assert_null(s.plan.wanted->status->observed_resource_index);
        ((struct binding *)s.bindings[0])->spec->resource_snapshot_name = "old";
        run(&s);
        assert_string_equal(own(&s, "Available"), "True ResourceAvailable");
        assert_string_equal(s.plan.wanted->status->observed_resource_index, "0");
        ((struct binding *)s.bindings[0])->spec->resource_snapshot_name = "web-7-snapshot";
        run(&s);
        assert_string_equal(s.plan.wanted->status->placement_statuses.at[0].observed_resource_index, "7");
        arena_free(&s.arena);
}

static void no_cluster_leaves_only_scheduled(void **state)
{
        struct scene s;

        begin(&s, "", 2, "");
        run(&s);
        assert_int_equal(s.plan.wanted->status->conditions.n, 1);
        arena_free(&s.arena);
}

/* ---- members that write much ---- */

enum { HOSTILE = 40, ENTRIES = 100, TEXT = 2000 };

static const char *list_of_failures(struct scene *s, size_t n, const char *text)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 16u << 20);
        for (size_t i = 0; i < n; i++)
                buf_printf(&b,
                           "%s{\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"m%zu\",\"condition\":{"
                           "\"type\":"
                           "\"Applied\",\"status\":\"False\",\"reason\":\"R\",\"message\":\"%s\","
                           "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}}",
                           i ? "," : "", i, text);
        return arena_strndup(&s->arena, b.data, b.len);
}

static const struct object *failed_binding(struct scene *s, const char *cluster, const char *failures)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 16u << 20);
        buf_printf(&b,
                   "{\"metadata\":{\"name\":\"b-%s\",\"generation\":1},\"spec\":{\"state\":\"Bound\","
                   "\"targetCluster\":\"%s\",\"resourceSnapshotName\":\"new\","
                   "\"schedulingPolicySnapshotName\":\"web-0\"},\"status\":{\"failedPlacements\":[%s],"
                   "\"conditions\":[",
                   cluster, cluster, failures);
        for (size_t i = 0; i <= APPLIED; i++)
                buf_printf(&b,
                           "%s{\"type\":\"%s\",\"status\":\"%s\",\"reason\":\"R\",\"message\":\"m\","
                           "\"observedGeneration\":1,\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}",
                           i ? "," : "", progress_names[i], i < APPLIED ? "True" : "False");
        buf_append_str(&b, "]}}");
        return parse(s, &cluster_resource_binding_kind, b.data);
}

static void members_that_write_much_leave_room_for_the_others(void **state)
{
        const struct object *bindings[HOSTILE + 1];
        const struct per_cluster_status *honest, *hostile;
        AUTO_BUF struct buf decisions, out;
        char text[TEXT + 1], name[16];
        struct scene s;

        memset(text, 'x', TEXT);
        text[TEXT] = 0;
        buf_init(&decisions, 1 << 16);
        for (int i = 0; i < HOSTILE; i++)
                buf_printf(&decisions, "{\"clusterName\":\"h%d\",\"selected\":true,\"reason\":\"picked\"},",
                           i);
        buf_printf(&decisions, DECISION("c1"));
        begin(&s, "", 2, decisions.data);
        for (int i = 0; i < HOSTILE; i++) {
                snprintf(name, sizeof(name), "h%d", i);
                bindings[i] = failed_binding(&s, name, list_of_failures(&s, ENTRIES, text));
        }
        bindings[HOSTILE] = failed_binding(&s, "c1", list_of_failures(&s, 10, "short"));
        s.in.bindings = (struct object_list){ bindings, HOSTILE + 1 };
        run(&s);
        buf_init(&out, 64u << 20);
        assert_int_equal(object_encode(&s.plan.wanted->object, &out), 0);
        assert_in_range(out.len, LIMIT_PLACEMENT_ENTRIES_BYTES / 2, LIMIT_PLACEMENT_ENTRIES_BYTES * 5 / 4);
        hostile = &s.plan.wanted->status->placement_statuses.at[0];
        honest = &s.plan.wanted->status->placement_statuses.at[HOSTILE];
        assert_int_equal(honest->failed_placements.n, 10);
        assert_string_equal(condition_find(&honest->conditions, "Applied")->message, "m");
        assert_in_range(hostile->failed_placements.n, 1, 10);
        assert_non_null(strstr(condition_find(&hostile->conditions, "Applied")->message, "left out"));
        arena_free(&s.arena);
}

static int decide_without_memory(void *ctx, struct arena *arena)
{
        struct scene *s = ctx;
        struct status_plan plan;

        return plan_placement_status(arena, &s->in, &plan, &s->err);
}

static void without_memory_no_status_is_told(void **state)
{
        static const char *const conditions[] = { "TTTTT", "TTTF", "U", "F" };

        for (size_t i = 0; i < ARRAY_LEN(conditions); i++) {
                struct scene s;

                begin(&s, "", 2, BOTH);
                bind(&s, "c1", "new", conditions[i]);
                bind(&s, "c2", "old", "TTT");
                list_all(&s, "c1");
                each_allocation_fails(decide_without_memory, &s);
                run(&s);
                s.in.placement = s.plan.wanted; /* a change to what is told already */
                bind(&s, "c3", "new", "T");
                each_allocation_fails(decide_without_memory, &s);
                arena_free(&s.arena);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(all_clusters_true_complete_the_placement),
                cmocka_unit_test(details_are_those_of_the_condition_that_was_reached),
                cmocka_unit_test(an_unknown_cluster_outweighs_a_failed_one_and_stops_the_walk),
                cmocka_unit_test(a_cluster_that_was_filtered_is_named),
                cmocka_unit_test(a_cluster_that_is_still_missing_is_so_since_it_was_first_told),
                cmocka_unit_test(what_is_under_way_may_wait_to_be_told_but_a_failure_not),
                cmocka_unit_test(a_binding_on_an_old_snapshot_has_not_started),
                cmocka_unit_test(an_older_schedule_is_pending),
                cmocka_unit_test(report_diff_goes_another_way),
                cmocka_unit_test(external_clusters_on_different_snapshots_show_no_index),
                cmocka_unit_test(no_cluster_leaves_only_scheduled),
                cmocka_unit_test(members_that_write_much_leave_room_for_the_others),
                cmocka_unit_test(without_memory_no_status_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
