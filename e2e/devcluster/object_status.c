/* Status rules of the built-in kinds that are not workloads: pods, services, claims, budgets and the like. */
#include "common/base/timefmt.h"
#include "e2e/devcluster/workload_status.h"

static int set_if_absent(json_t *doc, const char *path, json_t *value)
{
        if (!doc_get(doc, path))
                return doc_set(doc, path, value);
        json_decref(value);
        return 0;
}

/* ---- pods ---- */

static json_t *container_status(const json_t *container, const char *now, bool ready)
{
        const char *name = doc_get_string(container, "name"), *image = doc_get_string(container, "image");
        return json_pack("{s:s,s:s,s:s,s:{},s:s,s:b,s:i,s:b,s:{s:{s:s}}}", "name", name ? name : "", "image",
                         image ? image : "", "imageID", "", "lastState", "containerID",
                         "devcluster://simulated", "ready", ready, "restartCount", 0, "started", ready,
                         "state", "running", "startedAt", now);
}

static int set_container_statuses(json_t *doc, const char *now, bool ready)
{
        size_t i;
        json_t *container, *list = json_array();
        json_array_foreach(doc_get_array(doc, "spec.containers"), i, container)
                if (json_array_append_new(list, container_status(container, now, ready)) < 0)
                        return json_decref(list), ERR_NO_MEMORY;
        return doc_set(doc, "status.containerStatuses", list);
}

static int set_pod_conditions(json_t *doc, const struct workload_facts *f)
{
        static const char *const types[] = { "PodReadyToStartContainers", "Initialized", "Ready",
                                             "ContainersReady", "PodScheduled" };
        for (size_t i = 0; i < ARRAY_LEN(types); i++) {
                bool depends = i == 2 || i == 3;
                const struct status_condition c = { .type = types[i],
                                                    .status = depends && !f->ready ? "False" : "True",
                                                    .reason = depends && !f->ready ? "ContainersNotReady"
                                                                                   : NULL,
                                                    .with_probe_time = true };
                TRY(workload_set_condition(doc, &c, f->now_ms));
        }
        return 0;
}

static bool is_over(const json_t *pod)
{
        const char *phase = doc_get_string(pod, "status.phase");
        return text_equal(phase, "Succeeded") || text_equal(phase, "Failed");
}

static bool is_settled(const json_t *pod, bool ready)
{
        const json_t *first = json_array_get(doc_get_array(pod, "status.containerStatuses"), 0);
        return text_equal(doc_get_string(pod, "status.phase"), "Running") &&
               doc_get_bool(first, "ready", !ready) == ready;
}

static int advance_pod(json_t *doc, const struct workload_facts *f)
{
        char now[RFC3339_SIZE];
        bool gated = json_array_size(doc_get_array(doc, "spec.schedulingGates")) > 0;
        if (gated || is_over(doc) || is_settled(doc, f->ready))
                return 0;
        time_format_rfc3339(f->now_ms, now);
        if (f->node)
                TRY(set_if_absent(doc, "spec.nodeName", json_string(f->node)));
        TRY(set_if_absent(doc, "status.startTime", json_string(now)));
        TRY(doc_set_string(doc, "status.phase", "Running"));
        TRY(set_if_absent(doc, "status.podIP", json_string(f->pod_ip)));
        TRY(set_if_absent(doc, "status.podIPs", json_pack("[{s:s}]", "ip", f->pod_ip)));
        TRY(set_container_statuses(doc, now, f->ready));
        return set_pod_conditions(doc, f);
}

/* ---- nodes ---- */

#define NODE_SIZE                                                                                            \
        "{s:s,s:s,s:s,s:s}", "cpu", "4", "ephemeral-storage", "100Gi", "memory", "16Gi", "pods", "110"

static int set_node_conditions(json_t *doc, const struct workload_facts *f)
{
        static const struct status_condition fine[] = {
                { "MemoryPressure", "False", "KubeletHasSufficientMemory",
                  "kubelet has sufficient memory available", 0, 0 },
                { "DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure", 0, 0 },
                { "PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available",
                  0, 0 },
                { "Ready", "True", "KubeletReady", "kubelet is posting ready status", 0, 0 },
        };
        for (size_t i = 0; i < ARRAY_LEN(fine); i++)
                TRY(workload_set_condition(doc, &fine[i], f->now_ms));
        return 0;
}

static json_t *node_info(void)
{
        return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "architecture", "amd64", "bootID", "",
                         "containerRuntimeVersion", "devcluster://1", "kernelVersion", "", "kubeProxyVersion",
                         "", "kubeletVersion", "v1.34.0", "machineID", "", "operatingSystem", "linux",
                         "osImage", "devcluster", "systemUUID", "");
}

