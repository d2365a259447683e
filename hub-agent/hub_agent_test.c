/* The hub agent as a whole. */
#include "hub-agent/hub_agent_test.h"

static void joins(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        rig_get(r, CLUSTERS "memberclusters/member-1");
        assert_string_equal(condition_of(r, "ReadyToJoin"), "True");
        assert_string_equal(condition_of(r, "Joined"), "True");
        assert_int_equal(rig_get(r,
                                 "/apis/rbac.authorization.k8s.io/v1/namespaces/fleet-member-member-1/roles/"
                                 "fleet-role-member-1"),
                         200);
        assert_int_equal(
                rig_get(r, "/apis/rbac.authorization.k8s.io/v1/namespaces/fleet-member-member-1/rolebindings/"
                           "fleet-rolebinding-member-1"),
                200);
        stop(&f);
}
static void a_member_cluster_joins(void **state)
{
        rig_run(joins);
}

static void places_everywhere(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_member(&f, "member-2", "");
        add_app(r);
        place(r, "");
        settle(&f);
        assert_int_equal(count(r, FLEET "works"), 2);
        rig_get(r, FLEET "clusterresourceplacements/web");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementScheduled"), "True");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementApplied"), "True");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.selectedResources")), 2);
        stop(&f);
}
static void a_pick_all_placement_becomes_available_on_every_member(void **state)
{
        rig_run(places_everywhere);
}

static void follows_changes(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        place(r, "");
        settle(&f);
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 1);
        rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"c\"}}");
        settle(&f);
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 2);
        rig_get(r, FLEET "namespaces/fleet-member-member-1/works/web-work");
        assert_non_null(strstr(r->text, "\"a\":\"c\""));
        assert_null(strstr(r->text, "\"a\":\"b\""));
        rig_get(r, FLEET "clusterresourceplacements/web");
        assert_string_equal(rig_string(r, "status.observedResourceIndex"), "1");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        /* A status of its own, or the same content again, makes nothing new. */
        rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"c\"}}");
        settle(&f);
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 2);
        stop(&f);
}
static void a_changed_resource_reaches_the_members_as_a_new_snapshot(void **state)
{
        rig_run(follows_changes);
}

/* A member agent takes its finalizer off Works that are being deleted. */
static void release_works(struct fleet *f)
{
        AUTO_JSON json_t *list = NULL;
        json_t *item;
        size_t i;

        rig_get(f->rig, FLEET "works");
        list = json_incref(f->rig->answer);
        json_array_foreach(json_object_get(list, "items"), i, item) {
                char path[512];

                if (!doc_get_string(item, "metadata.deletionTimestamp"))
                        continue;
                snprintf(path, sizeof(path), FLEET "namespaces/%s/works/%s",
                         doc_get_string(item, "metadata.namespace"), doc_get_string(item, "metadata.name"));
                rig_merge(f->rig, path, "{\"metadata\":{\"finalizers\":null}}");
        }
        rig_settle(f->rig);
}

static void cleans_up(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_member(&f, "member-2", "");
        add_app(r);
        place(r, "");
        settle(&f);
        assert_int_equal(rig_delete(r, FLEET "clusterresourceplacements/web"), 200);
        rig_settle(r);
        assert_int_equal(count(r, FLEET "clusterresourcebindings"), 2); /* until the members let go */
        release_works(&f);
        assert_int_equal(count(r, FLEET "works"), 0);
        assert_int_equal(count(r, FLEET "clusterresourcebindings"), 0);
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 0);
        assert_int_equal(count(r, FLEET "clusterschedulingpolicysnapshots"), 0);
        assert_int_equal(rig_get(r, FLEET "clusterresourceplacements/web"), 404);
        stop(&f);
}
static void a_deleted_placement_leaves_nothing(void **state)
{
        rig_run(cleans_up);
}

