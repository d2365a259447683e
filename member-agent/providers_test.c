/* What a whole agent tells by its providers: spec/member-agent.md 3.3, 4. */
#include "member-agent/member_agent_test.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

/* Requests for some path get no answer while `on`. */
struct way {
        const char *path;
        bool on;
};

static int fate_of(void *ctx, const struct http_request *rq)
{
        const struct way *w = ctx;

        return w->on && strstr(rq->path, w->path) ? 500 : 0;
}

static bool cut_stream(void *ctx, const struct http_request *rq)
{
        return fate_of(ctx, rq) != 0;
}

struct scene {
        struct agent agent;
        struct way way;
        struct loopback_faults faults;
};

static void put_node(struct rig *r, const char *name, const char *machine)
{
        post(r, MEMBER, "/api/v1/nodes",
             arena_printf(&r->arena,
                          "{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s','labels':{"
                          "'beta.kubernetes.io/instance-type':'%s','topology.kubernetes.io/region':'west'}}}",
                          name, machine));
        merge(r, MEMBER, arena_printf(&r->arena, "/api/v1/nodes/%s/status", name),
              "{'status':{'capacity':{'cpu':'4','memory':'8Gi'},'allocatable':{'cpu':'4','memory':'8Gi'}}}");
}

static void put_map(struct rig *r, const char *name, const char *data)
{
        post(r, MEMBER, MAPS,
             arena_printf(&r->arena,
                          "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'%s'},'data':{%s}}", name,
                          data));
}

static void open_scene(struct scene *s, struct rig *r, struct property_settings settings)
{
        s->faults = (struct loopback_faults){ .ctx = &s->way, .fate = fate_of, .cut_stream = cut_stream };
        prepare_clusters(r);
        post(r, HUB, IMCS,
             "{'apiVersion':'cluster.kubernetes-fleet.io/v1beta1','kind':'InternalMemberCluster','metadata':{"
             "'name':'m1'},'spec':{'state':'Join','heartbeatPeriodSeconds':10}}");
        start(&s->agent, r, ":memory:");
        s->agent.options.properties = settings;
        meet(&s->agent, &s->faults);
}

/* The agent ends and another one begins. */
static void reopen(struct scene *s, struct rig *r, struct property_settings settings)
{
        stop(&s->agent);
        start(&s->agent, r, ":memory:");
        s->agent.options.properties = settings;
        meet(&s->agent, &s->faults);
}

static const char *property(struct rig *r, const char *name)
{
        const char *const path[] = { "status", "properties", name, "value" };

        get(r, HUB, IMCS "/m1");
        return json_string_value(doc_get_keys(r->answer, path, ARRAY_LEN(path)));
}

