/* Objects that are updated again and again, of which the server keeps the document: what is read is what was
 * answered, whatever becomes of the updates and of the definition meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/limits.h"
#include "e2e/devcluster/rig.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define LAMPS "/apis/example.com/v1/namespaces/default/lamps"

static const char crd[] =
        "apiVersion: apiextensions.k8s.io/v1\n"
        "kind: CustomResourceDefinition\n"
        "metadata: {name: lamps.example.com}\n"
        "spec:\n"
        "  group: example.com\n"
        "  names: {plural: lamps, kind: Lamp}\n"
        "  scope: Namespaced\n"
        "  versions:\n"
        "  - name: v1\n"
        "    served: true\n"
        "    storage: true\n"
        "    subresources: {status: {}}\n"
        "    schema:\n"
        "      openAPIV3Schema:\n"
        "        type: object\n"
        "        properties:\n"
        "          spec:\n"
        "            type: object\n"
        "            properties: {size: {type: integer, minimum: 1}, color: {type: string, default: red},"
        " notes: {type: array, items: {type: string, maxLength: 9}}}\n"
        "          status:\n"
        "            type: object\n"
        "            properties:\n"
        "              beat: {type: integer, minimum: 0}\n"
        "              list:\n"
        "                type: array\n"
        "                x-kubernetes-list-type: map\n"
        "                x-kubernetes-list-map-keys: [type]\n"
        "                items:\n"
        "                  type: object\n"
        "                  required: [type]\n"
        "                  properties: {type: {type: string}, mood: {type: string, default: calm}}\n";

#define LIST "\"list\":[{\"type\":\"a\"},{\"type\":\"b\",\"mood\":\"wild\"}]"

static void install(struct rig *r)
{
        assert_int_equal(rig_call(r, "POST", CRDS, "application/yaml", crd), 201);
        assert_int_equal(rig_post(r, LAMPS,
                                  "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Lamp\",\"metadata\":{"
                                  "\"name\":\"l\",\"labels\":{\"x\":\"y\"}},\"spec\":{\"size\":2}}"),
                         201);
}

static int beat(struct rig *r, int n)
{
        return rig_merge(r, LAMPS "/l/status",
                         arena_printf(&r->arena, "{\"status\":{\"beat\":%d," LIST "}}", n));
}

/* The answer to the last write is what is read, to the byte. */
static void assert_read_as_answered(struct rig *r)
{
        const char *answered = arena_strdup(&r->arena, r->text);
        assert_int_equal(rig_get(r, LAMPS "/l"), 200);
        assert_string_equal(r->text, answered);
}

RIG_TEST(each_update_is_read_as_it_was_answered, {
        install(r);
        for (int i = 0; i < 4; i++) {
                assert_int_equal(beat(r, i), 200);
                assert_read_as_answered(r);
                assert_int_equal(doc_get_int(r->answer, "status.beat", -1), i);
                assert_string_equal(rig_string(r, "spec.color"), "red");
                assert_string_equal(
                        doc_get_string(json_array_get(doc_get(r->answer, "status.list"), 0), "mood"), "calm");
        }
        assert_int_equal(
                rig_merge(r, LAMPS "/l", "{\"spec\":{\"size\":3,\"odd\":1},\"status\":{\"beat\":9}}"), 200);
        assert_read_as_answered(r);
        assert_int_equal(doc_get_int(r->answer, "status.beat", -1), 3);
        assert_null(doc_get(r->answer, "spec.odd"));
        assert_int_equal(doc_get_int(r->answer, "metadata.generation", 0), 2);
        assert_int_equal(beat(r, 5), 200);
        assert_read_as_answered(r);
        assert_int_equal(doc_get_int(r->answer, "spec.size", 0), 3);
        assert_int_equal(doc_get_int(r->answer, "metadata.generation", 0), 2);
        assert_int_equal(json_array_size(doc_get(r->answer, "metadata.managedFields")), 2);
})

RIG_TEST(a_refused_update_leaves_nothing_behind, {
        install(r);
        assert_int_equal(beat(r, 1), 200);
        assert_int_equal(beat(r, 2), 200);
        const char *was = arena_strdup(&r->arena, r->text);
        assert_int_equal(beat(r, -1), 422);
        assert_int_equal(
                rig_merge(r, LAMPS "/l", "{\"metadata\":{\"labels\":{\"x\":\"z\"}},\"spec\":{\"size\":0}}"),
                422);
        assert_int_equal(rig_merge(r, LAMPS "/l/status",
                                   "{\"status\":{\"list\":[{\"type\":\"a\"},{\"type\":\"a\"}]}}"),
                         422);
        assert_int_equal(rig_merge(r, LAMPS "/l?dryRun=All", "{\"spec\":{\"size\":7}}"), 200);
        assert_int_equal(rig_get(r, LAMPS "/l"), 200);
        assert_string_equal(r->text, was);
        assert_int_equal(beat(r, 3), 200);
        assert_read_as_answered(r);
        assert_int_equal(doc_get_int(r->answer, "spec.size", 0), 2);
        assert_string_equal(rig_string(r, "metadata.labels.x"), "y");
})

