/* Deadlines and timers that are set, set anew to any other time and taken back, at random: each fires at its
 * time and not otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/loop/internal.h"

#define FIBERS 40
#define TIMERS 40
#define MANY_TIMERS 3000 /* so many that most lie in lists, by pieces of time */
#define STEPS 20000

struct bench;

struct alarm {
        struct timer timer;
        struct bench *b;
        int64_t at_ms; /* -1 = not running */
};

struct bench {
        struct loop *loop;
        struct fiber_group *group;
        struct waitq queues[FIBERS];
        struct alarm alarms[MANY_TIMERS];
        unsigned n_alarms;
        uint64_t far_ms, step_ms;
        struct timer_key last; /* fired */
        unsigned timeouts, fired;
};

struct sleeper {
        struct bench *b;
        struct waitq *queue;
};

static uint64_t draw(struct bench *b, uint64_t below)
{
        return loop_random_u64(b->loop) % below;
}

static void wait_again_and_again(void *ctx)
{
        const struct sleeper *s = ctx;
        struct bench *b = s->b;
        int code = 0;

        while (code != ERR_CANCELLED) {
                int64_t until = loop_now_ms(b->loop) + 1 + (int64_t)draw(b, b->far_ms);

                code = waitq_wait(b->loop, s->queue, until);
                if (code == ERR_TIMEOUT)
                        assert_int_equal(loop_now_ms(b->loop), until);
                else
                        assert_true(loop_now_ms(b->loop) <= until);
                b->timeouts += code == ERR_TIMEOUT;
        }
}

static void fired(struct timer *t)
{
        struct alarm *a = container_of(t, struct alarm, timer);

        struct timer_key *last = &a->b->last;

        assert_int_equal(loop_now_ms(t->loop), a->at_ms);
        assert_false(timer_running(t));
        assert_true(last->at_ms < t->at_ms || (last->at_ms == t->at_ms && last->order < t->order));
        *last = (struct timer_key){ t->at_ms, t->order };
        a->b->fired++;
        a->at_ms = -1;
}

static void start_or_stop(struct bench *b)
{
        struct alarm *a = &b->alarms[draw(b, b->n_alarms)];

        assert_int_equal(timer_running(&a->timer), a->at_ms >= 0);
        if (draw(b, 3) == 0) {
                timer_stop(&a->timer);
                a->at_ms = -1;
        } else {
                a->at_ms = loop_now_ms(b->loop) + 1 + (int64_t)draw(b, b->far_ms);
                assert_int_equal(timer_start(b->loop, &a->timer, a->at_ms, fired), 0);
        }
}

/* What is due has fired, and nothing lies in the heap but what may be set again. */
static void check(const struct bench *b)
{
        const struct timers *h = &b->loop->timers;

        for (unsigned i = 0; i < b->n_alarms; i++)
                assert_true(b->alarms[i].at_ms < 0 || b->alarms[i].at_ms >= loop_now_ms(b->loop));
        assert_true(h->n_armed <= h->n + h->n_far &&
                    h->n + h->n_far <= b->loop->n_timers + b->loop->n_fibers);
        for (size_t i = 1; i < h->n; i++) {
                const struct timer_key *above = &h->at[(i - 1) / 4].key, *key = &h->at[i].key;

                assert_true(above->at_ms < key->at_ms ||
                            (above->at_ms == key->at_ms && above->order <= key->order));
        }
}

static void play(void *ctx)
{
        struct bench *b = ctx;

        for (unsigned i = 0; i < STEPS; i++) {
                waitq_wake_one(&b->queues[draw(b, FIBERS)]);
                start_or_stop(b);
                check(b);
                if (draw(b, 4) == 0)
                        assert_int_equal(fiber_sleep(b->loop, 1 + (int64_t)draw(b, b->step_ms)), 0);
        }
        for (unsigned i = 0; i < b->n_alarms; i++)
                timer_stop(&b->alarms[i].timer);
        fiber_group_cancel(b->group);
}

