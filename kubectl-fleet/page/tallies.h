/* What placements say of clusters, in sums that are kept from look to look: of a placement that is as it was,
 * nothing is judged again. Pure but for its own memory. */
#pragma once

#include "kubectl-fleet/placement_view.h"

struct tally {
        uint32_t placements, trouble; /* on a cluster; those that failed there */
};
struct tallies;

struct tallies *tallies_new(void); /* NULL on no memory */
void tallies_free(void *t);        /* NULL is fine */
/* A look begins: each placement is counted again, by one of the two that follow. */
void tallies_begin(struct tallies *t);
/* Whether it was counted from the same stamp before; then it is counted as it was. *ret: its standing. */
bool tallies_stays(struct tallies *t, const char *key, uint64_t stamp, enum standing *ret);
/* 0 or ERR_NO_MEMORY: then the sums are of no use any more. */
int tallies_count(struct tallies *t, const char *key, uint64_t stamp, const struct placement *p,
                  enum standing standing);
/* What was not counted in this look is taken away. */
void tallies_end(struct tallies *t);
const struct tally *tallies_of(const struct tallies *t, const char *cluster); /* NULL = nothing is there */
