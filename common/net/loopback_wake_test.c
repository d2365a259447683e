/* A client of the loopback network sleeps until what it waits for arrives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/net/loopback_call.h"

#define DELAY_MS 100

struct rig {
        struct loop *loop;
        struct loopback *net;
        struct world world;
        struct http_endpoint endpoint;
        int64_t arrived_ms[3];
};

static int64_t delay(void *ctx, const struct http_request *rq, bool answer)
{
        return answer ? DELAY_MS : 0;
}

static void assert_asleep(const struct http_exchange *x)
{
        const struct loopback_call *c = (const struct loopback_call *)x;

        assert_false(list_empty(&c->client_waits.waiters));
}

/* Of a stream first the head, then two pieces with a pause between; of any other request the whole. */
static void answer(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        bool stream = text_equal(x->path, "/stream");

        assert_int_equal(http_begin(x, 200, NULL), 0);
        assert_asleep(x);
        assert_int_equal(http_write(x, "a", 1), 0);
        assert_asleep(x);
        if (stream) {
                assert_int_equal(fiber_sleep(r->loop, DELAY_MS / 2), 0);
                assert_asleep(x);
                assert_int_equal(http_write(x, "b", 1), 0);
                assert_asleep(x);
        }
        assert_int_equal(http_end(x), 0);
        assert_asleep(x);
}

static void ask(void *ctx)
{
        struct rig *r = ctx;
        const struct loopback_faults faults = { .ctx = r, .delay = delay };
        struct http_transport *t = loopback_transport(r->net, &r->world, &faults);
        struct http_request rq = {
                .endpoint = &r->endpoint, .method = "GET", .path = "/whole", .deadline_ms = 1000
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response whole;
        struct http_stream *s;
        struct slice piece;
        struct error err;

        assert_int_equal(loopback_listen(r->net, "there", answer, r), 0);
        assert_int_equal(http_roundtrip(t, &rq, &arena, &whole, &err), 0);
        assert_int_equal(loop_now_ms(r->loop), DELAY_MS);

        rq.path = "/stream";
        assert_int_equal(http_stream_open(t, &rq, &s, &err), 0);
        r->arrived_ms[0] = loop_now_ms(r->loop);
        for (int i = 1; i < 3; i++) {
                assert_int_equal(http_stream_read(s, 1000, &piece, &err), 0);
                r->arrived_ms[i] = loop_now_ms(r->loop);
        }
        assert_int_equal(http_stream_read(s, 1000, &piece, &err), ERR_CLOSED);
        http_stream_close(s);
        http_transport_free(t);
        r->net = loopback_free(r->net);
}

static void a_client_sleeps_until_what_it_waits_for_arrives(void **state)
{
        struct rig r = { .loop = loop_new_simulated(1, 1000000, NULL) };
        struct fiber_group *group = fiber_group_new(r.loop, NULL, "test");

        r.world = (struct world){ .loop = r.loop };
        r.endpoint.base_url = (char *)"https://there";
        r.net = loopback_new(r.loop);
        assert_non_null(fiber_spawn(group, "client", ask, &r));
        assert_int_equal(loop_run(r.loop, NULL), 0);
        assert_int_equal(r.arrived_ms[0], 2 * DELAY_MS);
        assert_int_equal(r.arrived_ms[1], 2 * DELAY_MS);
        assert_int_equal(r.arrived_ms[2], 2 * DELAY_MS + DELAY_MS / 2);
        fiber_group_end(group);
        loop_free(r.loop);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_client_sleeps_until_what_it_waits_for_arrives),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
