/* The chart runner: a kubelet for the pods of one namespace on a machine without a container engine. Each
 * container is a local process in namespaces of its own, with the arguments, environment, files, user and
 * service-account token that its pod names. On a real API server the pods come from the Deployment and
 * ReplicaSet controllers and the scheduler; devcluster has none, so there the runner does their part too
 * (controllers.h).
 *
 * What differs from a node: images are our own programs by name (image.h); the network is a loopback per pod
 * with ways to the API servers and nothing else (network.h); resource limits are not enforced; logs are files
 * in the scratch folder; a container's ID is chart-runner://PID. */
#pragma once

#include "common/base/map.h"
#include "common/kube/client.h"
#include "e2e/chart-runner/pod_env.h"

#define PORTS_MAX 64
/* On pods the runner made: they stay until their processes have ended. */
#define RUNNER_FINALIZER "argosy.dev/chart-runner"

struct runner_options {
        struct world *world;
        const struct log *log;
        const char *kubeconfig, *context, *ns, *node;
        const char *programs, *scratch; /* absolute */
        const char *self;               /* this program: starts the containers' helper */
        int64_t restart_delay_ms;       /* first step of the back-off */
        bool single_user;               /* a normal user in a user namespace: one id for all */
};

struct runner {
        struct runner_options options;
        struct loop *loop;
        const struct log *log;
        struct kube_client kube;
        struct fiber_group *group;
        bool devcluster; /* ours: nobody else makes pods of Deployments there */
        char host[64];   /* of the API server, as pods are told */
        int port;
        int ports[PORTS_MAX]; /* all API servers of the kubeconfig, for pods to reach */
        size_t n_ports;
        char *claims;     /* folder of persistent volume claims */
        bool single_user; /* we are a normal user: files cannot be given to others */
        struct map pods;  /* uid -> struct running_pod */
        unsigned made;    /* pods so far */
        struct informer *informers[5];
        size_t n_informers;
        struct waitq changed;
        uint64_t changes; /* in the namespace, counted */
};

/* Runs until cancelled, then ends all containers. */
int runner_run(const struct runner_options *o, struct fiber_group *group, struct error *err);

extern const struct kube_resource pods_resource, secrets_resource, config_maps_resource, deployments_resource,
        replica_sets_resource;

/* Reads Secrets and ConfigMaps of the namespace once each and keeps them until the end. */
struct runner_lookup {
        struct runner *runner;
        struct map objects; /* "Secret/name" -> json_t */
};
void runner_lookup_init(struct runner_lookup *l, struct runner *r, struct pod_lookup *ret);
void runner_lookup_free(struct runner_lookup *l);
