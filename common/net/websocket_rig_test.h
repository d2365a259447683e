/* The agents' own server with a WebSocket on it, and functions for both of its ends that several tests use.
 */
#pragma once

#include "common/net/http_server_rig_test.h"
#include "common/net/raw_websocket_test.h"
#include "common/net/websocket.h"

static inline int accept_all(void *ctx, struct http_exchange *x, const char **ret_why)
{
        return 0;
}

/* Says every message again; why it ended is in r->code. */
static inline void echo(void *ctx, struct websocket *s)
{
        struct rig *r = ctx;
        struct slice text;
        r->served++;
        while ((r->code = websocket_receive(s, &text, DEADLINE_NONE)) == 0 &&
               (r->code = websocket_send(s, text)) == 0)
                ;
}

static inline void rig_start(struct rig *r)
{
        if (!r->options.websocket_accept)
                r->options.websocket_accept = accept_all;
        if (!r->options.websocket_serve)
                r->options.websocket_serve = echo;
        rig_start_own(r);
}

static inline void rig_stop(struct rig *r)
{
        r->server = http_server_stop(r->server);
}

static inline void serve(void (*function)(void *, struct websocket *), void (*body)(struct rig *))
{
        run_with(&(struct http_server_options){ .handle = say_path, .websocket_serve = function }, body);
}

static inline void await_code(struct rig *r, int code)
{
        for (int looks = 0; r->code != code && looks < SOON_LOOKS; looks++)
                fiber_sleep(r->loop, 1);
        assert_int_equal(r->code, code);
}

/* ---- long messages ---- */

#define BIG_BYTES (5u << 20)

static inline char *big_text(struct arena *a)
{
        char *text = arena_alloc(a, BIG_BYTES);
        for (size_t i = 0; text && i < BIG_BYTES; i++)
                text[i] = (char)(' ' + (i * 7 + i / 251) % 90);
        return text;
}

static inline void send_big(void *ctx, struct websocket *s)
{
        struct rig *r = ctx;
        char *text = big_text(s->arena);
        assert_int_equal(websocket_send(s, (struct slice){ text, BIG_BYTES }), 0);
        assert_int_equal(websocket_send(s, SLICE("tail")), 0);
        assert_in_range(websocket_queued(s), BIG_BYTES, BIG_BYTES + 1000);
        r->served++;
        r->code = websocket_drain(s, 0, loop_now_ms(s->loop) + HANG_MS);
}
static inline void expect_big(struct rig *r, struct raw_socket *k)
{
        AUTO_ARENA struct arena a = ARENA_INIT;
        raw_socket_message(k);
        assert_int_equal(k->message.len, BIG_BYTES);
        assert_memory_equal(k->message.data, big_text(&a), BIG_BYTES);
        raw_socket_expect(k, "tail");
        raw_socket_expect_close(k, 1000);
}

/* Sends while nothing is received for a while; then takes what has come. */
static inline void receive_late(void *ctx, struct websocket *s)
{
        struct rig *r = ctx;
        struct slice text;
        r->served++;
        for (int i = 0; i < 20; i++) {
                fiber_sleep(s->loop, 10);
                websocket_send(s, SLICE("busy"));
        }
        r->code = websocket_receive(s, &text, loop_now_ms(s->loop) + HANG_MS);
        for (int i = 0; r->code == 0; i++) {
                assert_int_equal(text.len, 3000);
                assert_int_equal(text.data[0], 'a' + i % 26);
                r->served++;
                r->code = websocket_receive(s, &text, loop_now_ms(s->loop) + HANG_MS);
        }
}
static inline void late_body(struct rig *r)
{
        AUTO_BUF struct buf many;
        struct raw_socket k;
        char text[3000];
        buf_init(&many, 8 << 20);
        for (int i = 0; i < 2000; i++) {
                memset(text, 'a' + i % 26, sizeof(text));
                raw_frame_append(&many, FRAME_TEXT, text, sizeof(text));
        }
        raw_socket_connect(&k, r->loop, r->port);
        if (r->options.tls)
                raw_socket_encrypt(&k);
        raw_socket_greet(&k, "/");
        raw_socket_seal(&k, &many);
        size_t before = mem_live_bytes();
        raw_begin_to_say(&k.raw, many.data, many.len);
        for (int i = 0; i < 20; i++) {
                raw_socket_expect(&k, "busy");
                assert_in_range(mem_live_bytes() - before, 0, 256 << 10);
        }
        raw_await_written(&k.raw);
        raw_socket_frame(&k, FRAME_CLOSE, "\x03\xe8", 2);
        raw_socket_expect_close(&k, 1000);
        await_code(r, ERR_CLOSED);
        assert_int_equal(r->served, 2001);
        raw_socket_close(&k);
}