static int drop_taint(json_t *doc, const char *key)
{
        size_t i;
        json_t *t, *taints = doc_get_array(doc, "spec.taints");
        json_array_foreach(taints, i, t)
                if (text_equal(doc_get_string(t, "key"), key)) {
                        json_array_remove(taints, i);
                        break;
                }
        if (taints && json_array_size(taints) == 0)
                json_object_del(doc_get_object(doc, "spec"), "taints");
        return 0;
}

/* What a kubelet says first; what somebody has written already stays. */
static int advance_node(json_t *doc, const struct workload_facts *f)
{
        static const struct status_condition silent = { "Ready",          "False", "KubeletNotReady",
                                                        "held by a rule", 0,       0 };
        TRY(set_if_absent(doc, "status.capacity", json_pack(NODE_SIZE)));
        TRY(set_if_absent(doc, "status.allocatable", doc_copy(doc_get(doc, "status.capacity"))));
        TRY(set_if_absent(doc, "status.nodeInfo", node_info()));
        TRY(set_if_absent(doc, "status.addresses",
                          json_pack("[{s:s,s:s},{s:s,s:s}]", "type", "InternalIP", "address", f->address,
                                    "type", "Hostname", "address", doc_get_string(doc, "metadata.name"))));
        if (!f->ready)
                return workload_set_condition(doc, &silent, f->now_ms);
        TRY(drop_taint(doc, "node.kubernetes.io/not-ready"));
        const json_t *last = json_array_get(doc_get_array(doc, "status.conditions"), 0);
        bool held = text_equal(doc_get_string(last, "message"), silent.message);
        return !last || held ? set_node_conditions(doc, f) : 0;
}

/* ---- networking and storage ---- */

static int advance_service(json_t *doc, const struct workload_facts *f)
{
        if (!text_equal(doc_get_string(doc, "spec.type"), "LoadBalancer"))
                return set_if_absent(doc, "status.loadBalancer", json_object());
        if (!f->ready || json_array_size(doc_get_array(doc, "status.loadBalancer.ingress")))
                return 0;
        return doc_set(doc, "status.loadBalancer",
                       json_pack("{s:[{s:s,s:s}]}", "ingress", "ip", f->address, "ipMode", "VIP"));
}

/* One that names a class belongs to that class's controller. */
static int advance_ingress(json_t *doc, const struct workload_facts *f)
{
        if (!f->ready || doc_get(doc, "spec.ingressClassName") ||
            json_array_size(doc_get_array(doc, "status.loadBalancer.ingress")))
                return set_if_absent(doc, "status.loadBalancer", json_object());
        return doc_set(doc, "status.loadBalancer", json_pack("{s:[{s:s}]}", "ingress", "ip", f->address));
}

static int advance_claim(json_t *doc, const struct workload_facts *f)
{
        char volume[64];
        const char *uid = doc_get_string(doc, "metadata.uid");
        if (!f->ready)
                return set_if_absent(doc, "status.phase", json_string("Pending"));
        snprintf(volume, sizeof(volume), "pvc-%s", uid ? uid : "");
        const json_t *storage = doc_get(doc, "spec.resources.requests.storage");
        TRY(set_if_absent(doc, "spec.volumeName", json_string(volume)));
        TRY(doc_set_string(doc, "status.phase", "Bound"));
        if (doc_get_array(doc, "spec.accessModes"))
                TRY(doc_set(doc, "status.accessModes", doc_copy(doc_get(doc, "spec.accessModes"))));
        return storage ? doc_set(doc, "status.capacity.storage", doc_copy(storage)) : 0;
}

static int advance_volume(json_t *doc, const struct workload_facts *f)
{
        const char *phase = !f->ready                              ? "Pending"
                            : doc_get_object(doc, "spec.claimRef") ? "Bound"
                                                                   : "Available";
        return doc_set_string(doc, "status.phase", phase);
}

static int advance_api_service(json_t *doc, const struct workload_facts *f)
{
        bool local = !doc_get_object(doc, "spec.service");
        const struct status_condition c = { .type = "Available",
                                            .status = f->ready || local ? "True" : "False",
                                            .reason = local      ? "Local"
                                                      : f->ready ? "Passed"
                                                                 : "MissingEndpoints",
                                            .message = local ? "Local APIServices are always available"
                                                       : f->ready
                                                               ? "all checks passed"
                                                               : "endpoints for service have no addresses" };
        return workload_set_condition(doc, &c, f->now_ms);
}

