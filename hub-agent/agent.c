#include "hub-agent/agent.h"

#include "common/base/memory.h"

#define BODY_CACHE_BYTES (24u << 20)

#define HOLD_PER_WAITING_MS 80 /* about what it takes to finish one more object of a burst */

/* ---- memories ---- */

static void let_go(struct memory *m)
{
        if (m->is_held && --m->held->n == 0)
                m->held->most = 0;
        m->is_held = false;
}

struct outcome memory_pass_ended(struct memory *m, struct outcome o)
{
        if (o.code >= 0 && o.unfinished)
                return o;
        let_go(m);
        if (o.code >= 0)
                m->dirty_since_ms = 0;
        return o;
}

void memory_free(void *memory)
{
        struct memory *m = memory;

        if (!m)
                return;
        let_go(m);
        arena_free(&m->arena);
        mem_free(m->uid);
        mem_free(m);
}

static struct memory *memory_new(struct hub_agent *a, const char *uid)
{
        struct memory *m = NEW(struct memory);

        if (m) {
                m->uid = mem_strdup(or_empty(uid));
                m->held = &a->held;
        }
        if (m && m->uid)
                return m;
        memory_free(m);
        return NULL;
}

static bool memory_key(char ret[KEY_MAX + 32], const char *what, const char *key)
{
        int n = snprintf(ret, KEY_MAX + 32, "%s %s", what, key);

        return n > 0 && n < KEY_MAX + 32;
}

struct memory *memory_of(struct hub_agent *a, const char *what, const struct object *o)
{
        char plain[KEY_MAX], key[KEY_MAX + 32];
        struct memory *m;

        if (!key_make(plain, o->meta.ns, o->meta.name) || !memory_key(key, what, plain))
                return NULL;
        m = map_get(&a->memories, key);
        if (m && text_equal(m->uid, or_empty(o->meta.uid)))
                return m;
        m = memory_new(a, o->meta.uid);
        if (m && map_put(&a->memories, key, m) < 0) {
                memory_free(m);
                return NULL;
        }
        return m;
}

void memory_drop(struct hub_agent *a, const char *what, const char *key)
{
        char full[KEY_MAX + 32];

        if (memory_key(full, what, key))
                map_remove(&a->memories, full);
}

int64_t memory_hold(struct hub_agent *a, struct memory *m, bool settled)
{
        int64_t now = loop_now_ms(a->world->loop) + 1; /* never 0 */
        int64_t hold;

        if (settled || a->settle_ms <= 0)
                return 0;
        if (m->dirty_since_ms == 0)
                m->dirty_since_ms = now;
        if (!m->is_held) {
                m->is_held = true;
                a->held.n++;
                a->held.most = MAX(a->held.most, a->held.n);
        }
        hold = MIN(a->settle_ms + (int64_t)a->held.most * HOLD_PER_WAITING_MS, HOLD_MAX_MS);
        return MAX(m->dirty_since_ms + hold - now, 0);
}

/* ---- owners ---- */

void emit_owner(const struct object *o, index_emit emit, void *to)
{
        const char *name = label_of(o, LABEL_PARENT_PLACEMENT);
        char key[KEY_MAX];

        if (!text_empty(name) && key_make(key, o->meta.ns, name))
                emit(to, key);
}

void map_to_owner(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        emit_owner(e->now, emit, to);
}

/* ---- bodies ---- */

struct body {
        struct arena arena;
        const struct resource_snapshot *snapshot;
        unsigned refs;
};

struct body_cache {
        struct map by_uid;
        size_t bytes;
};

static void body_unref(void *p)
{
        struct body *b = p;

        if (b && --b->refs == 0) {
                arena_free(&b->arena);
                mem_free(b);
        }
}

static struct body *body_new(void)
{
        struct body *b = NEW(struct body);

        if (b)
                b->refs = 1;
        return b;
}

struct body_cache *body_cache_new(void)
{
        struct body_cache *c = NEW(struct body_cache);

        if (c)
                map_init(&c->by_uid, MAP_OWN_KEYS, body_unref);
        return c;
}

struct body_cache *body_cache_free(struct body_cache *c)
{
        if (c)
                map_free(&c->by_uid);
        mem_free(c);
        return NULL;
}

