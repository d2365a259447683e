/* Files from memory: a request in, an answer out, without a server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/gzip.h"
#include "common/base/memory.h"
#include "common/net/http_assets.h"

#define LONG_TEXT                                                                                            \
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
        "aa"

static const struct http_asset table[] = {
        { "/", "text/html; charset=utf-8", LONG_TEXT "index", sizeof(LONG_TEXT "index") - 1 },
        { "/app.js", "text/javascript", LONG_TEXT "app", sizeof(LONG_TEXT "app") - 1 },
        { "/dot.png", "image/png", "\x89PNG\0.", 6 }, /* which gzip makes longer */
        { "/empty.txt", "text/plain", "", 0 },
};

/* An exchange that keeps its answer. */
struct asked {
        struct http_exchange x; /* first */
        struct arena arena;
        struct http_header headers[2];
        int code, status;
        bool ended;
        struct http_headers answered;
        struct buf body;
};

static int keep_begin(struct http_exchange *x, int status, const struct http_headers *headers)
{
        struct asked *a = (struct asked *)x;
        a->status = status;
        return http_headers_copy(&a->arena, headers, &a->answered);
}
static int keep_write(struct http_exchange *x, const void *data, size_t n)
{
        return buf_append(&((struct asked *)x)->body, data, n);
}
static int keep_end(struct http_exchange *x)
{
        ((struct asked *)x)->ended = true;
        return 0;
}
static const struct http_exchange_ops keep_ops = { .begin = keep_begin,
                                                   .write = keep_write,
                                                   .end = keep_end };

/* `encoding` and `match` are headers of the request; NULL = it has none. */
static void ask(struct asked *a, const struct http_assets *assets, const char *method, const char *path,
                const char *encoding, const char *match, const struct http_headers *extra)
{
        *a = (struct asked){ .x = { .ops = &keep_ops, .method = method, .path = path } };
        a->x.arena = &a->arena;
        buf_init(&a->body, 1 << 20);
        a->x.headers.at = a->headers;
        if (encoding)
                a->headers[a->x.headers.n++] = (struct http_header){ "accept-encoding", encoding };
        if (match)
                a->headers[a->x.headers.n++] = (struct http_header){ "if-none-match", match };
        a->code = http_assets_serve(assets, &a->x, extra);
}
static void forget(struct asked *a)
{
        arena_free(&a->arena);
        buf_free(&a->body);
}
static const char *header(const struct asked *a, const char *name)
{
        return http_header_get(&a->answered, name);
}
static struct http_assets *make(void)
{
        struct http_assets *assets = http_assets_new(table, ARRAY_LEN(table));
        assert_non_null(assets);
        return assets;
}

static void a_file_is_answered_with_its_type_and_never_sniffed(void **state)
{
        struct http_assets *assets = make();
        struct asked a;
        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                ask(&a, assets, "GET", table[i].path, NULL, NULL, NULL);
                assert_int_equal(a.code, 0);
                assert_true(a.ended);
                assert_int_equal(a.status, 200);
                assert_string_equal(header(&a, "Content-Type"), table[i].content_type);
                assert_string_equal(header(&a, "X-Content-Type-Options"), "nosniff");
                assert_string_equal(header(&a, "Cache-Control"), "no-cache");
                assert_null(header(&a, "Content-Encoding"));
                assert_int_equal(a.body.len, table[i].size);
                assert_memory_equal(a.body.data, table[i].bytes, table[i].size);
                forget(&a);
        }
        assert_true(http_assets_have(assets, "/app.js"));
        assert_false(http_assets_have(assets, "/app"));
        http_assets_free(assets);
}

static void what_gzip_makes_smaller_goes_packed_to_who_takes_that(void **state)
{
        static const struct {
                const char *path, *encoding;
                bool packed;
        } cases[] = {
                { "/app.js", "gzip, deflate, br", true },
                { "/app.js", "br, GZIP ; q=0.001", true },
                { "/app.js", "*", true },
                { "/app.js", "deflate, *;q=0.5", true },
                { "/app.js", NULL, false },
                { "/app.js", "", false },
                { "/app.js", "identity", false },
                { "/app.js", "gzip;q=0", false },
                { "/app.js", "gzip;q=0.000, *", false },
                { "/app.js", "*;q=0", false },
                { "/app.js", "gzip2, xgzip", false },
                { "/dot.png", "gzip", false },
                { "/app.js", "gzip;q=none", false },
                { "/empty.txt", "gzip", false },
                { "/app.js", ",;,gzip", true },
        };
        struct http_assets *assets = make();
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct asked a;
                ask(&a, assets, "GET", cases[i].path, cases[i].encoding, NULL, NULL);
                if ((header(&a, "Content-Encoding") != NULL) != cases[i].packed)
                        fail_msg("%s: %s", cases[i].path, cases[i].encoding);
                assert_true(!cases[i].packed || text_equal(header(&a, "Vary"), "Accept-Encoding"));
                if (cases[i].packed) {
                        AUTO_BUF struct buf plain;
                        buf_init(&plain, 1 << 20);
                        assert_true(a.body.len < table[1].size);
                        assert_int_equal(gzip_unpack((struct slice){ a.body.data, a.body.len }, &plain, NULL),
                                         0);
                        assert_int_equal(plain.len, table[1].size);
                        assert_memory_equal(plain.data, table[1].bytes, plain.len);
                }
                forget(&a);
        }
        http_assets_free(assets);
}

