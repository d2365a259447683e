/* Evictions within a whole agent: what happens between its writes, and when two are asked for at once. */
#include "hub-agent/hub_agent_test.h"

#define EVICTIONS FLEET "clusterresourceplacementevictions"
#define BUDGETS FLEET "clusterresourceplacementdisruptionbudgets"
#define BINDINGS FLEET "clusterresourcebindings"
#define PLACEMENT FLEET "clusterresourceplacements/web"
#define COMPLETE "fleet_workload_eviction_complete"

/* Requests of one method, to a path that holds a text, take `delay_ms` or meet `fate`, but for the first
 * ones. */
struct way {
        const char *method, *path;
        int64_t delay_ms;
        int fate;
        size_t first, met;
};

static bool concerns(struct way *way, const struct http_request *rq)
{
        return way->method && text_equal(rq->method, way->method) && strstr(rq->path, way->path);
}

static int64_t delay_of_way(void *ctx, const struct http_request *rq, bool answer)
{
        struct way *way = ctx;

        return !answer && concerns(way, rq) ? way->delay_ms : 0;
}

static int fate_of_way(void *ctx, const struct http_request *rq)
{
        struct way *way = ctx;

        if (!concerns(way, rq))
                return 0;
        return ++way->met > way->first ? way->fate : 0;
}

struct scene {
        struct fleet fleet;
        struct way way;
        struct loopback_faults faults;
        struct http_transport *direct;
};

static void begin(struct rig *r, struct scene *s, const char *policy, int n_members)
{
        char rest[256];

        *s = (struct scene){ .direct = r->client };
        s->faults = (struct loopback_faults){ .ctx = &s->way, .delay = delay_of_way, .fate = fate_of_way };
        r->client = loopback_transport(r->net, &r->world, &s->faults);
        start(r, &s->fleet);
        r->client = s->direct;
        for (int i = 1; i <= n_members; i++) {
                char name[32];

                snprintf(name, sizeof(name), "member-%d", i);
                add_member(&s->fleet, name, "");
        }
        add_app(r);
        snprintf(rest, sizeof(rest), ",\"policy\":%s", policy);
        place(r, rest);
        settle(&s->fleet);
        settle(&s->fleet);
}

static void end(struct rig *r, struct scene *s)
{
        struct http_transport *own = s->fleet.world.transport;

        stop(&s->fleet);
        http_transport_free(own);
}

/* The agent ends at once; what it sent is still on its way. */
static void crash(struct scene *s)
{
        stop(&s->fleet);
        s->way = (struct way){ 0 };
}

static void evict(struct rig *r, const char *name, const char *cluster)
{
        char body[512];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                 "\"ClusterResourcePlacementEviction\",\"metadata\":{\"name\":\"%s\"},\"spec\":{"
                 "\"placementName\":\"web\",\"clusterName\":\"%s\"}}",
                 name, cluster);
        assert_int_equal(rig_post(r, EVICTIONS, body), 201);
}

static void allow(struct rig *r, const char *budget)
{
        char body[512];

        snprintf(
                body, sizeof(body),
                "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                "\"ClusterResourcePlacementDisruptionBudget\",\"metadata\":{\"name\":\"web\"},\"spec\":{%s}}",
                budget);
        assert_int_equal(rig_post(r, BUDGETS, body), 201);
}

static void expect(struct rig *r, const char *name, const char *valid, const char *executed)
{
        char path[256];

        snprintf(path, sizeof(path), EVICTIONS "/%s", name);
        assert_int_equal(rig_get(r, path), 200);
        assert_string_equal(condition_of(r, "Valid"), valid);
        assert_string_equal(condition_of(r, "Executed"), executed);
}

static const char *executed_message(struct rig *r)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(r->answer, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), "Executed"))
                        return doc_get_string(c, "message");
        return "";
}

/* The binding's name, uid or version on a cluster; "" when there is none that stays. */
static const char *binding_on(struct rig *r, const char *cluster, const char *what, char ret[128])
{
        json_t *item;
        size_t i;

        ret[0] = '\0';
        rig_get(r, BINDINGS);
        json_array_foreach(json_object_get(r->answer, "items"), i, item)
                if (text_equal(doc_get_string(item, "spec.targetCluster"), cluster) &&
                    !doc_get_string(item, "metadata.deletionTimestamp"))
                        snprintf(ret, 128, "%s", doc_get_string(item, what));
        return ret;
}

static double completed(struct rig *r, struct scene *s, const char *name, const char *done, const char *valid)
{
        return metric_value(s->fleet.metrics, METRIC_EVICTION, (const char *const[]){ name, done, valid });
}

