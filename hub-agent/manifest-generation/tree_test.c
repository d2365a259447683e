#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hub-agent/manifest-generation/tree_test.h"

static const char *const files[] = { "a.yaml", "a", "b/c.txt", "c", "b/d/e.yml", "e", NULL };

static void paths_are_joined_below_the_root(void **state)
{
        static const struct {
                const char *folder, *path, *joined; /* NULL: it leads out */
        } rows[] = {
                { "", "", "" },
                { "", ".", "" },
                { "", "/a//b/", "a/b" },
                { "a", "../b", "b" },
                { "a/b", "./../../c", "c" },
                { "a", "/b", "a/b" },
                { "a", "../../b", NULL },
                { "", "..", NULL },
                { "", "a/../..", NULL },
        };
        static const struct tree t = { NULL, "/work" };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct error err = { 0 };
                const char *joined = NULL;
                int code = tree_join(&t, &arena, rows[i].folder, rows[i].path, &joined, &err);

                assert_int_equal(code, rows[i].joined ? 0 : ERR_INVALID);
                if (rows[i].joined)
                        assert_string_equal(joined, rows[i].joined);
                else
                        assert_string_equal(err.text,
                                            arena_printf(&arena,
                                                         "path \"%s\" is outside of base directory /work",
                                                         rows[i].path));
        }
}

static void files_are_read_and_folders_listed(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct checkout c;
        struct slice text;
        struct tree_entry *entries;
        enum volume_kind kind;
        size_t n;

        checkout_open(&c, files);
        assert_int_equal(tree_read(&c.tree, &arena, "b/./d/../c.txt", &text, NULL), 0);
        assert_string_equal(text.data, "c");
        assert_int_equal(tree_list(&c.tree, &arena, "", &entries, &n, NULL), 0);
        assert_int_equal(n, 2);
        assert_string_equal(entries[0].name, "a.yaml");
        assert_false(entries[0].is_folder);
        assert_string_equal(entries[1].name, "b");
        assert_true(entries[1].is_folder);
        assert_int_equal(tree_look(&c.tree, &arena, "", &kind, NULL), 0);
        assert_int_equal(kind, VOLUME_FOLDER);
        assert_int_equal(tree_look(&c.tree, &arena, "b/x", &kind, NULL), ERR_NOT_FOUND);
        assert_int_equal(tree_read(&c.tree, &arena, "b", &text, NULL), ERR_INVALID);
        checkout_close(&c);
}

/* ---- links, on a folder of the file system ---- */

struct folder {
        char path[40];
        struct loop *loop;
        struct world world;
        struct tree tree;
};

static void in_folder(struct folder *f, const char *format, const char *name)
{
        AUTO_FREE char *command = mem_printf(format, f->path, name);

        assert_int_equal(system(command), 0);
}

static void folder_open(struct folder *f)
{
        memcpy(f->path, "/tmp/tree-XXXXXX", sizeof("/tmp/tree-XXXXXX"));
        assert_non_null(mkdtemp(f->path));
        in_folder(f, "cd %s && mkdir -p %s/b checkout/a/b && echo -n x > outside.yaml", "checkout");
        in_folder(f,
                  "cd %s/%s && echo -n in > a/b/in.yaml && ln -s a/b here && ln -s ../../a/b/in.yaml "
                  "a/b/up.yaml && "
                  "ln -s ../outside.yaml out.yaml && ln -s /etc/passwd abs.yaml && ln -s loop.yaml loop.yaml "
                  "&& ln "
                  "-s gone dangling.yaml && ln -s .. a/b/above && ln -s b a/folder.yaml",
                  "checkout");
        f->loop = loop_new_real(NULL);
        world_init_real(&f->world, f->loop, NULL);
        AUTO_FREE char *checkout = mem_printf("%s/checkout", f->path);
        assert_int_equal(volume_open(&f->world, checkout, &f->tree.volume, NULL), 0);
        f->tree.name = "/work";
}

static void folder_close(struct folder *f)
{
        volume_close(f->tree.volume);
        loop_free(f->loop);
        in_folder(f, "rm -rf %s%s", "");
}

/* spec/flux-yaml.md checklist 9 */
static void links_are_followed_but_not_out_of_the_checkout(void **state)
{
        static const struct {
                const char *path, *text;
                int code;
                const char *words;
        } rows[] = {
                { "here/in.yaml", "in", 0, "" },
                { "a/b/up.yaml", "in", 0, "" },
                { "here/above/b/in.yaml", "in", 0, "" },
                { "out.yaml", NULL, ERR_INVALID, "path \"out.yaml\" is outside of base directory /work" },
                { "abs.yaml", NULL, ERR_INVALID, "path \"abs.yaml\" is outside of base directory /work" },
                { "loop.yaml", NULL, ERR_LIMIT, "loop.yaml: more than 40 links on the way" },
                { "dangling.yaml", NULL, ERR_NOT_FOUND, "look at gone: no such file" },
        };
        struct folder f;

        folder_open(&f);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct error err = { 0 };
                struct slice text;

                assert_int_equal(tree_read(&f.tree, &arena, rows[i].path, &text, &err), rows[i].code);
                assert_string_equal(err.text, rows[i].words);
                if (rows[i].text)
                        assert_string_equal(text.data, rows[i].text);
        }
        folder_close(&f);
}

