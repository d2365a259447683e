/* Index of the Work informer: the key of the binding a Work belongs to. */
#pragma once

#include "common/ctrl/informer.h"

#define INDEX_BINDING "binding"
void emit_work_binding(const struct object *o, index_emit emit, void *to);
