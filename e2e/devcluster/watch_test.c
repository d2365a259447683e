/* Watches: where they start, what they see, when they are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"
#include "e2e/devcluster/store.h"

#define CM "/api/v1/namespaces/default/configmaps"

static void make(struct rig *r, const char *name)
{
        assert_int_equal(rig_post(r, CM, arena_printf(&r->arena, "{\"metadata\":{\"name\":\"%s\"}}", name)),
                         201);
}

static const char *list_version(struct rig *r)
{
        assert_int_equal(rig_get(r, CM), 200);
        return arena_strdup(&r->arena, rig_string(r, "metadata.resourceVersion"));
}

RIG_TEST(a_watch_goes_on_from_a_version, {
        struct rig_watch w;
        const char *rv = list_version(r);
        make(r, "a");
        make(r, "b");
        rig_watch_open(r, &w, arena_printf(&r->arena, CM "?watch=true&resourceVersion=%s", rv));
        assert_string_equal(rig_watch_next(&w, 1000), "ADDED");
        assert_string_equal(rig_watch_string(&w, "metadata.name"), "a");
        assert_string_equal(rig_watch_next(&w, 1000), "ADDED");
        assert_string_equal(rig_watch_next(&w, 1000), "timeout");
        rig_watch_close(&w);
})

RIG_TEST(a_watch_from_forgotten_history_is_told_so, {
        const char *rv = list_version(r);
        make(r, "a");
        devcluster_cut_watches(r->devcluster, "hub", true);
        assert_int_equal(rig_get(r, arena_printf(&r->arena, CM "?watch=true&resourceVersion=%s", rv)), 410);
        assert_string_equal(rig_string(r, "reason"), "Expired");
        struct rig_watch w;
        rig_watch_open(r, &w,
                       arena_printf(&r->arena, CM "?watch=true&timeoutSeconds=1&resourceVersion=%s",
                                    list_version(r)));
        assert_int_equal(r->status, 200);
        rig_watch_close(&w);
})

RIG_TEST(cutting_ends_open_watches, {
        struct rig_watch w;
        rig_watch_open(r, &w, arena_printf(&r->arena, CM "?watch=true&resourceVersion=%s", list_version(r)));
        assert_string_equal(rig_watch_next(&w, 100), "timeout");
        devcluster_cut_watches(r->devcluster, NULL, false);
        assert_string_equal(rig_watch_next(&w, 1000), "");
        rig_watch_close(&w);
})

RIG_TEST(a_watch_list_sends_the_state_and_marks_its_end, {
        struct rig_watch w;
        make(r, "a");
        rig_watch_open(r, &w,
                       CM "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch="
                          "NotOlderThan"
                          "&resourceVersion=&fieldSelector=metadata.name%3Da");
        assert_string_equal(rig_watch_next(&w, 1000), "ADDED");
        assert_string_equal(rig_watch_next(&w, 1000), "BOOKMARK");
        const json_t *notes = doc_get(w.event, "object.metadata.annotations");
        assert_string_equal(json_string_value(json_object_get(notes, "k8s.io/initial-events-end")), "true");
        make(r, "b");
        assert_string_equal(rig_watch_next(&w, 1000), "timeout");
        assert_int_equal(rig_delete(r, CM "/a"), 200);
        assert_string_equal(rig_watch_next(&w, 1000), "DELETED");
        rig_watch_close(&w);
        assert_int_equal(rig_get(r, CM "?watch=true&sendInitialEvents=true"), 422);
})

RIG_TEST(bookmarks_come_every_minute_and_before_the_end, {
        struct rig_watch w;
        rig_watch_open(
                r, &w,
                arena_printf(&r->arena,
                             CM "?watch=true&allowWatchBookmarks=true&timeoutSeconds=90&resourceVersion=%s",
                             list_version(r)));
        assert_string_equal(rig_watch_next(&w, 61000), "BOOKMARK");
        assert_string_equal(rig_watch_string(&w, "metadata.resourceVersion"), list_version(r));
        assert_string_equal(rig_watch_next(&w, 31000), "BOOKMARK");
        assert_string_equal(rig_watch_next(&w, 31000), "");
        rig_watch_close(&w);
})

static void make_big(struct rig *r, int i)
{
        char *big = arena_alloc(&r->arena, 900001);

        memset(big, 'x', 900000);
        big[900000] = '\0';
        assert_int_equal(
                rig_post(r, CM,
                         arena_printf(&r->arena, "{\"metadata\":{\"name\":\"m%d\"},\"data\":{\"k\":\"%s\"}}",
                                      i, big)),
                201);
}

RIG_TEST(a_slow_watcher_is_cut_and_others_go_on, {
        struct rig_watch slow;
        struct rig_watch quick;
        const char *rv = list_version(r);
        rig_watch_open(r, &slow, arena_printf(&r->arena, CM "?watch=true&resourceVersion=%s", rv));
        rig_watch_open(r, &quick, arena_printf(&r->arena, CM "?watch=true&resourceVersion=%s", rv));
        for (int i = 0; i < 6; i++) {
                make_big(r, i);
                assert_string_equal(rig_watch_next(&quick, 1000), "ADDED");
        }
        assert_int_equal(fiber_sleep(r->loop, 40000), 0); /* longer than a watcher may take its time */
        int seen = 0;
        while (strcmp(rig_watch_next(&slow, 1000), "ADDED") == 0)
                seen++;
        assert_true(seen < 6);
        assert_string_equal(rig_watch_next(&slow, 1000), "");
        make(r, "after");
        assert_string_equal(rig_watch_next(&quick, 1000), "ADDED");
        rig_watch_close(&slow);
        rig_watch_close(&quick);
})

