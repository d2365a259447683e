#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/ctrl/controller.h"

/* Steps that take time, on a simulated loop. */
struct fixture {
        struct world world;
        struct kube_client kube;
        struct arena arena;
        struct error err;
        struct reconcile rc;
        size_t running, most, begun, fail_at; /* fail_at: SIZE_MAX = none fails */
        bool done[64];
        void (*body)(struct fixture *f);
};

static int step(struct reconcile *one, void *ctx, size_t i)
{
        struct fixture *f = ctx;

        f->begun++;
        f->running++;
        f->most = MAX(f->most, f->running);
        assert_int_equal(fiber_sleep(f->world.loop, 10), 0);
        f->running--;
        if (i == f->fail_at)
                return error_set(one->err, ERR_CONFLICT, "step %zu", i);
        f->done[i] = true;
        return 0;
}

static void run_body(void *ctx)
{
        struct fixture *f = ctx;

        f->body(f);
}

static void run(void (*body)(struct fixture *f))
{
        struct fixture f = { .body = body, .fail_at = SIZE_MAX };
        struct fiber_group *group;

        f.world.loop = loop_new_simulated(1, 1000000, NULL);
        f.kube.world = &f.world;
        f.rc = (struct reconcile){ .arena = &f.arena, .kube = &f.kube, .err = &f.err };
        group = fiber_group_new(f.world.loop, NULL, "test");
        assert_non_null(fiber_spawn(group, "test", run_body, &f));
        assert_int_equal(loop_run(f.world.loop, NULL), 0);
        fiber_group_end(group);
        loop_free(f.world.loop);
}

static void all_body(struct fixture *f)
{
        int64_t begin = loop_now_ms(f->world.loop);

        assert_int_equal(rc_for_each(&f->rc, ARRAY_LEN(f->done), step, f), 0);
        for (size_t i = 0; i < ARRAY_LEN(f->done); i++)
                assert_true(f->done[i]);
        assert_int_equal(f->most, 16);
        assert_int_equal(loop_now_ms(f->world.loop) - begin, 40);
        assert_int_equal(rc_for_each(&f->rc, 0, step, f), 0);
        assert_int_equal(f->begun, ARRAY_LEN(f->done));
}
static void every_step_is_done_once_and_sixteen_at_a_time(void **state)
{
        run(all_body);
}

static void few_body(struct fixture *f)
{
        assert_int_equal(rc_for_each_of(&f->rc, 3, 10, step, f), 0);
        assert_int_equal(f->begun, 10);
        assert_int_equal(f->most, 3);
}
static void so_many_are_in_flight_as_are_wanted(void **state)
{
        run(few_body);
}

static void failure_body(struct fixture *f)
{
        f->fail_at = 3;
        assert_int_equal(rc_for_each(&f->rc, ARRAY_LEN(f->done), step, f), ERR_CONFLICT);
        assert_string_equal(f->err.text, "step 3");
        assert_int_equal(f->running, 0);
        assert_in_range(f->begun, 16, 32);
}
static void a_failure_is_returned_and_ends_the_rest(void **state)
{
        run(failure_body);
}

struct life {
        struct fixture *f;
        size_t living, most, ended;
};

static void end_of_life(void *ctx)
{
        struct life *l = ctx;

        l->living--;
        l->ended++;
}

static int allocate(struct reconcile *one, void *ctx, size_t i)
{
        struct life *l = ctx;

        assert_ptr_not_equal(one->arena, &l->f->arena);
        assert_int_equal(arena_defer(one->arena, end_of_life, l), 0);
        l->living++;
        l->most = MAX(l->most, l->living);
        return fiber_sleep(l->f->world.loop, 10);
}

static void arena_body(struct fixture *f)
{
        struct life l = { .f = f };

        assert_int_equal(rc_for_each(&f->rc, 100, allocate, &l), 0);
        assert_int_equal(l.ended, 100);
        assert_in_range(l.most, 2, 16);
        assert_int_equal(rc_for_each(&f->rc, 1, allocate, &l), 0);
        assert_int_equal(l.ended, 101);
}
static void what_a_step_allocates_dies_with_it(void **state)
{
        run(arena_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_step_is_done_once_and_sixteen_at_a_time),
                cmocka_unit_test(so_many_are_in_flight_as_are_wanted),
                cmocka_unit_test(what_a_step_allocates_dies_with_it),
                cmocka_unit_test(a_failure_is_returned_and_ends_the_rest),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
