/* Users take placements off clusters, and say how far that may go. */
#include "e2e/simulation/moves_internal.h"
#include "proto/names.h"

#define AT_ONCE 3

static const struct kube_resource bindings = { "placement.kubernetes-fleet.io", "v1beta1",
                                               "clusterresourcebindings", "ClusterResourceBinding", false };

static bool is_there(const struct wish_app *a, enum wish_place place)
{
        return a->placements[place].exists;
}

static bool is_not_there(const struct wish_app *a, enum wish_place place)
{
        return !a->placements[place].exists;
}

static bool is_there_with_a_budget(const struct wish_app *a, enum wish_place place)
{
        return a->placements[place].exists && a->budgets[place].exists &&
               a->placements[place].policy.type != POLICY_PICK_FIXED;
}

/* From a random one on, the first cluster-wide placement that `fits`. */
static bool find_place(struct player *p, struct dice *d,
                       bool (*fits)(const struct wish_app *a, enum wish_place place), unsigned *ret_app,
                       enum wish_place *ret_place)
{
        unsigned n = WISH_APPS * WISH_EVICTABLE, first = (unsigned)dice_below(d, n);

        for (unsigned i = 0; i < n; i++) {
                unsigned at = (first + i) % n;

                *ret_app = at / WISH_EVICTABLE;
                *ret_place = at % WISH_EVICTABLE;
                if (fits(&p->wish->apps[*ret_app], *ret_place))
                        return true;
        }
        return false;
}

static bool find_to_evict(struct player *p, struct dice *d, struct wish_eviction *e)
{
        bool limited = dice_percent(d, 80);

        return (limited && find_place(p, d, is_there_with_a_budget, &e->app, &e->place)) ||
               find_place(p, d, is_there, &e->app, &e->place);
}

/* ---- setting a budget ---- */

/* What a user would ask for a PickAll is mostly what it can have. */
static struct wish_budget draw_budget(struct player *p, struct dice *d, const struct wish_placement *of)
{
        static const unsigned char percents[] = { 0, 25, 34, 50, 75, 100 };
        struct wish_budget b = { .exists = true };
        bool measurable = of->policy.type == POLICY_PICK_N || dice_percent(d, 20);

        b.max = measurable && dice_percent(d, 50);
        b.percent = measurable && dice_percent(d, 50);
        b.value = b.percent ? percents[dice_below(d, ARRAY_LEN(percents))]
                            : (unsigned)dice_below(d, p->fleet->n_members + 1);
        return b;
}

static int put_budget(struct player *p, struct dice *d, unsigned app, enum wish_place place,
                      struct error *err)
{
        struct wish_budget *now = &p->wish->apps[app].budgets[place], old = *now;
        char name[64];
        int code;

        *now = draw_budget(p, d, &p->wish->apps[app].placements[place]);
        now->changed_ms = move_now(p);
        code = move_apply(p, &wish_budget_resource, NULL, wish_budget_doc(p->wish, app, place), err);
        if (code < 0) {
                *now = old;
                return move_refused(p, code, err);
        }
        wish_placement_name(app, place, name);
        return move_done(p, "%s: %s %u%s", name, now->max ? "maxUnavailable" : "minAvailable", now->value,
                         now->percent ? "%" : "");
}

/* ---- evictions ---- */

static bool find_eviction(struct player *p, struct dice *d, bool exists, unsigned *ret)
{
        unsigned first = (unsigned)dice_below(d, WISH_EVICTIONS);

        for (unsigned i = 0; i < WISH_EVICTIONS; i++) {
                *ret = (first + i) % WISH_EVICTIONS;
                if (p->wish->evictions[*ret].exists == exists)
                        return true;
        }
        return false;
}

static int make_eviction(struct player *p, struct dice *d, const struct wish_eviction *wanted,
                         struct error *err)
{
        const struct wish_placement *placement = &p->wish->apps[wanted->app].placements[wanted->place];
        struct wish_eviction *now;
        struct kube_client *hub;
        unsigned eviction;
        char name[64];
        int code;

        if (!find_eviction(p, d, false, &eviction))
                return 0;
        TRY(move_client(p, 0, &hub, err));
        now = &p->wish->evictions[eviction];
        *now = *wanted;
        now->made_ms = move_now(p);
        now->of_nothing = !placement->exists && !placement->leaving;
        AUTO_JSON json_t *doc = wish_eviction_doc(p->wish, eviction);
        code = doc ? kube_doc_create(hub, &wish_eviction_resource, NULL, doc, NULL, NULL, err)
                   : error_no_memory(err);
        if (code < 0)
                return move_refused(p, code, err);
        now->exists = true;
        wish_eviction_name(eviction, name);
        return move_done(p, "%s of %s from %s", name, doc_get_string(doc, "spec.placementName"),
                         doc_get_string(doc, "spec.clusterName"));
}

