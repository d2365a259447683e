/* Which objects are not to become ready: rules by kind, namespace and name, for devcluster's simulated
 * workloads and for the pretended kubelets of e2e/kube. The rules are a map; initialise it with map_init().
 */
#pragma once

#include "common/base/map.h"
#include "common/json/doc.h"

/* kind, ns and name NULL = any. ready = true takes away the rule that was set with the same three. */
int readiness_set(struct map *rules, const char *kind, const char *ns, const char *name, bool ready);
bool readiness_is_held(const struct map *rules, const char *kind, const char *ns, const char *name);
/* An object can also say so itself: annotation devcluster.argosy.dev/never-ready="true" on it or on its pod
 * template. */
bool readiness_is_refused(const json_t *doc);
