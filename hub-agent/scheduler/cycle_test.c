/* What one cycle writes, and how: bindings, statuses, finalizers, what is counted. spec/scheduler.md 5,
 * 13-15. */
#include "common/ctrl/metrics.h"
#include "hub-agent/hub_agent_test.h"
#include "hub-agent/scheduler/scheduler.h"

#define BINDINGS FLEET "clusterresourcebindings"
#define WEB FLEET "clusterresourceplacements/web"
#define POLICY FLEET "clusterschedulingpolicysnapshots/web-0"
#define MEMBER_1 CLUSTERS "memberclusters/member-1"
#define SCHEDULER_CLEANUP "kubernetes-fleet.io/scheduler-cleanup"
#define BINDING_CLEANUP "kubernetes-fleet.io/scheduler-crb-cleanup"
#define PROD(policy) "," PROD_POLICY(policy)
#define PROD_POLICY(policy)                                                                                  \
        "\"policy\":{" policy "\"affinity\":{\"clusterAffinity\":{"                                          \
        "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[{\"labelSelector\":{" \
        "\"matchLabels\":{\"env\":\"prod\"}}}]}}}}"
#define EXTERNAL ",\"strategy\":{\"type\":\"External\"}" /* rollout leaves the bindings as they are */

struct stage {
        struct fleet f;
        struct line line;
};

static void begin(struct rig *r, struct stage *s)
{
        *s = (struct stage){ 0 };
        start(r, &s->f);
        line_lay(&s->f, &s->line);
        s->f.metrics = metrics_new(METRIC_OF_HUB);
        start_again(r, &s->f);
        add_member(&s->f, "member-1", "\"env\":\"prod\"");
        add_member(&s->f, "member-2", "\"env\":\"test\"");
        add_app(r);
}

static void rest(struct stage *s)
{
        rig_settle(s->f.rig);
        fiber_sleep(s->f.rig->loop, 2000);
        rig_settle(s->f.rig);
}

static void end(struct stage *s)
{
        stop(&s->f);
        http_transport_free(s->f.world.transport);
        metrics_free(s->f.metrics);
}

/* How many cycles were counted with these labels. */
static int cycles(struct stage *s, const char *is_failed, const char *needs_requeue)
{
        AUTO_BUF struct buf b;
        char series[160];
        const char *at;

        buf_init(&b, 1 << 20);
        assert_int_equal(metrics_print(s->f.metrics, &b), 0);
        snprintf(series, sizeof(series),
                 "scheduling_cycle_duration_milliseconds_count{is_failed=\"%s\",needs_requeue=\"%s\"} ",
                 is_failed, needs_requeue);
        at = strstr(b.data, series);
        return at ? (int)strtol(at + strlen(series), NULL, 10) : 0;
}

static int all_cycles(struct stage *s)
{
        return cycles(s, "false", "false") + cycles(s, "false", "true") + cycles(s, "true", "false") +
               cycles(s, "true", "true");
}

static bool holds(const json_t *o, const char *finalizer)
{
        json_t *f;
        size_t i;

        json_array_foreach(doc_get_array(o, "metadata.finalizers"), i, f)
                if (text_equal(json_string_value(f), finalizer))
                        return true;
        return false;
}

/* The binding on a cluster, of the answer that is there now; NULL = none. */
static json_t *binding_on(struct rig *r, const char *cluster)
{
        json_t *item;
        size_t i;

        rig_get(r, BINDINGS);
        json_array_foreach(json_object_get(r->answer, "items"), i, item)
                if (text_equal(doc_get_string(item, "spec.targetCluster"), cluster))
                        return item;
        return NULL;
}

static const char *state_on(struct rig *r, const char *cluster)
{
        json_t *b = binding_on(r, cluster);

        return b ? arena_strdup(&r->arena, doc_get_string(b, "spec.state")) : "";
}

