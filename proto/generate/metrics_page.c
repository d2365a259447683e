/* Writes docs/metrics.md from the table of metrics. */
#include "proto/generate/generate.h"
#include "proto/metrics.h"

#define INTRODUCTION                                                                                         \
        "# Metrics\n\n"                                                                                      \
        "Written by `make generate` from proto/metrics.c and proto/alerts.c; do not edit.\n\n"               \
        "The hub agent serves them on `:8080/metrics`, a member agent on `:8080` and `:8090`, the\n"         \
        "manifest-generator, which has those of both too, on `:8080`, as Prometheus\n"                       \
        "text; their flags change the ports or switch them off, and the charts' `serviceMonitor` values "    \
        "bring a\n"                                                                                          \
        "ServiceMonitor. Names, labels and buckets are those that dashboards of KubeFleet and of "           \
        "controllers\n"                                                                                      \
        "read; what begins with `argosy_` is our own. A family keeps at most 10,000 series: more are not "   \
        "kept\n"                                                                                             \
        "and counted in `argosy_metric_series_dropped_total`. Counters of controllers exist, as 0, from "    \
        "the\n"                                                                                              \
        "start; other series from their first event. `workqueue_...`, active workers and `process_...` "     \
        "are\n"                                                                                              \
        "read off when somebody asks.\n"

static void write_labels(const struct metric_family *f, struct buf *b)
{
        for (size_t i = 0; f->labels && f->labels[i]; i++)
                buf_printf(b, "%s`%s`", i ? ", " : "", f->labels[i]);
}

static void write_buckets(const struct metric_family *f, struct buf *b)
{
        if (f->type != METRIC_HISTOGRAM)
                return;
        buf_append_str(b, " Buckets:");
        for (size_t i = 0; i < f->n_buckets; i++)
                buf_printf(b, "%s %g", i ? "," : "", f->buckets[i]);
        buf_append_char(b, '.');
}

static void write_family(const struct metric_family *f, struct buf *b)
{
        static const char *const types[] = { "counter", "gauge", "histogram" };
        static const char *const agents[] = { [METRIC_OF_HUB] = "hub",
                                              [METRIC_OF_MEMBER] = "member",
                                              [METRIC_OF_BOTH] = "both",
                                              [METRIC_OF_GENERATOR] = "manifest-generator" };

        buf_printf(b, "| `%s` | %s | ", f->name, types[f->type]);
        write_labels(f, b);
        buf_printf(b, " | %s | %s", agents[f->of], f->help);
        write_buckets(f, b);
        buf_append_str(b, " |\n");
}

/* Up to and without `end`. */
static void write_part(const char *title, enum metric_id begin, enum metric_id end, struct buf *b)
{
        buf_printf(
                b,
                "\n## %s\n\n| metric | type | labels | agent | meaning |\n| --- | --- | --- | --- | --- |\n",
                title);
        for (unsigned i = begin; i < end; i++)
                write_family(&metric_families[i], b);
}

void write_metrics_page(const struct model *m, struct buf *b)
{
        buf_append_str(b, INTRODUCTION);
        write_part("The fleet", METRIC_JOINS, METRIC_RECONCILES, b);
        write_part("Controllers, requests, webhooks", METRIC_RECONCILES, METRIC_CPU_SECONDS, b);
        write_part("The process", METRIC_CPU_SECONDS, METRIC_FAILURES, b);
        write_part("Argosy's own", METRIC_FAILURES, N_METRICS, b);
        write_alerts_page(b);
}
