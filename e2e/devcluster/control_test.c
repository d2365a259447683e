/* Test rules and counters over HTTP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"

#define CM "/api/v1/namespaces/default/configmaps"
#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
#define WEB                                                                                                  \
        "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"replicas\":2,\"selector\":{\"matchLabels\":{\"a\":"    \
        "\"b\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":" \
        "\"c\",\"image\":\"i\"}]}}}}"

static int64_t count_of(struct rig *r, const char *verb, const char *resource)
{
        assert_int_equal(rig_get(r, "/devcluster/requests"), 200);
        const json_t *items = doc_get_array(r->answer, "items");
        size_t i;
        json_t *item;
        json_array_foreach(items, i, item)
                if (text_equal(doc_get_string(item, "verb"), verb) &&
                    text_equal(doc_get_string(item, "resource"), resource))
                        return doc_get_int(item, "count", -1);
        return 0;
}

RIG_TEST(requests_are_counted_by_verb_and_resource_until_reset, {
        assert_int_equal(rig_get(r, CM), 200);
        assert_int_equal(rig_get(r, CM), 200);
        assert_int_equal(rig_post(r, CM, "{\"metadata\":{\"name\":\"a\"}}"), 201);
        assert_int_equal(count_of(r, "list", "configmaps"), 2);
        assert_int_equal(count_of(r, "create", "configmaps"), 1);
        assert_int_equal(rig_post(r, "/devcluster/requests/reset", ""), 200);
        assert_int_equal(rig_get(r, "/devcluster/requests"), 200);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "items")), 0);
        assert_int_equal(rig_get(r, CM), 200); /* a path that was counted before */
        assert_int_equal(count_of(r, "list", "configmaps"), 1);
})

static int64_t available(struct rig *r)
{
        rig_settle(r);
        assert_int_equal(rig_get(r, DEPLOYMENTS "/web"), 200);
        return doc_get_int(r->answer, "status.availableReplicas", 0);
}

RIG_TEST(a_readiness_rule_holds_a_workload_back_until_it_is_taken_away, {
        assert_int_equal(
                rig_post(r, "/devcluster/readiness?kind=Deployment&namespace=&name=web&ready=false", ""),
                200);
        assert_int_equal(rig_post(r, DEPLOYMENTS, WEB), 201);
        assert_int_equal(available(r), 0);
        assert_int_equal(
                rig_post(r, "/devcluster/readiness?kind=Deployment&namespace=&name=web&ready=true", ""), 200);
        assert_int_equal(available(r), 2);
})

RIG_TEST(workloads_that_others_run_keep_the_status_these_write, {
        assert_int_equal(rig_post(r, "/devcluster/simulated?namespace=default&value=false", ""), 200);
        assert_int_equal(rig_post(r, DEPLOYMENTS, WEB), 201);
        assert_int_equal(available(r), 0);
        assert_int_equal(rig_merge(r, DEPLOYMENTS "/web/status", "{\"status\":{\"availableReplicas\":1}}"),
                         200);
        assert_int_equal(available(r), 1);
        assert_int_equal(rig_post(r, "/devcluster/simulated?namespace=default&value=true", ""), 200);
        assert_int_equal(available(r), 2);
        assert_int_equal(rig_post(r, "/devcluster/simulated?value=true", ""), 400);
})

RIG_TEST(cutting_watches_with_compaction_makes_an_old_version_gone, {
        assert_int_equal(rig_get(r, CM), 200);
        const char *old = arena_strdup(&r->arena, rig_string(r, "metadata.resourceVersion"));
        assert_int_equal(rig_post(r, CM, "{\"metadata\":{\"name\":\"a\"}}"), 201);
        struct rig_watch w = { 0 };
        rig_watch_open(r, &w, arena_printf(&r->arena, CM "?watch=true&resourceVersion=%s", old));
        assert_string_equal(rig_watch_next(&w, 1000), "ADDED");
        assert_int_equal(rig_post(r, "/devcluster/cut-watches?compact=true", ""), 200);
        assert_string_equal(rig_watch_next(&w, 1000), "");
        rig_watch_close(&w);
        assert_int_equal(rig_get(r, arena_printf(&r->arena, CM "?watch=true&resourceVersion=%s", old)), 410);
})

RIG_TEST(bad_commands_say_what_is_wrong, {
        assert_int_equal(rig_post(r, "/devcluster/readiness?kind=Deployment", ""), 400);
        assert_string_equal(rig_string(r, "message"),
                            "query parameter ready must be true or false, not \"\"");
        assert_int_equal(rig_post(r, "/devcluster/cut-watches?compact=yes", ""), 400);
        assert_int_equal(rig_get(r, "/devcluster/readiness"), 405);
        assert_int_equal(rig_get(r, "/devcluster/nothing"), 404);
})

static void check_robot(struct rig *r)
{
        assert_int_equal(rig_post(r, "/api/v1/namespaces/default/serviceaccounts",
                                  "{\"metadata\":{\"name\":\"robot\"}}"),
                         201);
        assert_int_equal(
                rig_post(r, "/api/v1/namespaces/default/serviceaccounts/robot/token", "{\"spec\":{}}"), 201);
        r->endpoint.bearer_token = mem_strdup(rig_string(r, "status.token"));
        assert_int_equal(rig_get(r, "/devcluster/requests"), 403);
        mem_free(r->endpoint.bearer_token);
        r->endpoint.bearer_token = NULL;
}

static void only_masters_may_use_the_commands(void **state)
{
        rig_run(check_robot);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(requests_are_counted_by_verb_and_resource_until_reset),
                cmocka_unit_test(a_readiness_rule_holds_a_workload_back_until_it_is_taken_away),
                cmocka_unit_test(workloads_that_others_run_keep_the_status_these_write),
                cmocka_unit_test(cutting_watches_with_compaction_makes_an_old_version_gone),
                cmocka_unit_test(bad_commands_say_what_is_wrong),
                cmocka_unit_test(only_masters_may_use_the_commands),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
