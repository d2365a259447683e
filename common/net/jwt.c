/* Signed tokens: JWS compact form (RFC 7515) with ES256 (RFC 7518 3.4: r and s, 32 bytes each). */
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "common/base/buf.h"
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/net/cert.h"
#include "common/net/openssl_text.h"

#define RAW_SIGNATURE 64

DEFINE_CLEANUP(EVP_PKEY, EVP_PKEY_free, key_cleanup);
DEFINE_CLEANUP(EVP_MD_CTX, EVP_MD_CTX_free, digest_cleanup);
DEFINE_CLEANUP(ECDSA_SIG, ECDSA_SIG_free, signature_cleanup);

/* ---- base64url without padding ---- */

/* A failure stays in b. */
static void append_base64url(struct buf *b, const void *data, size_t n)
{
        AUTO_FREE char *text = mem_alloc(text_base64_size(n));
        if (!text) {
                b->failed = ERR_NO_MEMORY;
                return;
        }
        text_base64_encode(data, n, text);
        for (char *c = text; *c && *c != '='; c++)
                buf_append_char(b, *c == '+' ? '-' : *c == '/' ? '_' : *c);
}

/* *ret is NUL-terminated. ERR_INVALID or ERR_NO_MEMORY. */
static int decode_base64url(struct slice s, char **ret, size_t *ret_len)
{
        AUTO_FREE char *data = mem_alloc(s.len + 1);
        AUTO_FREE char *padded = mem_alloc(s.len + 4);
        if (!data || !padded)
                return ERR_NO_MEMORY;
        size_t n = s.len;
        memcpy(padded, s.data, n);
        if (memchr(padded, '=', n))
                return ERR_INVALID;
        while (n % 4 != 0)
                padded[n++] = '=';
        size_t len = 0;
        TRY(text_base64_decode((struct slice){ padded, n }, data, s.len, &len, true));
        data[len] = 0;
        *ret = TAKE_PTR(data);
        *ret_len = len;
        return 0;
}

/* ---- ES256 ---- */

static int sign_es256(EVP_PKEY *key, struct slice text, unsigned char raw[RAW_SIGNATURE], struct error *err)
{
        CLEANUP(digest_cleanup) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        unsigned char der[128];
        size_t n = sizeof(der);
        if (!ctx || EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key) <= 0 ||
            EVP_DigestSign(ctx, der, &n, (const unsigned char *)text.data, text.len) <= 0)
                return openssl_error(err, ERR_INVALID, "signing a token");
        const unsigned char *at = der;
        CLEANUP(signature_cleanup) ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &at, (long)n);
        if (!sig || BN_bn2binpad(ECDSA_SIG_get0_r(sig), raw, 32) != 32 ||
            BN_bn2binpad(ECDSA_SIG_get0_s(sig), raw + 32, 32) != 32)
                return openssl_error(err, ERR_INVALID, "signing a token: the key is not P-256");
        return 0;
}

static bool signature_is_good(EVP_PKEY *key, struct slice text, const unsigned char raw[RAW_SIGNATURE])
{
        CLEANUP(signature_cleanup) ECDSA_SIG *sig = ECDSA_SIG_new();
        CLEANUP(digest_cleanup) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        BIGNUM *r = BN_bin2bn(raw, 32, NULL), *s = BN_bin2bn(raw + 32, 32, NULL);
        if (!sig || !ctx || !r || !s || !ECDSA_SIG_set0(sig, r, s)) {
                BN_free(r);
                BN_free(s);
                return false;
        }
        unsigned char *der = NULL;
        int n = i2d_ECDSA_SIG(sig, &der);
        bool good = n > 0 && EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, key) > 0 &&
                    EVP_DigestVerify(ctx, der, (size_t)n, (const unsigned char *)text.data, text.len) == 1;
        OPENSSL_free(der);
        ERR_clear_error();
        return good;
}

static int sign_with(EVP_PKEY *key, const char *key_id, struct slice payload, char **ret_token,
                     struct error *err)
{
        AUTO_BUF struct buf header, token;
        buf_init(&header, LIMIT_TOKEN_BYTES);
        buf_init(&token, LIMIT_TOKEN_BYTES);
        buf_append_str(&header, "{\"alg\":\"ES256\",\"kid\":");
        buf_append_json_string(&header, key_id, strlen(key_id));
        buf_append_str(&header, ",\"typ\":\"JWT\"}");
        TRY(buf_status(&header, err, "token header"));
        append_base64url(&token, header.data, header.len);
        buf_append_char(&token, '.');
        append_base64url(&token, payload.data, payload.len);
        TRY(buf_status(&token, err, "token"));
        unsigned char raw[RAW_SIGNATURE];
        TRY(sign_es256(key, (struct slice){ token.data, token.len }, raw, err));
        buf_append_char(&token, '.');
        append_base64url(&token, raw, sizeof(raw));
        TRY(buf_status(&token, err, "token"));
        *ret_token = buf_take(&token, NULL);
        return *ret_token ? 0 : error_no_memory(err);
}

int jwt_sign(const char *key_pem, const char *key_id, struct slice payload, char **ret_token,
             struct error *err)
{
        CLEANUP(key_cleanup) EVP_PKEY *key = openssl_read_key(key_pem, err);
        return key ? sign_with(key, key_id, payload, ret_token, err) : ERR_INVALID;
}

/* ---- RS256 ---- */

