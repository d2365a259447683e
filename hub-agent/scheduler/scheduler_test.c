#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "hub-agent/scheduler/scheduler.h"

#define NOW INT64_C(1767225600000) /* 2026-01-01T00:00:00Z */
#define ALIVE "2025-12-31T23:59:30Z"

/* A scheduling cycle over objects written as JSON. */
struct case_ {
        struct arena arena;
        struct error err;
        const struct object *clusters[16], *bindings[16];
        struct schedule_input in;
        struct schedule_plan plan;
};

static struct object *parse(struct case_ *c, const struct kind *kind, const char *json)
{
        struct object *o;

        if (object_decode_arena(kind, slice_of(json), &c->arena, &o, &c->err) < 0)
                fail_msg("%s: %s", json, c->err.text);
        return o;
}

static void begin(struct case_ *c, const char *policy, const char *clusters_wanted)
{
        AUTO_BUF struct buf b;

        *c = (struct case_){ .in = { .placement_name = "web", .placement_uid = "u", .now_ms = NOW } };
        c->in.clusters.at = c->clusters;
        c->in.bindings.at = c->bindings;
        buf_init(&b, 1 << 16);
        buf_printf(&b, "{\"metadata\":{\"name\":\"web-1\",\"generation\":1,\"annotations\":{"
                       "\"kubernetes-fleet.io/CRP-generation\":\"3\"");
        if (clusters_wanted)
                buf_printf(&b, ",\"kubernetes-fleet.io/number-of-clusters\":\"%s\"", clusters_wanted);
        buf_printf(&b, "}},\"spec\":{%s%s\"policyHash\":\"\"}}", policy, policy[0] ? "," : "");
        c->in.snapshot =
                (const struct policy_snapshot *)parse(c, &cluster_scheduling_policy_snapshot_kind, b.data);
}

/* `meta` and `rest` are JSON members of metadata and status/spec, each ending in a comma or empty. */
static void add_cluster(struct case_ *c, const char *name, const char *labels, const char *heartbeat,
                        const char *status, const char *spec)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 16);
        buf_printf(&b,
                   "{\"metadata\":{\"name\":\"%s\",\"labels\":{%s}},\"spec\":{%s\"identity\":{\"kind\":"
                   "\"User\",\"name\":\"x\"}},"
                   "\"status\":{%s\"agentStatus\":[{\"type\":\"MemberAgent\",\"lastReceivedHeartbeat\":\"%"
                   "s\",\"conditions\":["
                   "{\"type\":\"Joined\",\"status\":\"True\",\"reason\":\"x\",\"message\":\"\","
                   "\"lastTransitionTime\":\"" ALIVE
                   "\"},{\"type\":\"Healthy\",\"status\":\"True\",\"reason\":\"x\",\"message\":\"\","
                   "\"lastTransitionTime\":"
                   "\"" ALIVE "\"}]}]}}",
                   name, labels, spec, status, heartbeat);
        c->clusters[c->in.clusters.n++] = parse(c, &member_cluster_kind, b.data);
}

static void add_plain(struct case_ *c, const char *name)
{
        add_cluster(c, name, "", ALIVE, "", "");
}

static void add_binding(struct case_ *c, const char *name, const char *cluster, const char *state,
                        const char *snapshot, int affinity, int topology, const char *meta)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 16);
        buf_printf(
                &b,
                "{\"metadata\":{%s\"name\":\"%s\",\"uid\":\"%s\"},\"spec\":{\"state\":\"%s\","
                "\"targetCluster\":\"%s\","
                "\"resourceSnapshotName\":\"\",\"schedulingPolicySnapshotName\":\"%s\",\"clusterDecision\":{"
                "\"clusterName\":\"%s\",\"selected\":true,\"reason\":\"r\",\"clusterScore\":{"
                "\"affinityScore\":%d,"
                "\"priorityScore\":%d}}}}",
                meta, name, name, state, cluster, snapshot, cluster, affinity, topology);
        c->bindings[c->in.bindings.n++] = parse(c, &cluster_resource_binding_kind, b.data);
}

static void run(struct case_ *c)
{
        if (schedule_cycle(&c->arena, &c->in, &c->plan, &c->err) < 0)
                fail_msg("%s", c->err.text);
}

static void end(struct case_ *c)
{
        arena_free(&c->arena);
}

/* "a b c" of the clusters that get new bindings, in order. */
static const char *created(struct case_ *c)
{
        const char *text = "";

        for (size_t i = 0; i < c->plan.n_create; i++)
                text = arena_printf(&c->arena, "%s%s%s", text, i ? " " : "", c->plan.create[i].cluster);
        return text;
}

