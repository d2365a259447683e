#include "hub-agent/source/chart/chart_test.h"

#include "common/json/doc.h"
#include "hub-agent/source/chart/chart.h"

#define CHART(name) "apiVersion: v2\nname: " name "\nversion: 1.2.3\n"
#define MOST (1u << 20)

static const struct test_file podinfo[] = {
        { "Chart.yaml", CHART("podinfo") },
        { "Chart.lock", "dependencies: []\n" },
        { "values.yaml", "a: 1\n---\nb: 2\na: 3\n" },
        { "values.schema.json", "{}" },
        { "templates/deployment.yaml", "kind: Deployment\n" },
        { "templates/sub/notes.txt", "notes" },
        { "README.md", "read me" },
        { "crds/x.yaml", "kind: X\n" },
        { "charts/zeta/Chart.yaml", CHART("zeta") },
        { "charts/zeta/templates/a.yaml", "kind: A\n" },
        { "charts/zeta/charts/inner/Chart.yaml", CHART("inner") },
        { "charts/_shared/x", "skipped" },
        { "charts/.hidden", "skipped" },
        { "charts/zeta-1.2.3.tgz.prov", "signed" },
        { NULL, NULL },
};

static void assert_podinfo(const struct chart *c)
{
        AUTO_JSON json_t *values = NULL;

        assert_string_equal(c->metadata.name, "podinfo");
        assert_true(slice_is(c->lock, "dependencies: []\n"));
        assert_true(slice_is(c->schema, "{}"));
        assert_int_equal(c->templates.n, 2);
        assert_string_equal(c->templates.at[0].path, "templates/deployment.yaml");
        assert_int_equal(c->files.n, 3);
        assert_string_equal(c->files.at[0].path, "README.md");
        assert_string_equal(c->files.at[1].path, "charts/zeta-1.2.3.tgz.prov");
        assert_string_equal(c->files.at[2].path, "crds/x.yaml");
        assert_int_equal(c->n_charts, 1);
        assert_string_equal(c->charts[0].metadata.name, "zeta");
        assert_string_equal(c->charts[0].templates.at[0].path, "templates/a.yaml");
        assert_string_equal(c->charts[0].charts[0].metadata.name, "inner");
        assert_int_equal(chart_values(c, &values, NULL), 0);
        assert_int_equal(doc_get_int(values, "a", 0), 3);
        assert_int_equal(doc_get_int(values, "b", 0), 2);
}

static void a_chart_is_the_same_from_an_archive_and_a_folder(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct file_set source = folder_of(&arena, podinfo);
        struct chart c;

        assert_int_equal(chart_of_archive(&arena, archive_of(&arena, "podinfo", podinfo), MOST, &c, NULL), 0);
        assert_podinfo(&c);
        assert_int_equal(chart_of_folder(&arena, &source, "", MOST, &c, NULL), 0);
        assert_podinfo(&c);
        for (size_t i = 0; i < source.n; i++)
                source.at[i].path = arena_printf(&arena, "deploy/charts/podinfo/%s", source.at[i].path);
        assert_int_equal(chart_of_folder(&arena, &source, "deploy/charts/podinfo", MOST, &c, NULL), 0);
        assert_podinfo(&c);
}

