/* What the rollout looks at, and what it leaves alone, within a whole agent.
 * spec/rollout-and-work.md 2.1, 2.2. */
#include "common/ctrl/metrics.h"
#include "hub-agent/agent.h"
#include "hub-agent/hub_agent_test.h"

#define BINDINGS FLEET "clusterresourcebindings"
#define WEB FLEET "clusterresourceplacements/web"

static void begin(struct rig *r, struct fleet *f, const char *rest)
{
        start(r, f);
        stop(f);
        f->metrics = metrics_new(METRIC_OF_HUB);
        start_again(r, f);
        add_member(f, "member-1", "");
        add_app(r);
        place(r, rest);
        settle(f);
        settle(f);
        fiber_sleep(r->loop, 5000);
}

static void end(struct fleet *f)
{
        stop(f);
        metrics_free(f->metrics);
}

static int passes(struct fleet *f)
{
        return passes_of(f, "rollout");
}

/* The first binding there is that is not going, or that is. */
static json_t *binding(struct rig *r, bool going)
{
        json_t *item;
        size_t i;

        rig_get(r, BINDINGS);
        json_array_foreach(json_object_get(r->answer, "items"), i, item)
                if (!doc_get_string(item, "metadata.deletionTimestamp") != going)
                        return item;
        return NULL;
}

static const char *binding_path(struct rig *r)
{
        return arena_printf(&r->arena, BINDINGS "/%s", doc_get_string(binding(r, false), "metadata.name"));
}

/* ---- what is left alone ---- */

/* spec/rollout-and-work.md checklist 1 */
RIG_TEST(what_update_runs_roll_out_is_left_as_it_is, {
        struct fleet f;
        json_t *b;

        begin(r, &f, ",\"strategy\":{\"type\":\"External\"}");
        b = binding(r, false);
        assert_string_equal(doc_get_string(b, "spec.state"), "Scheduled");
        assert_string_equal(doc_get_string(b, "spec.resourceSnapshotName"), "");
        assert_null(doc_get(b, "spec.applyStrategy"));
        assert_null(doc_get(b, "status.conditions"));
        merge_and_settle(r, WEB,
                         "{\"spec\":{\"strategy\":{\"applyStrategy\":{\"type\":\"ServerSideApply\"}}}}");
        merge_and_settle(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"changed\"}}");
        fiber_sleep(r->loop, 120000);
        b = binding(r, false);
        assert_string_equal(doc_get_string(b, "spec.state"), "Scheduled");
        assert_string_equal(doc_get_string(b, "spec.resourceSnapshotName"), "");
        assert_null(doc_get(b, "spec.applyStrategy"));
        assert_null(doc_get(b, "status.conditions"));
        merge_and_settle(r, binding_path(r),
                         "{\"spec\":{\"state\":\"Bound\",\"resourceSnapshotName\":\"web-0-snapshot\","
                         "\"applyStrategy\":{"
                         "\"type\":\"ClientSideApply\"}}}");
        fiber_sleep(r->loop, 120000);
        b = binding(r, false);
        assert_string_equal(doc_get_string(b, "spec.resourceSnapshotName"), "web-0-snapshot");
        assert_string_equal(doc_get_string(b, "spec.applyStrategy.type"), "ClientSideApply");
        assert_null(doc_get(b, "status.conditions"));
        end(&f);
})

/* That it is of runs now the agent has not heard when it hears of the run. */
RIG_TEST(nothing_is_taken_from_a_run_because_the_cache_is_behind, {
        struct line line;
        struct fleet f;

        begin(r, &f, "");
        line_lay(&f, &line);
        line.lagging = "clusterresourceplacements?";
        start_again(r, &f);
        settle(&f);
        assert_string_equal(doc_get_string(binding(r, false), "spec.resourceSnapshotName"), "web-0-snapshot");
        merge(r, WEB, "{\"spec\":{\"strategy\":{\"type\":\"External\",\"rollingUpdate\":null}}}");
        assert_int_equal(rig_post(r, FLEET "clusterstagedupdatestrategies",
                                  "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                                  "\"ClusterStagedUpdateStrategy\",\"metadata\":{\"name\":\"all\"},\"spec\":{"
                                  "\"stages\":[{\"name\":\"all\",\"labelSelector\":{}}]}}"),
                         201);
        assert_int_equal(rig_post(r, FLEET "clusterstagedupdateruns",
                                  "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                                  "\"ClusterStagedUpdateRun\",\"metadata\":{\"name\":\"run\"},\"spec\":{"
                                  "\"placementName\":\"web\",\"stagedRolloutStrategyName\":\"all\","
                                  "\"resourceSnapshotIndex\":\"0\",\"state\":\"Initialize\"}}"),
                         201);
        rig_settle(r);
        rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"changed\"}}");
        fiber_sleep(r->loop, LAG_MS / 2);
        assert_int_equal(rig_get(r, FLEET "clusterresourcesnapshots/web-1-snapshot"), 200);
        assert_string_equal(doc_get_string(binding(r, false), "spec.resourceSnapshotName"), "web-0-snapshot");
        fiber_sleep(r->loop, 3 * LAG_MS);
        assert_string_equal(doc_get_string(binding(r, false), "spec.resourceSnapshotName"), "web-0-snapshot");
        end(&f);
        http_transport_free(f.world.transport);
})

