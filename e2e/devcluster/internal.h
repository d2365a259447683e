/* The devcluster itself: what all its files share. Public face: devcluster.h. */
#pragma once

#include "e2e/devcluster/builtin/protobuf.h"
#include "e2e/devcluster/builtin/types.h"
#include "e2e/devcluster/devcluster.h"
#include "e2e/devcluster/request.h"
#include "e2e/devcluster/store.h"

struct gc;
struct openapi_cache;

struct devcluster {
        struct devcluster_options options;
        struct store_observer observer; /* of options; all NULL = nobody */
        struct world *world;
        struct loop *loop;
        const struct log *log;
        struct fiber_group *group; /* of its controllers */
        struct store *store;
        struct builtin_types *types;
        struct protobuf_types *protobuf;
        struct map compiled; /* hash of a CRD's spec -> struct custom_resource (not counted) */
        struct gc *gc;
        struct authn *authn;           /* tokens.c: tokens seen; NULL = none yet */
        struct openapi_cache *openapi; /* openapi_cache.c; NULL = nothing yet */
        struct routes *routes;         /* routes.c; NULL = nothing yet */
        struct simulator *simulator;   /* workloads.c */
        char *ca_cert, *ca_key;        /* PEM */
        char *signing_key;             /* PEM: service-account tokens */
        json_t *bootstrap_roles;       /* bootstrap.c: for the next cluster; NULL = none made yet */
        char *public_url;
        struct map cluster_urls;      /* cluster -> char *: those with a listener of their own */
        struct map service_addresses; /* "namespace/name" -> char * "host:port": where webhooks are */
};

/* ---- bootstrap.c: the objects every cluster has from the start ---- */
int bootstrap_cluster(struct devcluster *d, struct cluster *c, struct error *err);
/* What controllers put into every new namespace: its default service account and the root certificate. */
int bootstrap_namespace(struct devcluster *d, struct cluster *c, const char *name, struct error *err);

/* ---- pki.c: certificate authority and signing key, kept in the store ---- */
int pki_open(struct devcluster *d, struct error *err);
int pki_ensure(struct devcluster *d, struct error *err); /* makes CA and signing key when there are none */
const char *pki_ca_text(const struct devcluster *d);
void pki_close(struct devcluster *d);

/* ---- count.c ---- */
void count_request(struct request *rq);
void count_free(struct cluster *c);
void count_reset(struct cluster *c); /* counters that a route has found are found anew */