#define ALLOWED(a, t)                                                                                        \
        "Eviction is allowed by specified ClusterResourcePlacementDisruptionBudget, "                        \
        "availablePlacements: " #a ", totalPlacements: " #t
#define BLOCKED(a, t)                                                                                        \
        "Eviction is blocked by specified ClusterResourcePlacementDisruptionBudget, "                        \
        "availablePlacements: " #a ", totalPlacements: " #t
#define PICK_2 "{\"placementType\":\"PickN\",\"numberOfClusters\":2}"
#define PICK_3 "{\"placementType\":\"PickN\",\"numberOfClusters\":3}"
#define PICK_ALL "{\"placementType\":\"PickAll\"}"

/* ---- undisturbed ---- */

RIG_TEST(an_eviction_takes_the_binding_away_and_says_so, {
        char before[128], now[128];
        struct scene s;

        begin(r, &s, PICK_ALL, 2);
        binding_on(r, "member-1", "metadata.uid", before);
        assert_string_not_equal(before, "");
        evict(r, "e", "member-1");
        rig_settle(r);
        expect(r, "e", "True", "True");
        assert_string_equal(executed_message(r),
                            "Eviction is allowed, no ClusterResourcePlacementDisruptionBudget specified");
        assert_null(json_object_get(json_object_get(r->answer, "status"), "decision"));
        binding_on(r, "member-1", "metadata.uid", now);
        assert_string_not_equal(now, before);
        rig_delete(r, EVICTIONS "/e"); /* the same name again is another eviction */
        evict(r, "e", "member-9");
        rig_settle(r);
        expect(r, "e", "False", "absent");
        end(r, &s);
})

/* spec/staged-update-and-eviction.md checklist 52 */
static void body_metric(struct rig *r)
{
        struct scene s;

        begin(r, &s, PICK_ALL, 1);
        stop(&s.fleet);
        s.fleet.metrics = metrics_new(METRIC_OF_HUB);
        start_again(r, &s.fleet);
        s.way = (struct way){ "DELETE", "clusterresourcebindings", .fate = 503 };
        evict(r, "e", "member-1");
        evict(r, "nothing", "member-9");
        rig_settle(r);
        assert_true(completed(r, &s, "e", "false", "unknown") > 0);
        assert_true(completed(r, &s, "nothing", "true", "false") > 0);
        s.way = (struct way){ 0 };
        fiber_sleep(r->loop, 60000);
        expect(r, "e", "True", "True");
        assert_true(completed(r, &s, "e", "false", "unknown") == 0);
        assert_true(completed(r, &s, "e", "true", "true") > 0);
        rig_delete(r, EVICTIONS "/e");
        rig_delete(r, EVICTIONS "/nothing");
        rig_settle(r);
        assert_true(completed(r, &s, "e", "true", "true") == 0);
        assert_true(completed(r, &s, "nothing", "true", "false") == 0);
        end(r, &s);
        metrics_free(s.fleet.metrics);
}
static void the_metric_tells_what_became_of_an_eviction_until_it_is_deleted(void **state)
{
        rig_run(body_metric);
}

/* What was blocked stays so when the obstacle is gone. spec/staged-update-and-eviction.md checklist 43 */
RIG_TEST(what_was_decided_stays_decided, {
        char name[128];
        struct scene s;

        begin(r, &s, PICK_2, 2);
        allow(r, "\"minAvailable\":2");
        evict(r, "early", "member-1");
        evict(r, "nowhere", "member-3");
        rig_settle(r);
        expect(r, "early", "True", "False");
        assert_string_equal(executed_message(r), BLOCKED(2, 2));
        expect(r, "nowhere", "False", "absent");
        rig_delete(r, BUDGETS "/web");
        add_member(&s.fleet, "member-3", "");
        crash(&s);
        start_again(r, &s.fleet);
        settle(&s.fleet);
        expect(r, "early", "True", "False");
        expect(r, "nowhere", "False", "absent");
        assert_string_not_equal(binding_on(r, "member-1", "metadata.name", name), "");
        end(r, &s);
})

/* ---- two at once ---- */

