#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/memory.h"
#include "common/loop/loop.h"
#include "common/loop/world.h"

struct real {
        struct loop *loop;
        struct fiber_group *root;
        struct fiber *fiber;
        uv_timer_t foreign;
        struct world world;
        int64_t began_ms, seen_ms;
        int n;
};

static int set_up(void **state)
{
        struct real *r = NEW(struct real);
        r->loop = loop_new_real(NULL);
        r->root = fiber_group_new(r->loop, NULL, "root");
        world_init_real(&r->world, r->loop, NULL);
        *state = r;
        return 0;
}

static int tear_down(void **state)
{
        struct real *r = *state;
        fiber_group_end(r->root);
        loop_free(r->loop);
        mem_free(r);
        return 0;
}

static void foreign_fired(uv_timer_t *t)
{
        struct real *r = t->data;
        fiber_wake(r->fiber);
        uv_close((uv_handle_t *)t, NULL);
}

static void wait_for_foreign_timer(void *ctx)
{
        struct real *r = ctx;
        r->fiber = fiber_self(r->loop);
        uv_timer_init(loop_uv(r->loop), &r->foreign);
        r->foreign.data = r;
        uv_timer_start(&r->foreign, foreign_fired, 0, 0);
        r->n = fiber_park(r->loop, DEADLINE_NONE) == 0;
}

static void a_library_timer_that_is_due_before_the_wait_wakes_its_fiber(void **state)
{
        struct real *r = *state;
        assert_non_null(fiber_spawn(r->root, "waiter", wait_for_foreign_timer, r));
        assert_int_equal(loop_run(r->loop, NULL), 0);
        assert_int_equal(r->n, 1);
}

#define IDLE_MS 50

static void note_the_time(uv_timer_t *t)
{
        struct real *r = t->data;
        r->seen_ms = loop_now_ms(r->loop);
        foreign_fired(t);
}

static void wait_idly(void *ctx)
{
        struct real *r = ctx;
        r->fiber = fiber_self(r->loop);
        r->began_ms = loop_now_ms(r->loop);
        uv_timer_init(loop_uv(r->loop), &r->foreign);
        r->foreign.data = r;
        uv_timer_start(&r->foreign, note_the_time, IDLE_MS, 0);
        assert_int_equal(fiber_park(r->loop, DEADLINE_NONE), 0);
}

/* Or a server that nobody spoke to for long would give its next client no time at all. */
static void a_library_callback_after_a_wait_counts_from_its_end(void **state)
{
        struct real *r = *state;
        assert_non_null(fiber_spawn(r->root, "waiter", wait_idly, r));
        assert_int_equal(loop_run(r->loop, NULL), 0);
        assert_true(r->seen_ms >= r->began_ms + IDLE_MS);
}

static void burn(void *ctx)
{
        struct real *r = ctx;
        for (int64_t until = loop_now_us(r->loop) + 10000; loop_now_us(r->loop) < until;)
                r->n++;
}

static void sleep_two(void *ctx)
{
        struct real *r = ctx;
        assert_int_equal(fiber_sleep(r->loop, 2), 0);
}

static void a_deadline_that_passes_while_fibers_compute_is_not_missed(void **state)
{
        struct real *r = *state;
        assert_non_null(fiber_spawn(r->root, "sleeper", sleep_two, r));
        assert_non_null(fiber_spawn(r->root, "burner", burn, r));
        assert_int_equal(loop_run(r->loop, NULL), 0);
}

static void compute(void *ctx)
{
        *(int *)ctx = 42;
}

static void offload_and_cancel(void *ctx)
{
        struct real *r = ctx;
        fiber_cancel(fiber_self(r->loop));
        assert_int_equal(offload(r->loop, compute, &r->n, NULL), 0);
        assert_int_equal(r->n, 42);
}

static void offloaded_work_is_done_even_for_a_cancelled_fiber(void **state)
{
        struct real *r = *state;
        assert_non_null(fiber_spawn(r->root, "offloader", offload_and_cancel, r));
        assert_int_equal(loop_run(r->loop, NULL), 0);
        assert_int_equal(r->n, 42);
}

static void end_on_signal(void *ctx)
{
        struct real *r = ctx;
        r->n++;
        fiber_group_cancel(r->root);
}

static void terminate_self(void *ctx)
{
        struct real *r = ctx;
        kill(getpid(), SIGTERM);
        assert_int_equal(fiber_park(r->loop, DEADLINE_NONE), ERR_CANCELLED);
}

