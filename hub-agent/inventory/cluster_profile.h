/* The cluster inventory: for each member that has joined a ClusterProfile, in the form that other tools of
 * the Kubernetes multicluster project read. Pure. spec/membership-webhooks-charts.md 3; spec/api.md 6, 12.10.
 */
#pragma once

#include "hub-agent/common.h"

#define CLUSTER_PROFILE_NAMESPACE NAMESPACE_FLEET_SYSTEM

/* Joined for this generation: only then the profile is made, or changed. */
bool member_is_in_inventory(const struct member_cluster *m);

const char *profile_manager(const struct cluster_profile *p); /* "" = none is named */
bool profile_is_ours(const struct cluster_profile *p);

/* The profile with the label and spec that are due; `now` is the one that is there, NULL if none. NULL on no
 * memory. */
struct cluster_profile *profile_with_spec(struct arena *arena, const struct member_cluster *m,
                                          const struct cluster_profile *now);
/* The same profile with the status that follows from the member's; also that the member is silent is said
 * there. NULL on no memory. */
struct cluster_profile *profile_with_status(struct arena *arena, const struct member_cluster *m,
                                            const struct cluster_profile *now, int64_t now_ms);

/* Whether what became of the member changes anything that the profile is made of. A heartbeat alone does not.
 */
bool profile_is_touched(const struct member_cluster *before, const struct member_cluster *now);
