#include "common/json/doc_test.h"

#include "common/base/limits.h"

static void assert_reads(const char *yaml, const char *want)
{
        struct error e;
        json_t *doc = NULL;
        int code = yaml_parse(slice_of(yaml), &doc, &e);
        if (code < 0)
                print_error("%s: %s\n", yaml, e.text);
        assert_int_equal(code, 0);
        assert_doc_is(doc, want);
}

static void plain_scalars_have_their_yaml_1_1_types(void **state)
{
        static const struct {
                const char *yaml, *json;
        } cases[] = {
                { "yes", "true" },
                { "No", "false" },
                { "ON", "true" },
                { "off", "false" },
                { "y", "'y'" },
                { "n", "'n'" },
                { "N", "'N'" },
                { "True", "true" },
                { "tRUE", "'tRUE'" },
                { "~", "null" },
                { "Null", "null" },
                { "nULL", "'nULL'" },
                { "12", "12" },
                { "+12", "12" },
                { "-12", "-12" },
                { "0x1F", "31" },
                { "0o17", "15" },
                { "017", "15" },
                { "08", "8" },
                { "0b101", "5" },
                { "1_000", "1000" },
                { "1e3", "1000" },
                { ".5", "0.5" },
                { "1.", "1" },
                { "+.5", "0.5" },
                { "1.2.3", "'1.2.3'" },
                { "1e", "'1e'" },
                { "-", "[null]" },
                { "0x", "'0x'" },
                { ".", "'.'" },
                { "12:30:45", "'12:30:45'" },
                { "2026-01-02", "'2026-01-02'" },
                { "2026-01-02T03:04:05Z", "'2026-01-02T03:04:05Z'" },
                { "'12'", "'12'" },
                { "\"yes\"", "'yes'" },
                { "hello world", "'hello world'" },
                { "9223372036854775807", "9223372036854775807" },
                { "18446744073709551615", "18446744073709551615.0" },
                { "1Gi", "'1Gi'" },
                { "100m", "'100m'" },
                { "0.1", "0.1" },
                { "=", "'='" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                char yaml[100], json[100];
                snprintf(yaml, sizeof(yaml), "a:\n  %s\n", cases[i].yaml);
                snprintf(json, sizeof(json), "{'a':%s}", cases[i].json);
                assert_reads(yaml, json);
        }
}

static void tags_decide(void **state)
{
        assert_reads("a: !!str 12", "{'a':'12'}");
        assert_reads("a: !!int \"12\"", "{'a':12}");
        assert_reads("a: !!float 3", "{'a':3.0}");
        assert_reads("a: !!binary aGVs\n  bG8=", "{'a':'hello'}");
        assert_reads("a: !custom x", "{'a':'x'}");
        assert_reads("a: ! 12", "{'a':'12'}");
}

static void structures_are_read(void **state)
{
        assert_reads("a:\n- 1\n- b: 2\n  c: [x, {y: z}]\nd: {}\ne: []\nf:\n",
                     "{'a':[1,{'b':2,'c':['x',{'y':'z'}]}],'d':{},'e':[],'f':null}");
        assert_reads("a: |\n  x\n  y\nb: >-\n  x\n  y\n", "{'a':'x\\ny\\n','b':'x y'}");
        assert_reads("1: a\nyes: b\n2.5: c\n", "{'1':'a','true':'b','2.5':'c'}");
        assert_reads("# only\n---\na: 1 # x\n...\n", "{'a':1}");
}

static void anchors_and_merge_keys_are_expanded(void **state)
{
        assert_reads("a: &x {p: 1}\nb: *x\nc: &y 5\nd: *y\n", "{'a':{'p':1},'b':{'p':1},'c':5,'d':5}");
        assert_reads("a: &x {p: 1, q: 2}\nb:\n  q: 3\n  <<: *x\n", "{'a':{'p':1,'q':2},'b':{'p':1,'q':3}}");
        assert_reads("a: &x {p: 1}\nb: &y {p: 2, r: 3}\nc:\n  <<: [*x, *y]\n  s: 4\n",
                     "{'a':{'p':1},'b':{'p':2,'r':3},'c':{'p':1,'r':3,'s':4}}");
        assert_reads("a: {'<<': 1}", "{'a':{'<<':1}}");
}

static void json_is_read_as_such(void **state)
{
        assert_reads("{\"a\":\"\\ud83d\\ude00\\/\",\n\t\"b\":[1]}", "{'a':'\\ud83d\\ude00/','b':[1]}");
        assert_reads("{a: 1}", "{'a':1}");
}

static void streams_hold_many_documents(void **state)
{
        static const struct {
                const char *yaml, *json;
        } cases[] = {
                { "a: 1\n---\n---\n# none\n---\nb: 2\n", "[{'a':1},{'b':2}]" },
                { "{\"a\":1}\n{\"b\":2}", "[{'a':1},{'b':2}]" },
                { "{\"a\":1}\n---\n{\"b\":2}\n", "[{'a':1},{'b':2}]" },
                { "", "[]" },
                { "{}null", "[{}]" },
                { "---\n", "[]" },
                { "a: &x 1\n---\nb: 2\n", "[{'a':1},{'b':2}]" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                json_t *docs = NULL;
                assert_int_equal(yaml_parse_all(slice_of(cases[i].yaml), &docs, NULL), 0);
                assert_doc_is(docs, cases[i].json);
        }
}

static void bad_yaml_is_refused_with_its_line(void **state)
{
        static const struct {
                const char *yaml, *error;
        } cases[] = {
                { "a: 1\nb: 2\na: 3\n", "yaml: line 3: key \"a\" already set in map" },
                { "1: a\n\"1\": b\n", "yaml: line 2: key \"1\" already set in map" },
                { "a: b: c\n", "yaml: line 1: mapping values are not allowed in this context" },
                { "a: *x\n", "yaml: line 1: unknown anchor 'x' referenced" },
                { "a: &x [*x]\n", "yaml: line 1: unknown anchor 'x' referenced" },
                { "a: &x 1\n---\nb: *x\n", "yaml: line 3: unknown anchor 'x' referenced" },
                { "a:\n  <<: 1\n", "yaml: line 2: map merge requires map or sequence of maps as the value" },
                { "a: .inf", "yaml: line 1: a number that is infinite or not a number has no JSON form" },
                { "a: !!int x", "yaml: line 1: cannot decode `x` as a !!int" },
                { "a: !!binary '*'", "yaml: line 1: !!binary value contains invalid base64 data" },
                { "{a: 1}: 2", "yaml: line 1: a key must be a scalar" },
                { "~: 2", "yaml: line 1: a key must be a string" },
                { "", "yaml: no document (0)" },
                { "a: 1\n---\nb: 1\n", "yaml: 2 documents where one is expected" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct error e;
                json_t *doc = NULL;
                assert_int_equal(yaml_parse(slice_of(cases[i].yaml), &doc, &e), ERR_INVALID);
                assert_null(doc);
                assert_string_equal(e.text, cases[i].error);
        }
}

static void bombs_are_limited(void **state)
{
        AUTO_BUF struct buf b;
        json_t *doc = NULL;
        buf_init(&b, 100000);
        buf_append_str(&b, "a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
        for (int i = 1; i < 8; i++)
                buf_printf(&b, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1, i - 1,
                           i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
        assert_int_equal(yaml_parse((struct slice){ b.data, b.len }, &doc, NULL), ERR_LIMIT);
        buf_clear(&b);
        buf_append_str(&b, "a: &a 1\nb: [");
        for (int i = 0; i < LIMIT_YAML_ALIASES + 1; i++)
                buf_append_str(&b, "*a,");
        buf_append_str(&b, "]\n");
        assert_int_equal(yaml_parse((struct slice){ b.data, b.len }, &doc, NULL), ERR_LIMIT);
        buf_clear(&b);
        for (int i = 0; i <= LIMIT_JSON_DEPTH; i++)
                buf_append_str(&b, "- ");
        assert_int_equal(yaml_parse((struct slice){ b.data, b.len }, &doc, NULL), ERR_LIMIT);
}

static void assert_writes(const char *json, const char *want)
{
        AUTO_JSON json_t *doc = doc_of(json);
        AUTO_BUF struct buf b;
        buf_init(&b, 100000);
        assert_int_equal(yaml_write(doc, &b), 0);
        assert_string_equal(b.data, want);
        json_t *again = NULL;
        assert_int_equal(yaml_parse((struct slice){ b.data, b.len }, &again, NULL), 0);
        assert_true(doc_equal(again, doc));
        json_decref(again);
}

static void documents_print_as_kubectl_does(void **state)
{
        assert_writes("{'kind':'Pod','apiVersion':'v1','spec':{'containers':[{'name':'a','args':['x','y']}],'"
                      "m':{},'l':[]}}",
                      "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - args:\n    - x\n    - \"y\"\n    "
                      "name: a\n  l: []\n  m: {}\n");
        assert_writes("{'a':null,'b':true,'c':1.5,'d':-3}", "a: null\nb: true\nc: 1.5\nd: -3\n");
        assert_writes("{'a':'line\\nmore\\n','b':'no end\\nhere'}",
                      "a: |\n  line\n  more\nb: |-\n  no end\n  here\n");
        assert_writes("{'a':[[1,2],[]]}", "a:\n- - 1\n  - 2\n- []\n");
}

static void strings_are_quoted_where_needed(void **state)
{
        static const struct {
                const char *json, *yaml;
        } cases[] = {
                { "''", "\"\"" },
                { "'yes'", "\"yes\"" },
                { "'y'", "\"y\"" },
                { "'null'", "\"null\"" },
                { "'~'", "\"~\"" },
                { "'1'", "\"1\"" },
                { "'0x1'", "\"0x1\"" },
                { "'1e3'", "\"1e3\"" },
                { "'1_0'", "\"1_0\"" },
                { "'12:30'", "\"12:30\"" },
                { "'.inf'", "\".inf\"" },
                { "'2026-01-02'", "\"2026-01-02\"" },
                { "'2026-01-02T03:04:05Z'", "\"2026-01-02T03:04:05Z\"" },
                { "'1.2.3'", "1.2.3" },
                { "'a b'", "a b" },
                { "'a: b'", "'a: b'" },
                { "'#x'", "'#x'" },
                { "' a'", "' a'" },
                { "'-'", "'-'" },
                { "'*x'", "'*x'" },
                { "'it\\u0027s'", "it's" },
                { "'[x'", "'[x'" },
                { "'a\\tb'", "\"a\\tb\"" },
                { "'100m'", "100m" },
                { "'v1'", "v1" },
                { "'<<'", "\"<<\"" },
                { "'\\u00e9'", "\xc3\xa9" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                char json[100], yaml[100];
                snprintf(json, sizeof(json), "{'a':%s}", cases[i].json);
                snprintf(yaml, sizeof(yaml), "a: %s\n", cases[i].yaml);
                assert_writes(json, yaml);
        }
}

static void keys_stand_in_kubectls_order(void **state)
{
        assert_writes("{'a10':1,'a2':2,'a1':3,'B':4,'_x':5,'10':7,'2':8,'-':9,'a':10,'ab':12,'é':13}",
                      "'-': 9\n_x: 5\n\"2\": 8\n\"10\": 7\nB: 4\na: 10\na1: 3\na2: 2\na10: 1\nab: 12\n"
                      "\xc3\xa9: 13\n");
}

static void reals_have_exponents_where_go_has_them(void **state)
{
        assert_writes("{'a':0.00001,'b':0.0001,'c':100000.5,'d':1234567.5,'e':1e21,'f':1000000.0,'g':-0."
                      "000025,'h':1e20}",
                      "a: 1e-05\nb: 0.0001\nc: 100000.5\nd: 1.2345675e+06\ne: 1e+21\nf: 1000000\ng: "
                      "-2.5e-05\nh: 1e+20\n");
}

static int round_trip(void *unused)
{
        AUTO_JSON json_t *docs = NULL;
        AUTO_BUF struct buf b;
        buf_init(&b, 10000);
        TRY(yaml_parse_all(SLICE("a: &x {p: 1, q: !!binary aGVsbG8=}\nb:\n  <<: *x\n  z: [1.5, yes, "
                                 "~]\n---\n{\"j\": 1}\n"),
                           &docs, NULL));
        return yaml_write(docs, &b);
}

static void running_out_of_memory_leaks_nothing(void **state)
{
        walk_failing_allocations(round_trip, NULL);
}

static void places_are_found_by_the_way_there(void **state)
{
        static const struct yaml_step command[] = { { "a", 0 }, { "list", 0 }, { NULL, 1 }, { "x", 0 } };
        static const char text[] =
                "# c\na:\n  other: {x: [1]}\n  list:\n    - x: 1\n    - y: 1\n      x: 2\n";
        static const struct {
                size_t n, line, column;
        } rows[] = { { 0, 2, 1 }, { 1, 2, 1 }, { 2, 4, 3 }, { 3, 6, 7 }, { 4, 7, 7 } };
        struct yaml_place at;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                assert_int_equal(yaml_locate(slice_of(text), command, rows[i].n, &at), 0);
                assert_int_equal(at.line, rows[i].line);
                assert_int_equal(at.column, rows[i].column);
        }
        assert_int_equal(yaml_locate(SLICE("a:\n  list: x\n"), command, 4, &at), 0);
        assert_int_equal(at.line, 2);
        assert_int_equal(yaml_locate(SLICE("a: 1\nb: ]\n"), NULL, 0, &at), 1);
        assert_int_equal(at.line, 2);
        assert_int_equal(at.column, 4);
        assert_int_equal(yaml_locate(SLICE(""), command, 1, &at), 0);
        assert_int_equal(at.line, 1);
}

static void lines_of_a_part_are_those_of_the_text(void **state)
{
        AUTO_JSON json_t *docs = NULL;
        struct error err = { 0 };

        assert_int_equal(yaml_parse_part(SLICE("a: 1\nb: ]\n"), 10, &docs, &err), ERR_INVALID);
        assert_true(text_starts_with(err.text, "yaml: line 12: "));
        assert_int_equal(yaml_parse_part(SLICE("a: 1\na: 2\n"), 10, &docs, &err), ERR_INVALID);
        assert_true(text_starts_with(err.text, "yaml: line 12: "));
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(plain_scalars_have_their_yaml_1_1_types),
                cmocka_unit_test(tags_decide),
                cmocka_unit_test(structures_are_read),
                cmocka_unit_test(anchors_and_merge_keys_are_expanded),
                cmocka_unit_test(json_is_read_as_such),
                cmocka_unit_test(streams_hold_many_documents),
                cmocka_unit_test(bad_yaml_is_refused_with_its_line),
                cmocka_unit_test(bombs_are_limited),
                cmocka_unit_test(documents_print_as_kubectl_does),
                cmocka_unit_test(strings_are_quoted_where_needed),
                cmocka_unit_test(keys_stand_in_kubectls_order),
                cmocka_unit_test(reals_have_exponents_where_go_has_them),
                cmocka_unit_test(places_are_found_by_the_way_there),
                cmocka_unit_test(lines_of_a_part_are_those_of_the_text),
                cmocka_unit_test(running_out_of_memory_leaks_nothing),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