static void play_all(unsigned n_alarms, uint64_t far_ms, uint64_t step_ms)
{
        struct bench *b = NEW(struct bench);
        struct sleeper sleepers[FIBERS];

        *b = (struct bench){ .loop = loop_new_simulated(11, 1000000, NULL),
                             .n_alarms = n_alarms,
                             .far_ms = far_ms,
                             .step_ms = step_ms };
        b->group = fiber_group_new(b->loop, NULL, "sleepers");
        struct fiber_group *player = fiber_group_new(b->loop, NULL, "player");
        for (unsigned i = 0; i < n_alarms; i++)
                b->alarms[i] = (struct alarm){ .b = b, .at_ms = -1 };
        for (unsigned i = 0; i < FIBERS; i++) {
                sleepers[i] = (struct sleeper){ b, &b->queues[i] };
                assert_non_null(fiber_spawn(b->group, "sleeper", wait_again_and_again, &sleepers[i]));
        }
        assert_non_null(fiber_spawn(player, "player", play, b));
        assert_int_equal(loop_run(b->loop, NULL), 0);
        assert_true(b->timeouts > 10);
        assert_true(b->fired > 1000);
        assert_int_equal(b->loop->timers.n + b->loop->timers.n_far, 0);
        assert_int_equal(b->loop->timers.far != NULL, n_alarms == MANY_TIMERS);
        fiber_group_end(player);
        fiber_group_end(b->group);
        loop_free(b->loop);
        mem_free(b);
}

static void whatever_is_set_anew_and_taken_back_the_rest_fires_in_time(void **state)
{
        play_all(TIMERS, 500, 20);
}

/* Up to somewhat more than two hours, that is behind all rounds of the lists. */
static void so_it_does_where_there_are_many_of_which_most_are_far_off(void **state)
{
        play_all(MANY_TIMERS, 8000000, 8000);
        play_all(MANY_TIMERS, 1000000, 500);
}

/* Who is woken in time and waits again, later, moves nothing in the heap but what stands in front. */
static void wait_and_be_woken(void *ctx)
{
        struct bench *b = ctx;

        for (unsigned i = 0; i < 100; i++)
                assert_int_equal(waitq_wait(b->loop, &b->queues[0], loop_now_ms(b->loop) + 1000), 0);
        b->fired = 1;
}

static void wake(void *ctx)
{
        struct bench *b = ctx;

        while (!b->fired) {
                bool kept = false;

                assert_int_equal(fiber_sleep(b->loop, 2), 0);
                for (size_t i = 0; i < b->loop->timers.n; i++)
                        kept |= b->loop->timers.at[i].key.at_ms == 1000;
                assert_true(b->fired || kept);
                waitq_wake_all(&b->queues[0]);
        }
}

static void a_deadline_that_is_put_off_keeps_its_place(void **state)
{
        struct bench b = { .loop = loop_new_simulated(3, 1000000, NULL) };

        b.group = fiber_group_new(b.loop, NULL, "both");
        b.alarms[0] = (struct alarm){ .b = &b, .at_ms = 900 };
        assert_int_equal(timer_start(b.loop, &b.alarms[0].timer, 900, fired), 0); /* in front of it */
        assert_non_null(fiber_spawn(b.group, "waits", wait_and_be_woken, &b));
        assert_non_null(fiber_spawn(b.group, "wakes", wake, &b));
        assert_int_equal(loop_run(b.loop, NULL), 0);
        assert_true(loop_now_ms(b.loop) >= 200 && loop_now_ms(b.loop) < 900);
        timer_stop(&b.alarms[0].timer);
        fiber_group_end(b.group);
        loop_free(b.loop);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(whatever_is_set_anew_and_taken_back_the_rest_fires_in_time),
                cmocka_unit_test(so_it_does_where_there_are_many_of_which_most_are_far_off),
                cmocka_unit_test(a_deadline_that_is_put_off_keeps_its_place),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
