/* What the work generator remembers about a binding. */
#pragma once

#include "common/base/vec.h"
#include "hub-agent/agent.h"
#include "hub-agent/work-generator/work_generator.h"

struct work_generation {
        uint64_t work; /* hash of its uid */
        int64_t generation;
};
struct binding_memory {
        struct memory memory;
        struct hold hold;
        int64_t rollout_generation; /* RolloutStarted=True is due for this generation; 0 = none */
        char *rollout_message;      /* its words, owned; NULL = those of a rolling update */
        bool passed;                /* this process has looked at the Works before */
        bool creation_in_doubt;     /* of a Work: nobody answered, and the cache may not have it yet */
        bool works_changed;         /* since the status was last written, as far as is known */
        /* Its Available began at a moment (wall clock) yet to come, and was seen so since then (loop time).
         */
        int64_t ahead_until_ms, ahead_since_ms;
        int64_t waiting_since_ms; /* for where the Works go, or for the cache; 0 = it does not */
        VEC(struct work_generation) generations; /* of Works without a mark, as they were first seen */
        struct map known_works;                  /* name -> struct known_work; none until one is asked for */
};

/* What the manifests of the binding's live Works are, for those that members say something about; read from
 * the server once per generation, as caches hold no manifests and a member's word for it is not taken. The
 * lists live as long as the pass. ERR_RETRY if a Work is newer than its cached state. */
int identify_works(struct reconcile *rc, struct binding_memory *m, const struct object_list *live,
                   const struct resource_identifier_list **ret);
void known_works_free(struct binding_memory *m);

/* Works that somebody else changed. A Work of the right index is not compared with what it should hold, as
 * caches hold no manifests; but each write of ours marks it with the generation that it has afterwards
 * (ANNOTATION_WORK_GENERATION), whoever leads when it moves on. A Work without a mark, such as another
 * agent's, counts as left as it was first seen by this process. */
bool work_is_as_left(struct binding_memory *m, const struct object *work);
/* Marks w->wanted before it is written over w->now, which is `as_left` or not. `content`: it gives the Work
 * all that it should hold, which settles the matter; otherwise one that was not as left stays so. */
int work_promise(const struct work_write *w, bool content, bool as_left, struct arena *arena);
/* Marks `wanted`, a copy of the answer to such a write, with the generation that it has: what a server makes
 * of a spec may be what it was. */
int work_keep_promise(const struct object *stored, struct object *wanted, struct arena *arena);
void generations_free(struct binding_memory *m);

/* The rollout let this binding go on: the work generator takes it up, and writes RolloutStarted=True together
 * with what comes of its Works. `message` NULL: that of a rolling update; with any other the condition begins
 * anew. */
void binding_rollout_started(struct reconcile *rc, const struct object *b, const char *message);
/* The message with which that is due for the binding as it is; until the next one. NULL: none is, as far as
 * this process knows, or that of a rolling update. */
const char *binding_message_due(struct reconcile *rc, const struct object *b);
