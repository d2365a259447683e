/* Properties of the operator's own, out of a ConfigMap. Pure.
 *
 * Each key is the name of a property and its text the value; a key that ends in .yaml holds a map of names to
 * values instead, for names with a slash. A name is what placements may ask for (spec/api.md 14), a value a
 * quantity, or any text: selectors and sorters compare quantities alone. */
#pragma once

#include "proto/object.h"

struct own_property {
        const char *name, *value;
};

struct own_properties {
        struct own_property *at; /* by name */
        size_t n;
        /* What is wrong with the others, "; " between them; NULL = nothing. The first ones are named. */
        const char *faults;
        size_t n_faults;
};

/* What is wrong with the name; NULL = nothing. */
const char *own_property_name_fault(const char *name);
/* In the arena; values may be borrowed of `data`. ERR_NO_MEMORY. */
int own_properties_read(const struct string_map *data, struct arena *arena, struct own_properties *ret,
                        struct error *err);
/* One more that is left out. ERR_NO_MEMORY. */
int own_properties_refuse(struct own_properties *p, const char *name, const char *why, struct arena *arena);
bool own_properties_more(const struct own_properties *p); /* faults than are named */
