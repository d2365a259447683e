#include "hub-agent/resource-set/health.h"

#define UNSCHEDULABLE_MS 15000

const char *health_word(enum object_health h)
{
        static const char *const words[] = { "Current", "InProgress", "Failed", "Terminating", "NotFound" };

        return words[h];
}

const char *doc_condition(const json_t *live, const char *type, const char *field)
{
        size_t i;
        json_t *c;

        json_array_foreach(doc_get_array(live, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return or_empty(doc_get_string(c, field));
        return "";
}

static bool is(const json_t *live, const char *type, const char *status)
{
        return text_equal(doc_condition(live, type, "status"), status);
}

static enum object_health current_if(bool so)
{
        return so ? HEALTH_CURRENT : HEALTH_IN_PROGRESS;
}

static int64_t status_number(const json_t *live, const char *field)
{
        return doc_get_int(json_object_get(live, "status"), field, 0);
}

bool health_is_ready(const json_t *live)
{
        int64_t generation = doc_get_int(live, "metadata.generation", 0);
        size_t i;
        json_t *c;

        json_array_foreach(doc_get_array(live, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), "Ready") &&
                    (!text_equal(doc_get_string(c, "status"), "True") ||
                     doc_get_int(c, "observedGeneration", 0) != generation))
                        return false;
        return true;
}

/* ---- by kind ---- */

static enum object_health of_deployment(const json_t *o, int64_t now_ms)
{
        int64_t wanted = doc_get_int(o, "spec.replicas", 1);

        if (text_equal(doc_condition(o, "Progressing", "reason"), "ProgressDeadlineExceeded"))
                return HEALTH_FAILED;
        if (status_number(o, "replicas") < wanted || status_number(o, "updatedReplicas") < wanted ||
            status_number(o, "replicas") > wanted ||
            status_number(o, "availableReplicas") < status_number(o, "updatedReplicas") ||
            status_number(o, "readyReplicas") < wanted)
                return HEALTH_IN_PROGRESS;
        if (doc_get(o, "spec.progressDeadlineSeconds") &&
            (!is(o, "Progressing", "True") ||
             !text_equal(doc_condition(o, "Progressing", "reason"), "NewReplicaSetAvailable")))
                return HEALTH_IN_PROGRESS;
        return current_if(is(o, "Available", "True"));
}

static enum object_health of_stateful_set(const json_t *o, int64_t now_ms)
{
        int64_t wanted = doc_get_int(o, "spec.replicas", 1);
        int64_t partition = doc_get_int(o, "spec.updateStrategy.rollingUpdate.partition", 0);

        if (text_equal(doc_get_string(o, "spec.updateStrategy.type"), "OnDelete"))
                return HEALTH_CURRENT;
        if (status_number(o, "replicas") < wanted || status_number(o, "readyReplicas") < wanted ||
            status_number(o, "replicas") > wanted)
                return HEALTH_IN_PROGRESS;
        if (partition > 0)
                return current_if(status_number(o, "updatedReplicas") >= wanted - partition);
        return current_if(status_number(o, "currentReplicas") >= wanted &&
                          text_equal(doc_get_string(o, "status.currentRevision"),
                                     doc_get_string(o, "status.updateRevision")));
}

static enum object_health of_daemon_set(const json_t *o, int64_t now_ms)
{
        int64_t wanted = doc_get_int(o, "status.desiredNumberScheduled", -1);

        return current_if(doc_get(o, "metadata.generation") && doc_get(o, "status.observedGeneration") &&
                          wanted >= 0 && status_number(o, "currentNumberScheduled") >= wanted &&
                          status_number(o, "updatedNumberScheduled") >= wanted &&
                          status_number(o, "numberAvailable") >= wanted &&
                          status_number(o, "numberReady") >= wanted);
}

static enum object_health of_replica_set(const json_t *o, int64_t now_ms)
{
        int64_t wanted = doc_get_int(o, "spec.replicas", 1);

        return current_if(
                !is(o, "ReplicaFailure", "True") && status_number(o, "fullyLabeledReplicas") >= wanted &&
                status_number(o, "availableReplicas") >= wanted &&
                status_number(o, "readyReplicas") >= wanted && status_number(o, "replicas") <= wanted);
}

static bool is_crashing(const json_t *o)
{
        size_t i;
        json_t *c;

        json_array_foreach(doc_get_array(o, "status.containerStatuses"), i, c)
                if (text_equal(doc_get_string(c, "state.waiting.reason"), "CrashLoopBackOff"))
                        return true;
        return false;
}

static bool finds_no_node(const json_t *o, int64_t now_ms)
{
        int64_t since;

        return is(o, "PodScheduled", "False") &&
               text_equal(doc_condition(o, "PodScheduled", "reason"), "Unschedulable") &&
               time_parse_rfc3339(slice_of(doc_condition(o, "PodScheduled", "lastTransitionTime")), &since) ==
                       0 &&
               now_ms - since > UNSCHEDULABLE_MS;
}

static enum object_health of_pod(const json_t *o, int64_t now_ms)
{
        const char *phase = or_empty(doc_get_string(o, "status.phase"));

        if (text_equal(phase, "Succeeded") || text_equal(phase, "Failed"))
                return HEALTH_CURRENT;
        if (text_equal(phase, "Running")) {
                if (is(o, "Ready", "True"))
                        return HEALTH_CURRENT;
                return is_crashing(o) ? HEALTH_FAILED : HEALTH_IN_PROGRESS;
        }
        return text_equal(phase, "Pending") && finds_no_node(o, now_ms) ? HEALTH_FAILED : HEALTH_IN_PROGRESS;
}

static enum object_health of_job(const json_t *o, int64_t now_ms)
{
        if (doc_get_bool(o, "spec.suspend", false) || is(o, "Complete", "True"))
                return HEALTH_CURRENT;
        return is(o, "Failed", "True") ? HEALTH_FAILED : HEALTH_IN_PROGRESS;
}

static enum object_health of_claim(const json_t *o, int64_t now_ms)
{
        return current_if(text_equal(doc_get_string(o, "status.phase"), "Bound"));
}

static enum object_health of_service(const json_t *o, int64_t now_ms)
{
        return current_if(!text_equal(doc_get_string(o, "spec.type"), "LoadBalancer") ||
                          !text_empty(doc_get_string(o, "spec.clusterIP")));
}

static enum object_health of_definition(const json_t *o, int64_t now_ms)
{
        if (is(o, "NamesAccepted", "False") ||
            (is(o, "Established", "False") &&
             !text_equal(doc_condition(o, "Established", "reason"), "Installing")))
                return HEALTH_FAILED;
        return current_if(is(o, "Established", "True"));
}

static enum object_health of_namespace(const json_t *o, int64_t now_ms)
{
        return current_if(text_equal(doc_get_string(o, "status.phase"), "Active"));
}

static enum object_health of_what_is_at_once(const json_t *o, int64_t now_ms)
{
        return HEALTH_CURRENT;
}

static bool holds_now(const json_t *o, const char *prefix, const char *type)
{
        int64_t generation = doc_get_int(o, "metadata.generation", 0);
        size_t i;
        json_t *c;

        json_array_foreach(doc_get_array(o, "status.conditions"), i, c) {
                const char *name = or_empty(doc_get_string(c, "type"));

                if (text_starts_with(name, prefix) && text_equal(name + strlen(prefix), type))
                        return text_equal(doc_get_string(c, "status"), "True") &&
                               doc_get_int(c, "observedGeneration", 0) == generation;
        }
        return false;
}

/* It is what it placed: without this one would count as ready at once. Of an Available that is not there the
 * step before it is asked. */
static enum object_health of_placement(const json_t *o, int64_t now_ms)
{
        const char *prefix = or_empty(doc_get_string(o, "kind"));
        char available[64], applied[64];

        prefix = text_equal(prefix, "ResourcePlacement") ? "ResourcePlacement" : "ClusterResourcePlacement";
        snprintf(available, sizeof(available), "%sAvailable", prefix);
        snprintf(applied, sizeof(applied), "%sApplied", prefix);
        if (text_equal(doc_get_string(o, "spec.strategy.applyStrategy.type"), "ReportDiff"))
                return current_if(holds_now(o, prefix, "DiffReported"));
        if (*doc_condition(o, available, "status"))
                return current_if(holds_now(o, prefix, "Available"));
        return current_if(!*doc_condition(o, applied, "status") ? false : holds_now(o, prefix, "Applied"));
}

static const struct {
        const char *group, *kind;
        enum object_health (*rule)(const json_t *o, int64_t now_ms);
} rules[] = {
        { "apps", "Deployment", of_deployment },
        { "apps", "StatefulSet", of_stateful_set },
        { "apps", "DaemonSet", of_daemon_set },
        { "apps", "ReplicaSet", of_replica_set },
        { "", "Pod", of_pod },
        { "batch", "Job", of_job },
        { "", "PersistentVolumeClaim", of_claim },
        { "", "Service", of_service },
        { "apiextensions.k8s.io", "CustomResourceDefinition", of_definition },
        { "", "Namespace", of_namespace },
        { "", "ConfigMap", of_what_is_at_once },
        { "", "Secret", of_what_is_at_once },
        { "batch", "CronJob", of_what_is_at_once },
        { "policy", "PodDisruptionBudget", of_what_is_at_once },
        { GROUP_PLACEMENT, "ClusterResourcePlacement", of_placement },
        { GROUP_PLACEMENT, "ResourcePlacement", of_placement },
};

static struct slice group_of(const json_t *o)
{
        const char *version = or_empty(doc_get_string(o, "apiVersion"));
        const char *slash = strchr(version, '/');

        return (struct slice){ version, slash ? (size_t)(slash - version) : 0 };
}

static enum object_health of_kind(const json_t *o, int64_t now_ms)
{
        const char *kind = or_empty(doc_get_string(o, "kind"));
        const char *ready = doc_condition(o, "Ready", "status");

        for (size_t i = 0; i < ARRAY_LEN(rules); i++)
                if (text_equal(rules[i].kind, kind) && slice_is(group_of(o), rules[i].group))
                        return rules[i].rule(o, now_ms);
        return current_if(!*ready || text_equal(ready, "True"));
}

enum object_health health_of(const json_t *live, int64_t now_ms)
{
        static const char *const by_ready[] = { KIND_RESOURCE_SET, KIND_INPUT_PROVIDER, "FluxInstance" };
        const json_t *observed;

        if (!live)
                return HEALTH_NOT_FOUND;
        if (slice_is(group_of(live), GROUP_FLUX) &&
            text_in(doc_get_string(live, "kind"), by_ready, ARRAY_LEN(by_ready)))
                return current_if(*doc_condition(live, "Ready", "status") && health_is_ready(live));
        if (doc_get(live, "metadata.deletionTimestamp"))
                return HEALTH_TERMINATING;
        observed = doc_get(live, "status.observedGeneration");
        if (json_is_integer(observed) &&
            json_integer_value(observed) != doc_get_int(live, "metadata.generation", 0))
                return HEALTH_IN_PROGRESS;
        if (is(live, "Reconciling", "True"))
                return HEALTH_IN_PROGRESS;
        return is(live, "Stalled", "True") ? HEALTH_FAILED : of_kind(live, now_ms);
}
