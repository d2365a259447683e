/* What is kept of a path holds as long as what it rests on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/rig.h"
#include "e2e/devcluster/routes.h"

#define CORE "/api/v1/namespaces/default"
#define MAPS CORE "/configmaps"
#define RBAC "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define WIDGETS "/apis/example.com/v1/namespaces/default/widgets"

static void as(struct rig *r, const char *token)
{
        mem_free(r->endpoint.bearer_token);
        r->endpoint.bearer_token = token ? mem_strdup(token) : NULL;
}

static int get_as(struct rig *r, const char *token, const char *path)
{
        as(r, token);
        int status = rig_get(r, path);
        as(r, NULL); /* the rig does not free it */
        return status;
}

static const char *token_of(struct rig *r, const char *account)
{
        const char *doc = arena_printf(&r->arena, "{\"metadata\":{\"name\":\"%s\"}}", account);
        const char *path = arena_printf(&r->arena, CORE "/serviceaccounts/%s/token", account);
        assert_int_equal(rig_post(r, CORE "/serviceaccounts", doc), 201);
        assert_int_equal(rig_post(r, path, "{}"), 201);
        return arena_strdup(&r->arena, rig_string(r, "status.token"));
}

/* Lets "robot" list configmaps of these names; "[]": all. */
static void grant(struct rig *r, const char *names)
{
        const char *role =
                arena_printf(&r->arena,
                             "{\"metadata\":{\"name\":\"r\"},\"rules\":[{\"verbs\":[\"list\"],\"apiGroups\":"
                             "[\"\"],\"resources\":[\"configmaps\"],\"resourceNames\":%s}]}",
                             names);
        assert_int_equal(rig_post(r, RBAC "/roles", role), 201);
        assert_int_equal(
                rig_post(r, RBAC "/rolebindings",
                         "{\"metadata\":{\"name\":\"b\"},\"roleRef\":{\"apiGroup\":"
                         "\"rbac.authorization.k8s.io\",\"kind\":\"Role\",\"name\":\"r\"},\"subjects\":"
                         "[{\"kind\":\"ServiceAccount\",\"name\":\"robot\",\"namespace\":\"default\"}]}"),
                201);
}

RIG_TEST(who_loses_a_right_is_refused_the_next_request_on_the_same_path, {
        const char *robot = token_of(r, "robot");
        grant(r, "[]");
        for (int i = 0; i < 3; i++)
                assert_int_equal(get_as(r, robot, MAPS), 200);
        assert_int_equal(rig_merge(r, RBAC "/roles/r", "{\"rules\":[]}"), 200);
        assert_int_equal(get_as(r, robot, MAPS), 403);
        assert_int_equal(rig_delete(r, RBAC "/roles/r"), 200);
        assert_int_equal(rig_delete(r, RBAC "/rolebindings/b"), 200);
        grant(r, "[]");
        assert_int_equal(get_as(r, robot, MAPS), 200);
        assert_int_equal(rig_delete(r, RBAC "/rolebindings/b"), 200);
        assert_int_equal(get_as(r, robot, MAPS), 403);
})

RIG_TEST(what_one_may_do_on_a_path_another_may_not, {
        const char *other = token_of(r, "other");
        const char *robot = token_of(r, "robot");
        grant(r, "[]");
        for (int i = 0; i < 3; i++) {
                assert_int_equal(get_as(r, robot, MAPS), 200);
                assert_int_equal(get_as(r, other, MAPS), 403);
                as(r, robot);
                assert_int_equal(rig_post(r, MAPS, "{\"metadata\":{\"name\":\"a\"}}"), 403);
                as(r, NULL);
        }
})

RIG_TEST(who_may_list_one_name_may_not_list_all_after_it, {
        const char *robot = token_of(r, "robot");
        grant(r, "[\"a\"]");
        for (int i = 0; i < 3; i++) {
                assert_int_equal(get_as(r, robot, MAPS "?fieldSelector=metadata.name%3Da"), 200);
                assert_int_equal(get_as(r, robot, MAPS "?fieldSelector=metadata.name%3Db"), 403);
                assert_int_equal(get_as(r, robot, MAPS), 403);
        }
})

RIG_TEST(a_token_in_use_dies_with_its_account, {
        const char *robot = token_of(r, "robot");
        for (int i = 0; i < 3; i++)
                assert_int_equal(get_as(r, robot, "/version"), 200);
        assert_int_equal(rig_delete(r, CORE "/serviceaccounts/robot"), 200);
        assert_int_equal(get_as(r, robot, "/version"), 401);
        (void)token_of(r, "robot");
        assert_int_equal(get_as(r, robot, "/version"), 401);
})

/* Found by its end, it is compared whole. */
RIG_TEST(a_token_with_the_end_of_a_good_one_is_refused, {
        const char *robot = token_of(r, "robot");
        assert_int_equal(get_as(r, robot, "/version"), 200);
        char *forged = arena_strdup(&r->arena, robot);
        char *claims = strchr(forged, '.') + 1;
        claims[5] = claims[5] == 'A' ? 'B' : 'A';
        assert_int_equal(get_as(r, forged, "/version"), 401);
        assert_int_equal(get_as(r, robot + 1, "/version"), 401);
        assert_int_equal(get_as(r, robot, "/version"), 200);
})

