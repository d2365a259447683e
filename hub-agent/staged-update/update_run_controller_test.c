/* Update runs within a whole agent: a run from end to end, and what happens between the controllers. */
#include "hub-agent/staged-update/update_run_agent_test.h"
#include "proto/names.h"

static void runs(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 1);
        assert_int_equal(count(r, FLEET "works"), 0);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "0", "");
        for (int i = 0; i < 6; i++)
                settle(&f);
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        assert_int_equal(count(r, FLEET "works"), 3);
        stop(&f);
}
static void a_run_without_a_state_brings_its_snapshot_to_all_stages(void **state)
{
        rig_run(runs);
}

/* spec/staged-update-and-eviction.md checklist 4 */
static void is_held(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post(r, RUNS, "ClusterStagedUpdateRun", "first",
             "\"placementName\":\"web\",\"stagedRolloutStrategyName\":\"slow\",\"state\":\"Initialize\"");
        rig_settle(r);
        assert_run(r, "first", "Initialized", "True UpdateRunInitializedSuccessfully");
        assert_non_null(
                strstr(r->text, "\"finalizers\":[\"kubernetes-fleet.io/stagedupdaterun-finalizer\"]"));
        assert_int_equal(rig_merge(r, RUNS "/first", "{\"spec\":{\"resourceSnapshotIndex\":\"1\"}}"), 422);
        assert_non_null(strstr(r->text, "resourceSnapshotIndex is immutable"));
        stop(&f);
}
static void a_run_carries_its_finalizer_and_keeps_an_empty_index(void **state)
{
        rig_run(is_held);
}

/* ---- RolloutStarted ---- */

/* spec/staged-update-and-eviction.md checklist 27 */
static void announces(struct rig *r)
{
        char first[RFC3339_SIZE];
        struct fleet f;

        begin(r, &f);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "0", "");
        settle_often(&f, 6);
        snprintf(first, sizeof(first), "%s",
                 doc_get_string(condition_at(binding_on(r, "member-2"), "RolloutStarted"),
                                "lastTransitionTime"));
        change_app(r, "c");
        post_run(r, "second", "1", "");
        settle_often(&f, 6);
        assert_string_equal(
                doc_get_string(condition_at(binding_on(r, "member-2"), "RolloutStarted"), "message"),
                "Detected the new changes on the resources and started the rollout process, "
                "resourceSnapshotIndex: 1, updateRun: second");
        assert_true(strcmp(doc_get_string(condition_at(binding_on(r, "member-2"), "RolloutStarted"),
                                          "lastTransitionTime"),
                           first) > 0);
        stop(&f);
}
static void the_binding_names_the_run_and_begins_its_condition_anew(void **state)
{
        rig_run(announces);
}

/* ---- snapshots ---- */

/* spec/staged-update-and-eviction.md checklist 13 */
static void takes(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 1);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "", "");
        settle_often(&f, 6);
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        assert_string_equal(rig_string(r, "status.resourceSnapshotIndexUsed"), "0");
        change_app(r, "c");
        post_run(r, "second", "", "");
        settle_often(&f, 6);
        assert_run(r, "second", "Succeeded", "True UpdateRunSucceeded");
        assert_string_equal(rig_string(r, "status.resourceSnapshotIndexUsed"), "1");
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 2);
        stop(&f);
}
static void without_an_index_a_run_takes_what_is_selected_when_it_begins(void **state)
{
        rig_run(takes);
}

/* The first reading of the ConfigMap takes its time, once this is 1. */
static int64_t delay_first_reading(void *ctx, const struct http_request *rq, bool answer)
{
        int *nth = ctx;

        if (answer || *nth == 0 || !strstr(rq->path, "/configmaps/settings"))
                return 0;
        return (*nth)++ == 1 ? 5000 : 0;
}

static void set_color(struct rig *r, const char *value)
{
        char patch[64];

        snprintf(patch, sizeof(patch), "{\"data\":{\"a\":\"%s\"}}", value);
        merge(r, "/api/v1/namespaces/app/configmaps/settings", patch);
        fiber_sleep(r->loop, 1000);
}

