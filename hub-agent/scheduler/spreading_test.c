/* Topology spread and property sorters, as tables. spec/scheduler.md 12. */
#include "hub-agent/scheduler/scheduler_test.h"

#define SPREAD(constraints) "\"topologySpreadConstraints\":[" constraints "]"
#define HARD(key, skew)                                                                                      \
        "{\"topologyKey\":\"" key "\",\"maxSkew\":" skew ",\"whenUnsatisfiable\":\"DoNotSchedule\"}"
#define SOFT(key, skew)                                                                                      \
        "{\"topologyKey\":\"" key "\",\"maxSkew\":" skew ",\"whenUnsatisfiable\":\"ScheduleAnyway\"}"
#define STALE "2025-12-31T20:00:00Z"
#define DOMAINS 3

static void hold(struct case_ *c, const char *cluster)
{
        char binding[32];

        snprintf(binding, sizeof(binding), "on-%s", cluster);
        add_binding(c, arena_strdup(&c->arena, binding), cluster, "Bound", "web-1", 0, 0, "");
}

static const struct schedule_verdict *verdict_on(const struct case_ *c, const char *cluster)
{
        for (size_t i = 0; i < c->in.clusters.n; i++)
                if (text_equal(c->plan.verdicts[i].cluster->object.meta.name, cluster))
                        return &c->plan.verdicts[i];
        fail_msg("no verdict on %s", cluster);
        return NULL;
}

/* How many bindings the domains a, b and c hold (-1: there is no such domain), and what one more in each is
 * worth. */
struct skew_row {
        int counts[DOMAINS];
        const char *allowed;
        int worth[DOMAINS];
};

static void fill_domains(struct case_ *c, const int counts[DOMAINS], int *ret_held)
{
        *ret_held = 0;
        for (int d = 0; d < DOMAINS; d++) {
                char labels[32], name[16];

                snprintf(labels, sizeof(labels), "\"zone\":\"%c\"", 'a' + d);
                for (int i = 0; i <= counts[d]; i++) { /* the last one is free */
                        snprintf(name, sizeof(name), "%c%d", 'a' + d, i);
                        add_cluster(c, name, labels, ALIVE, "", "");
                        if (i < counts[d])
                                hold(c, name);
                        *ret_held += i < counts[d];
                }
        }
}

static void check_skew(const struct skew_row *row, bool hard)
{
        char policy[256], wanted[16];
        struct case_ c;
        int held;

        snprintf(policy, sizeof(policy),
                 PICK_N "," SPREAD("{\"topologyKey\":\"zone\",\"maxSkew\":%s,"
                                   "\"whenUnsatisfiable\":\"%s\"}") "}",
                 row->allowed, hard ? "DoNotSchedule" : "ScheduleAnyway");
        begin(&c, policy, "1");
        fill_domains(&c, row->counts, &held);
        snprintf(wanted, sizeof(wanted), "%d", held + 1);
        set_annotation((struct object *)&c.in.snapshot->object, "kubernetes-fleet.io/number-of-clusters",
                       wanted, &c.arena);
        c.in.tell_all = true;
        run(&c);
        for (int d = 0; d < DOMAINS; d++) {
                char name[16], why[128];
                const struct schedule_verdict *v;

                if (row->counts[d] < 0)
                        continue;
                snprintf(name, sizeof(name), "%c%d", 'a' + d, row->counts[d]);
                snprintf(why, sizeof(why),
                         "violated doNotSchedule topology spread constraint \"zone\" (max skew %s)",
                         row->allowed);
                v = verdict_on(&c, name);
                if (hard && row->worth[d] == -1000 ? !text_equal(v->filtered, why)
                                                   : v->filtered || v->topology != row->worth[d])
                        fail_msg("%s of %d %d %d, max %s: %d %s", name, row->counts[0], row->counts[1],
                                 row->counts[2], row->allowed, v->topology, or_empty(v->filtered));
        }
        end(&c);
}

/* spec/scheduler.md checklist 35 */
static void what_one_more_placement_does_to_the_skew(void **state)
{
        static const struct skew_row rows[] = {
                { { 0, 0, 0 }, "1", { -1, -1, -1 } },
                { { 1, 1, 1 }, "1", { -1, -1, -1 } },
                { { 1, 0, 0 }, "1", { -1000, 0, 0 } },
                { { 1, 0, -1 }, "1", { -1000, 1 } },
                { { 1, 0, 0 }, "2", { -1, 0, 0 } },
                { { 1, 1, 0 }, "1", { -1000, -1000, 1 } },
                { { 2, 1, 0 }, "2", { -1000, 0, 1 } },
                { { 2, 1, 0 }, "1", { -1000, -1000, 1 } },
                { { 2, 1, 0 }, "3", { -1, 0, 1 } },
                { { 3, 0, -1 }, "1", { -1000, -1000 } },
                { { 3, 0, -1 }, "2", { -1000, 1 } },
                { { 5, -1, -1 }, "1", { -1 } },
                { { 2, 2, 1 }, "1", { -1000, -1000, 1 } },
                { { 2, 1, 1 }, "1", { -1000, 0, 0 } },
                { { 3, 1, 1 }, "1", { -1000, -1000, -1000 } },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                check_skew(&rows[i], false);
                check_skew(&rows[i], true);
        }
}