/* spec/staged-update-and-eviction.md checklist 52 */
RIG_TEST(of_two_evictions_at_once_the_second_finds_the_budget_used, {
        char name[128];
        struct scene s;

        begin(r, &s, PICK_3, 3);
        allow(r, "\"maxUnavailable\":1");
        s.way = (struct way){ "DELETE", "clusterresourcebindings", .delay_ms = 2000 };
        evict(r, "first", "member-1");
        evict(r, "second", "member-2");
        fiber_sleep(r->loop, 5000);
        expect(r, "first", "True", "True");
        assert_string_equal(executed_message(r), ALLOWED(3, 3));
        expect(r, "second", "True", "False");
        /* The scheduler has picked member-1 anew meanwhile, and that binding is no more available. */
        assert_string_equal(executed_message(r), BLOCKED(2, 4));
        assert_string_not_equal(binding_on(r, "member-2", "metadata.name", name), "");
        end(r, &s);
})

/* The first one's deletion fails for long: what it decided counts although its binding is still there. */
RIG_TEST(a_decision_that_is_not_carried_out_yet_uses_the_budget_too, {
        struct scene s;

        begin(r, &s, PICK_3, 3);
        allow(r, "\"maxUnavailable\":1");
        s.way = (struct way){ "DELETE", "clusterresourcebindings", .fate = 503 };
        evict(r, "first", "member-1");
        rig_settle(r);
        expect(r, "first", "True", "absent");
        evict(r, "second", "member-2");
        rig_settle(r);
        expect(r, "second", "True", "False");
        assert_string_equal(executed_message(r), BLOCKED(2, 3));
        s.way = (struct way){ 0 };
        fiber_sleep(r->loop, 60000);
        expect(r, "first", "True", "True");
        end(r, &s);
})

/* ---- caches that are behind ---- */

static int64_t watches_lag(void *ctx, const struct http_request *rq, bool answer)
{
        bool lags = strstr(rq->path, "clusterresourcebindings") || strstr(rq->path, "disruptionbudgets") ||
                    strstr(rq->path, "clusterresourceplacements?");

        return answer && lags && strstr(rq->path, "watch=true") ? 20000 : 0;
}

/* A member whose objects are not well any more says so; the cache of bindings hears of it much later. */
RIG_TEST(what_is_decided_rests_on_what_the_server_has_now, {
        char name[128], path[256];
        struct scene s;

        begin(r, &s, PICK_2, 2);
        s.faults.delay = watches_lag;
        binding_on(r, "member-2", "metadata.name", name);
        snprintf(path, sizeof(path), BINDINGS "/%s/status", name);
        fiber_sleep(r->loop, 30000);
        assert_int_equal(rig_merge(r, path, "{\"status\":{\"conditions\":[]}}"), 200);
        allow(r, "\"minAvailable\":1");
        evict(r, "e", "member-1");
        fiber_sleep(r->loop, 500);
        expect(r, "e", "True", "False");
        assert_string_equal(executed_message(r), BLOCKED(1, 2));
        end(r, &s);
})

static int64_t watch_of_evictions_lags(void *ctx, const struct http_request *rq, bool answer)
{
        return answer && strstr(rq->path, "placementevictions?watch=true") ? 20000 : 0;
}

/* The first one's decision is stored, and nobody hears of it before the second is decided without it: both
 * found room for one, and only one is carried out. */
RIG_TEST(a_decision_that_was_not_heard_of_is_taken_again_before_anything_is_deleted, {
        char before[128], now[128];
        struct scene s;

        begin(r, &s, PICK_3, 3);
        allow(r, "\"maxUnavailable\":1");
        binding_on(r, "member-1", "metadata.uid", before);
        s.faults.delay = watch_of_evictions_lags;
        s.way = (struct way){ "PATCH", "evictions/first/status", .fate = ERR_CLOSED };
        evict(r, "first", "member-1");
        evict(r, "second", "member-2");
        fiber_sleep(r->loop, 30000);
        expect(r, "first", "True", "absent");
        assert_non_null(doc_get(r->answer, "status.decision"));
        expect(r, "second", "True", "True");
        assert_string_equal(executed_message(r), ALLOWED(3, 3));
        s.way = (struct way){ 0 };
        fiber_sleep(r->loop, 60000);
        expect(r, "first", "True", "False");
        assert_string_equal(executed_message(r), BLOCKED(2, 4));
        assert_string_equal(binding_on(r, "member-1", "metadata.uid", now), before);
        end(r, &s);
})

/* A definition of bindings that lets anything in, as another maker's may. */
static void loosen(struct rig *r)
{
#define DEFINITION                                                                                           \
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"                                           \
        "clusterresourcebindings.placement.kubernetes-fleet.io"
        AUTO_FREE char *text = NULL;
        json_t *version;
        size_t i;

        assert_int_equal(rig_get(r, DEFINITION), 200);
        json_array_foreach(doc_get_array(r->answer, "spec.versions"), i, version)
                json_object_set_new(version, "schema",
                                    json_pack("{s:{s:s, s:b}}", "openAPIV3Schema", "type", "object",
                                              "x-kubernetes-preserve-unknown-fields", true));
        text = json_dumps(r->answer, 0);
        assert_int_equal(rig_put(r, DEFINITION, text), 200);
        rig_settle(r);
}

