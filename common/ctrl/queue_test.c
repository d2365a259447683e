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

static void add_of(struct fixture *f, const char *key, unsigned share)
{
        assert_int_equal(work_queue_add(f->queue, key, QUEUE_NORMAL), 0);
        work_queue_set_share(f->queue, key, share);
}

static void body_shares(struct fixture *f)
{
        const char *key;

        add_of(f, "active", 1);
        key = get(f);
        add_of(f, "active", 1); /* again, once it is done */
        add_of(f, "waits", 1);
        add_of(f, "stays", 2);
        add_of(f, "last", 63);
        assert_int_equal(work_queue_add_after(f->queue, "later", 20, QUEUE_NORMAL), 0);
        work_queue_set_share(f->queue, "later", 1);
        assert_int_equal(work_queue_share(f->queue, "last"), 63);
        assert_int_equal(work_queue_share(f->queue, "unknown"), -1);
        work_queue_drop_shares(f->queue, (uint64_t)1 << 1 | (uint64_t)1 << 63);
        assert_int_equal(work_queue_depth(f->queue), 1);
        assert_int_equal(work_queue_delayed(f->queue), 0);
        assert_int_equal(work_queue_active(f->queue), 1);
        assert_int_equal(work_queue_share(f->queue, "waits"), -1); /* nothing is left of it */
        work_queue_done(f->queue, key);
        key = get(f);
        assert_string_equal(key, "stays");
        assert_int_equal(work_queue_add_backoff(f->queue, key, INT64_MAX), 0);
        work_queue_drop(f->queue, key);
        work_queue_done(f->queue, key);
        assert_int_equal(work_queue_share(f->queue, "stays"), -1);
        assert_int_equal(work_queue_get(f->queue, loop_now_ms(f->loop) + 500, &key), ERR_TIMEOUT);
}

