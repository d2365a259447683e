/* What the leases of a layout say, and what of it counts. */
#include "common/base/memory.h"
#include "common/ctrl/shards_internal.h"
#include "proto/names.h"

#define FORGET_LEASES 10 /* a presence that ran out so many lease durations ago is removed */
#define PEERS_MAX 256

const struct kube_resource lease_resource = { "coordination.k8s.io", "v1", "leases", "Lease", true };

static const char *name_of(const json_t *lease)
{
        return or_empty(doc_get_string(lease, "metadata.name"));
}

static struct shard *find_shard(struct shards *s, const char *name)
{
        for (unsigned k = 0; k < s->o.n; k++)
                if (text_equal(s->at[k].name, name))
                        return &s->at[k];
        return NULL;
}

struct peer *peer_free(struct peer *p)
{
        if (p) {
                leader_clear(&p->lease);
                mem_free(p->identity);
        }
        mem_free(p);
        return NULL;
}

static struct peer *peer_new(struct shards *s, const char *name)
{
        struct peer *p = NEW(struct peer);
        struct leader_options o;

        if (!p)
                return NULL;
        snprintf(p->name, sizeof(p->name), "%s", name);
        o = shards_lease_options(s, p->name, s->o.lease.identity);
        leader_init(&p->lease, s->o.kube, &o);
        if (vec_push(&s->peers, p) < 0)
                return peer_free(p);
        return p;
}

static struct peer *find_peer(const struct shards *s, const char *name)
{
        vec_for_each(&s->peers, p)
                if (text_equal((*p)->name, name))
                        return *p;
        return NULL;
}

static int look_at_peer(struct shards *s, const json_t *item)
{
        const char *holder = doc_get_string(item, "spec.holderIdentity");
        struct peer *p;
        bool run_out;

        if (text_empty(holder) || text_equal(name_of(item), s->presence_name))
                return 0;
        p = find_peer(s, name_of(item));
        if (!p && s->peers.n == PEERS_MAX) /* far more than there are shards for */
                return 0;
        if (!p && !(p = peer_new(s, name_of(item))))
                return ERR_NO_MEMORY;
        p->listed = true;
        if (!text_equal(p->identity, holder)) {
                mem_free(p->identity);
                p->identity = mem_strdup(holder);
        }
        TRY(leader_look(&p->lease, item, &run_out));
        p->living = !run_out;
        return p->identity ? 0 : ERR_NO_MEMORY;
}

/* What we hold is not free, though it may be taken by us: the count begins when it is given up. */
static void note_free(struct shard *sh, bool is_free, int64_t now)
{
        is_free = is_free && sh->state == SHARD_FREE;
        sh->free_since_ms = !is_free ? -1 : sh->free_since_ms < 0 ? now : sh->free_since_ms;
}

static int look_at_shard(struct shards *s, struct shard *sh, const json_t *item)
{
        bool is_free;

        TRY(leader_look(&sh->lease, item, &is_free));
        sh->listed = true;
        sh->gone_since_ms = -1;
        if (!text_equal(doc_get_string(item, "spec.holderIdentity"), s->o.lease.identity))
                sh->ours = false;
        note_free(sh, is_free, shards_now_ms(s));
        return 0;
}

/* Somebody removed it, and its holder may not know yet. */
static void look_at_gone(struct shards *s, struct shard *sh)
{
        int64_t now = shards_now_ms(s);

        sh->founded = false; /* who had it in between nobody can tell */
        if (sh->gone_since_ms < 0)
                sh->gone_since_ms = now;
        note_free(sh, sh->ours || now - sh->gone_since_ms >= sh->lease.options.lease_ms, now);
}

static bool is_of_replica(const struct shards *s, const char *name)
{
        char prefix[SHARD_LEASE_NAME_SIZE];
        int n = snprintf(prefix, sizeof(prefix), "%s-replica-", s->o.lease.name);

        return strncmp(name, prefix, (size_t)n) == 0;
}

