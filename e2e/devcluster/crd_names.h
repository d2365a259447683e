/* What a CustomResourceDefinition's status says of its names: which of them are its own, and whether it is
 * served. kube-apiserver's controllers say it a few milliseconds after the write, here it comes with it. */
#pragma once

#include "e2e/devcluster/request.h"

/* conditions and acceptedNames of `doc`; live NULL on create. 0 or ERR_NO_MEMORY. */
int crd_set_names_status(struct request *rq, const json_t *live, json_t *doc);
/* A definition of the group has gone: another one that waited for its names may have them now. */
void crd_names_freed(struct devcluster *d, struct cluster *c, const char *group);
