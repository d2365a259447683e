/* What kubelets, cloud providers and ingress controllers would do on one real cluster, pretended: nodes are
 * Ready, pods that the scheduler gave a node run (those of Jobs finish), deleted pods go away at once, load
 * balancers and ingresses get an address. The statuses are those of devcluster (workload_status.h), so that a
 * test sees the same on both. */
#pragma once

#include "common/kube/client.h"

struct fake_kubelet;

/* Makes node-1 to node-N and starts its fibers in `group`. `k` must outlive it. */
int fake_kubelet_start(struct kube_client *k, struct fiber_group *group, unsigned nodes,
                       struct fake_kubelet **ret, struct error *err);
struct fake_kubelet *fake_kubelet_stop(struct fake_kubelet *f); /* from a fiber; NULL is fine */

/* Rules by kind, namespace and name of the pod or of the workload that owns it: readiness.h. */
int fake_kubelet_set_ready(struct fake_kubelet *f, const char *kind, const char *ns, const char *name,
                           bool ready);
/* The namespace's pods are run by somebody else: their status is left alone until simulated again. */
int fake_kubelet_set_simulated(struct fake_kubelet *f, const char *ns, bool simulated);
/* Forgets all rules. */
void fake_kubelet_clear(struct fake_kubelet *f);
