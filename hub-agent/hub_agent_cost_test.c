/* What placements cost: hub agent and real member agents against devcluster, requests counted. */
#include <stdlib.h>

#include "hub-agent/app_test.h"
#include "member-agent/member_agent.h"

#define member_crd hub_agent_member_crd

/* An API server that takes its time: one request after the other. */
struct busy_server {
        struct loop *loop; /* NULL = not busy */
        int64_t free_at_ms;
        int64_t probe_ms; /* that an answer to /readyz takes */
};

struct fleet {
        struct busy_server server;
        struct rig *rig;
        struct fiber_group *group;
        struct world world;
        struct log_sink sink;
        struct log log;
        struct loopback_faults line;
};

#define BUSY_REQUEST_MS 4

static int64_t wait_for_turn(void *ctx, const struct http_request *rq, bool answer)
{
        struct busy_server *b = ctx;
        int64_t now = b->loop ? loop_now_ms(b->loop) : 0;

        if (b->probe_ms > 0 && answer && text_starts_with(rq->path, "/readyz"))
                return b->probe_ms;
        if (!b->loop || answer || rq->priority != HTTP_NORMAL)
                return 0;
        b->free_at_ms = MAX(b->free_at_ms, now) + BUSY_REQUEST_MS;
        return b->free_at_ms - now;
}

/* ---- the agent ---- */

static void write_line(void *ctx, const char *line, size_t n)
{
        fwrite(line, 1, n, stderr);
}
static int64_t wall_of(void *ctx)
{
        return loop_wall_ms(((struct fleet *)ctx)->rig->loop);
}

static void agent_fiber(void *ctx)
{
        struct fleet *f = ctx;
        struct error err = { 0 };
        struct hub_agent_options o = { .world = &f->world,
                                       .log = &f->log,
                                       .hub = &f->rig->endpoint,
                                       .without_inventory = true,
                                       .metrics_port = -1,
                                       .health_port = -1,
                                       .resource_snapshot_min_interval_ms = 0,
                                       .resource_change_collect_ms = 0 };

        assert_int_equal(hub_agent_run(&o, &err), ERR_CANCELLED);
}

/* ---- members ---- */

struct member {
        struct fleet *fleet;
        char name[32], url[64];
        struct http_endpoint hub, own;
};

static void member_fiber(void *ctx)
{
        struct member *m = ctx;
        struct error err = { 0 };
        struct member_agent_options o = { .world = &m->fleet->world,
                                          .log = &m->fleet->log,
                                          .member_name = m->name,
                                          .hub = &m->hub,
                                          .member = &m->own,
                                          .state_path = ":memory:",
                                          .metrics_port = -1,
                                          .health_port = -1 };

        assert_int_equal(member_agent_run(&o, &err), ERR_CANCELLED);
}

static void add_member(struct fleet *f, struct member *m, int i)
{
        char body[512];
        struct error err = { 0 };

        *m = (struct member){ .fleet = f, .hub = f->rig->endpoint };
        snprintf(m->name, sizeof(m->name), "member-%d", i);
        snprintf(m->url, sizeof(m->url), "https://dev/clusters/member-%d", i);
        m->own.base_url = m->url;
        assert_int_equal(devcluster_create_cluster(f->rig->devcluster, m->name, &err), 0);
        f->rig->endpoint.base_url = m->url;
        for (size_t k = 0; member_crd(k); k++)
                assert_int_equal(rig_post(f->rig, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                                          member_crd(k)),
                                 201);
        f->rig->endpoint.base_url = (char *)BASE;
        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"cluster.kubernetes-fleet.io/"
                 "v1beta1\",\"kind\":\"MemberCluster\",\"metadata\":"
                 "{\"name\":\"%s\"},\"spec\":{\"identity\":{\"kind\":\"ServiceAccount\",\"name\":\"%s\","
                 "\"namespace\":\"fleet-system\"}}}",
                 m->name, m->name);
        assert_int_equal(rig_post(f->rig, CLUSTERS "memberclusters", body), 201);
        rig_settle(f->rig);
        assert_non_null(fiber_spawn(f->group, "member", member_fiber, m));
        rig_settle(f->rig);
}

/* ---- fixture ---- */

static void start(struct rig *r, struct fleet *f)
{
        *f = (struct fleet){ .rig = r, .world = r->world };
        f->sink = (struct log_sink){ write_line, wall_of, f, LOG_TEXT,
                                     getenv("HUB_TEST_LOG") ? LOG_DEBUG : LOG_WARN };
        f->log = (struct log){ .sink = &f->sink };
        f->line = (struct loopback_faults){ .ctx = &f->server, .delay = wait_for_turn };
        f->world.transport = loopback_transport(r->net, &f->world, &f->line);
        assert_non_null(f->world.transport);
        install_kinds(r);
        f->group = fiber_group_new(r->loop, NULL, "agents");
        assert_non_null(fiber_spawn(f->group, "hub-agent", agent_fiber, f));
        rig_settle(r);
}

static void stop(struct fleet *f)
{
        fiber_group_end(f->group);
        http_transport_free(f->world.transport);
}

/* ---- tests ---- */

