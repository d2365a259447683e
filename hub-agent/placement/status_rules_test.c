/* What a placement's status says, rule by rule. spec/placement.md 10, 13. */
#include "hub-agent/placement/status_test.h"

#define PICKED(name) DECISION(name)
#define NOT_PICKED(name, reason) "{\"clusterName\":\"" name "\",\"selected\":false,\"reason\":\"" reason "\"}"
#define REPORT_DIFF "\"applyStrategy\":{\"type\":\"ReportDiff\"}"
#define EXTERNAL "\"type\":\"External\""

static void ask_for(struct scene *s, const char *policy)
{
        const struct placement *p =
                parse(s, &cluster_resource_placement_kind,
                      arena_printf(&s->arena, "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"policy\":{%s}}}",
                                   policy));

        s->in.placement->spec->policy = p->spec->policy;
}

/* "c1:Scheduled=True RolloutStarted=Unknown; ..." of all entries, in order. */
static const char *entries(struct scene *s)
{
        const struct per_cluster_status_list *l = &s->plan.wanted->status->placement_statuses;
        const char *text = "";

        for (uint32_t i = 0; i < l->n; i++) {
                text = arena_printf(&s->arena, "%s%s%s:", text, i ? "; " : "",
                                    or_empty(l->at[i].cluster_name));
                for (uint32_t k = 0; k < l->at[i].conditions.n; k++)
                        text = arena_printf(&s->arena, "%s%s%s=%s", text, k ? " " : "",
                                            l->at[i].conditions.at[k].type, l->at[i].conditions.at[k].status);
        }
        return text;
}

static struct condition *cluster_condition(struct scene *s, const char *type)
{
        return (struct condition *)condition_find(
                &s->plan.wanted->status->placement_statuses.at[0].conditions, type);
}

/* What was told stays, as the placement has it now. */
static void tell(struct scene *s)
{
        struct placement *told = (struct placement *)object_copy(&s->plan.wanted->object, &s->arena);

        s->in.placement = told;
}

/* ---- who is shown ---- */

/* spec/placement.md checklist 36: what is known of the clusters stays, which section 10.5 calls better. */
static void while_the_scheduler_has_not_spoken_all_else_stays(void **state)
{
        const struct condition *c;
        const char *before;
        struct scene s;

        begin(&s, "", 2, PICKED("c1"));
        bind(&s, "c1", "new", "TTTTT");
        run(&s);
        before = entries(&s);
        tell(&s);
        ((struct placement *)s.in.placement)->object.meta.generation = 3;
        run(&s);
        assert_string_equal(own(&s, "Scheduled"), "Unknown SchedulePending");
        c = condition_find(&s.plan.wanted->status->conditions, "ClusterResourcePlacementScheduled");
        assert_int_equal(c->observed_generation.value, 3);
        assert_string_equal(c->message, "Scheduling has not completed");
        assert_string_equal(own(&s, "Available"), "True ResourceAvailable");
        for (size_t i = ROLLOUT_STARTED; i <= AVAILABLE; i++) {
                c = condition_find(&s.plan.wanted->status->conditions,
                                   arena_printf(&s.arena, "ClusterResourcePlacement%s", progress_names[i]));
                assert_int_equal(c->observed_generation.value, 2);
        }
        assert_string_equal(entries(&s), before);
        assert_false(s.plan.complete);
        arena_free(&s.arena);
}

