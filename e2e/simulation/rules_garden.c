/* The garden's agent at each step: what the branch has is not deleted, nor what a path had that cannot be
 * read or suddenly is empty; and nothing is written that is not its own. spec/flux-yaml.md 5.3, 7. */
#include "e2e/simulation/rules.h"

#define IGNORE "fluxcd.io/ignore"
/* What it decides by may be so old: it polls, waits for a slow remote, applies while messages are lost. */
#define LATE_MS 180000
#define READ_MS 30000 /* between listing what there is and deleting it */

static bool is_gardeners(const struct change *c)
{
        return text_equal(c->who, WISH_GARDENER) && text_equal(c->cluster, "hub");
}

/* Which piece of which bed it is; false: none. */
static bool find_piece(const struct change *c, unsigned *ret_bed, unsigned *ret_piece)
{
        for (*ret_bed = 0; *ret_bed < WISH_BEDS; ++*ret_bed)
                for (*ret_piece = 0; *ret_piece < WISH_PIECES; ++*ret_piece) {
                        const struct kube_resource *r = wish_piece_resource(*ret_piece);
                        char name[WISH_GARDEN_NAME], ns[WISH_GARDEN_NAME], resource[96];
                        bool namespaced;

                        wish_piece_place(*ret_bed, *ret_piece, name, ns, &namespaced);
                        snprintf(resource, sizeof(resource), "%s/%s", r->group, r->plural);
                        if (text_equal(c->resource, resource) && text_equal(c->name, name) &&
                            text_equal(c->ns, namespaced ? ns : ""))
                                return true;
                }
        return false;
}

static bool begins_to_go(const struct change *c)
{
        return c->before && !rule_is_leaving(c->before) && (!c->after || rule_is_leaving(c->after));
}

static bool is_left_alone(const json_t *doc)
{
        const char *const keys[] = { "metadata", "annotations", IGNORE };

        return text_equal(json_string_value(doc_get_keys(doc, keys, 3)), "true");
}

/* ---- kept ---- */

struct kept {
        int64_t left_ms[WISH_BEDS][WISH_PLOTS]; /* since when it says that it is to be left alone; 0: no */
};

static void note_left(struct kept *s, const struct change *c, unsigned bed, unsigned piece)
{
        if (piece >= WISH_PLOTS || !c->after)
                return;
        if (!is_left_alone(c->after))
                s->left_ms[bed][piece] = 0;
        else if (!s->left_ms[bed][piece])
                s->left_ms[bed][piece] = c->at_ms;
}

static bool is_unwanted(const struct wish_garden *g, unsigned bed, unsigned piece, int64_t now_ms)
{
        int64_t last = g->unwanted_ms[bed][piece];

        return (wish_garden_collects(g) && !wish_bed_has(&g->beds[bed], piece)) ||
               (last && now_ms - last < LATE_MS);
}

static void kept_changed(struct watch *w, void *state, const struct change *c)
{
        const struct wish_garden *g = &watch_wish(w)->garden;
        struct kept *s = state;
        unsigned bed, piece;

        if (!text_equal(c->cluster, "hub") || !find_piece(c, &bed, &piece))
                return;
        if (is_gardeners(c) && begins_to_go(c)) {
                watch_judged(w, &rule_garden_kept);
                if (!is_unwanted(g, bed, piece, c->at_ms))
                        watch_broken(w, &rule_garden_kept, "%s deletes %s %s/%s, which has to stay", c->who,
                                     c->resource, c->ns, c->name);
                else if (piece < WISH_PLOTS && s->left_ms[bed][piece] &&
                         c->asked_ms - s->left_ms[bed][piece] > READ_MS)
                        watch_broken(w, &rule_garden_kept, "%s deletes %s/%s, which says that it is to stay",
                                     c->who, c->ns, c->name);
        }
        note_left(s, c, bed, piece);
}

const struct rule rule_garden_kept = {
        .of_garden = true, .name = "garden-kept", .state_size = sizeof(struct kept), .changed = kept_changed
};

/* ---- nothing foreign ---- */

