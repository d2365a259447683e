/* A chart's artifact, out of what was fetched for it: its version, values, dependencies, packaging. Pure, so
 * each step may run offloaded. spec/helm-chart.md 5.2, 5.5, 5.6. */
#pragma once

#include "common/base/vec.h"
#include "hub-agent/source/chart/dependencies.h"
#include "hub-agent/source/failing.h"

struct chart_build {
        /* The caller's, before the first step. */
        struct arena *arena;
        struct slice archive;      /* of the chart, or of the source that it is in */
        bool of_source;            /* the latter */
        const char *path;          /* where in the source: a folder, or an archive whose name ends in .tgz */
        uint64_t file_bytes;       /* most of one file */
        const char *const *values; /* paths: in the chart, or in the source; the last wins */
        size_t n_values;
        bool skips_missing;  /* values files need not be there */
        const char *version; /* of an archive from a repository: what it was fetched as; set by open() else */
        const char *revision_part; /* of the version's build metadata; "" = none */
        int64_t generation;        /* which it is given too where values count */
        bool keeps_version;        /* Chart.yaml stays without that metadata */

        /* What comes of it, in the arena. */
        struct chart_metadata metadata; /* of the chart, as it was found */
        struct file_set source;
        const char *folder; /* of the chart in its source; NULL = it is an archive */
        struct slice chart_archive;
        struct chart chart; /* where it is read whole */
        bool is_read, has_values;
        size_t n_missing;         /* dependencies that were not in charts/ */
        VEC(const char *) merged; /* values files that are in */
        bool is_packaged;         /* else the bytes are those that were found */
        struct buf packed;
        struct slice bytes;
        const struct source_failing *failing; /* of a failure that is not ours; NULL = none */
};

/* Whether the paths are more than the chart's own values.yaml. ERR_NO_MEMORY. */
int chart_values_count(struct arena *arena, const char *const *paths, size_t n, bool *ret, struct error *err);
/* "6.0.3+4e5cbb7b97d0.2": the version with that build metadata in place of its own; ERR_INVALID: it is no
 * version. With neither part it is as it was. */
int chart_version_with(struct arena *arena, const char *version, const char *revision_part,
                       int64_t generation, const char **ret, struct error *err);
/* Finds the chart and what it says of itself; b->version is as it will be. */
int chart_build_open(struct chart_build *b, struct error *err);
/* Reads it whole, where it is not to be stored as it is. *ret lists what it lacks: to be added to b->chart
 * before the end; what is in the same source is added there. */
int chart_build_read(struct chart_build *b, struct dependency_list *ret, struct error *err);
/* Fills b->bytes. */
int chart_build_end(struct chart_build *b, struct error *err);
void chart_build_free(struct chart_build *b); /* at any time; not the arena */
