/* A server of HTTP/2 and the agents' client, both in one loop. */
#pragma once

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

struct rig {
        void (*answer)(struct rig *r, struct http_exchange *x); /* the server, in a fiber of the request */
        void (*body)(struct rig *r);                            /* the test, in a fiber */
        int64_t deaf_ms;                                        /* the client's; 0 = as it is */
        struct loop *loop;
        struct world world;
        struct http_transport *client;
        struct fiber_group *handlers;
        struct tls_listener *listener;
        struct http_endpoint endpoint;
        struct arena arena;
        struct tls_stream *newest; /* connection */
        unsigned connections;
        int done;
};

static void rig_answer(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;

        r->answer(r, x);
}

static void rig_opened(void *owner, struct tls_stream *stream)
{
        struct rig *r = owner;
        const struct http2_options o = { .group = r->handlers, .handle = rig_answer, .ctx = r };

        assert_int_equal(http2_start(stream, &o), 0);
        r->newest = stream;
        r->connections++;
}

static void rig_closed(void *owner, struct tls_stream *stream, const struct error *why)
{
}

static inline struct http_request rig_request(struct rig *r, const char *path, enum http_priority priority,
                                              int64_t ms)
{
        return (struct http_request){ .endpoint = &r->endpoint,
                                      .method = "GET",
                                      .path = path,
                                      .priority = priority,
                                      .deadline_ms = loop_now_ms(r->loop) + ms };
}

static void rig_listen(struct rig *r)
{
        static const struct tls_stream_events events = { .opened = rig_opened, .closed = rig_closed };
        const struct cert_subject subject = { "server", NULL, (const char *[]){ "localhost", NULL },
                                              (const char *[]){ "127.0.0.1", NULL } };
        struct tls_identity identity = { 0 };
        AUTO_FREE char *ca_key = NULL;
        const struct tls_listen_options listen = { .bind = "127.0.0.1",
                                                   .tls = &identity,
                                                   .alpn = (const char *[]){ "h2", NULL },
                                                   .events = &events,
                                                   .owner = r };
        int64_t now_ms = loop_wall_ms(r->loop);

        assert_int_equal(cert_self_signed_ca("ca", now_ms - 86400000, 10, &r->endpoint.ca_pem, &ca_key, NULL),
                         0);
        assert_int_equal(cert_issue(r->endpoint.ca_pem, ca_key, &subject, true, now_ms - 3600000, 1,
                                    &identity.cert_pem, &identity.key_pem, NULL),
                         0);
        assert_int_equal(tls_listen(r->loop, &listen, &r->listener, NULL), 0);
        tls_identity_free(&identity);
        r->endpoint.base_url = mem_printf("https://127.0.0.1:%d", tls_listener_port(r->listener));
        assert_non_null(r->endpoint.base_url);
}

static void rig_body(void *ctx)
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

/* With `answer` and `body`; the rest is made here. */
static void rig_run(struct rig *r)
{
        struct fiber_group *group;

        r->loop = loop_new_real(NULL);
        assert_non_null(r->loop);
        r->world.loop = r->loop;
        r->client = http_transport_curl(&r->world, NULL);
        assert_non_null(r->client);
        if (r->deaf_ms)
                ((struct curl_transport *)r->client)->deaf_ms = r->deaf_ms;
        group = fiber_group_new(r->loop, NULL, "test");
        r->handlers = fiber_group_new(r->loop, NULL, "handlers");
        rig_listen(r);
        assert_non_null(fiber_spawn(group, "body", rig_body, r));
        loop_run(r->loop, NULL);
        assert_int_equal(r->done, 1);
        fiber_group_end(group);
        loop_free(r->loop);
        arena_free(&r->arena);
        mem_free(r->endpoint.base_url);
        mem_free(r->endpoint.ca_pem);
}
