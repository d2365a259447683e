/* WebSockets on the agents' own server, frame by frame, beside HTTP on the same port. */
#include "common/base/limits.h"
#include "common/net/http_server_cases_test.h"
#include "common/net/websocket_rig_test.h"

/* ---- messages ---- */

static void echo_body(struct rig *r)
{
        struct raw_socket k;
        raw_socket_open(&k, r->loop, r->port);
        raw_socket_text(&k, "hello");
        raw_socket_expect(&k, "hello");
        raw_socket_text(&k, "");
        raw_socket_expect(&k, "");
        raw_socket_frame(&k, 0x01, "frag", 4);
        raw_socket_frame(&k, 0x00, "", 0);
        raw_socket_frame(&k, FRAME_PING, "between", 7);
        raw_socket_frame(&k, 0x00, "men", 3);
        raw_socket_frame(&k, 0x80, "ted", 3);
        struct raw_frame f;
        assert_true(raw_socket_read(&k, &f));
        assert_int_equal(f.first, FRAME_PONG);
        assert_memory_equal(f.data, "between", 7);
        raw_socket_expect(&k, "fragmented");
        raw_socket_frame(&k, FRAME_CLOSE, "\x03\xe8", 2);
        raw_socket_expect_close(&k, 1000);
        assert_int_equal(r->code, ERR_CLOSED);
        raw_socket_close(&k);
}
static void messages_go_both_ways_whole(void **state)
{
        serve(echo, echo_body);
}

/* ---- what is not taken ---- */

/* What is sent, with which code the server closes (0: it ends the connection), what its receive says. */
static const struct bad_frame {
        const char *bytes;
        size_t n;
        unsigned code;
        int received;
} bad_frames[] = {
        { "\xc1\x80\x01\x02\x03\x04", 6, 1002, ERR_CLOSED }, /* reserved bits */
        { "\xa1\x80\x01\x02\x03\x04", 6, 1002, ERR_CLOSED },
        { "\x91\x80\x01\x02\x03\x04", 6, 1002, ERR_CLOSED },
        { "\x83\x80\x01\x02\x03\x04", 6, 1002, ERR_CLOSED }, /* unknown frames */
        { "\x8b\x80\x01\x02\x03\x04", 6, 1002, ERR_CLOSED },
        { "\x09\x80\x01\x02\x03\x04", 6, 1002, ERR_CLOSED },                          /* half a ping */
        { "\x89\xfe\x00\x80\x01\x02\x03\x04", 8, 0, ERR_CLOSED },                     /* a long ping */
        { "\x80\x80\x01\x02\x03\x04", 6, 1002, ERR_CLOSED },                          /* continues nothing */
        { "\x01\x80\x01\x02\x03\x04\x81\x80\x01\x02\x03\x04", 12, 1002, ERR_CLOSED }, /* begins in between */
        { "\x82\x81\x00\x00\x00\x00x", 7, 1003, ERR_INVALID },
        { "\x81\x82\x00\x00\x00\x00\xc3\x28", 8, 1007, ERR_INVALID },
        { "\x81\xff\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00x", 15, 0, ERR_CLOSED },
        { "\x88\x80\x00\x00\x00\x00", 6, 1005, ERR_CLOSED }, /* a close without code */
        { "\x88\x81\x00\x00\x00\x00x", 7, 1002, ERR_CLOSED },
        { "\x88\x82\x00\x00\x00\x00\x03\xed", 8, 1002, ERR_CLOSED }, /* a code that may not be sent */
};

static void bad_body(struct rig *r)
{
        for (size_t i = 0; i < ARRAY_LEN(bad_frames); i++) {
                struct raw_socket k;
                struct raw_frame f;
                raw_socket_open(&k, r->loop, r->port);
                r->code = 1;
                raw_socket_say(&k, bad_frames[i].bytes, bad_frames[i].n);
                unsigned code = raw_socket_read(&k, &f) ? raw_frame_code(&f) : 0;
                if (code != bad_frames[i].code)
                        fail_msg("frame %zu was answered with %u", i, code);
                raw_socket_close(&k);
                await_code(r, bad_frames[i].received);
        }
}
static void bad_frames_close_with_their_code(void **state)
{
        serve(echo, bad_body);
}

