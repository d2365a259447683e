/* Users place their applications, and think better of it. */
#include "e2e/simulation/moves_internal.h"

/* ---- drawing ---- */

static enum wish_selection draw_selection(struct dice *d)
{
        uint64_t n = dice_below(d, 100);

        return n < 55   ? SELECT_NAMESPACE
               : n < 72 ? SELECT_NAMESPACE_ONLY
               : n < 91 ? SELECT_LABELLED
                        : SELECT_ROLE;
}

/* MAIN takes cluster-scoped objects along; a definition mostly where there is one, since without it nothing
 * of its kind can be placed. */
static void draw_main(const struct wish_app *a, struct wish_placement *m, struct dice *d)
{
        m->selection = draw_selection(d);
        m->with_role = dice_percent(d, 35) && m->selection != SELECT_ROLE;
        m->with_bundle = dice_percent(d, 30);
        m->with_definition = dice_percent(d, a->objects[SLOT_DEFINITION].exists ? 90 : 25);
}

static uint32_t draw_fixed(unsigned n_members, struct dice *d)
{
        uint32_t all = ((UINT32_C(1) << n_members) - 1) << 1, some = (uint32_t)dice_next(d) & all;

        if (some == 0)
                some = UINT32_C(1) << (1 + dice_below(d, n_members));
        return some | dice_percent(d, 10); /* bit 0: a name that is no cluster */
}

static enum wish_tier draw_tier(struct dice *d, unsigned percent)
{
        return dice_percent(d, percent) ? (enum wish_tier)(TIER_GOLD + dice_below(d, 2)) : TIER_NONE;
}

static struct wish_policy draw_policy(unsigned n_members, struct dice *d)
{
        struct wish_policy policy = { .type = (enum wish_policy_type)(dice_below(d, 7) / 3) };

        if (policy.type == POLICY_PICK_FIXED) {
                policy.fixed = draw_fixed(n_members, d);
                return policy;
        }
        policy.tier = draw_tier(d, 20);
        policy.tolerates = dice_percent(d, 20);
        if (policy.type == POLICY_PICK_N) {
                policy.n = (unsigned)dice_below(d, n_members + 2);
                policy.prefers = draw_tier(d, 30);
                policy.spread = dice_percent(d, 25);
        }
        return policy;
}

static void draw_apply(struct wish_strategy *s, struct dice *d)
{
        uint64_t apply = dice_below(d, 10), take_over = dice_below(d, 10);

        s->apply = apply < 6 ? APPLY_CLIENT_SIDE : apply < 9 ? APPLY_SERVER_SIDE : APPLY_REPORT_DIFF;
        s->compare = dice_percent(d, 30) ? COMPARE_FULL : COMPARE_PARTIAL;
        s->when = dice_percent(d, 25) ? WHEN_NOT_DRIFTED : WHEN_ALWAYS;
        s->take_over = take_over < 6 ? TAKE_OVER_ALWAYS : take_over < 8 ? TAKE_OVER_NO_DIFF : TAKE_OVER_NEVER;
        s->co_own = dice_percent(d, 40);
}

/* Waves follow each other after at most the period: a large fleet gets short ones, or it would not be done
 * within the time it has at the end. */
static void draw_rolling(struct wish_strategy *s, unsigned n_members, struct dice *d)
{
        static const unsigned char percents[] = { 25, 34, 50, 100, 25 };

        s->max_unavailable = dice_percent(d, 5) ? 0 : percents[dice_below(d, ARRAY_LEN(percents))];
        s->max_surge =
                s->max_unavailable && dice_percent(d, 20) ? 0 : percents[dice_below(d, ARRAY_LEN(percents))];
        s->unavailable_period_s = (unsigned)dice_below(d, n_members > 5 ? 2 : n_members > 2 ? 5 : 15);
}

static struct wish_strategy draw_strategy(unsigned n_members, struct dice *d)
{
        struct wish_strategy s = { .max_unavailable = 25, .max_surge = 25, .unavailable_period_s = 1 };

