/* What a member has decided for good: a ClusterObjectSet whose successor archived it there stays archived,
 * though the hub's copy, which nobody acts on, goes on to say Active (spec/cluster-object-set.md 17.5). The
 * API server would refuse to go back, so the two states are equal: no patch, no failure, no drift, no diff.
 */
#pragma once

#include "common/json/doc.h"

/* Whether it is so decided against the manifest. */
bool archived_applies(const json_t *manifest, const json_t *live);
/* Makes a manifest, a copy of the pass's own, wish for that state where the live object has it. */
int archived_settle(json_t *manifest, const json_t *live, struct error *err);
