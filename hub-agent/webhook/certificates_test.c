/* The webhooks' own certificates: spec/membership-webhooks-charts.md 4.2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "common/base/memory.h"
#include "hub-agent/webhook/certificates.h"

#define NOW INT64_C(1767225600000)
#define DAY INT64_C(86400000)

static X509 *read_certificate(const char *pem)
{
        BIO *b = BIO_new_mem_buf(pem, -1);
        X509 *x = PEM_read_bio_X509(b, NULL, NULL, NULL);

        BIO_free(b);
        assert_non_null(x);
        return x;
}

static bool is_for(X509 *x, const char *host)
{
        return X509_check_host(x, host, 0, 0, NULL) == 1;
}

static void make(const char *before, struct webhook_certificates *ret)
{
        AUTO_JSON json_t *secret = NULL;
        struct error err = { 0 };

        assert_int_equal(
                webhook_certificates_make("fleet-system", "s", "fleetwebhook", before, NOW, &secret, &err),
                0);
        assert_string_equal(doc_get_string(secret, "type"), "kubernetes.io/tls");
        if (webhook_certificates_read(secret, ret, &err) < 0)
                fail_msg("%s", err.text);
}

/* spec/membership-webhooks-charts.md checklist 43 */
static void a_certificate_holds_ten_years_for_both_names_of_the_service(void **state)
{
        CLEANUP(webhook_certificates_free) struct webhook_certificates c = { 0 };
        AUTO_FREE char *name = NULL, *authority = NULL;
        char **organizations = NULL;
        struct error err;
        X509 *x;

        make(NULL, &c);
        x = read_certificate(c.identity.cert_pem);
        assert_true(is_for(x, "fleetwebhook.fleet-system.svc"));
        assert_true(is_for(x, "fleetwebhook.fleet-system.svc.cluster.local"));
        assert_false(is_for(x, "fleetwebhook"));
        assert_false(is_for(x, "fleetwebhook.other.svc"));
        X509_free(x);
        assert_int_equal(cert_not_after_ms(c.identity.cert_pem), NOW + 3650 * DAY);
        assert_int_equal(cert_not_after_ms(c.authorities), NOW + 3650 * DAY);
        assert_int_equal(c.renew_ms, NOW + (3650 - 365) * DAY);
        assert_int_equal(cert_read_subject(c.identity.cert_pem, &name, &organizations, &err), 0);
        cert_strings_free(organizations);
        assert_string_equal(name, "fleetwebhook.cert.server");
        assert_int_equal(cert_read_subject(c.authorities, &authority, &organizations, &err), 0);
        cert_strings_free(organizations);
        assert_string_equal(authority, "fleet.azure.com");
}

static void a_certificate_is_signed_by_the_authority_that_configurations_are_given(void **state)
{
        CLEANUP(webhook_certificates_free) struct webhook_certificates c = { 0 };
        X509 *leaf, *ca;

        make(NULL, &c);
        leaf = read_certificate(c.identity.cert_pem);
        ca = read_certificate(c.authorities);
        assert_int_equal(X509_verify(leaf, X509_get0_pubkey(ca)), 1);
        assert_int_equal(X509_check_ca(ca) > 0, 1);
        assert_int_equal(X509_check_ca(leaf), 0);
        X509_free(leaf);
        X509_free(ca);
}

static void the_authority_before_is_kept_and_no_older_one(void **state)
{
        CLEANUP(webhook_certificates_free)
        struct webhook_certificates first = { 0 }, second = { 0 }, third = { 0 };

        make(NULL, &first);
        make(first.authorities, &second);
        make(second.authorities, &third);
        assert_non_null(strstr(second.authorities, first.authorities));
        assert_null(strstr(third.authorities, first.authorities));
        assert_true(strncmp(second.authorities, third.authorities, 64) != 0);
}

static void what_cannot_be_served_is_refused(void **state)
{
        static const char *const keys[] = { "ca.crt", "tls.crt", "tls.key" };

        for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
                CLEANUP(webhook_certificates_free) struct webhook_certificates c = { 0 };
                AUTO_JSON json_t *secret = NULL;
                struct error err = { 0 };

                assert_int_equal(webhook_certificates_make("n", "s", "w", NULL, NOW, &secret, &err), 0);
                json_object_del(json_object_get(secret, "data"), keys[i]);
                assert_int_equal(webhook_certificates_read(secret, &c, &err), ERR_INVALID);
                assert_non_null(strstr(err.text, keys[i]));
                json_object_set_new(json_object_get(secret, "data"), keys[i], json_string("%%"));
                assert_int_equal(webhook_certificates_read(secret, &c, &err), ERR_INVALID);
        }
}

/* Else nobody could serve it, and an agent would end at each start. */
static void a_key_of_another_certificate_is_refused(void **state)
{
        CLEANUP(webhook_certificates_free) struct webhook_certificates c = { 0 };
        AUTO_JSON json_t *one = NULL, *two = NULL;
        struct error err = { 0 };

        assert_int_equal(webhook_certificates_make("n", "s", "w", NULL, NOW, &one, &err), 0);
        assert_int_equal(webhook_certificates_make("n", "s", "w", NULL, NOW, &two, &err), 0);
        json_object_set(json_object_get(one, "data"), "tls.key",
                        json_object_get(json_object_get(two, "data"), "tls.key"));
        assert_int_equal(webhook_certificates_read(one, &c, &err), ERR_INVALID);
        assert_non_null(strstr(err.text, "tls.key"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_certificate_holds_ten_years_for_both_names_of_the_service),
                cmocka_unit_test(a_certificate_is_signed_by_the_authority_that_configurations_are_given),
                cmocka_unit_test(the_authority_before_is_kept_and_no_older_one),
                cmocka_unit_test(what_cannot_be_served_is_refused),
                cmocka_unit_test(a_key_of_another_certificate_is_refused),
        };
        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
