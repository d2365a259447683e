/* What the frame tells of itself, under the names that dashboards for controllers read. Counters of a
 * controller exist, as 0, from the moment it is added. */
#include <stdio.h>

#include "common/base/memory.h"
#include "common/ctrl/frame.h"

#define CONCURRENCY 16
#define HOST_SIZE 272

/* ---- requests ---- */

/* "host:port" of a URL. */
static void host_of(const char *url, char ret[HOST_SIZE])
{
        const char *begin = strstr(or_empty(url), "://");

        begin = begin ? begin + 3 : or_empty(url);
        size_t n = MIN(strcspn(begin, "/"), (size_t)HOST_SIZE - 1);
        memcpy(ret, begin, n);
        ret[n] = '\0';
}

void frame_count_request(struct metrics *m, const struct kube_counted *c)
{
        const char *resource = c->resource[0] == '/' ? "raw" : c->resource;
        char host[HOST_SIZE], number[24];
        const char *code = log_int(number, c->status);

        host_of(c->endpoint->base_url, host);
        metric_add(m, METRIC_API_REQUESTS, 1, (const char *const[]){ c->verb, resource, code });
        metric_observe(m, METRIC_API_SECONDS, (double)c->took_us / 1e6, (const char *const[]){ c->verb });
        metric_add(m, METRIC_REST_REQUESTS, 1,
                   (const char *const[]){ c->status ? code : "<error>", host, c->method });
}

/* ---- one controller ---- */

void frame_queue_metrics(struct metrics *m, const char *controller, struct queue_options *ret)
{
        const char *const labels[] = { controller, controller };

        ret->adds = metric_series(m, METRIC_QUEUE_ADDS, labels);
        ret->retries = metric_series(m, METRIC_QUEUE_RETRIES, labels);
        ret->waited = metric_series(m, METRIC_QUEUE_WAITED, labels);
        ret->worked = metric_series(m, METRIC_QUEUE_WORKED, labels);
}

unsigned controller_concurrency(const struct controller *c)
{
        return c->concurrency ? c->concurrency : CONCURRENCY;
}

void running_metrics_init(struct running *r)
{
        struct metrics *m = r->manager->options.metrics;
        const char *const labels[] = { r->controller->name, r->controller->name };
        struct running_metrics *to = &r->metrics;

        for (size_t i = 0; i < N_RESULTS; i++)
                to->results[i] = metric_series(m, METRIC_RECONCILES,
                                               (const char *const[]){ labels[0], reconcile_results[i] });
        to->errors = metric_series(m, METRIC_RECONCILE_ERRORS, labels);
        to->seconds = metric_series(m, METRIC_RECONCILE_SECONDS, labels);
        to->active = metric_series(m, METRIC_RECONCILE_ACTIVE, labels);
        to->depth = metric_series(m, METRIC_QUEUE_DEPTH, labels);
        to->unfinished = metric_series(m, METRIC_QUEUE_UNFINISHED, labels);
        to->longest = metric_series(m, METRIC_QUEUE_LONGEST, labels);
        metric_set(m, METRIC_RECONCILE_LIMIT, r->pace.concurrency, labels);
}

enum reconcile_result outcome_result(const struct outcome *o)
{
        return o->code < 0 ? RESULT_ERROR : o->after_ms > 0 ? RESULT_REQUEUE_AFTER : RESULT_SUCCESS;
}

void running_count(struct running *r, const struct outcome *o, int64_t took_us)
{
        series_add(r->metrics.results[outcome_result(o)], 1);
        series_observe(r->metrics.seconds, (double)took_us / 1e6);
        if (o->code >= 0)
                return;
        series_add(r->metrics.errors, 1);
        metric_add(r->manager->options.metrics, METRIC_FAILURES, 1,
                   (const char *const[]){ r->controller->name, error_code_name(o->code) });
}

/* ---- what is read off when somebody asks ---- */

static void collect_queue(const struct running *r)
{
        struct queue_under_way now = work_queue_under_way(r->queue);

        series_set(r->metrics.depth, (double)work_queue_depth(r->queue));
        series_set(r->metrics.active, (double)work_queue_active(r->queue));
        series_set(r->metrics.unfinished, now.seconds);
        series_set(r->metrics.longest, now.longest);
}

static void collect_process(struct metrics *m, const struct world *w)
{
        struct world_usage u;

        if (!w->process || !w->process->usage || w->process->usage(w->ctx, &u) < 0)
                return;
        metric_set(m, METRIC_CPU_SECONDS, (double)u.cpu_us / 1e6, NULL);
        metric_set(m, METRIC_RESIDENT_BYTES, (double)u.resident_bytes, NULL);
        metric_set(m, METRIC_VIRTUAL_BYTES, (double)u.virtual_bytes, NULL);
        metric_set(m, METRIC_OPEN_FILES, (double)u.open_files, NULL);
        metric_set(m, METRIC_MOST_FILES, (double)u.most_files, NULL);
        metric_set(m, METRIC_START_SECONDS, (double)w->began_ms / 1000, NULL);
}

static void collect(struct metrics_source *source)
{
        struct manager *m = container_of(source, struct manager, metrics);

        vec_for_each(&m->running, r)
                collect_queue(*r);
        collect_process(m->options.metrics, m->options.world);
}

void frame_metrics_begin(struct manager *m)
{
        m->metrics.collect = collect;
        if (m->options.metrics)
                metrics_add_source(m->options.metrics, &m->metrics);
}
