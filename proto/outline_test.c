/* What is made beside an object's last state is what decoding the text makes. */
#include "common/base/memory.h"
#include "proto/test_documents.h"

#define META(managed, version)                                                                               \
        "\"metadata\":{\"name\":\"a\",\"namespace\":\"ns\",\"managedFields\":[{\"manager\":\"m\",\"time\":"  \
        "\"" managed "\",\"fieldsV1\":{\"f:status\":{\"k:{\\\"time\\\":\\\"x\\\"}\":{}}}}],"                 \
        "\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"generation\":3,\"labels\":{\"a\":\"b\"},"          \
        "\"resourceVersion\":\"" version "\"}"
#define STATUS(beat, since, message, observed, value)                                                        \
        "\"status\":{\"agentStatus\":[{\"conditions\":[{\"lastTransitionTime\":\"" since                     \
        "\",\"message\":\"" message                                                                          \
        "\",\"observedGeneration\":3,\"reason\":\"R\",\"status\":\"True\",\"type\":\"Joined\"}],"            \
        "\"lastReceivedHeartbeat\":\"" beat "\",\"type\":\"MemberAgent\"}],"                                 \
        "\"properties\":{\"p\":{\"observationTime\":\"" observed "\",\"value\":\"" value "\"}}}"
#define HEAD "{\"kind\":\"InternalMemberCluster\",\"apiVersion\":\"cluster.kubernetes-fleet.io/v1beta1\","
#define SPEC "\"spec\":{\"heartbeatPeriodSeconds\":60,\"state\":\"Join\"},"

#define T1 "2026-01-01T00:01:00Z"
#define T2 "2026-01-01T00:02:00Z"
#define OLD HEAD META(T1, "107") "," SPEC STATUS(T1, T1, "m", T1, "7") "}"

static struct object *decode(struct slice text, enum decode_flags flags, struct intern_table *interns)
{
        struct object *o = NULL;
        struct error err = { 0 };

        if (object_decode(&internal_member_cluster_kind, text, flags, interns, &o, &err) < 0)
                fail_msg("%s", err.text);
        return o;
}

static void assert_alike(const struct object *a, const struct object *b)
{
        AUTO_BUF struct buf x, y;

        buf_init(&x, LIMIT_OBJECT_BYTES);
        buf_init(&y, LIMIT_OBJECT_BYTES);
        assert_int_equal(object_encode(a, &x), 0);
        assert_int_equal(object_encode(b, &y), 0);
        assert_string_equal(x.data, y.data);
        assert_string_equal(a->meta.resource_version, b->meta.resource_version);
}

static void what_moved_is_taken_and_all_else_is_noticed(void **state)
{
        static const struct {
                const char *text;
                enum outline_fit fit;
        } cases[] = {
                { OLD, OUTLINE_SAME },
                { HEAD META(T2, "108") "," SPEC STATUS(T2, T1, "m", T2, "7") "}", OUTLINE_MOVED },
                { HEAD META(T1, "108") "," SPEC STATUS(T1, T1, "m", T1, "7") "}", OUTLINE_MOVED },
                { HEAD META(T2, "1080") "," SPEC STATUS(T2, T1, "m", T2, "7") "}", OUTLINE_OTHER },
                { HEAD META(T2, "10x") "," SPEC STATUS(T2, T1, "m", T2, "7") "}", OUTLINE_OTHER },
                { HEAD META(T2, "108") "," SPEC STATUS(T2, T2, "m", T2, "7") "}", OUTLINE_OTHER },
                { HEAD META(T2, "108") "," SPEC STATUS(T2, T1, "n", T2, "7") "}", OUTLINE_OTHER },
                { HEAD META(T2, "108") "," SPEC STATUS(T2, T1, "m", T2, "8") "}", OUTLINE_OTHER },
                { HEAD META(T2, "108") "," SPEC STATUS("2026-13-01T00:02:00Z", T1, "m", T2, "7") "}",
                  OUTLINE_OTHER },
                { HEAD META(T2, "108") "," SPEC STATUS("\",\"x\":\"1234567890123", T1, "m", T2, "7") "}",
                  OUTLINE_OTHER },
                { HEAD META("\",\"x\":\"1234567890123", "108") "," SPEC STATUS(T2, T1, "m", T2, "7") "}",
                  OUTLINE_OTHER },
                { HEAD META(T2, "108") "," SPEC STATUS(T2, T1, "m", T2, "7") "]", OUTLINE_OTHER },
                { OLD "x", OUTLINE_OTHER },
                { "{}", OUTLINE_OTHER },
                { "", OUTLINE_OTHER },
        };
        struct intern_table *interns = intern_table_new();
        struct object *old = decode(slice_of(OLD), DECODE_OUTLINED, interns);

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct slice text = slice_of(cases[i].text);
                struct object *o = NULL, *whole;

                if (object_decode_moved(old, text, &o) != (int)cases[i].fit)
                        fail_msg("%s", cases[i].text);
                if (cases[i].fit != OUTLINE_MOVED)
                        continue;
                whole = decode(text, DECODE_FULL, interns);
                assert_alike(o, whole);
                assert_int_equal(object_bytes(o), object_bytes(old));
                object_unref(whole);
                object_unref(o);
        }
        object_unref(old);
        intern_table_free(interns);
        assert_int_equal(mem_live_count(), 0);
}