static void orphaned_work(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        /* As left by a request that arrived after its binding had gone. */
        assert_int_equal(
                rig_post(
                        r, FLEET "namespaces/fleet-member-member-1/works",
                        "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"Work\","
                        "\"metadata\":{\"name\":\"gone-work\",\"labels\":{\"kubernetes-fleet.io/parent-CRP\":"
                        "\"gone\",\"kubernetes-fleet.io/parent-resource-binding\":\"gone-member-1\"}},"
                        "\"spec\":{\"workload\":{\"manifests\":[]}}}"),
                201);
        assert_int_equal(
                rig_post(r, FLEET "namespaces/fleet-member-member-1/works",
                         "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"Work\","
                         "\"metadata\":{\"name\":\"by-hand\"},"
                         "\"spec\":{\"workload\":{\"manifests\":[]}}}"),
                201);
        settle(&f);
        assert_int_equal(rig_get(r, FLEET "namespaces/fleet-member-member-1/works/gone-work"), 404);
        assert_int_equal(rig_get(r, FLEET "namespaces/fleet-member-member-1/works/by-hand"), 200);
        stop(&f);
}

static void a_work_without_its_binding_is_deleted_and_others_are_left_alone(void **state)
{
        rig_run(orphaned_work);
}

static void picks_n(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "\"tier\":\"gold\"");
        add_member(&f, "member-2", "\"tier\":\"gold\"");
        add_member(&f, "member-3", "");
        add_app(r);
        place(r, ",\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":1,\"affinity\":{"
                 "\"clusterAffinity\":{"
                 "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[{"
                 "\"labelSelector\":{"
                 "\"matchLabels\":{\"tier\":\"gold\"}}}]},"
                 "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":20,\"preference\":{"
                 "\"labelSelector\":{"
                 "\"matchLabels\":{\"kubernetes-fleet.io/member-name\":\"member-1\"}}}}]}}}");
        settle(&f);
        assert_int_equal(count(r, FLEET "namespaces/fleet-member-member-1/works"), 1);
        assert_int_equal(count(r, FLEET "works"), 1);
        rig_merge(r, FLEET "clusterresourceplacements/web",
                  "{\"spec\":{\"policy\":{\"numberOfClusters\":3}}}");
        settle(&f);
        assert_int_equal(count(r, FLEET "works"), 2);
        assert_int_equal(count(r, FLEET "clusterschedulingpolicysnapshots"), 1);
        rig_get(r, FLEET "clusterresourceplacements/web");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementScheduled"), "False");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.placementStatuses")), 3);
        rig_merge(r, FLEET "clusterresourceplacements/web",
                  "{\"spec\":{\"policy\":{\"numberOfClusters\":1}}}");
        settle(&f);
        release_works(&f);
        settle(&f);
        assert_int_equal(count(r, FLEET "works"), 1);
        assert_int_equal(count(r, FLEET "clusterresourcebindings"), 1);
        stop(&f);
}
static void pick_n_takes_the_best_and_scales_both_ways(void **state)
{
        rig_run(picks_n);
}

static void picks_fixed(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_member(&f, "member-2", "");
        add_app(r);
        place(r, ",\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"member-2\",\"nowhere\"]}");
        settle(&f);
        assert_int_equal(count(r, FLEET "works"), 1);
        assert_int_equal(count(r, FLEET "namespaces/fleet-member-member-2/works"), 1);
        rig_get(r, FLEET "clusterresourceplacements/web");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementScheduled"), "False");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementApplied"), "True");
        stop(&f);
}
static void pick_fixed_places_on_the_clusters_that_exist(void **state)
{
        rig_run(picks_fixed);
}

