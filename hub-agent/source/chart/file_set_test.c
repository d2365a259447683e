#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/gzip.h"
#include "common/base/vec.h"
#include "hub-agent/source/chart/file_set.h"
#include "hub-agent/source/chart/tar.h"

/* "name=content" each, or a name alone; what comes of it, "path=content;" each, behind it the complaint. */
static const char *unpacked(struct arena *arena, const char *const *files, bool chart)
{
        AUTO_BUF struct buf tar, gz, text;
        struct file_set set = { 0 };
        struct error err = { 0 };
        struct slice all;
        int code;

        buf_init(&tar, 4 << 20);
        buf_init(&gz, 4 << 20);
        buf_init(&text, 1 << 20);
        for (; *files; files++) {
                struct slice rest = slice_of(*files), name;

                slice_cut(&rest, '=', &name);
                assert_int_equal(tar_append(&tar,
                                            &(struct tar_entry){ arena_strndup(arena, name.data, name.len),
                                                                 rest, 0644, 0, false },
                                            NULL),
                                 0);
        }
        assert_int_equal(tar_end(&tar, NULL), 0);
        assert_int_equal(gzip_pack((struct slice){ tar.data, tar.len }, &gz, NULL), 0);
        all = (struct slice){ gz.data, gz.len };
        code = chart ? file_set_of_chart(arena, all, 100, &set, &err)
                     : file_set_of_source(arena, all, &set, &err);
        for (size_t i = 0; code == 0 && i < set.n; i++)
                buf_printf(&text, "%s=%.*s;", set.at[i].path, (int)set.at[i].data.len, set.at[i].data.data);
        buf_append_str(&text, err.text);
        return arena_strdup(arena, text.len ? text.data : "");
}

#define FILES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* spec/helm-chart.md checklist 50 */
static void names_in_a_chart_lose_their_first_element(void **state)
{
        static const struct {
                const char *files[4], *what;
        } table[] = {
                { { "p/b=2", "p/a/z=1", "p/Chart.yaml=3" }, "Chart.yaml=3;a/z=1;b=2;" },
                { { "p/a=old", "p/./a=new" }, "a=new;" },
                { { "p\\templates\\a=1" }, "templates/a=1;" },
                { { "p/a=\xef\xbb\xbfmarked" }, "a=marked;" },
                { { "/etc/x=1" }, "etc/x=1;" },
                { { "p//etc/x=1" }, "chart illegally contains absolute paths" },
                { { "p=1" }, "chart illegally contains content outside the base directory: \"p\"" },
                { { "p/a/..=1" }, "chart illegally contains content outside the base directory: \"p/a/..\"" },
                { { "p/../x=1" }, "chart illegally references parent directory" },
                { { "p/a/../../x=1" }, "chart illegally references parent directory" },
                { { "p/..x=1" }, "..x=1;" },
                { { "p\\c:\\x=1" }, "chart contains illegally named files" },
                { { "Chart.yaml/x=1" }, "chart yaml not in base directory" },
                { { NULL }, "no files in chart archive" },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;

                assert_string_equal(unpacked(&arena, table[i].files, true), table[i].what);
        }
}

/* spec/helm-chart.md checklist 93 */
static void no_name_in_a_source_leads_outside(void **state)
{
        static const struct {
                const char *files[4], *what;
        } table[] = {
                { { "b=2", "a/z=1", "./c=3" }, "a/z=1;b=2;c=3;" },
                { { "/etc/x=1" }, "the archive has \"/etc/x\", which is no relative path with slashes" },
                { { "a\\b=1" }, "the archive has \"a\\b\", which is no relative path with slashes" },
                { { "../x=1" }, "the archive has \"../x\", which leads outside of it" },
                { { "a/../../x=1" }, "the archive has \"a/../../x\", which leads outside of it" },
                { { "a/..=1" }, "the archive has \"a/..\", which leads outside of it" },
                { { "a/../b=1" }, "b=1;" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf deep;

        for (size_t i = 0; i < ARRAY_LEN(table); i++)
                assert_string_equal(unpacked(&arena, table[i].files, false), table[i].what);
        buf_init(&deep, 1000);
        for (int i = 0; i < FILE_SET_DEPTH; i++)
                buf_append_str(&deep, "d/");
        buf_append_str(&deep, "x=1");
        assert_non_null(strstr(unpacked(&arena, FILES(deep.data), false), "which is deeper than 64 folders"));
        assert_non_null(strstr(unpacked(&arena, FILES(deep.data + 2), false), "/x=1;"));
}

static struct set_file named(const char *path)
{
        return (struct set_file){ .path = path };
}

static void what_is_below_a_folder_is_found(void **state)
{
        struct set_file at[] = { named("a-b"),   named("a"),  named("a/2"),
                                 named("a/1/x"), named("a0"), named("b") };
        struct file_set s = { at, ARRAY_LEN(at) }, below;
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_int_equal(file_set_sort(&s), 0);
        below = file_set_below(&s, "a");
        assert_int_equal(below.n, 2);
        assert_string_equal(below.at[0].path, "a/1/x");
        assert_string_equal(below.at[1].path, "a/2");
        assert_int_equal(file_set_below(&s, "").n, 6);
        assert_int_equal(file_set_below(&s, "b").n, 0);
        assert_int_equal(file_set_below(&s, "z").n, 0);
        assert_int_equal(file_set_take(&arena, &s, "a", &below), 0);
        assert_string_equal(below.at[0].path, "1/x");
        assert_non_null(file_set_find(&s, "a0"));
        assert_null(file_set_find(&s, "a/1"));
        assert_null(file_set_find(&(struct file_set){ 0 }, "a"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_in_a_chart_lose_their_first_element),
                cmocka_unit_test(no_name_in_a_source_leads_outside),
                cmocka_unit_test(what_is_below_a_folder_is_found),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
