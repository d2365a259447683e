/* ClusterObjectSets on a member at rest, and the objects they name: what follows from what users asked. Which
 * of several states that are right a set came to, it says itself: whether it was archived by a later one,
 * whether it ever succeeded. spec/cluster-object-set.md 4, 5, 6, 9, 12, 14. */
#include "e2e/simulation/model_parts.h"

#define LABEL_OWNER "olm.operatorframework.io/owner-name"
#define ANNOTATION_REVISION "olm.operatorframework.io/revision"
#define FINALIZER "olm.operatorframework.io/teardown"
#define RECORDS 5 /* of an owner that are kept */

/* One ship on one member. */
struct voyage {
        const struct wish_ship *wish;
        const struct model_sets *live;
        unsigned ship;
        const json_t *sets[WISH_REVISIONS]; /* NULL: not there */
        const json_t *cargo[WISH_CARGO];
};

/* ---- small things ---- */

static bool stands(const struct voyage *v, unsigned revision)
{
        return v->sets[revision] &&
               text_equal(doc_get_string(v->sets[revision], "spec.lifecycleState"), "Active");
}

static const json_t *condition_of(const json_t *set, const char *type)
{
        return model_condition(doc_get_object(set, "status"), type);
}

static bool has_succeeded(const struct voyage *v, unsigned revision)
{
        return text_equal(doc_get_string(condition_of(v->sets[revision], "Succeeded"), "status"), "True");
}

static const json_t *controller_of(const json_t *doc)
{
        json_t *owner;
        size_t i;

        json_array_foreach(doc_get_array(doc, "metadata.ownerReferences"), i, owner)
                if (doc_get_bool(owner, "controller", false))
                        return owner;
        return NULL;
}

/* The revision that controls an object; WISH_REVISIONS: none of the ship's. */
static unsigned holder_of(const struct voyage *v, const json_t *doc)
{
        const char *uid = doc_get_string(controller_of(doc), "uid");

        for (unsigned i = 0; uid && i < WISH_REVISIONS; i++)
                if (text_equal(doc_get_string(v->sets[i], "metadata.uid"), uid))
                        return i;
        return WISH_REVISIONS;
}

/* ---- what it holds can be known ---- */

static bool lacks_secret(const struct voyage *v, unsigned revision)
{
        const char *message = doc_get_string(condition_of(v->sets[revision], "Progressing"), "message");

        return message && strstr(message, "getting Secret");
}

/* What was read once stands in for a Secret that is gone, unless it was lost with the machine. */
static bool is_resolved(const struct voyage *v, unsigned revision)
{
        enum wish_secret secret = v->wish->sets[revision].secret;

        return secret == SECRET_UNUSED || secret == SECRET_THERE ||
               (secret == SECRET_GONE && !lacks_secret(v, revision));
}

/* ---- how far it is ---- */

static bool is_ready(const struct voyage *v, unsigned revision, unsigned cargo)
{
        const struct wish_set *s = &v->wish->sets[revision];

        if (holder_of(v, v->cargo[cargo]) != revision && has_succeeded(v, revision))
                return true;
        if (cargo == CARGO_CREW)
                return !v->wish->stalled;
        return cargo != CARGO_ASKED || !s->asks ||
               text_equal(doc_get_string(v->cargo[cargo], "data.ready"), s->wants_yes ? "yes" : "no");
}

/* Its own, or a later one's. */
static bool is_held(const struct voyage *v, unsigned revision, unsigned cargo)
{
        unsigned holder = holder_of(v, v->cargo[cargo]);

        return holder == revision || (holder < WISH_REVISIONS && holder > revision && stands(v, holder));
}

static bool is_complete(const struct voyage *v, unsigned revision, unsigned phase)
{
        const struct wish_set *s = &v->wish->sets[revision];

        for (unsigned i = 0; i < WISH_CARGO; i++)
                if (s->items[i].wanted && s->items[i].phase == phase &&
                    (!is_held(v, revision, i) || !is_ready(v, revision, i)))
                        return false;
        return true;
}

