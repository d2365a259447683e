/* Which resource a member speaks about when it names a manifest by its ordinal. */
#include "common/base/memory.h"
#include "hub-agent/placement/select.h"
#include "hub-agent/work-generator/binding_memory.h"

struct known_work {
        char *uid;
        int64_t generation;
        struct arena arena; /* of `manifests` */
        struct resource_identifier_list manifests;
};

static void known_work_free(void *p)
{
        struct known_work *k = p;

        if (!k)
                return;
        arena_free(&k->arena);
        mem_free(k->uid);
        mem_free(k);
}

void known_works_free(struct binding_memory *m)
{
        map_free(&m->known_works);
}

static bool is_about(const struct known_work *k, const struct object *w)
{
        return k && k->generation == w->meta.generation && text_equal(k->uid, w->meta.uid);
}

static int learn(struct reconcile *rc, struct binding_memory *m, const struct work *w,
                 const struct known_work **ret)
{
        struct known_work *k = NEW(struct known_work);
        int code = 0;

        if (!k)
                return error_no_memory(rc->err);
        k->uid = mem_strdup(or_empty(w->object.meta.uid));
        k->generation = w->object.meta.generation;
        if (!k->uid)
                code = error_no_memory(rc->err);
        if (code == 0 && w->spec && w->spec->workload)
                code = identify_resources(&k->arena, &w->spec->workload->manifests, &k->manifests, rc->err);
        if (code == 0 && map_put(&m->known_works, w->object.meta.name, k) < 0)
                code = error_no_memory(rc->err);
        if (code < 0) {
                known_work_free(k);
                return code;
        }
        *ret = k;
        return 0;
}

static int read_work(struct reconcile *rc, struct binding_memory *m, const struct object *w,
                     const struct known_work **ret)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object *whole;
        int code = kube_get(rc->kube, &work_kind, w->meta.ns, w->meta.name, &arena, &whole, rc->err);

        *ret = NULL;
        if (code == ERR_NOT_FOUND)
                return 0;
        TRY(code);
        if (!text_equal(whole->meta.uid, w->meta.uid) || whole->meta.generation != w->meta.generation)
                return error_set(rc->err, ERR_RETRY, "Work \"%s\" changed while it was looked at",
                                 w->meta.name);
        return learn(rc, m, (const struct work *)whole, ret);
}

/* Members speak of all manifests; only these come into the status. */
static bool is_listed(const struct object *o)
{
        const struct work *w = (const struct work *)o;

        return w->status && w->status->manifest_conditions.n > 0;
}

int identify_works(struct reconcile *rc, struct binding_memory *m, const struct object_list *live,
                   const struct resource_identifier_list **ret)
{
        struct resource_identifier_list *lists =
                ARENA_NEW_ARRAY(rc->arena, struct resource_identifier_list, live->n + 1);

        if (!lists)
                return error_no_memory(rc->err);
        if (!m->known_works.destroy)
                map_init(&m->known_works, MAP_OWN_KEYS, known_work_free);
        if (map_count(&m->known_works) > 2 * live->n + 16) /* names of Works that are gone */
                map_clear(&m->known_works);
        for (size_t i = 0; i < live->n; i++) {
                const struct object *w = live->at[i];
                const struct known_work *k = map_get(&m->known_works, w->meta.name);

                if (!is_listed(w))
                        continue;
                if (!is_about(k, w))
                        TRY(read_work(rc, m, w, &k));
                if (k)
                        lists[i] = k->manifests;
        }
        *ret = lists;
        return 0;
}
