/* Bundles, and what cosign itself wrote. */
#include "hub-agent/source/verify/recorded_test.h"
#include "hub-agent/source/verify/sigstore_test.h"

#define FAILED "failed to verify " TEST_REFERENCE ": "
#define NONE "no matching signatures were found for '" TEST_REFERENCE "'"
#define SIGN_TYPE "https://sigstore.dev/cosign/sign/v1"

struct bundling {
        struct arena arena;
        struct sigstore store;
        struct signature_trust keyed, keyless;
        struct error err;
};

static void trust_key(struct bundling *b, const char *pem)
{
        json_t *doc = secret_with((const char *[]){ "cosign.pub", pem, NULL });

        assert_int_equal(doc_keep(&b->arena, doc, NULL), 0);
        assert_int_equal(signature_trust_of_secret(&(struct secret){ "apps/keys", doc }, &b->arena, &b->keyed,
                                                   &b->err),
                         0);
}

static void begin(struct bundling *b)
{
        struct signer_identity ann = { .issuer = TEST_ISSUER, .subject = TEST_MAIL };
        const struct signer_identity_list l = { &ann, 1, true };

        *b = (struct bundling){ 0 };
        sigstore_begin(&b->store, &b->arena);
        trust_key(b, pem_of_key(&b->arena, b->store.signer_key));
        assert_int_equal(
                signature_trust_of_signers(&l, b->store.trusted_root, &b->arena, &b->keyless, &b->err), 0);
}

/* ---- making them ---- */

static struct slice encoded(struct bundling *b, const char *payload)
{
        const char *text = arena_printf(&b->arena, "DSSEv1 28 application/vnd.in-toto+json %zu %s",
                                        strlen(payload), payload);

        return slice_of(text);
}

static const char *statement(struct bundling *b, const char *digest, const char *predicate)
{
        return arena_printf(&b->arena,
                            "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"digest\":{"
                            "\"sha256\":\"%s\"}}],\"predicateType\":\"%s\"}",
                            digest + strlen("sha256:"), predicate);
}

static const char *body_of_envelope(struct bundling *b, const char *payload, const char *value, X509 *cert,
                                    const char *kind)
{
        const char *pem = pem_of_certificate(&b->arena, cert), *text;
        char hash[SHA256_HEX_SIZE];

        sha256_hex(payload, strlen(payload), hash);
        text = arena_printf(&b->arena,
                            "{\"apiVersion\":\"0.0.1\",\"kind\":\"%s\",\"spec\":{\"envelopeHash\":{},"
                            "\"payloadHash\":{\"algorithm\":\"sha256\",\"value\":\"%s\"},\"signatures\":[{"
                            "\"signature\":\"%s\",\"verifier\":\"%s\"}]}}",
                            kind, hash, value, kept_base64(&b->arena, pem, strlen(pem)));
        return kept_base64(&b->arena, text, strlen(text));
}

static const char *entry_of(struct bundling *b, const struct flaws *f, const char *body)
{
        struct arena *a = &b->arena;
        unsigned char id[SHA256_SIZE];
        char hex[SHA256_HEX_SIZE];
        long long seconds = (f->put_ms ? f->put_ms : SIGNED_MS + 60000) / 1000;
        const char *was;

        log_id(a, b->store.log_key, id);
        text_hex_encode(id, sizeof(id), hex);
        was = arena_printf(a, "{\"body\":\"%s\",\"integratedTime\":%lld,\"logID\":\"%s\",\"logIndex\":7}",
                           body, seconds, hex);
        return arena_printf(a,
                            "{\"logIndex\":\"7\",\"logId\":{\"keyId\":\"%s\"},\"integratedTime\":\"%lld\","
                            "\"inclusionPromise\":{\"signedEntryTimestamp\":\"%s\"},\"canonicalizedBody\":"
                            "\"%s\"}",
                            kept_base64(a, id, sizeof(id)), seconds,
                            sign_text(a, f->log_key ? f->log_key : b->store.log_key, slice_of(was)), body);
}

