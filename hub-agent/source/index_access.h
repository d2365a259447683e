/* The versions of a chart in the index that is kept of its repository, and what is held in memory of such
 * indexes. spec/helm-chart.md 8.3, 8.4.
 */
#pragma once

#include "hub-agent/source/index/cache.h"
#include "hub-agent/source/source_pass.h"

struct source_indexes {
        struct index_cache cache;
        struct map loading; /* by path: a fiber reads it for the cache */
        struct waitq loaded;
};
void source_indexes_init(struct source_indexes *s, const struct source_options *o);
void source_indexes_free(struct source_indexes *s);

/* Of the repository's artifact, in the order of the index, in the arena; *ret_n is 0 where there is no such
 * chart. Parks. Has told what fails. */
int index_versions(struct source_pass *p, const struct object *repository,
                   const struct source_artifact *index, const char *name, struct chart_version **ret,
                   size_t *ret_n);
/* The repository's own: what it kept before (NULL = nothing) was replaced. Has told what fails. */
int index_replaced(struct source_pass *p, const char *before, const char *now);
void index_unchanged(struct source_pass *p, const char *path);
/* Of a repository that goes: its index (NULL = none) and its counters. */
void index_forget(struct sources *s, struct metrics *m, const char *ns, const char *name, const char *path);
