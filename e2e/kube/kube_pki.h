/* The files by which one real cluster knows whom to trust: a CA of its own, the API server's certificate, the
 * key of service-account tokens, an administrator. */
#pragma once

#include "common/loop/world.h"

struct kube_pki {
        char *ca_cert, *admin_cert, *admin_key; /* PEM; mem_free */
};
void kube_pki_free(struct kube_pki *p);

/* Writes ca.crt, ca.key, apiserver.crt, apiserver.key, sa.crt, sa.key into the folder. `name` is the
 * cluster's. The administrator is in system:masters. */
int kube_pki_make(struct world *w, const char *name, const char *folder, struct kube_pki *ret,
                  struct error *err);

/* One kubeconfig with a context per cluster, each named as its cluster, the first being current. */
struct kube_pki_entry {
        const char *name, *url;
        const struct kube_pki *pki;
};
int kube_pki_kubeconfig(struct world *w, const struct kube_pki_entry *at, size_t n, const char *path,
                        struct error *err);