/* Takes a reference of its own. What does not fit pushes all others out: the cache serves bursts. */
static void body_keep(struct body_cache *c, const char *uid, struct body *b)
{
        if (c->bytes + b->arena.used > BODY_CACHE_BYTES) {
                map_clear(&c->by_uid);
                c->bytes = 0;
        }
        b->refs++;
        if (map_put(&c->by_uid, uid, b) < 0)
                body_unref(b);
        else
                c->bytes += b->arena.used;
}

void body_put(struct hub_agent *a, const struct object *stored, const struct resource_snapshot *full)
{
        struct body *b = body_new();
        struct object *copy = b ? object_copy(&full->object, &b->arena) : NULL;

        if (copy) {
                copy->meta.uid = arena_strdup(&b->arena, or_empty(stored->meta.uid));
                b->snapshot = (const struct resource_snapshot *)copy;
                body_keep(a->bodies, or_empty(stored->meta.uid), b);
        }
        body_unref(b);
}

static int body_read(struct reconcile *rc, const struct object *projection, struct body **ret)
{
        struct body *b = body_new();
        struct object *o;
        int code = b ? kube_get(rc->kube, projection->kind, projection->meta.ns, projection->meta.name,
                                &b->arena, &o, rc->err)
                     : error_no_memory(rc->err);

        if (code == 0 && !text_equal(o->meta.uid, projection->meta.uid))
                code = error_set(rc->err, ERR_RETRY, "resource snapshot \"%s\" was replaced",
                                 projection->meta.name);
        if (code < 0) {
                body_unref(b);
                return code;
        }
        b->snapshot = (const struct resource_snapshot *)o;
        body_keep(agent_of(rc)->bodies, o->meta.uid, b);
        *ret = b;
        return 0;
}

int body_get(struct reconcile *rc, const struct object *projection, const struct resource_snapshot **ret)
{
        struct body *b = map_get(&agent_of(rc)->bodies->by_uid, or_empty(projection->meta.uid));

        if (b)
                b->refs++;
        else
                TRY(body_read(rc, projection, &b));
        *ret = b->snapshot;
        return arena_defer(rc->arena, body_unref, b) < 0 ? error_no_memory(rc->err) : 0;
}

/* ---- groups ---- */

static int64_t place_of(const struct object *o)
{
        int64_t sub = INT64_MAX;

        if (!text_empty(annotation_of(o, ANNOTATION_RESOURCE_HASH)))
                return -1;
        annotation_number(o, ANNOTATION_RESOURCE_SUBINDEX, &sub, NULL);
        return sub;
}

/* Members of the group, ordered by insertion: groups are small. */
static size_t gather(const struct object_list *snapshots, const char *index, const struct object **members)
{
        size_t n = 0;

        for (size_t i = 0; i < snapshots->n; i++) {
                const struct object *o = snapshots->at[i];
                size_t at = n;

                if (!text_equal(label_of(o, LABEL_RESOURCE_INDEX), index))
                        continue;
                for (; at > 0 && place_of(members[at - 1]) > place_of(o); at--)
                        members[at] = members[at - 1];
                members[at] = o;
                n++;
        }
        return n;
}

int body_get_group(struct reconcile *rc, const struct object_list *snapshots, const char *index,
                   const struct resource_snapshot *const **ret, size_t *ret_n)
{
        const struct object **members = ARENA_NEW_ARRAY(rc->arena, const struct object *, snapshots->n + 1);
        const struct resource_snapshot **bodies =
                ARENA_NEW_ARRAY(rc->arena, const struct resource_snapshot *, snapshots->n + 1);
        int64_t expected;
        size_t n;

        if (!members || !bodies)
                return error_no_memory(rc->err);
        n = gather(snapshots, index, members);
        if (n == 0 || place_of(members[0]) != -1)
                return error_set(rc->err, ERR_NOT_FOUND,
                                 "no resource snapshot with index %s is the first of its group", index);
        TRY(annotation_number(members[0], ANNOTATION_NUMBER_OF_RESOURCE_SNAPSHOTS, &expected, rc->err));
        if ((int64_t)n != expected)
                return error_set(
                        rc->err, ERR_RETRY,
                        "resource snapshots are still being created for the masterResourceSnapshot %s, total "
                        "snapshot in the index group = %lld, num Of existing snapshot in the group= %zu",
                        members[0]->meta.name, (long long)expected, n);
        for (size_t i = 0; i < n; i++)
                TRY(body_get(rc, members[i], &bodies[i]));
        *ret = bodies;
        *ret_n = n;
        return 0;
}