static void moved_objects_have_an_outline_themselves(void **state)
{
        struct object *first = decode(slice_of(OLD), DECODE_OUTLINED, NULL), *second = NULL, *third = NULL;

        assert_int_equal(
                object_decode_moved(first,
                                    slice_of(HEAD META(T2, "108") "," SPEC STATUS(T2, T1, "m", T2, "7") "}"),
                                    &second),
                OUTLINE_MOVED);
        object_unref(first);
        assert_int_equal(object_decode_moved(second, slice_of(OLD), &third), OUTLINE_MOVED);
        object_unref(second);
        assert_string_equal(third->meta.resource_version, "107");
        object_unref(third);
        assert_int_equal(mem_live_count(), 0);
}

static void without_an_outline_nothing_is_made_beside_an_object(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object *plain = decode(slice_of(OLD), DECODE_FULL, NULL), *o = NULL,
                      *outlined = decode(slice_of(OLD), DECODE_OUTLINED, NULL),
                      *copy = object_copy(outlined, &arena);
        struct internal_member_cluster stack = *(struct internal_member_cluster *)(void *)outlined;

        stack.object.refs = stack.object.block_size = 0;
        assert_int_equal(object_decode_moved(plain, slice_of(OLD), &o), OUTLINE_OTHER);
        assert_int_equal(object_decode_moved(copy, slice_of(OLD), &o), OUTLINE_OTHER);
        assert_int_equal(object_decode_moved(&stack.object, slice_of(OLD), &o), OUTLINE_OTHER);
        object_unref(plain);
        object_unref(outlined);
}

/* ---- any kind, any change ---- */

static bool is_time_text(const char *s)
{
        int64_t ms;

        return strlen(s) == 20 && time_parse_lenient(slice_of(s), &ms) == 0;
}

/* Sets times ahead, of all kinds of fields. */
static void move_times(struct dice *d, json_t *doc)
{
        char time[RFC3339_SIZE];
        const char *key;
        json_t *value;
        size_t i;

        json_object_foreach(doc, key, value)
                move_times(d, value);
        json_array_foreach(doc, i, value)
                move_times(d, value);
        if (json_is_string(doc) && is_time_text(json_string_value(doc)) && roll(d, 4)) {
                time_format_rfc3339((int64_t)(roll(d, 1000000000) + 1) * 1000, time);
                json_string_set(doc, time);
        }
}

static void spoil_a_byte(struct dice *d, char *text, size_t n)
{
        static const char letters[] = "\"\\{}[]:,0123456789TZ-abctrue \xc3";

        text[roll(d, (uint32_t)n)] = letters[roll(d, sizeof(letters) - 1)];
}

struct seen {
        unsigned moved, same, other;
};

static void check_text(const struct kind *kind, const struct object *old, struct slice text,
                       enum decode_flags flags, struct intern_table *interns, struct seen *seen)
{
        struct object *o = NULL, *whole = NULL;
        struct error err = { 0 };
        int fit = object_decode_moved(old, text, &o);

