/* Whose the fields of an object are: the entries of its metadata.managedFields, by field manager. Pure. */
#pragma once

#include "common/json/doc.h"

#define MANAGED_APPLY "Apply"
#define MANAGED_UPDATE "Update"

/* The manager's entry of that operation, for the object itself and not a subresource; NULL if there is none.
 * Borrowed. */
json_t *managed_entry(const json_t *live, const char *manager, const char *operation);
/* Whether nobody but these has an entry for the object itself. */
bool managed_only_by(const json_t *live, const char *const *managers, size_t n);
/* The union of all other managers' fieldsV1, subresources included: an autoscaler writes spec.replicas by way
 * of one. New, NULL on no memory. */
json_t *managed_fields_of_others(const json_t *live, const char *manager);
/* What a manager wrote by other means than server-side apply belongs to it twice: an apply that no longer
 * names such a field leaves it there, and one that changes it conflicts with the manager itself. This merge
 * patch, bound to the live resourceVersion, makes those fields its Apply entry's. *ret NULL = nothing to do;
 * else it is new. */
int managed_adoption(const json_t *live, const char *manager, json_t **ret, struct error *err);
