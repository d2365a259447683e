/* devcluster: an embedded Kubernetes-compatible API server on SQLite, many logical clusters in one process.
 * The core is a request handler (http_handler_fn) without sockets, so that the simulation can call it through
 * loopback and the real server through nghttp2 and TLS. */
#pragma once

#include "common/loop/world.h"
#include "common/net/http.h"
#include "common/net/http_server.h"

struct devcluster;
struct store;
struct store_observer; /* store.h */

struct devcluster_options {
        struct world *world;
        const struct log *log;
        const char *path;       /* SQLite file of all logical clusters; ":memory:" for tests */
        bool sync_commits;      /* false: no fsync (tests, simulation) */
        int64_t watch_history;  /* events kept per cluster before 410; 0 = 10,000 */
        const char *public_url; /* "https://127.0.0.1:6443": written into kubeconfigs and cluster-info */
        bool anonymous_admin;   /* tests: requests without credentials are system:masters */
        const struct store_observer *observer; /* told of every change and commit; copied; may be NULL */
        struct http_transport *webhooks;       /* how they are called; NULL: they cannot be */
};

int devcluster_open(const struct devcluster_options *o, struct fiber_group *group, struct devcluster **ret,
                    struct error *err);
struct devcluster *
devcluster_close(struct devcluster *d); /* from a fiber, before the group ends; commits what is open */

/* Makes a logical cluster with its base objects (default, kube-system, kube-public, kube-node-lease
 * namespaces, bootstrap roles and bindings, kubernetes service); exists is fine. */
int devcluster_create_cluster(struct devcluster *d, const char *name, struct error *err);
int devcluster_delete_cluster(struct devcluster *d, const char *name, struct error *err);
/* Kubeconfig text with contexts for the named clusters, as cluster admin (client certificate). mem_free. */
int devcluster_kubeconfig(struct devcluster *d, const char *const *clusters, size_t n, char **ret,
                          struct error *err);
/* For servers that learn their port late: "https://HOST:PORT" in kubeconfigs to come. */
void devcluster_set_public_url(struct devcluster *d, const char *host, int port);
const char *devcluster_ca_pem(const struct devcluster *d);

/* URL of one cluster in kubeconfigs to come, without a trailing slash; for clusters with a listener of their
 * own. 0 or ERR_NO_MEMORY. */
int devcluster_set_cluster_url(struct devcluster *d, const char *cluster, const char *url);

/* Where a Service ("namespace/name") is reached, for webhooks: there is no proxy that would know. address:
 * "host:port"; NULL takes it away. 0 or ERR_NO_MEMORY. */
int devcluster_set_service_address(struct devcluster *d, const char *service, const char *address);

struct store *devcluster_store(struct devcluster *d); /* store.h: for who looks at it from the side */

/* Serves /clusters/NAME/... (and /healthz of the whole). */
void devcluster_handle(void *devcluster, struct http_exchange *x);

/* Test rules and counters. */
struct devcluster_request_count {
        const char *cluster, *verb, *resource;
        uint64_t n;
};
int devcluster_requests(struct devcluster *d, const char *cluster, struct arena *arena,
                        struct devcluster_request_count **ret, size_t *ret_n);
void devcluster_reset_requests(struct devcluster *d);
/* Cuts every open watch of a cluster (NULL = all), optionally compacting history so that they get 410. */
void devcluster_cut_watches(struct devcluster *d, const char *cluster, bool compact);
/* Workload simulation: objects that refuse (readiness.h) or are matched by a rule set with this call (kind,
 * namespace, name; NULL = any) stay unavailable. ready=true takes the rule away. */
int devcluster_set_readiness(struct devcluster *d, const char *cluster, const char *kind, const char *ns,
                             const char *name, bool ready);
/* The namespace's workloads are run by somebody: with simulated=false nothing is written into the status of
 * its Deployments, ReplicaSets, Pods and the like. Kept in memory only. */
int devcluster_set_simulated(struct devcluster *d, const char *cluster, const char *ns, bool simulated);
/* The cluster has a kubelet's view of its workloads, too: ReplicaSets and Pods are made of them. Kept in
 * memory only, as the rules above. */
int devcluster_set_pods(struct devcluster *d, const char *cluster, bool on);
/* How long after a write its simulated effects come; default 5 ms. */
void devcluster_set_workload_delay(struct devcluster *d, int64_t ms);
/* Makes nodes node-1 to node-N that are Ready and have the given size ("4", "16Gi"); those that exist stay.
 * From a fiber. A node made by any other way becomes Ready too, with a default size. */
int devcluster_add_nodes(struct devcluster *d, const char *cluster, size_t n, const char *cpu,
                         const char *memory, struct error *err);

/* ---- the real server: nghttp2 and HTTP/1.1 over TLS ---- */
struct devcluster_server_options {
        struct devcluster *devcluster;
        const char *bind;
        int port; /* 0 = any */
        /* NULL: clusters are told apart by path. Else all requests are for this one and have no
         * /clusters/NAME in front: what an in-cluster client, which knows host and port only, needs.
         * Borrowed.
         */
        const char *cluster;
};
struct devcluster_server;
int devcluster_serve(const struct devcluster_server_options *o, struct devcluster_server **ret,
                     struct error *err);
int devcluster_server_port(const struct devcluster_server *s);
size_t devcluster_server_connections(const struct devcluster_server *s); /* open now */
struct devcluster_server *devcluster_server_stop(struct devcluster_server *s);
