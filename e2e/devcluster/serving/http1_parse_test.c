#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "e2e/devcluster/serving/http1_parse.h"

#define HOST "Host: a\r\n"

/* Feeds the text in pieces of `step` bytes. The result of the last call; *ret_used counts all. */
static int feed(struct http1_parser *p, const char *text, size_t n, size_t step, size_t *ret_used)
{
        int r = 0;
        *ret_used = 0;
        while (*ret_used < n && r == 0) {
                size_t used = 0;
                r = http1_parse(p, text + *ret_used, MIN(step, n - *ret_used), &used, NULL);
                *ret_used += used;
        }
        return r;
}

static void good_requests_are_read_in_pieces_of_any_size(void **state)
{
        static const struct {
                const char *text, *method, *path, *query, *body;
                bool keep_alive;
        } table[] = {
                { "GET / HTTP/1.1\r\n" HOST "\r\n", "GET", "/", "", "", true },
                { "\r\nGET /a%20b?x=1&y HTTP/1.1\r\n" HOST "\r\n", "GET", "/a%20b", "x=1&y", "", true },
                { "POST /p HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello", "POST", "/p", "", "hello",
                  true },
                { "POST /p HTTP/1.1\r\n" HOST
                  "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
                  "POST", "/p", "", "abc0123456789", true },
                { "POST /p HTTP/1.1\r\n" HOST
                  "transfer-encoding: Chunked\r\n\r\n1\r\na\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n",
                  "POST", "/p", "", "a", true },
                { "GET http://a/b?c HTTP/1.1\r\n" HOST "\r\n", "GET", "/b", "c", "", true },
                { "GET https://a/ HTTP/1.1\r\n" HOST "\r\n", "GET", "/", "", "", true },
                { "OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "OPTIONS", "*", "", "", true },
                { "GET / HTTP/1.1\r\n" HOST "Connection: x, Close\r\n\r\n", "GET", "/", "", "", false },
                { "GET / HTTP/1.0\r\n\r\n", "GET", "/", "", "", false },
                { "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET", "/", "", "", true },
        };
        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                size_t n = strlen(table[i].text);
                for (size_t step = 1; step <= n; step++) {
                        struct http1_parser p;
                        size_t used;
                        http1_parser_init(&p, NULL);
                        assert_int_equal(feed(&p, table[i].text, n, step, &used), 1);
                        assert_int_equal(used, n);
                        assert_string_equal(p.request.method, table[i].method);
                        assert_string_equal(p.request.path, table[i].path);
                        assert_string_equal(p.request.query, table[i].query);
                        assert_string_equal(p.request.body.data, table[i].body);
                        assert_int_equal(p.request.keep_alive, table[i].keep_alive);
                        http1_parser_free(&p);
                }
        }
}

