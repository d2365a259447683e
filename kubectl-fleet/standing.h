/* How far a placement has come on one cluster, in a word, from the conditions of its binding or of the
 * placement's status (spec/api.md 12.4, 12.6). Pure. */
#pragma once

#include "kubectl-fleet/screen.h"
#include "proto/object.h"

enum standing { STANDING_WAITS, STANDING_BUSY, STANDING_DONE, STANDING_FAILED };

struct cluster_word {
        enum standing standing;
        const char *word;
        const struct condition *because; /* what tells it; NULL = nothing does */
};
/* Conditions that speak of another generation are not looked at. */
struct cluster_word cluster_word_of(const struct condition_list *l, int64_t generation);

/* The same for many clusters in a row: conditions that stand at the same place as the last ones, as in
 * objects that share them, are not looked at again. Begins as { 0 }; good while the objects live. */
struct cluster_words {
        const struct condition *at;
        uint32_t n;
        int64_t generation;
        struct cluster_word word;
};
struct cluster_word cluster_words_next(struct cluster_words *w, const struct condition_list *l,
                                       int64_t generation);

void progress_add(struct progress *p, enum standing standing);
enum tone tone_of(enum standing standing);

/* The same step by step: rollout, override, Works, then applying and availability, or the comparison alone.
 * What comes after one that is not done waits, whatever its conditions say. Returns how many there are. */
#define CLUSTER_STEPS_MAX 5
struct cluster_step {
        const char *type; /* of the condition */
        enum standing standing;
        const char *word;                  /* "" = done, or waits for the step before it */
        const struct condition *condition; /* NULL = none speaks of this generation */
};
size_t cluster_steps_of(const struct condition_list *l, int64_t generation,
                        struct cluster_step ret[CLUSTER_STEPS_MAX]);
