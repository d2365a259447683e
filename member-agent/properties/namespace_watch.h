/* Keeps struct namespaces true by following the cluster's namespaces. */
#pragma once

#include "member-agent/properties/namespaces.h"
#include "member-agent/watch/follower.h"

struct namespace_watch;
struct namespace_watch *namespace_watch_new(struct kube_client *kube, struct fiber_group *group,
                                            struct error *err);
struct namespace_watch *namespace_watch_free(struct namespace_watch *w);
/* NULL until they were listed once, and for no watch; *ret_problem (may be NULL) says what is in the way. */
const struct namespaces *namespace_watch_get(const struct namespace_watch *w, const char **ret_problem);
