/* Makes the plan of what a stage's clusters get (update_plan.h) from the caches: both what they have and what
 * they get is rendered as it is for their Works. */
#pragma once

#include "hub-agent/agent.h"
#include "hub-agent/staged-update/update_plan.h"

/* The plan made last: it need not be made again while what it was made from is the same. */
struct plan_memory {
        char fingerprint[65], hash[65];
};
struct plan_question {
        const struct update_run *run;
        const struct stage_status *stage;
        bool removal;                                   /* the clusters lose the placement */
        const struct object_list *bindings, *snapshots; /* of the placement */
        const char *known;                              /* hash of the plan that is shown; NULL = none is */
};
/* rc: under the key of the placement. *ret NULL: it is the known one. Parks. */
int make_update_plan(struct reconcile *rc, const struct plan_question *q, struct plan_memory *m,
                     struct update_plan **ret, const char **ret_hash);
