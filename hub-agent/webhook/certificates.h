/* The webhooks' own certificates, which all replicas share in a Secret: spec/membership-webhooks-charts.md
 * 4.2. Pure but for keys and serial numbers. */
#pragma once

#include "common/json/doc.h"
#include "common/net/cert.h"

#define WEBHOOK_CERTIFICATE_DAYS 3650
#define WEBHOOK_CERTIFICATE_RENEW_DAYS 365 /* so long before its end another one is made */

struct webhook_certificates {
        struct tls_identity identity;
        char *authorities; /* PEM; the newest first, then the one before it: what configurations are given */
        int64_t renew_ms;  /* wall time */
};
void webhook_certificates_free(struct webhook_certificates *c);

/* A new authority and a certificate of it for the service's two DNS names, as the Secret `name` of the
 * namespace. `before` is the authority whose certificates other replicas may still serve; may be NULL. *ret
 * is new. */
int webhook_certificates_make(const char *ns, const char *name, const char *service, const char *before,
                              int64_t now_ms, json_t **ret, struct error *err);
/* Reads such a Secret. ERR_INVALID: it holds nothing that can be served, and what is wrong. */
int webhook_certificates_read(const json_t *secret, struct webhook_certificates *ret, struct error *err);
