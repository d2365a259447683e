#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "hub-agent/source/git_modules.h"

static void submodules_are_read_as_git_writes_them(void **state)
{
        static const char text[] = "# ours\n"
                                   "[submodule \"lib\"]\n"
                                   "\tpath = vendor/lib\n"
                                   "\turl = https://h/lib.git ; the mirror\n"
                                   "\tbranch = main\n"
                                   "[other]\n"
                                   "\turl = https://h/other\n"
                                   "[submodule \"b\"]\r\n"
                                   "\tURL=\"https://h/a b\\\"c\"\r\n"
                                   "\tPath = \" spaced \"  \n"
                                   "[submodule \"c\"]\n"
                                   "path = c\n";
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct git_modules m;

        assert_int_equal(git_modules_parse(slice_of(text), &arena, &m, NULL), 0);
        assert_int_equal(m.n, 3);
        assert_string_equal(git_modules_url(&m, "vendor/lib"), "https://h/lib.git");
        assert_string_equal(git_modules_url(&m, " spaced "), "https://h/a b\"c");
        assert_null(git_modules_url(&m, "c"));
        assert_null(git_modules_url(&m, "none"));
}

static void submodules_have_their_bounds(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf b;
        struct error err = { 0 };
        struct git_modules m;

        buf_init(&b, 1 << 20);
        for (int i = 0; i < GIT_MODULES_MAX; i++)
                buf_append_str(&b, "[submodule \"x\"]\n");
        assert_int_equal(git_modules_parse((struct slice){ b.data, b.len }, &arena, &m, &err), 0);
        buf_append_str(&b, "[submodule \"x\"]\n");
        assert_int_equal(git_modules_parse((struct slice){ b.data, b.len }, &arena, &m, &err), ERR_LIMIT);
        assert_int_equal(git_modules_parse(SLICE("a\0b"), &arena, &m, &err), ERR_INVALID);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(submodules_are_read_as_git_writes_them),
                cmocka_unit_test(submodules_have_their_bounds),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
