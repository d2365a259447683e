/* Between gc.c (index and queue) and gc_work.c (what is done with one object). */
#pragma once

#include "e2e/devcluster/gc.h"

#define CRD_TABLE_KEY "apiextensions.k8s.io/customresourcedefinitions"

void gc_process(struct gc *g, struct request *rq); /* rq names the object; it may be gone */
void gc_enqueue_owners(struct gc *g, struct cluster *c, const struct blob *dependent);
const struct resource *gc_resource_of(struct cluster *c, const json_t *doc); /* by apiVersion and kind */

void gc_enqueue(struct gc *g, struct cluster *c, const char *key, const char *ns, const char *name);
void gc_enqueue_blob(struct gc *g, struct cluster *c, const struct blob *b);
struct blob *const *gc_dependents(struct cluster *c, const char *uid, size_t *ret_n);
