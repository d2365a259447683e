/* Templates against the tables of common/template/cases, whose results Go's text/template gave
 * (e2e/template). */
#include "common/template/template_test.h"

static struct slice read_file(const char *path, struct buf *b)
{
        char piece[4096];
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        buf_init(b, 16u << 20);
        for (size_t n; (n = fread(piece, 1, sizeof(piece), f)) > 0;)
                assert_int_equal(buf_append(b, piece, n), 0);
        fclose(f);
        return (struct slice){ b->data, b->len };
}

static json_t *document(struct slice text)
{
        struct error err;
        json_t *doc = NULL;
        if (doc_parse(text, &doc, &err) < 0)
                fail_msg("%s", err.text);
        return doc;
}

/* What we give on purpose, else what Go gives. */
static const char *wanted(const json_t *c, bool *ret_fails)
{
        const char *ours = doc_get_string(c, "ours"), *refused = doc_get_string(c, "refused");
        const char *out = doc_get_string(c, "out"), *error = doc_get_string(c, "error");
        *ret_fails = refused || (!ours && error);
        return ours ? ours : refused ? refused : out ? out : error;
}

static bool holds(const json_t *c, const json_t *inputs)
{
        AUTO_BUF struct buf out;
        AUTO_JSON json_t *own = json_object_get(c, "in") ? doc_copy(json_object_get(c, "in")) : NULL;
        struct error err = { 0 };
        const json_t *text = json_object_get(c, "t");
        bool fails;
        const char *want = wanted(c, &fails);
        buf_init(&out, 16u << 20);
        int code = render((struct slice){ json_string_value(text), json_string_length(text) },
                          own ? own : inputs, &out, &err);
        const char *got = code < 0 ? err.text : out.data;
        if (want && (code < 0) == fails && strcmp(got, want) == 0)
                return true;
        print_message("template %s\n  want %s%s\n  got  %s%s\n", json_string_value(text), fails ? "! " : "",
                      want ? want : "nothing", code < 0 ? "! " : "", got);
        return false;
}

static void table_holds(const char *path)
{
        AUTO_BUF struct buf b;
        AUTO_JSON json_t *table = document(read_file(path, &b));
        AUTO_JSON json_t *inputs = document(slice_of(doc_get_string(table, "inputs")));
        const json_t *cases = doc_get_array(table, "cases");
        size_t bad = 0, i;
        json_t *c;
        json_array_foreach(cases, i, c)
                bad += !holds(c, inputs);
        print_message("%s: %zu cases\n", path, json_array_size(cases));
        if (bad)
                fail_msg("%s: %zu of %zu differ", path, bad, json_array_size(cases));
}

#define TABLE_TEST(name)                                                                                     \
        static void cases_of_##name(void **state)                                                            \
        {                                                                                                    \
                table_holds("common/template/cases/" #name ".json");                                         \
        }

/* spec/resource-set.md checklist 23-25, 27-30 */
TABLE_TEST(language)
/* spec/resource-set.md checklist 31 */
TABLE_TEST(printf)
/* spec/resource-set.md checklist 32-40, 42-44 */
TABLE_TEST(functions)

/* Go has them in any order, so the tables cannot. spec/resource-set.md checklist 40 */
static void keys_and_values_are_sorted_by_key(void **state)
{
        AUTO_JSON json_t *inputs = json_pack("{s:i,s:i,s:i}", "c", 1, "a", 3, "b", 2);
        AUTO_BUF struct buf out;

        buf_init(&out, 1000);
        assert_int_equal(render(SLICE("<< keys inputs >><< values inputs >>"), inputs, &out, NULL), 0);
        assert_string_equal(out.data, "[a b c][3 2 1]");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(cases_of_language),
                cmocka_unit_test(cases_of_printf),
                cmocka_unit_test(cases_of_functions),
                cmocka_unit_test(keys_and_values_are_sorted_by_key),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
