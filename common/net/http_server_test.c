/* The agents' own server, byte by byte: what it does with requests that no library would send, with a crowd,
 * and with certificates that change. */
#include <sys/mman.h>
#include <sys/stat.h>

#include "common/base/limits.h"
#include "common/net/cert.h"
#include "common/net/http_assets.h"
#include "common/net/http_server_cases_test.h"

static void rig_start(struct rig *r)
{
        rig_start_own(r);
}

static void rig_stop(struct rig *r)
{
        r->server = http_server_stop(r->server);
}

static void listen_body(struct rig *r)
{
        struct http_server *second;
        struct error err;
        struct http_server_options o = { .bind = "127.0.0.1", .port = r->port, .handle = say_path, .ctx = r };
        assert_int_equal(http_server_start(&r->world, &o, &second, &err), ERR_SYSTEM);
        assert_non_null(strstr(err.text, "in use"));
        o.bind = "nowhere";
        assert_int_equal(http_server_start(&r->world, &o, &second, &err), ERR_INVALID);
        o = (struct http_server_options){ .bind = "::1", .handle = say_path, .ctx = r };
        if (http_server_start(&r->world, &o, &second, &err) == 0) /* where there is IPv6 */
                http_server_stop(second);
}
static void a_taken_port_or_a_bad_address_is_an_error(void **state)
{
        run(say_path, listen_body);
}

