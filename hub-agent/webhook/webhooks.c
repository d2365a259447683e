/* The webhooks there are: spec/membership-webhooks-charts.md 4.3, 5.8. */
#include "hub-agent/webhook/rules.h"

enum {
        CREATE = ADMISSION_CREATE,
        CREATE_UPDATE = ADMISSION_CREATE | ADMISSION_UPDATE,
        CREATE_UPDATE_DELETE = ADMISSION_CREATE | ADMISSION_UPDATE | ADMISSION_DELETE
};

/* ---- which flags bring them ---- */

static bool without_workload(const struct admission_flags *f)
{
        return !f->workload;
}

static bool without_pdbs(const struct admission_flags *f)
{
        return !f->pdbs;
}

static bool with_resource_placements(const struct admission_flags *f)
{
        return f->resource_placements;
}

/* ---- what they are about ---- */

static const struct webhook_rule
        placements[] = { { CREATE_UPDATE, GROUP_PLACEMENT, "v1beta1", "clusterresourceplacements",
                           "Cluster" } },
        own_placements[] = { { CREATE_UPDATE, GROUP_PLACEMENT, "v1beta1", "resourceplacements",
                               "Namespaced" } },
        pods[] = { { CREATE, "", "v1", "pods", "Namespaced" } },
        replica_sets[] = { { CREATE, "apps", "v1", "replicasets", "Namespaced" } },
        pod_budgets[] = { { CREATE, "policy", "v1", "poddisruptionbudgets", "Namespaced" } },
        members[] = { { CREATE_UPDATE_DELETE, GROUP_CLUSTER, "v1beta1", "memberclusters", "Cluster" } },
        cluster_overrides[] = { { CREATE_UPDATE, GROUP_PLACEMENT, "v1beta1", "clusterresourceoverrides",
                                  "Cluster" } },
        own_overrides[] = { { CREATE_UPDATE, GROUP_PLACEMENT, "v1beta1", "resourceoverrides",
                              "Namespaced" } },
        evictions[] = { { CREATE, GROUP_PLACEMENT, "v1beta1", "clusterresourceplacementevictions",
                          "Cluster" } },
        budgets[] = { { CREATE_UPDATE, GROUP_PLACEMENT, "v1beta1",
                        "clusterresourceplacementdisruptionbudgets", "Cluster" } },
        guarded_definitions[] = { { CREATE_UPDATE_DELETE, "apiextensions.k8s.io", "v1",
                                    "customresourcedefinitions", "Cluster" } },
        guarded_members[] = { { CREATE_UPDATE_DELETE, GROUP_CLUSTER, "v1beta1",
                                "memberclusters memberclusters/status", "Cluster" } },
        guarded_namespaces[] = { { CREATE_UPDATE_DELETE, "", "v1", "namespaces", "Cluster" } };

/* Leases are left out, as nobody could lead any more if the guard had no leader; so are events. */
static const struct webhook_rule guarded_content[] = {
        { ADMISSION_DELETE, "*", "*", "*/*", "Namespaced" },
        { CREATE_UPDATE, "", "v1",
          "bindings configmaps endpoints limitranges persistentvolumeclaims persistentvolumeclaims/status "
          "podtemplates pods pods/status replicationcontrollers replicationcontrollers/status resourcequotas "
          "resourcequotas/status secrets serviceaccounts serviceaccounts/token services services/status",
          "Namespaced" },
        { CREATE_UPDATE, "apps", "v1",
          "controllerrevisions daemonsets daemonsets/status replicasets replicasets/status deployments "
          "deployments/status statefulsets statefulsets/status",
          "Namespaced" },
        { CREATE_UPDATE, "authorization.k8s.io", "v1",
          "localsubjectaccessreviews localsubjectaccessreviews/status", "Namespaced" },
        { CREATE_UPDATE, "autoscaling", "v1", "horizontalpodautoscalers horizontalpodautoscalers/status",
          "Namespaced" },
        { CREATE_UPDATE, "batch", "v1", "cronjobs cronjobs/status jobs jobs/status", "Namespaced" },
        { CREATE_UPDATE, "discovery.k8s.io", "v1", "endpointslices", "Namespaced" },
        { CREATE_UPDATE, "networking.k8s.io", "v1",
          "ingresses ingresses/status networkpolicies networkpolicies/status", "Namespaced" },
        { CREATE_UPDATE, "policy", "v1", "poddisruptionbudgets poddisruptionbudgets/status", "Namespaced" },
        { CREATE_UPDATE, "rbac.authorization.k8s.io", "v1", "roles rolebindings", "Namespaced" },
        { CREATE_UPDATE, "storage.k8s.io", "v1", "csistoragecapacities", "Namespaced" },
        { CREATE_UPDATE, GROUP_CLUSTER, "v1beta1", "internalmemberclusters internalmemberclusters/status",
          "Namespaced" },
        { CREATE_UPDATE, GROUP_PLACEMENT, "v1beta1", "works works/status", "Namespaced" },
        { CREATE_UPDATE, GROUP_NETWORKING, "v1alpha1",
          "endpointsliceexports endpointsliceimports internalserviceexports internalserviceexports/status "
          "internalserviceimports internalserviceimports/status",
          "Namespaced" },
};