static struct signature bundle_with(struct bundling *b, const char *material, const char *payload,
                                    const char *value)
{
        const char *text = arena_printf(
                &b->arena,
                "{\"mediaType\":\"" SIGNATURE_BUNDLE_TYPE
                "\",\"verificationMaterial\":{%s},\"dsseEnvelope\":{\"payload\":\"%s\",\"payloadType\":"
                "\"application/vnd.in-toto+json\",\"signatures\":[{\"sig\":\"%s\"}]}}",
                material, kept_base64(&b->arena, payload, strlen(payload)), value);

        return (struct signature){ .whole = slice_of(text) };
}

static struct signature keyed_bundle(struct bundling *b, EVP_PKEY *key, const char *payload)
{
        return bundle_with(b, "\"publicKey\":{\"hint\":\"x\"}", payload,
                           sign_text(&b->arena, key, encoded(b, payload)));
}

static struct signature keyless_bundle(struct bundling *b, const struct flaws *f, const char *payload)
{
        X509 *cert = issue(&b->store, f);
        const char *value = sign_text(&b->arena, f->signer_key ? f->signer_key : b->store.signer_key,
                                      encoded(b, payload));
        const char *body =
                body_of_envelope(b, f->entry_payload ? f->entry_payload : payload,
                                 f->entry_value ? f->entry_value : value, cert, f->kind ? f->kind : "dsse");

        return bundle_with(b,
                           arena_printf(&b->arena, "\"certificate\":%s,\"tlogEntries\":[%s]",
                                        json_of_certificate(&b->arena, cert), entry_of(b, f, body)),
                           payload, value);
}

/* ---- judging them ---- */

static int check(struct bundling *b, const struct signature_trust *t, const char *digest, struct signature s)
{
        b->err = (struct error){ 0 };
        return signatures_check(t, digest, TEST_REFERENCE, &s, 1, &b->arena, &b->err);
}

static void refuses(struct bundling *b, const struct signature_trust *t, struct signature s,
                    const char *words)
{
        assert_int_equal(check(b, t, TEST_DIGEST, s), ERR_FORBIDDEN);
        assert_string_equal(b->err.text, words);
}

/* spec/helm-chart.md checklist 83 */
static void what_cosign_wrote_is_good_for_its_manifest_alone(void **state)
{
        const struct signature layer = { .payload = { recorded_payload, sizeof(recorded_payload) - 1 },
                                         .value = recorded_signature },
                               bundle = { .whole = { recorded_bundle, sizeof(recorded_bundle) - 1 } };
        struct bundling b = { 0 };

        trust_key(&b, recorded_key);
        assert_int_equal(check(&b, &b.keyed, RECORDED_DIGEST, layer), 0);
        assert_int_equal(check(&b, &b.keyed, RECORDED_DIGEST, bundle), 0);
        refuses(&b, &b.keyed, layer,
                FAILED "what is signed: it is of " RECORDED_DIGEST " and not of " TEST_DIGEST);
        refuses(&b, &b.keyed, bundle, FAILED "what is signed: none of its subjects is " TEST_DIGEST);
        arena_free(&b.arena);
}

/* spec/helm-chart.md checklist 83, 84 */
static void a_bundle_that_a_key_signed_is_judged_like_a_layer(void **state)
{
        struct bundling b;
        const char *good;

        begin(&b);
        good = statement(&b, TEST_DIGEST, SIGN_TYPE);
        assert_int_equal(check(&b, &b.keyed, TEST_DIGEST, keyed_bundle(&b, b.store.signer_key, good)), 0);
        refuses(&b, &b.keyed, keyed_bundle(&b, b.store.other_key, good), NONE);
        refuses(&b, &b.keyless, keyed_bundle(&b, b.store.signer_key, good),
                FAILED "verificationMaterial: it has no certificate: with a key it is signed for "
                       "spec.verify.secretRef");
        arena_free(&b.arena);
}

