/* The scheduler within a whole agent: what is told, and how often. */
#include "hub-agent/hub_agent_test.h"

static void report_nodes(struct rig *r, const char *value)
{
        char patch[256];

        snprintf(patch, sizeof(patch),
                 "{\"status\":{\"properties\":{\"kubernetes-fleet.io/node-count\":{\"value\":\"%s\","
                 "\"observationTime\":\"2026-01-01T00:00:00Z\"}}}}",
                 value);
        assert_int_equal(rig_merge(r,
                                   CLUSTERS
                                   "namespaces/fleet-member-member-1/internalmemberclusters/member-1/status",
                                   patch),
                         200);
        rig_settle(r);
        fiber_sleep(r->loop, 2000);
        rig_settle(r);
}

/* How often it was told that a property is unreadable, repetitions included. */
static int64_t times_told(struct rig *r)
{
        int64_t n = 0;
        json_t *item;
        size_t i;

        rig_get(r, "/api/v1/namespaces/default/events");
        json_array_foreach(json_object_get(r->answer, "items"), i, item) {
                if (!text_equal(doc_get_string(item, "reason"), "PropertyUnreadable"))
                        continue;
                assert_string_equal(doc_get_string(item, "type"), "Warning");
                assert_string_equal(doc_get_string(item, "involvedObject.kind"), "MemberCluster");
                assert_string_equal(doc_get_string(item, "involvedObject.name"), "member-1");
                assert_non_null(
                        strstr(doc_get_string(item, "message"), "\"kubernetes-fleet.io/node-count\""));
                n += doc_get_int(item, "count", 1);
        }
        return n;
}

static void place_by_nodes(struct rig *r, const char *name, const char *operator)
{
        char body[1024];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                 "v1beta1\",\"kind\":\"ClusterResourcePlacement\","
                 "\"metadata\":{\"name\":\"%s\"},\"spec\":{" SELECT_APP
                 ",\"policy\":{\"placementType\":\"PickAll\","
                 "\"affinity\":{\"clusterAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
                 "\"clusterSelectorTerms\":[{\"propertySelector\":{\"matchExpressions\":[{\"name\":"
                 "\"kubernetes-fleet.io/node-count\",\"operator\":\"%s\",\"values\":[\"1\"]}]}}]}}}}}}",
                 name, operator);
        assert_int_equal(rig_post(r, FLEET "clusterresourceplacements", body), 201);
        rig_settle(r);
        fiber_sleep(r->loop, 2000);
        rig_settle(r);
}

static void tells_once(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        report_nodes(r, "abc");
        assert_int_equal(times_told(r), 0); /* nobody looks at it */
        place_by_nodes(r, "one", "Gt");
        assert_int_equal(times_told(r), 1);
        place_by_nodes(r, "two", "Lt");
        report_member(&f, "member-1", "True");
        rig_settle(r);
        assert_int_equal(times_told(r), 1);
        report_nodes(r, "1e400000");
        assert_int_equal(times_told(r), 2);
        report_nodes(r, "3");
        report_nodes(r, "1e400000");
        assert_int_equal(times_told(r), 3);
        stop(&f);
}
static void an_unreadable_property_is_told_on_its_member_once_per_change(void **state)
{
        rig_run(tells_once);
}

#define PLACEMENT FLEET "clusterresourceplacements/fixed"
#define POLICY FLEET "clusterschedulingpolicysnapshots/fixed-0"

