/* Keeps a struct usage true by following nodes and pods. */
#pragma once

#include "member-agent/properties/usage.h"
#include "member-agent/watch/follower.h"

struct usage_watch;
/* Without `pods` nothing is known of what is taken. */
struct usage_watch *usage_watch_new(struct kube_client *kube, struct fiber_group *group, bool pods,
                                    struct error *err);
struct usage_watch *usage_watch_free(struct usage_watch *w);
/* NULL until nodes and pods were listed once; *ret_problem (may be NULL) says what is in the way. */
const struct usage *usage_watch_get(const struct usage_watch *w, const char **ret_problem);
bool usage_watch_sees_pods(const struct usage_watch *w);
/* Whether what it knows is as it is now: no watch is broken. */
bool usage_watch_current(const struct usage_watch *w);
