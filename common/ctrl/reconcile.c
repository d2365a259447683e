/* What reconciles read and write: through the caches, and to the server. */
#include "common/ctrl/frame.h"

/* ---- reading ---- */

static void unref(void *p)
{
        object_unref(p);
}

static int not_filled(struct reconcile *rc, const struct kind *kind)
{
        if (rc->unfilled)
                *rc->unfilled = true;
        return error_set(rc->err, ERR_RETRY, "the cache of %s is not filled yet", kind->plural);
}

bool cache_is_filled(struct reconcile *rc, const struct kind *kind)
{
        return informer_synced(manager_find_informer(rc->manager, kind, NULL));
}

int cache_await_filled(struct reconcile *rc, const struct kind *kind)
{
        return cache_is_filled(rc, kind) ? 0 : not_filled(rc, kind);
}

/* What is held says that it is there, as soon as a watch tells of what goes. */
static bool can_be_read(const struct informer *i)
{
        ASSERT(i);
        return informer_synced(i) || informer_follows(i);
}

static int find_part(struct reconcile *rc, const struct kind *kind, const char *ns, const char *name,
                     bool whole, const struct object **ret)
{
        const struct informer *i = manager_find_informer(rc->manager, kind, ns);
        int code = 0;

        *ret = NULL;
        if (can_be_read(i))
                code = whole ? informer_read_whole(i, ns, name, rc->arena, ret)
                             : informer_read(i, ns, name, rc->arena, ret);
        return code < 0 ? error_no_memory(rc->err) : 0;
}

int cache_find(struct reconcile *rc, const struct kind *kind, const char *ns, const char *name,
               const struct object **ret)
{
        return find_part(rc, kind, ns, name, false, ret);
}

/* What is not in a cache that is not filled yet is not absent. */
static int get_part(struct reconcile *rc, const struct kind *kind, const char *ns, const char *name,
                    bool whole, const struct object **ret)
{
        const struct object *o;

        TRY(find_part(rc, kind, ns, name, whole, &o));
        if (!o && !informer_synced(manager_find_informer(rc->manager, kind, ns)))
                return not_filled(rc, kind);
        *ret = o;
        return 0;
}

int cache_get(struct reconcile *rc, const struct kind *kind, const char *ns, const char *name,
              const struct object **ret)
{
        return get_part(rc, kind, ns, name, false, ret);
}

int cache_get_whole(struct reconcile *rc, const struct kind *kind, const char *ns, const char *name,
                    const struct object **ret)
{
        return get_part(rc, kind, ns, name, true, ret);
}

int cache_has(struct reconcile *rc, const struct kind *kind, const char *ns, const char *name, bool *ret)
{
        const struct informer *i = manager_find_informer(rc->manager, kind, ns);

        *ret = can_be_read(i) && informer_has(i, ns, name);
        return *ret || informer_synced(i) ? 0 : not_filled(rc, kind);
}

static int filled_index(struct reconcile *rc, const struct kind *kind, const char *index, const char *value,
                        const struct informer **ret)
{
        struct informer *i = manager_find_informer(rc->manager, kind, NULL);

        ASSERT(i);
        *ret = i;
        if (!informer_synced(i)) {
                bool whole;

                TRY(early_holds(rc->manager, i, index, value, &whole, rc->err));
                if (!whole)
                        return not_filled(rc, kind);
        }
        return 0;
}

int cache_by_index(struct reconcile *rc, const struct kind *kind, const char *index, const char *value,
                   struct object_list *ret)
{
        const struct informer *i;

        TRY(filled_index(rc, kind, index, value, &i));
        return informer_by_index(i, index, value, rc->arena, ret) < 0 ? error_no_memory(rc->err) : 0;
}

int cache_by_index_without_status(struct reconcile *rc, const struct kind *kind, const char *index,
                                  const char *value, struct object_list *ret)
{
        const struct informer *i;

        TRY(filled_index(rc, kind, index, value, &i));
        return informer_by_index_without_status(i, index, value, rc->arena, ret) < 0
                       ? error_no_memory(rc->err)
                       : 0;
}

static int filled_cache(struct reconcile *rc, const struct kind *kind, struct informer **ret)
{
        *ret = manager_find_informer(rc->manager, kind, NULL);
        ASSERT(*ret);
        return informer_synced(*ret) ? 0 : not_filled(rc, kind);
}

int cache_list(struct reconcile *rc, const struct kind *kind, struct object_list *ret)
{
        struct informer *i;

        TRY(filled_cache(rc, kind, &i));
        return informer_list(i, rc->arena, ret) < 0 ? error_no_memory(rc->err) : 0;
}

