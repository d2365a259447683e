/* The controller of ClusterObjectSets as the agent puts it together: spec/cluster-object-set.md 2, 13. It
 * shares the agent's manager, mapper, watches and state file; in the inventory its rows have a holder that no
 * Work can be called. */
#pragma once

#include "common/ctrl/controller.h"

struct member_agent;
struct sets;

extern const struct controller object_set_controller;

/* Follows the sets of this cluster as a->sets; where the kind is not served yet it is looked for again. After
 * a failure, too, sets_free() is to be called, once the manager is gone. */
int sets_start(struct member_agent *a, struct error *err);
struct sets *sets_free(struct sets *s); /* from a fiber; returns NULL */
/* Waits for the first list of the sets, and puts on the queue what the state file knows of and the list does
 * not: it went while nobody was there. Ends before sets_free(). */
void sets_sweep_fiber(void *agent);

bool sets_holds(const char *holder); /* whether a row of the inventory is a set's, not a Work's */
/* An object of that holder changed, and is so now; NULL: it is gone. Must not park. */
void sets_changed(struct member_agent *a, const char *holder, const struct object *now);
