#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/ctrl/queue.h"

/* One queue on a simulated loop; `body` runs in a fiber. */
struct fixture {
        struct loop *loop;
        struct fiber_group *group;
        struct work_queue *queue;
        void (*body)(struct fixture *f);
};

static void run_body(void *ctx)
{
        struct fixture *f = ctx;

        f->body(f);
        f->queue = work_queue_free(f->queue);
}

static void with_queue(void (*body)(struct fixture *f))
{
        struct queue_options o = { .backoff_base_ms = 10, .backoff_max_ms = 100, .name = "test" };
        struct fixture f = { .body = body };

        f.loop = loop_new_simulated(1, 1000000, NULL);
        f.group = fiber_group_new(f.loop, NULL, "test");
        f.queue = work_queue_new(f.loop, &o);
        assert_non_null(fiber_spawn(f.group, "test", run_body, &f));
        assert_int_equal(loop_run(f.loop, NULL), 0);
        fiber_group_end(f.group);
        loop_free(f.loop);
}

static const char *get(struct fixture *f)
{
        const char *key = NULL;

        assert_int_equal(work_queue_get(f->queue, DEADLINE_NONE, &key), 0);
        return key;
}

static void body_dedup(struct fixture *f)
{
        const char *key;

        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        work_queue_add(f->queue, "b", QUEUE_NORMAL);
        assert_int_equal(work_queue_depth(f->queue), 2);
        key = get(f);
        assert_string_equal(key, "a");
        work_queue_done(f->queue, key);
        key = get(f);
        assert_string_equal(key, "b");
        work_queue_done(f->queue, key);
        assert_int_equal(work_queue_get(f->queue, loop_now_ms(f->loop) + 50, &key), ERR_TIMEOUT);
}

static void a_key_added_twice_comes_once(void **state)
{
        with_queue(body_dedup);
}

static void body_active(struct fixture *f)
{
        const char *key;

        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        assert_string_equal(get(f), "a");
        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        assert_int_equal(work_queue_get(f->queue, loop_now_ms(f->loop) + 50, &key), ERR_TIMEOUT);
        work_queue_done(f->queue, "a");
        assert_string_equal(get(f), "a");
        work_queue_done(f->queue, "a");
}

static void a_key_is_never_active_twice_and_an_add_meanwhile_is_not_lost(void **state)
{
        with_queue(body_active);
}

static void body_priority(struct fixture *f)
{
        const char *order[] = { "edit", "normal", "backlog" };

        work_queue_add(f->queue, "backlog", QUEUE_LOW);
        work_queue_add(f->queue, "normal", QUEUE_NORMAL);
        work_queue_add(f->queue, "edit", QUEUE_LOW);
        work_queue_add(f->queue, "edit", QUEUE_HIGH);
        for (size_t i = 0; i < 3; i++) {
                const char *key = get(f);

                assert_string_equal(key, order[i]);
                work_queue_done(f->queue, key);
        }
}

static void edits_overtake_the_backlog_also_when_queued_behind_it(void **state)
{
        with_queue(body_priority);
}

static void body_backoff(struct fixture *f)
{
        static const int64_t expected[] = { 10, 20, 40, 80, 100, 100 };

        for (size_t i = 0; i < 6; i++) {
                int64_t begin = loop_now_ms(f->loop);

                work_queue_add_backoff(f->queue, "a");
                work_queue_done(f->queue, get(f));
                assert_int_equal(loop_now_ms(f->loop) - begin, expected[i]);
        }
        work_queue_forget(f->queue, "a");
        int64_t begin = loop_now_ms(f->loop);
        work_queue_add_backoff(f->queue, "a");
        work_queue_done(f->queue, get(f));
        assert_int_equal(loop_now_ms(f->loop) - begin, 10);
}

static void backoff_doubles_to_its_maximum_and_is_forgotten_on_success(void **state)
{
        with_queue(body_backoff);
}

static void body_after(struct fixture *f)
{
        int64_t begin = loop_now_ms(f->loop);

        work_queue_add_after(f->queue, "a", 100, QUEUE_NORMAL);
        work_queue_add_after(f->queue, "a", 30, QUEUE_NORMAL);
        work_queue_add_after(f->queue, "a", 60, QUEUE_NORMAL);
        assert_int_equal(work_queue_delayed(f->queue), 1);
        work_queue_done(f->queue, get(f));
        assert_int_equal(loop_now_ms(f->loop) - begin, 30);
        work_queue_add_after(f->queue, "a", 100, QUEUE_NORMAL);
        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        work_queue_done(f->queue, get(f));
        assert_int_equal(loop_now_ms(f->loop) - begin, 30);
        assert_int_equal(work_queue_delayed(f->queue), 0);
}

static void of_several_delays_the_earliest_counts(void **state)
{
        with_queue(body_after);
}

static void body_after_active(struct fixture *f)
{
        int64_t begin;

        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        const char *key = get(f);
        begin = loop_now_ms(f->loop);
        work_queue_add_after(f->queue, "a", 50, QUEUE_NORMAL);
        work_queue_done(f->queue, key);
        work_queue_done(f->queue, get(f));
        assert_int_equal(loop_now_ms(f->loop) - begin, 50);
}

static void a_delay_asked_for_during_a_reconcile_begins_when_it_was_asked(void **state)
{
        with_queue(body_after_active);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_key_added_twice_comes_once),
                cmocka_unit_test(a_key_is_never_active_twice_and_an_add_meanwhile_is_not_lost),
                cmocka_unit_test(edits_overtake_the_backlog_also_when_queued_behind_it),
                cmocka_unit_test(backoff_doubles_to_its_maximum_and_is_forgotten_on_success),
                cmocka_unit_test(of_several_delays_the_earliest_counts),
                cmocka_unit_test(a_delay_asked_for_during_a_reconcile_begins_when_it_was_asked),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
