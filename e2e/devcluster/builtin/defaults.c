#include "e2e/devcluster/builtin/defaults.h"

#include "common/base/memory.h"

/* A default at a path below a root. "a.b" sets b where a is an object; "a[].b" in every element; "a{}.b" in
 * every value of a map. A leading "+" makes the parents as well. */
struct rule {
        const char *path, *json;
};

static const struct rule probe_rules[] = {
        { "timeoutSeconds", "1" },   { "periodSeconds", "10" },   { "successThreshold", "1" },
        { "failureThreshold", "3" }, { "httpGet.path", "\"/\"" }, { "httpGet.scheme", "\"HTTP\"" },
        { "grpc.service", "\"\"" },
};

static const struct rule container_rules[] = {
        { "terminationMessagePath", "\"/dev/termination-log\"" },
        { "terminationMessagePolicy", "\"File\"" },
        { "resources", "{}" },
        { "ports[].protocol", "\"TCP\"" },
        { "env[].valueFrom.fieldRef.apiVersion", "\"v1\"" },
        { "lifecycle.postStart.httpGet.path", "\"/\"" },
        { "lifecycle.postStart.httpGet.scheme", "\"HTTP\"" },
        { "lifecycle.preStop.httpGet.path", "\"/\"" },
        { "lifecycle.preStop.httpGet.scheme", "\"HTTP\"" },
};

static const struct rule pod_spec_rules[] = {
        { "restartPolicy", "\"Always\"" },
        { "dnsPolicy", "\"ClusterFirst\"" },
        { "schedulerName", "\"default-scheduler\"" },
        { "terminationGracePeriodSeconds", "30" },
        { "securityContext", "{}" },
        { "volumes[].secret.defaultMode", "420" },
        { "volumes[].configMap.defaultMode", "420" },
        { "volumes[].downwardAPI.defaultMode", "420" },
        { "volumes[].downwardAPI.items[].fieldRef.apiVersion", "\"v1\"" },
        { "volumes[].projected.defaultMode", "420" },
        { "volumes[].projected.sources[].serviceAccountToken.expirationSeconds", "3600" },
        { "volumes[].projected.sources[].downwardAPI.items[].fieldRef.apiVersion", "\"v1\"" },
        { "volumes[].hostPath.type", "\"\"" },
        { "volumes[].ephemeral.volumeClaimTemplate.spec.volumeMode", "\"Filesystem\"" },
};

static const struct rule deployment_rules[] = {
        { "spec.replicas", "1" },
        { "+spec.strategy.type", "\"RollingUpdate\"" },
        { "spec.revisionHistoryLimit", "10" },
        { "spec.progressDeadlineSeconds", "600" },
};
static const struct rule stateful_set_rules[] = {
        { "spec.replicas", "1" },
        { "spec.podManagementPolicy", "\"OrderedReady\"" },
        { "+spec.updateStrategy.type", "\"RollingUpdate\"" },
        { "spec.revisionHistoryLimit", "10" },
        { "+spec.persistentVolumeClaimRetentionPolicy.whenDeleted", "\"Retain\"" },
        { "+spec.persistentVolumeClaimRetentionPolicy.whenScaled", "\"Retain\"" },
        { "spec.volumeClaimTemplates[].apiVersion", "\"v1\"" },
        { "spec.volumeClaimTemplates[].kind", "\"PersistentVolumeClaim\"" },
        { "spec.volumeClaimTemplates[].spec.volumeMode", "\"Filesystem\"" },
        { "+spec.volumeClaimTemplates[].status.phase", "\"Pending\"" },
};
static const struct rule daemon_set_rules[] = {
        { "+spec.updateStrategy.type", "\"RollingUpdate\"" },
        { "spec.revisionHistoryLimit", "10" },
};
static const struct rule replicas_rules[] = { { "spec.replicas", "1" } };
static const struct rule job_rules[] = {
        { "spec.backoffLimit", "6" },
        { "spec.completionMode", "\"NonIndexed\"" },
        { "spec.suspend", "false" },
        { "spec.manualSelector", "false" },
        { "spec.podFailurePolicy.rules[].onPodConditions[].status", "\"True\"" },
};
static const struct rule cron_job_rules[] = {
        { "spec.concurrencyPolicy", "\"Allow\"" },
        { "spec.suspend", "false" },
        { "spec.successfulJobsHistoryLimit", "3" },
        { "spec.failedJobsHistoryLimit", "1" },
};
static const struct rule service_rules[] = {
        { "spec.type", "\"ClusterIP\"" },
        { "spec.sessionAffinity", "\"None\"" },
        { "spec.ports[].protocol", "\"TCP\"" },
        { "status", "{\"loadBalancer\":{}}" },
};
static const struct rule claim_rules[] = {
        { "spec.volumeMode", "\"Filesystem\"" },
        { "+status.phase", "\"Pending\"" },
};
static const struct rule volume_rules[] = {
        { "spec.persistentVolumeReclaimPolicy", "\"Retain\"" },
        { "spec.volumeMode", "\"Filesystem\"" },
        { "+status.phase", "\"Pending\"" },
        { "spec.hostPath.type", "\"\"" },
};
static const struct rule secret_rules[] = { { "type", "\"Opaque\"" } };
static const struct rule namespace_rules[] = { { "+status.phase", "\"Active\"" } };
static const struct rule endpoints_rules[] = { { "subsets[].ports[].protocol", "\"TCP\"" } };
static const struct rule slice_rules[] = { { "ports[].protocol", "\"TCP\"" }, { "ports[].name", "\"\"" } };
#define SCALE_UP                                                                                             \
        "[{\"type\":\"Pods\",\"value\":4,\"periodSeconds\":15},"                                             \
        "{\"type\":\"Percent\",\"value\":100,\"periodSeconds\":15}]"
