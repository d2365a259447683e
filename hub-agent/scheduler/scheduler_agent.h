/* What the scheduler remembers between cycles; learnt anew after a restart. */
#pragma once

#include "hub-agent/agent.h"

struct scheduler_memory {
        struct map unreadable_told; /* of "cluster property": the value that was told to be unreadable */
        struct map turned_away;     /* names of clusters that were not eligible when they were looked at */
        struct map unanswered;      /* of "placement cluster": the binding whose creation nobody answered */
};
struct scheduler_memory *scheduler_memory_new(void); /* NULL on no memory */
struct scheduler_memory *scheduler_memory_free(struct scheduler_memory *m);
/* Of placements that are others': what is remembered of clusters stays. */
void scheduler_memory_keep_if(struct scheduler_memory *m, bool (*keep)(void *ctx, const char *key),
                              void *ctx);
