/* Wishes that the hub's webhooks refuse, in fleets that have them, or the policies of the guard rail: nothing
 * is let in, whoever answers or does not. */
#include "e2e/simulation/moves_internal.h"
#include "proto/names.h"

#define ADMISSION "admissionregistration.k8s.io"
#define PLACEMENT "placement.kubernetes-fleet.io"

static const struct kube_resource configurations = { ADMISSION, "v1", "validatingwebhookconfigurations",
                                                     "ValidatingWebhookConfiguration", false };
static const struct kube_resource placements = { PLACEMENT, "v1beta1", "clusterresourceplacements",
                                                 "ClusterResourcePlacement", false };
static const struct kube_resource members = { "cluster.kubernetes-fleet.io", "v1beta1", "memberclusters",
                                              "MemberCluster", false };
static const struct kube_resource pods = { "", "v1", "pods", "Pod", true };

/* What one selects must not live in a namespace. */
static json_t *bad_placement(void)
{
        return json_pack("{s:s, s:s, s:{s:s}, s:{s:[{s:s, s:s, s:s, s:s}]}}", "apiVersion",
                         PLACEMENT "/v1beta1", "kind", placements.kind, "metadata", "name", "bad", "spec",
                         "resourceSelectors", "group", "apps", "version", "v1", "kind", "Deployment", "name",
                         "web");
}

static json_t *pod(void)
{
        return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:[{s:s, s:s}]}}", "apiVersion", "v1", "kind", "Pod",
                         "metadata", "name", "bad", "namespace", "default", "spec", "containers", "name",
                         "main", "image", "registry.example/app:1");
}

static json_t *twice_the_same_taint(void)
{
        return json_pack("{s:{s:[{s:s,s:s,s:s},{s:s,s:s,s:s}]}}", "spec", "taints", "key", "bad", "value",
                         "a", "effect", "NoSchedule", "key", "bad", "value", "a", "effect", "NoSchedule");
}

/* Nobody makes a member the fleet's own that was not made as one. */
static json_t *mark_of_fleet(void)
{
        return json_pack("{s:{s:{s:s}}}", "metadata", "annotations", ANNOTATION_FLEET_MANAGED_PREFIX "/id",
                         "bad");
}

static json_t *bad_selectors(void)
{
        return json_pack("{s:{s:[{s:s, s:s, s:s, s:s}]}}", "spec", "resourceSelectors", "group", "",
                         "version", "v1", "kind", "Node", "name", "bad");
}

static int patch_one(struct player *p, const struct kube_resource *r, const char *name, json_t *patch,
                     struct error *err)
{
        AUTO_JSON json_t *owned = patch;
        struct kube_write how = { .field_manager = "player" };
        struct kube_client *hub;

        if (!owned)
                return error_no_memory(err);
        TRY(move_client(p, 0, &hub, err));
        return kube_doc_patch(hub, r, NULL, name, KUBE_PATCH_MERGE, owned, &how, NULL, err);
}

static int patch_placement(struct player *p, struct dice *d, struct error *err)
{
        enum wish_place place;
        char name[64];
        unsigned app;

        if (!move_find_placement(p, d, &app, &place) || wish_placement_resource(place)->namespaced)
                return ERR_NOT_FOUND;
        wish_placement_name(app, place, name);
        return patch_one(p, &placements, name, bad_selectors(), err);
}

static int mark_member(struct player *p, struct dice *d, const char **ret_what, struct error *err)
{
        char member[FLEET_AGENT_NAME];

        *ret_what = "the fleet's mark on a member";
        return patch_one(p, &members, move_cluster_name(move_member(p, d), member), mark_of_fleet(), err);
}

/* What policies refuse where no webhooks are. */
enum { ALSO_BY_POLICIES_FROM = 1, ALSO_BY_POLICIES = 2, BY_WEBHOOKS = 4 };

static int play_one_of(struct player *p, struct dice *d, uint32_t which, const char **ret_what,
                       struct error *err)
{
        char member[FLEET_AGENT_NAME];

        switch (which) {
        case 0:
                *ret_what = "a placement of what lives in namespaces";
                return move_apply(p, &placements, NULL, bad_placement(), err);
        case 1:
                *ret_what = "a pod on the hub";
                return move_apply(p, &pods, "default", pod(), err);
        case 2:
                *ret_what = "a taint twice";
                return patch_one(p, &members, move_cluster_name(move_member(p, d), member),
                                 twice_the_same_taint(), err);
        default:
                *ret_what = "a placement that is to select nodes";
                return patch_placement(p, d, err);
        }
}

/* Before the leader has told the API servers of its webhooks nobody judges. */
static bool are_judged(struct player *p)
{
        AUTO_JSON json_t *doc = NULL;
        struct kube_client *hub;
        struct error err = { 0 };

        return move_client(p, 0, &hub, &err) == 0 &&
               kube_doc_get(hub, &configurations, NULL, "fleet-validating-webhook-configuration", &doc,
                            &err) == 0;
}

static int play_bad_wish(struct player *p, struct dice *d, bool webhooks, const char **ret_what,
                         struct error *err)
{
        bool guard = p->fleet->guard_policies, rules = p->fleet->rule_policies;

        if (guard && ((!webhooks && !rules) || dice_below(d, 5) == 0))
                return mark_member(p, d, ret_what, err);
        if (webhooks)
                return play_one_of(p, d, dice_below(d, BY_WEBHOOKS), ret_what, err);
        return play_one_of(p, d, ALSO_BY_POLICIES_FROM + dice_below(d, ALSO_BY_POLICIES), ret_what, err);
}

int moves_bad_wish(struct player *p, uint64_t dice, struct error *err)
{
        struct dice d = { dice };
        const char *what = "";
        bool webhooks = p->fleet->webhooks && are_judged(p);
        int code;

        if (!webhooks && !p->fleet->guard_policies && !p->fleet->rule_policies)
                return 0;
        p->playing = "bad-wish";
        code = play_bad_wish(p, &d, webhooks, &what, err);
        if (code < 0)
                return move_refused(p, code, err);
        return error_set(err, ERR_INTERNAL, "the hub let %s in", what);
}
