#include "proto/test_documents.h"

#include "common/base/memory.h"

struct seen {
        struct object *at[8];
        size_t n;
        int answer;
};

static int keep(void *ctx, struct object *o)
{
        struct seen *s = ctx;
        s->at[s->n++] = object_ref(o);
        return s->answer;
}

static void forget(struct seen *s)
{
        for (size_t i = 0; i < s->n; i++)
                object_unref(s->at[i]);
}

static int decode(const char *text, struct seen *s, char **ret_version, char **ret_next, struct error *err)
{
        *err = (struct error){ 0 };
        struct object_sink sink = { .each = keep, .ctx = s };
        return object_decode_list(&work_kind, slice_of(text), DECODE_FULL, NULL, &sink, ret_version, ret_next,
                                  err);
}

static void a_page_gives_its_items_its_version_and_the_next_page(void **state)
{
        struct seen s = { 0 };
        struct error err;
        AUTO_FREE char *version = NULL;
        AUTO_FREE char *next = NULL;
        assert_int_equal(
                decode("{\"kind\":\"WorkList\",\"apiVersion\":\"x\",\"metadata\":{\"resourceVersion\":\"5\","
                       "\"continue\":\"a\\u0062c\",\"remainingItemCount\":3},\"items\":["
                       "{\"metadata\":{\"name\":\"one\"}},{\"metadata\":{\"name\":\"two\"}}]}",
                       &s, &version, &next, &err),
                0);
        assert_int_equal(s.n, 2);
        assert_string_equal(s.at[0]->meta.name, "one");
        assert_string_equal(s.at[1]->meta.name, "two");
        assert_string_equal(version, "5");
        assert_string_equal(next, "abc");
        forget(&s);
}

static void the_last_page_has_no_next_and_may_have_no_items(void **state)
{
        static const char *const texts[] = {
                "{\"metadata\":{\"resourceVersion\":\"5\",\"continue\":\"\"},\"items\":[]}",
                "{\"items\":null,\"metadata\":{\"resourceVersion\":\"5\"}}",
        };
        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
                struct seen s = { 0 };
                struct error err;
                AUTO_FREE char *version = NULL;
                char *next = (char *)1;
                assert_int_equal(decode(texts[i], &s, &version, &next, &err), 0);
                assert_null(next);
                assert_string_equal(version, "5");
                assert_int_equal(s.n, 0);
        }
}

static void a_status_in_place_of_a_list_is_the_error_it_tells(void **state)
{
        struct seen s = { 0 };
        struct error err;
        assert_int_equal(decode("{\"kind\":\"Status\",\"metadata\":{},\"code\":410,\"reason\":\"Expired\","
                                "\"message\":\"too old\"}",
                                &s, NULL, NULL, &err),
                         ERR_GONE);
        assert_string_equal(err.text, "too old");
        assert_int_equal(err.http_status, 410);
}

