/* Server-side apply: field sets, managedFields and the structured merge by schema. */
#pragma once

#include "common/json/doc.h"

struct schema;

struct apply_options {
        const json_t *blank; /* tracking a new object: one in which nothing is set; NULL = {} */
        const char *manager;
        const char *api_version;
        const char *subresource; /* NULL or "status" */
        bool force;
        int64_t wall_ms;
};

/* Applies `config` to `live` (NULL = create). *ret is the new object with managedFields set. On conflict:
 * ERR_CONFLICT with kube-apiserver's text, and *ret_conflicts (if asked for; new) an array of
 * {"manager","apiVersion","field","with"}, the last as the text names the manager: "m" using v1. */
int apply_server_side(const json_t *live, const json_t *config, const struct schema *schema,
                      const struct apply_options *o, json_t **ret, json_t **ret_conflicts, struct error *err);
/* Brings managedFields of `object` up to date, in place, after an ordinary write (operation Update) by
 * o->manager. `live` may be NULL. */
int apply_track_update(const json_t *live, json_t *object, const struct schema *schema,
                       const struct apply_options *o, struct error *err);

/* The fieldsV1 set of a document and set operations on fieldsV1 documents (all new; NULL on no memory). */
json_t *fieldset_of(const json_t *object, const struct schema *schema);
json_t *fieldset_union(const json_t *a, const json_t *b);
json_t *fieldset_difference(const json_t *a, const json_t *b);
json_t *fieldset_intersection(const json_t *a, const json_t *b);
bool fieldset_empty(const json_t *set);
