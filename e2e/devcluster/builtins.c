/* The built-in resources: a table of descriptors. Schemas are in builtin_schemas.c, special behaviour in
 * hooks. */
#include "e2e/devcluster/builtin_hooks.h"

#define NAMES(...)                                                                                           \
        (const char *const[])                                                                                \
        {                                                                                                    \
                __VA_ARGS__, NULL                                                                            \
        }
#define ALL NAMES("all")
#define EXTENSIONS NAMES("api-extensions")

static const struct resource_version only_v1[] = { { .version = "v1", .served = true, .storage = true } };
static const struct resource_version endpoints_v1[] = {
        { .version = "v1",
          .served = true,
          .storage = true,
          .deprecation_warning =
                  "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice" }
};
static const struct resource_version autoscaling_v2_v1[] = {
        { .version = "v2", .served = true, .storage = true }, { .version = "v1", .served = true }
};

#define NS RESOURCE_NAMESPACED
#define STATUS RESOURCE_STATUS
#define SCALE RESOURCE_SCALE
#define PLAIN RESOURCE_NO_GENERATION
#define VERSIONED RESOURCE_VERSION_NEEDED
#define UPSERT RESOURCE_CREATE_ON_UPDATE
#define RETURNED RESOURCE_RETURN_DELETED
#define V1 .versions = only_v1, .n_versions = 1

#define RESOURCE(g, p, s, k, f, ...)                                                                         \
        {                                                                                                    \
                .group = g, .plural = p, .singular = s, .kind = k, .list_kind = k "List",                    \
                .verbs = VERBS_ALL, .flags = (f), .table_key = g "/" p, V1, ##__VA_ARGS__                    \
        }
#define VIRTUAL(g, p, s, k, f, ...)                                                                          \
        {                                                                                                    \
                .group = g, .plural = p, .singular = s, .kind = k, .list_kind = k "List",                    \
                .verbs = VERB_CREATE, .flags = (f) | RESOURCE_VIRTUAL, .table_key = g "/" p, V1,             \
                ##__VA_ARGS__                                                                                \
        }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"

#define AUTHN "authentication.k8s.io"
#define AUTHZ "authorization.k8s.io"
#define RBAC "rbac.authorization.k8s.io"
#define NET "networking.k8s.io"
#define STORAGE "storage.k8s.io"
#define ADMISSION "admissionregistration.k8s.io"

