/* Patches, on two documents from the first two lines: applying never harms its inputs, differences turn one
 * document into the other, a three-way patch of an unchanged object is empty. The third line is a JSON patch.
 */
#include "common/json/apply.h"
#include "common/json/patch.h"
#include "common/json/schema.h"
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

/* Members that lists and maps of each kind stand under: a is a list by key k, b a set, c atomic, d a map. */
static const struct schema scalar = { .type = SCHEMA_STRING };
static const char *const list_keys[] = { "k" };
static const struct schema_property item_fields[] = { { "k", &scalar }, { "v", &scalar } };
static const struct schema item = { .type = SCHEMA_OBJECT, .properties = item_fields, .n_properties = 2 };
static const struct schema map_list = { .type = SCHEMA_ARRAY,
                                        .items = &item,
                                        .list_type = SCHEMA_LIST_MAP,
                                        .list_map_keys = list_keys,
                                        .n_list_map_keys = 1,
                                        .patch_merge = true,
                                        .patch_merge_key = "k" };
static const struct schema set_list = {
        .type = SCHEMA_ARRAY, .items = &scalar, .list_type = SCHEMA_LIST_SET, .patch_merge = true
};
static const struct schema atomic = { .type = SCHEMA_OBJECT, .map_atomic = true, .patch_retain_keys = true };
static const struct schema free_map = { .type = SCHEMA_OBJECT, .additional = &map_list };
static const struct schema_property root_fields[] = {
        { "a", &map_list }, { "b", &set_list }, { "c", &atomic }, { "d", &free_map }
};
static const struct schema root = { .type = SCHEMA_OBJECT, .properties = root_fields, .n_properties = 4 };

/* Applying twice is applying once; a second manager's apply and an update of the result must go through or
 * refuse. */
static void check_apply(const json_t *a, const json_t *b, const struct schema *schema)
{
        AUTO_JSON json_t *applied = NULL, *again = NULL, *other = NULL;
        struct apply_options o = { .manager = "m", .api_version = "v1", .wall_ms = 0, .force = true };
        if (apply_server_side(a, b, schema, &o, &applied, NULL, NULL) < 0)
                return;
        ASSERT(apply_server_side(applied, b, schema, &o, &again, NULL, NULL) == 0);
        if (!doc_equal(applied, again))
                fprintf(stderr, "%s\n%s\n", json_dumps(applied, 0), json_dumps(again, 0));
        ASSERT(doc_equal(applied, again));
        o.manager = "n";
        o.wall_ms = 60000;
        apply_server_side(applied, a, schema, &o, &other, NULL, NULL);
        AUTO_JSON json_t *object = doc_copy(b);
        apply_track_update(applied, object, schema, &o, NULL);
}

static void check_strategic(const json_t *a, const json_t *b, const struct schema *schema)
{
        AUTO_JSON json_t *strategic = NULL, *three_way = NULL, *result = NULL;
        patch_strategic(a, b, schema, &strategic, NULL);
        if (patch_strategic_three_way(a, b, a, schema, &three_way, NULL) == 0)
                patch_strategic(a, three_way, schema, &result, NULL);
}

static void check_objects(const json_t *a, const json_t *b)
{
        AUTO_JSON json_t *patch = NULL;
        ASSERT(patch_merge_three_way(a, a, a, &patch, NULL) == 0 && patch_is_empty(patch));
        check_strategic(a, b, NULL);
        check_strategic(a, b, &root);
        check_apply(a, b, NULL);
        check_apply(a, b, &root);
}

/* In place or on a copy: the same outcome, and a whole document in any case. */
static void check_in_place(const json_t *doc, const json_t *operations)
{
        AUTO_JSON json_t *result = NULL;
        json_t *changed = doc_copy(doc);
        int code = patch_json(doc, operations, &result, NULL);

        ASSERT(changed && patch_json_in_place(&changed, operations, NULL) == code);
        ASSERT(code < 0 || doc_equal(changed, result));
        json_decref(changed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct slice rest = input_of(data, size);
        AUTO_JSON json_t *a = parsed(first_line(&rest)), *b = parsed(first_line(&rest)),
                         *operations = parsed(rest);
        if (!a || !b)
                return 0;
        AUTO_JSON json_t *before = doc_copy(a);
        if (operations)
                check_in_place(a, operations);
        check_differences(a, b);
        if (json_is_object(a) && json_is_object(b))
                check_objects(a, b);
        ASSERT(doc_equal(a, before));
        return 0;
}
