/* Rules asked of a hub that is there: devcluster, its discovery, and caches that are kept by watches. */
#include "hub-agent/webhook/hub_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"
#include "hub-agent/common.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define FLEET "/apis/placement.kubernetes-fleet.io/v1beta1/"
#define PATH(what) "/validate-placement.kubernetes-fleet.io-v1beta1-" what

struct bench {
        struct rig *rig;
        struct world world;
        struct loopback_faults faults;
        const char *failing; /* requests whose path begins so are answered 503; NULL = none */
        struct kube_client kube;
        struct metrics *metrics;
        struct intern_table *interns;
        struct fiber_group *group;
        struct manager *manager;
        struct kube_mapper *mapper;
        struct filter_rules filters;
        struct hub_view view;
        struct admission_world admission;
        struct arena arena;
        json_t *answer;
        struct error err;
};

static int fate(void *ctx, const struct http_request *rq)
{
        struct bench *b = ctx;

        return b->failing && text_starts_with(rq->path, b->failing) ? 503 : 0;
}

static void open_bench(struct rig *r, struct bench *b, bool settle)
{
        struct manager_options o = { .component = "test" };
        const struct admission_flags flags = { .networking_agents = true };

        *b = (struct bench){ .rig = r, .world = r->world, .metrics = metrics_new(METRIC_OF_HUB) };
        b->interns = intern_table_new();
        b->faults = (struct loopback_faults){ .ctx = b, .fate = fate };
        b->world.transport = loopback_transport(r->net, &b->world, &b->faults);
        b->kube = (struct kube_client){ .world = &b->world, .endpoint = &r->endpoint, .log = &r->log };
        b->group = fiber_group_new(r->loop, NULL, "test");
        o.world = &b->world;
        o.log = &r->log;
        o.kube = &b->kube;
        o.metrics = b->metrics;
        o.interns = b->interns;
        for (size_t i = 0; i < n_crd_texts; i++)
                if (crd_texts[i].hub)
                        assert_int_equal(rig_post(r, CRDS, crd_texts[i].json), 201);
        rig_settle(r);
        b->manager = manager_new(&o, b->group, &b->err);
        b->mapper = kube_mapper_new(&b->kube);
        assert_int_equal(filter_rules_parse(NULL, NULL, NULL, false, &b->filters, &b->err), 0);
        assert_int_equal(hub_view_init(&b->view, b->manager, b->mapper, &b->filters, &b->kube), 0);
        b->admission = hub_view_world(&b->view, &flags);
        if (settle)
                rig_settle(r);
}

static void close_bench(struct bench *b)
{
        json_decref(b->answer);
        arena_free(&b->arena);
        manager_free(b->manager);
        kube_mapper_free(b->mapper);
        fiber_group_end(b->group);
        filter_rules_free(&b->filters);
        http_transport_free(b->world.transport);
        metrics_free(b->metrics);
        intern_table_free(b->interns);
}

/* Whether an object may be made (DELETE: may go); what is said is in the answer. */
static bool asks(struct bench *b, const char *path, const char *operation, const char *object)
{
        bool deletion = text_equal(operation, "DELETE");
        const char *body = arena_printf(
                &b->arena,
                "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{"
                "\"uid\":\"u\",\"operation\":\"%s\",\"%s\":%s}}",
                operation, deletion ? "oldObject" : "object", object);

        json_decref(b->answer);
        b->answer = NULL;
        if (webhook_answer(&b->admission, path, slice_of(body), &b->arena, &b->answer, &b->err) < 0)
                fail_msg("%s: %s", path, b->err.text);
        return doc_get_bool(b->answer, "response.allowed", false);
}

static bool creates(struct bench *b, const char *path, const char *object)
{
        return asks(b, path, "CREATE", object);
}

static void assert_said(struct bench *b, const char *part)
{
        const char *message = or_empty(doc_get_string(b->answer, "response.status.message"));

        if (!strstr(message, part))
                fail_msg("wanted \"%s\" in \"%s\"", part, message);
}

#define SELECT(group, version, kind)                                                                         \
        "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"resourceSelectors\":[{\"group\":\"" group              \
        "\",\"version\":\"" version "\",\"kind\":\"" kind "\"}]}}"

