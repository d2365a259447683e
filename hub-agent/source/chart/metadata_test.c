#include "common/json/doc_test.h"
#include "hub-agent/source/chart/metadata.h"

#define GOOD "name: podinfo\nversion: 6.0.3\n"

static int parsed(struct arena *arena, const char *chart, const char *requirements,
                  struct chart_metadata *ret, struct error *err)
{
        return chart_metadata_parse(arena, slice_of(chart), slice_of(requirements), ret, err);
}

/* What comes of a Chart.yaml: "" or the complaint. */
static const char *complaint(struct arena *arena, const char *chart, enum metadata_check how)
{
        struct chart_metadata m = { 0 };
        struct error err = { 0 };

        if (parsed(arena, chart, "", &m, &err) == 0)
                chart_metadata_check(&m, how, &err);
        assert_true(err.code == 0 || err.code == ERR_INVALID);
        return arena_strdup(arena, err.text);
}

/* spec/helm-chart.md checklist 49 */
static void each_rule_gives_its_text(void **state)
{
        static const struct {
                const char *chart, *complaint;
        } table[] = {
                { GOOD, "" },
                { "apiVersion: v2\ntype: library\n" GOOD, "" },
                { "type: application\nname: a\nversion: v1.2-rc.1+b\n", "" },
                { "", "validation: chart.metadata.name is required" },
                { "version: 1.0.0", "validation: chart.metadata.name is required" },
                { "name: .\nversion: 1.0.0", "validation: chart.metadata.name \".\" is not allowed" },
                { "name: ..\nversion: 1.0.0", "validation: chart.metadata.name \"..\" is not allowed" },
                { "name: a/b\nversion: 1.0.0", "validation: chart.metadata.name \"a/b\" is invalid" },
                { "name: 'a\"/'\nversion: 1.0.0", "validation: chart.metadata.name \"a\\\"/\" is invalid" },
                { "name: a", "validation: chart.metadata.version is required" },
                { "name: a\nversion: one", "validation: chart.metadata.version \"one\" is invalid" },
                { "name: a\nversion: 1.2.3.4", "validation: chart.metadata.version \"1.2.3.4\" is invalid" },
                { "apiVersion: ''\n" GOOD, "validation: chart.metadata.apiVersion is required" },
                { "type: other\n" GOOD, "validation: chart.metadata.type must be application or library" },
                { "maintainers: [null]\n" GOOD,
                  "validation: maintainers must not contain empty or null nodes" },
                { "maintainers: [{name: a}]\n" GOOD, "" },
                { "dependencies:\n-\n" GOOD,
                  "validation: dependencies must not contain empty or null nodes" },
                { "dependencies: [{name: a, alias: b.c}]\n" GOOD,
                  "validation: dependency \"a\" has disallowed characters in the alias" },
                { "dependencies: [{name: a}, {name: b, alias: a}]\n" GOOD,
                  "validation: more than one dependency with name or alias \"a\"" },
                { "dependencies: [{name: a}, {name: a, alias: b_-1}]\n" GOOD, "" },
                { "name: [a]", "cannot load Chart.yaml: name: must be a text" },
                { "keywords: a", "cannot load Chart.yaml: keywords: must be a list" },
                { "annotations: [a]", "cannot load Chart.yaml: annotations: must be an object" },
                { "deprecated: 'true'", "cannot load Chart.yaml: deprecated: must be true or false" },
                { "dependencies: [a]", "cannot load Chart.yaml: dependencies: must be a list of objects" },
                { "dependencies: [{tags: a}]", "cannot load Chart.yaml: dependencies: tags: must be a list" },
                { "dependencies: [{import-values: a}]",
                  "cannot load Chart.yaml: dependencies: import-values: must be a list" },
                { "[a]", "cannot load Chart.yaml: it must be an object" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(table); i++)
                assert_string_equal(complaint(&arena, table[i].chart, CHECK_CHART), table[i].complaint);
}

static void an_index_entry_may_name_a_dependency_twice(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_string_equal(
                complaint(&arena, "dependencies: [{name: a}, {name: a}]\n" GOOD, CHECK_INDEX_ENTRY), "");
        assert_string_equal(complaint(&arena, "dependencies: [null]\n" GOOD, CHECK_INDEX_ENTRY),
                            "validation: dependencies must not contain empty or null nodes");
}

static void assert_read_as(const char *chart, const char *requirements, const char *doc)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct chart_metadata m = { 0 };
        struct error err = { 0 };

        if (parsed(&arena, chart, requirements, &m, &err) < 0)
                fail_msg("%s", err.text);
        assert_doc_is(json_incref(m.doc), doc);
}

