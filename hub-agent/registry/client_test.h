/* A client and a registry on the simulated network. */
#pragma once

#include "hub-agent/registry/registry_test.h"

#define HOST "reg.example"
#define REPOSITORY "team/app"
#define V2 HOST "/v2/" REPOSITORY "/"
#define WALL INT64_C(1767225600000) /* 2026-01-01 */

struct client {
        struct loop *loop;
        struct loopback *net;
        struct loopback_faults faults;
        struct world world;
        struct arena arena;
        struct transfer transfer;
        struct registry_tokens tokens;
        struct registry registry;
        struct registry_sim sim;
        struct error err;
        int plain; /* requests without TLS */
        void (*play)(struct client *c);
};

static inline int note_scheme(void *ctx, const struct http_request *rq)
{
        struct client *c = ctx;

        if (!text_starts_with(rq->endpoint->base_url, "https://"))
                c->plain++;
        return 0;
}

/* The client is another from now on, with the tokens of the one before. */
static inline void open_client(struct client *c)
{
        c->registry = (struct registry){ .transfer = &c->transfer,
                                         .tokens = &c->tokens,
                                         .place = { HOST, REPOSITORY },
                                         .login = c->registry.login,
                                         .scheme = c->registry.scheme };
        c->transfer.deadline_ms = loop_now_ms(c->loop) + 60000;
        error_clear(&c->err);
        assert_int_equal(registry_open(&c->registry, &c->err), 0);
}

static inline void fails(struct client *c, int code, int wanted, const char *words)
{
        if (code != wanted || !text_equal(c->err.text, words))
                fail_msg("%d: %s\n  instead of %d\n%s\n%s", code, c->err.text, wanted, words,
                         c->sim.said.data);
        error_clear(&c->err);
}

static inline void works(struct client *c, int code)
{
        if (code < 0)
                fail_msg("%s\n%s", c->err.text, c->sim.said.data);
}

static inline void play_in_fiber(void *ctx)
{
        struct client *c = ctx;

        sim_begin(&c->sim, c->net, HOST, "auth.example", "blobs.example");
        open_client(c);
        c->play(c);
        sim_end(&c->sim);
        registry_tokens_free(&c->tokens);
        http_transport_free(c->world.transport);
        c->net = loopback_free(c->net);
}

static inline void with_client(void (*play)(struct client *c))
{
        struct client c = { .play = play, .faults = { .ctx = &c, .fate = note_scheme } };
        size_t before = mem_live_count();

        c.loop = loop_new_simulated(1, WALL, &c.err);
        c.world.loop = c.loop;
        c.net = loopback_new(c.loop);
        c.world.transport = loopback_transport(c.net, &c.world, &c.faults);
        c.transfer = (struct transfer){ .world = &c.world, .arena = &c.arena };
        registry_tokens_init(&c.tokens);
        struct fiber_group *group = fiber_group_new(c.loop, NULL, "test");

        assert_non_null(fiber_spawn(group, "play", play_in_fiber, &c));
        assert_int_equal(loop_run(c.loop, &c.err), 0);
        fiber_group_end(group);
        loop_free(c.loop);
        arena_free(&c.arena);
        assert_int_equal(mem_live_count(), before);
}

#define CLIENT_TEST(name, ...)                                                                               \
        static void name##_play(struct client *c) __VA_ARGS__ static void name(void **state)                 \
        {                                                                                                    \
                with_client(name##_play);                                                                    \
        }