static const char *scheduled(struct rig *r, const char *path, const char *type)
{
        json_t *c;
        size_t i;

        rig_get(r, path);
        json_array_foreach(doc_get_array(r->answer, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return doc_get_string(c, "status");
        return "";
}

/* A cycle finds the cluster away; it is back before the placement's status says that it is missing. */
static void comes_back(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        rig_post(r, FLEET "clusterresourceplacements",
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                 "\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"fixed\"},\"spec\":{" SELECT_APP
                 ",\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"member-1\"]}}}");
        assert_int_equal(r->status, 201);
        settle(&f);
        assert_string_equal(scheduled(r, PLACEMENT, "ClusterResourcePlacementScheduled"), "True");
        fiber_sleep(r->loop, 6 * 60 * 1000);
        rig_merge(r, POLICY, "{\"metadata\":{\"labels\":{\"look\":\"again\"}}}");
        while (!text_equal(scheduled(r, POLICY, "Scheduled"), "False"))
                fiber_sleep(r->loop, 1);
        assert_string_equal(scheduled(r, PLACEMENT, "ClusterResourcePlacementScheduled"), "True");
        report_member(&f, "member-1", "True");
        settle(&f);
        fiber_sleep(r->loop, 20000);
        assert_string_equal(scheduled(r, PLACEMENT, "ClusterResourcePlacementScheduled"), "True");
        assert_string_equal(scheduled(r, POLICY, "Scheduled"), "True");
        stop(&f);
}

static void a_cluster_that_is_back_before_it_was_missed_is_chosen(void **state)
{
        rig_run(comes_back);
}

/* By the time that it is at the end, the cluster was never silent for long. */
static void clock_set_back(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        loop_shift_wall(r->loop, 6 * 60 * 1000);
        fiber_sleep(r->loop, 130000); /* it is told to be silent */
        place(r, "");
        settle(&f);
        assert_int_equal(count(r, FLEET "clusterresourcebindings"), 0);
        loop_shift_wall(r->loop, -5 * 60 * 1000);
        report_member(&f, "member-1", "True");
        settle(&f);
        assert_int_equal(count(r, FLEET "clusterresourcebindings"), 1);
        stop(&f);
}

static void
a_cluster_that_was_turned_away_by_a_clock_that_was_ahead_is_chosen_when_it_is_heard_of(void **state)
{
        rig_run(clock_set_back);
}

/* What it said when it joined is told while the clock is ahead, and nobody looks for clusters then. */
static void join_by_a_clock_that_is_ahead(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        assert_int_equal(
                rig_post(r, CLUSTERS "memberclusters",
                         "{\"apiVersion\":\"cluster.kubernetes-fleet.io/v1beta1\",\"kind\":\"MemberCluster\","
                         "\"metadata\":{\"name\":\"member-1\"},\"spec\":{\"identity\":{\"kind\":"
                         "\"ServiceAccount\",\"name\":\"a\",\"namespace\":\"fleet-system\"}}}"),
                201);
        add_app(r);
        place(r, "");
        settle(&f);
        report_member(&f, "member-1", "True");
        loop_shift_wall(r->loop, 6 * 60 * 1000);
        settle(&f);
        assert_int_equal(count(r, FLEET "clusterresourcebindings"), 0);
        loop_shift_wall(r->loop, -3 * 60 * 1000);
        report_member(&f, "member-1", "True");
        settle(&f);
        fiber_sleep(r->loop, 1000); /* others may come back with it */
        assert_int_equal(count(r, FLEET "clusterresourcebindings"), 1);
        stop(&f);
}

static void a_cluster_that_joined_by_a_clock_that_was_ahead_is_chosen_when_it_is_heard_of(void **state)
{
        rig_run(join_by_a_clock_that_is_ahead);
}

/* "MODIFIED Unscheduled" and the like, of the next binding's event that tells of a state. */
static void next_state(struct rig_watch *w, char ret[64])
{
        const char *type = rig_watch_next(w, 5000);

        snprintf(ret, 64, "%s %s", type, rig_watch_string(w, "spec.state"));
}

static void replaces_in_order(struct rig *r)
{
        struct rig_watch w;
        struct fleet f;
        char state[64], path[128], cluster[32];
        bool gave_up = false;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_member(&f, "member-2", "");
        add_app(r);
        assert_int_equal(
                rig_post(r, FLEET "clusterresourceplacements",
                         "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                         "\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"one\"},\"spec\":{" SELECT_APP
                         ",\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":1}}}"),
                201);
        rig_settle(r);
        fiber_sleep(r->loop, 2000);
        assert_int_equal(rig_get(r, FLEET "clusterresourcebindings"), 200);
        snprintf(cluster, sizeof(cluster), "%s",
                 doc_get_string(json_array_get(doc_get_array(r->answer, "items"), 0), "spec.targetCluster"));
        snprintf(path, sizeof(path), CLUSTERS "memberclusters/%s", cluster);
        rig_watch_open(r, &w,
                       arena_printf(&r->arena, FLEET "clusterresourcebindings?watch=1&resourceVersion=%s",
                                    rig_string(r, "metadata.resourceVersion")));
        assert_int_equal(rig_delete(r, path), 200);
        report_member(&f, cluster, "False");
        do {
                next_state(&w, state);
                gave_up = gave_up || text_equal(state, "MODIFIED Unscheduled");
                assert_false(text_starts_with(state, "timeout"));
        } while (!text_starts_with(state, "ADDED"));
        assert_true(gave_up);
        rig_watch_close(&w);
        stop(&f);
}

/* N is never exceeded, not even for a moment. */
static void a_cluster_that_leaves_is_given_up_before_another_takes_its_place(void **state)
{
        rig_run(replaces_in_order);
}

