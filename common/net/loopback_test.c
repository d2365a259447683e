#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/net/cert.h"
#include "common/net/http_server.h"

#define WALL INT64_C(1767225600000)

/* One simulated network with one client; the test's body runs in a fiber. */
struct rig {
        struct loop *loop;
        struct loopback *net;
        struct world world;
        struct http_transport *client;
        struct loopback_faults faults;
        struct http_endpoint endpoint;
        struct arena arena;
        struct waitq tick;
        char *token;
        uint64_t token_stamp;
        int served, code, pieces;
        int64_t delay_ms, sent_ms;
        bool heard;
        int fate;
        void (*body)(struct rig *r);
};

static int read_token_file(void *ctx, const char *path, size_t max, char **ret, size_t *ret_len,
                           struct error *err)
{
        struct rig *r = ctx;
        *ret = mem_strdup(r->token);
        *ret_len = strlen(r->token);
        return 0;
}

static uint64_t token_file_stamp(void *ctx, const char *path)
{
        return ((struct rig *)ctx)->token_stamp;
}

static const struct world_files files = { .read = read_token_file, .stamp = token_file_stamp };

static int64_t fault_delay(void *ctx, const struct http_request *rq, bool answer)
{
        return ((struct rig *)ctx)->delay_ms;
}
static int fault_fate(void *ctx, const struct http_request *rq)
{
        return ((struct rig *)ctx)->fate;
}
static bool yes(void *ctx, const struct http_request *rq)
{
        return true;
}

static void body_fiber(void *ctx)
{
        struct rig *r = ctx;
        r->body(r);
        http_transport_free(r->client);
        r->net = loopback_free(r->net);
}

static void run_seeded(void (*body)(struct rig *), uint64_t seed)
{
        struct error err;
        struct rig r = { .body = body };
        size_t before = mem_live_count();
        r.loop = loop_new_simulated(seed, WALL, &err);
        r.world = (struct world){ .loop = r.loop, .files = &files, .ctx = &r };
        list_init(&r.tick.waiters);
        r.faults.ctx = &r;
        r.net = loopback_new(r.loop);
        r.client = loopback_transport(r.net, &r.world, &r.faults);
        r.endpoint.base_url = (char *)"https://hub:443/clusters/a";
        struct fiber_group *group = fiber_group_new(r.loop, NULL, "test");
        assert_non_null(fiber_spawn(group, "body", body_fiber, &r));
        loop_run(r.loop, &err);
        assert_null(r.net);
        fiber_group_end(group);
        loop_free(r.loop);
        arena_free(&r.arena);
        assert_int_equal(mem_live_count(), before);
}

static void run(void (*body)(struct rig *))
{
        run_seeded(body, 1);
}

static struct http_request request(struct rig *r, const char *method, const char *path)
{
        return (struct http_request){ .endpoint = &r->endpoint,
                                      .method = method,
                                      .path = path,
                                      .deadline_ms = loop_now_ms(r->loop) + 1000 };
}

static int get(struct rig *r, struct http_response *answer, struct error *err)
{
        struct http_request rq = request(r, "GET", "/api/v1/pods?limit=5&q=a%2Bb+c");
        return http_roundtrip(r->client, &rq, &r->arena, answer, err);
}

/* ---- handlers ---- */

static void echo(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        r->served++;
        r->sent_ms = loopback_sent_ms(x);
        r->heard = loopback_is_heard(x);
        const char *text = arena_printf(
                x->arena, "%s %s limit=%s q=%s body=%s agent=%s auth=%s cn=%s o=%s", x->method, x->path,
                http_query_get(x, "limit"), http_query_get(x, "q"), x->body.data,
                http_header_get(&x->headers, "user-agent"), http_header_get(&x->headers, "authorization"),
                x->peer_common_name, x->peer_organizations ? x->peer_organizations[0] : NULL);
        struct http_header extra = { "X-Test", "yes" };
        http_reply(x, 200, "text/plain", slice_of(text), &(struct http_headers){ &extra, 1 });
}

static void want_token_new(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        r->served++;
        bool good = text_equal(http_header_get(&x->headers, "Authorization"), "Bearer new");
        http_reply(x, good ? 200 : 401, NULL, SLICE(""), NULL);
}

