/* The client against a server that does all of HTTP/1.1, over sockets on loopback. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/limits.h"
#include "common/net/curl_rig_test.h"

/* ---- plain requests ---- */

static void echo_body(struct rig *r)
{
        struct http_response a;
        struct error err = { 0 };
        serve(r, echo);
        assert_int_equal(get(r, &a, &err), 0);
        assert_int_equal(a.status, 200);
        assert_non_null(strstr(a.body.data, "GET /prefix/x limit=5 body= type=(null) auth=(null)"));
        assert_string_equal(http_header_get(&a.headers, "CONTENT-TYPE"), "text/plain");
        static const char *const methods[] = { "POST", "PUT", "PATCH", "DELETE" };
        for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
                struct http_header type = { "Content-Type", "application/json" };
                struct http_request rq = request(r, methods[i], "/y");
                rq.headers = (struct http_headers){ &type, 1 };
                rq.body = SLICE("{\"a\":1}");
                assert_int_equal(http_roundtrip(r->client, &rq, &r->arena, &a, &err), 0);
                assert_true(text_starts_with(a.body.data, methods[i]));
                assert_non_null(strstr(a.body.data, "body={\"a\":1} type=application/json"));
        }
        struct http_request rq = request(r, "HEAD", "/y");
        assert_int_equal(http_roundtrip(r->client, &rq, &r->arena, &a, &err), 0);
        assert_int_equal(a.body.len, 0);
        rq = request(r, "POST", "/empty");
        assert_int_equal(http_roundtrip(r->client, &rq, &r->arena, &a, &err), 0);
        assert_non_null(strstr(a.body.data, "body= type=(null)"));
        assert_int_equal(r->served, 7);
}
static void requests_of_every_method_come_back(void **state)
{
        run(echo_body);
}

static void big_body(struct rig *r)
{
        struct http_response a;
        struct error err = { 0 };
        serve(r, echo);
        AUTO_FREE char *big = mem_alloc(3 << 20);
        memset(big, 'b', 3 << 20);
        struct http_request rq = request(r, "POST", "/big");
        rq.body = (struct slice){ big, (3 << 20) - 1000 };
        assert_int_equal(http_roundtrip(r->client, &rq, &r->arena, &a, &err), 0);
        assert_true(a.body.len > rq.body.len);
        rq.body.len = 3 << 20;
        assert_int_equal(http_roundtrip(r->client, &rq, &r->arena, &a, &err), 0);
        assert_int_equal(a.status, 200);
        AUTO_FREE char *bigger = mem_zalloc(4 << 20);
        rq.body = (struct slice){ bigger, 4 << 20 };
        assert_int_equal(http_roundtrip(r->client, &rq, &r->arena, &a, &err), 0);
        assert_int_equal(a.status, 413);
}
static void bodies_of_megabytes_travel_and_longer_ones_get_413(void **state)
{
        run(big_body);
}

static void refused_body(struct rig *r)
{
        struct http_response a;
        struct error err = { 0 };
        serve(r, echo);
        r->server = http1_server_stop(r->server);
        assert_int_equal(get(r, &a, &err), ERR_RETRY);
        assert_non_null(strstr(err.text, "refused"));
}
static void nobody_listening_says_refused(void **state)
{
        run(refused_body);
}

/* ---- deadlines, limits, broken answers ---- */

static void never(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        struct waitq q = { 0 };
        list_init(&q.waiters);
        r->served++;
        r->code = x->ops->wait(x, &q, DEADLINE_NONE);
}
/* A deadline that passes before the server has been asked tells nothing of it: then another, twice as long.
 */
static void deadline_body(struct rig *r)
{
        struct http_response a;
        struct error err = { 0 };
        serve(r, never);
        for (int64_t ms = 30; r->served == 0; ms *= 2) {
                struct http_request rq = request(r, "GET", "/");
                rq.deadline_ms = loop_now_ms(r->loop) + ms;
                int code = http_roundtrip(r->client, &rq, &r->arena, &a, &err);
                assert_true(code == ERR_TIMEOUT || (code == ERR_RETRY && r->served == 0));
        }
        while (r->code == 0)
                fiber_yield(r->loop);
        assert_int_equal(r->code, ERR_CLOSED);
}
static void a_server_that_never_answers_meets_the_deadline_and_sees_the_client_go(void **state)
{
        run(deadline_body);
}

