#include "proto/stowed.h"

#include "common/base/memory.h"
#include "proto/names.h"
#include "proto/test_documents.h"

#define KEY "member-1/work-1"
#define UID "6f1c1d1e-32ab-4b7c-9c54-0123456789ab"

static struct object *stowed_and_back(const struct object *o, struct intern_table *interns)
{
        AUTO_BUF struct buf scratch;
        buf_init(&scratch, LIMIT_OBJECT_BYTES);
        struct stowed *p = object_stow(o, KEY, interns, &scratch);
        assert_non_null(p);
        assert_string_equal(stowed_key(p), KEY);
        struct object *back = object_unstow(p, o->kind, interns, STOWED_WHOLE);
        stowed_free(p);
        assert_non_null(back);
        return back;
}

static void assert_same(const struct object *a, const struct object *b, uint64_t seed)
{
        AUTO_BUF struct buf x, y;
        buf_init(&x, LIMIT_OBJECT_BYTES);
        buf_init(&y, LIMIT_OBJECT_BYTES);
        assert_int_equal(object_encode(a, &x), 0);
        assert_int_equal(object_encode(b, &y), 0);
        if (strcmp(x.data, y.data) != 0)
                fail_msg("%s, seed %llu:\n%s\n%s", a->kind->kind, (unsigned long long)seed, x.data, y.data);
        assert_true(object_equal_part(a, b, OBJECT_META_SPEC) && object_equal_part(a, b, OBJECT_STATUS));
        assert_true(a->meta.deletion_ms == b->meta.deletion_ms && a->kind == b->kind);
}

static void round_trip(const struct kind *kind, uint64_t seed, struct intern_table *interns)
{
        struct dice dice = { seed };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc = random_document(&dice, kind);
        struct object *o;
        assert_int_equal(object_decode(kind, text_of(&arena, doc), DECODE_FULL, interns, &o, NULL), 0);
        struct object *back = stowed_and_back(o, interns);
        assert_same(o, back, seed);
        struct object *again = stowed_and_back(back, interns);
        assert_same(o, again, seed);
        object_unref(o);
        object_unref(back);
        object_unref(again);
}

static void every_kind_survives_stowing(void **state)
{
        with_every_kind(round_trip, NULL);
        assert_int_equal(mem_live_count(), 0);
}

static void what_is_in_the_table_survives_too(void **state)
{
        struct intern_table *interns = intern_table_new();
        with_every_kind(round_trip, interns);
        intern_table_free(interns);
        assert_int_equal(mem_live_count(), 0);
}

/* A placement with the statuses of two clusters, whose texts and times are those of what comes after them. */
static const char placement_text[] =
        "{\"metadata\":{\"name\":\"work-1\",\"uid\":\"" UID "\"},\"spec\":{\"resourceSelectors\":[]},"
        "\"status\":{\"conditions\":[{\"type\":\"A\",\"message\":\"before\",\"lastTransitionTime\":"
        "\"2026-02-03T04:05:06Z\"}],\"observedResourceIndex\":\"index\",\"placementStatuses\":["
        "{\"clusterName\":\"one\",\"conditions\":[{\"message\":\"before\",\"lastTransitionTime\":"
        "\"2026-02-03T05:05:06Z\"}],\"applicableClusterResourceOverrides\":[\"override\"]},"
        "{\"clusterName\":\"two\"}],\"selectedResources\":[{\"version\":\"v1\",\"kind\":\"override\","
        "\"name\":\"override\"}]}}";

static void details_are_left_out_where_they_are_not_wanted(void **state)
{
        const struct kind *kind = &cluster_resource_placement_kind;
        AUTO_BUF struct buf scratch;
        struct object *o;
        buf_init(&scratch, LIMIT_OBJECT_BYTES);
        assert_int_equal(object_decode(kind, slice_of(placement_text), DECODE_FULL, NULL, &o, NULL), 0);
        struct stowed *p = object_stow(o, KEY, NULL, &scratch);
        struct object *whole = object_unstow(p, kind, NULL, STOWED_WHOLE);
        struct object *less = object_unstow(p, kind, NULL, STOWED_WITHOUT_DETAIL);
        struct placement_status *s = ((struct placement *)o)->status;
        assert_int_equal(s->placement_statuses.n, 2);
        assert_same(o, whole, 0);
        assert_true(object_bytes(less) + s->placement_statuses.n * sizeof(*s->placement_statuses.at) <
                    object_bytes(o));
        memset(&s->placement_statuses, 0, sizeof(s->placement_statuses));
        assert_same(o, less, 0);
        stowed_free(p);
        object_unref(o);
        object_unref(whole);
        object_unref(less);
        assert_int_equal(mem_live_count(), 1); /* the buffer */
}

