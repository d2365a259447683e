/* Overrides from the caches. */
#include "hub-agent/override/load.h"

#include "e2e/devcluster/rig.h"
#include "hub-agent/override/override_index.h"
#include "hub-agent/override/testing.h"

struct caches {
        struct hub_agent agent;
        struct world world;
        struct kube_client kube;
        struct metrics *metrics;
        struct intern_table *interns;
        struct fiber_group *group;
        struct bench b;
        struct reconcile rc;
};

#define CLUSTERS "/apis/cluster.kubernetes-fleet.io/v1beta1/memberclusters"

static void install(struct rig *r, const struct kind *kind)
{
        for (size_t i = 0; i < n_crd_texts; i++)
                if (text_starts_with(crd_texts[i].name, kind->plural))
                        rig_post(r, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                                 crd_texts[i].json);
}

/* Filled ones, and a reconcile that reads them. */
static void open_caches(struct rig *r, struct caches *c, const char *member)
{
        static const struct kind *const kinds[] = { &member_cluster_kind, &cluster_resource_override_kind,
                                                    &resource_override_kind,
                                                    &cluster_resource_override_snapshot_kind,
                                                    &resource_override_snapshot_kind };
        struct manager_options o = { .component = "test" };

        *c = (struct caches){ .metrics = metrics_new(METRIC_OF_HUB),
                              .interns = intern_table_new(),
                              .world = r->world };
        begin(&c->b);
        c->world.transport = r->client;
        c->kube = (struct kube_client){ .world = &c->world, .endpoint = &r->endpoint, .log = &r->log };
        c->group = fiber_group_new(r->loop, NULL, "test");
        c->agent.world = o.world = &c->world;
        o.log = &r->log;
        o.kube = &c->kube;
        o.agent = &c->agent;
        o.metrics = c->metrics;
        o.interns = c->interns;
        c->rc = (struct reconcile){ .arena = &c->b.arena, .agent = &c->agent, .err = &c->b.err };
        c->rc.manager = manager_new(&o, c->group, &c->b.err);
        assert_non_null(c->rc.manager);
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
                install(r, kinds[i]);
        rig_settle(r);
        if (member)
                assert_int_equal(rig_post(r, CLUSTERS, member), 201);
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
                struct informer *informer = manager_informer(c->rc.manager, kinds[i]);

                assert_non_null(informer);
                assert_int_equal(informer_add_index(informer, INDEX_OVERRIDE, emit_override), 0);
                assert_int_equal(informer_add_index(informer, INDEX_LATEST, emit_latest), 0);
        }
        rig_settle(r);
}

static void close_caches(struct caches *c)
{
        arena_free(&c->b.arena);
        manager_free(c->rc.manager);
        fiber_group_end(c->group);
        metrics_free(c->metrics);
        intern_table_free(c->interns);
}

static const struct binding *binding_of(struct caches *c, const char *overrides)
{
        AUTO_BUF struct buf text;

        buf_init(&text, 4096);
        buf_printf(
                &text,
                "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"state\":\"Bound\",\"targetCluster\":\"member-1\","
                "\"resourceSnapshotName\":\"s\",\"schedulingPolicySnapshotName\":\"p\"%s}}",
                overrides);
        return parse(&c->b, &cluster_resource_binding_kind, text.data);
}

/* While Works were being written the member cluster went: the rules have nothing to match against. */
static void body_a_departed_cluster(struct rig *r)
{
        struct override_applier a;
        struct caches c;

        open_caches(r, &c, NULL);
        assert_int_equal(overrides_of_binding(&c.rc, binding_of(&c, ""), &a), ERR_RETRY);
        assert_string_equal(c.b.err.text, "member cluster \"member-1\" is gone");
        close_caches(&c);
}

/* spec/rollout-and-work.md checklist 22 */
static void a_departed_cluster_has_no_overrides(void **state)
{
        rig_run(body_a_departed_cluster);
}

