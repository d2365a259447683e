/* Whether an entry is in a log of signatures that promises nothing and proves it instead: a path of hashes to
 * the head of the log's tree, which the log signed (RFC 6962 2.1; a checkpoint in the form of signed notes).
 * Pure. */
#pragma once

#include "common/json/doc.h"
#include "hub-agent/source/verify/trusted_root.h"

#define LOG_PROOF_HASHES 64

/* Of an entry as bundles have them; the log was trusted at that time. ERR_INVALID names the field. */
int log_proof_check(const json_t *entry, const struct trusted_root *root, int64_t wall_ms,
                    struct arena *arena, struct slice *ret_body, struct error *err);
