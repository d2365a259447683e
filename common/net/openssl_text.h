/* What OpenSSL says, as our errors. Internal to common/net. */
#pragma once

#include "common/base/error.h"

#include <openssl/x509.h>

/* Takes the oldest of OpenSSL's queued errors, empties the queue: "context: openssl's words". */
int openssl_error(struct error *err, enum error_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Reading PEM text; NULL and err on failure. The caller frees with X509_free, EVP_PKEY_free. */
X509 *openssl_read_cert(const char *pem, struct error *err);
EVP_PKEY *openssl_read_key(const char *pem, struct error *err);
/* CN and O values of a name, see cert_read_subject(). */
int openssl_read_name(const X509_NAME *name, char **ret_common_name, char ***ret_organizations,
                      struct error *err);
