/* From an object of a set to the request that makes it so: spec/cluster-object-set.md 8. Pure: documents in,
 * documents out. */
#pragma once

#include "member-agent/object-set/set.h"

/* 8.1: labels, annotation, our owner reference as controller; without status where it is a subresource. What
 * only a server sets is left out, and a Secret's stringData becomes data, as it is on live objects. New.
 * ERR_INVALID: labels or annotations that are no objects. */
int want_prepare(const struct set_identity *set, const struct set_object *o, bool status_is_subresource,
                 json_t **ret, struct error *err);

enum want { WANT_NOTHING, WANT_UPDATE, WANT_RECOVER /* by force: another manager has a wanted field */ };
/* 8.4, for an object that is ours and has been converted. Values are compared, too, whatever managedFields
 * say; without an Apply entry of ours it is WANT_RECOVER: then an apply conflicts with whoever it takes the
 * fields for. */
int want_compare(const json_t *prepared, const json_t *live, enum want *ret, struct error *err);

/* What is sent: bound to the live resourceVersion, with the other owner references of the live object. All
 * revisions of an owner share one Apply entry, by which an earlier one's reference would go if it was not
 * named. New. */
int want_request(const json_t *prepared, const json_t *live, json_t **ret, struct error *err);
/* 8.2, of an object that is not there: an apply, so that its fields are those of an apply from the start,
 * bound to a resourceVersion that nothing ever has. What appears meanwhile is answered with a conflict, and
 * stays as it is. New; shares the values of `prepared`. */
int want_creation(const json_t *prepared, json_t **ret, struct error *err);
/* 8.3, Adopt: the same, and none of the other references is controller any more. */
int want_adoption(const json_t *prepared, const json_t *live, json_t **ret, struct error *err);
/* After a creation by POST, or a write of an older program: `Update` entries under our manager become our
 * `Apply` entry. A merge patch bound to the resourceVersion; *ret NULL if there is nothing to convert. */
int want_conversion(const json_t *live, json_t **ret, struct error *err);
/* 12.1: a merge patch that takes our reference away, bound to the resourceVersion; *ret NULL if there is
 * nothing to take. `mark_too` (orphans): our labels and annotation go with it, unless they are another
 * set's: whoever is controller by now, or of another owner or revision. */
int want_release(const struct set_identity *set, const json_t *live, bool mark_too, json_t **ret,
                 struct error *err);
