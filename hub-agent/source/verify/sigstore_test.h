/* A sigstore of the test's own: an authority, a log of certificates, a log of signatures, and keys. What they
 * say can be made wrong in one part at a time. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/ct.h>
#include <openssl/pem.h>
#include <openssl/ts.h>
#include <openssl/x509v3.h>

#include "common/base/digest.h"
#include "common/base/timefmt.h"
#include "common/json/doc_test.h"
#include "hub-agent/source/verify/signatures.h"

#define SIGNED_MS (INT64_C(1767225600) * 1000) /* 2026-01-01T00:00:00Z */
#define TEST_DIGEST "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define TEST_REFERENCE "registry.example/charts/podinfo:6.0.3"
#define TEST_ISSUER "https://token.example"
#define TEST_MAIL "ann@example.com"

struct sigstore {
        struct arena *arena;
        EVP_PKEY *root_key, *authority_key, *signer_key, *log_key, *certificate_log_key, *other_key;
        EVP_PKEY *proving_key, *clock_key; /* of a log that promises nothing, and of who says when */
        X509 *root, *authority, *clock;
        const char *trusted; /* trusted_root.json */
        const struct trusted_root *trusted_root;
};

/* What is wrong with a signature; zero: nothing. */
struct flaws {
        const char *digest, *type, *payload; /* others than should be signed */
        EVP_PKEY *signer_key;                /* signs in place of the certificate's */
        EVP_PKEY *authority_key;             /* issues in place of the authority's */
        EVP_PKEY *log_key, *certificate_log_key;
        int64_t put_ms;                /* into the log */
        const char *usage, *key_usage; /* "" = none */
        bool unlogged;                 /* no timestamp of a log of certificates */
        bool late;                     /* a timestamp of other contents */
        bool old_issuer, no_issuer;
        const char *issuer, *name; /* "email:ann@example.com" */
        const char *kind;          /* of the entry in the log */
        const char *entry_payload, *entry_value;
        X509 *entry_certificate;
        EVP_PKEY *clock_key, *head_key; /* say when, sign the head of the tree */
        const char *timed;              /* what the time is of */
        int64_t tree_shift;             /* of the tree's size, after it was signed */
        int64_t entry_shift;            /* of integratedTime, after it was signed */
};

/* ---- arenas keep all ---- */

static inline void key_gone(void *p)
{
        EVP_PKEY_free(p);
}

static inline void certificate_gone(void *p)
{
        X509_free(p);
}

static inline EVP_PKEY *kept_key(struct arena *a, EVP_PKEY *key)
{
        assert_non_null(key);
        assert_int_equal(arena_defer(a, key_gone, key), 0);
        return key;
}

static inline char *kept_base64(struct arena *a, const void *data, size_t n)
{
        char *text = arena_alloc(a, text_base64_size(n));

        text_base64_encode(data, n, text);
        return text;
}

/* ---- signing ---- */

static inline struct slice sign(struct arena *a, EVP_PKEY *key, struct slice data)
{
        const EVP_MD *md = EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? NULL : EVP_sha256();
        EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        unsigned char *out = arena_alloc(a, 1024);
        size_t n = 1024;

        assert_int_equal(EVP_DigestSignInit(ctx, NULL, md, NULL, key), 1);
        assert_int_equal(EVP_DigestSign(ctx, out, &n, (const unsigned char *)data.data, data.len), 1);
        EVP_MD_CTX_free(ctx);
        return (struct slice){ (char *)out, n };
}

static inline const char *sign_text(struct arena *a, EVP_PKEY *key, struct slice data)
{
        struct slice s = sign(a, key, data);

        return kept_base64(a, s.data, s.len);
}

static inline const char *pem_of(struct arena *a, BIO *bio)
{
        char *data;
        long n = BIO_get_mem_data(bio, &data);
        char *text = arena_strndup(a, data, (size_t)n);

        BIO_free(bio);
        return text;
}

static inline const char *pem_of_key(struct arena *a, EVP_PKEY *key)
{
        BIO *bio = BIO_new(BIO_s_mem());

        PEM_write_bio_PUBKEY(bio, key);
        return pem_of(a, bio);
}

static inline const char *pem_of_certificate(struct arena *a, X509 *cert)
{
        BIO *bio = BIO_new(BIO_s_mem());

        PEM_write_bio_X509(bio, cert);
        return pem_of(a, bio);
}

static inline struct slice der_of_key(struct arena *a, EVP_PKEY *key)
{
        unsigned char *der = NULL;
        int n = i2d_PUBKEY(key, &der);
        struct slice s = { arena_memdup(a, der, (size_t)n), (size_t)n };

        OPENSSL_free(der);
        return s;
}

