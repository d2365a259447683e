/* Counters, gauges and histograms with labels, printed as Prometheus text. One registry per agent. */
#pragma once

#include "common/base/buf.h"

struct metrics;
struct metric;
struct metrics *metrics_new(void);
struct metrics *metrics_free(struct metrics *m);

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };
/* labels: NULL-terminated names (borrowed); buckets (histograms): ascending upper bounds. Registering a name
 * again gives the same metric. NULL on no memory. */
struct metric *metrics_register(struct metrics *m, enum metric_type type, const char *name, const char *help,
                                const char *const *labels, const double *buckets, size_t n_buckets);
/* values: one per label, in order. A metric holds at most METRIC_SERIES_MAX series; more are counted in
 * argosy_metric_series_dropped_total. NULL metric: no-op. */
#define METRIC_SERIES_MAX 10000
void metric_add(struct metric *m, double by, const char *const *values);
void metric_set(struct metric *m, double value, const char *const *values);
void metric_observe(struct metric *m, double value, const char *const *values);
double metric_value(const struct metric *m, const char *const *values); /* counters, gauges; 0 if absent */
void metric_remove(struct metric *m, const char *const *values);
int metrics_print(const struct metrics *m, struct buf *b); /* sorted by name, then labels */
