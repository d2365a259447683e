/* Keeps the admission policies of the agent as they are to be, and takes away those it made and does not want
 * any more: spec/membership-webhooks-charts.md 6. By the leader alone, and again when somebody edits one. */
#pragma once

#include "hub-agent/common.h"

extern const struct controller admission_policies_controller;
/* Before manager_run(). With `follow` edits of the objects are followed. 0 or ERR_NO_MEMORY. */
int admission_policies_start(struct manager *m, bool follow, struct error *err);