        if (dice_percent(d, 50))
                draw_apply(&s, d);
        if (dice_percent(d, 60))
                draw_rolling(&s, n_members, d);
        if (dice_percent(d, 25))
                s.back = (enum wish_back)(BACK_TO_WORK + dice_below(d, 2));
        return s;
}

static unsigned draw_history(struct dice *d)
{
        return dice_percent(d, 50) ? 10 : 1 + (unsigned)dice_below(d, 4);
}

/* ---- words ---- */

static void say_policy(struct words *w, const struct wish_policy *policy)
{
        static const char *const types[] = { "PickAll", "PickN", "PickFixed" };

        words_add(w, " %s", types[policy->type]);
        if (policy->type == POLICY_PICK_N)
                words_add(w, " n=%u prefers=%u spread=%u", policy->n, policy->prefers, policy->spread);
        if (policy->type == POLICY_PICK_FIXED)
                words_add(w, " fixed=%#x", policy->fixed);
        else
                words_add(w, " tier=%u tolerates=%u", policy->tier, policy->tolerates);
}

static void say_strategy(struct words *w, const struct wish_strategy *s)
{
        static const char *const applies[] = { "client-side", "server-side", "report-diff" };

        words_add(w, "%s %s compare=%u when=%u take-over=%u co-own=%u unavailable=%u%% surge=%u%% period=%us",
                  s->external_ms ? " External" : "", applies[s->apply], s->compare, s->when, s->take_over,
                  s->co_own, s->max_unavailable, s->max_surge, s->unavailable_period_s);
}

static void say_selection(struct words *w, const struct wish_placement *m)
{
        static const char *const selections[] = { "namespace", "namespace-only", "labelled",
                                                  "role",      "config-maps",    "settings" };

        words_add(w, " of %s%s%s%s%s", selections[m->selection], m->with_role ? "+role" : "",
                  m->with_bundle ? "+bundle" : "", m->with_definition ? "+definition" : "",
                  m->accessible ? " accessible" : "");
}

/* ---- making ---- */

/* Asks for the placement to be as `wanted`; the wish follows what the server took. */
static int put_placement(struct player *p, unsigned app, enum wish_place place,
                         const struct wish_placement *wanted, struct error *err)
{
        struct wish_placement *now = &p->wish->apps[app].placements[place], old = *now;
        json_t *doc;
        int code;

        *now = *wanted;
        doc = wish_placement_doc(p->wish, app, place);
        *now = old;
        code = move_apply(p, wish_placement_resource(place), move_placement_home(app, place), doc, err);
        if (code < 0)
                return move_refused(p, code, err);
        *now = *wanted;
        now->changed_ms = move_now(p);
        return 1;
}

static int make_placement(struct player *p, unsigned app, enum wish_place place,
                          struct wish_placement *wanted, struct error *err)
{
        struct wish_placement *now = &p->wish->apps[app].placements[place];
        struct words words = { 0 };
        char name[64];

        wish_placement_name(app, place, name);
        if (now->leaving &&
            !move_is_gone(p, wish_placement_resource(place), move_placement_home(app, place), name))
                return 0;
        now->leaving = false;
        wanted->exists = true;
        wanted->leaving = false;
        wanted->since_ms = wanted->policy_ms = move_now(p);
        NEED(put_placement(p, app, place, wanted, err));
        say_selection(&words, wanted);
        say_policy(&words, &wanted->policy);
        say_strategy(&words, &wanted->strategy);
        return move_done(p, "%s of %s%s history=%u", name, wish_app_name(app), words.text,
                         wanted->history_limit);
}

static struct wish_placement draw_placement(struct player *p, struct dice *d)
{
        return (struct wish_placement){ .policy = draw_policy(p->fleet->n_members, d),
                                        .strategy = draw_strategy(p->fleet->n_members, d),
                                        .history_limit = draw_history(d) };
}

static bool is_unplaced(const struct wish_app *a)
{
        return move_app_lives(a) && !a->placements[PLACE_MAIN].exists;
}

