#include "common/json/patch.h"

#include "common/base/limits.h"
#include "common/json/doc_test.h"

struct vector {
        const char *from, *patch, *to; /* for errors: `to` is the text */
};
typedef int patch_fn(const json_t *doc, const json_t *patch, json_t **ret, struct error *err);

static void assert_patches(patch_fn *fn, const struct vector *v, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                AUTO_JSON json_t *from = doc_of(v[i].from), *patch = doc_of(v[i].patch);
                json_t *to = NULL;
                struct error e;
                if (fn(from, patch, &to, &e) < 0)
                        print_error("%s + %s: %s\n", v[i].from, v[i].patch, e.text);
                assert_non_null(to);
                assert_doc_is(to, v[i].to);
                AUTO_JSON json_t *again = doc_of(v[i].from);
                assert_true(doc_equal(from, again));
        }
}

static void assert_refuses(patch_fn *fn, const struct vector *v, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                AUTO_JSON json_t *from = doc_of(v[i].from), *patch = doc_of(v[i].patch);
                json_t *to = NULL;
                struct error e;
                assert_int_equal(fn(from, patch, &to, &e), ERR_INVALID);
                assert_null(to);
                assert_string_equal(e.text, v[i].to);
        }
}

static int in_place(const json_t *doc, const json_t *patch, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *copy = doc_copy(doc);
        int code = patch_json_in_place(&copy, patch, err);
        if (code == 0)
                *ret = json_incref(copy);
        return code;
}

static void json_patch_operations_apply(void **state)
{
        static const struct vector cases[] = {
                { "{'a':1}", "[]", "{'a':1}" },
                { "{'a':1}", "[{'op':'add','path':'/b','value':[2]}]", "{'a':1,'b':[2]}" },
                { "{'a':1}", "[{'op':'add','path':'/a','value':null}]", "{'a':null}" },
                { "{'a':[1,3]}", "[{'op':'add','path':'/a/1','value':2}]", "{'a':[1,2,3]}" },
                { "{'a':[1]}", "[{'op':'add','path':'/a/-','value':2}]", "{'a':[1,2]}" },
                { "{'a':[1]}", "[{'op':'add','path':'/a/1','value':2}]", "{'a':[1,2]}" },
                { "{'a':1}", "[{'op':'add','path':'','value':5}]", "5" },
                { "{'a':[1,2,3]}", "[{'op':'remove','path':'/a/1'}]", "{'a':[1,3]}" },
                { "{'a':{'b':1,'c':2}}", "[{'op':'remove','path':'/a/b'}]", "{'a':{'c':2}}" },
                { "{'a':[1,2]}", "[{'op':'replace','path':'/a/0','value':{'x':1}}]", "{'a':[{'x':1},2]}" },
                { "{'a':1}", "[{'op':'replace','path':'','value':{}}]", "{}" },
                { "{'a':{'b':1},'c':{}}", "[{'op':'move','from':'/a/b','path':'/c/d'}]",
                  "{'a':{},'c':{'d':1}}" },
                { "{'a':[1,2,3]}", "[{'op':'move','from':'/a/0','path':'/a/2'}]", "{'a':[2,3,1]}" },
                { "{'a':1}", "[{'op':'move','from':'/a','path':'/a'}]", "{'a':1}" },
                { "{'a':{'b':1}}", "[{'op':'copy','from':'/a','path':'/a/c'}]", "{'a':{'b':1,'c':{'b':1}}}" },
                { "{'a':1.0}", "[{'op':'test','path':'/a','value':1}]", "{'a':1.0}" },
                { "{'~':1,'/':2,'':3}",
                  "[{'op':'replace','path':'/~0','value':4},{'op':'remove','path':'/"
                  "~1'},{'op':'remove','path':'/'}]",
                  "{'~':4}" },
                { "{'~1':1}", "[{'op':'remove','path':'/~01'}]", "{}" },
                { "{'a/b':{'0':1}}", "[{'op':'replace','path':'/a~1b/0','value':2}]", "{'a/b':{'0':2}}" },
        };
        assert_patches(patch_json, cases, ARRAY_LEN(cases));
        assert_patches(in_place, cases, ARRAY_LEN(cases));
}

