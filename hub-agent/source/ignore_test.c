#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "hub-agent/source/glob.h"
#include "hub-agent/source/ignore.h"

static void names_match_patterns(void **state)
{
        static const struct {
                const char *pattern, *in, *out; /* names separated by blanks */
        } rows[] = {
                { "a", "a", "b aa" },
                { "*", "a abc .x", "" },
                { "*.md", "a.md .md a.b.md", "a.mdx md" },
                { "a*b*c", "abc aXbYc abbcc aabbcbc", "ab acb abcd" },
                { "?", "a ü", "ab" },
                { "a?c", "abc aüc", "ac abbc" },
                { "[a-c]x", "ax cx", "dx x" },
                { "[^a-c]x", "dx", "ax" },
                { "[!a-c]x", "dx", "bx" },
                { "[]a]", "] a", "b" },
                { "[a-]", "a -", "b" },
                { "[\\]]", "]", "\\" },
                { "\\*", "*", "a" },
                { "a\\", "", "a a\\" },
                { "[a", "", "a [a" },
                { "*a*a*a*a*a*a*a*a*b", "", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
        };
        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                for (int in = 0; in < 2; in++) {
                        struct slice all = slice_of(in ? rows[i].in : rows[i].out), one;

                        while (all.len > 0) {
                                slice_cut(&all, ' ', &one);
                                if (glob_matches(slice_of(rows[i].pattern), one) != (bool)in)
                                        fail_msg("%s %s %.*s", rows[i].pattern, in ? "is not" : "is",
                                                 (int)one.len, one.data);
                        }
                }
}

static bool ignores(const char *folder, const char *text, const char *path)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct ignore_rules r = { .arena = &arena };
        size_t n = strlen(path);
        bool is_folder = n && path[n - 1] == '/';
        const char *plain = arena_strndup(&arena, path, n - is_folder);

        assert_int_equal(ignore_add(&r, folder, slice_of(text), NULL), 0);
        return ignore_has(&r, plain, is_folder);
}

/* spec/helm-chart.md checklist 90 */
static void what_is_left_out_is_said_in_the_form_of_git(void **state)
{
        static const struct {
                const char *text, *left_out,
                        *kept; /* paths separated by blanks; those of folders end in a slash */
        } rows[] = {
                { "*.txt", "a.txt b/c.txt d.txt/e", "a.md" },
                { "/a", "a a/b", "b/a" },
                { "a/b", "a/b a/b/c", "c/a/b a/c" },
                { "docs/", "docs/ docs/a x/docs/ x/docs/a", "docs x/docs" },
                { "/docs/", "docs/ docs/a", "docs x/docs/" },
                { "**/tmp", "tmp a/tmp a/b/tmp a/tmp/x", "tmpx" },
                { "a/**", "a/b a/b/c a/b/", "a a/ b/a/c" },
                { "a/**/b", "a/b a/x/b a/x/y/b a/x/b/c", "a/x b" },
                { "*.md\n!README.md", "a.md b/c.md", "README.md b/README.md" },
                { "a/*\n!a/keep", "a/b a/c/d", "a/keep a/keep/x a" },
                { "# a\n\n\\#b", "#b", "a # b" },
                { "\\!a", "!a", "a" },
                { "a \r\nb\\ ", "a", "c" },
                { "/", "", "a b/c" },
                { "!", "", "a" },
                { "*", "a a/b", "" },
                { "*\n!*/\n!*.yaml", "a.md", "x/ a.yaml x/y/a.yaml x/a.md" },
                { "/*\n!/apps/foo", "b apps/ apps/b", "apps/foo apps/foo/x" },
        };
        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                for (int in = 0; in < 2; in++) {
                        struct slice all = slice_of(in ? rows[i].left_out : rows[i].kept), one;

                        while (all.len > 0) {
                                slice_cut(&all, ' ', &one);
                                AUTO_FREE char *path = mem_strndup(one.data, one.len);

                                if (ignores("", rows[i].text, path) != (bool)in)
                                        fail_msg("\"%s\" %s %s", rows[i].text, in ? "keeps" : "leaves out",
                                                 path);
                        }
                }
}

static void a_file_of_a_folder_is_about_what_is_in_there(void **state)
{
        assert_true(ignores("a/b", "*.txt", "a/b/c.txt"));
        assert_true(ignores("a/b", "/c", "a/b/c/d"));
        assert_false(ignores("a/b", "*.txt", "a/c.txt"));
        assert_false(ignores("a/b", "*.txt", "a/bc.txt"));
        assert_false(ignores("a/b", "/c", "c"));
}

/* spec/helm-chart.md checklist 90 */
static void some_is_left_out_unless_somebody_says_what_is(void **state)
{
        static const char *const always[] = { ".git", "a/.gitignore", ".gitmodules", ".gitattributes" };
        static const char *const unless_said[] = { "a/b.png", "x.tar.gz", ".travis.yml", "a/.flux.yaml",
                                                   ".sops.yaml" };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct ignore_rules all = { .arena = &arena }, said = { .arena = &arena };

        assert_int_equal(ignore_add_defaults(&all, true, NULL), 0);
        assert_int_equal(ignore_add_defaults(&said, false, NULL), 0);
        for (size_t i = 0; i < ARRAY_LEN(always); i++) {
                assert_true(ignore_has(&all, always[i], i == 0));
                assert_true(ignore_has(&said, always[i], i == 0));
        }
        for (size_t i = 0; i < ARRAY_LEN(unless_said); i++) {
                assert_true(ignore_has(&all, unless_said[i], false));
                assert_false(ignore_has(&said, unless_said[i], false));
        }
        assert_true(ignore_has(&all, ".github/workflows/a.yaml", false));
        assert_false(ignore_has(&all, "a.yaml", false));
        assert_int_equal(ignore_add(&all, "", slice_of("!keep.png"), NULL), 0);
        assert_false(ignore_has(&all, "a/keep.png", false));
}

static void there_is_a_most_of_patterns(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct ignore_rules r = { .arena = &arena };
        AUTO_FREE char *text = mem_alloc(2 * (IGNORE_RULES_MAX + 1));

        for (size_t i = 0; i <= IGNORE_RULES_MAX; i++)
                memcpy(text + 2 * i, "a\n", 2);
        assert_int_equal(ignore_add(&r, "", (struct slice){ text, 2 * IGNORE_RULES_MAX }, NULL), 0);
        assert_int_equal(ignore_add(&r, "", slice_of("a"), NULL), ERR_LIMIT);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_match_patterns),
                cmocka_unit_test(what_is_left_out_is_said_in_the_form_of_git),
                cmocka_unit_test(a_file_of_a_folder_is_about_what_is_in_there),
                cmocka_unit_test(some_is_left_out_unless_somebody_says_what_is),
                cmocka_unit_test(there_is_a_most_of_patterns),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
