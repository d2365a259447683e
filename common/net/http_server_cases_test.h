/* What every server of common/net/http_server.h's exchanges does with HTTP/1.1. Who includes this says how a
 * server starts and stops (rig_start, rig_stop) and lists HTTP_SERVER_CASES among its tests. */
#pragma once

#include "common/net/http_server_rig_test.h"

static void run(http_handler_fn handle, void (*body)(struct rig *))
{
        run_with(&(struct http_server_options){ .handle = handle }, body);
}

static void pipeline_body(struct rig *r)
{
        struct raw k;
        raw_open(&k, r->loop, r->port);
        const char *three = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nHEAD /none HTTP/1.1\r\nHost: a\r\n\r\n"
                            "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n"
                            "GET /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        raw_say(&k, three, strlen(three));
        raw_await_end(&k);
        const char *one = strstr(k.heard.data, "[/1 ]"), *two = strstr(k.heard.data, "[/2 ]"),
                   *last = strstr(k.heard.data, "[/3 ]");
        if (!one || !two || !last || one > two || two > last)
                fail_msg("heard %s", k.heard.data);
        raw_close(&k);
}
static void pipelined_requests_are_answered_in_order(void **state)
{
        run(say_path, pipeline_body);
}

/* More than the connection holds: reading stops until handlers catch up, and nothing gets lost. */
static void flood_body(struct rig *r)
{
        struct raw k;
        AUTO_BUF struct buf many;
        buf_init(&many, 1 << 20);
        for (int i = 0; i < 5000; i++)
                buf_append_str(&many, "GET /f HTTP/1.1\r\nHost: a\r\n\r\n");
        buf_append_str(&many, "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        raw_open(&k, r->loop, r->port);
        raw_say(&k, many.data, many.len);
        raw_await_end(&k);
        size_t answers = 0;
        for (const char *at = k.heard.data; (at = strstr(at, "[/f ]")); at++)
                answers++;
        assert_int_equal(answers, 5000);
        assert_non_null(strstr(k.heard.data, "[/last ]"));
        raw_close(&k);
}
static void a_flood_of_pipelined_requests_is_answered_whole(void **state)
{
        run(say_path, flood_body);
}

static void continue_body(struct rig *r)
{
        struct raw k;
        raw_open(&k, r->loop, r->port);
        const char *head = "POST /c HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
        raw_say(&k, head, strlen(head));
        raw_await(&k, "HTTP/1.1 100 Continue\r\n\r\n");
        assert_int_equal(r->served, 0);
        raw_say(&k, "abc", 3);
        raw_await(&k, "[/c abc]");
        raw_close(&k);
}
static void expect_continue_is_answered_before_the_body(void **state)
{
        run(say_path, continue_body);
}

static void old_stream(void *ctx, struct http_exchange *x)
{
        http_begin(x, 200, NULL);
        http_write(x, "old", 3);
        http_write(x, "style", 5);
        http_end(x);
}
static void old_body(struct rig *r)
{
        struct raw k;
        raw_open(&k, r->loop, r->port);
        raw_say(&k, "GET / HTTP/1.0\r\n\r\n", 18);
        raw_await_end(&k);
        assert_non_null(strstr(k.heard.data, "Connection: close\r\n\r\noldstyle"));
        assert_null(strstr(k.heard.data, "chunked"));
        raw_close(&k);
}
static void an_old_client_gets_a_stream_that_ends_with_the_connection(void **state)
{
        run(old_stream, old_body);
}

static void misbehave(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        struct http_header evil = { "X", "a\r\nSet-Cookie: b" }, length = { "Content-Length", "5" };
        r->served++;
        if (strcmp(x->path, "/inject") == 0)
                r->code = http_reply(x, 200, NULL, SLICE("x"), &(struct http_headers){ &evil, 1 });
        if (strcmp(x->path, "/short") == 0) {
                http_begin(x, 200, &(struct http_headers){ &length, 1 });
                http_write(x, "abc", 3);
                r->code = http_end(x);
        }
        if (strcmp(x->path, "/long") == 0) {
                http_begin(x, 200, &(struct http_headers){ &length, 1 });
                r->code = http_write(x, "abcdef", 6);
        }
}
static void misbehave_body(struct rig *r)
{
        static const struct {
                const char *request, *heard;
                int code;
        } table[] = {
                { "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 500 ", 0 },
                { "GET /inject HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 500 ", ERR_INVALID },
                { "GET /short HTTP/1.1\r\nHost: a\r\n\r\n", "", ERR_INVALID },
                { "GET /long HTTP/1.1\r\nHost: a\r\n\r\n", "", ERR_INVALID },
        };
        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                struct raw k;
                r->code = 0;
                raw_open(&k, r->loop, r->port);
                raw_say(&k, table[i].request, strlen(table[i].request));
                raw_await_end(&k);
                assert_non_null(strstr(k.heard.data, table[i].heard));
                assert_null(strstr(k.heard.data, "Set-Cookie"));
                assert_int_equal(r->code, table[i].code);
                raw_close(&k);
        }
}
static void handlers_that_break_the_rules_cannot_break_the_protocol(void **state)
{
        run(misbehave, misbehave_body);
}