/* What is before it is as it was, the list that counts as detail included in what is left out. */
static void the_status_is_left_out_where_it_is_not_wanted(void **state)
{
        const struct kind *kind = &cluster_resource_placement_kind;
        AUTO_BUF struct buf scratch;
        struct object *o;
        buf_init(&scratch, LIMIT_OBJECT_BYTES);
        assert_int_equal(object_decode(kind, slice_of(placement_text), DECODE_FULL, NULL, &o, NULL), 0);
        struct stowed *p = object_stow(o, KEY, NULL, &scratch);
        struct object *less = object_unstow(p, kind, NULL, STOWED_WITHOUT_STATUS);
        assert_null(((struct placement *)less)->status);
        ((struct placement *)o)->status = NULL;
        assert_same(o, less, 0);
        stowed_free(p);
        object_unref(o);
        object_unref(less);
        assert_int_equal(mem_live_count(), 1); /* the buffer */
}

/* Times and texts are told by those before them: what comes behind details must not need them. */
struct thing {
        struct object object;
        struct any_list items;
        const char *text;
        int64_t time;
};
struct item {
        const char *text;
        int64_t time;
};
static const struct field item_fields[] = {
        { "text", FIELD_STRING, 0, offsetof(struct item, text), NULL },
        { "time", FIELD_TIME, 0, offsetof(struct item, time), NULL },
};
static const struct type item_type = { "Item", item_fields, 2, sizeof(struct item) };
static const struct field thing_fields[] = {
        { "items", FIELD_LIST, FIELD_DETAIL, offsetof(struct thing, items), &item_type },
        { "text", FIELD_STRING, 0, offsetof(struct thing, text), NULL },
        { "time", FIELD_TIME, 0, offsetof(struct thing, time), NULL },
};
static const struct type thing_type = { "Thing", thing_fields, 3, sizeof(struct thing) };
static const struct kind thing_kind = { .group = "",
                                        .version = "v1",
                                        .api_version = "v1",
                                        .kind = "Thing",
                                        .plural = "things",
                                        .list_kind = "ThingList",
                                        .root = &thing_type };

static void what_comes_behind_details_does_not_need_them(void **state)
{
        static const char text[] = "{\"metadata\":{\"name\":\"a\"},\"items\":[{\"text\":\"same\",\"time\":"
                                   "\"2026-02-03T04:05:06Z\"}],\"text\":\"same\",\"time\":"
                                   "\"2026-02-03T04:05:07Z\"}";
        AUTO_BUF struct buf scratch;
        struct object *o;
        buf_init(&scratch, LIMIT_OBJECT_BYTES);
        assert_int_equal(object_decode(&thing_kind, slice_of(text), DECODE_FULL, NULL, &o, NULL), 0);
        struct stowed *p = object_stow(o, KEY, NULL, &scratch);
        static const enum stowed_part parts[] = { STOWED_WHOLE, STOWED_WITHOUT_DETAIL };
        for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
                struct object *back = object_unstow(p, &thing_kind, NULL, parts[i]);
                const struct thing *thing = (const struct thing *)back;
                assert_int_equal(thing->items.n, parts[i] == STOWED_WHOLE);
                assert_string_equal(thing->text, "same");
                assert_true(thing->time == ((struct thing *)o)->time);
                object_unref(back);
        }
        stowed_free(p);
        object_unref(o);
}

static void texts_of_all_sorts_come_back_as_they_were(void **state)
{
        static const char *const texts[] = {
                "",
                "0",
                "7",
                "00",
                "007",
                "9999999999999999999",
                "10000000000000000000",
                "-1",
                "1x",
                "k-1",
                "work-1",
                KEY,
                "xmember-1/work-1",
                UID,
                "6F1c1d1e-32ab-4b7c-9c54-0123456789ab",
                "6f1c1d1e-32ab-4b7c-9c54-0123456789a",
                "6f1c1d1e032ab-4b7c-9c54-0123456789ab",
                "6f1c1d1e-32ab-4b7c-9c54-0123456789ag",
                "text",
                "another text",
                "\xe2\x98\x83",
        };
        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
                AUTO_BUF struct buf text;
                struct object *o;
                buf_init(&text, 65536);
                buf_printf(&text,
                           "{\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\",\"resourceVersion\":\"%s\","
                           "\"annotations\":{\"a\":\"first\",\"b\":\"%s\",\"c\":\"first\",\"d\":\"third\","
                           "\"e\":\"fourth\",\"f\":\"fifth\",\"g\":\"fifth\",\"h\":\"%s\"}}}",
                           texts[i], texts[i], texts[i], texts[i], texts[i]);
                assert_int_equal(object_decode(&work_kind, (struct slice){ text.data, text.len }, DECODE_FULL,
                                               NULL, &o, NULL),
                                 0);
                struct object *back = stowed_and_back(o, NULL);
                assert_same(o, back, i);
                assert_string_equal(back->meta.uid, texts[i]);
                object_unref(o);
                object_unref(back);
        }
        assert_int_equal(mem_live_count(), 0);
}

