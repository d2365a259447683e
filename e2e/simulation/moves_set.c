/* Users make ClusterObjectSets on members themselves: the first revision of a ship, and what follows it. */
#include "e2e/simulation/moves_internal.h"

#define DOCKS 2 /* members that have ships: few, so that each sees much */
#define SHIPS 2 /* in the fleet, before users are content with those */
#define COLORS 1000

static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", false };
static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };
static const struct kube_resource secrets = { "", "v1", "secrets", "Secret", true };

/* ---- ships ---- */

struct wish_ship *move_ship(struct player *p, const struct berth *b)
{
        return &p->wish->members[b->member].ships[b->ship];
}

struct wish_set *move_set(struct player *p, const struct berth *b)
{
        return &move_ship(p, b)->sets[b->revision];
}

bool move_find_set(struct player *p, struct dice *d, move_set_fits *fits, struct berth *ret)
{
        unsigned docks = MIN(p->fleet->n_members, DOCKS), n = docks * WISH_SHIPS * WISH_REVISIONS,
                 first = (unsigned)dice_below(d, n);

        for (unsigned i = 0; i < n; i++) {
                unsigned at = (first + i) % n;

                *ret = (struct berth){ .member = 1 + at / (WISH_SHIPS * WISH_REVISIONS),
                                       .ship = at / WISH_REVISIONS % WISH_SHIPS,
                                       .revision = at % WISH_REVISIONS };
                if (fits(move_ship(p, ret), ret->revision))
                        return true;
        }
        return false;
}

int move_set_done(struct player *p, const struct berth *b, const char *what)
{
        char name[WISH_SHIP_NAME];

        return move_done(p, "%s on member-%u%s", wish_set_name(b->ship, b->revision, name), b->member, what);
}

int move_harbor(struct player *p, unsigned member, struct error *err)
{
        AUTO_JSON json_t *home = json_pack("{s:{s:s}}", "metadata", "name", WISH_HARBOR),
                         *master = json_pack("{s:{s:s, s:s}}", "metadata", "name", WISH_MASTER, "namespace",
                                             WISH_HARBOR);
        struct kube_client *k;
        int code;

        if (p->wish->members[member].harbor)
                return 1;
        TRY(move_client(p, member, &k, err));
        code = home ? kube_doc_create(k, &namespaces, NULL, home, NULL, NULL, err) : error_no_memory(err);
        if (code == 0 || code == ERR_EXISTS)
                code = master ? kube_doc_create(k, &config_maps, WISH_HARBOR, master, NULL, NULL, err)
                              : error_no_memory(err);
        if (code < 0 && code != ERR_EXISTS)
                return move_refused(p, code, err);
        error_clear(err);
        p->wish->members[member].harbor = true;
        return 1;
}

int move_put_secret(struct player *p, const struct berth *b, struct error *err)
{
        AUTO_JSON json_t *doc = wish_set_secret(move_set(p, b), b->ship, b->revision);
        struct kube_client *k;

        if (!doc)
                return error_no_memory(err);
        TRY(move_client(p, b->member, &k, err));
        return kube_doc_create(k, &secrets, WISH_HARBOR, doc, NULL, NULL, err);
}

/* ---- what others of the ship make of it ---- */

static void note_neighbours(struct wish_ship *ship, unsigned revision)
{
        for (unsigned i = 0; i < WISH_REVISIONS; i++) {
                if (!ship->sets[i].exists && !ship->sets[i].leaving)
                        continue;
                ship->sets[i].outlived = ship->sets[i].outlived || i < revision;
                ship->sets[revision].outlived = ship->sets[revision].outlived || i > revision;
        }
}

void move_note_stray(struct wish_ship *ship, unsigned cargo)
{
        struct wish_stray *stray = &ship->strays[cargo];

        for (unsigned i = 0; i < WISH_REVISIONS; i++) {
                const struct wish_set *s = &ship->sets[i];

                if (stray->there && (s->exists || s->leaving) && s->items[cargo].wanted &&
                    wish_may_adopt(s, cargo, stray->owned))
                        stray->maybe = true;
        }
}

