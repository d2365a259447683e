#include "e2e/chart-runner/deployment_status.h"

#include <stdio.h>

#include "e2e/devcluster/workload_status.h"

_Static_assert(TEMPLATE_HASH_SIZE == POD_HASH_SIZE, "the same hash as devcluster names ReplicaSets by");

int template_hash(const json_t *deployment, char ret[TEMPLATE_HASH_SIZE])
{
        return workload_hash(doc_get(deployment, "spec.template"), ret);
}

static int set_conditions(json_t *doc, const struct deployment_counts *c)
{
        bool complete =
                c->updated == c->want && c->pods == c->updated && c->available == c->updated && c->set_made;
        bool enough = c->available >= c->least;
        char progress[512];
        const struct status_condition conditions[] = {
                { .type = "Available",
                  .status = enough ? "True" : "False",
                  .reason = enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                  .message = enough ? "Deployment has minimum availability."
                                    : "Deployment does not have minimum availability.",
                  .with_update_time = true },
                { .type = "Progressing",
                  .status = "True",
                  .reason = complete ? "NewReplicaSetAvailable" : "ReplicaSetUpdated",
                  .message = progress,
                  .with_update_time = true },
        };

        snprintf(progress, sizeof(progress), "ReplicaSet \"%s\" %s", c->set_name,
                 complete ? "has successfully progressed." : "is progressing.");
        for (size_t i = 0; i < ARRAY_LEN(conditions); i++)
                TRY(workload_set_condition(doc, &conditions[i], c->now_ms));
        return 0;
}

static int observe(json_t *doc)
{
        return workload_set_count(doc, "status.observedGeneration",
                                  doc_get_int(doc, "metadata.generation", 0), false);
}

int deployment_status(json_t *doc, const struct deployment_counts *c)
{
        TRY(observe(doc));
        TRY(workload_set_count(doc, "status.replicas", c->pods, false));
        TRY(workload_set_count(doc, "status.updatedReplicas", c->updated, false));
        TRY(workload_set_count(doc, "status.readyReplicas", c->available, false));
        TRY(workload_set_count(doc, "status.availableReplicas", c->available, false));
        TRY(workload_set_count(doc, "status.unavailableReplicas", MAX(c->want - c->available, 0), false));
        return set_conditions(doc, c);
}

int replica_set_status(json_t *doc, int64_t pods, int64_t available)
{
        TRY(observe(doc));
        TRY(workload_set_count(doc, "status.replicas", pods, true));
        TRY(workload_set_count(doc, "status.fullyLabeledReplicas", pods, false));
        TRY(workload_set_count(doc, "status.readyReplicas", available, false));
        return workload_set_count(doc, "status.availableReplicas", available, false);
}
