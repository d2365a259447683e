/* The controller frame of a replica that shares keys out with others: which keys are its own, what happens as
 * shards come and go, and that no write goes out for a key that is another's by now, nor a leader's after its
 * lease. */
#include "common/base/memory.h"
#include "common/ctrl/frame.h"

/* ---- whose a key is ---- */

/* The queue remembers of a key what its object told before it was gone. -1: not known. ERR_NO_MEMORY. */
static int shard_of(struct running *r, const char *key, const struct object *about, int *ret)
{
        const struct controller *c = r->controller;
        AUTO_KEY struct key placement = KEY_EMPTY;

        *ret = 0;
        if (!c->placement_of)
                return 0;
        TRY(c->placement_of(r->manager->options.agent, key, about, &placement));
        *ret = placement.text ? (int)shard_of_key(placement.text, shards_count(r->manager->shards))
                              : work_queue_share(r->queue, key);
        return 0;
}

static bool is_queued_now(const struct manager *m, int shard)
{
        return shard >= 0 && shards_own(m->shards, (unsigned)shard) &&
               (!m->requeued || (m->requeued & SHARD_BIT(shard)));
}

int running_add(struct running *r, const char *key, const struct object *about, enum queue_priority p)
{
        int shard;

        if (!r->manager->shards)
                return work_queue_add(r->queue, key, p);
        TRY(shard_of(r, key, about, &shard));
        if (!is_queued_now(r->manager, shard))
                return 0;
        TRY(work_queue_add(r->queue, key, p));
        work_queue_set_share(r->queue, key, (unsigned)shard);
        return 0;
}

int running_add_after(struct running *r, const char *key, int64_t ms, enum queue_priority p)
{
        int shard;

        if (!r->manager->shards)
                return work_queue_add_after(r->queue, key, ms, p);
        TRY(shard_of(r, key, NULL, &shard));
        if (!is_queued_now(r->manager, shard))
                return 0;
        TRY(work_queue_add_after(r->queue, key, ms, p));
        work_queue_set_share(r->queue, key, (unsigned)shard);
        return 0;
}

bool running_drops(struct running *r, const char *key)
{
        const struct manager *m = r->manager;

        return m->shards && !shards_own(m->shards, (unsigned)work_queue_share(r->queue, key));
}

static struct running *running_of(struct manager *m, const struct controller *c)
{
        vec_for_each(&m->running, r)
                if ((*r)->controller == c)
                        return *r;
        return NULL;
}

static bool is_owned(struct running *r, const char *key)
{
        int shard;

        return shard_of(r, key, NULL, &shard) == 0 && shard >= 0 &&
               shards_own(r->manager->shards, (unsigned)shard);
}

static bool is_key_owned(void *running, const char *key)
{
        return is_owned(running, key);
}

bool manager_owns(struct manager *m, const struct controller *c, const char *key)
{
        struct running *r = running_of(m, c);

        return !m->shards || (r && is_owned(r, key));
}

/* ---- one reconcile ---- */

void attempt_bind_shard(struct attempt *a)
{
        const struct running *r = a->running;

        if (!r->manager->shards)
                return;
        a->shard = (unsigned)work_queue_share(r->queue, a->key);
        a->term = shards_term(r->manager->shards, a->shard);
}

bool attempt_is_ours(const struct attempt *a)
{
        const struct shards *s = a->running->manager->shards;

        return !s || (shards_own(s, a->shard) && shards_term(s, a->shard) == a->term);
}

static int fence(void *ctx, struct error *err)
{
        const struct attempt *a = ctx;

        if (shards_may_write(a->running->manager->shards, a->shard, a->term))
                return 0;
        return error_set(err, ERR_RETRY, "shard %u is not ours any more: nothing is written", a->shard);
}

static int fence_of_leader(void *ctx, struct error *err)
{
        const struct attempt *a = ctx;

        if (leader_may_write(&a->running->manager->leader))
                return 0;
        return error_set(err, ERR_RETRY, "the lease may be another's by now: nothing is written");
}

static void count(void *ctx, const struct kube_counted *c)
{
        const struct attempt *a = ctx;

        manager_count_request(a->running->manager, c, &a->running->manager->unanswered_of[a->shard]);
}

struct kube_client *attempt_client(struct attempt *a)
{
        const struct manager *m = a->running->manager;

        if (!m->shards && !m->options.lease_name)
                return m->options.kube;
        a->kube = *m->options.kube;
        a->kube.may_write = m->shards ? fence : fence_of_leader;
        a->kube.may_write_ctx = a;
        if (!m->shards)
                return &a->kube;
        if (a->kube.count_ctx == m) { /* the manager counts: of which shard it is, it is to know too */
                a->kube.count = count;
                a->kube.count_ctx = a;
        }
        return &a->kube;
}

/* ---- shards that come and go ---- */

static int prepare(void *ctx, struct error *err)
{
        return manager_relist(ctx, err);
}

/* A list of many thousands holds nothing up: neither leases nor what runs of other shards. What changes
 * meanwhile is told by events, since the shards are ours already. */
static void begin(void *ctx, shard_set shards)
{
        struct manager *m = ctx;

        for (size_t i = 0; i < m->running.n; i++) { /* more may be added meanwhile */
                struct running *r = m->running.at[i];
                const char *standing = r->controller->standing_key;

                /* All its keys are the first shard's, and maps do more than give keys. */
                if (!r->controller->placement_of && !(shards & SHARD_BIT(0)))
                        continue;
                if (running_requeue(r, shards) < 0)
                        return;
                if (standing && running_add(r, standing, NULL, QUEUE_LOW) < 0)
                        running_lose_key(r, NULL, NULL);
        }
}

static void cancel_attempts(struct running *r, shard_set shards)
{
        list_for_each(a, &r->attempts, struct attempt, node)
                if ((shards & SHARD_BIT(a->shard)) && a->fiber)
                        fiber_cancel(a->fiber);
}

static void end(void *ctx, shard_set shards, bool lost)
{
        struct manager *m = ctx;

        vec_for_each(&m->running, r) {
                work_queue_drop_shares((*r)->queue, shards);
                if (lost)
                        cancel_attempts(*r, shards);
        }
}

static void forget(void *ctx)
{
        struct manager *m = ctx;

        vec_for_each(&m->running, r) {
                map_for_each(&(*r)->troubles, e)
                        if (!is_owned(*r, e->key))
                                map_remove(&(*r)->troubles, e->key);
                doubts_keep_if(&(*r)->doubts, is_key_owned, *r);
        }
        if (m->options.forget)
                m->options.forget(m->options.agent);
}

static bool busy(void *ctx, unsigned shard)
{
        const struct manager *m = ctx;

        vec_for_each(&m->running, r)
                list_for_each(a, &(*r)->attempts, struct attempt, node)
                        if (a->shard == shard)
                                return true;
        return false;
}

static int64_t arriving_ms(void *ctx, shard_set of)
{
        return manager_arriving_of(ctx, of);
}

struct shards *frame_shards_new(struct manager *m)
{
        const struct manager_options *o = &m->options;
        const struct shards_options s = {
                .n = o->shards,
                .lease = m->leader.options,
                .kube = o->kube,
                .log = &m->log,
                .metrics = o->metrics,
                .work = { m, prepare, begin, end, forget, busy, arriving_ms },
        };

        ASSERT(o->lease_name);
        return shards_new(&s, m->group);
}