static void a_lenient_replace_adds_what_is_not_there(void **state)
{
        AUTO_JSON json_t *doc = doc_of("{'a':{},'l':[1]}");
        AUTO_JSON json_t *operations = doc_of("[{'op':'replace','path':'/a/b','value':2}]");
        AUTO_JSON json_t *outside = doc_of("[{'op':'replace','path':'/l/1','value':2}]");
        json_t *ret = NULL;
        assert_int_equal(patch_json(doc, operations, &ret, NULL), ERR_INVALID);
        assert_int_equal(patch_json_lenient(doc, outside, &ret, NULL), ERR_INVALID);
        assert_int_equal(patch_json_lenient(doc, operations, &ret, NULL), 0);
        assert_doc_is(ret, "{'a':{'b':2},'l':[1]}");
}

/* What was done before the failure stays: the caller drops it. */
static void a_failed_patch_in_place_leaves_the_document_whole(void **state)
{
        AUTO_JSON json_t *operations = doc_of("[{'op':'add','path':'','value':{'b':2}},"
                                              "{'op':'remove','path':'/none'}]");
        json_t *doc = doc_of("{'a':1}");
        struct error err;
        assert_int_equal(patch_json_in_place(&doc, operations, &err), ERR_INVALID);
        assert_doc_is(doc, "{'b':2}");
}

static void json_patch_errors_name_operation_and_path(void **state)
{
        static const struct vector cases[] = {
                { "{}", "{}", "a JSON patch must be an array of operations" },
                { "{}", "[5]", "operation 0: must be an object" },
                { "{}", "[{'op':'add'}]", "operation 0: path must be a string" },
                { "{}", "[{'path':'/a'}]", "operation 0: op must be a string" },
                { "{}", "[{'op':'frob','path':'/a'}]", "operation 0: Unexpected kind: frob" },
                { "{}", "[{'op':'add','path':'/a'}]", "operation 0: add needs a value" },
                { "{}", "[{'op':'move','path':'/a'}]", "operation 0: move needs from, a string" },
                { "{}", "[{'op':'add','path':'a','value':1}]",
                  "operation 0: add operation does not apply: \"a\": a path must be empty or start with /" },
                { "{'a':1}", "[{'op':'test','path':'/a','value':1},{'op':'remove','path':'/b'}]",
                  "operation 1: remove operation does not apply: doc is missing path: \"/b\": missing "
                  "value" },
                { "{'a':1}", "[{'op':'add','path':'/b/c','value':1}]",
                  "operation 0: add operation does not apply: doc is missing path: \"/b/c\": missing value" },
                { "{'a':1}", "[{'op':'add','path':'/a/c','value':1}]",
                  "operation 0: add operation does not apply: doc is missing path: \"/a/c\": missing value" },
                { "{'a':1}", "[{'op':'replace','path':'/b','value':1}]",
                  "operation 0: replace operation does not apply: doc is missing path: \"/b\": missing "
                  "value" },
                { "{'a':[1]}", "[{'op':'add','path':'/a/2','value':1}]",
                  "operation 0: add operation does not apply: Unable to access invalid index: 2: invalid "
                  "index referenced" },
                { "{'a':[1]}", "[{'op':'remove','path':'/a/-'}]",
                  "operation 0: remove operation does not apply: \"-\" is no array index: invalid index "
                  "referenced" },
                { "{'a':[1,2]}", "[{'op':'remove','path':'/a/01'}]",
                  "operation 0: remove operation does not apply: \"01\" is no array index: invalid index "
                  "referenced" },
                { "{'a':1}", "[{'op':'test','path':'/a','value':2}]",
                  "operation 0: testing value /a failed: test failed" },
                { "{'a':{}}", "[{'op':'move','from':'/a','path':'/a/b'}]",
                  "operation 0: move operation does not apply: \"/a\" cannot move into itself" },
                { "{'a':{}}", "[{'op':'remove','path':''}]",
                  "operation 0: remove operation does not apply: the whole document cannot be removed" },
                { "{'a':{}}", "[{'op':'remove','path':'/~2'}]",
                  "operation 0: remove operation does not apply: \"~2\": ~ must be followed by 0 or 1" },
        };
        assert_refuses(patch_json, cases, ARRAY_LEN(cases));
}

/* Fills b with one copy operation, n times. */
static void many_copies(struct buf *b, const char *operation, int n)
{
        buf_clear(b);
        buf_append_char(b, '[');
        for (int i = 0; i < n; i++)
                buf_printf(b, "%s%s", i ? "," : "", operation);
        buf_append_char(b, ']');
}

