/* The server byte by byte: what it does with requests that no library would send, and WebSockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <uv.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/net/cert.h"
#include "common/net/http_server_ws.h"
#include "common/net/tls_stream.h"

struct rig {
        struct loop *loop;
        struct world world;
        struct http_server *server;
        struct fiber_group *group;
        int served, code, done, port;
        struct http_server_options options;
        void (*body)(struct rig *r);
};

/* A client that says what it is told to, and keeps what it hears. */
struct raw {
        struct rig *rig;
        uv_tcp_t tcp;
        uv_connect_t connecting;
        uv_write_t writing;
        struct buf heard;
        struct waitq news;
        bool connected, ended, closed, written;
        char space[4096];
};

static void raw_connected(uv_connect_t *c, int status)
{
        struct raw *k = c->data;
        k->connected = status == 0;
        waitq_wake_all(&k->news);
}
static void raw_buffer(uv_handle_t *h, size_t n, uv_buf_t *ret)
{
        struct raw *k = h->data;
        *ret = uv_buf_init(k->space, sizeof(k->space));
}
static void raw_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
        struct raw *k = s->data;
        if (n > 0)
                buf_append(&k->heard, b->base, (size_t)n);
        else if (n < 0)
                k->ended = true;
        waitq_wake_all(&k->news);
}
static void raw_written(uv_write_t *w, int status)
{
        struct raw *k = w->data;
        k->written = true;
        waitq_wake_all(&k->news);
}
static void raw_closed(uv_handle_t *h)
{
        struct raw *k = h->data;
        k->closed = true;
        waitq_wake_all(&k->news);
}

static int64_t soon(struct rig *r)
{
        return loop_now_ms(r->loop) + 20000;
}

static void raw_open(struct raw *k, struct rig *r)
{
        *k = (struct raw){ .rig = r };
        struct sockaddr_in address;
        buf_init(&k->heard, 8 << 20);
        list_init(&k->news.waiters);
        uv_ip4_addr("127.0.0.1", r->port, &address);
        uv_tcp_init(loop_uv(r->loop), &k->tcp);
        k->tcp.data = k->connecting.data = k->writing.data = k;
        uv_tcp_connect(&k->connecting, &k->tcp, (struct sockaddr *)&address, raw_connected);
        while (!k->connected)
                assert_int_equal(waitq_wait(r->loop, &k->news, soon(r)), 0);
        uv_read_start((uv_stream_t *)&k->tcp, raw_buffer, raw_read);
}

static void raw_say(struct raw *k, const void *data, size_t n)
{
        uv_buf_t b = uv_buf_init((char *)data, (unsigned)n);
        k->written = false;
        assert_int_equal(uv_write(&k->writing, (uv_stream_t *)&k->tcp, &b, 1, raw_written), 0);
        while (!k->written)
                assert_int_equal(waitq_wait(k->rig->loop, &k->news, soon(k->rig)), 0);
}

static void raw_await(struct raw *k, const char *words)
{
        while (!strstr(k->heard.data, words)) {
                if (k->ended)
                        print_message("heard only: %s\n", k->heard.data);
                assert_false(k->ended);
                assert_int_equal(waitq_wait(k->rig->loop, &k->news, soon(k->rig)), 0);
        }
}

static void raw_await_bytes(struct raw *k, size_t n)
{
        while (k->heard.len < n) {
                assert_false(k->ended);
                assert_int_equal(waitq_wait(k->rig->loop, &k->news, soon(k->rig)), 0);
        }
}

static void raw_await_end(struct raw *k)
{
        while (!k->ended)
                assert_int_equal(waitq_wait(k->rig->loop, &k->news, soon(k->rig)), 0);
}

static void raw_close(struct raw *k)
{
        uv_close((uv_handle_t *)&k->tcp, raw_closed);
        while (!k->closed)
                waitq_wait(k->rig->loop, &k->news, soon(k->rig));
        buf_free(&k->heard);
}

static void body_fiber(void *ctx)
{
        struct rig *r = ctx;
        struct error err;
        r->options.bind = "127.0.0.1";
        r->options.ctx = r;
        assert_int_equal(http_server_start(&r->world, &r->options, &r->server, &err), 0);
        r->port = http_server_port(r->server);
        r->body(r);
        http_server_stop(r->server);
        r->done = 1;
}

static void run_with(const struct http_server_options *o, void (*body)(struct rig *))
{
        struct error err;
        struct rig r = { .body = body, .options = *o };
        size_t before = mem_live_count();
        r.loop = loop_new_real(&err);
        r.world.loop = r.loop;
        r.group = fiber_group_new(r.loop, NULL, "test");
        assert_non_null(fiber_spawn(r.group, "body", body_fiber, &r));
        loop_run(r.loop, &err);
        assert_int_equal(r.done, 1);
        fiber_group_end(r.group);
        loop_free(r.loop);
        assert_int_equal(mem_live_count(), before);
}