static void late_binding(struct rig *r)
{
        const char *other;
        char body[1024];
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_member(&f, "member-2", "");
        add_app(r);
        place(r, ",\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":1}");
        settle(&f);
        assert_int_equal(count(r, FLEET "clusterresourcebindings"), 1);
        other = count(r, FLEET "namespaces/fleet-member-member-1/works") ? "member-2" : "member-1";
        /* As one that was made by an earlier cycle, whose answer was lost. */
        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\","
                 "\"kind\":\"ClusterResourceBinding\",\"metadata\":{\"name\":\"web-late\","
                 "\"labels\":{\"kubernetes-fleet.io/parent-CRP\":\"web\"},"
                 "\"finalizers\":[\"kubernetes-fleet.io/scheduler-crb-cleanup\"]},"
                 "\"spec\":{\"state\":\"Scheduled\",\"resourceSnapshotName\":\"\","
                 "\"schedulingPolicySnapshotName\":\"web-0\",\"targetCluster\":\"%s\","
                 "\"clusterDecision\":{\"clusterName\":\"%s\",\"selected\":true,\"reason\":\"\"}}}",
                 other, other);
        assert_int_equal(rig_post(r, FLEET "clusterresourcebindings", body), 201);
        settle(&f);
        release_works(&f);
        settle(&f);
        assert_int_equal(count(r, FLEET "clusterresourcebindings"), 1);
        assert_int_equal(count(r, FLEET "works"), 1);
        stop(&f);
}

static void a_binding_that_comes_to_light_late_is_weighed_again(void **state)
{
        rig_run(late_binding);
}

static void places_in_namespace(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        rig_post(r, FLEET "namespaces/app/resourceplacements",
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                 "v1beta1\",\"kind\":\"ResourcePlacement\",\"metadata\":{"
                 "\"name\":\"web\"},\"spec\":{\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\","
                 "\"kind\":"
                 "\"ConfigMap\",\"name\":\"settings\"}]}}");
        assert_int_equal(r->status, 201);
        settle(&f);
        assert_int_equal(count(r, FLEET "namespaces/app/resourcebindings"), 1);
        assert_int_equal(rig_get(r, FLEET "namespaces/fleet-member-member-1/works/app.web-work"), 200);
        rig_get(r, FLEET "namespaces/app/resourceplacements/web");
        assert_string_equal(condition_of(r, "ResourcePlacementAvailable"), "True");
        stop(&f);
}
static void a_resource_placement_works_within_its_namespace(void **state)
{
        rig_run(places_in_namespace);
}

static void refuses_selectors(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        rig_post(r, FLEET "clusterresourceplacements",
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                 "v1beta1\",\"kind\":\"ClusterResourcePlacement\","
                 "\"metadata\":{\"name\":\"web\"},\"spec\":{\"resourceSelectors\":[{\"group\":\"\","
                 "\"version\":\"v1\","
                 "\"kind\":\"Namespace\",\"name\":\"kube-system\"}]}}");
        assert_int_equal(r->status, 201);
        rig_settle(r);
        rig_get(r, FLEET "clusterresourceplacements/web");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementScheduled"), "False");
        assert_non_null(strstr(r->text, "namespace kube-system is not allowed to propagate"));
        assert_int_equal(count(r, FLEET "clusterschedulingpolicysnapshots"), 0);
        stop(&f);
}
static void a_reserved_namespace_is_refused_with_words(void **state)
{
        rig_run(refuses_selectors);
}

static void leaves(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_member(&f, "member-2", "");
        add_app(r);
        place(r, "");
        settle(&f);
        rig_delete(r, CLUSTERS "memberclusters/member-2");
        rig_settle(r);
        rig_get(r, CLUSTERS "namespaces/fleet-member-member-2/internalmemberclusters/member-2");
        assert_string_equal(rig_string(r, "spec.state"), "Leave");
        report_member(&f, "member-2", "False");
        for (int i = 0; i < 10; i++)
                rig_settle(r);
        assert_int_equal(rig_get(r, CLUSTERS "memberclusters/member-2"), 404);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/fleet-member-member-2"), 404);
        settle(&f);
        assert_int_equal(count(r, FLEET "clusterresourcebindings"), 1);
        rig_get(r, FLEET "clusterresourceplacements/web");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.placementStatuses")), 1);
        stop(&f);
}
static void a_member_that_leaves_is_gone_with_its_bindings(void **state)
{
        rig_run(leaves);
}