static const char *unscheduled(struct case_ *c)
{
        const char *text = "";

        for (size_t i = 0; i < c->plan.unschedule.n; i++)
                text = arena_printf(&c->arena, "%s%s%s", text, i ? " " : "",
                                    c->plan.unschedule.at[i]->object.meta.name);
        return text;
}

static const struct cluster_decision *decision_on(struct case_ *c, const char *cluster)
{
        for (size_t i = 0; i < c->plan.n_decisions; i++)
                if (text_equal(c->plan.decisions[i].cluster_name, cluster))
                        return &c->plan.decisions[i];
        return NULL;
}

#define PICK_N "\"policy\":{\"placementType\":\"PickN\""

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
        end(&c);
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

/* ---- what nobody can be measured by ---- */

#define AFFINITY(parts) "\"affinity\":{\"clusterAffinity\":{" parts "}}"
#define REQUIRED(terms)                                                                                      \
        AFFINITY("\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[" terms "]"  \
                 "}")
#define PREFERRED(term)                                                                                      \
        AFFINITY("\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,\"preference\":" term   \
                 "}]")
#define PROPERTY(name, operator, values)                                                                     \
        "{\"propertySelector\":{\"matchExpressions\":[{\"name\":\"" name "\",\"operator\":\""                \
        operator"\",\"values\":[" values "]}]}}"
#define NODE_COUNT "kubernetes-fleet.io/node-count"
#define NODES(value)                                                                                         \
        "\"properties\":{\"" NODE_COUNT "\":{\"value\":\"" value "\",\"observationTime\":\"" ALIVE "\"}},"
#define TERM "requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms[0]"
#define PREFERENCE "preferredDuringSchedulingIgnoredDuringExecution[0].preference"

/* Whatever clusters there are; field, then rule (spec/membership-webhooks-charts.md 5.2). */
static void a_policy_that_cannot_be_evaluated_is_told_in_the_condition(void **state)
{
        static const struct {
                const char *type, *policy, *problem;
        } rows[] = {
                { "PickAll", REQUIRED(PROPERTY(NODE_COUNT, "Like", "\"3\"")),
                  TERM ".propertySelector.matchExpressions[0]: invalid requirement on property " NODE_COUNT
                       ": unsupported operator Like" },
                { "PickAll", REQUIRED(PROPERTY(NODE_COUNT, "Gt", "")),
                  TERM ".propertySelector.matchExpressions[0]: invalid requirement on property " NODE_COUNT
                       ": operator Gt requires exactly one value, got 0" },
                { "PickN", REQUIRED(PROPERTY(NODE_COUNT, "Gt", "\"many\"")),
                  TERM ".propertySelector.matchExpressions[0]: invalid requirement on property " NODE_COUNT
                       ": value \"many\" is not a valid resource.Quantity" },
                { "PickAll", REQUIRED(PROPERTY("resources.kubernetes-fleet.io/used-cpu", "Gt", "\"1\"")),
                  TERM
                  ".propertySelector.matchExpressions[0]: invalid capacity type in resource property name "
                  "resources.kubernetes-fleet.io/used-cpu, supported values are [allocatable available "
                  "total]" },
                { "PickAll", REQUIRED(PROPERTY("resources.kubernetes-fleet.io/cpu", "Gt", "\"1\"")),
                  TERM ".propertySelector.matchExpressions[0]: invalid resource property name "
                       "resources.kubernetes-fleet.io/cpu, expected format is [PREFIX]/[CAPACITY_TYPE]-"
                       "[RESOURCE_NAME]" },
                { "PickAll",
                  REQUIRED("{\"labelSelector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Like\"}]}"
                           "}"),
                  TERM
                  ".labelSelector.matchExpressions[0]: \"Like\" is not a valid label selector operator" },
                { "PickN",
                  PREFERRED(
                          "{\"labelSelector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}}"),
                  PREFERENCE
                  ".labelSelector.matchExpressions[0]: values: must be specified when operator is In "
                  "or NotIn" },
                { "PickN",
                  PREFERRED("{\"propertySorter\":{\"name\":\"" NODE_COUNT "\",\"sortOrder\":\"Up\"}}"),
                  PREFERENCE ".propertySorter: invalid property sort order Up" },
                { "PickN",
                  PREFERRED("{\"propertySorter\":{\"name\":\"resources.kubernetes-fleet.io/used-cpu\","
                            "\"sortOrder\":\"Ascending\"}}"),
                  PREFERENCE ".propertySorter: invalid capacity type in resource property name "
                             "resources.kubernetes-fleet.io/used-cpu, supported values are [allocatable "
                             "available total]" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows) * 2; i++) {
                const char *problem = rows[i / 2].problem;
                char policy[1024], wanted[1024];
                struct case_ c;

                snprintf(policy, sizeof(policy), "\"policy\":{\"placementType\":\"%s\",%s}", rows[i / 2].type,
                         rows[i / 2].policy);
                begin(&c, policy, text_equal(rows[i / 2].type, "PickN") ? "2" : NULL);
                if (i % 2)
                        add_cluster(&c, "a", "", ALIVE, NODES("4"), "");
                add_binding(&c, "going", "gone", "Bound", "web-1", 0, 0, "");
                run(&c);
                snprintf(wanted, sizeof(wanted),
                         "the scheduling policy of placement \"web\" is invalid: "
                         "spec.policy.affinity.clusterAffinity.%s",
                         problem);
                if (!text_equal(c.plan.scheduled.status, "False") ||
                    !text_equal(c.plan.scheduled.reason, "SchedulingPolicyInvalid") ||
                    !text_starts_with(c.plan.scheduled.message, wanted))
                        fail_msg("row %zu: %s %s, not %s", i, c.plan.scheduled.status,
                                 c.plan.scheduled.message, wanted);
                assert_true(c.plan.write_status);
                assert_string_equal(unscheduled(&c), "going");
                end(&c);
        }
}

