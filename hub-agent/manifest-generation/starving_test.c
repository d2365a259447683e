/* What becomes of decisions of syncs and requests when an allocation fails: told, and nothing half done. */
#include "hub-agent/manifest-generation/hub_view.h"
#include "hub-agent/manifest-generation/request.h"
#include "hub-agent/manifest-generation/take_over.h"
#include "hub-agent/manifest-generation/text_diff.h"
#include "hub-agent/manifest-generation/work_diff.h"
#include "hub-agent/starve_test.h"

static json_t *doc_of(const char *text)
{
        json_t *doc = NULL;

        mem_hook_libraries();
        assert_int_equal(doc_parse(slice_of(text), &doc, NULL), 0);
        return doc;
}

/* ---- answers ---- */

static int answer(void *ctx, struct arena *arena)
{
        AUTO_JSON json_t *patch = request_answer(REQUEST_SUCCEEDED, "abc", "well done");

        return patch ? 0 : ERR_NO_MEMORY;
}

static void an_answer_is_whole_or_none(void **state)
{
        AUTO_JSON json_t *patch = NULL;

        mem_hook_libraries();
        each_allocation_fails(answer, NULL);
        patch = request_answer(REQUEST_FAILED, NULL, "why");
        assert_int_equal(json_object_size(doc_get(patch, "metadata.annotations")), 2);
}

static void a_long_result_loses_its_middle(void **state)
{
        const char *const path[] = { "metadata", "annotations", REQUEST_RESULT };
        AUTO_FREE char *text = mem_alloc(200001);
        AUTO_JSON json_t *patch = NULL;

        memset(text, 'x', 200000);
        text[200000] = '\0';
        patch = request_answer(REQUEST_FAILED, NULL, text);
        assert_in_range(strlen(json_string_value(doc_get_keys(patch, path, 3))), 1000, REQUEST_RESULT_BYTES);
}

/* ---- the order of requests ---- */

static void the_oldest_open_request_comes_first(void **state)
{
        struct string_pair done_pair[] = { { REQUEST_STATUS, REQUEST_SUCCEEDED } },
                           running[] = { { REQUEST_STATUS, REQUEST_RUNNING } },
                           queued[] = { { REQUEST_STATUS, REQUEST_QUEUED } };
        struct object all[] = {
                { .meta = { .name = "a",
                            .uid = "1",
                            .creation_ms = 1,
                            .deletion_ms = TIME_NONE,
                            .annotations = { done_pair, 1, true } } },
                { .meta = { .name = "b",
                            .uid = "2",
                            .creation_ms = 3,
                            .deletion_ms = TIME_NONE,
                            .annotations = { queued, 1, true } } },
                { .meta = { .name = "d",
                            .uid = "3",
                            .creation_ms = 2,
                            .deletion_ms = TIME_NONE,
                            .annotations = { running, 1, true } } },
                { .meta = { .name = "c",
                            .uid = "4",
                            .creation_ms = 2,
                            .deletion_ms = TIME_NONE,
                            .annotations = { queued, 1, true } } },
                { .meta = { .name = "e", .uid = "5", .creation_ms = 0, .deletion_ms = 7 } },
                { .meta = { .name = "not told yet", .uid = "6", .deletion_ms = TIME_NONE } },
        };
        const struct object *at[] = { &all[0], &all[1], &all[2], &all[3], &all[4], &all[5] };
        const struct object_list list = { at, 6 };
        struct map owed = MAP_INIT;

        assert_string_equal(request_first(&list, &owed)->meta.name, "c");
        assert_int_equal(map_put(&owed, "4", &owed), 0);
        assert_string_equal(request_first(&list, &owed)->meta.name, "d");
        assert_int_equal(map_put(&owed, "3", &owed), 0);
        assert_int_equal(map_put(&owed, "2", &owed), 0);
        assert_null(request_first(&list, &owed));
        map_free(&owed);
}

/* ---- fields that are taken over ---- */

static int take(void *ctx, struct arena *arena)
{
        AUTO_JSON json_t *patch = NULL;

        return take_over_patch(ctx, "flux", &patch, NULL);
}

static void a_take_over_is_whole_or_none(void **state)
{
        AUTO_JSON json_t *live =
                doc_of("{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\",\"annotations\":{\"kubectl."
                       "kubernetes.io/"
                       "last-applied-configuration\":\"{}\"},\"managedFields\":[{\"manager\":\"kubectl\","
                       "\"operation\":"
                       "\"Update\",\"fieldsV1\":{\"f:data\":{\"f:a\":{}}}},{\"manager\":\"flux\","
                       "\"operation\":\"Apply\","
                       "\"fieldsV1\":{\"f:data\":{\"f:b\":{}}}}]},\"data\":{\"a\":\"1\",\"b\":\"2\"}}");

        each_allocation_fails(take, live);
}

/* ---- what is known ---- */

static int note(void *ctx, struct arena *arena)
{
        struct known_object k = { 0 };
        int code = known_object_note(&k, ctx, "sum");

        if (code < 0)
                assert_true(k.drifted); /* it is not taken for known */
        mem_free(k.uid);
        mem_free(k.version);
        return code;
}

static void an_object_is_known_whole_or_not(void **state)
{
        AUTO_JSON json_t *live = doc_of("{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"7\"}}");

        each_allocation_fails(note, live);
}

/* ---- differences ---- */

static int differ(void *ctx, struct arena *arena)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1000);
        return text_diff(arena, "a.yaml", SLICE("a\nb\nc\n"), SLICE("a\nx\nc\nd\n"), &b);
}

static void a_difference_is_whole_or_none(void **state)
{
        each_allocation_fails(differ, NULL);
}

struct folder {
        struct tree tree;
        bool done;
};

static int look_twice(void *ctx, struct arena *arena)
{
        const struct folder *f = ctx;
        struct work_snapshot before;
        struct work_diff d;

        TRY(work_snapshot_take(&f->tree, arena, &before, NULL));
        return work_diff_make(&f->tree, &before, false, arena, &d, NULL);
}

static void in_fiber(void *ctx)
{
        struct folder *f = ctx;
        struct volume_writer *w = NULL;

        assert_int_equal(volume_create(f->tree.volume, "a/b.yaml", &w, NULL), 0);
        assert_int_equal(volume_append(w, "x", 1, NULL), 0);
        assert_int_equal(volume_commit(w, NULL), 0);
        each_allocation_fails(look_twice, f);
        f->done = true;
}

static void a_folder_is_looked_at_whole_or_not(void **state)
{
        struct loop *l = loop_new_simulated(1, 0, NULL);
        struct folder f = { .tree = { volume_new_in_memory(l), "/work" } };
        struct fiber_group *g = fiber_group_new(l, NULL, "test");

        assert_non_null(fiber_spawn(g, "test", in_fiber, &f));
        assert_int_equal(loop_run(l, NULL), 0);
        assert_true(f.done);
        fiber_group_end(g);
        volume_close(f.tree.volume);
        loop_free(l);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_answer_is_whole_or_none),
                cmocka_unit_test(a_long_result_loses_its_middle),
                cmocka_unit_test(the_oldest_open_request_comes_first),
                cmocka_unit_test(a_take_over_is_whole_or_none),
                cmocka_unit_test(an_object_is_known_whole_or_not),
                cmocka_unit_test(a_difference_is_whole_or_none),
                cmocka_unit_test(a_folder_is_looked_at_whole_or_not),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
