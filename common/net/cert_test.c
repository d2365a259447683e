#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/net/cert.h"

#define NOW INT64_C(1767225600000)
#define DAY INT64_C(86400000)

struct ca {
        char *cert, *key;
};

static struct ca make_ca(void)
{
        struct ca ca;
        struct error err;
        assert_int_equal(cert_self_signed_ca("test-ca", NOW, 10, &ca.cert, &ca.key, &err), 0);
        return ca;
}

static void free_ca(struct ca *ca)
{
        mem_free(ca->cert);
        mem_free(ca->key);
}

static void an_issued_certificate_names_its_subject(void **state)
{
        CLEANUP(free_ca) struct ca ca = make_ca();
        struct cert_subject subject = { "alice", (const char *[]){ "system:masters", "dev,ops", NULL },
                                        (const char *[]){ "localhost", NULL },
                                        (const char *[]){ "127.0.0.1", NULL } };
        AUTO_FREE char *cert = NULL;
        AUTO_FREE char *key = NULL;
        AUTO_FREE char *name = NULL;
        char **organizations = NULL;
        struct error err;
        assert_int_equal(cert_issue(ca.cert, ca.key, &subject, true, NOW, 5, &cert, &key, &err), 0);
        assert_int_equal(cert_read_subject(cert, &name, &organizations, &err), 0);
        assert_string_equal(name, "alice");
        assert_string_equal(organizations[0], "system:masters");
        assert_string_equal(organizations[1], "dev,ops");
        assert_null(organizations[2]);
        assert_int_equal(cert_not_after_ms(cert), NOW + 5 * DAY);
        assert_true(cert_has_key(cert, key));
        assert_false(cert_has_key(cert, ca.key));
        assert_false(cert_has_key(cert, "no key"));
        assert_true(cert_is_for(cert, "localhost"));
        assert_false(cert_is_for(cert, "alice"));
        cert_strings_free(organizations);
}

static void a_request_is_signed_for_its_subject(void **state)
{
        CLEANUP(free_ca) struct ca ca = make_ca();
        struct cert_subject subject = { "system:node:a", (const char *[]){ "system:nodes", NULL } };
        AUTO_FREE char *key = NULL;
        AUTO_FREE char *csr = NULL;
        AUTO_FREE char *cert = NULL;
        AUTO_FREE char *name = NULL;
        char **organizations = NULL;
        struct error err;
        assert_int_equal(cert_new_key(&key, &err), 0);
        assert_int_equal(cert_request(&subject, key, &csr, &err), 0);
        assert_int_equal(cert_read_subject(csr, &name, &organizations, &err), 0);
        assert_string_equal(name, "system:node:a");
        cert_strings_free(organizations);
        mem_free(TAKE_PTR(name));
        assert_int_equal(cert_sign_request(ca.cert, ca.key, csr, NOW, 3600, &cert, &err), 0);
        assert_int_equal(cert_read_subject(cert, &name, &organizations, &err), 0);
        assert_string_equal(name, "system:node:a");
        assert_string_equal(organizations[0], "system:nodes");
        assert_int_equal(cert_not_after_ms(cert), NOW + 3600 * 1000);
        cert_strings_free(organizations);
}

static void a_tampered_request_is_refused(void **state)
{
        CLEANUP(free_ca) struct ca ca = make_ca();
        struct cert_subject subject = { "bob" };
        AUTO_FREE char *key = NULL;
        AUTO_FREE char *csr = NULL;
        char *cert = NULL;
        struct error err;
        assert_int_equal(cert_new_key(&key, &err), 0);
        assert_int_equal(cert_request(&subject, key, &csr, &err), 0);
        char *middle = csr + strlen(csr) / 2;
        *middle = *middle == 'A' ? 'B' : 'A';
        assert_int_equal(cert_sign_request(ca.cert, ca.key, csr, NOW, 3600, &cert, &err), ERR_INVALID);
        assert_null(cert);
}

static void what_is_no_certificate_is_refused(void **state)
{
        char *name = NULL, **organizations = NULL;
        struct error err;
        const char *bad[] = { "", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" };
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                assert_int_equal(cert_read_subject(bad[i], &name, &organizations, &err), ERR_INVALID);
                assert_true(cert_not_after_ms(bad[i]) == INT64_MIN);
                assert_false(cert_is_for(bad[i], "server"));
        }
}

static void an_address_that_is_none_is_named(void **state)
{
        AUTO_FREE char *ca = NULL, *ca_key = NULL;
        char *cert = NULL, *key = NULL;
        struct error err = { 0 };
        struct cert_subject subject = { "server", NULL, NULL, (const char *[]){ "999.1.1.1", NULL } };
        assert_int_equal(cert_self_signed_ca("ca", 0, 10, &ca, &ca_key, &err), 0);
        assert_int_equal(cert_issue(ca, ca_key, &subject, true, 0, 1, &cert, &key, &err), ERR_INVALID);
        assert_string_equal(err.text, "\"999.1.1.1\" is not an IP address");
        assert_null(cert);
}

static void a_token_comes_back_with_its_payload(void **state)
{
        CLEANUP(free_ca) struct ca ca = make_ca();
        AUTO_FREE char *token = NULL;
        AUTO_FREE char *payload = NULL;
        AUTO_FREE char *payload2 = NULL;
        struct error err;
        assert_int_equal(
                jwt_sign(ca.key, "k1", SLICE("{\"sub\":\"system:serviceaccount:a:b\"}"), &token, &err), 0);
        assert_int_equal(jwt_verify(ca.cert, token, &payload, &err), 0);
        assert_string_equal(payload, "{\"sub\":\"system:serviceaccount:a:b\"}");
        assert_int_equal(jwt_verify(ca.key, token, &payload2, &err), 0);
}