/* Of all snapshots: how many are marked latest, and which holds what. */
static void assert_latest(struct rig *r, const char *holds)
{
        const json_t *latest = NULL;
        AUTO_FREE char *text = NULL;
        size_t i, n = 0;
        json_t *s;

        rig_get(r, FLEET "clusterresourcesnapshots");
        json_array_foreach(json_object_get(r->answer, "items"), i, s) {
                const char *const path[] = { "metadata", "labels", LABEL_IS_LATEST_SNAPSHOT };

                if (!text_equal(json_string_value(doc_get_keys(s, path, 3)), "true"))
                        continue;
                latest = s;
                n++;
        }
        if (n != 1)
                fail_msg("%zu are latest: %s", n, r->text);
        text = json_dumps(latest, JSON_COMPACT);
        if (!strstr(text, holds))
                fail_msg("the latest does not hold %s: %s", holds, text);
}

/* Until its successor is made no snapshot is marked latest: whoever looked at that time, and was held up,
 * must not make one from what he saw. */
static void takes_turns(struct rig *r)
{
        int nth = 0;
        struct loopback_faults faults = { .ctx = &nth, .delay = delay_first_reading };
        struct fleet f;

        begin_with(r, &f, ",\"revisionHistoryLimit\":1");
        stop(&f);
        f.world.transport = loopback_transport(r->net, &f.world, &faults);
        assert_non_null(f.world.transport);
        start_again(r, &f);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        merge(r, FLEET "clusterresourcesnapshots/web-0-snapshot",
              "{\"metadata\":{\"labels\":{\"" LABEL_IS_LATEST_SNAPSHOT "\":\"false\"}}}");
        fiber_sleep(r->loop, 1000);
        nth = 1;
        post_run(r, "first", "", ",\"state\":\"Initialize\"");
        fiber_sleep(r->loop, 1000);
        set_color(r, "c");
        set_color(r, "d");
        fiber_sleep(r->loop, 10000);
        settle_often(&f, 3);
        assert_run(r, "first", "Initialized", "True UpdateRunInitializedSuccessfully");
        assert_latest(r, "\"a\":\"d\"");
        stop(&f);
        http_transport_free(f.world.transport);
}
static void who_makes_snapshots_of_a_placement_makes_them_one_after_the_other(void **state)
{
        rig_run(takes_turns);
}

/* The intake waits after one snapshot until it makes the next. */
static void takes_in_between(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        stop(&f);
        f.snapshot_interval_ms = 300000;
        f.snapshot_collect_ms = 60000;
        start_again(r, &f);
        change_app(r, "c");
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 1);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "", "");
        settle_often(&f, 6);
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        assert_string_equal(rig_string(r, "status.resourceSnapshotIndexUsed"), "1");
        assert_string_equal(
                doc_get_string(condition_at(binding_on(r, "member-1"), "RolloutStarted"), "message"),
                "Detected the new changes on the resources and started the rollout process, "
                "resourceSnapshotIndex: 1, updateRun: first");
        stop(&f);
}
static void a_run_takes_its_snapshot_without_any_interval_and_names_it(void **state)
{
        rig_run(takes_in_between);
}

static void takes_at_once(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        f.no_external_snapshots = true;
        stop(&f);
        start_again(r, &f);
        add_member(&f, "member-1", "\"stage\":\"canary\"");
        add_app(r);
        place(r, ",\"strategy\":{\"type\":\"External\"}");
        rig_settle(r);
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 0);
        post_strategy(r, STAGE("canary", ""));
        post_run(r, "first", "", "");
        settle_often(&f, 4);
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 1);
        stop(&f);
}
static void where_only_runs_make_snapshots_the_first_makes_the_first(void **state)
{
        rig_run(takes_at_once);
}

/* The placement may keep one, and two are in use. */
static void keeps(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        assert_int_equal(rig_merge(r, FLEET "clusterresourceplacements/web",
                                   "{\"spec\":{\"revisionHistoryLimit\":1}}"),
                         200);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "0", "");
        settle_often(&f, 6);
        change_app(r, "c");
        change_app(r, "d");
        assert_int_equal(rig_get(r, FLEET "clusterresourcesnapshots/web-0-snapshot"), 200);
        assert_int_equal(rig_get(r, FLEET "clusterresourcesnapshots/web-1-snapshot"), 404);
        post_run(r, "second", "2", ",\"state\":\"Initialize\"");
        rig_settle(r);
        change_app(r, "e");
        assert_int_equal(rig_get(r, FLEET "clusterresourcesnapshots/web-2-snapshot"), 200);
        assert_int_equal(rig_delete(r, RUNS "/second"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, FLEET "clusterresourcesnapshots/web-2-snapshot"), 404);
        assert_int_equal(rig_get(r, FLEET "clusterresourcesnapshots/web-0-snapshot"), 200);
        stop(&f);
}
static void snapshots_that_bindings_and_unfinished_runs_name_are_kept(void **state)
{
        rig_run(keeps);
}