static void who_has_it_is_told_that_it_has_not_changed(void **state)
{
        struct http_assets *assets = make();
        struct asked plain, packed, other, a;
        ask(&plain, assets, "GET", "/app.js", NULL, NULL, NULL);
        ask(&packed, assets, "GET", "/app.js", "gzip", NULL, NULL);
        ask(&other, assets, "GET", "/", NULL, NULL, NULL);
        const char *tag = header(&plain, "ETag"), *packed_tag = header(&packed, "ETag");
        assert_string_not_equal(tag, packed_tag);
        assert_string_not_equal(tag, header(&other, "ETag"));
        const struct {
                const char *encoding, *match;
                int status;
        } cases[] = {
                { NULL, tag, 304 },
                { "gzip", packed_tag, 304 },
                { "gzip", tag, 200 }, /* it has the other */
                { NULL, packed_tag, 200 },
                { NULL, "*", 304 },
                { NULL, arena_printf(&plain.arena, "\"x\" , W/%s", tag), 304 },
                { NULL, "\"x\", \"y\"", 200 },
                { NULL, "", 200 },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                ask(&a, assets, "GET", "/app.js", cases[i].encoding, cases[i].match, NULL);
                assert_int_equal(a.status, cases[i].status);
                assert_true(a.ended);
                assert_true((a.status == 304) == (a.body.len == 0));
                assert_non_null(header(&a, "ETag"));
                forget(&a);
        }
        forget(&plain);
        forget(&packed);
        forget(&other);
        http_assets_free(assets);
}

static void head_says_the_length_and_sends_nothing(void **state)
{
        struct http_assets *assets = make();
        struct asked a;
        ask(&a, assets, "HEAD", "/app.js", NULL, NULL, NULL);
        assert_int_equal(a.status, 200);
        assert_string_equal(header(&a, "Content-Length"), "103");
        assert_int_equal(a.body.len, 0);
        forget(&a);
        http_assets_free(assets);
}

static void other_paths_are_404_and_other_methods_405(void **state)
{
        static const char *const paths[] = { "/app", "/app.js/", "", "/APP.JS", "//app.js" };
        struct http_header mine[] = { { "Content-Security-Policy", "default-src 'self'" },
                                      { "Cache-Control", "no-store" } };
        struct http_headers extra = { mine, ARRAY_LEN(mine) };
        struct http_assets *assets = make();
        struct asked a;
        for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
                ask(&a, assets, "GET", paths[i], NULL, "*", &extra);
                assert_int_equal(a.status, 404);
                assert_string_equal(header(&a, "Content-Security-Policy"), "default-src 'self'");
                assert_string_equal(header(&a, "X-Content-Type-Options"), "nosniff");
                forget(&a);
        }
        ask(&a, assets, "POST", "/app.js", NULL, NULL, &extra);
        assert_int_equal(a.status, 405);
        assert_string_equal(header(&a, "Allow"), "GET, HEAD");
        forget(&a);
        ask(&a, assets, "GET", "/app.js", NULL, NULL, &extra);
        assert_int_equal(a.status, 200);
        assert_string_equal(header(&a, "Content-Security-Policy"), "default-src 'self'");
        assert_string_equal(header(&a, "Cache-Control"), "no-store"); /* what the caller says is kept */
        forget(&a);
        http_assets_free(assets);
}

static void any_one_allocation_may_fail(void **state)
{
        size_t before = mem_live_count();
        bool fired = true;
        for (uint64_t n = 1; fired; n++) {
                struct asked a = { .status = 200 };
                mem_fail_at(n, false);
                struct http_assets *assets = http_assets_new(table, ARRAY_LEN(table));
                if (assets)
                        ask(&a, assets, "GET", "/app.js", "gzip", "\"x\"", NULL);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                if (fired)
                        assert_true(!assets || a.code == ERR_NO_MEMORY);
                else
                        assert_true(a.code == 0 && a.status == 200);
                forget(&a);
                http_assets_free(assets);
        }
        assert_int_equal(mem_live_count(), before);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_file_is_answered_with_its_type_and_never_sniffed),
                cmocka_unit_test(what_gzip_makes_smaller_goes_packed_to_who_takes_that),
                cmocka_unit_test(who_has_it_is_told_that_it_has_not_changed),
                cmocka_unit_test(head_says_the_length_and_sends_nothing),
                cmocka_unit_test(other_paths_are_404_and_other_methods_405),
                cmocka_unit_test(any_one_allocation_may_fail),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
