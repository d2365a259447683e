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
        return object_decode_list(&work_kind, slice_of(text), DECODE_FULL, NULL, keep, s, ret_version,
                                  ret_next, err);
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

static int ignore(void *ctx, struct object *o)
{
        return 0;
}

static void every_failing_allocation_is_reported(void **state)
{
        for (uint64_t n = 1;; n++) {
                AUTO_FREE char *version = NULL;
                AUTO_FREE char *next = NULL;
                mem_fail_at(n, false);
                int code = object_decode_list(&work_kind,
                                              SLICE("{\"metadata\":{\"resourceVersion\":\"5\",\"continue\":"
                                                    "\"c\"},\"items\":[{},{}]}"),
                                              DECODE_FULL, NULL, ignore, NULL, &version, &next, NULL);
                bool fired = mem_fault_fired();
                mem_fail_at(0, false);
                assert_int_equal(code, fired ? ERR_NO_MEMORY : 0);
                if (!fired)
                        break;
        }
        assert_int_equal(mem_live_count(), 0);
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

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_page_gives_its_items_its_version_and_the_next_page),
                cmocka_unit_test(the_last_page_has_no_next_and_may_have_no_items),
                cmocka_unit_test(a_status_in_place_of_a_list_is_the_error_it_tells),
                cmocka_unit_test(what_is_no_list_is_refused),
                cmocka_unit_test(the_callee_can_end_the_walk),
                cmocka_unit_test(every_failing_allocation_is_reported),
                cmocka_unit_test(a_watch_event_tells_its_type_and_object),
                cmocka_unit_test(a_watch_error_is_the_error_its_status_tells),
                cmocka_unit_test(what_is_no_event_is_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
