/* Whether a live object is as it is wanted, by the rules of kstatus and for placements by those of the fleet.
 * Pure. spec/resource-set.md 10. */
#pragma once

#include "hub-agent/common.h"

enum object_health {
        HEALTH_CURRENT,
        HEALTH_IN_PROGRESS,
        HEALTH_FAILED,
        HEALTH_TERMINATING,
        HEALTH_NOT_FOUND
};

/* `live` NULL = it is not there. Wall time: a Pod may wait 15 s for a node. */
enum object_health health_of(const json_t *live, int64_t now_ms);
const char *health_word(enum object_health h); /* "InProgress" */
/* Of a kind whose Ready condition says all: every one is True, and of the current generation. */
bool health_is_ready(const json_t *live);
/* The status of a condition; "" if there is none. */
const char *doc_condition(const json_t *live, const char *type, const char *field);
