#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#include "common/base/buf.h"
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/loop/loop.h"
#include "common/loop/patience_test.h"

/* Every test runs on both backends; *state is the loop. What a test's fibers do lands in one trace. */
struct bench {
        struct loop *loop;
        struct fiber_group *root;
        struct buf trace;
        struct waitq queue;
        struct fiber *fiber;
        int code;
        int64_t at_ms;
        unsigned n;
};

static int set_up(void **state, struct loop *l)
{
        struct bench *b = NEW(struct bench);
        assert_non_null(l);
        b->loop = l;
        b->root = fiber_group_new(l, NULL, "root");
        b->code = 1;
        buf_init(&b->trace, 1 << 20);
        *state = b;
        return 0;
}

static int set_up_real(void **state)
{
        return set_up(state, loop_new_real(NULL));
}

static int set_up_simulated(void **state)
{
        return set_up(state, loop_new_simulated(1, 1000000, NULL));
}

static int tear_down(void **state)
{
        struct bench *b = *state;
        assert_int_equal(fiber_group_count(b->root), 0);
        fiber_group_end(b->root);
        loop_free(b->loop);
        buf_free(&b->trace);
        mem_free(b);
        return 0;
}

static void spawn(struct bench *b, const char *name, fiber_fn fn)
{
        b->fiber = fiber_spawn(b->root, name, fn, b);
        assert_non_null(b->fiber);
}

static void run(struct bench *b)
{
        struct error err = { 0 };
        if (loop_run(b->loop, &err) < 0)
                fail_msg("%s", err.text);
        assert_int_equal(loop_fiber_count(b->loop), 0);
}

/* ---- running and sleeping ---- */

static void note_start(void *ctx)
{
        struct bench *b = ctx;
        buf_append_str(&b->trace, "started ");
}

static void a_fiber_starts_from_the_loop_not_inside_spawn(void **state)
{
        struct bench *b = *state;
        spawn(b, "one", note_start);
        assert_int_equal(b->trace.len, 0);
        assert_int_equal(fiber_group_count(b->root), 1);
        run(b);
        assert_string_equal(b->trace.data, "started ");
        assert_int_equal(fiber_group_count(b->root), 0);
}

static void sleep_twenty(void *ctx)
{
        struct bench *b = ctx;
        int64_t before = loop_now_ms(b->loop);
        b->code = fiber_sleep(b->loop, 20);
        b->at_ms = loop_now_ms(b->loop) - before;
}

static void a_sleep_lasts_at_least_as_long_as_asked(void **state)
{
        struct bench *b = *state;
        spawn(b, "sleeper", sleep_twenty);
        run(b);
        assert_int_equal(b->code, 0);
        assert_true(b->at_ms >= 20);
        if (loop_is_simulated(b->loop))
                assert_int_equal(b->at_ms, 20);
}

static void keep_doubles(void *ctx)
{
        struct bench *b = ctx;
        volatile double x = 1.5;
        char local[512];
        memset(local, 7, sizeof(local));
        for (int i = 0; i < 100; i++) {
                x *= 1.01;
                fiber_yield(b->loop);
        }
        for (size_t i = 0; i < sizeof(local); i++)
                assert_int_equal(local[i], 7);
        b->n += x > 4.05 && x < 4.06; /* 1.5 * 1.01^100 */
}

static void locals_survive_many_switches(void **state)
{
        struct bench *b = *state;
        for (int i = 0; i < 50; i++)
                spawn(b, "local", keep_doubles);
        run(b);
        assert_int_equal(b->n, 50);
}

/* ---- parking, waking, deadlines ---- */

static void park_for_ever(void *ctx)
{
        struct bench *b = ctx;
        b->code = fiber_park(b->loop, DEADLINE_NONE);
        b->n++;
}

static void wake_the_fiber(void *ctx)
{
        struct bench *b = ctx;
        fiber_sleep(b->loop, 1);
        fiber_wake(b->fiber);
        fiber_wake(b->fiber);
}

static void a_parked_fiber_is_woken(void **state)
{
        struct bench *b = *state;
        spawn(b, "parked", park_for_ever);
        assert_non_null(fiber_spawn(b->root, "waker", wake_the_fiber, b));
        run(b);
        assert_int_equal(b->code, 0);
        assert_int_equal(b->n, 1);
}

static void park_ten(void *ctx)
{
        struct bench *b = ctx;
        b->code = fiber_park(b->loop, loop_now_ms(b->loop) + 10); /* passes */
}