static void growth_by_copies_is_limited(void **state)
{
        AUTO_BUF struct buf b;
        buf_init(&b, 1u << 20);
        AUTO_JSON json_t *doc = doc_of("{'a':{},'l':['0123456789']}");
        json_t *ret = NULL;
        many_copies(&b, "{'op':'copy','from':'/a','path':'/a/b'}", 200);
        AUTO_JSON json_t *deep = doc_of(b.data);
        assert_int_equal(patch_json(doc, deep, &ret, NULL), ERR_LIMIT);
        many_copies(&b, "{'op':'copy','from':'/l','path':'/l/-'}", 40);
        AUTO_JSON json_t *wide = doc_of(b.data);
        assert_int_equal(patch_json(doc, wide, &ret, NULL), ERR_LIMIT);
        many_copies(&b, "{'op':'test','path':'/a','value':{}}", 10001);
        AUTO_JSON json_t *many = doc_of(b.data);
        assert_int_equal(patch_json(doc, many, &ret, NULL), ERR_LIMIT);
        assert_null(ret);
}

/* A merge patch that shares is spent: each gets one of its own. */
static int sharing(const json_t *doc, const json_t *patch, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *own = doc_copy(patch);
        return patch_merge_sharing(doc, own, ret, err);
}

static void merge_patches_apply(void **state)
{
        static const struct vector cases[] = {
                { "{'a':'b'}", "{'a':'c'}", "{'a':'c'}" },
                { "{'a':'b'}", "{'b':'c'}", "{'a':'b','b':'c'}" },
                { "{'a':'b'}", "{'a':null}", "{}" },
                { "{'a':'b'}", "{'x':null}", "{'a':'b'}" },
                { "{'a':['b']}", "{'a':'c'}", "{'a':'c'}" },
                { "{'a':{'b':'c'}}", "{'a':{'b':'d','c':null}}", "{'a':{'b':'d'}}" },
                { "{'a':[{'b':'c'}]}", "{'a':[1,null]}", "{'a':[1,null]}" },
                { "['a']", "['c']", "['c']" },
                { "{'a':1}", "null", "null" },
                { "5", "{'a':{'b':null,'c':{'d':null}}}", "{'a':{'c':{}}}" },
                { "{'e':null}", "{'a':1}", "{'e':null,'a':1}" },
                { "{'a':1}", "{'a':{'b':null}}", "{'a':{}}" },
                { "{}", "{}", "{}" },
        };
        assert_patches(patch_merge, cases, ARRAY_LEN(cases));
        assert_patches(sharing, cases, ARRAY_LEN(cases));
}