static void stays_quiet(struct rig *r)
{
        struct devcluster_request_count *c;
        struct fleet f;
        size_t n;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        place(r, "");
        settle(&f);
        settle(&f);
        stop(&f);
        devcluster_reset_requests(r->devcluster);
        start_again(r, &f);
        rig_settle(r);
        assert_int_equal(devcluster_requests(r->devcluster, "hub", &r->arena, &c, &n), 0);
        for (size_t i = 0; i < n; i++)
                if (text_in(c[i].verb, (const char *const[]){ "create", "patch", "update", "delete" }, 4))
                        fail_msg("after a restart: %s %s", c[i].verb, c[i].resource);
        stop(&f);
}
static void a_restarted_agent_writes_nothing(void **state)
{
        rig_run(stays_quiet);
}

static void overrides(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "\"env\":\"prod\"");
        add_member(&f, "member-2", "\"env\":\"test\"");
        add_app(r);
        rig_post(r, FLEET "namespaces/app/resourceoverrides",
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                 "v1beta1\",\"kind\":\"ResourceOverride\",\"metadata\":{"
                 "\"name\":\"per-env\"},\"spec\":{\"placement\":{\"name\":\"web\"},\"resourceSelectors\":[{"
                 "\"group\":\"\","
                 "\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"settings\"}],\"policy\":{"
                 "\"overrideRules\":[{"
                 "\"clusterSelector\":{\"clusterSelectorTerms\":[{\"labelSelector\":{\"matchLabels\":{"
                 "\"env\":\"prod\"}}}]},"
                 "\"jsonPatchOverrides\":[{\"op\":\"replace\",\"path\":\"/data/a\",\"value\":"
                 "\"${MEMBER-CLUSTER-NAME} ${MEMBER-CLUSTER-LABEL-KEY-env}\"}]},{\"clusterSelector\":{"
                 "\"clusterSelectorTerms\":[{\"labelSelector\":{\"matchLabels\":{\"env\":\"test\"}}}]},"
                 "\"overrideType\":"
                 "\"Delete\"}]}}}");
        assert_int_equal(r->status, 201);
        rig_settle(r);
        assert_int_equal(rig_get(r, FLEET "namespaces/app/resourceoverridesnapshots/per-env-0"), 200);
        place(r, "");
        settle(&f);
        rig_get(r, FLEET "namespaces/fleet-member-member-1/works/web-work");
        assert_non_null(strstr(r->text, "\"a\":\"member-1 prod\""));
        rig_get(r, FLEET "namespaces/fleet-member-member-2/works/web-work");
        assert_null(strstr(r->text, "ConfigMap"));
        rig_get(r, FLEET "clusterresourceplacements/web");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementOverridden"), "True");
        assert_non_null(strstr(r->text, "OverriddenSucceeded"));
        /* A patch that does not fit is told, and the override's removal heals it. */
        rig_merge(r, FLEET "namespaces/app/resourceoverrides/per-env",
                  "{\"spec\":{\"policy\":{\"overrideRules\":[{\"clusterSelector\":{\"clusterSelectorTerms\":["
                  "]},"
                  "\"jsonPatchOverrides\":[{\"op\":\"remove\",\"path\":\"/data/none\"}]}]}}}");
        for (int i = 0; i < 3; i++)
                settle(&f);
        rig_get(r, FLEET "clusterresourceplacements/web");
        assert_non_null(strstr(
                r->text,
                "failed to apply on ConfigMap \\\"settings\\\" in namespace \\\"app\\\": remove operation "
                "does not apply"));
        rig_delete(r, FLEET "namespaces/app/resourceoverrides/per-env");
        for (int i = 0; i < 3; i++)
                settle(&f);
        assert_int_equal(count(r, FLEET "namespaces/app/resourceoverridesnapshots"), 0);
        rig_get(r, FLEET "clusterresourceplacements/web");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        rig_get(r, FLEET "namespaces/fleet-member-member-1/works/web-work");
        assert_non_null(strstr(r->text, "\"a\":\"b\""));
        stop(&f);
}
static void overrides_change_and_drop_manifests_by_cluster(void **state)
{
        rig_run(overrides);
}

