/* Which lists of the built-in kinds merge by key in a strategic merge patch. Only what differs from "maps
 * merge, lists are replaced" is written down; every other field is of any shape. */
#pragma once

#include "common/json/schema.h"

/* The merge schema of a kind known to the standard Kubernetes clients; NULL for custom resources, and for
 * CustomResourceDefinition and APIService, which those clients treat as such. */
const struct schema *merge_keys_of(const char *group, const char *kind);
