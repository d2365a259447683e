/* What a Work would do on a member, object by object, in the order in which it is applied: left-overs, then
 * the waves. From what trying it told. Pure. */
#pragma once

#include "kubectl-fleet/changes.h"
#include "kubectl-fleet/work_try.h"

struct work_plan {
        const struct work *work;
        const char *member; /* who was asked: the context */
        const char *type;   /* of the apply strategy */
        struct planned_changes changes;
};
/* 0 or ERR_NO_MEMORY. */
int work_plan_of(struct arena *arena, const struct work_tries *tries, const char *member,
                 struct work_plan *ret, struct error *err);

void work_plan_draw(const struct work_plan *p, struct screen *s);
json_t *work_plan_doc(const struct work_plan *p); /* new; NULL on no memory */
