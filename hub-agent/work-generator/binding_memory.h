/* What the work generator remembers about a binding. */
#pragma once

#include "common/base/vec.h"
#include "hub-agent/agent.h"

struct work_generation {
        uint64_t work; /* hash of its uid */
        int64_t generation;
};
struct binding_memory {
        struct memory memory;
        struct hold hold;
        int64_t rollout_generation; /* RolloutStarted=True is due for this generation; 0 = none */
        bool passed;                /* this process has looked at the Works before */
        bool works_changed;         /* since the status was last written, as far as is known */
        /* Its Available began at a moment (wall clock) yet to come, and was seen so since then (loop time).
         */
        int64_t ahead_until_ms, ahead_since_ms;
        int64_t waiting_since_ms; /* for where the Works go, or for the cache; 0 = it does not */
        VEC(struct work_generation) generations; /* of Works as this process left them */
        struct map known_works;                  /* name -> struct known_work; none until one is asked for */
};

/* What the manifests of the binding's live Works are, for those that members say something about; read from
 * the server once per generation, as caches hold no manifests and a member's word for it is not taken. The
 * lists live as long as the pass. ERR_RETRY if a Work is newer than its cached state. */
int identify_works(struct reconcile *rc, struct binding_memory *m, const struct object_list *live,
                   const struct resource_identifier_list **ret);
void known_works_free(struct binding_memory *m);

/* Works that somebody else changed. A Work of the right index is not compared with what it should hold, as
 * caches hold no manifests; but its generation moves only when this process writes it. What was changed while
 * no process was leading is not noticed. */
bool work_is_as_left(struct binding_memory *m, const struct object *work); /* one never seen is */
/* `stored`: the answer to a write of `before`. A write that gives it its whole content settles the matter. */
void work_was_written(struct binding_memory *m, const struct object *before, const struct object *stored,
                      bool content);
void generations_free(struct binding_memory *m);

/* The rollout let this binding go on: the work generator takes it up, and writes RolloutStarted=True together
 * with what comes of its Works. */
void binding_rollout_started(struct reconcile *rc, const struct object *b);
