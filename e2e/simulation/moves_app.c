/* Users make, change and delete what their applications hold. */
#include "common/base/memory.h"
#include "e2e/simulation/moves_internal.h"

#define COLORS 1000
#define SERVED_MS 60 /* a new definition's kind is served by then */

static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", false };

static const char *home_of(unsigned app, unsigned slot)
{
        return wish_slots[slot].in_namespace ? wish_app_name(app) : NULL;
}

static bool is_big(unsigned slot)
{
        return slot >= SLOT_BIG && slot < SLOT_BIG + 2;
}

static bool is_config_map(unsigned slot)
{
        return slot < SLOT_BIG + 2;
}

/* A Job's content cannot change, nor on members when it is made anew on the hub: it has one color for ever.
 */
static unsigned new_color(const struct wish_object *o, unsigned app, unsigned slot, struct dice *d)
{
        unsigned color = (unsigned)dice_below(d, COLORS);

        if (!wish_slots[slot].can_change)
                return app;
        return color == o->color ? color + 1 : color;
}

int move_put_object(struct player *p, unsigned app, unsigned slot, const struct wish_object *wanted,
                    struct words *words, struct error *err)
{
        struct wish_object *o = &p->wish->apps[app].objects[slot], old = *o;
        json_t *doc;
        char name[64];
        int code;

        wish_object_name(app, slot, name);
        if (slot == SLOT_DEFINITION && !o->exists && !move_is_gone(p, wish_resource(app, slot), NULL, name))
                return 0; /* the one before it is still being deleted */
        *o = *wanted;
        doc = wish_manifest(p->wish, app, slot);
        *o = old;
        code = move_apply(p, wish_resource(app, slot), home_of(app, slot), doc, err);
        if (code < 0)
                return move_refused(p, code, err);
        *o = *wanted;
        if (wish_ask(p->wish, app, slot, move_now(p)) < 0)
                return error_no_memory(err);
        words_add(words, " %s %s=%u%s", wish_resource(app, slot)->kind, name, wanted->color,
                  wanted->labelled ? " picked" : "");
        return 1;
}

static int make_object(struct player *p, struct dice *d, unsigned app, unsigned slot, struct words *words,
                       struct error *err)
{
        struct wish_app *a = &p->wish->apps[app];
        struct wish_object o = a->objects[slot];

        if (slot == SLOT_WIDGET && !a->objects[SLOT_DEFINITION].exists) {
                NEED(make_object(p, d, app, SLOT_DEFINITION, words, err));
                TRY(fiber_sleep(p->fleet->world->loop, SERVED_MS));
        }
        o.exists = true;
        o.color = new_color(&o, app, slot, d);
        o.labelled = is_config_map(slot) && dice_percent(d, 50);
        return move_put_object(p, app, slot, &o, words, err);
}

/* ---- a new application ---- */

static const unsigned char
        usual[WISH_SLOTS] = { /* in percent */
                              [SLOT_SETTINGS] = 90,      [SLOT_EXTRA] = 40,  [SLOT_EXTRA + 1] = 25,
                              [SLOT_EXTRA + 2] = 10,     [SLOT_WEB] = 40,    [SLOT_JOB] = 15,
                              [SLOT_BUNDLE] = 25,        [SLOT_WIDGET] = 20, [SLOT_ROLE] = 60,
                              [SLOT_CLUSTER_BUNDLE] = 25
        };

static bool is_free(const struct wish_app *a)
{
        return !a->exists;
}

static int make_namespace(struct player *p, unsigned app, struct error *err)
{
        const char *name = wish_app_name(app);
        struct wish_app *a = &p->wish->apps[app];
        int code;

        if (a->leaving && !move_is_gone(p, &namespaces, NULL, name))
                return 0;
        a->leaving = false;
        code = move_apply(p, &namespaces, NULL,
                          json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace",
                                    "metadata", "name", name),
                          err);
        if (code < 0)
                return move_refused(p, code, err);
        if (!a->exists)
                a->home_ms = move_now(p);
        a->exists = true;
        return 1;
}

