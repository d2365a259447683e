/* Garbage collection: dependents of deleted owners (background, foreground, orphan), contents of namespaces
 * and instances of CRDs that are being deleted. One fiber works through a queue that the store's changes
 * fill. */
#pragma once

#include "e2e/devcluster/internal.h"

struct gc *gc_new(struct devcluster *d);
struct gc *gc_free(struct gc *g);
/* Told of every change in the store. */
void gc_changed(struct gc *g, struct table *t, enum event_type type, struct blob *previous,
                struct blob *object);
void gc_load(struct gc *g,
             struct cluster *c);   /* after a restart: indexes owners, looks for unfinished deletions */
void gc_forget(struct cluster *c); /* frees the index */
