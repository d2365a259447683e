/* The one series of a ResourceSet, or of a provider, that says by its labels how it is.
 * spec/resource-set.md 16.2. */
#pragma once

#include "common/ctrl/metrics.h"

#define FLUX_INFO_LABELS 9

/* Begins zeroed. */
struct flux_info {
        struct metrics *metrics; /* NULL = nothing is shown */
        enum metric_id which;
        char *labels[FLUX_INFO_LABELS];
};

/* In place of the series before; `n` labels as the family has them, NULL counts as "". What there is no
 * memory for is not shown: a metric is not worth a failed reconcile. */
void flux_info_show(struct flux_info *i, struct metrics *m, enum metric_id which, const char *const *labels,
                    size_t n);
void flux_info_clear(struct flux_info *i); /* takes it off */
