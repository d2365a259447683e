#include "common/base/intern.h"

#include "common/base/arena.h"
#include "common/base/memory.h"

struct intern_table {
        struct map by_text; /* keys and values are the interned strings */
        struct arena arena;
};

struct intern_table *intern_table_new(void)
{
        struct intern_table *t = NEW(struct intern_table);
        if (t)
                map_init(&t->by_text, MAP_BORROW_KEYS, NULL);
        return t;
}

struct intern_table *intern_table_free(struct intern_table *t)
{
        if (!t)
                return NULL;
        map_free(&t->by_text);
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

size_t intern_table_bytes(const struct intern_table *t)
{
        return t->arena.used + t->by_text.cap * sizeof(struct map_entry) +
               t->by_text.index_cap * sizeof(uint32_t);
}
