#include "hub-agent/scheduler/scheduler_test.h"

#include "common/json/quantity.h"
#include "hub-agent/scheduler/framework.h"

/* ---- PickAll ---- */

static void no_policy_takes_every_eligible_cluster(void **state)
{
        struct case_ c;

        begin(&c, "", NULL);
        add_plain(&c, "a");
        add_cluster(&c, "b", "", "2025-12-31T23:55:01Z", "", ""); /* 4 min 59 s */
        add_cluster(&c, "c", "", "2025-12-31T23:54:59Z", "", ""); /* 5 min 1 s */
        run(&c);
        assert_string_equal(created(&c), "a b");
        assert_string_equal(c.plan.scheduled.status, "True");
        assert_string_equal(
                c.plan.scheduled.message,
                "found all cluster needed as specified by the scheduling policy, found 2 cluster(s)");
        assert_string_equal(
                decision_on(&c, "c")->reason,
                "ClusterUnschedulable, cluster is not connected to the fleet: no recent heartbeat signals "
                "(last received 5.02 minutes ago)");
        assert_int_equal(c.plan.observed_generation, 3);
        end(&c);
}

static void a_new_policy_keeps_matching_bindings_and_unschedules_the_rest(void **state)
{
        struct case_ c;

        begin(&c,
              "\"policy\":{\"placementType\":\"PickAll\",\"affinity\":{\"clusterAffinity\":{"
              "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[{"
              "\"labelSelector\":{"
              "\"matchLabels\":{\"t\":\"x\"}}}]}}}}",
              NULL);
        add_cluster(&c, "a", "\"t\":\"x\"", ALIVE, "", "");
        add_plain(&c, "b");
        add_binding(&c, "on-a", "a", "Bound", "web-0", 0, 0, "");
        add_binding(&c, "on-b", "b", "Bound", "web-0", 0, 0, "");
        add_binding(&c, "on-gone", "gone", "Bound", "web-0", 0, 0, "");
        run(&c);
        assert_int_equal(c.plan.n_create, 0);
        assert_int_equal(c.plan.n_patch, 1);
        assert_string_equal(c.plan.patch[0].now->object.meta.name, "on-a");
        assert_string_equal(c.plan.patch[0].state, "Bound");
        assert_string_equal(unscheduled(&c), "on-gone on-b");
        assert_int_equal(c.plan.n_departed, 1);
        assert_string_equal(decision_on(&c, "b")->reason,
                            "ClusterUnschedulable, cluster does not match with any of the "
                            "required cluster affinity terms");
        end(&c);
}

/* spec/scheduler.md checklist 18 */
static void an_unscheduled_binding_comes_back_in_its_earlier_state(void **state)
{
        struct case_ c;

        begin(&c, "", NULL);
        add_plain(&c, "a");
        add_binding(&c, "on-a", "a", "Unscheduled", "web-0", 0, 0,
                    "\"annotations\":{\"kubernetes-fleet.io/previous-binding-state\":\"Bound\"},");
        run(&c);
        assert_int_equal(c.plan.n_create, 0);
        assert_string_equal(c.plan.patch[0].state, "Bound");
        end(&c);
}

/* spec/scheduler.md checklist 21 */
static void a_deleting_binding_is_released_and_its_cluster_gets_another_name(void **state)
{
        const char *first;
        struct case_ c;

        begin(&c, "", NULL);
        add_plain(&c, "a");
        first = binding_name(&c.arena, "web", "u", "a", NULL);
        add_binding(&c, first, "a", "Bound", "web-1", 0, 0,
                    "\"deletionTimestamp\":\"2025-12-31T00:00:00Z\",\"finalizers\":[\"kubernetes-fleet.io/"
                    "scheduler-crb-cleanup\"],");
        run(&c);
        assert_int_equal(c.plan.release.n, 1);
        assert_int_equal(c.plan.n_create, 1);
        assert_string_not_equal(c.plan.create[0].name, first);
        end(&c);
}

static void an_equal_status_is_not_written_again(void **state)
{
        struct policy_snapshot *s;
        struct case_ c;

        begin(&c, "", NULL);
        add_plain(&c, "a");
        add_cluster(&c, "b", "", "2025-12-31T23:50:00Z", "", "");
        run(&c);
        assert_true(c.plan.write_status);
        s = (struct policy_snapshot *)object_copy(&c.in.snapshot->object, &c.arena);
        s->status = arena_zalloc(&c.arena, sizeof(*s->status));
        s->status->observed_crp_generation = OPT_INT(3);
        s->status->target_clusters =
                (struct cluster_decision_list){ c.plan.decisions, (uint32_t)c.plan.n_decisions, true };
        assert_true(condition_set(&s->status->conditions, &c.plan.scheduled, NOW, &c.arena) >= 0);
        c.in.snapshot = s;
        c.in.now_ms += 60000; /* only the minutes in a reason change */
        run(&c);
        assert_false(c.plan.write_status);
        end(&c);
}

