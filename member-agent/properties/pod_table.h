/* What every pod of a large cluster requests, in 24 bytes each: a hash table of 64-bit keys. The key is the
 * hash of namespace and name; among 20,000 pods two share one with a probability of 1 in 10^11. */
#pragma once

#include "common/base/error.h"

struct pod_slot {
        uint64_t key; /* 0 = empty, 1 = removed */
        int64_t memory_bytes;
        uint32_t cpu_milli;
        uint32_t round; /* of the list or event that named it last */
};

struct pod_table {
        struct pod_slot *at;
        uint32_t n, used, cap; /* pods; slots ever used since the last growth; all slots (a power of two) */
};

void pod_table_free(struct pod_table *t);
uint64_t pod_table_key(const char *ns, const char *name);
struct pod_slot *pod_table_find(const struct pod_table *t, uint64_t key); /* NULL if absent */
struct pod_slot *pod_table_put(struct pod_table *t, uint64_t key); /* new ones are zero; NULL on no memory */
void pod_table_remove(struct pod_table *t, struct pod_slot *slot);
/* Slots in use, in table order; removing the current one is fine. */
struct pod_slot *pod_table_next(const struct pod_table *t, struct pod_slot *previous);