static void texts_are_cleaned_and_what_nobody_knows_stays(void **state)
{
        assert_read_as(
                "name: \"a\\tb\\u200b\"\nversion: 1.10\nappVersion: 20230401\ndescription: |\n  x\n  y\n", "",
                "{'apiVersion': 'v1', 'name': 'a b', 'version': '1.1', 'appVersion': '20230401', "
                "'description': 'x y '}");
        assert_read_as("annotations: {a: \"x\\ny\", b: true, c: 1}\nkeywords: [1, \"b\\nc\"]\nicon: null\n",
                       "",
                       "{'apiVersion': 'v1', 'annotations': {'a': 'x\\ny', 'b': 'true', 'c': '1'}, "
                       "'keywords': ['1', 'b c']}");
        assert_read_as("apiVersion: v2\nextra: {deep: [1, \"x\\ny\"]}\n---\nname: second\n", "",
                       "{'apiVersion': 'v2', 'extra': {'deep': [1, 'x\\ny']}}");
}

/* spec/helm-chart.md checklist 49 */
static void requirements_are_read_over_it(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct chart_metadata m = { 0 };
        struct error err = { 0 };

        assert_int_equal(
                parsed(&arena, "dependencies: [{name: old}]\n" GOOD,
                       "dependencies: [{name: a, version: 1, repository: 'https://x', alias: b}, {}]\n", &m,
                       &err),
                0);
        assert_int_equal(m.n_dependencies, 2);
        assert_string_equal(m.dependencies[0].name, "a");
        assert_string_equal(m.dependencies[0].version, "1");
        assert_string_equal(m.dependencies[0].repository, "https://x");
        assert_string_equal(m.dependencies[0].alias, "b");
        assert_string_equal(m.dependencies[1].name, "");
        assert_string_equal(m.name, "podinfo");
        assert_string_equal(m.version, "6.0.3");
        assert_string_equal(m.api_version, "v1");
        assert_int_equal(parsed(&arena, GOOD, "[", &m, &err), ERR_INVALID);
        assert_true(text_starts_with(err.text, "cannot load requirements.yaml: yaml: line "));
}

static void a_document_is_read_and_left_alone(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc = doc_of("{'name': 'a\\n', 'version': '1.0.0', 'urls': ['x']}");
        struct chart_metadata m = { 0 };

        assert_int_equal(chart_metadata_read(&arena, doc, &m, NULL), 0);
        assert_string_equal(m.name, "a ");
        assert_string_equal(json_string_value(json_object_get(doc, "name")), "a\n");
        assert_non_null(json_object_get(m.doc, "urls"));
        assert_int_equal(chart_metadata_read(&arena, json_object_get(doc, "urls"), &m, NULL), ERR_INVALID);
}

static int read_and_check(void *unused)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct chart_metadata m = { 0 };
        struct error err = { 0 };

        TRY(parsed(&arena, "maintainers: [{name: a}]\nkeywords: [1]\nannotations: {a: 1}\n" GOOD,
                   "dependencies: [{name: a}]\n", &m, &err));
        return chart_metadata_check(&m, CHECK_CHART, &err);
}

/* spec/helm-chart.md checklist 97 */
static void each_allocation_that_fails_is_told(void **state)
{
        walk_failing_allocations(read_and_check, NULL);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_rule_gives_its_text),
                cmocka_unit_test(an_index_entry_may_name_a_dependency_twice),
                cmocka_unit_test(texts_are_cleaned_and_what_nobody_knows_stays),
                cmocka_unit_test(requirements_are_read_over_it),
                cmocka_unit_test(a_document_is_read_and_left_alone),
                cmocka_unit_test(each_allocation_that_fails_is_told),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