static void merge_patches_that_share_give_the_same_text(void **state)
{
        static const struct vector cases[] = {
                { "{'a':'b'}", "{'a':null,'b':1}", "" },
                { "{'a':{'b':1,'c':2}}", "{'a':{'c':null,'d':{'e':null,'f':1}}}", "" },
                { "{'a':5}", "{'a':{'b':{'c':null},'d':1}}", "" },
                { "{'a':[{'x':1,'y':2},{'z':[1]}]}", "{'a':[{'y':2,'x':1},{'z':[1]}]}", "" },
                { "{'a':[1,2,3]}", "{'a':[1,2]}", "" },
                { "{'a':[{'x':[{'y':1}],'t':1}]}", "{'a':[{'x':[{'y':1}],'t':2},{'n':null}]}", "" },
                { "{'a':true}", "{'a':1.0}", "" },
                { "5", "{'a':{'b':null}}", "" },
                { "{'a':1}", "[1]", "" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_JSON json_t *from = doc_of(cases[i].from), *patch = doc_of(cases[i].patch);
                AUTO_JSON json_t *to = NULL, *shared = NULL, *again = doc_of(cases[i].from);
                AUTO_BUF struct buf a, b;
                buf_init(&a, 4096);
                buf_init(&b, 4096);
                assert_int_equal(patch_merge(from, patch, &to, NULL), 0);
                assert_int_equal(sharing(from, patch, &shared, NULL), 0);
                assert_int_equal(doc_write(to, &a), 0);
                assert_int_equal(doc_write(shared, &b), 0);
                assert_string_equal(a.data, b.data);
                assert_true(doc_equal(from, again));
        }
}

static void what_a_merge_patch_leaves_or_repeats_is_shared(void **state)
{
        AUTO_JSON json_t *from = doc_of("{'s':{'a':1},'l':[{'c':[1]},{'t':1,'u':{'v':2}}]}"), *to = NULL;
        AUTO_JSON json_t *patch = doc_of("{'l':[{'c':[1]},{'t':2,'u':{'v':2}}],'n':1}");
        assert_int_equal(patch_merge_sharing(from, patch, &to, NULL), 0);
        assert_ptr_equal(json_object_get(to, "s"), json_object_get(from, "s"));
        const json_t *old = json_object_get(from, "l"), *new = json_object_get(to, "l");
        assert_ptr_not_equal(new, old);
        assert_ptr_equal(json_array_get(new, 0), json_array_get(old, 0));
        assert_ptr_not_equal(json_array_get(new, 1), json_array_get(old, 1));
        assert_ptr_equal(doc_get(json_array_get(new, 1), "u"), doc_get(json_array_get(old, 1), "u"));
}

static const struct vector diffs[] = {
        { "{'a':1}", "{}", "{'a':1}" },
        { "{'a':1}", "{'a':2}", "{'a':2}" },
        { "{'a':1,'b':{'c':1,'d':2}}", "{'b':{'c':null}}", "{'a':1,'b':{'d':2}}" },
        { "{'a':[1,2]}", "{'a':[1]}", "{'a':[1]}" },
        { "{'a':{'b':1}}", "{'a':5}", "{'a':5}" },
        { "{'a':5}", "{'a':{'b':1}}", "{'a':{'b':1}}" },
        { "{'a':1.0}", "{}", "{'a':1}" },
        { "5", "{'a':1}", "{'a':1}" },
};

static void merge_diffs_turn_one_into_the_other(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(diffs); i++) {
                AUTO_JSON json_t *from = doc_of(diffs[i].from), *to = doc_of(diffs[i].to);
                json_t *patch = NULL, *got = NULL;
                assert_int_equal(patch_merge_diff(from, to, &patch, NULL), 0);
                assert_int_equal(patch_merge(from, patch, &got, NULL), 0);
                assert_true(doc_equal(got, to));
                json_decref(got);
                assert_doc_is(patch, diffs[i].patch);
        }
}