static void never_answer(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        struct waitq never = { 0 };
        list_init(&never.waiters);
        r->served++;
        r->code = x->ops->wait(x, &never, DEADLINE_NONE);
}

static void say_nothing(void *ctx, struct http_exchange *x)
{
}

static void ten_pieces(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        r->served++;
        if (http_begin(x, 200, NULL) < 0)
                return;
        for (int i = 0; i < 10; i++) {
                char text[16];
                int n = snprintf(text, sizeof(text), "piece %d\n", i);
                if ((r->code = http_write(x, text, (size_t)n)) < 0)
                        return;
                fiber_sleep(x->loop, 1);
        }
        http_end(x);
}

static void flood(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        AUTO_FREE char *megabyte = mem_zalloc(1 << 20);
        http_begin(x, 200, NULL);
        for (r->pieces = 0; r->pieces < 100; r->pieces++)
                if ((r->code = http_write(x, megabyte, 1 << 20)) < 0)
                        return;
        http_end(x);
}

static void drained_pieces(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        http_begin(x, 200, NULL);
        for (r->pieces = 0; r->pieces < 100; r->pieces++) {
                http_write(x, "0123456789", 10);
                assert_true(x->ops->queued(x) <= 30);
                if ((r->code = x->ops->drain(x, 20, DEADLINE_NONE)) < 0)
                        return;
        }
        http_end(x);
}

/* ---- roundtrips ---- */

static void echo_body(struct rig *r)
{
        struct http_response a;
        struct error err;
        r->endpoint.user_agent = (char *)"argosy/1";
        r->endpoint.bearer_token = (char *)"abc";
        loopback_listen(r->net, "hub:443", echo, r);
        struct http_request rq = request(r, "POST", "/api/v1/pods?limit=5&q=a%2Bb+c");
        rq.body = SLICE("{}");
        assert_int_equal(http_roundtrip(r->client, &rq, &r->arena, &a, &err), 0);
        assert_int_equal(a.status, 200);
        assert_string_equal(a.body.data,
                            "POST /clusters/a/api/v1/pods limit=5 q=a+b c body={} agent=argosy/1 "
                            "auth=Bearer abc cn=(null) o=(null)");
        assert_string_equal(http_header_get(&a.headers, "x-test"), "yes");
}
static void a_request_and_its_answer_travel_whole(void **state)
{
        run(echo_body);
}

static void identity_body(struct rig *r)
{
        struct http_response a;
        struct error err;
        AUTO_FREE char *ca = NULL;
        AUTO_FREE char *ca_key = NULL;
        struct cert_subject subject = { "member-1", (const char *[]){ "fleet", NULL } };
        assert_int_equal(cert_self_signed_ca("ca", WALL, 1, &ca, &ca_key, &err), 0);
        assert_int_equal(cert_issue(ca, ca_key, &subject, false, WALL, 1, &r->endpoint.client_cert_pem,
                                    &r->endpoint.client_key_pem, &err),
                         0);
        loopback_listen(r->net, "hub:443", echo, r);
        for (int i = 0; i < 2; i++) {
                assert_int_equal(get(r, &a, &err), 0);
                assert_non_null(strstr(a.body.data, "cn=member-1 o=fleet"));
        }
        mem_free(TAKE_PTR(r->endpoint.client_cert_pem));
        mem_free(TAKE_PTR(r->endpoint.client_key_pem));
}
static void a_client_certificate_arrives_as_a_name(void **state)
{
        run(identity_body);
}

static void refused_body(struct rig *r)
{
        struct http_response a;
        struct error err;
        assert_int_equal(get(r, &a, &err), ERR_RETRY);
        assert_non_null(strstr(err.text, "connection refused"));
        loopback_listen(r->net, "hub:443", echo, r);
        assert_int_equal(get(r, &a, &err), 0);
        loopback_listen(r->net, "hub:443", NULL, NULL);
        assert_int_equal(get(r, &a, &err), ERR_RETRY);
}
static void nobody_listening_means_connection_refused(void **state)
{
        run(refused_body);
}

