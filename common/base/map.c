#include "common/base/map.h"

#include <sys/auxv.h>

#include "common/base/memory.h"

#define SMALL 8u /* up to here no index: a scan over the hashes is as fast */
#define MOST_ENTRIES (1u << 30)

/* A place of the index is 0 as long as it was never used. Else its low bits, as many as number the places of
 * the index, are the number of the entry + 1, at most half of the places (so that none is taken for REMOVED),
 * and those above are the bits of its hash in the same position: so an entry, which is far away, is looked at
 * only where it is most likely the one. */
#define REMOVED UINT32_MAX

static uint64_t mix(uint64_t a, uint64_t b)
{
        __uint128_t product = (__uint128_t)a * b;
        return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t load(const unsigned char *p, size_t n)
{
        uint64_t v = 0;
        memcpy(&v, p, n);
        return v;
}

uint64_t hash_bytes(const void *data, size_t n, uint64_t seed)
{
        const uint64_t k0 = 0x9e3779b97f4a7c15u, k1 = 0xd6e8feb86659fd93u;
        const unsigned char *p = data;
        uint64_t h = mix(seed ^ k0, n ^ k1);
        size_t left = n;
        for (; left > 16; left -= 16, p += 16)
                h = mix(load(p, 8) ^ k0 ^ h, load(p + 8, 8) ^ k1);
        uint64_t a = load(p, MIN(left, (size_t)8));
        uint64_t b = left > 8 ? load(p + 8, left - 8) : 0;
        return mix(mix(a ^ k0 ^ h, b ^ k1), h ^ k1);
}

/* The key of the tables differs from process to process, so that nobody outside can prepare collisions. It
 * cannot be seen from above: no order depends on it. */
uint64_t hash_secret(void)
{
        static uint64_t seed;
        uint64_t s = __atomic_load_n(&seed, __ATOMIC_RELAXED);
        if (!s) {
                const void *random = (const void *)getauxval(AT_RANDOM);
                s = 1;
                if (random)
                        memcpy(&s, random, sizeof(s));
                __atomic_store_n(&seed, s, __ATOMIC_RELAXED);
        }
        return s;
}

static uint32_t hash_key(const char *key, size_t n)
{
        uint64_t h = hash_bytes(key, n, hash_secret());
        return (uint32_t)(h ^ (h >> 32));
}

void map_init(struct map *m, enum map_flags flags, void (*destroy)(void *value))
{
        *m = (struct map){ .flags = flags, .destroy = destroy };
}

static void drop_key(struct map *m, struct map_entry *e)
{
        if (!(m->flags & MAP_BORROW_KEYS))
                mem_free((void *)(uintptr_t)e->key);
        e->key = NULL;
}

void map_clear(struct map *m)
{
        for (uint32_t i = 0; i < m->used; i++) {
                struct map_entry *e = &m->entries[i];
                if (!e->key)
                        continue;
                void *value = e->value;
                drop_key(m, e);
                if (m->destroy)
                        m->destroy(value);
        }
        m->n = m->used = 0;
        if (m->index)
                memset(m->index, 0, m->index_cap * sizeof(*m->index));
}

static void free_map(void *m)
{
        map_free(m);
}

struct map *map_of_arena(struct arena *arena)
{
        struct map *m = ARENA_NEW(arena, struct map);

        if (!m)
                return NULL;
        map_init(m, MAP_BORROW_KEYS, NULL);
        return arena_defer(arena, free_map, m) < 0 ? NULL : m;
}

void map_free(struct map *m)
{
        map_clear(m);
        mem_free(m->entries);
        mem_free(m->index);
        map_init(m, m->flags, m->destroy);
}

static bool entry_is(const struct map_entry *e, uint32_t hash, const char *key, size_t n)
{
        return e->hash == hash && e->key && e->key_len == n && memcmp(e->key, key, n) == 0;
}

/* Finds the entry; with an index also says where the index points to it. */
static struct map_entry *find(const struct map *m, uint32_t hash, const char *key, size_t n,
                              uint32_t *ret_place)
{
        if (!m->index_cap) {
                for (uint32_t i = 0; i < m->used; i++) {
                        if (entry_is(&m->entries[i], hash, key, n))
                                return &m->entries[i];
                }
                return NULL;
        }
        uint32_t mask = m->index_cap - 1, slot;
        for (uint32_t i = hash & mask; (slot = m->index[i]) != 0; i = (i + 1) & mask) {
                if (((slot ^ hash) & ~mask) != 0 || slot == REMOVED)
                        continue;
                struct map_entry *e = &m->entries[(slot & mask) - 1];
                if (!entry_is(e, hash, key, n))
                        continue;
                *ret_place = i;
                return e;
        }
        return NULL;
}

static struct map_entry *lookup(const struct map *m, const char *key, size_t n, uint32_t *ret_place)
{
        if (!m->n)
                return NULL;
        return find(m, hash_key(key, n), key, n, ret_place);
}

void *map_get_n(const struct map *m, const char *key, size_t n)
{
        uint32_t place;
        struct map_entry *e = lookup(m, key, n, &place);
        return e ? e->value : NULL;
}

void *map_get(const struct map *m, const char *key)
{
        return map_get_n(m, key, strlen(key));
}

bool map_has(const struct map *m, const char *key)
{
        uint32_t place;
        return lookup(m, key, strlen(key), &place) != NULL;
}

static void index_entry(struct map *m, uint32_t number)
{
        if (!m->index_cap)
                return;
        uint32_t mask = m->index_cap - 1, hash = m->entries[number].hash, i = hash & mask;
        while (m->index[i])
                i = (i + 1) & mask;
        m->index[i] = (hash & ~mask) | (number + 1);
}

/* Makes room for one more: closes the holes, and grows or shrinks to between a quarter and half full. The
 * index has twice as many places as there can be entries, removed ones included, so a probe always ends. */
static int rebuild(struct map *m)
{
        uint32_t cap = 4;
        while (cap < m->n + m->n / 2 + 1)
                cap *= 2;
        if (cap > MOST_ENTRIES)
                return ERR_NO_MEMORY;
        uint32_t index_cap = cap > SMALL ? cap * 2 : 0;
        struct map_entry *entries = mem_realloc_array(NULL, cap, sizeof(*entries));
        uint32_t *index = index_cap ? mem_calloc(index_cap, sizeof(*index)) : NULL;
        if (!entries || (index_cap && !index)) {
                mem_free(entries);
                mem_free(index);
                return ERR_NO_MEMORY;
        }
        uint32_t n = 0;
        for (uint32_t i = 0; i < m->used; i++) {
                if (m->entries[i].key)
                        entries[n++] = m->entries[i];
        }
        mem_free(m->entries);
        mem_free(m->index);
        m->entries = entries;
        m->index = index;
        m->cap = cap;
        m->index_cap = index_cap;
        m->used = n;
        for (uint32_t i = 0; i < n; i++)
                index_entry(m, i);
        return 0;
}

static void replace(struct map *m, struct map_entry *e, const char *key, void *value)
{
        void *old = e->value;
        e->value = value;
        if (m->flags & MAP_BORROW_KEYS)
                e->key = key; /* the old key may die with the old value */
        if (m->destroy && old != value)
                m->destroy(old);
}

int map_put_n(struct map *m, const char *key, size_t n, void *value)
{
        if (n > UINT32_MAX)
                return ERR_LIMIT;
        uint32_t hash = hash_key(key, n), place;
        struct map_entry *e = m->n ? find(m, hash, key, n, &place) : NULL;
        if (e) {
                replace(m, e, key, value);
                return 0;
        }
        if (m->used == m->cap)
                TRY(rebuild(m));
        const char *kept = m->flags & MAP_BORROW_KEYS ? key : mem_strndup(key, n);
        if (!kept)
                return ERR_NO_MEMORY;
        m->entries[m->used] = (struct map_entry){ kept, value, (uint32_t)n, hash };
        index_entry(m, m->used);
        m->used++;
        m->n++;
        return 0;
}

int map_put(struct map *m, const char *key, void *value)
{
        return map_put_n(m, key, strlen(key), value);
}

static bool take_out(struct map *m, const char *key, void **ret_value)
{
        uint32_t place = 0;
        struct map_entry *e = lookup(m, key, strlen(key), &place);
        if (!e)
                return false;
        *ret_value = e->value;
        if (m->index_cap)
                m->index[place] = REMOVED;
        drop_key(m, e);
        m->n--;
        return true;
}

void *map_take(struct map *m, const char *key)
{
        void *value = NULL;
        (void)take_out(m, key, &value);
        return value;
}

bool map_remove(struct map *m, const char *key)
{
        void *value;
        if (!take_out(m, key, &value))
                return false;
        if (m->destroy)
                m->destroy(value);
        return true;
}

uint32_t map_count(const struct map *m)
{
        return m->n;
}

struct map_entry *map_next(const struct map *m, struct map_entry *previous)
{
        for (uint32_t i = previous ? (uint32_t)(previous - m->entries) + 1 : 0; i < m->used; i++) {
                if (m->entries[i].key)
                        return &m->entries[i];
        }
        return NULL;
}

static int compare_keys(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **map_sorted_keys(const struct map *m, size_t *ret_n)
{
        const char **keys = mem_calloc(MAX(m->n, 1u), sizeof(*keys));
        if (!keys)
                return NULL;
        size_t n = 0;
        map_for_each(m, e)
                keys[n++] = e->key;
        qsort(keys, n, sizeof(*keys), compare_keys);
        *ret_n = n;
        return keys;
}
