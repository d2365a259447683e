/* Signatures that are made with a certificate for a few minutes. */
#include "hub-agent/source/verify/certificate.h"
#include "hub-agent/source/verify/sigstore_test.h"

#define OTHER_DIGEST "sha256:2222222222222222222222222222222222222222222222222222222222222222"
#define FAILED "failed to verify " TEST_REFERENCE ": "
#define HOUR_MS 3600000

struct keyless {
        struct arena arena;
        struct sigstore store;
        struct signature_trust trust;
        struct error err;
};

static int trust_signers(struct keyless *k, const char *const *issuers_and_subjects)
{
        struct signer_identity all[4] = { 0 };
        struct signer_identity_list l = { all, 0, true };

        for (; *issuers_and_subjects; issuers_and_subjects += 2)
                all[l.n++] = (struct signer_identity){ .issuer = issuers_and_subjects[0],
                                                       .subject = issuers_and_subjects[1] };
        k->err = (struct error){ 0 };
        return signature_trust_of_signers(&l, k->store.trusted_root, &k->arena, &k->trust, &k->err);
}
#define SIGNERS(k, ...) trust_signers(k, (const char *[]){ __VA_ARGS__, NULL })

static void begin(struct keyless *k)
{
        *k = (struct keyless){ 0 };
        sigstore_begin(&k->store, &k->arena);
        assert_int_equal(SIGNERS(k, TEST_ISSUER, "^" TEST_MAIL "$"), 0);
}

static int check(struct keyless *k, struct signature s)
{
        k->err = (struct error){ 0 };
        return signatures_check(&k->trust, TEST_DIGEST, TEST_REFERENCE, &s, 1, &k->arena, &k->err);
}

static void takes(struct keyless *k, const struct flaws *f)
{
        if (check(k, signed_keyless(&k->store, f)) < 0)
                fail_msg("%s", k->err.text);
}

static void refuses_this(struct keyless *k, struct signature s, const char *words)
{
        assert_int_equal(check(k, s), ERR_FORBIDDEN);
        assert_string_equal(k->err.text, words);
}

static void refuses(struct keyless *k, struct flaws f, const char *words)
{
        refuses_this(k, signed_keyless(&k->store, &f), words);
}
#define REFUSES(k, words, ...) refuses(k, (struct flaws){ __VA_ARGS__ }, FAILED words)

/* spec/helm-chart.md checklist 86 */
static void a_good_bundle_passes_without_any_network(void **state)
{
        struct keyless k;
        struct signature s;

        begin(&k);
        takes(&k, &(struct flaws){ 0 });
        s = signed_keyless(&k.store, &(struct flaws){ 0 });
        s.chain = NULL; /* the trusted root has it too */
        assert_int_equal(check(&k, s), 0);
        arena_free(&k.arena);
}

/* spec/helm-chart.md checklist 86 */
static void the_certificate_has_to_be_valid_when_it_was_used(void **state)
{
        struct keyless k;

        begin(&k);
        REFUSES(&k,
                "the certificate was not trusted at 2026-01-01T01:00:00Z, when it was used: certificate has "
                "expired",
                .put_ms = SIGNED_MS + HOUR_MS);
        REFUSES(&k,
                "the certificate was not trusted at 2025-12-31T23:00:00Z, when it was used: certificate is "
                "not "
                "yet valid",
                .put_ms = SIGNED_MS - HOUR_MS);
        REFUSES(&k, "dev.sigstore.cosign/bundle: SignedEntryTimestamp: it is not the log's",
                .entry_shift = 1);
        REFUSES(&k, "no authority of the trusted root is for 2026-07-01T00:00:00Z",
                .put_ms = SIGNED_MS + INT64_C(86400000) * 181);
        arena_free(&k.arena);
}

/* spec/helm-chart.md checklist 86 */
static void the_certificate_has_to_come_from_an_authority_for_code(void **state)
{
        struct keyless k;

        begin(&k);
        REFUSES(&k,
                "the certificate was not trusted at 2026-01-01T00:01:00Z, when it was used: certificate "
                "signature failure",
                .authority_key = k.store.other_key);
        REFUSES(&k, "the certificate is not for signing code", .usage = "serverAuth");
        REFUSES(&k, "the certificate is not for signing code", .usage = "");
        REFUSES(&k, "the certificate is not for signatures", .key_usage = "critical,keyAgreement");
        arena_free(&k.arena);
}

/* spec/helm-chart.md checklist 86 */
static void a_log_has_to_know_of_the_certificate(void **state)
{
        struct keyless k;

        begin(&k);
        REFUSES(&k, "the certificate: it has no timestamp of a log of certificates", .unlogged = true);
        REFUSES(&k, "the certificate: the signature of its timestamp by the log of certificates is wrong",
                .certificate_log_key = k.store.other_key);
        REFUSES(&k, "the certificate: the signature of its timestamp by the log of certificates is wrong",
                .late = true);
        arena_free(&k.arena);
}

