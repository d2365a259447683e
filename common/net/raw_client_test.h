/* A client that says to a server what no library would say, byte by byte. For tests of servers. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <uv.h>

#include "common/base/buf.h"
#include "common/loop/loop.h"
#include "common/loop/patience_test.h"

/* A client that says what it is told to, and keeps what it hears. */
struct raw {
        struct loop *loop;
        uv_tcp_t tcp;
        uv_connect_t connecting;
        uv_write_t writing;
        struct buf heard;
        struct waitq news;
        bool connected, ended, closed, written;
        char space[4096];
};

static inline void raw_connected(uv_connect_t *c, int status)
{
        struct raw *k = c->data;
        k->connected = status == 0;
        waitq_wake_all(&k->news);
}
static inline void raw_buffer(uv_handle_t *h, size_t n, uv_buf_t *ret)
{
        struct raw *k = h->data;
        *ret = uv_buf_init(k->space, sizeof(k->space));
}
static inline void raw_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
        struct raw *k = s->data;
        if (n > 0)
                buf_append(&k->heard, b->base, (size_t)n);
        else if (n < 0)
                k->ended = true;
        waitq_wake_all(&k->news);
}
static inline void raw_written(uv_write_t *w, int status)
{
        struct raw *k = w->data;
        k->written = true;
        waitq_wake_all(&k->news);
}
static inline void raw_closed(uv_handle_t *h)
{
        struct raw *k = h->data;
        k->closed = true;
        waitq_wake_all(&k->news);
}

static inline int64_t raw_patience(struct loop *l)
{
        return loop_now_ms(l) + HANG_MS;
}

static inline void raw_open(struct raw *k, struct loop *l, int port)
{
        *k = (struct raw){ .loop = l };
        struct sockaddr_in address;
        buf_init(&k->heard, 8 << 20);
        list_init(&k->news.waiters);
        uv_ip4_addr("127.0.0.1", port, &address);
        uv_tcp_init(loop_uv(l), &k->tcp);
        k->tcp.data = k->connecting.data = k->writing.data = k;
        uv_tcp_connect(&k->connecting, &k->tcp, (struct sockaddr *)&address, raw_connected);
        while (!k->connected)
                assert_int_equal(waitq_wait(l, &k->news, raw_patience(l)), 0);
        uv_read_start((uv_stream_t *)&k->tcp, raw_buffer, raw_read);
}

static inline void raw_await_written(struct raw *k)
{
        while (!k->written)
                assert_int_equal(waitq_wait(k->loop, &k->news, raw_patience(k->loop)), 0);
}

/* The data stay until they are written. */
static inline void raw_begin_to_say(struct raw *k, const void *data, size_t n)
{
        uv_buf_t b = uv_buf_init((char *)data, (unsigned)n);
        k->written = false;
        assert_int_equal(uv_write(&k->writing, (uv_stream_t *)&k->tcp, &b, 1, raw_written), 0);
}

static inline void raw_say(struct raw *k, const void *data, size_t n)
{
        raw_begin_to_say(k, data, n);
        raw_await_written(k);
}

static inline void raw_await(struct raw *k, const char *words)
{
        while (!strstr(k->heard.data, words))
                if (k->ended || waitq_wait(k->loop, &k->news, raw_patience(k->loop)) < 0)
                        fail_msg("expected: %s\nheard only: %s", words, k->heard.data);
}

static inline void raw_await_bytes(struct raw *k, size_t n)
{
        while (k->heard.len < n) {
                assert_false(k->ended);
                assert_int_equal(waitq_wait(k->loop, &k->news, raw_patience(k->loop)), 0);
        }
}

static inline void raw_await_end(struct raw *k)
{
        while (!k->ended)
                assert_int_equal(waitq_wait(k->loop, &k->news, raw_patience(k->loop)), 0);
}

static inline void raw_close(struct raw *k)
{
        uv_close((uv_handle_t *)&k->tcp, raw_closed);
        while (!k->closed)
                waitq_wait(k->loop, &k->news, raw_patience(k->loop));
        buf_free(&k->heard);
}

/* Says as much as the other side takes; a refused one resets the connection. */
static inline void raw_push(struct raw *k, const char *data, size_t n)
{
        uv_buf_t b = uv_buf_init((char *)data, (unsigned)n);
        uv_try_write((uv_stream_t *)&k->tcp, &b, 1);
}
