#include "proto/test_documents.h"

#include "common/base/memory.h"

enum { SEEDS = 150 };

/* RFC 7396, written a second time, so that the patch is judged by something else than what made it. */
static void apply(json_t *target, const json_t *patch)
{
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)(uintptr_t)patch, key, value) {
                if (json_is_null(value)) {
                        json_object_del(target, key);
                        continue;
                }
                if (!json_is_object(value)) {
                        json_object_set(target, key, value);
                        continue;
                }
                if (!json_is_object(json_object_get(target, key)))
                        json_object_set_new(target, key, json_object());
                apply(json_object_get(target, key), value);
        }
}

static struct object *parse(const struct kind *kind, const json_t *doc, struct arena *arena)
{
        struct object *o;
        struct error err = { 0 };
        if (object_from_doc(kind, doc, arena, &o, &err) < 0)
                fail_msg("%s", err.text);
        return o;
}

static void patch_and_compare(const struct kind *kind, uint64_t seed, enum object_part part)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct dice dice = { seed };
        AUTO_JSON json_t *from = random_document(&dice, kind), *to = random_document(&dice, kind);
        struct object *now = parse(kind, from, &arena), *wanted = parse(kind, to, &arena);
        AUTO_BUF struct buf b;
        buf_init(&b, 1 << 20);
        struct error err = { 0 };
        if (object_merge_patch(now, wanted, part, false, &b, &err) < 0)
                fail_msg("%s, seed %llu: %s", kind->kind, (unsigned long long)seed, err.text);
        if (b.len) {
                AUTO_JSON json_t *patch = json_loads(b.data, 0, NULL);
                assert_non_null(patch);
                apply(from, patch);
        }
        struct object *result = parse(kind, from, &arena);
        if (!object_equal_part(result, wanted, part))
                fail_msg("%s, seed %llu: wrong patch %s", kind->kind, (unsigned long long)seed, b.data);
        enum object_part other = part == OBJECT_STATUS ? OBJECT_META_SPEC : OBJECT_STATUS;
        assert_true(object_equal_part(result, now, other));
}

static void a_patch_turns_one_object_into_the_other(void **state)
{
        for (size_t i = 0; all_kinds[i]; i++)
                for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                        patch_and_compare(all_kinds[i], seed, OBJECT_META_SPEC);
                        patch_and_compare(all_kinds[i], seed, OBJECT_STATUS);
                }
}

static void equal_objects_give_no_patch(void **state)
{
        for (size_t i = 0; all_kinds[i]; i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct dice dice = { i + 1 };
                AUTO_JSON json_t *doc = random_document(&dice, all_kinds[i]);
                struct object *o = parse(all_kinds[i], doc, &arena);
                AUTO_BUF struct buf b;
                buf_init(&b, 4096);
                assert_int_equal(
                        object_merge_patch(o, object_copy(o, &arena), OBJECT_META_SPEC, true, &b, NULL), 0);
                assert_int_equal(object_merge_patch(o, object_copy(o, &arena), OBJECT_STATUS, true, &b, NULL),
                                 0);
                assert_int_equal(b.len, 0);
        }
}

static struct binding *some_binding(struct arena *arena)
{
        struct object *o;
        assert_int_equal(
                object_decode_arena(&cluster_resource_binding_kind,
                                    SLICE("{\"metadata\":{\"name\":\"b\",\"resourceVersion\":\"17\","
                                          "\"labels\":{\"a\":\"1\",\"c\":\"3\"},\"finalizers\":[\"f\"]},"
                                          "\"spec\":{\"state\":\"Bound\",\"targetCluster\":\"m\","
                                          "\"applyStrategy\":{\"type\":\"ReportDiff\"}},"
                                          "\"status\":{\"conditions\":[]}}"),
                                    arena, &o, NULL),
                0);
        return (struct binding *)o;
}

