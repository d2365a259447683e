/* Discovery against devcluster: which resource serves a kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/kube/mapping.h"
#include "e2e/devcluster/rig.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define WIDGETS                                                                                              \
        "{\"metadata\":{\"name\":\"widgets.example.com\"},\"spec\":{\"group\":\"example.com\",\"scope\":"    \
        "\"Cluster\",\"names\":{\"plural\":\"widgets\",\"kind\":\"Widget\"},\"versions\":["                  \
        "{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":"       \
        "\"object\"}}},{\"name\":\"v1beta1\",\"served\":true,\"storage\":false,\"schema\":{"                 \
        "\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}"

struct bench {
        struct rig *rig;
        struct world world;
        struct log log;
        struct kube_client kube;
        struct loopback_faults faults;
        struct kube_mapper *mapper;
        size_t calls;
        int fate;
};

static int fate(void *ctx, const struct http_request *rq)
{
        struct bench *b = ctx;

        b->calls++;
        return b->fate;
}

static void open_bench(struct rig *r, struct bench *b)
{
        *b = (struct bench){ .rig = r, .world = r->world };
        b->faults = (struct loopback_faults){ .ctx = b, .fate = fate };
        b->world.transport = loopback_transport(r->net, &b->world, &b->faults);
        b->kube = (struct kube_client){ .world = &b->world, .endpoint = &r->endpoint, .log = &b->log };
        b->mapper = kube_mapper_new(&b->kube);
        assert_non_null(b->mapper);
}

static void close_bench(struct bench *b)
{
        kube_mapper_free(b->mapper);
        http_transport_free(b->world.transport);
}

static void body_kinds(struct rig *r)
{
        static const struct {
                const char *group, *version, *kind, *plural, *served;
                bool namespaced;
        } rows[] = {
                { "", "v1", "ConfigMap", "configmaps", "v1", true },
                { "", NULL, "Namespace", "namespaces", "v1", false },
                { "apps", "", "Deployment", "deployments", "v1", true },
                { "rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", "v1", false },
                { "networking.k8s.io", "v1", "Ingress", "ingresses", "v1", true },
        };
        struct bench b;

        open_bench(r, &b);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct kube_mapped m;
                struct error err = { 0 };

                if (kube_mapper_kind(b.mapper, rows[i].group, rows[i].version, rows[i].kind, &m, &err) < 0)
                        fail_msg("%s: %s", rows[i].kind, err.text);
                assert_string_equal(m.resource.plural, rows[i].plural);
                assert_string_equal(m.resource.version, rows[i].served);
                assert_string_equal(m.resource.group, rows[i].group);
                assert_int_equal(m.resource.namespaced, rows[i].namespaced);
                assert_true(m.listable && m.watchable);
        }
        assert_true(b.calls <= 2); /* discovery is read once */
        close_bench(&b);
}

static void a_kind_is_mapped_to_its_resource_from_one_reading_of_discovery(void **state)
{
        rig_run(body_kinds);
}

static void body_api_version(struct rig *r)
{
        struct kube_mapped m;
        struct error err = { 0 };
        struct bench b;

        open_bench(r, &b);
        assert_int_equal(kube_mapper_api_version(b.mapper, "apps/v1", "StatefulSet", &m, &err), 0);
        assert_string_equal(m.resource.plural, "statefulsets");
        assert_int_equal(kube_mapper_api_version(b.mapper, "v1", "Secret", &m, &err), 0);
        assert_string_equal(m.resource.plural, "secrets");
        assert_int_equal(kube_mapper_api_version(b.mapper, "apps/v9", "Deployment", &m, &err), ERR_NOT_FOUND);
        assert_int_equal(kube_mapper_kind(b.mapper, "example.com", "v1", "Widget", &m, &err), ERR_NOT_FOUND);
        assert_string_equal(err.text,
                            "no kind \"Widget\" is served in group \"example.com\", version \"v1\"");
        close_bench(&b);
}

static void an_unknown_kind_is_named_with_its_group_and_version(void **state)
{
        rig_run(body_api_version);
}

