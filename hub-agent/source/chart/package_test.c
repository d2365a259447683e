#include "common/json/doc_test.h"
#include "hub-agent/source/chart/chart_test.h"

#include "common/json/doc.h"
#include "hub-agent/source/chart/archive.h"
#include "hub-agent/source/chart/package.h"

#define MOST (1u << 20)

static const struct test_file podinfo[] = {
        { "values.yaml", "a: 1\n" },
        { "templates/b.yaml", "b" },
        { "templates/a.yaml", "a" },
        { "README.md", "read me" },
        { "Chart.lock", "dependencies: []\n" },
        { "values.schema.json", "{}" },
        { "charts/zeta/Chart.yaml", "apiVersion: v2\nname: zeta\nversion: 1.0.0\n" },
        { "charts/alpha/Chart.yaml", "apiVersion: v2\nname: alpha\nversion: 1.0.0\n" },
        { "charts/alpha/values.yaml", "" },
        { "charts/other/Chart.yaml", "apiVersion: v2\nname: zeta\nversion: 2.0.0\n" },
        { "Chart.yaml", "version: 6.0.3\nname: podinfo\nx-mine: {b: 1, a: 2}\napiVersion: v2\n" },
        { NULL, NULL },
};

static void load(struct arena *arena, const struct test_file *files, struct chart *ret)
{
        struct file_set source = folder_of(arena, files);
        struct error err = { 0 };

        if (chart_of_folder(arena, &source, "", MOST, ret, &err) < 0)
                fail_msg("%s", err.text);
}

static struct slice packed(struct arena *arena, const struct chart *c)
{
        AUTO_BUF struct buf b;
        struct error err = { 0 };

        buf_init(&b, 64 << 20);
        if (chart_package(arena, c, &b, &err) < 0)
                fail_msg("%s", err.text);
        return (struct slice){ arena_memdup(arena, b.data, b.len), b.len };
}

struct names {
        struct buf text;
        bool odd; /* a time or a mode */
};

static int note_name(void *ctx, const struct archive_file *f, struct error *err)
{
        struct names *n = ctx;

        buf_printf(&n->text, "%s\n", f->name);
        n->odd |= f->modified_s != CHART_TIME_S || f->executable;
        return 0;
}

static const char *names_in(struct arena *arena, struct slice archive)
{
        static const struct archive_limits l = { MOST, MOST, MOST, 100 };
        struct names n = { 0 };
        const char *text;

        buf_init(&n.text, MOST);
        assert_int_equal(archive_read_files(arena, archive, &l, note_name, &n, NULL), 0);
        assert_false(n.odd);
        text = arena_strndup(arena, n.text.data, n.text.len);
        buf_free(&n.text);
        return text;
}

static struct slice file_in(struct arena *arena, struct slice archive, const char *path)
{
        const struct set_file *f;
        struct file_set s;

        assert_int_equal(file_set_of_chart(arena, archive, MOST, &s, NULL), 0);
        f = file_set_find(&s, path);
        return f ? f->data : (struct slice){ 0 };
}

/* spec/helm-chart.md checklist 52, 53 */
static void equal_charts_give_equal_bytes_in_one_order(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct slice archives[3];
        struct chart c;

        for (size_t i = 0; i < 2; i++) {
                load(&arena, podinfo, &c);
                archives[i] = packed(&arena, &c);
        }
        assert_true(slice_equal(archives[0], archives[1]));
        assert_string_equal(names_in(&arena, archives[0]), "podinfo/Chart.yaml\n"
                                                           "podinfo/Chart.lock\n"
                                                           "podinfo/values.yaml\n"
                                                           "podinfo/values.schema.json\n"
                                                           "podinfo/templates/a.yaml\n"
                                                           "podinfo/templates/b.yaml\n"
                                                           "podinfo/README.md\n"
                                                           "podinfo/charts/alpha/Chart.yaml\n"
                                                           "podinfo/charts/alpha/values.yaml\n"
                                                           "podinfo/charts/zeta/Chart.yaml\n"
                                                           "podinfo/charts/zeta-2.0.0/Chart.yaml\n");
        assert_true(slice_is(file_in(&arena, archives[0], "Chart.yaml"),
                             "apiVersion: v2\nname: podinfo\nversion: 6.0.3\nx-mine:\n  a: 2\n  b: 1\n"));
        assert_int_equal(chart_of_archive(&arena, archives[0], MOST, &c, NULL), 0);
        archives[2] = packed(&arena, &c);
        assert_true(slice_equal(archives[0], archives[2]));
}