static const struct rule autoscaler_rules[] = {
        { "spec.minReplicas", "1" },
        { "spec.behavior.scaleUp", "{}" },
        { "spec.behavior.scaleUp.stabilizationWindowSeconds", "0" },
        { "spec.behavior.scaleUp.selectPolicy", "\"Max\"" },
        { "spec.behavior.scaleUp.policies", SCALE_UP },
        { "spec.behavior.scaleDown", "{}" },
        { "spec.behavior.scaleDown.selectPolicy", "\"Max\"" },
        { "spec.behavior.scaleDown.policies", "[{\"type\":\"Percent\",\"value\":100,\"periodSeconds\":15}]" },
};
static const struct rule storage_class_rules[] = {
        { "reclaimPolicy", "\"Delete\"" },
        { "volumeBindingMode", "\"Immediate\"" },
};
static const struct rule csi_driver_rules[] = {
        { "spec.attachRequired", "true" },
        { "spec.podInfoOnMount", "false" },
        { "spec.storageCapacity", "false" },
        { "spec.fsGroupPolicy", "\"ReadWriteOnceWithFSType\"" },
        { "spec.volumeLifecycleModes", "[\"Persistent\"]" },
        { "spec.requiresRepublish", "false" },
        { "spec.seLinuxMount", "false" },
};
static const struct rule priority_class_rules[] = { { "preemptionPolicy", "\"PreemptLowerPriority\"" } };
static const struct rule validating_webhook_rules[] = {
        { "webhooks[].failurePolicy", "\"Fail\"" },
        { "webhooks[].matchPolicy", "\"Equivalent\"" },
        { "webhooks[].namespaceSelector", "{}" },
        { "webhooks[].objectSelector", "{}" },
        { "webhooks[].timeoutSeconds", "10" },
        { "webhooks[].rules[].scope", "\"*\"" },
        { "webhooks[].clientConfig.service.port", "443" },
};
static const struct rule mutating_webhook_rules[] = {
        { "webhooks[].failurePolicy", "\"Fail\"" },
        { "webhooks[].matchPolicy", "\"Equivalent\"" },
        { "webhooks[].namespaceSelector", "{}" },
        { "webhooks[].objectSelector", "{}" },
        { "webhooks[].timeoutSeconds", "10" },
        { "webhooks[].rules[].scope", "\"*\"" },
        { "webhooks[].clientConfig.service.port", "443" },
        { "webhooks[].reinvocationPolicy", "\"Never\"" },
};
static const struct rule admission_policy_rules[] = {
        { "spec.failurePolicy", "\"Fail\"" },
        { "spec.matchConstraints.matchPolicy", "\"Equivalent\"" },
        { "spec.matchConstraints.namespaceSelector", "{}" },
        { "spec.matchConstraints.objectSelector", "{}" },
        { "spec.matchConstraints.resourceRules[].scope", "\"*\"" },
        { "status", "{}" },
};
static const struct rule admission_binding_rules[] = {
        { "spec.matchResources.matchPolicy", "\"Equivalent\"" },
        { "spec.matchResources.namespaceSelector", "{}" },
        { "spec.matchResources.objectSelector", "{}" },
};
static const struct rule role_binding_rules[] = { { "roleRef.apiGroup", "\"rbac.authorization.k8s.io\"" } };
static const struct rule network_policy_rules[] = {
        { "spec.podSelector", "{}" },
        { "spec.ingress[].ports[].protocol", "\"TCP\"" },
        { "spec.egress[].ports[].protocol", "\"TCP\"" },
};
static const struct rule api_service_rules[] = { { "spec.service.port", "443" } };

