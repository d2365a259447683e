/* Expressions of PromQL in the tables of rules and panels (proto/alerts.h, proto/dashboards.h), held against
 * the table of metrics. A series is written with an @ in front, "@workqueue_depth{name="x"}", so that nothing
 * is guessed: its name has to be in the table, or among the series that rules record, and every label that
 * the expression names has to be one that a series of it has. */
#pragma once

#include "common/base/buf.h"
#include "common/base/error.h"
#include "proto/metrics.h"

/* A series that a rule records; a list of them ends in one without a name. */
struct recorded {
        const char *name; /* "argosy:..." */
        enum metric_of of;
        const char *const *labels; /* NULL behind the last */
        const char *expression;
};

struct expression_scope {
        enum metric_of of;               /* only metrics that this agent has, or both agents if so */
        const struct recorded *recorded; /* NULL = none */
        const char *selector;            /* put into the braces of each series: job="x" */
};

/* Appends the expression as Prometheus reads it. ERR_INVALID names series and label. */
int expression_expand(const char *text, const struct expression_scope *scope, struct buf *ret,
                      struct error *err);

/* Whether "{{ $labels.x }}" in a summary names labels that the expression's series have, or that Prometheus
 * gives all (job, instance, namespace, pod). ERR_INVALID. */
int expression_check_summary(const char *summary, const char *expression,
                             const struct expression_scope *scope, struct error *err);