static void a_tokens_holder_can_read_it_without_the_key(void **state)
{
        static const char *const no_tokens[] = { "", "abc", "a.b", "a.*.c" };
        char *payload = NULL;

        /* {"exp":1700000000} */
        assert_int_equal(jwt_read("e30.eyJleHAiOjE3MDAwMDAwMDB9.sig", &payload, NULL), 0);
        assert_string_equal(payload, "{\"exp\":1700000000}");
        mem_free(payload);
        for (size_t i = 0; i < ARRAY_LEN(no_tokens); i++)
                assert_int_equal(jwt_read(no_tokens[i], &payload, NULL), ERR_INVALID);
}

static void a_token_of_another_key_or_with_a_changed_byte_is_refused(void **state)
{
        CLEANUP(free_ca) struct ca ca = make_ca();
        CLEANUP(free_ca) struct ca other = make_ca();
        AUTO_FREE char *token = NULL;
        char *payload = NULL;
        struct error err;
        assert_int_equal(jwt_sign(ca.key, "k1", SLICE("{\"sub\":\"x\"}"), &token, &err), 0);
        assert_int_equal(jwt_verify(other.cert, token, &payload, &err), ERR_UNAUTHORIZED);
        /* The last character holds four unused bits, so it is left out. */
        for (size_t i = 0; token[i + 1]; i++) {
                char was = token[i];
                token[i] = was == 'x' ? 'y' : 'x';
                assert_int_equal(jwt_verify(ca.cert, token, &payload, &err), ERR_UNAUTHORIZED);
                token[i] = was;
        }
        assert_null(payload);
}

static void a_token_without_signature_is_refused(void **state)
{
        CLEANUP(free_ca) struct ca ca = make_ca();
        char *payload = NULL;
        struct error err;
        const char *bad[] = {
                "", ".", "..", "a.b.c", "eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJIUzI1NiJ9.e30.AAAA"
        };
        for (size_t i = 0; i < ARRAY_LEN(bad); i++)
                assert_int_equal(jwt_verify(ca.cert, bad[i], &payload, &err), ERR_UNAUTHORIZED);
}

static void no_allocation_failure_leaks(void **state)
{
        CLEANUP(free_ca) struct ca ca = make_ca();
        struct cert_subject subject = { "alice", (const char *[]){ "a", "b", NULL } };
        for (uint64_t n = 1;; n++) {
                size_t before = mem_live_count();
                char *cert = NULL, *key = NULL, *name = NULL, **organizations = NULL, *token = NULL;
                struct error err = { 0 };
                mem_fail_at(n, false);
                int r = cert_issue(ca.cert, ca.key, &subject, false, NOW, 5, &cert, &key, &err);
                if (r == 0)
                        r = cert_read_subject(cert, &name, &organizations, &err);
                if (r == 0)
                        r = jwt_sign(key, "k", SLICE("{}"), &token, &err);
                bool fired = mem_fault_fired();
                mem_fail_at(0, false);
                mem_free(cert);
                mem_free(key);
                mem_free(name);
                mem_free(token);
                cert_strings_free(organizations);
                assert_int_equal(mem_live_count(), before);
                if (!fired) {
                        assert_int_equal(r, 0);
                        break;
                }
                assert_int_equal(r, ERR_NO_MEMORY);
        }
}

static void a_key_that_is_read_once_signs_and_verifies_many(void **state)
{
        AUTO_FREE char *pem = NULL, *other = NULL;
        struct error err = { 0 };

        assert_int_equal(cert_new_key(&pem, &err), 0);
        assert_int_equal(cert_new_key(&other, &err), 0);
        struct jwt_key *key = jwt_key_new(pem, "k", &err), *wrong = jwt_key_new(other, "k", &err);
        assert_non_null(key);
        for (int i = 0; i < 2; i++) {
                AUTO_FREE char *token = NULL, *payload = NULL, *of_pem = NULL, *no = NULL;

                assert_int_equal(jwt_key_sign(key, SLICE("{\"sub\":\"x\"}"), &token, &err), 0);
                assert_int_equal(jwt_key_verify(key, token, &payload, &err), 0);
                assert_string_equal(payload, "{\"sub\":\"x\"}");
                assert_int_equal(jwt_verify(pem, token, &of_pem, &err), 0);
                assert_int_equal(jwt_key_verify(wrong, token, &no, &err), ERR_UNAUTHORIZED);
        }
        jwt_key_free(key);
        jwt_key_free(wrong);
        assert_null(jwt_key_new("no key", "k", &err));
        assert_int_equal(err.code, ERR_INVALID);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_tokens_holder_can_read_it_without_the_key),
                cmocka_unit_test(an_issued_certificate_names_its_subject),
                cmocka_unit_test(a_request_is_signed_for_its_subject),
                cmocka_unit_test(a_tampered_request_is_refused),
                cmocka_unit_test(what_is_no_certificate_is_refused),
                cmocka_unit_test(an_address_that_is_none_is_named),
                cmocka_unit_test(a_token_comes_back_with_its_payload),
                cmocka_unit_test(a_token_of_another_key_or_with_a_changed_byte_is_refused),
                cmocka_unit_test(a_token_without_signature_is_refused),
                cmocka_unit_test(no_allocation_failure_leaks),
                cmocka_unit_test(a_key_that_is_read_once_signs_and_verifies_many),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
