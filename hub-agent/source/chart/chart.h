/* A chart as it is read from an archive or a folder. Pure. spec/helm-chart.md 6.2. */
#pragma once

#include "hub-agent/source/chart/file_set.h"
#include "hub-agent/source/chart/metadata.h"

/* Texts have no data where there is no such file. Paths are relative to the chart. */
struct chart {
        struct chart_metadata metadata;
        struct slice lock, values,
                schema; /* Chart.lock or requirements.lock, values.yaml, values.schema.json */
        struct file_set templates, files; /* templates/..., and the rest */
        struct chart *charts;             /* sorted by name */
        size_t n_charts;
};

/* ERR_INVALID: it is none, by the rules of its Chart.yaml too, or one of its sub-charts is; ERR_LIMIT. All is
 * in the arena, or borrowed from what was given. */
int chart_of_archive(struct arena *arena, struct slice archive, uint64_t file_bytes, struct chart *ret,
                     struct error *err);
/* Of a source's folder ("" = the topmost), without what its .helmignore names. */
int chart_of_folder(struct arena *arena, const struct file_set *source, const char *folder,
                    uint64_t file_bytes, struct chart *ret, struct error *err);
#define CHART_TIME_S 315532800 /* 1980-01-01: of files that no archive gives a time */
/* apiVersion v1, with requirements.yaml. */
bool chart_is_of_first_format(const struct chart *c);
/* For qsort(): by name, those of one name by version. */
int chart_order(const void *a, const void *b);
/* values.yaml as a mapping, its documents merged: a new reference, {} where there is none. ERR_INVALID. */
int chart_values(const struct chart *c, json_t **ret, struct error *err);
