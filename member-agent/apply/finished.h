/* Jobs that go when they have finished: what the servers tell of one that is gone. Pure. */
#pragma once

#include "member-agent/apply/manifest.h"
#include "proto/gen/kinds.h"

/* The hub says (`told`: the Work's status, NULL = nothing) whether that very generation of the Work had it
 * applied, and the AppliedWork that it was on this cluster: its uid. NULL: it was not, or they cannot tell.
 */
const char *finished_told_uid(const struct work_status *told, int64_t generation,
                              const struct applied_work *applied, const struct manifest *m);