int move_make_app(struct player *p, struct dice *d, struct error *err)
{
        struct words words = { 0 };
        unsigned app;

        if (!move_find_app(p, d, is_free, &app))
                return 0;
        NEED(make_namespace(p, app, err));
        for (unsigned slot = 0; slot < WISH_SLOTS; slot++) {
                bool is_chosen = dice_percent(d, usual[slot]);

                if (is_chosen && !p->wish->apps[app].objects[slot].exists)
                        TRY(make_object(p, d, app, slot, &words, err));
        }
        return move_done(p, "namespace %s with%s", wish_app_name(app), words.text);
}

/* ---- changes ---- */

typedef bool slot_fits(const struct wish_object *o, unsigned slot);

static bool is_missing(const struct wish_object *o, unsigned slot)
{
        return !o->exists && !is_big(slot);
}

static bool is_changeable(const struct wish_object *o, unsigned slot)
{
        return o->exists && wish_slots[slot].can_change;
}

static bool is_there(const struct wish_object *o, unsigned slot)
{
        return o->exists;
}

static bool is_there_to_label(const struct wish_object *o, unsigned slot)
{
        return o->exists && is_config_map(slot);
}

static bool is_of_big_ones(const struct wish_object *o, unsigned slot)
{
        return is_big(slot);
}

/* From a random slot on. */
static bool find_slot(const struct wish_app *a, struct dice *d, slot_fits *fits, unsigned *ret)
{
        unsigned first = (unsigned)dice_below(d, WISH_SLOTS);

        for (unsigned i = 0; i < WISH_SLOTS; i++) {
                unsigned slot = (first + i) % WISH_SLOTS;

                if (fits(&a->objects[slot], slot)) {
                        *ret = slot;
                        return true;
                }
        }
        return false;
}

static bool find_object(struct player *p, struct dice *d, slot_fits *fits, unsigned *ret_app,
                        unsigned *ret_slot)
{
        return move_find_app(p, d, move_app_lives, ret_app) &&
               find_slot(&p->wish->apps[*ret_app], d, fits, ret_slot);
}

static int objects_done(struct player *p, unsigned app, const struct words *words)
{
        return words->n ? move_done(p, "in %s:%s", wish_app_name(app), words->text) : 0;
}

int move_add(struct player *p, struct dice *d, struct error *err)
{
        struct words words = { 0 };
        unsigned app, slot;

        if (!find_object(p, d, is_missing, &app, &slot))
                return 0;
        TRY(make_object(p, d, app, slot, &words, err));
        return objects_done(p, app, &words);
}

static int change_object(struct player *p, struct dice *d, unsigned app, unsigned slot, struct words *words,
                         struct error *err)
{
        struct wish_object o = p->wish->apps[app].objects[slot];

        o.color = new_color(&o, app, slot, d);
        return move_put_object(p, app, slot, &o, words, err);
}

int move_change(struct player *p, struct dice *d, struct error *err)
{
        struct words words = { 0 };
        unsigned app, slot;

        if (!find_object(p, d, is_changeable, &app, &slot))
                return 0;
        TRY(change_object(p, d, app, slot, &words, err));
        return objects_done(p, app, &words);
}

/* All at once, as a release does: several changed, some new, some gone. */
int move_change_many(struct player *p, struct dice *d, struct error *err)
{
        struct words words = { 0 };
        unsigned app, slot, left = 2 + (unsigned)dice_below(d, 3);

        if (!find_object(p, d, is_changeable, &app, &slot))
                return 0;
        for (; left > 0; slot = (slot + 1) % WISH_SLOTS, left--)
                if (is_changeable(&p->wish->apps[app].objects[slot], slot))
                        TRY(change_object(p, d, app, slot, &words, err));
                else if (is_missing(&p->wish->apps[app].objects[slot], slot) && dice_percent(d, 40))
                        TRY(make_object(p, d, app, slot, &words, err));
        return objects_done(p, app, &words);
}

int move_label(struct player *p, struct dice *d, struct error *err)
{
        struct words words = { 0 };
        struct wish_object o;
        unsigned app, slot;

        if (!find_object(p, d, is_there_to_label, &app, &slot))
                return 0;
        o = p->wish->apps[app].objects[slot];
        o.labelled = !o.labelled;
        NEED(move_put_object(p, app, slot, &o, &words, err));
        return move_done(p, "in %s:%s%s", wish_app_name(app), words.text, o.labelled ? "" : " not picked");
}