RIG_TEST(a_table_watch_sends_one_row_each, {
        struct http_header header = { "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io" };
        struct http_request rq = { .endpoint = &r->endpoint,
                                   .method = "GET",
                                   .path = CM "?watch=true&fieldSelector=metadata.name%3Dkube-root-ca.crt",
                                   .headers = { &header, 1 },
                                   .deadline_ms = loop_now_ms(r->loop) + 1000 };
        struct rig_watch w = { .rig = r };
        struct error err = { 0 };
        buf_init(&w.pending, 1 << 20);
        assert_int_equal(http_stream_open(r->client, &rq, &w.stream, &err), 0);
        assert_string_equal(rig_watch_next(&w, 1000), "ADDED");
        assert_string_equal(rig_watch_string(&w, "kind"), "Table");
        assert_int_equal(json_array_size(doc_get_array(w.event, "object.rows")), 1);
        assert_true(json_array_size(doc_get_array(w.event, "object.columnDefinitions")) > 1);
        rig_watch_close(&w);
})

#define IN_OTHER "/api/v1/namespaces/other/configmaps"

static void make_other_namespace(struct rig *r)
{
        assert_int_equal(rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"other\"}}"), 201);
}

/* More than history keeps. */
static void make_elsewhere(struct rig *r)
{
        for (int i = 0; i < 20; i++)
                assert_int_equal(rig_post(r, IN_OTHER, "{\"metadata\":{\"generateName\":\"elsewhere-\"}}"),
                                 201);
        api_store_compact(api_store_cluster(devcluster_store(r->devcluster), "hub"), 10);
}

RIG_TEST(a_watch_of_a_namespace_sleeps_while_others_change, {
        struct rig_watch w;
        const char *rv = list_version(r);
        make_other_namespace(r);
        make(r, "before");
        rig_watch_open(
                r, &w,
                arena_printf(&r->arena, CM "?watch=true&allowWatchBookmarks=true&resourceVersion=%s", rv));
        assert_string_equal(rig_watch_next(&w, 1000), "ADDED"); /* from before it began */
        make_elsewhere(r);
        assert_string_equal(rig_watch_next(&w, 1000), "timeout");
        make(r, "a");
        make_elsewhere(r);
        assert_string_equal(rig_watch_next(&w, 1000), "ADDED");
        assert_string_equal(rig_watch_string(&w, "metadata.name"), "a");
        make_elsewhere(r);
        assert_string_equal(rig_watch_next(&w, 61000), "BOOKMARK");
        assert_string_equal(rig_watch_string(&w, "metadata.resourceVersion"), list_version(r));
        assert_int_equal(rig_delete(r, CM "/a"), 200);
        assert_string_equal(rig_watch_next(&w, 1000), "DELETED");
        devcluster_cut_watches(r->devcluster, NULL, false);
        assert_string_equal(rig_watch_next(&w, 1000), "");
        rig_watch_close(&w);
})

/* It waits for its client, and what it has not sent is forgotten. */
RIG_TEST(a_watch_of_a_namespace_is_told_what_it_missed, {
        struct rig_watch slow;
        make_other_namespace(r);
        rig_watch_open(r, &slow,
                       arena_printf(&r->arena, CM "?watch=true&resourceVersion=%s", list_version(r)));
        for (int i = 0; i < 6; i++)
                make_big(r, i);
        make_elsewhere(r);
        int seen = 0;
        while (strcmp(rig_watch_next(&slow, 1000), "ADDED") == 0)
                seen++;
        assert_true(seen < 6);
        assert_string_equal(rig_watch_string(&slow, "reason"), "Expired");
        rig_watch_close(&slow);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_watch_goes_on_from_a_version),
                cmocka_unit_test(a_watch_from_forgotten_history_is_told_so),
                cmocka_unit_test(cutting_ends_open_watches),
                cmocka_unit_test(a_watch_list_sends_the_state_and_marks_its_end),
                cmocka_unit_test(bookmarks_come_every_minute_and_before_the_end),
                cmocka_unit_test(a_slow_watcher_is_cut_and_others_go_on),
                cmocka_unit_test(a_table_watch_sends_one_row_each),
                cmocka_unit_test(a_watch_of_a_namespace_sleeps_while_others_change),
                cmocka_unit_test(a_watch_of_a_namespace_is_told_what_it_missed),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
