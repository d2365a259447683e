/* spec/flux-yaml.md 6: a request with dryRun. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hub-agent/manifest-generation/text_diff.h"

static void differs(const char *before, const char *after, const char *wanted)
{
        const struct slice none = { NULL, 0 };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf b;

        buf_init(&b, 10000);
        assert_int_equal(text_diff(&arena, "a.yaml", before ? slice_of(before) : none,
                                   after ? slice_of(after) : none, &b),
                         0);
        assert_string_equal(b.data, wanted);
}

#define HEAD "--- a.yaml\n+++ a.yaml\n"

static void only_lines_that_differ_are_told(void **state)
{
        differs("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\neight\n9\n",
                HEAD "@@ -5,1 +5,1 @@\n-5\n+five\n@@ -8,1 +8,1 @@\n-8\n+eight\n");
}

static void what_stands_beside_a_change_is_not_told(void **state)
{
        differs("image: a\npassword: hush\nx: 1\nimage: a\n", "image: b\npassword: hush\nx: 1\nimage: b\n",
                HEAD "@@ -1,1 +1,1 @@\n-image: a\n+image: b\n@@ -4,1 +4,1 @@\n-image: a\n+image: b\n");
}

static void files_come_and_go(void **state)
{
        differs(NULL, "1\n2\n", "--- /dev/null\n+++ a.yaml\n@@ -0,0 +1,2 @@\n+1\n+2\n");
        differs("1\n", NULL, "--- a.yaml\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-1\n");
        differs(NULL, "", "--- /dev/null\n+++ a.yaml\n");
}

static void lines_are_added_and_taken_away(void **state)
{
        differs("1\n2\n3\n", "1\nnew\n2\n3\n", HEAD "@@ -1,0 +2,1 @@\n+new\n");
        differs("1\nold\n2\n3\n", "1\n2\n3\n", HEAD "@@ -2,1 +1,0 @@\n-old\n");
        differs("a\na\na\n", "a\na\n", HEAD "@@ -3,1 +2,0 @@\n-a\n");
        differs("1\n2", "1\n2\n3", HEAD "@@ -2,0 +3,1 @@\n+3\n");
}

static void equal_texts_have_no_difference(void **state)
{
        differs("1\n", "1\n", "");
        differs("", "", "");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_lines_that_differ_are_told),
                cmocka_unit_test(what_stands_beside_a_change_is_not_told),
                cmocka_unit_test(files_come_and_go),
                cmocka_unit_test(lines_are_added_and_taken_away),
                cmocka_unit_test(equal_texts_have_no_difference),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
