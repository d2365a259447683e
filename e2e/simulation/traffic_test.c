#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/simulation/traffic.h"

struct request_case {
        const char *method, *path, *type;
        const char *verb, *resource, *ns, *name;
        bool is_write;
};

#define PLACEMENT "/apis/placement.kubernetes-fleet.io/v1beta1"
#define APPLY "application/apply-patch+yaml"
#define MERGE "application/merge-patch+json"

static const struct request_case cases[] = {
        { "GET", "/api/v1/namespaces/app-0/configmaps/settings", NULL, "get", "configmaps", "app-0",
          "settings", false },
        { "GET", "/api/v1/configmaps?limit=500", NULL, "list", "configmaps", "", "", false },
        { "GET", PLACEMENT "/works?allowWatchBookmarks=true&watch=true", NULL, "watch",
          "works.placement.kubernetes-fleet.io", "", "", false },
        { "GET", PLACEMENT "/works?watch=1", NULL, "watch", "works.placement.kubernetes-fleet.io", "", "",
          false },
        { "PATCH", PLACEMENT "/namespaces/fleet-member-a/works/w/status?fieldManager=x", MERGE, "patch",
          "works/status.placement.kubernetes-fleet.io", "fleet-member-a", "w", true },
        { "PATCH", "/api/v1/namespaces/app-0/configmaps/c?force=true", APPLY, "apply", "configmaps", "app-0",
          "c", true },
        { "POST", "/api/v1/namespaces/app-0/configmaps", "application/json", "create", "configmaps", "app-0",
          "", true },
        { "PUT", "/apis/coordination.k8s.io/v1/namespaces/fleet-system/leases/l", NULL, "update",
          "leases.coordination.k8s.io", "fleet-system", "l", true },
        { "DELETE", "/api/v1/namespaces/app-0", NULL, "delete", "namespaces", "", "app-0", true },
        { "PUT", "/api/v1/namespaces/app-0/finalize", NULL, "update", "namespaces/finalize", "", "app-0",
          true },
        { "PATCH", "/api/v1/namespaces/app-0/status", MERGE, "patch", "namespaces/status", "", "app-0",
          true },
        { "POST", "/api/v1/namespaces", NULL, "create", "namespaces", "", "", true },
        { "DELETE", "/api/v1/namespaces/app-0/pods", NULL, "deletecollection", "pods", "app-0", "", true },
        { "PATCH", "/apis/rbac.authorization.k8s.io/v1/clusterroles/app-0", APPLY, "apply",
          "clusterroles.rbac.authorization.k8s.io", "", "app-0", true },
        { "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", NULL, "create",
          "selfsubjectaccessreviews.authorization.k8s.io", "", "", false },
        { "POST", "/api/v1/namespaces/n/serviceaccounts/a/token", NULL, "create", "serviceaccounts/token",
          "n", "a", false },
        { "GET", "/apis/placement.kubernetes-fleet.io/v1beta1", NULL, "other", "", "", "", false },
        { "GET", "/api", NULL, "other", "", "", "", false },
        { "GET", "/version", NULL, "other", "", "", "", false },
        { "GET", "/openapi/v3", NULL, "other", "", "", "", false },
        { "GET", "", NULL, "other", "", "", "", false },
        { "OPTIONS", "/api/v1/nodes/n", NULL, "other", "nodes", "", "n", false },
};

static void requests_are_told_apart(void **state)
{
        struct http_endpoint hub = { .base_url = (char *)"https://fleet.test/clusters/hub",
                                     .user_agent = (char *)"simulation/member-2" };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                const struct request_case *c = &cases[i];
                struct http_header type = { "content-type", c->type };
                struct http_request rq = { .endpoint = &hub,
                                           .method = c->method,
                                           .path = c->path,
                                           .headers = { &type, c->type ? 1 : 0 } };
                struct traffic t;

                traffic_of(&rq, &t);
                assert_string_equal(t.verb, c->verb);
                assert_string_equal(t.resource, c->resource);
                assert_string_equal(t.ns, c->ns);
                assert_string_equal(t.name, c->name);
                assert_int_equal(t.is_write, c->is_write);
                assert_string_equal(t.agent, "member-2");
                assert_false(t.is_hub_agent);
                assert_true(t.to_hub);
        }
}

static void a_cluster_may_be_named_by_the_path(void **state)
{
        struct traffic_target to;
        struct http_endpoint e = { .base_url = (char *)"https://fleet.test" };
        struct http_request rq = { .endpoint = &e,
                                   .method = "GET",
                                   .path = "/clusters/hub/api/v1/nodes/n/status" };
        struct traffic t;

        assert_true(
                traffic_target_of("/clusters/member-1/apis/apps/v1/namespaces/a/deployments/d/scale", &to));
        assert_true(slice_is(to.cluster, "member-1"));
        assert_true(slice_is(to.group, "apps"));
        assert_true(slice_is(to.resource, "deployments"));
        assert_true(slice_is(to.sub, "scale"));
        assert_true(slice_is(to.ns, "a"));
        assert_true(slice_is(to.name, "d"));
        assert_false(traffic_target_of("/clusters/member-1/healthz", &to));
        traffic_of(&rq, &t);
        assert_true(t.to_hub);
        assert_string_equal(t.resource, "nodes/status");
        assert_string_equal(t.agent, "");
}

static void kinds_are_equal_for_all_agents_of_a_role(void **state)
{
        struct http_endpoint member = { .base_url = (char *)"https://fleet.test/clusters/member-1",
                                        .user_agent = (char *)"simulation/member-1" },
                             hub = { .base_url = (char *)"https://fleet.test/clusters/hub",
                                     .user_agent = (char *)"simulation/hub-agent-2" };
        struct http_request to_member = { .endpoint = &member,
                                          .method = "DELETE",
                                          .path = "/api/v1/namespaces/a/configmaps/c" },
                            to_hub = { .endpoint = &hub, .method = "GET", .path = "/version" };
        struct traffic t;
        char kind[TRAFFIC_TEXT];

        traffic_of(&to_member, &t);
        traffic_kind(&t, kind);
        assert_string_equal(kind, "member-agent>member delete configmaps");
        traffic_of(&to_hub, &t);
        assert_true(t.is_hub_agent);
        traffic_kind(&t, kind);
        assert_string_equal(kind, "hub-agent>hub other");
        hub.user_agent = (char *)"simulation";
        traffic_of(&to_hub, &t);
        traffic_kind(&t, kind);
        assert_string_equal(kind, "player>hub other");
}

static void services_are_asked_by_the_hub_agents(void **state)
{
        struct http_endpoint service = { .base_url = (char *)"https://source-2.inputs.test",
                                         .user_agent = (char *)"argosy/1.2" };
        struct http_request rq = { .endpoint = &service, .method = "GET", .path = "/inputs" };
        struct traffic t;
        char kind[TRAFFIC_TEXT];

        traffic_of(&rq, &t);
        assert_string_equal(t.agent, "hub-agents"); /* whatever the version */
        traffic_kind(&t, kind);
        assert_string_equal(kind, "hub-agent>service ask");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(requests_are_told_apart),
                cmocka_unit_test(a_cluster_may_be_named_by_the_path),
                cmocka_unit_test(kinds_are_equal_for_all_agents_of_a_role),
                cmocka_unit_test(services_are_asked_by_the_hub_agents),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