static inline const char *payload_of(struct arena *a, const char *digest, const char *type)
{
        return arena_printf(a,
                            "{\"critical\":{\"identity\":{\"docker-reference\":\"x\"},\"image\":{\"docker-"
                            "manifest-digest\":\"%s\"},\"type\":\"%s\"},\"optional\":null}",
                            digest, type ? type : "cosign container image signature");
}

/* ---- certificates ---- */

static inline void add_extension(X509 *cert, int nid, const char *value)
{
        X509V3_CTX ctx;
        X509_EXTENSION *e;

        X509V3_set_ctx_nodb(&ctx);
        X509V3_set_ctx(&ctx, cert, cert, NULL, NULL, 0);
        e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
        assert_non_null(e);
        assert_int_equal(X509_add_ext(cert, e, -1), 1);
        X509_EXTENSION_free(e);
}

static inline void add_raw_extension(X509 *cert, const char *oid, const void *data, size_t n)
{
        ASN1_OBJECT *name = OBJ_txt2obj(oid, 1);
        ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new();
        X509_EXTENSION *e;

        ASN1_OCTET_STRING_set(value, data, (int)n);
        e = X509_EXTENSION_create_by_OBJ(NULL, name, 0, value);
        assert_int_equal(X509_add_ext(cert, e, -1), 1);
        X509_EXTENSION_free(e);
        ASN1_OCTET_STRING_free(value);
        ASN1_OBJECT_free(name);
}

static inline X509 *new_certificate(struct arena *a, const char *name, X509 *issuer, EVP_PKEY *key,
                                    int64_t from_ms, int64_t to_ms)
{
        X509 *cert = X509_new();

        assert_int_equal(arena_defer(a, certificate_gone, cert), 0);
        X509_set_version(cert, 2);
        ASN1_INTEGER_set(X509_get_serialNumber(cert), (long)(from_ms / 1000));
        ASN1_TIME_set(X509_getm_notBefore(cert), (time_t)(from_ms / 1000));
        ASN1_TIME_set(X509_getm_notAfter(cert), (time_t)(to_ms / 1000));
        if (*name)
                X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_UTF8,
                                           (const unsigned char *)name, -1, -1, 0);
        X509_set_issuer_name(cert, X509_get_subject_name(issuer ? issuer : cert));
        X509_set_pubkey(cert, key);
        return cert;
}

static inline X509 *new_authority(struct arena *a, const char *name, X509 *issuer, EVP_PKEY *issuer_key,
                                  EVP_PKEY *key)
{
        X509 *cert = new_certificate(a, name, issuer, key, SIGNED_MS - INT64_C(86400000) * 365,
                                     SIGNED_MS + INT64_C(86400000) * 3650);

        add_extension(cert, NID_basic_constraints, "critical,CA:TRUE");
        add_extension(cert, NID_key_usage, "critical,keyCertSign,cRLSign");
        if (issuer)
                add_extension(cert, NID_ext_key_usage, "codeSigning");
        assert_true(X509_sign(cert, issuer_key, EVP_sha256()) > 0);
        return cert;
}

static inline void log_id(struct arena *a, EVP_PKEY *key, unsigned char ret[SHA256_SIZE])
{
        struct slice der = der_of_key(a, key);
        struct sha256 s;

        sha256_init(&s);
        sha256_update(&s, der.data, der.len);
        sha256_final(&s, ret);
}

static inline void put(struct buf *b, uint64_t n, int bytes)
{
        for (int i = bytes - 1; i >= 0; i--)
                buf_append_char(b, (char)(n >> (8 * i)));
}

/* A timestamp over what the certificate is so far. */
static inline void add_timestamp(const struct sigstore *s, const struct flaws *f, X509 *cert)
{
        AUTO_BUF struct buf b;
        unsigned char id[SHA256_SIZE], *der = NULL;
        int n = i2d_re_X509_tbs(cert, &der);
        SCT *sct = SCT_new();
        STACK_OF(SCT) *list = sk_SCT_new_null();
        struct slice signature;

        buf_init(&b, 1 << 20);
        put(&b, 0, 2);
        put(&b, (uint64_t)SIGNED_MS, 8);
        put(&b, 1, 2);
        log_id(s->arena, s->authority_key, id);
        buf_append(&b, id, sizeof(id));
        put(&b, (uint64_t)n, 3);
        buf_append(&b, der, (size_t)n);
        put(&b, f->late ? 1 : 0, 2);
        buf_append(&b, "x", f->late ? 1 : 0);
        OPENSSL_free(der);
        signature = sign(s->arena, f->certificate_log_key ? f->certificate_log_key : s->certificate_log_key,
                         (struct slice){ b.data, b.len });
        log_id(s->arena, s->certificate_log_key, id);
        SCT_set_version(sct, SCT_VERSION_V1);
        SCT_set1_log_id(sct, id, sizeof(id));
        SCT_set_timestamp(sct, (uint64_t)SIGNED_MS);
        SCT_set_signature_nid(sct, NID_ecdsa_with_SHA256);
        SCT_set1_signature(sct, (const unsigned char *)signature.data, signature.len);
        sk_SCT_push(list, sct);
        assert_int_equal(X509_add1_ext_i2d(cert, NID_ct_precert_scts, list, 0, 0), 1);
        SCT_LIST_free(list);
}

