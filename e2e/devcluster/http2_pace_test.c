/* The agents' client reads long answers over HTTP/2 more slowly than they come: the server waits, nothing is
 * lost, and nothing hangs. */
#include "e2e/devcluster/http2_rig_test.h"

#define PIECE (1u << 20)
#define PIECES 100

static void flood(struct rig *r, struct http_exchange *x)
{
        AUTO_FREE char *piece = mem_zalloc(PIECE);

        http_begin(x, 200, NULL);
        for (unsigned i = 0; i < PIECES; i++)
                if (http_write(x, piece, PIECE) < 0 || x->ops->drain(x, PIECE, DEADLINE_NONE) < 0)
                        return;
        http_end(x);
}

/* `pause_ms` after each of the first pieces. */
static void read_all(struct rig *r, int64_t pause_ms)
{
        const struct http_request rq = rig_request(r, "/large", HTTP_NORMAL, HANG_MS);
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

static void body(struct rig *r)
{
        read_all(r, 0);
        read_all(r, 5);
}

static void a_slow_reader_gets_all_of_a_long_answer(void **state)
{
        struct rig r = { .answer = flood, .body = body };

        rig_run(&r);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_slow_reader_gets_all_of_a_long_answer),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