static void serve_widgets(struct rig *r, const char *scope)
{
        const char *crd = arena_printf(
                &r->arena,
                "{\"metadata\":{\"name\":\"widgets.example.com\"},\"spec\":{\"group\":\"example.com\","
                "\"names\":{\"plural\":\"widgets\",\"kind\":\"Widget\"},\"scope\":\"%s\",\"versions\":"
                "[{\"name\":\"v1\",\"served\":true,\"storage\":true,"
                "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}",
                scope);
        assert_int_equal(rig_post(r, CRDS, crd), 201);
        rig_settle(r);
}

RIG_TEST(a_path_follows_the_kinds_that_are_served, {
        for (int i = 0; i < 2; i++) {
                assert_int_equal(rig_get(r, WIDGETS), 404);
                serve_widgets(r, "Namespaced");
                assert_int_equal(rig_get(r, WIDGETS), 200);
                assert_int_equal(rig_get(r, WIDGETS), 200);
                assert_int_equal(rig_delete(r, CRDS "/widgets.example.com"), 200);
                rig_settle(r);
        }
        serve_widgets(r, "Cluster");
        assert_int_equal(rig_get(r, WIDGETS), 404);
})

RIG_TEST(a_path_leads_to_the_cluster_that_has_the_name_now, {
        assert_int_equal(rig_post(r, MAPS, "{\"metadata\":{\"name\":\"a\"}}"), 201);
        assert_int_equal(rig_get(r, MAPS "/a"), 200);
        assert_int_equal(devcluster_delete_cluster(r->devcluster, "hub", NULL), 0);
        assert_int_equal(rig_get(r, MAPS "/a"), 404);
        assert_string_equal(rig_string(r, "message"), "no logical cluster \"hub\"");
        assert_int_equal(devcluster_create_cluster(r->devcluster, "hub", NULL), 0);
        assert_int_equal(rig_get(r, MAPS "/a"), 404);
        assert_string_equal(rig_string(r, "message"), "configmaps \"a\" not found");
        assert_int_equal(rig_get(r, MAPS), 200);
})

static int counted(struct rig *r, const char *verb, const char *resource)
{
        struct devcluster_request_count *c;
        size_t n;
        assert_int_equal(devcluster_requests(r->devcluster, "hub", &r->arena, &c, &n), 0);
        for (size_t i = 0; i < n; i++)
                if (strcmp(c[i].verb, verb) == 0 && strcmp(c[i].resource, resource) == 0)
                        return (int)c[i].n;
        return 0;
}

RIG_TEST(requests_are_counted_by_verb_and_again_from_nought, {
        for (int round = 0; round < 2; round++) {
                for (int i = 0; i < 3; i++) {
                        (void)rig_get(r, MAPS);
                        (void)rig_get(r, MAPS "/none");
                        (void)rig_post(r, MAPS, "{}");
                        (void)rig_delete(r, MAPS);
                }
                assert_int_equal(counted(r, "list", "configmaps"), 3);
                assert_int_equal(counted(r, "get", "configmaps"), 3);
                assert_int_equal(counted(r, "create", "configmaps"), 3);
                assert_int_equal(counted(r, "deletecollection", "configmaps"), 3);
                devcluster_reset_requests(r->devcluster);
        }
})

static void take(struct rig *r, const char *path)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_exchange x = { .path = path };
        struct request rq = { .devcluster = r->devcluster, .x = &x, .arena = &arena };
        assert_int_equal(route_take(&rq), 0);
        assert_string_equal(rq.path, path + strlen("/clusters/hub"));
}

RIG_TEST(no_more_paths_are_kept_than_there_is_room_for, {
        const char *often = "/clusters/hub/api/v1/namespaces/often";
        take(r, often);
        const struct routes *all = r->devcluster->routes;
        const struct route *kept = map_get(&all->now, often);
        assert_non_null(kept);
        for (int i = 0; i < 3 * ROUTES_MAX; i++) {
                char path[64];
                snprintf(path, sizeof(path), "/clusters/hub/api/v1/namespaces/n%d", i);
                take(r, path);
                if (i % 1000 == 0)
                        take(r, often);
        }
        assert_true(map_count(&all->now) <= ROUTES_MAX);
        assert_true(map_count(&all->before) <= ROUTES_MAX);
        take(r, often);
        assert_ptr_equal(map_get(&all->now, often), kept);
})

RIG_TEST(a_long_path_is_not_kept, {
        const char *below = "/clusters/hub/api/v1/namespaces/";
        char path[ROUTE_PATH_MAX + 2];
        memset(path, 'x', sizeof(path));
        memcpy(path, below, strlen(below));
        path[ROUTE_PATH_MAX + 1] = '\0';
        take(r, path);
        assert_null(map_get(&r->devcluster->routes->now, path));
        path[ROUTE_PATH_MAX] = '\0';
        take(r, path);
        assert_non_null(map_get(&r->devcluster->routes->now, path));
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(who_loses_a_right_is_refused_the_next_request_on_the_same_path),
                cmocka_unit_test(what_one_may_do_on_a_path_another_may_not),
                cmocka_unit_test(who_may_list_one_name_may_not_list_all_after_it),
                cmocka_unit_test(a_token_in_use_dies_with_its_account),
                cmocka_unit_test(a_token_with_the_end_of_a_good_one_is_refused),
                cmocka_unit_test(a_path_follows_the_kinds_that_are_served),
                cmocka_unit_test(a_path_leads_to_the_cluster_that_has_the_name_now),
                cmocka_unit_test(requests_are_counted_by_verb_and_again_from_nought),
                cmocka_unit_test(no_more_paths_are_kept_than_there_is_room_for),
                cmocka_unit_test(a_long_path_is_not_kept),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
