#include "hub-agent/source/store/artifact_digest.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"

static const struct {
        const char *name;
        const EVP_MD *(*md)(void);
} digests[] = {
        [DIGEST_SHA256] = { "sha256", EVP_sha256 },
        [DIGEST_SHA384] = { "sha384", EVP_sha384 },
        [DIGEST_SHA512] = { "sha512", EVP_sha512 },
};

struct artifact_hash {
        enum artifact_digest which;
        EVP_MD_CTX *ctx;
        bool failed;
};

int artifact_digest_named(const char *name, enum artifact_digest *ret, struct error *err)
{
        for (size_t i = 0; i < ARRAY_LEN(digests); i++)
                if (text_equal(name, digests[i].name)) {
                        *ret = (enum artifact_digest)i;
                        return 0;
                }
        return error_set(err, ERR_INVALID, "unsupported digest algorithm %s: it is sha256, sha384 or sha512",
                         name);
}

bool artifact_digest_of(const char *text, enum artifact_digest *ret)
{
        struct slice rest = slice_of(text), name;

        if (!slice_cut(&rest, ':', &name))
                return false;
        for (size_t i = 0; i < ARRAY_LEN(digests); i++)
                if (slice_equal(name, slice_of(digests[i].name))) {
                        *ret = (enum artifact_digest)i;
                        return true;
                }
        return false;
}

struct artifact_hash *artifact_hash_new(enum artifact_digest which)
{
        struct artifact_hash *h = NEW(struct artifact_hash);

        if (!h)
                return NULL;
        *h = (struct artifact_hash){ which, EVP_MD_CTX_new(), false };
        if (!h->ctx || !EVP_DigestInit_ex(h->ctx, digests[which].md(), NULL))
                return artifact_hash_free(h);
        return h;
}

void artifact_hash_add(struct artifact_hash *h, const void *data, size_t n)
{
        h->failed |= !EVP_DigestUpdate(h->ctx, data, n);
}

int artifact_hash_text(struct artifact_hash *h, char ret[ARTIFACT_DIGEST_SIZE])
{
        unsigned char sum[EVP_MAX_MD_SIZE];
        unsigned n = 0;
        size_t at;

        h->failed |= !EVP_DigestFinal_ex(h->ctx, sum, &n);
        if (h->failed)
                return ERR_NO_MEMORY;
        at = (size_t)snprintf(ret, ARTIFACT_DIGEST_SIZE, "%s:", digests[h->which].name);
        for (unsigned i = 0; i < n; i++)
                at += (size_t)snprintf(ret + at, ARTIFACT_DIGEST_SIZE - at, "%02x", sum[i]);
        return 0;
}

struct artifact_hash *artifact_hash_free(struct artifact_hash *h)
{
        if (h)
                EVP_MD_CTX_free(h->ctx);
        mem_free(h);
        return NULL;
}
