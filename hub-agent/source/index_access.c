#include "hub-agent/source/index_access.h"

#define LOADING_MAX_MS 120000

void source_indexes_init(struct source_indexes *s, const struct source_options *o)
{
        index_cache_init(&s->cache, o->cache_most, o->cache_ttl_ms);
        map_init(&s->loading, MAP_OWN_KEYS, NULL);
        list_init(&s->loaded.waiters);
}

void source_indexes_free(struct source_indexes *s)
{
        index_cache_free(&s->cache);
        map_free(&s->loading);
}

/* ---- work that is done elsewhere ---- */

static int read_index(void *ctx, uint64_t offset, void *ret, size_t n, size_t *ret_n, struct error *err)
{
        return volume_read(ctx, offset, ret, n, ret_n, err);
}

struct lookup {
        struct arena *arena;
        struct index_source index;
        uint64_t from;
        const char *name;
        struct chart_version *found;
        size_t n;
        struct index_directory *directory;
        struct error err;
        int code;
};

static void look_up(void *ctx)
{
        struct lookup *l = ctx;

        l->code = index_lookup(l->arena, &l->index, l->from, l->name, &l->found, &l->n, &l->err);
}

static void make_directory(void *ctx)
{
        struct lookup *l = ctx;

        l->code = index_directory_make(&l->index, &l->directory, &l->err);
}

/* ---- what is held ---- */

static int64_t now_of(const struct source_pass *p)
{
        return loop_now_ms(p->rc->kube->world->loop);
}

static void count(struct source_pass *p, const struct object *repository, const char *what)
{
        metric_add(agent_of(p->rc)->metrics, METRIC_INDEX_CACHE, 1,
                   (const char *const[]){ what, repository->meta.name, repository->meta.ns });
}

static int put(struct source_pass *p, const char *path, struct index_directory *d)
{
        struct error why = { 0 };

        if (index_cache_put(&p->sources->indexes->cache, path, d, now_of(p), &why) == 0)
                return 0;
        if (why.code == ERR_NO_MEMORY)
                return error_no_memory(p->rc->err);
        rc_event(p->rc, p->now, "Warning", "CacheOperationFailed", "failed to cache index: %s", why.text);
        return 0;
}

/* NULL: it is not to be had, which the look-up itself will find out. */
static int load(struct source_pass *p, struct lookup *l, const char *path)
{
        struct source_indexes *s = p->sources->indexes;
        int code;

        if (map_put(&s->loading, path, s) < 0)
                return error_no_memory(p->rc->err);
        code = offload(p->rc->kube->world->loop, make_directory, l, p->rc->err);
        map_remove(&s->loading, path);
        waitq_wake_all(&s->loaded);
        TRY(code);
        return l->code == ERR_NO_MEMORY ? error_no_memory(p->rc->err) : 0;
}

static int await_loading(struct source_pass *p, const char *path)
{
        struct source_indexes *s = p->sources->indexes;

        while (map_has(&s->loading, path)) {
                int code = waitq_wait(p->rc->kube->world->loop, &s->loaded, now_of(p) + LOADING_MAX_MS);

                if (code < 0)
                        return error_set(p->rc->err, code, "the index '%s' is read all the time", path);
        }
        return 0;
}

/* Where the lookup begins, by what is held; *ret_none: there is no such chart. */
static int find_beginning(struct source_pass *p, struct lookup *l, const struct object *repository,
                          const char *path, bool *ret_none)
{
        struct index_cache *cache = &p->sources->indexes->cache;
        const struct index_directory *d;
        int code = 0;

        TRY(await_loading(p, path));
        d = index_cache_get(cache, path, now_of(p));
        count(p, repository, d ? "cache_hit" : "cache_miss");
        if (!d) {
                TRY(load(p, l, path));
                d = l->directory;
        }
        if (d)
                code = index_directory_find(d, l->name, &l->from);
        *ret_none = code == ERR_NOT_FOUND;
        if (l->directory)
                TRY(put(p, path, l->directory));
        return code == ERR_NO_MEMORY ? error_no_memory(p->rc->err) : 0;
}

/* ---- all of it ---- */

static int run_lookup(struct source_pass *p, struct lookup *l, const char *path)
{
        TRY(offload(p->rc->kube->world->loop, look_up, l, p->rc->err));
        if (l->code == 0)
                return 0;
        *p->rc->err = l->err;
        error_wrap(p->rc->err, "failed to load chart index '%s'", path);
        return source_fails(p, &failing_read);
}

int index_versions(struct source_pass *p, const struct object *repository,
                   const struct source_artifact *index, const char *name, struct chart_version **ret,
                   size_t *ret_n)
{
        CLEANUP(volume_reader_cleanup) struct volume_reader *file = NULL;
        struct lookup l = { .arena = p->rc->arena, .name = name };
        bool none = false;

        if (volume_open_file(p->sources->store.volume, index->path, &file, p->rc->err) < 0)
                return source_fails(p, &failing_read);
        l.index = (struct index_source){ read_index, file };
        if (p->sources->indexes->cache.most > 0)
                TRY(find_beginning(p, &l, repository, index->path, &none));
        if (!none)
                TRY(run_lookup(p, &l, index->path));
        *ret = l.found;
        *ret_n = l.n;
        return 0;
}

int index_replaced(struct source_pass *p, const char *before, const char *now)
{
        CLEANUP(volume_reader_cleanup) struct volume_reader *file = NULL;
        struct index_cache *cache = &p->sources->indexes->cache;
        struct lookup l = { 0 };

        if (cache->most == 0)
                return 0;
        if (before)
                index_cache_drop(cache, before);
        if (volume_open_file(p->sources->store.volume, now, &file, p->rc->err) < 0)
                return source_fails(p, &failing_read);
        l.index = (struct index_source){ read_index, file };
        TRY(load(p, &l, now));
        return l.directory ? put(p, now, l.directory) : 0;
}

void index_unchanged(struct source_pass *p, const char *path)
{
        index_cache_get(&p->sources->indexes->cache, path, now_of(p));
}

void index_forget(struct sources *s, struct metrics *m, const char *ns, const char *name, const char *path)
{
        static const char *const events[] = { "cache_hit", "cache_miss" };

        if (path)
                index_cache_drop(&s->indexes->cache, path);
        for (size_t i = 0; i < ARRAY_LEN(events); i++)
                metric_remove(m, METRIC_INDEX_CACHE, (const char *const[]){ events[i], name, ns });
}