static void lets_go(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        assert_int_equal(rig_merge(r, FLEET "clusterresourceplacements/web",
                                   "{\"spec\":{\"revisionHistoryLimit\":1}}"),
                         200);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "0", ",\"state\":\"Initialize\"");
        rig_settle(r);
        change_app(r, "c");
        assert_int_equal(rig_get(r, FLEET "clusterresourcesnapshots/web-0-snapshot"), 200);
        assert_int_equal(rig_merge(r, CLUSTERS "memberclusters/member-1",
                                   "{\"metadata\":{\"labels\":{\"stage\":\"prod\"}}}"),
                         200);
        rig_settle(r);
        assert_run(r, "first", "Succeeded", "False UpdateRunFailed");
        assert_int_equal(rig_get(r, FLEET "clusterresourcesnapshots/web-0-snapshot"), 404);
        stop(&f);
}
static void what_only_a_run_that_ended_needed_goes_at_once(void **state)
{
        rig_run(lets_go);
}

/* A run that has ended keeps none. */
static void forgets(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        merge(r, FLEET "clusterresourceplacements/web", "{\"spec\":{\"revisionHistoryLimit\":1}}");
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "0", "");
        settle_often(&f, 6);
        change_app(r, "c");
        post_run(r, "second", "1", "");
        settle_often(&f, 6);
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        assert_run(r, "second", "Succeeded", "True UpdateRunSucceeded");
        change_app(r, "d");
        change_app(r, "e");
        assert_int_equal(rig_get(r, FLEET "clusterresourcesnapshots/web-0-snapshot"), 404);
        assert_int_equal(rig_get(r, FLEET "clusterresourcesnapshots/web-1-snapshot"), 200);
        stop(&f);
}
static void snapshots_that_only_ended_runs_name_are_not_kept(void **state)
{
        rig_run(forgets);
}

/* Its snapshots were left when somebody took the finalizers off it. */
static void is_a_ghost(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        assert_int_equal(rig_post(r, FLEET "clusterresourcesnapshots",
                                  "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                                  "\"ClusterResourceSnapshot\",\"metadata\":{\"name\":\"ghost-0-snapshot\","
                                  "\"labels\":{\"kubernetes-fleet.io/parent-CRP\":\"ghost\","
                                  "\"kubernetes-fleet.io/resource-index\":\"0\"},\"ownerReferences\":[{"
                                  "\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                                  "\"ClusterResourcePlacement\",\"name\":\"ghost\",\"uid\":\"1\","
                                  "\"controller\":true}],\"finalizers\":[\"example.com/kept\"]},\"spec\":{"
                                  "\"selectedResources\":[]}}"),
                         201);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post(r, RUNS, "ClusterStagedUpdateRun", "first",
             "\"placementName\":\"ghost\",\"stagedRolloutStrategyName\":\"slow\"");
        rig_settle(r);
        assert_int_equal(rig_get(r, FLEET "clusterresourcesnapshots/ghost-0-snapshot"), 200);
        assert_run(r, "first", "Initialized", "False UpdateRunInitializedFailed");
        assert_non_null(strstr(r->text, "parent placement not found"));
        stop(&f);
}
static void what_a_placement_left_does_not_stand_for_it(void **state)
{
        rig_run(is_a_ghost);
}

/* ---- approvals ---- */

/* spec/staged-update-and-eviction.md checklist 23, 24, 25 */
static void is_approved(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        post_strategy(r, STAGE("canary", APPROVAL("before")) "," STAGE("prod", APPROVAL("after")));
        post_run(r, "first", "0", "");
        settle_often(&f, 2);
        assert_int_equal(rig_delete(r, REQUESTS "/first-before-canary"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, REQUESTS "/first-before-canary"), 200); /* made again */
        approve(r, "first-before-canary");
        settle(&f);
        rig_get(r, REQUESTS "/first-before-canary");
        assert_string_equal(condition_of(r, "ApprovalAccepted"), "True");
        assert_string_equal(condition_of(r, "Approved"), "True");
        assert_int_equal(
                rig_merge(r, REQUESTS "/first-before-canary/status", "{\"status\":{\"conditions\":[]}}"),
                200);
        assert_int_equal(rig_delete(r, REQUESTS "/first-before-canary"), 200);
        settle_often(&f, 5);
        assert_int_equal(rig_get(r, REQUESTS "/first-before-canary"), 404);
        assert_run(r, "first", "Progressing", "False UpdateRunWaiting");
        approve(r, "first-after-prod");
        settle(&f);
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        assert_int_equal(count(r, FLEET "works"), 3);
        stop(&f);
}
static void approvals_move_a_run_at_once_and_cannot_be_taken_back(void **state)
{
        rig_run(is_approved);
}