#define MESSAGE_BYTES 5000

static void long_body(struct rig *r)
{
        static const unsigned char parts[] = { 0x01, 0x00, 0x80 };
        char text[MESSAGE_BYTES + 1];
        struct raw_socket k;
        memset(text, 'l', sizeof(text));
        raw_socket_open(&k, r->loop, r->port);
        raw_socket_frame(&k, FRAME_TEXT, text, MESSAGE_BYTES);
        raw_socket_message(&k);
        assert_int_equal(k.message.len, MESSAGE_BYTES);
        raw_socket_frame(&k, FRAME_TEXT, text, MESSAGE_BYTES + 1);
        raw_socket_expect_close(&k, 1009);
        raw_socket_close(&k);
        await_code(r, ERR_LIMIT);
        raw_socket_open(&k, r->loop, r->port);
        for (size_t i = 0; i < ARRAY_LEN(parts); i++)
                raw_socket_frame(&k, parts[i], text, MESSAGE_BYTES / 2);
        raw_socket_expect_close(&k, 1009);
        raw_socket_close(&k);
        raw_socket_open(&k, r->loop, r->port); /* a length that is only said */
        raw_socket_say(&k, "\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00", 14);
        raw_socket_say(&k, text, MESSAGE_BYTES);
        raw_socket_expect_close(&k, 1009);
        raw_socket_close(&k);
        await_code(r, ERR_LIMIT);
}
static void a_message_that_is_too_long_closes_with_1009(void **state)
{
        run_with(&(struct http_server_options){ .handle = say_path,
                                                .websockets = { .message_bytes = MESSAGE_BYTES } },
                 long_body);
}

static void vanish_body(struct rig *r)
{
        struct raw_socket k;
        raw_socket_open(&k, r->loop, r->port);
        raw_socket_say(&k, "\x81\x85\x01", 3);
        raw_socket_close(&k);
        await_code(r, ERR_CLOSED);
}
static void a_client_that_vanishes_within_a_frame_is_gone(void **state)
{
        serve(echo, vanish_body);
}

#define NOISY_CLIENTS 300

/* Frames whose heads and contents are drawn, some cut off. */
static void append_noise(struct buf *b, uint32_t *seed)
{
        static const unsigned char firsts[] = { 0x81, 0x01, 0x00, 0x80, 0x82, 0x88, 0x89, 0x8a, 0xc1, 0x7f };
        char text[300];
        for (int frames = 0; frames < 8; frames++) {
                for (size_t i = 0; i < sizeof(text); i++) {
                        *seed = *seed * 1103515245 + 12345;
                        text[i] = (char)(*seed >> 20 & (*seed >> 30 ? 0x7f : 0xff));
                }
                size_t n = (unsigned char)text[0] % 2 ? (unsigned char)text[1] : (unsigned char)text[1] % 4;
                raw_frame_append(b, firsts[(unsigned char)text[2] % ARRAY_LEN(firsts)], text + 3, n);
                if ((unsigned char)text[3] % 8 == 0)
                        buf_append(b, text, (unsigned char)text[4] % 16);
        }
}
static void noise_body(struct rig *r)
{
        uint32_t seed = 1;
        for (int i = 0; i < NOISY_CLIENTS; i++) {
                AUTO_BUF struct buf b;
                struct raw_socket k;
                buf_init(&b, 64 << 10);
                append_noise(&b, &seed);
                raw_socket_open(&k, r->loop, r->port);
                raw_push(&k.raw, b.data, b.len);
                for (int turn = 0; turn < 5 && !k.raw.ended; turn++)
                        fiber_yield(r->loop);
                raw_socket_close(&k);
        }
        struct raw_socket k;
        raw_socket_open(&k, r->loop, r->port);
        raw_socket_text(&k, "still here");
        raw_socket_expect(&k, "still here");
        raw_socket_close(&k);
}
static void noise_ends_its_socket_only(void **state)
{
        run_with(&(struct http_server_options){ .handle = say_path,
                                                .websockets = { .sockets = 2 * NOISY_CLIENTS } },
                 noise_body);
}

