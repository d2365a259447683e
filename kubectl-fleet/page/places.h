/* Where one placement is and how it does there, for the views of the page: from its bindings; from its own
 * status where bindings may not be read; and what is left behind. Pure. */
#pragma once

#include "kubectl-fleet/placement_view.h"

struct place {
        const char *cluster;           /* "" = no cluster was found for it */
        const char *key;               /* no other place of the placement has it */
        const struct binding *binding; /* NULL = none, or not to be read */
        const struct object *source;   /* what all this comes from: a binding, a Work or the placement */
        const struct condition_list *conditions;
        int64_t generation; /* that they are to speak of */
        struct cluster_word word;
        const char *message; /* of the word; "" = none */
        int64_t since_ms;
        const char *revision; /* "" = none yet */
        struct failed_placement_list failed;
        struct drifted_placement_list drifted;
        struct diffed_placement_list diffed;
        const char **works;
        size_t n_works;
        bool removing; /* not picked any more, or left over */
        bool unplaced; /* nothing is there, since the scheduler did not pick it */
        bool known;    /* whether it is there at all; false of an unplaced one */
        int rank;      /* what is in trouble has a lower one */
};
struct places {
        struct placement_view view;
        struct place *at; /* those in trouble first, then by cluster */
        size_t n, n_unplaced, n_leftover;
        bool cut; /* a cluster may have more failed, drifted or different objects than the API tells of */
};
/* `bindings_known`: whether parts->bindings could be read. 0 or ERR_NO_MEMORY. */
int places_of(struct arena *arena, const struct placement_parts *parts, bool bindings_known,
              struct places *ret);
/* The steps of a place that is neither removed nor unplaced: being picked, then those of cluster_steps_of().
 */
struct place_step {
        const char *step; /* "scheduled", "rolled out", "overridden", "written", "applied", "available" or
                             "compared" */
        enum standing standing;
        const char *word, *reason, *message;
        int64_t since_ms; /* TIME_NONE = not told */
};
#define PLACE_STEPS_MAX (CLUSTER_STEPS_MAX + 1)
size_t place_steps(const struct place *p, struct place_step ret[PLACE_STEPS_MAX]);
