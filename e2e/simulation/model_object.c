/* Each object of an application on a member: there or not, whose it is, what it holds, and what its
 * placements have to tell of it. spec/member-agent.md 2.5 to 2.12. */
#include "e2e/simulation/model_parts.h"

/* What a placement has to do with an object on a member. */
enum claim {
        CLAIM_NONE,
        CLAIM_LOOSE, /* it may be there from before, in whatever form */
        CLAIM_WANTS
};

/* One object on one member, and everything about it. */
struct placed {
        const struct wish *w;
        unsigned app, slot;
        const struct model_member *m;
        const struct model_place *places;
        const json_t *live;
        bool owned[WISH_PLACES]; /* by one of that placement's Works */
        unsigned owners;         /* Works that own it */
        json_t *rendered[WISH_PLACES];
        enum claim claims[WISH_PLACES];
};

static const struct wish_strategy *strategy_of(const struct placed *o, unsigned place)
{
        return &o->w->apps[o->app].placements[place].strategy;
}

/* Kinds whose objects servers fill in: what more there is than was asked for tells nothing. */
static bool is_filled_in(unsigned slot)
{
        return slot == SLOT_HOME || slot == SLOT_WEB || slot == SLOT_JOB || slot == SLOT_DEFINITION;
}

static bool is_in_home(unsigned slot)
{
        return slot < SLOT_NAMESPACED;
}

/* A user's own, or one that a user changed by hand. */
static bool is_foreign(const struct placed *o)
{
        const struct wish_foreign *f = &o->w->members[o->m->index].foreign[o->app];

        return (o->slot == SLOT_ROLE && f->role) || (o->slot == SLOT_SETTINGS && f->settings) ||
               (o->slot == SLOT_HOME && f->home);
}

static bool was_meddled_with(const struct placed *o)
{
        return o->slot < WISH_SLOTS && o->w->members[o->m->index].meddled_ms[o->app][o->slot] > 0;
}

/* ---- whose it is ---- */

/* Names of Works: BASE-work, BASE-N, and what comes of an envelope in one of them. */
static bool is_work_of(const char *work, unsigned app, enum wish_place place)
{
        char name[64], base[160];

        wish_placement_name(app, place, name);
        if (place == PLACE_PART)
                snprintf(base, sizeof(base), "%s.%s-", wish_app_name(app), name);
        else
                snprintf(base, sizeof(base), "%s-", name);
        return text_starts_with(work, base);
}

static int find_owners(struct placed *o, struct error *err)
{
        json_t *ref;
        size_t i;

        json_array_foreach(doc_get_array(o->live, "metadata.ownerReferences"), i, ref) {
                const char *name = doc_get_string(ref, "name");
                bool known = false;

                if (!text_equal(doc_get_string(ref, "kind"), "AppliedWork"))
                        continue;
                o->owners++;
                for (unsigned place = 0; place < WISH_PLACES; place++)
                        if (is_work_of(name, o->app, place)) {
                                o->owned[place] = known = true;
                                if (o->claims[place] == CLAIM_NONE && !o->m->cleaning)
                                        return error_set(err, ERR_INVALID,
                                                         "it is owned by %s, which does not place it there",
                                                         name);
                        }
                if (!known)
                        return error_set(err, ERR_INVALID, "it is owned by %s of nobody", name);
        }
        if (o->owners > 1 && !o->m->cleaning)
                return error_set(err, ERR_INVALID, "%u Works own it, should be one", o->owners);
        return 0;
}

static int find_held(struct placed *o, unsigned place, const struct model_held *h, struct error *err)
{
        bool has = o->slot == SLOT_HOME ? h->home : h->objects[o->slot].exists;

        if (has) {
                o->rendered[place] = o->slot == SLOT_HOME
                                             ? json_object()
                                             : wish_placed_as(o->app, o->slot, &h->objects[o->slot]);
                if (!o->rendered[place])
                        return error_no_memory(err);
                o->claims[place] = CLAIM_WANTS;
        } else if (model_reports(&o->places[place], o->w)) {
                o->claims[place] = CLAIM_LOOSE;
        }
        return 0;
}

