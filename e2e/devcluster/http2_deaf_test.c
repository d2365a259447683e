/* A connection that has died without a word, or whose other end answers nobody any more: what comes next goes
 * over another one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/loop/patience_test.h"
#include "common/net/cert.h"
#include "common/net/curl_internal.h"
#include "e2e/devcluster/http2.h"

#define SHORT_MS 300 /* of who waits for what does not come */
#define DEAF_MS 100

struct rig {
        struct loop *loop;
        struct world world;
        struct http_transport *client;
        struct fiber_group *handlers;
        struct tls_listener *listener;
        struct http_endpoint endpoint;
        struct arena arena;
        struct tls_stream *newest; /* connection */
        unsigned connections;
        void (*body)(struct rig *r);
        int done;
};

/* "/ticks" is a stream on which something comes all the time, "/watch" one on which nothing comes but its
 * first line, "/never" is never answered, all else at once. */
static void answer(void *ctx, struct http_exchange *x)
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

static void opened(void *owner, struct tls_stream *stream)
{
        struct rig *r = owner;
        const struct http2_options o = { .group = r->handlers, .handle = answer, .ctx = r };

        assert_int_equal(http2_start(stream, &o), 0);
        r->newest = stream;
        r->connections++;
}

static void closed(void *owner, struct tls_stream *stream, const struct error *why)
{
}

static struct http_request request(struct rig *r, const char *path, enum http_priority priority, int64_t ms)
{
        return (struct http_request){ .endpoint = &r->endpoint,
                                      .method = "GET",
                                      .path = path,
                                      .priority = priority,
                                      .deadline_ms = loop_now_ms(r->loop) + ms };
}

static struct http_stream *open_stream(struct rig *r, const char *path, enum http_priority priority)
{
        const struct http_request rq = request(r, path, priority, HANG_MS);
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
        const struct http_request rq = request(r, path, HTTP_NORMAL, ms);
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
        rq = request(r, "/never", HTTP_NORMAL, SHORT_MS);
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

static void body_fiber(void *ctx)
{
        struct rig *r = ctx;

        r->body(r);
        http_transport_free(r->client);
        tls_listener_close(r->listener);
        fiber_group_end(r->handlers);
        tls_listener_drain(r->listener, 0);
        tls_listener_free(r->listener);
        r->done = 1;
}

static void run(void (*body)(struct rig *r))
{
        static const struct tls_stream_events events = { .opened = opened, .closed = closed };
        const struct cert_subject subject = { "server", NULL, (const char *[]){ "localhost", NULL },
                                              (const char *[]){ "127.0.0.1", NULL } };
        struct rig r = { .body = body };
        struct tls_identity identity = { 0 };
        char *ca = NULL, *ca_key = NULL;
        struct error err = { 0 };

        r.loop = loop_new_real(&err);
        r.world.loop = r.loop;
        r.client = http_transport_curl(&r.world, &err);
        ((struct curl_transport *)r.client)->deaf_ms = DEAF_MS;
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
        assert_non_null(fiber_spawn(group, "body", body_fiber, &r));
        loop_run(r.loop, &err);
        assert_int_equal(r.done, 1);
        fiber_group_end(group);
        loop_free(r.loop);
        arena_free(&r.arena);
        mem_free(r.endpoint.base_url);
        mem_free(ca);
        mem_free(ca_key);
        tls_identity_free(&identity);
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