/* ---- what joining made is kept as it has to be ---- */

#define RBAC "/apis/rbac.authorization.k8s.io/v1/namespaces/fleet-member-member-1/"

static void membership_objects(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        /* As an older version or somebody's hand left it. */
        rig_merge(r, RBAC "roles/fleet-role-member-1",
                  "{\"metadata\":{\"ownerReferences\":null},\"rules\":[{\"apiGroups\":[\"*\"],\"resources\":"
                  "[\"*\"],\"verbs\":[\"*\"]}]}");
        rig_merge(r, "/api/v1/namespaces/fleet-member-member-1",
                  "{\"metadata\":{\"labels\":null,\"ownerReferences\":null}}");
        rig_merge(r, CLUSTERS "namespaces/fleet-member-member-1/internalmemberclusters/member-1",
                  "{\"metadata\":{\"ownerReferences\":null}}");
        rig_settle(r);

        rig_get(r, RBAC "roles/fleet-role-member-1");
        assert_null(strstr(r->text, "\"*\""));
        assert_non_null(strstr(r->text, "\"ownerReferences\""));
        rig_get(r, "/api/v1/namespaces/fleet-member-member-1");
        assert_non_null(strstr(r->text, "\"ownerReferences\""));
        assert_non_null(strstr(r->text, "\"kubernetes-fleet.io/is-fleet-resource\":\"true\""));
        report_member(&f, "member-1", "True"); /* an event of the report object brings its owner back */
        rig_settle(r);
        rig_get(r, CLUSTERS "namespaces/fleet-member-member-1/internalmemberclusters/member-1");
        assert_non_null(strstr(r->text, "\"ownerReferences\""));
        stop(&f);
}
static void what_joining_made_is_mended_when_somebody_changes_it(void **state)
{
        rig_run(membership_objects);
}

/* All that was in it goes along, and is there again: the member reports into it. */
static void namespace_goes(struct rig *r)
{
        static const char report[] =
                CLUSTERS "namespaces/fleet-member-member-1/internalmemberclusters/member-1";
        static const char ns[] = "/api/v1/namespaces/fleet-member-member-1";
        char uid[64];
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        assert_int_equal(rig_get(r, ns), 200);
        snprintf(uid, sizeof(uid), "%s", rig_string(r, "metadata.uid"));
        assert_int_equal(rig_delete(r, ns), 200);
        for (int i = 0; i < 10 && rig_get(r, ns) == 200 && text_equal(rig_string(r, "metadata.uid"), uid);
             i++)
                rig_settle(r);
        rig_settle(r);
        assert_int_equal(rig_get(r, ns), 200);
        assert_string_not_equal(rig_string(r, "metadata.uid"), uid);
        assert_int_equal(rig_get(r, report), 200);
        assert_int_equal(rig_get(r, RBAC "roles/fleet-role-member-1"), 200);
        stop(&f);
}
static void a_members_namespace_that_somebody_deletes_is_made_anew(void **state)
{
        rig_run(namespace_goes);
}

/* member-1 labels a Work of its own as belonging to member-2's binding, says it failed, and does not let it
 * go. */