static void deadline_body(struct rig *r)
{
        struct http_response a;
        struct error err;
        loopback_listen(r->net, "hub:443", never_answer, r);
        int64_t start = loop_now_ms(r->loop);
        assert_int_equal(get(r, &a, &err), ERR_TIMEOUT);
        assert_int_equal(loop_now_ms(r->loop), start + 1000);
        fiber_sleep(r->loop, 1);
        assert_int_equal(r->code, ERR_CLOSED);
}
static void a_server_that_never_answers_meets_the_deadline_and_sees_the_client_go(void **state)
{
        run(deadline_body);
}

static void silent_body(struct rig *r)
{
        struct http_response a;
        struct error err;
        loopback_listen(r->net, "hub:443", say_nothing, r);
        assert_int_equal(get(r, &a, &err), 0);
        assert_int_equal(a.status, 500);
}
static void a_handler_that_forgets_to_answer_gives_500(void **state)
{
        run(silent_body);
}

static void token_body(struct rig *r)
{
        struct http_response a;
        struct error err;
        loopback_listen(r->net, "hub:443", want_token_new, r);
        r->endpoint.bearer_token_file = (char *)"/token";
        r->token = (char *)"old\n";
        r->token_stamp = 1;
        assert_int_equal(get(r, &a, &err), 0);
        assert_int_equal(a.status, 401);
        assert_int_equal(r->served, 1);
        r->token = (char *)"new\n"; /* with the same stamp: only the 401 makes us look */
        assert_int_equal(get(r, &a, &err), 0);
        assert_int_equal(a.status, 200);
        assert_int_equal(r->served, 3);
        r->token = (char *)"newer\n";
        r->token_stamp = 2;
        assert_int_equal(get(r, &a, &err), 0);
        assert_int_equal(a.status, 401);
        assert_int_equal(r->served, 4);
        r->token = (char *)"not a token\n";
        r->token_stamp = 3; /* unusable: the last good one goes on */
        assert_int_equal(get(r, &a, &err), 0);
        assert_int_equal(r->served, 5);
}
/* spec/member-agent.md checklist 6 */
static void a_token_file_is_read_again_when_it_changes_and_once_on_401(void **state)
{
        run(token_body);
}

static void bad_request_body(struct rig *r)
{
        struct http_response a;
        struct error err;
        loopback_listen(r->net, "hub:443", echo, r);
        struct http_header smuggle = { "X", "a\r\nHost: b" };
        struct http_request rq = request(r, "GET", "/x");
        rq.headers = (struct http_headers){ &smuggle, 1 };
        assert_int_equal(http_roundtrip(r->client, &rq, &r->arena, &a, &err), ERR_INVALID);
        rq = request(r, "GET", "/x y");
        assert_int_equal(http_roundtrip(r->client, &rq, &r->arena, &a, &err), ERR_INVALID);
        rq = request(r, "GET", "x");
        assert_int_equal(http_roundtrip(r->client, &rq, &r->arena, &a, &err), ERR_INVALID);
        assert_int_equal(r->served, 0);
}
static void a_request_that_would_break_the_message_is_refused(void **state)
{
        run(bad_request_body);
}

static void long_body(struct rig *r)
{
        struct http_response a;
        struct error err;
        loopback_listen(r->net, "hub:443", flood, r);
        struct http_request rq = request(r, "GET", "/");
        rq.max_body = 5 << 20;
        assert_int_equal(http_roundtrip(r->client, &rq, &r->arena, &a, &err), ERR_LIMIT);
        assert_int_equal(r->pieces, 5);
        assert_int_equal(r->code, ERR_CLOSED);
}
static void an_answer_longer_than_allowed_is_an_error(void **state)
{
        run(long_body);
}

/* ---- faults ---- */

static void delay_body(struct rig *r)
{
        struct http_response a;
        struct error err;
        r->faults.delay = fault_delay;
        r->delay_ms = 40;
        loopback_listen(r->net, "hub:443", echo, r);
        int64_t start = loop_now_ms(r->loop);
        assert_int_equal(get(r, &a, &err), 0);
        assert_int_equal(loop_now_ms(r->loop), start + 80);
        assert_int_equal(r->sent_ms, start);
        assert_true(r->heard);
        r->delay_ms = 700;
        assert_int_equal(get(r, &a, &err), ERR_TIMEOUT);
        assert_int_equal(r->served, 2);
        r->delay_ms = 1500; /* the request arrives after the client gave up */
        assert_int_equal(get(r, &a, &err), ERR_TIMEOUT);
        assert_int_equal(r->served, 2);
        fiber_sleep(r->loop, 1000);
        assert_int_equal(r->served, 3);
        assert_false(r->heard);
}
static void delays_are_waited_out_and_may_pass_the_deadline(void **state)
{
        run(delay_body);
}

