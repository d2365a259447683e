/* Lists of conditions and maps of strings: look up, put, remove. */
#include "proto/object.h"

static struct condition *find(const struct condition_list *l, const char *type)
{
        for (uint32_t i = 0; i < l->n; i++)
                if (text_equal(l->at[i].type, type))
                        return &l->at[i];
        return NULL;
}

const struct condition *condition_find(const struct condition_list *l, const char *type)
{
        return find(l, type);
}

static bool is_current(const struct condition_list *l, const char *type, const char *status,
                       int64_t generation)
{
        const struct condition *c = find(l, type);
        return c && text_equal(c->status, status) && c->observed_generation.value == generation;
}

bool condition_is_true(const struct condition_list *l, const char *type, int64_t generation)
{
        return is_current(l, type, "True", generation);
}

bool condition_is_false(const struct condition_list *l, const char *type, int64_t generation)
{
        return is_current(l, type, "False", generation);
}

static bool same_but_time(const struct condition *a, const struct condition *b)
{
        return text_equal(a->status, b->status) && text_equal(a->reason, b->reason) &&
               text_equal(or_empty(a->message), or_empty(b->message)) &&
               a->observed_generation.value == b->observed_generation.value;
}

int condition_set(struct condition_list *l, const struct condition *c, int64_t now_ms, struct arena *arena)
{
        struct condition *existing = find(l, c->type);
        if (existing && same_but_time(existing, c))
                return 0;
        bool moved = !existing || !text_equal(existing->status, c->status);
        if (!existing) {
                struct condition *grown = ARENA_NEW_ARRAY(arena, struct condition, (size_t)l->n + 1);
                if (!grown)
                        return ERR_NO_MEMORY;
                if (l->n)
                        memcpy(grown, l->at, l->n * sizeof(*grown));
                existing = &grown[l->n];
                *l = (struct condition_list){ .at = grown, .n = l->n + 1, .set = true };
        }
        int64_t since = moved ? now_ms : existing->last_transition_ms;
        *existing = *c;
        existing->observed_generation.set = c->observed_generation.value != 0;
        existing->last_transition_ms = since;
        return 1;
}

void condition_remove(struct condition_list *l, const char *type)
{
        struct condition *c = find(l, type);
        if (!c)
                return;
        size_t behind = (size_t)(&l->at[l->n] - c) - 1;
        memmove(c, c + 1, behind * sizeof(*c));
        l->n--;
}

/* Where the key is or belongs. */
static uint32_t map_position(const struct string_map *m, const char *key)
{
        uint32_t low = 0, high = m->n;
        while (low < high) {
                uint32_t middle = (low + high) / 2;
                if (strcmp(m->at[middle].key, key) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static bool map_is_at(const struct string_map *m, uint32_t i, const char *key)
{
        return i < m->n && strcmp(m->at[i].key, key) == 0;
}

const char *string_map_get(const struct string_map *m, const char *key)
{
        uint32_t i = map_position(m, key);
        return map_is_at(m, i, key) ? m->at[i].value : NULL;
}

int string_map_put(struct string_map *m, const char *key, const char *value, struct arena *arena)
{
        uint32_t i = map_position(m, key);
        if (map_is_at(m, i, key)) {
                m->at[i].value = value;
                return 0;
        }
        struct string_pair *grown = ARENA_NEW_ARRAY(arena, struct string_pair, (size_t)m->n + 1);
        if (!grown)
                return ERR_NO_MEMORY;
        if (i)
                memcpy(grown, m->at, i * sizeof(*grown));
        grown[i] = (struct string_pair){ key, value };
        if (i < m->n)
                memcpy(&grown[i + 1], &m->at[i], (m->n - i) * sizeof(*grown));
        *m = (struct string_map){ .at = grown, .n = m->n + 1, .set = true };
        return 0;
}

bool string_map_equal(const struct string_map *a, const struct string_map *b)
{
        if (a->n != b->n)
                return false;
        for (uint32_t i = 0; i < a->n; i++)
                if (!text_equal(a->at[i].key, b->at[i].key) || !text_equal(a->at[i].value, b->at[i].value))
                        return false;
        return true;
}

void string_map_remove(struct string_map *m, const char *key)
{
        uint32_t i = map_position(m, key);
        if (!map_is_at(m, i, key))
                return;
        memmove(&m->at[i], &m->at[i + 1], (m->n - i - 1) * sizeof(*m->at));
        m->n--;
}
