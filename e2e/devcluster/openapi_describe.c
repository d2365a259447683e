/* Short descriptions of the common built-in types, in our own words: kubectl explain prints them. Everything
 * else goes without one. */
#include "e2e/devcluster/openapi.h"

struct description {
        const char *name, *text; /* both tables sorted by name */
};

static const struct description types[] = {
        { "io.k8s.api.apps.v1.DaemonSet", "Runs one copy of a pod on every node, or on every chosen node." },
        { "io.k8s.api.apps.v1.Deployment", "Keeps a number of equal pods running and rolls changes of their "
                                           "template out step by step." },
        { "io.k8s.api.apps.v1.DeploymentSpec", "How many pods a deployment wants, from which template, and "
                                               "how it replaces them." },
        { "io.k8s.api.apps.v1.DeploymentStatus", "What a deployment has reached, as last observed." },
        { "io.k8s.api.apps.v1.ReplicaSet", "Keeps a number of equal pods running." },
        { "io.k8s.api.apps.v1.StatefulSet", "Keeps pods with stable names and storage of their own." },
        { "io.k8s.api.apps.v1.StatefulSetSpec", "Which pods a stateful set wants and how it replaces them." },
        { "io.k8s.api.autoscaling.v1.Scale", "How many replicas something has and should have." },
        { "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler", "Changes the number of a workload's replicas "
                                                               "by what it measures." },
        { "io.k8s.api.batch.v1.CronJob", "Starts a job at the times of a schedule." },
        { "io.k8s.api.batch.v1.Job", "Runs pods until enough of them have ended well." },
        { "io.k8s.api.coordination.v1.Lease", "Says who holds something and when that was last renewed." },
        { "io.k8s.api.core.v1.ConfigMap", "Configuration as named texts or bytes, for pods to read." },
        { "io.k8s.api.core.v1.Container", "One container of a pod." },
        { "io.k8s.api.core.v1.Endpoints", "The addresses behind a service." },
        { "io.k8s.api.core.v1.Event", "Something that happened to an object." },
        { "io.k8s.api.core.v1.LimitRange", "Bounds and defaults of what one object of a namespace may use." },
        { "io.k8s.api.core.v1.Namespace", "A scope for names: objects of different namespaces may be called "
                                          "the same." },
        { "io.k8s.api.core.v1.Node", "A machine that runs pods." },
        { "io.k8s.api.core.v1.PersistentVolume", "A piece of storage that the cluster has." },
        { "io.k8s.api.core.v1.PersistentVolumeClaim", "A wish for storage, bound to a volume when met." },
        { "io.k8s.api.core.v1.Pod", "Containers that run together on one node." },
        { "io.k8s.api.core.v1.PodSpec", "Which containers a pod runs, where, and with what around them." },
        { "io.k8s.api.core.v1.PodTemplateSpec", "What pods made from this template look like." },
        { "io.k8s.api.core.v1.ResourceQuota", "Bounds of what a namespace may use altogether." },
        { "io.k8s.api.core.v1.ResourceRequirements", "What a container needs and the most it may use." },
        { "io.k8s.api.core.v1.Secret", "Confidential bytes, for pods to read." },
        { "io.k8s.api.core.v1.Service", "One name and address for a changing set of pods." },
        { "io.k8s.api.core.v1.ServiceAccount", "An identity for what runs in pods." },
        { "io.k8s.api.core.v1.ServiceSpec", "Which pods a service stands for, and at which ports." },
        { "io.k8s.api.networking.v1.Ingress", "Rules that lead HTTP requests from outside to services." },
        { "io.k8s.api.networking.v1.NetworkPolicy", "Which traffic chosen pods may have." },
        { "io.k8s.api.policy.v1.PodDisruptionBudget", "How many pods of a set may be evicted at a time." },
        { "io.k8s.api.rbac.v1.ClusterRole", "Permissions, in every namespace or in none." },
        { "io.k8s.api.rbac.v1.ClusterRoleBinding", "Gives a cluster role to users in all namespaces." },
        { "io.k8s.api.rbac.v1.Role", "Permissions inside one namespace." },
        { "io.k8s.api.rbac.v1.RoleBinding", "Gives a role to users inside one namespace." },
        { "io.k8s.api.scheduling.v1.PriorityClass", "A named priority for pods." },
        { "io.k8s.api.storage.v1.StorageClass", "A kind of storage that claims can ask for." },
        { "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
          "Makes the server serve a new type." },
        { "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta", "What every list says about itself." },
        { "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "What every object has, whatever its type." },
        { "io.k8s.apimachinery.pkg.apis.meta.v1.Status", "The answer to a call that returns no object." },
};

static const struct description metadata_fields[] = {
        { "annotations", "Further texts by name, for tools; not for selecting." },
        { "creationTimestamp", "When the server made the object. Read-only." },
        { "deletionGracePeriodSeconds", "Seconds the object has to end, once deleted. Read-only." },
        { "deletionTimestamp", "When the object will be gone; set by a delete. Read-only." },
        { "finalizers", "Who must still act before a deleted object can go." },
        { "generateName", "Beginning of a name that the server completes." },
        { "generation", "Counts the changes of what is wanted. Read-only." },
        { "labels", "Short texts by name, for selecting." },
        { "managedFields", "Who set which field. Kept by the server." },
        { "name", "Unique among the objects of its type in its namespace. It cannot be changed." },
        { "namespace", "Scope of the name; empty for what belongs to the whole cluster." },
        { "ownerReferences", "Objects this one belongs to: it is removed when all of them are gone." },
        { "resourceVersion", "The object's state as an opaque text; changes with every write." },
        { "selfLink", "No longer filled in." },
        { "uid", "Unlike the name never used again. Read-only." },
};

/* Of whatever type. */
static const struct description common_fields[] = {
        { "apiVersion", "Group and version of the API this object is written in." },
        { "kind", "Name of the object's type." },
        { "metadata", "What every object has: name, labels, annotations and so on." },
        { "spec", "What is wanted." },
        { "status", "What was last observed. Written by the cluster." },
};

static int compare(const void *name, const void *at)
{
        return strcmp(name, ((const struct description *)at)->name);
}

static const char *find(const char *name, const struct description *table, size_t n)
{
        const struct description *d = bsearch(name, table, n, sizeof(*table), compare);
        return d ? d->text : NULL;
}

const char *openapi_describe_type(const char *definition)
{
        return find(definition, types, ARRAY_LEN(types));
}

const char *openapi_describe_field(const char *definition, const char *field)
{
        if (text_equal(definition, OPENAPI_OBJECT_META))
                return find(field, metadata_fields, ARRAY_LEN(metadata_fields));
        bool described = definition && openapi_describe_type(definition);
        return described ? find(field, common_fields, ARRAY_LEN(common_fields)) : NULL;
}
