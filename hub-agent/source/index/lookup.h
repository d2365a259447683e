/* The versions of one chart, out of an index as it is kept (convert.h). spec/helm-chart.md 8.3. */
#pragma once

#include "common/base/arena.h"
#include "hub-agent/source/index/select.h"

struct index_source {
        /* As volume_read(). */
        int (*read)(void *ctx, uint64_t offset, void *ret, size_t n, size_t *ret_n, struct error *err);
        void *ctx;
};

/* In the order of the file; *ret_n is 0 where there is no such chart. Read in pieces, from `from` (0, or what
 * a directory says) to the end of the chart's lines. Texts are in the arena. ERR_INVALID: the file is not as
 * it was written. */
int index_lookup(struct arena *arena, const struct index_source *source, uint64_t from, const char *name,
                 struct chart_version **ret, size_t *ret_n, struct error *err);
