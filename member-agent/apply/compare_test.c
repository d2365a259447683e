/* spec/member-agent.md 2.11. */
#include "member-agent/apply/compare.h"

#include "member-agent/apply/testing.h"

struct line {
        const char *what, *source, *target, *expected; /* "path hub member;" for each */
};

static const struct line lines[] = {
        { "equal", "{'spec':{'a':1}}", "{'spec':{'a':1.0}}", "" },
        { "replaced number", "{'spec':{'replicas':2}}", "{'spec':{'replicas':5}}", "/spec/replicas 2 5;" },
        { "only in member", "{'spec':{}}", "{'spec':{'x':'y'}}", "/spec/x  y;" },
        { "only in hub", "{'spec':{'x':'y'}}", "{'spec':{}}", "/spec/x y ;" },
        { "keys in byte order", "{'spec':{'b':1,'a':1}}", "{'spec':{'b':2,'a':2}}",
          "/spec/a 1 2;/spec/b 1 2;" },
        { "another type", "{'spec':'x'}", "{'spec':{'a':true,'b':null}}", "/spec x map[a:true b:<nil>];" },
        { "escaped keys", "{'spec':{'a/b~c':1}}", "{'spec':{'a/b~c':2}}", "/spec/a~1b~0c 1 2;" },
        { "added elements", "{'l':[1]}", "{'l':[1,2,3]}", "/l/-  2;/l/-  3;" },
        { "removed elements come first", "{'l':[1,2,3]}", "{'l':[9]}", "/l/1 2 ;/l/2 3 ;/l/0 1 9;" },
        { "lists and nothing", "{'l':['a','b']}", "{}", "/l [a b] ;" },
        { "large whole numbers stay plain", "{'a':1000000}", "{'a':1000001.0}", "/a 1000000 1000001;" },
        { "fractions", "{'a':0.5}", "{'a':0.25}", "/a 0.5 0.25;" },
        { "both truths", "{'a':true,'b':false}", "{'a':false,'b':true}", "/a true false;/b false true;" },
        { "many digits", "{'a':0.1,'b':1e300}", "{'a':0.12345678901234567,'b':-2.5}",
          "/a 0.1 0.12345678901234566;/b 1e+300 -2.5;" },
        { "the largest whole numbers", "{'a':999999999999999.0}", "{'a':1000000000000000.0}",
          "/a 999999999999999 1e+15;" },
        { "maps in lists in maps", "{'a':{'x':[{'b':1,'a':[2,3]},'c']}}", "{}",
          "/a map[x:[map[a:[2 3] b:1] c]] ;" },
        { "an object for a list", "{'a':{'0':1}}", "{'a':[1]}", "/a map[0:1] [1];" },
        { "a list for an object", "{'a':[1]}", "{'a':{'0':1}}", "/a [1] map[0:1];" },
        { "empty map", "{'a':{}}", "{'a':[]}", "/a map[] [];" },
        { "secrets are not shown", "{'apiVersion':'v1','kind':'Secret','data':{'p':'eA=='}}",
          "{'apiVersion':'v1','kind':'Secret','data':{'p':'eQ==','q':'eg=='}}",
          "/data/p " COMPARE_REDACTED " " COMPARE_REDACTED ";/data/q  " COMPARE_REDACTED ";" },
        { "nor are notes of other tools about them",
          "{'apiVersion':'v1','kind':'Secret','metadata':{'annotations':{'a':'1'},'labels':{'b':'1'}}}",
          "{'apiVersion':'v1','kind':'Secret','metadata':{'annotations':{'a':'2','tool.example/original':"
          "'eA=='},'labels':{'b':'2'}}}",
          "/metadata/annotations/a " COMPARE_REDACTED " " COMPARE_REDACTED
          ";/metadata/annotations/tool.example~1original  " COMPARE_REDACTED ";/metadata/labels/b 1 2;" },
        { "nor what is to become their data", "{'apiVersion':'v1','kind':'Secret','stringData':{'p':'x'}}",
          "{'apiVersion':'v1','kind':'Secret','stringData':{'p':'y'},'type':'t'}",
          "/stringData/p " COMPARE_REDACTED " " COMPARE_REDACTED ";/type  t;" },
        { "another group's secrets are none",
          "{'apiVersion':'x.example/v1','kind':'Secret','data':{'p':'1'}}",
          "{'apiVersion':'x.example/v1','kind':'Secret','data':{'p':'2'}}", "/data/p 1 2;" },
        { "config maps are", "{'apiVersion':'v1','kind':'ConfigMap','data':{'p':'1'}}",
          "{'apiVersion':'v1','kind':'ConfigMap','data':{'p':'2'}}", "/data/p 1 2;" },
};

