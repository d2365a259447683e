/* Users who meddle: with placed objects on members, and with the agents' own on the hub. */
#include "e2e/simulation/moves_internal.h"
#include "proto/names.h"

#define MEDDLED 900000 /* colors from here on were never asked for on the hub */

static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", false };

/* ---- placed objects ---- */

struct target {
        unsigned member, app, slot;
        const struct kube_resource *resource;
        const char *ns;
        char name[64];
        struct kube_client *client;
};

static int look_for(struct player *p, struct target *t, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        int code;

        t->resource = wish_placed_resource(t->app, t->slot);
        t->ns = t->resource->namespaced ? wish_app_name(t->app) : NULL;
        wish_placed_name(t->app, t->slot, t->name);
        TRY(move_client(p, t->member, &t->client, err));
        code = kube_doc_get(t->client, t->resource, t->ns, t->name, &doc, err);
        if (code == 0)
                return 1;
        if (code == ERR_NOT_FOUND)
                error_clear(err);
        return code == ERR_NOT_FOUND ? 0 : move_refused(p, code, err);
}

/* A slot that some placement of some application selects, on some member: from random ones on the first that
 * is there; 0 if there is none. */
static int find_placed(struct player *p, struct dice *d, struct target *t, struct error *err)
{
        unsigned slot = (unsigned)dice_below(d, WISH_SLOTS),
                 member = (unsigned)dice_below(d, p->fleet->n_members);
        enum wish_place place;
        uint32_t slots;

        if (!move_find_placement(p, d, &t->app, &place) || !(slots = wish_selected(p->wish, t->app, place)))
                return 0;
        for (; !(slots >> slot & 1);)
                slot = (slot + 1) % WISH_SLOTS;
        t->slot = slot;
        for (unsigned i = 0; i < p->fleet->n_members; i++) {
                int found;

                t->member = 1 + (member + i) % p->fleet->n_members;
                found = look_for(p, t, err);
                if (found != 0)
                        return found;
        }
        return 0;
}

static int meddled(struct player *p, const struct target *t, const char *how)
{
        p->wish->members[t->member].meddled_ms[t->app][t->slot] = move_now(p);
        return move_done(p, "%s %s of %s on member-%u%s", t->resource->kind, t->name, wish_app_name(t->app),
                         t->member, how);
}

static int patch_placed(struct player *p, const struct target *t, json_t *patch, const char *how,
                        struct error *err)
{
        AUTO_JSON json_t *owned = patch;
        int code;

        if (!owned)
                return error_no_memory(err);
        code = kube_doc_patch(t->client, t->resource, t->ns, t->name, KUBE_PATCH_MERGE, owned, NULL, NULL,
                              err);
        return code < 0 ? move_refused(p, code, err) : meddled(p, t, how);
}

/* The object as it would be with another color. */
static json_t *with_color(struct player *p, const struct target *t, unsigned color)
{
        struct wish_object *o = &p->wish->apps[t->app].objects[t->slot], old = *o;
        json_t *doc;

        o->color = color;
        doc = wish_placed(p->wish, t->app, t->slot);
        *o = old;
        return doc;
}

static json_t *only_color(struct player *p, const struct target *t, unsigned color)
{
        json_t *doc = with_color(p, t, color);

        doc_remove(doc, "metadata.labels");
        doc_remove(doc, "data.fill");
        return doc;
}

int move_edit_placed(struct player *p, struct dice *d, struct error *err)
{
        unsigned color = MEDDLED + (unsigned)dice_below(d, 1000);
        struct target t = { 0 };
        char how[32];

        NEED(find_placed(p, d, &t, err));
        if (!wish_slots[t.slot].can_change)
                return 0;
        snprintf(how, sizeof(how), "=%u", color);
        return patch_placed(p, &t, only_color(p, &t, color), how, err);
}

/* A field that the hub does not speak of. */
int move_extend_placed(struct player *p, struct dice *d, struct error *err)
{
        struct target t = { 0 };
        char value[16];

        snprintf(value, sizeof(value), "%u", (unsigned)dice_below(d, 1000));
        NEED(find_placed(p, d, &t, err));
        return patch_placed(p, &t,
                            json_pack("{s:{s:{s:s}}}", "metadata", "annotations", "play.test/extra", value),
                            " has an annotation more", err);
}