static void false_work(struct rig *r)
{
        struct fleet f;
        char body[1024], binding[256];

        start(r, &f);
        add_member(&f, "member-1", "");
        add_member(&f, "member-2", "");
        add_app(r);
        place(r, ",\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"member-2\"]}");
        for (int i = 0; i < 3; i++)
                settle(&f);
        rig_get(r, FLEET "clusterresourcebindings");
        snprintf(binding, sizeof(binding), "%s",
                 doc_get_string(json_array_get(doc_get_array(r->answer, "items"), 0), "metadata.name"));
        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"Work\",\"metadata\":{"
                 "\"name\":\"false\",\"finalizers\":[\"example.com/stay\"],\"labels\":{"
                 "\"kubernetes-fleet.io/parent-CRP\":\"web\",\"kubernetes-fleet.io/parent-resource-binding\":"
                 "\"%s\"}},\"spec\":{}}",
                 binding);
        assert_int_equal(rig_post(r, FLEET "namespaces/fleet-member-member-1/works", body), 201);
        rig_settle(r);
        assert_int_equal(rig_get(r, FLEET "namespaces/fleet-member-member-1/works/false"), 200);
        rig_get(r, FLEET "clusterresourceplacements/web");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        rig_delete(r, FLEET "clusterresourceplacements/web");
        rig_settle(r);
        rig_merge(r, FLEET "namespaces/fleet-member-member-2/works/web-work",
                  "{\"metadata\":{\"finalizers\":null}}");
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_int_equal(count(r, FLEET "clusterresourcebindings"), 0);
        assert_int_equal(rig_get(r, FLEET "clusterresourceplacements/web"), 404);
        stop(&f);
}
static void a_work_of_one_member_cannot_speak_for_anothers_binding(void **state)
{
        rig_run(false_work);
}

static void foreign_binding(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        rig_delete(r, RBAC "rolebindings/fleet-rolebinding-member-1");
        rig_settle(r);
        rig_get(r, RBAC "rolebindings/fleet-rolebinding-member-1");
        assert_int_equal(r->status, 200);
        /* A binding of that name to another role: roleRef cannot be changed, so it is made anew. */
        stop(&f);
        rig_delete(r, RBAC "rolebindings/fleet-rolebinding-member-1");
        assert_int_equal(
                rig_post(r, RBAC "rolebindings",
                         "{\"metadata\":{\"name\":\"fleet-rolebinding-member-1\"},\"roleRef\":{\"apiGroup\":"
                         "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"cluster-admin\"},"
                         "\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"member-1\",\"namespace\":"
                         "\"fleet-system\"}]}"),
                201);
        start_again(r, &f);
        rig_get(r, RBAC "rolebindings/fleet-rolebinding-member-1");
        assert_string_equal(doc_get_string(r->answer, "roleRef.kind"), "Role");
        assert_string_equal(doc_get_string(r->answer, "roleRef.name"), "fleet-role-member-1");
        assert_non_null(strstr(r->text, "\"ownerReferences\""));
        stop(&f);
}
static void a_binding_to_another_role_is_made_anew(void **state)
{
        rig_run(foreign_binding);
}

