/* A repository's index as it is fetched, made into what is kept of it: JSON that helm reads too, with one
 * entry a line, so that the versions of one chart are found without the others. spec/helm-chart.md 8.2. */
#pragma once

#include "common/base/arena.h"
#include "common/base/text.h"

#define INDEX_NAMES_MAX 100000
#define INDEX_ENTRIES_MAX 1000000

struct index_sink {
        int (*write)(void *ctx, const void *data, size_t n, struct error *err);
        void *ctx;
};

struct index_summary {
        size_t names, entries, dropped; /* dropped: null, or against the rules of charts */
};

/* JSON, or YAML, in which unknown and duplicate keys are errors. One entry and the lines of one name are in
 * memory at a time. What was written is of no use after a failure. Pure but for the sink, so it may run
 * offloaded. ERR_INVALID: "empty index.yaml file", "no API version specified", or where it is wrong;
 * ERR_LIMIT. */
int index_convert(struct slice text, const struct index_sink *sink, struct index_summary *ret,
                  struct error *err);
