/* metadata: the rules every object obeys, whatever its kind. */
#pragma once

#include "e2e/devcluster/request.h"

/* Types of everything in metadata, so that later code may trust them; fails with 400. Makes metadata when
 * absent; removes nulls and fields ObjectMeta does not have (those are reported as unknown fields in
 * ret_removed). */
int meta_check_shape(struct request *rq, json_t *doc, json_t *ret_removed);
/* apiVersion and kind fit the request; absent ones are filled in. */
int meta_check_kind(struct request *rq, json_t *doc, const char *api_version, const char *kind);
/* Namespace and name fit the request's path. */
/* PUT: the name is in the body and is the path's. */
int meta_check_sent_name(struct request *rq, const json_t *doc);
int meta_check_place(struct request *rq, json_t *doc, bool creating);
/* base and five random characters, as generateName makes names; in the arena, NULL on no memory. */
const char *meta_random_name(struct request *rq, const char *base);
/* Fields the server owns, for a new object: uid, creationTimestamp, generation, generated name. */
int meta_prepare_create(struct request *rq, json_t *doc);
/* The same for an update: those fields come from the live object. */
int meta_prepare_update(struct request *rq, const json_t *live, json_t *doc);
/* Names, labels, annotations, finalizers, owner references (meta_validate.c). */
int meta_validate(struct request *rq, const json_t *live, const json_t *doc,
                  struct schema_problems *problems);

/* The metadata object as JSON, members in the order of Go's ObjectMeta. */
int meta_write_as_go(const json_t *meta, struct buf *b);

const char *meta_name(const json_t *doc); /* "" if absent */
const char *meta_ns(const json_t *doc);
const char *meta_uid(const json_t *doc);
const char *meta_rv(const json_t *doc);
bool meta_is_deleting(const json_t *doc);
json_t *meta_finalizers(const json_t *doc); /* array or NULL */
bool meta_has_finalizers(const json_t *doc);
bool meta_has_finalizer(const json_t *doc, const char *finalizer);
int meta_add_finalizer(json_t *doc, const char *finalizer);
int meta_remove_finalizer(json_t *doc, const char *finalizer);
void meta_new_uid(struct loop *l, char ret[37]);