static void what_is_no_list_is_refused(void **state)
{
        static const struct {
                const char *text, *problem;
        } cases[] = {
                { "{\"items\":[{},{\"spec\":1}]}", "items[1]: spec: must be an object, is a number" },
                { "{\"items\":{}}", "items: must be an array" },
                { "{\"kind\":\"PodList\",\"items\":[]}", "kind: is PodList" },
                { "{\"metadata\":{\"continue\":5}}", "must hold strings" },
                { "[]", "must be an object" },
                { "{\"items\":[{}", "" },
                { "{\"items\":[{},]}", "" },
                { "{\"items\":[]} x", "" },
                { "", "" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct seen s = { 0 };
                struct error err;
                assert_int_equal(decode(cases[i].text, &s, NULL, NULL, &err), ERR_INVALID);
                if (!strstr(err.text, cases[i].problem))
                        fail_msg("%s: %s", cases[i].text, err.text);
                forget(&s);
        }
        assert_int_equal(mem_live_count(), 0);
}

static void the_callee_can_end_the_walk(void **state)
{
        struct seen s = { .answer = ERR_CANCELLED };
        struct error err;
        assert_int_equal(decode("{\"items\":[{},{}]}", &s, NULL, NULL, &err), ERR_CANCELLED);
        assert_int_equal(s.n, 1);
        forget(&s);
        assert_int_equal(mem_live_count(), 0);
}

struct odd {
        struct seen seen, odd;
        char why[2][ERROR_TEXT_MAX];
};

static int keep_decoded(void *ctx, struct object *o)
{
        return keep(&((struct odd *)ctx)->seen, o);
}

static int keep_undecodable(void *ctx, struct object *o, const struct error *why)
{
        struct odd *odd = ctx;
        snprintf(odd->why[odd->odd.n], sizeof(odd->why[0]), "%s", why->text);
        return keep(&odd->odd, o);
}

static void append_nested(struct buf *b, size_t depth)
{
        for (size_t i = 0; i < depth; i++)
                buf_append_str(b, "[\"]}\\\"\",");
        buf_append_str(b, "0");
        for (size_t i = 0; i < depth; i++)
                buf_append_char(b, ']');
}

/* The others are decoded, before and behind it. */
static void an_item_that_cannot_be_decoded_is_told_by_its_identity(void **state)
{
        static const struct {
                const char *spec, *why;
        } cases[] = {
                { "5", "spec: must be an object, is a number" },
                { "{\"workload\":{\"manifests\":[null]}}", "manifests[0]: must not be null" },
                { "\"}]\\\"}\"", "spec: must be an object, is a string" },
                { "{\"x\":\"\x01\"}", "invalid JSON" },
                { NULL, "nested deeper" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_BUF struct buf b;
                struct odd odd = { 0 };
                struct object_sink sink = { keep_decoded, keep_undecodable, &odd };
                struct error err = { 0 };
                buf_init(&b, 1 << 20);
                buf_append_str(&b, "{\"items\":[{\"metadata\":{\"name\":\"one\"}}, {\"spec\":");
                if (cases[i].spec)
                        buf_append_str(&b, cases[i].spec);
                else
                        append_nested(&b, 5000);
                buf_append_str(
                        &b,
                        " ,\"metadata\":{\"labels\":{\"a\":5},\"name\":\"two\",\"namespace\":\"n\",\"uid\":"
                        "\"u\",\"resourceVersion\":\"7\"}} ,{\"metadata\":{\"name\":\"three\"}}]}");
                assert_int_equal(object_decode_list(&work_kind, (struct slice){ b.data, b.len },
                                                    DECODE_PROJECTION, NULL, &sink, NULL, NULL, &err),
                                 0);
                assert_int_equal(odd.seen.n, 2);
                assert_string_equal(odd.seen.at[1]->meta.name, "three");
                assert_int_equal(odd.odd.n, 1);
                const struct object_meta *m = &odd.odd.at[0]->meta;
                assert_string_equal(m->name, "two");
                assert_string_equal(m->ns, "n");
                assert_string_equal(m->uid, "u");
                assert_string_equal(m->resource_version, "7");
                assert_int_equal(m->labels.n, 0);
                if (cases[i].spec && i != 1 && !strstr(odd.why[0], cases[i].why))
                        fail_msg("%zu: %s", i, odd.why[0]);
                forget(&odd.seen);
                forget(&odd.odd);
        }
        assert_int_equal(mem_live_count(), 0);
}

static void an_item_without_a_name_still_ends_the_walk(void **state)
{
        static const char *const items[] = {
                "{\"spec\":5}",
                "5",
                "{\"spec\":5,\"metadata\":{\"name\":5}}",
                "{\"spec\":5,\"metadata\":7}",
                "{\"spec\":5,\"metadata\":{\"name\":\"a\"}",
                "{\"spec\":\"",
        };
        for (size_t i = 0; i < ARRAY_LEN(items); i++) {
                char text[128];
                struct odd odd = { 0 };
                struct object_sink sink = { keep_decoded, keep_undecodable, &odd };
                struct error err = { 0 };
                snprintf(text, sizeof(text), "{\"items\":[%s]}", items[i]);
                assert_int_equal(object_decode_list(&work_kind, slice_of(text), DECODE_PROJECTION, NULL,
                                                    &sink, NULL, NULL, &err),
                                 ERR_INVALID);
                assert_int_equal(odd.odd.n, 0);
        }
        assert_int_equal(mem_live_count(), 0);
}

static int ignore(void *ctx, struct object *o)
{
        return 0;
}

static int ignore_undecodable(void *ctx, struct object *o, const struct error *why)
{
        return 0;
}

static void walk_failing_allocations(const char *text, bool always_told)
{
        static const struct object_sink sink = { .each = ignore, .undecodable = ignore_undecodable };
        for (uint64_t n = 1;; n++) {
                AUTO_FREE char *version = NULL;
                AUTO_FREE char *next = NULL;
                mem_fail_at(n, false);
                int code = object_decode_list(&work_kind, slice_of(text), DECODE_FULL, NULL, &sink, &version,
                                              &next, NULL);
                bool fired = mem_fault_fired();
                mem_fail_at(0, false);
                if (always_told || !fired)
                        assert_int_equal(code, fired ? ERR_NO_MEMORY : 0);
                else
                        assert_true(code == 0 || code == ERR_NO_MEMORY); /* 0: an error's words were missed */
                if (!fired)
                        break;
        }
        assert_int_equal(mem_live_count(), 0);
}

static void every_failing_allocation_is_reported(void **state)
{
        walk_failing_allocations(
                "{\"metadata\":{\"resourceVersion\":\"5\",\"continue\":\"c\"},\"items\":[{},{}]}", true);
        walk_failing_allocations("{\"items\":[{},{\"spec\":1,\"metadata\":{\"name\":\"a\"}},{}]}", false);
}

static void a_watch_event_tells_its_type_and_object(void **state)
{
        static const struct {
                const char *text;
                enum watch_type type;
        } cases[] = {
                { "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Work\",\"metadata\":{\"name\":\"w\"}}}",
                  WATCH_ADDED },
                { "{\"object\":{\"metadata\":{\"name\":\"w\"}},\"type\":\"MODIFIED\"}", WATCH_MODIFIED },
                { "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"w\"}}}\n", WATCH_DELETED },
                { "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"name\":\"w\"}}}", WATCH_BOOKMARK },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                enum watch_type type;
                struct object *o;
                assert_int_equal(object_decode_watch_event(&work_kind, slice_of(cases[i].text), DECODE_FULL,
                                                           NULL, &type, &o, NULL),
                                 0);
                assert_int_equal(type, cases[i].type);
                assert_string_equal(o->meta.name, "w");
                object_unref(o);
        }
}

static void a_watch_error_is_the_error_its_status_tells(void **state)
{
        static const struct {
                const char *status;
                int code;
        } cases[] = {
                { "{\"code\":410,\"reason\":\"Expired\",\"message\":\"m\"}", ERR_GONE },
                { "{\"code\":410,\"reason\":\"Gone\",\"message\":\"m\"}", ERR_GONE },
                { "{\"code\":409,\"reason\":\"AlreadyExists\"}", ERR_EXISTS },
                { "{\"code\":409,\"reason\":\"Conflict\"}", ERR_CONFLICT },
                { "{\"code\":403}", ERR_FORBIDDEN },
                { "{\"code\":401}", ERR_UNAUTHORIZED },
                { "{\"code\":404}", ERR_NOT_FOUND },
                { "{\"code\":422}", ERR_INVALID },
                { "{\"code\":429,\"details\":{\"retryAfterSeconds\":3}}", ERR_TOO_MANY },
                { "{\"code\":503}", ERR_RETRY },
                { "{}", ERR_RETRY },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                char text[256];
                snprintf(text, sizeof(text), "{\"type\":\"ERROR\",\"object\":%s}", cases[i].status);
                enum watch_type type;
                struct object *o = NULL;
                struct error err = { 0 };
                assert_int_equal(object_decode_watch_event(&work_kind, slice_of(text), DECODE_FULL, NULL,
                                                           &type, &o, &err),
                                 cases[i].code);
                assert_null(o);
                assert_true(err.text[0]);
                if (cases[i].code == ERR_TOO_MANY)
                        assert_int_equal(err.retry_after_ms, 3000);
        }
}

static void what_is_no_event_is_refused(void **state)
{
        static const char *const texts[] = { "",
                                             "[]",
                                             "{}",
                                             "{\"type\":\"ADDED\"}",
                                             "{\"object\":{}}",
                                             "{\"type\":\"RENAMED\",\"object\":{}}",
                                             "{\"type\":7,\"object\":{}}",
                                             "{\"type\":\"ADDED\",\"object\":{\"spec\":1}}",
                                             "{\"type\":\"ADDED\",\"object\":{\"x\":tru}}",
                                             "{\"type\":\"ADDED\",\"object\":{\"x\":1,}}",
                                             "{\"type\":\"ADDED\",\"object\":{\"x\":[1}}}",
                                             "{\"type\":\"ADDED\",\"object\":{\"x\":\"\\q\"}}",
                                             "{\"type\":\"ADDED\",\"object\":{\"x\":\"}}",
                                             "{\"type\":\"ADDED\",\"object\":{}}}",
                                             "{\"type\":\"ERROR\",\"object\":5}",
                                             "{\"type\":\"ADDED\",\"object\":{}}x" };
        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
                enum watch_type type;
                struct object *o = NULL;
                struct error err = { 0 };
                assert_int_equal(object_decode_watch_event(&work_kind, slice_of(texts[i]), DECODE_FULL, NULL,
                                                           &type, &o, &err),
                                 ERR_INVALID);
                assert_null(o);
                assert_true(err.text[0]);
        }
        assert_int_equal(mem_live_count(), 0);
}

static void an_event_that_cannot_be_decoded_tells_its_identity(void **state)
{
        static const char text[] =
                "{\"type\":\"MODIFIED\",\"object\":{\"status\":{\"conditions\":[{\"lastTransitionTime\":"
                "\"soon\"}]},\"metadata\":{\"name\":\"w\",\"uid\":\"u\",\"resourceVersion\":\"9\"}}}";
        enum watch_type type;
        struct object *o;
        assert_int_equal(
                object_decode_watch_event(&work_kind, slice_of(text), DECODE_FULL, NULL, &type, &o, NULL),
                ERR_INVALID);
        assert_int_equal(object_decode_watch_identity(&work_kind, slice_of(text), &type, &o, NULL), 0);
        assert_int_equal(type, WATCH_MODIFIED);
        assert_string_equal(o->meta.name, "w");
        assert_string_equal(o->meta.uid, "u");
        assert_string_equal(o->meta.resource_version, "9");
        object_unref(o);
        assert_int_equal(object_decode_watch_identity(&work_kind,
                                                      SLICE("{\"type\":\"ERROR\",\"object\":{\"code\":410}}"),
                                                      &type, &o, NULL),
                         ERR_GONE);
        assert_int_equal(object_decode_watch_identity(&work_kind, SLICE("{\"type\":\"ADDED\",\"object\":{}}"),
                                                      &type, &o, NULL),
                         ERR_INVALID);
        assert_int_equal(mem_live_count(), 0);
}

static void expect_glance(const char *text, enum watch_type type, const char *ns, const char *name,
                          const char *version)
{
        struct watch_glance g;
        assert_true(object_glance_watch_event(slice_of(text), &g));
        assert_int_equal(g.type, type);
        assert_true(slice_is(g.ns, ns));
        assert_true(slice_is(g.name, name));
        assert_true(slice_is(g.version, version));
}

static void a_glance_at_an_event_tells_what_it_is_about(void **state)
{
        expect_glance("{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Work\",\"metadata\":{\"name\":\"w\","
                      "\"namespace\":\"n\",\"labels\":{\"resourceVersion\":\"1\",\"name\":\"x\"},"
                      "\"resourceVersion\":\"9\",\"managedFields\":[{\"a\":\"}\"}]},\"spec\":5}}",
                      WATCH_MODIFIED, "n", "w", "9");
        expect_glance("{\"type\":\"ADDED\",\"object\":{\"spec\":{\"metadata\":{\"name\":\"x\"}},\"metadata\":"
                      "{\"resourceVersion\":\"9\",\"uid\":\"u\",\"name\":\"w\"}}}",
                      WATCH_ADDED, "", "w", "9");
        expect_glance("{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"w\",\"resourceVersion\":"
                      "\"9\"}}}",
                      WATCH_DELETED, "", "w", "9");
        expect_glance("{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}",
                      WATCH_BOOKMARK, "", "", "9");
}

static void a_bookmark_is_known_by_its_beginning(void **state)
{
        assert_true(object_is_bookmark(SLICE("{\"type\":\"BOOKMARK\",\"object\":{}}")));
        assert_false(object_is_bookmark(SLICE("{\"type\":\"ADDED\",\"object\":{\"type\":\"BOOKMARK\"}}")));
        assert_false(object_is_bookmark(SLICE("{\"type\":\"BOOKMARK")));
        assert_false(object_is_bookmark(SLICE("")));
}

static void what_a_glance_cannot_tell_is_left_to_decoding(void **state)
{
        static const char *const texts[] = {
                "",
                "{\"type\":\"MODIFIED\"}",
                "{\"type\":\"ERROR\",\"object\":{\"metadata\":{\"name\":\"w\",\"resourceVersion\":\"9\"}}}",
                "{\"object\":{\"metadata\":{\"name\":\"w\",\"resourceVersion\":\"9\"}},\"type\":\"ADDED\"}",
                "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}",
                "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"w\"}}}",
                "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"w\",\"resourceVersion\":9}}}",
                "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"\\u0077\",\"resourceVersion\":"
                "\"9\"}}}",
                "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"n\\u0061me\":\"w\",\"resourceVersion\":"
                "\"9\"}}}",
                "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"w\",\"resourceVersion\":\"9\"",
                "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"\"}}}",
                "{\"type\":\"BOOKMARK\",\"object\":{\"spec\":{}}}",
        };
        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
                struct watch_glance g;
                assert_false(object_glance_watch_event(slice_of(texts[i]), &g));
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_page_gives_its_items_its_version_and_the_next_page),
                cmocka_unit_test(the_last_page_has_no_next_and_may_have_no_items),
                cmocka_unit_test(a_status_in_place_of_a_list_is_the_error_it_tells),
                cmocka_unit_test(what_is_no_list_is_refused),
                cmocka_unit_test(the_callee_can_end_the_walk),
                cmocka_unit_test(an_item_that_cannot_be_decoded_is_told_by_its_identity),
                cmocka_unit_test(an_item_without_a_name_still_ends_the_walk),
                cmocka_unit_test(an_event_that_cannot_be_decoded_tells_its_identity),
                cmocka_unit_test(every_failing_allocation_is_reported),
                cmocka_unit_test(a_watch_event_tells_its_type_and_object),
                cmocka_unit_test(a_watch_error_is_the_error_its_status_tells),
                cmocka_unit_test(what_is_no_event_is_refused),
                cmocka_unit_test(a_glance_at_an_event_tells_what_it_is_about),
                cmocka_unit_test(a_bookmark_is_known_by_its_beginning),
                cmocka_unit_test(what_a_glance_cannot_tell_is_left_to_decoding),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
