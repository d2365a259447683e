/* The part of JSONPath that printer columns use: .a.b, ['a.b'], a\.b, [0], [*], [?(@.type=="Ready")]. */
#pragma once

#include "common/json/doc.h"

/* First value the path leads to (borrowed), or NULL. ERR_INVALID only for a path that cannot be read. */
int jsonpath_first(const json_t *doc, const char *path, const json_t **ret);
int jsonpath_check(const char *path, struct error *err);
