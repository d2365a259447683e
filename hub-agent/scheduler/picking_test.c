/* Who is picked, kept and given up, and what is told of it. spec/scheduler.md 8-11, 14. */
#include "hub-agent/scheduler/scheduler_test.h"

#define PICK_ALL "\"policy\":{\"placementType\":\"PickAll\"}"
#define STALE "2025-12-31T23:54:59Z"
#define TAINTED "\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}],"
#define WAS(state) "\"annotations\":{\"kubernetes-fleet.io/previous-binding-state\":\"" state "\"},"

static void add_plains(struct case_ *c, int n)
{
        for (int i = 0; i < n; i++) {
                char name[16];

                snprintf(name, sizeof(name), "c%02d", i);
                add_plain(c, name);
        }
}

static void leaves(struct case_ *c, const char *cluster)
{
        for (size_t i = 0; i < c->in.clusters.n; i++)
                if (text_equal(c->clusters[i]->meta.name, cluster))
                        ((struct object *)c->clusters[i])->meta.deletion_ms = NOW;
}

static const char *patched(struct case_ *c)
{
        const char *text = "";

        for (size_t i = 0; i < c->plan.n_patch; i++)
                text = arena_printf(&c->arena, "%s%s%s %s", text, i ? ", " : "",
                                    c->plan.patch[i].now->object.meta.name, c->plan.patch[i].state);
        return text;
}

static const char *message_for(struct case_ *c, bool fulfilled, int found)
{
        return arena_printf(
                &c->arena,
                fulfilled ? "found all cluster needed as specified by the scheduling policy, found %d "
                            "cluster(s)"
                          : "could not find all clusters needed as specified by the scheduling policy, found "
                            "%d cluster(s) instead",
                found);
}

static void check_condition(struct case_ *c, bool fulfilled, int found)
{
        assert_string_equal(c->plan.scheduled.type, "Scheduled");
        assert_string_equal(c->plan.scheduled.status, fulfilled ? "True" : "False");
        assert_string_equal(c->plan.scheduled.reason,
                            fulfilled ? "SchedulingPolicyFulfilled" : "SchedulingPolicyUnfulfilled");
        assert_string_equal(c->plan.scheduled.message, message_for(c, fulfilled, found));
        assert_int_equal(c->plan.scheduled.observed_generation.value, 1);
        assert_true(c->plan.report);
}

static void check_unchanged(struct case_ *c)
{
        assert_int_equal(c->plan.n_create + c->plan.n_patch + c->plan.unschedule.n + c->plan.release.n, 0);
}

/* ---- PickAll ---- */

/* spec/scheduler.md checklist 15 */
static void without_a_policy_everyone_is_taken_and_nobody_may_be_there(void **state)
{
        static const char *const policies[] = { "", PICK_ALL, "\"policy\":{}",
                                                "\"policy\":{\"placementType\":\"\"}" };

        for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
                struct case_ c;

                begin(&c, policies[i], NULL);
                run(&c);
                check_condition(&c, true, 0);
                assert_int_equal(c.plan.n_decisions, 0);
                add_cluster(&c, "a", "", STALE, "", "");
                run(&c);
                check_condition(&c, true, 0);
                assert_string_equal(created(&c), "");
                add_plain(&c, "b");
                add_plain(&c, "c");
                run(&c);
                check_condition(&c, true, 2);
                assert_string_equal(created(&c), "b c");
                for (size_t k = 0; k < 2; k++) {
                        const struct cluster_score *s = c.plan.create[k].decision.cluster_score;

                        assert_true(s->affinity_score.set && s->priority_score.set);
                        assert_int_equal(s->affinity_score.value, 0);
                        assert_int_equal(s->priority_score.value, 0);
                }
                end(&c);
        }
}