/* spec/scheduler.md 11.1: a malformed term behind one that matches has no effect. */
static void a_malformed_term_that_is_never_reached_changes_nothing(void **state)
{
        struct case_ c;

        begin(&c,
              "\"policy\":{\"placementType\":\"PickAll\"," REQUIRED(
                      "{\"labelSelector\":{}}," PROPERTY(NODE_COUNT, "Like", "\"3\"")) "}",
              NULL);
        add_plain(&c, "a");
        run(&c);
        assert_string_equal(created(&c), "a");
        assert_string_equal(c.plan.scheduled.status, "True");
        end(&c);
}

/* What was placed before stays, and is still told, when the policy turns out to be malformed. */
static void a_policy_that_cannot_be_evaluated_takes_nothing_away(void **state)
{
        struct case_ c;

        begin(&c,
              "\"policy\":{\"placementType\":\"PickAll\"," REQUIRED(
                      PROPERTY(NODE_COUNT, "Like", "\"3\"")) "}",
              NULL);
        add_cluster(&c, "a", "", ALIVE, NODES("4"), "");
        add_cluster(&c, "b", "", ALIVE, NODES("4"), "");
        add_binding(&c, "on-a", "a", "Bound", "web-0", 0, 0, "");
        add_binding(&c, "on-b", "b", "Bound", "web-1", 0, 0, "");
        run(&c);
        assert_int_equal(c.plan.n_create + c.plan.n_patch + c.plan.unschedule.n, 0);
        assert_true(decision_on(&c, "b")->selected.value);
        end(&c);
}

/* A member can report what it likes: that is a matter of this member alone. */
static void what_a_member_reports_unreadably_counts_as_absent_and_is_told(void **state)
{
        static const char *const values[] = { "abc", "1e400000", "1e-400000x", "", "0x10" };
        static const char *const policies[] = {
                PICK_N "," REQUIRED(PROPERTY(NODE_COUNT, "Gt", "\"3\"")) "}",
                PICK_N "," PREFERRED("{\"propertySorter\":{\"name\":\"" NODE_COUNT
                                     "\",\"sortOrder\":\"Descending\"}}") "}",
        };

        for (size_t i = 0; i < ARRAY_LEN(values) * ARRAY_LEN(policies); i++) {
                const char *value = values[i / ARRAY_LEN(policies)];
                char status[512];
                struct case_ c;

                begin(&c, policies[i % ARRAY_LEN(policies)], "1");
                snprintf(status, sizeof(status), NODES("%s"), value);
                add_cluster(&c, "z", "", ALIVE, status,
                            "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}],");
                add_cluster(&c, "m", "", ALIVE, NODES("4"), "");
                add_cluster(&c, "a", "", ALIVE, NODES("3"), "");
                run(&c);
                assert_string_equal(created(&c), "m");
                assert_string_equal(c.plan.scheduled.status, "True");
                assert_int_equal(c.plan.n_unreadable, 1);
                assert_string_equal(c.plan.unreadable[0].cluster->object.meta.name, "z");
                assert_string_equal(c.plan.unreadable[0].property, NODE_COUNT);
                assert_string_equal(c.plan.unreadable[0].value, value);
                end(&c);
        }
}