static void body_scopes(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, true);
        assert_true(creates(&b, PATH("clusterresourceplacement"), SELECT("", "v1", "Namespace")));
        assert_true(creates(&b, PATH("clusterresourceplacement"),
                            SELECT("rbac.authorization.k8s.io", "v1", "ClusterRole")));
        assert_false(creates(&b, PATH("clusterresourceplacement"), SELECT("apps", "v1", "Deployment")));
        assert_said(&b, "it is not a cluster scoped resource: apps/v1, Kind=Deployment");
        assert_true(creates(&b, PATH("resourceplacement"), SELECT("apps", "v1", "Deployment")));
        assert_false(creates(&b, PATH("resourceplacement"), SELECT("", "v1", "Namespace")));
        /* what is never placed */
        assert_false(creates(&b, PATH("clusterresourceplacement"), SELECT("", "v1", "Node")));
        assert_said(&b, "it is not a cluster scoped resource: /v1, Kind=Node");
        assert_false(creates(&b, PATH("clusterresourceplacement"), SELECT("example.com", "v1", "Gadget")));
        assert_said(&b, "failed to get GVR of the selector: no matches for kind \"Gadget\" in version "
                        "\"example.com/v1\"");
        assert_false(creates(&b, PATH("clusterresourceplacement"), SELECT("", "v9", "Namespace")));
        assert_said(&b, "no matches for kind \"Namespace\" in version \"v9\"");
        close_bench(&b);
}

static void kinds_are_judged_by_what_the_hub_serves(void **state)
{
        rig_run(body_scopes);
}

static void body_a_kind_that_comes(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, true);
        assert_false(creates(&b, PATH("clusterresourceplacement"), SELECT("example.com", "v1", "Gadget")));
        assert_int_equal(
                rig_post(r, CRDS,
                         "{\"metadata\":{\"name\":\"gadgets.example.com\"},\"spec\":{\"group\":"
                         "\"example.com\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"gadgets\","
                         "\"kind\":\"Gadget\"},\"versions\":[{\"name\":\"v1\",\"served\":true,"
                         "\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}"),
                201);
        assert_int_equal(fiber_sleep(r->loop, 2000), 0);
        assert_true(creates(&b, PATH("clusterresourceplacement"), SELECT("example.com", "v1", "Gadget")));
        close_bench(&b);
}

static void a_kind_can_be_selected_as_soon_as_it_is_served(void **state)
{
        rig_run(body_a_kind_that_comes);
}

/* Nobody is told that a kind is not there, or let in, by who could not ask. */
static void body_cannot_be_asked(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, true);
        b.failing = "/api";
        assert_false(creates(&b, PATH("clusterresourceplacement"), SELECT("", "v1", "Namespace")));
        assert_said(&b, "cannot perform resource scope check for now, please retry");
        assert_false(creates(&b, PATH("resourceplacement"), SELECT("apps", "v1", "Deployment")));
        assert_said(&b, "cannot perform resource scope check for now, please retry");
        b.failing = NULL;
        assert_true(creates(&b, PATH("clusterresourceplacement"), SELECT("", "v1", "Namespace")));
        assert_true(creates(&b, PATH("resourceplacement"), SELECT("apps", "v1", "Deployment")));
        close_bench(&b);
}

static void a_hub_that_cannot_tell_what_it_serves_is_no_hub_without_the_kind(void **state)
{
        rig_run(body_cannot_be_asked);
}

#define OVERRIDE(name)                                                                                       \
        "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"ClusterResourceOverride\","    \
        "\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"clusterResourceSelectors\":[{\"group\":\"\","      \
        "\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":\"app\",\"selectionScope\":"                     \
        "\"NamespaceWithResources\"}],\"policy\":{\"overrideRules\":[{\"overrideType\":\"JSONPatch\","       \
        "\"jsonPatchOverrides\":[{\"op\":\"add\",\"path\":\"/metadata/labels/a\",\"value\":\"b\"}]}]}}}"

static void body_overrides(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, true);
        assert_true(creates(&b, PATH("clusterresourceoverride"), OVERRIDE("second")));
        assert_int_equal(rig_post(r, FLEET "clusterresourceoverrides", OVERRIDE("first")), 201);
        assert_false(creates(&b, PATH("clusterresourceoverride"), OVERRIDE("second")));
        assert_said(&b, "the resource has been selected by both second and first, which is not supported");
        b.failing = FLEET;
        assert_false(creates(&b, PATH("clusterresourceoverride"), OVERRIDE("second")));
        assert_int_equal(doc_get_int(b.answer, "response.status.code", 0), 400);
        assert_said(&b, "failed to list clusterResourceOverrides, please retry the request: ");
        close_bench(&b);
}