/* spec/scheduler.md checklist 16 */
static void pick_all_adds_who_can_be_used_and_keeps_whom_it_has(void **state)
{
        struct case_ c;

        begin(&c,
              "\"policy\":{\"placementType\":\"PickAll\"," REQUIRED(
                      "{\"labelSelector\":{\"matchLabels\":{\"t\":\"x\"}}}") "}",
              NULL);
        add_cluster(&c, "another", "", ALIVE, "", "");         /* no longer matches */
        add_cluster(&c, "came", "\"t\":\"x\"", ALIVE, "", ""); /* is new */
        add_cluster(&c, "silent", "\"t\":\"x\"", STALE, "", "");
        add_cluster(&c, "tainted", "\"t\":\"x\"", ALIVE, "", TAINTED);
        add_binding(&c, "b1", "another", "Bound", "web-1", 0, 0, "");
        add_binding(&c, "b2", "silent", "Scheduled", "web-1", 0, 0, "");
        add_binding(&c, "b3", "tainted", "Bound", "web-1", 0, 0, "");
        run(&c);
        assert_string_equal(created(&c), "came");
        assert_int_equal(c.plan.unschedule.n + c.plan.n_patch, 0);
        check_condition(&c, true, 4);
        assert_int_equal(c.plan.n_decisions, 4);
        for (size_t i = 0; i < 4; i++)
                assert_true(c.plan.decisions[i].selected.value);
        end(&c);
}

/* ---- who goes ---- */

/* spec/scheduler.md checklist 20: leaving and gone ones alike, whatever their bindings are. */
static void clusters_that_leave_are_given_up_and_replaced_at_once(void **state)
{
        static const struct {
                const char *state, *snapshot;
        } rows[] = { { "Bound", "web-1" }, { "Scheduled", "web-1" }, { "Bound", "web-0" } };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct case_ c;

                begin(&c, PICK_N "}", "2");
                add_plain(&c, "leaving");
                add_plain(&c, "new-1");
                add_plain(&c, "new-2");
                leaves(&c, "leaving");
                add_binding(&c, "on-gone", "gone", rows[i].state, rows[i].snapshot, 0, 0, "");
                add_binding(&c, "on-leaving", "leaving", rows[i].state, rows[i].snapshot, 0, 0, "");
                run(&c);
                assert_string_equal(unscheduled(&c), "on-gone on-leaving");
                assert_int_equal(c.plan.n_departed, 2);
                assert_string_equal(created(&c), "new-2 new-1");
                check_condition(&c, true, 2);
                assert_null(decision_on(&c, "gone"));
                assert_string_equal(decision_on(&c, "leaving")->reason,
                                    "ClusterUnschedulable, cluster has left the fleet");
                end(&c);
        }
}

/* spec/scheduler.md 6: the first test that holds decides. */
static void a_binding_belongs_to_one_class(void **state)
{
#define DELETING                                                                                             \
        "\"deletionTimestamp\":\"" ALIVE "\",\"finalizers\":[\"kubernetes-fleet.io/"                         \
        "scheduler-crb-cleanup\"],"
        static const struct {
                const char *cluster, *state, *snapshot, *meta, *patched, *unscheduled;
                size_t released, created, found;
        } rows[] = {
                { "a", "Bound", "web-1", DELETING, "", "", 1, 1, 1 },
                { "gone", "Unscheduled", "web-0", DELETING, "", "", 1, 1, 1 },
                { "a", "Bound", "web-1", "\"deletionTimestamp\":\"" ALIVE "\",", "", "", 0, 1, 1 },
                { "gone", "Unscheduled", "web-1", WAS("Bound"), "", "", 0, 1, 1 },
                { "a", "Unscheduled", "web-0", WAS("Scheduled"), "b Scheduled", "", 0, 0, 1 },
                { "gone", "Bound", "web-0", "", "", "b", 0, 1, 1 },
                { "gone", "Bound", "web-1", "", "", "b", 0, 1, 1 },
                { "a", "Bound", "web-0", "", "b Bound", "", 0, 0, 1 },
                { "a", "Scheduled", "web-0", "", "b Scheduled", "", 0, 0, 1 },
                { "a", "Scheduled", "web-1", "", "", "", 0, 0, 1 },
                { "a", "Bound", "web-1", "", "", "", 0, 0, 1 },
        };
        static const struct {
                const char *policy, *wanted;
        } policies[] = { { PICK_ALL, NULL }, { PICK_N "}", "1" } };

        for (size_t i = 0; i < ARRAY_LEN(rows) * ARRAY_LEN(policies); i++) {
                size_t k = i / ARRAY_LEN(policies);
                struct case_ c;

                begin(&c, policies[i % ARRAY_LEN(policies)].policy, policies[i % ARRAY_LEN(policies)].wanted);
                add_plain(&c, "a");
                add_binding(&c, "b", rows[k].cluster, rows[k].state, rows[k].snapshot, 0, 0, rows[k].meta);
                run(&c);
                if (!text_equal(patched(&c), rows[k].patched) ||
                    !text_equal(unscheduled(&c), rows[k].unscheduled) ||
                    c.plan.release.n != rows[k].released || c.plan.n_create != rows[k].created)
                        fail_msg("row %zu: patched \"%s\", unscheduled \"%s\", released %zu, created %zu", k,
                                 patched(&c), unscheduled(&c), c.plan.release.n, c.plan.n_create);
                check_condition(&c, true, 1);
                end(&c);
        }
}