/* ---- walking ---- */

static int set_json(json_t *parent, const char *key, const char *json)
{
        json_t *value;

        if (!json || json_object_get(parent, key))
                return 0;
        value = json_loads(json, JSON_DECODE_ANY, NULL);
        return json_object_set_new(parent, key, value) < 0 ? ERR_NO_MEMORY : 0;
}

static int apply_at(json_t *at, const char *path, const char *json, bool make);

static int apply_below(json_t *child, const char *rest, const char *json, bool make, bool each)
{
        json_t *item;
        size_t i;

        if (!each)
                return apply_at(child, rest, json, make);
        json_array_foreach(child, i, item)
                TRY(apply_at(item, rest, json, make));
        return 0;
}

static int apply_at(json_t *at, const char *path, const char *json, bool make)
{
        size_t n = strcspn(path, ".[");
        char key[64];
        bool each = path[n] == '[';
        json_t *child;

        if (!json_is_object(at))
                return 0;
        ASSERT(n < sizeof(key));
        memcpy(key, path, n);
        key[n] = '\0';
        if (path[n] == '\0')
                return set_json(at, key, json);
        child = json_object_get(at, key);
        if (!child && make && !each) {
                child = json_object();
                if (json_object_set_new(at, key, child) < 0)
                        return ERR_NO_MEMORY;
        }
        return apply_below(child, path + n + (each ? 3 : 1), json, make, each);
}

static int apply_rules(json_t *doc, const struct rule *rules, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                bool make = rules[i].path[0] == '+';

                TRY(apply_at(doc, rules[i].path + make, rules[i].json, make));
        }
        return 0;
}

/* ---- what a table cannot say ---- */

/* An image without a tag, or tagged latest, is pulled always. */
static int set_pull_policy(json_t *container)
{
        const char *image = doc_get_string(container, "image");
        const char *slash = image ? strrchr(image, '/') : NULL;
        const char *tag = image ? strchr(slash ? slash : image, ':') : NULL;
        bool digest = image && strchr(image, '@');
        bool latest = image && !digest && (!tag || text_equal(tag, ":latest"));

        return set_json(container, "imagePullPolicy", latest ? "\"Always\"" : "\"IfNotPresent\"");
}

static int set_container_defaults(json_t *container)
{
        static const char *const probes[] = { "livenessProbe", "readinessProbe", "startupProbe" };

        if (!json_is_object(container))
                return 0;
        TRY(apply_rules(container, container_rules, ARRAY_LEN(container_rules)));
        TRY(set_pull_policy(container));
        for (size_t i = 0; i < ARRAY_LEN(probes); i++)
                TRY(apply_rules(json_object_get(container, probes[i]), probe_rules, ARRAY_LEN(probe_rules)));
        return 0;
}

/* A volume that names no source is an emptyDir. */
static int set_volume_defaults(json_t *volume)
{
        return json_is_object(volume) && json_object_size(volume) == 1 && json_object_get(volume, "name")
                       ? set_json(volume, "emptyDir", "{}")
                       : 0;
}