/* spec/rollout-and-work.md checklist 2: of a binding that stays, as nobody holds the placement for it. */
RIG_TEST(nothing_is_rolled_out_for_a_placement_that_goes_or_is_gone, {
        struct fleet f;
        const char *path;

        begin(r, &f, "");
        path = binding_path(r);
        for (int gone = 0; gone < 2; gone++) {
                merge_and_settle(r, WEB,
                                 gone ? "{\"metadata\":{\"finalizers\":null}}"
                                      : "{\"metadata\":{\"finalizers\":[\"example.com/mine\"]}}");
                if (!gone)
                        assert_int_equal(rig_delete(r, WEB), 200);
                rig_settle(r);
                assert_int_equal(rig_get(r, WEB), gone ? 404 : 200);
                merge_and_settle(r, path, "{\"spec\":{\"applyStrategy\":{\"type\":\"ServerSideApply\"}}}");
                fiber_sleep(r->loop, 60000);
                assert_int_equal(rig_get(r, path), 200);
                assert_string_equal(rig_string(r, "spec.applyStrategy.type"), "ServerSideApply");
                assert_string_equal(rig_string(r, "spec.state"), "Bound");
        }
        end(&f);
})

/* spec/rollout-and-work.md checklist 6 */
RIG_TEST(a_new_binding_on_a_cluster_that_is_cleaned_up_is_looked_at_every_five_seconds, {
        struct fleet f;
        int before;

        begin(r, &f, "");
        merge_and_settle(r, FLEET "namespaces/fleet-member-member-1/works/web-work",
                         "{\"metadata\":{\"finalizers\":[\"example.com/hold\"]}}");
        assert_int_equal(rig_delete(r, binding_path(r)), 200);
        fiber_sleep(r->loop, 10000);
        assert_non_null(binding(r, true));
        assert_non_null(binding(r, false));
        before = passes(&f);
        fiber_sleep(r->loop, 51000);
        assert_in_range(passes(&f) - before, 9, 11);
        assert_string_equal(doc_get_string(binding(r, false), "spec.state"), "Scheduled");
        rig_merge(r, FLEET "namespaces/fleet-member-member-1/works/web-work",
                  "{\"metadata\":{\"finalizers\":null}}");
        fiber_sleep(r->loop, 10000);
        assert_null(binding(r, true));
        assert_string_equal(doc_get_string(binding(r, false), "spec.state"), "Bound");
        end(&f);
})

/* ---- overrides ---- */

struct emitted {
        char keys[128];
};

static void note_key(void *to, const char *key)
{
        struct emitted *e = to;
        size_t n = strlen(e->keys);

        snprintf(e->keys + n, sizeof(e->keys) - n, "%s%s", n ? " " : "", key);
}

#define SNAPSHOT(ns, latest, placement)                                                                      \
        "{\"metadata\":{\"name\":\"o-0\"," ns                                                                \
        "\"labels\":{\"kubernetes-fleet.io/is-latest-snapshot\":\"" latest                                   \
        "\"}},\"spec\":{\"overrideHash\":\"\",\"overrideSpec\":{" placement "\"policy\":{}}}}"
#define NS "\"namespace\":\"ns\","
#define NAMES(scope) "\"placement\":{\"name\":\"web\"" scope "},"