/* ---- PickFixed ---- */

/* spec/scheduler.md checklist 23 */
static void names_that_can_be_used_are_and_the_others_are_missed(void **state)
{
        struct case_ c;

        begin(&c,
              "\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"d\",\"silent\",\"b\","
              "\"nowhere\","
              "\"a\",\"back\",\"b\"]}",
              NULL);
        add_plain(&c, "a");
        add_cluster(&c, "b", "", ALIVE, "", TAINTED);
        add_plain(&c, "back");
        add_plain(&c, "c");
        add_plain(&c, "d");
        add_cluster(&c, "silent", "", STALE, "", "");
        add_binding(&c, "on-a", "a", "Bound", "web-0", 0, 0, "");
        add_binding(&c, "on-back", "back", "Unscheduled", "web-0", 0, 0, WAS("Scheduled"));
        add_binding(&c, "on-c", "c", "Bound", "web-0", 0, 0, "");
        run(&c);
        assert_string_equal(created(&c), "d b");
        assert_string_equal(patched(&c), "on-a Bound, on-back Scheduled");
        assert_string_equal(unscheduled(&c), "on-c");
        for (size_t i = 0; i < c.plan.n_create; i++)
                assert_null(c.plan.create[i].decision.cluster_score);
        for (size_t i = 0; i < c.plan.n_patch; i++)
                assert_null(c.plan.patch[i].decision.cluster_score);
        check_condition(&c, false, 4);
        assert_int_equal(c.plan.n_decisions, 6);
        end(&c);
}

/* spec/scheduler.md 9: what it has stays, though it could not be taken now. */
static void a_fixed_cluster_that_falls_silent_keeps_what_it_has(void **state)
{
        static const char *const snapshots[] = { "web-1", "web-0" };

        for (size_t i = 0; i < ARRAY_LEN(snapshots); i++) {
                struct case_ c;

                begin(&c, "\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"a\"]}", NULL);
                add_cluster(&c, "a", "", STALE, "", "");
                add_binding(&c, "on-a", "a", "Bound", snapshots[i], 0, 0, "");
                run(&c);
                assert_int_equal(c.plan.n_create + c.plan.unschedule.n, 0);
                assert_string_equal(patched(&c), i ? "on-a Bound" : "");
                check_condition(&c, false, 0);
                assert_false(c.plan.decisions[0].selected.value);
                end(&c);
        }
}

/* ---- PickN ---- */

/* spec/scheduler.md checklist 26 */
static void fewer_candidates_than_wanted_are_all_taken(void **state)
{
        struct case_ c;

        begin(&c, PICK_N "}", "10");
        add_plains(&c, 7);
        run(&c);
        assert_string_equal(created(&c), "c06 c05 c04 c03 c02 c01 c00");
        check_condition(&c, false, 7);
        end(&c);
}

