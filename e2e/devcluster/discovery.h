/* Everything that is not a resource: discovery, versions, OpenAPI, health. */
#pragma once

#include "e2e/devcluster/request.h"

int discovery_handle(struct request *rq, const char *const *segments, size_t n);
struct subresource {
        const char *name;
        const char *group, *version,
                *kind; /* what it speaks, when not the resource itself; group NULL = itself */
        uint32_t verbs;
};
#define SUBRESOURCES_MAX 8
size_t discovery_subresources(const struct resource *r, const struct resource_version *v,
                              struct subresource *ret); /* up to SUBRESOURCES_MAX */

/* /openapi/v2, /openapi/v3, /openapi/v3/... */
int openapi_handle(struct request *rq, const char *const *segments, size_t n);