/* spec/member-agent.md checklist 38 */
static void differences_are_told_in_order_with_both_values(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                AUTO_JSON json_t *source = quoted(lines[i].source);
                AUTO_JSON json_t *target = quoted(lines[i].target);
                struct arena arena AUTO_ARENA = ARENA_INIT;
                static struct differences d;
                AUTO_BUF struct buf text;

                buf_init(&text, 4096);
                assert_int_equal(compare_documents(source, target, &arena, &d, NULL), 0);
                for (size_t k = 0; k < d.n; k++)
                        buf_printf(&text, "%s %s %s;", d.at[k].path, d.at[k].hub, d.at[k].member);
                if (!text_equal(text.data, lines[i].expected))
                        print_error("%s\n", lines[i].what);
                assert_string_equal(text.data, lines[i].expected);
        }
}

/* spec/member-agent.md checklist 38 */
static void a_hundred_are_kept_and_all_are_counted(void **state)
{
        static const int sizes[][2] = { { 99, 99 }, { 100, 100 }, { 101, 100 }, { 150, 100 } };

        for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
                struct arena arena AUTO_ARENA = ARENA_INIT;
                AUTO_JSON json_t *source = json_pack("{s:{}}", "spec");
                AUTO_JSON json_t *target = json_pack("{s:{}}", "spec");
                static struct differences d;

                for (int i = 0; i < sizes[k][0]; i++) {
                        char key[16];

                        snprintf(key, sizeof(key), "k%03d", i);
                        json_object_set_new(json_object_get(target, "spec"), key, json_integer(i));
                }
                assert_int_equal(compare_documents(source, target, &arena, &d, NULL), 0);
                assert_int_equal(d.total, sizes[k][0]);
                assert_int_equal(d.n, sizes[k][1]);
                assert_string_equal(d.at[0].path, "/spec/k000"); /* the first ones */
        }
}

static size_t count_differences(const json_t *source, const json_t *target)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        static struct differences d;

        assert_int_equal(compare_documents(source, target, &arena, &d, NULL), 0);
        return d.total;
}

/* Each field alone, on either side alone. */
static void assert_differences(const char *with, size_t wanted)
{
        AUTO_JSON json_t *bare =
                quoted("{'metadata':{'annotations':{},'labels':{}},'spec':{'template':{"
                       "'metadata':{}},'jobTemplate':{'spec':{'template':{'metadata':{}}}}}}");
        AUTO_JSON json_t *more = doc_copy(bare);
        AUTO_JSON json_t *fields = quoted(with);

        assert_int_equal(json_object_update_recursive(more, fields), 0);
        if (count_differences(bare, more) != wanted || count_differences(more, bare) != wanted)
                fail_msg("%s: not %zu differences", with, wanted);
}

