#include "hub-agent/memory.h"

#include "common/base/memory.h"

#define HOLD_PER_WAITING_MS 80 /* about what it takes to finish one more object of a burst */

/* ---- records ---- */

/* In place of a record at rest: an odd number, as no pointer is, with most of the hash of the uid. */
static void *mark_of(uint64_t uid)
{
        return (void *)((uintptr_t)uid | 1);
}

static bool is_mark(const void *value)
{
        return (uintptr_t)value & 1;
}

static void unref(void *value)
{
        struct memory *m = is_mark(value) ? NULL : value;

        if (!m || --m->refs > 0)
                return;
        if (m->kind->clear)
                m->kind->clear(value);
        mem_free(m);
}

void memories_init(struct memories *m, const struct memory_kind *kind)
{
        m->kind = kind;
        map_init(&m->by_key, MAP_OWN_KEYS, unref);
}

void memories_free(struct memories *m)
{
        map_free(&m->by_key);
}

static struct memory *record_new(const struct memory_kind *kind, uint64_t uid)
{
        struct memory *m = mem_zalloc(kind->size);

        if (!m)
                return NULL;
        m->refs = 1;
        m->kind = kind;
        m->uid = uid;
        return m;
}

static struct memory *find_or_make(struct memories *m, const struct object *o)
{
        const char *text = or_empty(o->meta.uid);
        uint64_t uid = hash_bytes(text, strlen(text), 0);
        AUTO_KEY struct key key = KEY_EMPTY;
        struct memory *record;
        void *found;

        if (object_key(&key, o->meta.ns, o->meta.name) < 0)
                return NULL;
        found = map_get(&m->by_key, key.text);
        if (found && !is_mark(found) && ((struct memory *)found)->uid == uid)
                return found;
        record = record_new(m->kind, uid);
        if (record && found == mark_of(uid))
                m->kind->wake(record);
        if (record && map_put(&m->by_key, key.text, record) < 0) {
                unref(record);
                return NULL;
        }
        return record;
}

void *memory_of(struct memories *m, const struct object *o, struct arena *arena)
{
        struct memory *record = find_or_make(m, o);

        if (!record)
                return NULL;
        record->refs++;
        return arena_defer(arena, unref, record) < 0 ? NULL : record;
}

void *memory_known(struct memories *m, const char *key)
{
        void *found = map_get(&m->by_key, key);

        return is_mark(found) ? NULL : found;
}

void memory_drop(struct memories *m, const char *key)
{
        map_remove(&m->by_key, key);
}

void memory_rest(struct memories *m, const char *key, const void *record)
{
        const struct memory *r = record;

        if (map_get(&m->by_key, key) != record || r->refs > 2 || !r->kind->at_rest(record))
                return;
        ASSERT(map_put(&m->by_key, key, mark_of(r->uid)) == 0); /* the key is there: this takes no memory */
}

void memories_keep_if(struct memories *m, bool (*keep)(void *ctx, const char *key), void *ctx)
{
        map_for_each(&m->by_key, e)
                if (!keep(ctx, e->key))
                        map_remove(&m->by_key, e->key);
}

/* ---- statuses that are held back ---- */

void hold_let_go(struct hold *h)
{
        if (h->held && --h->held->n == 0)
                h->held->most = 0;
        h->held = NULL;
}

void hold_written(struct hold *h)
{
        h->dirty_since_ms = 0;
}

struct outcome hold_pass_ended(struct hold *h, struct outcome o)
{
        if (o.code >= 0 && o.unfinished)
                return o;
        hold_let_go(h);
        if (o.code >= 0)
                hold_written(h);
        return o;
}

int64_t hold_status(struct hold *h, struct held *all, int64_t settle_ms, int64_t now_ms)
{
        int64_t now = now_ms + 1; /* never 0 */
        int64_t longest;

        if (settle_ms <= 0)
                return 0;
        if (h->dirty_since_ms == 0)
                h->dirty_since_ms = now;
        if (!h->held) {
                h->held = all;
                all->n++;
                all->most = MAX(all->most, all->n);
        }
        longest = MIN(settle_ms + (int64_t)all->most * HOLD_PER_WAITING_MS, HOLD_MAX_MS);
        return MAX(h->dirty_since_ms + longest - now, 0);
}
