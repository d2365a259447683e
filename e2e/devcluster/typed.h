/* What server-side apply says of a configuration that does not fit its kind, before anything is merged. */
#pragma once

#include "e2e/devcluster/request.h"

/* Fails with 500, as the API server does, naming every value of a wrong type, undeclared field and doubled
 * list element. */
int typed_check(struct request *rq, const json_t *config);