static const char *path_of(struct rig *r, const char *cluster)
{
        return arena_printf(&r->arena, BINDINGS "/%s",
                            doc_get_string(binding_on(r, cluster), "metadata.name"));
}

/* ---- bindings ---- */

/* spec/scheduler.md checklist 44, 45; spec/api.md checklist 35 */
RIG_TEST(a_new_binding_holds_what_the_cycle_knows_and_nothing_else, {
        static const char *const policies[] = { PROD("\"placementType\":\"PickN\",\"numberOfClusters\":1,"),
                                                ",\"policy\":{\"placementType\":\"PickFixed\","
                                                "\"clusterNames\":[\"member-1\"]}" };
        struct stage s;

        begin(r, &s);
        for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
                json_t *b;

                place(r, arena_printf(&r->arena, "%s" EXTERNAL, policies[i]));
                rest(&s);
                b = binding_on(r, "member-1");
                assert_non_null(b);
                assert_string_equal(doc_get_string(b, "spec.state"), "Scheduled");
                assert_string_equal(doc_get_string(b, "spec.resourceSnapshotName"), "");
                assert_string_equal(doc_get_string(b, "spec.schedulingPolicySnapshotName"), "web-0");
                assert_string_equal(doc_get_string(b, "spec.clusterDecision.clusterName"), "member-1");
                assert_true(json_is_true(doc_get(b, "spec.clusterDecision.selected")));
                assert_non_null(doc_get_string(b, "spec.clusterDecision.reason"));
                if (i) {
                        assert_null(doc_get(b, "spec.clusterDecision.clusterScore"));
                } else {
                        assert_int_equal(
                                doc_get_int(b, "spec.clusterDecision.clusterScore.affinityScore", -1), 0);
                        assert_int_equal(
                                doc_get_int(b, "spec.clusterDecision.clusterScore.priorityScore", -1), 0);
                }
                assert_null(doc_get(b, "spec.applyStrategy"));
                assert_null(doc_get(b, "spec.resourceOverrideSnapshots"));
                assert_null(doc_get(b, "spec.clusterResourceOverrideSnapshots"));
                assert_true(text_starts_with(doc_get_string(b, "metadata.name"), "web-member-1-"));
                assert_int_equal(strlen(doc_get_string(b, "metadata.name")), strlen("web-member-1-") + 8);
                assert_string_equal(json_string_value(json_object_get(doc_get(b, "metadata.labels"),
                                                                      "kubernetes-fleet.io/parent-CRP")),
                                    "web");
                assert_true(holds(b, BINDING_CLEANUP));
                assert_null(doc_get(b, "metadata.ownerReferences"));
                assert_null(doc_get(b, "metadata.annotations"));
                assert_int_equal(rig_delete(r, WEB), 200);
                rest(&s);
                assert_int_equal(count(r, BINDINGS), 0);
        }
        end(&s);
})

/* spec/scheduler.md checklist 17 */
RIG_TEST(a_new_policy_hands_on_what_fits_and_notes_what_the_rest_was, {
        struct stage s;
        const char *kept;
        json_t *b;

        begin(r, &s);
        place(r, ",\"policy\":{\"placementType\":\"PickAll\"}" EXTERNAL);
        rest(&s);
        merge(r, path_of(r, "member-1"), "{\"spec\":{\"state\":\"Bound\"}}");
        merge(r, path_of(r, "member-2"),
              "{\"spec\":{\"state\":\"Bound\"},\"metadata\":{\"annotations\":{\"a\":\"b\"}}}");
        rest(&s);
        kept = path_of(r, "member-1");
        merge(r, WEB, "{\"spec\":{" PROD_POLICY("\"placementType\":\"PickAll\",") "}}");
        rest(&s);
        assert_string_equal(path_of(r, "member-1"), kept);
        b = binding_on(r, "member-1");
        assert_string_equal(doc_get_string(b, "spec.state"), "Bound");
        assert_string_equal(doc_get_string(b, "spec.schedulingPolicySnapshotName"), "web-1");
        b = binding_on(r, "member-2");
        assert_string_equal(doc_get_string(b, "spec.state"), "Unscheduled");
        assert_string_equal(doc_get_string(b, "spec.schedulingPolicySnapshotName"), "web-0");
        assert_string_equal(json_string_value(json_object_get(doc_get(b, "metadata.annotations"),
                                                              "kubernetes-fleet.io/previous-binding-state")),
                            "Bound");
        assert_string_equal(json_string_value(json_object_get(doc_get(b, "metadata.annotations"), "a")), "b");
        merge(r, WEB, "{\"spec\":{\"policy\":{\"affinity\":null}}}");
        rest(&s);
        b = binding_on(r, "member-2"); /* it comes back, and the note goes */
        assert_string_equal(doc_get_string(b, "spec.state"), "Bound");
        assert_null(json_object_get(doc_get(b, "metadata.annotations"),
                                    "kubernetes-fleet.io/previous-binding-state"));
        end(&s);
})