/* spec/staged-update-and-eviction.md checklist 41 */
static void is_deleted(struct rig *r)
{
        AUTO_BUF struct buf printed;
        struct fleet f;

        start(r, &f);
        stop(&f);
        f.metrics = metrics_new(METRIC_OF_HUB);
        start_again(r, &f);
        add_member(&f, "member-1", "\"stage\":\"canary\"");
        add_app(r);
        place(r, ",\"strategy\":{\"type\":\"External\"}");
        rig_settle(r);
        post_strategy(r, STAGE("canary", APPROVAL("after")));
        post_run(r, "first", "0", "");
        settle_often(&f, 3);
        assert_int_equal(count(r, REQUESTS), 1);
        buf_init(&printed, 1 << 20);
        assert_int_equal(metrics_print(f.metrics, &printed), 0);
        assert_non_null(strstr(printed.data,
                               "fleet_workload_update_run_status_last_timestamp_seconds{namespace="
                               "\"\",name=\"first\",state=\"Run\",condition=\"Progressing\",status="
                               "\"False\",reason=\"UpdateRunWaiting\",failureType=\"none\"}"));
        assert_non_null(strstr(printed.data,
                               "fleet_workload_update_run_stage_cluster_updating_duration_seconds_count{"
                               "namespace=\"\",name=\"first\"} 1"));
        assert_int_equal(rig_delete(r, RUNS "/first"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, RUNS "/first"), 404);
        assert_int_equal(count(r, REQUESTS), 0);
        assert_string_equal(doc_get_string(binding_on(r, "member-1"), "spec.resourceSnapshotName"),
                            "web-0-snapshot");
        buf_clear(&printed);
        assert_int_equal(metrics_print(f.metrics, &printed), 0);
        assert_null(strstr(printed.data, "name=\"first\""));
        stop(&f);
        metrics_free(f.metrics);
}
static void a_deleted_run_takes_its_requests_and_series_along_and_nothing_else(void **state)
{
        rig_run(is_deleted);
}

/* ---- in a namespace ---- */

static void in_namespace(struct rig *r)
{
        struct fleet f;

        begin_in_namespace(r, &f, APPROVAL("after"));
        post_run_in_namespace(r, "");
        settle_often(&f, 4);
        rig_get(r, OWN "approvalrequests/first-after-all");
        assert_int_equal(r->status, 200);
        assert_int_equal(rig_merge(r, OWN "approvalrequests/first-after-all/status",
                                   "{\"status\":{\"conditions\":[{\"type\":\"Approved\",\"status\":\"True\","
                                   "\"reason\":\"r\",\"message\":\"\",\"lastTransitionTime\":"
                                   "\"2026-01-01T00:00:00Z\",\"observedGeneration\":1}]}}"),
                         200);
        settle(&f);
        rig_get(r, OWN "stagedupdateruns/first");
        assert_string_equal(condition_of(r, "Succeeded"), "True");
        assert_int_equal(count(r, FLEET "works"), 1);
        stop(&f);
}
static void a_namespaced_run_does_the_same_in_its_namespace(void **state)
{
        rig_run(in_namespace);
}

/* Overrides may be for the placement of one namespace, and for a cluster-scoped one of the same name. */
static void post_override(struct rig *r, const char *name, const char *scope)
{
        char spec[512];

        snprintf(spec, sizeof(spec),
                 "\"placement\":{\"name\":\"own\",\"scope\":\"%s\"},\"resourceSelectors\":[{\"group\":\"\","
                 "\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"settings\"}],\"policy\":{"
                 "\"overrideRules\":[{\"clusterSelector\":{\"clusterSelectorTerms\":[]},"
                 "\"jsonPatchOverrides\":[{\"op\":\"add\",\"path\":\"/data/%s\",\"value\":\"x\"}]}]}",
                 scope, name);
        post(r, OWN "resourceoverrides", "ResourceOverride", name, spec);
}

