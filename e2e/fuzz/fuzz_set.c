/* ResourceSets: from whatever spec, building ends within its bounds and gives the same twice, and each object
 * has what is needed to apply it and the set's labels. The input is a ResourceSet as JSON. */
#include "e2e/fuzz/fuzz.h"
#include "hub-agent/resource-set/build.h"
#include "hub-agent/resource-set/inputs.h"
#include "hub-agent/resource-set/order.h"

static void check_object(const json_t *doc, const struct resource_set *set)
{
        const char *const name[] = { "metadata", "labels", LABEL_SET_NAME };
        struct object_place place = place_of_doc(doc);
        ASSERT(*place.kind && *place.name && !text_empty(doc_get_string(doc, "apiVersion")));
        if (!set->spec->common_metadata)
                ASSERT(text_equal(json_string_value(doc_get_keys(doc, name, 3)), set->object.meta.name));
}

static int build(const struct resource_set *set, char digest[BUILD_DIGEST_SIZE], struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct build built;
        json_t *sets = NULL;
        TRY(build_check(set, err));
        TRY(inputs_check(set, err));
        if (!inputs_are_none(set))
                TRY(inputs_collect(&arena, set, &(struct object_list){ 0 }, &sets, err));
        TRY(build_objects(&arena, set, sets, &built, err));
        for (size_t i = 0; i < built.n; i++)
                check_object(built.at[i].doc, set);
        return build_digest(&built, digest, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        AUTO_JSON json_t *doc = parsed(input_of(data, size));
        AUTO_ARENA struct arena arena = ARENA_INIT;
        char first[BUILD_DIGEST_SIZE] = "", second[BUILD_DIGEST_SIZE] = "";
        struct error one = { 0 }, two = { 0 };
        struct resource_set *set;
        struct object *o;
        int code;
        if (!json_is_object(doc) || object_from_doc(&resource_set_kind, doc, &arena, &o, &one) < 0)
                return 0;
        set = (struct resource_set *)o;
        if (!set->spec)
                return 0;
        o->meta.name = text_empty(o->meta.name) ? "fuzz" : o->meta.name;
        o->meta.ns = "default";
        code = build(set, first, &one);
        ASSERT(code == 0 || code == ERR_INVALID || code == ERR_LIMIT);
        ASSERT((code == 0) == !*one.text);
        ASSERT(build(set, second, &two) == code);
        ASSERT(strcmp(first, second) == 0 && strcmp(one.text, two.text) == 0);
        return 0;
}