static void assert_files(const struct tree *t, const char *target, const char *wanted)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf b;
        const char *const *found;
        size_t n;

        buf_init(&b, 1 << 16);
        assert_int_equal(tree_raw_files(t, &arena, target, &found, &n, NULL), 0);
        for (size_t i = 0; i < n; i++)
                buf_printf(&b, "%s%s", i ? " " : "", found[i]);
        assert_string_equal(b.data, wanted);
}

static void folders_behind_links_are_not_walked(void **state)
{
        struct folder f;

        folder_open(&f);
        assert_files(&f.tree, "", "a/b/in.yaml a/b/up.yaml abs.yaml dangling.yaml loop.yaml out.yaml");
        assert_files(&f.tree, "here", "here/in.yaml here/up.yaml");
        folder_close(&f);
}

/* ---- raw files ---- */

static void all_yaml_files_below_a_path_count(void **state)
{
        static const char *const some[] = {
                "b.yaml",         "", "a.yml",       "", "c.json",     "", "README.md", "",
                ".hidden/x.yaml", "", ".git/x.yaml", "", "b/a.yaml",   "", "b-1.yaml",  "",
                "deep/er/x.yaml", "", "B.yaml",      "", "x.yaml.bak", "", NULL
        };
        struct checkout c;

        checkout_open(&c, some);
        assert_files(&c.tree, "", ".hidden/x.yaml B.yaml a.yml b/a.yaml b-1.yaml b.yaml deep/er/x.yaml");
        assert_files(&c.tree, "deep", "deep/er/x.yaml");
        assert_files(&c.tree, "b/a.yaml", "b/a.yaml");
        assert_files(&c.tree, "c.json", "");
        checkout_close(&c);
}

/* spec/flux-yaml.md checklist 26 */
static void charts_are_passed_over(void **state)
{
        static const char *const some[] = { "charts/a/Chart.yaml",
                                            "",
                                            "charts/a/values.yaml",
                                            "",
                                            "charts/a/templates/x.yaml",
                                            "",
                                            "charts/b/Chart.yaml",
                                            "",
                                            "charts/b/x.yaml",
                                            "",
                                            "y.yaml",
                                            "",
                                            NULL };
        struct checkout c;

        checkout_open(&c, some);
        assert_files(&c.tree, "", "charts/b/Chart.yaml charts/b/x.yaml y.yaml");
        assert_files(&c.tree, "charts/a", "");
        assert_files(&c.tree, "charts/a/templates", "");
        assert_files(&c.tree, "charts/a/templates/x.yaml", "");
        checkout_close(&c);
}

static void a_path_that_is_not_there_is_told(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *const *found;
        struct error err = { 0 };
        struct checkout c;
        size_t n;

        checkout_open(&c, files);
        assert_int_equal(tree_raw_files(&c.tree, &arena, "x/y", &found, &n, &err), ERR_NOT_FOUND);
        assert_string_equal(err.text, "unable to read root path \"x/y\"");
        assert_int_equal(tree_raw_files(&c.tree, &arena, "a\n\"b\"", &found, &n, &err), ERR_NOT_FOUND);
        assert_string_equal(err.text, "unable to read root path \"a\\n\\\"b\\\"\"");
        assert_int_equal(tree_raw_files(&c.tree, &arena, "../x", &found, &n, &err), ERR_INVALID);
        assert_string_equal(err.text, "path \"../x\" is outside of base directory /work");
        checkout_close(&c);
}

static int read_all(void *ctx)
{
        const struct checkout *c = ctx;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *const *found;
        struct error err = { 0 };
        struct slice text;
        size_t n;

        TRY(tree_raw_files(&c->tree, &arena, "", &found, &n, &err));
        for (size_t i = 0; i < n; i++)
                TRY(tree_read(&c->tree, &arena, found[i], &text, &err));
        return 0;
}

static void each_allocation_that_fails_is_told(void **state)
{
        struct checkout c;

        checkout_open(&c, files);
        walk_failing_allocations(read_all, &c);
        checkout_close(&c);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(paths_are_joined_below_the_root),
                cmocka_unit_test(files_are_read_and_folders_listed),
                cmocka_unit_test(links_are_followed_but_not_out_of_the_checkout),
                cmocka_unit_test(folders_behind_links_are_not_walked),
                cmocka_unit_test(all_yaml_files_below_a_path_count),
                cmocka_unit_test(charts_are_passed_over),
                cmocka_unit_test(a_path_that_is_not_there_is_told),
                cmocka_unit_test(each_allocation_that_fails_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