static void hang(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        struct waitq q = { 0 };
        list_init(&q.waiters);
        r->served++;
        r->code = x->ops->wait(x, &q, DEADLINE_NONE);
}

/* A server that asks notices many times within these looks; one that does not ask is told by its library's
 * own timeout, a minute later. */
static void leave_body(struct rig *r)
{
        struct raw k;
        raw_open(&k, r->loop, r->port);
        raw_say(&k, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);
        while (r->served == 0)
                fiber_sleep(r->loop, 1);
        raw_close(&k);
        for (int looks = 0; r->code == 0 && looks < SOON_LOOKS; looks++)
                fiber_sleep(r->loop, 1);
        assert_int_equal(r->code, ERR_CLOSED);
        raw_open(&k, r->loop, r->port);
        raw_say(&k, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);
        while (r->served == 1)
                fiber_sleep(r->loop, 1);
        rig_stop(r);
        raw_await(&k, "HTTP/1.1 503 ");
        raw_await_end(&k);
        raw_close(&k);
}
static void a_handler_soon_sees_its_client_go_and_a_stopping_server_answers_503(void **state)
{
        run(hang, leave_body);
}

#define HELD_BYTES (64u << 10)

static void say_much(void *ctx, struct http_exchange *x)
{
        ((struct rig *)ctx)->served++;
        char *text = arena_alloc(x->arena, HELD_BYTES);
        memset(text, 'm', HELD_BYTES);
        http_reply(x, 200, "text/plain", (struct slice){ text, HELD_BYTES }, NULL);
}

/* Requests without end from a client that takes no answer: some are answered, no more than it may leave
 * lying. */
static void greedy_body(struct rig *r)
{
        AUTO_BUF struct buf many;
        struct raw k;
        buf_init(&many, 1 << 20);
        for (int i = 0; i < 2000; i++)
                buf_append_str(&many, "GET /m HTTP/1.1\r\nHost: a\r\n\r\n");
        raw_open(&k, r->loop, r->port);
        uv_read_stop((uv_stream_t *)&k.tcp);
        size_t before = mem_live_bytes();
        raw_push(&k, many.data, many.len);
        while (r->served == 0)
                fiber_sleep(r->loop, 1);
        fiber_sleep(r->loop, 200);
        assert_in_range(r->served, 1, 1999);
        assert_in_range(mem_live_bytes() - before, 0, 1 << 20);
        raw_close(&k);
}
static void who_takes_no_answers_gets_no_more_of_them(void **state)
{
        struct http_server_options o = { .handle = say_much };
        run_with(&o, greedy_body);
}

static void slow_body(struct rig *r)
{
        struct raw k;
        raw_open(&k, r->loop, r->port);
        for (int looks = 0; !k.ended && looks < SOON_LOOKS; looks++) { /* a byte now and then is not enough */
                raw_push(&k, "G", 1);
                fiber_sleep(r->loop, 1);
        }
        assert_true(k.ended);
        assert_int_equal(r->served, 0);
        raw_close(&k);
}
static void a_request_that_takes_too_long_is_cut(void **state)
{
        struct http_server_options o = { .handle = say_path, .request_ms = 100 };
        run_with(&o, slow_body);
}

#define HTTP_SERVER_CASES                                                                                    \
        cmocka_unit_test(pipelined_requests_are_answered_in_order),                                          \
                cmocka_unit_test(a_flood_of_pipelined_requests_is_answered_whole),                           \
                cmocka_unit_test(expect_continue_is_answered_before_the_body),                               \
                cmocka_unit_test(an_old_client_gets_a_stream_that_ends_with_the_connection),                 \
                cmocka_unit_test(handlers_that_break_the_rules_cannot_break_the_protocol),                   \
                cmocka_unit_test(a_handler_soon_sees_its_client_go_and_a_stopping_server_answers_503),       \
                cmocka_unit_test(who_takes_no_answers_gets_no_more_of_them),                                 \
                cmocka_unit_test(a_request_that_takes_too_long_is_cut)