/* ---- scaling, budgets, quotas ---- */

static int advance_autoscaler(json_t *doc, const struct workload_facts *f)
{
        int64_t least = doc_get_int(doc, "spec.minReplicas", 1);
        const struct status_condition conditions[] = {
                { "AbleToScale", "True", "ReadyForNewScale", "recommended size matches current size", false,
                  false },
                { "ScalingActive", f->ready ? "True" : "False",
                  f->ready ? "ValidMetricFound" : "FailedGetResourceMetric",
                  f->ready ? "the HPA was able to successfully calculate a replica count"
                           : "the HPA was unable to compute the replica count",
                  false, false },
                { "ScalingLimited", "False", "DesiredWithinRange",
                  "the desired count is within the acceptable range", false, false },
        };
        for (size_t i = 0; i < ARRAY_LEN(conditions); i++)
                TRY(workload_set_condition(doc, &conditions[i], f->now_ms));
        TRY(workload_set_count(doc, "status.currentReplicas", least, false));
        return workload_set_count(doc, "status.desiredReplicas", least, true);
}

/* A count or a percentage of the whole, rounded up as the disruption controller does. */
static int64_t scaled(const json_t *value, int64_t whole)
{
        int64_t percent;
        const char *text = json_string_value(value);
        if (json_is_integer(value))
                return json_integer_value(value);
        struct slice s = slice_of(text), number;
        if (!text || !slice_cut(&s, '%', &number) || !slice_parse_i64(number, &percent))
                return 0;
        return (whole * percent + 99) / 100;
}

static int64_t desired_healthy(const json_t *doc, int64_t expected)
{
        const json_t *most = doc_get(doc, "spec.maxUnavailable"), *least = doc_get(doc, "spec.minAvailable");
        if (most)
                return MAX(expected - scaled(most, expected), (int64_t)0);
        return least ? scaled(least, expected) : 1;
}

static int advance_budget(json_t *doc, const struct workload_facts *f)
{
        int64_t desired = desired_healthy(doc, f->expected_pods);
        int64_t allowed = f->expected_pods > 0 ? MAX(f->healthy_pods - desired, (int64_t)0) : 0;
        const struct status_condition c = { .type = "DisruptionAllowed",
                                            .status = allowed > 0 ? "True" : "False",
                                            .reason = allowed > 0 ? "SufficientPods" : "InsufficientPods",
                                            .message = "" };
        TRY(workload_set_count(doc, "status.observedGeneration", doc_get_int(doc, "metadata.generation", 0),
                               false));
        TRY(workload_set_count(doc, "status.expectedPods", f->expected_pods, true));
        TRY(workload_set_count(doc, "status.currentHealthy", f->healthy_pods, true));
        TRY(workload_set_count(doc, "status.desiredHealthy", desired, true));
        TRY(workload_set_count(doc, "status.disruptionsAllowed", allowed, true));
        TRY(workload_set_condition(doc, &c, f->now_ms));
        json_t *have = json_array_get(doc_get_array(doc, "status.conditions"), 0);
        return workload_set_count(have, "observedGeneration", doc_get_int(doc, "metadata.generation", 0),
                                  false);
}

static int advance_quota(json_t *doc, const struct workload_facts *f)
{
        const char *key;
        json_t *value;
        const json_t *hard = doc_get_object(doc, "spec.hard");
        if (!hard)
                return 0;
        TRY(doc_set(doc, "status.hard", doc_copy(hard)));
        if (!doc_get_object(doc, "status.used"))
                TRY(doc_set(doc, "status.used", json_object()));
        json_t *used = doc_get_object(doc, "status.used");
        json_object_foreach((json_t *)hard, key, value)
                if (!json_object_get(used, key) && json_object_set_new(used, key, json_string("0")) < 0)
                        return ERR_NO_MEMORY;
        return 0;
}

static const struct {
        const char *kind;
        workload_rule rule;
} rules[] = {
        { "Pod", advance_pod },
        { "Node", advance_node },
        { "Service", advance_service },
        { "Ingress", advance_ingress },
        { "PersistentVolumeClaim", advance_claim },
        { "PersistentVolume", advance_volume },
        { "APIService", advance_api_service },
        { "HorizontalPodAutoscaler", advance_autoscaler },
        { "PodDisruptionBudget", advance_budget },
        { "ResourceQuota", advance_quota },
};

workload_rule workload_rule_of_object(const char *kind)
{
        for (size_t i = 0; i < ARRAY_LEN(rules); i++)
                if (strcmp(rules[i].kind, kind) == 0)
                        return rules[i].rule;
        return NULL;
}