/* spec/scheduler.md checklist 27 */
static void none_wanted_is_fulfilled_by_none(void **state)
{
        struct case_ c;

        begin(&c, PICK_N "}", "0");
        add_plains(&c, 2);
        run(&c);
        check_unchanged(&c);
        check_condition(&c, true, 0);
        add_binding(&c, "b1", "c00", "Bound", "web-0", 0, 0, "");
        add_binding(&c, "b2", "c01", "Scheduled", "web-0", 0, 0, "");
        run(&c);
        assert_int_equal(c.plan.n_create + c.plan.n_patch, 0);
        assert_string_equal(unscheduled(&c), "b1 b2");
        check_condition(&c, true, 0);
        assert_int_equal(c.plan.n_decisions, 0);
        end(&c);
}

/* What a number that changes leaves of five bindings: scheduled ones on a and b, bound ones on c, d and e. */
struct scale_row {
        int wanted;
        const char *unscheduled, *created;
};

static void check_scale(const struct scale_row *row, const int scores[5][2])
{
        static const char *const names[] = { "a", "b", "c", "d", "e", "x", "y" };
        char wanted[8];
        struct case_ c;

        snprintf(wanted, sizeof(wanted), "%d", row->wanted);
        begin(&c, PICK_N "}", wanted);
        for (int i = 0; i < 7; i++)
                add_plain(&c, names[i]);
        for (int i = 0; i < 5; i++)
                add_binding(&c, arena_printf(&c.arena, "on-%s", names[i]), names[i],
                            i < 2 ? "Scheduled" : "Bound", "web-1", scores[i][0], scores[i][1], "");
        run(&c);
        if (!text_equal(unscheduled(&c), row->unscheduled) || !text_equal(created(&c), row->created) ||
            c.plan.n_patch)
                fail_msg("%d: unscheduled \"%s\", created \"%s\"", row->wanted, unscheduled(&c), created(&c));
        check_condition(&c, row->wanted <= 7, MIN(row->wanted, 7));
        assert_int_equal(c.plan.n_decisions, row->wanted <= 5 ? row->wanted : 7);
        end(&c);
}

/* spec/scheduler.md checklist 28, 29: affinity and topology of a to e; both, one, and none of them differ. */
static void a_number_that_changes_keeps_the_best_of_the_bound(void **state)
{
        static const int mixed[5][2] = { { 9, 9 }, { 9, 8 }, { 1, 2 }, { 5, 1 }, { 0, 2 } };
        static const int affine[5][2] = { { 2, 0 }, { 1, 0 }, { 7, 0 }, { -7, 0 }, { 0, 0 } };
        static const int equal[5][2] = { { 0, 0 } };
        static const struct scale_row of_mixed[] = {
                { 8, "", "y x" },          { 7, "", "y x" },
                { 6, "", "y" },            { 5, "", "" },
                { 4, "on-b", "" },         { 3, "on-a on-b", "" },
                { 2, "on-a on-b on-d", "" }, { 1, "on-a on-b on-d on-e", "" },
                { 0, "on-a on-b on-c on-d on-e", "" },
        }, of_affine[] = { { 4, "on-b", "" }, { 2, "on-a on-b on-d", "" }, { 1, "on-a on-b on-d on-e", "" } },
          of_equal[] = { { 4, "on-a", "" }, { 2, "on-a on-b on-c", "" }, { 1, "on-a on-b on-c on-d", "" } };

        for (size_t i = 0; i < ARRAY_LEN(of_mixed); i++)
                check_scale(&of_mixed[i], mixed);
        for (size_t i = 0; i < ARRAY_LEN(of_affine); i++)
                check_scale(&of_affine[i], affine);
        for (size_t i = 0; i < ARRAY_LEN(of_equal); i++)
                check_scale(&of_equal[i], equal);
}

