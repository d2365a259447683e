/* The count of requests from a kube-apiserver's metrics, on a few lines as one writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/bench/bench.h"
#include "e2e/bench/request_metrics.h"

#define LINE(verb, resource, below, code, count)                                                             \
        "apiserver_request_total{code=\"" code                                                               \
        "\",component=\"apiserver\",dry_run=\"\",group=\"x\",resource=\"" resource                           \
        "\",scope=\"resource\",subresource=\"" below "\",verb=\"" verb "\",version=\"v1\"} " count "\n"

static int64_t count(const json_t *items, const char *verb, const char *resource)
{
        return (int64_t)bench_count(items, verb, resource);
}

static json_t *read_items(const char *text)
{
        struct error err = { 0 };
        json_t *items = NULL;

        assert_int_equal(request_metrics_read(slice_of(text), &items, &err), 0);
        return items;
}

static void codes_of_a_verb_and_resource_are_added_up(void **state)
{
        AUTO_JSON json_t *items = read_items(
                "# TYPE apiserver_request_total counter\n" LINE("POST", "works", "", "201", "7")
                        LINE("POST", "works", "", "409", "2") LINE("PUT", "works", "status", "200", "3")
                                LINE("LIST", "pods", "", "200", "1.5e+06")
                                        LINE("CONNECT", "pods", "log", "200",
                                             "5") "apiserver_request_totals{verb=\"POST\"} 4\n");

        assert_int_equal(json_array_size(items), 3);
        assert_int_equal(count(items, "create", "works"), 9);
        assert_int_equal(count(items, "update", "works/status"), 3);
        assert_int_equal(count(items, "list", "pods"), 1500000);
}

static void a_merge_patch_and_an_apply_are_both_patches(void **state)
{
        AUTO_JSON json_t *items =
                read_items(LINE("PATCH", "works", "", "200", "1") LINE("APPLY", "works", "", "200", "2"));

        assert_int_equal(count(items, "patch", "works"), 3);
}

static void only_what_came_since_then_is_told(void **state)
{
        AUTO_JSON json_t *before =
                read_items(LINE("POST", "works", "", "201", "7") LINE("GET", "works", "", "200", "1"));
        AUTO_JSON json_t *now = read_items(LINE("POST", "works", "", "201", "9") LINE(
                "GET", "works", "", "200", "1") LINE("DELETE", "works", "", "200", "4"));
        AUTO_JSON json_t *since = NULL, *all = NULL;
        struct error err = { 0 };

        assert_int_equal(request_metrics_since(now, before, &since, &err), 0);
        assert_int_equal(json_array_size(since), 2);
        assert_int_equal(count(since, "create", "works"), 2);
        assert_int_equal(count(since, "delete", "works"), 4);
        assert_int_equal(request_metrics_since(now, NULL, &all, &err), 0);
        assert_int_equal(json_array_size(all), 3);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(codes_of_a_verb_and_resource_are_added_up),
                cmocka_unit_test(a_merge_patch_and_an_apply_are_both_patches),
                cmocka_unit_test(only_what_came_since_then_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