/* body_fiber() ends the network while the request is on its way; run() counts what is left in memory. */
static void travelling_body(struct rig *r)
{
        struct http_response a;
        struct error err;
        r->faults.delay = fault_delay;
        r->delay_ms = 1500;
        loopback_listen(r->net, "hub:443", echo, r);
        assert_int_equal(get(r, &a, &err), ERR_TIMEOUT);
        assert_int_equal(r->served, 0);
}
static void what_has_not_arrived_goes_with_the_network(void **state)
{
        run(travelling_body);
}

static void fate_body(struct rig *r)
{
        struct http_response a;
        struct error err;
        r->faults.fate = fault_fate;
        loopback_listen(r->net, "hub:443", echo, r);
        r->fate = ERR_RETRY;
        assert_int_equal(get(r, &a, &err), ERR_RETRY);
        assert_int_equal(r->served, 0);
        r->fate = ERR_CLOSED;
        r->heard = true;
        assert_int_equal(get(r, &a, &err), ERR_RETRY);
        assert_int_equal(r->served, 1);
        assert_false(r->heard);
        r->fate = ERR_TIMEOUT;
        assert_int_equal(get(r, &a, &err), ERR_TIMEOUT);
        assert_int_equal(r->served, 1);
        r->fate = 429;
        assert_int_equal(get(r, &a, &err), 0);
        assert_int_equal(a.status, 429);
        assert_string_equal(http_header_get(&a.headers, "Retry-After"), "1");
        assert_non_null(strstr(a.body.data, "TooManyRequests"));
        assert_int_equal(r->served, 1);
}
static void a_request_or_its_answer_can_be_lost_or_replaced(void **state)
{
        run(fate_body);
}

static void duplicate_body(struct rig *r)
{
        struct http_response a;
        struct error err;
        r->faults.duplicate = yes;
        loopback_listen(r->net, "hub:443", echo, r);
        assert_int_equal(get(r, &a, &err), 0);
        fiber_sleep(r->loop, 1);
        assert_int_equal(r->served, 2);
}
static void a_duplicate_is_served_twice_and_answered_once(void **state)
{
        run(duplicate_body);
}

/* ---- streams ---- */

static int open_stream(struct rig *r, struct http_stream **ret, struct error *err)
{
        struct http_request rq = request(r, "GET", "/watch");
        rq.priority = HTTP_WATCH;
        return http_stream_open(r->client, &rq, ret, err);
}

static int read_all(struct rig *r, struct http_stream *s, struct buf *text, struct error *err)
{
        for (;;) {
                struct slice piece;
                TRY(http_stream_read(s, loop_now_ms(r->loop) + 1000, &piece, err));
                buf_append(text, piece.data, piece.len);
        }
}

static void stream_body(struct rig *r)
{
        struct error err;
        struct http_stream *s;
        AUTO_BUF struct buf text;
        buf_init(&text, 1000);
        loopback_listen(r->net, "hub:443", ten_pieces, r);
        assert_int_equal(open_stream(r, &s, &err), 0);
        assert_int_equal(s->status, 200);
        assert_int_equal(read_all(r, s, &text, &err), ERR_CLOSED);
        assert_int_equal(text.len, 80);
        assert_string_equal(text.data + 72, "piece 9\n");
        http_stream_close(s);
}
static void a_stream_is_read_piece_by_piece_to_its_end(void **state)
{
        run(stream_body);
}

static int64_t first_piece_is_late(void *ctx, const struct http_request *rq, bool answer)
{
        struct rig *r = ctx;
        return answer && r->pieces++ == 1 ? 40000 : 0; /* the head is part 0 */
}

static void late_piece_body(struct rig *r)
{
        struct error err;
        struct http_stream *s;
        struct slice piece;
        r->faults.delay = first_piece_is_late;
        loopback_listen(r->net, "hub:443", ten_pieces, r);
        int64_t start = loop_now_ms(r->loop);
        assert_int_equal(open_stream(r, &s, &err), 0);
        assert_int_equal(loop_now_ms(r->loop), start);
        assert_int_equal(http_stream_read(s, start + 60000, &piece, &err), 0);
        assert_int_equal(loop_now_ms(r->loop), start + 40000);
        http_stream_close(s);
}
static void the_head_of_a_stream_does_not_wait_for_a_late_piece(void **state)
{
        run(late_piece_body);
}

