/* Which objects of the hub a placement selects, from the metadata caches, and their bodies.
 * spec/placement.md 6. */
#pragma once

#include "hub-agent/placement/catalog.h"
#include "hub-agent/placement/snapshots.h"

struct chosen {
        const struct catalog_entry *entry;
        const struct object *meta;
};
struct chosen_list {
        struct chosen *at;
        size_t n, cap;
};

/* Sorted as spec 6.1. *ret_user_error is NULL, or words that go into the placement's condition: then nothing
 * was chosen. Parks while a cache is filling. */
int select_resources(struct reconcile *rc, const struct placement *p, struct chosen_list *ret,
                     const char **ret_user_error);
/* Changes whenever the content of what was chosen may have. */
void chosen_fingerprint(const struct chosen_list *l, char ret[65]);
/* Reads, cleans and encodes the bodies. *ret_ids names what is in the selection, in order. */
int read_selection(struct reconcile *rc, const struct chosen_list *l, struct selection *ret,
                   struct resource_identifier_list *ret_ids);
/* The identity of stored resources. */
int identify_resources(struct arena *arena, const struct raw_list *resources,
                       struct resource_identifier_list *ret, struct error *err);
