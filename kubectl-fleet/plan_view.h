/* What an approval lets happen: the plans on the approval requests of a run, clusters with the same changes
 * together. Pure. */
#pragma once

#include "common/ctrl/informer.h"
#include "kubectl-fleet/screen.h"
#include "proto/gen/kinds.h"

/* Clusters that get the same. */
struct plan_group {
        const struct cluster_plan *plan; /* of the first */
        const char **clusters;
        size_t n_clusters;
};
struct request_plan {
        const struct approval_request *request;
        const char *stage, *when; /* "before" or "after" the stage; "" if its label does not tell */
        bool approved;
        struct plan_group *groups; /* in the order their first clusters are updated */
        size_t n_groups;
};
struct plan_view {
        const struct update_run *run;
        struct request_plan *at; /* those with a plan, in the order of the run's stages; what waits first */
        size_t n, n_without;     /* requests; those that show no plan */
};
/* `stage`: of this one alone; NULL = all. 0 or ERR_NO_MEMORY. */
int plan_look(struct arena *arena, const struct update_run *run, const struct object_list *requests,
              const char *stage, struct plan_view *ret);
void plan_draw(const struct plan_view *v, struct screen *s, const char *hub); /* as struct run_drawing's */
json_t *plan_doc(const struct plan_view *v);                                  /* new; NULL on no memory */