static void flood(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        AUTO_FREE char *piece = mem_zalloc(1 << 20);
        http_begin(x, 200, NULL);
        for (r->sent = 0; r->sent < 200; r->sent++) {
                if ((r->code = http_write(x, piece, 1 << 20)) < 0)
                        return;
                if ((r->code = x->ops->drain(x, 1 << 20, DEADLINE_NONE)) < 0)
                        return;
        }
        http_end(x);
}
static void oversize_body(struct rig *r)
{
        struct http_response a;
        struct error err = { 0 };
        serve(r, flood);
        struct http_request rq = request(r, "GET", "/");
        rq.max_body = 5 << 20;
        assert_int_equal(http_roundtrip(r->client, &rq, &r->arena, &a, &err), ERR_LIMIT);
        assert_non_null(strstr(err.text, "longer than 5242880"));
}
static void an_oversize_answer_is_cut_while_it_streams(void **state)
{
        run(oversize_body);
}

static int open_stream(struct rig *r, struct http_stream **ret, struct error *err)
{
        struct http_request rq = request(r, "GET", "/watch");
        rq.priority = HTTP_WATCH;
        return http_stream_open(r->client, &rq, ret, err);
}

static int skim(struct rig *r, struct http_stream *s, size_t *ret_n, struct error *err)
{
        for (*ret_n = 0;;) {
                struct slice piece;
                TRY(http_stream_read(s, loop_now_ms(r->loop) + HANG_MS, &piece, err));
                *ret_n += piece.len;
        }
}

static void slow_body(struct rig *r)
{
        struct error err = { 0 };
        struct http_stream *s;
        size_t n;
        serve(r, flood);
        assert_int_equal(open_stream(r, &s, &err), 0);
        while (r->code == 0) /* not reading until the server notices */
                fiber_sleep(r->loop, 1);
        assert_int_equal(skim(r, s, &n, &err), ERR_LIMIT);
        assert_true(n <= LIMIT_STREAM_QUEUE_BYTES && n > LIMIT_STREAM_QUEUE_BYTES / 2);
        http_stream_close(s);
}
static void a_reader_that_is_too_slow_is_cut(void **state)
{
        run(slow_body);
}

static void paced_body(struct rig *r)
{
        struct error err = { 0 };
        struct http_stream *s;
        size_t n;
        serve(r, flood);
        struct http_request rq = request(r, "GET", "/large");
        assert_int_equal(http_stream_open(r->client, &rq, &s, &err), 0);
        fiber_sleep(r->loop, 50);
        assert_true(r->sent < 100); /* the server waits */
        assert_int_equal(skim(r, s, &n, &err), ERR_CLOSED);
        assert_int_equal(n, 200 << 20);
        http_stream_close(s);
}
static void a_stream_that_is_no_watch_waits_for_its_reader(void **state)
{
        run(paced_body);
}

static void many_pieces(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        http_begin(x, 200, NULL);
        for (int i = 0; i < 10000; i++) {
                char text[32];
                int n = snprintf(text, sizeof(text), "event %04d\n", i);
                if (http_write(x, text, (size_t)n) < 0)
                        return;
                if (i % 10 == 9 && fiber_yield(x->loop) < 0)
                        return;
        }
        http_end(x);
        r->served++;
}
static void watch_body(struct rig *r)
{
        struct error err = { 0 };
        struct http_stream *s;
        size_t n;
        make_identity(r, "localhost", loop_wall_ms(r->loop));
        serve(r, many_pieces);
        assert_int_equal(open_stream(r, &s, &err), 0);
        assert_int_equal(s->status, 200);
        assert_int_equal(skim(r, s, &n, &err), ERR_CLOSED);
        assert_int_equal(n, 110000);
        http_stream_close(s);
}
static void a_watch_of_ten_thousand_pieces_arrives_whole(void **state)
{
        run(watch_body);
}

static void raw_opened(void *owner, struct tls_stream *s)
{
}
static void raw_data(void *owner, struct tls_stream *s, const char *data, size_t n)
{
        struct rig *r = owner;
        r->served++;
        tls_stream_write(s, r->raw, strlen(r->raw));
        tls_stream_close(s, 1000);
}
static void raw_closed(void *owner, struct tls_stream *s, const struct error *why)
{
}
static const struct tls_stream_events raw_events = { .opened = raw_opened,
                                                     .data = raw_data,
                                                     .closed = raw_closed };

