#include "hub-agent/source/index/cache.h"

#include "common/base/memory.h"

struct entry {
        struct index_directory *directory;
        int64_t end_ms;
};

static void entry_free(void *value)
{
        struct entry *e = value;

        index_directory_free(e->directory);
        mem_free(e);
}

void index_cache_init(struct index_cache *c, size_t most, int64_t ttl_ms)
{
        *c = (struct index_cache){ .most = most, .ttl_ms = ttl_ms };
        map_init(&c->by_path, MAP_OWN_KEYS, entry_free);
}

void index_cache_free(struct index_cache *c)
{
        map_free(&c->by_path);
}

const struct index_directory *index_cache_get(struct index_cache *c, const char *path, int64_t now_ms)
{
        struct entry *e = map_get(&c->by_path, path);

        if (!e || now_ms >= e->end_ms)
                return NULL;
        e->end_ms = now_ms + c->ttl_ms;
        return e->directory;
}

int index_cache_put(struct index_cache *c, const char *path, struct index_directory *d, int64_t now_ms,
                    struct error *err)
{
        bool room = map_has(&c->by_path, path) || map_count(&c->by_path) < c->most;
        struct entry *e = room ? NEW(struct entry) : NULL;

        if (e) {
                *e = (struct entry){ d, now_ms + c->ttl_ms };
                if (map_put(&c->by_path, path, e) == 0)
                        return 0;
                mem_free(e);
        }
        index_directory_free(d);
        return room ? error_no_memory(err) : error_set(err, ERR_LIMIT, "Cache is full");
}

void index_cache_drop(struct index_cache *c, const char *path)
{
        map_remove(&c->by_path, path);
}

void index_cache_purge(struct index_cache *c, int64_t now_ms)
{
        map_for_each(&c->by_path, e)
                if (now_ms >= ((struct entry *)e->value)->end_ms)
                        map_remove(&c->by_path, e->key);
}
