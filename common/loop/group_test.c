#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/memory.h"
#include "common/loop/loop.h"

struct fleet {
        struct loop *loop;
        struct fiber_group *root, *workers, *below;
        struct buf trace;
        int n, most, code;
};

static struct fleet *fleet_of(void **state)
{
        return *state;
}

static int set_up(void **state)
{
        struct fleet *f = NEW(struct fleet);
        f->loop = loop_new_simulated(7, 0, NULL);
        f->root = fiber_group_new(f->loop, NULL, "root");
        f->workers = fiber_group_new(f->loop, NULL, "workers");
        buf_init(&f->trace, 1 << 20);
        *state = f;
        return 0;
}

static int tear_down(void **state)
{
        struct fleet *f = *state;
        fiber_group_end(f->workers);
        fiber_group_end(f->root);
        loop_free(f->loop);
        buf_free(&f->trace);
        mem_free(f);
        return 0;
}

static void spawn(struct fleet *f, struct fiber_group *g, const char *name, fiber_fn fn)
{
        assert_non_null(fiber_spawn(g, name, fn, f));
}

static void run(struct fleet *f)
{
        struct error err = { 0 };
        if (loop_run(f->loop, &err) < 0)
                fail_msg("%s", err.text);
}

static void work(void *ctx)
{
        struct fleet *f = ctx;
        f->most = MAX(f->most, (int)fiber_group_count(f->workers));
        fiber_sleep(f->loop, 3);
        f->n++;
}

static void work_and_spawn_more(void *ctx)
{
        struct fleet *f = ctx;
        fiber_sleep(f->loop, 1);
        if (f->n++ < 20)
                spawn(f, f->workers, "more", work_and_spawn_more);
}

static void join_workers(void *ctx)
{
        struct fleet *f = ctx;
        f->code = fiber_group_join(f->workers, DEADLINE_NONE);
        assert_int_equal(fiber_group_count(f->workers), 0);
}

static void a_join_waits_for_fibers_spawned_meanwhile(void **state)
{
        struct fleet *f = fleet_of(state);
        spawn(f, f->workers, "first", work_and_spawn_more);
        spawn(f, f->root, "joiner", join_workers);
        run(f);
        assert_int_equal(f->code, 0);
        assert_int_equal(f->n, 21);
}

static void wait_for_ever(void *ctx)
{
        struct fleet *f = ctx;
        assert_int_equal(fiber_park(f->loop, DEADLINE_NONE), ERR_CANCELLED);
        fiber_mask_cancel(f->loop);
        assert_int_equal(fiber_sleep(f->loop, 2), 0); /* clean-up takes its time */
        fiber_unmask_cancel(f->loop);
        f->n++;
}

static void join_shortly(void *ctx)
{
        struct fleet *f = ctx;
        f->code = fiber_group_join(f->workers, loop_now_ms(f->loop) + 10);
        fiber_group_cancel(f->workers);
}

static void a_join_ends_at_its_deadline(void **state)
{
        struct fleet *f = fleet_of(state);
        spawn(f, f->workers, "worker", wait_for_ever);
        spawn(f, f->root, "joiner", join_shortly);
        run(f);
        assert_int_equal(f->code, ERR_TIMEOUT);
        assert_int_equal(f->n, 1);
}

static void end_workers(void *ctx)
{
        struct fleet *f = ctx;
        fiber_sleep(f->loop, 5);
        f->workers = fiber_group_end(f->workers);
        assert_int_equal(f->n, 6);
        f->code = 1;
}

static void ending_a_group_from_another_cancels_and_joins_its_sub_groups(void **state)
{
        struct fleet *f = fleet_of(state);
        f->below = fiber_group_new(f->loop, f->workers, "below");
        for (int i = 0; i < 3; i++) {
                spawn(f, f->workers, "worker", wait_for_ever);
                spawn(f, f->below, "worker below", wait_for_ever);
        }
        assert_int_equal(fiber_group_count(f->workers), 6);
        spawn(f, f->root, "ender", end_workers);
        run(f);
        assert_int_equal(f->code, 1);
}

static void end_while_cancelled(void *ctx)
{
        struct fleet *f = ctx;
        fiber_cancel(fiber_self(f->loop));
        f->workers = fiber_group_end(f->workers);
        assert_int_equal(fiber_yield(f->loop), ERR_CANCELLED);
        f->code = f->n;
}

static void a_cancelled_fiber_still_waits_for_the_group_it_ends(void **state)
{
        struct fleet *f = fleet_of(state);
        spawn(f, f->workers, "worker", wait_for_ever);
        spawn(f, f->root, "ender", end_while_cancelled);
        run(f);
        assert_int_equal(f->code, 1);
}

static void find_oneself_cancelled(void *ctx)
{
        struct fleet *f = ctx;
        f->n += fiber_cancelled(f->loop);
}

static void who_enters_a_cancelled_group_is_cancelled(void **state)
{
        struct fleet *f = fleet_of(state);
        fiber_group_cancel(f->workers);
        spawn(f, f->workers, "late", find_oneself_cancelled);
        f->below = fiber_group_new(f->loop, f->workers, "below");
        spawn(f, f->below, "late below", find_oneself_cancelled);
        run(f);
        assert_int_equal(f->n, 2);
}

static void fan_out(void *ctx)
{
        struct fleet *f = ctx;
        for (int i = 0; i < 100; i++) {
                assert_int_equal(fiber_group_wait_below(f->workers, 4), 0);
                spawn(f, f->workers, "one of many", work);
        }
        assert_int_equal(fiber_group_join(f->workers, DEADLINE_NONE), 0);
}