/* That minutes have gone by is no news; a text of another's that only reads like it is. */
static void a_taint_that_reads_like_a_time_is_told_when_it_changes(void **state)
{
        struct cluster_decision *told;
        struct policy_snapshot *s;
        struct case_ c;
        char *digit;

        begin(&c, "", NULL);
        add_cluster(&c, "b", "", ALIVE, "",
                    "\"taints\":[{\"key\":\"k\",\"value\":\"5 minutes ago\",\"effect\":\"NoSchedule\"}],");
        run(&c);
        assert_int_equal(c.plan.n_decisions, 1);
        told = arena_memdup(&c.arena, c.plan.decisions, sizeof(*told));
        told->reason = arena_strdup(&c.arena, told->reason);
        s = (struct policy_snapshot *)object_copy(&c.in.snapshot->object, &c.arena);
        s->status = arena_zalloc(&c.arena, sizeof(*s->status));
        s->status->observed_crp_generation = OPT_INT(3);
        s->status->target_clusters = (struct cluster_decision_list){ told, 1, true };
        assert_true(condition_set(&s->status->conditions, &c.plan.scheduled, NOW, &c.arena) >= 0);
        c.in.snapshot = s;
        run(&c);
        assert_false(c.plan.write_status);
        digit = strchr(told->reason, '5');
        assert_non_null(digit);
        *digit = '6';
        run(&c);
        assert_true(c.plan.write_status);
        end(&c);
}

/* ---- filters ---- */

static void the_first_untolerated_taint_is_named(void **state)
{
        struct case_ c;

        begin(&c,
              "\"policy\":{\"placementType\":\"PickAll\",\"tolerations\":[{\"key\":\"k1\",\"operator\":"
              "\"Equal\",\"value\":\"v1\"}]}",
              NULL);
        add_cluster(&c, "a", "", ALIVE, "",
                    "\"taints\":[{\"key\":\"k1\",\"value\":\"v1\",\"effect\":\"NoSchedule\"}],");
        add_cluster(&c, "b", "", ALIVE, "",
                    "\"taints\":[{\"key\":\"k1\",\"value\":\"v1\",\"effect\":\"NoSchedule\"},{\"key\":\"k2\","
                    "\"effect\":"
                    "\"NoSchedule\"}],");
        run(&c);
        assert_string_equal(created(&c), "a");
        assert_string_equal(
                decision_on(&c, "b")->reason,
                "ClusterUnschedulable, taint &{Key:k2 Value: Effect:NoSchedule} cannot be tolerated");
        end(&c);
}

/* NoSchedule keeps new work away; what a cluster has stays there when the policy changes, be it that the
 * toleration was taken out. */
static void a_taint_takes_nothing_away_when_the_policy_changes(void **state)
{
#define K_TAINT "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}],"
        static const char *const policies[] = { "\"policy\":{\"placementType\":\"PickAll\"}", PICK_N "}" };

        for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
                struct case_ c;

                begin(&c, policies[i], "1");
                add_cluster(&c, "a", "", ALIVE, "", K_TAINT);
                add_cluster(&c, "b", "", ALIVE, "", K_TAINT);
                add_binding(&c, "on-a", "a", "Bound", "web-0", 0, 0, "");
                run(&c);
                assert_int_equal(c.plan.n_create, 0);
                assert_int_equal(c.plan.unschedule.n, 0);
                assert_int_equal(c.plan.n_patch, 1);
                assert_ptr_equal(c.plan.patch[0].now, c.bindings[0]);
                assert_string_equal(c.plan.scheduled.status, "True");
                end(&c);
        }
}

static void exists_without_key_tolerates_everything(void **state)
{
        struct case_ c;

        begin(&c, "\"policy\":{\"placementType\":\"PickAll\",\"tolerations\":[{\"operator\":\"Exists\"}]}",
              NULL);
        add_cluster(&c, "a", "", ALIVE, "",
                    "\"taints\":[{\"key\":\"k1\",\"value\":\"v1\",\"effect\":\"NoSchedule\"}],");
        run(&c);
        assert_string_equal(created(&c), "a");
        end(&c);
}

