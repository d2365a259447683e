/* A placement from its creation to its end, within a whole agent. spec/placement.md 3, 7, 8. */
#include "hub-agent/common.h"

#include "common/ctrl/metrics.h"
#include "hub-agent/placement/selecting_test.h"

#define POLICIES FLEET "clusterschedulingpolicysnapshots"
#define BINDINGS FLEET "clusterresourcebindings"
#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

struct stage {
        struct fleet f;
        struct line line;
};

static void open_stage(struct rig *r, struct stage *s, int64_t interval_ms, bool no_external_snapshots)
{
        *s = (struct stage){ 0 };
        start(r, &s->f);
        line_lay(&s->f, &s->line);
        s->f.metrics = metrics_new(METRIC_OF_HUB);
        s->f.snapshot_interval_ms = interval_ms;
        s->f.no_external_snapshots = no_external_snapshots;
        start_again(r, &s->f);
        add_member(&s->f, "member-1", "");
        add_app(r);
}

static void close_stage(struct stage *s)
{
        stop(&s->f);
        http_transport_free(s->f.world.transport);
        metrics_free(s->f.metrics);
}

static int passes(struct stage *s)
{
        return passes_of(&s->f, "placement-intake");
}

static void rest(struct stage *s)
{
        settle(&s->f);
        settle(&s->f);
        fiber_sleep(s->f.rig->loop, 5000);
}

static void assert_owned(struct rig *r, const char *path, const char *kind, const char *uid)
{
        json_t *owner;

        assert_int_equal(rig_get(r, path), 200);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.ownerReferences")), 1);
        owner = json_array_get(doc_get_array(r->answer, "metadata.ownerReferences"), 0);
        assert_string_equal(doc_get_string(owner, "apiVersion"), "placement.kubernetes-fleet.io/v1beta1");
        assert_string_equal(doc_get_string(owner, "kind"), kind);
        assert_string_equal(doc_get_string(owner, "uid"), uid);
        assert_true(json_is_true(doc_get(owner, "controller")));
        assert_true(json_is_true(doc_get(owner, "blockOwnerDeletion")));
        assert_null(doc_get(r->answer, "metadata.finalizers"));
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

/* spec/placement.md checklist 1; spec/api.md checklist 38 */
RIG_TEST(a_new_placement_is_held_and_has_a_snapshot_of_each, {
        struct stage s;
        const char *uid;

        open_stage(r, &s, 0, false);
        place(r, "");
        place_in_namespace(r, SELECT("", "ConfigMap", "settings"));
        rest(&s);
        assert_int_equal(rig_get(r, PLACEMENT), 200);
        assert_true(holds(r->answer, "kubernetes-fleet.io/crp-cleanup"));
        uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        assert_owned(r, POLICIES "/web-0", "ClusterResourcePlacement", uid);
        assert_owned(r, SNAPSHOTS "/web-0-snapshot", "ClusterResourcePlacement", uid);
        assert_int_equal(rig_get(r, FLEET "namespaces/app/resourceplacements/own"), 200);
        assert_true(holds(r->answer, "kubernetes-fleet.io/crp-cleanup"));
        assert_false(holds(r->answer, "kubernetes-fleet.io/rp-cleanup"));
        uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        assert_owned(r, FLEET "namespaces/app/schedulingpolicysnapshots/own-0", "ResourcePlacement", uid);
        assert_owned(r, FLEET "namespaces/app/resourcesnapshots/own-0-snapshot", "ResourcePlacement", uid);
        close_stage(&s);
})

/* --external-placement-snapshots=false: spec/placement.md 10.6 */
RIG_TEST(where_only_update_runs_make_snapshots_a_placement_makes_none, {
        struct stage s;

        open_stage(r, &s, 0, true);
        place(r, ",\"strategy\":{\"type\":\"External\"}");
        rest(&s);
        rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"changed\"}}");
        rest(&s);
        assert_int_equal(count(r, SNAPSHOTS), 0);
        assert_int_equal(count(r, POLICIES), 1);
        assert_int_equal(rig_get(r, PLACEMENT), 200);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementScheduled"), "True");
        close_stage(&s);
})