/* What a user takes away is no foreign object of hers any more. */
static void forget_foreign(struct player *p, const struct target *t)
{
        struct wish_foreign *f = &p->wish->members[t->member].foreign[t->app];

        if (t->slot == SLOT_SETTINGS)
                f->settings = false;
        if (t->slot == SLOT_ROLE)
                f->role = false;
}

int move_delete_placed(struct player *p, struct dice *d, struct error *err)
{
        struct target t = { 0 };
        int code;

        NEED(find_placed(p, d, &t, err));
        code = kube_doc_delete(t.client, t.resource, t.ns, t.name, NULL, "Background", err);
        if (code < 0)
                return move_refused(p, code, err);
        forget_foreign(p, &t);
        return meddled(p, &t, " deleted");
}

static bool is_placed_with_namespace(const struct wish_app *a)
{
        return a->placements[PLACE_MAIN].exists && a->placements[PLACE_MAIN].selection <= SELECT_LABELLED;
}

int move_delete_placed_namespace(struct player *p, struct dice *d, struct error *err)
{
        struct target t = { .member = move_member(p, d) };
        int code;

        if (!move_find_app(p, d, is_placed_with_namespace, &t.app))
                return 0;
        TRY(move_client(p, t.member, &t.client, err));
        code = kube_doc_delete(t.client, &namespaces, NULL, wish_app_name(t.app), NULL, NULL, err);
        if (code < 0)
                return move_refused(p, code, err);
        for (t.slot = 0; t.slot < SLOT_NAMESPACED; t.slot++)
                p->wish->members[t.member].meddled_ms[t.app][t.slot] = move_now(p);
        p->wish->members[t.member].foreign[t.app].settings = false;
        p->wish->members[t.member].foreign[t.app].home = false;
        return move_done(p, "%s on member-%u", wish_app_name(t.app), t.member);
}

/* ---- foreign objects ---- */

static int create(const struct target *t, json_t *doc, struct error *err)
{
        AUTO_JSON json_t *owned = doc;

        return owned ? kube_doc_create(t->client, t->resource, t->ns, owned, NULL, NULL, err)
                     : error_no_memory(err);
}

/* Her own namespace, if there is none. */
static int make_home(const struct target *t, bool *ret_made, struct error *err)
{
        AUTO_JSON json_t *doc = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace",
                                          "metadata", "name", wish_app_name(t->app));
        int code = doc ? kube_doc_create(t->client, &namespaces, NULL, doc, NULL, NULL, err)
                       : error_no_memory(err);

        *ret_made = code == 0;
        return code == ERR_EXISTS ? 0 : code;
}

/* A user makes an object of her own where a placement might want to put one; refused if there is one. */
static int make_foreign(struct player *p, struct dice *d, unsigned slot, struct error *err)
{
        struct target t = { .member = move_member(p, d),
                            .app = (unsigned)dice_below(d, WISH_APPS),
                            .slot = slot };
        struct wish_foreign *f = &p->wish->members[t.member].foreign[t.app];
        const struct wish_object *o = &p->wish->apps[t.app].objects[slot];
        bool equal = dice_percent(d, 40) && o->exists, made_home = false;
        unsigned color = equal ? o->color : MEDDLED + (unsigned)dice_below(d, 1000);
        int code = 0;

        t.resource = wish_placed_resource(t.app, slot);
        t.ns = t.resource->namespaced ? wish_app_name(t.app) : NULL;
        TRY(move_client(p, t.member, &t.client, err));
        if (t.ns)
                code = make_home(&t, &made_home, err);
        f->home = f->home || made_home;
        if (code == 0)
                code = create(&t, equal ? with_color(p, &t, color) : only_color(p, &t, color), err);
        if (code < 0)
                return move_refused(p, code, err);
        *(slot == SLOT_ROLE ? &f->role : &f->settings) = true;
        f->equal = equal;
        f->since_ms = move_now(p);
        return move_done(p, "%s of %s on member-%u=%u%s%s", t.resource->kind, wish_app_name(t.app), t.member,
                         color, equal ? " as on the hub" : "", made_home ? ", with its namespace" : "");
}

