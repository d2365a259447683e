#include "common/kube/merge_keys.h"

/* Building blocks. Properties are sorted by name. */
#define ANY                                                                                                  \
        {                                                                                                    \
                .type = SCHEMA_ANY, .preserve_unknown = true                                                 \
        }
#define OBJECT(props)                                                                                        \
        {                                                                                                    \
                .type = SCHEMA_OBJECT, .properties = (props), .n_properties = ARRAY_LEN(props),              \
                .preserve_unknown = true                                                                     \
        }
#define LIST_BY(key, item)                                                                                   \
        {                                                                                                    \
                .type = SCHEMA_ARRAY, .items = (item), .patch_merge = true, .patch_merge_key = (key)         \
        }
#define LIST_BY_RETAIN(key, item)                                                                            \
        {                                                                                                    \
                .type = SCHEMA_ARRAY, .items = (item), .patch_merge = true, .patch_merge_key = (key),        \
                .patch_retain_keys = true                                                                    \
        }

static const struct schema any = ANY;
static const struct schema text = { .type = SCHEMA_STRING };
static const struct schema any_object = { .type = SCHEMA_OBJECT, .preserve_unknown = true };

/* ---- metadata ---- */
static const struct schema finalizers = { .type = SCHEMA_ARRAY, .items = &text, .patch_merge = true };
static const struct schema owner_references = LIST_BY("uid", &any_object);
static const struct schema_property metadata_properties[] = { { "finalizers", &finalizers },
                                                              { "ownerReferences", &owner_references } };
static const struct schema metadata = OBJECT(metadata_properties);

/* ---- pods ---- */
static const struct schema env = LIST_BY("name", &any_object);
static const struct schema container_ports = LIST_BY("containerPort", &any_object);
static const struct schema volume_devices = LIST_BY("devicePath", &any_object);
static const struct schema volume_mounts = LIST_BY("mountPath", &any_object);
static const struct schema_property container_properties[] = { { "env", &env },
                                                               { "ports", &container_ports },
                                                               { "volumeDevices", &volume_devices },
                                                               { "volumeMounts", &volume_mounts } };
static const struct schema container = OBJECT(container_properties);
static const struct schema containers = LIST_BY("name", &container);
static const struct schema host_aliases = LIST_BY("ip", &any_object);
static const struct schema by_name = LIST_BY("name", &any_object);
static const struct schema by_name_retain = LIST_BY_RETAIN("name", &any_object);
static const struct schema spread = LIST_BY("topologyKey", &any_object);
static const struct schema_property pod_spec_properties[] = {
        { "containers", &containers },     { "ephemeralContainers", &containers },
        { "hostAliases", &host_aliases },  { "imagePullSecrets", &by_name },
        { "initContainers", &containers }, { "resourceClaims", &by_name_retain },
        { "schedulingGates", &by_name },   { "topologySpreadConstraints", &spread },
        { "volumes", &by_name_retain },
};
static const struct schema pod_spec = OBJECT(pod_spec_properties);
static const struct schema_property pod_properties[] = { { "metadata", &metadata }, { "spec", &pod_spec } };
static const struct schema pod = OBJECT(pod_properties); /* also the shape of a pod template */

/* ---- workloads ---- */
static const struct schema update_strategy = { .type = SCHEMA_OBJECT,
                                               .preserve_unknown = true,
                                               .patch_retain_keys = true };
static const struct schema_property deployment_spec_properties[] = { { "strategy", &update_strategy },
                                                                     { "template", &pod } };
static const struct schema deployment_spec = OBJECT(deployment_spec_properties);
static const struct schema_property deployment_properties[] = { { "metadata", &metadata },
                                                                { "spec", &deployment_spec } };
static const struct schema deployment = OBJECT(deployment_properties);

static const struct schema_property workload_spec_properties[] = { { "template", &pod } };
static const struct schema workload_spec = OBJECT(workload_spec_properties);
static const struct schema_property workload_properties[] = { { "metadata", &metadata },
                                                              { "spec", &workload_spec } };
static const struct schema workload = OBJECT(workload_properties);