/* spec/placement.md 10.3: each part of what makes a schedule one of now. */
static void a_schedule_counts_when_it_is_of_this_policy_and_generation(void **state)
{
        static const struct {
                const char *status;
                int64_t observed, placement;
                const char *expected;
        } rows[] = {
                { "True", 1, 2, "True SchedulingPolicyFulfilled" },
                { "False", 1, 2, "False SchedulingPolicyFulfilled" },
                { "Unknown", 1, 2, "Unknown SchedulePending" },
                { "True", 0, 2, "Unknown SchedulePending" },
                { "True", 1, 1, "Unknown SchedulePending" },
                { "True", 1, 3, "True SchedulingPolicyFulfilled" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct policy_snapshot_status *told;
                struct scene s;

                begin(&s, "", (int)rows[i].placement, PICKED("c1"));
                told = s.in.policy->status;
                told->conditions.at[0].status = rows[i].status;
                told->conditions.at[0].observed_generation = OPT_INT(rows[i].observed);
                run(&s);
                assert_string_equal(own(&s, "Scheduled"), rows[i].expected);
                arena_free(&s.arena);
        }
}

/* spec/placement.md checklist 38 */
static void who_is_missing_is_shown_without_a_name(void **state)
{
#define FIVE "\"placementType\":\"PickN\",\"numberOfClusters\":5"
        static const struct {
                const char *policy, *more, *expected;
        } rows[] = {
                { FIVE, "", "" },
                { FIVE, "," NOT_PICKED("x", "r"), "; :Scheduled=False" },
                { FIVE, "," NOT_PICKED("x", "r") "," NOT_PICKED("y", "r"),
                  "; :Scheduled=False; :Scheduled=False" },
                { FIVE, "," NOT_PICKED("x", "r") "," NOT_PICKED("y", "r") "," NOT_PICKED("z", "r"),
                  "; :Scheduled=False; :Scheduled=False" },
                { "\"placementType\":\"PickAll\"", "," NOT_PICKED("x", "r"), "" },
                { "\"placementType\":\"PickFixed\",\"clusterNames\":[\"c1\",\"c2\",\"c3\",\"x\"]",
                  "," NOT_PICKED("x", "r") "," NOT_PICKED("y", "r"), "; :Scheduled=False" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char decisions[1024];
                struct scene s;

                snprintf(decisions, sizeof(decisions), BOTH "," PICKED("c3") "%s", rows[i].more);
                begin(&s, "", 2, decisions);
                ask_for(&s, rows[i].policy);
                ((struct policy_snapshot_status *)s.in.policy->status)->conditions.at[0].status = "False";
                bind(&s, "c1", "new", "TTTTT");
                bind(&s, "c2", "new", "TTTTT");
                bind(&s, "c3", "new", "TTTTF");
                run(&s);
                assert_string_equal(entries(&s),
                                    arena_printf(&s.arena,
                                                 "c1:Scheduled=True RolloutStarted=True Overridden=True "
                                                 "WorkSynchronized=True Applied=True Available=True; "
                                                 "c2:Scheduled=True RolloutStarted=True Overridden=True "
                                                 "WorkSynchronized=True Applied=True Available=True; "
                                                 "c3:Scheduled=True RolloutStarted=True Overridden=True "
                                                 "WorkSynchronized=True Applied=True Available=False%s",
                                                 rows[i].expected));
                assert_string_equal(own(&s, "Scheduled"), "False SchedulingPolicyFulfilled");
                assert_string_equal(own(&s, "Applied"), "True ApplySucceeded");
                assert_string_equal(own(&s, "Available"), "False ResourceNotAvailableYet");
                assert_string_equal(
                        condition_find(&s.plan.wanted->status->conditions, "ClusterResourcePlacementApplied")
                                ->message,
                        "The selected resources are successfully applied to 3 cluster(s)");
                for (uint32_t k = 3; k < s.plan.wanted->status->placement_statuses.n; k++) {
                        const struct per_cluster_status *e = &s.plan.wanted->status->placement_statuses.at[k];

                        assert_null(e->cluster_name);
                        assert_null(e->observed_resource_index);
                        assert_string_equal(e->conditions.at[0].reason, "ScheduleFailed");
                }
                arena_free(&s.arena);
        }
}

/* spec/placement.md checklist 39 */
static void more_selected_than_asked_for_is_an_error(void **state)
{
        static const char *const policies[] = { "\"placementType\":\"PickN\",\"numberOfClusters\":1",
                                                "\"placementType\":\"PickFixed\",\"clusterNames\":[\"c1\"]" };

        for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
                struct scene s;

                begin(&s, "", 2, BOTH);
                ask_for(&s, policies[i]);
                assert_int_equal(plan_placement_status(&s.arena, &s.in, &s.plan, &s.err), ERR_INVALID);
                assert_null(s.plan.wanted);
                arena_free(&s.arena);
        }
}

/* ---- how far a cluster is ---- */

/* spec/placement.md checklist 41 */
static void a_condition_of_an_older_binding_ends_the_walk_as_unknown(void **state)
{
        for (uint32_t stale = ROLLOUT_STARTED; stale <= AVAILABLE; stale++) {
                const char *expected;
                struct scene s;

                begin(&s, "", 2, PICKED("c1"));
                bind(&s, "c1", "new", "TTTTT");
                ((struct binding *)s.bindings[0])->status->conditions.at[stale].observed_generation =
                        OPT_INT(0);
                run(&s);
                expected = "c1:Scheduled=True";
                for (uint32_t i = 0; i <= stale; i++)
                        expected = arena_printf(&s.arena, "%s %s=%s", expected, progress_names[i],
                                                i < stale ? "True" : "Unknown");
                assert_string_equal(entries(&s), expected);
                assert_int_equal(cluster_condition(&s, progress_names[stale])->observed_generation.value, 2);
                arena_free(&s.arena);
        }
}

/* What the binding says travels, under the generation of the placement. */
static void a_cluster_says_what_its_binding_says(void **state)
{
        const struct condition *c;
        struct scene s;

        begin(&s, "", 2, PICKED("c1"));
        bind(&s, "c1", "new", "TTTF");
        run(&s);
        c = cluster_condition(&s, "Applied");
        assert_string_equal(c->status, "False");
        assert_string_equal(c->reason, "R");
        assert_string_equal(c->message, "m");
        assert_int_equal(c->observed_generation.value, 2);
        arena_free(&s.arena);
}

/* spec/placement.md checklist 43; spec/api.md checklist 43 */
static void without_an_override_anywhere_that_is_the_reason(void **state)
{
        for (int with = 0; with < 2; with++) {
                struct scene s;

                begin(&s, "", 2, BOTH);
                bind(&s, "c1", "new", "TTTTT");
                bind(&s, "c2", "new", "TTTTT");
                if (with)
                        list_all(&s, "c2");
                run(&s);
                assert_string_equal(own(&s, "Overridden"),
                                    with ? "True OverriddenSucceeded" : "True NoOverrideSpecified");
                arena_free(&s.arena);
        }
}

static const char *lists(struct scene *s, const char *strategy, const char *conditions)
{
        const struct per_cluster_status *e;

        begin(s, strategy, 2, PICKED("c1"));
        bind(s, "c1", "new", conditions);
        list_all(s, "c1");
        run(s);
        e = &s->plan.wanted->status->placement_statuses.at[0];
        return arena_printf(&s->arena, "failed %u drifted %u diffed %u", e->failed_placements.n,
                            e->drifted_placements.n, e->diffed_placements.n);
}

/* spec/placement.md checklist 44, 45 */
static void lists_are_shown_with_the_condition_that_they_explain(void **state)
{
        static const struct {
                const char *strategy, *conditions, *lists;
        } rows[] = {
                { "", "TTTTT", "failed 0 drifted 1 diffed 0" },
                { "", "TTTTF", "failed 1 drifted 1 diffed 1" },
                { "", "TTTF", "failed 1 drifted 1 diffed 1" },
                { "", "TTT", "failed 0 drifted 0 diffed 0" },
                { REPORT_DIFF, "TTTTTT", "failed 0 drifted 0 diffed 1" },
                { REPORT_DIFF, "TTTTTF", "failed 0 drifted 0 diffed 0" },
                { REPORT_DIFF, "TTTTTU", "failed 0 drifted 0 diffed 0" },
                { REPORT_DIFF, "TTT", "failed 0 drifted 0 diffed 0" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct scene s;

                assert_string_equal(lists(&s, rows[i].strategy, rows[i].conditions), rows[i].lists);
                arena_free(&s.arena);
        }
}

/* spec/placement.md checklist 45; spec/api.md checklist 42: also what the other way said before is gone. */
static void each_apply_strategy_has_conditions_of_its_own(void **state)
{
        static const struct {
                const char *strategy, *applied, *available, *diff, *entries;
        } rows[] = {
                { "", "True ApplySucceeded", "True ResourceAvailable", "absent",
                  "c1:Scheduled=True RolloutStarted=True Overridden=True WorkSynchronized=True Applied=True "
                  "Available=True" },
                { REPORT_DIFF, "absent", "absent", "True DiffReportingCompleted",
                  "c1:Scheduled=True RolloutStarted=True Overridden=True WorkSynchronized=True "
                  "DiffReported=True" },
        };

        for (size_t i = 0; i < 4; i++) {
                size_t first = i & 1, then = i >> 1;
                struct scene s, other;

                begin(&s, rows[first].strategy, 2, PICKED("c1"));
                bind(&s, "c1", "new", "TTTTTT");
                run(&s);
                tell(&s);
                begin(&other, rows[then].strategy, 2, PICKED("c1"));
                ((struct placement *)s.in.placement)->spec = other.in.placement->spec;
                run(&s);
                assert_string_equal(own(&s, "Applied"), rows[then].applied);
                assert_string_equal(own(&s, "Available"), rows[then].available);
                assert_string_equal(own(&s, "DiffReported"), rows[then].diff);
                assert_string_equal(entries(&s), rows[then].entries);
                assert_true(s.plan.complete);
                arena_free(&other.arena);
                arena_free(&s.arena);
        }
}

/* ---- External ---- */

static int one_identifier(void *ctx, const char *index, struct resource_identifier_list *ret,
                          struct error *err)
{
        static struct resource_identifier id;

        id.name = index;
        *ret = (struct resource_identifier_list){ &id, 1, true };
        return 0;
}

/* spec/placement.md checklist 46, 47 */
static void who_is_rolled_out_by_others_shows_the_index_that_all_have(void **state)
{
        static const struct {
                const char *first, *second, *conditions, *index, *started, *available;
        } rows[] = {
                { "new", "old", "TTTTT", NULL, "Unknown RolloutControlledByExternalController", "absent" },
                { "new", "", "TTTTT", NULL, "Unknown RolloutControlledByExternalController", "absent" },
                { "", "", "TTTTT", NULL, "Unknown RolloutControlledByExternalController", "absent" },
                { "old", "old", "TTTTT", "0", "True RolloutStarted", "True ResourceAvailable" },
                { "new", "new", "TTTTT", "1", "True RolloutStarted", "True ResourceAvailable" },
                { "old", "old", "", "0", "Unknown RolloutControlledByExternalController", "absent" },
                { "old", "old", "F", "0", "False RolloutNotStartedYet", "absent" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct placement_status *told;
                struct scene s;

                begin(&s, EXTERNAL, 2, BOTH);
                s.in.latest = NULL;
                s.in.identifiers_of_group = one_identifier;
                s.in.selected = (struct resource_identifier_list){
                        (struct resource_identifier[]){ { .name = "now" }, { .name = "too" } }, 2, true
                };
                bind(&s, "c1", rows[i].first, rows[i].conditions);
                bind(&s, "c2", rows[i].second, rows[i].conditions);
                run(&s);
                told = s.plan.wanted->status;
                assert_string_equal(own(&s, "RolloutStarted"), rows[i].started);
                assert_string_equal(own(&s, "Available"), rows[i].available);
                assert_string_equal(or_empty(told->observed_resource_index), or_empty(rows[i].index));
                assert_int_equal(told->selected_resources.n, rows[i].index ? 1 : 0);
                if (rows[i].index)
                        assert_string_equal(told->selected_resources.at[0].name, rows[i].index);
                arena_free(&s.arena);
        }
}

/* ---- events ---- */

static const char *events(struct scene *s)
{
        const char *text = "";

        run(s);
        for (size_t i = 0; i < s->plan.n_events; i++)
                text = arena_printf(&s->arena, "%s%s%s", text, i ? " " : "", s->plan.events[i].reason);
        return text;
}

static void advance(struct scene *s, const char *conditions)
{
        tell(s);
        s->in.bindings.n = 0;
        bind(s, "c1", "new", conditions);
}

/* spec/placement.md checklist 53: differences that were reported are told too, which section 13 calls better.
 */
static void what_becomes_true_is_told_once_per_generation(void **state)
{
        struct scene s;

        begin(&s, "", 2, PICKED("c1"));
        bind(&s, "c1", "new", "T");
        assert_string_equal(events(&s), "PlacementRolloutStarted");
        advance(&s, "T");
        assert_string_equal(events(&s), "");
        advance(&s, "TTT");
        assert_string_equal(events(&s), "PlacementOverriddenSucceeded PlacementWorkSynchronized");
        advance(&s, "TTTT");
        assert_string_equal(events(&s), "PlacementApplied");
        advance(&s, "TTTTT");
        assert_string_equal(events(&s), "PlacementAvailable PlacementRolloutCompleted");
        advance(&s, "TTTTT");
        assert_string_equal(events(&s), "");
        advance(&s, "TTTTF");
        assert_string_equal(events(&s), "");
        advance(&s, "TTTTT");
        assert_string_equal(events(&s), "PlacementAvailable PlacementRolloutCompleted");
        advance(&s, "TTTTT");
        ((struct placement *)s.in.placement)->object.meta.generation = 3;
        ((struct policy_snapshot *)s.in.policy)->status->observed_crp_generation = OPT_INT(3);
        assert_string_equal(events(&s),
                            "PlacementRolloutStarted PlacementOverriddenSucceeded PlacementWorkSynchronized "
                            "PlacementApplied PlacementAvailable PlacementRolloutCompleted");
        arena_free(&s.arena);
        begin(&s, REPORT_DIFF, 2, PICKED("c1"));
        bind(&s, "c1", "new", "TTTTTT");
        assert_string_equal(events(&s),
                            "PlacementRolloutStarted PlacementOverriddenSucceeded PlacementWorkSynchronized "
                            "PlacementDiffReported PlacementRolloutCompleted");
        arena_free(&s.arena);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(while_the_scheduler_has_not_spoken_all_else_stays),
                cmocka_unit_test(a_schedule_counts_when_it_is_of_this_policy_and_generation),
                cmocka_unit_test(who_is_missing_is_shown_without_a_name),
                cmocka_unit_test(more_selected_than_asked_for_is_an_error),
                cmocka_unit_test(a_condition_of_an_older_binding_ends_the_walk_as_unknown),
                cmocka_unit_test(a_cluster_says_what_its_binding_says),
                cmocka_unit_test(without_an_override_anywhere_that_is_the_reason),
                cmocka_unit_test(lists_are_shown_with_the_condition_that_they_explain),
                cmocka_unit_test(each_apply_strategy_has_conditions_of_its_own),
                cmocka_unit_test(who_is_rolled_out_by_others_shows_the_index_that_all_have),
                cmocka_unit_test(what_becomes_true_is_told_once_per_generation),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
