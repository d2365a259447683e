/* Defaults of the built-in kinds that no OpenAPI document carries: what kube-apiserver fills in on every
 * write. Pure: nothing is allocated from a pool here (addresses, ports, uids are devcluster's business). */
#pragma once

#include "common/json/doc.h"

/* In place; absent parents stay absent. group "" for core. Kinds without defaults are left as they are. 0 or
 * ERR_NO_MEMORY. */
int builtin_set_defaults(const char *group, const char *kind, json_t *doc);
