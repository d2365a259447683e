/* Events are one table, which two groups show: core and events.k8s.io name its fields differently. Stored is
 * the core shape. */
#pragma once

#include "common/json/doc.h"

/* In place, field names and apiVersion; values stay. 0 or ERR_NO_MEMORY. */
int event_to_core(json_t *doc);
int event_from_core(json_t *doc);