/* ---- the handshake ---- */

static int refuse_strangers(void *ctx, struct http_exchange *x, const char **ret_why)
{
        if (text_equal(http_header_get(&x->headers, "Origin"), "http://a") && text_equal(x->method, "GET"))
                return 0;
        *ret_why = "another origin";
        return 403;
}
static void say_handshake(void *ctx, struct websocket *s)
{
        websocket_send(s, slice_of(arena_printf(s->arena, "%s ? %s ? %s ? %s", s->path, s->query,
                                                http_header_get(&s->headers, "Cookie"), s->remote_address)));
        websocket_close_with(s, 4321, arena_printf(s->arena, "that was all%150s", ""));
}
static void handshake_body(struct rig *r)
{
        struct raw_socket k;
        struct raw_frame f;
        raw_socket_connect(&k, r->loop, r->port);
        raw_socket_ask(&k, "/", "Origin: http://b\r\n");
        raw_await_end(&k.raw);
        assert_non_null(strstr(k.raw.heard.data, "HTTP/1.1 403 "));
        assert_non_null(strstr(k.raw.heard.data, "\r\n\r\nanother origin\n"));
        raw_socket_close(&k);
        raw_socket_connect(&k, r->loop, r->port);
        raw_socket_ask(&k, "/a%20b?c=d&e", "Origin: http://a\r\nCookie: f=g\r\n");
        assert_non_null(strstr(raw_socket_head(&k), "HTTP/1.1 101 "));
        raw_socket_expect(&k, "/a%20b ? c=d&e ? f=g ? 127.0.0.1");
        assert_true(raw_socket_read(&k, &f));
        assert_int_equal(raw_frame_code(&f), 4321);
        assert_int_equal(f.len, 125); /* a frame that closes holds no more */
        assert_memory_equal(f.data + 2, "that was all  ", 14);
        raw_socket_close(&k);
}
static void the_handshake_is_decided_on_and_known_to_the_function(void **state)
{
        run_with(&(struct http_server_options){ .handle = say_path,
                                                .websocket_accept = refuse_strangers,
                                                .websocket_serve = say_handshake },
                 handshake_body);
}

#define UPGRADE "Connection: Upgrade\r\nUpgrade: websocket\r\n"
#define KEY "Sec-WebSocket-Key: " RAW_KEY "\r\n"
#define VERSION "Sec-WebSocket-Version: 13\r\n"

static void malformed_body(struct rig *r)
{
        static const struct {
                const char *text, *heard;
        } table[] = {
                { "GET / HTTP/1.1\r\nHost: a\r\n" UPGRADE VERSION "\r\n", "HTTP/1.1 400 " },
                { "GET / HTTP/1.1\r\nHost: a\r\n" UPGRADE VERSION "Sec-WebSocket-Key: short\r\n\r\n",
                  "HTTP/1.1 400 " },
                { "GET / HTTP/1.1\r\nHost: a\r\n" UPGRADE KEY "\r\n", "HTTP/1.1 426 " },
                { "GET / HTTP/1.1\r\nHost: a\r\n" UPGRADE KEY "Sec-WebSocket-Version: 8\r\n\r\n",
                  "HTTP/1.1 426 " },
                { "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n" KEY VERSION "\r\n", "HTTP/1.1 400 " },
                { "GET / HTTP/1.1\r\n" UPGRADE KEY VERSION "\r\n", "HTTP/1.1 400 " },
                { "GET / HTTP/1.0\r\nHost: a\r\n" UPGRADE KEY VERSION "\r\n", "HTTP/1.1 400 " },
                { "POST / HTTP/1.1\r\nHost: a\r\n" UPGRADE KEY VERSION "\r\n", "HTTP/1.1 400 " },
                { "GET / HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Protocol: http\r\n" UPGRADE KEY VERSION "\r\n",
                  "HTTP/1.1 400 " },
                { "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n" UPGRADE KEY VERSION "\r\nhi",
                  "HTTP/1.1 413 " },
                { "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", "" },
        };
        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                struct raw k;
                raw_open(&k, r->loop, r->port);
                raw_say(&k, table[i].text, strlen(table[i].text));
                raw_await_end(&k);
                if (strncmp(k.heard.data, table[i].heard, strlen(table[i].heard)) != 0)
                        fail_msg("%s\nwas answered: %s", table[i].text, k.heard.data);
                raw_close(&k);
        }
        assert_int_equal(r->served, 0);
}
static void a_malformed_handshake_is_refused_and_meets_no_function(void **state)
{
        serve(echo, malformed_body);
}

