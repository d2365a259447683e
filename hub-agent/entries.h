/* Failed, drifted and differing resources in the status of bindings and placements. Their texts come from
 * members: one that writes much must neither make a status too large to be written nor take the room of the
 * others. What is left out is counted, and told in the message of a condition. */
#pragma once

#include "hub-agent/common.h"

/* The lists of one cluster. `at` is borrowed; cutting only shortens. */
struct entry_lists {
        struct failed_placement_list *failed;
        struct drifted_placement_list *drifted;
        struct diffed_placement_list *diffed;
};

/* One text of at most LIMIT_STATUS_TEXT_BYTES that ends in "..." if it was cut, which adds 1 to *n_cut. NULL
 * on no memory; NULL stays NULL. */
const char *entry_text(struct arena *arena, const char *text, size_t *n_cut);
/* A copy of the details with bounded texts, of as many as an entry may have; the others add to *n_cut. */
int entry_details(struct arena *arena, const struct patch_detail_list *details, struct patch_detail_list *ret,
                  size_t *n_cut);
/* Bytes of the lists as JSON. */
size_t entries_bytes(const struct entry_lists *l);
/* Leaves out the last entries until max_bytes are enough; returns how many. */
size_t entries_cut(const struct entry_lists *l, size_t max_bytes);
/* How many bytes each of n may have so that all together take no more than `total`: small ones get what they
 * want, the others share the rest evenly. Reorders wants[]. */
size_t entries_fair_share(size_t *wants, size_t n, size_t total);
/* "MESSAGE (N entries or details are left out, as they are too long)"; NULL on no memory. */
const char *entries_note(struct arena *arena, const char *message, size_t n_cut);
