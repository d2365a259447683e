#include "member-agent/store/seal.h"

#include <openssl/evp.h>

static void cipher_cleanup(EVP_CIPHER_CTX **c)
{
        EVP_CIPHER_CTX_free(*c);
}

int seal(const uint8_t key[SEAL_KEY_SIZE], const uint8_t nonce[SEAL_NONCE_SIZE], const char *context,
         struct slice plain, struct arena *arena, struct slice *ret, struct error *err)
{
        EVP_CIPHER_CTX *c CLEANUP(cipher_cleanup) = EVP_CIPHER_CTX_new();
        uint8_t *out = arena_alloc(arena, plain.len + SEAL_OVERHEAD + 1), *text;
        int n = 0;

        if (!c || !out)
                return error_no_memory(err);
        if (plain.len > INT32_MAX)
                return error_set(err, ERR_LIMIT, "too long to be sealed: %zu bytes", plain.len);
        text = out + SEAL_OVERHEAD;
        memcpy(out, nonce, SEAL_NONCE_SIZE);
        if (EVP_EncryptInit_ex(c, EVP_aes_256_gcm(), NULL, key, nonce) != 1 ||
            EVP_EncryptUpdate(c, NULL, &n, (const uint8_t *)context, (int)strlen(context)) != 1 ||
            EVP_EncryptUpdate(c, text, &n, (const uint8_t *)plain.data, (int)plain.len) != 1 ||
            EVP_EncryptFinal_ex(c, text + n, &n) != 1 ||
            EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_GET_TAG, SEAL_TAG_SIZE, out + SEAL_NONCE_SIZE) != 1)
                return error_set(err, ERR_INTERNAL, "the cipher refused to seal");
        *ret = (struct slice){ (const char *)out, plain.len + SEAL_OVERHEAD };
        return 0;
}

int unseal(const uint8_t key[SEAL_KEY_SIZE], const char *context, struct slice sealed, struct arena *arena,
           struct slice *ret, struct error *err)
{
        EVP_CIPHER_CTX *c CLEANUP(cipher_cleanup) = EVP_CIPHER_CTX_new();
        const uint8_t *in = (const uint8_t *)sealed.data;
        uint8_t tag[SEAL_TAG_SIZE], *out;
        int n = 0;

        if (sealed.len < SEAL_OVERHEAD || sealed.len > INT32_MAX)
                return error_set(err, ERR_INVALID, "not a sealed text");
        out = arena_alloc(arena, sealed.len - SEAL_OVERHEAD + 1);
        if (!c || !out)
                return error_no_memory(err);
        memcpy(tag, in + SEAL_NONCE_SIZE, SEAL_TAG_SIZE);
        if (EVP_DecryptInit_ex(c, EVP_aes_256_gcm(), NULL, key, in) != 1 ||
            EVP_DecryptUpdate(c, NULL, &n, (const uint8_t *)context, (int)strlen(context)) != 1 ||
            EVP_DecryptUpdate(c, out, &n, in + SEAL_OVERHEAD, (int)(sealed.len - SEAL_OVERHEAD)) != 1 ||
            EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_TAG, SEAL_TAG_SIZE, tag) != 1 ||
            EVP_DecryptFinal_ex(c, out + n, &n) != 1)
                return error_set(err, ERR_INVALID, "the sealed text was changed or belongs to another key");
        *ret = (struct slice){ (const char *)out, sealed.len - SEAL_OVERHEAD };
        out[ret->len] = '\0';
        return 0;
}
