/* What users do with the ClusterObjectSets of a member, with their Secrets, and with objects by hand. */
#include "e2e/simulation/moves_internal.h"

#define MEDDLED 900000 /* colors from here on no set asked for */

static const struct kube_resource secrets = { "", "v1", "secrets", "Secret", true };
static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };

/* ---- ends ---- */

static bool is_active(const struct wish_ship *ship, unsigned revision)
{
        return ship->sets[revision].exists && !ship->sets[revision].archived;
}

static bool is_there(const struct wish_ship *ship, unsigned revision)
{
        return ship->sets[revision].exists;
}

static int patch_set(struct player *p, const struct berth *b, json_t *patch, struct error *err)
{
        AUTO_JSON json_t *owned = patch;
        char name[WISH_SHIP_NAME];
        struct kube_client *k;

        if (!owned)
                return error_no_memory(err);
        TRY(move_client(p, b->member, &k, err));
        return kube_doc_patch(k, &wish_set_resource, NULL, wish_set_name(b->ship, b->revision, name),
                              KUBE_PATCH_MERGE, owned, NULL, NULL, err);
}

/* The agent forgets old records by itself. */
static int set_refused(struct player *p, struct wish_ship *ship, const struct wish_ship *old, int code,
                       struct error *err)
{
        *ship = *old;
        return move_refused(p, code, err);
}

int move_set_archive(struct player *p, struct dice *d, struct error *err)
{
        struct wish_ship *ship, old;
        struct berth b;
        int code;

        if (!move_find_set(p, d, is_active, &b))
                return 0;
        ship = move_ship(p, &b);
        old = *ship;
        ship->sets[b.revision].archived = true;
        code = patch_set(p, &b, json_pack("{s:{s:s}}", "spec", "lifecycleState", "Archived"), err);
        return code < 0 ? set_refused(p, ship, &old, code, err) : move_set_done(p, &b, "");
}

/* Whose references the collector takes from an object that another set has a reference on, leaves it to
 * nobody. */
static void note_left(struct wish_ship *ship, unsigned revision, bool orphaned)
{
        for (unsigned cargo = 0; cargo < WISH_CARGO; cargo++) {
                bool shared = false;

                for (unsigned i = 0; i < WISH_REVISIONS; i++)
                        shared |= i != revision && ship->sets[i].exists && ship->sets[i].items[cargo].wanted;
                ship->strays[cargo].left |= ship->sets[revision].items[cargo].wanted && (orphaned || shared);
        }
}

static int delete_set(struct player *p, struct dice *d, const char *propagation, struct error *err)
{
        struct wish_ship *ship, old;
        char name[WISH_SHIP_NAME];
        struct kube_client *k;
        struct berth b;
        int code;

        if (!move_find_set(p, d, is_there, &b))
                return 0;
        TRY(move_client(p, b.member, &k, err));
        ship = move_ship(p, &b);
        old = *ship;
        note_left(ship, b.revision, text_equal(propagation, "Orphan"));
        ship->sets[b.revision].exists = false;
        ship->sets[b.revision].leaving = true;
        code = kube_doc_delete(k, &wish_set_resource, NULL, wish_set_name(b.ship, b.revision, name), NULL,
                               propagation, err);
        return code < 0 ? set_refused(p, ship, &old, code, err) : move_set_done(p, &b, "");
}

int move_set_delete(struct player *p, struct dice *d, struct error *err)
{
        return delete_set(p, d, "Background", err);
}

int move_set_orphan(struct player *p, struct dice *d, struct error *err)
{
        return delete_set(p, d, "Orphan", err);
}

int move_set_foreground(struct player *p, struct dice *d, struct error *err)
{
        return delete_set(p, d, "Foreground", err);
}

/* ---- what it asks of its objects ---- */

static bool gets_no(const struct wish_ship *ship, unsigned revision)
{
        const struct wish_set *s = &ship->sets[revision];

        return is_active(ship, revision) && s->asks && s->wants_yes != s->says_yes;
}

static bool gets_yes(const struct wish_ship *ship, unsigned revision)
{
        const struct wish_set *s = &ship->sets[revision];

        return is_active(ship, revision) && s->asks && s->wants_yes == s->says_yes;
}

static int ask_otherwise(struct player *p, struct dice *d, move_set_fits *fits, struct error *err)
{
        struct wish_set asks, *now;
        struct berth b;
        int code;

        if (!move_find_set(p, d, fits, &b))
                return 0;
        now = move_set(p, &b);
        asks = *now;
        now->asked_otherwise = asks.asked_otherwise = true;
        asks.wants_yes = !asks.wants_yes;
        code = patch_set(p, &b, json_pack("{s:{s:o}}", "spec", "progressionProbes", wish_set_probes(&asks)),
                         err);
        if (code < 0)
                return move_refused(p, code, err);
        *now = asks;
        return move_set_done(p, &b, asks.wants_yes ? " asks for yes" : " asks for no");
}

int move_set_fix(struct player *p, struct dice *d, struct error *err)
{
        return ask_otherwise(p, d, gets_no, err);
}

