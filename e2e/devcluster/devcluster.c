#include "e2e/devcluster/devcluster.h"

#include "e2e/devcluster/authn.h"
#include "e2e/devcluster/authz.h"
#include "e2e/devcluster/crd.h"
#include "e2e/devcluster/gc.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/openapi.h"
#include "e2e/devcluster/policy.h"
#include "e2e/devcluster/readiness.h"
#include "e2e/devcluster/routes.h"
#include "e2e/devcluster/webhook.h"
#include "e2e/devcluster/workloads.h"

static void changed(void *ctx, struct table *t, enum event_type type, struct blob *previous,
                    struct blob *object)
{
        struct devcluster *d = ctx;
        if (d->observer.changed)
                d->observer.changed(d->observer.ctx, t, type, previous, object);
        gc_changed(d->gc, t, type, previous, object);
        simulator_changed(d->simulator, t, type, object);
}

static void committed(void *ctx, int code)
{
        struct devcluster *d = ctx;
        if (d->observer.committed)
                d->observer.committed(d->observer.ctx, code);
}

static void cluster_free(struct cluster *c)
{
        gc_forget(c);
        access_free(c);
        policies_forget(c);
        webhooks_forget(c);
        count_free(c);
        map_free(&c->custom);
        map_free(&c->readiness);
        map_free(&c->unsimulated);
}

static int open_store(struct devcluster *d, struct error *err)
{
        const struct store_options o = { .loop = d->loop,
                                         .log = d->log,
                                         .path = d->options.path,
                                         .sync_commits = d->options.sync_commits,
                                         .history_events = d->options.watch_history,
                                         .observer = { changed, committed, d },
                                         .cluster_free = cluster_free };
        return api_store_open(&o, &d->store, err);
}

static int load_clusters(struct devcluster *d, struct error *err)
{
        map_for_each(api_store_clusters(d->store), e) {
                struct cluster *c = e->value;
                c->devcluster = d;
                TRY(crd_load_all(d, c, err));
                gc_load(d->gc, c);
                simulator_refresh(d->simulator, c);
        }
        return 0;
}

static int open_all(struct devcluster *d, struct error *err)
{
        TRY(open_store(d, err));
        TRY(pki_open(d, err));
        d->types = builtin_types_new(err);
        if (!d->types)
                return ERR_NO_MEMORY;
        d->protobuf = protobuf_types_new();
        if (!d->protobuf)
                return error_no_memory(err);
        d->gc = gc_new(d);
        d->simulator = simulator_new(d);
        if (!d->gc || !d->simulator)
                return error_no_memory(err);
        return load_clusters(d, err);
}

int devcluster_open(const struct devcluster_options *o, struct fiber_group *group, struct devcluster **ret,
                    struct error *err)
{
        struct devcluster *d = NEW(struct devcluster);
        if (!d)
                return error_no_memory(err);
        d->options = *o;
        if (o->observer)
                d->observer = *o->observer;
        d->world = o->world;
        d->loop = o->world->loop;
        d->log = o->log;
        map_init(&d->cluster_urls, MAP_OWN_KEYS, mem_free);
        map_init(&d->service_addresses, MAP_OWN_KEYS, mem_free);
        d->public_url = mem_strdup(o->public_url ? o->public_url : "https://127.0.0.1:6443");
        d->group = fiber_group_new(d->loop, group, "devcluster");
        int r = d->public_url && d->group ? open_all(d, err) : error_no_memory(err);
        if (r < 0) {
                devcluster_close(d);
                return r;
        }
        *ret = d;
        return 0;
}