static void body_new_kind(struct rig *r)
{
        struct kube_mapped m;
        struct error err = { 0 };
        size_t calls;
        bool changed;
        struct bench b;

        open_bench(r, &b);
        assert_int_equal(kube_mapper_kind(b.mapper, "example.com", NULL, "Widget", &m, &err), ERR_NOT_FOUND);
        calls = b.calls;
        assert_int_equal(kube_mapper_kind(b.mapper, "example.com", NULL, "Widget", &m, &err), ERR_NOT_FOUND);
        assert_int_equal(b.calls, calls); /* at most once a second */
        assert_int_equal(rig_post(r, CRDS, WIDGETS), 201);
        rig_settle(r);
        assert_int_equal(fiber_sleep(r->loop, 1100), 0);
        assert_int_equal(kube_mapper_kind(b.mapper, "example.com", NULL, "Widget", &m, &err), 0);
        assert_string_equal(m.resource.version, "v1");
        assert_true(m.preferred_version);
        assert_false(m.resource.namespaced);
        assert_int_equal(kube_mapper_kind(b.mapper, "example.com", "v1beta1", "Widget", &m, &err), 0);
        assert_false(m.preferred_version);
        assert_int_equal(kube_mapper_refresh(b.mapper, &changed, &err), 0);
        assert_false(changed);
        assert_int_equal(rig_delete(r, CRDS "/widgets.example.com"), 200);
        rig_settle(r);
        assert_int_equal(kube_mapper_refresh(b.mapper, &changed, &err), 0);
        assert_true(changed);
        close_bench(&b);
}

static void a_kind_that_is_new_is_found_and_one_that_went_is_noticed(void **state)
{
        rig_run(body_new_kind);
}

static void body_all(struct rig *r)
{
        const struct kube_mapped *all;
        struct error err = { 0 };
        size_t n, secrets = 0;
        struct bench b;

        open_bench(r, &b);
        assert_int_equal(kube_mapper_refresh(b.mapper, NULL, &err), 0);
        all = kube_mapper_all(b.mapper, &n);
        assert_true(n > 40);
        for (size_t i = 0; i < n; i++) {
                assert_null(strchr(all[i].resource.plural, '/'));
                secrets += text_equal(all[i].resource.plural, "secrets");
        }
        assert_int_equal(secrets, 1);
        close_bench(&b);
}

static void all_resources_are_listed_without_subresources(void **state)
{
        rig_run(body_all);
}

static void body_broken(struct rig *r)
{
        struct kube_mapped m;
        struct error err = { 0 };
        struct bench b;

        open_bench(r, &b);
        assert_int_equal(kube_mapper_refresh(b.mapper, NULL, &err), 0);
        b.fate = 503;
        assert_int_equal(kube_mapper_refresh(b.mapper, NULL, &err), ERR_RETRY);
        assert_int_equal(kube_mapper_kind(b.mapper, "apps", "v1", "Deployment", &m, &err), 0);
        close_bench(&b);
}

static void what_was_known_stays_known_while_the_server_fails(void **state)
{
        rig_run(body_broken);
}

/* ---- a server that answers from a script ---- */

struct canned {
        const char *api, *apis; /* either form */
        struct {
                const char *path, *body; /* NULL body: 503 */
        } more[4];
};

static void answer_canned(void *ctx, struct http_exchange *x)
{
        const struct canned *c = ctx;
        const char *body = text_equal(x->path, "/api")    ? c->api
                           : text_equal(x->path, "/apis") ? c->apis
                                                          : NULL;

        for (size_t i = 0; i < ARRAY_LEN(c->more); i++)
                if (text_equal(x->path, c->more[i].path))
                        body = c->more[i].body;
        http_reply(x, body ? 200 : 503, "application/json", slice_of(body ? body : "{}"), NULL);
}

static void listen_canned(struct bench *b, struct http_endpoint *endpoint, struct canned *c)
{
        *endpoint = (struct http_endpoint){ .base_url = "https://canned" };
        assert_int_equal(loopback_listen(b->rig->net, "canned", answer_canned, c), 0);
        b->kube.endpoint = endpoint;
}

#define NO_GROUPS "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[]}"
#define AGGREGATED(versions)                                                                                 \
        "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{\"name\":\"fleet.io\"},\"versions\":" \
        "[" versions "]}]}"
