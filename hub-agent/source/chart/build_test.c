#include "hub-agent/source/chart/chart_test.h"

#include "common/json/doc_test.h"
#include "hub-agent/source/chart/build.h"

#define CHART(version) "apiVersion: v2\nname: podinfo\nversion: " version "\n"
#define MOST (1u << 20)

static const struct test_file podinfo[] = {
        { "Chart.yaml", CHART("6.0.3") },
        { "values.yaml", "replicas: 1\nui: {color: red}\n" },
        { "values-prod.yaml", "replicas: 3\n" },
        { "templates/deployment.yaml", "kind: Deployment\n" },
        { NULL, NULL },
};

struct bench {
        struct arena arena;
        struct error err;
        struct chart_build build;
        int code;
};

/* As far as it goes. */
static void run(struct bench *b)
{
        struct dependency_list missing;
        struct chart_build *c = &b->build;

        c->arena = &b->arena;
        c->file_bytes = MOST;
        c->generation = 2;
        error_clear(&b->err);
        b->code = chart_build_open(c, &b->err);
        if (b->code == 0)
                b->code = chart_build_read(c, &missing, &b->err);
        if (b->code == 0)
                assert_int_equal(missing.n, 0);
        if (b->code == 0)
                b->code = chart_build_end(c, &b->err);
}

static void end(struct bench *b)
{
        chart_build_free(&b->build);
        arena_free(&b->arena);
}

static void assert_packaged(struct bench *b, const char *version, const char *values)
{
        struct chart c;

        if (b->code < 0)
                fail_msg("%s", b->err.text);
        assert_string_equal(b->build.version, version);
        assert_int_equal(chart_of_archive(&b->arena, b->build.bytes, MOST, &c, &b->err), 0);
        assert_string_equal(c.metadata.name, "podinfo");
        assert_string_equal(c.metadata.version, version);
        if (!slice_is(c.values, values))
                fail_msg("%.*s", (int)c.values.len, c.values.data);
}

static void assert_fails(struct bench *b, const struct source_failing *how, const char *text)
{
        assert_true(b->code < 0);
        assert_ptr_equal(b->build.failing, how);
        assert_string_equal(b->err.text, text);
        end(b);
}

/* A source with the chart below "charts/podinfo", and what else is given. */
static struct slice source_with(struct arena *arena, const struct test_file *more)
{
        struct test_file all[16];
        size_t n = 0;

        for (const struct test_file *f = podinfo; f->path; f++)
                all[n++] = (struct test_file){ arena_printf(arena, "podinfo/%s", f->path), f->text };
        for (; more && more->path; more++)
                all[n++] = *more;
        all[n] = (struct test_file){ NULL, NULL };
        return archive_of(arena, "charts", all);
}

/* spec/helm-chart.md checklist 35, 37 */
static void without_values_the_bytes_stay(void **state)
{
        static const char *const own[] = { "./values.yaml" };
        struct bench b = { .build = { .version = "6.0.3" } };

        b.build.archive = archive_of(&b.arena, "podinfo", podinfo);
        b.build.values = own;
        b.build.n_values = 1;
        run(&b);
        assert_int_equal(b.code, 0);
        assert_false(b.build.is_packaged);
        assert_ptr_equal(b.build.bytes.data, b.build.archive.data);
        assert_string_equal(b.build.version, "6.0.3");
        assert_string_equal(b.build.metadata.name, "podinfo");
        end(&b);
}

/* spec/helm-chart.md checklist 36 */
static void values_files_are_merged_and_the_last_wins(void **state)
{
        static const char *const files[] = { "values.yaml", "values-prod.yaml" };
        struct bench b = { .build = { .version = "6.0.3+old", .values = files, .n_values = 2 } };

        b.build.archive = archive_of(&b.arena, "podinfo", podinfo);
        run(&b);
        assert_packaged(&b, "6.0.3+2", "replicas: 3\nui:\n  color: red\n");
        assert_true(b.build.is_packaged);
        assert_int_equal(b.build.merged.n, 2);
        assert_string_equal(b.build.merged.at[1], "values-prod.yaml");
        end(&b);
}

/* spec/helm-chart.md checklist 41, 48 */
static void values_files_that_are_not_there_are_told_or_skipped(void **state)
{
        static const char *const files[] = { "values-prod.yaml", "none.yaml" };
        static const char *const outside[] = { "../../secret.yaml" };
        struct bench b = { .build = { .version = "6.0.3", .values = files, .n_values = 2 } };

        b.build.archive = archive_of(&b.arena, "podinfo", podinfo);
        run(&b);
        assert_fails(&b, &failing_values,
                     "failed to merge chart values: no values file found at path 'none.yaml'");

        b = (struct bench){
                .build = { .version = "6.0.3", .values = files, .n_values = 2, .skips_missing = true }
        };
        b.build.archive = archive_of(&b.arena, "podinfo", podinfo);
        run(&b);
        assert_packaged(&b, "6.0.3+2", "replicas: 3\n");
        assert_int_equal(b.build.merged.n, 1);
        end(&b);

        b = (struct bench){ .build = { .version = "6.0.3", .values = outside, .n_values = 1 } };
        b.build.archive = archive_of(&b.arena, "podinfo", podinfo);
        run(&b);
        assert_fails(&b, &failing_path, "path '../../secret.yaml' leads outside of the source");
}

