/* Two hub agents that share placements: each placement, with all that hangs on it, is one's alone. */
#include "common/ctrl/shards_plan.h"
#include "hub-agent/hub_agent_test.h"
#include "hub-agent/shards.h"

#define N 8
#define PLACEMENTS 6
#define LEASES "/apis/coordination.k8s.io/v1/namespaces/fleet-system/leases"

/* ---- which placement a key belongs to ---- */

static void the_key_of_a_placement_is_its_own(void **state)
{
        AUTO_KEY struct key key = KEY_EMPTY;

        assert_int_equal(placement_of_self(NULL, "team/web", NULL, &key), 0);
        assert_string_equal(key.text, "team/web");
}

/* ---- two agents ---- */

static void start_replica(struct rig *r, struct fleet *f, const char *identity)
{
        *f = (struct fleet){
                .rig = r, .world = r->world, .leader_election = true, .shards = N, .identity = identity
        };
        f->sink = (struct log_sink){ write_line, wall_of, f, LOG_TEXT,
                                     getenv("HUB_TEST_LOG") ? LOG_DEBUG : LOG_WARN };
        f->log = (struct log){ .sink = &f->sink };
        f->world.transport = r->client;
        f->metrics = metrics_new(METRIC_OF_HUB);
        start_again(r, f);
}

static const char *name_of(struct rig *r, int i)
{
        return arena_printf(&r->arena, "app-%d", i);
}

static void place_all(struct rig *r)
{
        for (int i = 0; i < PLACEMENTS; i++)
                assert_int_equal(
                        rig_post(
                                r, FLEET "clusterresourceplacements",
                                arena_printf(&r->arena,
                                             "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\","
                                             "\"kind\":\"ClusterResourcePlacement\",\"metadata\":{\"name\":"
                                             "\"%s\"},\"spec\":{\"resourceSelectors\":[{\"group\":\"\","
                                             "\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":\"app\"}]}}",
                                             name_of(r, i))),
                        201);
}

/* Whether the agent's metrics tell of the placement. */
static bool shows(struct fleet *f, const char *placement)
{
        const char *label = arena_printf(&f->rig->arena, "{namespace=\"\",name=\"%s\",", placement);
        AUTO_BUF struct buf b;
        bool found;

        buf_init(&b, 1u << 22);
        assert_int_equal(metrics_print(f->metrics, &b), 0);
        found = strstr(b.data, label) != NULL;
        return found;
}

static bool owns(struct rig *r, const struct fleet *f, const char *placement)
{
        assert_int_equal(
                rig_get(r, arena_printf(&r->arena, LEASES "/136224848560.hub.fleet.azure.com-shard-%u-of-%u",
                                        shard_of_key(placement, N), N)),
                200);
        return text_equal(rig_string(r, "spec.holderIdentity"), f->identity);
}

static void each_shows_its_own(struct rig *r, struct fleet *a, struct fleet *b)
{
        for (int i = 0; i < PLACEMENTS; i++) {
                assert_int_equal(shows(a, name_of(r, i)), owns(r, a, name_of(r, i)));
                assert_int_equal(shows(b, name_of(r, i)), owns(r, b, name_of(r, i)));
                assert_int_equal(shows(a, name_of(r, i)) + shows(b, name_of(r, i)), 1);
        }
}

static void wait_s(struct rig *r, int s)
{
        assert_int_equal(fiber_sleep(r->loop, s * 1000), 0);
}

RIG_TEST(each_placement_is_one_agents_and_the_others_when_it_leaves, {
        struct fleet a;
        struct fleet b;
        install_kinds(r);
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"fleet-system\"}}");
        start_replica(r, &a, "a");
        wait_s(r, 2);
        add_member(&a, "member-1", "");
        add_app(r);
        place_all(r);
        settle(&a);
        for (int i = 0; i < PLACEMENTS; i++)
                assert_true(shows(&a, name_of(r, i)));
        start_replica(r, &b, "b");
        wait_s(r, 30);
        assert_true(metric_value(a.metrics, METRIC_SHARDS_HELD, NULL) == 4);
        assert_true(metric_value(b.metrics, METRIC_SHARDS_HELD, NULL) == 4);
        each_shows_its_own(r, &a, &b); /* what was given up is not shown twice */
        rig_merge(r, "/api/v1/namespaces/app", "{\"metadata\":{\"labels\":{\"new\":\"label\"}}}");
        wait_s(r, 2);
        settle(&a);
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 2 * PLACEMENTS);
        assert_int_equal(count(r, FLEET "works"), PLACEMENTS);
        stop(&a);
        wait_s(r, 8);
        assert_true(metric_value(b.metrics, METRIC_SHARDS_HELD, NULL) == N);
        for (int i = 0; i < PLACEMENTS; i++)
                assert_true(shows(&b, name_of(r, i)));
        assert_int_equal(count(r, FLEET "clusterresourcebindings"), PLACEMENTS);
        stop(&b);
        metrics_free(a.metrics);
        metrics_free(b.metrics);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_key_of_a_placement_is_its_own),
                cmocka_unit_test(each_placement_is_one_agents_and_the_others_when_it_leaves),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
