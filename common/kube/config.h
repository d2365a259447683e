/* Who to talk to: kubeconfig files and the in-cluster service account, made into an http_endpoint. */
#pragma once

#include "common/net/http.h"

struct kube_config {
        struct http_endpoint endpoint;
        char *namespace_; /* of the context; "default" if none */
        char *context;    /* its name; NULL in-cluster */
};
void kube_config_free(struct kube_config *c);

/* Reads `path` (NULL: $KUBECONFIG, a colon-separated list merged as kubectl does; then $HOME/.kube/config),
 * takes `context` (NULL: current-context). Files named inside are read relative to the kubeconfig. exec and
 * auth-provider plugins are refused with a sentence. Errors name file, context and field. */
int kube_config_load(struct world *w, const char *path, const char *context, struct kube_config *ret,
                     struct error *err);
/* The names of all contexts that kube_config_load() would find, in the arena, in the order of the files. */
int kube_config_contexts(struct world *w, const char *path, struct arena *arena, const char ***ret,
                         size_t *ret_n, struct error *err);
/* KUBERNETES_SERVICE_HOST/PORT and the projected token and CA. ERR_NOT_FOUND outside a cluster. */
int kube_config_in_cluster(struct world *w, struct kube_config *ret, struct error *err);
/* `path` if given, else in-cluster, else the default kubeconfig. Inside a cluster without the files of its
 * service account and without a kubeconfig, the error names the missing file. */
int kube_config_find(struct world *w, const char *path, const char *context, struct kube_config *ret,
                     struct error *err);
