/* Two hub agents that share placements: each placement, with all that hangs on it, is one's alone. */
#include "common/ctrl/frame.h"
#include "common/ctrl/shards_plan.h"
#include "hub-agent/hub_agent_test.h"
#include "hub-agent/input-provider/input_provider_agent.h"
#include "hub-agent/placement/progress.h"
#include "hub-agent/scheduler/scheduler_agent.h"
#include "hub-agent/shards.h"
#include "hub-agent/source/source_agent.h"
#include "hub-agent/work-generator/work_index.h"

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

/* Caches of one agent, and nothing that works on what they hold. */
struct knowing {
        struct hub_agent agent;
        struct world world;
        struct kube_client kube;
        struct fiber_group *group;
};

static void open_knowing(struct rig *r, struct knowing *k)
{
        struct error err = { 0 };
        struct manager_options o = { .component = "test", .world = &k->world, .log = &r->log };

        *k = (struct knowing){ .world = r->world, .group = fiber_group_new(r->loop, NULL, "knowing") };
        k->world.transport = r->client;
        k->kube = (struct kube_client){
                .world = &k->world, .endpoint = &r->endpoint, .log = &r->log, .field_manager = "test"
        };
        o.kube = &k->kube;
        o.metrics = k->agent.metrics = metrics_new(METRIC_OF_HUB);
        o.interns = k->agent.interns = intern_table_new();
        k->agent.manager = manager_new(&o, k->group, &err);
        assert_non_null(k->agent.manager);
        assert_int_equal(informer_add_index(manager_informer(k->agent.manager, &work_kind), INDEX_BINDING,
                                            emit_work_binding),
                         0);
        manager_informer(k->agent.manager, &cluster_resource_binding_kind);
        manager_informer(k->agent.manager, &cluster_staged_update_run_kind);
        manager_informer(k->agent.manager, &cluster_resource_placement_eviction_kind);
        rig_settle(r);
}

static void close_knowing(struct knowing *k)
{
        manager_free(k->agent.manager);
        fiber_group_end(k->group);
        metrics_free(k->agent.metrics);
        intern_table_free(k->agent.interns);
}

typedef int (*placement_of_fn)(void *agent, const char *key, const struct object *about, struct key *ret);

/* NULL = nobody knows. */
static void expect_placement(struct knowing *k, placement_of_fn of, const char *key, const char *expected)
{
        AUTO_KEY struct key got = KEY_EMPTY;

        assert_int_equal(of(&k->agent, key, NULL, &got), 0);
        if (!text_equal(got.text, expected))
                fail_msg("%s is of %s, not of %s", key, got.text ? got.text : "(nobody)",
                         expected ? expected : "(nobody)");
}

static void post_kind(struct rig *r, const char *path, const char *kind, const char *name, const char *labels,
                      const char *spec)
{
        int status = rig_post(r, path,
                              arena_printf(&r->arena,
                                           "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\","
                                           "\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\",\"labels\":{%s}},"
                                           "\"spec\":{%s}}",
                                           kind, name, labels, spec));

        if (status != 201)
                fail_msg("%s %s: %s", kind, name, r->text);
}

#define WORKS FLEET "namespaces/fleet-member-1/works"
#define OF_WEB "\"" LABEL_PARENT_PLACEMENT "\":\"web\""
#define OF_BINDING(b) "\"" LABEL_PARENT_BINDING "\":\"" b "\""

static void post_binding(struct rig *r, const char *name, const char *labels)
{
        post_kind(r, FLEET "clusterresourcebindings", "ClusterResourceBinding", name, labels,
                  "\"state\":\"Bound\",\"targetCluster\":\"member-1\",\"resourceSnapshotName\":\"web-0\","
                  "\"schedulingPolicySnapshotName\":\"web-0\",\"clusterDecision\":{\"clusterName\":"
                  "\"member-1\",\"selected\":true,\"reason\":\"one\"}");
}

static void post_run(struct rig *r, const char *name, const char *placement)
{
        post_kind(r, FLEET "clusterstagedupdateruns", "ClusterStagedUpdateRun", name, "",
                  arena_printf(&r->arena, "\"placementName\":\"%s\",\"stagedRolloutStrategyName\":\"all\"",
                               placement));
}

