/* A Work as it is applied: how, where, and its manifests with the resources that serve them:
 * spec/member-agent.md 2.1, 2.3. */
#pragma once

#include "common/kube/mapping.h"
#include "member-agent/apply/manifest.h"
#include "proto/gen/kinds.h"

int strategy_of_work(const struct work *w, struct strategy *ret, struct error *err);
/* The only namespace that this Work may reach: that of its placement, or of the ResourceEnvelope it was in.
 * NULL = all of the cluster. */
const char *work_only_namespace(const struct work *w);
/* Finds the resource of a manifest and checks that it may be there: fills resource, or the result
 * DecodingErred. */
int manifest_map(struct manifest *m, struct kube_mapper *mapper, const char *only_ns, struct arena *arena,
                 struct error *err);
/* All of them, in their order; what is wrong with one is its result. */
int manifests_of_work(const struct work *w, struct kube_mapper *mapper, struct arena *arena,
                      struct manifest **ret, size_t *ret_n, struct error *err);
