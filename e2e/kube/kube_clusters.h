/* Real Kubernetes clusters on this machine: one etcd, per cluster a kube-apiserver, a kube-controller-manager
 * and, but for the hub, a kube-scheduler, nodes and a kubelet that only pretends (fake_kubelet.h). All calls
 * are made from a fiber. */
#pragma once

#include "common/kube/client.h"

struct kube_clusters;

struct kube_clusters_options {
        struct world *world; /* real */
        const struct log *log;
        struct fiber_group *group; /* the kubelets' fibers live here */
        const char *assets;        /* folder of the programs, see e2e/kube/build */
        const char *data;         /* folder for databases, keys and logs; made if absent, may be on a tmpfs */
        const char *const *names; /* of the clusters */
        size_t n;
        unsigned nodes;           /* per cluster but the hub: node-1, node-2, ... */
        const char *audit_policy; /* file: API servers write DATA/NAME/audit.log by it; NULL or "" = none */
};

/* Parks until every server is ready, and remembers that state as the first checkpoint. Servers die with this
 * process, however it ends. */
int kube_clusters_open(const struct kube_clusters_options *o, struct kube_clusters **ret, struct error *err);
struct kube_clusters *kube_clusters_close(struct kube_clusters *c); /* ends all servers; NULL is fine */

/* A kubeconfig of the administrator with a context per cluster. */
int kube_clusters_write_kubeconfig(struct kube_clusters *c, const char *path, struct error *err);

/* All API servers go away at once and come back on their ports; watches from before cannot be resumed. This,
 * checkpoint and reset answer ERR_CONFLICT while one of them is under way. */
int kube_clusters_restart(struct kube_clusters *c, struct error *err);

/* checkpoint() remembers the state of all clusters, reset() brings it back: for the next test. */
int kube_clusters_checkpoint(struct kube_clusters *c, struct error *err);
int kube_clusters_reset(struct kube_clusters *c, struct error *err);

/* Pods of workloads that match stay unready until ready again; NULL = any. ERR_NOT_FOUND: no such cluster. */
int kube_clusters_set_ready(struct kube_clusters *c, const char *cluster, const char *kind, const char *ns,
                            const char *name, bool ready, struct error *err);
/* The namespace's pods are run by somebody else (fake_kubelet.h). */
int kube_clusters_set_simulated(struct kube_clusters *c, const char *cluster, const char *ns, bool simulated,
                                struct error *err);