RIG_TEST(a_binding_that_nobody_can_read_is_there_and_not_available, {
        char name[128], path[256];
        struct scene s;

        begin(r, &s, PICK_2, 2);
        loosen(r);
        binding_on(r, "member-2", "metadata.name", name);
        snprintf(path, sizeof(path), BINDINGS "/%s", name);
        assert_int_equal(rig_merge(r, path, "{\"spec\":{\"resourceOverrideSnapshots\":\"none\"}}"), 200);
        allow(r, "\"minAvailable\":1");
        evict(r, "e", "member-1");
        rig_settle(r);
        expect(r, "e", "True", "False");
        assert_string_equal(executed_message(r), BLOCKED(1, 2));
        end(r, &s);
})

/* ---- between the writes ---- */

/* spec/staged-update-and-eviction.md checklist 51 */
RIG_TEST(a_binding_that_changes_meanwhile_is_decided_about_again, {
        char path[256], name[128];
        struct scene s;

        begin(r, &s, PICK_2, 2);
        allow(r, "\"minAvailable\":1");
        s.way = (struct way){ "DELETE", "clusterresourcebindings", .delay_ms = 2000 };
        evict(r, "e", "member-1");
        fiber_sleep(r->loop, 1000);
        expect(r, "e", "True", "absent");
        binding_on(r, "member-1", "metadata.name", name);
        snprintf(path, sizeof(path), BINDINGS "/%s", name);
        assert_int_equal(rig_merge(r, path, "{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}"), 200);
        assert_int_equal(rig_merge(r, BUDGETS "/web", "{\"spec\":{\"minAvailable\":2}}"), 200);
        fiber_sleep(r->loop, 1005); /* refused by now */
        s.way.delay_ms = 0;
        fiber_sleep(r->loop, 5000);
        assert_int_equal(s.way.met, 1);
        expect(r, "e", "True", "False");
        assert_string_equal(executed_message(r), BLOCKED(2, 2));
        assert_string_not_equal(binding_on(r, "member-1", "metadata.name", name), "");
        end(r, &s);
})

/* The agent ends with the request to delete, or before it: the next one finds the binding as it was. */
RIG_TEST(after_a_crash_before_the_deletion_the_decision_is_made_again, {
        char uid[128], now[128];
        struct scene s;

        begin(r, &s, PICK_2, 2);
        allow(r, "\"minAvailable\":1");
        s.way = (struct way){ "DELETE", "clusterresourcebindings", .fate = ERR_TIMEOUT };
        binding_on(r, "member-1", "metadata.uid", uid);
        evict(r, "e", "member-1");
        fiber_sleep(r->loop, 1000);
        expect(r, "e", "True", "absent");
        assert_string_equal(rig_string(r, "status.decision.bindingUID"), uid);
        assert_string_equal(rig_string(r, "status.decision.message"), ALLOWED(2, 2));
        crash(&s);
        start_again(r, &s.fleet);
        rig_settle(r);
        expect(r, "e", "True", "True");
        assert_string_equal(executed_message(r), ALLOWED(2, 2));
        assert_string_equal(rig_string(r, "status.decision.message"), "");
        assert_string_not_equal(binding_on(r, "member-1", "metadata.uid", now), uid);
        end(r, &s);
})

/* All that is left is what the first agent wrote: the binding is gone, and so is the budget. */
RIG_TEST(after_a_crash_behind_the_deletion_the_eviction_says_what_was_decided, {
        char uid[128], now[128];
        struct scene s;

        begin(r, &s, PICK_2, 2);
        allow(r, "\"minAvailable\":1");
        binding_on(r, "member-1", "metadata.uid", uid);
        s.way = (struct way){ "PATCH", "evictions/e/status", .fate = ERR_TIMEOUT, .first = 1 };
        evict(r, "e", "member-1");
        rig_settle(r);
        assert_int_equal(s.way.met, 2);
        assert_string_not_equal(binding_on(r, "member-1", "metadata.uid", now), uid);
        expect(r, "e", "True", "absent");
        crash(&s);
        rig_delete(r, BUDGETS "/web");
        start_again(r, &s.fleet);
        rig_settle(r);
        expect(r, "e", "True", "True");
        assert_string_equal(executed_message(r), ALLOWED(2, 2));
        assert_string_equal(rig_string(r, "status.decision.message"), "");
        end(r, &s);
})

