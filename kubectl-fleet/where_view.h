/* What `where` shows of one member cluster: which placements put what there, from the Works in its namespace
 * on the hub. Pure. */
#pragma once

#include "common/ctrl/informer.h"
#include "kubectl-fleet/standing.h"
#include "proto/gen/kinds.h"

struct placed_object {
        const char *group, *version, *kind, *ns, *name;
        enum standing standing;
        const char *word, *message;
};
/* Of one manifest that its Work speaks of; `m` has an identifier. Strings are the condition's. */
void placed_object_judge(const struct manifest_condition *m, struct placed_object *ret);
/* One placement's share. */
struct share {
        const char *placement, *ns; /* ns: of a ResourcePlacement, else NULL */
        const char *revision;       /* "" = not told */
        const char **works;
        size_t n_works;
        struct placed_object *objects; /* those in trouble first, then by kind, namespace and name */
        size_t n_objects;
        struct progress progress; /* of the objects */
};
struct where_view {
        const struct member_cluster *cluster;
        bool joined, healthy;
        int64_t heartbeat_ms; /* TIME_NONE = none */
        struct share *shares; /* by namespace and name */
        size_t n_shares;
};
/* Works that no placement made are left out. 0 or ERR_NO_MEMORY. */
int where_look(struct arena *arena, const struct member_cluster *cluster, const struct object_list *works,
               struct where_view *ret);

struct where_drawing {
        struct screen screen;
        int64_t now_ms;
        bool all;
};
void where_draw(const struct where_view *v, struct where_drawing *d);
json_t *where_doc(const struct where_view *v); /* new; NULL on no memory */
