/* Ignore rules: which there may be, and what becomes of the fields that they name. */
#include "member-agent/apply/ignore.h"

#include "member-agent/apply/testing.h"

static int read_rules(const char *text, struct arena *arena, struct ignore_rules *ret, struct error *err)
{
        AUTO_JSON json_t *doc = json_pack("{s:{s:{s:s}}}", "metadata", "annotations",
                                          "kubernetes-fleet.io/ignore-differences", text);

        assert_non_null(doc);
        return ignore_rules_read(doc, arena, ret, err);
}

static const struct {
        const char *rules, *wanted, *live, *result;
} lines[] = {
        { "/spec/replicas", "{'spec':{'replicas':2,'x':1}}", "{'spec':{'replicas':5,'x':2}}",
          "{'spec':{'replicas':5,'x':1}}" },
        { "/spec/replicas", "{'spec':{}}", "{'spec':{'replicas':5}}", "{'spec':{'replicas':5}}" },
        { "/spec/replicas", "{'spec':{'replicas':2}}", "{'spec':{}}", "{'spec':{}}" },
        /* What holds it is there for it alone. */
        { "/data/k", "{'data':{'k':'1'}}", "{}", "{}" },
        { "/data/k", "{'data':{'k':'1','l':'1'}}", "{}", "{'data':{'l':'1'}}" },
        { "/data/k", "{'data':{}}", "{}", "{'data':{}}" },
        { "/data/k", "{}", "{'data':{'k':'1','l':'1'}}", "{'data':{'k':'1'}}" },
        { "/data/k", "{}", "{'data':{'l':'1'}}", "{}" },
        { "/a/b/c", "{}", "{'a':{'b':{'c':{'d':1}}}}", "{'a':{'b':{'c':{'d':1}}}}" },
        { "/a", "{'a':[1]}", "{'a':{'b':2}}", "{'a':{'b':2}}" },
        { "/a/b", "{'a':[1]}", "{'a':{'b':2}}", "{'a':[1]}" },
        { "/a/b", "{'a':{'b':1}}", "{'a':'text'}", "{'a':{'b':1}}" },
        /* several, and how they are written */
        { "/a, /b\n/c", "{'a':1,'b':1,'c':1,'d':1}", "{'a':2,'b':2,'c':2,'d':2}",
          "{'a':2,'b':2,'c':2,'d':1}" },
        { " ", "{'a':1}", "{'a':2}", "{'a':1}" },
        { "/metadata/labels/x~1y~0", "{'metadata':{'labels':{'x/y~':'1','z':'1'}}}",
          "{'metadata':{'labels':{'x/y~':'2','z':'2'}}}", "{'metadata':{'labels':{'x/y~':'2','z':'1'}}}" },
        { "/metadata/annotations/a", "{'metadata':{}}", "{'metadata':{'annotations':{'a':'1','b':'1'}}}",
          "{'metadata':{'annotations':{'a':'1'}}}" },
        /* all members */
        { "/data/*", "{'data':{'a':1,'b':1}}", "{'data':{'a':2,'c':2}}", "{'data':{'a':2,'c':2}}" },
        { "/data/*", "{'data':{'a':1}}", "{}", "{}" },
        { "/x/*/y", "{'x':{'a':{'y':1},'b':{'y':1,'z':1}}}", "{'x':{'a':{'y':2},'b':{},'c':{'y':3}}}",
          "{'x':{'a':{'y':2},'b':{'z':1},'c':{'y':3}}}" },
        { "/x/*/y", "{'a':1}", "{'x':{'a':{'z':1},'b':{'y':2}}}", "{'a':1,'x':{'b':{'y':2}}}" },
        { "/x/*/y", "{'a':1}", "{'x':{'a':{'z':1}}}", "{'a':1}" },
        { "/x/*/y", "{'a':1}", "{'x':{}}", "{'a':1}" },
        { "/x/*/y", "{'a':1}", "{'x':'y'}", "{'a':1}" },
        /* lists: elements that have a name go by it */
        { "/c/*/image", "{'c':[{'name':'a','image':1},{'name':'b','image':1}]}",
          "{'c':[{'name':'b','image':2},{'name':'s','image':3},{'name':'a','image':4}]}",
          "{'c':[{'name':'a','image':4},{'name':'b','image':2}]}" },
        { "/c/b/image", "{'c':[{'name':'a','image':1},{'name':'b','image':1}]}",
          "{'c':[{'name':'b','image':2},{'name':'a','image':4}]}",
          "{'c':[{'name':'a','image':1},{'name':'b','image':2}]}" },
        { "/c/s", "{'c':[{'name':'a'}]}", "{'c':[{'name':'s','x':1},{'name':'a'}]}",
          "{'c':[{'name':'s','x':1},{'name':'a'}]}" },
        { "/c/s", "{'x':1}", "{'c':[{'name':'a'},{'name':'s'}]}", "{'x':1,'c':[{'name':'s'}]}" },
        { "/c/s", "{'x':1}", "{'c':[{'name':'a'}]}", "{'x':1}" },
        { "/c/s", "{'x':1,'c':[{'name':'s'}]}", "{'x':1}", "{'x':1}" },
        { "/c/s", "{'c':[{'name':'s'},{'name':'a'}]}", "{}", "{'c':[{'name':'a'}]}" },
        { "/c/s", "{'c':[{'name':'a'}]}", "{}", "{'c':[{'name':'a'}]}" },
        { "/c/s/x", "{'x':1}", "{'c':[{'name':'s','x':1}]}", "{'x':1}" },
        { "/c/s/x", "{'c':[{'name':'s','x':1}]}", "{}", "{'c':[{'name':'s','x':1}]}" },
        { "/c/*", "{'x':1}", "{'c':[1]}", "{'x':1,'c':[1]}" },
        { "/c/*", "{'c':[1]}", "{}", "{}" },
        { "/c/*", "{'c':[]}", "{}", "{'c':[]}" },
        { "/c/*/x", "{'c':[{'x':1}]}", "{}", "{'c':[{'x':1}]}" },
        { "/c/0", "{'x':1}", "{'c':[1]}", "{'x':1}" },
        { "/c/0", "{'x':1}", "{'c':[{'name':'0'}]}", "{'x':1}" },
        { "/c/0", "{'c':[1,2]}", "{}", "{'c':[2]}" },
        { "/c/t /c/s", "{'c':[{'name':'a'},{'name':'b'}]}",
          "{'c':[{'name':'s'},{'name':'t'},{'name':'a'},{'name':'b'}]}",
          "{'c':[{'name':'s'},{'name':'t'},{'name':'a'},{'name':'b'}]}" },
        { "/c/s", "{'c':[{'name':'a'},{'name':'b'}]}", "{'c':[{'name':'a'},{'name':'s'},{'name':'b'}]}",
          "{'c':[{'name':'a'},{'name':'s'},{'name':'b'}]}" },
        { "/c/s", "{'c':[{'name':'a'}]}", "{'c':[{'name':'x'},{'name':'a'},{'name':'y'},{'name':'s'}]}",
          "{'c':[{'name':'a'},{'name':'s'}]}" },
        { "/c/s", "{'c':[{'name':'a'},{'name':'s'}]}", "{'c':[{'name':'a'}]}", "{'c':[{'name':'a'}]}" },
        { "/c/s", "{'c':[{'name':'a'}]}", "{'c':[{'name':'a'}]}", "{'c':[{'name':'a'}]}" },
        { "/c/1", "{'c':[1,1,1]}", "{'c':[2,2,2]}", "{'c':[1,2,1]}" },
        { "/c/1", "{'c':[1,1]}", "{'c':[2]}", "{'c':[1]}" },
        { "/c/1", "{'c':[1]}", "{'c':[2,2]}", "{'c':[1]}" },
        { "/c/0/x", "{'c':[{'x':1,'y':1}]}", "{'c':[{'x':2,'y':2}]}", "{'c':[{'x':2,'y':1}]}" },
        { "/c/*", "{'c':[1,1]}", "{'c':[2,3,4]}", "{'c':[2,3,4]}" },
        { "/c/*/x", "{'c':[{'x':1},{'x':1}]}", "{'c':[{'x':2}]}", "{'c':[{'x':2},{'x':1}]}" },
        { "/c/*/x", "{'c':[{'name':'a','x':1},{'name':'a','x':1}]}", "{'c':[{'name':'a','x':2}]}",
          "{'c':[{'name':'a','x':2},{'name':'a','x':1}]}" },
        { "/c/*/x", "{'c':[1]}", "{'c':[2]}", "{'c':[1]}" },
};

