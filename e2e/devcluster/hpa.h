/* HorizontalPodAutoscaler between autoscaling/v1 and v2: the one built-in kind whose versions differ in
 * shape. */
#pragma once

#include "common/json/doc.h"

/* In place, before apiVersion is set and the target's schema prunes. 0 or ERR_NO_MEMORY. */
int hpa_convert(json_t *doc, const char *to_version);
