#include "hub-agent/source/verify/public_key.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "common/base/limits.h"

static void free_key(void *key)
{
        EVP_PKEY_free(key);
}

static void free_pem(char *name, char *header, unsigned char *data)
{
        OPENSSL_free(name);
        OPENSSL_free(header);
        OPENSSL_free(data);
        ERR_clear_error();
}

/* ---- which keys are taken ---- */

static int check_curve(EVP_PKEY *key, struct error *err)
{
        static const char *const curves[] = { "prime256v1", "secp384r1", "secp521r1" };
        char name[64] = "";

        (void)EVP_PKEY_get_group_name(key, name, sizeof(name), NULL);
        ERR_clear_error();
        if (text_in(name, curves, ARRAY_LEN(curves)))
                return 0;
        return error_set(err, ERR_INVALID, "it is an ECDSA key of another curve than P-256, P-384 and P-521");
}

int public_key_check(EVP_PKEY *key, struct error *err)
{
        switch (EVP_PKEY_get_base_id(key)) {
        case EVP_PKEY_EC:
                return check_curve(key, err);
        case EVP_PKEY_ED25519:
                return 0;
        case EVP_PKEY_RSA:
                if (EVP_PKEY_get_bits(key) >= PUBLIC_KEY_RSA_BITS)
                        return 0;
                return error_set(err, ERR_INVALID, "it is an RSA key of %d bits, and %d are the least",
                                 EVP_PKEY_get_bits(key), PUBLIC_KEY_RSA_BITS);
        default:
                return error_set(err, ERR_INVALID, "it is a key of another kind than ECDSA, RSA and Ed25519");
        }
}

static int keep(EVP_PKEY *key, struct arena *arena, EVP_PKEY **ret, struct error *err)
{
        if (arena_defer(arena, free_key, key) < 0)
                return error_no_memory(err);
        TRY(public_key_check(key, err));
        *ret = key;
        return 0;
}

/* ---- reading ---- */

int public_key_of_der(struct slice der, struct arena *arena, EVP_PKEY **ret, struct error *err)
{
        const unsigned char *at = (const unsigned char *)der.data;
        EVP_PKEY *key = der.len <= LIMIT_CERT_BYTES ? d2i_PUBKEY(NULL, &at, (long)der.len) : NULL;

        ERR_clear_error();
        if (key && at != (const unsigned char *)der.data + der.len) {
                EVP_PKEY_free(key);
                key = NULL;
        }
        if (!key)
                return error_set(err, ERR_INVALID, "it is no public key");
        return keep(key, arena, ret, err);
}

/* Of PKCS 1. */
static int read_rsa(struct slice der, struct arena *arena, EVP_PKEY **ret, struct error *err)
{
        const unsigned char *at = (const unsigned char *)der.data;
        EVP_PKEY *key = d2i_PublicKey(EVP_PKEY_RSA, NULL, &at, (long)der.len);

        ERR_clear_error();
        if (!key)
                return error_set(err, ERR_INVALID, "it is no public key");
        return keep(key, arena, ret, err);
}

int public_key_of_pem(struct slice pem, struct arena *arena, EVP_PKEY **ret, struct error *err)
{
        BIO *bio =
                pem.len > 0 && pem.len <= LIMIT_CERT_BYTES ? BIO_new_mem_buf(pem.data, (int)pem.len) : NULL;
        char *name = NULL, *header = NULL;
        unsigned char *data = NULL;
        long n = 0;
        struct slice der;
        int code;

        if (!bio || !PEM_read_bio(bio, &name, &header, &data, &n))
                code = error_set(err, ERR_INVALID, "it is no public key in PEM");
        else {
                der = (struct slice){ (const char *)data, (size_t)n };
                code = text_equal(name, PEM_STRING_PUBLIC) ? public_key_of_der(der, arena, ret, err)
                       : text_equal(name, PEM_STRING_RSA_PUBLIC)
                               ? read_rsa(der, arena, ret, err)
                               : error_set(err, ERR_INVALID, "it is no public key in PEM");
        }
        BIO_free(bio);
        free_pem(name, header, data);
        return code;
}

/* ---- signatures ---- */

bool public_key_signed(EVP_PKEY *key, struct slice data, struct slice signature)
{
        const EVP_MD *digest = EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? NULL : EVP_sha256();
        EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        bool good = ctx && EVP_DigestVerifyInit(ctx, NULL, digest, NULL, key) == 1 &&
                    EVP_DigestVerify(ctx, (const unsigned char *)signature.data, signature.len,
                                     (const unsigned char *)data.data, data.len) == 1;

        EVP_MD_CTX_free(ctx);
        ERR_clear_error();
        return good;
}

static bool begin_hash(EVP_PKEY_CTX *ctx, EVP_PKEY *key)
{
        return EVP_PKEY_verify_init(ctx) == 1 &&
               (EVP_PKEY_get_base_id(key) != EVP_PKEY_RSA ||
                EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PADDING) == 1) &&
               EVP_PKEY_CTX_set_signature_md(ctx, EVP_sha256()) == 1;
}

bool public_key_signed_hash(EVP_PKEY *key, const uint8_t hash[SHA256_SIZE], struct slice signature)
{
        EVP_PKEY_CTX *ctx =
                EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? NULL : EVP_PKEY_CTX_new(key, NULL);
        bool good = ctx && begin_hash(ctx, key) &&
                    EVP_PKEY_verify(ctx, (const unsigned char *)signature.data, signature.len, hash,
                                    SHA256_SIZE) == 1;

        EVP_PKEY_CTX_free(ctx);
        ERR_clear_error();
        return good;
}