/* ---- how many ---- */

#define SOCKETS 3
#define CONNECTIONS 4

static void expect_http(struct rig *r)
{
        static const char get[] = "GET /me HTTP/1.1\r\nHost: a\r\n\r\n";
        struct raw k;
        raw_open(&k, r->loop, r->port);
        raw_say(&k, get, strlen(get));
        raw_await(&k, "[/me ]");
        raw_close(&k);
}

static void places_body(struct rig *r)
{
        struct raw_socket k[SOCKETS], other;
        struct raw crowd[2 * CONNECTIONS];
        for (size_t i = 0; i < SOCKETS; i++)
                raw_socket_open(&k[i], r->loop, r->port);
        raw_socket_connect(&other, r->loop, r->port);
        raw_socket_ask(&other, "/", "");
        raw_await_end(&other.raw);
        assert_non_null(strstr(other.raw.heard.data, "HTTP/1.1 503 "));
        raw_socket_close(&other);
        for (size_t i = 0; i < ARRAY_LEN(crowd); i++) /* these push each other out, and no WebSocket */
                raw_open(&crowd[i], r->loop, r->port);
        expect_http(r);
        for (size_t i = 0; i < SOCKETS; i++) {
                raw_socket_text(&k[i], "still here");
                raw_socket_expect(&k[i], "still here");
        }
        for (size_t i = 0; i < ARRAY_LEN(crowd); i++)
                raw_close(&crowd[i]);
        raw_socket_close(&k[0]);
        await_code(r, ERR_CLOSED);
        raw_socket_open(&k[0], r->loop, r->port);
        for (size_t i = 0; i < SOCKETS; i++)
                raw_socket_close(&k[i]);
}
static void sockets_have_places_of_their_own(void **state)
{
        run_with(&(struct http_server_options){ .handle = say_path,
                                                .connections = CONNECTIONS,
                                                .websockets = { .sockets = SOCKETS } },
                 places_body);
}

/* ---- who is silent ---- */

static bool in_time;

/* With pings that far apart; false: that was too short for us to answer in time. */
static bool plays_with_pings(int64_t ms, void (*body)(struct rig *r))
{
        const struct http_server_options o = { .handle = say_path, .websockets = { .ping_ms = ms } };
        in_time = true;
        run_with(&o, body);
        return in_time;
}
static void play_with_pings(int64_t ms, void (*body)(struct rig *r))
{
        while (!plays_with_pings(ms, body)) {
                ms *= 2;
                assert_true(ms < HANG_MS);
        }
}

static void ping_body(struct rig *r)
{
        struct raw_socket k;
        struct raw_frame f;
        raw_socket_open(&k, r->loop, r->port);
        for (int i = 0; i < 4 && in_time; i++) { /* who answers stays; the last one is not answered */
                in_time = raw_socket_read(&k, &f);
                if (in_time)
                        assert_int_equal(f.first, FRAME_PING);
                if (in_time && i < 3)
                        raw_socket_frame(&k, FRAME_PONG, f.data, f.len);
        }
        raw_await_end(&k.raw);
        await_code(r, ERR_CLOSED);
        raw_socket_close(&k);
}
static void a_silent_client_is_asked_and_then_cut(void **state)
{
        play_with_pings(40, ping_body);
}