/* ---- names, watches ---- */

static void binding_names_are_cut_stable_and_labels(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *name = binding_name(&arena, "a-placement-with-a-very-long-name.x", "uid",
                                        "a-cluster-with-an-even-longer.name-than-that", NULL);

        assert_true(text_is_dns1123_label(name));
        assert_true(text_starts_with(name, "a-placement-with-a-very-lo-a-cluster-with-an-even-long-"));
        assert_string_equal(name, binding_name(&arena, "a-placement-with-a-very-long-name.x", "uid",
                                               "a-cluster-with-an-even-longer.name-than-that", NULL));
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
        } rows[] = {
                { { "", "" }, { ALIVE, ALIVE }, { "", "" }, { "", "" }, 0 },
                { { "", "\"a\":\"b\"" }, { ALIVE, ALIVE }, { "", "" }, { "", "" }, CHANGED_CLUSTER },
                { { "", "" }, { ALIVE, ALIVE }, { "", "" }, { "", TAINT }, 0 },
                { { "", "" }, { ALIVE, ALIVE }, { "", "" }, { TAINT, "" }, CHANGED_CLUSTER },
                { { "", "" }, { ALIVE, ALIVE }, { USE("1"), USE("1000m") }, { "", "" }, 0 },
                { { "", "" }, { ALIVE, ALIVE }, { USE("1"), USE("2") }, { "", "" }, CHANGED_PROPERTIES },
                { { "", "" }, { "2025-12-31T20:00:00Z", ALIVE }, { "", "" }, { "", "" }, CHANGED_CLUSTER },
                { { "", "" }, { ALIVE, "2025-12-31T20:00:00Z" }, { "", "" }, { "", "" }, 0 },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct case_ c;

                begin(&c, "", NULL);
                for (int k = 0; k < 2; k++)
                        add_cluster(&c, "a", rows[i].labels[k], rows[i].heartbeat[k], rows[i].status[k],
                                    rows[i].spec[k]);
                assert_int_equal(cluster_changes((const struct member_cluster *)c.clusters[0],
                                                 (const struct member_cluster *)c.clusters[1], NOW),
                                 rows[i].changes);
                end(&c);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(no_policy_takes_every_eligible_cluster),
                cmocka_unit_test(a_new_policy_keeps_matching_bindings_and_unschedules_the_rest),
                cmocka_unit_test(an_unscheduled_binding_comes_back_in_its_earlier_state),
                cmocka_unit_test(a_deleting_binding_is_released_and_its_cluster_gets_another_name),
                cmocka_unit_test(an_equal_status_is_not_written_again),
                cmocka_unit_test(the_first_untolerated_taint_is_named),
                cmocka_unit_test(a_taint_takes_nothing_away_when_the_policy_changes),
                cmocka_unit_test(exists_without_key_tolerates_everything),
                cmocka_unit_test(a_namespaced_placement_needs_its_namespace_on_the_cluster),
                cmocka_unit_test(property_requirements_compare_quantities_and_fail_on_absence),
                cmocka_unit_test(equal_clusters_are_taken_from_the_end_of_the_alphabet),
                cmocka_unit_test(too_few_clusters_are_reported_as_unfulfilled),
                cmocka_unit_test(scaling_down_drops_scheduled_before_bound_and_the_least_fitting_first),
                cmocka_unit_test(a_cluster_that_had_the_placement_wins_ties),
                cmocka_unit_test(property_sorters_score_as_in_the_worked_example),
                cmocka_unit_test(topology_spreads_as_in_the_worked_example),
                cmocka_unit_test(pick_fixed_explains_what_it_could_not_take),
                cmocka_unit_test(an_empty_list_of_names_writes_nothing),
                cmocka_unit_test(a_policy_that_cannot_be_evaluated_is_told_in_the_condition),
                cmocka_unit_test(a_malformed_term_that_is_never_reached_changes_nothing),
                cmocka_unit_test(a_policy_that_cannot_be_evaluated_takes_nothing_away),
                cmocka_unit_test(what_a_member_reports_unreadably_counts_as_absent_and_is_told),
                cmocka_unit_test(binding_names_are_cut_stable_and_labels),
                cmocka_unit_test(only_changes_that_can_move_placements_matter),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