static void what_is_dropped_by_its_share_comes_no_more_and_leaves_nothing(void **state)
{
        with_queue(body_shares);
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

static void body_place(struct fixture *f)
{
        work_queue_add(f->queue, "first", QUEUE_NORMAL);
        work_queue_add(f->queue, "second", QUEUE_NORMAL);
        work_queue_add(f->queue, "first", QUEUE_NORMAL);
        work_queue_add(f->queue, "first", QUEUE_LOW);
        for (size_t i = 0; i < 2; i++) {
                const char *key = get(f);

                assert_string_equal(key, i ? "second" : "first");
                work_queue_done(f->queue, key);
        }
}

static void who_is_asked_for_again_keeps_its_place(void **state)
{
        with_queue(body_place);
}

static void body_moment(struct fixture *f)
{
        int64_t begun = loop_now_ms(f->loop);

        work_queue_add_after(f->queue, "a", 1, QUEUE_NORMAL);
        assert_int_equal(work_queue_depth(f->queue), 0);
        work_queue_done(f->queue, get(f));
        assert_int_equal(loop_now_ms(f->loop) - begun, 1);
        work_queue_add_after(f->queue, "a", 0, QUEUE_NORMAL);
        assert_int_equal(work_queue_depth(f->queue), 1);
        work_queue_done(f->queue, get(f));
}

static void the_shortest_delay_is_one(void **state)
{
        with_queue(body_moment);
}

static void body_backoff(struct fixture *f)
{
        static const int64_t expected[] = { 10, 20, 40, 80, 100, 100 };

        for (size_t i = 0; i < 6; i++) {
                int64_t begin = loop_now_ms(f->loop);

                work_queue_add_backoff(f->queue, "a", INT64_MAX);
                work_queue_done(f->queue, get(f));
                assert_int_equal(loop_now_ms(f->loop) - begin, expected[i]);
        }
        work_queue_forget(f->queue, "a");
        int64_t begin = loop_now_ms(f->loop);
        work_queue_add_backoff(f->queue, "a", INT64_MAX);
        work_queue_done(f->queue, get(f));
        assert_int_equal(loop_now_ms(f->loop) - begin, 10);
}

static void backoff_doubles_to_its_maximum_and_is_forgotten_on_success(void **state)
{
        with_queue(body_backoff);
}

/* The next key must be this one, and come `at_ms` after `begin`; it is done at once. */
static void expect_at(struct fixture *f, const char *key, int64_t begin, int64_t at_ms)
{
        const char *is = get(f);

        assert_string_equal(is, key);
        assert_int_equal(loop_now_ms(f->loop) - begin, at_ms);
        work_queue_done(f->queue, is);
}

static void expect_nothing_more(struct fixture *f)
{
        const char *key;

        assert_int_equal(work_queue_delayed(f->queue), 0);
        assert_int_equal(work_queue_get(f->queue, loop_now_ms(f->loop) + 1000, &key), ERR_TIMEOUT);
}

static void body_after(struct fixture *f)
{
        int64_t begin = loop_now_ms(f->loop);

        work_queue_add_after(f->queue, "a", 100, QUEUE_NORMAL);
        work_queue_add_after(f->queue, "a", 30, QUEUE_NORMAL);
        work_queue_add_after(f->queue, "a", 60, QUEUE_NORMAL);
        assert_int_equal(work_queue_delayed(f->queue), 1);
        expect_at(f, "a", begin, 30);
        expect_nothing_more(f);
}

static void of_several_delays_the_earliest_counts(void **state)
{
        with_queue(body_after);
}

static void body_timer_then_event(struct fixture *f)
{
        int64_t begin = loop_now_ms(f->loop);

        work_queue_add_after(f->queue, "a", 100, QUEUE_NORMAL);
        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        expect_at(f, "a", begin, 0);
        expect_at(f, "a", begin, 100);
        expect_nothing_more(f);
}

static void a_timer_survives_an_event_that_comes_before_it(void **state)
{
        with_queue(body_timer_then_event);
}

static void body_timer_while_waiting(struct fixture *f)
{
        int64_t begin = loop_now_ms(f->loop);

        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        work_queue_add_after(f->queue, "a", 100, QUEUE_NORMAL);
        expect_at(f, "a", begin, 0);
        expect_at(f, "a", begin, 100);
        expect_nothing_more(f);
}

static void a_timer_set_for_a_waiting_key_fires_later_all_the_same(void **state)
{
        with_queue(body_timer_while_waiting);
}

static void body_timer_while_active(struct fixture *f)
{
        int64_t begin = loop_now_ms(f->loop);
        const char *key;

        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        key = get(f);
        work_queue_add_after(f->queue, key, 50, QUEUE_NORMAL);
        work_queue_add(f->queue, key, QUEUE_NORMAL);
        work_queue_done(f->queue, key);
        expect_at(f, "a", begin, 0);
        expect_at(f, "a", begin, 50);
        expect_nothing_more(f);
}

static void a_timer_set_during_a_reconcile_survives_an_event_of_the_same_time(void **state)
{
        with_queue(body_timer_while_active);
}

static void body_timer_fires_while_active(struct fixture *f)
{
        int64_t begin = loop_now_ms(f->loop);
        const char *key;

        work_queue_add_after(f->queue, "a", 50, QUEUE_NORMAL);
        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        key = get(f);
        assert_int_equal(fiber_sleep(f->loop, 80), 0);
        assert_int_equal(work_queue_depth(f->queue), 0);
        work_queue_done(f->queue, key);
        expect_at(f, "a", begin, 80);
        expect_nothing_more(f);
}

static void a_timer_that_fires_during_a_reconcile_brings_the_key_again(void **state)
{
        with_queue(body_timer_fires_while_active);
}

static void body_timer_fires_while_waiting(struct fixture *f)
{
        int64_t begin = loop_now_ms(f->loop);

        work_queue_add_after(f->queue, "a", 50, QUEUE_NORMAL);
        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        assert_int_equal(fiber_sleep(f->loop, 80), 0);
        expect_at(f, "a", begin, 80);
        expect_nothing_more(f);
}

static void a_timer_that_fires_while_the_key_waits_is_met_by_that_turn(void **state)
{
        with_queue(body_timer_fires_while_waiting);
}

static void body_timer_and_own(struct fixture *f)
{
        int64_t begin = loop_now_ms(f->loop);
        const char *key;

        work_queue_add_after(f->queue, "a", 100, QUEUE_NORMAL);
        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        key = get(f);
        work_queue_again_after(f->queue, key, 500, QUEUE_NORMAL);
        work_queue_done(f->queue, key);
        key = get(f); /* the timer, not what the reconcile asked for */
        assert_int_equal(loop_now_ms(f->loop) - begin, 100);
        work_queue_again_after(f->queue, key, 300, QUEUE_NORMAL);
        work_queue_done(f->queue, key);
        expect_at(f, "a", begin, 400);
        expect_nothing_more(f);
}

static void a_timer_fires_whatever_the_reconcile_asks_for_itself(void **state)
{
        with_queue(body_timer_and_own);
}

static void body_own_replaced(struct fixture *f)
{
        int64_t begin = loop_now_ms(f->loop);
        static const int64_t asked[] = { 50, 200 }; /* later than what it asked for before, then nothing */

        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        for (size_t i = 0; i < 2; i++) {
                const char *key = get(f);

                work_queue_again_after(f->queue, key, asked[i], QUEUE_NORMAL);
                work_queue_done(f->queue, key);
                assert_int_equal(work_queue_delayed(f->queue), 1);
                if (i == 0)
                        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        }
        expect_at(f, "a", begin, 200);
        expect_nothing_more(f);
}

static void what_a_reconcile_asks_for_replaces_what_its_predecessor_asked_for(void **state)
{
        with_queue(body_own_replaced);
}

static void body_own_from_its_end(struct fixture *f)
{
        int64_t begin = loop_now_ms(f->loop);
        const char *key;

        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        key = get(f);
        assert_int_equal(fiber_sleep(f->loop, 70), 0);
        work_queue_again_after(f->queue, key, 0, QUEUE_NORMAL); /* now is a time too */
        work_queue_done(f->queue, key);
        expect_at(f, "a", begin, 71);
        expect_nothing_more(f);
}

static void asking_for_no_delay_is_asking_for_the_next_moment(void **state)
{
        with_queue(body_own_from_its_end);
}

/* ---- classes ---- */

static void body_moves_up(struct fixture *f)
{
        int64_t begin = loop_now_ms(f->loop);

        work_queue_add(f->queue, "edit", QUEUE_HIGH);
        work_queue_add(f->queue, "begun", QUEUE_LOW);
        work_queue_add(f->queue, "begun", QUEUE_FOLLOW_UP);
        work_queue_add(f->queue, "begun", QUEUE_NORMAL); /* never down */
        expect_at(f, "begun", begin, 0);
        expect_at(f, "edit", begin, 0);
        expect_nothing_more(f);
}

static void what_is_under_way_comes_before_what_is_new(void **state)
{
        with_queue(body_moves_up);
}

static void add_again(struct fixture *f, const char *key, enum queue_priority p)
{
        work_queue_add(f->queue, key, p); /* before its end: the key is gone after that */
        work_queue_done(f->queue, key);
}

/* Two keys of the best class that never run dry, and one of each other class. */
static void body_share(struct fixture *f)
{
        static const struct {
                const char *key;
                enum queue_priority class;
                size_t at_latest; /* th turn */
        } lower[] = { { "edit", QUEUE_HIGH, 5 }, { "retry", QUEUE_NORMAL, 9 }, { "backlog", QUEUE_LOW, 17 } };
        size_t came[ARRAY_LEN(lower)] = { 0 };

        for (size_t i = 0; i < ARRAY_LEN(lower); i++)
                work_queue_add(f->queue, lower[i].key, lower[i].class);
        work_queue_add(f->queue, "x", QUEUE_FOLLOW_UP);
        work_queue_add(f->queue, "y", QUEUE_FOLLOW_UP);
        for (size_t turn = 1; turn <= 170; turn++) {
                const char *key = get(f);
                enum queue_priority class = QUEUE_FOLLOW_UP;

                for (size_t i = 0; i < ARRAY_LEN(lower); i++)
                        if (!strcmp(key, lower[i].key)) {
                                class = lower[i].class;
                                assert_true(came[i]++ || turn <= lower[i].at_latest);
                        }
                add_again(f, key, class);
        }
        assert_true(came[0] >= came[1] && came[1] >= came[2]);
        assert_in_range(came[2], 8, 12);
        assert_in_range(came[0], 26, 34);
}

static void no_class_starves_while_better_ones_never_run_dry(void **state)
{
        with_queue(body_share);
}

/* Who forgets a key's failures takes no turn from it. */
static void body_forget_waiting(struct fixture *f)
{
        const char *key;

        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        work_queue_forget(f->queue, "a");
        assert_int_equal(work_queue_depth(f->queue), 1);
        key = get(f);
        assert_string_equal(key, "a");
        work_queue_add(f->queue, "a", QUEUE_NORMAL);
        work_queue_forget(f->queue, "a");
        work_queue_done(f->queue, key);
        work_queue_forget(f->queue, "a");
        key = get(f);
        assert_string_equal(key, "a");
        work_queue_done(f->queue, key);
        expect_nothing_more(f);
}

static void a_key_that_waits_is_not_forgotten_with_its_failures(void **state)
{
        with_queue(body_forget_waiting);
}

/* What is asked for while a key is active is as urgent as the most urgent of it, and no more. */
static void body_urgency_while_active(struct fixture *f)
{
        static const enum queue_priority asked[][2] = { { QUEUE_LOW, QUEUE_LOW },
                                                        { QUEUE_LOW, QUEUE_HIGH },
                                                        { QUEUE_HIGH, QUEUE_LOW } };

        for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
                const char *first = i == 0 ? "b" : "a", *key;

                work_queue_add(f->queue, "a", QUEUE_NORMAL);
                key = get(f);
                work_queue_add(f->queue, "b", QUEUE_NORMAL);
                for (size_t k = 0; k < 2; k++)
                        work_queue_add(f->queue, "a", asked[i][k]);
                work_queue_done(f->queue, key);
                for (size_t k = 0; k < 2; k++) {
                        key = get(f);
                        assert_string_equal(key, k == 0 ? first : i == 0 ? "a" : "b");
                        work_queue_done(f->queue, key);
                }
                expect_nothing_more(f);
        }
}