/* The first phase that is not complete; the number of phases if there is none. */
static unsigned frontier(const struct voyage *v, unsigned revision)
{
        unsigned phase = 0, n = wish_set_phases(&v->wish->sets[revision]);

        while (phase < n && is_complete(v, revision, phase))
                phase++;
        return phase;
}

/* It looks after the object now. */
static bool reaches(const struct voyage *v, unsigned revision, unsigned cargo)
{
        const struct wish_item *item = &v->wish->sets[revision].items[cargo];

        return stands(v, revision) && item->wanted && is_resolved(v, revision) &&
               (has_succeeded(v, revision) || item->phase <= frontier(v, revision));
}

static bool collides(const struct voyage *v, unsigned revision)
{
        for (unsigned i = 0; i < WISH_CARGO; i++)
                if (reaches(v, revision, i) && v->cargo[i] && !is_held(v, revision, i))
                        return true;
        return false;
}

/* ---- objects ---- */

static int judge_content(const struct voyage *v, unsigned revision, unsigned cargo, struct error *err)
{
        const struct wish_set *s = &v->wish->sets[revision];
        const json_t *doc = v->cargo[cargo];
        const char *more = doc_get_string(doc, "data.more");
        unsigned color = UINT32_MAX;

        if (!wish_cargo_color(cargo, doc, &color) || color != s->items[cargo].color)
                return error_set(err, ERR_INVALID, "it holds %u, revision %u wants %u", color, revision + 1,
                                 s->items[cargo].color);
        if (wish_cargo_slot(cargo) == SLOT_SETTINGS && !more == s->items[cargo].more)
                return error_set(err, ERR_INVALID, "its field more is%s there", more ? "" : " not");
        if (cargo == CARGO_ASKED &&
            !text_equal(doc_get_string(doc, "data.ready"), s->says_yes ? "yes" : "no"))
                return error_set(err, ERR_INVALID, "it does not say whether it is ready as it should");
        return 0;
}

static int judge_marks(const struct voyage *v, unsigned revision, const json_t *doc, struct error *err)
{
        static const char *const number[] = { "metadata", "annotations", ANNOTATION_REVISION },
                                 *const owner[] = { "metadata", "labels", LABEL_OWNER };
        char text[16], ship[WISH_SHIP_NAME];

        snprintf(text, sizeof(text), "%u", revision + 1);
        if (!text_equal(json_string_value(doc_get_keys(doc, number, 3)), text) ||
            !text_equal(json_string_value(doc_get_keys(doc, owner, 3)), wish_ship_name(v->ship, ship)))
                return error_set(err, ERR_INVALID, "its marks are not those of revision %u", revision + 1);
        return 0;
}

/* The latest revision that looks after it; WISH_REVISIONS: none. */
static unsigned claimant_of(const struct voyage *v, unsigned cargo)
{
        for (unsigned i = WISH_REVISIONS; i-- > 0;)
                if (reaches(v, i, cargo))
                        return i;
        return WISH_REVISIONS;
}

/* What was read of the manifests and what the state file said are both gone: a set that is archived waits for
 * its Secret, and has what it has. docs/object-sets.md */
static bool waits_for_secret(const struct voyage *v, unsigned revision)
{
        const struct wish_set *s = &v->wish->sets[revision];
        const char *message = doc_get_string(condition_of(v->sets[revision], "Progressing"), "message");

        return v->wish->disk_failed && (s->archived || s->outlived) && !stands(v, revision) &&
               (s->secret == SECRET_GONE || s->secret == SECRET_MISSING) && lacks_secret(v, revision) &&
               text_starts_with(message, "error archiving revision: ");
}

static int judge_held(const struct voyage *v, unsigned holder, unsigned cargo, struct error *err)
{
        const struct wish_stray *stray = &v->wish->strays[cargo];
        unsigned claimant = claimant_of(v, cargo);

        if (waits_for_secret(v, holder))
                return judge_marks(v, holder, v->cargo[cargo], err);
        if (!stands(v, holder) || !v->wish->sets[holder].items[cargo].wanted)
                return error_set(err, ERR_INVALID, "revision %u controls it, which should not", holder + 1);
        if (v->wish->sets[holder].secret == SECRET_MISSING || v->wish->sets[holder].secret == SECRET_MUTABLE)
                return error_set(err, ERR_INVALID, "revision %u has it, and cannot know of it", holder + 1);
        if (stray->there && !stray->maybe)
                return error_set(err, ERR_INVALID, "revision %u took a user's own", holder + 1);
        if (claimant < WISH_REVISIONS && claimant > holder)
                return error_set(err, ERR_INVALID, "revision %u has it, %u should", holder + 1, claimant + 1);
        TRY(judge_marks(v, holder, v->cargo[cargo], err));
        return reaches(v, holder, cargo) ? judge_content(v, holder, cargo, err) : 0;
}

