/* A hash map from strings to pointers (open addressing, SipHash-like seeded hash). Iteration order is
 * insertion order as long as nothing was removed; use map_sorted_keys where order must be a function of the
 * contents. Keys are copied unless the map was made with MAP_BORROW_KEYS. Values are never freed unless a
 * destructor is given. */
#pragma once

#include "common/base/arena.h"
#include "common/base/text.h"

enum map_flags { MAP_OWN_KEYS = 0, MAP_BORROW_KEYS = 1 };

struct map_entry {
        const char *key; /* NULL in a removed slot */
        void *value;
        uint32_t key_len, hash;
};

struct map {
        struct map_entry *entries; /* dense, insertion order, with holes after removals */
        uint32_t *index;
        uint32_t n, used, cap, index_cap;
        uint32_t flags;
        void (*destroy)(void *value);
};

#define MAP_INIT                                                                                             \
        {                                                                                                    \
                0                                                                                            \
        }

void map_init(struct map *m, enum map_flags flags, void (*destroy)(void *value));
/* Empty, with borrowed keys; it goes with the arena. NULL on no memory. */
struct map *map_of_arena(struct arena *arena);
void map_free(struct map *m);
void map_clear(struct map *m);
void *map_get(const struct map *m, const char *key); /* NULL if absent */
void *map_get_n(const struct map *m, const char *key, size_t n);
bool map_has(const struct map *m, const char *key);
int map_put(struct map *m, const char *key, void *value) MUST_CHECK; /* replaces; destroys the old value */
int map_put_n(struct map *m, const char *key, size_t n, void *value) MUST_CHECK;
void *map_take(struct map *m, const char *key);  /* removes and hands over the value, NULL if absent */
bool map_remove(struct map *m, const char *key); /* removes and destroys */
uint32_t map_count(const struct map *m);
/* Sorted array of the keys (borrowed from the map); free the array with mem_free. NULL on no memory. */
const char **map_sorted_keys(const struct map *m, size_t *ret_n);

/* Safe against removal of the current entry, not against insertion. */
struct map_entry *map_next(const struct map *m, struct map_entry *previous);
#define map_for_each(m, e) for (struct map_entry *e = map_next((m), NULL); e; e = map_next((m), e))

/* A seed for those that nobody outside may foresee: another one in each process. */
uint64_t hash_secret(void);
uint64_t hash_bytes(const void *data, size_t n,
                    uint64_t seed); /* fast, not cryptographic, same on all runs */