/* spec/scheduler.md checklist 13 */
RIG_TEST(a_placement_that_goes_lets_its_own_bindings_go, {
        struct stage s;
        json_t *b;

        begin(r, &s);
        assert_int_equal(
                rig_post(
                        r, FLEET "clusterresourceplacements",
                        "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                        "\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"other\"},\"spec\":{" SELECT_APP
                                EXTERNAL "}}"),
                201);
        rest(&s);
        assert_int_equal(count(r, BINDINGS), 2);
        place(r, EXTERNAL);
        rest(&s);
        assert_int_equal(count(r, BINDINGS), 4);
        merge(r, WEB,
              "{\"metadata\":{\"finalizers\":[\"kubernetes-fleet.io/crp-cleanup\",\"" SCHEDULER_CLEANUP
              "\",\"example.com/mine\"]}}");
        rig_get(r, BINDINGS "?labelSelector=kubernetes-fleet.io/parent-CRP=web");
        b = json_array_get(json_object_get(r->answer, "items"), 0);
        merge(r, arena_printf(&r->arena, BINDINGS "/%s", doc_get_string(b, "metadata.name")),
              "{\"metadata\":{\"finalizers\":[\"" BINDING_CLEANUP "\",\"example.com/mine\"]}}");
        rest(&s);
        assert_int_equal(rig_delete(r, WEB), 200);
        rest(&s);
        assert_int_equal(rig_get(r, WEB), 200);
        assert_false(holds(r->answer, SCHEDULER_CLEANUP));
        assert_true(holds(r->answer, "example.com/mine"));
        rig_get(r, BINDINGS "?labelSelector=kubernetes-fleet.io/parent-CRP=web");
        assert_int_equal(json_array_size(json_object_get(r->answer, "items")), 1);
        b = json_array_get(json_object_get(r->answer, "items"), 0);
        assert_non_null(doc_get_string(b, "metadata.deletionTimestamp"));
        assert_false(holds(b, BINDING_CLEANUP));
        assert_true(holds(b, "example.com/mine"));
        rig_get(r, BINDINGS "?labelSelector=kubernetes-fleet.io/parent-CRP=other");
        assert_int_equal(json_array_size(json_object_get(r->answer, "items")), 2);
        for (size_t i = 0; i < 2; i++) {
                b = json_array_get(json_object_get(r->answer, "items"), i);
                assert_null(doc_get_string(b, "metadata.deletionTimestamp"));
                assert_true(holds(b, BINDING_CLEANUP));
        }
        end(&s);
})

/* ---- snapshots ---- */