/* A status that could not be written is written when it can be, not only when the member speaks again. */
static void unwritten_status(struct rig *r)
{
        struct fleet f;
        struct line line;

        start(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        line.path = "memberclusters/member-1/status";
        line.fate = 503;
        add_member(&f, "member-1", "");
        rig_get(r, CLUSTERS "memberclusters/member-1");
        assert_string_not_equal(condition_of(r, "Joined"), "True");
        line.path = NULL;
        assert_int_equal(fiber_sleep(r->loop, 20000), 0);
        rig_get(r, CLUSTERS "memberclusters/member-1");
        assert_string_equal(condition_of(r, "Joined"), "True");
        stop(&f);
        http_transport_free(f.world.transport);
}
static void a_members_status_that_could_not_be_written_is_written_later(void **state)
{
        rig_run(unwritten_status);
}

static size_t n_selected(struct fleet *f)
{
        settle(f);
        assert_int_equal(fiber_sleep(f->rig->loop, 2000), 0);
        settle(f);
        rig_get(f->rig, FLEET "clusterresourceplacements/web");
        return json_array_size(doc_get_array(f->rig->answer, "status.selectedResources"));
}

/* spec/placement.md 5: who gets the label later is placed, who loses it is no longer. */
static void selects_by_label(struct rig *r)
{
        static const char app[] = "/api/v1/namespaces/app";
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        assert_int_equal(
                rig_post(r, FLEET "clusterresourceplacements",
                         "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                         "\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"web\"},\"spec\":{"
                         "\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\","
                         "\"labelSelector\":{\"matchLabels\":{\"tier\":\"web\"}}}]}}"),
                201);
        assert_int_equal(n_selected(&f), 0);
        assert_int_equal(rig_merge(r, app, "{\"metadata\":{\"labels\":{\"tier\":\"web\"}}}"), 200);
        assert_int_equal(n_selected(&f), 2);
        assert_int_equal(rig_merge(r, app, "{\"metadata\":{\"labels\":{\"tier\":null}}}"), 200);
        assert_int_equal(n_selected(&f), 0);
        stop(&f);
}
static void a_selection_by_label_follows_the_labels(void **state)
{
        rig_run(selects_by_label);
}

static size_t n_restored(struct rig *r)
{
        json_t *event;
        size_t i, n = 0;

        rig_get(r, "/api/v1/namespaces/fleet-member-member-1/events");
        json_array_foreach(doc_get_array(r->answer, "items"), i, event)
                n += text_equal(doc_get_string(event, "reason"), "WorkRestored");
        return n;
}

/* Works change with each snapshot: that is the agent's own doing, and nobody is blamed for it. */
static void own_changes(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        place(r, "");
        settle(&f);
        for (int i = 0; i < 4; i++) {
                char body[64];

                snprintf(body, sizeof(body), "{\"data\":{\"a\":\"%d\"}}", i);
                assert_int_equal(rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", body), 200);
                assert_int_equal(fiber_sleep(r->loop, 5000), 0);
                settle(&f);
                settle(&f);
        }
        assert_int_equal(n_restored(r), 0);
        assert_int_equal(rig_merge(r, FLEET "namespaces/fleet-member-member-1/works/web-work",
                                   "{\"spec\":{\"workload\":{\"manifests\":[]}}}"),
                         200);
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        settle(&f);
        assert_int_equal(n_restored(r), 1);
        stop(&f);
}
static void nobody_is_blamed_for_what_the_agent_changed_itself(void **state)
{
        rig_run(own_changes);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_member_cluster_joins),
                cmocka_unit_test(a_members_namespace_that_somebody_deletes_is_made_anew),
                cmocka_unit_test(what_joining_made_is_mended_when_somebody_changes_it),
                cmocka_unit_test(a_binding_to_another_role_is_made_anew),
                cmocka_unit_test(a_work_of_one_member_cannot_speak_for_anothers_binding),
                cmocka_unit_test(a_pick_all_placement_becomes_available_on_every_member),
                cmocka_unit_test(a_changed_resource_reaches_the_members_as_a_new_snapshot),
                cmocka_unit_test(a_deleted_placement_leaves_nothing),
                cmocka_unit_test(a_work_without_its_binding_is_deleted_and_others_are_left_alone),
                cmocka_unit_test(pick_n_takes_the_best_and_scales_both_ways),
                cmocka_unit_test(pick_fixed_places_on_the_clusters_that_exist),
                cmocka_unit_test(a_binding_that_comes_to_light_late_is_weighed_again),
                cmocka_unit_test(a_resource_placement_works_within_its_namespace),
                cmocka_unit_test(a_reserved_namespace_is_refused_with_words),
                cmocka_unit_test(a_member_that_leaves_is_gone_with_its_bindings),
                cmocka_unit_test(a_restarted_agent_writes_nothing),
                cmocka_unit_test(overrides_change_and_drop_manifests_by_cluster),
                cmocka_unit_test(a_members_status_that_could_not_be_written_is_written_later),
                cmocka_unit_test(a_selection_by_label_follows_the_labels),
                cmocka_unit_test(nobody_is_blamed_for_what_the_agent_changed_itself),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