#define REQUIREMENTS                                                                                         \
        { "requirements.yaml", "dependencies: [{name: redis, version: 1.x, repository: ''}]\n" },            \
        {                                                                                                    \
                "requirements.lock", "digest: x\n"                                                           \
        }

/* spec/helm-chart.md checklist 54 */
static void what_only_the_first_format_has_stays_in_its_files(void **state)
{
        static const struct test_file first[] = { { "Chart.yaml", "name: old\nversion: 0.1.0\n" },
                                                  REQUIREMENTS,
                                                  { NULL, NULL } };
        static const struct test_file second[] = {
                { "Chart.yaml", "apiVersion: v2\nname: new\nversion: 0.1.0\n" }, REQUIREMENTS, { NULL, NULL }
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct slice archive;
        struct chart c;

        load(&arena, first, &c);
        archive = packed(&arena, &c);
        assert_string_equal(names_in(&arena, archive),
                            "old/Chart.yaml\nold/requirements.lock\nold/requirements.yaml\n");
        assert_true(slice_is(file_in(&arena, archive, "Chart.yaml"),
                             "apiVersion: v1\nname: old\nversion: 0.1.0\n"));
        load(&arena, second, &c);
        archive = packed(&arena, &c);
        assert_string_equal(names_in(&arena, archive), "new/Chart.yaml\nnew/Chart.lock\n");
        assert_non_null(strstr(file_in(&arena, archive, "Chart.yaml").data, "name: redis"));
}

/* spec/helm-chart.md checklist 36, 42 */
static void version_and_values_are_put_in_their_place(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *values = json_pack("{s:i}", "a", 1);
        struct error err = { 0 };
        struct slice archive;
        struct chart c;
        bool changed;

        load(&arena, podinfo, &c);
        assert_int_equal(chart_set_values(&arena, &c, values, &changed, NULL), 0);
        assert_false(changed);
        doc_set_int(values, "a", 2);
        assert_int_equal(chart_set_values(&arena, &c, values, &changed, NULL), 0);
        assert_true(changed);
        assert_int_equal(chart_set_version(&arena, &c, "6.0.3+2"), 0);
        archive = packed(&arena, &c);
        assert_true(slice_is(file_in(&arena, archive, "values.yaml"), "a: 2\n"));
        assert_non_null(strstr(file_in(&arena, archive, "Chart.yaml").data, "version: 6.0.3+2\n"));
        json_object_clear(values);
        assert_int_equal(chart_set_values(&arena, &c, values, &changed, NULL), 0);
        assert_true(slice_is(file_in(&arena, packed(&arena, &c), "values.yaml"), ""));
        c.values = (struct slice){ 0 };
        assert_int_equal(chart_set_values(&arena, &c, values, &changed, &err), ERR_INVALID);
        assert_string_equal(err.text, "failed to locate values file: values.yaml");
}

static void a_schema_has_to_be_json(void **state)
{
        static const struct test_file files[] = { { "Chart.yaml", "name: a\nversion: 0.1.0\n" },
                                                  { "values.schema.json", "type: object" },
                                                  { NULL, NULL } };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf b;
        struct error err = { 0 };
        struct chart c;

        buf_init(&b, MOST);
        load(&arena, files, &c);
        assert_int_equal(chart_package(&arena, &c, &b, &err), ERR_INVALID);
        assert_string_equal(err.text, "invalid JSON in values.schema.json");
}

static int change_and_package(void *source)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *values = NULL;
        AUTO_BUF struct buf b;
        struct error err = { 0 };
        struct chart c;
        bool changed;

        buf_init(&b, MOST);
        TRY(chart_of_folder(&arena, source, "", MOST, &c, &err));
        TRY(chart_values(&c, &values, &err));
        TRY(chart_set_version(&arena, &c, "6.0.3+2"));
        TRY(chart_set_values(&arena, &c, values, &changed, &err));
        TRY(chart_package(&arena, &c, &b, &err));
        return chart_of_archive(&arena, (struct slice){ b.data, b.len }, MOST, &c, &err);
}

/* spec/helm-chart.md checklist 97 */
static void each_allocation_that_fails_is_told(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct file_set source = folder_of(&arena, podinfo);

        walk_failing_allocations(change_and_package, &source);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(equal_charts_give_equal_bytes_in_one_order),
                cmocka_unit_test(what_only_the_first_format_has_stays_in_its_files),
                cmocka_unit_test(version_and_values_are_put_in_their_place),
                cmocka_unit_test(a_schema_has_to_be_json),
                cmocka_unit_test(each_allocation_that_fails_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
