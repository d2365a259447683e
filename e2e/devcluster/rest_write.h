/* Parts of writing shared by create, update, patch and delete. */
#pragma once

#include "e2e/devcluster/request.h"

/* doc_parse_beside() of a body, whose duplicate members are noted for fieldValidation. */
int rest_parse_json(struct request *rq, struct slice text, const json_t *like, json_t **ret,
                    struct error *err);
/* Warns of duplicates and unknown members (paths), or fails the request, as fieldValidation says. */
int rest_report_fields(struct request *rq, const json_t *removed);
int rest_normalise(struct request *rq, json_t *doc);
/* Updates `live` (in the request's version) to doc, in place; `applied`: managedFields of doc are right
 * already. */
int rest_update_live(struct request *rq, const json_t *live, json_t *doc, bool applied,
                     struct write_result *ret);
/* POST of a resource that is never stored: doc becomes the answer. */
int rest_create_virtual(struct request *rq, json_t *doc);
int rest_create_applied(struct request *rq, json_t *doc, struct write_result *ret);
/* uid and resourceVersion of doc, where given, are those of live; 409 otherwise. */
int rest_check_version(struct request *rq, const json_t *live, const json_t *doc);
/* Takes the object out of the store for good. */
int rest_remove(struct request *rq, json_t *doc);

/* ---- scale.c ---- */
int scale_get(struct request *rq, json_t **ret);
/* Custom objects: what the paths of the subresource must hold. Problems go in where kube-apiserver has them.
 */
int scale_validate(struct request *rq, const json_t *doc, struct schema_problems *problems);
int scale_update(struct request *rq, json_t *scale, struct write_result *ret);
