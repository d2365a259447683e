/* Connections byte by byte: what is done with requests that no library would send, and WebSockets. */
#include "common/base/limits.h"
#include "common/net/cert.h"
#include "common/net/http_server_cases_test.h"
#include "e2e/devcluster/serving/http1_server_test.h"
#include "e2e/devcluster/serving/tls_stream.h"
#include "e2e/devcluster/serving/websocket.h"

static void rig_start(struct rig *r)
{
        struct http1_server *s = NULL;
        struct error err = { 0 };
        if (http1_server_start(&r->world, &r->options, &s, &err) < 0)
                fail_msg("%s", err.text);
        r->server = s;
        r->port = http1_server_port(s);
}

static void rig_stop(struct rig *r)
{
        r->server = http1_server_stop(r->server);
}

/* ---- requests ---- */

static void behind_body(struct rig *r)
{
        struct raw k;
        raw_open(&k, r->loop, r->port);
        const char *two = "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
                          "GET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        raw_say(&k, two, strlen(two));
        raw_await_end(&k);
        const char *one = strstr(k.heard.data, "[/1 hi]"), *last = strstr(k.heard.data, "[/2 ]");
        assert_true(one && last && one < last);
        raw_close(&k);
}
static void a_request_behind_a_body_is_answered_too(void **state)
{
        run(say_path, behind_body);
}

static void no_stream(void *owner, struct tls_stream *s)
{
        ((struct rig *)owner)->code = 1;
}
static void handshake_body(struct rig *r)
{
        static const struct tls_stream_events events = { .opened = no_stream };
        AUTO_FREE char *cert = NULL;
        AUTO_FREE char *key = NULL;
        struct error err;
        struct tls_listener *t;
        assert_int_equal(cert_self_signed_ca("a", loop_wall_ms(r->loop), 1, &cert, &key, &err), 0);
        struct tls_identity identity = { .cert_pem = cert, .key_pem = key };
        struct tls_listen_options o = { .bind = "127.0.0.1",
                                        .tls = &identity,
                                        .handshake_ms = 20,
                                        .max_streams = 1,
                                        .events = &events,
                                        .owner = r };
        assert_int_equal(tls_listen(r->loop, &o, &t, &err), 0);
        r->port = tls_listener_port(t);
        struct raw silent, nonsense, third;
        raw_open(&silent, r->loop, r->port);
        raw_open(&third, r->loop, r->port); /* one too many */
        raw_await_end(&third);
        raw_await_end(&silent);
        raw_open(&nonsense, r->loop, r->port);
        raw_say(&nonsense, "GET / HTTP/1.1\r\n\r\n", 18);
        raw_await_end(&nonsense);
        raw_close(&silent);
        raw_close(&nonsense);
        raw_close(&third);
        assert_int_equal(tls_listener_count(t), 0);
        tls_listener_free(t);
        assert_int_equal(r->code, 0);
}
static void handshakes_that_stall_fail_or_are_too_many_are_cut(void **state)
{
        run(say_path, handshake_body);
}

static void listen_body(struct rig *r)
{
        static const struct tls_stream_events events = { .opened = no_stream };
        struct tls_listener *second;
        struct error err;
        struct tls_listen_options o = { .bind = "127.0.0.1", .port = r->port, .events = &events, .owner = r };
        assert_int_equal(tls_listen(r->loop, &o, &second, &err), ERR_SYSTEM);
        assert_non_null(strstr(err.text, "in use"));
        o.bind = "nowhere";
        assert_int_equal(tls_listen(r->loop, &o, &second, &err), ERR_INVALID);
        o = (struct tls_listen_options){ .bind = "::1", .events = &events, .owner = r };
        if (tls_listen(r->loop, &o, &second, &err) == 0) /* where there is IPv6 */
                tls_listener_free(second);
}
static void a_taken_port_or_a_bad_address_is_an_error(void **state)
{
        run(say_path, listen_body);
}

static void bad_body(struct rig *r)
{
        static const struct {
                const char *text, *status;
        } table[] = {
                { "nonsense\r\n\r\n", "HTTP/1.1 400 " },
                { "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 " },
                { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n", "HTTP/1.1 413 " },
                { "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 501 " },
        };
        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                struct raw k;
                raw_open(&k, r->loop, r->port);
                raw_say(&k, table[i].text, strlen(table[i].text));
                raw_await(&k, table[i].status);
                raw_await_end(&k);
                raw_close(&k);
        }
        struct raw k;
        AUTO_FREE char *long_header = mem_alloc(LIMIT_HEADER_BYTES + 1000);
        memset(long_header, 'a', LIMIT_HEADER_BYTES + 1000);
        memcpy(long_header, "GET / HTTP/1.1\r\nA: ", 19);
        raw_open(&k, r->loop, r->port);
        raw_say(&k, long_header, LIMIT_HEADER_BYTES + 1000);
        raw_await(&k, "HTTP/1.1 431 ");
        raw_await_end(&k);
        raw_close(&k);
        assert_int_equal(r->served, 0);
}
static void bad_requests_get_their_status_and_no_handler(void **state)
{
        run(say_path, bad_body);
}

/* ---- WebSocket ---- */

#define HANDSHAKE                                                                                            \
        "GET /ws HTTP/1.1\r\nHost: dash:1\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"      \
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define ACCEPTED "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"