static void raw_body(struct rig *r)
{
        static const struct {
                const char *text;
                int code, status;
        } table[] = {
                { "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", ERR_RETRY, 0 },
                { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", ERR_RETRY, 0 },
                { "", ERR_RETRY, 0 },
                { "SSH-2.0-OpenSSH\r\n", ERR_RETRY, 0 },
                { "HTTP/1.1 200 OK\r\n\r\nhello", 0, 200 },
                { "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", 0, 201 },
                { "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", 0,
                  302 },
        };
        struct tls_listener *raw;
        struct error err = { 0 };
        struct tls_listen_options o = { .bind = "127.0.0.1", .events = &raw_events, .owner = r };
        assert_int_equal(tls_listen(r->loop, &o, &raw, &err), 0);
        r->endpoint.base_url = mem_printf("http://127.0.0.1:%d", tls_listener_port(raw));
        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                struct http_response a = { 0 };
                r->raw = table[i].text;
                int code = get(r, &a, &err);
                if (code != table[i].code)
                        print_message("%zu: %d %s\n", i, code, err.text);
                assert_int_equal(code, table[i].code);
                assert_int_equal(a.status, table[i].status);
        }
        tls_listener_free(raw);
}
static void cut_and_foreign_answers_are_errors_and_redirects_are_not_followed(void **state)
{
        run(raw_body);
}

/* ---- many at once ---- */

static void nap_and_answer(void *ctx, struct http_exchange *x)
{
        fiber_sleep(x->loop, 2);
        echo(ctx, x);
}
static void one_of_many(void *ctx)
{
        struct rig *r = ctx;
        struct http_response a;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_request rq = request(r, "GET", "/x");
        struct error err = { 0 };
        assert_int_equal(http_roundtrip(r->client, &rq, &arena, &a, &err), 0);
        assert_int_equal(a.status, 200);
        r->code++;
}
static void many_body(struct rig *r)
{
        make_identity(r, "localhost", loop_wall_ms(r->loop));
        serve(r, nap_and_answer);
        struct fiber_group *g = fiber_group_new(r->loop, NULL, "clients");
        for (int i = 0; i < 200; i++)
                assert_non_null(fiber_spawn(g, "client", one_of_many, r));
        assert_int_equal(fiber_group_join(g, DEADLINE_NONE), 0);
        fiber_group_end(g);
        assert_int_equal(r->code, 200);
}
static void two_hundred_requests_at_once_all_come_back(void **state)
{
        run(many_body);
}

/* ---- whether it may leave ---- */

static int leaves(void *ctx, struct error *err)
{
        struct rig *r = ctx;
        r->sent++;
        return r->code ? error_set(err, ERR_RETRY, "not any more") : 0;
}
static void post_if_it_may(void *ctx)
{
        struct rig *r = ctx;
        struct http_response a;
        struct error err = { 0 };
        struct http_request rq = request(r, "POST", "/x");
        AUTO_ARENA struct arena arena = ARENA_INIT;
        rq.body = SLICE("{}");
        rq.may_leave = leaves;
        rq.may_leave_ctx = r;
        r->served += http_roundtrip(r->client, &rq, &arena, &a, &err) == 0;
        if (r->code) {
                assert_int_equal(err.code, ERR_RETRY);
                assert_string_equal(err.text, "not any more");
        }
}
/* One connects, the others wait for it; meanwhile it is decided otherwise. */
static void leaving_body(struct rig *r)
{
        struct fiber_group *g = fiber_group_new(r->loop, NULL, "clients");
        serve(r, echo);
        for (int i = 0; i < 3; i++)
                assert_non_null(fiber_spawn(g, "client", post_if_it_may, r));
        fiber_yield(r->loop);
        assert_int_equal(r->sent, 0);
        r->code = 1;
        assert_int_equal(fiber_group_join(g, DEADLINE_NONE), 0);
        assert_int_equal(r->sent, 3);
        assert_int_equal(r->served, 0);
        r->code = 0;
        for (int i = 0; i < 2; i++) /* on connections that stand it is asked, too */
                post_if_it_may(r);
        assert_int_equal(r->sent, 5);
        assert_int_equal(r->served, 4); /* twice by the server, twice by us */
        r->code = 1;
        post_if_it_may(r);
        assert_int_equal(r->sent, 6);
        assert_int_equal(r->served, 4);
        fiber_group_end(g);
}
static void a_request_is_asked_for_in_the_moment_in_which_it_leaves(void **state)
{
        run(leaving_body);
}