/* spec/member-agent.md checklist 37 */
static void what_servers_and_agents_write_is_no_difference(void **state)
{
        static const char *const silent[] = {
                "{'status':{'replicas':1}}",
                "{'metadata':{'managedFields':[{'manager':'m'}]}}",
                "{'metadata':{'finalizers':['f']}}",
                "{'metadata':{'ownerReferences':[{'uid':'u'}]}}",
                "{'metadata':{'creationTimestamp':'t'}}",
                "{'metadata':{'deletionTimestamp':'t'}}",
                "{'metadata':{'deletionGracePeriodSeconds':3}}",
                "{'metadata':{'generation':3}}",
                "{'metadata':{'resourceVersion':'3'}}",
                "{'metadata':{'selfLink':'l'}}",
                "{'metadata':{'uid':'u'}}",
                "{'metadata':{'name':'n'}}",
                "{'metadata':{'namespace':'n'}}",
                "{'metadata':{'generateName':'n'}}",
                "{'metadata':{'labels':{'app.kubernetes.io/name':'a'}}}",
                "{'metadata':{'labels':{'kubernetes-fleet.io/x':'a'}}}",
                "{'metadata':{'annotations':{'x.k8s.io/y':'a'}}}",
                "{'metadata':{'annotations':{'kubernetes-fleet.io/spec-hash':'a'}}}",
                "{'metadata':{'annotations':{'kubectl.kubernetes.io/last-applied-configuration':'a'}}}",
                "{'spec':{'template':{'metadata':{'creationTimestamp':null}}}}",
                "{'spec':{'jobTemplate':{'spec':{'template':{'metadata':{'creationTimestamp':'t'}}}}}}",
        };
        static const char *const told[] = {
                "{'spec':{'status':1}}",
                "{'metadata':{'foo':'bar'}}",
                "{'metadata':{'labels':{'kubernetes.io':'a'}}}",
                "{'metadata':{'labels':{'mine':'a'}}}",
                "{'metadata':{'annotations':{'fleet.io/mine':'a'}}}",
                "{'spec':{'creationTimestamp':'t'}}",
                "{'spec':{'template':{'metadata':{'name':'n'}}}}",
                "{'spec':{'jobTemplate':{'metadata':{'creationTimestamp':'t'}}}}",
        };

        for (size_t i = 0; i < ARRAY_LEN(silent); i++)
                assert_differences(silent[i], 0);
        for (size_t i = 0; i < ARRAY_LEN(told); i++)
                assert_differences(told[i], 1);
}

static void no_memory_is_reported_at_every_point(void **state)
{
        AUTO_JSON json_t *source = quoted("{'spec':{'a':[1,{'b':2}],'c':'x'}}");
        AUTO_JSON json_t *target = quoted("{'spec':{'a':[1,{'b':3},4],'c':null}}");
        static struct differences d;
        int r = ERR_NO_MEMORY;

        for (uint64_t n = 1; r != 0 && n < 500; n++) {
                struct arena arena AUTO_ARENA = ARENA_INIT;

                mem_fail_at(n, true);
                r = compare_documents(source, target, &arena, &d, NULL);
                mem_fail_at(0, false);
                assert_true(r == 0 || r == ERR_NO_MEMORY);
        }
        assert_int_equal(r, 0);
}

/* As the Work's status has it, where a value stands alone. */
static void a_value_is_rendered_as_its_type_is(void **state)
{
        static const struct {
                const char *value, *text;
        } rows[] = {
                { "['x']", "[x]" }, { "[true,false,null]", "[true false <nil>]" },
                { "{}", "map[]" },  { "{'b':1,'a':{'c':2}}", "map[a:map[c:2] b:1]" },
                { "[]", "[]" },     { "[1.5,2.0,-3]", "[1.5 2 -3]" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_JSON json_t *value = quoted(rows[i].value);
                AUTO_BUF struct buf text;

                buf_init(&text, 256);
                assert_int_equal(compare_render_value(value, &text), 0);
                assert_string_equal(text.data, rows[i].text);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(differences_are_told_in_order_with_both_values),
                cmocka_unit_test(a_hundred_are_kept_and_all_are_counted),
                cmocka_unit_test(what_servers_and_agents_write_is_no_difference),
                cmocka_unit_test(no_memory_is_reported_at_every_point),
                cmocka_unit_test(a_value_is_rendered_as_its_type_is),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
