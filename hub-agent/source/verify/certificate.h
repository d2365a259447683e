/* Certificates of signers: whether an authority of the trusted root issued them for signing code, a log of
 * certificates knows of them, and whom they are of. Pure. spec/helm-chart.md 11. */
#pragma once

#include "hub-agent/source/verify/signatures.h"

#define CERTIFICATES_MAX 10 /* of one chain */

/* As long as the arena. ERR_INVALID. */
int certificate_of_der(struct slice der, struct arena *arena, X509 **ret, struct error *err);
int certificate_of_pem(struct slice pem, struct arena *arena, X509 **ret, struct error *err);
int certificates_new(struct arena *arena, STACK_OF(X509) * *ret, struct error *err); /* does not own them */
/* Adds all in the text, which may be NULL. */
int certificates_of_pem(const char *pem, struct arena *arena, STACK_OF(X509) * to, struct error *err);

/* Whether it is trusted at that time; `given` helps to find the way to an authority. ERR_FORBIDDEN says why
 * not. */
int certificate_check(X509 *leaf, STACK_OF(X509) * given, const struct trusted_root *root, int64_t wall_ms,
                      struct arena *arena, struct error *err);
/* Whether it is of one of the signers; of none of them: ERR_FORBIDDEN names its own. */
int certificate_check_signer(X509 *leaf, const struct signer_pattern *signers, size_t n, struct arena *arena,
                             struct error *err);