/* All is noted before it is asked for: the agent may be quicker than the answer. */
static int put_set(struct player *p, const struct berth *b, const struct wish_set *wanted, struct error *err)
{
        struct wish_ship *ship = move_ship(p, b), old = *ship;
        AUTO_JSON json_t *doc = wish_set_doc(wanted, b->ship, b->revision);
        struct kube_client *k;
        int code = 0;

        if (!doc)
                return error_no_memory(err);
        ship->sets[b->revision] = *wanted;
        ship->sets[b->revision].made = ship->sets[b->revision].exists = true;
        ship->sets[b->revision].leaving = false;
        note_neighbours(ship, b->revision);
        for (unsigned i = 0; i < WISH_CARGO; i++)
                move_note_stray(ship, i);
        TRY(move_client(p, b->member, &k, err));
        if (wanted->secret > SECRET_MISSING && !old.sets[b->revision].made)
                code = move_put_secret(p, b, err);
        if (code == 0)
                code = kube_doc_create(k, &wish_set_resource, NULL, doc, NULL, NULL, err);
        if (code < 0) {
                *ship = old;
                return move_refused(p, code, err);
        }
        return 1;
}

/* ---- drawing ---- */

static enum wish_protection draw_protection(struct dice *d)
{
        return PROTECT_PREVENT + (unsigned)dice_below(d, 3);
}

static void draw_item(struct wish_item *item, struct dice *d, unsigned phases)
{
        item->wanted = true;
        item->phase = (unsigned)dice_below(d, phases);
        item->color = (unsigned)dice_below(d, COLORS);
        item->more = dice_percent(d, 30);
        item->protection = dice_percent(d, 15) ? draw_protection(d) : PROTECT_UNSAID;
}

static void draw_secret(struct wish_set *s, struct dice *d)
{
        bool any = dice_percent(d, 45), all = dice_percent(d, 50);

        s->zipped = dice_percent(d, 50);
        s->secret = SECRET_UNUSED;
        for (unsigned i = 0; i < WISH_CARGO; i++) {
                s->items[i].by_ref = any && s->items[i].wanted && (all || dice_percent(d, 60));
                if (s->items[i].by_ref)
                        s->secret = SECRET_THERE;
        }
        if (s->secret && dice_percent(d, 50))
                s->secret = dice_percent(d, 40) ? SECRET_MISSING : SECRET_MUTABLE;
}

static void draw_questions(struct wish_set *s, struct dice *d)
{
        s->asked_otherwise = false;
        s->asks = dice_percent(d, 50);
        s->wants_yes = s->says_yes = dice_percent(d, 70);
}

static struct wish_set draw_set(struct dice *d)
{
        struct wish_set s = { .protection = draw_protection(d) };
        unsigned phases = 2 + (unsigned)dice_below(d, 2);

        for (unsigned i = 0; i < WISH_CARGO; i++)
                if (dice_percent(d, 65))
                        draw_item(&s.items[i], d, phases);
        for (unsigned i = 0; i < WISH_PHASES; i++)
                if (dice_percent(d, 15))
                        s.phase_protection[i] = draw_protection(d);
        draw_questions(&s, d);
        draw_secret(&s, d);
        return s;
}

/* ---- the first ---- */

static unsigned count_ships(const struct player *p)
{
        unsigned n = 0;

        for (unsigned m = 1; m <= p->fleet->n_members; m++)
                for (unsigned i = 0; i < WISH_SHIPS; i++)
                        n += p->wish->members[m].ships[i].sets[0].made;
        return n;
}

static bool is_first(const struct wish_ship *ship, unsigned revision)
{
        return revision == 0 && !ship->sets[0].made;
}

static void say_set(struct words *w, const struct wish_set *s)
{
        static const char *const secrets_are[] = { "", " Secret missing", " Secret mutable", " Secret", "" };

        for (unsigned i = 0; i < WISH_CARGO; i++)
                if (s->items[i].wanted)
                        words_add(w, " %c=%u@%u%s%s%u", 'a' + i, s->items[i].color, s->items[i].phase,
                                  s->items[i].by_ref ? "r" : "", s->items[i].more ? "+p" : "p",
                                  wish_protection_of(s, i));
        words_add(w, "%s%s", secrets_are[s->secret], s->zipped && s->secret ? " zipped" : "");
        if (s->asks)
                words_add(w, " asks %s says %s", s->wants_yes ? "yes" : "no", s->says_yes ? "yes" : "no");
}

static int make_set(struct player *p, const struct berth *b, const struct wish_set *wanted, struct error *err)
{
        struct words words = { 0 };

        NEED(move_harbor(p, b->member, err));
        NEED(put_set(p, b, wanted, err));
        say_set(&words, wanted);
        return move_set_done(p, b, words.text);
}

int move_set_make(struct player *p, struct dice *d, struct error *err)
{
        struct wish_set wanted = draw_set(d);
        struct berth b;

        if ((count_ships(p) >= SHIPS && !dice_percent(d, 20)) || !move_find_set(p, d, is_first, &b))
                return 0;
        return make_set(p, &b, &wanted, err);
}