static int find_claim(struct placed *o, unsigned place, struct error *err)
{
        const struct model_place *p = &o->places[place];
        bool chosen = p->chosen >> o->m->index & 1, selected, absent = false;

        if (!p->doc)
                return 0;
        if (p->external && chosen && p->held[o->m->index])
                return find_held(o, place, p->held[o->m->index], err);
        if (p->frozen || p->external ||
            (chosen && (p->outcomes[o->m->index] == OUTCOME_BLOCKED ||
                        p->outcomes[o->m->index] == OUTCOME_NOT_OVERRIDDEN)) ||
            (!chosen && p->may_linger)) {
                o->claims[place] = CLAIM_LOOSE;
                return 0;
        }
        selected = o->slot == SLOT_HOME ? wish_selects_namespace(o->w, o->app, place)
                                        : wish_selected(o->w, o->app, place) >> o->slot & 1;
        if (chosen && selected && o->slot == SLOT_HOME)
                o->rendered[place] = json_object();
        else if (chosen && selected)
                o->rendered[place] = model_rendered(o->w, o->app, place, o->slot, o->m->index, &absent);
        if (chosen && selected && !absent && !o->rendered[place])
                return error_no_memory(err);
        if (o->rendered[place])
                o->claims[place] = CLAIM_WANTS;
        else if (chosen && model_reports(p, o->w)) /* what it applied in another mode, it keeps */
                o->claims[place] = CLAIM_LOOSE;
        return 0;
}

/* ---- availability: spec/member-agent.md 2.12 ---- */

static bool is_web_ready(const json_t *web)
{
        int64_t replicas = doc_get_int(web, "spec.replicas", 1);

        return doc_get_int(web, "status.observedGeneration", -1) ==
                       doc_get_int(web, "metadata.generation", 0) &&
               doc_get_int(web, "status.availableReplicas", 0) == replicas &&
               doc_get_int(web, "status.updatedReplicas", 0) == replicas &&
               doc_get_int(web, "status.unavailableReplicas", 0) == 0;
}

static bool is_definition_ready(const json_t *definition)
{
        const json_t *status = doc_get_object(definition, "status");

        return text_equal(doc_get_string(model_condition(status, "Established"), "status"), "True") &&
               text_equal(doc_get_string(model_condition(status, "NamesAccepted"), "status"), "True");
}

static void judge_availability(const struct placed *o, struct model_tells *ret)
{
        ret->untrackable = o->slot == SLOT_JOB || o->slot == SLOT_WIDGET;
        ret->unready = (o->slot == SLOT_WEB && !is_web_ready(o->live)) ||
                       (o->slot == SLOT_DEFINITION && !is_definition_ready(o->live));
}

/* ---- what it holds ---- */

/* Whether a comparison as configured finds something. What is there beyond the manifest counts in a full one;
 * in a partial one of a server-side apply, if it was applied once. */
static enum model_tell finds(const struct placed *o, unsigned place, const struct model_difference *d)
{
        if (d->differs)
                return TELL_MUST;
        if (strategy_of(o, place)->compare == COMPARE_FULL)
                return is_filled_in(o->slot) ? TELL_MAY : d->more ? TELL_MUST : TELL_NOT;
        return d->more && model_reports(&o->places[place], o->w) ? TELL_MAY : TELL_NOT;
}

static int is_not_as_rendered(const struct placed *o, unsigned place, const struct model_difference *d,
                              struct error *err)
{
        char text[96];

        return error_set(err, ERR_INVALID, "its %s is not what %s renders", d->path,
                         model_place_text(o->app, place, text));
}

/* What is too large to be noted on itself is applied as if server-side, and never by force: what a user wrote
 * in it stays, and that is a failure (spec 2.10). */