static void times_and_numbers_at_their_ends_come_back(void **state)
{
        static const char text[] =
                "{\"metadata\":{\"creationTimestamp\":\"9999-12-31T23:59:59.999Z\",\"deletionTimestamp\":"
                "\"0000-01-01T00:00:00Z\",\"generation\":9223372036854775807},\"status\":{\"conditions\":["
                "{\"type\":\"a\",\"lastTransitionTime\":\"1970-01-01T00:00:00Z\",\"observedGeneration\":0},"
                "{\"type\":\"b\",\"observedGeneration\":-9223372036854775808},"
                "{\"type\":\"c\",\"lastTransitionTime\":\"2026-02-03T04:05:06.001Z\"}]}}";
        struct object *o;
        assert_int_equal(object_decode(&work_kind, slice_of(text), DECODE_FULL, NULL, &o, NULL), 0);
        struct object *back = stowed_and_back(o, NULL);
        const struct condition *a = ((struct work *)o)->status->conditions.at;
        const struct condition *b = ((struct work *)back)->status->conditions.at;
        assert_true(back->meta.creation_ms == o->meta.creation_ms);
        assert_true(back->meta.deletion_ms == o->meta.deletion_ms);
        assert_true(back->meta.generation == o->meta.generation);
        for (size_t i = 0; i < 3; i++) {
                assert_true(a[i].last_transition_ms == b[i].last_transition_ms);
                assert_true(a[i].observed_generation.value == b[i].observed_generation.value &&
                            a[i].observed_generation.set == b[i].observed_generation.set);
        }
        assert_true(b[1].last_transition_ms == TIME_NONE);
        object_unref(o);
        object_unref(back);
        assert_int_equal(mem_live_count(), 0);
}

/* A binding as a fleet has a hundred thousand of. */
static const char binding_text[] =
        "{\"metadata\":{\"name\":\"web-member-00001-0123abcd\",\"uid\":\"" UID
        "\",\"resourceVersion\":\"123456\",\"generation\":2,\"creationTimestamp\":\"2026-02-03T04:05:06Z\","
        "\"finalizers\":[\"" FINALIZER_WORK "\"],\"labels\":{\"" LABEL_PARENT_PLACEMENT "\":\"web\"}},"
        "\"spec\":{\"state\":\"Bound\",\"resourceSnapshotName\":\"web-0-snapshot\",\"targetCluster\":"
        "\"member-00001\",\"clusterDecision\":{\"clusterName\":\"member-00001\",\"selected\":true}},"
        "\"status\":{\"conditions\":[{\"type\":\"Applied\",\"status\":\"True\",\"reason\":\"Applied\","
        "\"message\":\"all of it\",\"observedGeneration\":2,\"lastTransitionTime\":\"2026-02-03T04:05:07Z\"},"
        "{\"type\":\"Available\",\"status\":\"True\",\"reason\":\"Available\",\"message\":\"all of it\","
        "\"observedGeneration\":2,\"lastTransitionTime\":\"2026-02-03T04:05:09Z\"}]}}";

static struct object *decode_binding(struct intern_table *interns)
{
        struct object *o = NULL;
        assert_int_equal(object_decode(&cluster_resource_binding_kind, slice_of(binding_text),
                                       DECODE_PROJECTION, interns, &o, NULL),
                         0);
        return o;
}

static void a_binding_takes_a_quarter_of_its_block(void **state)
{
        struct intern_table *interns = intern_table_new();
        AUTO_BUF struct buf scratch;
        buf_init(&scratch, LIMIT_OBJECT_BYTES);
        struct object *o = decode_binding(interns);
        struct stowed *p = object_stow(o, o->meta.name, interns, &scratch);
        assert_true(stowed_bytes(p) * 4 <= object_bytes(o));
        stowed_free(p);
        object_unref(o);
        intern_table_free(interns);
}

static void without_memory_there_is_nothing(void **state)
{
        struct intern_table *interns = intern_table_new();
        AUTO_BUF struct buf scratch;
        buf_init(&scratch, LIMIT_OBJECT_BYTES);
        struct object *o = decode_binding(interns);
        for (uint64_t nth = 1; nth <= 2; nth++) { /* the buffer grows, then the stowed object is made */
                mem_fail_at(nth, false);
                assert_null(object_stow(o, KEY, interns, &scratch));
                assert_true(mem_fault_fired());
        }
        mem_fail_at(0, false);
        struct stowed *p = object_stow(o, KEY, interns, &scratch);
        assert_non_null(p);
        mem_fail_at(1, false);
        assert_null(object_unstow(p, o->kind, interns, STOWED_WHOLE));
        mem_fail_at(0, false);
        stowed_free(p);
        object_unref(o);
        intern_table_free(interns);
        buf_free(&scratch);
        assert_int_equal(mem_live_count(), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_kind_survives_stowing),
                cmocka_unit_test(what_is_in_the_table_survives_too),
                cmocka_unit_test(details_are_left_out_where_they_are_not_wanted),
                cmocka_unit_test(the_status_is_left_out_where_it_is_not_wanted),
                cmocka_unit_test(what_comes_behind_details_does_not_need_them),
                cmocka_unit_test(texts_of_all_sorts_come_back_as_they_were),
                cmocka_unit_test(times_and_numbers_at_their_ends_come_back),
                cmocka_unit_test(a_binding_takes_a_quarter_of_its_block),
                cmocka_unit_test(without_memory_there_is_nothing),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