/* spec/scheduler.md checklist 41 */
static void a_namespaced_placement_needs_its_namespace_on_the_cluster(void **state)
{
#define COLLECTED                                                                                            \
        "\"conditions\":[{\"type\":\"NamespaceCollectionSucceeded\",\"status\":\"True\",\"reason\":\"x\","   \
        "\"message\":"                                                                                       \
        "\"\",\"lastTransitionTime\":\"" ALIVE "\"}],"
        struct case_ c;

        begin(&c, "", NULL);
        c.in.ns = "app";
        add_plain(&c, "a");
        add_cluster(&c, "b", "", ALIVE, COLLECTED "\"namespaces\":{\"app\":\"\"},", "");
        add_cluster(&c, "c", "", ALIVE, COLLECTED "\"namespaces\":{\"other\":\"\"},", "");
        add_cluster(&c, "d", "", ALIVE, COLLECTED, "");
        run(&c);
        assert_string_equal(created(&c), "a b");
        assert_string_equal(decision_on(&c, "c")->reason,
                            "ClusterUnschedulable, target namespace does not exist on cluster");
        assert_string_equal(decision_on(&c, "d")->reason,
                            "ClusterUnschedulable, cluster has no namespace information available");
        end(&c);
}

/* spec/scheduler.md checklist 38 */
static void property_requirements_compare_quantities_and_fail_on_absence(void **state)
{
        static const struct {
                const char *name, *operator, * value, *picked;
        } rows[] = {
                { "kubernetes-fleet.io/node-count", "Eq", "1", "a" },
                { "kubernetes-fleet.io/node-count", "Ne", "1", "b" },
                { "kubernetes-fleet.io/node-count", "Gt", "1500m", "b" },
                { "kubernetes-fleet.io/node-count", "Le", "2", "a b" },
                { "resources.kubernetes-fleet.io/available-cpu", "Ge", "4", "a" },
                { "resources.kubernetes-fleet.io/total-cpu", "Ne", "4", "" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char policy[512];
                struct case_ c;

                snprintf(policy, sizeof(policy),
                         "\"policy\":{\"placementType\":\"PickAll\",\"affinity\":{\"clusterAffinity\":{"
                         "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[{"
                         "\"propertySelector\":{\"matchExpressions\":[{\"name\":\"%s\",\"operator\":\"%s\","
                         "\"values\":"
                         "[\"%s\"]}]}}]}}}}",
                         rows[i].name, rows[i].operator, rows[i].value);
                begin(&c, policy, NULL);
                add_cluster(&c, "a", "", ALIVE,
                            "\"properties\":{\"kubernetes-fleet.io/"
                            "node-count\":{\"value\":\"1000m\",\"observationTime\":"
                            "\"" ALIVE "\"}},\"resourceUsage\":{\"available\":{\"cpu\":\"4\"}},",
                            "");
                add_cluster(&c, "b", "", ALIVE,
                            "\"properties\":{\"kubernetes-fleet.io/"
                            "node-count\":{\"value\":\"2\",\"observationTime\":"
                            "\"" ALIVE "\"}},",
                            "");
                add_plain(&c, "c");
                run(&c);
                assert_string_equal(created(&c), rows[i].picked);
                end(&c);
        }
}

/* spec/scheduler.md 11.2: what a member says of itself, and since when. */
static void a_member_is_eligible_while_it_is_joined_healthy_and_heard_of(void **state)
{
#define SAYS(type, status, since)                                                                            \
        "{\"type\":\"" type "\",\"status\":\"" status                                                        \
        "\",\"reason\":\"x\",\"message\":\"\",\"lastTransitionTime\":\"" since "\"}"
#define LONG_AGO "2025-12-31T23:00:00Z"
        static const struct {
                const char *meta, *agent, *heard, *conditions;
                bool eligible, counts_time;
        } rows[] = {
                { "", "MemberAgent", ALIVE,
                  SAYS("Joined", "True", LONG_AGO) "," SAYS("Healthy", "True", LONG_AGO), true },
                { "", "MemberAgent", ALIVE, SAYS("Healthy", "True", LONG_AGO) },
                { "", "MemberAgent", ALIVE,
                  SAYS("Joined", "False", LONG_AGO) "," SAYS("Healthy", "True", LONG_AGO) },
                { "", "MemberAgent", ALIVE,
                  SAYS("Joined", "Unknown", LONG_AGO) "," SAYS("Healthy", "True", LONG_AGO) },
                { "", "MemberAgent", ALIVE, SAYS("Joined", "True", LONG_AGO) },
                { "", "MemberAgent", ALIVE,
                  SAYS("Joined", "True", LONG_AGO) "," SAYS("Healthy", "False", ALIVE), true },
                { "", "MemberAgent", ALIVE,
                  SAYS("Joined", "True", LONG_AGO) "," SAYS("Healthy", "False", LONG_AGO), false, true },
                { "", "MemberAgent", LONG_AGO,
                  SAYS("Joined", "True", LONG_AGO) "," SAYS("Healthy", "True", LONG_AGO), false, true },
                { "", "ServiceExportImportAgent", ALIVE,
                  SAYS("Joined", "True", LONG_AGO) "," SAYS("Healthy", "True", LONG_AGO) },
                { "\"deletionTimestamp\":\"" ALIVE "\",", "MemberAgent", ALIVE,
                  SAYS("Joined", "True", LONG_AGO) "," SAYS("Healthy", "True", LONG_AGO) },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct member_cluster *cluster;
                struct ineligibility why;
                char json[1024];
                struct case_ c;

                begin(&c, PICK_N "}", "1");
                snprintf(json, sizeof(json),
                         "{\"metadata\":{%s\"name\":\"a\"},\"spec\":{},\"status\":{\"agentStatus\":[{"
                         "\"type\":\"%s\","
                         "\"lastReceivedHeartbeat\":\"%s\",\"conditions\":[%s]}]}}",
                         rows[i].meta, rows[i].agent, rows[i].heard, rows[i].conditions);
                cluster = (const struct member_cluster *)parse(&c, &member_cluster_kind, json);
                if (cluster_is_eligible(cluster, &(struct patience){ NOW }, &c.arena, &why) !=
                            rows[i].eligible ||
                    why.counts_time != rows[i].counts_time || (why.reason == NULL) != rows[i].eligible)
                        fail_msg("row %zu: %s", i, or_empty(why.reason));
                end(&c);
        }
}

/* ---- PickN ---- */

/* spec/scheduler.md checklist 25 */
static void equal_clusters_are_taken_from_the_end_of_the_alphabet(void **state)
{
        struct case_ c;

        begin(&c, PICK_N "}", "3");
        for (int i = 0; i < 7; i++) {
                char name[2] = { (char)('a' + i), 0 };

                add_plain(&c, name);
        }
        run(&c);
        assert_string_equal(created(&c), "g f e");
        assert_string_equal(
                decision_on(&c, "d")->reason,
                "Cluster \"d\" does not score high enough (affinity score: 0, topology spread score: 0)");
        end(&c);
}

static void too_few_clusters_are_reported_as_unfulfilled(void **state)
{
        struct case_ c;

        begin(&c, PICK_N "}", "3");
        add_plain(&c, "a");
        run(&c);
        assert_string_equal(c.plan.scheduled.status, "False");
        assert_string_equal(c.plan.scheduled.message,
                            "could not find all clusters needed as specified by the scheduling "
                            "policy, found 1 cluster(s) instead");
        end(&c);
}

static void scaling_down_drops_scheduled_before_bound_and_the_least_fitting_first(void **state)
{
        struct case_ c;

        begin(&c, PICK_N "}", "1");
        add_plain(&c, "a");
        add_plain(&c, "b");
        add_plain(&c, "c");
        add_binding(&c, "on-a", "a", "Bound", "web-1", 10, 0, "");
        add_binding(&c, "on-b", "b", "Bound", "web-1", 5, 0, "");
        add_binding(&c, "on-c", "c", "Scheduled", "web-1", 99, 9, "");
        run(&c);
        assert_string_equal(unscheduled(&c), "on-c on-b");
        assert_int_equal(c.plan.n_decisions, 1);
        assert_string_equal(c.plan.decisions[0].cluster_name, "a"); /* what stays is told, not what goes */
        end(&c);
}

/* The snapshot, which an agent that was away finds as it left it, was told 3. */
static void nothing_is_picked_beyond_what_the_placement_asks_for_by_now(void **state)
{
        static const struct {
                struct opt_int asked;
                size_t bound; /* of clusters a, b, c, d */
                const char *created, *unscheduled;
        } cases[] = {
                { .bound = 2, .created = "d", .unscheduled = "" },
                { OPT_INT(3), 2, "d", "" },
                { OPT_INT(4), 2, "d", "" },
                { OPT_INT(2), 2, "", "" },
                { OPT_INT(1), 2, "", "" }, /* what is too much goes when the snapshot is told */
                { OPT_INT(2), 1, "d", "" },
                { OPT_INT(2), 4, "", "on-a" }, /* it has been told that */
                { OPT_INT(4), 4, "", "on-a" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct case_ c;

                begin(&c, PICK_N "}", "3");
                for (size_t k = 0; k < 4; k++) {
                        const char name[] = { 'a' + (char)k, '\0' };

                        add_plain(&c, name);
                        if (k < cases[i].bound)
                                add_binding(&c, (char[]){ 'o', 'n', '-', name[0], '\0' }, name, "Bound",
                                            "web-1", 0, 0, "");
                }
                c.in.asked = cases[i].asked;
                run(&c);
                assert_string_equal(created(&c), cases[i].created);
                assert_string_equal(unscheduled(&c), cases[i].unscheduled);
                end(&c);
        }
}

/* spec/scheduler.md checklist 43 */
static void a_cluster_that_had_the_placement_wins_ties(void **state)
{
        struct case_ c;

        begin(&c, PICK_N "}", "1");
        add_plain(&c, "a");
        add_plain(&c, "b");
        add_binding(&c, "on-a", "a", "Bound", "web-0", 0, 0, "");
        run(&c);
        assert_int_equal(c.plan.n_create, 0);
        assert_int_equal(c.plan.n_patch, 1);
        end(&c);
}

/* spec/scheduler.md 12.1 */
/* spec/scheduler.md checklist 36 */
static void property_sorters_score_as_in_the_worked_example(void **state)
{
        static const struct {
                const char *name, *tier, *cpu, *nodes, *heartbeat;
                int affinity;
        } rows[] = {
                { "p1", "prod", "2", "4", ALIVE, -16 },
                { "p2", "prod", "10", "7", ALIVE, 5 },
                { "p3", "prod", "6500m", "3", ALIVE, -11 },
                { "p4", "prod", NULL, "5", ALIVE, -16 },
                { "p5", "prod", "1", "3", "2025-12-31T20:00:00Z", 0 },
                { "p6", "dev", "30", "12", ALIVE, 0 },
        };
        struct case_ c;

        begin(&c,
              PICK_N
              ",\"affinity\":{\"clusterAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":["
              "{\"weight\":50,\"preference\":{\"labelSelector\":{\"matchLabels\":{\"tier\":\"prod\"}},"
              "\"propertySorter\":{\"name\":\"resources.kubernetes-fleet.io/available-cpu\",\"sortOrder\":"
              "\"Descending\"}}},{\"weight\":-20,\"preference\":{\"propertySorter\":{\"name\":"
              "\"kubernetes-fleet.io/node-count\",\"sortOrder\":\"Ascending\"}}}]}}}",
              "2");
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char labels[64], status[512], cpu[128] = "";

                if (rows[i].cpu)
                        snprintf(cpu, sizeof(cpu), "\"resourceUsage\":{\"available\":{\"cpu\":\"%s\"}},",
                                 rows[i].cpu);
                snprintf(labels, sizeof(labels), "\"tier\":\"%s\"", rows[i].tier);
                snprintf(status, sizeof(status),
                         "%s\"properties\":{\"kubernetes-fleet.io/"
                         "node-count\":{\"value\":\"%s\",\"observationTime\":"
                         "\"" ALIVE "\"}},",
                         cpu, rows[i].nodes);
                add_cluster(&c, rows[i].name, labels, rows[i].heartbeat, status, "");
        }
        run(&c);
        assert_string_equal(created(&c), "p2 p6");
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct cluster_decision *d = decision_on(&c, rows[i].name);

                if (i != 4)
                        assert_int_equal(d->cluster_score->affinity_score.value, rows[i].affinity);
        }
        for (int i = 0; i < 5; i++)
                assert_string_equal(c.plan.decisions[i].cluster_name,
                                    ((const char *const[]){ "p2", "p6", "p3", "p4", "p1" })[i]);
        end(&c);
}

/* spec/scheduler.md 12.2 */
/* spec/scheduler.md checklist 32 */
static void topology_spreads_as_in_the_worked_example(void **state)
{
        struct case_ c;

        begin(&c,
              PICK_N ",\"affinity\":{\"clusterAffinity\":{"
                     "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":20,"
                     "\"preference\":{\"labelSelector\":{\"matchLabels\":{\"region\":\"east\"}}}}]}},"
                     "\"topologySpreadConstraints\":[{\"topologyKey\":\"region\",\"maxSkew\":1,"
                     "\"whenUnsatisfiable\":"
                     "\"DoNotSchedule\"},{\"topologyKey\":\"tier\",\"maxSkew\":1,\"whenUnsatisfiable\":"
                     "\"ScheduleAnyway\"}]}",
              "4");
        add_cluster(&c, "a1", "\"region\":\"east\",\"tier\":\"gold\"", ALIVE, "", "");
        add_cluster(&c, "a2", "\"region\":\"east\",\"tier\":\"gold\"", ALIVE, "", "");
        add_cluster(&c, "b1", "\"region\":\"west\",\"tier\":\"gold\"", ALIVE, "", "");
        add_cluster(&c, "b2", "\"region\":\"west\",\"tier\":\"silver\"", ALIVE, "", "");
        add_cluster(&c, "c1", "\"tier\":\"silver\"", ALIVE, "", "");
        add_cluster(&c, "d1", "\"region\":\"north\",\"tier\":\"gold\"", "2025-12-31T20:00:00Z", "", "");
        run(&c);
        assert_string_equal(created(&c), "c1 a2 b2");
        assert_int_equal(decision_on(&c, "c1")->cluster_score->priority_score.value, -1);
        assert_int_equal(decision_on(&c, "a2")->cluster_score->priority_score.value, 0);
        assert_int_equal(decision_on(&c, "a2")->cluster_score->affinity_score.value, 20);
        assert_int_equal(decision_on(&c, "b2")->cluster_score->priority_score.value, -1);
        assert_string_equal(c.plan.scheduled.status, "False");
        assert_string_equal(
                decision_on(&c, "a1")->reason,
                "ClusterUnschedulable, violated doNotSchedule topology spread constraint \"region\" (max "
                "skew 1)");
        end(&c);
}

/* ---- many clusters ---- */

/* The cost is to grow with the clusters, not with their square: `valgrind --tool=callgrind
 * --toggle-collect=schedule_cycle` with other numbers tells. */
static void a_new_policy_over_many_clusters_is_planned(void **state)
{
        struct case_ c;

        begin(&c, "\"policy\":{\"placementType\":\"PickAll\"}", NULL);
        for (int i = 0; i < CLUSTERS_MAX; i++) {
                char name[16], binding[16];

                snprintf(name, sizeof(name), "c%05d", i);
                snprintf(binding, sizeof(binding), "b%05d", i);
                add_cluster(&c, name, "", ALIVE, "",
                            i % 4 ? "" : "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}],");
                add_binding(&c, binding, name, i % 3 ? "Bound" : "Unscheduled", i % 2 ? "web-0" : "web-1", 0,
                            0, "\"annotations\":{\"kubernetes-fleet.io/previous-binding-state\":\"Bound\"},");
        }
        run(&c);
        assert_int_equal(c.plan.n_create, 0);
        assert_string_equal(c.plan.scheduled.status, "True");
        end(&c);
}

static void topology_over_many_clusters_is_planned(void **state)
{
        struct case_ c;
        char wanted[16];

        snprintf(wanted, sizeof(wanted), "%d", CLUSTERS_MAX / 4);
        begin(&c,
              PICK_N
              ",\"topologySpreadConstraints\":[{\"topologyKey\":\"region\",\"maxSkew\":1,"
              "\"whenUnsatisfiable\":\"DoNotSchedule\"}]," PREFERRED(
                      "{\"propertySorter\":{\"name\":\"" NODE_COUNT "\",\"sortOrder\":\"Descending\"}}") "}",
              wanted);
        for (int i = 0; i < CLUSTERS_MAX; i++) {
                char name[16], region[64], status[256];

                snprintf(name, sizeof(name), "c%05d", i);
                snprintf(region, sizeof(region), "\"region\":\"r%d\"", i % 5);
                snprintf(status, sizeof(status), NODES("%d"), i);
                add_cluster(&c, name, region, ALIVE, status,
                            i % 4 ? "" : "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}],");
        }
        run(&c);
        assert_int_equal(c.plan.n_create, CLUSTERS_MAX / 4);
        end(&c);
}

/* ---- PickFixed ---- */

/* spec/scheduler.md checklist 22 */
static void pick_fixed_explains_what_it_could_not_take(void **state)
{
        struct case_ c;

        begin(&c, "\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"b\",\"nowhere\",\"a\"]}",
              NULL);
        add_cluster(&c, "a", "", ALIVE, "", "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}],");
        add_cluster(&c, "b", "", "2025-12-31T23:50:00Z", "", "");
        run(&c);
        assert_string_equal(created(&c), "a");
        assert_null(c.plan.create[0].decision.cluster_score);
        assert_string_equal(c.plan.scheduled.status, "False");
        assert_string_equal(
                c.plan.decisions[0].reason,
                "Successfully scheduled resources for placement in \"a\": picked by scheduling policy");
        assert_string_equal(
                c.plan.decisions[1].reason,
                "Cluster \"b\" is not eligible for resource placement yet: cluster is not connected to the "
                "fleet: no recent heartbeat signals (last received 10.00 minutes ago)");
        assert_string_equal(c.plan.decisions[2].reason, "Specified cluster \"nowhere\" is not found");
        assert_int_equal(c.plan.n_silent, 1);
        assert_string_equal(c.plan.silent[0]->object.meta.name, "b");
        end(&c);
}

/* spec/scheduler.md checklist 24 */
static void an_empty_list_of_names_writes_nothing(void **state)
{
        static const char *const policies[] = {
                "\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[]}",
                "\"policy\":{\"placementType\":\"PickFixed\"}",
        };

        for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
                struct case_ c;

                begin(&c, policies[i], NULL);
                add_plain(&c, "a");
                add_binding(&c, "on-a", "a", "Bound", "web-0", 0, 0, "");
                run(&c);
                assert_false(c.plan.report);
                assert_int_equal(c.plan.n_create + c.plan.n_patch + c.plan.unschedule.n, 0);
                end(&c);
        }
}

