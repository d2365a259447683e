/* Users give single clusters something else. */
#include "e2e/simulation/moves_internal.h"

static const char *home_of(unsigned app, enum wish_override_what what)
{
        return wish_override_resource(what)->namespaced ? wish_app_name(app) : NULL;
}

/* From a random one on, the first override that exists or not, as asked. */
static bool find_override(struct player *p, struct dice *d, bool exists, unsigned *ret_app,
                          enum wish_override_what *ret_what)
{
        unsigned first = (unsigned)dice_below(d, WISH_APPS * WISH_OVERRIDES);

        for (unsigned i = 0; i < WISH_APPS * WISH_OVERRIDES; i++) {
                unsigned at = (first + i) % (WISH_APPS * WISH_OVERRIDES);
                const struct wish_app *a = &p->wish->apps[at / WISH_OVERRIDES];

                *ret_app = at / WISH_OVERRIDES;
                *ret_what = at % WISH_OVERRIDES;
                if (move_app_lives(a) && a->overrides[*ret_what].exists == exists)
                        return true;
        }
        return false;
}

/* With `value` another than before. */
static struct wish_override draw_override(struct dice *d, unsigned before)
{
        struct wish_override o = { .exists = true };

        o.tier = dice_percent(d, 60) ? (enum wish_tier)(TIER_GOLD + dice_below(d, 2)) : TIER_NONE;
        o.deletes = dice_percent(d, 20);
        o.uses_label = !o.deletes && dice_percent(d, 20);
        o.value = (unsigned)dice_below(d, 1000);
        o.value += o.value == before;
        return o;
}

static int put_override(struct player *p, unsigned app, enum wish_override_what what,
                        const struct wish_override *wanted, struct error *err)
{
        struct wish_override *now = &p->wish->apps[app].overrides[what], old = *now;
        json_t *doc;
        int code;

        *now = *wanted;
        doc = wish_override_doc(p->wish, app, what);
        *now = old;
        code = move_apply(p, wish_override_resource(what), home_of(app, what), doc, err);
        if (code < 0)
                return move_refused(p, code, err);
        *now = *wanted;
        return move_done(p, "%s of %s: tier=%u %s value=%u", wish_override_resource(what)->kind,
                         wish_app_name(app), wanted->tier,
                         wanted->deletes      ? "deletes"
                         : wanted->uses_label ? "zone"
                                              : "name",
                         wanted->value);
}

int move_override_add(struct player *p, struct dice *d, struct error *err)
{
        struct wish_override wanted = draw_override(d, UINT32_MAX);
        enum wish_override_what what;
        unsigned app;
        char name[64];

        if (!find_override(p, d, false, &app, &what))
                return 0;
        wish_override_name(app, what, name);
        if (!move_is_gone(p, wish_override_resource(what), home_of(app, what), name))
                return 0; /* the one before it is still being deleted */
        return put_override(p, app, what, &wanted, err);
}

int move_override_change(struct player *p, struct dice *d, struct error *err)
{
        enum wish_override_what what;
        struct wish_override wanted;
        unsigned app;

        if (!find_override(p, d, true, &app, &what))
                return 0;
        wanted = draw_override(d, p->wish->apps[app].overrides[what].value);
        return put_override(p, app, what, &wanted, err);
}

int move_override_delete(struct player *p, struct dice *d, struct error *err)
{
        enum wish_override_what what;
        struct kube_client *hub;
        unsigned app;
        char name[64];
        int code;

        if (!find_override(p, d, true, &app, &what))
                return 0;
        wish_override_name(app, what, name);
        TRY(move_client(p, 0, &hub, err));
        code = kube_doc_delete(hub, wish_override_resource(what), home_of(app, what), name, NULL, NULL, err);
        if (code == ERR_NOT_FOUND)
                return error_set(err, ERR_INTERNAL, "override %s of %s is gone, nobody deleted it", name,
                                 wish_app_name(app));
        if (code < 0)
                return move_refused(p, code, err);
        p->wish->apps[app].overrides[what].exists = false;
        return move_done(p, "%s of %s", wish_override_resource(what)->kind, wish_app_name(app));
}