/* A skew that nothing can be placed in keeps back even what would lower it. */
static void a_skew_above_what_is_allowed_keeps_everything_back(void **state)
{
        struct case_ c;
        int held;

        begin(&c, PICK_N "," SPREAD(HARD("zone", "1")) "}", "4");
        fill_domains(&c, (const int[DOMAINS]){ 3, 0, -1 }, &held);
        run(&c);
        assert_string_equal(created(&c), "");
        assert_string_equal(c.plan.scheduled.status, "False");
        assert_string_equal(decision_on(&c, "b0")->reason,
                            "ClusterUnschedulable, violated doNotSchedule topology spread constraint "
                            "\"zone\" (max skew 1)");
        end(&c);
}

/* spec/scheduler.md checklist 33, 34 */
static void contributions_of_several_soft_constraints_add_up(void **state)
{
        static const struct {
                const char *name, *labels;
                int topology;
        } rows[] = {
                { "u", "\"zone\":\"a\",\"tier\":\"gold\"", -2000 },
                { "v", "\"zone\":\"a\",\"tier\":\"silver\"", -999 },
                { "w", "\"zone\":\"b\",\"tier\":\"silver\"", 2 },
                { "x", "\"other\":\"a\"", 0 },
                { "y", "\"zone\":\"b\"", 1 },
                { "z", "\"tier\":\"gold\"", -1000 },
        };
        struct case_ c;

        begin(&c, PICK_N "," SPREAD(SOFT("zone", "1") "," SOFT("tier", "1")) "}", "2");
        add_cluster(&c, "taken", "\"zone\":\"a\",\"tier\":\"gold\"", ALIVE, "", "");
        hold(&c, "taken");
        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                add_cluster(&c, rows[i].name, rows[i].labels, ALIVE, "", "");
        c.in.tell_all = true;
        run(&c);
        assert_string_equal(created(&c), "w");
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct schedule_verdict *v = verdict_on(&c, rows[i].name);

                assert_null(v->filtered);
                if (v->topology != rows[i].topology)
                        fail_msg("%s: %d", rows[i].name, v->topology);
        }
        end(&c);
}

/* spec/scheduler.md checklist 34 */
static void who_lacks_the_label_breaks_no_constraint(void **state)
{
        struct case_ c;

        begin(&c, PICK_N "," SPREAD(HARD("zone", "1")) "}", "3");
        add_cluster(&c, "a", "\"zone\":\"a\"", ALIVE, "", "");
        add_cluster(&c, "b", "\"zone\":\"a\"", ALIVE, "", "");
        add_cluster(&c, "empty", "\"zone\":\"b\"", STALE, "", "");
        add_plain(&c, "x");
        hold(&c, "a");
        run(&c);
        assert_string_equal(created(&c), "x");
        assert_int_equal(decision_on(&c, "x")->cluster_score->priority_score.value, 0);
        assert_non_null(strstr(decision_on(&c, "b")->reason, "violated doNotSchedule"));
        end(&c);
}

/* Those that must hold are looked at first, and the first that does not is told. */
static void the_first_constraint_that_must_hold_and_does_not_is_told(void **state)
{
        struct case_ c;

        begin(&c, PICK_N "," SPREAD(SOFT("tier", "1") "," HARD("zone", "1") "," HARD("rack", "2")) "}", "3");
        add_cluster(&c, "a", "\"zone\":\"a\",\"tier\":\"g\",\"rack\":\"r\"", ALIVE, "", "");
        add_cluster(&c, "b", "\"zone\":\"a\",\"tier\":\"g\",\"rack\":\"r\"", ALIVE, "", "");
        add_cluster(&c, "c", "\"zone\":\"b\",\"tier\":\"s\",\"rack\":\"s\"", STALE, "", "");
        hold(&c, "a");
        run(&c);
        assert_string_equal(decision_on(&c, "b")->reason,
                            "ClusterUnschedulable, violated doNotSchedule topology spread constraint "
                            "\"zone\" (max skew 1)");
        end(&c);
}

/* maxSkew is 1 and whenUnsatisfiable DoNotSchedule where nothing is said. */
static void a_bare_constraint_is_a_hard_one_of_skew_one(void **state)
{
        struct case_ c;

        begin(&c, PICK_N "," SPREAD("{\"topologyKey\":\"zone\"}") "}", "2");
        add_cluster(&c, "a", "\"zone\":\"a\"", ALIVE, "", "");
        add_cluster(&c, "b", "\"zone\":\"a\"", ALIVE, "", "");
        add_cluster(&c, "c", "\"zone\":\"b\"", STALE, "", "");
        hold(&c, "a");
        run(&c);
        assert_string_equal(created(&c), "");
        assert_string_equal(decision_on(&c, "b")->reason,
                            "ClusterUnschedulable, violated doNotSchedule topology spread constraint "
                            "\"zone\" (max skew 1)");
        end(&c);
}