static const struct schema_property cron_job_spec_properties[] = { { "jobTemplate", &workload } };
static const struct schema cron_job_spec = OBJECT(cron_job_spec_properties);
static const struct schema_property cron_job_properties[] = { { "metadata", &metadata },
                                                              { "spec", &cron_job_spec } };
static const struct schema cron_job = OBJECT(cron_job_properties);

/* ---- others with keyed lists ---- */
static const struct schema service_ports = LIST_BY("port", &any_object);
static const struct schema_property service_spec_properties[] = { { "ports", &service_ports } };
static const struct schema service_spec = OBJECT(service_spec_properties);
static const struct schema_property service_properties[] = { { "metadata", &metadata },
                                                             { "spec", &service_spec } };
static const struct schema service = OBJECT(service_properties);

static const struct schema_property service_account_properties[] = { { "metadata", &metadata },
                                                                     { "secrets", &by_name } };
static const struct schema service_account = OBJECT(service_account_properties);

static const struct schema_property webhook_fields[] = { { "matchConditions", &by_name } };
static const struct schema webhook = OBJECT(webhook_fields);
static const struct schema webhooks_by_name = LIST_BY("name", &webhook);
static const struct schema_property webhook_properties[] = { { "metadata", &metadata },
                                                             { "webhooks", &webhooks_by_name } };
static const struct schema webhooks = OBJECT(webhook_properties);

static const struct schema selector = { .type = SCHEMA_OBJECT,
                                        .preserve_unknown = true,
                                        .patch_replace = true };
static const struct schema_property budget_spec_properties[] = { { "selector", &selector } };
static const struct schema budget_spec = OBJECT(budget_spec_properties);
static const struct schema_property budget_properties[] = { { "metadata", &metadata },
                                                            { "spec", &budget_spec } };
static const struct schema budget = OBJECT(budget_properties);

static const struct schema_property plain_properties[] = { { "metadata", &metadata }, { "spec", &any } };
static const struct schema plain = OBJECT(plain_properties);

static const struct {
        const char *group, *kind;
        const struct schema *schema;
} known_kinds[] = {
        { "", "Pod", &pod },
        { "", "PodTemplate", &workload },
        { "", "ReplicationController", &workload },
        { "", "Service", &service },
        { "", "ServiceAccount", &service_account },
        { "apps", "Deployment", &deployment },
        { "apps", "ReplicaSet", &workload },
        { "apps", "StatefulSet", &workload },
        { "apps", "DaemonSet", &workload },
        { "batch", "Job", &workload },
        { "batch", "CronJob", &cron_job },
        { "policy", "PodDisruptionBudget", &budget },
        { "admissionregistration.k8s.io", "ValidatingWebhookConfiguration", &webhooks },
        { "admissionregistration.k8s.io", "MutatingWebhookConfiguration", &webhooks },
};
static const char *const known_groups[] = { "",
                                            "admissionregistration.k8s.io",
                                            "apps",
                                            "authentication.k8s.io",
                                            "authorization.k8s.io",
                                            "autoscaling",
                                            "batch",
                                            "certificates.k8s.io",
                                            "coordination.k8s.io",
                                            "discovery.k8s.io",
                                            "events.k8s.io",
                                            "extensions",
                                            "flowcontrol.apiserver.k8s.io",
                                            "internal.apiserver.k8s.io",
                                            "networking.k8s.io",
                                            "node.k8s.io",
                                            "policy",
                                            "rbac.authorization.k8s.io",
                                            "resource.k8s.io",
                                            "scheduling.k8s.io",
                                            "storage.k8s.io",
                                            "storagemigration.k8s.io" };

const struct schema *merge_keys_of(const char *group, const char *kind)
{
        if (!text_in(group, known_groups, ARRAY_LEN(known_groups)))
                return NULL;
        for (size_t i = 0; i < ARRAY_LEN(known_kinds); i++)
                if (text_equal(group, known_kinds[i].group) && text_equal(kind, known_kinds[i].kind))
                        return known_kinds[i].schema;
        return &plain;
}