static void run(http_handler_fn handle, void (*body)(struct rig *))
{
        run_with(&(struct http_server_options){ .handle = handle }, body);
}

/* ---- requests ---- */

static void say_path(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        r->served++;
        fiber_yield(x->loop);
        const char *text = arena_printf(x->arena, "[%s %s]", x->path, x->body.data);
        http_reply(x, 200, "text/plain", slice_of(text), NULL);
}

static void pipeline_body(struct rig *r)
{
        struct raw k;
        raw_open(&k, r);
        const char *three =
                "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
                "GET /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        raw_say(&k, three, strlen(three));
        raw_await_end(&k);
        const char *one = strstr(k.heard.data, "[/1 ]"), *two = strstr(k.heard.data, "[/2 hi]"),
                   *last = strstr(k.heard.data, "[/3 ]");
        assert_true(one && two && last && one < two && two < last);
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
        raw_open(&k, r);
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
        raw_open(&silent, r);
        raw_open(&third, r); /* one too many */
        raw_await_end(&third);
        raw_await_end(&silent);
        raw_open(&nonsense, r);
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
        struct http_server *second;
        struct error err;
        struct http_server_options o = { .bind = "127.0.0.1", .port = r->port, .handle = say_path, .ctx = r };
        assert_int_equal(http_server_start(&r->world, &o, &second, &err), ERR_SYSTEM);
        assert_non_null(strstr(err.text, "in use"));
        o.bind = "nowhere";
        assert_int_equal(http_server_start(&r->world, &o, &second, &err), ERR_INVALID);
        o = (struct http_server_options){ .bind = "::1", .handle = say_path, .ctx = r };
        if (http_server_start(&r->world, &o, &second, &err) == 0) /* where there is IPv6 */
                http_server_stop(second);
}
static void a_taken_port_or_a_bad_address_is_an_error(void **state)
{
        run(say_path, listen_body);
}

