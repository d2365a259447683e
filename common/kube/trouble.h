/* What can be wrong with the way to an API server, in words: one table for the agents' logs, /readyz, events
 * and docs/troubleshooting.md. */
#pragma once

#include "common/kube/client.h"

struct kube_trouble {
        const char *reason;  /* as in struct error, events and the metric's label */
        const char *words;   /* what is wrong */
        const char *mend;    /* what to do */
        int64_t patience_ms; /* told only when it lasts that long; 0 = as long as others */
};
extern const struct kube_trouble kube_troubles[];
extern const size_t n_kube_troubles;

#define KUBE_REASON_NOT_KUBERNETES "NotKubernetes" /* HTML, or another stranger's answer */
#define KUBE_REASON_VERSION "VersionUnsupported"   /* set by kube_version_check */
#define KUBE_REASON_RIGHT_MISSING "RightMissing"   /* RBAC; other refusals with 403 are no trouble */
#define KUBE_REASON_SERVER_ERROR "ServerError"     /* even to the question for its version */

const struct kube_trouble *kube_trouble_named(const char *reason); /* NULL if it is none */
/* The table's row for an error of a call; NULL if the server was reached and answered as one does. */
const struct kube_trouble *kube_trouble_of(const struct error *err);
/* Kubernetes says 401 to every bad credential and not why. What can be seen from here: a token or client
 * certificate that ended, an audience that is not the server's. Sets err->reason to one of the table, and
 * adds to err->text what the credential is (never the credential). A 403 of RBAC gets
 * KUBE_REASON_RIGHT_MISSING, a failure without an answer or a reason one of HTTP_REASON_.... Other errors are
 * left as they are. */
void kube_trouble_explain(struct kube_client *k, struct error *err);
