/* What the work generator remembers about a binding. */
#pragma once

#include "hub-agent/agent.h"

struct binding_memory {
        struct memory memory;
        struct hold hold;
        int64_t rollout_generation; /* RolloutStarted=True is due for this generation; 0 = none */
        bool passed;                /* this process has looked at the Works before */
        bool works_changed;         /* since the status was last written, as far as is known */
};

/* The rollout let this binding go on: the work generator takes it up, and writes RolloutStarted=True together
 * with what comes of its Works. */
void binding_rollout_started(struct reconcile *rc, const struct object *b);
