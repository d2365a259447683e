/* What a binding's Works hold, from the caches: for whoever writes them, and for whoever tells what they
 * would hold. */
#pragma once

#include "hub-agent/agent.h"
#include "hub-agent/override/override.h"
#include "hub-agent/work-generator/work_generator.h"

/* `snapshots` are the placement's, `master` the head of the group; `overrides` are overrides_of_binding()'s.
 * As render_works() fails; ERR_RETRY while the group is incomplete. */
int render_for_binding(struct reconcile *rc, const struct object_list *snapshots, const struct object *master,
                       struct override_applier *overrides, struct wanted_works *ret,
                       bool *ret_override_failed);