/* A cluster that has the placement, if any has; *ret_n: how many bindings there are. */
static int find_cluster(struct player *p, struct dice *d, struct wish_eviction *e, struct error *err)
{
        AUTO_JSON json_t *items = NULL;
        const json_t *binding;
        struct kube_client *hub;
        char name[64], selector[192];
        const char *cluster;
        int code;

        wish_placement_name(e->app, e->place, name);
        snprintf(selector, sizeof(selector), "%s=%s", LABEL_PARENT_PLACEMENT, name);
        TRY(move_client(p, 0, &hub, err));
        code = kube_doc_list(hub, &bindings, NULL, selector, &items, err);
        if (code < 0)
                return move_refused(p, code, err);
        e->member = move_member(p, d);
        if (json_array_size(items) == 0)
                return 1;
        binding = json_array_get(items, dice_below(d, json_array_size(items)));
        cluster = doc_get_string(binding, "spec.targetCluster");
        if (cluster && text_starts_with(cluster, "member-"))
                e->member = (unsigned)strtoul(cluster + strlen("member-"), NULL, 10);
        return 1;
}

static int evict_one(struct player *p, struct dice *d, struct wish_eviction *e, struct error *err)
{
        if (dice_percent(d, 90))
                NEED(find_cluster(p, d, e, err));
        else
                e->member = move_member(p, d);
        return make_eviction(p, d, e, err);
}

int move_evict(struct player *p, struct dice *d, struct error *err)
{
        struct wish_eviction e = { 0 };

        if (!find_to_evict(p, d, &e))
                return 0;
        return evict_one(p, d, &e, err);
}

/* Mostly within a budget; then it may be made in the same moment. */
int move_evict_many(struct player *p, struct dice *d, struct error *err)
{
        struct wish_eviction e = { 0 };
        int n = 0;

        if (!find_to_evict(p, d, &e))
                return 0;
        if (!p->wish->apps[e.app].budgets[e.place].exists && dice_percent(d, 80))
                TRY(put_budget(p, d, e.app, e.place, err));
        for (int i = 0; i < AT_ONCE; i++) {
                int made = evict_one(p, d, &e, err);

                TRY(made);
                n += made;
        }
        return n > 0;
}

int move_evict_nothing(struct player *p, struct dice *d, struct error *err)
{
        struct wish_eviction e = { 0 };

        if (!find_place(p, d, is_not_there, &e.app, &e.place))
                return 0;
        e.member = move_member(p, d);
        return make_eviction(p, d, &e, err);
}

int move_eviction_delete(struct player *p, struct dice *d, struct error *err)
{
        struct kube_client *hub;
        unsigned eviction;
        char name[64];
        int code;

        if (!find_eviction(p, d, true, &eviction))
                return 0;
        wish_eviction_name(eviction, name);
        TRY(move_client(p, 0, &hub, err));
        code = kube_doc_delete(hub, &wish_eviction_resource, NULL, name, NULL, NULL, err);
        if (code == ERR_NOT_FOUND)
                return error_set(err, ERR_INTERNAL, "eviction %s is gone, nobody deleted it", name);
        if (code < 0)
                return move_refused(p, code, err);
        p->wish->evictions[eviction].exists = false;
        return move_done(p, "%s", name);
}

/* ---- budgets ---- */

/* Of a placement that is to come now and then. */
int move_budget(struct player *p, struct dice *d, struct error *err)
{
        enum wish_place place;
        unsigned app;

        if (!find_place(p, d, dice_percent(d, 90) ? is_there : is_not_there, &app, &place))
                return 0;
        return put_budget(p, d, app, place, err);
}

int move_budget_delete(struct player *p, struct dice *d, struct error *err)
{
        unsigned n = WISH_APPS * WISH_EVICTABLE, first = (unsigned)dice_below(d, n), at = first;
        struct wish_budget *b;
        struct kube_client *hub;
        char name[64];
        int code;

        do {
                b = &p->wish->apps[at / WISH_EVICTABLE].budgets[at % WISH_EVICTABLE];
                if (b->exists)
                        break;
                at = (at + 1) % n;
        } while (at != first);
        if (!b->exists)
                return 0;
        wish_placement_name(at / WISH_EVICTABLE, at % WISH_EVICTABLE, name);
        TRY(move_client(p, 0, &hub, err));
        code = kube_doc_delete(hub, &wish_budget_resource, NULL, name, NULL, NULL, err);
        if (code == ERR_NOT_FOUND)
                return error_set(err, ERR_INTERNAL, "the budget of %s is gone, nobody deleted it", name);
        if (code < 0)
                return move_refused(p, code, err);
        b->exists = false;
        b->changed_ms = move_now(p);
        return move_done(p, "%s", name);
}