static void expect_passes(struct stage *s, const char *path, const char *patch, bool wanted)
{
        int before = passes(s);

        if (rig_merge(s->f.rig, path, patch) != 200)
                fail_msg("%s: %s", path, s->f.rig->text);
        rest(s);
        if ((passes(s) > before) != wanted)
                fail_msg("%s: %d passes", patch, passes(s) - before);
}

/* spec/placement.md checklist 2 */
RIG_TEST(a_spec_and_an_end_are_looked_at_and_nothing_else_of_a_placement, {
        struct stage s;
        int before;

        open_stage(r, &s, 0, false);
        place(r, "");
        rest(&s);
        expect_passes(&s, PLACEMENT, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}", false);
        expect_passes(&s, PLACEMENT, "{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}", false);
        expect_passes(&s, PLACEMENT,
                      "{\"metadata\":{\"finalizers\":[\"kubernetes-fleet.io/crp-cleanup\","
                      "\"kubernetes-fleet.io/scheduler-cleanup\",\"example.com/mine\"]}}",
                      false);
        expect_passes(&s, PLACEMENT "/status", "{\"status\":{\"observedResourceIndex\":\"7\"}}", false);
        expect_passes(&s, PLACEMENT, "{\"spec\":{\"revisionHistoryLimit\":7}}", true);
        before = passes(&s);
        assert_int_equal(rig_delete(r, PLACEMENT), 200);
        rest(&s);
        assert_true(passes(&s) > before);
        close_stage(&s);
})

/* spec/placement.md checklist 56 */
RIG_TEST(only_a_rollout_that_is_not_complete_is_looked_at_after_half_an_hour, {
        struct stage s;
        int before;

        open_stage(r, &s, 0, false);
        place(r, "");
        rest(&s);
        assert_int_equal(rig_get(r, PLACEMENT), 200);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        fiber_sleep(r->loop, 31 * 60 * 1000); /* one that was set while it was under way */
        before = passes(&s);
        fiber_sleep(r->loop, 5 * 60 * 60 * 1000);
        assert_int_equal(passes(&s), before);
        report_works(&s.f, "True", "False");
        fiber_sleep(r->loop, 29 * 60 * 1000);
        assert_int_equal(passes(&s), before);
        fiber_sleep(r->loop, 2 * 60 * 1000);
        assert_int_equal(passes(&s), before + 1);
        close_stage(&s);
})

static size_t selected(struct rig *r)
{
        assert_int_equal(rig_get(r, PLACEMENT), 200);
        return json_array_size(doc_get_array(r->answer, "status.selectedResources"));
}

/* spec/placement.md checklist 15 */
RIG_TEST(a_status_tells_of_the_old_group_while_the_new_one_is_waited_for, {
        struct stage s;

        open_stage(r, &s, 60000, false);
        place(r, "");
        rest(&s);
        assert_int_equal(selected(r), 2);
        fiber_sleep(r->loop, 20000);
        post(r, "/api/v1/namespaces/app/configmaps",
             "{\"metadata\":{\"name\":\"more\"},\"data\":{\"a\":\"b\"}}");
        rest(&s);
        assert_int_equal(rig_get(r, SNAPSHOTS "/web-0-snapshot"), 200);
        assert_non_null(
                json_object_get(doc_get(r->answer, "metadata.annotations"),
                                "kubernetes-fleet.io/next-resource-snapshot-candidate-detection-time"));
        assert_int_equal(count(r, SNAPSHOTS), 1);
        assert_int_equal(selected(r), 2);
        assert_string_equal(rig_string(r, "status.observedResourceIndex"), "0");
        fiber_sleep(r->loop, 40000);
        rest(&s);
        assert_int_equal(count(r, SNAPSHOTS), 2);
        assert_int_equal(selected(r), 3);
        assert_string_equal(rig_string(r, "status.observedResourceIndex"), "1");
        close_stage(&s);
})

