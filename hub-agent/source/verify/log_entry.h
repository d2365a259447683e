/* What a log of signatures (Rekor) says of one: that it was there at a time. Pure. spec/helm-chart.md 11.4.
 */
#pragma once

#include "common/base/digest.h"
#include "hub-agent/source/verify/signatures.h"

struct log_entry {
        int64_t wall_ms; /* when it was put into the log */
        struct slice body;
};

/* What a log promised to take in. */
struct log_promise {
        const char *signature, *body; /* base64 */
        const char *log;              /* hex */
        int64_t seconds, index;
};

/* Whether it is of a log of the root. ERR_INVALID names the field as bundles of cosign do. */
int log_promise_check(const struct log_promise *p, const struct trusted_root *root, struct arena *arena,
                      struct log_entry *ret, struct error *err);
/* Of the annotation dev.sigstore.cosign/bundle. ERR_FORBIDDEN. */
int log_entry_read(const char *bundle, const struct trusted_root *root, struct arena *arena,
                   struct log_entry *ret, struct error *err);
/* Whether the entry is of that signature, by that certificate, of the payload with that hash, which stands in
 * an envelope or by itself. ERR_FORBIDDEN. */
int log_entry_check(const struct log_entry *e, bool in_envelope, const uint8_t hash[SHA256_SIZE],
                    struct slice signature, X509 *leaf, struct arena *arena, struct error *err);