static void a_fan_out_stays_within_its_limit(void **state)
{
        struct fleet *f = fleet_of(state);
        spawn(f, f->root, "fan-out", fan_out);
        run(f);
        assert_int_equal(f->n, 100);
        assert_int_equal(f->most, 4);
}

static void spawn_with_each_allocation_failing(void *ctx)
{
        struct fleet *f = ctx;
        for (uint64_t n = 1;; n++) {
                mem_fail_at(n, true);
                struct fiber_group *g = fiber_group_new(f->loop, NULL, "poor");
                struct fiber *fiber = g ? fiber_spawn(g, "poor", find_oneself_cancelled, f) : NULL;
                struct timer t = { 0 };
                int code = fiber ? timer_start(f->loop, &t, 1000, NULL) : ERR_NO_MEMORY;
                bool fired = mem_fault_fired();
                mem_fail_at(0, false);
                timer_stop(&t);
                fiber_group_end(g);
                if (!fired) {
                        assert_int_equal(code, 0);
                        return;
                }
        }
}

static void every_failed_allocation_leaves_the_loop_whole(void **state)
{
        struct fleet *f = fleet_of(state);
        spawn(f, f->root, "tester", spawn_with_each_allocation_failing);
        run(f);
}

/* ---- the simulated loop ---- */

static void talk(void *ctx)
{
        struct fleet *f = ctx;
        for (int i = 0; i < 5; i++) {
                buf_printf(&f->trace, "%s@%lld ", fiber_name(fiber_self(f->loop)),
                           (long long)loop_now_ms(f->loop));
                fiber_sleep(f->loop, (int64_t)(loop_random_u64(f->loop) % 3));
        }
}

static char *trace_of_seed(uint64_t seed)
{
        static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
        struct fleet f = { .loop = loop_new_simulated(seed, 0, NULL) };
        f.root = fiber_group_new(f.loop, NULL, "root");
        buf_init(&f.trace, 1 << 20);
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                spawn(&f, f.root, names[i], talk);
        run(&f);
        fiber_group_end(f.root);
        loop_free(f.loop);
        return buf_take(&f.trace, NULL);
}

static void the_same_seed_gives_the_same_order_and_others_another(void **state)
{
        AUTO_FREE char *first = trace_of_seed(5);
        AUTO_FREE char *again = trace_of_seed(5);
        assert_string_equal(first, again);
        for (uint64_t seed = 6; seed < 30; seed++) {
                AUTO_FREE char *other = trace_of_seed(seed);
                assert_string_not_equal(first, other);
        }
}

static void park_alone(void *ctx)
{
        struct fleet *f = ctx;
        fiber_park(f->loop, DEADLINE_NONE);
}

static void a_deadlock_is_reported_with_the_names_of_the_parked(void **state)
{
        struct fleet *f = fleet_of(state);
        struct error err = { 0 };
        spawn(f, f->root, "lonely", park_alone);
        spawn(f, f->root, "forgotten", park_alone);
        assert_int_equal(loop_run(f->loop, &err), ERR_INTERNAL);
        assert_non_null(strstr(err.text, "lonely"));
        assert_non_null(strstr(err.text, "forgotten"));
        fiber_group_cancel(f->root);
        run(f);
}

static void sleep_hundred(void *ctx)
{
        struct fleet *f = ctx;
        fiber_sleep(f->loop, 100);
        f->n++;
}

static void run_until_does_what_is_due_and_leaves_the_clock_there(void **state)
{
        struct fleet *f = fleet_of(state);
        spawn(f, f->root, "sleeper", sleep_hundred);
        loop_run_until(f->loop, 99);
        assert_int_equal(f->n, 0);
        assert_int_equal(loop_now_ms(f->loop), 99);
        loop_shift_wall(f->loop, -50);
        assert_int_equal(loop_wall_ms(f->loop), 49);
        loop_run_until(f->loop, 100);
        assert_int_equal(f->n, 1);
        loop_run_until(f->loop, 5000);
        assert_int_equal(loop_now_ms(f->loop), 5000);
}

static struct loop_hook *again;

static void hook_counts(void *ctx)
{
        int *n = ctx;
        if (++*n < 3)
                loop_hook_arm(again);
}

static void a_hook_runs_once_for_each_turn_it_was_armed_in(void **state)
{
        struct fleet *f = fleet_of(state);
        int n = 0;
        struct loop_hook hook = { .fn = hook_counts, .ctx = &n };
        again = &hook;
        loop_hook_add(f->loop, &hook);
        loop_run_until(f->loop, 10);
        assert_int_equal(n, 0);
        loop_hook_arm(&hook);
        loop_hook_arm(&hook);
        loop_run_until(f->loop, 20);
        assert_int_equal(n, 3);
        loop_hook_arm(&hook);
        loop_hook_remove(f->loop, &hook);
        loop_run_until(f->loop, 30);
        assert_int_equal(n, 3);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(a_join_waits_for_fibers_spawned_meanwhile),
                TEST(a_join_ends_at_its_deadline),
                TEST(ending_a_group_from_another_cancels_and_joins_its_sub_groups),
                TEST(a_cancelled_fiber_still_waits_for_the_group_it_ends),
                TEST(who_enters_a_cancelled_group_is_cancelled),
                TEST(a_fan_out_stays_within_its_limit),
                TEST(every_failed_allocation_leaves_the_loop_whole),
                cmocka_unit_test(the_same_seed_gives_the_same_order_and_others_another),
                TEST(a_deadlock_is_reported_with_the_names_of_the_parked),
                TEST(run_until_does_what_is_due_and_leaves_the_clock_there),
                TEST(a_hook_runs_once_for_each_turn_it_was_armed_in),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