static void bad_requests_are_refused_with_a_status(void **state)
{
        static const struct {
                const char *text;
                int status;
        } table[] = {
                { "GET /\r\n\r\n", 400 },
                { "GET  / HTTP/1.1\r\n" HOST "\r\n", 400 },
                { "G(T / HTTP/1.1\r\n" HOST "\r\n", 400 },
                { "GET x HTTP/1.1\r\n" HOST "\r\n", 400 },
                { "GET /a#b HTTP/1.1\r\n" HOST "\r\n", 400 },
                { "GET /\x80 HTTP/1.1\r\n" HOST "\r\n", 400 },
                { "GET http:// HTTP/1.1\r\n" HOST "\r\n", 400 },
                { "GET https:// HTTP/1.1\r\n" HOST "\r\n", 400 },
                { "GET http://a HTTP/1.1\r\n" HOST "\r\n", 400 },
                { "GET http:///a HTTP/1.1\r\n" HOST "\r\n", 400 },
                { "GET ftp://a/b HTTP/1.1\r\n" HOST "\r\n", 400 },
                { "GET / HTTP/2.0\r\n" HOST "\r\n", 505 },
                { "GET / HTTQ/1.1\r\n" HOST "\r\n", 400 },
                { "GET / HTTP/1.1\r\n\r\n", 400 },
                { "GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400 },
                { "GET / HTTP/1.1\n" HOST "\r\n\r\n", 400 },
                { "GET / HTTP/1.1\r\n" HOST "A : b\r\n\r\n", 400 },
                { "GET / HTTP/1.1\r\n" HOST "A: b\r\n c\r\n\r\n", 400 },
                { "GET / HTTP/1.1\r\n" HOST "A: b\x01\r\n\r\n", 400 },
                { "GET / HTTP/1.1\r\n" HOST "A: b\rc\r\n\r\n", 400 },
                { "GET / HTTP/1.1\r\n" HOST "nonsense\r\n\r\n", 400 },
                { "POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 2\r\n\r\na", 400 },
                { "POST / HTTP/1.1\r\n" HOST "Content-Length: +1\r\n\r\na", 400 },
                { "POST / HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\na", 400 },
                { "POST / HTTP/1.1\r\n" HOST "Content-Length: 1, 1\r\n\r\na", 400 },
                { "POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n\r\n", 400 },
                { "POST / HTTP/1.1\r\n" HOST "Content-Length: 9999999999\r\n\r\n", 413 },
                { "POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400 },
                { "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n", 501 },
                { "POST / HTTP/1.1\r\n" HOST
                  "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
                  400 },
                { "POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", 400 },
                { "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nx\r\n", 400 },
                { "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\na\r\n", 400 },
                { "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400 },
                { "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n\r\n", 400 },
                { "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n", 413 },
                { "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nfffffff\r\n", 413 },
                { "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\n\r\n", 400 },
                { "POST / HTTP/1.1\r\n" HOST "Expect: tea\r\n\r\n", 417 },
        };
        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                size_t n = strlen(table[i].text);
                for (size_t step = 1; step <= n; step += n - 1) {
                        struct http1_parser p;
                        size_t used;
                        http1_parser_init(&p, NULL);
                        int r = feed(&p, table[i].text, n, step, &used);
                        if (r >= 0 || p.http_status != table[i].status)
                                print_message("%s -> %d, status %d\n", table[i].text, r, p.http_status);
                        assert_true(r < 0);
                        assert_int_equal(p.http_status, table[i].status);
                        http1_parser_free(&p);
                }
        }
}

static void a_nul_in_a_header_is_refused(void **state)
{
        static const char text[] = "GET / HTTP/1.1\r\n" HOST "A: b\0c\r\n\r\n";
        struct http1_parser p;
        size_t used;
        http1_parser_init(&p, NULL);
        assert_int_equal(http1_parse(&p, text, sizeof(text) - 1, &used, NULL), ERR_INVALID);
        http1_parser_free(&p);
}

static void the_next_request_stays_where_it_is(void **state)
{
        const char *text =
                "POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\naGET /2 HTTP/1.1\r\n" HOST "\r\n";
        struct http1_parser p;
        size_t used, used2;
        http1_parser_init(&p, NULL);
        assert_int_equal(http1_parse(&p, text, strlen(text), &used, NULL), 1);
        assert_string_equal(p.request.body.data, "a");
        http1_parser_reset(&p);
        assert_int_equal(http1_parse(&p, text + used, strlen(text) - used, &used2, NULL), 1);
        assert_string_equal(p.request.path, "/2");
        assert_int_equal(used + used2, strlen(text));
        http1_parser_free(&p);
}

static void limits_hold(void **state)
{
        struct http1_limits limits = { .header_bytes = 64, .headers = 2, .body_bytes = 4 };
        static const struct {
                const char *text;
                int status;
        } table[] = {
                { "GET /0123456789012345678901234567890123456789012345678901234567890123456789", 431 },
                { "GET / HTTP/1.1\r\n" HOST "B: 1\r\nC: 1\r\n\r\n", 431 },
                { "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n", 413 },
        };
        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                struct http1_parser p;
                size_t used;
                http1_parser_init(&p, &limits);
                assert_int_equal(http1_parse(&p, table[i].text, strlen(table[i].text), &used, NULL),
                                 ERR_LIMIT);
                assert_int_equal(p.http_status, table[i].status);
                http1_parser_free(&p);
        }
}

static void every_allocation_may_fail(void **state)
{
        const char *text =
                "POST /p?q HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
        for (uint64_t n = 1;; n++) {
                struct http1_parser p;
                size_t used;
                http1_parser_init(&p, NULL);
                mem_fail_at(n, false);
                int r = feed(&p, text, strlen(text), 7, &used);
                bool fired = mem_fault_fired();
                mem_fail_at(0, false);
                http1_parser_free(&p);
                assert_int_equal(r, fired ? ERR_NO_MEMORY : 1);
                if (!fired)
                        break;
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(good_requests_are_read_in_pieces_of_any_size),
                cmocka_unit_test(bad_requests_are_refused_with_a_status),
                cmocka_unit_test(a_nul_in_a_header_is_refused),
                cmocka_unit_test(the_next_request_stays_where_it_is),
                cmocka_unit_test(limits_hold),
                cmocka_unit_test(every_allocation_may_fail),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
