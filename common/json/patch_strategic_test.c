#include "common/json/doc_test.h"
#include "common/json/patch.h"
#include "common/json/schema.h"

/* A small pod-like type: containers merge by name, ports by containerPort, finalizers as scalars, strategy
 * retains. */
static const struct schema any = { .type = SCHEMA_ANY };
static const struct schema_property port_fields[] = { { "containerPort", &any }, { "protocol", &any } };
static const struct schema port = { .type = SCHEMA_OBJECT, .properties = port_fields, .n_properties = 2 };
static const struct schema ports = {
        .type = SCHEMA_ARRAY, .items = &port, .patch_merge = true, .patch_merge_key = "containerPort"
};
static const struct schema_property container_fields[] = { { "args", &any },
                                                           { "name", &any },
                                                           { "ports", &ports } };
static const struct schema container = { .type = SCHEMA_OBJECT,
                                         .properties = container_fields,
                                         .n_properties = 3 };
static const struct schema containers = {
        .type = SCHEMA_ARRAY, .items = &container, .patch_merge = true, .patch_merge_key = "name"
};
static const struct schema finalizers = { .type = SCHEMA_ARRAY, .items = &any, .patch_merge = true };
static const struct schema keyless = { .type = SCHEMA_ARRAY, .items = &port, .patch_merge = true };
static const struct schema strategy = { .type = SCHEMA_OBJECT, .patch_retain_keys = true };
static const struct schema whole = { .type = SCHEMA_OBJECT, .patch_replace = true };
static const struct schema_property root_fields[] = {
        { "containers", &containers }, { "finalizers", &finalizers }, { "keyless", &keyless },
        { "ports", &ports },           { "strategy", &strategy },     { "whole", &whole }
};
static const struct schema root = { .type = SCHEMA_OBJECT,
                                    .properties = root_fields,
                                    .n_properties = ARRAY_LEN(root_fields) };