/* ---- names, watches ---- */

/* spec/scheduler.md checklist 44; spec/api.md checklist 35 */
static void binding_names_are_cut_stable_and_labels(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *name = binding_name(&arena, "a-placement-with-a-very-long-name.x", "uid",
                                        "a-cluster-with-an-even-longer.name-than-that", NULL);

        assert_true(text_is_dns1123_label(name));
        assert_int_equal(strlen(name), 26 + 1 + 27 + 1 + 8);
        assert_int_equal(strspn(name + 26 + 1 + 27 + 1, "0123456789abcdef"), 8);
        assert_true(text_starts_with(name, "a-placement-with-a-very-lo-a-cluster-with-an-even-long-"));
        assert_string_equal(name, binding_name(&arena, "a-placement-with-a-very-long-name.x", "uid",
                                               "a-cluster-with-an-even-longer.name-than-that", NULL));
        assert_true(text_starts_with(binding_name(&arena, "a.b", "uid", "c.d.e", NULL), "a-b-c-d-e-"));
        assert_string_not_equal(binding_name(&arena, "p", "uid-1", "c", NULL),
                                binding_name(&arena, "p", "uid-2", "c", NULL));
}

static void only_changes_that_can_move_placements_matter(void **state)
{
#define USE(cpu) "\"resourceUsage\":{\"available\":{\"cpu\":\"" cpu "\"}},"
#define TAINT "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}],"
        static const struct {
                const char *labels[2], *heartbeat[2], *status[2], *spec[2];
                unsigned changes;
                bool turned_away;
        } rows[] = {
                { { "", "" }, { ALIVE, ALIVE }, { "", "" }, { "", "" }, 0 },
                { { "", "\"a\":\"b\"" }, { ALIVE, ALIVE }, { "", "" }, { "", "" }, CHANGED_CLUSTER },
                { { "", "" }, { ALIVE, ALIVE }, { "", "" }, { "", TAINT }, 0 },
                { { "", "" }, { ALIVE, ALIVE }, { "", "" }, { TAINT, "" }, CHANGED_CLUSTER },
                { { "", "" }, { ALIVE, ALIVE }, { USE("1"), USE("1000m") }, { "", "" }, 0 },
                { { "", "" }, { ALIVE, ALIVE }, { USE("1"), USE("2") }, { "", "" }, CHANGED_PROPERTIES },
                { { "", "" }, { "2025-12-31T20:00:00Z", ALIVE }, { "", "" }, { "", "" }, 0 },
                { { "", "" }, { "2025-12-31T20:00:00Z", ALIVE }, { "", "" }, { "", "" }, CHANGED_BACK, true },
                { { "", "" }, { ALIVE, "2025-12-31T20:00:00Z" }, { "", "" }, { "", "" }, 0 },
                { { "", "" }, { ALIVE, ALIVE }, { "", "" }, { "", "" }, CHANGED_BACK, true },
                { { "", "" }, { ALIVE, "2025-12-31T20:00:00Z" }, { "", "" }, { "", "" }, 0, true },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct case_ c;

                begin(&c, "", NULL);
                for (int k = 0; k < 2; k++)
                        add_cluster(&c, "a", rows[i].labels[k], rows[i].heartbeat[k], rows[i].status[k],
                                    rows[i].spec[k]);
                assert_int_equal(cluster_changes((const struct member_cluster *)c.clusters[0],
                                                 (const struct member_cluster *)c.clusters[1],
                                                 rows[i].turned_away, &(struct patience){ NOW }),
                                 rows[i].changes);
                end(&c);
        }
}

