/* Users' doings with clusters: labels, taints, coming and going, and workloads that fail there. */
#include "e2e/simulation/moves_internal.h"

static const struct kube_resource member_clusters = { "cluster.kubernetes-fleet.io", "v1beta1",
                                                      "memberclusters", "MemberCluster", false };

static const char *const tiers[] = { "none", "gold", "silver" };

/* ---- labels and taints ---- */

/* A member of the fleet, from a random one on; false if there is none of that membership. */
static bool find_member(struct player *p, struct dice *d, bool in, unsigned *ret)
{
        unsigned n = p->fleet->n_members, first = (unsigned)dice_below(d, n);

        for (unsigned i = 0; i < n; i++) {
                *ret = 1 + (first + i) % n;
                if ((p->wish->members[*ret].membership == MEMBER_IN) == in)
                        return true;
        }
        return false;
}

static int patch_member(struct player *p, unsigned member, json_t *patch, struct error *err)
{
        AUTO_JSON json_t *owned = patch;
        char name[FLEET_AGENT_NAME];
        struct kube_client *hub;

        if (!owned)
                return error_no_memory(err);
        TRY(move_client(p, 0, &hub, err));
        return kube_doc_patch(hub, &member_clusters, NULL, move_cluster_name(member, name), KUBE_PATCH_MERGE,
                              owned, NULL, NULL, err);
}

static int set_state(struct player *p, unsigned member, json_t *patch, const struct wish_member_state *wanted,
                     struct error *err)
{
        int code = patch_member(p, member, patch, err);

        if (code < 0)
                return move_refused(p, code, err);
        if (wish_member_set(p->wish, member, wanted, move_now(p)) < 0)
                return error_no_memory(err);
        return move_done(p, "member-%u: tier=%s zone=%u%s", member, tiers[wanted->tier], wanted->zone,
                         wanted->tainted ? " tainted" : "");
}

int move_relabel(struct player *p, struct dice *d, struct error *err)
{
        struct wish_member_state wanted;
        unsigned member;

        if (!find_member(p, d, true, &member))
                return 0;
        wanted = p->wish->members[member].now;
        if (dice_percent(d, 65))
                wanted.tier = (enum wish_tier)((wanted.tier + 1 + dice_below(d, 2)) % 3);
        else
                wanted.zone = (wanted.zone + 1 + (unsigned)dice_below(d, 3)) % 4;
        return set_state(p, member, json_pack("{s:{s:o}}", "metadata", "labels", wish_member_labels(&wanted)),
                         &wanted, err);
}

int move_taint(struct player *p, struct dice *d, struct error *err)
{
        struct wish_member_state wanted;
        json_t *taints;
        unsigned member;

        if (!find_member(p, d, true, &member))
                return 0;
        wanted = p->wish->members[member].now;
        wanted.tainted = !wanted.tainted;
        taints = wanted.tainted ? json_pack("[{s:s, s:s, s:s}]", "key", "play", "value", "on", "effect",
                                            "NoSchedule")
                                : json_null();
        return set_state(p, member, json_pack("{s:{s:o}}", "spec", "taints", taints), &wanted, err);
}

/* ---- coming and going ---- */

static unsigned count_in(const struct player *p)
{
        unsigned n = 0;

        for (unsigned i = 1; i <= p->fleet->n_members; i++)
                n += p->wish->members[i].membership == MEMBER_IN;
        return n;
}

int move_leave(struct player *p, struct dice *d, struct error *err)
{
        struct wish_member_state out = { 0 };
        char name[FLEET_AGENT_NAME];
        struct kube_client *hub;
        unsigned member;
        int code;

        if (count_in(p) < 2 || !find_member(p, d, true, &member))
                return 0; /* one stays */
        TRY(move_client(p, 0, &hub, err));
        code = kube_doc_delete(hub, &member_clusters, NULL, move_cluster_name(member, name), NULL, NULL, err);
        if (code < 0)
                return move_refused(p, code, err);
        p->wish->members[member].membership = MEMBER_LEAVING;
        p->wish->members[member].rank = 0;
        if (wish_member_set(p->wish, member, &out, move_now(p)) < 0)
                return error_no_memory(err);
        return move_done(p, "%s", name);
}

/* Its agent, if it is alive, finds its way back by itself. */
int move_join(struct player *p, struct dice *d, struct error *err)
{
        struct wish_member_state in = { .in = true };
        char name[FLEET_AGENT_NAME];
        unsigned member;
        int code;

        if (!find_member(p, d, false, &member) ||
            !move_is_gone(p, &member_clusters, NULL, move_cluster_name(member, name)))
                return 0;
        p->wish->members[member].membership = MEMBER_OUT;
        code = fleet_make_member(p->fleet, name, err);
        if (code < 0)
                return move_refused(p, code, err);
        p->wish->members[member].membership = MEMBER_IN;
        if (wish_member_set(p->wish, member, &in, move_now(p)) < 0)
                return error_no_memory(err);
        return move_done(p, "%s", name);
}

/* ---- workloads ---- */

static int set_ready(struct player *p, unsigned member, unsigned app, bool ready, struct error *err)
{
        char name[FLEET_AGENT_NAME];
        uint32_t bit = UINT32_C(1) << app;

        TRY(p->fleet->ops->set_ready(p->fleet, move_cluster_name(member, name), "Deployment",
                                     wish_app_name(app), "web", ready, err));
        p->wish->members[member].unready =
                ready ? p->wish->members[member].unready & ~bit : p->wish->members[member].unready | bit;
        return move_done(p, "%s/web on %s", wish_app_name(app), name);
}

static bool has_web(const struct wish_app *a)
{
        return a->objects[SLOT_WEB].exists;
}

int move_unready(struct player *p, struct dice *d, struct error *err)
{
        unsigned app, member = move_member(p, d);

        if (!move_find_app(p, d, has_web, &app) || (p->wish->members[member].unready >> app & 1))
                return 0;
        return set_ready(p, member, app, false, err);
}

int move_ready(struct player *p, struct dice *d, struct error *err)
{
        unsigned n = p->fleet->n_members, first = (unsigned)dice_below(d, n);

        for (unsigned i = 0; i < n; i++) {
                unsigned member = 1 + (first + i) % n;

                for (unsigned app = 0; app < WISH_APPS; app++)
                        if (p->wish->members[member].unready >> app & 1)
                                return set_ready(p, member, app, true, err);
        }
        return 0;
}