static void json_diffs_turn_one_into_the_other(void **state)
{
        static const struct vector cases[] = {
                { "{'a':1}", "[]", "{'a':1}" },
                { "1", "[{'op':'replace','path':'','value':2}]", "2" },
                { "{'c':1,'b/~':2}",
                  "[{'op':'remove','path':'/b~1~0'},{'op':'replace','path':'/c','value':3},"
                  "{'op':'add','path':'/a','value':4}]",
                  "{'c':3,'a':4}" },
                { "[1,2,3,4]", "[{'op':'remove','path':'/2'},{'op':'remove','path':'/1'}]", "[1,4]" },
                { "[1,4]", "[{'op':'add','path':'/1','value':2},{'op':'add','path':'/2','value':3}]",
                  "[1,2,3,4]" },
                { "[{'a':1},2]", "[{'op':'replace','path':'/0/a','value':5}]", "[{'a':5},2]" },
                { "[1,1,1]", "[{'op':'remove','path':'/2'}]", "[1,1]" },
                { "{'a':[1]}", "[{'op':'replace','path':'/a','value':{}}]", "{'a':{}}" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_JSON json_t *from = doc_of(cases[i].from), *to = doc_of(cases[i].to);
                json_t *patch = NULL, *got = NULL;
                assert_int_equal(patch_json_diff(from, to, &patch, NULL), 0);
                assert_int_equal(patch_json(from, patch, &got, NULL), 0);
                assert_true(doc_equal(got, to));
                json_decref(got);
                assert_doc_is(patch, cases[i].patch);
        }
}

static void three_way_merges_keep_what_others_set(void **state)
{
        static const struct {
                const char *original, *modified, *current, *patch;
        } cases[] = {
                { "{'a':1,'b':2}", "{'a':3}", "{'a':1,'b':2,'c':4}", "{'a':3,'b':null}" },
                { "{'a':1}", "{'a':1}", "{'a':1,'x':5}", "{}" },
                { "{'a':1}", "{'a':1}", "{'a':9}", "{'a':1}" },
                { "{'m':{'x':1,'y':2}}", "{'m':{'x':1}}", "{'m':{'x':1,'y':2,'z':3}}", "{'m':{'y':null}}" },
                { "{'a':1}", "{}", "{}", "{}" },
                { "null", "{'a':[1]}", "{'a':[1,2]}", "{'a':[1]}" },
                { "{}", "{'a':null}", "{'a':1}", "{'a':null}" },
                { "{'a':null}", "{'a':null}", "{'a':1}", "{}" }, /* it was removed once */
                { "{'a':1}", "{'a':null}", "{'a':1}", "{'a':null}" },
                { "{'m':{'x':1}}", "{'m':{'x':1}}", "{'m':5}", "{'m':{'x':1}}" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_JSON json_t *original = doc_of(cases[i].original), *modified = doc_of(cases[i].modified);
                AUTO_JSON json_t *current = doc_of(cases[i].current);
                json_t *patch = NULL;
                assert_int_equal(patch_merge_three_way(json_is_null(original) ? NULL : original, modified,
                                                       current, &patch, NULL),
                                 0);
                assert_doc_is(patch, cases[i].patch);
        }
}

static void empty_patches_are_recognised(void **state)
{
        static const struct {
                const char *patch;
                bool empty;
        } cases[] = { { "{}", true },
                      { "{'a':{}}", false },
                      { "{'a':null}", false },
                      { "[]", false },
                      { "{'$patch':'merge'}", true },
                      { "{'$patch':'delete'}", false },
                      { "{'$setElementOrder/a':[]}", true },
                      { "{'$setElementOrder/a':['b']}", false } };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_JSON json_t *patch = doc_of(cases[i].patch);
                assert_int_equal(patch_is_empty(patch), cases[i].empty);
        }
}

struct inputs {
        json_t *from, *to, *operations;
};

static int all_patches(void *data)
{
        const struct inputs *in = data;
        AUTO_JSON json_t *a = NULL, *b = NULL, *c = NULL, *d = NULL, *e = NULL, *f = NULL;
        TRY(patch_json(in->from, in->operations, &a, NULL));
        TRY(patch_merge_diff(in->from, in->to, &b, NULL));
        TRY(patch_merge(in->from, b, &c, NULL));
        TRY(patch_json_diff(in->from, in->to, &d, NULL));
        TRY(patch_json(in->from, d, &e, NULL));
        return patch_merge_three_way(in->from, in->to, in->from, &f, NULL);
}

static void running_out_of_memory_leaks_nothing(void **state)
{
        struct inputs in = {
                doc_of("{'a':{'b':[1,{'x':2},3],'c':'d'},'e':{'f':null}}"),
                doc_of("{'a':{'b':[1,{'x':5}],'g':{'h':1}}}"),
                doc_of("[{'op':'add','path':'/a/x','value':{'y':[1]}},{'op':'copy','from':'/a','path':'/z'},"
                       "{'op':'move','from':'/a/b/0','path':'/e/f'},{'op':'replace','path':'/a/b/"
                       "0','value':'q'},"
                       "{'op':'remove','path':'/a/c'},{'op':'test','path':'/e/f','value':1}]")
        };
        walk_failing_allocations(all_patches, &in);
        json_decref(in.from);
        json_decref(in.to);
        json_decref(in.operations);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(json_patch_operations_apply),
                cmocka_unit_test(a_lenient_replace_adds_what_is_not_there),
                cmocka_unit_test(a_failed_patch_in_place_leaves_the_document_whole),
                cmocka_unit_test(json_patch_errors_name_operation_and_path),
                cmocka_unit_test(growth_by_copies_is_limited),
                cmocka_unit_test(merge_patches_apply),
                cmocka_unit_test(merge_patches_that_share_give_the_same_text),
                cmocka_unit_test(what_a_merge_patch_leaves_or_repeats_is_shared),
                cmocka_unit_test(merge_diffs_turn_one_into_the_other),
                cmocka_unit_test(json_diffs_turn_one_into_the_other),
                cmocka_unit_test(three_way_merges_keep_what_others_set),
                cmocka_unit_test(empty_patches_are_recognised),
                cmocka_unit_test(running_out_of_memory_leaks_nothing),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
