/* What the frame tells of its controllers, their queues, its requests and its process. */
#include "common/ctrl/controller_test.h"

static const char *const test[] = { "test", "test" };

static double of_test(const struct bench *b, enum metric_id id)
{
        return metric_value(b->metrics, id, test);
}

static double results(const struct bench *b, enum reconcile_result result)
{
        return metric_value(b->metrics, METRIC_RECONCILES,
                            (const char *const[]){ "test", reconcile_results[result] });
}

/* What a scrape says, sources included. */
static void scrape(const struct bench *b, struct buf *text)
{
        buf_init(text, 4 << 20);
        assert_int_equal(metrics_print(b->metrics, text), 0);
}

static void expect_line(const struct buf *text, const char *line)
{
        if (!strstr(text->data, line))
                fail_msg("there is no line %s in %s", line, text->data);
}

/* spec/placement.md 14: so that a rate is known from the first failure on. */
RIG_TEST(a_controller_is_told_of_before_it_does_anything, {
        AUTO_BUF struct buf text;
        struct bench b;

        open_bench(r, &b, true);
        scrape(&b, &text);
        expect_line(&text, "controller_runtime_reconcile_total{controller=\"test\",result=\"error\"} 0\n");
        expect_line(&text, "controller_runtime_reconcile_total{controller=\"test\",result=\"requeue\"} 0\n");
        expect_line(&text, "controller_runtime_reconcile_errors_total{controller=\"test\"} 0\n");
        expect_line(&text, "controller_runtime_reconcile_time_seconds_count{controller=\"test\"} 0\n");
        expect_line(&text, "controller_runtime_max_concurrent_reconciles{controller=\"test\"} 2\n");
        expect_line(&text, "controller_runtime_active_workers{controller=\"test\"} 0\n");
        expect_line(&text, "workqueue_depth{name=\"test\",controller=\"test\"} 0\n");
        expect_line(&text, "workqueue_adds_total{name=\"test\",controller=\"test\"} 0\n");
        expect_line(&text, "workqueue_retries_total{name=\"test\",controller=\"test\"} 0\n");
        expect_line(&text, "workqueue_queue_duration_seconds_count{name=\"test\",controller=\"test\"} 0\n");
        expect_line(&text, "workqueue_work_duration_seconds_count{name=\"test\",controller=\"test\"} 0\n");
        expect_line(&text, "workqueue_unfinished_work_seconds{name=\"test\",controller=\"test\"} 0\n");
        expect_line(&text,
                    "workqueue_longest_running_processor_seconds{name=\"test\",controller=\"test\"} 0\n");
        close_bench(&b);
})

static struct outcome takes_two_seconds(struct bench *b, struct reconcile *rc)
{
        return fiber_sleep(b->rig->loop, 2000) < 0 ? failed(rc->err) : done();
}

RIG_TEST(what_waits_and_what_is_worked_on_are_told_when_somebody_asks, {
        AUTO_BUF struct buf text;
        struct bench b;

        open_bench(r, &b, false);
        b.reconcile = takes_two_seconds;
        run_manager(&b);
        make(r, "a");
        make(r, "b");
        make(r, "c");
        wait_ms(&b, 1000);
        scrape(&b, &text);
        assert_true(of_test(&b, METRIC_RECONCILE_ACTIVE) == 2);
        assert_true(of_test(&b, METRIC_QUEUE_DEPTH) == 1);
        assert_true(of_test(&b, METRIC_QUEUE_LONGEST) > 0.8 && of_test(&b, METRIC_QUEUE_LONGEST) <= 1);
        assert_true(of_test(&b, METRIC_QUEUE_UNFINISHED) > 1.6 && of_test(&b, METRIC_QUEUE_UNFINISHED) <= 2);
        wait_ms(&b, 10000);
        buf_free(&text);
        scrape(&b, &text);
        assert_true(of_test(&b, METRIC_RECONCILE_ACTIVE) == 0 && of_test(&b, METRIC_QUEUE_DEPTH) == 0);
        assert_true(of_test(&b, METRIC_QUEUE_UNFINISHED) == 0 && of_test(&b, METRIC_QUEUE_LONGEST) == 0);
        assert_true(of_test(&b, METRIC_QUEUE_ADDS) == 3 && results(&b, RESULT_SUCCESS) == 3);
        assert_true(of_test(&b, METRIC_QUEUE_WORKED) >= 6 && of_test(&b, METRIC_QUEUE_WORKED) < 6.5);
        assert_true(of_test(&b, METRIC_QUEUE_WAITED) > 1.5 && of_test(&b, METRIC_QUEUE_WAITED) < 2.5);
        close_bench(&b);
})

