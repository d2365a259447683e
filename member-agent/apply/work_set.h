/* The set of Works that carries one binding's objects on a member: who is a sibling of whom, and whether all
 * of a set have arrived. */
#pragma once

#include "proto/gen/kinds.h"

struct work_set {
        const char *binding; /* "ns/name" or "name"; "" = a Work of no placement, which has no siblings */
        const char *content; /* snapshot index and override hashes: equal for all of a set; "" if unmarked */
        int64_t size;        /* how many Works make the set; 0 = unknown: another agent made the Work */
};
/* From a Work's labels and annotations; strings live in the arena. ERR_NO_MEMORY or 0. */
int work_set_of(const struct object *work, struct arena *arena, struct work_set *ret);
