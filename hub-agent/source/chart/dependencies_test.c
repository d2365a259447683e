#include "common/json/doc_test.h"
#include "hub-agent/source/chart/chart_test.h"

#include "hub-agent/source/chart/dependencies.h"

#define MOST (1u << 20)
#define CHART(name, version, rest) "apiVersion: v2\nname: " name "\nversion: " version "\n" rest

/* Chart app of folder "deploy/app", with what else there is. */
static void load(struct arena *arena, const struct test_file *files, struct file_set *source,
                 struct chart *ret)
{
        struct error err = { 0 };

        *source = folder_of(arena, files);
        if (chart_of_folder(arena, source, "deploy/app", MOST, ret, &err) < 0)
                fail_msg("%s", err.text);
}

static const char *missing(struct arena *arena, const struct chart *c)
{
        struct dependency_list list;
        struct error err = { 0 };
        AUTO_BUF struct buf b;

        buf_init(&b, MOST);
        if (chart_missing(arena, c, &list, &err) < 0)
                return arena_strdup(arena, err.text);
        for (size_t i = 0; i < list.n; i++)
                buf_printf(&b, "%s %s %s;", list.at[i].name, list.at[i].version, list.at[i].repository);
        return arena_strdup(arena, b.len ? b.data : "");
}

/* spec/helm-chart.md checklist 57 */
static void the_lock_goes_before_and_what_is_there_is_not_missing(void **state)
{
        static const struct {
                const char *chart, *lock, *missing;
        } table[] = {
                { "", NULL, "" },
                { "dependencies: [{name: a, version: 1.x, repository: 'https://h'}]", NULL,
                  "a 1.x https://h;" },
                { "dependencies: [{name: redis, version: 1.x, repository: 'https://h'}]", NULL, "" },
                { "dependencies: [{name: redis, version: '', repository: 'https://h'}]", NULL, "" },
                { "dependencies: [{name: redis, version: 2.x, repository: 'https://h'}]", NULL,
                  "redis 2.x https://h;" },
                { "dependencies: [{name: b, version: 1.x, alias: c}, {name: b, version: 1.x, alias: d}]",
                  NULL, "b 1.x ;" },
                { "dependencies: [{name: a, version: 1.x, repository: 'https://h'}]",
                  "dependencies: [{name: z, version: 2.0.1, repository: 'https://h'}, {name: a, version: "
                  "1.4.0}]",
                  "z 2.0.1 https://h;a 1.4.0 ;" },
                { "dependencies: [{name: redis, version: 1.x}]",
                  "dependencies: [{name: redis, version: 1.2.0}]", "" },
                { "dependencies: [{name: redis, version: 1.x}]",
                  "dependencies: [{name: redis, version: 1.3.0}]", "redis 1.3.0 ;" },
                { "dependencies: [{name: redis, version: one}]", NULL,
                  "invalid version/constraint format 'one': " },
                { "", "dependencies: [{version: 1.0.0}]",
                  "cannot load Chart.lock: dependencies[0]: has no name" },
                { "", "[", "cannot load Chart.lock: " },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                const struct test_file files[] = {
                        { "deploy/app/Chart.yaml",
                          arena_printf(&arena, CHART("app", "1.0.0", "%s\n"), table[i].chart) },
                        { "deploy/app/charts/redis/Chart.yaml", CHART("redis", "1.2.0", "") },
                        { table[i].lock ? "deploy/app/Chart.lock" : NULL, table[i].lock },
                        { NULL, NULL },
                };
                struct file_set source;
                struct chart c;

                load(&arena, files, &source, &c);
                if (!text_starts_with(missing(&arena, &c), table[i].missing) ||
                    (!*table[i].missing && *missing(&arena, &c)))
                        fail_msg("%zu: %s", i, missing(&arena, &c));
        }
}