static void what_else_is_attested_is_no_signature(void **state)
{
        struct bundling b;
        const char *slsa;

        begin(&b);
        slsa = statement(&b, TEST_DIGEST, "https://slsa.dev/provenance/v1");
        refuses(&b, &b.keyed, keyed_bundle(&b, b.store.signer_key, slsa),
                FAILED "what is signed: predicateType is 'https://slsa.dev/provenance/v1' and not '" SIGN_TYPE
                       "'");
        arena_free(&b.arena);
}

/* spec/helm-chart.md checklist 86 */
static void a_bundle_with_a_certificate_is_judged_like_a_layer(void **state)
{
        struct bundling b;
        const char *good;

        begin(&b);
        good = statement(&b, TEST_DIGEST, SIGN_TYPE);
        if (check(&b, &b.keyless, TEST_DIGEST, keyless_bundle(&b, &(struct flaws){ 0 }, good)) < 0)
                fail_msg("%s", b.err.text);
        refuses(&b, &b.keyless, keyless_bundle(&b, &(struct flaws){ .log_key = b.store.other_key }, good),
                FAILED "verificationMaterial.tlogEntries: SignedEntryTimestamp: it is not the log's");
        refuses(&b, &b.keyless, keyless_bundle(&b, &(struct flaws){ .put_ms = SIGNED_MS + 3600000 }, good),
                FAILED
                "the certificate was not trusted at 2026-01-01T01:00:00Z, when it was used: certificate "
                "has expired");
        refuses(&b, &b.keyless, keyless_bundle(&b, &(struct flaws){ .signer_key = b.store.other_key }, good),
                FAILED "it is not by the key of its certificate");
        refuses(&b, &b.keyless, keyless_bundle(&b, &(struct flaws){ .entry_payload = "x" }, good),
                FAILED "the entry of the log: it is of another payload");
        refuses(&b, &b.keyless, keyless_bundle(&b, &(struct flaws){ .entry_value = "AAAA" }, good),
                FAILED "the entry of the log: it is of another signature");
        refuses(&b, &b.keyless, keyless_bundle(&b, &(struct flaws){ .kind = "hashedrekord" }, good),
                FAILED "the entry of the log: its kind is 'hashedrekord' and not 'dsse'");
        refuses(&b, &b.keyless,
                keyless_bundle(&b, &(struct flaws){ .name = "critical,email:eve@example.com" }, good),
                FAILED "it is signed by 'eve@example.com' of '" TEST_ISSUER
                       "', whom spec.verify.matchOIDCIdentity does not name");
        arena_free(&b.arena);
}

/* ---- of the manifest itself ---- */

static const char manifest[] = "{\"schemaVersion\":2}";

static const char *digest_of_manifest(struct bundling *b)
{
        char hex[SHA256_HEX_SIZE];

        sha256_hex(manifest, strlen(manifest), hex);
        return arena_printf(&b->arena, "sha256:%s", hex);
}

static struct signature message_with(struct bundling *b, const char *material, const char *value)
{
        unsigned char sum[SHA256_SIZE];
        struct sha256 s;
        const char *text;

        sha256_init(&s);
        sha256_update(&s, manifest, strlen(manifest));
        sha256_final(&s, sum);
        text = arena_printf(&b->arena,
                            "{\"mediaType\":\"" SIGNATURE_BUNDLE_TYPE
                            "\",\"verificationMaterial\":{%s},\"messageSignature\":{\"messageDigest\":{"
                            "\"algorithm\":\"SHA2_256\",\"digest\":\"%s\"},\"signature\":\"%s\"}}",
                            material, kept_base64(&b->arena, sum, sizeof(sum)), value);
        return (struct signature){ .whole = slice_of(text) };
}