/* What is sent, and what the connection's last words begin with; "" = it just ends. */
static const struct bad_request {
        const char *text, *status;
} bad_requests[] = {
        { "nonsense\r\n\r\n", "HTTP/1.0 403 " },
        { "\x16\x03\x01\x02\x01\x01", "HTTP/1.0 403 " },
        { "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.0 403 " },
        { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.0 403 " },
        { "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.0 403 " },
        { "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 " },
        { "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 413 " },
        { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n", "HTTP/1.1 413 " },
        { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3x\r\n\r\nabc", "HTTP/1.1 400 " },
        { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -3\r\n\r\nabc", "HTTP/1.1 400 " },
        { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
          "HTTP/1.1 400 " },
        { "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
          "HTTP/1.1 411 " },
        { "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc",
          "HTTP/1.1 411 " },
        { "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", "" },
        { "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", "" },
        { "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
          "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
          "" },
};

static void expect_last_words(struct rig *r, const char *text, size_t n, const char *status)
{
        struct raw k;
        raw_open(&k, r->loop, r->port);
        raw_say(&k, text, n);
        raw_await_end(&k);
        if (strncmp(k.heard.data, status, strlen(status)) != 0 || (!*status && k.heard.len > 0))
                fail_msg("%s\nwas answered: %s", text, k.heard.data);
        raw_close(&k);
}

static void bad_body(struct rig *r)
{
        for (size_t i = 0; i < ARRAY_LEN(bad_requests); i++)
                expect_last_words(r, bad_requests[i].text, strlen(bad_requests[i].text),
                                  bad_requests[i].status);
        AUTO_FREE char *long_header = mem_alloc(LIMIT_HEADER_BYTES + 1000);
        memset(long_header, 'a', LIMIT_HEADER_BYTES + 1000);
        memcpy(long_header, "GET / HTTP/1.1\r\nA: ", 19);
        expect_last_words(r, long_header, LIMIT_HEADER_BYTES + 1000, "");
        assert_int_equal(r->served, 0);
}
static void bad_requests_are_refused_and_meet_no_handler(void **state)
{
        run_with(&(struct http_server_options){ .handle = say_path, .closing_ms = 1000 }, bad_body);
}

static void behind_body(struct rig *r)
{
        static const char two[] = "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
                                  "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n";
        struct raw k;
        raw_open(&k, r->loop, r->port);
        raw_say(&k, two, strlen(two));
        raw_await_end(&k);
        assert_null(strstr(k.heard.data, "[/2 ]"));
        raw_close(&k);
}
static void a_request_sent_right_behind_a_body_ends_the_connection(void **state)
{
        run(say_path, behind_body);
}

static void say_request(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        r->served++;
        http_reply(x, 200, "text/plain",
                   slice_of(arena_printf(x->arena, "[%s %s ? %s ? %s ? %s ? %s]", x->method, x->path,
                                         x->query, http_header_get(&x->headers, "Content-Type"),
                                         http_query_get(x, "a"), x->remote_address)),
                   NULL);
}
static void read_body(struct rig *r)
{
        static const char request[] = "PUT /a%2fb%20c/../d%C3%BC+e?a=1%262&timeout=5s HTTP/1.1\r\nHost: a\r\n"
                                      "Content-Type: application/json\r\nContent-Length: 0\r\n\r\n";
        struct raw k;
        raw_open(&k, r->loop, r->port);
        raw_say(&k, request, strlen(request));
        raw_await(&k, "[PUT /a/d%C3%BC%20e ? a=1%262&timeout=5s ? application/json ? 1&2 ? 127.0.0.1]");
        raw_close(&k);
}
static void a_handler_sees_method_path_query_and_headers(void **state)
{
        run(say_request, read_body);
}

/* ---- files from memory ---- */

static void serve_assets(void *ctx, struct http_exchange *x)
{
        static const struct http_asset table[] = { { "/a.txt", "text/plain", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                                     30 } };
        struct http_assets *assets = http_assets_new(table, 1);
        http_assets_serve(assets, x, NULL);
        http_assets_free(assets);
}
static void assets_body(struct rig *r)
{
        static const char get[] = "GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n";
        struct raw k;
        raw_open(&k, r->loop, r->port);
        raw_say(&k, get, strlen(get));
        raw_await(&k, "\r\n\r\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
        char request[512];
        const char *tag = strcasestr(k.heard.data, "etag: ");
        assert_non_null(tag);
        int n = snprintf(request, sizeof(request),
                         "GET /a.txt HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"x\", %.34s\r\n\r\n"
                         "HEAD /a.txt HTTP/1.1\r\nHost: a\r\nAccept-Encoding: br, gzip\r\n"
                         "Connection: close\r\n\r\n",
                         tag + 6);
        raw_say(&k, request, (size_t)n);
        raw_await_end(&k);
        assert_non_null(strstr(k.heard.data, "HTTP/1.1 304 "));
        assert_non_null(strcasestr(k.heard.data, "content-encoding: gzip\r\n"));
        raw_close(&k);
}
static void what_assets_ask_of_a_request_is_handed_on(void **state)
{
        run(serve_assets, assets_body);
}

/* ---- without memory (a start is at boot: libwebsockets does not survive it there) ---- */

static void starve_request_body(struct rig *r)
{
        bool fired = true;
        for (uint64_t n = 1; fired; n++) {
                struct raw k;
                raw_open(&k, r->loop, r->port);
                const char *request =
                        "POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";
                buf_reserve(&k.heard, 4096);
                mem_fail_at(n, false);
                raw_say(&k, request, strlen(request));
                raw_await_end(&k);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                assert_true(fired || strstr(k.heard.data, "[/m hi]"));
                raw_close(&k);
        }
}
static void any_one_allocation_of_a_request_may_fail(void **state)
{
        run(say_path, starve_request_body);
}

/* ---- a port that anybody reaches ---- */

#define CONNECTIONS 8

static struct http_server_options narrow(http_handler_fn handle)
{
        return (struct http_server_options){ .handle = handle,
                                             .limits = { .header_bytes = 1024, .body_bytes = HTTP_NO_BODY },
                                             .connections = CONNECTIONS,
                                             .closing_ms = 1000 };
}

static void narrow_body(struct rig *r)
{
        static const struct bad_request table[] = {
                { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", "HTTP/1.1 413 " },
                { "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK" },
                { "POST / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK" }, /* no length, no body */
                { "PUT / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK" },
                { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                  "HTTP/1.1 200 OK" },
        };
        char head[2048] = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nB: ";
        for (size_t i = 0; i < ARRAY_LEN(table); i++)
                expect_last_words(r, table[i].text, strlen(table[i].text), table[i].status);
        assert_int_equal(r->served, 4);
        memset(head + strlen(head), 'b', sizeof(head) - strlen(head));
        expect_last_words(r, head, sizeof(head), "");
        assert_int_equal(r->served, 4);
}
static void a_narrow_server_takes_no_bodies_and_small_heads(void **state)
{
        struct http_server_options o = narrow(say_path);
        run_with(&o, narrow_body);
}

static void crowd_body(struct rig *r)
{
        static const char post[] = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n";
        static const char get[] = "GET /me HTTP/1.1\r\nHost: a\r\n\r\n";
        enum { CROWD = 200 };
        AUTO_FREE struct raw *crowd = mem_calloc(CROWD, sizeof(*crowd));
        AUTO_FREE char *body = mem_zalloc(3000000);
        struct raw me;
        size_t before = mem_live_bytes();
        for (size_t i = 0; i < CROWD; i++) {
                raw_open(&crowd[i], r->loop, r->port);
                raw_push(&crowd[i], post, strlen(post) / (1 + i % 2)); /* half of them never end their head */
                raw_push(&crowd[i], body, 3000000);
        }
        fiber_sleep(r->loop, 20);
        assert_in_range(mem_live_bytes() - before, 0, 1 << 20);
        raw_open(&me, r->loop, r->port); /* they hold all there is, and keep nobody out */
        raw_say(&me, get, strlen(get));
        raw_await(&me, "[/me ]");
        raw_close(&me);
        for (size_t i = 0; i < CROWD - CONNECTIONS; i++)
                raw_await_end(&crowd[i]);
        for (size_t i = 0; i < CROWD; i++)
                raw_close(&crowd[i]);
}
static void a_crowd_with_big_bodies_takes_no_memory_and_keeps_nobody_out(void **state)
{
        struct http_server_options o = narrow(say_path);
        run_with(&o, crowd_body);
}

/* Who holds a place with a head that never ends loses it, the oldest first, and nobody else does. */
static void places_body(struct rig *r)
{
        static const char half[] = "GET / HTTP/1.1\r\nHost: a\r\n",
                          get[] = "GET /me HTTP/1.1\r\nHost: a\r\n\r\n";
        struct raw holders[CONNECTIONS], me;
        for (size_t i = 0; i < CONNECTIONS; i++) {
                raw_open(&holders[i], r->loop, r->port);
                raw_say(&holders[i], half, strlen(half));
        }
        fiber_sleep(r->loop, 20);
        for (size_t i = 0; i < CONNECTIONS; i++)
                assert_false(holders[i].ended);
        raw_open(&me, r->loop, r->port);
        raw_say(&me, get, strlen(get));
        raw_await(&me, "[/me ]");
        raw_await_end(&holders[0]);
        raw_say(&holders[1], "\r\n", 2); /* it may still end its head, and is answered */
        raw_await(&holders[1], "[/ ]");
        for (size_t i = 1; i < CONNECTIONS; i++)
                assert_false(holders[i].ended);
        raw_close(&me);
        for (size_t i = 0; i < CONNECTIONS; i++)
                raw_close(&holders[i]);
}
static void the_oldest_of_too_many_gives_way(void **state)
{
        struct http_server_options o = narrow(say_path);
        run_with(&o, places_body);
}

/* ---- files of others ---- */

#define OTHERS 64

/* Files that somebody opens, one in each turn, while a server ends. */
struct others {
        struct loop *loop;
        int fd[OTHERS];
        ino_t inode[OTHERS];
        size_t n;
        bool enough;
};

static void open_others(void *ctx)
{
        struct others *o = ctx;
        struct stat st;

        while (!o->enough && o->n < OTHERS) {
                o->fd[o->n] = memfd_create("other", MFD_CLOEXEC);
                assert_true(o->fd[o->n] >= 0 && fstat(o->fd[o->n], &st) == 0);
                o->inode[o->n++] = st.st_ino;
                fiber_yield(o->loop);
        }
        o->enough = true;
}

static void others_body(struct rig *r)
{
        struct others o = { .loop = r->loop };
        struct stat st;

        for (int i = 0; i < 5; i++) {
                o.n = 0;
                o.enough = false;
                assert_non_null(fiber_spawn(r->group, "others", open_others, &o));
                rig_stop(r);
                o.enough = true;
                fiber_yield(r->loop);
                for (size_t k = 0; k < o.n; k++) {
                        assert_int_equal(fstat(o.fd[k], &st), 0);
                        assert_int_equal(st.st_ino, o.inode[k]);
                        close(o.fd[k]);
                }
                rig_start(r);
        }
}
static void a_server_that_ends_closes_no_file_of_others(void **state)
{
        run(say_path, others_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                HTTP_SERVER_CASES,
                cmocka_unit_test(a_server_that_ends_closes_no_file_of_others),
                cmocka_unit_test(the_oldest_of_too_many_gives_way),
                cmocka_unit_test(a_taken_port_or_a_bad_address_is_an_error),
                cmocka_unit_test(bad_requests_are_refused_and_meet_no_handler),
                cmocka_unit_test(a_request_sent_right_behind_a_body_ends_the_connection),
                cmocka_unit_test(a_handler_sees_method_path_query_and_headers),
                cmocka_unit_test(what_assets_ask_of_a_request_is_handed_on),
                cmocka_unit_test(any_one_allocation_of_a_request_may_fail),
                cmocka_unit_test(a_narrow_server_takes_no_bodies_and_small_heads),
                cmocka_unit_test(a_crowd_with_big_bodies_takes_no_memory_and_keeps_nobody_out),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