static inline void add_issuer(const struct flaws *f, X509 *cert)
{
        const char *issuer = f->issuer ? f->issuer : TEST_ISSUER;
        ASN1_UTF8STRING *text = ASN1_UTF8STRING_new();
        unsigned char *der = NULL;
        int n;

        ASN1_STRING_set(text, issuer, -1);
        n = i2d_ASN1_UTF8STRING(text, &der);
        if (f->old_issuer)
                add_raw_extension(cert, "1.3.6.1.4.1.57264.1.1", issuer, strlen(issuer));
        else if (!f->no_issuer)
                add_raw_extension(cert, "1.3.6.1.4.1.57264.1.8", der, (size_t)n);
        OPENSSL_free(der);
        ASN1_UTF8STRING_free(text);
}

/* For ten minutes from SIGNED_MS on. */
static inline X509 *issue(const struct sigstore *s, const struct flaws *f)
{
        X509 *cert =
                new_certificate(s->arena, "", s->authority, s->signer_key, SIGNED_MS, SIGNED_MS + 600000);
        EVP_PKEY *key = f->authority_key ? f->authority_key : s->authority_key;
        const char *usage = f->usage ? f->usage : "codeSigning";

        add_extension(cert, NID_key_usage, f->key_usage ? f->key_usage : "critical,digitalSignature");
        if (*usage)
                add_extension(cert, NID_ext_key_usage, usage);
        add_extension(cert, NID_subject_alt_name, f->name ? f->name : "critical,email:" TEST_MAIL);
        add_issuer(f, cert);
        assert_true(X509_sign(cert, key, EVP_sha256()) > 0); /* names the algorithm, which is logged too */
        if (!f->unlogged)
                add_timestamp(s, f, cert);
        assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
        return cert;
}

/* ---- the trusted root ---- */

static inline const char *json_of_certificate(struct arena *a, X509 *cert)
{
        unsigned char *der = NULL;
        int n = i2d_X509(cert, &der);
        char *text = arena_printf(a, "{\"rawBytes\":\"%s\"}", kept_base64(a, der, (size_t)n));

        OPENSSL_free(der);
        return text;
}

static inline const char *json_of_log(struct arena *a, EVP_PKEY *key, const char *url)
{
        struct slice der = der_of_key(a, key);
        unsigned char id[SHA256_SIZE];

        log_id(a, key, id);
        return arena_printf(
                a,
                "{\"baseUrl\":\"%s\",\"hashAlgorithm\":\"SHA2_256\",\"publicKey\":{\"rawBytes\":\"%"
                "s\",\"keyDetails\":\"PKIX_ECDSA_P256_SHA_256\",\"validFor\":{\"start\":\"2021-01-"
                "01T00:00:00Z\",\"end\":\"2027-01-01T00:00:00Z\"}},\"logId\":{\"keyId\":\"%s\"}}",
                url, kept_base64(a, der.data, der.len), kept_base64(a, id, sizeof(id)));
}

static inline const char *json_of_root(const struct sigstore *s)
{
        struct arena *a = s->arena;

        return arena_printf(a,
                            "{\"mediaType\":\"application/"
                            "vnd.dev.sigstore.trustedroot+json;version=0.1\",\"tlogs\":[%s,%s],"
                            "\"certificateAuthorities\":[{\"subject\":{\"commonName\":\"x\"},\"certChain\":{"
                            "\"certificates\":[%s,%s]},\"validFor\":{\"start\":\"2021-01-01T00:00:00Z\","
                            "\"end\":\"2026-06-01T00:00:00Z\"}}],"
                            "\"ctlogs\":[%s],\"timestampAuthorities\":[{\"certChain\":{\"certificates\":[%s,%"
                            "s]},\"validFor\":"
                            "{\"start\":\"2021-01-01T00:00:00Z\"}}]}",
                            json_of_log(a, s->log_key, "https://rekor.example"),
                            json_of_log(a, s->proving_key, ""), json_of_certificate(a, s->authority),
                            json_of_certificate(a, s->root),
                            json_of_log(a, s->certificate_log_key, "https://ct.example"),
                            json_of_certificate(a, s->clock), json_of_certificate(a, s->root));
}