/* Clusters that PickFixed chose have no scores: they fit least. */
static void a_binding_without_scores_is_given_up_first(void **state)
{
        struct case_ c;

        begin(&c, PICK_N "}", "2");
        add_plain(&c, "a");
        add_plain(&c, "b");
        add_plain(&c, "c");
        add_binding(&c, "on-a", "a", "Bound", "web-1", -9, -9, "");
        add_binding(&c, "on-b", "b", "Bound", "web-1", 0, 0, "");
        add_binding(&c, "on-c", "c", "Bound", "web-1", 0, 0, "");
        ((struct binding *)c.bindings[2])->spec->cluster_decision->cluster_score = NULL;
        run(&c);
        assert_string_equal(unscheduled(&c), "on-c");
        end(&c);
}

static void tell_before(struct case_ *c, struct cluster_decision *told, size_t n)
{
        struct policy_snapshot *s = (struct policy_snapshot *)c->in.snapshot;

        s->status = arena_zalloc(&c->arena, sizeof(*s->status));
        s->status->target_clusters = (struct cluster_decision_list){ told, (uint32_t)n, true };
}

/* spec/scheduler.md checklist 29: also what an earlier round said of others is gone. */
static void what_is_left_after_scaling_down_is_all_that_is_told(void **state)
{
        struct cluster_decision told[] = { { "c00", OPT_BOOL(false), NULL, "said of c00" },
                                           { "c03", OPT_BOOL(true), NULL, "said of c03" } };
        struct case_ c;

        begin(&c, PICK_N "}", "1");
        add_plains(&c, 4);
        tell_before(&c, told, ARRAY_LEN(told));
        add_binding(&c, "b2", "c02", "Bound", "web-1", 0, 0, "");
        add_binding(&c, "b3", "c03", "Bound", "web-1", 0, 0, "");
        run(&c);
        assert_string_equal(unscheduled(&c), "b2");
        assert_int_equal(c.plan.n_decisions, 1);
        assert_string_equal(c.plan.decisions[0].cluster_name, "c03");
        assert_true(c.plan.decisions[0].selected.value);
        end(&c);
}

/* spec/scheduler.md checklist 30 */
static void obsolete_bindings_go_where_enough_are_there(void **state)
{
        struct case_ c;

        begin(&c, PICK_N "}", "2");
        add_plains(&c, 4);
        add_binding(&c, "b0", "c00", "Bound", "web-0", 9, 9, "");
        add_binding(&c, "b1", "c01", "Bound", "web-1", 0, 0, "");
        add_binding(&c, "b2", "c02", "Scheduled", "web-1", 0, 0, "");
        add_binding(&c, "b3", "c03", "Scheduled", "web-0", 9, 9, "");
        add_binding(&c, "b4", "c00", "Unscheduled", "web-0", 0, 0, WAS("Bound"));
        run(&c);
        assert_int_equal(c.plan.n_create + c.plan.n_patch, 0);
        assert_string_equal(unscheduled(&c), "b0 b3");
        check_condition(&c, true, 2);
        end(&c);
}

/* ---- filters ---- */

/* spec/scheduler.md checklist 42 */
static void a_toleration_is_matched_part_by_part(void **state)
{
        static const struct {
                const char *toleration;
                bool tolerated; /* of k=v:NoSchedule */
        } rows[] = {
                { "{\"operator\":\"Exists\"}", true },
                { "{\"operator\":\"Exists\",\"value\":\"other\"}", true },
                { "{\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}", true },
                { "{\"operator\":\"Exists\",\"effect\":\"NoExecute\"}", false },
                { "{\"operator\":\"Exists\",\"key\":\"k\"}", true },
                { "{\"operator\":\"Exists\",\"key\":\"k\",\"effect\":\"NoExecute\"}", false },
                { "{\"operator\":\"Exists\",\"key\":\"other\"}", false },
                { "{\"operator\":\"Equal\",\"key\":\"k\",\"value\":\"v\"}", true },
                { "{\"operator\":\"Equal\",\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}", true },
                { "{\"operator\":\"Equal\",\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoExecute\"}", false },
                { "{\"operator\":\"Equal\",\"key\":\"k\",\"value\":\"other\"}", false },
                { "{\"operator\":\"Equal\",\"key\":\"k\"}", false },
                { "{\"operator\":\"Equal\",\"key\":\"other\",\"value\":\"v\"}", false },
                { "{\"operator\":\"Equal\",\"value\":\"v\"}", false },
                { "{\"operator\":\"Like\",\"key\":\"k\",\"value\":\"v\"}", false },
                { "{\"key\":\"k\",\"value\":\"v\"}", false },
                { "{\"operator\":\"Equal\",\"key\":\"other\"},{\"operator\":\"Exists\",\"key\":\"k\"}",
                  true },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char policy[512];
                struct case_ c;

                snprintf(policy, sizeof(policy),
                         "\"policy\":{\"placementType\":\"PickAll\",\"tolerations\":[%s]}",
                         rows[i].toleration);
                begin(&c, policy, NULL);
                add_cluster(&c, "a", "", ALIVE, "", TAINTED);
                run(&c);
                if ((c.plan.n_create == 1) != rows[i].tolerated)
                        fail_msg("%s", rows[i].toleration);
                if (!rows[i].tolerated)
                        assert_string_equal(decision_on(&c, "a")->reason,
                                            "ClusterUnschedulable, taint &{Key:k Value:v Effect:NoSchedule} "
                                            "cannot be tolerated");
                end(&c);
        }
}

