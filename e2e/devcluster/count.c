/* Counters of requests per cluster, verb and resource: tests and benchmarks read them. */
#include "common/base/vec.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/routes.h"

/* NULL without memory. */
static uint64_t *counter(struct request *rq)
{
        char key[400];
        struct map *m = &rq->cluster->request_counts;
        m->destroy = mem_free;
        snprintf(key, sizeof(key), "%s %s%s%s", rq->verb, rq->plural ? rq->plural : rq->path,
                 rq->subresource ? "/" : "", rq->subresource ? rq->subresource : "");
        uint64_t *n = map_get(m, key);
        if (!n) {
                n = NEW(uint64_t);
                if (!n || map_put(m, key, n) < 0) {
                        mem_free(n);
                        return NULL;
                }
        }
        return n;
}

void count_request(struct request *rq)
{
        struct route_verb *v = route_verb(rq);
        if (!v->count || v->counts_version != rq->cluster->counts_version) {
                v->count = counter(rq);
                v->counts_version = rq->cluster->counts_version;
        }
        if (v->count)
                ++*v->count;
}

void count_free(struct cluster *c)
{
        map_free(&c->request_counts);
}

static int append_counts(struct cluster *c, struct arena *arena, struct devcluster_request_count *at,
                         size_t *n)
{
        map_for_each(&c->request_counts, e) {
                char *verb = arena_strdup(arena, e->key);
                char *space = verb ? strchr(verb, ' ') : NULL;
                if (!space)
                        return ERR_NO_MEMORY;
                *space = '\0';
                at[(*n)++] = (struct devcluster_request_count){ arena_strdup(arena, c->name), verb, space + 1,
                                                                *(uint64_t *)e->value };
        }
        return 0;
}

int devcluster_requests(struct devcluster *d, const char *cluster, struct arena *arena,
                        struct devcluster_request_count **ret, size_t *ret_n)
{
        size_t total = 0, n = 0;
        map_for_each(api_store_clusters(d->store), e)
                total += map_count(&((struct cluster *)e->value)->request_counts);
        struct devcluster_request_count *at =
                ARENA_NEW_ARRAY(arena, struct devcluster_request_count, total + 1);
        if (!at)
                return ERR_NO_MEMORY;
        map_for_each(api_store_clusters(d->store), e)
                if (!cluster || strcmp(e->key, cluster) == 0)
                        TRY(append_counts(e->value, arena, at, &n));
        *ret = at;
        *ret_n = n;
        return 0;
}

void count_reset(struct cluster *c)
{
        map_clear(&c->request_counts);
        c->counts_version++;
}

void devcluster_reset_requests(struct devcluster *d)
{
        map_for_each(api_store_clusters(d->store), e)
                count_reset(e->value);
}