int move_place(struct player *p, struct dice *d, struct error *err)
{
        struct wish_placement wanted = draw_placement(p, d);
        unsigned app;

        if (!move_find_app(p, d, is_unplaced, &app))
                return 0;
        draw_main(&p->wish->apps[app], &wanted, d);
        return make_placement(p, app, PLACE_MAIN, &wanted, err);
}

/* Whose status can be read in the namespace, which it has to select for that. */
int move_place_accessible(struct player *p, struct dice *d, struct error *err)
{
        struct wish_placement wanted = draw_placement(p, d);
        unsigned app;

        if (!move_find_app(p, d, is_unplaced, &app))
                return 0;
        do
                draw_main(&p->wish->apps[app], &wanted, d);
        while (wanted.selection > SELECT_LABELLED);
        wanted.accessible = true;
        return make_placement(p, app, PLACE_MAIN, &wanted, err);
}

/* Its workload's status is to be seen on the hub: from one cluster alone it comes back. */
int move_place_reported(struct player *p, struct dice *d, struct error *err)
{
        struct wish_placement wanted = draw_placement(p, d);
        struct wish_object web = { .exists = true, .color = 1 + (unsigned)dice_below(d, 999) };
        struct words words = { 0 };
        unsigned app;

        if (!move_find_app(p, d, is_unplaced, &app))
                return 0;
        if (!p->wish->apps[app].objects[SLOT_WEB].exists)
                NEED(move_put_object(p, app, SLOT_WEB, &web, &words, err));
        wanted.selection = SELECT_NAMESPACE;
        wanted.policy = (struct wish_policy){ .type = POLICY_PICK_N, .n = 1 };
        wanted.strategy.apply = APPLY_CLIENT_SIDE;
        wanted.strategy.back = BACK_TO_ORIGINAL;
        return make_placement(p, app, PLACE_MAIN, &wanted, err);
}

static bool has_no_twin(const struct wish_app *a)
{
        return a->objects[SLOT_ROLE].exists && !a->placements[PLACE_TWIN].exists;
}

/* Two that share an object mostly say so. */
static void agree_to_share(struct wish_placement *wanted, const struct wish_placement *with, bool shared,
                           struct dice *d)
{
        bool agree = dice_percent(d, 85);

        if (shared && with->exists && agree)
                wanted->strategy.co_own = with->strategy.co_own;
}

int move_place_twin(struct player *p, struct dice *d, struct error *err)
{
        struct wish_placement wanted = draw_placement(p, d);
        const struct wish_placement *of;
        unsigned app;

        if (!move_find_app(p, d, has_no_twin, &app))
                return 0;
        of = &p->wish->apps[app].placements[PLACE_MAIN];
        wanted.selection = SELECT_ROLE;
        agree_to_share(&wanted, of, of->with_role || of->selection == SELECT_ROLE, d);
        return make_placement(p, app, PLACE_TWIN, &wanted, err);
}

static bool has_no_part(const struct wish_app *a)
{
        return move_app_lives(a) && !a->placements[PLACE_PART].exists;
}

/* What MAIN brings no ConfigMaps of its own to. */
static bool wants_part(const struct wish_app *a)
{
        return has_no_part(a) && a->placements[PLACE_MAIN].exists &&
               a->placements[PLACE_MAIN].selection == SELECT_NAMESPACE_ONLY;
}

int move_place_part(struct player *p, struct dice *d, struct error *err)
{
        struct wish_placement wanted = draw_placement(p, d);
        const struct wish_placement *of;
        bool anyhow = dice_percent(d, 10), like_main = dice_percent(d, 75);
        unsigned app;

        if (!move_find_app(p, d, anyhow ? has_no_part : wants_part, &app))
                return 0;
        of = &p->wish->apps[app].placements[PLACE_MAIN];
        wanted.selection = dice_percent(d, 60) ? SELECT_CONFIG_MAPS : SELECT_SETTINGS;
        if (of->exists && like_main) /* without its namespace nothing of it can be anywhere */
                wanted.policy = of->policy;
        agree_to_share(&wanted, of, of->selection <= SELECT_LABELLED, d);
        return make_placement(p, app, PLACE_PART, &wanted, err);
}

