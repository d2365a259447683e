/* A server of common/net/http_server.h's exchanges on a loop of its own, and a body that talks to it. Who
 * includes this says how a server starts and stops (rig_start, rig_stop). */
#pragma once

#include "common/base/memory.h"
#include "common/loop/patience_test.h"
#include "common/net/http_server.h"
#include "common/net/raw_client_test.h"

struct rig {
        struct loop *loop;
        struct world world;
        void *server;
        struct fiber_group *group;
        int served, code, done, port;
        struct http_server_options options;
        void (*body)(struct rig *r);
};

static void rig_start(struct rig *r); /* sets server and port */
static void rig_stop(struct rig *r);  /* as http_server_stop() */

/* Of the agents' own server. */
static inline void rig_start_own(struct rig *r)
{
        struct http_server *s = NULL;
        struct error err = { 0 };
        if (http_server_start(&r->world, &r->options, &s, &err) < 0)
                fail_msg("%s", err.text);
        r->server = s;
        r->port = http_server_port(s);
}

static inline void body_fiber(void *ctx)
{
        struct rig *r = ctx;
        r->options.bind = "127.0.0.1";
        r->options.ctx = r;
        rig_start(r);
        r->body(r);
        rig_stop(r);
        r->done = 1;
}

static inline void run_with(const struct http_server_options *o, void (*body)(struct rig *))
{
        struct error err;
        struct rig r = { .body = body, .options = *o };
        size_t before = mem_live_count();
        r.loop = loop_new_real(&err);
        r.world.loop = r.loop;
        r.options.closing_ms = o->closing_ms ? o->closing_ms : HANG_MS; /* or a pause takes the last words */
        r.group = fiber_group_new(r.loop, NULL, "test");
        assert_non_null(fiber_spawn(r.group, "body", body_fiber, &r));
        loop_run(r.loop, &err);
        assert_int_equal(r.done, 1);
        fiber_group_end(r.group);
        loop_free(r.loop);
        assert_int_equal(mem_live_count(), before);
}

static inline void say_path(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        r->served++;
        fiber_yield(x->loop);
        const char *text = arena_printf(x->arena, "[%s %s]", x->path, x->body.data);
        http_reply(x, 200, "text/plain", slice_of(text), NULL);
}
