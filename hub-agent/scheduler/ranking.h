/* Which cluster a PickN takes next, pick by pick. spec/scheduler.md 12. */
#pragma once

#include "common/base/heap.h"
#include "hub-agent/scheduler/topology.h"

struct ranking {
        struct cycle *c;
        struct topology topology;
        struct map *by_domains;
        struct cell *first, **last; /* all cells */
        size_t n;
        struct cell *changed; /* domains of theirs did since they were looked at */
        struct heap heap; /* of cells, by their best cluster; what is open only. Its array is the arena's */
};

/* After the filters. Clusters that are filtered or taken are no part of it, but of their domains. 0,
 * ERR_NO_MEMORY, or ERR_INVALID for a policy that clusters cannot be scored by, here and below. */
int ranking_begin(struct cycle *c, struct ranking *ret);
/* The best one, with its scores, and it is out of the ranking; *ret NULL: there is none. */
struct candidate *ranking_take(struct ranking *r);
/* It gets the placement, so others may now be better. */
int ranking_count(struct ranking *r, const struct candidate *taken);
/* Writes scores and reasons of those that are left as they stand to the candidates. */
int ranking_tell(struct ranking *r);
