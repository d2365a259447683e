/* Signatures in a log that proves what it has, and whose time somebody else says. */
#include "hub-agent/source/verify/log_proof.h"
#include "hub-agent/source/verify/public_instance_test.h"
#include "hub-agent/source/verify/sigstore_test.h"

#define FAILED "failed to verify " TEST_REFERENCE ": "
#define ENTRIES FAILED "verificationMaterial.tlogEntries: "
#define DASH "\xe2\x80\x94 "

struct proving {
        struct arena arena;
        struct sigstore store;
        struct signature_trust trust;
        struct error err;
};

static void begin(struct proving *p)
{
        struct signer_identity ann = { .issuer = TEST_ISSUER, .subject = TEST_MAIL };
        const struct signer_identity_list l = { &ann, 1, true };

        *p = (struct proving){ 0 };
        sigstore_begin(&p->store, &p->arena);
        assert_int_equal(signature_trust_of_signers(&l, p->store.trusted_root, &p->arena, &p->trust, &p->err),
                         0);
}

/* ---- the time ---- */

static int tell_time(TS_RESP_CTX *ctx, void *ms, long *ret_s, long *ret_us)
{
        *ret_s = (long)(*(int64_t *)ms / 1000);
        *ret_us = 0;
        return 1;
}

static ASN1_INTEGER *tell_serial(TS_RESP_CTX *ctx, void *none)
{
        ASN1_INTEGER *n = ASN1_INTEGER_new();

        ASN1_INTEGER_set(n, 7);
        return n;
}

static BIO *question_of(struct slice what)
{
        TS_REQ *q = TS_REQ_new();
        TS_MSG_IMPRINT *imprint = TS_MSG_IMPRINT_new();
        X509_ALGOR *algorithm = X509_ALGOR_new();
        unsigned char sum[SHA256_SIZE];
        struct sha256 s;
        BIO *bio = BIO_new(BIO_s_mem());

        sha256_init(&s);
        sha256_update(&s, what.data, what.len);
        sha256_final(&s, sum);
        X509_ALGOR_set0(algorithm, OBJ_nid2obj(NID_sha256), V_ASN1_NULL, NULL);
        TS_MSG_IMPRINT_set_algo(imprint, algorithm);
        TS_MSG_IMPRINT_set_msg(imprint, sum, sizeof(sum));
        TS_REQ_set_version(q, 1);
        TS_REQ_set_msg_imprint(q, imprint);
        i2d_TS_REQ_bio(bio, q);
        X509_ALGOR_free(algorithm);
        TS_MSG_IMPRINT_free(imprint);
        TS_REQ_free(q);
        return bio;
}

static const char *timestamp_of(struct proving *p, const struct flaws *f, struct slice what)
{
        TS_RESP_CTX *ctx = TS_RESP_CTX_new();
        ASN1_OBJECT *policy = OBJ_txt2obj("1.2.3.4", 1);
        int64_t ms = f->put_ms ? f->put_ms : SIGNED_MS + 60000;
        BIO *question = question_of(f->timed ? slice_of(f->timed) : what);
        unsigned char *der = NULL;
        TS_RESP *answer;
        const char *text;
        int n;

        X509 *clock = X509_dup(p->store.clock);

        if (f->clock_key) {
                X509_set_pubkey(clock, f->clock_key);
                X509_sign(clock, f->clock_key, EVP_sha256());
        }
        TS_RESP_CTX_set_signer_cert(ctx, clock);
        TS_RESP_CTX_set_signer_key(ctx, f->clock_key ? f->clock_key : p->store.clock_key);
        TS_RESP_CTX_set_signer_digest(ctx, EVP_sha256());
        TS_RESP_CTX_set_def_policy(ctx, policy);
        TS_RESP_CTX_add_md(ctx, EVP_sha256());
        TS_RESP_CTX_set_time_cb(ctx, tell_time, &ms);
        TS_RESP_CTX_set_serial_cb(ctx, tell_serial, NULL);
        answer = TS_RESP_create_response(ctx, question);
        n = i2d_TS_RESP(answer, &der);
        text = kept_base64(&p->arena, der, (size_t)n);
        OPENSSL_free(der);
        TS_RESP_free(answer);
        BIO_free(question);
        X509_free(clock);
        ASN1_OBJECT_free(policy);
        TS_RESP_CTX_free(ctx);
        return text;
}

/* ---- a tree of three entries, of which the last is the signature's ---- */

static void hash_of(const void *a, size_t n, const void *b, size_t m, char kind,
                    unsigned char ret[SHA256_SIZE])
{
        struct sha256 s;

        sha256_init(&s);
        sha256_update(&s, &kind, 1);
        sha256_update(&s, a, n);
        sha256_update(&s, b, m);
        sha256_final(&s, ret);
}