static void stubborn_body(struct rig *r)
{
        struct raw_socket k;
        struct raw_frame f;
        raw_socket_open(&k, r->loop, r->port);
        raw_socket_say(&k, "\xc1\x80\x01\x02\x03\x04", 6);
        do
                in_time = raw_socket_read(&k, &f);
        while (in_time && f.first == FRAME_PING);
        if (in_time)
                assert_int_equal(raw_frame_code(&f), 1002);
        await_code(r, ERR_CLOSED);
        raw_await_end(&k.raw);
        raw_socket_close(&k);
}
static void a_client_that_breaks_the_rules_and_stays_is_cut(void **state)
{
        play_with_pings(200, stubborn_body);
}

/* ---- slow readers ---- */

static void big_body(struct rig *r)
{
        struct raw_socket k;
        raw_socket_open(&k, r->loop, r->port);
        uv_read_stop((uv_stream_t *)&k.raw.tcp);
        while (r->served == 0)
                fiber_yield(r->loop);
        for (size_t n = 0; n < BIG_BYTES; n += 512 << 10) { /* a few bytes, then nothing for a while */
                fiber_sleep(r->loop, 5);
                uv_read_start((uv_stream_t *)&k.raw.tcp, raw_buffer, raw_read);
                assert_true(raw_socket_wait(&k, n));
                uv_read_stop((uv_stream_t *)&k.raw.tcp);
        }
        uv_read_start((uv_stream_t *)&k.raw.tcp, raw_buffer, raw_read);
        expect_big(r, &k);
        assert_int_equal(r->code, 0);
        raw_socket_close(&k);
}
static void a_long_message_reaches_a_slow_reader_whole(void **state)
{
        serve(send_big, big_body);
}

/* ---- binary messages ---- */

#define BINARY_BYTES 40000 /* three fragments */

static void send_binary(void *ctx, struct websocket *s)
{
        struct rig *r = ctx;
        char *data = memset(arena_alloc(s->arena, BINARY_BYTES), 0xff, BINARY_BYTES);
        data[0] = '\0';
        assert_int_equal(websocket_send(s, (struct slice){ data, BINARY_BYTES }), ERR_INVALID); /* no UTF-8 */
        assert_int_equal(websocket_send_binary(s, (struct slice){ data, BINARY_BYTES }), 0);
        assert_in_range(websocket_queued(s), BINARY_BYTES, BINARY_BYTES + 500);
        assert_int_equal(websocket_send(s, SLICE("tail")), 0);
        assert_int_equal(websocket_drain(s, 0, loop_now_ms(s->loop) + HANG_MS), 0);
        r->served++;
}
static void binary_body(struct rig *r)
{
        struct raw_socket k;
        struct raw_frame f;
        size_t n = 0, frames = 0;
        raw_socket_open(&k, r->loop, r->port);
        do {
                assert_true(raw_socket_read(&k, &f));
                assert_int_equal(f.first & 0x7f, n ? 0 : 2);
                assert_int_equal((unsigned char)f.data[0], n ? 0xff : 0);
                n += f.len;
                frames++;
        } while (!(f.first & 0x80));
        assert_int_equal(n, BINARY_BYTES);
        assert_int_equal(frames, 3);
        raw_socket_expect(&k, "tail");
        raw_socket_expect_close(&k, 1000);
        raw_socket_close(&k);
}
static void a_binary_message_goes_out_as_one(void **state)
{
        serve(send_binary, binary_body);
}