static void overrides_in_namespace(struct rig *r)
{
        struct fleet f;

        begin_in_namespace(r, &f, "");
        post_override(r, "mine", "Namespaced");
        post_override(r, "others", "Cluster");
        rig_settle(r);
        post_run_in_namespace(r, "");
        settle_often(&f, 4);
        rig_get(r, OWN "stagedupdateruns/first");
        assert_string_equal(condition_of(r, "Succeeded"), "True");
        assert_non_null(strstr(r->text, "\"resourceOverrideSnapshots\":[{\"name\":\"mine-0\","));
        assert_null(strstr(r->text, "others-0"));
        rig_get(r, FLEET "works");
        assert_non_null(strstr(r->text, "\"mine\":\"x\""));
        stop(&f);
}
static void overrides_of_a_namespaced_placement_are_those_that_name_it_so(void **state)
{
        rig_run(overrides_in_namespace);
}

/* ---- of the oldest version ---- */

#define ALPHA "/apis/placement.kubernetes-fleet.io/v1alpha1/"

static void post_alpha(struct rig *r, const char *resource, const char *kind, const char *name,
                       const char *spec)
{
        char path[128], body[1024];

        snprintf(path, sizeof(path), ALPHA "%s", resource);
        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1alpha1\",\"kind\":\"%s\",\"metadata\":{"
                 "\"name\":\"%s\"},\"spec\":{%s}}",
                 kind, name, spec);
        if (rig_post(r, path, body) != 201)
                fail_msg("%s: %s", name, r->text);
}

static void is_alpha(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        post_alpha(r, "clusterstagedupdatestrategies", "ClusterStagedUpdateStrategy", "slow",
                   "\"stages\":[" STAGE("canary", APPROVAL("after")) "," STAGE("prod", "") "]");
        post_alpha(r, "clusterstagedupdateruns", "ClusterStagedUpdateRun", "first",
                   "\"placementName\":\"web\",\"stagedRolloutStrategyName\":\"slow\","
                   "\"resourceSnapshotIndex\":\"0\"");
        settle_often(&f, 3);
        assert_int_equal(rig_get(r, ALPHA "clusterapprovalrequests/first-after-canary"), 200);
        assert_int_equal(count(r, FLEET "works"), 1);
        approve(r, "first-after-canary");
        settle_often(&f, 4);
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        assert_int_equal(rig_get(r, ALPHA "clusterstagedupdateruns/first"), 200);
        assert_string_equal(condition_of(r, "Succeeded"), "True");
        assert_int_equal(count(r, FLEET "works"), 3);
        stop(&f);
}
static void objects_of_version_v1alpha1_are_run_as_any_other(void **state)
{
        rig_run(is_alpha);
}

/* ---- what it costs ---- */

struct counted {
        size_t bindings, binding_statuses, run_statuses, reads;
};

/* Of single placements and strategies: caches have them. */
static bool is_read(const struct http_request *rq)
{
        return text_equal(rq->method, "GET") &&
               (strstr(rq->path, "clusterresourceplacements/") || strstr(rq->path, "updatestrategies/"));
}

static int count_write(void *ctx, const struct http_request *rq)
{
        struct counted *c = ctx;

        c->reads += is_read(rq);
        if (!text_equal(rq->method, "PATCH"))
                return 0;
        if (strstr(rq->path, "resourcebindings/"))
                *(strstr(rq->path, "/status") ? &c->binding_statuses : &c->bindings) += 1;
        c->run_statuses += strstr(rq->path, "updateruns/") && strstr(rq->path, "/status");
        return 0;
}

#define COSTED 12

static void costs(struct rig *r)
{
        struct counted n = { 0 };
        struct loopback_faults faults = { .ctx = &n, .delay = at_once, .fate = count_write };
        struct fleet f;

        start(r, &f);
        for (int i = 0; i < COSTED; i++) {
                char name[16];

                snprintf(name, sizeof(name), "member-%02d", i);
                add_member(&f, name, "\"stage\":\"canary\"");
        }
        add_app(r);
        place(r, ",\"strategy\":{\"type\":\"External\"}");
        rig_settle(r);
        stop(&f);
        f.world.transport = loopback_transport(r->net, &f.world, &faults);
        start_again(r, &f);
        rig_settle(r);
        post_strategy(r, STAGE("canary", ",\"maxConcurrency\":4"));
        rig_settle(r);
        n = (struct counted){ 0 };
        post_run(r, "first", "0", "");
        settle_often(&f, 8);
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        assert_int_equal(n.reads, 2); /* its placement and its strategy, when it begins */
        assert_int_equal(n.bindings, COSTED);
        assert_in_range(n.binding_statuses, COSTED, 2 * COSTED);
        assert_in_range(n.run_statuses, 3, 6);
        stop(&f);
        http_transport_free(f.world.transport);
}
static void a_cluster_costs_one_write_of_its_binding_and_a_share_of_the_runs_status(void **state)
{
        rig_run(costs);
}