int move_unplace(struct player *p, struct dice *d, struct error *err)
{
        struct wish_placement *now;
        struct kube_client *hub;
        enum wish_place place;
        unsigned app;
        char name[64];
        int code;

        if (!move_find_placement(p, d, &app, &place))
                return 0;
        now = &p->wish->apps[app].placements[place];
        wish_placement_name(app, place, name);
        TRY(move_client(p, 0, &hub, err));
        code = kube_doc_delete(hub, wish_placement_resource(place), move_placement_home(app, place), name,
                               NULL, NULL, err);
        if (code == ERR_NOT_FOUND)
                return error_set(err, ERR_INTERNAL, "placement %s of %s is gone, nobody deleted it", name,
                                 wish_app_name(app));
        if (code < 0)
                return move_refused(p, code, err);
        now->exists = false;
        now->leaving = true;
        return move_done(p, "%s of %s", name, wish_app_name(app));
}

/* ---- changing ---- */

/* One thing of the policy beside N; false if it stays as it is. */
static bool change_policy(struct wish_policy *policy, unsigned n_members, struct dice *d)
{
        struct wish_policy old = *policy;

        if (policy->type == POLICY_PICK_FIXED) {
                policy->fixed = draw_fixed(n_members, d);
                return policy->fixed != old.fixed;
        }
        switch (dice_below(d, policy->type == POLICY_PICK_N ? 4 : 2)) {
        case 0:
                policy->tier = policy->tier ? TIER_NONE : draw_tier(d, 100);
                return true;
        case 1:
                policy->tolerates = true;
                return !old.tolerates;
        case 2:
                policy->prefers = draw_tier(d, 70);
                return policy->prefers != old.prefers;
        default:
                policy->spread = !policy->spread;
                return true;
        }
}

int move_policy(struct player *p, struct dice *d, struct error *err)
{
        struct wish_placement wanted;
        struct words words = { 0 };
        enum wish_place place;
        unsigned app;
        char name[64];

        if (!move_find_placement(p, d, &app, &place))
                return 0;
        wanted = p->wish->apps[app].placements[place];
        if (!change_policy(&wanted.policy, p->fleet->n_members, d))
                return 0;
        wanted.policy_ms = move_now(p);
        NEED(put_placement(p, app, place, &wanted, err));
        say_policy(&words, &wanted.policy);
        wish_placement_name(app, place, name);
        return move_done(p, "%s of %s:%s", name, wish_app_name(app), words.text);
}

/* From a random placement on, the first that picks N. */
static bool find_pick_n(struct player *p, struct dice *d, unsigned *ret_app, enum wish_place *ret_place)
{
        for (unsigned tries = 0; tries < 4; tries++)
                if (move_find_placement(p, d, ret_app, ret_place) &&
                    p->wish->apps[*ret_app].placements[*ret_place].policy.type == POLICY_PICK_N)
                        return true;
        return false;
}

int move_count(struct player *p, struct dice *d, struct error *err)
{
        struct wish_placement wanted;
        enum wish_place place;
        unsigned app, n;
        char name[64];

        if (!find_pick_n(p, d, &app, &place))
                return 0;
        wanted = p->wish->apps[app].placements[place];
        n = (unsigned)dice_below(d, p->fleet->n_members + 2);
        if (n == wanted.policy.n)
                return 0;
        wanted.count_ms = move_now(p);
        wanted.policy.n = n;
        NEED(put_placement(p, app, place, &wanted, err));
        wish_placement_name(app, place, name);
        return move_done(p, "%s of %s: n=%u", name, wish_app_name(app), n);
}