/* spec/scheduler.md checklist 14: nothing is decided, nor is the placement held. */
RIG_TEST(a_cycle_needs_the_one_snapshot_that_is_latest, {
        static const char *const labels[] = { "null", "\"true\"" };
        struct stage s;
        int before;

        begin(r, &s);
        place(r, PROD("\"placementType\":\"PickAll\","));
        rest(&s);
        merge(r, WEB, "{\"spec\":{\"policy\":{\"tolerations\":[{\"operator\":\"Exists\"}]}}}");
        rest(&s);
        assert_string_equal(state_on(r, "member-1"), "Bound");
        s.line.fate = 503; /* nobody mends them meanwhile */
        for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
                s.line.path = "clusterschedulingpolicysnapshots/";
                merge(r, POLICY,
                      "{\"metadata\":{\"labels\":{\"kubernetes-fleet.io/is-latest-snapshot\":\"true\"}}}");
                merge(r, FLEET "clusterschedulingpolicysnapshots/web-1",
                      arena_printf(
                              &r->arena,
                              "{\"metadata\":{\"labels\":{\"kubernetes-fleet.io/is-latest-snapshot\":%s}}}",
                              labels[i]));
                if (!i)
                        merge(r, POLICY,
                              "{\"metadata\":{\"labels\":{\"kubernetes-fleet.io/"
                              "is-latest-snapshot\":null}}}");
                merge(r, WEB, "{\"metadata\":{\"finalizers\":[\"kubernetes-fleet.io/crp-cleanup\"]}}");
                before = all_cycles(&s);
                merge(r, CLUSTERS "memberclusters/member-2",
                      i ? "{\"metadata\":{\"labels\":{\"env\":\"test\"}}}"
                        : "{\"metadata\":{\"labels\":{\"env\":\"prod\"}}}");
                rest(&s);
                assert_int_equal(all_cycles(&s), before);
                assert_string_equal(state_on(r, "member-2"), "");
                rig_get(r, WEB);
                assert_false(holds(r->answer, SCHEDULER_CLEANUP));
        }
        s.line.path = NULL;
        merge(r, POLICY,
              "{\"metadata\":{\"labels\":{\"kubernetes-fleet.io/is-latest-snapshot\":\"false\"}}}");
        rest(&s);
        assert_true(all_cycles(&s) > before);
        rig_get(r, WEB);
        assert_true(holds(r->answer, SCHEDULER_CLEANUP));
        end(&s);
})

static int64_t version_of(struct rig *r, const char *path)
{
        assert_int_equal(rig_get(r, path), 200);
        return strtoll(rig_string(r, "metadata.resourceVersion"), NULL, 10);
}

/* spec/scheduler.md checklist 47: the second write is the intake's, of the annotation. */
RIG_TEST(an_equal_cycle_writes_nothing_and_a_generation_alone_is_noted, {
        AUTO_JSON json_t *decisions = NULL;
        struct rig_watch w;
        struct stage s;
        int64_t before;
        int cycled;

        begin(r, &s);
        place(r, PROD("\"placementType\":\"PickAll\",") EXTERNAL);
        rest(&s);
        before = version_of(r, POLICY);
        assert_int_equal(doc_get_int(r->answer, "status.observedCRPGeneration", 0), 1);
        decisions = json_incref(doc_get(r->answer, "status.targetClusters"));
        cycled = all_cycles(&s);
        merge(r, CLUSTERS "memberclusters/member-2", "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}");
        rest(&s);
        assert_true(all_cycles(&s) > cycled);
        assert_int_equal(version_of(r, POLICY), before);
        rig_watch_open(r, &w,
                       arena_printf(&r->arena,
                                    FLEET "clusterschedulingpolicysnapshots?watch=1&"
                                          "resourceVersion=%s",
                                    rig_string(r, "metadata.resourceVersion")));
        merge(r, WEB, "{\"spec\":{\"revisionHistoryLimit\":7}}");
        assert_string_equal(rig_watch_next(&w, 5000), "MODIFIED");
        assert_string_equal(rig_watch_next(&w, 5000), "MODIFIED");
        assert_int_equal(doc_get_int(json_object_get(w.event, "object"), "status.observedCRPGeneration", 0),
                         2);
        assert_true(
                json_equal(doc_get(json_object_get(w.event, "object"), "status.targetClusters"), decisions));
        assert_string_equal(rig_watch_next(&w, 5000), "timeout");
        rig_watch_close(&w);
        end(&s);
})