/* The first agent's request to delete is still on its way when the second one decides otherwise. */
RIG_TEST(a_decision_that_is_taken_back_deletes_nothing_later_either, {
        char uid[128], now[128];
        struct scene s;

        begin(r, &s, PICK_2, 2);
        allow(r, "\"minAvailable\":1");
        binding_on(r, "member-1", "metadata.uid", uid);
        s.way = (struct way){ "DELETE", "clusterresourcebindings", .delay_ms = 10000 };
        evict(r, "e", "member-1");
        fiber_sleep(r->loop, 1000);
        expect(r, "e", "True", "absent");
        crash(&s);
        assert_int_equal(rig_merge(r, BUDGETS "/web", "{\"spec\":{\"minAvailable\":2}}"), 200);
        start_again(r, &s.fleet);
        rig_settle(r);
        expect(r, "e", "True", "False");
        assert_string_equal(executed_message(r), BLOCKED(2, 2));
        fiber_sleep(r->loop, 30000);
        assert_string_equal(binding_on(r, "member-1", "metadata.uid", now), uid);
        end(r, &s);
})

/* It is not told before it is so: who reads the answer relies on it. */
RIG_TEST(a_decision_is_taken_back_before_that_is_told, {
        struct scene s;

        begin(r, &s, PICK_2, 2);
        allow(r, "\"minAvailable\":1");
        s.way = (struct way){ "DELETE", "clusterresourcebindings", .delay_ms = 10000 };
        evict(r, "e", "member-1");
        fiber_sleep(r->loop, 1000);
        crash(&s);
        assert_int_equal(rig_merge(r, BUDGETS "/web", "{\"spec\":{\"minAvailable\":2}}"), 200);
        s.way = (struct way){ "PATCH", "clusterresourcebindings", .fate = 503 };
        start_again(r, &s.fleet);
        rig_settle(r);
        assert_true(s.way.met > 0);
        expect(r, "e", "True", "absent");
        s.way = (struct way){ 0 };
        fiber_sleep(r->loop, 60000);
        expect(r, "e", "True", "False");
        end(r, &s);
})

/* ---- what members report ---- */

RIG_TEST(what_members_could_not_apply_is_evicted_past_the_budget, {
        struct scene s;

        begin(r, &s, PICK_2, 2);
        allow(r, "\"minAvailable\":2");
        evict(r, "early", "member-1");
        rig_settle(r);
        expect(r, "early", "True", "False");
        report_works(&s.fleet, "False", "False");
        rig_settle(r);
        evict(r, "e", "member-1");
        rig_settle(r);
        expect(r, "e", "True", "True");
        end(r, &s);
})

/* ---- switched off ---- */

RIG_TEST(without_evictions_nothing_becomes_of_one, {
        char name[128];
        struct scene s;

        begin(r, &s, PICK_ALL, 1);
        stop(&s.fleet);
        s.fleet.without_evictions = true;
        start_again(r, &s.fleet);
        evict(r, "e", "member-1");
        settle(&s.fleet);
        expect(r, "e", "absent", "absent");
        assert_string_not_equal(binding_on(r, "member-1", "metadata.name", name), "");
        end(r, &s);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_eviction_takes_the_binding_away_and_says_so),
                cmocka_unit_test(the_metric_tells_what_became_of_an_eviction_until_it_is_deleted),
                cmocka_unit_test(what_was_decided_stays_decided),
                cmocka_unit_test(of_two_evictions_at_once_the_second_finds_the_budget_used),
                cmocka_unit_test(a_decision_that_is_not_carried_out_yet_uses_the_budget_too),
                cmocka_unit_test(what_is_decided_rests_on_what_the_server_has_now),
                cmocka_unit_test(a_decision_that_was_not_heard_of_is_taken_again_before_anything_is_deleted),
                cmocka_unit_test(a_binding_that_nobody_can_read_is_there_and_not_available),
                cmocka_unit_test(a_binding_that_changes_meanwhile_is_decided_about_again),
                cmocka_unit_test(after_a_crash_before_the_deletion_the_decision_is_made_again),
                cmocka_unit_test(after_a_crash_behind_the_deletion_the_eviction_says_what_was_decided),
                cmocka_unit_test(a_decision_that_is_taken_back_deletes_nothing_later_either),
                cmocka_unit_test(a_decision_is_taken_back_before_that_is_told),
                cmocka_unit_test(what_members_could_not_apply_is_evicted_past_the_budget),
                cmocka_unit_test(without_evictions_nothing_becomes_of_one),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
