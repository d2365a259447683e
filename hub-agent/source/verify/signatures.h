/* Whether what an image's manifest is signed with is good: signatures of cosign, made with a key, or with a
 * certificate that was issued to somebody for a few minutes. Pure: nothing is fetched, no clock is read; may
 * run offloaded. Each text that came from elsewhere is taken for hostile. spec/helm-chart.md 11. */
#pragma once

#include "common/json/regex.h"
#include "hub-agent/source/verify/trusted_root.h"
#include "hub-agent/transfer/secret.h"
#include "proto/gen/types.h"

#define SIGNATURE_LAYERS 100             /* of one manifest of signatures */
#define SIGNATURE_BYTES (1u << 20)       /* of what one of them signs */
#define SIGNATURE_KEYS 100               /* of one Secret */
#define SIGNATURE_TEXT_BYTES (64u << 10) /* of each annotation */
#define SIGNATURE_LAYER_TYPE "application/vnd.dev.cosign.simplesigning.v1+json"

#define SIGNATURE_BUNDLE_TYPE "application/vnd.dev.sigstore.bundle.v0.3+json"

/* One layer; annotations that are absent are NULL. */
struct signature {
        struct slice payload;                     /* the blob: what was signed */
        const char *value;                        /* dev.cosignproject.cosign/signature, base64 */
        const char *certificate, *chain, *bundle; /* dev.sigstore.cosign/..., PEM, PEM, JSON */
        const char *unlogged;                     /* why no log gave a bundle; NULL = none was asked */
        struct slice whole; /* in place of all that: a blob of SIGNATURE_BUNDLE_TYPE, as cosign 3 has them */
};

struct signer_pattern {
        const struct regex *issuer, *subject;
};

/* Who may have signed: one of the keys, or, where there are none, whoever the root's authorities gave a
 * certificate and one of the patterns is for. */
struct signature_trust {
        EVP_PKEY **keys;
        size_t n_keys;
        const struct trusted_root *root;
        struct signer_pattern *signers;
        size_t n_signers; /* 0 = anybody */
};

/* All keys that end in ".pub", sorted. ERR_INVALID: there are none, or one is no good. */
int signature_trust_of_secret(const struct secret *s, struct arena *arena, struct signature_trust *ret,
                              struct error *err);
/* ERR_INVALID: a pattern is no regular expression. */
int signature_trust_of_signers(const struct signer_identity_list *l, const struct trusted_root *root,
                               struct arena *arena, struct signature_trust *ret, struct error *err);

/* Whether one of the signatures is good for the manifest with that digest ("sha256:..."), which messages call
 * `reference`: 0; ERR_FORBIDDEN, with what is wrong; ERR_NO_MEMORY. */
int signatures_check(const struct signature_trust *t, const char *digest, const char *reference,
                     const struct signature *all, size_t n, struct arena *arena, struct error *err);
