#include "member-agent/properties/namespaces.h"

#include "common/base/memory.h"
#include "member-agent/apply/owner.h"

struct entry {
        bool told;
        uint32_t round;
        char work[]; /* "" = nobody's */
};

void namespaces_init(struct namespaces *s)
{
        *s = (struct namespaces){ 0 };
        map_init(&s->entries, MAP_OWN_KEYS, mem_free);
}

void namespaces_free(struct namespaces *s)
{
        map_free(&s->entries);
}

static const char *work_of(const struct object_meta *m)
{
        for (uint16_t i = 0; i < m->n_owners; i++)
                if (text_equal(m->owners[i].api_version, APPLIED_WORK_API_VERSION) &&
                    text_equal(m->owners[i].kind, APPLIED_WORK_KIND))
                        return m->owners[i].name;
        return "";
}

/* The entry of that name, with this Work; what was there keeps its place. */
static int replace(struct namespaces *s, const char *name, const char *work, bool told)
{
        size_t n = strlen(work) + 1;
        struct entry *e = mem_alloc(sizeof(*e) + n);

        if (!e)
                return ERR_NO_MEMORY;
        *e = (struct entry){ .told = told, .round = s->round };
        memcpy(e->work, work, n);
        if (map_put(&s->entries, name, e) < 0) {
                mem_free(e);
                return ERR_NO_MEMORY;
        }
        return 0;
}

int namespaces_put(struct namespaces *s, const struct object *ns)
{
        const char *name = ns->meta.name, *work = work_of(&ns->meta);
        struct entry *e = map_get(&s->entries, name);
        bool told = e ? e->told : s->n_told < NAMESPACES_TOLD_MAX;

        if (ns->meta.deletion_ms != TIME_NONE) {
                namespaces_remove(s, name);
                return 0;
        }
        if (e && text_equal(e->work, work)) {
                e->round = s->round;
                return 0;
        }
        if (replace(s, name, work, told) < 0)
                return ERR_NO_MEMORY;
        s->n_told += !e && told;
        return 0;
}

/* The first of those that wait, by name. */
static void fill_place(struct namespaces *s)
{
        struct map_entry *first = NULL;

        if (!namespaces_cut(s))
                return;
        map_for_each(&s->entries, e)
                if (!((struct entry *)e->value)->told && (!first || strcmp(e->key, first->key) < 0))
                        first = e;
        ((struct entry *)first->value)->told = true;
        s->n_told++;
}

void namespaces_remove(struct namespaces *s, const char *name)
{
        struct entry *e = map_take(&s->entries, name);
        bool told = e && e->told;

        mem_free(e);
        if (!told)
                return;
        s->n_told--;
        fill_place(s);
}

void namespaces_begin(struct namespaces *s)
{
        s->round++;
}

/* All that went go before any place is filled: what takes it must not be one of them. */
void namespaces_end(struct namespaces *s)
{
        map_for_each(&s->entries, e) {
                struct entry *entry = e->value;

                if (entry->round == s->round)
                        continue;
                s->n_told -= entry->told;
                map_remove(&s->entries, e->key);
        }
        while (s->n_told < NAMESPACES_TOLD_MAX && namespaces_cut(s))
                fill_place(s);
}

bool namespaces_cut(const struct namespaces *s)
{
        return map_count(&s->entries) > s->n_told;
}

static int by_key(const void *a, const void *b)
{
        return strcmp(((const struct string_pair *)a)->key, ((const struct string_pair *)b)->key);
}

int namespaces_report(const struct namespaces *s, struct arena *arena, struct string_map *ret,
                      struct error *err)
{
        struct string_pair *at = ARENA_NEW_ARRAY(arena, struct string_pair, s->n_told + 1);
        uint32_t n = 0;

        if (!at)
                return error_no_memory(err);
        map_for_each(&s->entries, e) {
                const struct entry *entry = e->value;

                if (!entry->told)
                        continue;
                at[n].key = arena_strdup(arena, e->key);
                at[n].value = arena_strdup(arena, entry->work);
                if (!at[n].key || !at[n].value)
                        return error_no_memory(err);
                n++;
        }
        qsort(at, n, sizeof(*at), by_key);
        *ret = (struct string_map){ at, n, true };
        return 0;
}