static void continue_body(struct rig *r)
{
        struct raw k;
        raw_open(&k, r);
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
                raw_open(&k, r);
                raw_say(&k, table[i].text, strlen(table[i].text));
                raw_await(&k, table[i].status);
                raw_await_end(&k);
                raw_close(&k);
        }
        struct raw k;
        AUTO_FREE char *long_header = mem_alloc(LIMIT_HEADER_BYTES + 1000);
        memset(long_header, 'a', LIMIT_HEADER_BYTES + 1000);
        memcpy(long_header, "GET / HTTP/1.1\r\nA: ", 19);
        raw_open(&k, r);
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
        raw_open(&k, r);
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
                raw_open(&k, r);
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
static void leave_body(struct rig *r)
{
        struct raw k;
        raw_open(&k, r);
        raw_say(&k, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);
        while (r->served == 0)
                fiber_sleep(r->loop, 1);
        raw_close(&k);
        while (r->code == 0)
                fiber_sleep(r->loop, 1);
        assert_int_equal(r->code, ERR_CLOSED);
        raw_open(&k, r);
        raw_say(&k, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);
        while (r->served == 1)
                fiber_sleep(r->loop, 1);
        r->server = http_server_stop(r->server);
        raw_await(&k, "HTTP/1.1 503 ");
        raw_await_end(&k);
        raw_close(&k);
}
static void a_handler_sees_its_client_go_and_a_stopping_server_answers_503(void **state)
{
        run(hang, leave_body);
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
        while ((r->code = websocket_receive(ws, loop_now_ms(x->loop) + 20000, &message, &binary, &err)) ==
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
        raw_open(k, r);
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
                raw_open(&k, r);
                raw_say(&k, table[i].request, strlen(table[i].request));
                raw_await(&k, "HTTP/1.1 403 ");
                assert_int_equal(r->code, table[i].code);
                raw_close(&k);
        }
        raw_open(&k, r);
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

/* ---- a port that anybody reaches ---- */

#define CONNECTIONS 8
#define HELD_BYTES (64u << 10)

static void say_much(void *ctx, struct http_exchange *x)
{
        ((struct rig *)ctx)->served++;
        char *text = arena_alloc(x->arena, HELD_BYTES);
        memset(text, 'm', HELD_BYTES);
        http_reply(x, 200, "text/plain", (struct slice){ text, HELD_BYTES }, NULL);
}

static struct http_server_options narrow(http_handler_fn handle)
{
        return (struct http_server_options){
                .handle = handle,
                .limits = { .header_bytes = 1024, .headers = 4, .body_bytes = HTTP1_NO_BODY },
                .connections = CONNECTIONS
        };
}

static void narrow_body(struct rig *r)
{
        static const struct {
                const char *text, *status;
        } table[] = {
                { "GET http:// HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 400 " },
                { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", "HTTP/1.1 413 " },
                { "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na", "HTTP/1.1 413 " },
                { "GET / HTTP/1.1\r\nHost: a\r\nB: 1\r\nC: 1\r\nD: 1\r\nE: 1\r\n\r\n", "HTTP/1.1 431 " },
                { "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n"
                  "Connection: close\r\n\r\n",
                  "[/2 ]" },
        };
        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                struct raw k;
                raw_open(&k, r);
                raw_say(&k, table[i].text, strlen(table[i].text));
                raw_await(&k, table[i].status);
                raw_await_end(&k);
                raw_close(&k);
        }
        assert_int_equal(r->served, 2);
}
static void a_narrow_server_takes_no_bodies_and_small_heads(void **state)
{
        struct http_server_options o = narrow(say_path);
        run_with(&o, narrow_body);
}

/* Says as much as the other side takes; a refused one resets the connection. */
static void raw_push(struct raw *k, const char *data, size_t n)
{
        uv_buf_t b = uv_buf_init((char *)data, (unsigned)n);
        uv_try_write((uv_stream_t *)&k->tcp, &b, 1);
}

static void crowd_body(struct rig *r)
{
        static const char post[] = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n";
        static const char get[] = "GET /me HTTP/1.1\r\nHost: a\r\n\r\n";
        enum { CROWD = 200 };
        AUTO_FREE struct raw *crowd = mem_calloc(CROWD, sizeof(*crowd));
        AUTO_FREE char *body = mem_zalloc(3000000);
        struct raw me;
        size_t before = mem_live_bytes();
        for (size_t i = 0; i < CROWD; i++) {
                raw_open(&crowd[i], r);
                raw_push(&crowd[i], post, strlen(post) / (1 + i % 2)); /* half of them never end their head */
                raw_push(&crowd[i], body, 3000000);
        }
        fiber_sleep(r->loop, 20);
        assert_in_range(mem_live_bytes() - before, 0, 1 << 20);
        raw_open(&me, r); /* they hold all there is, and keep nobody out */
        raw_say(&me, get, strlen(get));
        raw_await(&me, "[/me ]");
        raw_close(&me);
        for (size_t i = 0; i < CROWD - CONNECTIONS; i++)
                raw_await_end(&crowd[i]);
        for (size_t i = 0; i < CROWD; i++)
                raw_close(&crowd[i]);
}
static void a_crowd_with_big_bodies_takes_no_memory_and_keeps_nobody_out(void **state)
{
        struct http_server_options o = narrow(say_path);
        run_with(&o, crowd_body);
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
        raw_open(&k, r);
        uv_read_stop((uv_stream_t *)&k.tcp);
        size_t before = mem_live_bytes();
        raw_push(&k, many.data, many.len);
        fiber_sleep(r->loop, 200);
        assert_in_range(r->served, 1, 1999);
        assert_in_range(mem_live_bytes() - before, 0, 1 << 20);
        raw_close(&k);
}
static void who_takes_no_answers_gets_no_more_of_them(void **state)
{
        struct http_server_options o = narrow(say_much);
        run_with(&o, greedy_body);
}

static void slow_body(struct rig *r)
{
        struct raw k;
        raw_open(&k, r);
        int64_t begun = loop_now_ms(r->loop);
        while (!k.ended && loop_now_ms(r->loop) - begun < 20000) { /* a byte now and then is not enough */
                raw_push(&k, "G", 1);
                fiber_sleep(r->loop, 10);
        }
        assert_true(k.ended);
        assert_int_equal(r->served, 0);
        raw_close(&k);
}
static void a_request_that_takes_too_long_is_cut(void **state)
{
        struct http_server_options o = narrow(say_path);
        o.request_ms = 100;
        run_with(&o, slow_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_narrow_server_takes_no_bodies_and_small_heads),
                cmocka_unit_test(a_crowd_with_big_bodies_takes_no_memory_and_keeps_nobody_out),
                cmocka_unit_test(who_takes_no_answers_gets_no_more_of_them),
                cmocka_unit_test(a_request_that_takes_too_long_is_cut),
                cmocka_unit_test(pipelined_requests_are_answered_in_order),
                cmocka_unit_test(a_flood_of_pipelined_requests_is_answered_whole),
                cmocka_unit_test(handshakes_that_stall_fail_or_are_too_many_are_cut),
                cmocka_unit_test(a_taken_port_or_a_bad_address_is_an_error),
                cmocka_unit_test(expect_continue_is_answered_before_the_body),
                cmocka_unit_test(bad_requests_get_their_status_and_no_handler),
                cmocka_unit_test(an_old_client_gets_a_stream_that_ends_with_the_connection),
                cmocka_unit_test(handlers_that_break_the_rules_cannot_break_the_protocol),
                cmocka_unit_test(a_handler_sees_its_client_go_and_a_stopping_server_answers_503),
                cmocka_unit_test(messages_go_both_ways_until_the_peer_says_goodbye),
                cmocka_unit_test(frames_that_break_the_protocol_end_the_socket),
                cmocka_unit_test(foreign_pages_and_malformed_handshakes_are_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
