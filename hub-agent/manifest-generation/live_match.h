/* Whether an apply would change anything, told from the object as it is: its values, and which fields its
 * managedFields say are ours. Pure. spec/flux-yaml.md 7.2.5. */
#pragma once

#include "common/json/doc.h"

/* True only if all of `wanted` is there, all of it ours, and nothing else is. Where it cannot be told (a
 * server writes some values otherwise than they were given) the answer is no, and who applies then finds
 * that nothing differs. */
bool live_holds(const json_t *live, const json_t *wanted, const char *manager);
