/* Rows of the inventory by the object that they are of, for the appliers of Works and of sets. */
#pragma once

#include "common/base/map.h"
#include "member-agent/apply/manifest.h"
#include "member-agent/store/store.h"

/* object_identity(); NULL on no memory. */
const char *row_key(const struct row *row, struct arena *arena);
/* row_key() -> row, which stays where it is. The arena's. */
int rows_index(const struct rows *rows, struct arena *arena, struct map **ret, struct error *err);
