/* The Work's status, from a pass to the hub. */
#pragma once

#include "member-agent/apply/pass.h"
#include "member-agent/apply/source.h"

/* What the hub is to be told of this pass. */
int report_build(const struct pass *p, const struct source *s, struct work_status **ret, struct error *err);
/* Keeps it in the state file and writes the difference to the hub, if there is one. ERR_RETRY while the hub
 * is not there: it is told later. */
int report_write(struct pass *p, const struct source *s, struct work_status *status, struct error *err);
/* Counts the pass and its manifests: spec/member-agent.md 2.18. */
void report_count(const struct pass *p, const struct work_status *s);