static void what_is_asked_for_during_a_reconcile_keeps_its_urgency(void **state)
{
        with_queue(body_urgency_while_active);
}

static bool begins_with_a(void *ctx, const char *key)
{
        return key[0] == 'a';
}

static void body_fitting(struct fixture *f)
{
        const char *key;

        work_queue_add(f->queue, "a-backlog", QUEUE_LOW);
        work_queue_add(f->queue, "b", QUEUE_HIGH);
        work_queue_add(f->queue, "a-retry", QUEUE_NORMAL);
        work_queue_add(f->queue, "a-edit", QUEUE_HIGH);
        assert_int_equal(work_queue_get_fitting(f->queue, begins_with_a, NULL, &key), 0);
        assert_string_equal(key, "a-edit");
        work_queue_done(f->queue, key);
        assert_int_equal(work_queue_get_fitting(f->queue, begins_with_a, NULL, &key), 0);
        assert_string_equal(key, "a-retry");
        work_queue_done(f->queue, key);
        assert_int_equal(work_queue_get_fitting(f->queue, begins_with_a, NULL, &key), ERR_NOT_FOUND);
        assert_int_equal(work_queue_depth(f->queue), 2);
        assert_string_equal(get(f), "b");
}

static void a_key_that_fits_is_taken_before_others_but_not_from_the_backlog(void **state)
{
        with_queue(body_fitting);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_key_that_fits_is_taken_before_others_but_not_from_the_backlog),
                cmocka_unit_test(a_key_added_twice_comes_once),
                cmocka_unit_test(what_is_dropped_by_its_share_comes_no_more_and_leaves_nothing),
                cmocka_unit_test(a_key_is_never_active_twice_and_an_add_meanwhile_is_not_lost),
                cmocka_unit_test(edits_overtake_the_backlog_also_when_queued_behind_it),
                cmocka_unit_test(who_is_asked_for_again_keeps_its_place),
                cmocka_unit_test(the_shortest_delay_is_one),
                cmocka_unit_test(backoff_doubles_to_its_maximum_and_is_forgotten_on_success),
                cmocka_unit_test(of_several_delays_the_earliest_counts),
                cmocka_unit_test(a_timer_survives_an_event_that_comes_before_it),
                cmocka_unit_test(a_timer_set_for_a_waiting_key_fires_later_all_the_same),
                cmocka_unit_test(a_timer_set_during_a_reconcile_survives_an_event_of_the_same_time),
                cmocka_unit_test(a_timer_that_fires_during_a_reconcile_brings_the_key_again),
                cmocka_unit_test(a_timer_that_fires_while_the_key_waits_is_met_by_that_turn),
                cmocka_unit_test(a_timer_fires_whatever_the_reconcile_asks_for_itself),
                cmocka_unit_test(what_a_reconcile_asks_for_replaces_what_its_predecessor_asked_for),
                cmocka_unit_test(asking_for_no_delay_is_asking_for_the_next_moment),
                cmocka_unit_test(what_is_under_way_comes_before_what_is_new),
                cmocka_unit_test(no_class_starves_while_better_ones_never_run_dry),
                cmocka_unit_test(a_key_that_waits_is_not_forgotten_with_its_failures),
                cmocka_unit_test(what_is_asked_for_during_a_reconcile_keeps_its_urgency),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