/* spec/helm-chart.md checklist 86 */
static void the_signature_has_to_be_of_the_payload(void **state)
{
        struct keyless k;
        struct signature s;

        begin(&k);
        REFUSES(&k, "it is not by the key of its certificate", .signer_key = k.store.other_key);
        REFUSES(&k, "what is signed: it is of " OTHER_DIGEST " and not of " TEST_DIGEST,
                .digest = OTHER_DIGEST);
        REFUSES(&k, "what is signed: critical.type is 'x' and not 'cosign container image signature'",
                .type = "x");
        s = signed_keyless(&k.store, &(struct flaws){ 0 });
        s.payload = slice_of(payload_of(&k.arena, OTHER_DIGEST, NULL));
        refuses_this(&k, s, FAILED "it is not by the key of its certificate");
        arena_free(&k.arena);
}

/* spec/helm-chart.md checklist 86 */
static void the_entry_has_to_be_of_a_log_that_is_trusted(void **state)
{
        struct keyless k, other;
        struct signature s;

        begin(&k);
        begin(&other);
        REFUSES(&k, "dev.sigstore.cosign/bundle: SignedEntryTimestamp: it is not the log's",
                .log_key = k.store.other_key);
        s = signed_keyless(&k.store, &(struct flaws){ 0 });
        s.bundle = signed_keyless(&other.store, &(struct flaws){ 0 }).bundle;
        refuses_this(&k, s,
                     FAILED "dev.sigstore.cosign/bundle: it is of no log of signatures of the trusted root");
        REFUSES(&k, "dev.sigstore.cosign/bundle: it is of no log of signatures of the trusted root",
                .put_ms = SIGNED_MS + INT64_C(86400000) * 366);
        arena_free(&other.arena);
        arena_free(&k.arena);
}

/* spec/helm-chart.md checklist 86 */
static void the_entry_has_to_name_this_signature(void **state)
{
        struct keyless k;

        begin(&k);
        X509 *cert = issue(&k.store, &(struct flaws){ .name = "critical,email:eve@example.com" });

        REFUSES(&k, "the entry of the log: it is of another payload", .entry_payload = "other");
        REFUSES(&k, "the entry of the log: it is of another signature", .entry_value = "AAAA");
        REFUSES(&k, "the entry of the log: it is of another certificate", .entry_certificate = cert);
        REFUSES(&k, "the entry of the log: its kind is 'intoto' and not 'hashedrekord'", .kind = "intoto");
        arena_free(&k.arena);
}

static void parts_that_are_absent_are_told(void **state)
{
        struct keyless k;

        begin(&k);
        struct signature good = signed_keyless(&k.store, &(struct flaws){ 0 }), s = good;

        s.bundle = NULL;
        refuses_this(&k, s,
                     FAILED
                     "it has no annotation dev.sigstore.cosign/bundle, so that nobody says when it was "
                     "made");
        s = good;
        s.certificate = NULL;
        refuses_this(&k, s,
                     FAILED
                     "it has no annotation dev.sigstore.cosign/certificate: with a key it is signed for "
                     "spec.verify.secretRef");
        s.certificate = "hello";
        refuses_this(&k, s, FAILED "dev.sigstore.cosign/certificate: it is no certificate");
        s = good;
        s.chain = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        refuses_this(&k, s, FAILED "dev.sigstore.cosign/chain: one of its certificates cannot be read");
        arena_free(&k.arena);
}

static void bundles_that_are_malformed_are_told(void **state)
{
        static const struct {
                const char *bundle, *words;
        } cases[] = {
                { "{}", "SignedEntryTimestamp: is required" },
                { "{\"SignedEntryTimestamp\":\"AAAA\",\"Payload\":{\"body\":\"A\\\"\",\"logID\":\"x\","
                  "\"integratedTime\":1,\"logIndex\":1}}",
                  "Payload.body: it is no base64" },
                { "{\"SignedEntryTimestamp\":\"AAAA\",\"Payload\":{\"body\":\"AAAA\",\"logID\":\"x\","
                  "\"integratedTime\":1,\"logIndex\":1}}",
                  "Payload.logID: it is no SHA-256 in hex" },
                { "{\"SignedEntryTimestamp\":\"AAAA\",\"Payload\":{\"body\":\"AAAA\",\"logID\":\"x\","
                  "\"integratedTime\":-1,\"logIndex\":1}}",
                  "Payload.integratedTime: it is no time" },
                { "{\"SignedEntryTimestamp\":\"AAAA\",\"Payload\":{\"body\":\"AAAA\",\"logID\":\"x\","
                  "\"integratedTime\":9223372036854775807,\"logIndex\":1}}",
                  "Payload.integratedTime: it is no time" },
                { "{\"SignedEntryTimestamp\":\"AAAA\",\"Payload\":{\"body\":\"AAAA\",\"logID\":\"x\","
                  "\"integratedTime\":1}}",
                  "Payload.logIndex: it is no index" },
        };
        struct keyless k;

        begin(&k);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct signature s = signed_keyless(&k.store, &(struct flaws){ 0 });
                AUTO_FREE char *words = mem_printf(FAILED "dev.sigstore.cosign/bundle: %s", cases[i].words);

                s.bundle = cases[i].bundle;
                refuses_this(&k, s, words);
        }
        arena_free(&k.arena);
}

