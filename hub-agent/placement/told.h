/* Which troubles of a placement were told and have not ended since. The status alone cannot say so: with each
 * change of the placement what its clusters report begins anew, the same trouble in the end included. */
#pragma once

#include "common/base/vec.h"

struct told_trouble {
        uint64_t where, what; /* hashes: the cluster and kind of trouble; what exactly it was */
};
struct told_list { /* zeroed = none; sorted, except while it is being made */
        VEC(struct told_trouble) all;
};

uint64_t told_where(char kind, const char *cluster);
bool told_has(const struct told_list *l, uint64_t where, uint64_t what);
/* The list to come is made of what is there now, and of what may only be hidden by work under way. */
int told_add(struct told_list *next, uint64_t where, uint64_t what);
int told_keep(struct told_list *next, const struct told_list *l, uint64_t where);
void told_replace(struct told_list *l, struct told_list *next); /* empties *next */
void told_free(struct told_list *l);
