/* The archive of a tree of files, made piece by piece: tar in gzip, in which equal trees are equal bytes.
 * What is held in memory does not grow with the tree. Pure but for the sink, so it may run offloaded.
 * spec/helm-chart.md 12.1 step 4. */
#pragma once

#include "common/base/text.h"

struct archive_sink {
        int (*write)(void *ctx, const void *data, size_t n, struct error *err);
        void *ctx;
};

struct tree_archive;
struct tree_archive *tree_archive_new(const struct archive_sink *sink); /* NULL on no memory */
/* A file with mode 0600 and so many bytes, which tree_archive_add() gives, at no time. Paths come in the
 * order of their bytes, and are relative and clean; folders on the way are added. The first error of the sink
 * is returned. */
int tree_archive_begin(struct tree_archive *a, const char *path, uint64_t size, struct error *err);
/* The same with mode 0700. */
int tree_archive_begin_program(struct tree_archive *a, const char *path, uint64_t size, struct error *err);
/* ERR_INVALID: that is more than was said. */
int tree_archive_add(struct tree_archive *a, struct slice data, struct error *err);
/* After the last file. ERR_INVALID (here and in tree_archive_begin): a file is shorter than was said. */
int tree_archive_end(struct tree_archive *a, struct error *err);
struct tree_archive *tree_archive_free(struct tree_archive *a); /* NULL is fine; returns NULL */
static inline void tree_archive_cleanup(struct tree_archive **a)
{
        *a = tree_archive_free(*a);
}