static void flood(void *ctx, struct websocket *s)
{
        struct rig *r = ctx;
        char text[10000];
        int n = 0;
        memset(text, 'f', sizeof(text));
        while ((r->code = websocket_send(s, (struct slice){ text, sizeof(text) })) == 0)
                n++;
        assert_int_equal(r->code, ERR_LIMIT);
        r->served = n;
        r->code = websocket_drain(s, 0, loop_now_ms(s->loop) + 100); /* passes */
        assert_int_equal(r->code, ERR_TIMEOUT);
        r->code = websocket_drain(s, 0, loop_now_ms(s->loop) + HANG_MS);
        assert_int_equal(websocket_send(s, SLICE("after")), 0);
}
static void flood_websocket_body(struct rig *r)
{
        struct raw_socket k;
        size_t before = mem_live_bytes();
        raw_socket_open(&k, r->loop, r->port);
        uv_read_stop((uv_stream_t *)&k.raw.tcp);
        while (r->code != ERR_TIMEOUT)
                fiber_yield(r->loop);
        assert_in_range(mem_live_bytes() - before, 1, 7 << 20);
        uv_read_start((uv_stream_t *)&k.raw.tcp, raw_buffer, raw_read);
        for (int i = 0; i < r->served; i++) {
                raw_socket_message(&k);
                assert_int_equal(k.message.len, 10000);
        }
        raw_socket_expect(&k, "after");
        raw_socket_expect_close(&k, 1000);
        assert_int_equal(r->code, 0);
        raw_socket_close(&k);
}
static void who_does_not_read_is_bounded_by_the_queue_and_the_deadline(void **state)
{
        run_with(&(struct http_server_options){ .handle = say_path,
                                                .websocket_serve = flood,
                                                .websockets = { .queue_bytes = 6 << 20 } },
                 flood_websocket_body);
}

/* ---- two fibers ---- */

struct pair {
        struct rig *r;
        struct websocket *s;
        bool enough;
};

static void push(void *ctx)
{
        struct pair *p = ctx;
        for (int i = 0; !p->enough; i++) {
                if (websocket_send(p->s, slice_of(arena_printf(p->s->arena, "push %d", i))) < 0)
                        break;
                if (websocket_drain(p->s, 1000, loop_now_ms(p->s->loop) + HANG_MS) < 0)
                        break;
                fiber_yield(p->s->loop);
        }
}
/* One reads while the other writes. */
static void push_and_count(void *ctx, struct websocket *s)
{
        struct rig *r = ctx;
        struct pair p = { r, s, false };
        struct slice text;
        struct fiber_group *g = fiber_group_new(s->loop, NULL, "push");
        assert_non_null(fiber_spawn(g, "push", push, &p));
        while ((r->code = websocket_receive(s, &text, DEADLINE_NONE)) == 0 && !slice_is(text, "last"))
                r->served++;
        p.enough = true;
        fiber_group_end(g);
}
static void pair_body(struct rig *r)
{
        struct raw_socket k;
        char text[32];
        raw_socket_open(&k, r->loop, r->port);
        for (int i = 0; i < 500; i++) {
                raw_socket_text(&k, "from the client");
                snprintf(text, sizeof(text), "push %d", i);
                raw_socket_expect(&k, text);
        }
        raw_socket_text(&k, "last");
        raw_socket_expect_close(&k, 1000);
        assert_int_equal(r->served, 500);
        raw_socket_close(&k);
}
static void one_fiber_reads_while_another_writes(void **state)
{
        serve(push_and_count, pair_body);
}

static void what_nobody_receives_yet_is_left_with_the_client(void **state)
{
        serve(receive_late, late_body);
}

/* Receives nothing until the client is gone. */
static void ignore(void *ctx, struct websocket *s)
{
        struct rig *r = ctx;
        while (!websocket_gone(s) && fiber_sleep(s->loop, 1) == 0)
                ;
        r->code = websocket_send(s, SLICE("nobody"));
}
static void ignore_body(struct rig *r)
{
        struct raw_socket k;
        raw_socket_open(&k, r->loop, r->port);
        for (int i = 0; i < 100; i++)
                raw_socket_text(&k, "is anybody there?");
        raw_socket_close(&k);
        await_code(r, ERR_CLOSED);
}
static void a_client_that_leaves_unheard_is_noticed(void **state)
{
        serve(ignore, ignore_body);
}

