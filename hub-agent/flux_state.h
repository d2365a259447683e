/* What ResourceSets and their providers have in common: conditions, durations and the annotations that steer
 * them. Pure. spec/resource-set.md 1, 8, 15.1. */
#pragma once

#include "hub-agent/common.h"

#define FLUX_MESSAGE_MAX 32768

enum flux_state {
        FLUX_RUNNING,
        FLUX_DONE,
        FLUX_SUSPENDED,
        FLUX_WAITING, /* for a dependency */
        FLUX_FAILED,  /* tried again */
        FLUX_STALLED  /* until something changes */
};

/* Sets the conditions of a state, of that generation. `reason` and `message` are of Ready; FLUX_RUNNING has
 * its own where they are NULL. A message that is too long is cut. ERR_NO_MEMORY. */
int flux_state_set(struct condition_list *l, int64_t generation, enum flux_state state, const char *reason,
                   const char *message, int64_t now_ms, struct arena *arena);

/* condition_set(), but that the time moves also when reason or message change. */
int flux_condition_put(struct condition_list *l, const struct condition *c, int64_t now_ms,
                       struct arena *arena);

/* "52ms", "1m5s". */
#define FLUX_TOOK_SIZE 48
void flux_took_text(int64_t ms, char ret[FLUX_TOOK_SIZE]);

bool flux_is_suspended(const struct object *o); /* in any case of letters */
/* Milliseconds of an annotation; `fallback_ms` where there is none, or none that can be read. */
int64_t flux_annotated_ms(const struct object *o, const char *key, int64_t fallback_ms);