/* Nobody's of this ship: a user's own, or left behind. All who want it may not have it. */
static int judge_stray(const struct voyage *v, unsigned cargo, struct error *err)
{
        const struct wish_stray *stray = &v->wish->strays[cargo];
        const json_t *doc = v->cargo[cargo];
        unsigned color = 0;

        if (!stray->there && !stray->left)
                return error_set(err, ERR_INVALID, "it is there, should be gone");
        if (stray->there && !stray->maybe && !stray->left &&
            (!wish_cargo_color(cargo, doc, &color) || color != stray->color))
                return error_set(err, ERR_INVALID, "it is a user's own, who wrote %u, and holds %u",
                                 stray->color, color);
        for (unsigned i = 0; i < WISH_REVISIONS; i++)
                if (reaches(v, i, cargo) &&
                    wish_may_adopt(&v->wish->sets[i], cargo, controller_of(doc) != NULL))
                        return error_set(err, ERR_INVALID, "revision %u should have adopted it", i + 1);
        return 0;
}

static int judge_absent(const struct voyage *v, unsigned cargo, struct error *err)
{
        const struct wish_stray *stray = &v->wish->strays[cargo];
        unsigned claimant = claimant_of(v, cargo);

        if (stray->there && !stray->maybe)
                return error_set(err, ERR_INVALID, "it was a user's own, and is gone");
        return claimant < WISH_REVISIONS
                       ? error_set(err, ERR_INVALID, "it is not there, revision %u wants it", claimant + 1)
                       : 0;
}

static int judge_cargo(const struct voyage *v, unsigned cargo, struct error *err)
{
        unsigned holder = holder_of(v, v->cargo[cargo]);

        if (!v->cargo[cargo])
                return judge_absent(v, cargo, err);
        if (doc_get(v->cargo[cargo], "metadata.deletionTimestamp"))
                return error_set(err, ERR_INVALID, "it is still being deleted");
        return holder < WISH_REVISIONS ? judge_held(v, holder, cargo, err) : judge_stray(v, cargo, err);
}

/* ---- sets ---- */

static int expect(const json_t *set, const char *type, const char *status, const char *reason,
                  struct error *err)
{
        const json_t *c = condition_of(set, type);
        const char *is = doc_get_string(c, "status"), *why = doc_get_string(c, "reason"),
                   *message = doc_get_string(c, "message");

        if (!text_equal(is, status) || (reason && !text_equal(why, reason)))
                return error_set(err, ERR_INVALID, "%s is %s %s (%s), should be %s %s", type, is ? is : "not",
                                 why ? why : "", message ? message : "", status, reason ? reason : "");
        if (!text_equal(reason, "Archived") && /* nobody looks at what is edited afterwards */
            doc_get_int(c, "observedGeneration", -1) != doc_get_int(set, "metadata.generation", 0))
                return error_set(err, ERR_INVALID, "%s is of another generation", type);
        return 0;
}

static bool has_finalizer(const json_t *set)
{
        json_t *f;
        size_t i;

        json_array_foreach(doc_get_array(set, "metadata.finalizers"), i, f)
                if (text_equal(json_string_value(f), FINALIZER))
                        return true;
        return false;
}

static bool is_followed(const struct voyage *v, unsigned revision)
{
        for (unsigned i = revision + 1; i < WISH_REVISIONS; i++)
                if (stands(v, i) && has_succeeded(v, i))
                        return true;
        return false;
}

