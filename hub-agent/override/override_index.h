/* Indexes of the override snapshot informers. */
#pragma once

#include "common/ctrl/informer.h"

#define INDEX_OVERRIDE "override" /* key of the override a snapshot belongs to */
#define INDEX_LATEST "latest"     /* "true" for those marked latest */
void emit_override(const struct object *o, index_emit emit, void *to);
void emit_latest(const struct object *o, index_emit emit, void *to);