/* spec/helm-chart.md checklist 87 */
static void one_pair_suffices_and_both_of_its_parts_are_needed(void **state)
{
        const struct flaws ann = { 0 };
        struct keyless k;

        begin(&k);
        assert_int_equal(SIGNERS(&k, "nobody", "nobody", "token", "ann"), 0); /* unanchored */
        takes(&k, &ann);
        assert_int_equal(SIGNERS(&k, TEST_ISSUER, "bob", "other", TEST_MAIL), 0);
        REFUSES(&k,
                "it is signed by '" TEST_MAIL "' of '" TEST_ISSUER
                "', whom spec.verify.matchOIDCIdentity does not name",
                0);
        assert_int_equal(SIGNERS(&k, "^token", "ann"), 0);
        REFUSES(&k,
                "it is signed by '" TEST_MAIL "' of '" TEST_ISSUER
                "', whom spec.verify.matchOIDCIdentity does not name",
                0);
        assert_int_equal(SIGNERS(&k, NULL), 0); /* anybody */
        takes(&k, &ann);
        arena_free(&k.arena);
}

/* spec/helm-chart.md checklist 87 */
static void signers_are_called_by_each_kind_of_name(void **state)
{
        struct keyless k;
        const char *issuer = TEST_ISSUER "$";

        begin(&k);
        assert_int_equal(SIGNERS(&k, issuer, "^https://ci\\.example/team/.+@refs/tags/"), 0);
        takes(&k, &(struct flaws){ .name = "critical,URI:https://ci.example/team/app@refs/tags/v1" });
        assert_int_equal(SIGNERS(&k, issuer, "^machine!run$"), 0);
        takes(&k, &(struct flaws){ .name = "critical,otherName:1.3.6.1.4.1.57264.1.7;UTF8:machine!run" });
        assert_int_equal(SIGNERS(&k, issuer, "second@"), 0);
        takes(&k, &(struct flaws){ .name = "critical,email:first@example.com,email:second@example.com" });
        assert_int_equal(SIGNERS(&k, issuer, "."), 0);
        REFUSES(&k, "the certificate does not say whom it is of",
                .name = "critical,otherName:1.2.3.4;UTF8:machine");
        arena_free(&k.arena);
}

/* spec/helm-chart.md checklist 87 */
static void the_issuer_may_stand_in_the_older_extension(void **state)
{
        struct keyless k;

        begin(&k);
        assert_int_equal(SIGNERS(&k, "^" TEST_ISSUER "$", "ann"), 0);
        takes(&k, &(struct flaws){ .old_issuer = true });
        REFUSES(&k, "the certificate does not say who vouched for its signer", .no_issuer = true);
        arena_free(&k.arena);
}

static void a_pattern_that_is_none_is_named(void **state)
{
        struct keyless k;

        begin(&k);
        assert_int_equal(SIGNERS(&k, "a", "b", "c", "d("), ERR_INVALID);
        assert_string_equal(
                k.err.text,
                "spec.verify.matchOIDCIdentity[1].subject: error parsing regexp: missing closing ): `d(`");
        arena_free(&k.arena);
}

/* ---- the trusted root ---- */

static void the_built_in_root_is_the_public_instances(void **state)
{
        AUTO_ARENA struct arena a = ARENA_INIT;
        const struct trusted_root *r = NULL;
        struct error err = { 0 };

        if (trusted_root_read(trusted_root_built_in(), &a, &r, &err) < 0)
                fail_msg("%s", err.text);
        assert_int_equal((int)r->n_authorities, 2);
        assert_int_equal((int)r->n_signature_logs, 2);
        assert_int_equal((int)r->n_certificate_logs, 2);
        assert_string_equal(r->signature_logs[0].url, "https://rekor.sigstore.dev");
        assert_true(trusted_at(&r->authorities[1].time, SIGNED_MS));
        assert_false(trusted_at(&r->authorities[0].time, SIGNED_MS));
        assert_int_equal(X509_verify(r->authorities[1].anchor, X509_get0_pubkey(r->authorities[1].anchor)),
                         1);
}