int move_set_spoil(struct player *p, struct dice *d, struct error *err)
{
        return ask_otherwise(p, d, gets_yes, err);
}

/* ---- Secrets ---- */

static bool lacks_secret(const struct wish_ship *ship, unsigned revision)
{
        const struct wish_set *s = &ship->sets[revision];

        return s->exists && (s->secret == SECRET_MISSING || s->secret == SECRET_GONE);
}

static bool has_secret(const struct wish_ship *ship, unsigned revision)
{
        const struct wish_set *s = &ship->sets[revision];

        return s->exists && (s->secret == SECRET_THERE || s->secret == SECRET_MUTABLE);
}

static bool has_mutable_secret(const struct wish_ship *ship, unsigned revision)
{
        return ship->sets[revision].exists && ship->sets[revision].secret == SECRET_MUTABLE;
}

int move_set_secret(struct player *p, struct dice *d, struct error *err)
{
        enum wish_secret was;
        struct berth b;
        int code;

        if (!move_find_set(p, d, lacks_secret, &b))
                return 0;
        was = move_set(p, &b)->secret;
        move_set(p, &b)->secret = SECRET_THERE;
        code = move_put_secret(p, &b, err);
        if (code == 0)
                return move_set_done(p, &b, "");
        move_set(p, &b)->secret = was;
        return move_refused(p, code, err);
}

int move_set_secret_gone(struct player *p, struct dice *d, struct error *err)
{
        char name[WISH_SHIP_NAME];
        struct kube_client *k;
        struct wish_set *s;
        struct berth b;
        int code;

        if (!move_find_set(p, d, has_secret, &b))
                return 0;
        s = move_set(p, &b);
        TRY(move_client(p, b.member, &k, err));
        code = kube_doc_delete(k, &secrets, WISH_HARBOR, wish_set_name(b.ship, b.revision, name), NULL, NULL,
                               err);
        if (code < 0)
                return move_refused(p, code, err);
        s->secret = s->secret == SECRET_THERE ? SECRET_GONE : SECRET_MISSING;
        return move_set_done(p, &b, "");
}

int move_set_seal(struct player *p, struct dice *d, struct error *err)
{
        AUTO_JSON json_t *patch = json_pack("{s:b}", "immutable", 1);
        char name[WISH_SHIP_NAME];
        struct kube_client *k;
        struct berth b;
        int code;

        if (!patch)
                return error_no_memory(err);
        if (!move_find_set(p, d, has_mutable_secret, &b))
                return 0;
        TRY(move_client(p, b.member, &k, err));
        move_set(p, &b)->secret = SECRET_THERE;
        code = kube_doc_patch(k, &secrets, WISH_HARBOR, wish_set_name(b.ship, b.revision, name),
                              KUBE_PATCH_MERGE, patch, NULL, NULL, err);
        if (code == 0)
                return move_set_done(p, &b, "");
        move_set(p, &b)->secret = SECRET_MUTABLE;
        return move_refused(p, code, err);
}

/* ---- the Deployment ---- */

static bool sails(const struct wish_ship *ship, unsigned revision)
{
        return !ship->stalled && ship->sets[revision].exists && ship->sets[revision].items[CARGO_CREW].wanted;
}

static bool is_stalled(const struct wish_ship *ship, unsigned revision)
{
        return ship->stalled && revision == 0;
}

static int set_crew(struct player *p, struct dice *d, move_set_fits *fits, bool ready, struct error *err)
{
        char cluster[FLEET_AGENT_NAME], name[WISH_SHIP_NAME];
        struct berth b;

        if (!move_find_set(p, d, fits, &b))
                return 0;
        wish_cargo_name(b.ship, CARGO_CREW, name);
        TRY(p->fleet->ops->set_ready(p->fleet, move_cluster_name(b.member, cluster),
                                     wish_cargo_resource(CARGO_CREW)->kind, WISH_HARBOR, name, ready, err));
        move_ship(p, &b)->stalled = !ready;
        return move_done(p, "Deployment %s on %s", name, cluster);
}

int move_set_stall(struct player *p, struct dice *d, struct error *err)
{
        return set_crew(p, d, sails, false, err);
}

int move_set_go_on(struct player *p, struct dice *d, struct error *err)
{
        return set_crew(p, d, is_stalled, true, err);
}

/* ---- objects by hand ---- */

/* Some object that some set of a ship names, or may. */
struct cargo {
        struct berth berth;
        unsigned cargo;
        char name[WISH_SHIP_NAME];
        const struct kube_resource *resource;
        struct kube_client *client;
        struct wish_stray *stray;
};

static bool is_made(const struct wish_ship *ship, unsigned revision)
{
        return ship->sets[revision].made;
}