static void a_park_ends_at_its_deadline(void **state)
{
        struct bench *b = *state;
        spawn(b, "parked", park_ten);
        run(b);
        assert_int_equal(b->code, ERR_TIMEOUT);
}

static void park_in_the_past(void *ctx)
{
        struct bench *b = ctx;
        b->code = fiber_park(b->loop, loop_now_ms(b->loop));
}

static void a_deadline_in_the_past_times_out_at_once(void **state)
{
        struct bench *b = *state;
        spawn(b, "late", park_in_the_past);
        run(b);
        assert_int_equal(b->code, ERR_TIMEOUT);
}

static void wake_self_then_park(void *ctx)
{
        struct bench *b = ctx;
        fiber_wake(fiber_self(b->loop));
        b->code = fiber_park(b->loop, DEADLINE_NONE);
        b->n = (unsigned)-fiber_park(b->loop, loop_now_ms(b->loop) + 1); /* passes */
}

static void a_wake_while_running_is_kept_for_the_next_park_only(void **state)
{
        struct bench *b = *state;
        spawn(b, "self", wake_self_then_park);
        run(b);
        assert_int_equal(b->code, 0);
        assert_int_equal(b->n, -ERR_TIMEOUT);
}

/* The timer callback runs in the same turn in which the deadline of the fiber fires, before the fiber does.
 */
struct waker {
        struct timer timer;
        struct bench *b;
};

static void wake_from_timer(struct timer *t)
{
        fiber_wake(container_of(t, struct waker, timer)->b->fiber);
}

static void cancel_from_timer(struct timer *t)
{
        fiber_cancel(container_of(t, struct waker, timer)->b->fiber);
}

static void a_wake_and_a_deadline_in_one_turn_count_as_a_wake(void **state)
{
        struct bench *b = *state;
        struct waker w = { .b = b };
        spawn(b, "both", park_ten);
        int64_t soon = loop_now_ms(b->loop) + 10; /* passes */
        assert_int_equal(timer_start(b->loop, &w.timer, soon, wake_from_timer), 0);
        run(b);
        assert_int_equal(b->code, 0);
}

static void a_cancel_and_a_deadline_in_one_turn_count_as_a_cancel(void **state)
{
        struct bench *b = *state;
        struct waker w = { .b = b };
        spawn(b, "both", park_ten);
        int64_t soon = loop_now_ms(b->loop) + 10; /* passes */
        assert_int_equal(timer_start(b->loop, &w.timer, soon, cancel_from_timer), 0);
        run(b);
        assert_int_equal(b->code, ERR_CANCELLED);
}

/* ---- cancellation ---- */

static void a_fiber_cancelled_before_it_ran_runs_and_finds_itself_cancelled(void **state)
{
        struct bench *b = *state;
        spawn(b, "early", park_for_ever);
        fiber_cancel(b->fiber);
        run(b);
        assert_int_equal(b->n, 1);
        assert_int_equal(b->code, ERR_CANCELLED);
}

static void park_long(void *ctx)
{
        struct bench *b = ctx;
        b->code = fiber_park(b->loop, loop_now_ms(b->loop) + 1000000);
        b->n = (unsigned)-fiber_sleep(b->loop, 5);
}

static void cancel_the_fiber(void *ctx)
{
        struct bench *b = ctx;
        fiber_sleep(b->loop, 1);
        fiber_cancel(b->fiber);
}

static void a_cancel_ends_a_park_with_a_deadline_and_all_later_ones(void **state)
{
        struct bench *b = *state;
        spawn(b, "parked", park_long);
        assert_non_null(fiber_spawn(b->root, "canceller", cancel_the_fiber, b));
        int64_t before = loop_now_ms(b->loop);
        run(b);
        assert_int_equal(b->code, ERR_CANCELLED);
        assert_int_equal(b->n, -ERR_CANCELLED);
        assert_true(loop_now_ms(b->loop) - before < 100000);
}

static void clean_up_masked(void *ctx)
{
        struct bench *b = ctx;
        fiber_mask_cancel(b->loop);
        fiber_mask_cancel(b->loop);
        b->code = fiber_sleep(b->loop, 10);
        assert_false(fiber_cancelled(b->loop));
        fiber_unmask_cancel(b->loop);
        b->n = fiber_sleep(b->loop, 1) == 0;
        fiber_unmask_cancel(b->loop);
        b->n += fiber_cancelled(b->loop);
        b->n += fiber_yield(b->loop) == ERR_CANCELLED;
}