const struct resource builtin_resources[] = {
        VIRTUAL("", "bindings", "binding", "Binding", NS, .hooks = &binding_hooks),
        RESOURCE("", "configmaps", "configmap", "ConfigMap", NS | PLAIN, .short_names = NAMES("cm"),
                 .hooks = &configmap_hooks),
        RESOURCE("", "endpoints", "endpoints", "Endpoints", NS | PLAIN | UPSERT, .short_names = NAMES("ep"),
                 .versions = endpoints_v1, .n_versions = 1, .hooks = &plain_hooks),
        RESOURCE("", "events", "event", "Event", NS | PLAIN | UPSERT, .short_names = NAMES("ev"),
                 .hooks = &event_hooks),
        RESOURCE("", "limitranges", "limitrange", "LimitRange", NS | PLAIN | UPSERT,
                 .short_names = NAMES("limits"), .hooks = &plain_hooks),
        RESOURCE("", "namespaces", "namespace", "Namespace", STATUS | PLAIN | RESOURCE_FINALIZE | RETURNED,
                 .verbs = VERBS_ALL & ~VERB_DELETECOLLECTION, .short_names = NAMES("ns"),
                 .hooks = &namespace_hooks),
        RESOURCE("", "nodes", "node", "Node", STATUS | PLAIN, .short_names = NAMES("no"),
                 .hooks = &node_hooks),
        RESOURCE("", "persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim",
                 NS | STATUS | PLAIN | RETURNED, .short_names = NAMES("pvc"), .hooks = &plain_hooks),
        RESOURCE("", "persistentvolumes", "persistentvolume", "PersistentVolume", STATUS | PLAIN | RETURNED,
                 .short_names = NAMES("pv"), .hooks = &plain_hooks),
        RESOURCE("", "pods", "pod", "Pod", NS | STATUS | RETURNED | RESOURCE_EVICTION,
                 .short_names = NAMES("po"), .categories = ALL, .hooks = &pod_hooks),
        RESOURCE("", "podtemplates", "podtemplate", "PodTemplate", NS | UPSERT | RETURNED,
                 .hooks = &plain_hooks),
        RESOURCE("", "replicationcontrollers", "replicationcontroller", "ReplicationController",
                 NS | STATUS | SCALE, .short_names = NAMES("rc"), .categories = ALL, .hooks = &plain_hooks),
        RESOURCE("", "resourcequotas", "resourcequota", "ResourceQuota",
                 NS | STATUS | PLAIN | UPSERT | RETURNED, .short_names = NAMES("quota"),
                 .hooks = &plain_hooks),
        RESOURCE("", "secrets", "secret", "Secret", NS | PLAIN, .hooks = &secret_hooks),
        RESOURCE("", "serviceaccounts", "serviceaccount", "ServiceAccount",
                 NS | PLAIN | RETURNED | RESOURCE_TOKEN, .short_names = NAMES("sa"),
                 .hooks = &service_account_hooks),
        RESOURCE("", "services", "service", "Service",
                 NS | STATUS | PLAIN | UPSERT | RETURNED | RESOURCE_PROXY, .short_names = NAMES("svc"),
                 .categories = ALL, .hooks = &service_hooks),

        RESOURCE("apiregistration.k8s.io", "apiservices", "apiservice", "APIService", STATUS | PLAIN,
                 .categories = EXTENSIONS, .hooks = &plain_hooks),
        RESOURCE("apps", "controllerrevisions", "controllerrevision", "ControllerRevision", NS | PLAIN,
                 .hooks = &plain_hooks),
        RESOURCE("apps", "daemonsets", "daemonset", "DaemonSet", NS | STATUS, .short_names = NAMES("ds"),
                 .categories = ALL, .hooks = &workload_hooks),
        RESOURCE("apps", "deployments", "deployment", "Deployment", NS | STATUS | SCALE,
                 .short_names = NAMES("deploy"), .categories = ALL, .hooks = &workload_hooks),
        RESOURCE("apps", "replicasets", "replicaset", "ReplicaSet", NS | STATUS | SCALE,
                 .short_names = NAMES("rs"), .categories = ALL, .hooks = &workload_hooks),
        RESOURCE("apps", "statefulsets", "statefulset", "StatefulSet", NS | STATUS | SCALE,
                 .short_names = NAMES("sts"), .categories = ALL, .hooks = &workload_hooks),
        RESOURCE("events.k8s.io", "events", "event", "Event", NS | PLAIN | UPSERT | RESOURCE_AS_CORE,
                 .short_names = NAMES("ev"), .hooks = &event_hooks),

        VIRTUAL(AUTHN, "selfsubjectreviews", "selfsubjectreview", "SelfSubjectReview", 0,
                .hooks = &self_subject_review_hooks),
        VIRTUAL(AUTHN, "tokenreviews", "tokenreview", "TokenReview", 0, .hooks = &token_review_hooks),
        VIRTUAL(AUTHZ, "localsubjectaccessreviews", "localsubjectaccessreview", "LocalSubjectAccessReview",
                NS, .hooks = &subject_access_review_hooks),
        VIRTUAL(AUTHZ, "selfsubjectaccessreviews", "selfsubjectaccessreview", "SelfSubjectAccessReview", 0,
                .hooks = &self_subject_access_review_hooks),
        VIRTUAL(AUTHZ, "selfsubjectrulesreviews", "selfsubjectrulesreview", "SelfSubjectRulesReview", 0,
                .hooks = &self_subject_rules_review_hooks),
        VIRTUAL(AUTHZ, "subjectaccessreviews", "subjectaccessreview", "SubjectAccessReview", 0,
                .hooks = &subject_access_review_hooks),

        RESOURCE("autoscaling", "horizontalpodautoscalers", "horizontalpodautoscaler",
                 "HorizontalPodAutoscaler", NS | STATUS | PLAIN, .short_names = NAMES("hpa"),
                 .categories = ALL, .versions = autoscaling_v2_v1, .n_versions = 2, .hooks = &plain_hooks),
        RESOURCE("batch", "cronjobs", "cronjob", "CronJob", NS | STATUS, .short_names = NAMES("cj"),
                 .categories = ALL, .hooks = &workload_hooks),
        RESOURCE("batch", "jobs", "job", "Job", NS | STATUS, .categories = ALL, .hooks = &job_hooks),
        RESOURCE("certificates.k8s.io", "certificatesigningrequests", "certificatesigningrequest",
                 "CertificateSigningRequest", STATUS | PLAIN | RESOURCE_APPROVAL, .short_names = NAMES("csr"),
                 .hooks = &csr_hooks),
        RESOURCE(NET, "ingressclasses", "ingressclass", "IngressClass", 0, .hooks = &plain_hooks),
        RESOURCE(NET, "ingresses", "ingress", "Ingress", NS | STATUS, .short_names = NAMES("ing"),
                 .hooks = &plain_hooks),
        RESOURCE(NET, "networkpolicies", "networkpolicy", "NetworkPolicy", NS, .short_names = NAMES("netpol"),
                 .hooks = &plain_hooks),
        RESOURCE("policy", "poddisruptionbudgets", "poddisruptionbudget", "PodDisruptionBudget",
                 NS | STATUS | VERSIONED, .short_names = NAMES("pdb"), .hooks = &plain_hooks),
        RESOURCE(RBAC, "clusterrolebindings", "clusterrolebinding", "ClusterRoleBinding",
                 PLAIN | UPSERT | RESOURCE_PATH_NAME, .hooks = &rbac_hooks),
        RESOURCE(RBAC, "clusterroles", "clusterrole", "ClusterRole", PLAIN | UPSERT | RESOURCE_PATH_NAME,
                 .hooks = &rbac_hooks),
        RESOURCE(RBAC, "rolebindings", "rolebinding", "RoleBinding", NS | PLAIN | UPSERT | RESOURCE_PATH_NAME,
                 .hooks = &rbac_hooks),
        RESOURCE(RBAC, "roles", "role", "Role", NS | PLAIN | UPSERT | RESOURCE_PATH_NAME,
                 .hooks = &rbac_hooks),
        RESOURCE(STORAGE, "csidrivers", "csidriver", "CSIDriver",
                 RETURNED | VERSIONED | RESOURCE_GENERATION_LATE, .hooks = &plain_hooks),
        RESOURCE(STORAGE, "csinodes", "csinode", "CSINode", PLAIN | RETURNED | VERSIONED,
                 .hooks = &plain_hooks),
        RESOURCE(STORAGE, "csistoragecapacities", "csistoragecapacity", "CSIStorageCapacity", NS | PLAIN,
                 .hooks = &plain_hooks),
        RESOURCE(STORAGE, "storageclasses", "storageclass", "StorageClass", PLAIN | RETURNED,
                 .short_names = NAMES("sc"), .hooks = &plain_hooks),
        RESOURCE(STORAGE, "volumeattachments", "volumeattachment", "VolumeAttachment",
                 STATUS | RESOURCE_STATUS_ONLY | PLAIN | RETURNED | VERSIONED, .hooks = &plain_hooks),
        RESOURCE(ADMISSION, "mutatingadmissionpolicies", "mutatingadmissionpolicy", "MutatingAdmissionPolicy",
                 0, .categories = EXTENSIONS, .hooks = &plain_hooks),
        RESOURCE(ADMISSION, "mutatingadmissionpolicybindings", "mutatingadmissionpolicybinding",
                 "MutatingAdmissionPolicyBinding", VERSIONED, .categories = EXTENSIONS,
                 .hooks = &plain_hooks),
        RESOURCE(ADMISSION, "mutatingwebhookconfigurations", "mutatingwebhookconfiguration",
                 "MutatingWebhookConfiguration", VERSIONED, .categories = EXTENSIONS,
                 .hooks = &webhook_configuration_hooks),
        RESOURCE(ADMISSION, "validatingadmissionpolicies", "validatingadmissionpolicy",
                 "ValidatingAdmissionPolicy", STATUS | RESOURCE_STATUS_ONLY | VERSIONED,
                 .categories = EXTENSIONS, .hooks = &policy_hooks),
        RESOURCE(ADMISSION, "validatingadmissionpolicybindings", "validatingadmissionpolicybinding",
                 "ValidatingAdmissionPolicyBinding", VERSIONED, .categories = EXTENSIONS,
                 .hooks = &policy_binding_hooks),
        RESOURCE(ADMISSION, "validatingwebhookconfigurations", "validatingwebhookconfiguration",
                 "ValidatingWebhookConfiguration", VERSIONED, .categories = EXTENSIONS,
                 .hooks = &webhook_configuration_hooks),
        RESOURCE("apiextensions.k8s.io", "customresourcedefinitions", "customresourcedefinition",
                 "CustomResourceDefinition", STATUS | RESOURCE_STATUS_ONLY,
                 .short_names = NAMES("crd", "crds"), .categories = EXTENSIONS, .hooks = &crd_hooks),
        RESOURCE("node.k8s.io", "runtimeclasses", "runtimeclass", "RuntimeClass", PLAIN | VERSIONED,
                 .hooks = &plain_hooks),
        RESOURCE(STORAGE, "volumeattributesclasses", "volumeattributesclass", "VolumeAttributesClass",
                 PLAIN | RETURNED, .short_names = NAMES("vac"), .hooks = &plain_hooks),
        RESOURCE("scheduling.k8s.io", "priorityclasses", "priorityclass", "PriorityClass",
                 RESOURCE_GENERATION_ONE, .short_names = NAMES("pc"), .hooks = &plain_hooks),
        RESOURCE("coordination.k8s.io", "leases", "lease", "Lease", NS | PLAIN | UPSERT | VERSIONED,
                 .hooks = &plain_hooks),
        RESOURCE("discovery.k8s.io", "endpointslices", "endpointslice", "EndpointSlice",
                 NS | RESOURCE_GENERATION_LABELS, .hooks = &plain_hooks),
};
const size_t n_builtin_resources = ARRAY_LEN(builtin_resources);

#pragma GCC diagnostic pop
