/* Which replica works on which shard of the placements, as a pure rule: from what the leases say to what is
 * to be done about it. Every replica decides for itself; whoever sees the same leases comes to the same end,
 * and where two do not, a lease still has one holder. */
#pragma once

#include "common/base/base.h"

#define SHARDS_MIN 2
#define SHARDS_MAX 64
#define SHARD_REPLICAS_MAX 64 /* who lives beyond these, by identity, is not planned with */

typedef uint64_t shard_set; /* bit K = shard K */
#define SHARD_BIT(k) ((shard_set)1 << (k))
#define SHARDS_ALL(n) ((n) >= 64 ? ~(shard_set)0 : SHARD_BIT(n) - 1)

/* The shard of a placement's key ("name" or "ns/name"), the same in all processes and releases: agents of two
 * releases may run side by side. n >= 1. */
unsigned shard_of_key(const char *placement, unsigned n);

struct shard_view {
        const char *holder;    /* identity in its lease; NULL or "" = nobody */
        bool free;             /* may be taken now: vacant, run out, or named ours but not worked on by us */
        int64_t free_since_ms; /* loop time since when it is seen so */
};

struct shards_view {
        unsigned n;
        const struct shard_view *at; /* n of them */
        const char *const *living; /* identities of replicas; self may be missing, and counts nevertheless */
        size_t n_living;
        int64_t patience_ms; /* what nobody took for so long is taken by whoever sees it */
};

struct shards_plan {
        shard_set take, renew, give_up;
};

/* A replica keeps what it holds up to its share, so that nothing moves but what has to. Shares differ by one
 * at most; who holds more has the greater one. What is over a share, and what nobody living holds, goes to
 * whoever has room and the highest hash of replica and shard (rendezvous hashing). Taken is only what is
 * free. */
void shards_plan(const struct shards_view *v, const char *self, int64_t now_ms, struct shards_plan *ret);
