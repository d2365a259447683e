/* Objects as the page keeps thousands of them. Pure. */
#pragma once

#include "proto/gen/kinds.h"

/* The same placement with less about its clusters (source.h), in a block of its own: one reference.
 * Conditions of clusters where all is well are shared in the table. NULL on no memory. */
struct object *page_reduce_placement(struct intern_table *interns, const struct object *o);
/* A Work without its manifests, once the member has told of them: they are large, and may hold Secrets. */
struct object *page_reduce_work(struct intern_table *interns, const struct object *o);
/* A resource snapshot of whose manifests is left what names them: apiVersion, kind, metadata.name and
 * metadata.namespace; of envelopes the same of each object in `data`. What is no object becomes {}. */
struct object *page_reduce_snapshot(struct intern_table *interns, const struct object *o);