static bool may_conflict(const struct placed *o, unsigned place)
{
        return o->slot >= SLOT_BIG && o->slot < SLOT_WEB &&
               strategy_of(o, place)->apply == APPLY_CLIENT_SIDE && was_meddled_with(o);
}

static int judge_content(const struct placed *o, unsigned place, const struct model_difference *d,
                         struct model_tells *ret, struct error *err)
{
        const struct wish_strategy *s = strategy_of(o, place);
        bool by_hand = was_meddled_with(o) || is_foreign(o);

        if (d->differs && s->when != WHEN_NOT_DRIFTED && may_conflict(o, place)) {
                ret->failed = TELL_MUST;
                return 0;
        }
        if (d->differs && (s->when != WHEN_NOT_DRIFTED || !by_hand))
                return is_not_as_rendered(o, place, d, err);
        if (d->more && !is_filled_in(o->slot) && !by_hand)
                return error_set(err, ERR_INVALID, "it has %s, which nobody put there", d->extra);
        ret->drifted =
                s->compare == COMPARE_FULL || s->when == WHEN_NOT_DRIFTED ? finds(o, place, d) : TELL_NOT;
        if (d->differs && may_conflict(o, place)) /* with another manifest since, it was not compared */
                ret->drifted = MIN(ret->drifted, TELL_MAY);
        if (s->when == WHEN_NOT_DRIFTED)
                ret->failed = d->differs ? TELL_MUST : MIN(ret->drifted, TELL_MAY);
        judge_availability(o, ret);
        if (d->differs) /* what was not applied is not looked at */
                ret->unready = false;
        return 0;
}

/* What is held back holds something that was asked for once, before others were to roll it out; unless a run
 * has brought it something newer. */
static int judge_loose(const struct placed *o, unsigned place, struct error *err)
{
        const struct wish_strategy *s = strategy_of(o, place);
        bool kept = s->external_ms && o->w->apps[o->app].n_runs[place] == 0;
        int64_t until = kept ? s->external_ms + MODEL_SLACK_MS : INT64_MAX;
        unsigned color;

        if (!o->live || !o->owned[place] || o->slot == SLOT_HOME || was_meddled_with(o) || is_foreign(o))
                return 0;
        if (!wish_color(o->slot, o->live, &color))
                return error_set(err, ERR_INVALID, "it holds nothing that was ever asked for");
        if (!wish_was_asked(o->w, o->app, o->slot, color, until))
                return error_set(err, ERR_INVALID, "it holds %u, which was not asked for in time", color);
        return 0;
}

/* An object that is not this placement's. */
static int judge_not_taken(const struct placed *o, unsigned place, const struct model_difference *d,
                           struct model_tells *ret, struct error *err)
{
        const struct wish_strategy *s = strategy_of(o, place);
        char text[96];

        if (s->take_over == TAKE_OVER_NEVER) {
                if (model_reports(&o->places[place], o->w))
                        ret->diffed = finds(o, place, d);
                else
                        ret->failed = TELL_MUST;
                return 0;
        }
        if (o->owners > 0) {
                ret->failed = TELL_MUST;
                return 0;
        }
        /* What may be a difference was one, or it would have been taken. */
        if (s->take_over == TAKE_OVER_NO_DIFF && finds(o, place, d) != TELL_NOT)
                ret->failed = ret->diffed = TELL_MUST;
        else
                return error_set(err, ERR_INVALID, "%s should have taken it over",
                                 model_place_text(o->app, place, text));
        return 0;
}

/* Why something cannot be there: what it needs is not. */
static bool lacks_ground(const struct placed *o)
{
        if (o->slot == SLOT_WIDGET && !o->m->live(o->m->ctx, o->app, SLOT_DEFINITION))
                return true;
        return is_in_home(o->slot) && !o->m->live(o->m->ctx, o->app, SLOT_HOME);
}