static void wait_a_moment(void *ctx, struct websocket *s)
{
        struct rig *r = ctx;
        struct slice text;
        r->code = websocket_receive(s, &text, loop_now_ms(s->loop) + 20); /* passes */
        websocket_send(s, SLICE("too late"));
        assert_int_equal(websocket_send(s, SLICE("\xff")), ERR_INVALID);
}
static void deadline_body(struct rig *r)
{
        struct raw_socket k;
        raw_socket_open(&k, r->loop, r->port);
        raw_socket_expect(&k, "too late"); /* what is queued goes out before the end */
        raw_socket_expect_close(&k, 1000);
        assert_int_equal(r->code, ERR_TIMEOUT);
        raw_socket_close(&k);
}
static void a_receive_ends_at_its_deadline(void **state)
{
        serve(wait_a_moment, deadline_body);
}

/* ---- without memory ---- */

static bool await_words(struct raw *k, const char *words)
{
        while (!k->ended && !strstr(k->heard.data, words))
                assert_int_equal(waitq_wait(k->loop, &k->news, raw_patience(k->loop)), 0);
        return !k->ended;
}
static void starve_body(struct rig *r)
{
        static const char hello[] = "\x81\x85\0\0\0\0hello", bye[] = "\x88\x82\0\0\0\0\x03\xe8";
        bool fired = true;
        for (uint64_t n = 1; fired; n++) {
                struct raw_socket k;
                raw_socket_connect(&k, r->loop, r->port);
                buf_reserve(&k.raw.heard, 4096);
                mem_fail_at(n, false);
                raw_socket_ask(&k, "/", "");
                if (await_words(&k.raw, "\r\n\r\n"))
                        raw_socket_say(&k, hello, sizeof(hello) - 1);
                if (await_words(&k.raw, "\r\n\r\n\x81\x05hello"))
                        raw_socket_say(&k, bye, sizeof(bye) - 1);
                raw_await_end(&k.raw);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                assert_true(fired || strstr(k.raw.heard.data, "hello\x88\x02\x03\xe8"));
                raw_socket_close(&k);
        }
}
static void any_one_allocation_may_fail(void **state)
{
        run_with(&(struct http_server_options){ .handle = say_path,
                                                .websocket_serve = echo,
                                                .closing_ms = 1000 },
                 starve_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                HTTP_SERVER_CASES,
                cmocka_unit_test(messages_go_both_ways_whole),
                cmocka_unit_test(bad_frames_close_with_their_code),
                cmocka_unit_test(a_message_that_is_too_long_closes_with_1009),
                cmocka_unit_test(a_client_that_vanishes_within_a_frame_is_gone),
                cmocka_unit_test(noise_ends_its_socket_only),
                cmocka_unit_test(the_handshake_is_decided_on_and_known_to_the_function),
                cmocka_unit_test(a_malformed_handshake_is_refused_and_meets_no_function),
                cmocka_unit_test(sockets_have_places_of_their_own),
                cmocka_unit_test(a_silent_client_is_asked_and_then_cut),
                cmocka_unit_test(a_client_that_breaks_the_rules_and_stays_is_cut),
                cmocka_unit_test(a_long_message_reaches_a_slow_reader_whole),
                cmocka_unit_test(a_binary_message_goes_out_as_one),
                cmocka_unit_test(who_does_not_read_is_bounded_by_the_queue_and_the_deadline),
                cmocka_unit_test(one_fiber_reads_while_another_writes),
                cmocka_unit_test(what_nobody_receives_yet_is_left_with_the_client),
                cmocka_unit_test(a_client_that_leaves_unheard_is_noticed),
                cmocka_unit_test(a_receive_ends_at_its_deadline),
                cmocka_unit_test(any_one_allocation_may_fail),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