static const char *message(struct rig *r, const char *type)
{
        json_t *c;
        size_t i;

        get(r, HUB, IMCS "/m1");
        json_array_foreach(doc_get_array(r->answer, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return doc_get_string(c, "message");
        return NULL;
}

/* At most a minute. NULL: until there is none. */
static int64_t wait_for_property(struct rig *r, const char *name, const char *value)
{
        int64_t begin = loop_now_ms(r->loop);

        while (!text_equal(property(r, name), value)) {
                if (loop_now_ms(r->loop) - begin > 60000)
                        fail_msg("%s is %s", name, property(r, name));
                assert_int_equal(fiber_sleep(r->loop, 10), 0);
        }
        return loop_now_ms(r->loop) - begin;
}

static bool has_event(struct rig *r, const char *reason, const char *type)
{
        json_t *e;
        size_t i;

        get(r, HUB, "/api/v1/namespaces/fleet-member-m1/events");
        json_array_foreach(doc_get_array(r->answer, "items"), i, e)
                if (text_equal(doc_get_string(e, "reason"), reason) &&
                    text_equal(doc_get_string(e, "type"), type))
                        return true;
        return false;
}

/* It is queued when the status has been written, and comes a while after it. */
static void wait_for_event(struct rig *r, const char *reason, const char *type)
{
        int64_t begin = loop_now_ms(r->loop);

        while (!has_event(r, reason, type)) {
                if (loop_now_ms(r->loop) - begin > 10000)
                        fail_msg("there is no %s event %s", type, reason);
                assert_int_equal(fiber_sleep(r->loop, 10), 0);
        }
}

#define PRICES "'prices.yaml':'regions: { west: { small: 0.2, large: 0.6 } }'"
static const struct property_settings azure = {
        .azure = true, .costs = true, .price_ns = "default", .prices = "prices"
};
static const struct property_settings with_own = { .own_ns = "default", .own = "own" };

/* ---- machines and costs ---- */

static void costs_body(struct rig *r)
{
        struct scene s = { 0 };

        open_scene(&s, r, azure);
        put_node(r, "n1", "small");
        put_node(r, "n2", "large");
        put_map(r, "prices", PRICES);
        wait_for_property(r, "kubernetes.azure.com/per-cpu-core-cost", "0.100");
        assert_string_equal(property(r, "kubernetes.azure.com/per-gb-memory-cost"), "0.050");
        assert_string_equal(property(r, "kubernetes.azure.com/vm-sizes/small/count"), "1");
        assert_string_equal(property(r, "kubernetes.azure.com/vm-sizes/large/count"), "1");
        assert_string_equal(property(r, "kubernetes-fleet.io/node-count"), "2");
        assert_string_equal(message(r, "AKSClusterCostPropertiesCollectionSucceeded"),
                            "All costs are calculated");
        assert_string_equal(message(r, "ClusterPropertyProviderStarted"),
                            "The property provider has started successfully");
        assert_string_equal(message(r, "ClusterPropertyCollectionSucceeded"),
                            "The property provider has returned the latest cluster properties");
        wait_for_event(r, "Started", "Normal");
        merge(r, MEMBER, MAPS "/prices",
              "{'data':{'prices.yaml':'regions: { west: { small: 1, large: 1 } }'}}");
        wait_for_property(r, "kubernetes.azure.com/per-cpu-core-cost", "0.250");
        merge(r, MEMBER, MAPS "/prices", "{'data':{'prices.yaml':'regions: { west: { small: 1 } }'}}");
        wait_for_property(r, "kubernetes.azure.com/per-cpu-core-cost", NULL);
        assert_string_equal(message(r, "AKSClusterCostPropertiesCollectionSucceeded"),
                            "There is no price in region west for: large");
        merge(r, MEMBER, MAPS "/prices", "{'data':{'prices.yaml':'regions: [', 'other': 'x'}}");
        wait_for(r, HUB, IMCS "/m1", "type=AKSClusterCostPropertiesCollectionSucceeded",
                 "CostsCalculationFailed");
        assert_int_equal(fiber_sleep(r->loop, 11000), 0);
        assert_non_null(strstr(message(r, "AKSClusterCostPropertiesCollectionSucceeded"),
                               "ConfigMap default/prices, prices.yaml: "));
        delete (r, MEMBER, MAPS "/prices");
        assert_int_equal(fiber_sleep(r->loop, 11000), 0);
        assert_string_equal(message(r, "AKSClusterCostPropertiesCollectionSucceeded"),
                            "There are no prices: there is no ConfigMap default/prices");
        reopen(&s, r, (struct property_settings){ 0 }); /* the operator has changed his mind */
        wait_for_property(r, "kubernetes.azure.com/vm-sizes/small/count", NULL);
        assert_null(message(r, "AKSClusterCostPropertiesCollectionSucceeded"));
        assert_null(message(r, "ClusterPropertyProviderStarted"));
        assert_null(message(r, "ClusterPropertyCollectionSucceeded"));
        stop(&s.agent);
}

static void machines_and_costs_are_told_by_a_table_of_prices(void **state)
{
        rig_run(costs_body);
}

/* ---- start and collection ---- */

static void failed_body(struct rig *r)
{
        struct scene s = { 0 };

        open_scene(&s, r, azure); /* no node says a region */
        put_map(r, "prices", PRICES);
        wait_for(r, HUB, IMCS "/m1", "type=ClusterPropertyProviderStarted", "FailedToStart");
        assert_non_null(strstr(message(r, "ClusterPropertyProviderStarted"),
                               "Failed to start the property provider: no node says its region"));
        wait_for_event(r, "FailedToStart", "Warning");
        assert_string_equal(property(r, "kubernetes-fleet.io/node-count"), "0");
        assert_null(message(r, "ClusterPropertyCollectionSucceeded"));
        put_node(r, "n1", "small");
        wait_for_property(r, "kubernetes.azure.com/per-cpu-core-cost", "0.050");
        assert_string_equal(message(r, "ClusterPropertyProviderStarted"),
                            "The property provider has started successfully");
        stop(&s.agent);
}

static void a_start_that_fails_is_told_and_mends_itself(void **state)
{
        rig_run(failed_body);
}

static void late_body(struct rig *r)
{
        struct scene s = { .way = { "/configmaps", true } };
        int64_t waited;

        open_scene(&s, r, azure);
        put_node(r, "n1", "small");
        put_map(r, "prices", PRICES);
        waited = wait_for(r, HUB, IMCS "/m1", "type=ClusterPropertyProviderStarted", "TimedOut");
        assert_in_range(waited, 8000, 22000);
        assert_string_equal(message(r, "ClusterPropertyProviderStarted"),
                            "The property provider does not start up in time");
        wait_for_event(r, "TimedOut", "Warning");
        assert_string_equal(property(r, "kubernetes-fleet.io/node-count"), "1"); /* the built-in path */
        assert_null(property(r, "kubernetes.azure.com/vm-sizes/small/count"));
        s.way.on = false;
        wait_for_property(r, "kubernetes.azure.com/per-cpu-core-cost", "0.050");
        stop(&s.agent);
}

/* spec/member-agent.md checklist 57, the start */
static void a_start_of_more_than_ten_seconds_is_given_up_for_the_built_in_path(void **state)
{
        rig_run(late_body);
}

static void silent_body(struct rig *r)
{
        struct scene s = { .way = { "/nodes", false } };

        open_scene(&s, r, azure);
        put_node(r, "n1", "small");
        put_map(r, "prices", PRICES);
        wait_for_property(r, "kubernetes.azure.com/per-cpu-core-cost", "0.050");
        s.way.on = true;
        devcluster_cut_watches(r->devcluster, "m1", false);
        merge(r, MEMBER, MAPS "/prices", "{'data':{'prices.yaml':'regions: { west: { small: 1 } }'}}");
        wait_for(r, HUB, IMCS "/m1", "type=ClusterPropertyCollectionSucceeded", "TimedOut");
        assert_string_equal(message(r, "ClusterPropertyCollectionSucceeded"),
                            "The property provider does not respond in time");
        wait_for_event(r, "TimedOut", "Warning");
        assert_string_equal(property(r, "kubernetes.azure.com/per-cpu-core-cost"), "0.050"); /* kept */
        s.way.on = false;
        wait_for_property(r, "kubernetes.azure.com/per-cpu-core-cost", "0.250");
        wait_for(r, HUB, IMCS "/m1", "type=ClusterPropertyCollectionSucceeded", "PropertiesCollected");
        stop(&s.agent);
}

/* spec/member-agent.md checklist 57, the collection */
static void a_collection_of_more_than_ten_seconds_keeps_what_was_told(void **state)
{
        rig_run(silent_body);
}

/* ---- of the operator's own ---- */

static void own_body(struct rig *r)
{
        struct scene s = { 0 };

        open_scene(&s, r, with_own);
        wait_for(r, HUB, IMCS "/m1", "type=OwnPropertiesCollectionSucceeded", "ConfigMapNotFound");
        put_map(r, "own", "'gpus':'4','more.yaml':'example.com/tier: 2'");
        put_map(r, "other", "'gpus':'9'");
        wait_for_property(r, "gpus", "4");
        assert_string_equal(property(r, "example.com/tier"), "2");
        wait_for(r, HUB, IMCS "/m1", "type=OwnPropertiesCollectionSucceeded", "PropertiesCollected");
        merge(r, MEMBER, MAPS "/own",
              "{'data':{'gpus':'5','bad.yaml':'k8s.io/k8s-version: 1\\nother: [x]'}}");
        wait_for_property(r, "gpus", "5");
        assert_non_null(property(r, "k8s.io/k8s-version"));
        assert_string_not_equal(property(r, "k8s.io/k8s-version"), "1");
        assert_string_equal(message(r, "OwnPropertiesCollectionSucceeded"),
                            "ConfigMap default/own: 2 left out: other: its value is neither a number nor a "
                            "text; k8s.io/k8s-version: the agent tells of it by itself");
        delete (r, MEMBER, MAPS "/own");
        wait_for_property(r, "gpus", NULL);
        wait_for(r, HUB, IMCS "/m1", "type=OwnPropertiesCollectionSucceeded", "ConfigMapNotFound");
        stop(&s.agent);
}

static void own_properties_come_from_a_config_map_and_bad_ones_are_named(void **state)
{
        rig_run(own_body);
}

/* Who starts anew does not take back for a moment what was told before. */
static void restarted_body(struct rig *r)
{
        struct scene s = { 0 };
        int64_t until;

        open_scene(&s, r, with_own);
        put_map(r, "own", "'gpus':'4'");
        wait_for_property(r, "gpus", "4");
        s.way = (struct way){ "/configmaps", true };
        reopen(&s, r, with_own);
        until = loop_now_ms(r->loop) + 9000;
        while (loop_now_ms(r->loop) < until) {
                assert_string_equal(property(r, "gpus"), "4");
                assert_int_equal(fiber_sleep(r->loop, 100), 0);
        }
        wait_for_property(r, "gpus", NULL);
        wait_for(r, HUB, IMCS "/m1", "type=OwnPropertiesCollectionSucceeded", "TimedOut");
        s.way.on = false;
        wait_for_property(r, "gpus", "4");
        stop(&s.agent);
}

static void an_agent_that_starts_anew_takes_nothing_back_at_once(void **state)
{
        rig_run(restarted_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(machines_and_costs_are_told_by_a_table_of_prices),
                cmocka_unit_test(a_start_that_fails_is_told_and_mends_itself),
                cmocka_unit_test(a_start_of_more_than_ten_seconds_is_given_up_for_the_built_in_path),
                cmocka_unit_test(a_collection_of_more_than_ten_seconds_keeps_what_was_told),
                cmocka_unit_test(own_properties_come_from_a_config_map_and_bad_ones_are_named),
                cmocka_unit_test(an_agent_that_starts_anew_takes_nothing_back_at_once),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