static void a_masked_fiber_sees_its_cancellation_when_unmasked(void **state)
{
        struct bench *b = *state;
        spawn(b, "masked", clean_up_masked);
        assert_non_null(fiber_spawn(b->root, "canceller", cancel_the_fiber, b));
        run(b);
        assert_int_equal(b->code, 0);
        assert_int_equal(b->n, 3);
}

/* ---- wait queues ---- */

static void wait_in_queue(void *ctx)
{
        struct bench *b = ctx;
        int code = waitq_wait(b->loop, &b->queue, DEADLINE_NONE);
        buf_printf(&b->trace, "%s:%d ", fiber_name(fiber_self(b->loop)), code);
        b->n++;
}

static void wait_in_queue_shortly(void *ctx)
{
        struct bench *b = ctx;
        b->code = waitq_wait(b->loop, &b->queue, loop_now_ms(b->loop) + 5); /* passes */
}

static void wake_one_then_all(void *ctx)
{
        struct bench *b = ctx;
        fiber_sleep(b->loop, 1);
        waitq_wake_one(&b->queue);
        fiber_sleep(b->loop, 1);
        assert_int_equal(b->n, 1);
        waitq_wake_all(&b->queue);
}

static void wake_one_wakes_one_and_wake_all_the_rest(void **state)
{
        struct bench *b = *state;
        for (int i = 0; i < 5; i++)
                spawn(b, "waiter", wait_in_queue);
        spawn(b, "waker", wake_one_then_all);
        run(b);
        assert_int_equal(b->n, 5);
        waitq_wake_all(&b->queue);
}

static void a_waiter_that_timed_out_has_left_the_queue(void **state)
{
        struct bench *b = *state;
        spawn(b, "short", wait_in_queue_shortly);
        run(b);
        assert_int_equal(b->code, ERR_TIMEOUT);
        assert_true(list_empty(&b->queue.waiters));
}

static void wake_one_and_cancel(void *ctx)
{
        struct bench *b = ctx;
        fiber_sleep(b->loop, 1);
        waitq_wake_one(&b->queue);
        fiber_cancel(b->fiber);
}

static void a_wake_from_a_queue_is_not_lost_to_a_cancellation(void **state)
{
        struct bench *b = *state;
        spawn(b, "waiter", wait_in_queue);
        assert_non_null(fiber_spawn(b->root, "both", wake_one_and_cancel, b));
        run(b);
        assert_string_equal(b->trace.data, "waiter:0 ");
}

/* ---- many and deep ---- */

static void park_and_count(void *ctx)
{
        struct bench *b = ctx;
        b->n += waitq_wait(b->loop, &b->queue, DEADLINE_NONE) == 0;
}

static void wake_everyone(void *ctx)
{
        struct bench *b = ctx;
        fiber_sleep(b->loop, 5);
        waitq_wake_all(&b->queue);
}

static void ten_thousand_fibers_park_and_wake(void **state)
{
        struct bench *b = *state;
        unsigned many = RUNNING_ON_VALGRIND ? 500 : 10000; /* valgrind holds few mappings */
        for (unsigned i = 0; i < many; i++)
                spawn(b, "many", park_and_count);
        spawn(b, "waker", wake_everyone);
        run(b);
        assert_int_equal(b->n, many);
        size_t guard = (size_t)sysconf(_SC_PAGESIZE);
        assert_true(loop_fiber_stack_bytes(b->loop) <=
                    LIMIT_FIBER_IDLE_STACKS * (4u * LIMIT_FIBER_STACK_BYTES + guard));
}

static void nothing(void *ctx)
{
}

#define BURST (2 * LIMIT_FIBER_IDLE_STACKS)

static size_t play_burst(struct bench *b)
{
        for (unsigned i = 0; i < BURST; i++)
                spawn(b, "one of a burst", nothing);
        size_t mapped = loop_fiber_stack_bytes(b->loop);
        assert_int_equal(fiber_sleep(b->loop, 5), 0);
        return mapped;
}

static void play_two_bursts(void *ctx)
{
        struct bench *b = ctx;
        size_t mapped = play_burst(b);
        assert_int_equal(loop_fiber_stack_bytes(b->loop), mapped);
        assert_int_equal(play_burst(b), mapped);
        waitq_wake_all(&b->queue);
}