static int leaves(void *ctx, struct error *err)
{
        struct rig *r = ctx;
        r->pieces++;
        return r->code ? error_set(err, ERR_RETRY, "not any more") : 0;
}
static bool decide_otherwise(void *ctx, const struct http_request *rq)
{
        struct rig *r = ctx;
        assert_int_equal(r->pieces, 0);
        r->code = 1;
        return true;
}
static void leaving_body(struct rig *r)
{
        struct error err = { 0 };
        struct http_response a;
        struct http_request rq = { .endpoint = &r->endpoint,
                                   .method = "POST",
                                   .path = "/x",
                                   .deadline_ms = loop_now_ms(r->loop) + 1000,
                                   .may_leave = leaves,
                                   .may_leave_ctx = r };
        loopback_listen(r->net, "hub:443", echo, r);
        r->faults.hold_back = decide_otherwise;
        assert_int_equal(http_roundtrip(r->client, &rq, &r->arena, &a, &err), ERR_RETRY);
        assert_string_equal(err.text, "not any more");
        assert_int_equal(r->served, 0);
        r->faults.hold_back = NULL;
        r->code = 0;
        assert_int_equal(http_roundtrip(r->client, &rq, &r->arena, &a, &err), 0);
        assert_int_equal(r->served, 1);
        assert_int_equal(r->pieces, 2);
}
static void a_request_is_asked_for_in_the_moment_in_which_it_leaves(void **state)
{
        run(leaving_body);
}

/* ---- a client whose process is stopped ---- */

static struct loop_process *stopped;

static void ask_once(void *ctx)
{
        struct rig *r = ctx;
        struct error err = { 0 };
        struct http_response a;
        struct http_request rq = { .endpoint = &r->endpoint,
                                   .method = "POST",
                                   .path = "/x",
                                   .deadline_ms = loop_now_ms(r->loop) + 1000 };
        r->code = http_roundtrip(r->client, &rq, &r->arena, &a, &err);
        r->sent_ms = loop_now_ms(r->loop);
}
static bool stop_it(void *ctx, const struct http_request *rq)
{
        loop_process_stop(stopped);
        return true;
}
static int stop_it_behind(void *ctx, const struct http_request *rq)
{
        loop_process_stop(stopped);
        return 0;
}
static void begin_to_ask(struct rig *r, struct fiber_group **ret)
{
        stopped = loop_process_new(r->loop);
        *ret = fiber_group_new(r->loop, NULL, "client");
        loop_process_add(stopped, *ret);
        r->delay_ms = 10;
        r->faults.delay = fault_delay;
        r->served = 0;
        assert_non_null(fiber_spawn(*ret, "client", ask_once, r));
        fiber_sleep(r->loop, 500);
}
/* What is on the wire arrives and is answered; what is not leaves when its client goes on, and is of that
 * moment. */
static void stopped_body(struct rig *r)
{
        struct fiber_group *g;
        loopback_listen(r->net, "hub:443", echo, r);
        r->faults.fate = stop_it_behind;
        begin_to_ask(r, &g);
        assert_int_equal(r->served, 1);
        fiber_sleep(r->loop, 60000);
        loop_process_go_on(stopped);
        fiber_group_end(g);
        loop_process_free(stopped);
        assert_int_equal(r->code, 0); /* its answer waited for it */
        assert_int_equal(r->sent_ms, 60500);
        r->faults.fate = NULL;
        r->faults.hold_back = stop_it;
        begin_to_ask(r, &g);
        fiber_sleep(r->loop, 1000);
        assert_int_equal(r->served, 0);
        r->sent_ms = 0;
        loop_process_go_on(stopped);
        fiber_sleep(r->loop, 15);
        assert_int_equal(r->served, 1);
        fiber_group_end(g);
        loop_process_free(stopped);
        assert_int_equal(r->code, ERR_TIMEOUT);
}
static void a_client_that_is_stopped_finds_what_came_when_it_goes_on(void **state)
{
        run_seeded(stopped_body, 3);
}