/* A member's properties change all the time: only placements that ask for them are looked at again. */
static void a_policy_reads_properties_when_one_of_its_terms_does(void **state)
{
        struct property_selector selector = { 0 };
        struct property_sorter sorter = { 0 };
        struct cluster_selector_term plain = { 0 }, selects = { .property_selector = &selector },
                                     sorts = { .property_sorter = &sorter }, two[] = { plain, selects };
        struct preferred_cluster_selector preferred[] = { { .preference = &plain },
                                                          { .preference = &sorts } };
        struct cluster_selector required = { .terms = { two, 1, true } };
        struct cluster_affinity cluster = { .required = &required, .preferred = { preferred, 1, true } };
        struct affinity affinity = { 0 };
        struct placement_policy p = { 0 };

        assert_false(policy_reads_properties(NULL));
        assert_false(policy_reads_properties(&p));
        p.affinity = &affinity;
        assert_false(policy_reads_properties(&p));
        affinity.cluster_affinity = &cluster;
        assert_false(policy_reads_properties(&p));
        cluster.preferred.n = 2;
        assert_true(policy_reads_properties(&p));
        cluster.preferred.n = 1;
        required.terms.n = 2;
        assert_true(policy_reads_properties(&p));
        cluster.required = NULL;
        assert_false(policy_reads_properties(&p));
}