static void signs_the_manifest(const char *what, EVP_PKEY *key, int wanted)
{
        struct bundling b = { 0 };
        struct signature s;

        kept_key(&b.arena, key);
        trust_key(&b, pem_of_key(&b.arena, key));
        s = message_with(&b, "\"publicKey\":{}", sign_text(&b.arena, key, slice_of(manifest)));
        if (check(&b, &b.keyed, digest_of_manifest(&b), s) != wanted)
                fail_msg("%s: %s", what, b.err.text);
        arena_free(&b.arena);
}

/* spec/helm-chart.md checklist 83, 84 */
static void a_message_is_the_manifest_itself(void **state)
{
        struct bundling b;
        struct signature s;

        signs_the_manifest("P-256", EVP_EC_gen("P-256"), 0);
        signs_the_manifest("P-384", EVP_EC_gen("P-384"), 0);
        signs_the_manifest("RSA", EVP_RSA_gen(2048), 0);
        signs_the_manifest("Ed25519", EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"), ERR_FORBIDDEN);
        begin(&b);
        s = message_with(&b, "\"publicKey\":{}", sign_text(&b.arena, b.store.other_key, slice_of(manifest)));
        assert_int_equal(check(&b, &b.keyed, digest_of_manifest(&b), s), ERR_FORBIDDEN);
        assert_string_equal(b.err.text, NONE);
        refuses(&b, &b.keyed, s,
                arena_printf(&b.arena, FAILED "messageSignature: it is of %s and not of " TEST_DIGEST,
                             digest_of_manifest(&b)));
        arena_free(&b.arena);
}

/* Of version 0.0.2. */
static const char *newer_body_of(struct bundling *b, const char *of, const char *value, X509 *cert)
{
        unsigned char sum[SHA256_SIZE];
        struct sha256 s;
        const char *text;

        sha256_init(&s);
        sha256_update(&s, of, strlen(of));
        sha256_final(&s, sum);
        text = arena_printf(
                &b->arena,
                "{\"apiVersion\":\"0.0.2\",\"kind\":\"hashedrekord\",\"spec\":{\"hashedRekordV002\":{"
                "\"data\":{\"algorithm\":\"SHA2_256\",\"digest\":\"%s\"},\"signature\":{\"content\":"
                "\"%s\",\"verifier\":{\"x509Certificate\":%s}}}}}",
                kept_base64(&b->arena, sum, sizeof(sum)), value, json_of_certificate(&b->arena, cert));
        return kept_base64(&b->arena, text, strlen(text));
}

static int check_message(struct bundling *b, X509 *cert, const char *value, const char *body)
{
        const struct flaws none = { 0 };
        const char *material = arena_printf(&b->arena, "\"certificate\":%s,\"tlogEntries\":[%s]",
                                            json_of_certificate(&b->arena, cert), entry_of(b, &none, body));

        return check(b, &b->keyless, digest_of_manifest(b), message_with(b, material, value));
}

/* spec/helm-chart.md checklist 86 */
static void a_message_may_come_with_a_certificate(void **state)
{
        const struct flaws none = { 0 };
        struct bundling b;
        const char *value;

        begin(&b);
        X509 *cert = issue(&b.store, &none);

        value = sign_text(&b.arena, b.store.signer_key, slice_of(manifest));
        if (check_message(&b, cert, value, body_of(&b.store, &none, slice_of(manifest), value, cert)) < 0 ||
            check_message(&b, cert, value, newer_body_of(&b, manifest, value, cert)) < 0)
                fail_msg("%s", b.err.text);
        assert_int_equal(
                check_message(&b, cert, value, body_of(&b.store, &none, SLICE("other"), value, cert)),
                ERR_FORBIDDEN);
        assert_string_equal(b.err.text, FAILED "the entry of the log: it is of another payload");
        assert_int_equal(check_message(&b, cert, value, newer_body_of(&b, "other", value, cert)),
                         ERR_FORBIDDEN);
        assert_string_equal(b.err.text, FAILED "the entry of the log: it is of another payload");
        arena_free(&b.arena);
}

static void parts_that_are_absent_are_told(void **state)
{
        static const struct {
                const char *bundle, *words;
        } cases[] = {
                { "{}", "the bundle: mediaType: is required" },
                { "{\"mediaType\":\"x\"}",
                  "the bundle: mediaType is 'x' and not '" SIGNATURE_BUNDLE_TYPE "'" },
                { "{\"mediaType\":\"" SIGNATURE_BUNDLE_TYPE "\"}", "the bundle: dsseEnvelope: is required" },
                { "{\"mediaType\":\"" SIGNATURE_BUNDLE_TYPE "\",\"messageSignature\":{}}",
                  "messageSignature: messageDigest.algorithm: is required" },
                { "{\"mediaType\":\"" SIGNATURE_BUNDLE_TYPE "\",\"messageSignature\":{\"signature\":\"AAAA\","
                  "\"messageDigest\":{\"algorithm\":\"SHA2_512\","
                  "\"digest\":\"AAAA\"}}}",
                  "messageSignature: messageDigest: it is no SHA-256" },
                { "{\"mediaType\":\"" SIGNATURE_BUNDLE_TYPE "\",\"dsseEnvelope\":{\"signatures\":[]}}",
                  "dsseEnvelope: signatures: it has not just one" },
                { "{\"mediaType\":\"" SIGNATURE_BUNDLE_TYPE
                  "\",\"dsseEnvelope\":{\"signatures\":[{\"sig\":\"AAAA\"}],\"payload\":\"AAAA\","
                  "\"payloadType\":\"text/plain\"}}",
                  "dsseEnvelope: payloadType is 'text/plain' and not 'application/vnd.in-toto+json'" },
        };
        struct bundling b;
        X509 *cert;

        begin(&b);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                refuses(&b, &b.keyless, (struct signature){ .whole = slice_of(cases[i].bundle) },
                        arena_printf(&b.arena, FAILED "%s", cases[i].words));
        cert = issue(&b.store, &(struct flaws){ 0 });
        refuses(&b, &b.keyless,
                bundle_with(&b,
                            arena_printf(&b.arena, "\"certificate\":%s", json_of_certificate(&b.arena, cert)),
                            "{}", "AAAA"),
                FAILED "verificationMaterial.tlogEntries: it has none, or more than 10");
        refuses(&b, &b.keyless,
                bundle_with(&b,
                            arena_printf(&b.arena, "\"certificate\":%s,\"tlogEntries\":[{}]",
                                         json_of_certificate(&b.arena, cert)),
                            "{}", "AAAA"),
                FAILED "verificationMaterial.tlogEntries: timestampVerificationData: it has neither an "
                       "inclusionPromise nor a timestamp");
        arena_free(&b.arena);
}

/* spec/helm-chart.md checklist 97 */
static void each_allocation_may_fail(void **state)
{
        struct bundling b;
        struct signature s;
        int code = -1;

        begin(&b);
        s = keyless_bundle(&b, &(struct flaws){ 0 }, statement(&b, TEST_DIGEST, SIGN_TYPE));
        for (uint64_t at = 1; code < 0; at++) {
                AUTO_ARENA struct arena a = ARENA_INIT;
                struct error err = { 0 };

                mem_fail_at(at, false);
                code = signatures_check(&b.keyless, TEST_DIGEST, TEST_REFERENCE, &s, 1, &a, &err);
                mem_fail_at(0, false);
                if (code < 0)
                        assert_int_equal(err.code, ERR_NO_MEMORY);
        }
        arena_free(&b.arena);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_cosign_wrote_is_good_for_its_manifest_alone),
                cmocka_unit_test(a_bundle_that_a_key_signed_is_judged_like_a_layer),
                cmocka_unit_test(what_else_is_attested_is_no_signature),
                cmocka_unit_test(a_bundle_with_a_certificate_is_judged_like_a_layer),
                cmocka_unit_test(a_message_is_the_manifest_itself),
                cmocka_unit_test(a_message_may_come_with_a_certificate),
                cmocka_unit_test(parts_that_are_absent_are_told),
                cmocka_unit_test(each_allocation_may_fail),
        };
        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
