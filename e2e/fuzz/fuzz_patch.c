/* Patches, on two documents from the first two lines: applying never harms its inputs, differences turn one
 * document into the other, a three-way patch of an unchanged object is empty. The third line is a JSON patch.
 */
#include "common/json/apply.h"
#include "common/json/patch.h"
#include "e2e/fuzz/fuzz.h"

static void check_differences(const json_t *a, const json_t *b)
{
        AUTO_JSON json_t *operations = NULL, *result = NULL;
        ASSERT(patch_json_diff(a, b, &operations, NULL) == 0);
        if (json_array_size(operations) <= 10000) {
                ASSERT(patch_json(a, operations, &result, NULL) == 0);
                ASSERT(doc_equal(result, b));
        }
        AUTO_JSON json_t *patch = NULL, *merged = NULL, *none = NULL;
        ASSERT(patch_merge_diff(a, b, &patch, NULL) == 0);
        ASSERT(patch_merge(a, patch, &merged, NULL) == 0);
        ASSERT(patch_merge_diff(a, a, &none, NULL) == 0);
        ASSERT(!json_is_object(a) || json_object_size(none) == 0);
}

static void check_objects(const json_t *a, const json_t *b)
{
        AUTO_JSON json_t *patch = NULL, *strategic = NULL, *applied = NULL, *again = NULL;
        struct apply_options o = { .manager = "m", .api_version = "v1", .wall_ms = 0 };
        ASSERT(patch_merge_three_way(a, a, a, &patch, NULL) == 0 && patch_is_empty(patch));
        patch_strategic(a, b, NULL, &strategic, NULL);
        json_t *object = NULL;
        o.force = true;
        if (apply_server_side(a, b, NULL, &o, &applied, NULL, NULL) < 0)
                return;
        ASSERT(apply_server_side(applied, b, NULL, &o, &again, NULL, NULL) == 0);
        ASSERT(doc_equal(applied, again));
        object = doc_copy(b);
        apply_track_update(applied, object, NULL, &o, NULL);
        json_decref(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct slice rest = input_of(data, size);
        AUTO_JSON json_t *a = parsed(first_line(&rest)), *b = parsed(first_line(&rest)),
                         *operations = parsed(rest);
        if (!a || !b)
                return 0;
        AUTO_JSON json_t *before = doc_copy(a), *result = NULL;
        if (operations)
                patch_json(a, operations, &result, NULL);
        check_differences(a, b);
        if (json_is_object(a) && json_is_object(b))
                check_objects(a, b);
        ASSERT(doc_equal(a, before));
        return 0;
}