/* What is no longer selected has to go from all clusters. */
int move_select(struct player *p, struct dice *d, struct error *err)
{
        struct wish_placement wanted;
        struct words words = { 0 };
        enum wish_place place;
        unsigned app;
        char name[64];

        if (!move_find_placement(p, d, &app, &place) || place == PLACE_TWIN)
                return 0;
        wanted = p->wish->apps[app].placements[place];
        if (place == PLACE_PART)
                wanted.selection = wanted.selection == SELECT_SETTINGS ? SELECT_CONFIG_MAPS : SELECT_SETTINGS;
        else
                draw_main(&p->wish->apps[app], &wanted, d);
        NEED(put_placement(p, app, place, &wanted, err));
        say_selection(&words, &wanted);
        wish_placement_name(app, place, name);
        return move_done(p, "%s%s", name, words.text);
}

static int change_strategy(struct player *p, struct dice *d, bool of_apply, struct error *err)
{
        struct wish_placement wanted;
        struct words words = { 0 };
        enum wish_place place;
        unsigned app;
        char name[64];

        if (!move_find_placement(p, d, &app, &place))
                return 0;
        wanted = p->wish->apps[app].placements[place];
        if (of_apply)
                draw_apply(&wanted.strategy, d);
        else
                draw_rolling(&wanted.strategy, p->fleet->n_members, d);
        if (!of_apply) /* refused: nobody comes back from External */
                wanted.strategy.external_ms = 0;
        NEED(put_placement(p, app, place, &wanted, err));
        say_strategy(&words, &wanted.strategy);
        wish_placement_name(app, place, name);
        return move_done(p, "%s of %s:%s", name, wish_app_name(app), words.text);
}

int move_apply_strategy(struct player *p, struct dice *d, struct error *err)
{
        return change_strategy(p, d, true, err);
}

int move_rolling_update(struct player *p, struct dice *d, struct error *err)
{
        return change_strategy(p, d, false, err);
}

int move_make_external(struct player *p, unsigned app, enum wish_place place, struct error *err)
{
        struct wish_placement wanted = p->wish->apps[app].placements[place];
        char name[64];

        wanted.strategy.external_ms = move_now(p);
        NEED(put_placement(p, app, place, &wanted, err));
        wish_placement_name(app, place, name);
        return move_done(p, "%s of %s", name, wish_app_name(app));
}

/* From now on runs roll it out, or nobody does. */
int move_external(struct player *p, struct dice *d, struct error *err)
{
        enum wish_place place;
        unsigned app;

        if (!move_find_placement(p, d, &app, &place) ||
            p->wish->apps[app].placements[place].strategy.external_ms)
                return 0;
        return move_make_external(p, app, place, err);
}

int move_history(struct player *p, struct dice *d, struct error *err)
{
        struct wish_placement wanted;
        enum wish_place place;
        unsigned app;
        char name[64];

        if (!move_find_placement(p, d, &app, &place))
                return 0;
        wanted = p->wish->apps[app].placements[place];
        wanted.history_limit = draw_history(d);
        NEED(put_placement(p, app, place, &wanted, err));
        wish_placement_name(app, place, name);
        return move_done(p, "%s of %s: history=%u", name, wish_app_name(app), wanted.history_limit);
}

static void keep_one_cluster(struct wish_placement *wanted, int64_t now)
{
        if (wanted->policy.type != POLICY_PICK_N || wanted->policy.n == 1)
                return;
        wanted->policy.n = 1;
        wanted->count_ms = now;
}

int move_report_back(struct player *p, struct dice *d, struct error *err)
{
        static const char *const words[] = { "nowhere", "to Works", "to the originals" };
        struct wish_placement wanted;
        enum wish_place place;
        unsigned app;
        char name[64];

        if (!move_find_placement(p, d, &app, &place))
                return 0;
        wanted = p->wish->apps[app].placements[place];
        wanted.strategy.back = (enum wish_back)((wanted.strategy.back + 1 + dice_below(d, 2)) % 3);
        if (wanted.strategy.back == BACK_TO_ORIGINAL)
                keep_one_cluster(&wanted, move_now(p));
        NEED(put_placement(p, app, place, &wanted, err));
        wish_placement_name(app, place, name);
        return move_done(p, "%s of %s: %s", name, wish_app_name(app), words[wanted.strategy.back]);
}