/* spec/helm-chart.md checklist 43, 45 */
static void a_folder_of_a_source_is_packaged_with_values_of_the_source(void **state)
{
        static const struct test_file more[] = { { "env/prod.yaml", "replicas: 7\n" }, { NULL, NULL } };
        static const char *const files[] = { "podinfo/values.yaml", "env/prod.yaml" };
        struct bench b = {
                .build = { .of_source = true, .path = "charts/podinfo", .revision_part = "4e5cbb7b97d0" }
        };

        b.build.archive = source_with(&b.arena, more);
        b.build.values = files;
        b.build.n_values = 2;
        run(&b);
        assert_fails(&b, &failing_values,
                     "no values file found at path 'podinfo/values.yaml' (reference 'podinfo/values.yaml')");

        static const char *const whole[] = { "charts/podinfo/values.yaml", "./charts/env/prod.yaml" };

        b = (struct bench){ .build = { .of_source = true,
                                       .path = "./charts/podinfo/",
                                       .revision_part = "4e5cbb7b97d0",
                                       .values = whole,
                                       .n_values = 2 } };
        b.build.archive = source_with(&b.arena, more);
        run(&b);
        assert_packaged(&b, "6.0.3+4e5cbb7b97d0.2", "replicas: 7\nui:\n  color: red\n");
        end(&b);
}

/* spec/helm-chart.md checklist 47, 48 */
static void paths_of_charts_stay_in_their_source(void **state)
{
        static const struct {
                const char *path, *text;
                const struct source_failing *how;
        } table[] = {
                { "charts/nothing", "there is no chart at path 'charts/nothing'", &failing_reference },
                { "charts/podinfo/templates", "Chart.yaml file is missing", &failing_reference },
                { "/charts/podinfo", "local chart reference path is expected to be relative",
                  &failing_reference },
                { "charts/../../podinfo", "path 'charts/../../podinfo' leads outside of the source",
                  &failing_path },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                struct bench b = { .build = { .of_source = true, .path = table[i].path } };

                b.build.archive = source_with(&b.arena, NULL);
                run(&b);
                assert_fails(&b, table[i].how, table[i].text);
        }
}

static void an_archive_in_a_source_is_copied(void **state)
{
        struct bench b = { .build = { .of_source = true, .path = "charts/podinfo-6.0.3.tgz" } };
        struct slice inner = archive_of(&b.arena, "podinfo", podinfo);
        AUTO_BUF struct buf tar, gz;

        buf_init(&tar, 1 << 20);
        buf_init(&gz, 1 << 20);
        const struct tar_entry e = { "charts/podinfo-6.0.3.tgz", inner, 0644, 0, false };

        assert_int_equal(tar_append(&tar, &e, NULL), 0);
        assert_int_equal(tar_end(&tar, NULL), 0);
        assert_int_equal(gzip_pack((struct slice){ tar.data, tar.len }, &gz, NULL), 0);
        b.build.archive = (struct slice){ gz.data, gz.len };
        run(&b);
        assert_int_equal(b.code, 0);
        assert_false(b.build.is_packaged);
        assert_true(slice_equal(b.build.bytes, inner));
        assert_string_equal(b.build.version, "6.0.3");
        end(&b);
}

static void what_is_no_chart_is_told(void **state)
{
        static const struct test_file bad[] = { { "Chart.yaml", "name: podinfo\n" }, { NULL, NULL } };
        static const struct test_file none[] = { { "README.md", "x" }, { NULL, NULL } };
        struct bench b = { .build = { .version = "1.0.0" } };

        b.build.archive = archive_of(&b.arena, "podinfo", none);
        run(&b);
        assert_fails(&b, &failing_pull,
                     "failed to load chart metadata from written chart: no 'Chart.yaml' found");
        b = (struct bench){ .build = { .version = "1.0.0" } };
        b.build.archive = archive_of(&b.arena, "podinfo", bad);
        run(&b);
        assert_fails(&b, &failing_pull,
                     "failed to validate metadata of written chart: validation: chart.metadata.version is "
                     "required");
}

static int build_with_values(void *ctx)
{
        static const char *const files[] = { "values.yaml", "values-prod.yaml" };
        struct bench b = { .build = { .version = "6.0.3", .values = files, .n_values = 2 } };
        int code;

        b.build.archive = *(const struct slice *)ctx;
        run(&b);
        code = b.code;
        if (code == ERR_NO_MEMORY)
                assert_null(b.build.failing);
        end(&b);
        return code;
}

/* spec/helm-chart.md checklist 97 */
static void each_failing_allocation_is_told(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct slice archive = archive_of(&arena, "podinfo", podinfo);

        walk_failing_allocations(build_with_values, &archive);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(without_values_the_bytes_stay),
                cmocka_unit_test(values_files_are_merged_and_the_last_wins),
                cmocka_unit_test(values_files_that_are_not_there_are_told_or_skipped),
                cmocka_unit_test(a_folder_of_a_source_is_packaged_with_values_of_the_source),
                cmocka_unit_test(paths_of_charts_stay_in_their_source),
                cmocka_unit_test(an_archive_in_a_source_is_copied),
                cmocka_unit_test(what_is_no_chart_is_told),
                cmocka_unit_test(each_failing_allocation_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