static void begin_and_wait(void *ctx, struct http_exchange *x)
{
        struct waitq q = { 0 };
        list_init(&q.waiters);
        http_begin(x, 200, NULL);
        http_write(x, "first\n", 6);
        x->ops->wait(x, &q, DEADLINE_NONE);
}
static void one_watch(void *ctx)
{
        struct rig *r = ctx;
        struct error err = { 0 };
        struct http_stream *s;
        struct slice piece;
        assert_int_equal(open_stream(r, &s, &err), 0);
        assert_int_equal(http_stream_read(s, loop_now_ms(r->loop) + HANG_MS, &piece, &err), 0);
        r->code++;
        while (r->code < 200)
                fiber_sleep(r->loop, 1);
        http_stream_close(s);
}
static void many_watches_body(struct rig *r)
{
        serve(r, begin_and_wait);
        struct fiber_group *g = fiber_group_new(r->loop, NULL, "clients");
        for (int i = 0; i < 200; i++)
                assert_non_null(fiber_spawn(g, "client", one_watch, r));
        assert_int_equal(fiber_group_join(g, DEADLINE_NONE), 0);
        fiber_group_end(g);
}
static void two_hundred_watches_at_once_all_open_over_http_1(void **state)
{
        run(many_watches_body);
}

/* ---- cancelling and stopping ---- */

static void request_and_note(void *ctx)
{
        struct rig *r = ctx;
        struct http_response a;
        struct error err = { 0 };
        r->sent = 1;
        r->code = get(r, &a, &err);
}
static void stream_and_note(void *ctx)
{
        struct rig *r = ctx;
        struct error err = { 0 };
        struct http_stream *s;
        r->sent = 1;
        r->code = open_stream(r, &s, &err);
        if (r->code < 0)
                return;
        size_t n;
        r->code = skim(r, s, &n, &err);
        http_stream_close(s);
}
static void begin_and_hang(void *ctx, struct http_exchange *x)
{
        http_begin(x, 200, NULL);
        http_write(x, "first\n", 6);
        never(ctx, x);
}
static void cancel_after(struct rig *r, fiber_fn fn, int yields)
{
        struct fiber_group *g = fiber_group_new(r->loop, NULL, "client");
        r->code = 0;
        assert_non_null(fiber_spawn(g, "client", fn, r));
        for (int i = 0; i < yields; i++)
                fiber_sleep(r->loop, 1);
        fiber_group_end(g);
        assert_true(r->sent == 0 || r->code == ERR_CANCELLED || r->code == ERR_CLOSED);
}
static void cancel_body(struct rig *r)
{
        make_identity(r, "localhost", loop_wall_ms(r->loop));
        serve(r, begin_and_hang);
        for (int yields = 0; yields < 20; yields++) {
                r->endpoint.generation++; /* connect, shake hands, send, wait: caught in each state */
                cancel_after(r, request_and_note, yields);
                cancel_after(r, stream_and_note, yields);
        }
}
static void a_client_can_be_cancelled_in_every_state(void **state)
{
        run(cancel_body);
}

static void stop_body(struct rig *r)
{
        serve(r, begin_and_hang);
        struct fiber_group *g = fiber_group_new(r->loop, NULL, "client");
        assert_non_null(fiber_spawn(g, "request", request_and_note, r));
        while (r->served < 1)
                fiber_sleep(r->loop, 1);
        r->server = http1_server_stop(r->server);
        fiber_group_join(g, DEADLINE_NONE);
        fiber_group_end(g);
        assert_int_equal(r->code, ERR_RETRY);
}
static void stopping_the_server_ends_open_exchanges(void **state)
{
        run(stop_body);
}

/* ---- compressed answers ---- */