static void fields_that_are_ignored_are_what_the_member_has(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                AUTO_JSON json_t *doc = quoted(lines[i].wanted);
                AUTO_JSON json_t *live = quoted(lines[i].live);
                AUTO_JSON json_t *before = quoted(lines[i].live);
                struct arena arena AUTO_ARENA = ARENA_INIT;
                struct ignore_rules rules;

                print_message("%s of %s\n", lines[i].rules, lines[i].wanted);
                assert_int_equal(read_rules(lines[i].rules, &arena, &rules, NULL), 0);
                assert_int_equal(ignore_rules_apply(&rules, doc, live, NULL), 0);
                assert_doc_equal(doc, lines[i].result);
                assert_true(doc_equal(live, before));
                assert_int_equal(ignore_rules_apply(&rules, doc, NULL, NULL), 0); /* not there yet */
                assert_doc_equal(doc, lines[i].result);
        }
}

/* All rules that there may be, and a list as a user may make it: this ends soon, or hardly ever. */
static void very_large_lists_have_their_rules(void **state)
{
        enum { ELEMENTS = 20000 };
        AUTO_JSON json_t *doc = json_pack("{s:[]}", "c");
        AUTO_JSON json_t *live = json_pack("{s:[]}", "c");
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct ignore_rules rules;
        char text[64 * 7 + 1] = "";

        for (size_t i = 0; i < 64; i++)
                memcpy(text + 7 * i, "/c/*/x ", 8);
        assert_int_equal(read_rules(text, &arena, &rules, NULL), 0);
        for (int i = 0; i < ELEMENTS; i++) {
                json_array_append_new(json_object_get(doc, "c"),
                                      json_pack("{s:o,s:i}", "name", json_sprintf("n%d", i), "x", -1));
                json_array_insert_new(json_object_get(live, "c"), 0,
                                      json_pack("{s:o,s:i}", "name", json_sprintf("n%d", i), "x", i));
        }
        assert_int_equal(ignore_rules_apply(&rules, doc, live, NULL), 0);
        for (int i = 0; i < ELEMENTS; i++) {
                const json_t *element = json_array_get(json_object_get(doc, "c"), (size_t)i);

                assert_int_equal(json_integer_value(json_object_get(element, "x")), i);
        }
}

