/* What an agent does that finds a kind missing, or a cache not filled: spec/membership-webhooks-charts.md 7.
 */
#include "hub-agent/hub_agent_test.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

struct ended {
        struct fleet *fleet;
        int code;
        struct error err;
};

static void run_to_the_end(void *ctx)
{
        struct ended *e = ctx;
        struct hub_agent_options o = { .world = &e->fleet->world,
                                       .log = &e->fleet->log,
                                       .hub = &e->fleet->rig->endpoint,
                                       .without_inventory = true,
                                       .without_staged_runs = e->fleet->without_staged_runs,
                                       .metrics_port = -1,
                                       .health_port = -1 };

        e->code = hub_agent_run(&o, &e->err);
}

static void run_for_a_while(struct rig *r, struct fleet *f, struct ended *e)
{
        struct fiber_group *group = fiber_group_new(r->loop, NULL, "agents");

        *e = (struct ended){ .fleet = f };
        assert_non_null(fiber_spawn(group, "hub-agent", run_to_the_end, e));
        fiber_sleep(r->loop, 40000);
        fiber_group_end(group);
}

static const char *definition_of(const char *name)
{
        for (size_t i = 0; hub_agent_crd(i); i++)
                if (strstr(hub_agent_crd(i), name))
                        return hub_agent_crd(i);
        fail_msg("there is no definition of %s", name);
        return NULL;
}

/* spec/membership-webhooks-charts.md checklist 47 */
RIG_TEST(an_agent_that_lacks_a_definition_ends_and_names_it, {
        static const struct {
                const char *plural, *group, *kind;
        } rows[] = {
                { "memberclusters", "cluster.kubernetes-fleet.io", "MemberCluster" },
                { "internalmemberclusters", "cluster.kubernetes-fleet.io", "InternalMemberCluster" },
                { "clusterresourceplacements", "placement.kubernetes-fleet.io", "ClusterResourcePlacement" },
                { "resourceplacements", "placement.kubernetes-fleet.io", "ResourcePlacement" },
                { "clusterresourcebindings", "placement.kubernetes-fleet.io", "ClusterResourceBinding" },
                { "clusterresourcesnapshots", "placement.kubernetes-fleet.io", "ClusterResourceSnapshot" },
                { "clusterschedulingpolicysnapshots", "placement.kubernetes-fleet.io",
                  "ClusterSchedulingPolicySnapshot" },
                { "works", "placement.kubernetes-fleet.io", "Work" },
                { "clusterresourceoverrides", "placement.kubernetes-fleet.io", "ClusterResourceOverride" },
                { "resourceoverridesnapshots", "placement.kubernetes-fleet.io", "ResourceOverrideSnapshot" },
                { "clusterresourceplacementstatuses", "placement.kubernetes-fleet.io",
                  "ClusterResourcePlacementStatus" },
        };
        struct ended e;
        struct fleet f;

        start(r, &f);
        stop(&f);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const char *name = arena_printf(&r->arena, "%s.%s", rows[i].plural, rows[i].group);

                assert_int_equal(rig_delete(r, arena_printf(&r->arena, CRDS "/%s", name)), 200);
                run_for_a_while(r, &f, &e);
                if (e.code != ERR_UNSUPPORTED)
                        fail_msg("without %s the agent ended with %d: %s", name, e.code, e.err.text);
                assert_string_equal(
                        e.err.text,
                        arena_printf(&r->arena,
                                     "the hub does not serve kind \"%s\" of %s/v1beta1: install the chart's "
                                     "definitions",
                                     rows[i].kind, rows[i].group));
                assert_int_equal(rig_post(r, CRDS, definition_of(arena_printf(&r->arena, "\"%s\"", name))),
                                 201);
                rig_settle(r);
        }
        run_for_a_while(r, &f, &e);
        assert_int_equal(e.code, ERR_CANCELLED);
})

