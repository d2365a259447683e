#include "e2e/chart-runner/runner.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/ctrl/informer.h"
#include "common/kube/config.h"
#include "e2e/chart-runner/controllers.h"
#include "e2e/chart-runner/folder.h"
#include "e2e/chart-runner/pod.h"
#include "proto/gen/kinds.h"

#define GATHER_MS 20 /* changes that come together are looked at once */
#define RETRY_MS 1000
#define LAST_GRACE_MS 5000 /* for containers when the runner itself ends */

const struct kube_resource pods_resource = { "", "v1", "pods", "Pod", true };
const struct kube_resource secrets_resource = { "", "v1", "secrets", "Secret", true };
const struct kube_resource config_maps_resource = { "", "v1", "configmaps", "ConfigMap", true };
const struct kube_resource deployments_resource = { "apps", "v1", "deployments", "Deployment", true };
const struct kube_resource replica_sets_resource = { "apps", "v1", "replicasets", "ReplicaSet", true };

/* ---- lookup ---- */

static void drop_object(void *o)
{
        json_decref(o);
}

static int look_up(void *ctx, const char *kind, const char *name, const json_t **ret, struct error *err)
{
        struct runner_lookup *l = ctx;
        const struct kube_resource *resource =
                strcmp(kind, "Secret") == 0 ? &secrets_resource : &config_maps_resource;
        AUTO_FREE char *key = mem_printf("%s/%s", kind, name);
        json_t *object = key ? map_get(&l->objects, key) : NULL;

        if (!key)
                return error_no_memory(err);
        if (!object) {
                TRY(kube_doc_get(&l->runner->kube, resource, l->runner->options.ns, name, &object, err));
                if (map_put(&l->objects, key, object) < 0) {
                        json_decref(object);
                        return error_no_memory(err);
                }
        }
        *ret = object;
        return 0;
}

void runner_lookup_init(struct runner_lookup *l, struct runner *r, struct pod_lookup *ret)
{
        l->runner = r;
        map_init(&l->objects, MAP_OWN_KEYS, drop_object);
        *ret = (struct pod_lookup){ .get = look_up, .ctx = l };
}

void runner_lookup_free(struct runner_lookup *l)
{
        map_free(&l->objects);
}

/* ---- servers ---- */

/* "https://HOST:PORT"; a path behind it is what no client inside a cluster can be told. */
static int split_url(const char *url, char host[64], int *ret_port, struct error *err)
{
        struct slice rest = slice_of(url), name;
        int64_t port = 0;

        if (text_starts_with(url, "https://"))
                rest = slice_of(url + strlen("https://"));
        if (!slice_cut(&rest, ':', &name) || !slice_parse_i64(rest, &port) || name.len >= 64)
                return error_set(
                        err, ERR_INVALID,
                        "server %s: must be https://HOST:PORT without a path, as pods are told of it "
                        "(devcluster: --cluster-ports)",
                        url);
        snprintf(host, 64, "%.*s", (int)name.len, name.data);
        *ret_port = (int)port;
        return 0;
}

static void add_port(struct runner *r, int port)
{
        for (size_t i = 0; i < r->n_ports; i++)
                if (r->ports[i] == port)
                        return;
        if (r->n_ports < PORTS_MAX)
                r->ports[r->n_ports++] = port;
}

/* Pods may reach every API server of the kubeconfig: a member's agent talks to the hub's. */
static int read_servers(struct runner *r, struct error *err)
{
        struct world *w = r->options.world;
        AUTO_FREE char *text = NULL;
        AUTO_JSON json_t *config = NULL;
        json_t *cluster;
        size_t n = 0, i;

        TRY(w->files->read(w->ctx, r->options.kubeconfig, LIMIT_KUBECONFIG_BYTES, &text, &n, err));
        TRY(yaml_parse((struct slice){ text, n }, &config, err));
        TRY(split_url(r->kube.endpoint->base_url, r->host, &r->port, err));
        add_port(r, r->port);
        json_array_foreach(doc_get_array(config, "clusters"), i, cluster) {
                const char *url = doc_get_string(cluster, "cluster.server");
                char host[64];
                int port = 0;

                TRY(split_url(url ? url : "", host, &port, err));
                add_port(r, port);
        }
        return 0;
}

/* Only devcluster knows this path; there it leaves the namespace's workloads to us. */
static int find_out_server(struct runner *r, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response answer;
        const char *path =
                arena_printf(&arena, "/devcluster/simulated?namespace=%s&value=false", r->options.ns);
        int code = path ? kube_raw(&r->kube, "POST", path, NULL, (struct slice){ 0 }, &arena, &answer, err)
                        : error_no_memory(err);

        if (code < 0 && code != ERR_NOT_FOUND && code != ERR_FORBIDDEN)
                return code;
        r->devcluster = code == 0;
        error_clear(err);
        return 0;
}

/* ---- pods ---- */

static void wake(struct runner *r)
{
        r->changes++;
        waitq_wake_all(&r->changed);
}

static void on_event(void *ctx, const struct informer_event *e)
{
        wake(ctx);
}

static void on_data(void *ctx, const struct informer_event *e)
{
        struct runner *r = ctx;

        map_for_each(&r->pods, entry)
                pod_refresh(entry->value);
        wake(r);
}

static int watch(struct runner *r, const struct kube_resource *resource, informer_handler handler,
                 struct error *err)
{
        const struct informer_options o = { .kind = &partial_object_kind,
                                            .resource = resource,
                                            .ns = r->options.ns };
        struct informer *i = informer_new(&r->kube, r->group, &o);

