/* Life of the servers: see kube_clusters.h. */
#include "e2e/kube/kube_clusters.h"

#include <signal.h>

#include "common/base/memory.h"
#include "e2e/kube/internal.h"

#define READY_MS 600000 /* four API servers on two busy cores */
#define STOP_MS 5000

static int64_t ready_deadline(const struct kube_clusters *c)
{
        return loop_now_ms(c->world->loop) + READY_MS;
}

/* ---- preparing ---- */

static int prepare_etcd(struct kube_clusters *c, struct error *err)
{
        TRY(held_port_take(c->world->loop, &c->etcd_port, err));
        TRY(held_port_take(c->world->loop, &c->etcd_peer_port, err));
        c->etcd_url = arena_printf(&c->arena, "http://127.0.0.1:%d", held_port_number(c->etcd_port));
        if (!c->etcd_url)
                return error_no_memory(err);
        c->etcd_endpoint.base_url = mem_strdup(c->etcd_url);
        return c->etcd_endpoint.base_url ? 0 : error_no_memory(err);
}

static int prepare_cluster(struct kube_clusters *c, struct kube_cluster *k, const char *name,
                           struct error *err)
{
        k->all = c;
        map_init(&k->saved, MAP_OWN_KEYS, mem_free);
        k->hub = text_equal(name, "hub");
        TRY(held_port_take(c->world->loop, &k->port, err));
        k->name = arena_strdup(&c->arena, name);
        k->folder = arena_printf(&c->arena, "%s/%s", c->o.data, name);
        k->url = arena_printf(&c->arena, "https://127.0.0.1:%d", held_port_number(k->port));
        k->kubeconfig = arena_printf(&c->arena, "%s/%s/kubeconfig", c->o.data, name);
        if (!k->name || !k->folder || !k->url || !k->kubeconfig)
                return error_no_memory(err);
        TRY(c->world->files->make_directory(c->world->ctx, k->folder, err));
        TRY(kube_pki_make(c->world, name, k->folder, &k->pki, err));
        const struct kube_pki_entry entry = { k->name, k->url, &k->pki };
        TRY(kube_pki_kubeconfig(c->world, &entry, 1, k->kubeconfig, err));
        TRY(kube_config_load(c->world, k->kubeconfig, NULL, &k->config, err));
        k->client = (struct kube_client){ .world = c->world,
                                          .endpoint = &k->config.endpoint,
                                          .log = c->o.log,
                                          .field_manager = "kube-clusters" };
        return 0;
}

/* ---- starting ---- */

static int start_api_servers(struct kube_clusters *c, struct error *err)
{
        for (size_t i = 0; i < c->n; i++)
                TRY(server_start_api(&c->at[i], err));
        for (size_t i = 0; i < c->n; i++)
                TRY(server_wait_api(&c->at[i], ready_deadline(c), err));
        return 0;
}

static int start_controllers(struct kube_clusters *c, struct error *err)
{
        for (size_t i = 0; i < c->n; i++) {
                TRY(server_start_controller_manager(&c->at[i], err));
                if (!c->at[i].hub)
                        TRY(server_start_scheduler(&c->at[i], err));
        }
        for (size_t i = 0; i < c->n; i++)
                TRY(server_wait_controller_manager(&c->at[i], ready_deadline(c), err));
        return 0;
}

static int start_kubelets(struct kube_clusters *c, struct error *err)
{
        for (size_t i = 0; i < c->n; i++)
                TRY(fake_kubelet_start(&c->at[i].client, c->o.group, c->at[i].hub ? 0 : c->o.nodes,
                                       &c->at[i].kubelet, err));
        return 0;
}

static int open_all(struct kube_clusters *c, struct error *err)
{
        c->at = mem_calloc(c->o.n, sizeof(*c->at));
        if (!c->at)
                return error_no_memory(err);
        TRY(c->world->files->make_directory(c->world->ctx, c->o.data, err));
        TRY(prepare_etcd(c, err));
        for (; c->n < c->o.n; c->n++)
                TRY(prepare_cluster(c, &c->at[c->n], c->o.names[c->n], err));
        TRY(server_start_etcd(c, err));
        TRY(server_wait_etcd(c, ready_deadline(c), err));
        TRY(start_api_servers(c, err));
        TRY(start_controllers(c, err));
        TRY(start_kubelets(c, err));
        return kube_clusters_checkpoint(c, err);
}

int kube_clusters_open(const struct kube_clusters_options *o, struct kube_clusters **ret, struct error *err)
{
        struct kube_clusters *c = NEW(struct kube_clusters);
        int code;

        if (!c)
                return error_no_memory(err);
        c->o = *o;
        c->world = o->world;
        code = open_all(c, err);
        if (code < 0) {
                kube_clusters_close(c);
                return code;
        }
        *ret = c;
        return 0;
}

/* ---- ending ---- */

/* Nothing of the servers is kept, so none is asked to finish its work. */
static void kill_server(struct process **p)
{
        process_stop(*p, SIGKILL, STOP_MS);
        *p = NULL;
}