/* spec/helm-chart.md checklist 55 */
static void local_ones_are_taken_out_of_the_source(void **state)
{
        static const struct {
                const char *name, *version, *repository, *words;
        } table[] = {
                { "lib", "1.x", "file://../../lib", "" },
                { "lib", "", "file://../../lib/", "" },
                { "packed", ">=0.1.0", "file://../packed.tgz", "" },
                { "lib", "2.x", "file://../../lib",
                  "failed to add local dependency 'lib': can't get a valid version for constraint '2.x'" },
                { "lib", "one", "file://../../lib",
                  "failed to add local dependency 'lib': invalid version/constraint format 'one': " },
                { "lib", "1.x", "",
                  "failed to add local dependency 'lib': no chart found at 'deploy/app/charts/lib' "
                  "(reference '')" },
                { "lib", "1.x", "file://../none",
                  "failed to add local dependency 'lib': no chart found at 'deploy/none' (reference "
                  "'file://../none')" },
                { "lib", "1.x", "file://../../../etc",
                  "failed to add local dependency 'lib': no chart found at '../etc' (reference "
                  "'file://../../../etc')" },
                { "lib", "1.x", "file:///etc",
                  "failed to add local dependency 'lib': no chart found at 'deploy/app/etc' (reference "
                  "'file:///etc')" },
                { "lib", "1.x", "file://templates",
                  "failed to add local dependency 'lib': Chart.yaml file is missing" },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                static const struct test_file packed[] = { { "Chart.yaml", CHART("packed", "0.1.0", "") },
                                                           { NULL, NULL } };
                const struct test_file files[] = {
                        { "deploy/app/Chart.yaml", CHART("app", "1.0.0", "") },
                        { "deploy/app/templates/x", "" },
                        { "lib/Chart.yaml", CHART("lib", "1.5.0", "type: library\n") },
                        { "deploy/packed.tgz", "" },
                        { NULL, NULL },
                };
                const struct chart_dependency d = { table[i].name, table[i].version, table[i].repository,
                                                    "alias" };
                struct error err = { 0 };
                struct file_set source;
                struct chart c;
                struct set_file *tgz;

                load(&arena, files, &source, &c);
                tgz = (struct set_file *)(uintptr_t)file_set_find(&source, "deploy/packed.tgz");
                tgz->data = archive_of(&arena, "packed", packed);
                tgz->size = tgz->data.len;
                chart_add_local(&arena, &source, "deploy/app", &d, MOST, &c, &err);
                if (!text_starts_with(err.text, table[i].words) || (!*table[i].words && *err.text))
                        fail_msg("%zu: %s", i, err.text);
                assert_int_equal(c.n_charts, !*table[i].words);
                if (c.n_charts)
                        assert_string_equal(c.charts[0].metadata.name, table[i].name);
        }
}

/* spec/helm-chart.md checklist 56, 57 */
static void remote_ones_have_to_be_what_was_asked_for(void **state)
{
        static const struct test_file files[] = { { "deploy/app/Chart.yaml", CHART("app", "1.0.0", "") },
                                                  { "deploy/app/charts/b/Chart.yaml",
                                                    CHART("b", "1.0.0", "") },
                                                  { NULL, NULL } };
        static const struct test_file fetched[] = { { "Chart.yaml", CHART("a", "1.4.0", "") },
                                                    { NULL, NULL } };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct chart_dependency d = { "a", "1.x", "https://h", "" };
        struct slice archive = archive_of(&arena, "a", fetched);
        struct error err = { 0 };
        struct file_set source;
        struct chart c;

        load(&arena, files, &source, &c);
        assert_int_equal(chart_add_remote(&arena, archive, &d, MOST, &c, NULL), 0);
        assert_int_equal(c.n_charts, 2);
        assert_string_equal(c.charts[0].metadata.name, "a");
        d.version = "2.x";
        assert_int_equal(chart_add_remote(&arena, archive, &d, MOST, &c, &err), ERR_INVALID);
        assert_string_equal(
                err.text,
                "failed to add remote dependency 'a': can't get a valid version for constraint '2.x'");
        d = (struct chart_dependency){ "z", "1.x", "https://h", "" };
        assert_int_equal(chart_add_remote(&arena, archive, &d, MOST, &c, &err), ERR_INVALID);
        assert_string_equal(err.text, "failed to add remote dependency 'z': the archive holds chart 'a'");
        assert_int_equal(c.n_charts, 2);
}