static void what_makes_an_object_itself_cannot_be_ignored(void **state)
{
        static const struct {
                const char *rules, *why;
        } bad[] = {
                { "spec/replicas", "\"spec/replicas\" is no path: it does not begin with \"/\"" },
                { "/spec/a /", "\"/\" is no path: it has an empty step" },
                { "/spec//a", "\"/spec//a\" is no path: it has an empty step" },
                { "/spec/", "empty step" },
                { "/kind", "\"/kind\" cannot be ignored" },
                { "/apiVersion", "cannot be ignored" },
                { "/status/replicas", "cannot be ignored" },
                { "/*", "cannot be ignored" },
                { "/metadata", "of metadata it may be one label or annotation" },
                { "/metadata/name", "one label" },
                { "/metadata/labels", "one label" },
                { "/metadata/labels/*", "one label" },
                { "/metadata/labels/a/b", "one label" },
                { "/metadata/finalizers/a", "one label" },
                { "/metadata/annotations/kubernetes-fleet.io~1spec-hash", "one label" },
        };

        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                struct arena arena AUTO_ARENA = ARENA_INIT;
                struct ignore_rules rules;
                struct error err = { 0 };

                assert_int_equal(read_rules(bad[i].rules, &arena, &rules, &err), ERR_INVALID);
                if (!strstr(err.text, bad[i].why) ||
                    !text_starts_with(err.text, "annotation kubernetes-fleet.io/ignore-differences: "))
                        fail_msg("%s: %s", bad[i].rules, err.text);
        }
}

static void there_are_at_most_64(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct ignore_rules rules;
        struct error err = { 0 };
        char text[65 * 3 + 1] = "";

        for (size_t i = 0; i < 64; i++)
                memcpy(text + 3 * i, "/a ", 4);
        assert_int_equal(read_rules(text, &arena, &rules, &err), 0);
        assert_int_equal(rules.n, 64);
        memcpy(text + 3 * (size_t)64, "/a ", 4);
        assert_int_equal(read_rules(text, &arena, &rules, &err), ERR_INVALID);
        assert_non_null(strstr(err.text, "more than 64 paths"));
}

static void other_rules_have_another_number(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct ignore_rules none, one, other;
        AUTO_JSON json_t *plain = quoted("{'metadata':{'name':'a'}}");

        assert_int_equal(ignore_rules_read(plain, &arena, &none, NULL), 0);
        assert_int_equal(none.n, 0);
        assert_int_equal(none.number, 0);
        assert_int_equal(read_rules("/a", &arena, &one, NULL), 0);
        assert_int_equal(read_rules("/b", &arena, &other, NULL), 0);
        assert_true(one.number && other.number && one.number != other.number);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(fields_that_are_ignored_are_what_the_member_has),
                cmocka_unit_test(very_large_lists_have_their_rules),
                cmocka_unit_test(what_makes_an_object_itself_cannot_be_ignored),
                cmocka_unit_test(there_are_at_most_64),
                cmocka_unit_test(other_rules_have_another_number),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
