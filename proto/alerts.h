/* What a fleet's operator is told of by Prometheus: series that rules record, and alerts, for both charts.
 * `make generate` writes charts/NAME-agent/files/monitoring/rules.yaml and the table in docs/metrics.md from
 * them. Each alert has a section of its name in docs/troubleshooting.md. */
#pragma once

#include "proto/expression.h"

/* critical: the fleet does not do its work, or will soon not; warning: somebody should look the same day;
 * info: worth knowing. */
enum severity { SEVERITY_CRITICAL, SEVERITY_WARNING, SEVERITY_INFO };
extern const char *const severities[];

struct alert {
        const char *name; /* "Argosy...", a section of docs/troubleshooting.md */
        enum metric_of of;
        enum severity severity;
        const char *wait;       /* `for`: "15m"; NULL: at once */
        const char *expression; /* proto/expression.h */
        const char *summary;    /* a sentence; may hold {{ $labels.x }} and {{ $value }} */
};

extern const struct recorded recorded_series[]; /* ends in one without a name */
extern const struct alert alerts[];
extern const size_t n_alerts;
