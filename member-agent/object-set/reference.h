/* Owner references between sets and their objects, and who controls an object: spec/cluster-object-set.md
 * 8.1, 8.3. Pure. */
#pragma once

#include "member-agent/object-set/set.h"

json_t *reference_new(const struct set_identity *set); /* ours, as controller; NULL on no memory */
/* Whether a reference means this set: group, kind, name and uid. */
bool reference_is_of(const json_t *reference, const struct set_identity *set);
bool reference_is_of_a_set(const json_t *reference);
/* Those of an object; NULL if there are none, or none such. Borrowed. */
json_t *reference_list(const json_t *live);
json_t *reference_find(const json_t *live, const struct set_identity *set);
json_t *reference_controller(const json_t *live); /* that with controller: true */