static int judge_missing(const struct placed *o, unsigned place, struct model_tells *ret, struct error *err)
{
        if (model_reports(&o->places[place], o->w)) {
                /* A kind that is not served may fail to be compared, or be known from before and not found.
                 */
                ret->diffed = TELL_MUST;
                if (o->slot == SLOT_WIDGET && !o->m->live(o->m->ctx, o->app, SLOT_DEFINITION))
                        ret->failed = TELL_MAY;
                return 0;
        }
        ret->failed = TELL_MUST;
        return lacks_ground(o) ? 0 : error_set(err, ERR_INVALID, "it is not there");
}

static int judge_wanted(const struct placed *o, unsigned place, struct model_tells *ret, struct error *err)
{
        struct model_difference d;

        if (!o->live)
                return judge_missing(o, place, ret, err);
        model_differ(o->rendered[place], o->live, &d);
        if (o->slot == SLOT_HOME)
                d = (struct model_difference){ .more = d.more };
        if (!o->owned[place])
                return judge_not_taken(o, place, &d, ret, err);
        if (!model_reports(&o->places[place], o->w))
                return judge_content(o, place, &d, ret, err);
        ret->diffed = finds(o, place, &d);
        return 0;
}

/* Nobody wants it: it is a user's own, or gone. */
static int judge_unwanted(const struct placed *o, struct error *err)
{
        if (!o->live || is_foreign(o) || o->m->cleaning)
                return 0;
        return error_set(err, ERR_INVALID, "it is there, should be gone");
}

/* ---- one object, all objects ---- */

static void clear(struct placed *o)
{
        for (unsigned place = 0; place < WISH_PLACES; place++)
                json_decref(o->rendered[place]);
}

static int judge_object(struct placed *o, struct model_tells tells[WISH_PLACES][MODEL_SLOTS],
                        struct error *err)
{
        enum claim most = CLAIM_NONE;

        for (unsigned place = 0; place < WISH_PLACES; place++) {
                TRY(find_claim(o, place, err));
                most = MAX(most, o->claims[place]);
        }
        TRY(find_owners(o, err));
        if (most == CLAIM_NONE)
                return judge_unwanted(o, err);
        for (unsigned place = 0; place < WISH_PLACES; place++)
                if (o->claims[place] == CLAIM_WANTS)
                        TRY(judge_wanted(o, place, &tells[place][o->slot], err));
                else if (o->claims[place] == CLAIM_LOOSE)
                        TRY(judge_loose(o, place, err));
        return 0;
}

static int judge_slot(const struct wish *w, unsigned app, unsigned slot, const struct model_place *places,
                      const struct model_member *m, struct model_tells tells[WISH_PLACES][MODEL_SLOTS],
                      struct error *err)
{
        struct placed o = { .w = w, .app = app, .slot = slot, .m = m, .places = places };
        char text[128];
        int code;

        o.live = m->live(m->ctx, app, slot);
        code = judge_object(&o, tells, err);
        clear(&o);
        return code < 0 ? error_wrap(err, "%s on member-%u", model_slot_text(app, slot, text), m->index) : 0;
}

int model_judge_app(const struct wish *w, unsigned app, const struct model_place places[WISH_PLACES],
                    const struct model_member *m, struct error *err)
{
        struct model_tells tells[WISH_PLACES][MODEL_SLOTS] = { 0 };

        /* The namespace first: without it nothing else can be there. */
        TRY(judge_slot(w, app, SLOT_HOME, places, m, tells, err));
        for (unsigned slot = 0; slot < WISH_SLOTS; slot++)
                TRY(judge_slot(w, app, slot, places, m, tells, err));
        for (unsigned place = 0; place < WISH_PLACES; place++)
                if (places[place].doc && (!places[place].external || places[place].held[m->index]) &&
                    (places[place].chosen >> m->index & 1))
                        TRY(model_judge_report(w, &places[place], m->index, tells[place], err));
        return 0;
}
