/* Who looks at a cache is told what is in its way. */
#include "common/ctrl/told_test.h"

static void body_told(struct fixture *f)
{
        struct told t = { .f = f };

        open_told(&t, (struct informer_options){ .pause_most_ms = 2000 });
        expect_told(&t, "read; ");
        loopback_listen(f->loopback, "api.test", NULL, NULL);
        fiber_sleep(f->loop, 600000);
        expect_told(&t, "read, a problem; ");
        assert_int_equal(informer_problem_code(t.i), ERR_RETRY);
        loopback_listen(f->loopback, "api.test", serve, &f->server);
        fiber_sleep(f->loop, 3500); /* three seconds are the longest pause now */
        expect_told(&t, "read; ");
        informer_stop(t.i);
        buf_free(&t.text);
}

static void who_looks_is_told_of_the_first_list_and_of_problems(void **state)
{
        with_informer(body_told);
}

static void body_missing_right_told(struct fixture *f)
{
        struct told t = { .f = f };

        f->server.forbidden = true;
        open_told(&t, (struct informer_options){ 0 });
        fiber_sleep(f->loop, 60000);
        expect_told(&t, "not read, a problem; ");
        assert_int_equal(informer_problem_code(t.i), ERR_FORBIDDEN);
        f->server.forbidden = false;
        fiber_sleep(f->loop, 10000);
        expect_told(&t, "read, a problem; read; ");
        informer_stop(t.i);
        buf_free(&t.text);
}

static void a_missing_right_is_told_once(void **state)
{
        with_informer(body_missing_right_told);
}

static int all_alike(void *ctx, const struct http_request *rq)
{
        return *(int *)ctx;
}

static void body_reasons(struct fixture *f)
{
        struct told t = { .f = f };
        int fate = 0;
        const struct loopback_faults faults = { .ctx = &fate, .fate = all_alike };
        struct http_transport *plain = f->world.transport;

        f->world.transport = loopback_transport(f->loopback, &f->world, &faults);
        open_told(&t, (struct informer_options){ .pause_most_ms = 2000 });
        expect_told(&t, "read; ");
        fate = ERR_RETRY;
        f->server.cut = true;
        waitq_wake_all(&f->server.changed);
        fiber_sleep(f->loop, 600000);
        expect_told(&t, "read, a problem; ");
        assert_string_equal(informer_problem_reason(t.i), "the request was lost");
        assert_non_null(strstr(informer_problem(t.i), "timeoutSeconds="));
        fate = 503;
        fiber_sleep(f->loop, 600000);
        expect_told(&t, "read, a problem; ");
        assert_string_equal(informer_problem_reason(t.i), "watch: injected fault");
        assert_int_equal(informer_problem_code(t.i), ERR_RETRY);
        fate = 0;
        f->server.cut = false;
        fiber_sleep(f->loop, 3500);
        expect_told(&t, "read; ");
        assert_string_equal(informer_problem_reason(t.i), "");
        informer_stop(t.i);
        http_transport_free(f->world.transport);
        f->world.transport = plain;
        buf_free(&t.text);
}

/* Each try has another address. */
static void another_reason_is_told_and_another_try_is_not(void **state)
{
        with_informer(body_reasons);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(who_looks_is_told_of_the_first_list_and_of_problems),
                cmocka_unit_test(a_missing_right_is_told_once),
                cmocka_unit_test(another_reason_is_told_and_another_try_is_not),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
