#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/memory.h"
#include "common/loop/loop.h"

/* A process that is stopped and goes on, and somebody outside. What they do lands in one trace. */
struct bench {
        struct loop *loop;
        struct loop_process *process;
        struct fiber_group *inside, *outside;
        struct buf trace;
        struct timer timer;
        struct waitq queue;
        struct fiber *fiber;
        int n;
};

static int set_up(void **state)
{
        struct bench *b = NEW(struct bench);
        b->loop = loop_new_simulated(7, 1000000, NULL);
        b->process = loop_process_new(b->loop);
        b->inside = fiber_group_new(b->loop, NULL, "inside");
        b->outside = fiber_group_new(b->loop, NULL, "outside");
        loop_process_add(b->process, b->inside);
        buf_init(&b->trace, 1 << 16);
        *state = b;
        return 0;
}

static int tear_down(void **state)
{
        struct bench *b = *state;
        timer_stop(&b->timer);
        fiber_group_end(b->inside);
        fiber_group_end(b->outside);
        loop_process_free(b->process);
        loop_free(b->loop);
        buf_free(&b->trace);
        mem_free(b);
        return 0;
}

static void note(struct bench *b, const char *what)
{
        buf_printf(&b->trace, "%s%s %lld/%lld", b->trace.len ? ", " : "", what,
                   (long long)loop_now_ms(b->loop), (long long)loop_now_us(b->loop) / 1000);
}

static void spawn(struct bench *b, struct fiber_group *g, fiber_fn fn)
{
        assert_non_null(fiber_spawn(g, "fiber", fn, b));
}

static void tick(void *ctx)
{
        struct bench *b = ctx;
        while (fiber_sleep(b->loop, 10) == 0)
                note(b, "tick");
}

static void fired(struct timer *t)
{
        struct bench *b = container_of(t, struct bench, timer);
        note(b, loop_process_running(b->loop) == b->process ? "fired" : "fired outside");
}

static void stop_for_a_while(void *ctx)
{
        struct bench *b = ctx;
        fiber_sleep(b->loop, 25);
        loop_process_stop(b->process);
        assert_true(loop_process_stopped(b->process));
        fiber_sleep(b->loop, 70);
        note(b, "goes on");
        loop_process_go_on(b->process);
        fiber_sleep(b->loop, 9);
        fiber_group_cancel(b->inside);
}

/* Time goes on, and what is late comes late. */
static void nothing_of_it_runs_while_it_is_stopped(void **state)
{
        struct bench *b = *state;
        spawn(b, b->inside, tick);
        spawn(b, b->outside, stop_for_a_while);
        assert_int_equal(loop_run(b->loop, NULL), 0);
        assert_string_equal(b->trace.data, "tick 10/10, tick 20/20, goes on 95/95, tick 95/95");
}

static void start_timer(void *ctx)
{
        struct bench *b = ctx;
        assert_int_equal(timer_start(b->loop, &b->timer, 40, fired), 0);
        if (b->n == 1)
                timer_disown(&b->timer);
        fiber_park(b->loop, DEADLINE_NONE);
}

static void timers_of_it_wait_until_it_goes_on(void **state)
{
        struct bench *b = *state;
        spawn(b, b->inside, start_timer);
        spawn(b, b->outside, stop_for_a_while);
        assert_int_equal(loop_run(b->loop, NULL), 0);
        assert_string_equal(b->trace.data, "goes on 95/95, fired 95/95");
}

static void a_timer_that_is_disowned_comes_in_time(void **state)
{
        struct bench *b = *state;
        b->n = 1;
        spawn(b, b->inside, start_timer);
        spawn(b, b->outside, stop_for_a_while);
        assert_int_equal(loop_run(b->loop, NULL), 0);
        assert_string_equal(b->trace.data, "fired outside 40/40, goes on 95/95");
}

static void stop_timer_meanwhile(void *ctx)
{
        struct bench *b = ctx;
        fiber_sleep(b->loop, 60);
        assert_true(timer_running(&b->timer)); /* it is due, and waits */
        timer_stop(&b->timer);
        assert_false(timer_running(&b->timer));
}

