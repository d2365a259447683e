/* What kube-apiserver refuses in objects of the built-in kinds beyond required fields and types. Pure; what
 * needs the live object or the cluster is in the hooks. */
#pragma once

#include "common/json/schema.h"

/* Appends to problems. 0 or ERR_NO_MEMORY. */
int builtin_validate(const char *group, const char *kind, const json_t *doc, struct schema_problems *p);
/* The same for what may not change; both documents are complete. */
int builtin_validate_update(const char *group, const char *kind, const json_t *live, const json_t *doc,
                            struct schema_problems *p);