static void body_a_missing_snapshot(struct rig *r)
{
        struct override_applier a;
        struct caches c;

        open_caches(r, &c,
                    "{\"apiVersion\":\"cluster.kubernetes-fleet.io/v1beta1\",\"kind\":\"MemberCluster\","
                    "\"metadata\":{\"name\":\"member-1\"},\"spec\":{\"identity\":{\"kind\":\"User\","
                    "\"name\":\"x\"}}}");
        assert_int_equal(
                overrides_of_binding(&c.rc, binding_of(&c, ",\"clusterResourceOverrideSnapshots\":[\"c-4\"]"),
                                     &a),
                ERR_INVALID);
        assert_string_equal(c.b.err.text, "clusterResourceOverrideSnapshot c-4 is not found");
        assert_int_equal(
                overrides_of_binding(
                        &c.rc,
                        binding_of(
                                &c,
                                ",\"resourceOverrideSnapshots\":[{\"name\":\"o-1\",\"namespace\":\"web\"}]"),
                        &a),
                ERR_INVALID);
        assert_string_equal(c.b.err.text, "resourceOverrideSnapshot {o-1 web} is not found");
        assert_int_equal(overrides_of_binding(&c.rc, binding_of(&c, ""), &a), 0);
        assert_non_null(a.pause); /* a long pass lets others run */
        assert_int_equal(a.pause(a.pause_ctx), 0);
        close_caches(&c);
}

static void a_snapshot_that_is_gone_is_named(void **state)
{
        rig_run(body_a_missing_snapshot);
}

static int overrides_for(struct caches *c, const char *named)
{
        const struct object *one[] = { &binding_of(c, named)->object };
        const struct object_list bindings = { one, 1 }, snapshots = { 0 };
        const struct cluster_overrides *ret;

        return overrides_for_bindings(&c->rc, &bindings, &snapshots, NULL, &ret);
}

/* Somebody deleted it. Without it the cluster would lose the override for as long as nobody made it again,
 * and with the one before it would get an older one. */
static void body_waits(struct rig *r)
{
        static const char override[] = "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                                       "v1beta1\",\"kind\":\"ClusterResourceOverride\","
                                       "\"metadata\":{\"name\":\"o\"},\"spec\":{\"clusterResourceSelectors\":"
                                       "[{\"group\":\"\",\"version\":"
                                       "\"v1\",\"kind\":\"Namespace\",\"name\":\"web\"}],\"policy\":{"
                                       "\"overrideRules\":[{\"overrideType\":"
                                       "\"Delete\"}]}}}";
        static const char older[] =
                "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                "\"ClusterResourceOverrideSnapshot\",\"metadata\":{\"name\":\"o-1\",\"labels\":{"
                "\"kubernetes-fleet.io/parent-resource-override\":\"o\",\"kubernetes-fleet.io/"
                "override-index\":"
                "\"1\",\"kubernetes-fleet.io/"
                "is-latest-snapshot\":\"false\"}},\"spec\":{\"overrideHash\":\"\","
                "\"overrideSpec\":{\"clusterResourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":"
                "\"Namespace\",\"name\":\"web\"}],\"policy\":{\"overrideRules\":[{\"overrideType\":"
                "\"Delete\"}]}}}}";
        static const char api[] = "/apis/placement.kubernetes-fleet.io/v1beta1/";
        char path[128];
        struct caches c;

        open_caches(r, &c, NULL);
        snprintf(path, sizeof(path), "%sclusterresourceoverrides", api);
        assert_int_equal(rig_post(r, path, override), 201);
        rig_settle(r);
        assert_int_equal(overrides_for(&c, ""), 0); /* a new one: it is not known to be of use to anybody */
        assert_int_equal(overrides_for(&c, ",\"clusterResourceOverrideSnapshots\":[\"o-2\"]"), ERR_RETRY);
        assert_string_equal(c.b.err.text,
                            "a snapshot of ClusterResourceOverride \"o\" is missing and not replaced yet");
        snprintf(path, sizeof(path), "%sclusterresourceoverridesnapshots", api);
        assert_int_equal(rig_post(r, path, older), 201);
        rig_settle(r);
        assert_int_equal(overrides_for(&c, ",\"clusterResourceOverrideSnapshots\":[\"o-2\"]"), ERR_RETRY);
        assert_int_equal(overrides_for(&c, ",\"clusterResourceOverrideSnapshots\":[\"o-1\"]"), 0);
        close_caches(&c);
}

static void clusters_keep_an_override_whose_snapshot_is_missing(void **state)
{
        rig_run(body_waits);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_departed_cluster_has_no_overrides),
                cmocka_unit_test(a_snapshot_that_is_gone_is_named),
                cmocka_unit_test(clusters_keep_an_override_whose_snapshot_is_missing),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