static void close_cluster(struct kube_cluster *k)
{
        fake_kubelet_stop(k->kubelet);
        kill_server(&k->scheduler);
        kill_server(&k->controller_manager);
        kill_server(&k->api_server);
        held_port_release(k->port);
        kube_config_free(&k->config);
        kube_pki_free(&k->pki);
        map_free(&k->saved);
}

struct kube_clusters *kube_clusters_close(struct kube_clusters *c)
{
        if (!c)
                return NULL;
        for (size_t i = 0; c->at && i < c->o.n; i++)
                close_cluster(&c->at[i]);
        kill_server(&c->etcd);
        held_port_release(c->etcd_port);
        held_port_release(c->etcd_peer_port);
        http_endpoint_free(&c->etcd_endpoint);
        mem_free(c->at);
        arena_free(&c->arena);
        mem_free(c);
        return NULL;
}

/* ---- use ---- */

int kube_clusters_write_kubeconfig(struct kube_clusters *c, const char *path, struct error *err)
{
        AUTO_FREE struct kube_pki_entry *entries = mem_calloc(c->n, sizeof(*entries));

        if (!entries)
                return error_no_memory(err);
        for (size_t i = 0; i < c->n; i++)
                entries[i] = (struct kube_pki_entry){ c->at[i].name, c->at[i].url, &c->at[i].pki };
        return kube_pki_kubeconfig(c->world, entries, c->n, path, err);
}

static int find_cluster(struct kube_clusters *c, const char *name, struct kube_cluster **ret,
                        struct error *err)
{
        for (size_t i = 0; i < c->n; i++) {
                if (!text_equal(c->at[i].name, name))
                        continue;
                *ret = &c->at[i];
                return 0;
        }
        return error_set(err, ERR_NOT_FOUND, "no cluster \"%s\" here", name ? name : "");
}

int kube_clusters_set_ready(struct kube_clusters *c, const char *cluster, const char *kind, const char *ns,
                            const char *name, bool ready, struct error *err)
{
        struct kube_cluster *k;

        TRY(find_cluster(c, cluster, &k, err));
        return fake_kubelet_set_ready(k->kubelet, kind, ns, name, ready) < 0 ? error_no_memory(err) : 0;
}

int kube_clusters_set_simulated(struct kube_clusters *c, const char *cluster, const char *ns, bool simulated,
                                struct error *err)
{
        struct kube_cluster *k;

        TRY(find_cluster(c, cluster, &k, err));
        return fake_kubelet_set_simulated(k->kubelet, ns, simulated) < 0 ? error_no_memory(err) : 0;
}

/* ---- restart, checkpoint, reset ---- */

static int restart(struct kube_clusters *c, struct error *err)
{
        for (size_t i = 0; i < c->n; i++)
                kill_server(&c->at[i].api_server);
        TRY(etcd_compact(c, err));
        return start_api_servers(c, err);
}

/* One function on all clusters at once. */
struct share {
        struct kube_cluster *cluster;
        int (*run)(struct kube_cluster *k, struct error *err);
        struct error err;
        int code;
};

static void share_fiber(void *ctx)
{
        struct share *s = ctx;

        s->code = s->run(s->cluster, &s->err);
}

static int on_all(struct kube_clusters *c, int (*run)(struct kube_cluster *k, struct error *err),
                  struct error *err)
{
        AUTO_FREE struct share *shares = mem_calloc(c->n, sizeof(*shares));
        struct fiber_group *group = fiber_group_new(c->world->loop, c->o.group, "clusters");
        int code = shares && group ? 0 : error_no_memory(err);

        for (size_t i = 0; code == 0 && i < c->n; i++) {
                shares[i] = (struct share){ .cluster = &c->at[i], .run = run };
                if (!fiber_spawn(group, "cluster", share_fiber, &shares[i]))
                        code = error_no_memory(err);
        }
        if (code == 0)
                code = fiber_group_join(group, DEADLINE_NONE);
        fiber_group_end(group);
        for (size_t i = 0; code == 0 && i < c->n; i++) {
                code = shares[i].code;
                if (code < 0 && err)
                        *err = shares[i].err;
        }
        return code;
}

static int checkpoint(struct kube_clusters *c, struct error *err)
{
        return on_all(c, etcd_save, err);
}

static int reset(struct kube_clusters *c, struct error *err)
{
        for (size_t i = 0; i < c->n; i++)
                fake_kubelet_clear(c->at[i].kubelet);
        return on_all(c, etcd_restore, err);
}

static int alone(struct kube_clusters *c, int (*run)(struct kube_clusters *c, struct error *err),
                 struct error *err)
{
        int code;

        if (c->busy)
                return error_set(err, ERR_CONFLICT, "a restart, checkpoint or reset is under way");
        c->busy = true;
        code = run(c, err);
        c->busy = false;
        return code;
}

int kube_clusters_restart(struct kube_clusters *c, struct error *err)
{
        return alone(c, restart, err);
}

int kube_clusters_checkpoint(struct kube_clusters *c, struct error *err)
{
        return alone(c, checkpoint, err);
}

int kube_clusters_reset(struct kube_clusters *c, struct error *err)
{
        return alone(c, reset, err);
}
