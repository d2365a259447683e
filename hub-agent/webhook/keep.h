/* Objects that the agent keeps as they are to be, whole documents of kinds that are not the fleet's. */
#pragma once

#include "common/ctrl/controller.h"

/* Creates the object, or patches what differs, bound to the version that was read; what others added stays,
 * but in lists. `prepare` (may be NULL) may take over into `wanted` what the server's object has. `what` is
 * for the log: "a webhook configuration". */
int keep_object(struct reconcile *rc, const struct kube_resource *r, json_t *wanted, const char *what,
                int (*prepare)(const json_t *live, json_t *wanted, struct error *err));
