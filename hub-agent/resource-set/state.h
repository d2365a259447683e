/* What a ResourceSet's status says beside its conditions: history and inventory. Pure.
 * spec/resource-set.md 11, 15.2. */
#pragma once

#include "hub-agent/flux_state.h"

#define HISTORY_MAX 5

struct history_note {
        const char *digest, *status;
        int64_t now_ms, took_ms;
        bool counted; /* the two counts below are known */
        size_t n_inputs, n_resources, n_different;
};
/* 15.2, in place. ERR_NO_MEMORY. */
int history_note(struct resource_set *set, const struct history_note *note, struct arena *arena);

bool is_forced(const struct object *o); /* in any case of letters */
/* The inventory; an empty one where there is none. */
struct resource_set_inventory_entry_list inventory_of(const struct resource_set *set);
/* Its status, made if there is none; NULL on no memory. */
struct resource_set_status *status_of(struct resource_set *set, struct arena *arena);