static void assert_patch(const struct object *now, const struct object *wanted, enum object_part part,
                         bool bound, const char *expected)
{
        AUTO_BUF struct buf b;
        buf_init(&b, 4096);
        assert_int_equal(object_merge_patch(now, wanted, part, bound, &b, NULL), 0);
        assert_string_equal(b.data, expected);
}

static void a_changed_field_is_sent_alone(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct binding *now = some_binding(&arena),
                       *wanted = (struct binding *)object_copy(&now->object, &arena);
        wanted->spec->state = "Unscheduled";
        assert_patch(&now->object, &wanted->object, OBJECT_META_SPEC, false,
                     "{\"metadata\":{},\"spec\":{\"state\":\"Unscheduled\"}}");
}

static void a_bound_patch_carries_the_resource_version_read(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct binding *now = some_binding(&arena),
                       *wanted = (struct binding *)object_copy(&now->object, &arena);
        wanted->object.meta.resource_version = "99";
        struct failed_placement_list none_left = { .set = true };
        wanted->status->failed_placements = &none_left;
        assert_patch(&now->object, &wanted->object, OBJECT_STATUS, true,
                     "{\"metadata\":{\"resourceVersion\":\"17\"},\"status\":{\"failedPlacements\":[]}}");
}

static void map_keys_are_added_changed_and_removed_one_by_one(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct binding *now = some_binding(&arena),
                       *wanted = (struct binding *)object_copy(&now->object, &arena);
        string_map_remove(&wanted->object.meta.labels, "a");
        assert_int_equal(string_map_put(&wanted->object.meta.labels, "b", "2", &arena), 0);
        assert_int_equal(string_map_put(&wanted->object.meta.labels, "c", "4", &arena), 0);
        assert_patch(&now->object, &wanted->object, OBJECT_META_SPEC, false,
                     "{\"metadata\":{\"labels\":{\"a\":null,\"b\":\"2\",\"c\":\"4\"}}}");
}

static void removed_parts_are_null(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct binding *now = some_binding(&arena),
                       *wanted = (struct binding *)object_copy(&now->object, &arena);
        wanted->spec->apply_strategy = NULL;
        wanted->object.meta.n_finalizers = 0;
        assert_patch(&now->object, &wanted->object, OBJECT_META_SPEC, false,
                     "{\"metadata\":{\"finalizers\":null},\"spec\":{\"applyStrategy\":null}}");
}

static void raw_values_are_compared_as_values(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object *a, *b;
        assert_int_equal(
                object_decode_arena(&work_kind,
                                    SLICE("{\"spec\":{\"workload\":{\"manifests\":[{\"a\":1, \"b\":2}]}}}"),
                                    &arena, &a, NULL),
                0);
        assert_int_equal(
                object_decode_arena(&work_kind,
                                    SLICE("{\"spec\":{\"workload\":{\"manifests\":[{\"b\":2,\"a\":1}]}}}"),
                                    &arena, &b, NULL),
                0);
        assert_true(object_equal_part(a, b, OBJECT_META_SPEC));
}

static void a_failing_allocation_fails_the_patch(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct binding *now = some_binding(&arena),
                       *wanted = (struct binding *)object_copy(&now->object, &arena);
        wanted->spec->state = "Unscheduled";
        AUTO_BUF struct buf b;
        buf_init(&b, 4096);
        struct error err = { 0 };
        mem_fail_at(1, true);
        int code = object_merge_patch(&now->object, &wanted->object, OBJECT_META_SPEC, true, &b, &err);
        mem_fail_at(0, false);
        assert_int_equal(code, ERR_NO_MEMORY);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_patch_turns_one_object_into_the_other),
                cmocka_unit_test(equal_objects_give_no_patch),
                cmocka_unit_test(a_changed_field_is_sent_alone),
                cmocka_unit_test(a_bound_patch_carries_the_resource_version_read),
                cmocka_unit_test(map_keys_are_added_changed_and_removed_one_by_one),
                cmocka_unit_test(removed_parts_are_null),
                cmocka_unit_test(raw_values_are_compared_as_values),
                cmocka_unit_test(a_failing_allocation_fails_the_patch),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
