#include "common/base/intern.h"

#include "common/base/arena.h"
#include "common/base/memory.h"
#include "common/base/vec.h"

/* The number of a copy stands right before it; bytes are aligned to as much as lies in front of them. */
enum { NUMBER = sizeof(uint32_t), ALIGNED = 16 };

struct intern_table {
        struct map by_text;  /* keys and values are the interned strings */
        struct map by_bytes; /* the same for bytes */
        struct arena arena;
        VEC(const void *) numbered; /* the copies by their numbers */
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
        vec_free(&t->numbered);
        arena_free(&t->arena);
        mem_free(t);
        return NULL;
}

/* Where a copy is to stand: `before` bytes behind the place that the arena gave, or did not. It has its
 * number already. */
static char *numbered(struct intern_table *t, char *place, size_t before)
{
        uint32_t number = (uint32_t)t->numbered.n;
        if (!place || t->numbered.n == UINT32_MAX || vec_push(&t->numbered, place + before) < 0)
                return NULL;
        memcpy(place + before - NUMBER, &number, NUMBER);
        return place + before;
}

const char *intern(struct intern_table *t, const char *s, size_t n)
{
        char *known = map_get_n(&t->by_text, s, n);
        if (known)
                return known;
        char *copy =
                n < SIZE_MAX - NUMBER ? numbered(t, arena_text(&t->arena, NUMBER + n + 1), NUMBER) : NULL;
        if (!copy)
                return NULL;
        memcpy(copy, s, n);
        copy[n] = '\0';
        return map_put_n(&t->by_text, copy, n, copy) < 0 ? NULL : copy;
}

const void *intern_bytes(struct intern_table *t, const void *p, size_t n)
{
        void *known = map_get_n(&t->by_bytes, p, n);
        if (known)
                return known;
        char *copy =
                n < SIZE_MAX - ALIGNED ? numbered(t, arena_alloc(&t->arena, ALIGNED + n), ALIGNED) : NULL;
        if (!copy)
                return NULL;
        memcpy(copy, p, n);
        return map_put_n(&t->by_bytes, copy, n, copy) < 0 ? NULL : copy;
}

uint32_t intern_number(const struct intern_table *t, const void *copy)
{
        uint32_t n;
        memcpy(&n, (const char *)copy - NUMBER, NUMBER);
        ASSERT(n < t->numbered.n && t->numbered.at[n] == copy);
        return n;
}

const void *intern_at(const struct intern_table *t, uint32_t number)
{
        ASSERT(number < t->numbered.n);
        return t->numbered.at[number];
}

bool intern_has_bytes(const struct intern_table *t, const void *p, size_t n)
{
        return map_get_n(&t->by_bytes, p, n) == p;
}

size_t intern_table_bytes(const struct intern_table *t)
{
        return t->arena.used + t->numbered.cap * sizeof(*t->numbered.at) +
               (t->by_text.cap + t->by_bytes.cap) * sizeof(struct map_entry) +
               (t->by_text.index_cap + t->by_bytes.index_cap) * sizeof(uint32_t);
}
