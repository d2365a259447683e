#include "e2e/devcluster/discovery.h"

int openapi_handle(struct request *rq, const char *const *segments, size_t n)
{
        return request_fail_no_path(rq);
}