/* spec/rollout-and-work.md checklist 27 */
static void a_new_override_brings_the_placement_that_it_names(void **state)
{
        static const struct {
                const struct kind *kind;
                const char *snapshot, *keys;
        } rows[] = {
                { &cluster_resource_override_snapshot_kind, SNAPSHOT("", "true", NAMES("")), "web" },
                { &cluster_resource_override_snapshot_kind, SNAPSHOT("", "false", NAMES("")), "" },
                { &cluster_resource_override_snapshot_kind, SNAPSHOT("", "true", ""), "" },
                { &resource_override_snapshot_kind, SNAPSHOT(NS, "true", NAMES("")), "web" },
                { &resource_override_snapshot_kind, SNAPSHOT(NS, "true", NAMES(",\"scope\":\"Cluster\"")),
                  "web" },
                { &resource_override_snapshot_kind, SNAPSHOT(NS, "true", NAMES(",\"scope\":\"Namespaced\"")),
                  "ns/web" },
                { &resource_override_snapshot_kind, SNAPSHOT(NS, "false", NAMES(",\"scope\":\"Namespaced\"")),
                  "" },
                { &resource_override_snapshot_kind, SNAPSHOT(NS, "true", ""), "" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct emitted e = { 0 };
                struct error err = { 0 };
                struct object *o;

                assert_int_equal(
                        object_decode_arena(rows[i].kind, slice_of(rows[i].snapshot), &arena, &o, &err), 0);
                for (size_t k = 0; k < rollout_controller.n_watches; k++)
                        if (rollout_controller.watches[k].kind == rows[i].kind) {
                                assert_int_equal(rollout_controller.watches[k].on & ON_SPEC, ON_SPEC);
                                rollout_controller.watches[k].map(
                                        NULL, &(struct informer_event){ INFORMER_ADDED, NULL, o, false },
                                        note_key, &e);
                        }
                if (!text_equal(e.keys, rows[i].keys))
                        fail_msg("row %zu: \"%s\"", i, e.keys);
        }
}

#define OVERRIDES FLEET "clusterresourceoverrides"
#define OVERRIDE_SNAPSHOT FLEET "clusterresourceoverridesnapshots/tier-0"

/* spec/rollout-and-work.md checklist 31 */
RIG_TEST(an_override_that_goes_takes_its_snapshots_and_is_rolled_back, {
        struct fleet f;

        begin(r, &f, "");
        assert_int_equal(
                rig_post(r, OVERRIDES,
                         "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                         "\"ClusterResourceOverride\",\"metadata\":{\"name\":\"tier\"},\"spec\":{"
                         "\"placement\":{"
                         "\"name\":\"web\"},\"clusterResourceSelectors\":[{\"group\":\"\",\"version\":\"v1\","
                         "\"kind\":\"Namespace\",\"name\":\"app\"}],\"policy\":{\"overrideRules\":[{"
                         "\"clusterSelector\":{\"clusterSelectorTerms\":[]},\"jsonPatchOverrides\":[{\"op\":"
                         "\"add\",\"path\":\"/metadata/labels\",\"value\":{\"tier\":\"gold\"}}]}]}}}"),
                201);
        for (int i = 0; i < 3; i++) {
                fiber_sleep(r->loop, 61000);
                settle(&f);
        }
        rig_get(r, BINDINGS);
        assert_non_null(strstr(r->text, "tier-0"));
        merge_and_settle(r, OVERRIDE_SNAPSHOT, "{\"metadata\":{\"finalizers\":[\"example.com/hold\"]}}");
        assert_int_equal(rig_delete(r, OVERRIDES "/tier"), 200);
        fiber_sleep(r->loop, 60000);
        assert_int_equal(rig_get(r, OVERRIDES "/tier"), 404);
        assert_int_equal(rig_get(r, OVERRIDE_SNAPSHOT), 200);
        assert_non_null(rig_string(r, "metadata.deletionTimestamp"));
        rig_merge(r, OVERRIDE_SNAPSHOT, "{\"metadata\":{\"finalizers\":null}}");
        for (int i = 0; i < 3; i++) {
                fiber_sleep(r->loop, 61000);
                settle(&f);
        }
        rig_get(r, BINDINGS);
        assert_null(strstr(r->text, "tier-0"));
        rig_get(r, FLEET "namespaces/fleet-member-member-1/works/web-work");
        assert_null(strstr(r->text, "gold"));
        end(&f);
})

/* ---- what others are asked for ---- */

static int64_t observed(const json_t *binding, const char *type)
{
        const json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(binding, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return doc_get_int(c, "observedGeneration", 0);
        return -1;
}

/* One is under way, so the other waits with what it has, of which the new generation is to be told, too: else
 * it would not count as available any more, and nothing would go on. */
RIG_TEST(what_a_binding_has_that_waits_is_told_of_its_new_generation, {
        const json_t *items, *b;
        struct fleet f;
        size_t i;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_member(&f, "member-2", "");
        add_app(r);
        place(r, ",\"strategy\":{\"rollingUpdate\":{\"maxUnavailable\":1,\"maxSurge\":0}}");
        settle(&f);
        settle(&f);
        rig_get(r, WEB);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        merge_and_settle(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"changed\"}}");
        fiber_sleep(r->loop, 5000);
        merge_and_settle(r, WEB,
                         "{\"spec\":{\"strategy\":{\"applyStrategy\":{\"whenToApply\":\"IfNotDrifted\"}}}}");
        fiber_sleep(r->loop, 30000);
        rig_get(r, BINDINGS);
        items = doc_get_array(r->answer, "items");
        assert_int_equal(json_array_size(items), 2);
        json_array_foreach(items, i, b) {
                int64_t generation = doc_get_int(b, "metadata.generation", 0);

                assert_int_equal(observed(b, "RolloutStarted"), generation);
                assert_int_equal(observed(b, "WorkSynchronized"), generation);
        }
        stop(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_update_runs_roll_out_is_left_as_it_is),
                cmocka_unit_test(nothing_is_taken_from_a_run_because_the_cache_is_behind),
                cmocka_unit_test(nothing_is_rolled_out_for_a_placement_that_goes_or_is_gone),
                cmocka_unit_test(
                        a_new_binding_on_a_cluster_that_is_cleaned_up_is_looked_at_every_five_seconds),
                cmocka_unit_test(a_new_override_brings_the_placement_that_it_names),
                cmocka_unit_test(an_override_that_goes_takes_its_snapshots_and_is_rolled_back),
                cmocka_unit_test(what_a_binding_has_that_waits_is_told_of_its_new_generation),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
