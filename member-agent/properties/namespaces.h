/* Which Work each namespace of the cluster belongs to: spec/member-agent.md 4. Pure: no I/O. */
#pragma once

#include "common/base/map.h"
#include "proto/object.h"

#define NAMESPACES_TOLD_MAX 200

/* All namespaces but those that go. The first ones are told of; the others wait for a place to become free.
 */
struct namespaces {
        struct map entries; /* name -> entry */
        size_t n_told;
        uint32_t round; /* of lists: what a list did not touch is gone */
};

void namespaces_init(struct namespaces *s);
void namespaces_free(struct namespaces *s);
/* Owner references and the start of its end count. ERR_NO_MEMORY. */
int namespaces_put(struct namespaces *s, const struct object *ns);
void namespaces_remove(struct namespaces *s, const char *name);
/* Around a whole list. */
void namespaces_begin(struct namespaces *s);
void namespaces_end(struct namespaces *s);

/* status.namespaces in the arena: name -> AppliedWork, or "". ERR_NO_MEMORY. */
int namespaces_report(const struct namespaces *s, struct arena *arena, struct string_map *ret,
                      struct error *err);
/* Whether some are not told of. */
bool namespaces_cut(const struct namespaces *s);