static const char *head_of(struct proving *p, const struct flaws *f, const char *root)
{
        const char *text = arena_printf(&p->arena, "log.example\n3\n%s\n", root);
        struct slice s = sign(&p->arena, f->head_key ? f->head_key : p->store.proving_key, slice_of(text));
        unsigned char id[SHA256_SIZE], all[256];

        log_id(&p->arena, p->store.proving_key, id);
        memcpy(all, id, 4);
        memcpy(all + 4, s.data, s.len);
        return arena_printf(
                &p->arena, "log.example\\n3\\n%s\\n\\n" DASH "other.example AAAA\\n" DASH "log.example %s\\n",
                root, kept_base64(&p->arena, all, s.len + 4));
}

static const char *entry_of(struct proving *p, const struct flaws *f, const char *body)
{
        unsigned char id[SHA256_SIZE], leaf[SHA256_SIZE], both[SHA256_SIZE], root[SHA256_SIZE];
        const char *root_text, *both_text;

        log_id(&p->arena, p->store.proving_key, id);
        hash_of(body, strlen(body), "", 0, 0, leaf);
        hash_of("the two", 7, "before", 6, 0, both);
        hash_of(both, sizeof(both), leaf, sizeof(leaf), 1, root);
        root_text = kept_base64(&p->arena, root, sizeof(root));
        both_text = kept_base64(&p->arena, both, sizeof(both));
        return arena_printf(
                &p->arena,
                "{\"logIndex\":\"2\",\"logId\":{\"keyId\":\"%s\"},\"inclusionProof\":{\"logIndex\":"
                "\"2\",\"treeSize\":\"%lld\",\"rootHash\":\"%s\",\"hashes\":[\"%s\"],\"checkpoint\":{"
                "\"envelope\":\"%s\"}},\"canonicalizedBody\":\"%s\"}",
                kept_base64(&p->arena, id, sizeof(id)), 3 + (long long)f->tree_shift, root_text, both_text,
                head_of(p, f, root_text), kept_base64(&p->arena, body, strlen(body)));
}

static const char *body_of_entry(struct proving *p, const struct flaws *f, const char *payload,
                                 const char *value, X509 *cert)
{
        unsigned char sum[SHA256_SIZE];
        struct sha256 s;
        const char *of = f->entry_payload ? f->entry_payload : payload;

        sha256_init(&s);
        sha256_update(&s, of, strlen(of));
        sha256_final(&s, sum);
        return arena_printf(
                &p->arena,
                "{\"apiVersion\":\"0.0.2\",\"kind\":\"dsse\",\"spec\":{\"dsseV002\":{\"payloadHash\":{"
                "\"algorithm\":\"SHA2_256\",\"digest\":\"%s\"},\"signatures\":[{\"content\":\"%s\","
                "\"verifier\":{\"keyDetails\":\"PKIX_ECDSA_P256_SHA_256\",\"x509Certificate\":%s}}]}}}",
                kept_base64(&p->arena, sum, sizeof(sum)), value,
                json_of_certificate(&p->arena, f->entry_certificate ? f->entry_certificate : cert));
}

static struct signature bundle(struct proving *p, const struct flaws *f)
{
        struct arena *a = &p->arena;
        const char *payload = arena_printf(
                a,
                "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"digest\":{"
                "\"sha256\":\"%s\"}}],\"predicateType\":\"https://sigstore.dev/cosign/sign/v1\"}",
                &TEST_DIGEST[strlen("sha256:")]);
        const char *was =
                arena_printf(a, "DSSEv1 28 application/vnd.in-toto+json %zu %s", strlen(payload), payload);
        X509 *cert = issue(&p->store, f);
        struct slice value = sign(a, p->store.signer_key, slice_of(was));
        const char *text = kept_base64(a, value.data, value.len);

        text = arena_printf(
                a,
                "{\"mediaType\":\"" SIGNATURE_BUNDLE_TYPE
                "\",\"verificationMaterial\":{\"certificate\":%s,\"tlogEntries\":[%s],"
                "\"timestampVerificationData\":{\"rfc3161Timestamps\":[{\"signedTimestamp\":\"%s\"}]}"
                "},\"dsseEnvelope\":{\"payload\":\"%s\",\"payloadType\":"
                "\"application/vnd.in-toto+json\",\"signatures\":[{\"sig\":\"%s\"}]}}",
                json_of_certificate(a, cert), entry_of(p, f, body_of_entry(p, f, payload, text, cert)),
                timestamp_of(p, f, value), kept_base64(a, payload, strlen(payload)), text);
        return (struct signature){ .whole = slice_of(text) };
}

/* ---- judging ---- */

static int check(struct proving *p, struct flaws f)
{
        struct signature s = bundle(p, &f);

        p->err = (struct error){ 0 };
        return signatures_check(&p->trust, TEST_DIGEST, TEST_REFERENCE, &s, 1, &p->arena, &p->err);
}

static void refuses(struct proving *p, struct flaws f, const char *words)
{
        assert_int_equal(check(p, f), ERR_FORBIDDEN);
        assert_string_equal(p->err.text, words);
}
#define REFUSES(p, words, ...) refuses(p, (struct flaws){ __VA_ARGS__ }, words)

