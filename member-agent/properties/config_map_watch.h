/* Follows one ConfigMap. */
#pragma once

#include "member-agent/watch/follower.h"
#include "proto/gen/kinds.h"

struct config_map_watch;
/* The texts are borrowed. */
struct config_map_watch *config_map_watch_new(struct kube_client *kube, struct fiber_group *group,
                                              const char *ns, const char *name, struct error *err);
struct config_map_watch *config_map_watch_free(struct config_map_watch *w);
/* Whether it was looked for; *ret NULL: there is none. *ret_problem (may be NULL): what is in the way. */
bool config_map_watch_get(const struct config_map_watch *w, const struct config_map **ret,
                          const char **ret_problem);
