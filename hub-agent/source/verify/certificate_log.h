/* Whether a log of certificates has seen one, which it says in the certificate itself (RFC 6962). Pure. */
#pragma once

#include "hub-agent/source/verify/trusted_root.h"

/* Whether one of the timestamps that are embedded is of a log of the trusted root. ERR_FORBIDDEN, or
 * ERR_NO_MEMORY. */
int certificate_log_check(X509 *leaf, X509 *issuer, const struct trusted_root *root, struct error *err);
