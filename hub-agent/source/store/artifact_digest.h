/* Digests of artifacts, in pieces: "sha256:HEX". spec/helm-chart.md 2, 4.1. */
#pragma once

#include "common/base/error.h"

#define ARTIFACT_DIGEST_SIZE 140 /* the name, a colon, 64 bytes in hex, the NUL */

enum artifact_digest { DIGEST_SHA256, DIGEST_SHA384, DIGEST_SHA512 };

/* "sha256", "sha384", "sha512"; ERR_INVALID names what it is instead. */
int artifact_digest_named(const char *name, enum artifact_digest *ret, struct error *err);
/* Which one a digest's text is of. */
bool artifact_digest_of(const char *text, enum artifact_digest *ret);

struct artifact_hash;                                                /* may be used offloaded */
struct artifact_hash *artifact_hash_new(enum artifact_digest which); /* NULL on no memory */
void artifact_hash_add(struct artifact_hash *h, const void *data, size_t n);
/* Ends it: add nothing more. ERR_NO_MEMORY, also of all that was added before. */
int artifact_hash_text(struct artifact_hash *h, char ret[ARTIFACT_DIGEST_SIZE]);
struct artifact_hash *artifact_hash_free(struct artifact_hash *h); /* NULL is fine; returns NULL */
static inline void artifact_hash_cleanup(struct artifact_hash **h)
{
        *h = artifact_hash_free(*h);
}