        seen->moved += fit == OUTLINE_MOVED;
        seen->same += fit == OUTLINE_SAME;
        seen->other += fit == OUTLINE_OTHER;
        if (fit == OUTLINE_OTHER)
                return;
        if (object_decode(kind, text, flags, interns, &whole, &err) < 0)
                fail_msg("%.*s: %s", (int)text.len, text.data, err.text);
        if (fit == OUTLINE_MOVED) {
                assert_alike(o, whole);
                assert_true(object_equal_part(o, whole, OBJECT_STATUS));
                assert_true(object_equal_part(o, whole, OBJECT_META_SPEC));
        } else {
                assert_string_equal(old->meta.resource_version, whole->meta.resource_version);
        }
        object_unref(o);
        object_unref(whole);
}

static struct seen seen_of_all;

static void check_document(const struct kind *kind, uint64_t seed, struct intern_table *interns)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct dice d = { seed };
        enum decode_flags flags = DECODE_OUTLINED | (seed % 2 ? DECODE_PROJECTION : DECODE_FULL);
        AUTO_JSON json_t *doc = random_document(&d, kind);
        struct object *old = NULL;
        struct error err = { 0 };

        json_object_set_new(json_object_get(doc, "metadata"), "resourceVersion", json_string("1000"));
        if (object_decode(kind, text_of(&arena, doc), flags, interns, &old, &err) < 0)
                fail_msg("%s: %s", kind->kind, err.text);
        for (int i = 0; i < 6; i++) {
                struct slice text;

                json_object_set_new(json_object_get(doc, "metadata"), "resourceVersion",
                                    json_sprintf("%d", 1000 + i));
                text = text_of(&arena, doc);
                check_text(kind, old, text, flags, interns, &seen_of_all);
                for (int k = 0; k < 8; k++) {
                        struct slice spoilt = { arena_strndup(&arena, text.data, text.len), text.len };

                        spoil_a_byte(&d, (char *)(uintptr_t)spoilt.data, spoilt.len);
                        check_text(kind, old, spoilt, flags, interns, &seen_of_all);
                }
                move_times(&d, doc);
        }
        object_unref(old);
}

static void whatever_is_made_is_what_decoding_makes(void **state)
{
        struct intern_table *interns = intern_table_new();

        seen_of_all = (struct seen){ 0 };
        with_every_kind(check_document, interns);
        intern_table_free(interns);
        assert_int_equal(mem_live_count(), 0);
        assert_true(seen_of_all.moved > 1000 && seen_of_all.same > 1000 && seen_of_all.other > 1000);
}

/* ---- glances ---- */

static void a_modified_object_is_told_from_other_events(void **state)
{
        static const struct {
                const char *line, *ns, *name; /* NULL: it is not */
                bool namespaced;
        } cases[] = {
                { "{\"type\":\"MODIFIED\",\"object\":" OLD "}", "ns", "a", true },
                { "{\"type\":\"MODIFIED\",\"object\":" OLD "}", "", "a", false },
                { "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"x\":[{}],\"name\":\"a\"}}}", "", "a",
                  false },
                { "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}", NULL, NULL, true },
                { "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"\\u0061\"}}}", NULL, NULL,
                  false },
                { "{\"type\":\"MODIFIED\",\"object\":{}}", NULL, NULL, false },
                { "{\"type\":\"MODIFIED\",\"object\":{", NULL, NULL, false },
                { "{\"type\":\"ADDED\",\"object\":" OLD "}", NULL, NULL, true },
                { "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"1\"}}}", NULL, NULL,
                  false },
                { "", NULL, NULL, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct slice object, ns, name;
                bool is = object_glance_modified(slice_of(cases[i].line), cases[i].namespaced, &object, &ns,
                                                 &name);

                if (is != (cases[i].name != NULL))
                        fail_msg("%s", cases[i].line);
                if (is &&
                    (!slice_is(name, cases[i].name) || (cases[i].namespaced && !slice_is(ns, cases[i].ns)) ||
                     object.data[0] != '{' || object.data[object.len] != '}'))
                        fail_msg("%s", cases[i].line);
        }
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_moved_is_taken_and_all_else_is_noticed),
                cmocka_unit_test(moved_objects_have_an_outline_themselves),
                cmocka_unit_test(without_an_outline_nothing_is_made_beside_an_object),
                cmocka_unit_test(whatever_is_made_is_what_decoding_makes),
                cmocka_unit_test(a_modified_object_is_told_from_other_events),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
