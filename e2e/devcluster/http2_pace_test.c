/* The agents' client reads long answers over HTTP/2 more slowly than they come: the server waits, nothing is
 * lost, and nothing hangs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/loop/patience_test.h"
#include "common/net/cert.h"
#include "e2e/devcluster/http2.h"

#define PIECE (1u << 20)
#define PIECES 100

struct rig {
        struct loop *loop;
        struct world world;
        struct http_transport *client;
        struct fiber_group *handlers;
        struct tls_listener *listener;
        struct http_endpoint endpoint;
        size_t sent;
        int done;
};

static void flood(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        AUTO_FREE char *piece = mem_zalloc(PIECE);

        http_begin(x, 200, NULL);
        for (r->sent = 0; r->sent < PIECES; r->sent++)
                if (http_write(x, piece, PIECE) < 0 || x->ops->drain(x, PIECE, DEADLINE_NONE) < 0)
                        return;
        http_end(x);
}

static void opened(void *owner, struct tls_stream *stream)
{
        struct rig *r = owner;
        const struct http2_options o = { .group = r->handlers, .handle = flood, .ctx = r };

        assert_int_equal(http2_start(stream, &o), 0);
}

static void closed(void *owner, struct tls_stream *stream, const struct error *why)
{
}

/* `pause_ms` after each of the first pieces. */
static void read_all(struct rig *r, int64_t pause_ms)
{
        const struct http_request rq = { .endpoint = &r->endpoint,
                                         .method = "GET",
                                         .path = "/large",
                                         .deadline_ms = loop_now_ms(r->loop) + HANG_MS };
        struct http_stream *s;
        struct error err = { 0 };
        size_t n = 0, pieces = 0;
        int code;

        assert_int_equal(http_stream_open(r->client, &rq, &s, &err), 0);
        for (struct slice piece;; pieces++) {
                code = http_stream_read(s, loop_now_ms(r->loop) + HANG_MS, &piece, &err);
                if (code < 0)
                        break;
                n += piece.len;
                if (pieces == 0)
                        fiber_sleep(r->loop, 100);
                else if (pieces < 50)
                        fiber_sleep(r->loop, pause_ms);
        }
        if (code != ERR_CLOSED || n != (size_t)PIECE * PIECES)
                fail_msg("%zu bytes: %s", n, err.text);
        http_stream_close(s);
}

static void body(void *ctx)
{
        struct rig *r = ctx;

        read_all(r, 0);
        read_all(r, 5);
        http_transport_free(r->client);
        tls_listener_close(r->listener);
        fiber_group_end(r->handlers);
        tls_listener_drain(r->listener, 1000);
        tls_listener_free(r->listener);
        r->done = 1;
}

static void a_slow_reader_gets_all_of_a_long_answer(void **state)
{
        static const struct tls_stream_events events = { .opened = opened, .closed = closed };
        const struct cert_subject subject = { "server", NULL, (const char *[]){ "localhost", NULL },
                                              (const char *[]){ "127.0.0.1", NULL } };
        struct rig r = { 0 };
        struct tls_identity identity = { 0 };
        char *ca = NULL, *ca_key = NULL;
        struct error err = { 0 };

        r.loop = loop_new_real(&err);
        r.world.loop = r.loop;
        r.client = http_transport_curl(&r.world, &err);
        assert_int_equal(cert_self_signed_ca("ca", loop_wall_ms(r.loop) - 86400000, 10, &ca, &ca_key, &err),
                         0);
        assert_int_equal(cert_issue(ca, ca_key, &subject, true, loop_wall_ms(r.loop) - 3600000, 1,
                                    &identity.cert_pem, &identity.key_pem, &err),
                         0);
        const struct tls_listen_options listen = { .bind = "127.0.0.1",
                                                   .tls = &identity,
                                                   .alpn = (const char *[]){ "h2", NULL },
                                                   .events = &events,
                                                   .owner = &r };
        struct fiber_group *group = fiber_group_new(r.loop, NULL, "test");

        r.handlers = fiber_group_new(r.loop, NULL, "handlers");
        assert_int_equal(tls_listen(r.loop, &listen, &r.listener, &err), 0);
        r.endpoint.base_url = mem_printf("https://127.0.0.1:%d", tls_listener_port(r.listener));
        r.endpoint.ca_pem = ca;
        assert_non_null(fiber_spawn(group, "body", body, &r));
        loop_run(r.loop, &err);
        assert_int_equal(r.done, 1);
        fiber_group_end(group);
        loop_free(r.loop);
        mem_free(r.endpoint.base_url);
        mem_free(ca);
        mem_free(ca_key);
        tls_identity_free(&identity);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_slow_reader_gets_all_of_a_long_answer),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
