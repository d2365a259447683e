/* Filters and exports: spec/resource-set.md 3.2, 18, 19.1, 20. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "hub-agent/input-provider/exports.h"

/* spec/resource-set.md checklist 8 */
static void ids_are_the_sums_that_the_page_shows(void **state)
{
        static const char *const table[][2] = {
                { "6.0.4", "48955639" }, { "main", "68878758" },  { "", "1" },
                { "1.3.1", "47710450" }, { "2.1.2", "47710450" }, { "inputs_a=0/inputs_b=0", "1508050897" },
        };
        char id[INPUT_ID_SIZE];

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                input_id(table[i][0], id);
                assert_string_equal(id, table[i][1]);
        }
}

/* spec/resource-set.md checklist 112 */
static void slugs_are_made_as_git_lab_makes_them(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_string_equal(input_slug(&arena, "Feature/ABC_1.2"), "feature-abc-1-2");
        assert_string_equal(input_slug(&arena, "--x--"), "x");
        assert_string_equal(input_slug(&arena, "/"), "");
        char *slug = input_slug(&arena, "a123456789b123456789c123456789d123456789e123456789f12345678912-456");
        assert_string_equal(slug, "a123456789b123456789c123456789d123456789e123456789f12345678912");
}

static struct filter make(struct arena *arena, const struct filter_texts *t)
{
        struct error err = { 0 };
        struct filter f;

        if (filter_make(t, arena, &f, &err) < 0)
                fail_msg("%s", err.text);
        return f;
}

/* spec/resource-set.md checklist 118 */
static void include_and_exclude_search_the_name(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct filter f =
                make(&arena, &(struct filter_texts){ .include_branch = "feat", .exclude_branch = "old$" });

        assert_int_equal(f.limit, 100);
        assert_int_equal(filter_takes_name(&f, "my-feat-1"), 1);
        assert_int_equal(filter_takes_name(&f, "feat-old"), 0);
        assert_int_equal(filter_takes_name(&f, "main"), 0);
        f = make(&arena, &(struct filter_texts){ .include_branch = "b", .include_tag = "t", .limit = 20000 });
        assert_int_equal(filter_takes_name(&f, "t"), 1);
        assert_int_equal(filter_takes_name(&f, "b"), 0);
        assert_int_equal(f.limit, FILTER_LIMIT_MAX);
        f = make(&arena,
                 &(struct filter_texts){ .exclude_tag = "t", .exclude_environment = "e", .limit = -5 });
        assert_int_equal(filter_takes_name(&f, "t"), 1);
        assert_int_equal(filter_takes_name(&f, "e"), 0);
        assert_int_equal(f.limit, 100);
}

static void what_cannot_be_read_is_named(void **state)
{
        static const struct {
                struct filter_texts texts;
                const char *words;
        } table[] = {
                { { .include_branch = "a(" }, "invalid includeBranch regex: " },
                { { .exclude_branch = "[" }, "invalid excludeBranch regex: " },
                { { .include_tag = "a(" }, "invalid includeTag regex: " },
                { { .exclude_tag = "a(" }, "invalid excludeTag regex: " },
                { { .include_environment = "a(" }, "invalid includeEnvironment regex: " },
                { { .exclude_environment = "a(" }, "invalid excludeEnvironment regex: " },
                { { .semver = "a" }, "invalid semver expression: improper constraint: \"a\"" },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct error err = { 0 };
                struct filter f;

                assert_int_equal(filter_make(&table[i].texts, &arena, &f, &err), ERR_INVALID);
                assert_true(text_starts_with(err.text, table[i].words));
        }
}

static void best_tags_are(const struct filter_texts *t, const char *const *tags, size_t n, const char *wanted)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct filter f = make(&arena, t);
        struct input_ref refs[16] = { 0 };
        AUTO_BUF struct buf all;

        for (size_t i = 0; i < n; i++)
                refs[i].tag = tags[i];
        assert_int_equal(filter_best_tags(&f, refs, &n), 0);
        buf_init(&all, 1000);
        for (size_t i = 0; i < n; i++)
                buf_printf(&all, "%s ", refs[i].tag);
        assert_string_equal(all.data, wanted);
}

/* spec/resource-set.md checklist 118 and 119 */
static void the_highest_tags_come_first(void **state)
{
        static const char *const tags[] = { "1.9.0",  "v1.10.0", "latest", "1.2",     "2.0.0-rc.1",
                                            "1.10.0", "01.3.0",  "2.0.0",  "x.1.0.0", "1.0.0+b.1" };

        best_tags_are(&(struct filter_texts){ .semver = "*" }, tags, ARRAY_LEN(tags),
                      "2.0.0 v1.10.0 1.10.0 1.9.0 01.3.0 1.0.0+b.1 ");
        best_tags_are(&(struct filter_texts){ .semver = "1.x", .limit = 1 }, tags, ARRAY_LEN(tags),
                      "v1.10.0 ");
        best_tags_are(&(struct filter_texts){ .semver = ">=2.0.0-0" }, tags, ARRAY_LEN(tags),
                      "2.0.0 2.0.0-rc.1 ");
        best_tags_are(&(struct filter_texts){ .limit = 3 }, tags, ARRAY_LEN(tags), "x.1.0.0 v1.10.0 latest ");
}

static const char *const labels_ab[] = { "a", "b" };

