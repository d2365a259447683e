/* From what came of each object in a pass to what is found of the set: spec/cluster-object-set.md 3 (steps 11
 * and 12), 4.3, 9, 10.4. Pure. */
#pragma once

#include "member-agent/object-set/judge.h"

struct object_outcome {
        const struct set_object *object;
        const char *error;     /* why it could not be looked at or written; NULL = it could */
        const char *collision; /* claim_collision_words(); NULL = none */
        const char *unready;   /* what its probes say; NULL or "" = it is ready */
        bool progressed;       /* a later sibling has it */
        bool going;            /* being deleted, and made again afterwards */
};
struct phase_outcome {
        const char *refused; /* check_phase_words(): nothing of it was applied; NULL = nothing is refused */
        struct object_outcome *at;
        size_t n;
};

/* Whether the next phase may begin. What a set has handed over is its successor's business once it has
 * succeeded: then only what it still controls counts. */
bool outcome_is_complete(const struct cluster_object_set *s, const struct phase_outcome *p);
/* Fills in the finding, its words and the phase. `reached`: the outcomes of the first phases of the set. */
int outcome_find(const struct cluster_object_set *s, const struct phase_outcome *reached, size_t n,
                 struct arena *arena, struct judge_input *io, struct error *err);
