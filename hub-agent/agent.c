#include "hub-agent/agent.h"

#include "common/base/memory.h"

#define BODY_CACHE_BYTES (24u << 20)

int64_t status_due_in(struct hub_agent *a, struct hold *h, bool settled)
{
        return settled ? 0 : hold_status(h, &a->held, a->settle_ms, loop_now_ms(a->world->loop));
}

/* ---- kinds ---- */

static bool is_served(const struct hub_agent *a, const struct kind *kind)
{
        size_t n;
        const struct kube_mapped *all = kube_mapper_all(a->mapper, &n);

        for (size_t i = 0; i < n; i++)
                if (text_equal(all[i].resource.kind, kind->kind) &&
                    text_equal(all[i].resource.group, kind->group) &&
                    text_equal(all[i].resource.version, kind->version))
                        return true;
        return false;
}

bool kinds_are_served(const struct hub_agent *a, const struct kind *const *kinds, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!is_served(a, kinds[i]))
                        return false;
        return true;
}

/* ---- owners ---- */

void emit_owner(const struct object *o, index_emit emit, void *to)
{
        const char *name = label_of(o, LABEL_PARENT_PLACEMENT);
        AUTO_KEY struct key key = KEY_EMPTY;

        if (!text_empty(name))
                emit(to, key_text(&key, o->meta.ns, name));
}

int objects_of_owner(struct hub_agent *a, const struct kind *kind, const char *ns, const char *placement,
                     struct arena *arena, struct object_list *ret)
{
        AUTO_KEY struct key key = KEY_EMPTY;

        return key_text(&key, ns, placement) ? informer_by_index(manager_informer(a->manager, kind),
                                                                 INDEX_OWNER, key.text, arena, ret)
                                             : ERR_NO_MEMORY;
}

bool labels_changed(const struct informer_event *e)
{
        const struct string_map *before, *now;

        if (e->type != INFORMER_UPDATED)
                return false;
        before = &e->old->meta.labels;
        now = &e->now->meta.labels;
        if (before->n != now->n)
                return true;
        for (uint32_t i = 0; i < now->n; i++)
                if (!text_equal(string_map_get(before, now->at[i].key), now->at[i].value))
                        return true;
        return false;
}

void emit_cluster(const struct object *o, index_emit emit, void *to)
{
        const struct binding *b = (const struct binding *)o;

        if (b->spec && !text_empty(b->spec->target_cluster))
                emit(to, b->spec->target_cluster);
}

void for_each_binding_on(struct hub_agent *a, const char *cluster,
                         void (*fn)(void *ctx, const struct object *binding), void *ctx)
{
        static const struct kind *const kinds[] = { &cluster_resource_binding_kind, &resource_binding_kind };

        for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct object_list all;

                if (informer_by_index(manager_informer(a->manager, kinds[i]), INDEX_CLUSTER, cluster, &arena,
                                      &all) < 0)
                        continue;
                for (size_t k = 0; k < all.n; k++)
                        fn(ctx, all.at[k]);
        }
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

/* By insertion: groups are small. */
size_t snapshots_of_group(const struct object_list *snapshots, const char *index,
                          const struct object **members)
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
        n = snapshots_of_group(snapshots, index, members);
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