/* spec/placement.md checklist 55 */
RIG_TEST(a_placement_that_goes_takes_its_snapshots_and_leaves_the_bindings_to_the_scheduler, {
        struct stage s;

        open_stage(r, &s, 0, false);
        place(r, "");
        post(r, FLEET "clusterresourceplacements",
             "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
             "v1beta1\",\"kind\":\"ClusterResourcePlacement\","
             "\"metadata\":{\"name\":\"other\"},\"spec\":{" SELECT_APP "}}");
        post(r, FLEET "namespaces/app/resourceplacements",
             "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"ResourcePlacement\","
             "\"metadata\":{\"name\":\"web\"},\"spec\":{\"resourceSelectors\":[" SELECT("", "ConfigMap",
                                                                                        "settings") "]}}");
        rest(&s);
        s.line.path = "clusterresourcebindings/"; /* the scheduler gets nowhere */
        s.line.fate = 503;
        assert_int_equal(rig_delete(r, PLACEMENT), 200);
        rest(&s);
        assert_int_equal(rig_get(r, PLACEMENT), 200);
        assert_false(holds(r->answer, "kubernetes-fleet.io/crp-cleanup"));
        assert_true(holds(r->answer, "kubernetes-fleet.io/scheduler-cleanup"));
        assert_int_equal(rig_get(r, SNAPSHOTS "/web-0-snapshot"), 404);
        assert_int_equal(rig_get(r, POLICIES "/web-0"), 404);
        assert_int_equal(rig_get(r, SNAPSHOTS "/other-0-snapshot"), 200);
        assert_int_equal(rig_get(r, POLICIES "/other-0"), 200);
        assert_int_equal(rig_get(r, FLEET "namespaces/app/resourcesnapshots/web-0-snapshot"), 200);
        assert_int_equal(rig_get(r, FLEET "namespaces/app/schedulingpolicysnapshots/web-0"), 200);
        rig_get(r, BINDINGS "?labelSelector=kubernetes-fleet.io/parent-CRP=web");
        assert_int_equal(json_array_size(json_object_get(r->answer, "items")), 1);
        assert_null(doc_get_string(json_array_get(json_object_get(r->answer, "items"), 0),
                                   "metadata.deletionTimestamp"));
        s.line.path = NULL;
        fiber_sleep(r->loop, 120000);
        assert_int_equal(rig_get(r, PLACEMENT), 404);
        close_stage(&s);
})

/* spec/placement.md checklist 34 */
RIG_TEST(an_object_of_a_kind_that_came_later_reaches_the_members, {
        struct stage s;

        open_stage(r, &s, 0, false);
        post(r, CRDS,
             "{\"metadata\":{\"name\":\"widgets.example.com\"},\"spec\":{\"group\":\"example.com\",\"scope\":"
             "\"Cluster\",\"names\":{\"plural\":\"widgets\",\"kind\":\"Widget\"},\"versions\":[{\"name\":"
             "\"v1\","
             "\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","
             "\"x-kubernetes-preserve-unknown-fields\":true}}}]}}");
        rig_settle(r);
        post(r, "/apis/example.com/v1/widgets",
             "{\"apiVersion\":\"example.com/"
             "v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"x\"},\"size\":3}");
        place_selecting(
                r, "{\"group\":\"example.com\",\"version\":\"v1\",\"kind\":\"Widget\",\"name\":\"x\"}", "");
        fiber_sleep(r->loop, 25000);
        rig_get(r, FLEET "namespaces/fleet-member-member-1/works");
        assert_non_null(strstr(r->text, "\"size\":3"));
        close_stage(&s);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_new_placement_is_held_and_has_a_snapshot_of_each),
                cmocka_unit_test(where_only_update_runs_make_snapshots_a_placement_makes_none),
                cmocka_unit_test(a_spec_and_an_end_are_looked_at_and_nothing_else_of_a_placement),
                cmocka_unit_test(only_a_rollout_that_is_not_complete_is_looked_at_after_half_an_hour),
                cmocka_unit_test(a_status_tells_of_the_old_group_while_the_new_one_is_waited_for),
                cmocka_unit_test(
                        a_placement_that_goes_takes_its_snapshots_and_leaves_the_bindings_to_the_scheduler),
                cmocka_unit_test(an_object_of_a_kind_that_came_later_reaches_the_members),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