/* spec/scheduler.md checklist 31: all picks are made in memory, then written at once. */
RIG_TEST(spread_picks_are_told_in_one_status, {
        struct rig_watch w;
        struct stage s;

        begin(r, &s);
        rig_get(r, FLEET "clusterschedulingpolicysnapshots");
        rig_watch_open(r, &w,
                       arena_printf(&r->arena,
                                    FLEET "clusterschedulingpolicysnapshots?watch=1&"
                                          "resourceVersion=%s",
                                    rig_string(r, "metadata.resourceVersion")));
        place(r, ",\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":2,"
                 "\"topologySpreadConstraints\":[{\"topologyKey\":\"env\"}]}" EXTERNAL);
        assert_string_equal(rig_watch_next(&w, 5000), "ADDED");
        assert_string_equal(rig_watch_next(&w, 5000), "MODIFIED");
        assert_int_equal(
                json_array_size(doc_get_array(json_object_get(w.event, "object"), "status.targetClusters")),
                2);
        assert_string_equal(rig_watch_next(&w, 5000), "timeout");
        assert_int_equal(count(r, BINDINGS), 2);
        assert_int_equal(all_cycles(&s), cycles(&s, "false", "false"));
        rig_watch_close(&w);
        end(&s);
})

/* ---- answers of the server ---- */

/* A binding was changed, and the watch has not told of it yet: the cycle writes to what the server has. */
static void changes_behind_the_cache(struct rig *r, struct stage *s)
{
        begin(r, s);
        place(r, ",\"policy\":{\"placementType\":\"PickAll\"}" EXTERNAL);
        rest(s);
        s->line.lagging = "clusterresourcebindings";
        for (int i = 1; i <= 2; i++)
                merge(r, path_of(r, i == 1 ? "member-1" : "member-2"), "{\"spec\":{\"state\":\"Bound\"}}");
        merge(r, WEB, "{\"spec\":{" PROD_POLICY("\"placementType\":\"PickAll\",") "}}");
        fiber_sleep(r->loop, 5000); /* of 20 s that it takes to hear of them */
}

/* spec/scheduler.md checklist 48: both kinds of write come again from what the server has, within moments. */
RIG_TEST(a_conflict_is_decided_anew_from_what_the_server_has, {
        struct stage s;
        json_t *b;

        changes_behind_the_cache(r, &s);
        assert_true(cycles(&s, "true", "true") > 0);
        b = binding_on(r, "member-1");
        assert_string_equal(doc_get_string(b, "spec.state"), "Bound");
        assert_string_equal(doc_get_string(b, "spec.schedulingPolicySnapshotName"), "web-1");
        b = binding_on(r, "member-2");
        assert_string_equal(doc_get_string(b, "spec.state"), "Unscheduled");
        assert_string_equal(json_string_value(json_object_get(doc_get(b, "metadata.annotations"),
                                                              "kubernetes-fleet.io/previous-binding-state")),
                            "Bound");
        end(&s);
})