static int find_cargo(struct player *p, struct dice *d, struct cargo *ret, struct error *err)
{
        unsigned first = (unsigned)dice_below(d, WISH_CARGO);

        if (!move_find_set(p, d, is_made, &ret->berth))
                return 0;
        for (unsigned i = 0; i < WISH_CARGO; i++) {
                ret->cargo = (first + i) % WISH_CARGO;
                if (move_set(p, &ret->berth)->items[ret->cargo].wanted)
                        break;
        }
        wish_cargo_name(ret->berth.ship, ret->cargo, ret->name);
        ret->resource = wish_cargo_resource(ret->cargo);
        ret->stray = &move_ship(p, &ret->berth)->strays[ret->cargo];
        TRY(move_client(p, ret->berth.member, &ret->client, err));
        return 1;
}

static int cargo_done(struct player *p, const struct cargo *c, const char *how)
{
        return move_done(p, "%s %s on member-%u%s", c->resource->kind, c->name, c->berth.member, how);
}

int move_set_edit(struct player *p, struct dice *d, struct error *err)
{
        unsigned color = MEDDLED + (unsigned)dice_below(d, 1000);
        AUTO_JSON json_t *patch = NULL;
        struct cargo c;
        int code;

        NEED(find_cargo(p, d, &c, err));
        patch = wish_stray_doc(c.berth.ship, c.cargo, color);
        if (!patch)
                return error_no_memory(err);
        code = kube_doc_patch(c.client, c.resource, wish_cargo_home(c.cargo), c.name, KUBE_PATCH_MERGE, patch,
                              NULL, NULL, err);
        if (code < 0)
                return move_refused(p, code, err);
        c.stray->color = color;
        return cargo_done(p, &c, "");
}

int move_set_take(struct player *p, struct dice *d, struct error *err)
{
        struct cargo c;
        int code;

        NEED(find_cargo(p, d, &c, err));
        code = kube_doc_delete(c.client, c.resource, wish_cargo_home(c.cargo), c.name, NULL, "Background",
                               err);
        if (code < 0)
                return move_refused(p, code, err);
        c.stray->there = c.stray->maybe = false;
        return cargo_done(p, &c, "");
}

/* ---- strays ---- */

static int own(struct player *p, const struct cargo *c, json_t *doc, struct error *err)
{
        AUTO_JSON json_t *master = NULL;
        int code = kube_doc_get(c->client, &config_maps, WISH_HARBOR, WISH_MASTER, &master, err);

        if (code < 0)
                return code;
        return doc_set(doc, "metadata.ownerReferences",
                       json_pack("[{s:s, s:s, s:s, s:s, s:b}]", "apiVersion", "v1", "kind", "ConfigMap",
                                 "name", WISH_MASTER, "uid", doc_get_string(master, "metadata.uid"),
                                 "controller", 1)) < 0
                       ? error_no_memory(err)
                       : 0;
}

static int make_stray(struct player *p, struct cargo *c, bool owned, unsigned color, struct error *err)
{
        AUTO_JSON json_t *doc = wish_stray_doc(c->berth.ship, c->cargo, color);
        struct wish_stray old = *c->stray;
        int code = doc ? 0 : error_no_memory(err);

        if (code == 0 && owned)
                code = own(p, c, doc, err);
        *c->stray = (struct wish_stray){ .there = true, .owned = owned, .left = old.left, .color = color };
        move_note_stray(move_ship(p, &c->berth), c->cargo);
        if (code == 0)
                code = kube_doc_create(c->client, c->resource, wish_cargo_home(c->cargo), doc, NULL, NULL,
                                       err);
        if (code == 0)
                return cargo_done(p, c, owned ? " of somebody else" : "");
        *c->stray = old;
        return move_refused(p, code, err);
}

/* Mostly before a set comes: of ships that are there, or are to come. */
static int find_place(struct player *p, struct dice *d, struct cargo *ret, struct error *err)
{
        if (dice_percent(d, 50)) {
                ret->berth =
                        (struct berth){ .member = 1 + (unsigned)dice_below(d, MIN(p->fleet->n_members, 2u)),
                                        .ship = (unsigned)dice_below(d, WISH_SHIPS) };
                ret->cargo = (unsigned)dice_below(d, WISH_CARGO);
                wish_cargo_name(ret->berth.ship, ret->cargo, ret->name);
                ret->resource = wish_cargo_resource(ret->cargo);
                ret->stray = &move_ship(p, &ret->berth)->strays[ret->cargo];
                TRY(move_client(p, ret->berth.member, &ret->client, err));
        } else {
                NEED(find_cargo(p, d, ret, err));
        }
        return move_harbor(p, ret->berth.member, err);
}

int move_set_stray(struct player *p, struct dice *d, struct error *err)
{
        unsigned color = MEDDLED + (unsigned)dice_below(d, 1000);
        struct cargo c = { 0 };

        NEED(find_place(p, d, &c, err));
        return make_stray(p, &c, false, color, err);
}

int move_set_stray_owned(struct player *p, struct dice *d, struct error *err)
{
        unsigned color = MEDDLED + (unsigned)dice_below(d, 1000);
        struct cargo c = { 0 };

        NEED(find_place(p, d, &c, err));
        return wish_cargo_home(c.cargo) ? make_stray(p, &c, true, color, err) : 0;
}
