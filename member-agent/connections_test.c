/* What is told of the agent's two ways, and where: connections.h. */
#include "member-agent/member_agent_test.h"

#define HUB_EVENTS NS "/fleet-member-m1/events"
#define MEMBER_EVENTS NS "/fleet-system/events"

/* What becomes of requests to a cluster, or to a part of it. */
struct way {
        const char *cluster; /* NULL: all is well */
        const char *path;
        int fate;
};

static int fate_of(void *ctx, const struct http_request *rq)
{
        const struct way *w = ctx;
        bool meant =
                w->cluster && text_equal(rq->endpoint->base_url, w->cluster) && strstr(rq->path, w->path);

        return meant ? w->fate : 0;
}

static bool cut(void *ctx, const struct http_request *rq)
{
        return fate_of(ctx, rq) != 0;
}

/* Events with this reason and type about an object of this kind and name, whose message holds `words`. */
static int64_t events(struct rig *r, const char *cluster, const char *type, const char *reason,
                      const char *kind, const char *name, const char *words)
{
        size_t i;
        json_t *e;
        int64_t n = 0;

        get(r, cluster, text_equal(cluster, HUB) ? HUB_EVENTS : MEMBER_EVENTS);
        json_array_foreach(doc_get_array(r->answer, "items"), i, e)
                if (text_equal(doc_get_string(e, "reason"), reason) &&
                    text_equal(doc_get_string(e, "type"), type) &&
                    text_equal(doc_get_string(e, "involvedObject.kind"), kind) &&
                    text_equal(doc_get_string(e, "involvedObject.name"), name) &&
                    strstr(doc_get_string(e, "message"), words))
                        n += doc_get_int(e, "count", 1);
        return n;
}

static void begin_on(struct agent *a, struct rig *r, const struct loopback_faults *faults)
{
        begin(a, r);
        a->options.pod_namespace = "fleet-system";
        a->options.pod_name = "member-agent-7d4";
        meet(a, faults);
        post(r, MEMBER, NS, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'fleet-system'}}");
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_int_equal(fiber_sleep(r->loop, 2000), 0);
}

static void hub_body(struct rig *r)
{
        struct way way = { 0 };
        const struct loopback_faults faults = { .ctx = &way, .fate = fate_of, .cut_stream = cut };
        struct agent a;

        begin_on(&a, r, &faults);
        way = (struct way){ HUB, "/", ERR_RETRY };
        merge(r, HUB, IMCS "/m1", "{'metadata':{'labels':{'x':'1'}}}"); /* cuts the watch */
        assert_int_equal(fiber_sleep(r->loop, 200000), 0);
        assert_int_equal(events(r, MEMBER, "Warning", "ConnectionFailed", "Pod", "member-agent-7d4",
                                "connection to the hub: "),
                         1);
        assert_int_equal(
                events(r, MEMBER, "Normal", "ConnectionRestored", "Pod", "member-agent-7d4", "over: "), 0);
        way.cluster = NULL;
        assert_int_equal(fiber_sleep(r->loop, 100000), 0);
        assert_int_equal(events(r, MEMBER, "Normal", "ConnectionRestored", "Pod", "member-agent-7d4",
                                "connection to the hub: over: "),
                         1);
        assert_int_equal(events(r, HUB, "Warning", "ConnectionFailed", "InternalMemberCluster", "m1", ""), 0);
        stop(&a);
}

static void troubles_with_the_hub_are_told_on_the_own_cluster(void **state)
{
        rig_run(hub_body);
}

static void member_body(struct rig *r)
{
        struct way way = { 0 };
        const struct loopback_faults faults = { .ctx = &way, .fate = fate_of, .cut_stream = cut };
        struct agent a;

        begin_on(&a, r, &faults);
        way = (struct way){ MEMBER, "/", ERR_RETRY };
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'2'}}");
        assert_int_equal(fiber_sleep(r->loop, 200000), 0);
        assert_int_equal(events(r, HUB, "Warning", "ConnectionFailed", "InternalMemberCluster", "m1",
                                "connection to the member cluster: "),
                         1);
        way.cluster = NULL;
        assert_int_equal(fiber_sleep(r->loop, 100000), 0);
        assert_int_equal(events(r, HUB, "Normal", "ConnectionRestored", "InternalMemberCluster", "m1",
                                "connection to the member cluster: over: "),
                         1);
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_string_equal(rig_string(r, "data.k"), "1");
        assert_int_equal(events(r, MEMBER, "Warning", "ConnectionFailed", "Pod", "member-agent-7d4", ""), 0);
        stop(&a);
}

static void troubles_with_the_own_cluster_are_told_on_the_hub(void **state)
{
        rig_run(member_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(troubles_with_the_hub_are_told_on_the_own_cluster),
                cmocka_unit_test(troubles_with_the_own_cluster_are_told_on_the_hub),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
