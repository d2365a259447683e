#include "common/json/doc_test.h"

#include "common/base/limits.h"

static json_t *parse(const char *text)
{
        struct error e;
        json_t *doc = NULL;
        int code = doc_parse(slice_of(text), &doc, &e);
        if (code < 0)
                print_error("%s\n", e.text);
        assert_int_equal(code, 0);
        return doc;
}

static void text_becomes_a_document(void **state)
{
        assert_doc_is(parse(" {\"a\":[1,-2.5,true,null,\"x\\u0041\"],\"\":{}} "),
                      "{'a':[1,-2.5,true,null,'xA'],'':{}}");
        assert_doc_is(parse("7"), "7");
        assert_doc_is(parse("{\"\\u0061\":1}"), "{'a':1}");
}

static void errors_name_line_and_column(void **state)
{
        static const struct {
                const char *text, *error;
        } cases[] = {
                { "{\n  \"a\": tru\n}", "invalid JSON at line 2, column 8: expected a value" },
                { "{\"a\":1,\"\\u0061\":2}", "invalid JSON at line 1, column 8: duplicate key \"a\"" },
                { "[1e999]", "invalid JSON at line 1, column 2: the number is out of range" },
                { "{\"a\\u0000b\":1}", "invalid JSON at line 1, column 3: NUL in a key" },
                { "", "invalid JSON at line 1, column 1: the text is empty" },
                { "{} x", "invalid JSON at line 1, column 4: something follows the end of the document" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct error e;
                json_t *doc = NULL;
                assert_int_equal(doc_parse(slice_of(cases[i].text), &doc, &e), ERR_INVALID);
                assert_null(doc);
                assert_string_equal(e.text, cases[i].error);
        }
}

static void duplicate_keys_are_told_where_they_may_be(void **state)
{
        static const char text[] = "{\"a\":1,\"l\":[0,{\"x\":1,\"y\":{},\"x\":2}],\"a\":{\"b\":3},\"e\":{"
                                   "\"\\u0061\":1,\"a\":2}}";
        json_t *doc = NULL, *duplicates = NULL;
        struct error e;
        assert_int_equal(doc_parse_loose(slice_of(text), &doc, &duplicates, &e), 0);
        assert_doc_is(doc, "{'a':{'b':3},'l':[0,{'x':2,'y':{}}],'e':{'a':2}}");
        assert_doc_is(duplicates, "['l[1].x','a','e.a']");
        assert_int_equal(doc_parse_loose(slice_of("{\"a\":1}"), &doc, &duplicates, &e), 0);
        assert_null(duplicates);
        json_decref(doc);
}

static void values_are_printed_as_go_prints_them(void **state)
{
        json_t *doc = parse("{\"b\":[1,2.5,true,null],\"a\":{\"k\":\"x\\\"y\"},\"e\":[],\"f\":\"\\u0001\"}");
        AUTO_BUF struct buf b;
        buf_init(&b, 1000);
        assert_int_equal(doc_write_go(doc, &b), 0);
        assert_string_equal(b.data, "map[a:map[k:x\"y] b:[1 2.5 true <nil>] e:[] f:\x01]");
        buf_clear(&b);
        assert_int_equal(doc_write_go_syntax(doc, &b), 0);
        assert_string_equal(b.data,
                            "map[string]interface {}{\"a\":map[string]interface {}{\"k\":\"x\\\"y\"}, "
                            "\"b\":[]interface {}{1, 2.5, true, interface {}(nil)}, \"e\":[]interface {}{}, "
                            "\"f\":\"\\x01\"}");
        json_decref(doc);
}

static void too_deep_text_is_refused(void **state)
{
        char *text = mem_must(mem_alloc(200000));
        memset(text, '[', 200000);
        struct error e;
        json_t *doc = NULL;
        assert_int_equal(doc_parse((struct slice){ text, 200000 }, &doc, &e), ERR_LIMIT);
        mem_free(text);
}

static void large_integers_become_reals(void **state)
{
        json_t *doc = parse("[9223372036854775807,9223372036854775808]");
        assert_true(json_is_integer(json_array_get(doc, 0)));
        assert_true(json_is_real(json_array_get(doc, 1)));
        json_decref(doc);
}

static void assert_canonical(const char *text, const char *want)
{
        json_t *doc = parse(text);
        char *got = text_of(doc);
        assert_string_equal(got, want);
        mem_free(got);
        json_decref(doc);
}

static void canonical_text_is_as_go_prints_it(void **state)
{
        assert_canonical("{\"b\":1,\"a\":{\"d\":[],\"c\":{}}}", "{\"a\":{\"c\":{},\"d\":[]},\"b\":1}");
        assert_canonical("\"<a href='x'>&\\u2028\\u2029\\u20ac\\u007f\"",
                         "\"\\u003ca href='x'\\u003e\\u0026\\u2028\\u2029\xe2\x82\xac\x7f\"");
        assert_canonical("\"\\u0000\\u001f\\b\\f\\n\\r\\t\\\"\\\\\\/\"",
                         "\"\\u0000\\u001f\\b\\f\\n\\r\\t\\\"\\\\/\"");
        assert_canonical("{\"<\":1}", "{\"\\u003c\":1}");
}

static void reals_print_shortest(void **state)
{
        static const struct {
                const char *in, *out;
        } cases[] = {
                { "0.1", "0.1" },
                { "1.0", "1" },
                { "-2.50", "-2.5" },
                { "1e20", "100000000000000000000" },
                { "1e21", "1e+21" },
                { "1e-6", "0.000001" },
                { "1e-7", "1e-7" },
                { "123456789.125", "123456789.125" },
                { "1.5e300", "1.5e+300" },
                { "5e-324", "5e-324" },
                { "0.30000000000000004", "0.30000000000000004" },
                { "-0.0", "-0" },
                { "0.0", "0" },
                { "1e-9", "1e-9" },
                { "123e18", "123000000000000000000" },
                { "1234.5e-8", "0.000012345" },
                { "1152921504606846976.0", "1152921504606847000" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                assert_canonical(cases[i].in, cases[i].out);
}

static void compact_text_keeps_the_order(void **state)
{
        AUTO_BUF struct buf b;
        buf_init(&b, 1000);
        AUTO_JSON json_t *doc = parse("{\"b\":[1,{}],\"a\":\"<\"}");
        assert_int_equal(doc_write(doc, &b), 0);
        assert_string_equal(b.data, "{\"b\":[1,{}],\"a\":\"<\"}");
}

static void pretty_text_is_indented_and_sorted(void **state)
{
        AUTO_BUF struct buf b;
        buf_init(&b, 1000);
        AUTO_JSON json_t *doc = parse("{\"b\":[1,2],\"a\":{},\"c\":{\"d\":null}}");
        assert_int_equal(doc_write_pretty(doc, &b), 0);
        assert_string_equal(b.data, "{\n    \"a\": {},\n    \"b\": [\n        1,\n        2\n    ],\n    "
                                    "\"c\": {\n        \"d\": null\n    }\n}");
}

static void a_small_buffer_is_a_limit_error(void **state)
{
        AUTO_BUF struct buf b;
        buf_init(&b, 4);
        AUTO_JSON json_t *doc = parse("{\"b\":[1,2]}");
        assert_int_equal(doc_write(doc, &b), ERR_LIMIT);
        assert_int_equal(doc_write_canonical(doc, &b), ERR_LIMIT);
}

static void hashes_are_those_of_the_canonical_text(void **state)
{
        char hash[65];
        AUTO_JSON json_t *doc = parse("{ \"selectedResources\" : [ ] }");
        assert_int_equal(doc_hash(doc, hash, NULL), 0);
        assert_string_equal(hash, "83ff749c5d8eb5a0b62d714175bcbaef1409b371fc5a229a002db6fcc1f144e1");
}

static void equality_is_by_value(void **state)
{
        static const struct {
                const char *a, *b;
                bool equal;
        } cases[] = {
                { "1", "1.0", true },
                { "1", "1.5", false },
                { "{'a':1,'b':2}", "{'b':2,'a':1}", true },
                { "{'a':1}", "{'a':1,'b':2}", false },
                { "{'a':1}", "{'b':1}", false },
                { "[1,2]", "[2,1]", false },
                { "[1,2]", "[1]", false },
                { "'a'", "'b'", false },
                { "null", "false", false },
                { "9007199254740993", "9007199254740992.0", false },
                { "9223372036854775807", "9223372036854775807.0", false },
                { "[[{'x':[1]}]]", "[[{'x':[1.0]}]]", true },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_JSON json_t *a = doc_of(cases[i].a), *b = doc_of(cases[i].b);
                assert_int_equal(doc_equal(a, b), cases[i].equal);
                assert_int_equal(doc_equal(b, a), cases[i].equal);
        }
        assert_true(doc_equal(NULL, NULL));
        assert_false(doc_equal_apart_from(NULL, NULL, NULL, 0));
        assert_false(doc_equal(json_null(), NULL));
}

static void a_copy_shares_nothing(void **state)
{
        AUTO_JSON json_t *doc = doc_of("{'a':{'b':[1,2.5,'x',true,null]}}");
        json_t *copy = doc_copy(doc);
        assert_int_equal(doc_set_int(doc, "a.c", 1), 0);
        assert_doc_is(copy, "{'a':{'b':[1,2.5,'x',true,null]}}");
}

static void paths_find_members(void **state)
{
        AUTO_JSON json_t *doc = doc_of("{'a':{'b':'x','n':5,'t':true,'o':{},'l':[],'x.y':1},'s':'q'}");
        assert_string_equal(doc_get_string(doc, "a.b"), "x");
        assert_null(doc_get_string(doc, "a.n"));
        assert_null(doc_get(doc, "s.q"));
        assert_null(doc_get(doc, "a.b.c"));
        assert_null(doc_get(NULL, "a"));
        assert_int_equal(doc_get_int(doc, "a.n", 1), 5);
        assert_int_equal(doc_get_int(doc, "a.b", 1), 1);
        assert_true(doc_get_bool(doc, "a.t", false));
        assert_non_null(doc_get_object(doc, "a.o"));
        assert_null(doc_get_object(doc, "a.l"));
        assert_non_null(doc_get_array(doc, "a.l"));
        static const char *const keys[] = { "a", "x.y" };
        assert_non_null(doc_get_keys(doc, keys, 2));
}

static void wanted_members_are_type_checked(void **state)
{
        AUTO_JSON json_t *doc = doc_of("{'a':{'b':'x','n':5,'r':1.5,'z':null},'l':[]}");
        struct error e;
        const char *s = "kept";
        int64_t n = 7;
        bool t = true;
        json_t *v = NULL;
        assert_int_equal(doc_want_string(doc, "a.q", &s, &e), 0);
        assert_string_equal(s, "kept");
        assert_int_equal(doc_need_string(doc, "a.q", &s, &e), ERR_INVALID);
        assert_string_equal(e.text, "a.q: is required");
        assert_int_equal(doc_need_string(doc, "a.b", &s, &e), 0);
        assert_string_equal(s, "x");
        assert_int_equal(doc_want_int(doc, "a.b", &n, &e), ERR_INVALID);
        assert_string_equal(e.text, "a.b: must be an integer, is a string");
        assert_int_equal(n, 7);
        assert_int_equal(doc_want_int(doc, "a.n", &n, &e), 0);
        assert_int_equal(n, 5);
        assert_int_equal(doc_want_int(doc, "a.r", &n, &e), ERR_INVALID);
        assert_int_equal(doc_want_bool(doc, "a.z", &t, &e), ERR_INVALID);
        assert_string_equal(e.text, "a.z: must be a boolean, is null");
        assert_int_equal(doc_want_object(doc, "l", &v, &e), ERR_INVALID);
        assert_int_equal(doc_want_array(doc, "l", &v, &e), 0);
        assert_non_null(v);
}

static void a_string_with_nul_is_no_c_string(void **state)
{
        AUTO_JSON json_t *doc = parse("{\"a\":\"x\\u0000y\"}");
        const char *s = NULL;
        assert_null(doc_get_string(doc, "a"));
        assert_int_equal(doc_want_string(doc, "a", &s, NULL), ERR_INVALID);
}

static void setting_creates_the_way(void **state)
{
        json_t *doc = json_object();
        assert_int_equal(doc_set_string(doc, "a.b.c", "x"), 0);
        assert_int_equal(doc_set_int(doc, "a.b.d", 3), 0);
        assert_int_equal(doc_set_int(doc, "a.b.c.e", 3), ERR_INVALID);
        assert_int_equal(doc_set(doc, "a.x", NULL), ERR_NO_MEMORY);
        assert_int_equal(doc_remove(doc, "a.b.d"), 0);
        assert_int_equal(doc_remove(doc, "no.such.path"), 0);
        assert_doc_is(doc, "{'a':{'b':{'c':'x'}}}");
}

static int round_trip(void *unused)
{
        AUTO_JSON json_t *doc = NULL;
        AUTO_BUF struct buf b;
        buf_init(&b, 10000);
        TRY(doc_parse(SLICE("{\"b\":[1,2.5,\"x\\n\",{}],\"\\u0061\":{\"c\":null,\"<\":\"&\"}}"), &doc, NULL));
        AUTO_JSON json_t *copy = doc_copy(doc);
        if (!copy)
                return ERR_NO_MEMORY;
        TRY(doc_set_string(copy, "x.y", "z"));
        char hash[65];
        TRY(doc_hash(copy, hash, NULL));
        TRY(doc_write_pretty(copy, &b));
        return doc_write(copy, &b);
}

static void running_out_of_memory_leaks_nothing(void **state)
{
        walk_failing_allocations(round_trip, NULL);
}

static int copy_members(void *doc)
{
        AUTO_JSON json_t *copy = doc_copy_members(doc);

        if (!copy)
                return ERR_NO_MEMORY;
        assert_true(doc_equal(copy, doc)); /* with all of them, or not at all */
        assert_ptr_equal(json_object_get(copy, "a"), json_object_get(doc, "a"));
        return 0;
}

static void a_copy_of_members_is_whole(void **state)
{
        AUTO_JSON json_t *doc = doc_of("{\"a\":{\"b\":1},\"c\":2,\"d\":[3],\"e\":4,\"f\":5,\"g\":6,\"h\":7}");
        AUTO_JSON json_t *copy = doc_copy_members(doc);

        walk_failing_allocations(copy_members, doc);
        assert_int_equal(json_object_set_new(copy, "c", json_null()), 0);
        assert_int_equal(json_integer_value(json_object_get(doc, "c")), 2);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(text_becomes_a_document),
                cmocka_unit_test(errors_name_line_and_column),
                cmocka_unit_test(duplicate_keys_are_told_where_they_may_be),
                cmocka_unit_test(values_are_printed_as_go_prints_them),
                cmocka_unit_test(too_deep_text_is_refused),
                cmocka_unit_test(large_integers_become_reals),
                cmocka_unit_test(canonical_text_is_as_go_prints_it),
                cmocka_unit_test(reals_print_shortest),
                cmocka_unit_test(compact_text_keeps_the_order),
                cmocka_unit_test(pretty_text_is_indented_and_sorted),
                cmocka_unit_test(a_small_buffer_is_a_limit_error),
                cmocka_unit_test(hashes_are_those_of_the_canonical_text),
                cmocka_unit_test(equality_is_by_value),
                cmocka_unit_test(a_copy_shares_nothing),
                cmocka_unit_test(a_copy_of_members_is_whole),
                cmocka_unit_test(paths_find_members),
                cmocka_unit_test(wanted_members_are_type_checked),
                cmocka_unit_test(a_string_with_nul_is_no_c_string),
                cmocka_unit_test(setting_creates_the_way),
                cmocka_unit_test(running_out_of_memory_leaks_nothing),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
