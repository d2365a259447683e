/* Asks the logs of signatures of the trusted root for entries of signatures that came without. spec/
 * helm-chart.md 11.4. */
#pragma once

#include "hub-agent/source/verify/signatures.h"
#include "hub-agent/transfer/transfer.h"

#define LOG_LOOKUPS_MAX 10            /* signatures that are asked for */
#define LOG_ANSWER_BYTES (256u << 10) /* of one answer */

/* Each that has a certificate and no bundle gets one, or `unlogged` says why not; what a log says is not
 * judged. Parks; ERR_NO_MEMORY and ERR_CANCELLED only. */
int log_look_up(struct transfer *t, const struct trusted_root *root, struct signature *all, size_t n,
                struct error *err);