/* spec/helm-chart.md checklist 86 */
static void a_proof_and_a_timestamp_stand_for_a_promise(void **state)
{
        struct proving p;

        begin(&p);
        if (check(&p, (struct flaws){ 0 }) < 0)
                fail_msg("%s", p.err.text);
        arena_free(&p.arena);
}

/* spec/helm-chart.md checklist 86 */
static void each_part_of_both_counts(void **state)
{
        struct proving p;

        begin(&p);
        REFUSES(&p,
                ENTRIES
                "timestampVerificationData: it is of no authority for times of the trusted root, or of "
                "something else",
                .clock_key = p.store.other_key);
        REFUSES(&p,
                ENTRIES
                "timestampVerificationData: it is of no authority for times of the trusted root, or of "
                "something else",
                .timed = "another signature");
        REFUSES(&p,
                FAILED
                "the certificate was not trusted at 2026-01-01T01:00:00Z, when it was used: certificate "
                "has expired",
                .put_ms = SIGNED_MS + 3600000);
        REFUSES(&p, ENTRIES "inclusionProof.checkpoint: the log did not sign it",
                .head_key = p.store.other_key);
        REFUSES(&p, ENTRIES "inclusionProof.hashes: they do not lead to the root", .tree_shift = 1);
        REFUSES(&p, FAILED "the entry of the log: it is of another payload", .entry_payload = "x");
        X509 *cert = issue(&p.store, &(struct flaws){ .name = "critical,email:eve@example.com" });

        REFUSES(&p, FAILED "the entry of the log: it is of another certificate", .entry_certificate = cert);
        arena_free(&p.arena);
}

/* ---- the proof that the public instance gave ---- */

static json_t *public_entry_of(void)
{
        AUTO_JSON json_t *doc = NULL;

        assert_int_equal(doc_parse(slice_of(public_attestation), &doc, NULL), 0);
        return doc_copy(json_array_get(doc_get_array(doc, "verificationMaterial.tlogEntries"), 0));
}

static int prove(json_t *entry, struct error *err)
{
        AUTO_ARENA struct arena a = ARENA_INIT;
        const struct trusted_root *root = NULL;
        struct slice body;

        assert_int_equal(trusted_root_read(trusted_root_built_in(), &a, &root, NULL), 0);
        *err = (struct error){ 0 };
        return log_proof_check(entry, root, SIGNED_MS, &a, &body, err);
}

static void proves_not(const char *path, json_t *value, const char *words)
{
        AUTO_JSON json_t *entry = public_entry_of();
        struct error err;

        assert_int_equal(doc_set(entry, path, value), 0);
        assert_int_equal(prove(entry, &err), ERR_INVALID);
        assert_string_equal(err.text, words);
}

/* spec/helm-chart.md checklist 86 */
static void what_the_public_log_proves_is_followed_to_its_head(void **state)
{
        AUTO_JSON json_t *entry = public_entry_of();
        struct error err;
        int64_t size;

        if (prove(entry, &err) < 0)
                fail_msg("%s", err.text);
        assert_true(text_parse_i64(doc_get_string(entry, "inclusionProof.treeSize"), &size));
        proves_not("canonicalizedBody", json_string("e30="),
                   "inclusionProof.hashes: they do not lead to the root");
        proves_not("inclusionProof.logIndex", json_string("0"),
                   "inclusionProof.hashes: they do not lead to the "
                   "root");
        proves_not("inclusionProof.logIndex", json_sprintf("%lld", (long long)size),
                   "inclusionProof: it is of no entry of the tree");
        proves_not("inclusionProof.hashes", json_pack("[s]", "AAAA"),
                   "inclusionProof.hashes: they lead nowhere");
        proves_not("inclusionProof.treeSize", json_string("x"), "inclusionProof.treeSize: it is no number");
        proves_not("inclusionProof.checkpoint.envelope", json_string("x\n"),
                   "inclusionProof.checkpoint: it is no signed note");
        proves_not("inclusionProof.checkpoint.envelope", json_string("x\n1\n\n" DASH "x AAAA\n"),
                   "inclusionProof.checkpoint: the log did not sign it");
        proves_not("logId.keyId", json_string("AAAA"), "it is of no log of signatures of the trusted root");
}

/* spec/helm-chart.md checklist 97 */
static void each_allocation_may_fail(void **state)
{
        struct proving p;
        struct signature s;
        int code = -1;

        begin(&p);
        s = bundle(&p, &(struct flaws){ 0 });
        for (uint64_t at = 1; code < 0; at++) {
                AUTO_ARENA struct arena a = ARENA_INIT;
                struct error err = { 0 };

                mem_fail_at(at, false);
                code = signatures_check(&p.trust, TEST_DIGEST, TEST_REFERENCE, &s, 1, &a, &err);
                mem_fail_at(0, false);
                if (code < 0)
                        assert_int_equal(err.code, ERR_NO_MEMORY);
        }
        arena_free(&p.arena);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_proof_and_a_timestamp_stand_for_a_promise),
                cmocka_unit_test(each_part_of_both_counts),
                cmocka_unit_test(what_the_public_log_proves_is_followed_to_its_head),
                cmocka_unit_test(each_allocation_may_fail),
        };
        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