/* spec/resource-set.md checklist 118 */
static void all_labels_have_to_be_there(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct filter f = make(&arena, &(struct filter_texts){ .labels = labels_ab, .n_labels = 2 });

        assert_true(filter_takes_labels(&f, &(struct input_ref){ .labels = labels_ab, .n_labels = 2 }));
        assert_false(filter_takes_labels(&f, &(struct input_ref){ .labels = labels_ab, .n_labels = 1 }));
}

static json_t *parse(const char *text)
{
        json_t *doc = json_loads(text, 0, NULL);

        assert_non_null(doc);
        return doc;
}

static void exports_are(const struct export_rules *rules, const struct input_ref *refs, size_t n,
                        const char *wanted)
{
        AUTO_JSON json_t *exports = NULL;
        AUTO_BUF struct buf text;
        struct error err = { 0 };

        assert_int_equal(exports_of_refs(rules, refs, n, &exports, &err), 0);
        buf_init(&text, 10000);
        doc_write_canonical(exports, &text);
        assert_string_equal(text.data, wanted);
}

/* spec/resource-set.md checklist 120 */
static void skip_labels_freeze_what_was_exported(void **state)
{
        static const struct input_ref refs[] = {
                { .id = "1", .sha = "new", .labels = labels_ab, .n_labels = 2 },
                { .id = "2", .sha = "new", .labels = labels_ab, .n_labels = 2 },
                { .id = "3", .sha = "new", .labels = labels_ab, .n_labels = 1 },
        };
        AUTO_JSON json_t *former = parse("[{\"id\":\"1\",\"sha\":\"old\",\"x\":1}]");
        struct export_rules rules = { .skip = (const char *[]){ "b" }, .n_skip = 1, .former = former };

        exports_are(
                &rules, refs, 3,
                "[{\"id\":\"1\",\"sha\":\"old\",\"x\":1},{\"id\":\"3\",\"labels\":[\"a\"],\"sha\":\"new\"}]");
        rules.skip = (const char *[]){ "!b" };
        exports_are(&rules, refs, 3,
                    "[{\"id\":\"1\",\"labels\":[\"a\",\"b\"],\"sha\":\"new\"},"
                    "{\"id\":\"2\",\"labels\":[\"a\",\"b\"],\"sha\":\"new\"}]");
}

static void defaults_fill_what_a_set_lacks(void **state)
{
        AUTO_JSON json_t *defaults = parse("{\"id\":\"x\",\"sha\":\"x\",\"env\":{\"a\":1}}");
        struct export_rules rules = { .defaults = defaults };
        struct input_ref ref = { .id = "7", .sha = "s", .branch = "b", .author = "", .slug = "c" };

        exports_are(&rules, &ref, 1,
                    "[{\"branch\":\"b\",\"env\":{\"a\":1},\"id\":\"7\",\"sha\":\"s\",\"slug\":\"c\"}]");
        exports_are(&rules, NULL, 0, "[]");
}

/* spec/resource-set.md checklist 107 */
static void static_exports_are_the_defaults_with_an_id(void **state)
{
        AUTO_JSON json_t *defaults = parse("{\"id\":\"mine\",\"b\":2,\"a\":[1.5,null]}");
        AUTO_JSON json_t *exports = NULL, *again = NULL, *none = NULL;
        char first[EXPORTS_REVISION_SIZE], second[EXPORTS_REVISION_SIZE];
        AUTO_BUF struct buf text;

        assert_int_equal(exports_static(defaults, "main", &exports, NULL), 0);
        buf_init(&text, 1000);
        doc_write_canonical(exports, &text);
        assert_string_equal(text.data, "[{\"a\":[1.5,null],\"b\":2,\"id\":\"68878758\"}]");
        again = parse("[{\"id\":\"68878758\",\"b\":2,\"a\":[1.5,null]}]");
        assert_int_equal(exports_revision(exports, first, NULL), 0);
        assert_int_equal(exports_revision(again, second, NULL), 0);
        assert_string_equal(first, second);
        assert_int_equal(strlen(first), EXPORTS_REVISION_SIZE - 1);
        assert_int_equal(exports_static(NULL, "main", &none, NULL), 0);
        assert_int_equal(exports_revision(none, second, NULL), 0);
        assert_string_not_equal(first, second);
}

static void exports_that_no_object_holds_are_refused(void **state)
{
        AUTO_JSON json_t *sets = json_array(), *exports = NULL;
        AUTO_FREE char *big = mem_zalloc(LIMIT_EXPORTED_INPUTS_BYTES + 1);
        struct export_rules rules = { 0 };
        struct error err = { 0 };

        memset(big, 'x', LIMIT_EXPORTED_INPUTS_BYTES);
        json_array_append_new(sets, json_pack("{s:s,s:s}", "id", "1", "x", big));
        assert_int_equal(exports_of_sets(&rules, sets, &exports, &err), ERR_LIMIT);
        assert_non_null(strstr(err.text, "spec.filter.limit"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(ids_are_the_sums_that_the_page_shows),
                cmocka_unit_test(slugs_are_made_as_git_lab_makes_them),
                cmocka_unit_test(include_and_exclude_search_the_name),
                cmocka_unit_test(what_cannot_be_read_is_named),
                cmocka_unit_test(the_highest_tags_come_first),
                cmocka_unit_test(all_labels_have_to_be_there),
                cmocka_unit_test(skip_labels_freeze_what_was_exported),
                cmocka_unit_test(defaults_fill_what_a_set_lacks),
                cmocka_unit_test(static_exports_are_the_defaults_with_an_id),
                cmocka_unit_test(exports_that_no_object_holds_are_refused),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
