/* CustomResourceDefinitions made into descriptors of resources. Equal specs share one compiled descriptor,
 * whatever cluster they are in: a thousand members with the same CRD hold its schema once. */
#pragma once

#include "e2e/devcluster/registry.h"

struct custom_resource {
        struct resource resource;
        struct devcluster *devcluster; /* that finds it by its hash; NULL = kept */
        uint32_t refs;
        char hash[65];
        struct arena arena; /* all it points to */
        json_t *spec;
};

struct custom_resource *custom_resource_ref(struct custom_resource *r);
void custom_resource_unref(struct custom_resource *r);
/* Keeps the descriptor alive for the arena's life; no-op for built-ins. */
int resource_hold(const struct resource *r, struct arena *arena);

/* Compiles a CRD's spec. ERR_INVALID names what is wrong. */
int crd_compile(struct devcluster *d, const json_t *spec, struct custom_resource **ret, struct error *err);
/* Serves (or no longer serves) what the stored CRD document says. */
int crd_install(struct devcluster *d, struct cluster *c, const json_t *crd, struct error *err);
void crd_uninstall(struct cluster *c, const json_t *crd);
int crd_load_all(struct devcluster *d, struct cluster *c, struct error *err); /* after a restart */

/* A descriptor is immutable, so that a process may keep it for all its devclusters to come: one reference is
 * never given back. Serving it leaves it to be found by its hash. */
struct custom_resource *crd_keep(struct custom_resource *r);
int crd_serve_kept(struct devcluster *d, struct cluster *c, struct custom_resource *r, struct error *err);