/* ---- the table ---- */

#define RULES(r) .rules = (r), .n_rules = ARRAY_LEN(r)
#define PATH_OF(verb, what) "/" verb "-placement.kubernetes-fleet.io-v1beta1-" what
#define VALIDATING .configuration = WEBHOOKS_VALIDATING, .timeout_seconds = 5
/* Where pods may be in any case nobody is asked: else no pod of the agent itself, and none that the cluster
 * needs for it, could be made while none runs. */
#define NAMESPACE_NAME "kubernetes.io/metadata.name" /* the label that the API server gives each */
#define NAMESPACES_OF_KUBERNETES "kube-system kube-public kube-node-lease"
#define BUT_WHERE_THE_AGENT_RUNS                                                                             \
        .namespace_label = NAMESPACE_NAME,                                                                   \
        .namespace_values = NAMESPACE_FLEET_SYSTEM " " NAMESPACES_OF_KUBERNETES, .elsewhere = true
#define GUARD_RAIL                                                                                           \
        .path = "/validate-fleetresourcehandler", .configuration = WEBHOOKS_GUARD_RAIL,                      \
        .timeout_seconds = 1, .ignore_failures = true, .answer = guard_rail_validate

const struct webhook webhooks[] = {
        { .name = "fleet.clusterresourceplacementv1beta1.mutating",
          .path = PATH_OF("mutate", "clusterresourceplacement"),
          .configuration = WEBHOOKS_MUTATING,
          RULES(placements),
          .ignore_failures = true,
          .timeout_seconds = 5,
          .answer = placement_mutate },
        { .name = "fleet.pod.validating",
          .path = "/validate--v1-pod",
          VALIDATING,
          RULES(pods),
          BUT_WHERE_THE_AGENT_RUNS,
          .registered = without_workload,
          .answer = pod_validate },
        { .name = "fleet.clusterresourceplacementv1beta1.validating",
          .path = PATH_OF("validate", "clusterresourceplacement"),
          VALIDATING,
          RULES(placements),
          .answer = cluster_placement_validate },
        { .name = "fleet.resourceplacementv1beta1.validating",
          .path = PATH_OF("validate", "resourceplacement"),
          VALIDATING,
          RULES(own_placements),
          .registered = with_resource_placements,
          .answer = own_placement_validate },
        { .name = "fleet.replicaset.validating",
          .path = "/validate-apps-v1-replicaset",
          VALIDATING,
          RULES(replica_sets),
          BUT_WHERE_THE_AGENT_RUNS,
          .registered = without_workload,
          .answer = replica_set_validate },
        { .name = "fleet.poddisruptionbudget.validating",
          .path = "/validate-policy-v1-poddisruptionbudget",
          VALIDATING,
          RULES(pod_budgets),
          BUT_WHERE_THE_AGENT_RUNS,
          .registered = without_pdbs,
          .answer = pod_budget_validate },
        { .name = "fleet.membercluster.validating",
          .path = "/validate-cluster.kubernetes-fleet.io-v1beta1-membercluster",
          VALIDATING,
          RULES(members),
          .answer = member_validate },
        { .name = "fleet.clusterresourceoverride.validating",
          .path = PATH_OF("validate", "clusterresourceoverride"),
          VALIDATING,
          RULES(cluster_overrides),
          .answer = cluster_override_validate },
        { .name = "fleet.resourceoverride.validating",
          .path = PATH_OF("validate", "resourceoverride"),
          VALIDATING,
          RULES(own_overrides),
          .answer = own_override_validate },
        { .name = "fleet.clusterresourceplacementeviction.validating",
          .path = PATH_OF("validate", "clusterresourceplacementeviction"),
          VALIDATING,
          RULES(evictions),
          .answer = eviction_validate },
        { .name = "fleet.clusterresourceplacementdisruptionbudget.validating",
          .path = PATH_OF("validate", "clusterresourceplacementdisruptionbudget"),
          VALIDATING,
          RULES(budgets),
          .answer = budget_validate },
        { .name = "fleet.customresourcedefinition.guardrail.validating",
          GUARD_RAIL,
          RULES(guarded_definitions) },
        { .name = "fleet.membercluster.guardrail.validating", GUARD_RAIL, RULES(guarded_members) },
        { .name = "fleet.fleetmembernamespacedresources.guardrail.validating",
          GUARD_RAIL,
          RULES(guarded_content),
          .namespace_label = LABEL_IS_FLEET_RESOURCE,
          .namespace_values = "true" },
        { .name = "fleet.fleetsystemnamespacedresources.guardrail.validating",
          GUARD_RAIL,
          RULES(guarded_content),
          .namespace_label = NAMESPACE_NAME,
          .namespace_values = NAMESPACE_FLEET_SYSTEM },
        { .name = "fleet.kubenamespacedresources.guardrail.validating",
          GUARD_RAIL,
          RULES(guarded_content),
          .namespace_label = NAMESPACE_NAME,
          .namespace_values = NAMESPACES_OF_KUBERNETES },
        { .name = "fleet.namespace.guardrail.validating", GUARD_RAIL, RULES(guarded_namespaces) },
};
const size_t n_webhooks = ARRAY_LEN(webhooks);
