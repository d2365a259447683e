/* Everything that is not a resource: discovery, versions, OpenAPI, health. */
#pragma once

#include "e2e/devcluster/request.h"

int discovery_handle(struct request *rq, const char *const *segments, size_t n);
/* /openapi/v2, /openapi/v3, /openapi/v3/... */
int openapi_handle(struct request *rq, const char *const *segments, size_t n);
