/* Evictions and disruption budgets as objects. */
#include "e2e/simulation/wish.h"

#define GROUP "placement.kubernetes-fleet.io"
#define VERSION "v1beta1"

const struct kube_resource wish_budget_resource = { GROUP, VERSION,
                                                    "clusterresourceplacementdisruptionbudgets",
                                                    "ClusterResourcePlacementDisruptionBudget", false };
const struct kube_resource wish_eviction_resource = { GROUP, VERSION, "clusterresourceplacementevictions",
                                                      "ClusterResourcePlacementEviction", false };

void wish_eviction_name(unsigned eviction, char ret[64])
{
        snprintf(ret, 64, "evict-%u", eviction);
}

json_t *wish_budget_doc(const struct wish *w, unsigned app, enum wish_place place)
{
        const struct wish_budget *b = &w->apps[app].budgets[place];
        const char *field = b->max ? "maxUnavailable" : "minAvailable";
        char name[64], percent[16];

        wish_placement_name(app, place, name);
        snprintf(percent, sizeof(percent), "%u%%", b->value);
        return json_pack("{s:s, s:s, s:{s:s}, s:{s:o}}", "apiVersion", GROUP "/" VERSION, "kind",
                         wish_budget_resource.kind, "metadata", "name", name, "spec", field,
                         b->percent ? json_string(percent) : json_integer(b->value));
}

json_t *wish_eviction_doc(const struct wish *w, unsigned eviction)
{
        const struct wish_eviction *e = &w->evictions[eviction];
        char name[64], placement[64], cluster[32];

        wish_eviction_name(eviction, name);
        wish_placement_name(e->app, e->place, placement);
        snprintf(cluster, sizeof(cluster), "member-%u", e->member);
        return json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:s}}", "apiVersion", GROUP "/" VERSION, "kind",
                         wish_eviction_resource.kind, "metadata", "name", name, "spec", "placementName",
                         placement, "clusterName", cluster);
}