/* Requests on the hub, but for the test's own and, when idle, heartbeats. */
static uint64_t count_requests(struct rig *r, bool idle)
{
        struct devcluster_request_count *c;
        uint64_t sum = 0;
        size_t n;

        assert_int_equal(devcluster_requests(r->devcluster, "hub", &r->arena, &c, &n), 0);
        for (size_t i = 0; i < n; i++) {
                bool heartbeat = strstr(c[i].resource, "memberclusters/status") != NULL;
                bool own = text_equal(c[i].resource, "clusterresourceplacements") &&
                           !text_equal(c[i].verb, "patch");

                if (getenv("HUB_TEST_LOG"))
                        printf("%s %s %llu\n", c[i].verb, c[i].resource, (unsigned long long)c[i].n);
                sum += (idle && heartbeat) || own ? 0 : c[i].n;
        }
        return sum;
}

static int64_t wait_available(struct rig *r)
{
        int64_t begin = loop_now_ms(r->loop);

        for (int i = 0; i < 500; i++) {
                fiber_sleep(r->loop, 10);
                rig_get(r, FLEET "clusterresourceplacements/web");
                if (text_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True"))
                        break;
        }
        return loop_now_ms(r->loop) - begin;
}

static void place_on_three(struct rig *r)
{
        struct member m[3];
        struct fleet f;

        start(r, &f);
        for (int i = 0; i < 3; i++)
                add_member(&f, &m[i], i + 1);
        add_app(r);
        rig_post(r, "/api/v1/namespaces/app/secrets",
                 "{\"metadata\":{\"name\":\"key\"},\"stringData\":{\"a\":\"b\"}}");
        assert_int_equal(r->status, 201);
        rig_settle(r);
        rig_settle(r);
        devcluster_reset_requests(r->devcluster);
        place(r, "");
        assert_in_range(wait_available(r), 0, 300);
        rig_settle(r);
        rig_settle(r);
        assert_in_range(count_requests(r, false), 15, 24);
        assert_int_equal(count_of(r, "member-1", "create", "secrets"), 1);
        assert_int_equal(count_of(r, "member-1", "get", "secrets"), 0);
        assert_int_equal(count_of(r, "member-1", "get", "namespaces"), 0);
        devcluster_reset_requests(r->devcluster);
        for (int i = 0; i < 120; i++)
                rig_settle(r);
        assert_int_equal(count_requests(r, true), 0);
        stop(&f);
}
static void
a_placement_on_three_members_costs_few_requests_and_an_idle_fleet_writes_heartbeats_only(void **state)
{
        rig_run(place_on_three);
}

/* The age of the newest heartbeat that the hub shows, in whole seconds as it is shown. */
static int64_t seconds_since_seen(struct rig *r, const char *member)
{
        char path[128];
        int64_t seen = TIME_NONE;

        snprintf(path, sizeof(path), CLUSTERS "memberclusters/%s", member);
        rig_get(r, path);
        json_t *agent = json_array_get(doc_get_array(r->answer, "status.agentStatus"), 0);
        assert_int_equal(time_parse_rfc3339(slice_of(doc_get_string(agent, "lastReceivedHeartbeat")), &seen),
                         0);
        return (loop_wall_ms(r->loop) - seen) / 1000;
}

enum { PERIOD_S = 15, PERIODS = 40 };

static void heartbeats_body(struct rig *r)
{
        struct member m;
        struct fleet f;

        start(r, &f);
        add_member(&f, &m, 1);
        rig_merge(r, CLUSTERS "memberclusters/member-1", "{\"spec\":{\"heartbeatPeriodSeconds\":15}}");
        assert_int_equal(r->status, 200);
        fiber_sleep(r->loop, 5000);
        devcluster_reset_requests(r->devcluster);
        for (int i = 0; i < PERIOD_S * PERIODS * 2; i++) {
                fiber_sleep(r->loop, 500);
                assert_in_range(seconds_since_seen(r, "member-1"), 0, PERIOD_S + 2);
        }
        assert_in_range(count_of(r, "hub", "patch", "internalmemberclusters/status"), PERIODS - 1,
                        PERIODS + 1);
        assert_in_range(count_of(r, "hub", "patch", "memberclusters/status"), PERIODS - 1, PERIODS + 1);
        for (f.server.probe_ms = 8000; f.server.probe_ms <= 28000; f.server.probe_ms += 20000)
                for (int i = 0; i < PERIOD_S * 2 * 4;
                     i++) { /* an API server that is slow, and one that hangs */
                        fiber_sleep(r->loop, 500);
                        assert_in_range(seconds_since_seen(r, "member-1"), 0, PERIOD_S + 2);
                }
        stop(&f);
}
static void a_heartbeat_is_seen_within_its_period_and_costs_one_write_on_each_side(void **state)
{
        rig_run(heartbeats_body);
}

enum { MANY = 30 };

static void place_on_many_at_a_busy_server(struct rig *r)
{
        struct member m[MANY];
        struct fleet f;

        start(r, &f);
        for (int i = 0; i < MANY; i++)
                add_member(&f, &m[i], i + 1);
        add_app(r);
        f.server.loop = r->loop;
        devcluster_reset_requests(r->devcluster);
        place(r, "");
        assert_in_range(wait_available(r), 500, 4000);
        assert_int_equal(count_of(r, "hub", "create", "works"), MANY);
        assert_int_equal(count_of(r, "hub", "patch", "works/status"), MANY);
        assert_in_range(count_of(r, "hub", "patch", "clusterresourcebindings/status"), MANY, MANY + 3);
        assert_in_range(count_of(r, "hub", "patch", "clusterresourceplacements/status"), 1, 2);
        stop(&f);
}
static void states_in_between_are_not_written_while_a_busy_server_works_off_a_placement(void **state)
{
        rig_run(place_on_many_at_a_busy_server);
}

/* ---- a burst ---- */

enum { BURST = 200, POLL_MS = 50, PATIENCE_MS = 60000 };

/* Loop times at which things were seen Available, 0 = not yet. */
struct burst {
        int64_t work[BURST], placement[BURST];
        size_t n_placements;
};

static void post_named(struct rig *r, const char *path, const char *format, int i)
{
        char body[512];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(body, sizeof(body), format, i, i);
#pragma GCC diagnostic pop
        assert_int_equal(rig_post(r, path, body), 201);
}

static void place_app(struct rig *r, int i)
{
        post_named(r, FLEET "clusterresourceplacements",
                   "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\","
                   "\"kind\":\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"p-%d\"},"
                   "\"spec\":{\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\","
                   "\"kind\":\"Namespace\",\"name\":\"app-%d\"}]}}",
                   i);
}

static bool is_available(const json_t *o, const char *type)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(o, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return text_equal(doc_get_string(c, "status"), "True") &&
                               doc_get_int(c, "observedGeneration", 0) ==
                                       doc_get_int(o, "metadata.generation", -1);
        return false;
}

/* -1 if it has none. */
static int number_in(const char *name)
{
        return text_starts_with(name, "p-") ? (int)strtol(name + 2, NULL, 10) : -1;
}

/* How many of the list are Available. `times` of those whose name is "p-NUMBER" or begins "p-NUMBER-". */
static size_t look(struct rig *r, const char *path, const char *type, int64_t *times)
{
        size_t i, n = 0;
        json_t *o;

        arena_reset(&r->arena); /* the text of the list before */
        assert_int_equal(rig_get(r, path), 200);
        json_array_foreach(json_object_get(r->answer, "items"), i, o) {
                int number = number_in(doc_get_string(o, "metadata.name"));

                if (!is_available(o, type))
                        continue;
                n++;
                if (number >= 0 && number < BURST && !times[number])
                        times[number] = loop_now_ms(r->loop);
        }
        return n;
}

static void follow(struct rig *r, struct burst *b)
{
        int64_t end = loop_now_ms(r->loop) + PATIENCE_MS;

        while (b->n_placements < BURST && loop_now_ms(r->loop) < end) {
                fiber_sleep(r->loop, POLL_MS);
                b->n_placements = look(r, FLEET "clusterresourceplacements",
                                       "ClusterResourcePlacementAvailable", b->placement);
                look(r, FLEET "namespaces/fleet-member-member-1/works", "Available", b->work);
        }
        assert_int_equal(b->n_placements, BURST);
}

static int64_t longest_lag(const struct burst *b)
{
        int64_t longest = 0;

        for (size_t i = 0; i < BURST; i++)
                longest = MAX(longest, b->placement[i] - b->work[i]);
        return longest;
}

static void place_a_burst_at_a_busy_server(struct rig *r)
{
        struct burst b = { .n_placements = 0 };
        struct member m;
        struct fleet f;
        uint64_t writes;

        start(r, &f);
        add_member(&f, &m, 1);
        for (int i = 0; i < BURST; i++)
                post_named(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"app-%d\"}}", i);
        rig_settle(r);
        f.server.loop = r->loop;
        devcluster_reset_requests(r->devcluster);
        for (int i = 0; i < BURST; i++)
                place_app(r, i);
        follow(r, &b);
        writes = count_of(r, "hub", "patch", "clusterresourcebindings/status") +
                 count_of(r, "hub", "patch", "clusterresourceplacements/status");
        if (getenv("HUB_TEST_LOG"))
                printf("lag %lld ms, %llu status writes\n", (long long)longest_lag(&b),
                       (unsigned long long)writes);
        assert_in_range(longest_lag(&b), 0, 2000);
        assert_in_range(writes, 2 * BURST, 2 * BURST + BURST / 10);
        stop(&f);
}
static void in_a_burst_each_placement_says_available_soon_after_its_last_member(void **state)
{
        rig_run(place_a_burst_at_a_busy_server);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(
                        a_placement_on_three_members_costs_few_requests_and_an_idle_fleet_writes_heartbeats_only),
                cmocka_unit_test(a_heartbeat_is_seen_within_its_period_and_costs_one_write_on_each_side),
                cmocka_unit_test(states_in_between_are_not_written_while_a_busy_server_works_off_a_placement),
                cmocka_unit_test(in_a_burst_each_placement_says_available_soon_after_its_last_member),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