int cache_for_each(struct reconcile *rc, const struct kind *kind,
                   int (*fn)(void *ctx, const struct object *o), void *ctx)
{
        struct informer *i;
        int code;

        TRY(filled_cache(rc, kind, &i));
        code = informer_for_each(i, fn, ctx);
        return code == ERR_NO_MEMORY ? error_no_memory(rc->err) : code;
}

/* ---- writing ---- */

/* The server's answer goes to the cache and, if wanted, to the caller for the length of the reconcile. */
static int take_answer(struct reconcile *rc, struct informer *i, struct object *block,
                       const struct object **ret)
{
        if (i)
                informer_observe(i, block);
        if (arena_defer(rc->arena, unref, block) < 0)
                return error_no_memory(rc->err);
        if (ret)
                *ret = block;
        return 0;
}

static struct kube_block_options block_options(struct reconcile *rc, struct informer *i)
{
        return (struct kube_block_options){ i ? informer_flags(i) : DECODE_FULL,
                                            rc->manager->options.interns };
}

/* The cache is behind, and its watch may be stalled: what the server has now goes into the cache, so that the
 * retry computes from it instead of meeting the same conflict again. */
static void refresh(struct reconcile *rc, struct informer *i, const struct object *o,
                    const struct kube_block_options *b)
{
        struct object *block;

        if (!i || kube_get_block(rc->kube, o->kind, o->meta.ns, o->meta.name, b, &block, NULL) < 0)
                return;
        informer_observe(i, block);
        object_unref(block);
}

int rc_get_newest(struct reconcile *rc, const struct kind *kind, const char *ns, const char *name,
                  const struct object **ret)
{
        struct informer *i = manager_find_informer(rc->manager, kind, ns);
        struct kube_block_options b = block_options(rc, i);
        struct object *block;

        TRY(kube_get_block(rc->kube, kind, ns, name, &b, &block, rc->err));
        return take_answer(rc, i, block, ret);
}

/* The cache still holds the state that a write was decided from, or nothing, as far as there is memory to
 * tell. */
static bool knows_no_newer(const struct informer *i, const struct object *o)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct object *known = NULL;

        return !i || informer_read(i, o->meta.ns, o->meta.name, &arena, &known) < 0 || !known ||
               text_equal(known->meta.resource_version, o->meta.resource_version);
}

/* `code` is that of a write of `o`. A newer state that has come meanwhile is what the retry sees. */
static int note_failure(struct reconcile *rc, const struct informer *i, const struct object *o, int code)
{
        if (code < 0 && rc->running && !error_is_refusal(rc->err) && knows_no_newer(i, o))
                running_doubt(rc->running, rc->key, o);
        return code;
}

int rc_create(struct reconcile *rc, const struct object *o, const struct object **ret)
{
        struct informer *i = manager_find_informer(rc->manager, o->kind, o->meta.ns);
        struct kube_block_options b = block_options(rc, i);
        struct object *block;
        int code = kube_create_block(rc->kube, o, &b, &block, rc->err);

        if (code == ERR_EXISTS) /* perhaps our own, and its answer was lost */
                refresh(rc, i, o, &b);
        return code < 0 ? note_failure(rc, i, o, code) : take_answer(rc, i, block, ret);
}

int rc_patch_diff(struct reconcile *rc, const struct object *now, const struct object *wanted,
                  enum object_part part, const struct object **ret)
{
        struct informer *i = manager_find_informer(rc->manager, now->kind, now->meta.ns);
        struct kube_block_options b = block_options(rc, i);
        struct object *block;

        int code = kube_patch_diff_block(rc->kube, now, wanted, part, &b, &block, rc->err);

        if (code == ERR_CONFLICT)
                refresh(rc, i, now, &b);
        if (code < 0)
                return note_failure(rc, i, now, code);
        if (block)
                return take_answer(rc, i, block, ret);
        if (ret)
                *ret = now;
        return 0;
}

int rc_delete_any_version(struct reconcile *rc, const struct object *o)
{
        const struct informer *i = manager_find_informer(rc->manager, o->kind, o->meta.ns);

        return note_failure(rc, i, o, kube_delete(rc->kube, o, false, rc->err));
}

int rc_delete(struct reconcile *rc, const struct object *o)
{
        struct informer *i = manager_find_informer(rc->manager, o->kind, o->meta.ns);
        struct kube_block_options b = block_options(rc, i);
        int code = kube_delete(rc->kube, o, true, rc->err);

        if (code == ERR_CONFLICT)
                refresh(rc, i, o, &b);
        return note_failure(rc, i, o, code);
}
