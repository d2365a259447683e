/* A watch that nobody waits for: when much comes, it is read now and then, and all that came at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/net/curl_internal.h"
#include "common/net/curl_rig_test.h"

#define LINE "event\n"
enum { AT_ONCE = 9 /* the head and eight reads */, LINES = 20, REST_MS = 20, LARGE = 8 << 20 };

static void set_rest(struct rig *r, int64_t ms)
{
        ((struct curl_transport *)r->client)->rest_ms = ms;
}

static struct http_stream *open_unhurried(struct rig *r)
{
        struct http_request rq = request(r, "GET", "/watch");
        struct http_stream *s;
        struct error err = { 0 };

        rq.priority = HTTP_WATCH_UNHURRIED;
        if (http_stream_open(r->client, &rq, &s, &err) < 0)
                fail_msg("%s", err.text);
        return s;
}

/* Writes a line whenever one more has been asked for. */
static void line_by_line(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;

        if (http_begin(x, 200, NULL) < 0)
                return;
        for (size_t written = 0; fiber_sleep(x->loop, 1) == 0;)
                for (; written < r->sent; written++)
                        if (http_write(x, LINE, strlen(LINE)) < 0)
                                return;
}

static void ask_for_a_line(struct rig *r, struct http_stream *s)
{
        struct slice piece;
        struct error err = { 0 };

        r->sent++;
        if (http_stream_read(s, loop_now_ms(r->loop) + HANG_MS, &piece, &err) < 0)
                fail_msg("%s", err.text);
        assert_int_equal(piece.len, strlen(LINE));
}

static void lines_body(struct rig *r)
{
        struct http_stream *s;
        int64_t began;

        set_rest(r, REST_MS);
        make_identity(r, "localhost", loop_wall_ms(r->loop));
        serve(r, line_by_line);
        s = open_unhurried(r);
        began = loop_now_ms(r->loop);
        for (int i = 0; i < LINES; i++)
                ask_for_a_line(r, s);
        assert_true(loop_now_ms(r->loop) - began >= (LINES - AT_ONCE - 1) * REST_MS);
        http_stream_close(s); /* while it rests */
}
static void it_rests_between_reads_when_much_comes(void **state)
{
        run(lines_body);
}

static void few_body(struct rig *r)
{
        struct http_stream *s;
        int64_t began;

        set_rest(r, 3600000);
        serve(r, line_by_line);
        s = open_unhurried(r);
        began = loop_now_ms(r->loop);
        for (int i = 0; i < AT_ONCE - 2; i++)
                ask_for_a_line(r, s);
        assert_true(loop_now_ms(r->loop) - began < 3600000);
        http_stream_close(s);
}
static void a_few_events_come_at_once(void **state)
{
        run(few_body);
}

static void much_at_once(void *ctx, struct http_exchange *x)
{
        AUTO_FREE char *much = mem_zalloc(LARGE);

        http_begin(x, 200, NULL);
        if (http_write(x, much, LARGE) == 0)
                http_end(x);
}

/* If it rested behind each read of a TLS record, of which there are 500 and more, they would take four
 * minutes. */
static void large_body(struct rig *r)
{
        struct http_stream *s;
        struct slice piece;
        struct error err = { 0 };
        int64_t began = loop_now_ms(r->loop);
        size_t n = 0;
        int code;

        set_rest(r, 500);
        make_identity(r, "localhost", loop_wall_ms(r->loop));
        serve(r, much_at_once);
        s = open_unhurried(r);
        while ((code = http_stream_read(s, loop_now_ms(r->loop) + HANG_MS, &piece, &err)) == 0)
                n += piece.len;
        assert_int_equal(code, ERR_CLOSED);
        assert_int_equal(n, LARGE);
        assert_true(loop_now_ms(r->loop) - began < 200000);
        http_stream_close(s);
}
static void what_is_there_already_is_read_without_a_rest(void **state)
{
        run(large_body);
}

static void memory_body(struct rig *r)
{
        bool fired = true;

        set_rest(r, 1);
        serve(r, line_by_line);
        for (uint64_t n = 1; fired && n < 60; n++) {
                struct http_request rq = request(r, "GET", "/watch");
                struct http_stream *s = NULL;
                struct error err = { 0 };
                int code;

                rq.priority = HTTP_WATCH_UNHURRIED;
                r->endpoint.generation++; /* connects anew */
                r->sent = 0;
                mem_fail_at(n, false);
                code = http_stream_open(r->client, &rq, &s, &err);
                for (int i = 0; code == 0 && i < LINES; i++) {
                        struct slice piece;

                        r->sent++;
                        code = http_stream_read(s, loop_now_ms(r->loop) + HANG_MS, &piece, &err);
                }
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                http_stream_close(s);
                assert_true(code == 0 ||
                            (fired && (code == ERR_NO_MEMORY || code == ERR_RETRY || code == ERR_CLOSED)));
        }
}
static void any_one_allocation_may_fail(void **state)
{
        run(memory_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(it_rests_between_reads_when_much_comes),
                cmocka_unit_test(a_few_events_come_at_once),
                cmocka_unit_test(what_is_there_already_is_read_without_a_rest),
                cmocka_unit_test(any_one_allocation_may_fail),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
