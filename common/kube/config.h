/* Who to talk to: kubeconfig files and the in-cluster service account, made into an http_endpoint. */
#pragma once

#include "common/json/doc.h"
#include "common/net/http.h"

/* The exec entry of a user: a program that tells the credentials. */
struct kube_exec {
        char *user, *file;      /* the user's name, and the kubeconfig where it stands */
        json_t *entry;          /* the user's, with its field exec */
        json_t *cluster_config; /* what the cluster's entry has for the program; NULL = nothing */
};

struct kube_config {
        struct http_endpoint endpoint;
        struct kube_exec exec; /* entry NULL = none */
        char *namespace_;      /* of the context; "default" if none */
        char *context;         /* its name; NULL in-cluster */
};
void kube_config_free(struct kube_config *c);

/* Reads `path` (NULL: $KUBECONFIG, a colon-separated list merged as kubectl does; then $HOME/.kube/config),
 * takes `context` (NULL: current-context). Files named inside are read relative to the kubeconfig. exec and
 * auth-provider plugins are refused with a sentence. Errors name file, context and field. */
int kube_config_load(struct world *w, const char *path, const char *context, struct kube_config *ret,
                     struct error *err);
/* What stands in place of what the file says; NULL = that. */
struct kube_config_choice {
        const char *context; /* instead of current-context */
        const char *cluster; /* instead of the context's: a context is not needed then */
        const char *user;    /* instead of the context's */
};
/* The same for who can run the program of an exec entry (kubectl-fleet/exec_credential.h): it is in ret->exec
 * then, unless the user has a token, too. */
int kube_config_load_exec(struct world *w, const char *path, const struct kube_config_choice *choice,
                          struct kube_config *ret, struct error *err);
/* The names of all contexts that kube_config_load() would find, in the arena, in the order of the files. */
int kube_config_contexts(struct world *w, const char *path, struct arena *arena, const char ***ret,
                         size_t *ret_n, struct error *err);
/* KUBERNETES_SERVICE_HOST/PORT and the projected token and CA. ERR_NOT_FOUND outside a cluster. */
int kube_config_in_cluster(struct world *w, struct kube_config *ret, struct error *err);
/* `path` if given, else in-cluster, else the default kubeconfig. Inside a cluster without the files of its
 * service account and without a kubeconfig, the error names the missing file. */
int kube_config_find(struct world *w, const char *path, const char *context, struct kube_config *ret,
                     struct error *err);