        if (!i)
                return error_no_memory(err);
        r->informers[r->n_informers++] = i;
        return informer_add_handler(i, handler, r) < 0 ? error_no_memory(err) : 0;
}

static int watch_all(struct runner *r, struct error *err)
{
        TRY(watch(r, &pods_resource, on_event, err));
        TRY(watch(r, &secrets_resource, on_data, err));
        TRY(watch(r, &config_maps_resource, on_data, err));
        if (!r->devcluster)
                return 0;
        TRY(watch(r, &deployments_resource, on_event, err));
        return watch(r, &replica_sets_resource, on_event, err);
}

static bool is_ours(const json_t *pod)
{
        const char *phase = doc_get_string(pod, "status.phase");

        return !text_empty(doc_get_string(pod, "spec.nodeName")) && !text_equal(phase, "Succeeded") &&
               !text_equal(phase, "Failed");
}

static int take_pod(struct runner *r, json_t *doc, struct map *seen, struct error *err)
{
        const char *uid = doc_get_string(doc, "metadata.uid");
        struct running_pod *p = uid ? map_get(&r->pods, uid) : NULL;

        if (!uid || (!p && !is_ours(doc)))
                return 0;
        if (map_put(seen, uid, doc) < 0)
                return error_no_memory(err);
        if (p) {
                pod_update(p, doc);
                return 0;
        }
        p = pod_new(r, doc);
        if (!p || map_put(&r->pods, uid, p) < 0) {
                pod_free(p);
                return error_no_memory(err);
        }
        return 0;
}

static void drop_pods(struct runner *r, const struct map *seen)
{
        map_for_each(&r->pods, e) {
                struct running_pod *p = e->value;

                if (pod_is_done(p)) {
                        (void)map_take(&r->pods, p->uid);
                        pod_free(p);
                } else if (!map_has(seen, e->key)) {
                        pod_end(p);
                }
        }
}

static int sync_pods(struct runner *r, struct error *err)
{
        AUTO_JSON json_t *items = NULL;
        CLEANUP(map_free) struct map seen = MAP_INIT;
        json_t *doc;
        size_t i;

        TRY(kube_doc_list(&r->kube, &pods_resource, r->options.ns, NULL, &items, err));
        json_array_foreach(items, i, doc)
                TRY(take_pod(r, doc, &seen, err));
        drop_pods(r, &seen);
        return 0;
}

static int sync_all(struct runner *r, struct error *err)
{
        if (r->devcluster)
                TRY(controllers_sync(r, err));
        return sync_pods(r, err);
}

static int serve(struct runner *r)
{
        uint64_t seen = 0;

        for (;;) {
                struct error err = { 0 };
                int code = 0;

                while (code == 0 && seen == r->changes)
                        code = waitq_wait(r->loop, &r->changed, DEADLINE_NONE);
                if (code == 0)
                        code = fiber_sleep(r->loop, GATHER_MS);
                if (code < 0)
                        return code;
                seen = r->changes;
                if (sync_all(r, &err) == 0)
                        continue;
                if (err.code == ERR_CANCELLED)
                        return err.code;
                log_warn(r->log, "pods are not up to date", "error", err.text);
                r->changes++;
                TRY(fiber_sleep(r->loop, RETRY_MS));
        }
}

static void end_pods(struct runner *r)
{
        map_for_each(&r->pods, e) {
                struct running_pod *p = e->value;

                p->grace_ms = MIN(p->grace_ms, LAST_GRACE_MS);
                fiber_group_cancel(p->keepers);
                fiber_group_cancel(p->workers);
        }
        fiber_mask_cancel(r->loop);
        for (size_t i = 0; i < r->n_informers; i++)
                informer_stop(r->informers[i]);
        map_for_each(&r->pods, e)
                pod_free(e->value);
        fiber_unmask_cancel(r->loop);
        map_free(&r->pods);
}

static int open_all(struct runner *r, struct error *err)
{
        AUTO_FREE char *old = mem_printf("%s/pods", r->options.scratch),
                       *logs = mem_printf("%s/logs", r->options.scratch);

        r->claims = mem_printf("%s/claims", r->options.scratch);
        if (!old || !logs || !r->claims)
                return error_no_memory(err);
        folder_remove(AT_FDCWD, old); /* of a runner that was killed */
        TRY(folder_make(old, err));
        TRY(folder_make(logs, err));
        TRY(read_servers(r, err));
        TRY(find_out_server(r, err));
        return watch_all(r, err);
}

int runner_run(const struct runner_options *o, struct fiber_group *group, struct error *err)
{
        struct runner r = { .options = *o, .loop = o->world->loop, .log = o->log };
        struct kube_config config = { 0 };
        int code;

        TRY(kube_config_load(o->world, o->kubeconfig, o->context, &config, err));
        r.single_user = o->single_user;
        r.kube = (struct kube_client){ .world = o->world,
                                       .endpoint = &config.endpoint,
                                       .log = o->log,
                                       .field_manager = "chart-runner" };
        map_init(&r.pods, MAP_OWN_KEYS, NULL);
        r.group = fiber_group_new(r.loop, group, "chart runner");
        code = r.group ? open_all(&r, err) : error_no_memory(err);
        if (code == 0) {
                log_info(o->log, "chart runner is ready", "context", o->context, "namespace", o->ns, "server",
                         r.devcluster ? "devcluster" : "kubernetes");
                code = serve(&r);
        }
        end_pods(&r);
        fiber_group_end(r.group);
        kube_config_free(&config);
        mem_free(r.claims);
        return code;
}
