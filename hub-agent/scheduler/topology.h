/* What one more placement in a domain does to topology spread constraints, kept up to date pick by pick.
 * spec/scheduler.md 11.6, 12.2. */
#pragma once

#include "common/base/map.h"
#include "hub-agent/scheduler/framework.h"

struct cell;

/* The clusters that have the same value of a constraint's label. */
struct domain {
        const char *value;
        size_t count;       /* so many of them have the placement */
        int32_t worth;      /* what one more adds to a cluster's score */
        bool forbidden;     /* there may be no more */
        struct cell *cells; /* for who ranks clusters: what depends on the domain */
};

/* What the worth of all domains depends on. */
struct skew {
        size_t smallest, largest;
        bool alone; /* one domain only has the smallest number */
};

struct constraint {
        const char *key;
        bool hard;
        int64_t max_skew;
        struct map *by_value;    /* of struct domain */
        struct domain **domains; /* in the order in which they were met */
        size_t n;
        uint32_t *level;          /* how many domains have so many */
        struct skew skew, judged; /* as it is; as it was when all domains were judged */
        struct domain *counted;   /* since they were */
        const char *reason; /* why a cluster in a forbidden domain is not picked; NULL: nobody asked yet */
};

struct topology {
        struct constraint *constraints; /* as the policy has them */
        size_t n;
};

/* In the cycle's arena, as all that follows; no domains yet. 0 or ERR_NO_MEMORY. */
int topology_init(struct cycle *c, struct topology *ret);
/* The domain that a cluster is in; *ret NULL: it lacks the label. Called for all clusters of the cycle, also
 * those that cannot be picked: domains are what labels say. 0 or ERR_NO_MEMORY. */
int topology_domain(struct cycle *c, struct constraint *t, const struct candidate *k, struct domain **ret);
/* All domains are there, with their counts. */
void topology_begin(struct constraint *t);
/* The domain has one more; it is to be judged before the next one is counted. */
void topology_count(struct constraint *t, struct domain *d);
/* Says anew what domains are worth; calls `changed` for each that is worth something else than before. How
 * many were looked at. */
size_t topology_judge(struct constraint *t, void (*changed)(void *ctx, struct domain *d), void *ctx);
/* NULL on no memory. */
const char *topology_reason(struct cycle *c, struct constraint *t);
