/* Data of other ConfigMaps and Secrets: spec/resource-set.md 6.1. */
#pragma once

#include "common/kube/client.h"
#include "hub-agent/common.h"

/* "namespace/name" of what an object is to be filled from, as it was written; NULL = nothing. */
const char *copied_from(const json_t *doc);
/* Reads that and puts it into `doc`. ERR_INVALID: the value is not of that form. */
int copied_fill(struct kube_client *kube, struct arena *arena, json_t *doc, const char *value,
                struct error *err);