/* Only bindings of the active snapshot count, wherever their clusters stand. */
static void what_a_domain_holds_are_bindings_of_this_policy(void **state)
{
        static const struct {
                const char *state, *snapshot, *meta;
                int topology; /* of another cluster in the same domain */
        } rows[] = {
                { "Bound", "web-1", "", -1000 },
                { "Scheduled", "web-1", "", -1000 },
                { "Bound", "web-0", "", -1 },
                { "Unscheduled", "web-1",
                  "\"annotations\":{\"kubernetes-fleet.io/previous-binding-state\":\"Bound\"},", -1 },
                { "Bound", "web-1", "\"deletionTimestamp\":\"" ALIVE "\",", -1 },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct case_ c;

                begin(&c, PICK_N "," SPREAD(SOFT("zone", "1")) "}", i < 2 ? "2" : "1");
                add_cluster(&c, "held", "\"zone\":\"a\"", STALE, "", "");
                add_cluster(&c, "other", "\"zone\":\"a\"", ALIVE, "", "");
                add_cluster(&c, "zero", "\"zone\":\"b\"", STALE, "", "");
                add_binding(&c, "b", "held", rows[i].state, rows[i].snapshot, 0, 0, rows[i].meta);
                run(&c);
                assert_string_equal(created(&c), "other");
                assert_int_equal(decision_on(&c, "other")->cluster_score->priority_score.value,
                                 rows[i].topology);
                end(&c);
        }
}

/* ---- sorters ---- */

#define SORTED(weight, order)                                                                                \
        PICK_N "," AFFINITY("\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":" weight       \
                            ",\"preference\":{\"propertySorter\":{\"name\":\"" NODE_COUNT                    \
                            "\",\"sortOrder\":\"" order "\"}}}]") "}"
#define SCORED 3

/* spec/scheduler.md checklist 37 */
static void a_sorter_scales_between_the_extremes_of_all_clusters(void **state)
{
        static const struct {
                const char *policy, *nodes[SCORED]; /* NULL: it reports none */
                bool leaving, stale;                /* one that leaves reports 12, one that is silent 0 */
                int affinity[SCORED];
        } rows[] = {
                { SORTED("100", "Descending"), { "4", "8", "6" }, false, false, { 0, 100, 50 } },
                { SORTED("100", "Ascending"), { "4", "8", "6" }, false, false, { 100, 0, 50 } },
                { SORTED("100", "Descending"), { "4", "8", "6" }, false, true, { 50, 100, 75 } },
                { SORTED("100", "Descending"), { "4", "8", "6" }, true, false, { 0, 50, 25 } },
                { SORTED("100", "Descending"), { "4", "4000m", "4" }, false, false, { 0, 0, 0 } },
                { SORTED("100", "Ascending"), { "4", "4", "4" }, false, false, { 0, 0, 0 } },
                { SORTED("100", "Ascending"), { "4", NULL, "8" }, false, false, { 100, 0, 0 } },
                { SORTED("-100", "Descending"), { "4", NULL, "8" }, false, false, { 0, 0, -100 } },
                { SORTED("5", "Descending"), { "0", "1", "2" }, false, false, { 0, 3, 5 } },
                { SORTED("-5", "Descending"), { "0", "1", "2" }, false, false, { 0, -3, -5 } },
                { SORTED("0", "Descending"), { "0", "1", "2" }, false, false, { 0, 0, 0 } },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct case_ c;

                begin(&c, rows[i].policy, "1");
                for (int k = 0; k < SCORED; k++) {
                        char name[2] = { (char)('a' + k), 0 }, status[256] = "";

                        if (rows[i].nodes[k])
                                snprintf(status, sizeof(status), NODES("%s"), rows[i].nodes[k]);
                        add_cluster(&c, name, "", ALIVE, status, "");
                }
                if (rows[i].leaving) {
                        add_cluster(&c, "leaving", "", ALIVE, NODES("12"), "");
                        ((struct object *)c.clusters[SCORED])->meta.deletion_ms = NOW;
                }
                if (rows[i].stale)
                        add_cluster(&c, "stale", "", STALE, NODES("0"), "");
                c.in.tell_all = true;
                run(&c);
                for (int k = 0; k < SCORED; k++)
                        if (c.plan.verdicts[k].affinity != rows[i].affinity[k])
                                fail_msg("row %zu, cluster %d: %d", i, k, c.plan.verdicts[k].affinity);
                end(&c);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_one_more_placement_does_to_the_skew),
                cmocka_unit_test(a_skew_above_what_is_allowed_keeps_everything_back),
                cmocka_unit_test(contributions_of_several_soft_constraints_add_up),
                cmocka_unit_test(who_lacks_the_label_breaks_no_constraint),
                cmocka_unit_test(the_first_constraint_that_must_hold_and_does_not_is_told),
                cmocka_unit_test(a_bare_constraint_is_a_hard_one_of_skew_one),
                cmocka_unit_test(what_a_domain_holds_are_bindings_of_this_policy),
                cmocka_unit_test(a_sorter_scales_between_the_extremes_of_all_clusters),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
