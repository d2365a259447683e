#include "hub-agent/resource-set/state.h"

#include <strings.h>

bool is_forced(const struct object *o)
{
        const char *said = annotation_of(o, ANNOTATION_FLUX_FORCE);

        return said && strcasecmp(said, FLUX_ENABLED) == 0;
}

struct resource_set_inventory_entry_list inventory_of(const struct resource_set *set)
{
        return set->status && set->status->inventory ? set->status->inventory->entries
                                                     : (struct resource_set_inventory_entry_list){ 0 };
}

struct resource_set_status *status_of(struct resource_set *set, struct arena *arena)
{
        if (!set->status)
                set->status = ARENA_NEW(arena, struct resource_set_status);
        return set->status;
}
