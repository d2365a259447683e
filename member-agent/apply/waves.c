#include "member-agent/apply/waves.h"

#include "common/base/text.h"

/* The names of a wave count only in these groups; group and name are looked at independently. */
static const char *const known_groups[] = { "",
                                            "networking.k8s.io",
                                            "scheduling.k8s.io",
                                            "policy",
                                            "storage.k8s.io",
                                            "apiextensions.k8s.io",
                                            "rbac.authorization.k8s.io",
                                            "apps",
                                            "autoscaling",
                                            "apiregistration.k8s.io",
                                            "admissionregistration.k8s.io",
                                            "batch" };

static const struct {
        int wave;
        const char *plural;
} known_resources[] = {
        { 0, "namespaces" },
        { 0, "priorityclasses" },
        { 1, "networkpolicies" },
        { 1, "resourcequotas" },
        { 1, "limitranges" },
        { 1, "podsecuritypolicies" },
        { 1, "poddisruptionbudgets" },
        { 1, "serviceaccounts" },
        { 1, "secrets" },
        { 1, "configmaps" },
        { 1, "storageclasses" },
        { 1, "persistentvolumes" },
        { 1, "persistentvolumeclaims" },
        { 1, "customresourcedefinitions" },
        { 1, "ingressclasses" },
        { 2, "clusterroles" },
        { 2, "roles" },
        { 3, "clusterrolebindings" },
        { 3, "rolebindings" },
        { 4, "services" },
        { 4, "daemonsets" },
        { 4, "pods" },
        { 4, "replicationcontrollers" },
        { 4, "replicasets" },
        { 4, "deployments" },
        { 4, "horizontalpodautoscalers" },
        { 4, "statefulsets" },
        { 4, "jobs" },
        { 4, "cronjobs" },
        { 4, "ingresses" },
        { 5, "apiservices" },
        { 5, "validatingwebhookconfigurations" },
        { 5, "mutatingwebhookconfigurations" },
};

int wave_of(const char *group, const char *plural)
{
        if (!text_in(group, known_groups, ARRAY_LEN(known_groups)))
                return WAVE_LAST;
        for (size_t i = 0; i < ARRAY_LEN(known_resources); i++)
                if (text_equal(plural, known_resources[i].plural))
                        return known_resources[i].wave;
        return WAVE_LAST;
}
