/* What a working cluster makes of workloads: ReplicaSets of Deployments, and Pods. Off unless a cluster asks
 * for it (devcluster_set_pods): statuses need none (workload_status.h), people do. The Pods run on the
 * cluster's nodes as any other, and are held unready with the workload they belong to. */
#pragma once

#include "e2e/devcluster/internal.h"

bool pods_kind_has_any(const char *kind); /* Deployment, ReplicaSet, StatefulSet, DaemonSet, Job */
/* Makes, scales and removes what the workload `doc` owns, as its spec and status say. The request is on the
 * workload. */
int pods_follow(struct request *rq, const json_t *doc, struct error *err);

/* What controls an object; strings are the document's. False: nothing does. */
struct pods_owner {
        const char *table_key, *name;
};
bool pods_owner_of(const json_t *doc, struct pods_owner *ret);
/* Whether a rule holds the workload of a Pod or ReplicaSet unready. */
bool pods_are_held(const struct cluster *c, const json_t *doc);