/* spec/scheduler.md checklist 42 */
static void of_several_taints_the_first_that_is_not_tolerated_is_named(void **state)
{
        struct case_ c;

        begin(&c,
              "\"policy\":{\"placementType\":\"PickAll\",\"tolerations\":[{\"operator\":\"Exists\",\"key\":"
              "\"b\"}]}",
              NULL);
        add_cluster(&c, "a", "", ALIVE, "",
                    "\"taints\":[{\"key\":\"b\",\"effect\":\"NoSchedule\"},{\"key\":\"z\",\"effect\":"
                    "\"NoSchedule\"},{\"key\":\"a\",\"value\":\"v\",\"effect\":\"NoSchedule\"}],");
        run(&c);
        assert_string_equal(
                decision_on(&c, "a")->reason,
                "ClusterUnschedulable, taint &{Key:z Value: Effect:NoSchedule} cannot be tolerated");
        end(&c);
}

/* spec/scheduler.md checklist 40: five minutes to the second are no silence yet. */
static void silence_and_ill_health_count_after_five_minutes(void **state)
{
        static const struct {
                const char *heard, *healthy, *since, *reason;
        } rows[] = {
                { "2025-12-31T23:55:01Z", "True", ALIVE, NULL },
                { "2025-12-31T23:55:00Z", "True", ALIVE, NULL },
                { "2025-12-31T23:54:59Z", "True", ALIVE,
                  "cluster is not connected to the fleet: no recent heartbeat signals (last received 5.02 "
                  "minutes ago)" },
                { ALIVE, "False", "2025-12-31T23:56:00Z", NULL },
                { ALIVE, "False", "2025-12-31T23:55:00Z", NULL },
                { ALIVE, "Unknown", "2025-12-31T23:56:00Z", NULL },
                { ALIVE, "False", "2025-12-31T23:54:59Z",
                  "cluster is not connected to the fleet: unhealthy for a prolonged period of time (last "
                  "transitioned 5.02 minutes ago)" },
                { ALIVE, "Unknown", "2025-12-31T23:54:59Z",
                  "cluster is not connected to the fleet: unhealthy for a prolonged period of time (last "
                  "transitioned 5.02 minutes ago)" },
                { ALIVE, "True", "2025-12-31T20:00:00Z", NULL },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct member_cluster *cluster;
                struct ineligibility why;
                char json[1024];
                struct case_ c;

                begin(&c, "", NULL);
                snprintf(json, sizeof(json),
                         "{\"metadata\":{\"name\":\"a\"},\"spec\":{},\"status\":{\"agentStatus\":[{\"type\":"
                         "\"MemberAgent\",\"lastReceivedHeartbeat\":\"%s\",\"conditions\":[{\"type\":"
                         "\"Joined\","
                         "\"status\":\"True\",\"reason\":\"x\",\"message\":\"\",\"lastTransitionTime\":"
                         "\"" ALIVE
                         "\"},{\"type\":\"Healthy\",\"status\":\"%s\",\"reason\":\"x\",\"message\":\"\","
                         "\"lastTransitionTime\":\"%s\"}]}]}}",
                         rows[i].heard, rows[i].healthy, rows[i].since);
                cluster = (const struct member_cluster *)parse(&c, &member_cluster_kind, json);
                if (cluster_is_eligible(cluster, &(struct patience){ NOW }, &c.arena, &why) !=
                            !rows[i].reason ||
                    !text_equal(why.reason, rows[i].reason))
                        fail_msg("row %zu: %s", i, or_empty(why.reason));
                end(&c);
        }
}

