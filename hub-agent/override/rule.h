/* Shared by matching and applying. */
#pragma once

#include "hub-agent/override/override.h"

/* "${MEMBER-CLUSTER-LABEL-KEY-<key>}" */
#define OVERRIDE_LABEL_VARIABLE "${MEMBER-CLUSTER-LABEL-KEY-"

/* Whether a rule concerns a cluster: 1, 0, or ERR_INVALID for a broken selector.
 * spec/rollout-and-work.md 3.2. */
int override_rule_matches(const struct override_rule *rule, const struct member_cluster *cluster,
                          struct error *err);

#define OVERRIDE_WORK_OF_RULE 1024
/* Counts bytes that were looked at, or as much work as so many: others get a turn now and then. 0, or
 * ERR_CANCELLED. */
int override_work(struct override_applier *a, size_t amount, struct error *err);
