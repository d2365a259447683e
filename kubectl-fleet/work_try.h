/* A Work tried on a member: the member agent's own steps with dry runs, so that the member's server says what
 * would come of each object. Nothing is written. */
#pragma once

#include "kubectl-fleet/session.h"
#include "member-agent/apply/leftover.h"
#include "member-agent/apply/steps.h"
#include "proto/gen/kinds.h"

/* One manifest. Its result is that of the applier. */
struct work_trial {
        struct manifest *manifest;
        json_t *before, *after;     /* NULL = not there; after: what the server would have stored */
        bool taken, adopted, waits; /* struct object_steps */
        bool has_run;               /* a Job that went when it had finished: it is not made again */
};
/* An object that the AppliedWork lists and the Work does not. */
struct work_leftover {
        const struct applied_resource *object;
        json_t *live;
        enum leftover what;
        enum handover handover; /* unless it is LEFTOVER_GONE */
        const char *to;         /* HANDOVER_GIVE: the Work that gets it */
        const char *problem;    /* why it cannot be looked at or removed; NULL = it can */
};
struct work_tries {
        const struct work *work;
        struct strategy strategy;
        struct work_trial *trials; /* in the Work's order */
        size_t n_trials;
        struct work_leftover *leftovers;
        size_t n_leftovers;
};
/* The session is connected to both. What goes wrong with one object stands with it. */
int work_try(struct session *s, const struct work *w, struct work_tries *ret, struct error *err);