/* ---- and the next ---- */

static bool is_newest(const struct wish_ship *ship, unsigned revision)
{
        for (unsigned i = revision + 1; i < WISH_REVISIONS; i++)
                if (ship->sets[i].made)
                        return false;
        return ship->sets[revision].made && revision + 1 < WISH_REVISIONS;
}

/* A wanted item, or one that is not; from a random one on. */
static struct wish_item *any_item(struct wish_set *s, struct dice *d, bool wanted)
{
        unsigned first = (unsigned)dice_below(d, WISH_CARGO);

        for (unsigned i = 0; i < WISH_CARGO; i++) {
                struct wish_item *item = &s->items[(first + i) % WISH_CARGO];

                if (item->wanted == wanted)
                        return item;
        }
        return NULL;
}

static void repaint(struct wish_set *s, struct dice *d)
{
        for (unsigned i = 0; i < WISH_CARGO; i++) {
                if (!s->items[i].wanted || !dice_percent(d, 60))
                        continue;
                s->items[i].color = (unsigned)dice_below(d, COLORS);
                s->items[i].more = dice_percent(d, 30);
        }
}

/* Like the newest, but for what `change` does to it; now and then a number is left out. */
static int make_next(struct player *p, struct dice *d, bool (*change)(struct wish_set *s, struct dice *d),
                     struct error *err)
{
        struct wish_set wanted;
        struct berth b;

        if (!move_find_set(p, d, is_newest, &b))
                return 0;
        wanted = *move_set(p, &b);
        wanted.exists = wanted.leaving = wanted.archived = wanted.outlived = false;
        b.revision += b.revision + 2 < WISH_REVISIONS && dice_percent(d, 15) ? 2 : 1;
        repaint(&wanted, d);
        draw_questions(&wanted, d);
        draw_secret(&wanted, d);
        if (dice_percent(d, 30))
                wanted.protection = draw_protection(d);
        return change(&wanted, d) ? make_set(p, &b, &wanted, err) : 0;
}

static bool change_nothing(struct wish_set *s, struct dice *d)
{
        return true;
}

int move_set_next(struct player *p, struct dice *d, struct error *err)
{
        return make_next(p, d, change_nothing, err);
}

static bool drop_one(struct wish_set *s, struct dice *d)
{
        struct wish_item *item = any_item(s, d, true);

        if (!item)
                return false;
        *item = (struct wish_item){ 0 };
        draw_secret(s, d);
        return true;
}

int move_set_next_fewer(struct player *p, struct dice *d, struct error *err)
{
        return make_next(p, d, drop_one, err);
}

static bool add_one(struct wish_set *s, struct dice *d)
{
        struct wish_item *item = any_item(s, d, false);

        if (!item)
                return false;
        draw_item(item, d, WISH_PHASES);
        draw_secret(s, d);
        return true;
}

int move_set_next_more(struct player *p, struct dice *d, struct error *err)
{
        return make_next(p, d, add_one, err);
}

static bool move_all(struct wish_set *s, struct dice *d)
{
        for (unsigned i = 0; i < WISH_CARGO; i++)
                if (s->items[i].wanted)
                        s->items[i].phase = (unsigned)dice_below(d, WISH_PHASES);
        return true;
}

int move_set_next_moved(struct player *p, struct dice *d, struct error *err)
{
        return make_next(p, d, move_all, err);
}

static bool never_ready(struct wish_set *s, struct dice *d)
{
        if (!s->items[CARGO_ASKED].wanted)
                draw_item(&s->items[CARGO_ASKED], d, WISH_PHASES);
        draw_secret(s, d);
        s->asks = true;
        s->wants_yes = true;
        s->says_yes = false;
        return true;
}

int move_set_next_stuck(struct player *p, struct dice *d, struct error *err)
{
        return make_next(p, d, never_ready, err);
}

/* ---- one that was deleted, once more ---- */

static bool was_deleted(const struct wish_ship *ship, unsigned revision)
{
        return ship->sets[revision].made && !ship->sets[revision].exists;
}

int move_set_again(struct player *p, struct dice *d, struct error *err)
{
        struct wish_set wanted;
        struct berth b;

        if (!move_find_set(p, d, was_deleted, &b))
                return 0;
        wanted = *move_set(p, &b);
        wanted.archived = wanted.outlived = false;
        NEED(put_set(p, &b, &wanted, err));
        return move_set_done(p, &b, "");
}
