/* Query parameters and option bodies: what kube-apiserver refuses in them. */
#pragma once

#include "e2e/devcluster/request.h"

/* dryRun, fieldManager, fieldValidation, force of a write; checked for the verb at hand. */
int options_read_write(struct request *rq);
/* The parameters of list, watch and deletecollection that need no look at the store. */
int options_check_list(struct request *rq, bool watching);
/* DeleteOptions from body (NULL = none) and query. */
int options_read_delete(struct request *rq, const json_t *doc, struct delete_options *ret);
