/* Directories of indexes in memory, by the paths of the indexes: at most so many, each for so long after it
 * was last used. Pure. spec/helm-chart.md 8.4.
 */
#pragma once

#include "common/base/map.h"
#include "hub-agent/source/index/directory.h"

struct index_cache {
        size_t most; /* 0: nothing is kept */
        int64_t ttl_ms;
        struct map by_path;
};

void index_cache_init(struct index_cache *c, size_t most, int64_t ttl_ms);
void index_cache_free(struct index_cache *c);
/* What is kept and has not expired, and is kept on for the whole time from now; NULL: none. Valid until the
 * cache changes. */
const struct index_directory *index_cache_get(struct index_cache *c, const char *path, int64_t now_ms);
/* Takes the directory in any case; in place of what that path had. ERR_LIMIT "Cache is full". */
int index_cache_put(struct index_cache *c, const char *path, struct index_directory *d, int64_t now_ms,
                    struct error *err);
void index_cache_drop(struct index_cache *c, const char *path);
void index_cache_purge(struct index_cache *c, int64_t now_ms); /* of what has expired */