/* ---- plans ---- */

static void is_planned(struct rig *r)
{
        char hash[65];
        struct fleet f;

        begin(r, &f);
        assert_int_equal(rig_post(r, "/api/v1/namespaces/app/secrets",
                                  "{\"metadata\":{\"name\":\"key\"},\"data\":{\"a\":\"b2xk\"}}"),
                         201);
        rig_settle(r);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "", "");
        settle_often(&f, 6);
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        assert_int_equal(rig_merge(r, "/api/v1/namespaces/app/secrets/key", "{\"data\":{\"a\":\"bmV3\"}}"),
                         200);
        change_app(r, "c");
        assert_int_equal(rig_delete(r, STRATEGIES "/slow"), 200);
        post_strategy(
                r, STAGE("canary", ",\"beforeStageTasks\":[{\"type\":\"Approval\",\"plan\":true}]") "," STAGE(
                           "prod", ""));
        post_run(r, "second", "", "");
        settle_often(&f, 3);
        assert_int_equal(rig_get(r, REQUESTS "/second-before-canary"), 200);
        assert_non_null(strstr(r->text, "\"from\":\"\\\"b\\\"\""));
        assert_non_null(strstr(r->text, "\"kind\":\"Secret\""));
        assert_null(strstr(r->text, "b2xk"));
        assert_null(strstr(r->text, "bmV3"));
        assert_string_equal(rig_string(r, "status.plan.resourceSnapshotIndex"), "2");
        snprintf(hash, sizeof(hash), "%s", rig_string(r, "status.planHash"));
        assert_int_equal(strlen(hash), 64);
        assert_int_equal(rig_merge(r, REQUESTS "/second-before-canary/status",
                                   "{\"status\":{\"approvedPlanHash\":\"abc\"}}"),
                         200);
        approve(r, "second-before-canary");
        rig_settle(r);
        rig_get(r, REQUESTS "/second-before-canary");
        assert_string_equal(condition_of(r, "ApprovalAccepted"), "False");
        assert_string_equal(rig_string(r, "status.planHash"), hash);
        approve(r, "second-before-canary");
        settle_often(&f, 6);
        assert_run(r, "second", "Succeeded", "True UpdateRunSucceeded");
        stop(&f);
}
static void a_plan_is_shown_without_secrets_and_approved_by_its_name(void **state)
{
        rig_run(is_planned);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_run_without_a_state_brings_its_snapshot_to_all_stages),
                cmocka_unit_test(a_run_carries_its_finalizer_and_keeps_an_empty_index),
                cmocka_unit_test(the_binding_names_the_run_and_begins_its_condition_anew),
                cmocka_unit_test(without_an_index_a_run_takes_what_is_selected_when_it_begins),
                cmocka_unit_test(who_makes_snapshots_of_a_placement_makes_them_one_after_the_other),
                cmocka_unit_test(a_run_takes_its_snapshot_without_any_interval_and_names_it),
                cmocka_unit_test(where_only_runs_make_snapshots_the_first_makes_the_first),
                cmocka_unit_test(snapshots_that_bindings_and_unfinished_runs_name_are_kept),
                cmocka_unit_test(what_only_a_run_that_ended_needed_goes_at_once),
                cmocka_unit_test(snapshots_that_only_ended_runs_name_are_not_kept),
                cmocka_unit_test(what_a_placement_left_does_not_stand_for_it),
                cmocka_unit_test(approvals_move_a_run_at_once_and_cannot_be_taken_back),
                cmocka_unit_test(a_deleted_run_takes_its_requests_and_series_along_and_nothing_else),
                cmocka_unit_test(a_namespaced_run_does_the_same_in_its_namespace),
                cmocka_unit_test(overrides_of_a_namespaced_placement_are_those_that_name_it_so),
                cmocka_unit_test(a_plan_is_shown_without_secrets_and_approved_by_its_name),
                cmocka_unit_test(objects_of_version_v1alpha1_are_run_as_any_other),
                cmocka_unit_test(a_cluster_costs_one_write_of_its_binding_and_a_share_of_the_runs_status),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