/* spec/scheduler.md 14: a round that evaluates nothing has nothing new to say of who was not selected. */
static void what_was_said_of_unselected_clusters_stays_while_nothing_is_evaluated(void **state)
{
        struct cluster_decision told[] = {
                { "b", OPT_BOOL(false), NULL, "said of b" },
                { "a", OPT_BOOL(true), NULL, "said of a" },
                { "c", OPT_BOOL(false), NULL, "said of c" },
        };
        struct policy_snapshot *s;
        struct case_ c;

        begin(&c, PICK_N "}", "1");
        add_plain(&c, "a");
        add_plain(&c, "b");
        add_plain(&c, "c");
        add_binding(&c, "on-a", "a", "Bound", "web-1", 0, 0, "");
        s = (struct policy_snapshot *)object_copy(&c.in.snapshot->object, &c.arena);
        s->status = arena_zalloc(&c.arena, sizeof(*s->status));
        s->status->target_clusters = (struct cluster_decision_list){ told, ARRAY_LEN(told), true };
        c.in.snapshot = s;
        run(&c);
        assert_string_equal(created(&c), "");
        assert_int_equal(c.plan.n_decisions, 3);
        assert_true(decision_on(&c, "a")->selected.value);
        assert_string_equal(decision_on(&c, "b")->reason, "said of b");
        assert_string_equal(decision_on(&c, "c")->reason, "said of c");
        end(&c);
}

