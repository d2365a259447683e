#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kubectl-fleet/page/guard.h"

static const char *const hosts[] = { "page.fleet.svc", "fleet.example.com:8443", NULL };
static const struct page_guard v4 = { .bind = "127.0.0.1", .port = 8080, .hosts = hosts };
static const struct page_guard v6 = { .bind = "::1", .port = 80 };

static int check(const struct page_guard *g, const char *host, const char *origin, bool socket)
{
        struct http_header at[] = { { "Origin", origin }, { "host", host } };
        struct http_headers h = { at + !origin, ARRAY_LEN(at) - !origin - !host };
        const char *why;
        int status = page_guard_check(g, &h, socket, &why);

        assert_true((status == 403) == (why != NULL));
        return status;
}

static void it_answers_under_its_own_names(void **state)
{
        static const char *const good[] = { "127.0.0.1:8080",        "localhost:8080",     "LOCALHOST:8080",
                                            "page.fleet.svc",        "page.fleet.svc:443", "Page.fleet.svc:1",
                                            "fleet.example.com:8443" };
        static const char *const bad[] = { "evil.test",
                                           "evil.test:8080",
                                           "127.0.0.1",
                                           "127.0.0.1:80",
                                           "localhost",
                                           "localhost.evil.test:8080",
                                           "127.0.0.1:8080.evil.test",
                                           "127.0.0.1:80800",
                                           "page.fleet.svc.evil.test",
                                           "page.fleet.svc:",
                                           "page.fleet.svc:x",
                                           "page.fleet.svc:443x",
                                           "fleet.example.com",
                                           "fleet.example.com:84433",
                                           "" };

        for (size_t i = 0; i < ARRAY_LEN(good); i++)
                assert_int_equal(check(&v4, good[i], NULL, false), 0);
        for (size_t i = 0; i < ARRAY_LEN(bad); i++)
                assert_int_equal(check(&v4, bad[i], NULL, false), 403);
        assert_int_equal(check(&v4, NULL, NULL, false), 403);
        assert_int_equal(check(&v6, "[::1]", NULL, false), 0);
        assert_int_equal(check(&v6, "[::1]:80", NULL, false), 0);
        assert_int_equal(check(&v6, "localhost", NULL, false), 0);
        assert_int_equal(check(&v6, "::1", NULL, false), 403);
}

static void in_a_pod_it_answers_through_a_forwarded_port(void **state)
{
        static const struct page_guard pod = { .bind = "0.0.0.0", .port = 8080, .hosts = hosts };
        static const char *const good[] = { "127.0.0.1:8080", "localhost:9000", "localhost",
                                            "page.fleet.svc" };
        static const char *const bad[] = { "10.1.2.3:8080",       "localhost.evil.test:8080",
                                           "127.0.0.1.evil.test", "127.0.0.1:80x",
                                           "localhost:",          "evil.test" };

        for (size_t i = 0; i < ARRAY_LEN(good); i++)
                assert_int_equal(check(&pod, good[i], NULL, false), 0);
        for (size_t i = 0; i < ARRAY_LEN(bad); i++)
                assert_int_equal(check(&pod, bad[i], NULL, false), 403);
        assert_int_equal(check(&pod, "localhost:9000", "http://localhost:9000", true), 0);
        assert_int_equal(check(&pod, "localhost:9000", "http://localhost:3000", true), 403);
}

static void it_answers_its_own_scripts_only(void **state)
{
        static const char *const bad[] = { "http://evil.test",
                                           "null",
                                           "http://localhost:8080",
                                           "http://127.0.0.1",
                                           "127.0.0.1:8080",
                                           "http://127.0.0.1:8080.evil.test",
                                           "ftp://127.0.0.1:8080",
                                           "http://127.0.0.1:8080/",
                                           "" };

        assert_int_equal(check(&v4, "127.0.0.1:8080", "http://127.0.0.1:8080", true), 0);
        assert_int_equal(check(&v4, "fleet.example.com:8443", "https://fleet.example.com:8443", true), 0);
        assert_int_equal(check(&v4, "127.0.0.1:8080", NULL, true), 403);
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                assert_int_equal(check(&v4, "127.0.0.1:8080", bad[i], true), 403);
                assert_int_equal(check(&v4, "127.0.0.1:8080", bad[i], false), 403);
        }
}

static void browsers_are_told_a_strict_policy(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_headers h;

        assert_int_equal(page_guard_headers(&v4, "127.0.0.1:8080", &arena, &h), 0);
        assert_string_equal(
                http_header_get(&h, "Content-Security-Policy"),
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
                "'self' ws://127.0.0.1:8080; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                "require-trusted-types-for 'script'");
        assert_string_equal(http_header_get(&h, "Referrer-Policy"), "no-referrer");
        assert_string_equal(http_header_get(&h, "Cross-Origin-Opener-Policy"), "same-origin");
        assert_string_equal(http_header_get(&h, "Cross-Origin-Resource-Policy"), "same-origin");
        assert_string_equal(http_header_get(&h, "X-Content-Type-Options"), "nosniff");
        assert_non_null(http_header_get(&h, "Permissions-Policy"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(it_answers_under_its_own_names),
                cmocka_unit_test(in_a_pod_it_answers_through_a_forwarded_port),
                cmocka_unit_test(it_answers_its_own_scripts_only),
                cmocka_unit_test(browsers_are_told_a_strict_policy),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