static void strategic_patches_apply(void **state)
{
        static const struct {
                const char *from, *patch, *to;
        } cases[] = {
                { "{'a':1,'b':{'c':2}}", "{'a':null,'b':{'d':3}}", "{'b':{'c':2,'d':3}}" },
                { "{'containers':[{'name':'a','image':'x'},{'name':'b'}]}",
                  "{'containers':[{'name':'a','image':'y'}]}",
                  "{'containers':[{'name':'a','image':'y'},{'name':'b'}]}" },
                { "{'containers':[{'name':'a'}]}", "{'containers':[{'name':'c','args':['x']}]}",
                  "{'containers':[{'name':'c','args':['x']},{'name':'a'}]}" },
                { "{'containers':[{'name':'a'},{'name':'b'}]}",
                  "{'containers':[{'$patch':'delete','name':'a'}]}", "{'containers':[{'name':'b'}]}" },
                { "{'containers':[{'name':'a'},{'name':'b'}]}",
                  "{'containers':[{'name':'c'},{'$patch':'replace'}]}", "{'containers':[{'name':'c'}]}" },
                { "{'containers':[{'name':'a','x':1,'y':2}]}", "{'containers':[{'name':'a','x':null}]}",
                  "{'containers':[{'name':'a','y':2}]}" },
                { "{'containers':[{'name':'a','ports':[{'containerPort':80,'protocol':'TCP'}]}]}",
                  "{'containers':[{'name':'a','ports':[{'containerPort':80,'protocol':'UDP'},{'containerPort'"
                  ":81}]}]}",
                  "{'containers':[{'name':'a','ports':[{'containerPort':80,'protocol':'UDP'},{'containerPort'"
                  ":81}]}]}" },
                { "{'containers':[{'name':'a','args':['x','y']}]}",
                  "{'containers':[{'name':'a','args':['z']}]}",
                  "{'containers':[{'name':'a','args':['z']}]}" },
                { "{'finalizers':['a','b']}", "{'finalizers':['b','c']}", "{'finalizers':['a','b','c']}" },
                { "{'finalizers':['a','b','c']}", "{'$deleteFromPrimitiveList/finalizers':['b','x']}",
                  "{'finalizers':['a','c']}" },
                { "{'finalizers':['a','b']}",
                  "{'$deleteFromPrimitiveList/finalizers':['a'],'finalizers':['c'],"
                  "'$setElementOrder/finalizers':['c','b']}",
                  "{'finalizers':['c','b']}" },
                { "{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}",
                  "{'$setElementOrder/containers':[{'name':'c'},{'name':'a'}]}",
                  "{'containers':[{'name':'b'},{'name':'c'},{'name':'a'}]}" },
                { "{'containers':[{'name':'srv'},{'name':'a'}]}",
                  "{'containers':[{'name':'b'}],'$setElementOrder/containers':[{'name':'b'},{'name':'a'}]}",
                  "{'containers':[{'name':'b'},{'name':'srv'},{'name':'a'}]}" },
                { "{'strategy':{'type':'A','rolling':{'x':1}}}",
                  "{'strategy':{'$retainKeys':['type'],'type':'B'}}", "{'strategy':{'type':'B'}}" },
                { "{'b':{'c':1}}", "{'b':{'$patch':'replace','d':{'e':null,'f':1}}}", "{'b':{'d':{'f':1}}}" },
                { "{'b':{'c':1}}", "{'b':{'$patch':'delete'}}", "{'b':{}}" },
                { "{'b':{'c':1}}", "{'b':{'$patch':'merge','d':1}}", "{'b':{'c':1,'d':1}}" },
                { "{'a':1}", "{'$patch':'replace','b':2}", "{'b':2}" },
                { "{'whole':{'a':1}}", "{'whole':{'b':2}}", "{'whole':{'b':2}}" },
                { "{}",
                  "{'containers':[{'name':'a','x':null,'$patch':'merge'},{'$patch':'delete','name':'b'}],'n':"
                  "{'$retainKeys':['a'],'z':null}}",
                  "{'containers':[{'name':'a'}],'n':{}}" },
                { "{'containers':5}", "{'containers':[{'name':'a'}]}", "{'containers':[{'name':'a'}]}" },
                { "{'unknown':[{'name':'a'},{'name':'b'}]}", "{'unknown':[{'name':'a'}]}",
                  "{'unknown':[{'name':'a'}]}" },
                { "{'containers':[]}", "{'containers':[]}", "{'containers':[]}" },
                { "{'containers':[{'name':'a'}]}", "{'containers':[{'name':'n'},{'name':'n','x':1}]}",
                  "{'containers':[{'name':'n','x':1},{'name':'a'}]}" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_JSON json_t *from = doc_of(cases[i].from), *patch = doc_of(cases[i].patch),
                                 *again = doc_of(cases[i].from);
                json_t *to = NULL;
                struct error e;
                if (patch_strategic(from, patch, &root, &to, &e) < 0)
                        print_error("%s: %s\n", cases[i].patch, e.text);
                assert_non_null(to);
                assert_doc_is(to, cases[i].to);
                assert_true(doc_equal(from, again));
        }
}

static void bad_strategic_patches_are_refused(void **state)
{
        static const struct {
                const char *from, *patch, *error;
        } cases[] = {
                { "{'containers':[{'name':'a'}]}", "{'containers':[{'image':'x'}]}",
                  "map: map[image:x] does not contain declared merge key: name" },
                { "{'containers':[{'image':'x'}]}", "{'containers':[{'name':'a'}]}",
                  "map: map[image:x] does not contain declared merge key: name" },
                { "{'b':{}}", "{'b':{'$patch':'frob'}}",
                  "unknown patch type: frob in map: map[$patch:frob]" },
                { "{'b':{}}", "{'b':{'$patch':5}}",
                  "unknown patch type: (not a string) in map: map[$patch:5]" },
                { "{'keyless':[{'a':1}]}", "{'keyless':[{'b':1}]}", "cannot merge lists without merge key" },
                { "{'strategy':{}}", "{'strategy':{'$retainKeys':['a'],'b':1}}",
                  "invalid patch format of \"$retainKeys\" directive: it does not name b" },
                { "{'finalizers':['a']}", "{'$deleteFromPrimitiveList/finalizers':5}",
                  "$deleteFromPrimitiveList/finalizers: must be a list" },
                { "{'finalizers':['a']}", "{'finalizers':['a','b'],'$setElementOrder/finalizers':['b','a']}",
                  "The order in patch list: finalizers doesn't match $setElementOrder/finalizers list" },
                { "{'containers':[{'name':'a'}]}", "{'containers':['x']}",
                  "a list merged by name must hold objects" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_JSON json_t *from = doc_of(cases[i].from), *patch = doc_of(cases[i].patch);
                json_t *to = NULL;
                struct error e;
                assert_int_equal(patch_strategic(from, patch, &root, &to, &e), ERR_INVALID);
                assert_string_equal(e.text, cases[i].error);
        }
}

static const struct {
        const char *original, *modified, *current, *patch, *result;
} three_ways[] = {
        { "{'a':1,'b':2}", "{'a':3}", "{'a':1,'b':2,'c':4}", "{'a':3,'b':null}", "{'a':3,'c':4}" },
        { "{'containers':[{'name':'a','image':'x'}]}", "{'containers':[{'name':'a','image':'y'}]}",
          "{'containers':[{'name':'a','image':'x','pull':'Always'},{'name':'sidecar'}]}",
          "{'containers':[{'name':'a','image':'y'}],'$setElementOrder/containers':[{'name':'a'}]}",
          "{'containers':[{'name':'a','image':'y','pull':'Always'},{'name':'sidecar'}]}" },
        { "{'containers':[{'name':'a'}]}", "{'containers':[{'name':'a'}]}",
          "{'containers':[{'name':'srv'},{'name':'a','d':1}]}", "{}",
          "{'containers':[{'name':'srv'},{'name':'a','d':1}]}" },
        { "{'containers':[{'name':'a'},{'name':'b'}]}", "{'containers':[{'name':'a'}]}",
          "{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}",
          "{'containers':[{'$patch':'delete','name':'b'}],'$setElementOrder/containers':[{'name':'a'}]}",
          "{'containers':[{'name':'a'},{'name':'c'}]}" },
        { "{'containers':[{'name':'a'}]}", "{'containers':[{'name':'b'},{'name':'a'}]}",
          "{'containers':[{'name':'a'}]}",
          "{'containers':[{'name':'b'}],'$setElementOrder/containers':[{'name':'b'},{'name':'a'}]}",
          "{'containers':[{'name':'b'},{'name':'a'}]}" },
        { "{'containers':[{'name':'a'},{'name':'b'}]}", "{'containers':[{'name':'b'},{'name':'a'}]}",
          "{'containers':[{'name':'a'},{'name':'b'}]}",
          "{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}]}",
          "{'containers':[{'name':'b'},{'name':'a'}]}" },
        { "{'finalizers':['a','b']}", "{'finalizers':['a','d']}", "{'finalizers':['a','b','c']}",
          "{'finalizers':['d'],'$deleteFromPrimitiveList/finalizers':['b'],'$setElementOrder/"
          "finalizers':['a','d']}",
          "{'finalizers':['a','d','c']}" },
        { "{'strategy':{'type':'R','rolling':{'x':1}}}", "{'strategy':{'type':'C'}}",
          "{'strategy':{'type':'R','rolling':{'x':1,'y':2}}}",
          "{'strategy':{'type':'C','rolling':null,'$retainKeys':['type']}}", "{'strategy':{'type':'C'}}" },
        { "null", "{'containers':[{'name':'a'}]}", "{}", "{'containers':[{'name':'a'}]}",
          "{'containers':[{'name':'a'}]}" },
        { "{'l':[1]}", "{'l':[1]}", "{'l':[1]}", "{}", "{'l':[1]}" },
        { "{'whole':{'a':1}}", "{'whole':{'a':2}}", "{'whole':{'a':1,'s':1}}", "{'whole':{'a':2}}",
          "{'whole':{'a':2}}" },
        { "{'containers':[{'name':'a','ports':[{'containerPort':80},{'containerPort':81}]}]}",
          "{'containers':[{'name':'a','ports':[{'containerPort':80}]}]}",
          "{'containers':[{'name':'a','ports':[{'containerPort':80,'protocol':'TCP'},{'containerPort':81,'"
          "protocol':'TCP'}]}]}",
          "{'containers':[{'name':'a','ports':[{'$patch':'delete','containerPort':81}],'$setElementOrder/"
          "ports':[{'containerPort':80}]}],"
          "'$setElementOrder/containers':[{'name':'a'}]}",
          "{'containers':[{'name':'a','ports':[{'containerPort':80,'protocol':'TCP'}]}]}" },
        /* One number for two protocols: nothing to do, */
        { "{'ports':[{'containerPort':53},{'containerPort':53,'protocol':'UDP'}]}",
          "{'ports':[{'containerPort':53},{'containerPort':53,'protocol':'UDP'}]}",
          "{'ports':[{'containerPort':53,'protocol':'TCP'},{'containerPort':53,'protocol':'UDP'}]}", "{}",
          "{'ports':[{'containerPort':53,'protocol':'TCP'},{'containerPort':53,'protocol':'UDP'}]}" },
        /* the second comes, beside one of others, and what the server gave the first stays, */
        { "{'ports':[{'containerPort':53}]}",
          "{'ports':[{'containerPort':53},{'containerPort':53,'protocol':'UDP'}]}",
          "{'ports':[{'containerPort':9},{'containerPort':53,'protocol':'TCP','node':1}]}",
          "{'ports':[{'containerPort':53,'protocol':'TCP','node':1},{'containerPort':53,'protocol':'UDP'},"
          "{'containerPort':9},{'$patch':'replace'}]}",
          "{'ports':[{'containerPort':53,'protocol':'TCP','node':1},{'containerPort':53,'protocol':'UDP'},"
          "{'containerPort':9}]}" },
        /* one changes, loses a field, and the other goes. */
        { "{'ports':[{'containerPort':53,'a':1},{'containerPort':53,'protocol':'UDP','b':2,'c':3}]}",
          "{'ports':[{'containerPort':53,'protocol':'UDP','b':4}]}",
          "{'ports':[{'containerPort':53,'protocol':'TCP','a':1},{'containerPort':53,'protocol':'UDP','b':2,"
          "'c':3,'d':5}]}",
          "{'ports':[{'containerPort':53,'protocol':'UDP','b':4,'d':5},{'$patch':'replace'}]}",
          "{'ports':[{'containerPort':53,'protocol':'UDP','b':4,'d':5}]}" },
};

static void three_way_patches_are_as_kubectl_computes_them(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(three_ways); i++) {
                AUTO_JSON json_t *original = doc_of(three_ways[i].original),
                                 *modified = doc_of(three_ways[i].modified);
                AUTO_JSON json_t *current = doc_of(three_ways[i].current);
                json_t *patch = NULL, *result = NULL;
                assert_int_equal(patch_strategic_three_way(json_is_null(original) ? NULL : original, modified,
                                                           current, &root, &patch, NULL),
                                 0);
                assert_int_equal(patch_strategic(current, patch, &root, &result, NULL), 0);
                assert_doc_is(patch, three_ways[i].patch);
                assert_doc_is(result, three_ways[i].result);
        }
}

/* Work must grow with the lists, not with their square. */
static void very_large_lists_merge(void **state)
{
        enum { N = 50000 };
        json_t *a = json_array(), *b = json_array();
        for (int i = 0; i < N; i++) {
                json_array_append_new(a, json_pack("{s:i,s:i}", "name", i, "x", 1));
                json_array_append_new(b, i % 2 ? json_pack("{s:i,s:s}", "name", i, "$patch", "delete")
                                               : json_pack("{s:i,s:i}", "name", i, "x", 2));
        }
        AUTO_JSON json_t *doc = json_pack("{s:o}", "containers", a),
                         *patch = json_pack("{s:o}", "containers", b);
        json_t *result = NULL, *again = NULL;
        assert_int_equal(patch_strategic(doc, patch, &root, &result, NULL), 0);
        assert_int_equal(json_array_size(json_object_get(result, "containers")), N / 2);
        assert_int_equal(patch_strategic_three_way(doc, result, doc, &root, &again, NULL), 0);
        assert_int_equal(json_array_size(json_object_get(again, "containers")), N);
        json_decref(result);
        json_decref(again);
}

struct inputs {
        json_t *original, *modified, *current;
};

static int apply_three_way(void *data)
{
        const struct inputs *in = data;
        AUTO_JSON json_t *patch = NULL, *result = NULL;
        TRY(patch_strategic_three_way(in->original, in->modified, in->current, &root, &patch, NULL));
        return patch_strategic(in->current, patch, &root, &result, NULL);
}

static void running_out_of_memory_leaks_nothing(void **state)
{
        struct inputs in = {
                doc_of("{'containers':[{'name':'a'},{'name':'b'}],'finalizers':['x'],'strategy':{'t':1,'r':1}"
                       ",'gone':1}"),
                doc_of("{'containers':[{'name':'a','ports':[{'containerPort':1}]},{'name':'c'}],'finalizers':"
                       "['y'],'strategy':{'t':2}}"),
                doc_of("{'containers':[{'name':'a','q':1},{'name':'b'}],'finalizers':['x'],'strategy':{'t':1,"
                       "'r':1},'gone':1}"),
        };
        struct inputs twins = {
                doc_of("{'ports':[{'containerPort':53,'a':1}]}"),
                doc_of("{'ports':[{'containerPort':53},{'containerPort':53,'protocol':'UDP'}]}"),
                doc_of("{'ports':[{'containerPort':9},{'containerPort':53,'a':1}]}"),
        };
        struct inputs *both[] = { &in, &twins };

        for (size_t i = 0; i < ARRAY_LEN(both); i++) {
                walk_failing_allocations(apply_three_way, both[i]);
                json_decref(both[i]->original);
                json_decref(both[i]->modified);
                json_decref(both[i]->current);
        }
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(strategic_patches_apply),
                cmocka_unit_test(bad_strategic_patches_are_refused),
                cmocka_unit_test(three_way_patches_are_as_kubectl_computes_them),
                cmocka_unit_test(very_large_lists_merge),
                cmocka_unit_test(running_out_of_memory_leaks_nothing),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
