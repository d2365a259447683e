/* How one signature is judged. Internal to the folder. */
#pragma once

#include "hub-agent/source/verify/log_entry.h"
#include "hub-agent/source/verify/signatures.h"

struct judging {
        const struct signature_trust *trust;
        const char *digest; /* of the manifest, "sha256:..." */
        const struct signature *signature;
        struct arena *arena;
        struct error *err;
};

/* What stands in a signature, wherever it stands there. */
struct claim {
        struct slice signed_bytes; /* empty: there is only their hash, which is the one below */
        struct slice value;
        bool in_envelope;
        uint8_t hash[SHA256_SIZE]; /* of the payload, as the log has it */
        X509 *leaf;                /* the signer's certificate */
        STACK_OF(X509) * given;
        struct log_entry entry;
};

/* ERR_NOT_FOUND: none of the keys signed it. */
int judge_keyed(const struct judging *j, const struct claim *c);
/* Whether the certificate was trusted when the log took the signature in, and the signature is by its key;
 * ERR_FORBIDDEN. Whose it is, judge_signer() says. */
int judge_keyless(const struct judging *j, const struct claim *c);
int judge_signer(const struct judging *j, const struct claim *c);
/* A whole bundle. */
int judge_bundle(const struct judging *j);
