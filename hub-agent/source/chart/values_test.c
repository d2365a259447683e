#include "common/json/doc_test.h"
#include "hub-agent/source/chart/values.h"

static const char *written(struct arena *arena, const char *first, const char *second)
{
        AUTO_JSON json_t *into = NULL, *over = NULL;
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        assert_int_equal(values_parse("a", slice_of(first), &into, NULL), 0);
        assert_int_equal(values_parse("b", slice_of(second), &over, NULL), 0);
        assert_int_equal(values_merge(into, over, NULL), 0);
        assert_int_equal(values_write(into, &b, NULL), 0);
        return arena_strdup(arena, b.len ? b.data : "");
}

/* spec/helm-chart.md checklist 42 */
static void mappings_are_merged_and_all_else_is_replaced(void **state)
{
        static const struct {
                const char *first, *second, *merged;
        } table[] = {
                { "b: 1\na: 2\n", "", "a: 2\nb: 1\n" },
                { "a: 1\n", "a: 2\n", "a: 2\n" },
                { "a: {b: 1, c: {d: 2}}\n", "a: {c: {e: 3}, f: 4}\n",
                  "a:\n  b: 1\n  c:\n    d: 2\n    e: 3\n  f: 4\n" },
                { "a: [1, 2]\n", "a: [3]\n", "a:\n- 3\n" },
                { "a: {b: 1}\n", "a: null\n", "a: null\n" },
                { "a: {b: 1}\n", "a: text\n", "a: text\n" },
                { "a: text\n", "a: {b: 1}\n", "a:\n  b: 1\n" },
                { "a: {b: 1}\n", "a: {}\n", "a:\n  b: 1\n" },
                { "", "", "" },
                { "# only a comment\n", "---\n", "" },
                { "a: \"1\"\nb: 1\n", "c: yes\nd: \"yes\"\n", "a: \"1\"\nb: 1\nc: true\nd: \"yes\"\n" },
                { "a: 9007199254740993\n", "", "a: 9007199254740993\n" },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;

                assert_string_equal(written(&arena, table[i].first, table[i].second), table[i].merged);
        }
}

static void what_is_no_mapping_is_refused_with_its_path(void **state)
{
        static const struct {
                const char *text, *words;
        } table[] = {
                { "[a]", "unmarshaling values from 'x/values.yaml' failed: not a mapping" },
                { "a: 1\n---\ntext\n", "unmarshaling values from 'x/values.yaml' failed: not a mapping" },
                { "a: [", "unmarshaling values from 'x/values.yaml' failed: " },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_JSON json_t *values = NULL;
                struct error err = { 0 };

                assert_int_equal(values_parse("x/values.yaml", slice_of(table[i].text), &values, &err),
                                 ERR_INVALID);
                if (!text_starts_with(err.text, table[i].words))
                        fail_msg("%s", err.text);
        }
}

static int parse_merge_and_write(void *unused)
{
        AUTO_JSON json_t *into = NULL, *over = NULL;
        AUTO_BUF struct buf b;
        struct error err = { 0 };

        buf_init(&b, 1 << 20);
        TRY(values_parse("a", slice_of("a: {b: 1}\nc: [1]\n---\nd: x\n"), &into, &err));
        TRY(values_parse("b", slice_of("a: {b: 2, e: {f: y}}\nc: null\n"), &over, &err));
        TRY(values_merge(into, over, &err));
        return values_write(into, &b, &err);
}

/* spec/helm-chart.md checklist 97 */
/* A value of two bytes takes hundreds of memory. */
static void values_of_a_file_are_counted(void **state)
{
        static const char *const parts[][3] = { { "a: [0", ",0", "]\n" }, { "{\"a\":[0", ",0", "]}" } };

        for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
                AUTO_JSON json_t *doc = NULL;
                struct error err = { 0 };
                AUTO_BUF struct buf b;

                buf_init(&b, 1 << 20);
                buf_append_str(&b, parts[i][0]);
                for (int n = 0; n < CHART_VALUES_MAX; n++)
                        buf_append_str(&b, parts[i][1]);
                buf_append_str(&b, parts[i][2]);
                assert_int_equal(values_parse("values.yaml", (struct slice){ b.data, b.len }, &doc, &err),
                                 ERR_LIMIT);
                assert_string_equal(err.text, "unmarshaling values from 'values.yaml' failed: a part of the "
                                              "document has more than 200000 values");
        }
}

static void each_allocation_that_fails_is_told(void **state)
{
        walk_failing_allocations(parse_merge_and_write, NULL);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(mappings_are_merged_and_all_else_is_replaced),
                cmocka_unit_test(what_is_no_mapping_is_refused_with_its_path),
                cmocka_unit_test(values_of_a_file_are_counted),
                cmocka_unit_test(each_allocation_that_fails_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