RIG_TEST(what_a_flag_switches_off_needs_no_definition, {
        struct ended e;
        struct fleet f;

        start(r, &f);
        stop(&f);
        assert_int_equal(rig_delete(r, CRDS "/clusterapprovalrequests.placement.kubernetes-fleet.io"), 200);
        run_for_a_while(r, &f, &e);
        assert_int_equal(e.code, ERR_UNSUPPORTED);
        assert_string_equal(
                e.err.text,
                "the hub does not serve kind \"ClusterApprovalRequest\" of "
                "placement.kubernetes-fleet.io/v1beta1: install the chart's definitions, or start "
                "the agent with --enable-staged-update-run-apis=false");
        f.without_staged_runs = true;
        run_for_a_while(r, &f, &e);
        assert_int_equal(e.code, ERR_CANCELLED);
})

/* ---- readiness ---- */

static void begin_probed(struct rig *r, struct fleet *f, struct line *line, const char *failing)
{
        start(r, f);
        line_lay(f, line);
        line->path = failing;
        line->fate = 503;
        f->probed = true;
        start_again(r, f);
}

static void end_probed(struct fleet *f)
{
        stop(f);
        http_transport_free(f->world.transport);
}

static void expect_ready(struct fleet *f, bool ready, const char *says)
{
        struct http_response a;

        if (probe(f, "/readyz", &a) != (ready ? 200 : 503) || !strstr(a.body.data, says))
                fail_msg("wanted %s, got %d %s", says, a.status, a.body.data);
}

/* spec/membership-webhooks-charts.md checklist 48 */
RIG_TEST(an_agent_is_ready_once_every_kind_that_may_be_placed_is_known, {
        struct fleet f;
        struct line line;

        begin_probed(r, &f, &line, "/api/v1/configmaps");
        fiber_sleep(r->loop, 20000);
        expect_ready(&f, false, "resource informer not ready: 1/");
        expect_ready(&f, false, " informers not synced yet\n");
        line.path = NULL;
        fiber_sleep(r->loop, 20000);
        expect_ready(&f, true, "ok\n");
        end_probed(&f);
})

RIG_TEST(an_agent_that_knows_no_kind_yet_is_not_ready, {
        struct fleet f;
        struct line line;

        begin_probed(r, &f, &line, "/apis");
        fiber_sleep(r->loop, 5000);
        expect_ready(&f, false, "resource informer not ready: no resources registered\n");
        line.path = NULL;
        fiber_sleep(r->loop, 20000);
        expect_ready(&f, true, "ok\n");
        end_probed(&f);
})

#define WIDGETS                                                                                              \
        "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{"   \
        "\"name\":\"widgets.example.com\"},\"spec\":{\"group\":\"example.com\",\"scope\":\"Namespaced\","    \
        "\"names\":{\"plural\":\"widgets\",\"singular\":\"widget\",\"kind\":\"Widget\",\"listKind\":"        \
        "\"WidgetList\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"       \
        "\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}"

/* Or whoever may make kinds could keep reviews from being answered. */
RIG_TEST(a_kind_that_cannot_be_listed_keeps_an_agent_from_being_ready_for_a_minute_at_most, {
        struct fleet f;
        struct line line;

        begin_probed(r, &f, &line, "/widgets");
        fiber_sleep(r->loop, 5000);
        expect_ready(&f, true, "ok\n");
        assert_int_equal(rig_post(r, CRDS, WIDGETS), 201);
        fiber_sleep(r->loop, 30000);
        expect_ready(&f, true, "ok\n");
        stop(&f);
        start_again(r, &f);
        fiber_sleep(r->loop, 30000);
        expect_ready(&f, false, "resource informer not ready: 1/");
        fiber_sleep(r->loop, 40000);
        expect_ready(&f, true, "ok\n");
        end_probed(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_agent_that_lacks_a_definition_ends_and_names_it),
                cmocka_unit_test(what_a_flag_switches_off_needs_no_definition),
                cmocka_unit_test(an_agent_is_ready_once_every_kind_that_may_be_placed_is_known),
                cmocka_unit_test(an_agent_that_knows_no_kind_yet_is_not_ready),
                cmocka_unit_test(
                        a_kind_that_cannot_be_listed_keeps_an_agent_from_being_ready_for_a_minute_at_most),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
