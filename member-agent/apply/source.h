/* The Work that a pass is about: from the hub, or from the last run. Everything lives in the reconcile's
 * arena. */
#pragma once

#include "common/ctrl/controller.h"
#include "member-agent/agent.h"

struct source {
        const struct work *seen;    /* the hub's projection; NULL while the hub is unknown or the Work gone */
        struct work *whole;         /* manifests included */
        struct work_status *before; /* the last status we know to be, or to be wanted, on the hub */
        bool before_on_hub;         /* the hub has `before` */
        bool before_kept;           /* the state file says so, of this generation */
        const struct object *at;    /* the version on the hub that `before` is of; NULL while it is unknown */
        size_t bytes;               /* of the Work without status, as JSON */
};

/* The answer of the write is the whole Work, so a new Work costs no read. `seen` is there. */
int source_add_finalizer(struct reconcile *rc, struct member_agent *a, struct source *s);
/* Fills `whole` and `before`; what the state file has for this generation is not read from the hub again.
 * ERR_NOT_FOUND if neither has the Work. */
int source_load(struct member_agent *a, const char *name, struct arena *arena, struct source *s,
                struct error *err);
