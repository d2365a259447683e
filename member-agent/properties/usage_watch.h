/* Keeps a struct usage true by following nodes and pods. */
#pragma once

#include "member-agent/properties/usage.h"
#include "member-agent/watch/follower.h"

struct usage_watch;
struct usage_watch *usage_watch_new(struct kube_client *kube, struct fiber_group *group, struct error *err);
struct usage_watch *usage_watch_free(struct usage_watch *w);
/* NULL until nodes and pods were listed once; *ret_problem (may be NULL) says what is in the way. */
const struct usage *usage_watch_get(const struct usage_watch *w, const char **ret_problem);
