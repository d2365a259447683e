/* Rows of the inventory by the object that they are of, for the appliers of Works and of sets. */
#pragma once

#include "common/base/map.h"
#include "member-agent/apply/manifest.h"
#include "member-agent/store/store.h"
#include "proto/gen/types.h"

/* object_identity(); NULL on no memory. */
const char *row_key(const struct row *row, struct arena *arena);
/* row_key() -> row, which stays where it is. The arena's. */
int rows_index(const struct rows *rows, struct arena *arena, struct map **ret, struct error *err);
/* The row of an object of that Work before anything is known of it; borrows. */
struct row row_of_identifier(const char *work, const struct work_resource_identifier *id);
/* Makes room for that many more rows of rows->at and finds what stands in it by row_key(). The arena's. */
int rows_extend(struct rows *rows, size_t more, struct arena *arena, struct map **ret_known,
                struct error *err);
/* Whether a row can be made of it, and has not been: what is known already, and what names no object, has
 * none to add. */
int rows_lack(const struct map *known, const struct work_resource_identifier *id, struct arena *arena,
              bool *ret, struct error *err);