/* spec/helm-chart.md checklist 57 */
static void where_it_is_follows_from_its_repository(void **state)
{
        static const struct {
                const char *repository, *words;
                enum dependency_place place;
        } table[] = {
                { "", "", DEPENDENCY_LOCAL },
                { "file://../x", "", DEPENDENCY_LOCAL },
                { "https://h/charts", "", DEPENDENCY_HTTP },
                { "http://h", "", DEPENDENCY_HTTP },
                { "oci://h/charts", "", DEPENDENCY_OCI },
                { "@stable",
                  "failed to add remote dependency 'a': aliased repository dependency is not supported: "
                  "@stable",
                  0 },
                { "ftp://h",
                  "failed to add remote dependency 'a': invalid dependency repository URL: ftp://h", 0 },
                { "s3://key:secret@h?token=x",
                  "failed to add remote dependency 'a': invalid dependency repository URL: s3://h", 0 },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                const struct chart_dependency d = { "a", "1.x", table[i].repository, "" };
                enum dependency_place place = DEPENDENCY_LOCAL;
                struct error err = { 0 };

                assert_int_equal(dependency_place(&d, &place, &err), *table[i].words ? ERR_INVALID : 0);
                assert_string_equal(err.text, table[i].words);
                if (!*table[i].words)
                        assert_int_equal(place, table[i].place);
        }
}

struct adding {
        struct file_set source;
        struct slice archive;
};

static int plan_and_add(void *data)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct adding *a = data;
        struct dependency_list list;
        struct error err = { 0 };
        enum dependency_place place;
        struct chart c;

        TRY(chart_of_folder(&arena, &a->source, "deploy/app", MOST, &c, &err));
        TRY(chart_missing(&arena, &c, &list, &err));
        for (size_t i = 0; i < list.n; i++) {
                TRY(dependency_place(&list.at[i], &place, &err));
                if (place == DEPENDENCY_LOCAL)
                        TRY(chart_add_local(&arena, &a->source, "deploy/app", &list.at[i], MOST, &c, &err));
                else
                        TRY(chart_add_remote(&arena, a->archive, &list.at[i], MOST, &c, &err));
        }
        return c.n_charts == 2 ? 0 : ERR_INVALID;
}

/* spec/helm-chart.md checklist 97 */
static void each_allocation_that_fails_is_told(void **state)
{
        static const struct test_file files[] = {
                { "deploy/app/Chart.yaml", CHART("app", "1.0.0", "") },
                { "deploy/app/Chart.lock",
                  "dependencies: [{name: lib, version: 1.5.0, repository: 'file://../../lib'}, "
                  "{name: a, version: 1.x, repository: 'https://h'}]" },
                { "lib/Chart.yaml", CHART("lib", "1.5.0", "") },
                { NULL, NULL },
        };
        static const struct test_file fetched[] = { { "Chart.yaml", CHART("a", "1.4.0", "") },
                                                    { NULL, NULL } };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct adding a = { folder_of(&arena, files), archive_of(&arena, "a", fetched) };

        walk_failing_allocations(plan_and_add, &a);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_lock_goes_before_and_what_is_there_is_not_missing),
                cmocka_unit_test(local_ones_are_taken_out_of_the_source),
                cmocka_unit_test(remote_ones_have_to_be_what_was_asked_for),
                cmocka_unit_test(where_it_is_follows_from_its_repository),
                cmocka_unit_test(each_allocation_that_fails_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
