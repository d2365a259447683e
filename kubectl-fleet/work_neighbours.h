/* The other Works of a member, of which one may hold an object or get it: what the agent has in its cache of
 * the hub's Works, and in its state file. */
#pragma once

#include "kubectl-fleet/session.h"
#include "member-agent/apply/handover.h"
#include "member-agent/apply/wants.h"

struct neighbour {
        struct handover_work work; /* `wants` is told by neighbour_regarding() */
        struct object_name *wants;
        size_t n_wants;
        const char *only_ns; /* work_only_namespace() */
};
struct neighbours {
        struct neighbour *at; /* NULL = they were not read */
        size_t n;
};
/* All Works of the namespace of `work` but itself. */
int neighbours_read(struct session *s, const struct object *work, struct neighbours *ret, struct error *err);
const struct neighbour *neighbours_find(const struct neighbours *l,
                                        const char *name); /* NULL = there is none */
/* Whether the agent has it apply what it lists in that namespace; "" = none. */
bool neighbour_may_reach(const struct neighbour *n, const char *ns);
/* With regard to one object; "" = no namespace. */
struct handover_work neighbour_regarding(const struct neighbour *n, const char *group, const char *kind,
                                         const char *ns, const char *name);