static inline X509 *new_clock(const struct sigstore *s)
{
        X509 *cert = new_certificate(s->arena, "clock", s->root, s->clock_key, SIGNED_MS - INT64_C(86400000),
                                     SIGNED_MS + INT64_C(86400000) * 365);

        add_extension(cert, NID_key_usage, "critical,digitalSignature");
        add_extension(cert, NID_ext_key_usage, "critical,timeStamping");
        assert_true(X509_sign(cert, s->root_key, EVP_sha256()) > 0);
        return cert;
}

static inline void sigstore_begin(struct sigstore *s, struct arena *a)
{
        struct error err = { 0 };
        EVP_PKEY **keys[] = { &s->root_key,  &s->authority_key,       &s->signer_key, &s->log_key,
                              &s->clock_key, &s->certificate_log_key, &s->other_key };

        *s = (struct sigstore){ .arena = a };
        for (size_t i = 0; i < ARRAY_LEN(keys); i++)
                *keys[i] = kept_key(a, EVP_EC_gen("P-256"));
        s->proving_key = kept_key(a, EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"));
        s->root = new_authority(a, "root", NULL, s->root_key, s->root_key);
        s->authority = new_authority(a, "authority", s->root, s->root_key, s->authority_key);
        s->clock = new_clock(s);
        s->trusted = json_of_root(s);
        if (trusted_root_read(slice_of(s->trusted), a, &s->trusted_root, &err) < 0)
                fail_msg("%s", err.text);
}

/* ---- signatures ---- */

static inline const char *body_of(const struct sigstore *s, const struct flaws *f, struct slice payload,
                                  const char *value, X509 *cert)
{
        char hash[SHA256_HEX_SIZE];
        const char *pem = pem_of_certificate(s->arena, f->entry_certificate ? f->entry_certificate : cert);
        struct slice data = f->entry_payload ? slice_of(f->entry_payload) : payload;
        const char *text;

        sha256_hex(data.data, data.len, hash);
        text = arena_printf(s->arena,
                            "{\"apiVersion\":\"0.0.1\",\"kind\":\"%s\",\"spec\":{\"data\":{\"hash\":{"
                            "\"algorithm\":\"sha256\",\"value\":\"%s\"}},\"signature\":{\"content\":\"%s\","
                            "\"publicKey\":{\"content\":\"%s\"}}}}",
                            f->kind ? f->kind : "hashedrekord", hash, f->entry_value ? f->entry_value : value,
                            kept_base64(s->arena, pem, strlen(pem)));
        return kept_base64(s->arena, text, strlen(text));
}

static inline const char *bundle_of(const struct sigstore *s, const struct flaws *f, const char *body)
{
        struct arena *a = s->arena;
        unsigned char id[SHA256_SIZE];
        char hex[SHA256_HEX_SIZE];
        long long seconds = (f->put_ms ? f->put_ms : SIGNED_MS + 60000) / 1000;
        const char *was;

        log_id(a, s->log_key, id);
        text_hex_encode(id, sizeof(id), hex);
        was = arena_printf(a, "{\"body\":\"%s\",\"integratedTime\":%lld,\"logID\":\"%s\",\"logIndex\":7}",
                           body, seconds, hex);
        return arena_printf(
                a,
                "{\"SignedEntryTimestamp\":\"%s\",\"Payload\":{\"body\":\"%s\",\"integratedTime\":%lld,"
                "\"logIndex\":7,\"logID\":\"%s\"}}",
                sign_text(a, f->log_key ? f->log_key : s->log_key, slice_of(was)), body,
                seconds + (long long)f->entry_shift, hex);
}

static inline struct signature signed_keyless(const struct sigstore *s, const struct flaws *f)
{
        struct arena *a = s->arena;
        X509 *cert = issue(s, f);
        const char *payload =
                f->payload ? f->payload : payload_of(a, f->digest ? f->digest : TEST_DIGEST, f->type);
        const char *value = sign_text(a, f->signer_key ? f->signer_key : s->signer_key, slice_of(payload));

        return (struct signature){ .payload = slice_of(payload),
                                   .value = value,
                                   .certificate = pem_of_certificate(a, cert),
                                   .chain = pem_of_certificate(a, s->authority),
                                   .bundle = bundle_of(s, f, body_of(s, f, slice_of(payload), value, cert)) };
}

static inline struct signature signed_by(struct arena *a, EVP_PKEY *key, const char *digest)
{
        const char *payload = payload_of(a, digest, NULL);

        return (struct signature){ .payload = slice_of(payload),
                                   .value = sign_text(a, key, slice_of(payload)) };
}

static inline json_t *secret_with(const char *const *keys_and_values)
{
        json_t *doc = json_pack("{s:{}}", "data");

        for (; *keys_and_values; keys_and_values += 2)
                json_object_set_new(json_object_get(doc, "data"), keys_and_values[0],
                                    doc_base64(slice_of(keys_and_values[1])));
        return doc;
}