/* ---- what is told ---- */

static void add_filtered(struct case_ *c, int n)
{
        for (int i = 0; i < n; i++) {
                char name[16];

                snprintf(name, sizeof(name), "s%02d", i);
                add_cluster(c, name, "", STALE, "", "");
        }
}

/* spec/scheduler.md checklist 46: so many are not picked, so many filtered; whom is told of, in which order.
 */
static void of_those_not_selected_twenty_are_told(void **state)
{
        static const struct {
                int open, filtered, told_open, told_filtered;
        } rows[] = {
                { 30, 30, 20, 0 }, { 19, 30, 19, 1 }, { 5, 3, 5, 3 }, { 0, 30, 0, 20 }, { 20, 1, 20, 0 }
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct case_ c;

                begin(&c, PICK_N "}", "2");
                add_plains(&c, rows[i].open + 1);
                add_filtered(&c, rows[i].filtered);
                add_cluster(&c, "s99", "", STALE, "", "");
                add_binding(&c, "kept", "s99", "Bound", "web-1", 0, 0, "");
                run(&c);
                assert_int_equal(c.plan.n_decisions, 2 + rows[i].told_open + rows[i].told_filtered);
                assert_true(c.plan.decisions[0].selected.value && c.plan.decisions[1].selected.value);
                assert_string_equal(c.plan.decisions[1].cluster_name, "s99");
                for (int k = 0; k < rows[i].told_open + rows[i].told_filtered; k++) {
                        const struct cluster_decision *d = &c.plan.decisions[2 + k];
                        bool open = k < rows[i].told_open;
                        char name[16];

                        snprintf(name, sizeof(name), open ? "c%02d" : "s%02d",
                                 open ? rows[i].open - 1 - k : k - rows[i].told_open);
                        assert_string_equal(d->cluster_name, name);
                        assert_false(d->selected.value);
                        assert_int_equal(d->cluster_score != NULL, open);
                }
                end(&c);
        }
}

static void tell(struct case_ *c)
{
        struct policy_snapshot *s = (struct policy_snapshot *)object_copy(&c->in.snapshot->object, &c->arena);

        s->status = arena_zalloc(&c->arena, sizeof(*s->status));
        s->status->observed_crp_generation = OPT_INT(c->plan.observed_generation);
        s->status->target_clusters =
                (struct cluster_decision_list){ c->plan.decisions, (uint32_t)c->plan.n_decisions, true };
        assert_true(condition_set(&s->status->conditions, &c->plan.scheduled, NOW, &c->arena) >= 0);
        c->in.snapshot = (const struct policy_snapshot *)object_copy(&s->object, &c->arena);
}

static struct cluster_decision *told_of(const struct case_ *c, const char *cluster)
{
        const struct cluster_decision_list *l = &c->in.snapshot->status->target_clusters;

        for (uint32_t i = 0; i < l->n; i++)
                if (text_equal(l->at[i].cluster_name, cluster))
                        return &l->at[i];
        fail_msg("nothing is told of %s", cluster);
        return NULL;
}

