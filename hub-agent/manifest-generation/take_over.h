/* Fields that kubectl owned through its last-applied annotation become those of the sync, so that what is
 * removed in Git is removed on the hub. spec/flux-yaml.md 7.2.5. */
#pragma once

#include "common/kube/client.h"

/* A JSON patch, bound to the resourceVersion; *ret (new) NULL if there is nothing to take over. Pure. */
int take_over_patch(const json_t *live, const char *manager, json_t **ret, struct error *err);
/* Does it; live NULL: nothing. */
int take_over(struct kube_client *kube, const struct kube_resource *r, const json_t *live, struct error *err);
