/* spec/flux-yaml.md 7.1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hub-agent/manifest-generation/timetable.h"

#define MINUTE INT64_C(60000)

static void run(struct timetable *t, enum task task, int64_t from_ms, int64_t to_ms)
{
        assert_int_equal(timetable_next(t, from_ms), task);
        timetable_begin(t, task);
        timetable_done(t, task, to_ms);
}

static void a_sync_is_due_at_once_and_an_interval_after_its_end(void **state)
{
        struct timetable t;

        timetable_init(&t, 5 * MINUTE, 0, 0);
        run(&t, TASK_SYNC, 0, MINUTE);
        assert_int_equal(timetable_due(&t), 6 * MINUTE);
        assert_int_equal(timetable_next(&t, 6 * MINUTE - 1), TASK_NONE);
        assert_int_equal(timetable_next(&t, 6 * MINUTE), TASK_SYNC);
}

static void requests_made_meanwhile_are_kept_as_one(void **state)
{
        struct timetable t;

        timetable_init(&t, 5 * MINUTE, 0, 0);
        t.sync_asked = true;
        timetable_begin(&t, TASK_SYNC);
        t.sync_asked = true;
        t.sync_asked = true;
        timetable_done(&t, TASK_SYNC, 1000);
        run(&t, TASK_SYNC, 1000, 2000);
        assert_int_equal(timetable_next(&t, 2000), TASK_NONE);
}

static void a_job_comes_before_a_sync(void **state)
{
        struct timetable t;

        timetable_init(&t, 5 * MINUTE, MINUTE, 0);
        t.jobs = 1;
        assert_int_equal(timetable_due(&t), 0);
        assert_int_equal(timetable_next(&t, 0), TASK_JOB);
        t.jobs = 0;
        run(&t, TASK_SYNC, 0, 0);
        run(&t, TASK_IMAGES, 0, 0);
        assert_int_equal(timetable_due(&t), MINUTE);
}

static void what_failed_is_mended_by_the_next_sync_too(void **state)
{
        struct timetable t;

        timetable_init(&t, 5 * MINUTE, 0, 0);
        run(&t, TASK_SYNC, 0, 0);
        timetable_mend_at(&t, 5000);
        timetable_mend_at(&t, 9000);
        assert_int_equal(timetable_due(&t), 5000);
        run(&t, TASK_MEND, 5000, 5000);
        assert_int_equal(timetable_due(&t), 5 * MINUTE);
        timetable_mend_at(&t, 20000);
        t.sync_asked = true;
        run(&t, TASK_SYNC, 10000, 10000);
        assert_int_equal(timetable_due(&t), 5 * MINUTE + 10000);
}

static void polls_that_are_off_cannot_be_asked_for(void **state)
{
        struct timetable t;

        timetable_init(&t, 5 * MINUTE, 0, 0);
        run(&t, TASK_SYNC, 0, 0);
        t.images_asked = true;
        assert_int_equal(timetable_next(&t, 0), TASK_NONE);
        assert_int_equal(timetable_due(&t), 5 * MINUTE);
}

static void pauses_double_up_to_five_minutes(void **state)
{
        assert_int_equal(mend_pause_ms(1), 5000);
        assert_int_equal(mend_pause_ms(2), 10000);
        assert_int_equal(mend_pause_ms(6), 160000);
        assert_int_equal(mend_pause_ms(7), 300000);
        assert_int_equal(mend_pause_ms(1000000), 300000);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_sync_is_due_at_once_and_an_interval_after_its_end),
                cmocka_unit_test(requests_made_meanwhile_are_kept_as_one),
                cmocka_unit_test(a_job_comes_before_a_sync),
                cmocka_unit_test(what_failed_is_mended_by_the_next_sync_too),
                cmocka_unit_test(polls_that_are_off_cannot_be_asked_for),
                cmocka_unit_test(pauses_double_up_to_five_minutes),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