static struct outcome fails_twice(struct bench *b, struct reconcile *rc)
{
        if (b->visits.n > 2)
                return again_after(3600000);
        error_set(rc->err, ERR_RETRY, "not yet");
        return failed(rc->err);
}

RIG_TEST(failures_are_counted_by_controller_and_by_what_they_are, {
        struct bench b;

        open_bench(r, &b, false);
        b.reconcile = fails_twice;
        make(r, "a");
        run_manager(&b);
        wait_ms(&b, 5000);
        assert_true(results(&b, RESULT_ERROR) == 2 && results(&b, RESULT_REQUEUE_AFTER) == 1);
        assert_true(of_test(&b, METRIC_RECONCILE_ERRORS) == 2);
        assert_true(metric_value(b.metrics, METRIC_FAILURES, (const char *const[]){ "test", "retry" }) == 2);
        assert_true(of_test(&b, METRIC_QUEUE_RETRIES) == 3);
        close_bench(&b);
})

static int is_lost(void *ctx, const struct http_request *rq)
{
        return ERR_RETRY;
}

RIG_TEST(requests_are_told_by_code_host_and_method, {
        const char *begin = strstr(r->endpoint.base_url, "://") + 3,
                   *host = arena_strndup(&r->arena, begin, strcspn(begin, "/"));
        struct bench b;

        open_bench(r, &b, true);
        make(r, "a");
        run_manager(&b);
        wait_ms(&b, 5000);
        assert_true(metric_value(b.metrics, METRIC_REST_REQUESTS,
                                 (const char *const[]){ "200", host, "GET" }) >= 2); /* a list and a watch */
        assert_true(metric_value(b.metrics, METRIC_REST_REQUESTS,
                                 (const char *const[]){ "201", host, "POST" }) == 1); /* the lease */
        assert_true(metric_value(b.metrics, METRIC_LEADER, (const char *const[]){ "test" }) == 1);
        b.faults.fate = is_lost;
        wait_ms(&b, 60000);
        assert_true(metric_value(b.metrics, METRIC_REST_REQUESTS,
                                 (const char *const[]){ "<error>", host, "GET" }) > 0);
        close_bench(&b);
})

static int usage(void *ctx, struct world_usage *ret)
{
        *ret = (struct world_usage){ 1500000, 4096, 8192, 7, 1024 };
        return 0;
}

RIG_TEST(the_process_is_told_of_when_somebody_asks, {
        static const struct world_process process = { .usage = usage };
        AUTO_BUF struct buf text;
        struct bench b;

        open_bench(r, &b, false);
        b.world.process = &process;
        b.world.began_ms = 1767225600500;
        scrape(&b, &text);
        expect_line(&text, "\nprocess_cpu_seconds_total 1.5\n");
        expect_line(&text, "\nprocess_resident_memory_bytes 4096\n");
        expect_line(&text, "\nprocess_virtual_memory_bytes 8192\n");
        expect_line(&text, "\nprocess_open_fds 7\n");
        expect_line(&text, "\nprocess_max_fds 1024\n");
        expect_line(&text, "\nprocess_start_time_seconds 1767225600.5\n");
        close_bench(&b);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_controller_is_told_of_before_it_does_anything),
                cmocka_unit_test(what_waits_and_what_is_worked_on_are_told_when_somebody_asks),
                cmocka_unit_test(failures_are_counted_by_controller_and_by_what_they_are),
                cmocka_unit_test(requests_are_told_by_code_host_and_method),
                cmocka_unit_test(the_process_is_told_of_when_somebody_asks),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
