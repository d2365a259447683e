/* Shared by matching and applying. */
#pragma once

#include "hub-agent/common.h"

/* Whether a rule concerns a cluster: 1, 0, or ERR_INVALID for a broken selector.
 * spec/rollout-and-work.md 3.2. */
int override_rule_matches(const struct override_rule *rule, const struct member_cluster *cluster,
                          struct error *err);