/* Whoever has the empty name's shard works on what names no placement: else nobody did. */
RIG_TEST(what_names_no_placement_is_of_the_empty_name, {
        struct knowing k;
        install_kinds(r);
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"fleet-member-1\"}}");
        post_binding(r, "named", OF_WEB);
        post_binding(r, "nameless", "");
        post_run(r, "named", "web");
        post_run(r, "nameless", "");
        post_kind(r, WORKS, "Work", "named", OF_WEB, "");
        post_kind(r, WORKS, "Work", "nameless", "", "");
        open_knowing(r, &k);
        expect_placement(&k, placement_of_binding, "named", "web");
        expect_placement(&k, placement_of_binding, "nameless", "");
        expect_placement(&k, placement_of_update_run, "named", "web");
        expect_placement(&k, placement_of_update_run, "nameless", "");
        expect_placement(&k, placement_of_work, "fleet-member-1/named", "web");
        expect_placement(&k, placement_of_work, "fleet-member-1/nameless", "");
        close_knowing(&k);
})

RIG_TEST(what_is_gone_is_of_whom_the_queue_remembers, {
        struct knowing k;
        install_kinds(r);
        open_knowing(r, &k);
        expect_placement(&k, placement_of_binding, "gone", NULL);
        expect_placement(&k, placement_of_update_run, "gone", NULL);
        expect_placement(&k, placement_of_work, "fleet-member-1/gone", NULL);
        expect_placement(&k, placement_of_eviction, "gone", NULL);
        close_knowing(&k);
})

RIG_TEST(orphans_are_of_the_placement_that_the_first_labelled_one_names, {
        struct knowing k;
        install_kinds(r);
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"fleet-member-1\"}}");
        post_kind(r, WORKS, "Work", "a", OF_BINDING("gone"), "");
        post_kind(r, WORKS, "Work", "b", OF_BINDING("gone") "," OF_WEB, "");
        post_kind(r, WORKS, "Work", "c", OF_BINDING("gone"), "");
        post_kind(r, WORKS, "Work", "d", OF_BINDING("nobodys"), "");
        open_knowing(r, &k);
        expect_placement(&k, placement_of_binding, "gone", "web");
        expect_placement(&k, placement_of_binding, "nobodys", "");
        close_knowing(&k);
})

/* ---- what is remembered ---- */

static bool is_of_web(void *ctx, const char *key)
{
        return text_equal(key, "team/web");
}

static void bindings_without_an_answer_are_kept_by_their_placement(void **state)
{
        struct scheduler_memory *m = scheduler_memory_new();

        assert_int_equal(map_put(&m->unanswered, "team/web member-1", mem_strdup("web-1")), 0);
        assert_int_equal(map_put(&m->unanswered, "team/web member-2", mem_strdup("web-2")), 0);
        assert_int_equal(map_put(&m->unanswered, "web member-1", mem_strdup("web-3")), 0);
        scheduler_memory_keep_if(m, is_of_web, NULL);
        assert_int_equal(map_count(&m->unanswered), 2);
        assert_string_equal(map_get(&m->unanswered, "team/web member-2"), "web-2");
        scheduler_memory_free(m);
}

/* An agent that has nothing but its memory. */
struct remembering {
        struct knowing k;
        struct hub_agent_options options;
        struct source_options sources;
        struct memories *of_objects[8];
};

static void open_remembering(struct rig *r, struct remembering *m, unsigned shards)
{
        static const struct memory_kind *const kinds[] = {
                &member_memory_kind,   &intake_memory_kind,       &status_memory_kind,
                &binding_memory_kind,  &update_run_memory_kind,   &not_reported_memory_kind,
                &reported_memory_kind, &resource_set_memory_kind,
        };
        struct hub_agent *a = &m->k.agent;
        struct error err = { 0 };
        struct manager_options o = { .component = "test",
                                     .world = &m->k.world,
                                     .log = &r->log,
                                     .lease_namespace = "default",
                                     .lease_name = "test",
                                     .identity = "a",
                                     .shards = shards };

        *m = (struct remembering){ .k = { .world = r->world },
                                   .options = { .without_evictions = true },
                                   .of_objects = { &a->members, &a->intakes, &a->statuses, &a->bindings,
                                                   &a->update_runs, &a->not_reported, &a->reported,
                                                   &a->resource_sets } };
        m->k.group = fiber_group_new(r->loop, NULL, "remembering");
        m->k.kube = (struct kube_client){ .world = &m->k.world, .endpoint = &r->endpoint, .log = &r->log };
        o.kube = &m->k.kube;
        o.metrics = a->metrics = metrics_new(METRIC_OF_HUB);
        a->manager = manager_new(&o, m->k.group, &err);
        assert_non_null(a->manager);
        a->options = &m->options;
        a->scheduler = scheduler_memory_new();
        a->progress = progress_series_new();
        a->input_providers = input_providers_new();
        a->sources = sources_new(&m->k.world, &m->sources);
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
                memories_init(m->of_objects[i], kinds[i]);
}