static void cut_body(struct rig *r)
{
        struct error err;
        struct http_stream *s;
        struct slice piece;
        loopback_listen(r->net, "hub:443", ten_pieces, r);
        assert_int_equal(open_stream(r, &s, &err), 0);
        assert_int_equal(http_stream_read(s, loop_now_ms(r->loop) + 1000, &piece, &err), 0);
        loopback_listen(r->net, "hub:443", NULL, NULL);
        assert_int_equal(http_stream_read(s, loop_now_ms(r->loop) + 1000, &piece, &err), ERR_RETRY);
        http_stream_close(s);
        r->faults.cut_stream = yes;
        loopback_listen(r->net, "hub:443", ten_pieces, r);
        assert_int_equal(open_stream(r, &s, &err), 0);
        assert_int_equal(http_stream_read(s, loop_now_ms(r->loop) + 1000, &piece, &err), ERR_RETRY);
        assert_int_equal(r->code, ERR_CLOSED);
        http_stream_close(s);
}
static void a_cut_stream_says_retry_and_the_handler_sees_it(void **state)
{
        run(cut_body);
}

static void close_body(struct rig *r)
{
        struct error err;
        struct http_stream *s;
        loopback_listen(r->net, "hub:443", ten_pieces, r);
        assert_int_equal(open_stream(r, &s, &err), 0);
        http_stream_close(s);
        fiber_sleep(r->loop, 10);
        assert_int_equal(r->code, ERR_CLOSED);
}
static void closing_a_stream_tells_the_handler(void **state)
{
        run(close_body);
}

static void slow_body(struct rig *r)
{
        struct error err;
        struct http_stream *s;
        struct slice piece;
        int code, n = 0;
        loopback_listen(r->net, "hub:443", flood, r);
        assert_int_equal(open_stream(r, &s, &err), 0);
        fiber_sleep(r->loop, 10);
        while ((code = http_stream_read(s, loop_now_ms(r->loop) + 1000, &piece, &err)) == 0)
                n++;
        assert_int_equal(code, ERR_LIMIT);
        assert_int_equal(n, LIMIT_STREAM_QUEUE_BYTES >> 20);
        assert_int_equal(r->code, ERR_LIMIT);
        http_stream_close(s);
}
static void a_reader_that_is_too_slow_is_cut(void **state)
{
        run(slow_body);
}

static void drain_body(struct rig *r)
{
        struct error err;
        struct http_stream *s;
        AUTO_BUF struct buf text;
        buf_init(&text, 2000);
        loopback_listen(r->net, "hub:443", drained_pieces, r);
        assert_int_equal(open_stream(r, &s, &err), 0);
        fiber_sleep(r->loop, 10);
        assert_true(r->pieces < 5);
        assert_int_equal(read_all(r, s, &text, &err), ERR_CLOSED);
        assert_int_equal(text.len, 1000);
        http_stream_close(s);
}
static void drain_keeps_a_handler_at_its_readers_pace(void **state)
{
        run(drain_body);
}

static void get_and_note(void *ctx)
{
        struct rig *r = ctx;
        struct http_response a;
        r->pieces = get(r, &a, NULL);
}
static void cancel_body(struct rig *r)
{
        loopback_listen(r->net, "hub:443", never_answer, r);
        struct fiber_group *g = fiber_group_new(r->loop, NULL, "client");
        assert_non_null(fiber_spawn(g, "client", get_and_note, r));
        fiber_sleep(r->loop, 5);
        fiber_group_end(g);
        assert_int_equal(r->pieces, ERR_CANCELLED);
        fiber_sleep(r->loop, 1);
        assert_int_equal(r->code, ERR_CLOSED);
}
static void a_cancelled_client_leaves_at_once(void **state)
{
        run(cancel_body);
}

/* ---- the same seed, the same story ---- */

static struct buf story;