static void a_timer_that_waits_can_be_stopped_and_started_again(void **state)
{
        struct bench *b = *state;
        spawn(b, b->inside, start_timer);
        spawn(b, b->outside, stop_for_a_while);
        spawn(b, b->outside, stop_timer_meanwhile);
        assert_int_equal(loop_run(b->loop, NULL), 0);
        assert_string_equal(b->trace.data, "goes on 95/95");
        b->n = 1;
        b->trace.len = 0;
        assert_int_equal(timer_start(b->loop, &b->timer, 120, fired), 0);
        loop_run_until(b->loop, 130);
        assert_string_equal(b->trace.data, "fired outside 120/120");
}

static void wait_and_note(void *ctx)
{
        struct bench *b = ctx;
        b->fiber = fiber_self(b->loop);
        int code = fiber_park(b->loop, 50);
        note(b, code == 0 ? "woken" : "too late");
}

static void wake_meanwhile(void *ctx)
{
        struct bench *b = ctx;
        fiber_sleep(b->loop, 60); /* its deadline passed before that */
        fiber_wake(b->fiber);
}

static void what_others_wake_of_it_waits(void **state)
{
        struct bench *b = *state;
        spawn(b, b->inside, wait_and_note);
        spawn(b, b->outside, stop_for_a_while);
        spawn(b, b->outside, wake_meanwhile);
        assert_int_equal(loop_run(b->loop, NULL), 0);
        assert_string_equal(b->trace.data, "goes on 95/95, woken 95/95");
}

/* Below it, and beside it where one of its fibers makes a group. */
static void spawn_tick(void *ctx)
{
        struct bench *b = ctx;
        struct fiber_group *below = fiber_group_new(b->loop, b->inside, "below"),
                           *root = fiber_group_new(b->loop, NULL, "root");
        spawn(b, below, tick);
        spawn(b, root, tick);
        fiber_park(b->loop, DEADLINE_NONE);
        fiber_group_end(root);
}

static void groups_made_by_it_belong_to_it(void **state)
{
        struct bench *b = *state;
        spawn(b, b->inside, spawn_tick);
        spawn(b, b->outside, stop_for_a_while);
        assert_int_equal(loop_run(b->loop, NULL), 0);
        assert_string_equal(
                b->trace.data,
                "tick 10/10, tick 10/10, tick 20/20, tick 20/20, goes on 95/95, tick 95/95, tick 95/95");
}

static void stop_itself(void *ctx)
{
        struct bench *b = ctx;
        fiber_sleep(b->loop, 30);
        assert_int_equal(timer_start(b->loop, &b->timer, 40, fired), 0);
        loop_process_stop(b->process);
        note(b, "stops");
        fiber_yield(b->loop);
        note(b, "later");
        fiber_sleep(b->loop, 5);
        note(b, "next turn");
}

static void let_go_on(void *ctx)
{
        struct bench *b = ctx;
        fiber_sleep(b->loop, 200);
        loop_process_go_on(b->process);
}

/* And before the timers that have come due. */
static void what_was_about_to_run_goes_on_in_its_old_turn(void **state)
{
        struct bench *b = *state;
        spawn(b, b->inside, stop_itself);
        spawn(b, b->outside, let_go_on);
        assert_int_equal(loop_run(b->loop, NULL), 0);
        assert_string_equal(b->trace.data, "stops 30/30, later 30/200, fired 200/200, next turn 200/200");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(nothing_of_it_runs_while_it_is_stopped, set_up, tear_down),
                cmocka_unit_test_setup_teardown(timers_of_it_wait_until_it_goes_on, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_timer_that_is_disowned_comes_in_time, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_timer_that_waits_can_be_stopped_and_started_again, set_up,
                                                tear_down),
                cmocka_unit_test_setup_teardown(what_others_wake_of_it_waits, set_up, tear_down),
                cmocka_unit_test_setup_teardown(groups_made_by_it_belong_to_it, set_up, tear_down),
                cmocka_unit_test_setup_teardown(what_was_about_to_run_goes_on_in_its_old_turn, set_up,
                                                tear_down),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
