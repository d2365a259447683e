/* The program that serves the API servers of a fleet, "hub" and "member-1" to "member-N": devcluster, or
 * kube-clusters, which is real Kubernetes. All calls but the getters are made from a fiber. */
#pragma once

#include "common/kube/client.h"

struct server_program;

struct server_program_options {
        struct loop *loop; /* real */
        const struct log_sink *log_sink;
        const char *programs; /* folder with devcluster and kube-clusters */
        const char *scratch;  /* folder for files; borrowed while it runs */
        const char *assets;   /* folder of real Kubernetes (e2e/kube/build), borrowed; NULL = devcluster */
        unsigned members;
        unsigned patience_s;    /* until it is ready; 0 = what that kind of server takes when it is empty */
        unsigned watch_history; /* events that devcluster keeps for watches; 0 = its default */
        int webhook_port; /* of 127.0.0.1: where devcluster finds the Service fleet-system/fleetwebhook; 0 =
                             nowhere */
};

/* Parks until every API server is ready. */
int server_program_start(const struct server_program_options *o, struct server_program **ret,
                         struct error *err);
struct server_program *server_program_stop(struct server_program *s); /* NULL is fine */

const char *server_program_name(const struct server_program *s); /* "devcluster" or "kube-clusters" */
bool server_program_is_kubernetes(const struct server_program *s);
int server_program_pid(const struct server_program *s);
struct world *server_program_world(struct server_program *s);
const struct log *server_program_log(const struct server_program *s);
/* The administrator's client: 0 = hub, i = member-i; borrowed. */
struct kube_client *server_program_client(struct server_program *s, unsigned cluster);

/* All API servers go away and come back, watch history compacted. */
int server_program_restart(struct server_program *s, struct error *err);
/* As fleet_ops.set_ready; the cluster is 0 = hub, i = member-i. */
int server_program_set_ready(struct server_program *s, unsigned cluster, const char *kind, const char *ns,
                             const char *name, bool ready, struct error *err);
/* Real Kubernetes only (kube_clusters.h): else ERR_UNSUPPORTED. */
int server_program_checkpoint(struct server_program *s, struct error *err);
int server_program_reset(struct server_program *s, struct error *err);