static int set_pod_spec_defaults(json_t *spec)
{
        static const char *const lists[] = { "initContainers", "containers", "ephemeralContainers" };
        const char *account = doc_get_string(spec, "serviceAccountName");
        const char *deprecated = doc_get_string(spec, "serviceAccount");
        json_t *item;
        size_t i;

        if (!json_is_object(spec))
                return 0;
        TRY(apply_rules(spec, pod_spec_rules, ARRAY_LEN(pod_spec_rules)));
        for (size_t k = 0; k < ARRAY_LEN(lists); k++)
                json_array_foreach(doc_get_array(spec, lists[k]), i, item)
                        TRY(set_container_defaults(item));
        json_array_foreach(doc_get_array(spec, "volumes"), i, item)
                TRY(set_volume_defaults(item));
        if (account && doc_set_string(spec, "serviceAccount", account) < 0)
                return ERR_NO_MEMORY;
        if (!account && deprecated && doc_set_string(spec, "serviceAccountName", deprecated) < 0)
                return ERR_NO_MEMORY;
        return 0;
}

/* requests default to limits, in pods only (templates stay as written). */
static int set_requests_from_limits(json_t *containers)
{
        json_t *container, *value;
        const char *resource;
        size_t i;

        json_array_foreach(containers, i, container) {
                json_t *limits = doc_get_object(container, "resources.limits");

                json_object_foreach(limits, resource, value) {
                        json_t *requests = doc_get_object(container, "resources.requests");

                        if (!requests) {
                                requests = json_object();
                                if (doc_set(container, "resources.requests", requests) < 0)
                                        return ERR_NO_MEMORY;
                        }
                        if (!json_object_get(requests, resource) &&
                            json_object_set(requests, resource, value) < 0)
                                return ERR_NO_MEMORY;
                }
        }
        return 0;
}

static int pod_defaults(json_t *doc)
{
        TRY(set_pod_spec_defaults(doc_get(doc, "spec")));
        TRY(apply_at(doc, "spec.enableServiceLinks", "true", false));
        TRY(apply_at(doc, "status.phase", "\"Pending\"", true));
        TRY(set_requests_from_limits(doc_get_array(doc, "spec.initContainers")));
        return set_requests_from_limits(doc_get_array(doc, "spec.containers"));
}

static int deployment_defaults(json_t *doc)
{
        if (!text_equal(doc_get_string(doc, "spec.strategy.type"), "RollingUpdate"))
                return 0;
        TRY(apply_at(doc, "spec.strategy.rollingUpdate.maxUnavailable", "\"25%\"", true));
        return apply_at(doc, "spec.strategy.rollingUpdate.maxSurge", "\"25%\"", true);
}

static int stateful_set_defaults(json_t *doc)
{
        if (!text_equal(doc_get_string(doc, "spec.updateStrategy.type"), "RollingUpdate"))
                return 0;
        return apply_at(doc, "spec.updateStrategy.rollingUpdate.partition", "0", true);
}

/* Labels that are not given are the template's. */
static int take_template_labels(json_t *doc)
{
        const json_t *labels = doc_get_object(doc, "spec.template.metadata.labels");

        if (json_object_size(labels) == 0 || json_object_size(doc_get_object(doc, "metadata.labels")) > 0)
                return 0;
        return doc_set(doc, "metadata.labels", doc_copy(labels));
}

static int replication_controller_defaults(json_t *doc)
{
        const json_t *labels = doc_get_object(doc, "spec.template.metadata.labels");

        if (json_object_size(labels) > 0 && json_object_size(doc_get_object(doc, "spec.selector")) == 0)
                TRY(doc_set(doc, "spec.selector", doc_copy(labels)));
        return take_template_labels(doc);
}

/* A field of old versions, which today's keep as an annotation. */
static int set_template_generation(json_t *doc)
{
        static const char key[] = "deprecated.daemonset.template.generation";
        json_t *annotations = doc_get_object(doc, "metadata.annotations");

        if (!annotations && doc_set(doc, "metadata.annotations", annotations = json_object()) < 0)
                return ERR_NO_MEMORY;
        return set_json(annotations, key, "\"1\"");
}

static int daemon_set_defaults(json_t *doc)
{
        TRY(set_template_generation(doc));
        if (!text_equal(doc_get_string(doc, "spec.updateStrategy.type"), "RollingUpdate"))
                return 0;
        TRY(apply_at(doc, "spec.updateStrategy.rollingUpdate.maxUnavailable", "1", true));
        return apply_at(doc, "spec.updateStrategy.rollingUpdate.maxSurge", "0", true);
}