static void overrides_are_judged_by_what_the_server_has_now(void **state)
{
        rig_run(body_overrides);
}

#define EVICTION "{\"metadata\":{\"name\":\"e\"},\"spec\":{\"placementName\":\"web\",\"clusterName\":\"m1\"}}"

static void body_placements(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, true);
        assert_true(creates(&b, PATH("clusterresourceplacementeviction"), EVICTION));
        assert_said(&b, "is not found");
        assert_int_equal(
                rig_post(r, FLEET "clusterresourceplacements",
                         "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                         "\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"web\"},"
                         "\"spec\":{\"policy\":{\"placementType\":"
                         "\"PickFixed\",\"clusterNames\":[\"m1\"]},\"resourceSelectors\":[{\"group\":"
                         "\"\",\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":\"app\"}]}}"),
                201);
        rig_settle(r);
        assert_false(creates(&b, PATH("clusterresourceplacementeviction"), EVICTION));
        assert_said(&b, "policy type PickFixed is not supported");
        close_bench(&b);
}

static void evictions_are_judged_by_the_cached_placement(void **state)
{
        rig_run(body_placements);
}

static void body_empty_caches(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, false);
        assert_false(creates(&b, PATH("clusterresourceplacementeviction"), EVICTION));
        assert_int_equal(doc_get_int(b.answer, "response.status.code", 0), 400);
        assert_said(&b, "the clusterresourceplacements are not known yet, please retry");
        close_bench(&b);
}

static void before_the_caches_are_filled_nobody_is_let_in_by_mistake(void **state)
{
        rig_run(body_empty_caches);
}

#define MEMBER "{\"metadata\":{\"name\":\"m1\"},\"spec\":{\"identity\":{\"kind\":\"User\",\"name\":\"a\"}}}"
#define MEMBER_PATH "/validate-cluster.kubernetes-fleet.io-v1beta1-membercluster"
#define EXPORTS "/apis/networking.fleet.azure.com/v1alpha1/namespaces/fleet-member-m1/internalserviceexports"

static void body_exports(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, true);
        assert_true(asks(&b, MEMBER_PATH, "DELETE", MEMBER)); /* the kind is not served */
        assert_int_equal(
                rig_post(r, CRDS,
                         "{\"metadata\":{\"name\":\"internalserviceexports.networking.fleet.azure.com\"},"
                         "\"spec\":{\"group\":\"networking.fleet.azure.com\",\"scope\":\"Namespaced\","
                         "\"names\":"
                         "{\"plural\":\"internalserviceexports\",\"kind\":\"InternalServiceExport\"},"
                         "\"versions\":[{\"name\":\"v1alpha1\",\"served\":true,\"storage\":true,\"schema\":{"
                         "\"openAPIV3Schema\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":"
                         "true}}}]}}"),
                201);
        rig_settle(r);
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"fleet-member-m1\"}}");
        assert_int_equal(rig_post(r, EXPORTS,
                                  "{\"apiVersion\":\"networking.fleet.azure.com/v1alpha1\",\"kind\":"
                                  "\"InternalServiceExport\",\"metadata\":{\"name\":\"cart\"},\"spec\":{"
                                  "\"serviceReference\":{\"namespacedName\":\"shop/cart\"}}}"),
                         201);
        assert_false(asks(&b, MEMBER_PATH, "DELETE", MEMBER));
        assert_said(&b, "Please delete serviceExport shop/cart in the member cluster before leaving");
        b.failing = EXPORTS;
        assert_false(asks(&b, MEMBER_PATH, "DELETE", MEMBER));
        assert_int_equal(doc_get_int(b.answer, "response.status.code", 0), 500);
        close_bench(&b);
}

static void a_member_stays_while_the_server_has_its_exports(void **state)
{
        rig_run(body_exports);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(kinds_are_judged_by_what_the_hub_serves),
                cmocka_unit_test(a_kind_can_be_selected_as_soon_as_it_is_served),
                cmocka_unit_test(a_hub_that_cannot_tell_what_it_serves_is_no_hub_without_the_kind),
                cmocka_unit_test(overrides_are_judged_by_what_the_server_has_now),
                cmocka_unit_test(evictions_are_judged_by_the_cached_placement),
                cmocka_unit_test(before_the_caches_are_filled_nobody_is_let_in_by_mistake),
                cmocka_unit_test(a_member_stays_while_the_server_has_its_exports),
        };
        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
