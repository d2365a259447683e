/* Folders for checkouts, on a real file system. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "hub-agent/git/git.h"

struct rig {
        struct loop *loop;
        struct world world;
        struct fiber_group *group;
        struct git_work *work;
        struct arena arena;
        char folder[64];
        bool others_ran, done;
};

static void other(void *ctx)
{
        struct rig *r = ctx;

        r->others_ran = true;
}

static void make_folder(struct rig *r, const char **ret)
{
        assert_int_equal(git_work_name(r->work, "tree", &r->arena, ret, NULL), 0);
        assert_int_equal(mkdir(*ret, 0700), 0);
        AUTO_FREE char *below = mem_printf("%s/below", *ret);

        assert_int_equal(mkdir(below, 0700), 0);
}

static void remove_some(void *ctx)
{
        struct rig *r = ctx;
        const char *first, *second;

        assert_int_equal(git_work_open(&r->world, r->folder, &r->work, NULL), 0);
        make_folder(r, &first);
        make_folder(r, &second);
        assert_non_null(fiber_spawn(r->group, "other", other, r));
        git_work_remove(r->work, first);
        assert_true(r->others_ran);
        assert_int_equal(access(first, F_OK), -1);
        git_work_remove(r->work, second);
        assert_int_equal(access(second, F_OK), -1);
        git_work_close(r->work);
        r->done = true;
}

/* What a command left may be millions of files. */
static void others_run_while_a_folder_is_removed(void **state)
{
        struct rig r = { .loop = loop_new_real(NULL), .folder = "/tmp/argosy-work-XXXXXX" };

        assert_non_null(mkdtemp(r.folder));
        world_init_real(&r.world, r.loop, NULL);
        r.group = fiber_group_new(r.loop, NULL, "test");
        assert_non_null(fiber_spawn(r.group, "test", remove_some, &r));
        assert_int_equal(loop_run(r.loop, NULL), 0);
        assert_true(r.done);
        fiber_group_end(r.group);
        loop_free(r.loop);
        arena_free(&r.arena);
        assert_int_equal(rmdir(r.folder), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(others_run_while_a_folder_is_removed),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
