#include "common/ctrl/shards_plan.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"

/* FNV-1a and a finish that spreads it: written out here, since what hash_bytes() gives may change with a
 * release, and these two may not. */
static uint64_t mix(uint64_t h, const char *text)
{
        for (const unsigned char *p = (const unsigned char *)text; *p; p++)
                h = (h ^ *p) * 0x100000001b3u;
        return h;
}

static uint64_t spread(uint64_t h)
{
        h ^= h >> 33;
        h *= 0xff51afd7ed558ccdu;
        h ^= h >> 33;
        h *= 0xc4ceb9fe1a85ec53u;
        return h ^ h >> 33;
}

#define HASH_BEGIN 0xcbf29ce484222325u

unsigned shard_of_key(const char *placement, unsigned n)
{
        return (unsigned)(spread(mix(HASH_BEGIN, placement)) % n);
}

static uint64_t score(const char *replica, unsigned shard)
{
        return spread(mix(HASH_BEGIN, replica) + (uint64_t)shard * 0x9e3779b97f4a7c15u);
}

struct replica {
        const char *id;
        unsigned held, share;
};

#define NO_REPLICA -1

struct planning {
        const struct shards_view *v;
        struct replica replicas[SHARD_REPLICAS_MAX]; /* by identity */
        size_t n;
        int self;
        int now[SHARDS_MAX], next[SHARDS_MAX]; /* who has a shard, and who is to have it */
};

static int compare_texts(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_replica(struct planning *p, const char *id, const char *self)
{
        if (p->n > 0 && strcmp(p->replicas[p->n - 1].id, id) == 0)
                return;
        if (p->n == SHARD_REPLICAS_MAX) /* we are planned with whoever else is */
                return;
        if (strcmp(id, self) == 0)
                p->self = (int)p->n;
        p->replicas[p->n++] = (struct replica){ .id = id };
}

static void add_replicas(struct planning *p, const char *self)
{
        const char *ids[4 * SHARD_REPLICAS_MAX];
        size_t n = 0;

        ids[n++] = self;
        for (size_t i = 0; i < p->v->n_living && n < ARRAY_LEN(ids); i++)
                ids[n++] = p->v->living[i];
        qsort(ids, n, sizeof(*ids), compare_texts);
        p->self = NO_REPLICA;
        for (size_t i = 0; i < n; i++)
                add_replica(p, ids[i], self);
        if (p->self == NO_REPLICA) {
                p->self = SHARD_REPLICAS_MAX - 1;
                p->replicas[p->self] = (struct replica){ .id = self };
        }
}

static int find_replica(const struct planning *p, const char *id)
{
        for (size_t i = 0; !text_empty(id) && i < p->n; i++)
                if (strcmp(p->replicas[i].id, id) == 0)
                        return (int)i;
        return NO_REPLICA;
}

static void find_holders(struct planning *p)
{
        for (unsigned k = 0; k < p->v->n; k++) {
                const struct shard_view *s = &p->v->at[k];
                int holder = find_replica(p, s->holder);

                if (holder != NO_REPLICA && s->free && holder != p->self)
                        holder = NO_REPLICA;
                p->now[k] = holder;
                if (holder != NO_REPLICA)
                        p->replicas[holder].held++;
        }
}

/* How many of the others come before this one when the greater shares are given out. */
static unsigned rank_of(const struct planning *p, size_t i)
{
        unsigned rank = 0;

        for (size_t k = 0; k < p->n; k++)
                rank += p->replicas[k].held > p->replicas[i].held ||
                        (k < i && p->replicas[k].held == p->replicas[i].held);
        return rank;
}

static void give_shares(struct planning *p)
{
        for (size_t i = 0; i < p->n; i++)
                p->replicas[i].share =
                        (unsigned)(p->v->n / p->n) + (rank_of(p, i) < p->v->n % (unsigned)p->n);
}

/* What its holder keeps: so many as its share is, those with its highest scores. */
static bool is_kept(const struct planning *p, unsigned shard)
{
        const struct replica *r = &p->replicas[p->now[shard]];
        uint64_t mine = score(r->id, shard);
        unsigned better = 0;

        for (unsigned k = 0; k < p->v->n; k++) {
                uint64_t other = score(r->id, k);

                better += p->now[k] == p->now[shard] && (other > mine || (other == mine && k < shard));
        }
        return better < r->share;
}

static int best_with_room(const struct planning *p, unsigned shard)
{
        int best = NO_REPLICA;
        uint64_t highest = 0;

        for (size_t i = 0; i < p->n; i++) {
                uint64_t mine = score(p->replicas[i].id, shard);

                if (p->replicas[i].share > 0 && (best == NO_REPLICA || mine > highest)) {
                        best = (int)i;
                        highest = mine;
                }
        }
        return best;
}

/* `share` is what is left of it from here on. */
static void find_targets(struct planning *p)
{
        for (unsigned k = 0; k < p->v->n; k++)
                p->next[k] = p->now[k] != NO_REPLICA && is_kept(p, k) ? p->now[k] : NO_REPLICA;
        for (unsigned k = 0; k < p->v->n; k++)
                if (p->next[k] != NO_REPLICA)
                        p->replicas[p->next[k]].share--;
        for (unsigned k = 0; k < p->v->n; k++) {
                if (p->next[k] != NO_REPLICA)
                        continue;
                p->next[k] = best_with_room(p, k);
                p->replicas[p->next[k]].share--;
        }
}

void shards_plan(const struct shards_view *v, const char *self, int64_t now_ms, struct shards_plan *ret)
{
        struct planning p = { .v = v };

        ASSERT(v->n >= 1 && v->n <= SHARDS_MAX);
        *ret = (struct shards_plan){ 0 };
        add_replicas(&p, self);
        find_holders(&p);
        give_shares(&p);
        find_targets(&p);
        for (unsigned k = 0; k < v->n; k++) {
                const struct shard_view *s = &v->at[k];
                bool forsaken = s->free && now_ms - s->free_since_ms >= v->patience_ms;

                if (s->free && (p.next[k] == p.self || forsaken))
                        ret->take |= SHARD_BIT(k);
                else if (!s->free && p.now[k] == p.self && p.next[k] == p.self)
                        ret->renew |= SHARD_BIT(k);
                else if (!s->free && p.now[k] == p.self)
                        ret->give_up |= SHARD_BIT(k);
        }
}