static bool is_own(const struct change *c)
{
        unsigned bed, piece;

        if (text_equal(c->resource, "/events") || text_equal(c->resource, RES_LEASES))
                return true;
        if (text_equal(c->resource, "/configmaps") && text_equal(c->ns, NAMESPACE_FLEET_SYSTEM))
                return text_equal(c->name, WISH_GARDEN_STATUS) || text_starts_with(c->name, "request-");
        return find_piece(c, &bed, &piece);
}

/* What a request asks for is its user's: only annotations answer. */
static bool is_reworded(const struct change *c)
{
        return text_starts_with(c->name, "request-") && c->before && c->after &&
               !json_equal(json_object_get(c->before, "data"), json_object_get(c->after, "data"));
}

static void foreign_changed(struct watch *w, void *state, const struct change *c)
{
        if (!text_equal(c->who, WISH_GARDENER))
                return;
        watch_judged(w, &rule_garden_foreign);
        if (!text_equal(c->cluster, "hub") || !is_own(c) || is_reworded(c))
                watch_broken(w, &rule_garden_foreign, "%s writes %s %s/%s on %s", c->who, c->resource, c->ns,
                             c->name, c->cluster);
}

const struct rule rule_garden_foreign = { .of_garden = true,
                                          .name = "garden-foreign",
                                          .changed = foreign_changed };

/* ---- order ---- */

/* A placement goes before the namespace that it selects, so that members are told first. */
static void order_changed(struct watch *w, void *state, const struct change *c)
{
        const json_t *placement;
        unsigned bed, piece;

        if (!is_gardeners(c) || !begins_to_go(c) || !find_piece(c, &bed, &piece) || piece < PIECE_NAMESPACE)
                return;
        if (piece == PIECE_JOB)
                return;
        watch_judged(w, &rule_garden_order);
        if (piece == PIECE_PLACEMENT)
                return; /* it is first */
        placement = watch_get(w, "hub", RES_PLACEMENTS, "", c->name);
        if (placement && !rule_is_leaving(placement))
                watch_broken(w, &rule_garden_order, "%s deletes namespace %s, and its placement stands",
                             c->who, c->name);
}

const struct rule rule_garden_order = { .of_garden = true, .name = "garden-order", .changed = order_changed };

/* ---- one answer ---- */

static const char *status_of(const json_t *doc)
{
        const char *const keys[] = { "metadata", "annotations", "fluxcd.io/request-status" };

        return or_empty(json_string_value(doc_get_keys(doc, keys, 3)));
}

static void answered_changed(struct watch *w, void *state, const struct change *c)
{
        const char *was = c->before ? status_of(c->before) : "";

        if (!is_gardeners(c) || !c->after || !text_starts_with(c->name, "request-"))
                return;
        watch_judged(w, &rule_garden_answered);
        if ((text_equal(was, "succeeded") || text_equal(was, "failed")) &&
            !text_equal(was, status_of(c->after)))
                watch_broken(w, &rule_garden_answered, "%s says that %s is %s, which was %s", c->who, c->name,
                             status_of(c->after), was);
}

const struct rule rule_garden_answered = { .of_garden = true,
                                           .name = "garden-answered",
                                           .changed = answered_changed };

/* ---- quiet ---- */

static bool is_of_garden_agent(const struct change *c)
{
        return text_equal(c->who, WISH_GARDENER);
}

/* When it last synced is a sign of life; what it cannot read, it says each time. */
bool rules_garden_speaks(const struct change *c)
{
        static const char *const no_news[] = { "syncedAt" };
        AUTO_JSON json_t *before = NULL;
        AUTO_JSON json_t *after = NULL;

        if (!is_of_garden_agent(c))
                return false;
        if (text_equal(c->resource, "/events"))
                return true;
        if (!text_equal(c->name, WISH_GARDEN_STATUS) || !c->before || !c->after)
                return false;
        before = doc_copy(doc_get_object(c->before, "data"));
        after = doc_copy(doc_get_object(c->after, "data"));
        for (size_t i = 0; i < ARRAY_LEN(no_news); i++) {
                json_object_del(before, no_news[i]);
                json_object_del(after, no_news[i]);
        }
        return json_equal(before, after);
}
