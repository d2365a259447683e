/* Sources against services that answer as their documents say, on the simulated network. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/net/http_server.h"
#include "hub-agent/input-provider/exports.h"
#include "hub-agent/input-provider/source.h"

#define WALL INT64_C(1767225600000) /* 2026-01-01 */

struct route {
        const char *asks; /* "GET host/path?query" */
        int status;
        struct http_header header; /* name NULL = none */
        const char *body;
        int fails; /* so often with 503 before it answers */
};

struct served_host {
        struct rig *rig;
        const char *name;
};

struct rig {
        struct served_host hosts[4];
        struct loop *loop;
        struct loopback *net;
        struct world world;
        struct source_memory memory;
        struct source source;
        struct arena arena;
        const struct route *routes;
        struct buf said; /* "GET host/path?query (credentials)" for each request, a line each */
        int served, code;
        struct error err;
        const char *secret_header; /* which one is told */
        int failures[16];
        void (*body)(struct rig *r);
};

static inline void answer(void *ctx, struct http_exchange *x)
{
        const struct served_host *host = ctx;
        struct rig *r = host->rig;
        const char *secret =
                http_header_get(&x->headers, r->secret_header ? r->secret_header : "Authorization");
        const char *asks = arena_printf(x->arena, "%s %s%s%s%s", x->method, host->name, x->path,
                                        x->query[0] ? "?" : "", x->query);

        r->served++;
        buf_printf(&r->said, "%s%s%s\n", asks, secret ? " " : "", or_empty(secret));
        for (const struct route *route = r->routes; route->asks; route++) {
                struct http_headers extra = { (struct http_header *)(uintptr_t)&route->header,
                                              route->header.name != NULL };

                if (!text_equal(route->asks, asks))
                        continue;
                if (r->failures[route - r->routes]++ < route->fails)
                        http_reply(x, 503, NULL, SLICE(""), NULL);
                else
                        http_reply(x, route->status, "application/json", slice_of(route->body), &extra);
                return;
        }
        http_reply(x, 404, NULL, SLICE("{\"message\":\"Not Found\"}"), NULL);
}

static inline void serve(struct rig *r, const char *host, const struct route *routes)
{
        r->routes = routes;
        memset(r->failures, 0, sizeof(r->failures));
        for (size_t i = 0; i < ARRAY_LEN(r->hosts); i++)
                if (!r->hosts[i].name || text_equal(r->hosts[i].name, host)) {
                        r->hosts[i] = (struct served_host){ r, host };
                        assert_int_equal(loopback_listen(r->net, host, answer, &r->hosts[i]), 0);
                        return;
                }
        fail_msg("too many hosts");
}

static inline void collect(struct rig *r, const char *type, const char *url)
{
        struct filter none = { .limit = FILTER_LIMIT_DEFAULT };

        source_free(&r->source);
        buf_clear(&r->said);
        r->served = 0;
        r->source.world = &r->world;
        r->source.arena = &r->arena;
        r->source.memory = &r->memory;
        r->source.type = type;
        r->source.url = url;
        r->source.bytes = 0;
        r->source.deadline_ms = loop_now_ms(r->loop) + 120000;
        if (r->source.filter.limit == 0)
                r->source.filter = none;
        error_clear(&r->err);
        r->code = source_collect(&r->source, &r->err);
}

static inline void filter_by(struct rig *r, const struct filter_texts *t)
{
        assert_int_equal(filter_make(t, &r->arena, &r->source.filter, &r->err), 0);
}

static inline void exports_are(struct rig *r, const char *wanted)
{
        static const struct export_rules rules;
        AUTO_JSON json_t *exports = NULL;
        AUTO_BUF struct buf text;

        if (r->code < 0)
                fail_msg("%s\n%s", r->err.text, r->said.data);
        assert_int_equal(
                r->source.sets ? exports_of_sets(&rules, r->source.sets, &exports, NULL)
                               : exports_of_refs(&rules, r->source.refs.at, r->source.refs.n, &exports, NULL),
                0);
        buf_init(&text, 1 << 20);
        doc_write_canonical(exports, &text);
        assert_string_equal(text.data, wanted);
}

static inline void fails_with(struct rig *r, const char *words)
{
        if (r->code >= 0)
                fail_msg("it did not fail: %s", r->said.data);
        if (!text_equal(r->err.text, words))
                fail_msg("%s\n  instead of\n%s", r->err.text, words);
}

static inline void body_fiber(void *ctx)
{
        struct rig *r = ctx;

        r->body(r);
        source_free(&r->source);
        source_memory_free(&r->memory);
        http_transport_free(r->world.transport);
        r->net = loopback_free(r->net);
}

static inline void run(void (*body)(struct rig *))
{
        struct error err;
        struct rig r = { .body = body };
        struct fiber_group *group;
        size_t before = mem_live_count();

        r.loop = loop_new_simulated(1, WALL, &err);
        r.world.loop = r.loop;
        r.net = loopback_new(r.loop);
        r.world.transport = loopback_transport(r.net, &r.world, NULL);
        source_memory_init(&r.memory);
        buf_init(&r.said, 1 << 20);
        group = fiber_group_new(r.loop, NULL, "test");
        assert_non_null(fiber_spawn(group, "body", body_fiber, &r));
        assert_int_equal(loop_run(r.loop, &err), 0);
        fiber_group_end(group);
        loop_free(r.loop);
        arena_free(&r.arena);
        buf_free(&r.said);
        assert_int_equal(mem_live_count(), before);
}

#define RIG_TEST(name, ...)                                                                                  \
        static void name##_body(struct rig *r) __VA_ARGS__ static void name(void **state)                    \
        {                                                                                                    \
                run(name##_body);                                                                            \
        }
