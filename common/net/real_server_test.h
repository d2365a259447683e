/* A server and a client of this machine's own connections, on a real loop. */
#pragma once

#include "common/loop/patience_test.h"
#include "e2e/devcluster/serving/http1_server_test.h"

struct real_rig {
        struct loop *loop;
        struct world world; /* with a client */
        struct http1_server *server;
        struct arena arena;
        int served; /* for who answers to count */
        void (*body)(struct real_rig *r);
        http_handler_fn handle;
        bool done;
};

static inline void real_rig_fiber(void *ctx)
{
        struct real_rig *r = ctx;
        struct http_server_options o = { .bind = "127.0.0.1", .handle = r->handle, .ctx = r };
        struct error err = { 0 };

        assert_int_equal(http1_server_start(&r->world, &o, &r->server, &err), 0);
        r->body(r);
        http_transport_free(r->world.transport);
        http1_server_stop(r->server);
        r->done = true;
}

/* `handle` has the rig for its ctx; `body` runs in a fiber. */
static inline void with_real_server(http_handler_fn handle, void (*body)(struct real_rig *r))
{
        struct error err = { 0 };
        struct real_rig r = { .loop = loop_new_real(&err), .body = body, .handle = handle };
        struct fiber_group *group = fiber_group_new(r.loop, NULL, "test");

        r.world = (struct world){ .loop = r.loop };
        r.world.transport = http_transport_curl(&r.world, &err);
        assert_non_null(r.world.transport);
        assert_non_null(fiber_spawn(group, "test", real_rig_fiber, &r));
        loop_run(r.loop, &err);
        assert_true(r.done);
        fiber_group_end(group);
        loop_free(r.loop);
        arena_free(&r.arena);
}

static inline int real_rig_port(const struct real_rig *r)
{
        return http1_server_port(r->server);
}
