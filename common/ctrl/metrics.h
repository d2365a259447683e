/* Counters, gauges and histograms with labels, printed as Prometheus text. A registry per agent, made from
 * the table of families (proto/metrics.h), or from another one in tests: nothing is registered later. */
#pragma once

#include "common/base/buf.h"
#include "common/base/list.h"
#include "proto/metrics.h"

struct metrics;
struct metrics *
metrics_new(enum metric_of agent); /* the families of one agent, or of both; NULL on no memory */
struct metrics *metrics_new_of(const struct metric_family *table, size_t n, enum metric_of agent);
struct metrics *metrics_free(struct metrics *m);

/* `family` is an enum metric_id; of what is another agent's nothing is kept. values: one for each label, in
 * order; NULL = no labels. A family holds at most METRIC_SERIES_MAX series; more are counted in
 * argosy_metric_series_dropped_total. NULL registry: no-op. Only the first value of a series allocates. */
#define METRIC_SERIES_MAX 10000
void metric_add(struct metrics *m, unsigned family, double by, const char *const *values);
void metric_set(struct metrics *m, unsigned family, double value, const char *const *values);
void metric_observe(struct metrics *m, unsigned family, double value, const char *const *values);
void metric_remove(struct metrics *m, unsigned family, const char *const *values);
/* Of counters and gauges, and the sum of a histogram; 0 if absent. */
double metric_value(const struct metrics *m, unsigned family, const char *const *values);

/* One series by itself, for hot paths and for what is to be told as 0 before it first happens. Valid until it
 * is removed; NULL where nothing is kept, which series_...() take for a no-op. */
struct metric_series;
struct metric_series *metric_series(struct metrics *m, unsigned family, const char *const *values);
void series_add(struct metric_series *s, double by);
void series_set(struct metric_series *s, double value);
void series_observe(struct metric_series *s, double value);

/* What is read off only when somebody asks: `collect` sets its series before each printing. */
struct metrics_source {
        struct list node;
        void (*collect)(struct metrics_source *source);
};
void metrics_add_source(struct metrics *m, struct metrics_source *source);
void metrics_remove_source(struct metrics_source *source); /* a zeroed one is on no registry */

int metrics_print(struct metrics *m, struct buf *b); /* sorted by name, then labels */