int move_foreign_settings(struct player *p, struct dice *d, struct error *err)
{
        return make_foreign(p, d, SLOT_SETTINGS, err);
}

int move_foreign_role(struct player *p, struct dice *d, struct error *err)
{
        return make_foreign(p, d, SLOT_ROLE, err);
}

/* ---- what the agents keep on the hub ---- */

#define API "placement.kubernetes-fleet.io", "v1beta1"

static const struct kube_resource works = { API, "works", "Work", true };
static const struct kube_resource bindings = { API, "clusterresourcebindings", "ClusterResourceBinding",
                                               false };
static const struct kube_resource part_bindings = { API, "resourcebindings", "ResourceBinding", true };
static const struct kube_resource snapshots = { API, "clusterresourcesnapshots", "ClusterResourceSnapshot",
                                                false };
static const struct kube_resource part_snapshots = { API, "resourcesnapshots", "ResourceSnapshot", true };
static const struct kube_resource policies = { API, "clusterschedulingpolicysnapshots",
                                               "ClusterSchedulingPolicySnapshot", false };
static const struct kube_resource part_policies = { API, "schedulingpolicysnapshots",
                                                    "SchedulingPolicySnapshot", true };

/* Deletes one of those a placement owns, of the newest ones only if `latest`. */
static int delete_owned(struct player *p, struct dice *d, unsigned app, enum wish_place place,
                        const struct kube_resource *r, const char *ns, bool latest, struct error *err)
{
        AUTO_JSON json_t *items = NULL;
        struct kube_client *hub;
        const char *name;
        char parent[64], selector[192];
        int code;

        wish_placement_name(app, place, parent);
        snprintf(selector, sizeof(selector), "%s=%s%s", LABEL_PARENT_PLACEMENT, parent,
                 latest ? "," LABEL_IS_LATEST_SNAPSHOT "=" LABEL_TRUE : "");
        if (r == &works && place == PLACE_PART) /* all applications' are called the same */
                snprintf(selector, sizeof(selector), "%s=%s,%s=%s", LABEL_PARENT_PLACEMENT, parent,
                         LABEL_PARENT_PLACEMENT_NAMESPACE, wish_app_name(app));
        TRY(move_client(p, 0, &hub, err));
        code = kube_doc_list(hub, r, ns, selector, &items, err);
        if (code < 0)
                return move_refused(p, code, err);
        if (json_array_size(items) == 0)
                return 0;
        name = doc_get_string(json_array_get(items, dice_below(d, json_array_size(items))), "metadata.name");
        code = kube_doc_delete(hub, r, ns, name, NULL, NULL, err);
        if (code < 0)
                return move_refused(p, code, err);
        p->wish->apps[app].by_hand_ms[place] = move_now(p);
        return move_done(p, "%s %s%s%s", r->kind, ns ? ns : "", ns ? "/" : "", name);
}

int move_delete_work(struct player *p, struct dice *d, struct error *err)
{
        enum wish_place place;
        unsigned app;
        char ns[96], member[FLEET_AGENT_NAME];

        if (!move_find_placement(p, d, &app, &place))
                return 0;
        snprintf(ns, sizeof(ns), NAME_MEMBER_NAMESPACE, move_cluster_name(move_member(p, d), member));
        return delete_owned(p, d, app, place, &works, ns, false, err);
}

static int delete_of_placement(struct player *p, struct dice *d, const struct kube_resource *of_cluster,
                               const struct kube_resource *of_namespace, bool latest, struct error *err)
{
        enum wish_place place;
        unsigned app;

        if (!move_find_placement(p, d, &app, &place))
                return 0;
        return delete_owned(p, d, app, place, place == PLACE_PART ? of_namespace : of_cluster,
                            move_placement_home(app, place), latest, err);
}

int move_delete_binding(struct player *p, struct dice *d, struct error *err)
{
        return delete_of_placement(p, d, &bindings, &part_bindings, false, err);
}

int move_delete_snapshot(struct player *p, struct dice *d, struct error *err)
{
        return delete_of_placement(p, d, &snapshots, &part_snapshots, true, err);
}

int move_delete_policy_snapshot(struct player *p, struct dice *d, struct error *err)
{
        return delete_of_placement(p, d, &policies, &part_policies, false, err);
}
