/* What a ResourceSet would do on the hub, object by object, in the order in which it is applied; what left it
 * comes last. The hub tries each write and keeps none. */
#pragma once

#include "hub-agent/resource-set/build.h"
#include "kubectl-fleet/changes.h"
#include "kubectl-fleet/session.h"

struct set_plan {
        const struct resource_set *set;
        struct planned_changes changes;
};
/* `built`: of the set, sorted as it is applied. `former`: the set as the hub has it, whose inventory counts;
 * NULL = it has none. What is wrong with one object stands with it. */
int set_plan_of(struct session *s, const struct resource_set *set, const struct resource_set *former,
                const struct build *built, struct set_plan *ret, struct error *err);
