/* spec/flux-yaml.md 9.4.1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "hub-agent/manifest-generation/work_diff.h"

struct bench {
        struct loop *loop;
        struct tree tree;
        struct arena arena;
        struct work_snapshot before;
};

static void put(struct bench *b, const char *path, const char *text)
{
        struct volume_writer *w = NULL;

        assert_int_equal(volume_create(b->tree.volume, path, &w, NULL), 0);
        assert_int_equal(volume_append(w, text, strlen(text), NULL), 0);
        assert_int_equal(volume_commit(w, NULL), 0);
}

static void fill(void *ctx)
{
        struct bench *b = ctx;

        put(b, "a.yaml", "a");
        put(b, "staging/b.yaml", "b");
        put(b, "staging-two/c.yaml", "c");
        put(b, ".git/config", "x");
        assert_int_equal(work_snapshot_take(&b->tree, &b->arena, &b->before, NULL), 0);
}

static void run(struct bench *b, void (*fn)(void *ctx))
{
        struct fiber_group *g;

        *b = (struct bench){ .loop = loop_new_simulated(1, 0, NULL) };
        b->tree = (struct tree){ volume_new_in_memory(b->loop), "/work" };
        g = fiber_group_new(b->loop, NULL, "test");
        assert_non_null(fiber_spawn(g, "fill", fill, b));
        assert_int_equal(loop_run(b->loop, NULL), 0);
        assert_non_null(fiber_spawn(g, "test", fn, b));
        assert_int_equal(loop_run(b->loop, NULL), 0);
        fiber_group_end(g);
        volume_close(b->tree.volume);
        arena_free(&b->arena);
        loop_free(b->loop);
}

static void nothing(void *ctx)
{
        struct bench *b = ctx;
        struct work_diff d;

        assert_int_equal(work_diff_make(&b->tree, &b->before, false, &b->arena, &d, NULL), 0);
        assert_int_equal(d.n, 0);
}

static void where_nothing_was_done_nothing_differs(void **state)
{
        struct bench b;

        run(&b, nothing);
}

static void change_all(struct bench *b)
{
        put(b, "a.yaml", "A");
        put(b, "staging/new.yaml", "n");
        put(b, ".git/config", "y");
        assert_int_equal(volume_remove(b->tree.volume, "staging/b.yaml", NULL), 0);
        assert_int_equal(volume_link(b->tree.volume, "link", "a.yaml", NULL), 0);
}

static void all(void *ctx)
{
        struct bench *b = ctx;
        struct work_diff d;

        change_all(b);
        assert_int_equal(work_diff_make(&b->tree, &b->before, false, &b->arena, &d, NULL), 0);
        assert_int_equal(d.n, 4);
        assert_string_equal(d.at[0].path, "a.yaml");
        assert_true(slice_is(d.at[0].data, "A") && d.at[0].kind == GIT_FILE && !d.at[0].removed);
        assert_string_equal(d.at[1].path, "link");
        assert_true(slice_is(d.at[1].data, "a.yaml") && d.at[1].kind == GIT_LINK);
        assert_string_equal(d.at[2].path, "staging/b.yaml");
        assert_true(d.at[2].removed);
        assert_string_equal(d.at[3].path, "staging/new.yaml");
}

static void what_changed_came_and_went_is_told_in_order(void **state)
{
        struct bench b;

        run(&b, all);
}

static void known(void *ctx)
{
        struct bench *b = ctx;
        static const char *const paths[] = { "staging" };
        struct work_diff d;

        change_all(b);
        put(b, "staging-two/c.yaml", "C");
        assert_int_equal(work_diff_make(&b->tree, &b->before, true, &b->arena, &d, NULL), 0);
        assert_int_equal(d.n, 3);
        work_diff_confine(&d, paths, 1);
        assert_int_equal(d.n, 1);
        assert_string_equal(d.at[0].path, "staging/b.yaml");
}

/* spec/flux-yaml.md checklist 3 */
static void files_can_be_confined_to_known_ones_below_paths(void **state)
{
        struct bench b;

        run(&b, known);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(where_nothing_was_done_nothing_differs),
                cmocka_unit_test(what_changed_came_and_went_is_told_in_order),
                cmocka_unit_test(files_can_be_confined_to_known_ones_below_paths),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