static void no_change(struct case_ *c)
{
}
static void swap_decisions(struct case_ *c)
{
        struct cluster_decision *d = c->in.snapshot->status->target_clusters.at, first = d[0];

        d[0] = d[1];
        d[1] = first;
}
static void other_generation(struct case_ *c)
{
        c->in.snapshot->status->observed_crp_generation = OPT_INT(2);
}
static void no_generation(struct case_ *c)
{
        c->in.snapshot->status->observed_crp_generation = (struct opt_int){ 0 };
}
static void one_less(struct case_ *c)
{
        c->in.snapshot->status->target_clusters.n--;
}
static void other_reason(struct case_ *c)
{
        told_of(c, "z")->reason = "another";
}
static void other_affinity(struct case_ *c)
{
        told_of(c, "b")->cluster_score->affinity_score = OPT_INT(7);
}
static void other_topology(struct case_ *c)
{
        told_of(c, "b")->cluster_score->priority_score = OPT_INT(7);
}
static void no_score(struct case_ *c)
{
        told_of(c, "b")->cluster_score = NULL;
}
static void not_selected(struct case_ *c)
{
        told_of(c, "b")->selected = OPT_BOOL(false);
}
static void other_name(struct case_ *c)
{
        told_of(c, "z")->cluster_name = "y";
}
static struct condition *told_condition(struct case_ *c)
{
        return (struct condition *)condition_find(&c->in.snapshot->status->conditions, "Scheduled");
}
static void other_status(struct case_ *c)
{
        told_condition(c)->status = "False";
}
static void condition_reason(struct case_ *c)
{
        told_condition(c)->reason = "Another";
}
static void older_condition(struct case_ *c)
{
        told_condition(c)->observed_generation = OPT_INT(0);
}
static void newer_condition(struct case_ *c)
{
        told_condition(c)->observed_generation = OPT_INT(2);
}

/* spec/scheduler.md checklist 47: each part of a status differs alone. */
static void a_status_is_written_when_a_part_of_it_differs(void **state)
{
        static const struct {
                void (*change)(struct case_ *c);
                bool written;
        } rows[] = {
                { no_change, false },       { swap_decisions, false },  { newer_condition, false },
                { other_generation, true }, { no_generation, true },    { one_less, true },
                { other_reason, true },     { other_affinity, true },   { other_topology, true },
                { no_score, true },         { not_selected, true },     { other_name, true },
                { other_status, true },     { condition_reason, true }, { older_condition, true },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct case_ c;

                begin(&c, PICK_N "}", "1");
                add_plain(&c, "a");
                add_plain(&c, "b");
                add_cluster(&c, "z", "", ALIVE, "", TAINTED);
                run(&c);
                assert_true(c.plan.write_status);
                tell(&c);
                rows[i].change(&c);
                run(&c);
                if (c.plan.write_status != rows[i].written)
                        fail_msg("row %zu", i);
                end(&c);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(without_a_policy_everyone_is_taken_and_nobody_may_be_there),
                cmocka_unit_test(pick_all_adds_who_can_be_used_and_keeps_whom_it_has),
                cmocka_unit_test(clusters_that_leave_are_given_up_and_replaced_at_once),
                cmocka_unit_test(a_binding_belongs_to_one_class),
                cmocka_unit_test(names_that_can_be_used_are_and_the_others_are_missed),
                cmocka_unit_test(a_fixed_cluster_that_falls_silent_keeps_what_it_has),
                cmocka_unit_test(fewer_candidates_than_wanted_are_all_taken),
                cmocka_unit_test(none_wanted_is_fulfilled_by_none),
                cmocka_unit_test(a_number_that_changes_keeps_the_best_of_the_bound),
                cmocka_unit_test(a_binding_without_scores_is_given_up_first),
                cmocka_unit_test(what_is_left_after_scaling_down_is_all_that_is_told),
                cmocka_unit_test(obsolete_bindings_go_where_enough_are_there),
                cmocka_unit_test(a_toleration_is_matched_part_by_part),
                cmocka_unit_test(of_several_taints_the_first_that_is_not_tolerated_is_named),
                cmocka_unit_test(silence_and_ill_health_count_after_five_minutes),
                cmocka_unit_test(of_those_not_selected_twenty_are_told),
                cmocka_unit_test(a_status_is_written_when_a_part_of_it_differs),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
