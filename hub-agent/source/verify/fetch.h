/* Fetches what a manifest of a registry is signed with, and judges it. spec/helm-chart.md 11.2, 11.4. */
#pragma once

#include "hub-agent/registry/registry.h"
#include "hub-agent/source/verify/signatures.h"

#define SIGNATURE_TOTAL_BYTES (16u << 20) /* of all that is fetched for one manifest */

/* Parks, until the transfer's deadline at most. 0: one of them is good. Whatever else, but for memory and
 * cancellation, is ERR_FORBIDDEN: "failed to verify REFERENCE: ...", "no matching signatures were found for
 * 'REFERENCE'". */
int signatures_verify(struct registry *r, const struct signature_trust *t, const char *digest,
                      const char *reference, struct error *err);
