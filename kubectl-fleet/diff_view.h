/* What drifted, or differs from what the hub wants: field by field, both sides, from the bindings of a
 * placement. Pure. */
#pragma once

#include "common/ctrl/informer.h"
#include "kubectl-fleet/screen.h"
#include "proto/gen/kinds.h"

struct difference {
        const char *cluster;
        bool drifted; /* changed after it was applied; else found to differ, and not managed */
        const struct resource_identifier *id;
        const struct patch_detail_list *fields;
        int64_t since_ms; /* when it was seen first */
};
struct diff_view {
        const struct placement *placement;
        struct difference *at; /* by cluster, kind, namespace and name */
        size_t n;
        size_t n_clusters,
                n_compared; /* that the placement is on; of them, those that said how they compare */
        bool cut;           /* a cluster may have more than its binding tells of */
};
/* `cluster`: of this one alone; NULL = all. 0 or ERR_NO_MEMORY. */
int diff_look(struct arena *arena, const struct placement *p, const struct object_list *bindings,
              const char *cluster, struct diff_view *ret);
void diff_draw(const struct diff_view *v, struct screen *s, int64_t now_ms);
json_t *diff_doc(const struct diff_view *v); /* new; NULL on no memory */