static void close_remembering(struct remembering *m)
{
        struct hub_agent *a = &m->k.agent;

        for (size_t i = 0; i < ARRAY_LEN(m->of_objects); i++)
                memories_free(m->of_objects[i]);
        sources_free(a->sources);
        input_providers_free(a->input_providers);
        progress_series_free(a->progress);
        scheduler_memory_free(a->scheduler);
        manager_free(a->manager);
        fiber_group_end(m->k.group);
        metrics_free(a->metrics);
}

static void remember(struct memories *memories)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object *o = object_new(&member_cluster_kind, NULL, "one", &arena);

        assert_non_null(memory_of(memories, o, &arena));
}

static void remember_all(struct remembering *m)
{
        struct hub_agent *a = &m->k.agent;

        for (size_t i = 0; i < ARRAY_LEN(m->of_objects); i++)
                remember(m->of_objects[i]);
        for (size_t i = 0; i < N_SOURCE_KINDS; i++) {
                remember(&a->sources->remembered[i]);
                a->sources->swept[i] = true;
        }
        remember(&a->input_providers->shown);
        assert_int_equal(map_put(&a->scheduler->unanswered, "web member-1", mem_strdup("web-1")), 0);
}

static size_t remembered(struct remembering *m)
{
        const struct hub_agent *a = &m->k.agent;
        size_t n = map_count(&a->input_providers->shown.by_key) + map_count(&a->scheduler->unanswered);

        for (size_t i = 0; i < ARRAY_LEN(m->of_objects); i++)
                n += map_count(&m->of_objects[i]->by_key);
        for (size_t i = 0; i < N_SOURCE_KINDS; i++)
                n += map_count(&a->sources->remembered[i].by_key) + a->sources->swept[i];
        return n;
}

#define REMEMBERED (8 + 2 * N_SOURCE_KINDS + 2)

/* All maps have their room by the second time: what is left is what was forgotten to be forgotten. */
RIG_TEST(of_keys_that_are_others_nothing_is_remembered, {
        struct remembering m;
        size_t live;
        open_remembering(r, &m, N);
        remember_all(&m);
        assert_int_equal(remembered(&m), REMEMBERED);
        shards_forget(&m.k.agent);
        assert_int_equal(remembered(&m), 0);
        live = mem_live_count();
        remember_all(&m);
        assert_true(mem_live_count() > live);
        shards_forget(&m.k.agent);
        assert_int_equal(mem_live_count(), live);
        close_remembering(&m);
})

RIG_TEST(of_keys_that_are_ours_all_is_remembered, {
        struct remembering m;
        open_remembering(r, &m, 0); /* who shares with nobody has all keys */
        m.k.agent.manager->leading = true;
        remember_all(&m);
        shards_forget(&m.k.agent);
        assert_int_equal(remembered(&m), REMEMBERED);
        close_remembering(&m);
})

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
                cmocka_unit_test(what_names_no_placement_is_of_the_empty_name),
                cmocka_unit_test(what_is_gone_is_of_whom_the_queue_remembers),
                cmocka_unit_test(orphans_are_of_the_placement_that_the_first_labelled_one_names),
                cmocka_unit_test(bindings_without_an_answer_are_kept_by_their_placement),
                cmocka_unit_test(of_keys_that_are_others_nothing_is_remembered),
                cmocka_unit_test(of_keys_that_are_ours_all_is_remembered),
                cmocka_unit_test(each_placement_is_one_agents_and_the_others_when_it_leaves),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