static void many_programs_of_a_simulation_keep_the_stacks_of_their_bursts(void **state)
{
        struct bench *b = *state;
        if (RUNNING_ON_VALGRIND)
                return;
        for (unsigned i = 0; i < 5000; i++)
                spawn(b, "many", park_and_count);
        spawn(b, "bursts", play_two_bursts);
        run(b);
        assert_int_equal(b->n, 5000);
}

static void there_are_no_more_fibers_than_the_limit(void **state)
{
        struct bench *b = *state;
        unsigned n = 0;
        if (RUNNING_ON_VALGRIND)
                return;
        while (n <= LIMIT_FIBERS && fiber_spawn(b->root, "one of many", nothing, NULL))
                n++;
        assert_int_equal(n, LIMIT_FIBERS);
        run(b);
}

__attribute__((noinline)) static size_t recurse(size_t depth, volatile char *above)
{
        volatile char frame[1024];
        frame[0] = above[0];
        return depth == 0 ? (size_t)frame[0] : recurse(depth - 1, frame) + (size_t)frame[0];
}

static void use_the_stack(void *ctx)
{
        struct bench *b = ctx;
        char start = 0;
        b->n = (unsigned)recurse(b->n, &start);
}

static int exit_of_recursion(unsigned kilobytes)
{
        pid_t child = fork();
        if (child == 0) {
                struct rlimit none = { 0 };
                setrlimit(RLIMIT_CORE, &none);
                signal(SIGSEGV, SIG_DFL);
                alarm(HANG_MS / 1000);
                struct bench b = { .loop = loop_new_real(NULL), .n = kilobytes };
                struct fiber_group *g = fiber_group_new(b.loop, NULL, "deep");
                if (!fiber_spawn(g, "deep", use_the_stack, &b))
                        _exit(3);
                loop_run(b.loop, NULL);
                _exit(b.n == 0 ? 0 : 4);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        return status;
}

static void deep_use_of_the_stack_is_fine_and_too_deep_hits_the_guard_page(void **state)
{
        assert_int_equal(exit_of_recursion(LIMIT_FIBER_STACK_BYTES / 1024 / 2), 0);
#ifndef ARGOSY_ASAN /* which has a handler of its own, for which the full stack has no room */
        if (RUNNING_ON_VALGRIND)
                return;
        int status = exit_of_recursion(LIMIT_FIBER_STACK_BYTES / 1024 * 8);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGSEGV);
#endif
}

#define BOTH(test)                                                                                           \
        { #test " (real)", test, set_up_real, tear_down, NULL },                                             \
        {                                                                                                    \
#test " (simulated)", test, set_up_simulated, tear_down, NULL                                \
        }

int main(void)
{
        const struct CMUnitTest tests[] = {
                BOTH(a_fiber_starts_from_the_loop_not_inside_spawn),
                BOTH(a_sleep_lasts_at_least_as_long_as_asked),
                BOTH(locals_survive_many_switches),
                BOTH(a_parked_fiber_is_woken),
                BOTH(a_park_ends_at_its_deadline),
                BOTH(a_deadline_in_the_past_times_out_at_once),
                BOTH(a_wake_while_running_is_kept_for_the_next_park_only),
                cmocka_unit_test_setup_teardown(a_wake_and_a_deadline_in_one_turn_count_as_a_wake,
                                                set_up_simulated, tear_down),
                cmocka_unit_test_setup_teardown(a_cancel_and_a_deadline_in_one_turn_count_as_a_cancel,
                                                set_up_simulated, tear_down),
                BOTH(a_fiber_cancelled_before_it_ran_runs_and_finds_itself_cancelled),
                BOTH(a_cancel_ends_a_park_with_a_deadline_and_all_later_ones),
                BOTH(a_masked_fiber_sees_its_cancellation_when_unmasked),
                BOTH(wake_one_wakes_one_and_wake_all_the_rest),
                BOTH(a_waiter_that_timed_out_has_left_the_queue),
                BOTH(a_wake_from_a_queue_is_not_lost_to_a_cancellation),
                BOTH(ten_thousand_fibers_park_and_wake),
                cmocka_unit_test_setup_teardown(many_programs_of_a_simulation_keep_the_stacks_of_their_bursts,
                                                set_up_simulated, tear_down),
                BOTH(there_are_no_more_fibers_than_the_limit),
                cmocka_unit_test(deep_use_of_the_stack_is_fine_and_too_deep_hits_the_guard_page),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
