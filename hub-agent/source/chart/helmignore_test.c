#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hub-agent/source/chart/helmignore.h"

/* spec/helm-chart.md checklist 51 */
static void each_kind_of_rule_leaves_out_what_it_says(void **state)
{
        static const struct {
                const char *rules, *path;
                bool ignored;
        } table[] = {
                { "", "a", false },
                { "", "templates/.hidden", true },
                { "", "templates/.", false },
                { "", "templates/a/.hidden", false },
                { "", ".hidden", false },
                { "# a comment\n\n  \n", "# a comment", false },
                { "  a.txt  \n", "a.txt", true },
                { "a.txt\r\nb.txt", "b.txt", true },
                { "a.txt", "sub/a.txt", true },
                { "a.txt", "a.txt/inside", true },
                { "*.md", "docs/deep/x.md", true },
                { "*.md", "docs/x.mdx", false },
                { "[a-c]?", "b1", true },
                { "[a-c]?", "d1", false },
                { "[a-c", "[a-c", false },
                { "docs/", "docs/x", true },
                { "docs/", "sub/docs/x", true },
                { "docs/", "docs", false },
                { "/docs", "docs/x", true },
                { "/docs", "sub/docs", false },
                { "/docs/", "docs/x", true },
                { "/docs/", "docs", false },
                { "sub/docs", "sub/docs/x", true },
                { "sub/docs", "other/sub/docs", false },
                { "sub/*", "sub/x", true },
                { "sub/*", "sub/deep/x", true }, /* with its folder */
                { "sub/*.md", "sub/deep/x.md", false },
                { "/*.md", "x.md", true },
                { "/*.md", "sub/x.md", false },
                { "!keep", "keep", false },
                { "!keep", "other", true },
                { "!keep\nkeep", "keep", true },
                { "!keep/", "x", true }, /* no folder, so it does not match */
                { "other\n!keep", "keep", false },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct helmignore h;

                assert_int_equal(helmignore_parse(&arena, slice_of(table[i].rules), &h, NULL), 0);
                if (helmignore_has(&h, table[i].path) != table[i].ignored)
                        fail_msg("\"%s\" of %s", table[i].rules, table[i].path);
        }
}

/* spec/helm-chart.md checklist 51 */
static void two_stars_are_refused(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };
        struct helmignore h;

        assert_int_equal(helmignore_parse(&arena, slice_of("a\ndocs/**\n"), &h, &err), ERR_INVALID);
        assert_string_equal(err.text, "double-star (**) syntax is not supported");
        assert_int_equal(helmignore_parse(&arena, slice_of("# docs/**\n"), &h, &err), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_kind_of_rule_leaves_out_what_it_says),
                cmocka_unit_test(two_stars_are_refused),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