static int job_defaults(json_t *doc)
{
        json_t *spec = doc_get_object(doc, "spec");
        bool policy = doc_get(spec, "podFailurePolicy") != NULL;

        if (!spec)
                return 0;
        TRY(take_template_labels(doc));
        if (!doc_get(spec, "completions") && !doc_get(spec, "parallelism"))
                TRY(set_json(spec, "completions", "1"));
        TRY(set_json(spec, "parallelism", "1"));
        return set_json(spec, "podReplacementPolicy", policy ? "\"Failed\"" : "\"TerminatingOrFailed\"");
}

static int service_defaults(json_t *doc)
{
        const char *type = doc_get_string(doc, "spec.type");
        bool external_name = text_equal(type, "ExternalName");
        bool outside = text_equal(type, "NodePort") || text_equal(type, "LoadBalancer");
        json_t *port;
        size_t i;

        json_array_foreach(doc_get_array(doc, "spec.ports"), i, port) {
                json_t *number = json_object_get(port, "port");

                if (number && !json_object_get(port, "targetPort") &&
                    json_object_set(port, "targetPort", number) < 0)
                        return ERR_NO_MEMORY;
        }
        if (text_equal(doc_get_string(doc, "spec.sessionAffinity"), "ClientIP"))
                TRY(apply_at(doc, "spec.sessionAffinityConfig.clientIP.timeoutSeconds", "10800", true));
        if (!external_name)
                TRY(apply_at(doc, "spec.internalTrafficPolicy", "\"Cluster\"", false));
        if (outside)
                TRY(apply_at(doc, "spec.externalTrafficPolicy", "\"Cluster\"", false));
        if (text_equal(type, "LoadBalancer"))
                TRY(apply_at(doc, "spec.allocateLoadBalancerNodePorts", "true", false));
        return 0;
}

/* stringData is written to data and never stored. */
static int secret_defaults(json_t *doc)
{
        json_t *plain = doc_get_object(doc, "stringData"), *value;
        const char *key;

        json_object_foreach(plain, key, value) {
                struct slice text = { json_string_value(value), json_string_length(value) };

                if (!text.data)
                        continue;
                if (!doc_get_object(doc, "data"))
                        TRY(doc_set(doc, "data", json_object()));
                if (json_object_set_new(doc_get_object(doc, "data"), key, doc_base64(text)) < 0)
                        return ERR_NO_MEMORY;
        }
        json_object_del(doc, "stringData");
        return 0;
}

static int namespace_defaults(json_t *doc)
{
        const char *name = doc_get_string(doc, "metadata.name");
        const char *const label[] = { "metadata", "labels", "kubernetes.io/metadata.name" };
        json_t *labels = doc_get_object(doc, "metadata.labels");

        if (!name)
                return 0;
        if (!labels) {
                labels = json_object();
                if (doc_set(doc, "metadata.labels", labels) < 0)
                        return ERR_NO_MEMORY;
        }
        return !doc_get_keys(doc, label, 3) && json_object_set_new(labels, label[2], json_string(name)) < 0
                       ? ERR_NO_MEMORY
                       : 0;
}

static int network_policy_defaults(json_t *doc)
{
        bool egress = json_array_size(doc_get_array(doc, "spec.egress")) > 0;

        return apply_at(doc, "spec.policyTypes", egress ? "[\"Ingress\",\"Egress\"]" : "[\"Ingress\"]",
                        false);
}

static int role_binding_defaults(json_t *doc)
{
        json_t *subject;
        size_t i;

        json_array_foreach(doc_get_array(doc, "subjects"), i, subject) {
                const char *kind = doc_get_string(subject, "kind");

                if (text_equal(kind, "User") || text_equal(kind, "Group"))
                        TRY(set_json(subject, "apiGroup", "\"rbac.authorization.k8s.io\""));
        }
        return 0;
}

/* What v1 has no field for is made up when it is stored. */
static int autoscaler_defaults(json_t *doc)
{
        if (text_equal(doc_get_string(doc, "apiVersion"), "autoscaling/v1"))
                return 0;
        return apply_at(
                doc, "spec.metrics",
                "[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":\"Utilization\","
                "\"averageUtilization\":80}}}]",
                false);
}

