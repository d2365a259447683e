/* What the work generator remembers about a binding. */
#pragma once

#include "hub-agent/agent.h"

struct binding_memory {
        struct memory memory;
        struct hold hold;
        int64_t rollout_generation; /* RolloutStarted=True is due for this generation; 0 = none */
        bool passed;                /* this process has looked at the Works before */
        bool works_changed;         /* since the status was last written, as far as is known */
        int64_t waiting_since_ms;   /* for where the Works go, or for the cache; 0 = it does not */
        struct map known_works;     /* name -> struct known_work; none until one is asked for */
};

/* What the manifests of the binding's live Works are, for those that members say something about; read from
 * the server once per generation, as caches hold no manifests and a member's word for it is not taken. The
 * lists live as long as the pass. ERR_RETRY if a Work is newer than its cached state. */
int identify_works(struct reconcile *rc, struct binding_memory *m, const struct object_list *live,
                   const struct resource_identifier_list **ret);
void known_works_free(struct binding_memory *m);

/* The rollout let this binding go on: the work generator takes it up, and writes RolloutStarted=True together
 * with what comes of its Works. */
void binding_rollout_started(struct reconcile *rc, const struct object *b);
