/* Which phase a producer puts a kind in: spec/cluster-object-set.md 5.1. */
#include "kubectl-fleet/pack.h"

enum phase {
        NAMESPACES,
        POLICIES,
        IDENTITY,
        CONFIGURATION,
        STORAGE,
        CRDS,
        ROLES,
        BINDINGS,
        INFRASTRUCTURE,
        DEPLOY,
        SCALING,
        PUBLISH,
        ADMISSION
};
#define RBAC "rbac.authorization.k8s.io"
#define MONITORING "monitoring.coreos.com"
#define CONSOLE "console.openshift.io"
#define REGISTRATION "admissionregistration.k8s.io"

/* 5.1, and some more of which it is known that they are namespaced. */
static const struct known {
        const char *group, *kind;
        enum phase phase;
        bool namespaced;
} known[] = {
        { "", "Namespace", NAMESPACES, false },
        { "networking.k8s.io", "NetworkPolicy", POLICIES, true },
        { "policy", "PodDisruptionBudget", POLICIES, true },
        { "scheduling.k8s.io", "PriorityClass", POLICIES, false },
        { "", "ServiceAccount", IDENTITY, true },
        { "", "Secret", CONFIGURATION, true },
        { "", "ConfigMap", CONFIGURATION, true },
        { "", "PersistentVolume", STORAGE, false },
        { "", "PersistentVolumeClaim", STORAGE, true },
        { "storage.k8s.io", "StorageClass", STORAGE, false },
        { "apiextensions.k8s.io", "CustomResourceDefinition", CRDS, false },
        { RBAC, "ClusterRole", ROLES, false },
        { RBAC, "Role", ROLES, true },
        { RBAC, "ClusterRoleBinding", BINDINGS, false },
        { RBAC, "RoleBinding", BINDINGS, true },
        { "", "Service", INFRASTRUCTURE, true },
        { "cert-manager.io", "Issuer", INFRASTRUCTURE, true },
        { "cert-manager.io", "Certificate", DEPLOY, true },
        { "apps", "Deployment", DEPLOY, true },
        { "apps", "StatefulSet", DEPLOY, true },
        { "apps", "DaemonSet", DEPLOY, true },
        { "batch", "Job", DEPLOY, true },
        { "batch", "CronJob", DEPLOY, true },
        { "autoscaling.k8s.io", "VerticalPodAutoscaler", SCALING, true },
        { MONITORING, "PrometheusRule", PUBLISH, true },
        { MONITORING, "ServiceMonitor", PUBLISH, true },
        { MONITORING, "PodMonitor", PUBLISH, true },
        { "networking.k8s.io", "Ingress", PUBLISH, true },
        { "route.openshift.io", "Route", PUBLISH, true },
        { CONSOLE, "ConsoleYAMLSample", PUBLISH, false },
        { CONSOLE, "ConsoleQuickStart", PUBLISH, false },
        { CONSOLE, "ConsoleCLIDownload", PUBLISH, false },
        { CONSOLE, "ConsoleLink", PUBLISH, false },
        { CONSOLE, "ConsolePlugin", PUBLISH, false },
        { REGISTRATION, "ValidatingWebhookConfiguration", ADMISSION, false },
        { REGISTRATION, "MutatingWebhookConfiguration", ADMISSION, false },
};

const char *const pack_phase_names[] = { "namespaces", "policies", "identity", "configuration",  "storage",
                                         "crds",       "roles",    "bindings", "infrastructure", "deploy",
                                         "scaling",    "publish",  "admission" };

struct pack_place pack_place_of(const char *group, const char *kind)
{
        for (size_t i = 0; i < ARRAY_LEN(known); i++)
                if (text_equal(known[i].group, group) && text_equal(known[i].kind, kind))
                        return (struct pack_place){ known[i].phase, known[i].namespaced };
        return (struct pack_place){ DEPLOY, false };
}
