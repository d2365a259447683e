/* Which objects a Work lists, read from its manifests without making documents of them. */
#pragma once

#include "member-agent/store/store.h"
#include "proto/gen/kinds.h"

/* One name per manifest that has one; what has none can never be applied and wants nothing. The array and its
 * strings live in the arena. */
int wants_of_work(const struct work *w, struct arena *arena, struct object_name **ret, size_t *ret_n,
                  struct error *err);