/* Values of a map that the other does not have. */
static int fill_from(json_t *limit, const char *to, const char *from)
{
        json_t *there = doc_get_object(limit, to), *value;
        const char *key;

        json_object_foreach(doc_get_object(limit, from), key, value) {
                if (!there && json_object_set_new(limit, to, there = json_object()) < 0)
                        return ERR_NO_MEMORY;
                if (!json_object_get(there, key) && json_object_set(there, key, value) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

/* For containers the default is at most the maximum, the request by default the limit, at least the minimum.
 */
static int limit_range_defaults(json_t *doc)
{
        json_t *limit;
        size_t i;

        json_array_foreach(doc_get_array(doc, "spec.limits"), i, limit) {
                if (!text_equal(doc_get_string(limit, "type"), "Container"))
                        continue;
                TRY(fill_from(limit, "default", "max"));
                TRY(fill_from(limit, "defaultRequest", "default"));
                TRY(fill_from(limit, "defaultRequest", "min"));
        }
        return 0;
}

/* ---- the kinds ---- */

struct kind_defaults {
        const char *group, *kind;
        const char *pod_template; /* path of the pod spec, NULL if none */
        const struct rule *rules;
        size_t n_rules;
        int (*more)(json_t *doc);
};

#define RULES(r) .rules = (r), .n_rules = ARRAY_LEN(r)
#define TEMPLATE .pod_template = "spec.template.spec"

static const struct kind_defaults kinds[] = {
        { "", "Pod", .more = pod_defaults },
        { "", "PodTemplate", .pod_template = "template.spec" },
        { "", "Service", RULES(service_rules), .more = service_defaults },
        { "", "Secret", RULES(secret_rules), .more = secret_defaults },
        { "", "LimitRange", .more = limit_range_defaults },
        { "", "Namespace", RULES(namespace_rules), .more = namespace_defaults },
        { "", "Endpoints", RULES(endpoints_rules) },
        { "", "PersistentVolumeClaim", RULES(claim_rules) },
        { "", "PersistentVolume", RULES(volume_rules) },
        { "", "ReplicationController", RULES(replicas_rules), TEMPLATE,
          .more = replication_controller_defaults },
        { "apps", "Deployment", RULES(deployment_rules), TEMPLATE, .more = deployment_defaults },
        { "apps", "ReplicaSet", RULES(replicas_rules), TEMPLATE },
        { "apps", "StatefulSet", RULES(stateful_set_rules), TEMPLATE, .more = stateful_set_defaults },
        { "apps", "DaemonSet", RULES(daemon_set_rules), TEMPLATE, .more = daemon_set_defaults },
        { "batch", "Job", RULES(job_rules), TEMPLATE, .more = job_defaults },
        { "batch", "CronJob", RULES(cron_job_rules), .pod_template = "spec.jobTemplate.spec.template.spec" },
        { "autoscaling", "HorizontalPodAutoscaler", RULES(autoscaler_rules), .more = autoscaler_defaults },
        { "networking.k8s.io", "NetworkPolicy", RULES(network_policy_rules),
          .more = network_policy_defaults },
        { "discovery.k8s.io", "EndpointSlice", RULES(slice_rules) },
        { "storage.k8s.io", "StorageClass", RULES(storage_class_rules) },
        { "storage.k8s.io", "CSIDriver", RULES(csi_driver_rules) },
        { "scheduling.k8s.io", "PriorityClass", RULES(priority_class_rules) },
        { "rbac.authorization.k8s.io", "RoleBinding", RULES(role_binding_rules),
          .more = role_binding_defaults },
        { "rbac.authorization.k8s.io", "ClusterRoleBinding", RULES(role_binding_rules),
          .more = role_binding_defaults },
        { "admissionregistration.k8s.io", "ValidatingWebhookConfiguration", RULES(validating_webhook_rules) },
        { "admissionregistration.k8s.io", "MutatingWebhookConfiguration", RULES(mutating_webhook_rules) },
        { "admissionregistration.k8s.io", "ValidatingAdmissionPolicy", RULES(admission_policy_rules) },
        { "admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding",
          RULES(admission_binding_rules) },
        { "apiregistration.k8s.io", "APIService", RULES(api_service_rules) },
};

int builtin_set_defaults(const char *group, const char *kind, json_t *doc)
{
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
                const struct kind_defaults *k = &kinds[i];

                if (!text_equal(k->group, group) || !text_equal(k->kind, kind))
                        continue;
                TRY(apply_rules(doc, k->rules, k->n_rules));
                if (k->pod_template)
                        TRY(set_pod_spec_defaults(doc_get(doc, k->pod_template)));
                return k->more ? k->more(doc) : 0;
        }
        return 0;
}
