/* Replicas of one agent share the placements' keys out by leases, in the namespace of the leader election:
 *
 *     NAME                    layout: held jointly, as "shards-N"; keeps out agents without shards, and those
 *                             with another number of them, as the leader's lease keeps out other leaders
 *     NAME-shard-K-of-N       a shard's: whoever holds it works on its keys
 *     NAME-replica-HASH       presence: there is such a replica, and it can work
 *
 * Each retry period a replica renews what it holds, lists the rest (one request, by label) and does what
 * shards_plan() says. Whether another's lease has run out is judged by one's own clock, since its record was
 * last seen to change. A lease that is gone counts as held for as long as it would have been: only its holder
 * makes it anew. */
#pragma once

#include "common/ctrl/leader.h"
#include "common/ctrl/metrics.h"
#include "common/ctrl/shards_plan.h"

struct shards;

/* What is done about shards that come and go, by whoever works on keys. */
struct shards_work {
        void *ctx;
        /* Another may have written until a moment ago: parks until all that is read from knows of it. */
        int (*prepare)(void *ctx, struct error *err);
        /* From now on these are ours: all their keys are to be looked at. May park: meanwhile some of them
         * may be lost, and it is left when we leave. */
        void (*begin)(void *ctx, shard_set shards);
        /* From now on nothing of these is begun. `lost`: what runs is to stop; else it may end in peace. Must
         * not park. */
        void (*end)(void *ctx, shard_set shards, bool lost);
        /* Of what is not worked on any more nothing is to be remembered. Must not park. */
        void (*forget)(void *ctx);
        bool (*busy)(void *ctx, unsigned shard); /* something of it still runs */
        /* How long a write of ours for one of them that was not answered may be on its way still, 0 = none
         * is. */
        int64_t (*arriving_ms)(void *ctx, shard_set of);
};

struct shards_options {
        unsigned n;                  /* SHARDS_MIN to SHARDS_MAX */
        struct leader_options lease; /* the layout's name; the identity is the replica's own */
        struct kube_client *kube;
        const struct log *log;
        struct metrics *metrics;
        struct shards_work work;
};

struct shards *shards_new(const struct shards_options *o, struct fiber_group *group); /* NULL: no memory */
struct shards *shards_free(struct shards *s); /* from a fiber, after shards_release() */
/* Parks until cancelled (ERR_CANCELLED), or until the layout is another's (ERR_TIMEOUT: what we believe may
 * be old). */
int shards_run(struct shards *s, struct error *err);
/* Afterwards: nothing is taken any more, and others need not count on us. Bounded. */
void shards_withdraw(struct shards *s);
/* When nothing runs any more: gives all leases back, so that others go on at once; what was sent and not
 * answered may arrive still, and then they are left to run out. Bounded. */
void shards_release(struct shards *s);

unsigned shards_count(const struct shards *s);
/* By the clock of this very moment: a process that was stopped and goes on owns nothing, whatever it held. */
bool shards_own(const struct shards *s, unsigned shard);
/* A term is one time of holding a shard. Writes of what was begun in it may go out until it ends: also while
 * the shard is being given up. */
uint32_t shards_term(const struct shards *s, unsigned shard);
bool shards_may_write(const struct shards *s, unsigned shard, uint32_t term);
/* Takes part: it has the layout. */
bool shards_joined(const struct shards *s);