#define VERSION(name, freshness, resources)                                                                  \
        "{\"version\":\"" name "\",\"freshness\":\"" freshness "\",\"resources\":[" resources "]}"
#define RESOURCE(plural, kind)                                                                               \
        "{\"resource\":\"" plural "\",\"responseKind\":{\"kind\":\"" kind                                    \
        "\"},\"scope\":\"Namespaced\",\"verbs\":[\"list\",\"watch\"]}"
#define LEGACY(plural, kind)                                                                                 \
        "{\"name\":\"" plural "\",\"kind\":\"" kind "\",\"namespaced\":true,\"verbs\":[\"list\",\"watch\"]}"
#define LEGACY_CORE "{\"kind\":\"APIResourceList\",\"resources\":[]}"
#define LEGACY_GROUPS                                                                                        \
        "{\"kind\":\"APIGroupList\",\"groups\":[{\"name\":\"fleet.io\",\"versions\":[{\"version\":\"v1\"},{" \
        "\"version\":\"v1beta1\"},{\"version\":\"v1alpha1\"}],\"preferredVersion\":{\"version\":"            \
        "\"v1beta1\"}}]}"

static void check_version(struct bench *b, const char *kind, const char *wanted)
{
        struct kube_mapped m;
        struct error err = { 0 };

        if (kube_mapper_kind(b->mapper, "fleet.io", NULL, kind, &m, &err) < 0)
                fail_msg("%s: %s", kind, err.text);
        assert_string_equal(m.resource.version, wanted);
        assert_true(m.preferred_version);
}

static void body_preference(struct rig *r)
{
        struct canned aggregated = {
                .api = NO_GROUPS,
                .apis = AGGREGATED(VERSION("v1", "Current", RESOURCE("works", "Work")) "," VERSION(
                        "v1beta1", "Current",
                        RESOURCE("works", "Work") "," RESOURCE(
                                "envelopes",
                                "Envelope")) "," VERSION("v1alpha1", "Current",
                                                         RESOURCE("envelopes",
                                                                  "Envelope") "," RESOURCE("olds", "Old"))),
        };
        struct canned legacy = {
                .api = LEGACY_CORE,
                .apis = LEGACY_GROUPS,
                .more = { { "/api/v1", LEGACY_CORE },
                          { "/apis/fleet.io/v1", "{\"resources\":[" LEGACY("works", "Work") "," LEGACY(
                                                         "envelopes", "Envelope") "]}" },
                          { "/apis/fleet.io/v1beta1", "{\"resources\":[" LEGACY("works", "Work") "]}" },
                          { "/apis/fleet.io/v1alpha1", "{\"resources\":[" LEGACY("olds", "Old") "]}" } },
        };
        struct http_endpoint endpoint;
        struct bench b;

        open_bench(r, &b);
        listen_canned(&b, &endpoint, &aggregated);
        check_version(&b, "Work", "v1");
        check_version(&b, "Envelope", "v1beta1");
        check_version(&b, "Old", "v1alpha1");
        listen_canned(&b, &endpoint, &legacy);
        assert_int_equal(kube_mapper_refresh(b.mapper, NULL, NULL), 0);
        check_version(&b, "Work", "v1beta1");
        check_version(&b, "Envelope", "v1");
        check_version(&b, "Old", "v1alpha1");
        loopback_listen(r->net, "canned", NULL, NULL);
        close_bench(&b);
}

static void a_resource_that_the_preferred_version_lacks_is_taken_in_the_next_one(void **state)
{
        rig_run(body_preference);
}

static size_t listed(struct bench *b)
{
        size_t n;

        kube_mapper_all(b->mapper, &n);
        return n;
}

