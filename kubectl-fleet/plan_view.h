/* What an approval lets happen: the plans on the approval requests of a run, or, where there are none, what
 * its snapshots tell; clusters with the same changes together. Pure. */
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
        const struct update_plan *plan;
        const struct approval_request *request; /* NULL = none is made yet */
        const char *stage, *when; /* "before" or "after" the stage; "" if its label does not tell */
        bool approved;
        struct plan_group *groups; /* in the order their first clusters are updated */
        size_t n_groups;
};
struct plan_view {
        const struct update_run *run;
        struct request_plan *at; /* those with a plan, in the order of the run's stages; what waits first */
        size_t n, n_without;     /* requests; those that show no plan */
        size_t n_owed;           /* of these those whose task asks for one */
        bool compared;           /* plan_compare() made it */
};
/* `stage`: of this one alone; NULL = all. 0 or ERR_NO_MEMORY. */
int plan_look(struct arena *arena, const struct update_run *run, const struct object_list *requests,
              const char *stage, struct plan_view *ret);

/* For plan_compare(). Snapshots: those of the indices that plan_target() and plan_index_of() tell. */
struct plan_parts {
        const struct update_run *run; /* initialized */
        struct object_list bindings;  /* struct binding, of its placement */
        struct map *by_cluster;       /* plan_map_bindings(); NULL = it is made */
        struct object_list snapshots; /* struct resource_snapshot, whole */
        struct object_list requests;  /* struct approval_request, of the run */
};
#define DELETION_NAME "cleanup" /* what the last stage is called here */
/* Index of what the run brings, and of what a cluster has; NO_INDEX = it is not initialized, it has nothing.
 */
int64_t plan_target(const struct update_run *run);
int64_t plan_index_of(const struct update_run *run, const struct binding *b);
/* The first binding of each cluster that is there to stay; NULL on no memory. In the arena. */
struct map *plan_map_bindings(struct arena *arena, const struct object_list *bindings);
/* What can be compared at all, and need not be waited for: 0, or ERR_NOT_FOUND in a sentence. */
int plan_check_comparison(const struct plan_view *v, const char *stage, struct error *err);
/* "parent-CRP=web,resource-index in (1,4)": of what the run brings and of what clusters have; the same text
 * for the same indices. NULL on no memory. */
const char *plan_snapshots_selector(struct arena *arena, const struct update_run *run,
                                    const struct object_list *bindings);
/* The stages with clusters that are not updated, or `only` one. Overrides and what envelopes hold are left
 * out of account.
 */
int plan_compare(struct arena *arena, const struct plan_parts *parts, const char *only, struct plan_view *ret,
                 struct error *err);
const char *plan_when(const struct approval_request *r); /* "before", "after" or "" */
/* Whether the task that the request stands for asks for a plan. */
bool plan_is_owed(const struct update_run *run, const struct approval_request *r);

int plan_group(struct arena *arena, struct request_plan *r); /* fills its groups; 0 or ERR_NO_MEMORY */

/* Beside PLANNED_ADDED, PLANNED_CHANGED and PLANNED_REMOVED: of what a Work would do. */
#define PLANNED_UNCHANGED "Unchanged"
#define PLANNED_REFUSED "Refused"   /* the member would report it as failed */
#define PLANNED_REPORTED "Reported" /* it differs, and the Work only reports differences */

/* The object with its fields, a line each; `note` behind it, `message` on a line of its own; NULL = none. */
void plan_draw_object(struct screen *s, const struct planned_object *o, const char *note,
                      const char *message);
json_t *plan_object_doc(const struct planned_object *o); /* new; NULL on no memory */

void plan_draw(const struct plan_view *v, struct screen *s, const char *hub); /* as struct run_drawing's */
json_t *plan_doc(const struct plan_view *v);                                  /* new; NULL on no memory */
