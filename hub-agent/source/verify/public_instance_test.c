/* What the public instance of sigstore gave, against the trusted root that is built in. */
#include "hub-agent/source/verify/public_instance_test.h"
#include "hub-agent/source/verify/certificate.h"
#include "hub-agent/source/verify/sigstore_test.h"

#define FAILED "failed to verify " TEST_REFERENCE ": "

struct public_instance {
        struct arena arena;
        struct signature_trust trust;
        struct error err;
};

static void begin(struct public_instance *p)
{
        const struct signer_identity_list anybody = { 0 };
        const struct trusted_root *root = NULL;

        *p = (struct public_instance){ 0 };
        assert_int_equal(trusted_root_read(trusted_root_built_in(), &p->arena, &root, NULL), 0);
        assert_int_equal(signature_trust_of_signers(&anybody, root, &p->arena, &p->trust, NULL), 0);
}

static void refuses(struct public_instance *p, struct signature s, const char *words)
{
        p->err = (struct error){ 0 };
        assert_int_equal(signatures_check(&p->trust, TEST_DIGEST, TEST_REFERENCE, &s, 1, &p->arena, &p->err),
                         ERR_FORBIDDEN);
        if (!text_starts_with(p->err.text, words))
                fail_msg("%s", p->err.text);
}

static struct signature layer(void)
{
        return (struct signature){ .payload = { public_payload, sizeof(public_payload) - 1 },
                                   .value = public_signature,
                                   .certificate = public_certificate,
                                   .bundle = public_entry };
}

/* spec/helm-chart.md checklist 86 */
static void what_it_gave_is_good_but_for_what_is_signed(void **state)
{
        struct public_instance p;

        begin(&p);
        refuses(&p, layer(), FAILED "what is signed: ");
        refuses(&p, (struct signature){ .whole = { public_attestation, sizeof(public_attestation) - 1 } },
                FAILED
                "what is signed: predicateType is 'https://cosign.sigstore.dev/attestation/v1' and not");
        arena_free(&p.arena);
}

static const char *with(struct public_instance *p, const char *text, const char *what, const char *instead)
{
        const char *at = strstr(text, what);

        assert_non_null(at);
        return arena_printf(&p->arena, "%.*s%s%s", (int)(at - text), text, instead, at + strlen(what));
}

/* spec/helm-chart.md checklist 86 */
static void another_time_or_payload_is_refused(void **state)
{
        struct public_instance p;
        struct signature s;

        begin(&p);
        s = layer();
        s.bundle = with(&p, public_entry, ":1706297730", ":1706297731");
        refuses(&p, s, FAILED "dev.sigstore.cosign/bundle: SignedEntryTimestamp: it is not the log's");
        s = layer();
        s.payload.len--;
        refuses(&p, s, FAILED "it is not by the key of its certificate");
        s = layer();
        s.certificate = with(&p, public_certificate, "\nMIIC", "\nMIIB");
        refuses(&p, s, FAILED "dev.sigstore.cosign/certificate: it is no certificate");
        arena_free(&p.arena);
}

/* spec/helm-chart.md checklist 86 */
static void another_root_does_not_trust_it(void **state)
{
        struct public_instance p;
        struct sigstore own;
        struct trusted_root mixed;

        begin(&p);
        sigstore_begin(&own, &p.arena);
        mixed = *p.trust.root;
        p.trust.root = &mixed;
        mixed.authorities = own.trusted_root->authorities;
        mixed.n_authorities = own.trusted_root->n_authorities;
        refuses(&p, layer(),
                FAILED "the certificate was not trusted at 2024-01-26T19:35:30Z, when it was used: unable to "
                       "get local issuer certificate");
        arena_free(&p.arena);
        begin(&p);
        mixed = *p.trust.root;
        p.trust.root = &mixed;
        mixed.n_certificate_logs = 0;
        refuses(&p, layer(),
                FAILED "the certificate: its timestamp is of no log of certificates of the trusted root");
        arena_free(&p.arena);
}

/* spec/helm-chart.md checklist 87 */
static void its_certificates_say_whom_they_are_of(void **state)
{
        struct public_instance p;
        struct signer_identity somebody = { .issuer = "^https://github\\.com/login/oauth$",
                                            .subject = "^a@tny\\.town$" };
        const struct signer_identity_list l = { &somebody, 1, true };
        X509 *leaf = NULL;

        begin(&p);
        assert_int_equal(signature_trust_of_signers(&l, p.trust.root, &p.arena, &p.trust, NULL), 0);
        assert_int_equal(certificate_of_pem(slice_of(public_certificate), &p.arena, &leaf, NULL), 0);
        assert_int_equal(certificate_check_signer(leaf, p.trust.signers, 1, &p.arena, NULL), 0);
        arena_free(&p.arena);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_it_gave_is_good_but_for_what_is_signed),
                cmocka_unit_test(another_time_or_payload_is_refused),
                cmocka_unit_test(another_root_does_not_trust_it),
                cmocka_unit_test(its_certificates_say_whom_they_are_of),
        };
        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
