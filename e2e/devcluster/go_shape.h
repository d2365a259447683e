/* Built-in kinds pass through Go structs in kube-apiserver, and it shows: a value of the wrong type cannot be
 * decoded at all, fields without a value are written as {}, null or 0, others are left out when empty. */
#pragma once

#include "e2e/devcluster/request.h"

/* Fails with 400 in the words of Go's decoder when a value does not fit its field. Nulls in lists and maps
 * become what Go makes of them, in place: zero values. */
int go_check_types(struct request *rq, const struct schema *s, json_t *doc);
/* Brings the document, in place, into the shape in which Go would write it. ERR_NO_MEMORY. */
int go_shape(const struct schema *s, json_t *doc);
/* What Go writes of an object nobody has set anything in; new, NULL on no memory. */
json_t *go_zero(const struct schema *s);
/* What storing makes of a shaped document, in place: as protobuf, an empty list is as good as none. 0 or
 * ERR_NO_MEMORY. */
int go_store(const struct schema *s, json_t *doc);
