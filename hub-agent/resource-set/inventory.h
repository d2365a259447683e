/* The objects that a ResourceSet made, as its status lists them. Pure. spec/resource-set.md 11. */
#pragma once

#include "hub-agent/resource-set/order.h"

typedef struct resource_set_inventory_entry_list inventory;

/* "<namespace>_<name>_<group>_<kind>"; NULL on no memory. `namespaced` as the server says. */
const char *inventory_id(struct arena *arena, const struct object_place *o, bool namespaced);
/* The other way round; false: it is none. Strings of the arena. */
bool inventory_parse(struct arena *arena, const char *id, struct object_place *ret);

/* All of both, each id once with the version that `more` has of it, sorted by id. */
int inventory_union(struct arena *arena, const inventory *a, const inventory *more, inventory *ret,
                    struct error *err);
/* Those of `before` that `now` lacks, in the order in which they are deleted: the last applied first. */
int inventory_stale(struct arena *arena, const inventory *before, const inventory *now, inventory *ret,
                    struct error *err);
bool inventory_equal(const inventory *a, const inventory *b);

/* What is to be done with a live object that is not wanted any more. */
enum collect { COLLECT_DELETE, COLLECT_SKIP };
enum collect collect_decide(const struct resource_set *set, const json_t *live);
/* Whether both owner labels say that the set made it. */
bool is_made_by(const struct resource_set *set, const json_t *live);