static void echo_messages(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        struct websocket *ws;
        struct error err;
        r->code = websocket_accept(x, &ws, &err);
        if (r->code < 0) {
                http_reply(x, 403, "text/plain", slice_of(err.text), NULL);
                return;
        }
        struct slice message;
        bool binary;
        while ((r->code = websocket_receive(ws, loop_now_ms(x->loop) + HANG_MS, &message, &binary, &err)) ==
               0) {
                r->served++;
                websocket_send(ws, message, binary);
        }
        websocket_close(ws, 1000);
}

/* One masked frame. */
static void say_frame(struct raw *k, int first, const char *text)
{
        unsigned char frame[256] = { (unsigned char)first, (unsigned char)(0x80 | strlen(text)), 1, 2, 3, 4 };
        for (size_t i = 0; text[i]; i++)
                frame[6 + i] = (unsigned char)text[i] ^ frame[2 + i % 4];
        raw_say(k, frame, 6 + strlen(text));
}

static void ws_open(struct raw *k, struct rig *r)
{
        raw_open(k, r->loop, r->port);
        raw_say(k, HANDSHAKE "\r\n", strlen(HANDSHAKE) + 2);
        raw_await(k, ACCEPTED);
        buf_clear(&k->heard);
}

static void expect_bytes(struct raw *k, const char *bytes, size_t n)
{
        raw_await_bytes(k, n);
        assert_memory_equal(k->heard.data, bytes, n);
        buf_consume(&k->heard, n);
}

static void ws_body(struct rig *r)
{
        struct raw k;
        ws_open(&k, r);
        say_frame(&k, 0x81, "hello");
        expect_bytes(&k, "\x81\x05hello", 7);
        say_frame(&k, 0x02, "ab"); /* a message in three pieces with a ping between */
        say_frame(&k, 0x00, "cd");
        say_frame(&k, 0x89, "?");
        say_frame(&k, 0x80, "ef");
        expect_bytes(&k, "\x8a\x01?", 3);
        expect_bytes(&k,
                     "\x82\x06"
                     "abcdef",
                     8);
        say_frame(&k, 0x88, "\x03\xe8");
        expect_bytes(&k, "\x88\x02\x03\xe8", 4);
        raw_await_end(&k);
        assert_int_equal(r->code, ERR_CLOSED);
        assert_int_equal(r->served, 2);
        raw_close(&k);
}
static void messages_go_both_ways_until_the_peer_says_goodbye(void **state)
{
        run(echo_messages, ws_body);
}

static void ws_bad_body(struct rig *r)
{
        static const struct {
                const char *bytes;
                size_t n;
                const char *close;
        } table[] = {
                { "\x81\x01x", 3, "\x88\x02\x03\xea" },            /* not masked */
                { "\xc1\x81\0\0\0\0x", 7, "\x88\x02\x03\xea" },    /* a reserved bit */
                { "\x83\x81\0\0\0\0x", 7, "\x88\x02\x03\xea" },    /* an unknown opcode */
                { "\x80\x81\0\0\0\0x", 7, "\x88\x02\x03\xea" },    /* a continuation of nothing */
                { "\x09\x81\0\0\0\0x", 7, "\x88\x02\x03\xea" },    /* a ping in pieces */
                { "\x81\x81\0\0\0\0\xff", 7, "\x88\x02\x03\xef" }, /* text that is not UTF-8 */
                { "\x82\xff\0\0\0\1\0\0\0\0\0\0\0\0", 14, "\x88\x02\x03\xf1" }, /* four gigabytes */
        };
        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                struct raw k;
                ws_open(&k, r);
                raw_say(&k, table[i].bytes, table[i].n);
                expect_bytes(&k, table[i].close, 4);
                raw_await_end(&k);
                assert_int_equal(r->code, ERR_RETRY);
                raw_close(&k);
        }
}
static void frames_that_break_the_protocol_end_the_socket(void **state)
{
        run(echo_messages, ws_bad_body);
}

static void ws_handshake_body(struct rig *r)
{
        static const struct {
                const char *request;
                int code;
        } table[] = {
                { HANDSHAKE "Origin: http://evil\r\n\r\n", ERR_FORBIDDEN },
                { "GET /ws HTTP/1.1\r\nHost: a\r\n\r\n", ERR_INVALID },
                { "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n\r\n",
                  ERR_INVALID },
        };
        struct raw k;
        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                raw_open(&k, r->loop, r->port);
                raw_say(&k, table[i].request, strlen(table[i].request));
                raw_await(&k, "HTTP/1.1 403 ");
                assert_int_equal(r->code, table[i].code);
                raw_close(&k);
        }
        raw_open(&k, r->loop, r->port);
        raw_say(&k, HANDSHAKE "Origin: http://dash:1\r\n\r\n",
                strlen(HANDSHAKE "Origin: http://dash:1\r\n\r\n"));
        raw_await(&k, ACCEPTED);
        raw_close(&k);
        while (r->code == 0)
                fiber_sleep(r->loop, 1);
        assert_int_equal(r->code, ERR_RETRY);
}
static void foreign_pages_and_malformed_handshakes_are_refused(void **state)
{
        run(echo_messages, ws_handshake_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                HTTP_SERVER_CASES,
                cmocka_unit_test(a_request_behind_a_body_is_answered_too),
                cmocka_unit_test(handshakes_that_stall_fail_or_are_too_many_are_cut),
                cmocka_unit_test(a_taken_port_or_a_bad_address_is_an_error),
                cmocka_unit_test(bad_requests_get_their_status_and_no_handler),
                cmocka_unit_test(messages_go_both_ways_until_the_peer_says_goodbye),
                cmocka_unit_test(frames_that_break_the_protocol_end_the_socket),
                cmocka_unit_test(foreign_pages_and_malformed_handshakes_are_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
