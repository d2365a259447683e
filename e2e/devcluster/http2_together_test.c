/* Answers to several requests that come over one HTTP/2 connection at the same moment. */
#include "common/base/map.h"
#include "e2e/devcluster/http2_rig_test.h"

#define REQUESTS 8
/* The first answer ends within a record of TLS: what follows comes with its last bytes. */
#define FIRST_BYTES 40000
#define MOST_BYTES 60000
#define ROUNDS 40 /* fewer streams are given up than a server of nghttp2 takes from one connection */
#define IN_A_ROUND 20

struct together {
        struct rig r;
        struct fiber_group *clients;
        unsigned rounds, wanted, came, answered;
        struct waitq all;
        uint64_t drawn;
};

struct client {
        struct together *t;
        char path[64];
        size_t bytes;
};

/* The path says how long the answer is, and whether its head says so, too. None is answered before all that
 * are wanted are here. */
static void answer(struct rig *r, struct http_exchange *x)
{
        struct together *t = container_of(r, struct together, r);
        AUTO_FREE char *body = mem_zalloc(MOST_BYTES);
        AUTO_FREE char *length = mem_strdup(x->path + strlen("/n/"));
        struct http_header header = { "content-length", length };
        size_t n = strtoul(length, NULL, 10);

        t->came++;
        waitq_wake_all(&t->all);
        while (t->came < t->wanted)
                if (x->ops->wait(x, &t->all, DEADLINE_NONE) < 0)
                        return;
        if (http_begin(x, 200, &(struct http_headers){ &header, x->path[1] == 's' }) == 0 &&
            http_write(x, body, n) == 0)
                (void)http_end(x);
}

static struct http_request request_of(struct client *c)
{
        return rig_request(&c->t->r, c->path, HTTP_NORMAL, HANG_MS);
}

static void one_more(struct together *t)
{
        t->answered++;
        waitq_wake_all(&t->all);
}

static void ask(void *ctx)
{
        struct client *c = ctx;
        const struct http_request rq = request_of(c);
        struct http_response got = { 0 };
        struct error err = { 0 };

        if (http_roundtrip(c->t->r.client, &rq, &c->t->r.arena, &got, &err) < 0)
                fail_msg("%s", err.text);
        assert_int_equal(got.body.len, c->bytes);
        one_more(c->t);
}

/* Leaves once something has come of the answer. */
static void begin_to_read(void *ctx)
{
        struct client *c = ctx;
        const struct http_request rq = request_of(c);
        struct http_stream *s = NULL;
        struct slice piece;
        struct error err = { 0 };

        if (http_stream_open(c->t->r.client, &rq, &s, &err) < 0 ||
            http_stream_read(s, loop_now_ms(c->t->r.loop) + HANG_MS, &piece, &err) < 0)
                fail_msg("%s", err.text);
        http_stream_close(s);
        one_more(c->t);
}

static void start(struct client *c, bool says, size_t bytes, void (*fn)(void *ctx))
{
        snprintf(c->path, sizeof(c->path), "/%c/%zu", says ? 's' : 'n', bytes);
        c->bytes = bytes;
        assert_non_null(fiber_spawn(c->t->clients, "client", fn, c));
}

static void await_all(struct together *t)
{
        while (t->answered < t->wanted)
                assert_int_equal(waitq_wait(t->r.loop, &t->all, loop_now_ms(t->r.loop) + HANG_MS), 0);
}

static void few_body(struct rig *r)
{
        struct together *t = container_of(r, struct together, r);
        struct client clients[REQUESTS];

        t->wanted = REQUESTS;
        t->clients = fiber_group_new(r->loop, NULL, "clients");
        for (unsigned i = 0; i < REQUESTS; i++) {
                clients[i].t = t;
                start(&clients[i], true, i ? 5 : FIRST_BYTES, ask);
        }
        await_all(t);
        assert_int_equal(r->connections, 1);
        fiber_group_end(t->clients);
}

static uint64_t draw(struct together *t, uint64_t below)
{
        t->drawn = hash_bytes(&t->drawn, sizeof(t->drawn), 1);
        return t->drawn % below;
}

static void one_round(struct together *t)
{
        struct client clients[IN_A_ROUND];

        t->wanted = IN_A_ROUND;
        t->came = t->answered = 0;
        for (unsigned i = 0; i < IN_A_ROUND; i++) {
                bool large = draw(t, 4) == 0;
                size_t bytes = 1 + draw(t, large ? MOST_BYTES : 300);

                clients[i].t = t;
                start(&clients[i], draw(t, 2) == 0, bytes, draw(t, 5) == 0 ? begin_to_read : ask);
        }
        await_all(t);
}

static void many_body(struct rig *r)
{
        struct together *t = container_of(r, struct together, r);

        t->clients = fiber_group_new(r->loop, NULL, "clients");
        for (unsigned i = 0; i < t->rounds; i++) {
                one_round(t);
                arena_reset(&r->arena);
        }
        fiber_group_end(t->clients);
}

static void run(void (*body)(struct rig *r), unsigned rounds, uint64_t drawn)
{
        struct together t = { .r = { .answer = answer, .body = body }, .rounds = rounds, .drawn = drawn };

        list_init(&t.all.waiters);
        rig_run(&t.r);
}

static void each_request_gets_its_answer(void **state)
{
        run(few_body, 1, 0);
}

static void so_does_each_of_many_among_which_some_leave(void **state)
{
        for (uint64_t drawn = 0; drawn < 5; drawn++)
                run(many_body, ROUNDS, drawn);
}

/* Lengths, in an order, with which no transfer ended and yet none went on: found in the 5,071st round. */
static void so_does_each_where_none_ends_before_the_others(void **state)
{
        run(many_body, 1, 12695816576844435898u);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_request_gets_its_answer),
                cmocka_unit_test(so_does_each_of_many_among_which_some_leave),
                cmocka_unit_test(so_does_each_where_none_ends_before_the_others),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