/* ---- deletions ---- */

static int delete_object(struct player *p, unsigned app, unsigned slot, struct error *err)
{
        struct wish_object *objects = p->wish->apps[app].objects;
        struct kube_client *hub;
        char name[64];
        int code;

        wish_object_name(app, slot, name);
        TRY(move_client(p, 0, &hub, err));
        code = kube_doc_delete(hub, wish_resource(app, slot), home_of(app, slot), name, NULL, "Background",
                               err);
        if (code == ERR_NOT_FOUND)
                return error_set(err, ERR_INTERNAL, "%s %s of %s is gone from the hub, nobody deleted it",
                                 wish_resource(app, slot)->kind, name, wish_app_name(app));
        if (code < 0)
                return move_refused(p, code, err);
        objects[slot].exists = false;
        if (slot == SLOT_DEFINITION)
                objects[SLOT_WIDGET].exists = false;
        return move_done(p, "%s %s of %s", wish_resource(app, slot)->kind, name, wish_app_name(app));
}

int move_delete(struct player *p, struct dice *d, struct error *err)
{
        unsigned app, slot;

        return find_object(p, d, is_there, &app, &slot) ? delete_object(p, app, slot, err) : 0;
}

/* They come, change and go like others, if the seed plays them at all. */
int move_big(struct player *p, struct dice *d, struct error *err)
{
        struct words words = { 0 };
        unsigned app, slot;

        if (!find_object(p, d, is_of_big_ones, &app, &slot))
                return 0;
        if (p->wish->apps[app].objects[slot].exists && dice_percent(d, 35))
                return delete_object(p, app, slot, err);
        TRY(p->wish->apps[app].objects[slot].exists ? change_object(p, d, app, slot, &words, err)
                                                    : make_object(p, d, app, slot, &words, err));
        return objects_done(p, app, &words);
}

int move_change_selected(struct player *p, struct dice *d, unsigned app, enum wish_place place,
                         struct words *words, struct error *err)
{
        uint32_t slots = wish_selected(p->wish, app, place);
        unsigned first = (unsigned)dice_below(d, WISH_SLOTS);

        for (unsigned i = 0; i < WISH_SLOTS; i++) {
                unsigned slot = (first + i) % WISH_SLOTS;

                if ((slots >> slot & 1) && wish_slots[slot].can_change)
                        return change_object(p, d, app, slot, words, err);
        }
        return 0;
}

static void forget_runs(struct wish *w, unsigned app)
{
        for (unsigned i = 0; i < WISH_RUNS; i++) {
                struct wish_run *r = &w->runs[i];

                if (!r->exists || r->app != app || r->place != PLACE_PART)
                        continue;
                r->exists = false;
                r->leaving = true;
        }
}

static void forget_namespace(struct wish *w, unsigned app, int64_t now)
{
        struct wish_app *a = &w->apps[app];
        struct wish_placement *part = &a->placements[PLACE_PART];

        a->exists = false;
        a->leaving = true;
        a->home_ms = now;
        for (unsigned slot = 0; slot < SLOT_NAMESPACED; slot++)
                a->objects[slot].exists = false;
        a->overrides[OVERRIDE_SETTINGS].exists = false;
        part->leaving = part->leaving || part->exists;
        part->exists = false;
        if (a->stages[PLACE_PART].exists)
                a->stages[PLACE_PART] = (struct wish_stages){ .changed_ms = now };
        forget_runs(w, app);
}

int move_delete_namespace(struct player *p, struct dice *d, struct error *err)
{
        struct kube_client *hub;
        unsigned app;
        int code;

        if (!move_find_app(p, d, move_app_lives, &app))
                return 0;
        TRY(move_client(p, 0, &hub, err));
        code = kube_doc_delete(hub, &namespaces, NULL, wish_app_name(app), NULL, NULL, err);
        if (code < 0)
                return move_refused(p, code, err);
        forget_namespace(p->wish, app, move_now(p));
        return move_done(p, "%s with all that is in it", wish_app_name(app));
}
