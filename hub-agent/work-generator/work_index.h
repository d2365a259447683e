/* Index of the Work informer: the key of the binding a Work belongs to. */
#pragma once

#include "hub-agent/common.h"

#define INDEX_BINDING "binding"
void emit_work_binding(const struct object *o, index_emit emit, void *to);
/* The Works of the binding of this key that may speak for it; `b` NULL, for one that is gone: all that name
 * it.
 */
int works_of_binding(struct reconcile *rc, const char *key, const struct binding *b, bool terminating_too,
                     struct object_list *ret);