static void a_termination_signal_is_told_from_the_loop(void **state)
{
        struct real *r = *state;
        assert_int_equal(world_on_terminate(&r->world, end_on_signal, r, NULL), 0);
        assert_non_null(fiber_spawn(r->root, "victim", terminate_self, r));
        assert_int_equal(loop_run(r->loop, NULL), 0);
        assert_int_equal(r->n, 1);
}

static void random_bytes_differ(void **state)
{
        struct real *r = *state;
        assert_true(loop_random_u64(r->loop) != loop_random_u64(r->loop));
}

static void files_are_written_whole_and_private_and_read_with_a_limit(void **state)
{
        struct real *r = *state;
        const struct world_files *files = r->world.files;
        char folder[] = "/tmp/argosy-world-XXXXXX";
        char *data, *link_path, *path;
        size_t len;
        struct stat st;
        assert_non_null(mkdtemp(folder));
        path = mem_must(mem_printf("%s/a/b/file", folder));
        link_path = mem_must(mem_printf("%s/a/b/link", folder));
        AUTO_FREE char *deep = mem_must(mem_printf("%s/a/b", folder));
        AUTO_FREE char *upper = mem_must(mem_printf("%s/a", folder));
        assert_int_equal(files->read(NULL, path, 10, &data, &len, NULL), ERR_NOT_FOUND);
        assert_int_equal(files->stamp(NULL, path), 0);
        assert_int_equal(files->make_directory(r->world.ctx, deep, NULL), 0);
        assert_int_equal(files->make_directory(r->world.ctx, deep, NULL), 0);
        assert_int_equal(files->write(r->world.ctx, path, "hello", 5, NULL), 0);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        uint64_t stamp = files->stamp(NULL, path);
        assert_int_equal(files->read(NULL, path, 4, &data, &len, NULL), ERR_LIMIT);
        assert_int_equal(files->read(NULL, path, 5, &data, &len, NULL), 0);
        assert_string_equal(data, "hello");
        mem_free(data);
        /* A link at the target is replaced, what it points to stays. */
        assert_int_equal(symlink(path, link_path), 0);
        assert_int_equal(files->write(r->world.ctx, link_path, "other", 5, NULL), 0);
        assert_int_equal(lstat(link_path, &st), 0);
        assert_true(S_ISREG(st.st_mode));
        assert_true(files->stamp(NULL, path) == stamp);
        assert_int_equal(files->read(NULL, deep, 5, &data, &len, NULL), ERR_INVALID);
        assert_int_equal(files->remove(NULL, link_path, NULL), 0);
        assert_int_equal(files->remove(NULL, link_path, NULL), ERR_NOT_FOUND);
        assert_int_equal(files->remove(NULL, path, NULL), 0);
        rmdir(deep);
        rmdir(upper);
        assert_int_equal(rmdir(folder), 0); /* no temporary file is left */
        mem_free(path);
        mem_free(link_path);
}

static void a_folder_is_listed_by_name(void **state)
{
        struct real *r = *state;
        const struct world_files *files = r->world.files;
        static const char *const names[] = { "b", "B", "a.yaml" };
        static const char want[] = "B\0a.yaml\0b\0";
        char folder[] = "/tmp/argosy-world-XXXXXX";
        char *list = NULL;
        assert_non_null(mkdtemp(folder));
        assert_int_equal(files->list(NULL, folder, &list, NULL), 0);
        assert_string_equal(list, "");
        mem_free(list);
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
                AUTO_FREE char *path = mem_must(mem_printf("%s/%s", folder, names[i]));
                assert_int_equal(files->write(r->world.ctx, path, "x", 1, NULL), 0);
        }
        assert_int_equal(files->list(NULL, folder, &list, NULL), 0);
        assert_memory_equal(list, want, sizeof(want));
        mem_free(list);
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
                AUTO_FREE char *path = mem_must(mem_printf("%s/%s", folder, names[i]));
                assert_int_equal(files->list(NULL, path, &list, NULL), ERR_UNSUPPORTED);
                assert_int_equal(files->remove(NULL, path, NULL), 0);
        }
        assert_int_equal(rmdir(folder), 0);
        assert_int_equal(files->list(NULL, folder, &list, NULL), ERR_NOT_FOUND);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(a_library_timer_that_is_due_before_the_wait_wakes_its_fiber),
                TEST(a_library_callback_after_a_wait_counts_from_its_end),
                TEST(a_deadline_that_passes_while_fibers_compute_is_not_missed),
                TEST(offloaded_work_is_done_even_for_a_cancelled_fiber),
                TEST(a_termination_signal_is_told_from_the_loop),
                TEST(random_bytes_differ),
                TEST(files_are_written_whole_and_private_and_read_with_a_limit),
                TEST(a_folder_is_listed_by_name),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
