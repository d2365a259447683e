/* A rig whose stores are looked at from the side: what came and went, and what they hold in the end, as text
 * by which two runs can be compared. No request is made for it. */
#pragma once

#include "e2e/devcluster/rig.h"

struct rig_change {
        enum { RIG_ADDED, RIG_MODIFIED, RIG_DELETED } type;
        const char *cluster, *resource; /* "m1", "/configmaps" */
        const char *ns, *name;          /* ns "" if cluster-scoped */
        const char *text;               /* the object as JSON; of a deleted one, its last state */
};

/* As rig_run_for(); `changed` is told of every change of every cluster, with that ctx. */
void rig_run_watched(void (*body)(struct rig *r), void (*changed)(void *ctx, const struct rig_change *c),
                     void *ctx);
/* One line per object: resource, namespace/name, object. What no two runs have in common (uids, moments,
 * resourceVersions, managed fields) is blurred or left out, and so is what `skip` says of its resource. */
void rig_print_store(struct rig *r, const char *cluster, bool (*skip)(const char *resource), struct buf *out);
