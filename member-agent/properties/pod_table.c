#include "member-agent/properties/pod_table.h"

#include "common/base/map.h"
#include "common/base/memory.h"

#define POD_EMPTY 0
#define POD_REMOVED 1
#define FIRST_SLOTS 64

void pod_table_free(struct pod_table *t)
{
        mem_free(t->at);
        *t = (struct pod_table){ 0 };
}

uint64_t pod_table_key(const char *ns, const char *name)
{
        uint64_t key = hash_bytes(name, strlen(name), hash_bytes(ns ? ns : "", strlen(ns ? ns : ""), 1));

        return key > POD_REMOVED ? key : key + 2;
}

/* The slot of the key, or where it would go: the first removed slot on the way, else the empty one at its
 * end. */
static struct pod_slot *probe(const struct pod_table *t, uint64_t key)
{
        struct pod_slot *free_slot = NULL;

        for (uint32_t i = (uint32_t)key & (t->cap - 1);; i = (i + 1) & (t->cap - 1)) {
                struct pod_slot *s = &t->at[i];

                if (s->key == key)
                        return s;
                if (s->key == POD_EMPTY)
                        return free_slot ? free_slot : s;
                if (s->key == POD_REMOVED && !free_slot)
                        free_slot = s;
        }
}

struct pod_slot *pod_table_find(const struct pod_table *t, uint64_t key)
{
        struct pod_slot *s = t->cap ? probe(t, key) : NULL;

        return s && s->key == key ? s : NULL;
}

/* Room for one more, with a quarter of the slots empty; a table full of removed slots is only cleaned. */
static int reserve(struct pod_table *t)
{
        struct pod_table bigger = { .cap = t->cap ? t->cap : FIRST_SLOTS };

        if (t->cap && t->used + 1 <= t->cap / 4 * 3)
                return 0;
        while (t->n + 1 > bigger.cap / 8 * 5)
                bigger.cap *= 2;
        bigger.at = mem_calloc(bigger.cap, sizeof(*bigger.at));
        if (!bigger.at)
                return ERR_NO_MEMORY;
        for (struct pod_slot *s = pod_table_next(t, NULL); s; s = pod_table_next(t, s))
                *probe(&bigger, s->key) = *s;
        bigger.n = bigger.used = t->n;
        mem_free(t->at);
        *t = bigger;
        return 0;
}

struct pod_slot *pod_table_put(struct pod_table *t, uint64_t key)
{
        struct pod_slot *s = pod_table_find(t, key);

        if (s)
                return s;
        if (reserve(t) < 0)
                return NULL;
        s = probe(t, key);
        t->used += s->key == POD_EMPTY;
        t->n++;
        *s = (struct pod_slot){ .key = key };
        return s;
}

void pod_table_remove(struct pod_table *t, struct pod_slot *slot)
{
        *slot = (struct pod_slot){ .key = POD_REMOVED };
        t->n--;
}

struct pod_slot *pod_table_next(const struct pod_table *t, struct pod_slot *previous)
{
        for (struct pod_slot *s = previous ? previous + 1 : t->at; s && s < t->at + t->cap; s++)
                if (s->key > POD_REMOVED)
                        return s;
        return NULL;
}