static int append_rs256(EVP_PKEY *key, struct buf *token, struct error *err)
{
        CLEANUP(digest_cleanup) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        unsigned char raw[1024]; /* of keys up to 8192 bits */
        size_t n = sizeof(raw);
        if (EVP_PKEY_base_id(key) != EVP_PKEY_RSA || EVP_PKEY_size(key) > (int)sizeof(raw))
                return error_set(err, ERR_INVALID, "signing a token: not an RSA key");
        if (!ctx || EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key) <= 0 ||
            EVP_DigestSign(ctx, raw, &n, (const unsigned char *)token->data, token->len) <= 0)
                return openssl_error(err, ERR_INVALID, "signing a token");
        buf_append_char(token, '.');
        append_base64url(token, raw, n);
        return buf_status(token, err, "token");
}

int jwt_sign_rs256(const char *key_pem, struct slice payload, char **ret_token, struct error *err)
{
        static const char header[] = "{\"alg\":\"RS256\",\"typ\":\"JWT\"}";
        CLEANUP(key_cleanup) EVP_PKEY *key = openssl_read_key(key_pem, err);
        if (!key)
                return ERR_INVALID;
        AUTO_BUF struct buf token;
        buf_init(&token, LIMIT_TOKEN_BYTES);
        append_base64url(&token, header, sizeof(header) - 1);
        buf_append_char(&token, '.');
        append_base64url(&token, payload.data, payload.len);
        TRY(buf_status(&token, err, "token"));
        TRY(append_rs256(key, &token, err));
        *ret_token = buf_take(&token, NULL);
        return *ret_token ? 0 : error_no_memory(err);
}

/* ---- checking ---- */

static EVP_PKEY *read_public_key(const char *pem)
{
        if (strstr(pem, "-----BEGIN CERTIFICATE-----")) {
                X509 *cert = openssl_read_cert(pem, NULL);
                EVP_PKEY *key = cert ? X509_get_pubkey(cert) : NULL;
                X509_free(cert);
                return key;
        }
        if (strstr(pem, "PRIVATE KEY-----"))
                return openssl_read_key(pem, NULL);
        BIO *bio = BIO_new_mem_buf(pem, -1);
        EVP_PKEY *key = bio ? PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL) : NULL;
        BIO_free(bio);
        return key;
}

/* The algorithm is ours to choose, not the token's: anything but ES256 is refused. */
static bool header_says_es256(struct slice encoded)
{
        AUTO_FREE char *header = NULL;
        size_t n;
        if (decode_base64url(encoded, &header, &n) < 0)
                return false;
        const char *alg = strstr(header, "\"alg\"");
        if (!alg)
                return false;
        alg += 5;
        alg += strspn(alg, " \t\r\n:");
        return text_starts_with(alg, "\"ES256\"");
}

/* A key of NULL verifies nothing. */
static int verify_with(EVP_PKEY *key, const char *token, char **ret_payload, struct error *err)
{
        struct slice rest = slice_of(token), header, payload;
        if (rest.len > LIMIT_TOKEN_BYTES || !slice_cut(&rest, '.', &header) ||
            !slice_cut(&rest, '.', &payload) || !header_says_es256(header))
                return error_set(err, ERR_UNAUTHORIZED, "token: not a JWT signed with ES256");
        AUTO_FREE char *raw = NULL;
        AUTO_FREE char *text = NULL;
        size_t raw_len = 0, text_len = 0;
        if (decode_base64url(rest, &raw, &raw_len) < 0 || raw_len != RAW_SIGNATURE ||
            decode_base64url(payload, &text, &text_len) < 0)
                return error_set(err, ERR_UNAUTHORIZED, "token: malformed");
        struct slice signed_text = { token, (size_t)(payload.data + payload.len - token) };
        if (!key || !signature_is_good(key, signed_text, (const unsigned char *)raw))
                return error_set(err, ERR_UNAUTHORIZED, "token: the signature does not match");
        *ret_payload = TAKE_PTR(text);
        return 0;
}

int jwt_verify(const char *key_or_cert_pem, const char *token, char **ret_payload, struct error *err)
{
        CLEANUP(key_cleanup) EVP_PKEY *key = read_public_key(key_or_cert_pem);
        return verify_with(key, token, ret_payload, err);
}

/* ---- a key that is read once ---- */

struct jwt_key {
        EVP_PKEY *key;
        char *id;
};

struct jwt_key *jwt_key_free(struct jwt_key *k)
{
        if (!k)
                return NULL;
        EVP_PKEY_free(k->key);
        mem_free(k->id);
        mem_free(k);
        return NULL;
}

struct jwt_key *jwt_key_new(const char *key_pem, const char *key_id, struct error *err)
{
        struct jwt_key *k = NEW(struct jwt_key);
        if (!k) {
                error_no_memory(err);
                return NULL;
        }
        k->id = mem_strdup(key_id);
        k->key = openssl_read_key(key_pem, err);
        if (k->key && k->id)
                return k;
        if (k->key)
                error_no_memory(err);
        return jwt_key_free(k);
}

int jwt_key_sign(const struct jwt_key *k, struct slice payload, char **ret_token, struct error *err)
{
        return sign_with(k->key, k->id, payload, ret_token, err);
}

int jwt_key_verify(const struct jwt_key *k, const char *token, char **ret_payload, struct error *err)
{
        return verify_with(k->key, token, ret_payload, err);
}

int jwt_read(const char *token, char **ret_payload, struct error *err)
{
        struct slice rest = slice_of(token), header, payload;
        size_t n;

        if (rest.len > LIMIT_TOKEN_BYTES || !slice_cut(&rest, '.', &header) ||
            !slice_cut(&rest, '.', &payload) || decode_base64url(payload, ret_payload, &n) < 0)
                return error_set(err, ERR_INVALID, "not a JWT");
        return 0;
}
