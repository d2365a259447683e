/* ResourceSets that are rendered here: from files, with their providers, as the hub's agent renders them. */
#pragma once

#include "common/ctrl/informer.h"
#include "hub-agent/resource-set/build.h"
#include "kubectl-fleet/session.h"

struct set_files {
        struct object_list sets;      /* struct resource_set, as they stand in the files */
        struct object_list providers; /* struct input_provider, sorted by name; what Static ones export is
                                         filled in */
        json_t *inputs;               /* --inputs: an array in place of all inputs; NULL = not given */
};
/* The files of -f and --inputs. Whoever reads standard error is told of what was passed over. */
int set_files_read(struct session *s, struct set_files *ret, struct error *err);

/* What the hub's agent would make of a set, sorted as it is applied. `providers`: those that there are,
 * sorted by name. Errors are those that its Ready condition would have. */
int set_render(struct session *s, const struct resource_set *set, const struct object_list *providers,
               const json_t *inputs, struct build *ret, struct error *err);