static const char *replaced(struct arena *a, const char *text, const char *what, const char *with)
{
        const char *at = strstr(text, what);

        assert_non_null(at);
        return arena_printf(a, "%.*s%s%s", (int)(at - text), text, with, at + strlen(what));
}

static void what_is_wrong_with_a_root_is_named(void **state)
{
        static const struct {
                const char *what, *with, *words;
        } cases[] = {
                { "application/vnd.dev.sigstore.trustedroot", "text/plain",
                  "mediaType: it is 'text/plain+json;version=0.1' and not "
                  "'application/vnd.dev.sigstore.trustedroot...'" },
                { "\"rawBytes\":\"", "\"rawBytes\":\"%", "tlogs[0]: publicKey.rawBytes: it is no base64" },
                { "\"rawBytes\":\"MF", "\"rawBytes\":\"AA",
                  "tlogs[0]: publicKey.rawBytes: it is no public key" },
                { "\"keyId\":\"", "\"id\":\"", "tlogs[0]: logId.keyId: is required" },
                { "2021-01-01T", "yesterday",
                  "tlogs[0]: publicKey.validFor.start: 'yesterday00:00:00Z' is no time such as "
                  "2026-01-02T15:04:05Z" },
                { "\"certificates\":[{\"rawBytes\":\"MII", "\"certificates\":[{\"rawBytes\":\"AAA",
                  "certificateAuthorities[0]: certChain.certificates[0]: it is no certificate" },
                { "\"certificates\":[", "\"others\":[",
                  "certificateAuthorities[0]: certChain.certificates: it has none, or more than 100" },
                { "\"ctlogs\":[{", "\"ctlogs\":[7,{", "ctlogs[0]: logId.keyId: is required" },
        };
        struct keyless k;
        const struct trusted_root *r = NULL;

        begin(&k);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                const char *text = replaced(&k.arena, k.store.trusted, cases[i].what, cases[i].with);
                struct error err = { 0 };

                assert_int_equal(trusted_root_read(slice_of(text), &k.arena, &r, &err), ERR_INVALID);
                assert_string_equal(err.text, cases[i].words);
        }
        arena_free(&k.arena);
}

/* ---- memory ---- */

/* spec/helm-chart.md checklist 97 */
static void each_allocation_may_fail(void **state)
{
        struct keyless k;
        struct signature s;
        int code = -1;

        begin(&k);
        s = signed_keyless(&k.store, &(struct flaws){ 0 });
        for (uint64_t at = 1; code < 0; at++) {
                AUTO_ARENA struct arena a = ARENA_INIT;
                struct signer_identity ann = { .issuer = TEST_ISSUER, .subject = "ann" };
                const struct signer_identity_list l = { &ann, 1, true };
                const struct trusted_root *root = NULL;
                struct signature_trust t;
                struct error err = { 0 };

                mem_fail_at(at, false);
                code = trusted_root_read(slice_of(k.store.trusted), &a, &root, &err);
                if (code == 0)
                        code = signature_trust_of_signers(&l, root, &a, &t, &err);
                if (code == 0)
                        code = signatures_check(&t, TEST_DIGEST, TEST_REFERENCE, &s, 1, &a, &err);
                mem_fail_at(0, false);
                if (code < 0)
                        assert_int_equal(err.code, ERR_NO_MEMORY);
        }
        arena_free(&k.arena);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_good_bundle_passes_without_any_network),
                cmocka_unit_test(the_certificate_has_to_be_valid_when_it_was_used),
                cmocka_unit_test(the_certificate_has_to_come_from_an_authority_for_code),
                cmocka_unit_test(a_log_has_to_know_of_the_certificate),
                cmocka_unit_test(the_signature_has_to_be_of_the_payload),
                cmocka_unit_test(the_entry_has_to_be_of_a_log_that_is_trusted),
                cmocka_unit_test(the_entry_has_to_name_this_signature),
                cmocka_unit_test(parts_that_are_absent_are_told),
                cmocka_unit_test(bundles_that_are_malformed_are_told),
                cmocka_unit_test(one_pair_suffices_and_both_of_its_parts_are_needed),
                cmocka_unit_test(signers_are_called_by_each_kind_of_name),
                cmocka_unit_test(the_issuer_may_stand_in_the_older_extension),
                cmocka_unit_test(a_pattern_that_is_none_is_named),
                cmocka_unit_test(the_built_in_root_is_the_public_instances),
                cmocka_unit_test(what_is_wrong_with_a_root_is_named),
                cmocka_unit_test(each_allocation_may_fail),
        };
        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