static int64_t random_delay(void *ctx, const struct http_request *rq, bool answer)
{
        return (int64_t)(loop_random_u64(((struct rig *)ctx)->loop) % 50);
}
static void client_of_story(void *ctx)
{
        struct rig *r = ctx;
        struct http_response a;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_request rq = request(r, "GET", "/");
        int code = http_roundtrip(r->client, &rq, &arena, &a, NULL);
        buf_printf(&story, "%d@%lld ", code, (long long)loop_now_ms(r->loop));
}
static void numbered(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        buf_printf(&story, "#%d ", r->served++);
        fiber_sleep(x->loop, 3);
        http_reply(x, 200, NULL, SLICE("x"), NULL);
}
static void story_body(struct rig *r)
{
        r->faults.delay = random_delay;
        loopback_listen(r->net, "hub:443", numbered, r);
        struct fiber_group *g = fiber_group_new(r->loop, NULL, "clients");
        for (int i = 0; i < 50; i++)
                assert_non_null(fiber_spawn(g, "client", client_of_story, r));
        fiber_group_join(g, DEADLINE_NONE);
        fiber_group_end(g);
}
static char *tell(uint64_t seed)
{
        buf_init(&story, 1 << 16);
        buf_append_char(&story, '>'); /* so that the leak check of run_seeded() sees a steady count */
        buf_reserve(&story, 60000);
        run_seeded(story_body, seed);
        return buf_take(&story, NULL);
}
static void the_same_seed_tells_the_same_story(void **state)
{
        AUTO_FREE char *a = tell(7);
        AUTO_FREE char *b = tell(7);
        AUTO_FREE char *c = tell(8);
        assert_string_equal(a, b);
        assert_string_not_equal(a, c);
}

/* ---- allocation failures ---- */

static void memory_body(struct rig *r)
{
        loopback_listen(r->net, "hub:443", ten_pieces, r);
        for (uint64_t n = 1;; n++) {
                struct error err = { 0 };
                struct http_stream *s = NULL;
                AUTO_BUF struct buf text;
                buf_init(&text, 1000);
                mem_fail_at(n, false);
                int code = open_stream(r, &s, &err);
                if (code == 0)
                        code = read_all(r, s, &text, &err);
                bool fired = mem_fault_fired();
                mem_fail_at(0, false);
                http_stream_close(s);
                fiber_sleep(r->loop, 20);
                if (!fired) {
                        assert_int_equal(code, ERR_CLOSED);
                        assert_int_equal(text.len, 80);
                        break;
                }
                assert_true(code == ERR_NO_MEMORY || code == ERR_RETRY || code == ERR_CLOSED ||
                            code == ERR_TIMEOUT);
        }
}
static void every_allocation_may_fail(void **state)
{
        run(memory_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_request_and_its_answer_travel_whole),
                cmocka_unit_test(a_client_certificate_arrives_as_a_name),
                cmocka_unit_test(nobody_listening_means_connection_refused),
                cmocka_unit_test(a_server_that_never_answers_meets_the_deadline_and_sees_the_client_go),
                cmocka_unit_test(a_handler_that_forgets_to_answer_gives_500),
                cmocka_unit_test(a_token_file_is_read_again_when_it_changes_and_once_on_401),
                cmocka_unit_test(a_request_that_would_break_the_message_is_refused),
                cmocka_unit_test(an_answer_longer_than_allowed_is_an_error),
                cmocka_unit_test(delays_are_waited_out_and_may_pass_the_deadline),
                cmocka_unit_test(what_has_not_arrived_goes_with_the_network),
                cmocka_unit_test(a_request_or_its_answer_can_be_lost_or_replaced),
                cmocka_unit_test(a_duplicate_is_served_twice_and_answered_once),
                cmocka_unit_test(a_stream_is_read_piece_by_piece_to_its_end),
                cmocka_unit_test(the_head_of_a_stream_does_not_wait_for_a_late_piece),
                cmocka_unit_test(a_request_is_asked_for_in_the_moment_in_which_it_leaves),
                cmocka_unit_test(a_client_that_is_stopped_finds_what_came_when_it_goes_on),
                cmocka_unit_test(a_cut_stream_says_retry_and_the_handler_sees_it),
                cmocka_unit_test(closing_a_stream_tells_the_handler),
                cmocka_unit_test(a_reader_that_is_too_slow_is_cut),
                cmocka_unit_test(drain_keeps_a_handler_at_its_readers_pace),
                cmocka_unit_test(a_cancelled_client_leaves_at_once),
                cmocka_unit_test(the_same_seed_tells_the_same_story),
                cmocka_unit_test(every_allocation_may_fail),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
