/* What a request's path comes to: cluster, parts, resource, and what was found out about each verb on it.
 * Agents ask for the same few paths again and again, so that this is kept from one request to the next: of as
 * many paths as ROUTES_MAX, and of twice as many at most; not of long ones. What is kept says for which state
 * of the cluster it holds, and is found out anew for another. */
#pragma once

#include "e2e/devcluster/request.h"

#define ROUTES_MAX 8192
#define ROUTE_PATH_MAX 512 /* bytes */

/* One verb on a path. */
struct route_verb {
        const char *verb; /* NULL = none yet */
        uint64_t *count;  /* of such requests, good for this counts_version of the cluster */
        uint64_t counts_version;
        uint64_t user, access_version; /* it is allowed to this user (identity.number; 0 = not known) */
};

struct route {
        unsigned refs;
        const char *path;      /* whole, as it is asked for */
        const char *below;     /* what follows /clusters/NAME */
        const char *const *at; /* parts of `below`, unescaped */
        size_t n;
        struct cluster *cluster;

        /* Of a resource; plural NULL if it is none. */
        const char *group, *version, *ns, *plural, *name, *subresource;
        bool watch;                      /* the old form of ?watch=true */
        const struct resource *resource; /* good for this schema_version of the cluster; NULL = not known */
        const struct resource_version *resource_version;
        uint64_t schema_version;
        bool has_schemas; /* all of the resource are built */

        struct route_verb verbs[2]; /* those asked for last */
        unsigned oldest;            /* of them */
};

/* Those that were asked for lately, and those before: a path that is asked for again moves up, and when there
 * is no room above, what is below goes. */
struct routes {
        struct map now, before; /* path -> struct route */
};

/* Fills in what the path of rq->x says: route, cluster and path, and of a resource group to subresource.
 * Fails the request where it leads nowhere. */
int route_take(struct request *rq);
/* Of rq->verb. NULL: of a request without a route. */
struct route_verb *route_verb(struct request *rq);
void routes_free(struct devcluster *d);