static void removes_binding_without_policy(struct rig *r)
{
        struct fleet f;
        const char *path;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        assert_int_equal(
                rig_post(r, FLEET "clusterresourceplacements",
                         "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                         "\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"one\"},\"spec\":{" SELECT_APP
                         "}}"),
                201);
        rig_settle(r);
        fiber_sleep(r->loop, 2000);
        assert_int_equal(rig_get(r, FLEET "clusterresourcebindings"), 200);
        path = arena_printf(
                &r->arena, FLEET "clusterresourcebindings/%s",
                doc_get_string(json_array_get(doc_get_array(r->answer, "items"), 0), "metadata.name"));
        assert_int_equal(
                rig_merge(r, FLEET "clusterresourceplacements/one",
                          "{\"spec\":{\"resourceSelectors\":[{\"group\":\"no.such\",\"version\":\"v1\","
                          "\"kind\":\"Thing\",\"name\":\"a\"}]}}"),
                200);
        rig_settle(r);
        assert_int_equal(rig_delete(r, FLEET "clusterschedulingpolicysnapshots/one-0"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, FLEET "clusterschedulingpolicysnapshots/one-0"), 404);
        assert_int_equal(rig_delete(r, path), 200);
        settle(&f);
        fiber_sleep(r->loop, 2000);
        rig_settle(r);
        assert_int_equal(rig_get(r, path), 200); /* its Work waits for the member */
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.finalizers")), 1);
        assert_string_equal(
                json_string_value(json_array_get(doc_get_array(r->answer, "metadata.finalizers"), 0)),
                "kubernetes-fleet.io/work-cleanup");
        stop(&f);
}

/* While the selectors are invalid nobody makes a policy snapshot anew. */
static void a_binding_that_goes_is_let_go_without_a_policy_snapshot(void **state)
{
        rig_run(removes_binding_without_policy);
}

static size_t live_bindings(struct rig *r)
{
        size_t n = 0, i;
        json_t *item;

        assert_int_equal(rig_get(r, FLEET "clusterresourcebindings"), 200);
        json_array_foreach(json_object_get(r->answer, "items"), i, item)
                n += !doc_get(item, "metadata.deletionTimestamp");
        return n;
}

static void loses_the_answer_of_a_creation(struct rig *r)
{
        struct fleet f;
        struct line line;

        start(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        assert_int_equal(
                rig_post(r, FLEET "clusterresourceplacements",
                         "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                         "\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"one\"},\"spec\":{" SELECT_APP
                         ",\"strategy\":{\"type\":\"External\"}}}"),
                201);
        rig_settle(r);
        fiber_sleep(r->loop, 2000);
        assert_int_equal(live_bindings(r), 1);
        line.lagging = "clusterresourcebindings";
        line.path = line.slow = "clusterresourcebindings?"; /* creations: they come well after what goes */
        line.fate = ERR_CLOSED;
        assert_int_equal(
                rig_delete(r,
                           arena_printf(&r->arena, FLEET "clusterresourcebindings/%s",
                                        doc_get_string(json_array_get(doc_get_array(r->answer, "items"), 0),
                                                       "metadata.name"))),
                200);
        for (int i = 0; i < 60; i++) { /* all is heard of 20 s later */
                fiber_sleep(r->loop, 1000);
                assert_true(live_bindings(r) <= 1);
        }
        line.path = NULL;
        fiber_sleep(r->loop, 60000);
        assert_int_equal(live_bindings(r), 1);
        stop(&f);
        http_transport_free(f.world.transport);
}

/* Its name is made of what goes, which is gone when it is tried again. */
static void a_binding_whose_creation_nobody_answered_is_made_once(void **state)
{
        rig_run(loses_the_answer_of_a_creation);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_unreadable_property_is_told_on_its_member_once_per_change),
                cmocka_unit_test(a_cluster_that_is_back_before_it_was_missed_is_chosen),
                cmocka_unit_test(
                        a_cluster_that_was_turned_away_by_a_clock_that_was_ahead_is_chosen_when_it_is_heard_of),
                cmocka_unit_test(
                        a_cluster_that_joined_by_a_clock_that_was_ahead_is_chosen_when_it_is_heard_of),
                cmocka_unit_test(a_cluster_that_leaves_is_given_up_before_another_takes_its_place),
                cmocka_unit_test(a_binding_that_goes_is_let_go_without_a_policy_snapshot),
                cmocka_unit_test(a_binding_whose_creation_nobody_answered_is_made_once),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