/* spec/scheduler.md checklist 49: it is there already, and the watch has not told of it yet. */
RIG_TEST(a_binding_that_exists_is_as_good_as_made, {
        const char *name;
        struct stage s;
        int failed;

        begin(r, &s);
        merge(r, MEMBER_1, "{\"metadata\":{\"labels\":{\"env\":\"test\"}}}");
        place(r, PROD("\"placementType\":\"PickAll\",") EXTERNAL);
        rest(&s);
        assert_int_equal(count(r, BINDINGS), 0);
        rig_get(r, WEB);
        name = binding_name(&r->arena, "web", rig_string(r, "metadata.uid"), "member-1", NULL);
        s.line.lagging = "clusterresourcebindings";
        assert_int_equal(
                rig_post(r, BINDINGS,
                         arena_printf(&r->arena,
                                      "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                                      "\"ClusterResourceBinding\",\"metadata\":{\"name\":\"%s\",\"labels\":{"
                                      "\"kubernetes-fleet.io/"
                                      "parent-CRP\":\"web\"},\"finalizers\":[\"" BINDING_CLEANUP
                                      "\"]},\"spec\":{\"state\":\"Scheduled\",\"targetCluster\":"
                                      "\"member-1\",\"resourceSnapshotName\":\"\","
                                      "\"schedulingPolicySnapshotName\":\"web-0\",\"clusterDecision\":{"
                                      "\"clusterName\":\"member-1\",\"selected\":true,\"reason\":\"r\"}}}",
                                      name)),
                201);
        failed = cycles(&s, "true", "true") + cycles(&s, "true", "false");
        merge(r, MEMBER_1, "{\"metadata\":{\"labels\":{\"env\":\"prod\"}}}");
        fiber_sleep(r->loop, 5000);
        assert_int_equal(cycles(&s, "true", "true") + cycles(&s, "true", "false"), failed);
        assert_int_equal(count(r, BINDINGS), 1);
        rig_get(r, POLICY);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.targetClusters")), 2);
        fiber_sleep(r->loop, 60000);
        assert_int_equal(count(r, BINDINGS), 1);
        end(&s);
})

/* ---- what is counted ---- */

/* spec/scheduler.md checklist 50: picks of one cycle are never left to another. */
RIG_TEST(cycles_are_counted_by_their_end, {
        struct stage s;
        int before;

        begin(r, &s);
        place(r, PROD("\"placementType\":\"PickAll\",") EXTERNAL);
        rest(&s);
        assert_true(cycles(&s, "false", "false") > 0);
        assert_int_equal(cycles(&s, "true", "true") + cycles(&s, "true", "false"), 0);
        s.line.path = "clusterresourcebindings?";
        s.line.fate = 503;
        merge(r, CLUSTERS "memberclusters/member-2", "{\"metadata\":{\"labels\":{\"env\":\"prod\"}}}");
        rest(&s);
        assert_true(cycles(&s, "true", "true") > 0);
        assert_int_equal(cycles(&s, "true", "false"), 0);
        s.line.path = NULL;
        fiber_sleep(r->loop, 60000);
        rest(&s);
        assert_int_equal(count(r, BINDINGS), 2);
        s.line.path = "clusterschedulingpolicysnapshots/";
        merge(r, POLICY,
              "{\"metadata\":{\"annotations\":{\"kubernetes-fleet.io/CRP-generation\":\"many\"}}}");
        rest(&s);
        assert_int_equal(cycles(&s, "true", "false"), 1);
        s.line.path = NULL;
        fiber_sleep(r->loop, 60000);
        rest(&s);
        before = all_cycles(&s);
        assert_int_equal(rig_delete(r, WEB), 200);
        rest(&s);
        assert_int_equal(rig_get(r, WEB), 404);
        assert_int_equal(all_cycles(&s), before);
        assert_int_equal(cycles(&s, "false", "true"), 0);
        assert_true(metric_value(s.f.metrics, METRIC_SCHEDULING_WORKERS, NULL) == 0);
        end(&s);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_new_binding_holds_what_the_cycle_knows_and_nothing_else),
                cmocka_unit_test(a_new_policy_hands_on_what_fits_and_notes_what_the_rest_was),
                cmocka_unit_test(a_placement_that_goes_lets_its_own_bindings_go),
                cmocka_unit_test(a_cycle_needs_the_one_snapshot_that_is_latest),
                cmocka_unit_test(an_equal_cycle_writes_nothing_and_a_generation_alone_is_noted),
                cmocka_unit_test(spread_picks_are_told_in_one_status),
                cmocka_unit_test(a_conflict_is_decided_anew_from_what_the_server_has),
                cmocka_unit_test(a_binding_that_exists_is_as_good_as_made),
                cmocka_unit_test(cycles_are_counted_by_their_end),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
