/* The plan of an update: what it changes, cluster by cluster, for whoever is to approve it. Pure. Not in the
 * reference. */
#pragma once

#include "hub-agent/common.h"

#define UPDATE_PLAN_BYTES_MAX (256u << 10) /* of all listed objects, as they are stored */
#define UPDATE_PLAN_FIELDS_MAX 50          /* of one object */
#define UPDATE_PLAN_VALUE_MAX 200          /* bytes of one value; the middle of a longer one is left out */

/* What becomes of a cluster that has the manifests `before` and gets those of `after`, as texts of JSON;
 * sorted by group, kind, namespace and name. Of Secrets no value is told. What it takes meanwhile is in
 * `scratch`. ERR_INVALID: one is no object. */
int plan_cluster(struct arena *arena, struct arena *scratch, const struct raw_list *before,
                 const struct raw_list *after, struct cluster_plan *ret, struct error *err);

/* Fills the fields of `o`: what makes `after` of `before`, both objects. Of a Secret no value is told. */
int plan_fields(struct arena *arena, const json_t *before, const json_t *after, struct planned_object *o,
                struct error *err);

/* Names the plan: it is another one when anything in it is, or when `basis` is, which stands for what the
 * plan hides. NULL on no memory. Lower-case hex. */
const char *update_plan_hash(struct arena *arena, const struct update_plan *p, const char *basis);
/* Leaves objects out until the rest fits; how many is told in it. */
void update_plan_fit(struct update_plan *p, size_t max);
