#include "hub-agent/placement/workload_metrics.h"

static const char *const names[N_WORKLOADS] = {
        [WORKLOAD_CLUSTER_PLACEMENTS] = "cluster-resource-placement-controller-v1beta1",
        [WORKLOAD_PLACEMENTS] = "resource-placement-controller",
        [WORKLOAD_CHANGES] = "resource-change-controller",
};

void workload_metrics_init(struct metrics *m)
{
        for (size_t w = 0; w < N_WORKLOADS; w++) {
                bool queued = w != WORKLOAD_CHANGES; /* a change is looked at on the spot */

                for (size_t i = 0; i < N_RESULTS; i++)
                        metric_add(m, METRIC_WORKLOAD_RECONCILES, 0,
                                   (const char *const[]){ names[w], reconcile_results[i] });
                metric_add(m, METRIC_WORKLOAD_ERRORS, 0, &names[w]);
                (void)metric_series(m, METRIC_WORKLOAD_SECONDS, &names[w]);
                metric_set(m, METRIC_WORKLOAD_LIMIT, queued ? controller_concurrency(&intake_controller) : 1,
                           &names[w]);
                metric_set(m, METRIC_WORKLOAD_ACTIVE, 0, &names[w]);
        }
}

int64_t workload_begin(struct hub_agent *a, enum workload_queue w)
{
        metric_add(a->metrics, METRIC_WORKLOAD_ACTIVE, 1, &names[w]);
        return loop_now_us(a->world->loop);
}

void workload_end(struct hub_agent *a, enum workload_queue w, int64_t began_us, const struct outcome *o)
{
        const char *const labels[] = { names[w], reconcile_results[outcome_result(o)] };
        double took_s = (double)(loop_now_us(a->world->loop) - began_us) / 1e6;

        metric_add(a->metrics, METRIC_WORKLOAD_RECONCILES, 1, labels);
        metric_add(a->metrics, METRIC_WORKLOAD_ERRORS, o->code < 0, labels);
        metric_observe(a->metrics, METRIC_WORKLOAD_SECONDS, took_s, labels);
        metric_add(a->metrics, METRIC_WORKLOAD_ACTIVE, -1, labels);
}
