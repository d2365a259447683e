/* Whom the client trusts, and what it shows of itself: certificates and tokens, over sockets on loopback. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/net/curl_rig_test.h"

/* ---- TLS ---- */

static void tls_body(struct rig *r)
{
        struct http_response a;
        struct error err = { 0 };
        int64_t now = loop_wall_ms(r->loop);
        make_identity(r, "localhost", now);
        struct cert_subject subject = { "member-1", (const char *[]){ "fleet", NULL } };
        serve(r, echo);
        assert_int_equal(get(r, &a, &err), 0);
        assert_non_null(strstr(a.body.data, "cn=(null)"));
        issue(r, &subject, now, &r->endpoint.client_cert_pem, &r->endpoint.client_key_pem);
        for (int i = 0; i < 2; i++) {
                assert_int_equal(get(r, &a, &err), 0);
                assert_non_null(strstr(a.body.data, "cn=member-1 o=fleet"));
        }
}
static void tls_is_verified_and_a_client_certificate_is_never_shared(void **state)
{
        run(tls_body);
}

static void expect_refusal(struct rig *r, const char *words, const char *reason)
{
        struct http_response a;
        struct error err = { 0 };
        int code = get(r, &a, &err);
        if (code != ERR_UNAUTHORIZED || !strstr(err.text, words))
                print_message("code %d: %s\n", code, err.text);
        assert_int_equal(code, ERR_UNAUTHORIZED);
        assert_non_null(strstr(err.text, words));
        assert_string_equal(err.reason, reason);
}

static void wrong_ca_body(struct rig *r)
{
        struct error err;
        AUTO_FREE char *other = NULL;
        AUTO_FREE char *other_key = NULL;
        int64_t now = loop_wall_ms(r->loop);
        make_identity(r, "localhost", now);
        serve(r, echo);
        assert_int_equal(cert_self_signed_ca("other", now, 1, &other, &other_key, &err), 0);
        r->endpoint.ca_pem = other;
        expect_refusal(r, "certificate", HTTP_REASON_CERT_AUTHORITY);
        struct http_response a;
        r->endpoint.insecure_skip_verify = true;
        assert_int_equal(get(r, &a, &err), 0);
}
static void a_server_of_another_ca_is_refused_unless_verification_is_off(void **state)
{
        run(wrong_ca_body);
}

static void expired_body(struct rig *r)
{
        make_identity(r, "localhost", loop_wall_ms(r->loop) - 3 * DAY_MS);
        serve(r, echo);
        expect_refusal(r, "expired", HTTP_REASON_CERT_EXPIRED);
}
static void early_body(struct rig *r)
{
        make_identity(r, "localhost", loop_wall_ms(r->loop) + 3 * DAY_MS);
        serve(r, echo);
        expect_refusal(r, "not yet valid", HTTP_REASON_CERT_NOT_YET);
}
static void a_server_certificate_of_tomorrow_is_refused(void **state)
{
        run(early_body);
}

static void an_expired_server_certificate_is_refused(void **state)
{
        run(expired_body);
}

static void name_body(struct rig *r)
{
        struct http_response a;
        struct error err = { 0 };
        make_identity(r, "other", loop_wall_ms(r->loop));
        serve(r, echo);
        expect_refusal(r, "name", HTTP_REASON_CERT_NAME);
        r->endpoint.tls_server_name = mem_strdup("other");
        assert_int_equal(get(r, &a, &err), 0);
        assert_non_null(strstr(a.body.data, "host=127.0.0.1:"));
}
static void another_name_is_refused_unless_the_endpoint_says_so(void **state)
{
        run(name_body);
}

static void client_cert_body(struct rig *r)
{
        struct error err;
        int64_t now = loop_wall_ms(r->loop);
        AUTO_FREE char *other = NULL;
        AUTO_FREE char *other_key = NULL;
        make_identity(r, "localhost", now);
        serve(r, echo);
        assert_int_equal(cert_self_signed_ca("other", now, 1, &other, &other_key, &err), 0);
        struct cert_subject subject = { "stranger" };
        assert_int_equal(cert_issue(other, other_key, &subject, false, now, 1, &r->endpoint.client_cert_pem,
                                    &r->endpoint.client_key_pem, &err),
                         0);
        expect_refusal(r, "alert", HTTP_REASON_CLIENT_CERT);
        assert_int_equal(r->served, 0);
}
static void a_client_certificate_of_another_ca_is_refused(void **state)
{
        run(client_cert_body);
}

/* ---- tokens ---- */

static void want_new(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        r->served++;
        bool good = text_equal(http_header_get(&x->headers, "Authorization"), "Bearer new");
        r->token = (char *)"new";
        http_reply(x, good ? 200 : 401, NULL, SLICE(""), NULL);
}
static void token_body(struct rig *r)
{
        struct http_response a;
        struct error err = { 0 };
        serve(r, want_new);
        r->token = (char *)"old";
        r->endpoint.bearer_token_file = mem_strdup("/token");
        assert_int_equal(get(r, &a, &err), 0);
        assert_int_equal(a.status, 200);
        assert_int_equal(r->served, 2);
}
static void a_401_makes_the_token_file_read_again(void **state)
{
        run(token_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(tls_is_verified_and_a_client_certificate_is_never_shared),
                cmocka_unit_test(a_server_of_another_ca_is_refused_unless_verification_is_off),
                cmocka_unit_test(a_server_certificate_of_tomorrow_is_refused),
                cmocka_unit_test(an_expired_server_certificate_is_refused),
                cmocka_unit_test(another_name_is_refused_unless_the_endpoint_says_so),
                cmocka_unit_test(a_client_certificate_of_another_ca_is_refused),
                cmocka_unit_test(a_401_makes_the_token_file_read_again),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
