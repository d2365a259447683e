#include "common/base/intern.h"

#include "common/base/arena.h"
#include "common/base/memory.h"

struct intern_table {
        struct map by_text;  /* keys and values are the interned strings */
        struct map by_bytes; /* the same for bytes */
        struct arena arena;
};

struct intern_table *intern_table_new(void)
{
        struct intern_table *t = NEW(struct intern_table);
        if (t)
                map_init(&t->by_text, MAP_BORROW_KEYS, NULL);
        if (t)
                map_init(&t->by_bytes, MAP_BORROW_KEYS, NULL);
        return t;
}

struct intern_table *intern_table_free(struct intern_table *t)
{
        if (!t)
                return NULL;
        map_free(&t->by_text);
        map_free(&t->by_bytes);
        arena_free(&t->arena);
        mem_free(t);
        return NULL;
}

const char *intern(struct intern_table *t, const char *s, size_t n)
{
        char *known = map_get_n(&t->by_text, s, n);
        if (known)
                return known;
        char *copy = arena_strndup(&t->arena, s, n);
        if (!copy || map_put_n(&t->by_text, copy, n, copy) < 0)
                return NULL;
        return copy;
}

const void *intern_bytes(struct intern_table *t, const void *p, size_t n)
{
        void *known = map_get_n(&t->by_bytes, p, n);
        if (known)
                return known;
        void *copy = arena_memdup(&t->arena, p, n);
        if (!copy || map_put_n(&t->by_bytes, copy, n, copy) < 0)
                return NULL;
        return copy;
}

bool intern_has_bytes(const struct intern_table *t, const void *p, size_t n)
{
        return map_get_n(&t->by_bytes, p, n) == p;
}

size_t intern_table_bytes(const struct intern_table *t)
{
        return t->arena.used + (t->by_text.cap + t->by_bytes.cap) * sizeof(struct map_entry) +
               (t->by_text.index_cap + t->by_bytes.index_cap) * sizeof(uint32_t);
}