RIG_TEST(an_update_that_changes_nothing_writes_nothing, {
        install(r);
        assert_int_equal(beat(r, 1), 200);
        assert_int_equal(beat(r, 2), 200);
        const char *version = arena_strdup(&r->arena, rig_string(r, "metadata.resourceVersion"));
        assert_int_equal(beat(r, 2), 200);
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), version);
        assert_read_as_answered(r);
})

RIG_TEST(a_definition_that_changes_counts_from_the_next_update_on, {
        install(r);
        assert_int_equal(beat(r, 1), 200);
        assert_int_equal(beat(r, 2), 200);
        AUTO_FREE char *less = mem_strdup(crd);
        memcpy(strstr(less, "color: {"), "paint", 5);
        assert_int_equal(rig_call(r, "PATCH", CRDS "/lamps.example.com?fieldManager=m&force=true",
                                  "application/apply-patch+yaml", less),
                         200);
        assert_int_equal(beat(r, 3), 200);
        assert_null(doc_get(r->answer, "spec.color"));
        assert_string_equal(rig_string(r, "spec.paint"), "red");
        assert_read_as_answered(r);
        assert_int_equal(beat(r, 4), 200);
        assert_string_equal(rig_string(r, "spec.paint"), "red");
})

/* What a stricter definition finds wrong may stay while it is unchanged, and a list counts as a whole. */
RIG_TEST(what_is_wrong_since_a_definition_changed_is_told_with_what_is_near_it, {
        install(r);
        assert_int_equal(rig_merge(r, LAMPS "/l", "{\"spec\":{\"notes\":[\"long\",\"longer\"]}}"), 200);
        AUTO_FREE char *stricter = mem_strdup(crd);
        *(strstr(stricter, "maxLength: ") + strlen("maxLength: ")) = '3';
        assert_int_equal(rig_call(r, "PATCH", CRDS "/lamps.example.com?fieldManager=m&force=true",
                                  "application/apply-patch+yaml", stricter),
                         200);
        assert_int_equal(beat(r, 1), 200);
        assert_int_equal(beat(r, 2), 200);
        assert_int_equal(rig_merge(r, LAMPS "/l", "{\"spec\":{\"notes\":[\"long\",\"other\"]}}"), 422);
        assert_int_equal(json_array_size(doc_get(r->answer, "details.causes")), 2);
        assert_int_equal(rig_merge(r, LAMPS "/l", "{\"spec\":{\"notes\":[\"new\"]}}"), 200);
        assert_int_equal(beat(r, 3), 200);
        assert_read_as_answered(r);
})

#define ENTRIES 4000 /* of some 30 bytes: a status as that of a placement on many clusters */

/* A status is sent whole, with the one entry that changed. */
static const char *large_status(struct rig *r, const char *last_mood)
{
        AUTO_BUF struct buf b;
        buf_init(&b, LIMIT_REQUEST_BODY_BYTES);
        buf_append_str(&b, "{\"status\":{\"list\":[");
        for (int i = 0; i < ENTRIES - 1; i++)
                buf_printf(&b, "{\"type\":\"entry-%d\",\"mood\":\"calm\"},", i);
        buf_printf(&b, "{\"type\":\"last\",\"mood\":\"%s\"}]}}", last_mood);
        assert_int_equal(buf_status(&b, NULL, "status"), 0);
        const char *text = arena_strndup(&r->arena, b.data, b.len);
        assert_non_null(text);
        return text;
}

RIG_TEST(of_a_large_object_what_is_as_it_was_is_not_made_again, {
        install(r);
        assert_int_equal(rig_merge(r, LAMPS "/l/status", large_status(r, "wild")), 200);
        assert_int_equal(rig_merge(r, LAMPS "/l/status", large_status(r, "tame")), 200);
        const char *next = large_status(r, "glad");
        uint64_t before = mem_alloc_count(), patched;
        assert_int_equal(rig_merge(r, LAMPS "/l/status", next), 200);
        patched = mem_alloc_count() - before;
        assert_read_as_answered(r);
        before = mem_alloc_count();
        assert_int_equal(rig_get(r, LAMPS "/l"), 200); /* read by the test, as the answer to the patch was */
        /* Twice as many as to read it; without the document that was kept six times. */
        assert_true(patched < 3 * (mem_alloc_count() - before));
})

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_update_is_read_as_it_was_answered),
                cmocka_unit_test(a_refused_update_leaves_nothing_behind),
                cmocka_unit_test(an_update_that_changes_nothing_writes_nothing),
                cmocka_unit_test(a_definition_that_changes_counts_from_the_next_update_on),
                cmocka_unit_test(what_is_wrong_since_a_definition_changed_is_told_with_what_is_near_it),
                cmocka_unit_test(of_a_large_object_what_is_as_it_was_is_not_made_again),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
