/* What overrides may not change, whatever way they came in: spec/membership-webhooks-charts.md 5.4. Pure. */
#pragma once

#include "common/json/doc.h"
#include "proto/gen/types.h"

/* Whether an override may do this: 0, or ERR_INVALID in admission's words. Looks at operation and path alone;
 * `value` is the text that is quoted. */
int override_check_operation(const struct json_patch_override *o, struct error *err);

/* What makes a manifest the object it is: type, metadata but labels and annotations, status. New; NULL on no
 * memory. */
json_t *override_identity(const json_t *manifest);
/* Whether what the overrides made of a manifest is still the object it was: 0, ERR_INVALID or ERR_NO_MEMORY.
 */
int override_check_identity(const json_t *identity, const json_t *result, struct error *err);