/* What is known of an aggregated API that is down stays known, in both forms of discovery. */
static void body_stale(struct rig *r)
{
        struct canned up = { NO_GROUPS,
                             AGGREGATED(VERSION("v1", "Current", RESOURCE("works", "Work"))),
                             { { 0 } } };
        struct canned stale = { NO_GROUPS, AGGREGATED(VERSION("v1", "Stale", "")), { { 0 } } };
        struct canned down = { LEGACY_CORE,
                               LEGACY_GROUPS,
                               { { "/api/v1", LEGACY_CORE },
                                 { "/apis/fleet.io/v1", NULL },
                                 { "/apis/fleet.io/v1beta1", LEGACY_CORE },
                                 { "/apis/fleet.io/v1alpha1", LEGACY_CORE } } };
        struct canned gone = { NO_GROUPS, NO_GROUPS, { { 0 } } };
        struct http_endpoint endpoint;
        struct kube_mapped m;
        struct bench b;

        open_bench(r, &b);
        listen_canned(&b, &endpoint, &up);
        assert_int_equal(kube_mapper_kind(b.mapper, "fleet.io", "v1", "Work", &m, NULL), 0);
        assert_false(m.stale || kube_mapper_doubts(b.mapper, "fleet.io"));
        listen_canned(&b, &endpoint, &stale);
        assert_int_equal(kube_mapper_refresh(b.mapper, NULL, NULL), 0);
        assert_int_equal(kube_mapper_kind(b.mapper, "fleet.io", "v1", "Work", &m, NULL), 0);
        assert_true(m.stale && m.listable && kube_mapper_doubts(b.mapper, "fleet.io"));
        listen_canned(&b, &endpoint, &down);
        assert_int_equal(kube_mapper_refresh(b.mapper, NULL, NULL), 0);
        assert_int_equal(kube_mapper_kind(b.mapper, "fleet.io", "v1", "Work", &m, NULL), 0);
        assert_true(m.stale && kube_mapper_doubts(b.mapper, "fleet.io"));
        assert_int_equal(kube_mapper_scope(b.mapper, "fleet.io", "Work"), KUBE_SCOPE_NAMESPACED);
        listen_canned(&b, &endpoint, &gone);
        assert_int_equal(kube_mapper_refresh(b.mapper, NULL, NULL), 0);
        assert_int_equal(listed(&b), 0);
        assert_false(kube_mapper_doubts(b.mapper, "fleet.io"));
        assert_int_equal(kube_mapper_scope(b.mapper, "fleet.io", "Work"), KUBE_SCOPE_UNKNOWN);
        loopback_listen(r->net, "canned", NULL, NULL);
        close_bench(&b);
}

static void what_a_server_cannot_tell_of_is_kept_as_it_was(void **state)
{
        rig_run(body_stale);
}

static void body_churn(struct rig *r)
{
        struct canned with = { NO_GROUPS,
                               AGGREGATED(VERSION("v1", "Current", RESOURCE("works", "Work"))),
                               { { 0 } } };
        struct canned without = { NO_GROUPS, NO_GROUPS, { { 0 } } };
        struct http_endpoint endpoint;
        struct kube_mapped m;
        int64_t before = 0;
        struct bench b;

        open_bench(r, &b);
        for (int i = 0; i < 50; i++) {
                listen_canned(&b, &endpoint, i % 2 ? &without : &with);
                assert_int_equal(kube_mapper_refresh(b.mapper, NULL, NULL), 0);
                if (i == 0)
                        assert_int_equal(kube_mapper_kind(b.mapper, "fleet.io", NULL, "Work", &m, NULL), 0);
                if (i == 9)
                        before = (int64_t)mem_live_bytes();
        }
        assert_true((int64_t)mem_live_bytes() <= before);
        assert_string_equal(m.resource.plural, "works"); /* lives as long as the mapper */
        loopback_listen(r->net, "canned", NULL, NULL);
        close_bench(&b);
}

static void kinds_that_come_and_go_cost_no_memory(void **state)
{
        rig_run(body_churn);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_kind_is_mapped_to_its_resource_from_one_reading_of_discovery),
                cmocka_unit_test(an_unknown_kind_is_named_with_its_group_and_version),
                cmocka_unit_test(a_kind_that_is_new_is_found_and_one_that_went_is_noticed),
                cmocka_unit_test(all_resources_are_listed_without_subresources),
                cmocka_unit_test(what_was_known_stays_known_while_the_server_fails),
                cmocka_unit_test(a_resource_that_the_preferred_version_lacks_is_taken_in_the_next_one),
                cmocka_unit_test(what_a_server_cannot_tell_of_is_kept_as_it_was),
                cmocka_unit_test(kinds_that_come_and_go_cost_no_memory),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