/* spec/scheduler.md 11.1: what is no name of a property is an error; a member that lacks one is none. */
static void a_property_is_named_read_or_missing(void **state)
{
        static const struct {
                const char *name;
                int found;
        } rows[] = {
                { "resources.kubernetes-fleet.io/total-cpu", 1 },
                { "resources.kubernetes-fleet.io/total-memory", 0 },
                { "resources.kubernetes-fleet.io/available-cpu", 0 },
                { "resources.kubernetes-fleet.io/spare-cpu", ERR_INVALID },
                { "resources.kubernetes-fleet.io/cpu", ERR_INVALID },
                { NODE_COUNT, 0 },
        };
        struct case_ c;

        begin(&c, "", NULL);
        add_cluster(&c, "a", "", ALIVE, "\"resourceUsage\":{\"capacity\":{\"cpu\":\"3\"}},", "");
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct candidate k = { .cluster = (const struct member_cluster *)c.clusters[0] };
                struct quantity q;

                assert_int_equal(cluster_property(&k, rows[i].name, &q, &c.err), rows[i].found);
                if (rows[i].found == 1)
                        assert_true(quantity_to_double(q) == 3);
        }
        end(&c);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(no_policy_takes_every_eligible_cluster),
                cmocka_unit_test(a_new_policy_keeps_matching_bindings_and_unschedules_the_rest),
                cmocka_unit_test(an_unscheduled_binding_comes_back_in_its_earlier_state),
                cmocka_unit_test(a_deleting_binding_is_released_and_its_cluster_gets_another_name),
                cmocka_unit_test(an_equal_status_is_not_written_again),
                cmocka_unit_test(a_taint_that_reads_like_a_time_is_told_when_it_changes),
                cmocka_unit_test(the_first_untolerated_taint_is_named),
                cmocka_unit_test(a_taint_takes_nothing_away_when_the_policy_changes),
                cmocka_unit_test(exists_without_key_tolerates_everything),
                cmocka_unit_test(a_namespaced_placement_needs_its_namespace_on_the_cluster),
                cmocka_unit_test(property_requirements_compare_quantities_and_fail_on_absence),
                cmocka_unit_test(a_member_is_eligible_while_it_is_joined_healthy_and_heard_of),
                cmocka_unit_test(equal_clusters_are_taken_from_the_end_of_the_alphabet),
                cmocka_unit_test(too_few_clusters_are_reported_as_unfulfilled),
                cmocka_unit_test(scaling_down_drops_scheduled_before_bound_and_the_least_fitting_first),
                cmocka_unit_test(nothing_is_picked_beyond_what_the_placement_asks_for_by_now),
                cmocka_unit_test(a_cluster_that_had_the_placement_wins_ties),
                cmocka_unit_test(property_sorters_score_as_in_the_worked_example),
                cmocka_unit_test(topology_spreads_as_in_the_worked_example),
                cmocka_unit_test(pick_fixed_explains_what_it_could_not_take),
                cmocka_unit_test(a_new_policy_over_many_clusters_is_planned),
                cmocka_unit_test(topology_over_many_clusters_is_planned),
                cmocka_unit_test(an_empty_list_of_names_writes_nothing),
                cmocka_unit_test(binding_names_are_cut_stable_and_labels),
                cmocka_unit_test(only_changes_that_can_move_placements_matter),
                cmocka_unit_test(a_policy_reads_properties_when_one_of_its_terms_does),
                cmocka_unit_test(what_was_said_of_unselected_clusters_stays_while_nothing_is_evaluated),
                cmocka_unit_test(a_property_is_named_read_or_missing),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
