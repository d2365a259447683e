/* Whom signatures without a key of one's own are trusted through: certificate authorities (Fulcio), logs of
 * signatures (Rekor), logs of certificates, and who says what time it was. Read from a file in the format
 * trusted_root.json (media type application/vnd.dev.sigstore.trustedroot+json;version=0.1), never from the
 * network. Pure. spec/helm-chart.md 11. */
#pragma once

#include <openssl/x509.h>

#include "common/base/arena.h"
#include "common/base/text.h"

#define TRUSTED_ROOT_BYTES (1u << 20)
#define TRUSTED_ROOT_ENTRIES 100 /* of each kind */

struct trusted_time {
        int64_t from_ms, to_ms; /* wall, both included */
};

struct trusted_authority {
        X509 *anchor;             /* the last of its chain */
        STACK_OF(X509) * between; /* the others */
        struct trusted_time time;
};

struct trusted_log {
        const char *url;
        struct slice id; /* bytes */
        EVP_PKEY *key;
        struct trusted_time time;
};

struct trusted_root {
        struct trusted_authority *authorities, *clocks; /* the latter sign times (RFC 3161) */
        struct trusted_log *signature_logs, *certificate_logs;
        size_t n_authorities, n_clocks, n_signature_logs, n_certificate_logs;
};

/* As long as the arena. ERR_INVALID names the field: "certificateAuthorities[0]: ...". */
int trusted_root_read(struct slice text, struct arena *arena, const struct trusted_root **ret,
                      struct error *err);
struct slice trusted_root_built_in(void); /* that of the public instance, sigstore.dev */
bool trusted_at(const struct trusted_time *t, int64_t wall_ms);
/* The log of that id which was trusted then; NULL: none. */
const struct trusted_log *trusted_log_find(const struct trusted_log *logs, size_t n, struct slice id,
                                           int64_t wall_ms);