/* spec/helm-chart.md checklist 51 */
static void what_is_ignored_is_in_no_chart(void **state)
{
        static const struct test_file files[] = {
                { "c/Chart.yaml", CHART("c") },
                { "c/.helmignore", "*.bak\ncharts/old/\n" },
                { "c/values.yaml.bak", "x" },
                { "c/templates/.swp", "x" },
                { "c/templates/a.yaml", "x" },
                { "c/charts/old/broken", "x" },
                { NULL, NULL },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct file_set source = folder_of(&arena, files);
        struct chart c;

        assert_int_equal(chart_of_folder(&arena, &source, "c", MOST, &c, NULL), 0);
        assert_int_equal(c.templates.n, 1);
        assert_int_equal(c.files.n, 1);
        assert_string_equal(c.files.at[0].path, ".helmignore");
        assert_int_equal(c.n_charts, 0);
}

/* spec/helm-chart.md checklist 49 */
static void requirements_of_the_old_format_count(void **state)
{
        static const struct test_file files[] = {
                { "Chart.yaml", "name: old\nversion: 0.1.0\n" },
                { "requirements.yaml", "dependencies: [{name: redis, version: 1.x, repository: ''}]\n" },
                { "requirements.lock", "digest: x\n" },
                { NULL, NULL },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct file_set source = folder_of(&arena, files);
        AUTO_JSON json_t *values = NULL;
        struct chart c;

        assert_int_equal(chart_of_folder(&arena, &source, "", MOST, &c, NULL), 0);
        assert_string_equal(c.metadata.api_version, "v1");
        assert_int_equal(c.metadata.n_dependencies, 1);
        assert_string_equal(c.metadata.dependencies[0].name, "redis");
        assert_true(slice_is(c.lock, "digest: x\n"));
        assert_int_equal(c.files.n, 2);
        assert_null(c.values.data);
        assert_int_equal(chart_values(&c, &values, NULL), 0);
        assert_int_equal(json_object_size(values), 0);
}

static const char *complaint(struct arena *arena, const struct test_file *files)
{
        struct file_set source = folder_of(arena, files);
        struct error err = { 0 };
        struct chart c;

        assert_true(chart_of_folder(arena, &source, "c", 100, &c, &err) < 0);
        return arena_strdup(arena, err.text);
}

static void what_is_no_chart_is_refused(void **state)
{
        static const char big[] = "0123456789012345678901234567890123456789012345678901234567890123456789"
                                  "0123456789012345678901234567890123456789";
        static const struct {
                struct test_file files[4];
                const char *words;
        } table[] = {
                { { { "c/values.yaml", "" } }, "Chart.yaml file is missing" },
                { { { "other/Chart.yaml", CHART("c") } }, "Chart.yaml file is missing" },
                { { { "c/Chart.yaml", "name: c" } }, "validation: chart.metadata.version is required" },
                { { { "c/Chart.yaml", CHART("c") }, { "c/a", big } },
                  "cannot load file c/a as file size (110) exceeds limit (100)" },
                { { { "c/Chart.yaml", CHART("c") }, { "c/charts/x/a", "" } },
                  "sub-chart \"x\": Chart.yaml file is missing" },
                { { { "c/Chart.yaml", CHART("c") }, { "c/charts/README.md", "" } },
                  "sub-chart \"README.md\": Chart.yaml file is missing" },
                { { { "c/Chart.yaml", CHART("c") }, { "c/charts/x.tgz", "none" } },
                  "sub-chart \"x.tgz\": no archive: it does not begin as gzip does" },
                { { { "c/Chart.yaml", CHART("c") }, { "c/.helmignore", "**" } },
                  "double-star (**) syntax is not supported" },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;

                assert_string_equal(complaint(&arena, table[i].files), table[i].words);
        }
}

static void charts_within_charts_end_somewhere(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct slice inner = { 0 };
        struct error err = { 0 };
        struct chart c;

        for (int i = 0; i < 20; i++) {
                AUTO_BUF struct buf tar, gz;

                buf_init(&tar, 1 << 20);
                buf_init(&gz, 1 << 20);
                assert_int_equal(tar_append(&tar,
                                            &(struct tar_entry){ "c/Chart.yaml", slice_of(CHART("c")), 0644,
                                                                 0, false },
                                            NULL),
                                 0);
                if (inner.data)
                        assert_int_equal(
                                tar_append(&tar,
                                           &(struct tar_entry){ "c/charts/c.tgz", inner, 0644, 0, false },
                                           NULL),
                                0);
                assert_int_equal(tar_end(&tar, NULL), 0);
                assert_int_equal(gzip_pack((struct slice){ tar.data, tar.len }, &gz, NULL), 0);
                inner = (struct slice){ arena_memdup(&arena, gz.data, gz.len), gz.len };
                if (i == 15)
                        assert_int_equal(chart_of_archive(&arena, inner, MOST, &c, NULL), 0);
        }
        assert_int_equal(chart_of_archive(&arena, inner, MOST, &c, &err), ERR_LIMIT);
        assert_non_null(strstr(err.text, "more than 16 charts within each other"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_chart_is_the_same_from_an_archive_and_a_folder),
                cmocka_unit_test(what_is_ignored_is_in_no_chart),
                cmocka_unit_test(requirements_of_the_old_format_count),
                cmocka_unit_test(what_is_no_chart_is_refused),
                cmocka_unit_test(charts_within_charts_end_somewhere),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
