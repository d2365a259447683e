/* The copy of a ClusterResourcePlacement's status inside the namespace it places, for users who may read only
 * there (statusReportingScope NamespaceAccessible). Pure. spec/placement.md 11. */
#pragma once

#include "hub-agent/common.h"

bool mirror_wanted(const struct placement *p);
/* The namespace the placement names; NULL when its namespace selector goes by label. */
const char *mirror_target(const struct placement *p);
/* The namespace it placed so far; NULL if none. */
const char *mirror_placed(const struct placement *p);
/* Why the placement must not go on: words for its Scheduled condition. *ret NULL = it may. spec 11.1. */
int mirror_check(struct arena *arena, const struct placement *p, const char **ret, struct error *err);
extern const char mirror_no_target[]; /* the words when mirror_target() is NULL */

/* What the copy in `ns` is to look like. `existing` may be NULL. *ret NULL = it is right as it is: the copy
 * is written only when the status changed, so lastUpdatedTime tells when it did. */
int mirror_plan(struct arena *arena, const struct placement *p, const char *ns,
                const struct cluster_resource_placement_status *existing, int64_t now_ms,
                struct cluster_resource_placement_status **ret, struct error *err);
/* The placement with condition StatusSynced: True for a copy in `ns`, or False with the failure's text.
 * NULL on no memory. */
struct placement *mirror_result(struct arena *arena, const struct placement *p, const char *ns,
                                const char *failure, int64_t now_ms);