static void answer_gzip(void *ctx, struct http_exchange *x)
{
        /* "hello hello hello\n" */
        static const char zipped[] = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9"
                                     "\xc9\x57\xc8\x40\x90\x5c\x00\x3b\x7c\x8a\xdf\x12\x00\x00\x00";
        struct http_header coding = { "Content-Encoding", "gzip" };
        const char *accepted = http_header_get(&x->headers, "Accept-Encoding");
        ((struct rig *)ctx)->code = accepted && strstr(accepted, "gzip");
        http_reply(x, 200, "text/plain", (struct slice){ zipped, sizeof(zipped) - 1 },
                   &(struct http_headers){ &coding, 1 });
}
static void gzip_body(struct rig *r)
{
        struct http_response a;
        struct error err = { 0 };
        serve(r, answer_gzip);
        assert_int_equal(get(r, &a, &err), 0);
        assert_int_equal(r->code, 1);
        assert_string_equal(a.body.data, "hello hello hello\n");
}
static void compressed_answers_are_asked_for_and_unpacked(void **state)
{
        run(gzip_body);
}

/* ---- allocation failures, on both sides ---- */

static void memory_body(struct rig *r)
{
        make_identity(r, "localhost", loop_wall_ms(r->loop));
        struct cert_subject subject = { "member-1", (const char *[]){ "fleet", NULL } };
        issue(r, &subject, loop_wall_ms(r->loop), &r->endpoint.client_cert_pem, &r->endpoint.client_key_pem);
        serve(r, echo);
        bool fired = true;
        for (uint64_t n = 1; fired; n++) {
                struct error err = { 0 };
                struct http_response a;
                AUTO_ARENA struct arena arena = ARENA_INIT;
                r->endpoint.generation++; /* connects anew */
                struct http_request rq = request(r, "POST", "/x");
                rq.body = SLICE("{}");
                mem_fail_at(n, false);
                int code = http_roundtrip(r->client, &rq, &arena, &a, &err);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                if (code == ERR_TIMEOUT)
                        print_message("allocation %d: %s\n", (int)n, err.text);
                if (code == 0)
                        assert_true(a.status == 200 || a.status >= 500);
                else
                        assert_true(code == ERR_NO_MEMORY || code == ERR_RETRY);
                assert_true(fired || (code == 0 && a.status == 200));
        }
}
static void any_one_allocation_may_fail_on_either_side(void **state)
{
        run(memory_body);
}

static void memory_stream_body(struct rig *r)
{
        serve(r, many_pieces);
        bool fired = true;
        for (uint64_t n = 1; fired && n < 60; n++) {
                struct error err = { 0 };
                struct http_stream *s = NULL;
                size_t got = 0;
                r->endpoint.generation++;
                mem_fail_at(n, false);
                int code = open_stream(r, &s, &err);
                if (code == 0)
                        code = skim(r, s, &got, &err);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                http_stream_close(s);
                assert_true(code == ERR_NO_MEMORY || code == ERR_RETRY || code == ERR_CLOSED);
                assert_true(code != ERR_CLOSED || got == 110000 || fired);
        }
}
static void any_one_allocation_of_a_stream_may_fail(void **state)
{
        run(memory_stream_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(requests_of_every_method_come_back),
                cmocka_unit_test(bodies_of_megabytes_travel_and_longer_ones_get_413),
                cmocka_unit_test(nobody_listening_says_refused),
                cmocka_unit_test(a_server_that_never_answers_meets_the_deadline_and_sees_the_client_go),
                cmocka_unit_test(an_oversize_answer_is_cut_while_it_streams),
                cmocka_unit_test(a_reader_that_is_too_slow_is_cut),
                cmocka_unit_test(a_stream_that_is_no_watch_waits_for_its_reader),
                cmocka_unit_test(a_watch_of_ten_thousand_pieces_arrives_whole),
                cmocka_unit_test(cut_and_foreign_answers_are_errors_and_redirects_are_not_followed),
                cmocka_unit_test(two_hundred_requests_at_once_all_come_back),
                cmocka_unit_test(a_request_is_asked_for_in_the_moment_in_which_it_leaves),
                cmocka_unit_test(two_hundred_watches_at_once_all_open_over_http_1),
                cmocka_unit_test(a_client_can_be_cancelled_in_every_state),
                cmocka_unit_test(stopping_the_server_ends_open_exchanges),
                cmocka_unit_test(compressed_answers_are_asked_for_and_unpacked),
                cmocka_unit_test(any_one_allocation_may_fail_on_either_side),
                cmocka_unit_test(any_one_allocation_of_a_stream_may_fail),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
