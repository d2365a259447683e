/* Between the version an object is stored in and the version a client speaks. Custom resources have strategy
 * None: only apiVersion changes, then fields the target version lacks are pruned and its defaults applied
 * (spec/api.md 2). */
#pragma once

#include "e2e/devcluster/request.h"

/* True when the stored text is what the request's version shows, so that it can be sent as it is. */
bool convert_is_identity(const struct request *rq, const struct table *t, const struct blob *b);
/* The stored object in the request's version; *ret is new. */
int convert_blob(struct request *rq, const struct blob *b, json_t **ret, struct error *err);
/* A document as it is stored, in place. */
int convert_stored(struct request *rq, json_t *doc, struct error *err);
/* A copy of a document of the request's version in the storage version; may be the same document again (new
 * reference). */
int convert_to_storage(struct request *rq, json_t *doc, json_t **ret, struct error *err);
/* A copy of a document in another version of the request's resource; *ret is new. */
int convert_copy(struct request *rq, const struct resource_version *to, const json_t *doc, json_t **ret,
                 struct error *err);
/* In place: what a schema says about unknown fields, with metadata left alone. */
int convert_prune(struct request *rq, const struct resource_version *v, json_t *doc, json_t *ret_removed,
                  struct error *err);
