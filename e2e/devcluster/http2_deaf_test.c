/* A connection that has died without a word, or whose other end answers nobody any more: what comes next goes
 * over another one. */
#include "e2e/devcluster/http2_rig_test.h"

#define SHORT_MS 300 /* of who waits for what does not come */
#define DEAF_MS 100

/* "/ticks" is a stream on which something comes all the time, "/watch" one on which nothing comes but its
 * first line, "/never" is never answered, all else at once. */
static void answer(struct rig *r, struct http_exchange *x)
{
        if (strstr(x->path, "/never")) {
                struct waitq q;

                list_init(&q.waiters);
                (void)x->ops->wait(x, &q, DEADLINE_NONE);
        } else if (strstr(x->path, "/ticks")) {
                if (http_begin(x, 200, NULL) == 0)
                        while (http_write(x, "tick\n", 5) == 0 && fiber_sleep(x->loop, 10) == 0) {
                        }
        } else if (strstr(x->path, "/watch")) {
                struct waitq q;

                list_init(&q.waiters);
                if (http_begin(x, 200, NULL) == 0 && http_write(x, "first\n", 6) == 0)
                        (void)x->ops->wait(x, &q, DEADLINE_NONE);
        } else {
                http_reply(x, 200, "text/plain", SLICE("here"), NULL);
        }
}

static struct http_stream *open_stream(struct rig *r, const char *path, enum http_priority priority)
{
        const struct http_request rq = rig_request(r, path, priority, HANG_MS);
        struct http_stream *s = NULL;
        struct slice piece;
        struct error err = { 0 };

        if (http_stream_open(r->client, &rq, &s, &err) < 0 ||
            http_stream_read(s, loop_now_ms(r->loop) + HANG_MS, &piece, &err) < 0)
                fail_msg("%s", err.text);
        return s;
}

static int get(struct rig *r, const char *path, int64_t ms)
{
        const struct http_request rq = rig_request(r, path, HTTP_NORMAL, ms);
        struct http_response got;

        return http_roundtrip(r->client, &rq, &r->arena, &got, NULL);
}

static void watch_body(struct rig *r)
{
        struct http_stream *s = open_stream(r, "/watch", HTTP_WATCH);
        struct slice piece;

        assert_int_equal(r->connections, 1);
        tls_stream_pause(r->newest, true);
        assert_int_equal(http_stream_read(s, loop_now_ms(r->loop) + SHORT_MS, &piece, NULL), ERR_TIMEOUT);
        http_stream_close(s);
        s = open_stream(r, "/watch", HTTP_WATCH);
        assert_int_equal(r->connections, 2);
        http_stream_close(s);
}

static void requests_body(struct rig *r)
{
        assert_int_equal(get(r, "/x", HANG_MS), 0);
        assert_int_equal(get(r, "/x", HANG_MS), 0);
        assert_int_equal(r->connections, 1);
        tls_stream_pause(r->newest, true);
        assert_int_equal(get(r, "/x", SHORT_MS), ERR_TIMEOUT);
        assert_int_equal(get(r, "/x", HANG_MS), 0);
        assert_int_equal(r->connections, 2);
}

/* Only who waited is to blame. */
static void living_body(struct rig *r)
{
        struct http_stream *ticks = open_stream(r, "/ticks", HTTP_NORMAL), *s;
        struct http_request rq;

        assert_int_equal(get(r, "/never", SHORT_MS), ERR_TIMEOUT);
        rq = rig_request(r, "/never", HTTP_NORMAL, SHORT_MS);
        assert_int_equal(http_stream_open(r->client, &rq, &s, NULL), ERR_TIMEOUT);
        assert_int_equal(get(r, "/x", HANG_MS), 0);
        assert_int_equal(r->connections, 1);
        http_stream_close(ticks);
}

/* Who is in a hurry has not waited long enough to tell. */
static void hasty_body(struct rig *r)
{
        ((struct curl_transport *)r->client)->deaf_ms = HANG_MS;
        assert_int_equal(get(r, "/x", HANG_MS), 0);
        assert_int_equal(get(r, "/never", SHORT_MS), ERR_TIMEOUT);
        assert_int_equal(get(r, "/x", HANG_MS), 0);
        assert_int_equal(r->connections, 1);
}

static void run(void (*body)(struct rig *r))
{
        struct rig r = { .answer = answer, .body = body, .deaf_ms = DEAF_MS };

        rig_run(&r);
}

static void a_watch_that_was_silent_is_opened_over_another_connection(void **state)
{
        run(watch_body);
}

static void so_is_what_comes_after_a_request_without_an_answer(void **state)
{
        run(requests_body);
}

static void a_connection_of_which_others_hear_is_kept(void **state)
{
        run(living_body);
}

static void who_waits_for_a_moment_cannot_tell(void **state)
{
        run(hasty_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_watch_that_was_silent_is_opened_over_another_connection),
                cmocka_unit_test(so_is_what_comes_after_a_request_without_an_answer),
                cmocka_unit_test(a_connection_of_which_others_hear_is_kept),
                cmocka_unit_test(who_waits_for_a_moment_cannot_tell),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