static int judge_archived(const struct voyage *v, unsigned revision, struct error *err)
{
        const json_t *set = v->sets[revision];

        if (!v->wish->sets[revision].archived && !v->wish->sets[revision].outlived)
                return error_set(err, ERR_INVALID, "it is archived, nobody asked for that");
        if (has_finalizer(set) && waits_for_secret(v, revision))
                return expect(set, "Progressing", "True", "Retrying", err);
        if (has_finalizer(set))
                return error_set(err, ERR_INVALID, "it is archived and has its finalizer");
        TRY(expect(set, "Progressing", "False", "Archived", err));
        return expect(set, "Available", "Unknown", "Archived", err);
}

static int judge_active(const struct voyage *v, unsigned revision, struct error *err)
{
        enum wish_secret secret = v->wish->sets[revision].secret;
        const json_t *set = v->sets[revision];

        if (v->wish->sets[revision].archived || is_followed(v, revision))
                return error_set(err, ERR_INVALID, "it is active, should be archived");
        if (secret == SECRET_MUTABLE)
                return expect(set, "Progressing", "False", "Blocked", err);
        if (!is_resolved(v, revision)) {
                TRY(expect(set, "Progressing", "True", "Retrying", err));
                return lacks_secret(v, revision) ? 0 : error_set(err, ERR_INVALID, "it misses no Secret");
        }
        if (!has_finalizer(set))
                return error_set(err, ERR_INVALID, "it has no finalizer");
        if (collides(v, revision)) {
                TRY(expect(set, "Progressing", "True", "Retrying", err));
                return strstr(doc_get_string(condition_of(set, "Progressing"), "message"), "collisions")
                               ? 0
                               : error_set(err, ERR_INVALID, "it does not say that it collides");
        }
        if (frontier(v, revision) < wish_set_phases(&v->wish->sets[revision])) {
                TRY(expect(set, "Progressing", "True", "RollingOut", err));
                return expect(set, "Available", "False", NULL, err);
        }
        TRY(expect(set, "Progressing", "True", "Succeeded", err));
        TRY(expect(set, "Available", "True", "ProbesSucceeded", err));
        return expect(set, "Succeeded", "True", NULL, err);
}

/* Of an owner's archived sets the agent keeps the newest. */
static bool may_be_forgotten(const struct voyage *v, unsigned revision)
{
        unsigned later = 0;

        for (unsigned i = revision + 1; i < WISH_REVISIONS; i++)
                later += v->wish->sets[i].made;
        return later >= RECORDS;
}

static int judge_set(const struct voyage *v, unsigned revision, struct error *err)
{
        const struct wish_set *s = &v->wish->sets[revision];

        if (!v->sets[revision])
                return s->exists && !may_be_forgotten(v, revision)
                               ? error_set(err, ERR_INVALID, "it is not there")
                               : 0;
        if (!s->exists)
                return error_set(err, ERR_INVALID, "it is there, should be gone");
        return stands(v, revision) ? judge_active(v, revision, err) : judge_archived(v, revision, err);
}

/* ---- all ---- */

static void look(struct voyage *v)
{
        char name[WISH_SHIP_NAME];

        for (unsigned i = 0; i < WISH_REVISIONS; i++)
                v->sets[i] = model_find(v->live->sets, wish_set_name(v->ship, i, name));
        for (unsigned i = 0; i < WISH_CARGO; i++)
                v->cargo[i] = model_find(i == CARGO_CREW   ? v->live->deployments
                                         : i == CARGO_ROLE ? v->live->roles
                                                           : v->live->config_maps,
                                         wish_cargo_name(v->ship, i, name));
}

int model_judge_ship(const struct wish_ship *wish, unsigned ship, const struct model_sets *live,
                     struct error *err)
{
        struct voyage v = { .wish = wish, .live = live, .ship = ship };
        char name[WISH_SHIP_NAME];

        look(&v);
        for (unsigned i = 0; i < WISH_REVISIONS; i++)
                if (judge_set(&v, i, err) < 0)
                        return error_wrap(err, "ClusterObjectSet %s", wish_set_name(ship, i, name));
        for (unsigned i = 0; i < WISH_CARGO; i++)
                if (judge_cargo(&v, i, err) < 0)
                        return error_wrap(err, "%s", wish_cargo_name(ship, i, name));
        return 0;
}