static int look_at(struct shards *s, const json_t *item)
{
        struct shard *sh = find_shard(s, name_of(item));

        if (sh)
                return look_at_shard(s, sh, item);
        return is_of_replica(s, name_of(item)) ? look_at_peer(s, item) : 0;
}

/* Whether it asked for that. Nobody asks whether it went: the next list says. */
static bool remove_old(struct shards *s, const json_t *item)
{
        struct peer *p = find_peer(s, name_of(item));
        struct kube_client quick = *s->o.kube;

        if (!p || p->living ||
            shards_now_ms(s) < p->lease.observed_at_ms + FORGET_LEASES * p->lease.options.lease_ms)
                return false;
        quick.call_deadline_ms = s->layout.options.retry_ms;
        (void)kube_doc_delete_read(&quick, &lease_resource, item, NULL, false, NULL);
        return true;
}

static void forget_unlisted(struct shards *s)
{
        for (size_t i = s->peers.n; i-- > 0;) {
                struct peer *p = s->peers.at[i];

                if (p->listed)
                        continue;
                vec_remove(&s->peers, i);
                peer_free(p);
        }
        for (unsigned k = 0; k < s->o.n; k++)
                if (!s->at[k].listed)
                        look_at_gone(s, &s->at[k]);
}

static int list(struct shards *s, int64_t call_deadline_ms, json_t **ret, struct error *err)
{
        char selector[sizeof(LABEL_SHARDS) + SHARD_LABEL_SIZE + 2];
        struct kube_client bounded = *s->o.kube;

        bounded.call_deadline_ms = call_deadline_ms;
        snprintf(selector, sizeof(selector), "%s=%s", LABEL_SHARDS, s->label);
        return kube_doc_list(&bounded, &lease_resource, s->o.lease.ns, selector, ret, err);
}

int shards_look(struct shards *s, int64_t call_deadline_ms, json_t **ret_items, struct error *err)
{
        AUTO_JSON json_t *items = NULL;
        const json_t *item;
        size_t i;

        TRY(list(s, call_deadline_ms, &items, err));
        for (unsigned k = 0; k < s->o.n; k++)
                s->at[k].listed = false;
        vec_for_each(&s->peers, p)
                (*p)->listed = false;
        json_array_foreach(items, i, item)
                if (look_at(s, item) < 0)
                        return error_no_memory(err);
        forget_unlisted(s);
        json_array_foreach(items, i, item) /* one each time: leases are to be renewed meanwhile */
                if (remove_old(s, item))
                        break;
        *ret_items = TAKE_PTR(items);
        return 0;
}

static const char *holder_in(const json_t *items, const char *name)
{
        const json_t *item;
        size_t i;

        json_array_foreach(items, i, item)
                if (text_equal(name_of(item), name))
                        return doc_get_string(item, "spec.holderIdentity");
        return NULL;
}

int shards_view(struct shards *s, struct arena *arena, json_t *items, struct shards_view *ret)
{
        struct shard_view *at = ARENA_NEW_ARRAY(arena, struct shard_view, s->o.n);
        const char **living = ARENA_NEW_ARRAY(arena, const char *, s->peers.n + 1);
        size_t n = 0;

        if (!at || !living)
                return ERR_NO_MEMORY;
        for (unsigned k = 0; k < s->o.n; k++) {
                const struct shard *sh = &s->at[k];
                bool held = sh->state != SHARD_FREE;

                at[k] = (struct shard_view){ held ? s->o.lease.identity : holder_in(items, sh->name),
                                             !held && sh->free_since_ms >= 0, sh->free_since_ms };
        }
        vec_for_each(&s->peers, p)
                if ((*p)->living)
                        living[n++] = (*p)->identity;
        *ret = (struct shards_view){ s->o.n, at, living, n, s->layout.options.lease_ms };
        return 0;
}

int shards_count_others(struct shards *s, int64_t call_deadline_ms, size_t *ret, struct error *err)
{
        AUTO_JSON json_t *items = NULL;

        TRY(shards_look(s, call_deadline_ms, &items, err));
        *ret = 0;
        vec_for_each(&s->peers, p)
                *ret += (*p)->living;
        return 0;
}
