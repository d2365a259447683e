/* Writes that nobody answered. Whether they arrived, the next event of their object tells; until then the
 * cache shows what was before, and a reconcile that wants just that writes nothing. So that event makes the
 * key again, whatever its watch asks for. */
#include "common/ctrl/frame.h"

#include "common/base/memory.h"
#include "common/ctrl/informer_internal.h"

/* Keys whose writes of one object are in doubt. */
struct doubt {
        struct doubt *next;
        char *key;
};

static void doubt_free(void *first)
{
        for (struct doubt *d = first, *next; d; d = next) {
                next = d->next;
                mem_free(d->key);
                mem_free(d);
        }
}

void doubts_init(struct map *doubts)
{
        map_init(doubts, MAP_OWN_KEYS, doubt_free);
}

static const char *id_of(const struct object *o, struct arena *arena)
{
        return arena_printf(arena, "%s %s/%s", o->kind->kind, o->meta.ns ? o->meta.ns : "", o->meta.name);
}

static bool is_watched(const struct running *r, const struct kind *kind)
{
        for (size_t i = 0; i < r->controller->n_watches; i++)
                if (r->controller->watches[i].kind == kind)
                        return true;
        return false;
}

static bool has_key(const struct doubt *d, const char *key)
{
        for (; d; d = d->next)
                if (text_equal(d->key, key))
                        return true;
        return false;
}

static int note(struct running *r, const char *key, const struct object *o)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *id = id_of(o, &arena);
        struct doubt *d;

        if (!id)
                return ERR_NO_MEMORY;
        if (has_key(map_get(&r->doubts, id), key))
                return 0;
        d = NEW(struct doubt);
        if (!d || !(d->key = mem_strdup(key))) {
                doubt_free(d);
                return ERR_NO_MEMORY;
        }
        d->next = map_take(&r->doubts, id);
        if (map_put(&r->doubts, id, d) == 0)
                return 0;
        doubt_free(d);
        return ERR_NO_MEMORY;
}

void running_doubt(struct running *r, const char *key, const struct object *o)
{
        if (is_watched(r, o->kind) && note(r, key, o) < 0)
                running_lose_key(r, NULL, NULL);
}

void running_settle_doubt(struct running *r, const struct object *o)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *id;
        struct doubt *first;
        bool lost = false;

        if (map_count(&r->doubts) == 0)
                return;
        id = id_of(o, &arena);
        if (!id) {
                running_lose_key(r, NULL, NULL);
                return;
        }
        first = map_take(&r->doubts, id);
        for (const struct doubt *d = first; d; d = d->next)
                lost |= running_add(r, d->key, o, QUEUE_FOLLOW_UP) < 0;
        doubt_free(first);
        if (lost)
                running_lose_key(r, NULL, NULL);
}

void doubts_keep_if(struct map *doubts, bool (*keep)(void *ctx, const char *key), void *ctx)
{
        map_for_each(doubts, e) {
                struct doubt *first = e->value, **at = &first;

                while (*at) {
                        struct doubt *d = *at;

                        if (keep(ctx, d->key)) {
                                at = &d->next;
                                continue;
                        }
                        *at = d->next;
                        d->next = NULL;
                        doubt_free(d);
                }
                e->value = first;
                if (!first)
                        map_remove(doubts, e->key);
        }
}