struct devcluster *devcluster_close(struct devcluster *d)
{
        if (!d)
                return NULL;
        if (d->group)
                fiber_group_end(d->group);
        if (d->store)
                map_for_each(api_store_clusters(d->store), e)
                        api_store_cut_watches(e->value, false);
        api_store_close(d->store);
        gc_free(d->gc);
        simulator_free(d->simulator);
        authn_free(d);
        routes_free(d);
        openapi_cache_free(d);
        json_decref(d->bootstrap_roles);
        builtin_types_free(d->types);
        protobuf_types_free(d->protobuf);
        map_free(&d->compiled);
        pki_close(d);
        map_free(&d->cluster_urls);
        map_free(&d->service_addresses);
        mem_free(d->public_url);
        mem_free(d);
        return NULL;
}

int devcluster_create_cluster(struct devcluster *d, const char *name, struct error *err)
{
        struct cluster *c = api_store_cluster(d->store, name);
        if (c)
                return 0;
        if (!text_is_dns1123_subdomain(name))
                return error_set(err, ERR_INVALID,
                                 "\"%s\" is not a DNS name: it cannot name a logical cluster", name);
        TRY(api_store_cluster_create(d->store, name, &c, err));
        c->devcluster = d;
        TRY(bootstrap_cluster(d, c, err));
        TRY(api_store_commit(d->store, err));
        api_store_compact(c, 0);
        return 0;
}

int devcluster_delete_cluster(struct devcluster *d, const char *name, struct error *err)
{
        struct cluster *c = api_store_cluster(d->store, name);
        if (!c)
                return error_set(err, ERR_NOT_FOUND, "no logical cluster \"%s\"", name);
        api_store_cut_watches(c, false);
        return api_store_cluster_delete(d->store, c, err);
}

void devcluster_set_public_url(struct devcluster *d, const char *host, int port)
{
        char *url = mem_printf("https://%s:%d", host, port);
        if (!url)
                return;
        mem_free(d->public_url);
        d->public_url = url;
}

static int put_text(struct map *m, const char *key, const char *text)
{
        char *copy = mem_strdup(text);
        if (!copy || map_put(m, key, copy) < 0) {
                mem_free(copy);
                return ERR_NO_MEMORY;
        }
        return 0;
}

int devcluster_set_cluster_url(struct devcluster *d, const char *cluster, const char *url)
{
        return put_text(&d->cluster_urls, cluster, url);
}

int devcluster_set_service_address(struct devcluster *d, const char *service, const char *address)
{
        if (address)
                return put_text(&d->service_addresses, service, address);
        map_remove(&d->service_addresses, service);
        return 0;
}

void devcluster_cut_watches(struct devcluster *d, const char *cluster, bool compact)
{
        map_for_each(api_store_clusters(d->store), e)
                if (!cluster || strcmp(e->key, cluster) == 0)
                        api_store_cut_watches(e->value, compact);
}

struct store *devcluster_store(struct devcluster *d)
{
        return d->store;
}

int devcluster_set_readiness(struct devcluster *d, const char *cluster, const char *kind, const char *ns,
                             const char *name, bool ready)
{
        struct cluster *c = api_store_cluster(d->store, cluster);
        if (!c)
                return ERR_NOT_FOUND;
        TRY(readiness_set(&c->readiness, kind, ns, name, ready));
        simulator_refresh(d->simulator, c);
        return 0;
}

int devcluster_set_simulated(struct devcluster *d, const char *cluster, const char *ns, bool simulated)
{
        struct cluster *c = api_store_cluster(d->store, cluster);
        if (!c)
                return ERR_NOT_FOUND;
        if (simulated)
                map_remove(&c->unsimulated, ns);
        else
                TRY(map_put(&c->unsimulated, ns, c));
        simulator_refresh(d->simulator, c);
        return 0;
}

int devcluster_set_pods(struct devcluster *d, const char *cluster, bool on)
{
        struct cluster *c = api_store_cluster(d->store, cluster);
        if (!c)
                return ERR_NOT_FOUND;
        c->makes_pods = on;
        simulator_refresh(d->simulator, c);
        return 0;
}

void devcluster_set_workload_delay(struct devcluster *d, int64_t ms)
{
        simulator_set_delay(d->simulator, ms);
}
