/* The garden at rest: what the hub has of the branch, what the agent tells, and where the sync tag is.
 * spec/flux-yaml.md 5.3, 7, 8. Compared with the stores and the repository. */
#include "common/base/memory.h"
#include "e2e/simulation/model_parts.h"
#include "e2e/simulation/sim_fleet.h"
#include "proto/names.h"

#define MARK "fluxcd.io/sync-gc-mark"
#define IGNORE "fluxcd.io/ignore"
#define REQUEST_STATUS "fluxcd.io/request-status"
#define REQUEST_COMMIT "fluxcd.io/request-commit"

struct garden_view {
        const struct wish_garden *wish;
        struct fleet *fleet;
        struct sim_git *git;
        struct git_hash head; /* of the branch */
};

static const json_t *get(const struct garden_view *v, const char *cluster, unsigned bed, unsigned piece)
{
        const struct kube_resource *r = wish_piece_resource(piece);
        char name[WISH_GARDEN_NAME], ns[WISH_GARDEN_NAME], resource[96];
        bool namespaced;

        wish_piece_place(bed, piece, name, ns, &namespaced);
        snprintf(resource, sizeof(resource), "%s/%s", r->group, r->plural);
        return sim_fleet_get(v->fleet, cluster, resource, namespaced ? ns : "", name);
}

static const char *text_of(const json_t *doc, const char *map, const char *key)
{
        const char *const keys[] = { "metadata", map, key };

        return json_string_value(doc_get_keys(doc, keys, 3));
}

static bool is_left_alone(const json_t *doc)
{
        return text_equal(text_of(doc, "annotations", IGNORE), "true");
}

/* ---- requests ---- */

static const json_t *request_doc(const struct garden_view *v, unsigned number)
{
        char name[WISH_GARDEN_NAME];

        return sim_fleet_get(v->fleet, "hub", "/configmaps", NAMESPACE_FLEET_SYSTEM,
                             wish_request_name(number, name));
}

static bool is_done(const struct garden_view *v, unsigned number)
{
        return text_equal(text_of(request_doc(v, number), "annotations", REQUEST_STATUS), "succeeded");
}

/* What it made is on the branch once, unless users have begun that anew since. */
static int judge_commit(const struct garden_view *v, unsigned number, const json_t *doc, struct error *err)
{
        const char *commit = text_of(doc, "annotations", REQUEST_COMMIT),
                   *type = doc_get_string(doc, "data.type");
        unsigned made = 0;
        bool has = false;

        if (text_equal(type, "sync") || text_equal(type, "collect") || number < v->wish->forced)
                return 0;
        TRY(sim_git_count_job(v->git, or_empty(doc_get_string(doc, "metadata.uid")), &made, err));
        if (text_empty(commit)) /* it failed, or changed nothing; or the answer of its push was lost */
                return made <= 1 ? 0 : error_set(err, ERR_INVALID, "request-%u: %u commits", number, made);
        TRY(sim_git_has(v->git, commit, &has, err));
        if (!has || made != 1)
                return error_set(err, ERR_INVALID, "request-%u: its commit %s is%s on the branch, of its %u",
                                 number, commit, has ? "" : " not", made);
        return 0;
}

static int judge_requests(const struct garden_view *v, struct error *err)
{
        for (unsigned i = 0; i < v->wish->requests; i++) {
                const json_t *doc = request_doc(v, i);
                const char *status = text_of(doc, "annotations", REQUEST_STATUS);

                if (doc && !text_equal(status, "succeeded") && !text_equal(status, "failed"))
                        return error_set(err, ERR_INVALID, "request-%u is \"%s\"", i, or_empty(status));
                if (doc)
                        TRY(judge_commit(v, i, doc, err));
        }
        return 0;
}

/* ---- pieces ---- */

/* Whoever confirmed that a bed is empty was heard, or was not: its request failed. */
static bool may_stay(const struct garden_view *v)
{
        const struct wish_garden *g = v->wish;

        if (!wish_garden_collects(g))
                return true;
        for (unsigned i = 0; i < WISH_BEDS; i++)
                if (g->beds[i].cleared && g->confirmed[i] && !is_done(v, g->confirms[i]))
                        return true;
        return false;
}

/* Users or a request said so, and the hub has it. */
static int judge_job(const struct garden_view *v, unsigned bed, const json_t *doc, struct error *err)
{
        const struct wish_garden *g = v->wish;
        const json_t *containers = doc_get_array(doc, "spec.jobTemplate.spec.template.spec.containers");
        const char *is = or_empty(doc_get_string(json_array_get(containers, 0), "image"));
        char image[32], one[32];
        bool locked, known;

        if (wish_bed_is_broken(&g->beds[bed]) || wish_bed_is_held(g, bed))
                return 0;
        TRY(sim_git_job(v->git, bed, image, &locked, err));
        snprintf(one, sizeof(one), "app:v%u", g->beds[bed].image);
        known = text_equal(image, one);
        for (unsigned i = 0; i < g->n_asked[bed]; i++) {
                snprintf(one, sizeof(one), "app:v%u", g->asked[bed][i]);
                known = known || text_equal(image, one);
        }
        if (!known)
                return error_set(err, ERR_INVALID, "has image %s on the branch, which nobody asked for",
                                 image);
        if (!text_equal(is, image))
                return error_set(err, ERR_INVALID, "has image %s, the branch %s", is, image);
        return locked == (text_of(doc, "annotations", "fluxcd.io/locked") != NULL)
                       ? 0
                       : error_set(err, ERR_INVALID, "is%s locked on the branch", locked ? "" : " not");
}

static int judge_wanted(const struct garden_view *v, unsigned bed, unsigned piece, const json_t *doc,
                        struct error *err)
{
        const struct wish_bed *b = &v->wish->good[bed];
        char color[32];

        if (piece < WISH_PLOTS && b->plots[piece].ignored)
                return 0;
        if (!doc || doc_get(doc, "metadata.deletionTimestamp"))
                return error_set(err, ERR_INVALID, "is not there");
        if (is_left_alone(doc))
                return 0;
        if (!text_of(doc, "labels", MARK))
                return error_set(err, ERR_INVALID, "does not say whose it is");
        if (piece >= WISH_PLOTS)
                return piece == PIECE_JOB ? judge_job(v, bed, doc, err) : 0;
        snprintf(color, sizeof(color), "c%u", b->plots[piece].color);
        return text_equal(doc_get_string(doc, "data.color"), color)
                       ? 0
                       : error_set(err, ERR_INVALID, "is %s, should be %s",
                                   or_empty(doc_get_string(doc, "data.color")), color);
}

static int judge_piece(const struct garden_view *v, unsigned bed, unsigned piece, struct error *err)
{
        const json_t *doc = get(v, "hub", bed, piece);

        if (wish_bed_has(&v->wish->good[bed], piece))
                return judge_wanted(v, bed, piece, doc, err);
        if (!doc || may_stay(v) || is_left_alone(doc) || !text_of(doc, "labels", MARK))
                return 0; /* without its mark, which a hand took, it is nobody's */
        return error_set(err, ERR_INVALID, "is there, the branch does not have it");
}

static int judge_neighbours(const struct garden_view *v, unsigned bed, struct error *err)
{
        char ns[WISH_GARDEN_NAME], name[WISH_GARDEN_NAME];

        if (!get(v, "hub", bed, PIECE_NAMESPACE) || v->wish->confirms[bed])
                return 0; /* it went with its namespace */
        for (unsigned i = 0; i < WISH_PLOTS; i++) {
                snprintf(name, sizeof(name), "own-%u", i);
                if (v->wish->neighbours[bed][i] &&
                    !text_equal(doc_get_string(sim_fleet_get(v->fleet, "hub", "/configmaps",
                                                             wish_bed_name(bed, ns), name),
                                               "data.color"),
                                "nobody's"))
                        return error_set(err, ERR_INVALID, "%s is not as its user left it", name);
        }
        return 0;
}

static int judge_beds(const struct garden_view *v, struct error *err)
{
        char name[WISH_GARDEN_NAME], ns[WISH_GARDEN_NAME];
        bool namespaced;

        for (unsigned bed = 0; bed < WISH_BEDS; bed++) {
                for (unsigned piece = 0; piece < WISH_PIECES; piece++)
                        if (judge_piece(v, bed, piece, err) < 0) {
                                wish_piece_place(bed, piece, name, ns, &namespaced);
                                return error_wrap(err, "%s %s/%s", wish_piece_resource(piece)->kind, ns,
                                                  name);
                        }
                if (judge_neighbours(v, bed, err) < 0)
                        return error_wrap(err, "bed-%u", bed);
        }
        return 0;
}

/* ---- what is told ---- */

static int expect(const json_t *data, const char *key, const char *wanted, struct error *err)
{
        const char *is = json_string_value(json_object_get(data, key));

        return text_equal(is, wanted) ? 0
                                      : error_set(err, ERR_INVALID, "status: %s is \"%s\", should be \"%s\"",
                                                  key, or_empty(is), or_empty(wanted));
}

static unsigned count_objects(const struct wish_bed *b)
{
        unsigned n = 0;

        for (unsigned piece = 0; piece < WISH_PIECES && !wish_bed_is_broken(b); piece++)
                n += wish_bed_has(b, piece);
        return n;
}

static int judge_status(const struct garden_view *v, struct error *err)
{
        const json_t *doc = sim_fleet_get(v->fleet, "hub", "/configmaps", NAMESPACE_FLEET_SYSTEM,
                                          WISH_GARDEN_STATUS),
                     *data = doc_get_object(doc, "data");
        unsigned objects = 0;
        char count[24];
        bool held = false;

        TRY(expect(data, "repository", "ready", err));
        TRY(expect(data, "head", v->head.hex, err));
        for (unsigned i = 0; i < WISH_BEDS; i++) {
                objects += count_objects(&v->wish->beds[i]);
                held = held || wish_bed_is_held(v->wish, i);
        }
        snprintf(count, sizeof(count), "%u", objects);
        TRY(expect(data, "objects", count, err));
        TRY(expect(data, "failed", "0", err));
        if (held && !wish_garden_is_broken(v->wish) && !json_object_get(data, "collectionHeld"))
                return error_set(err, ERR_INVALID, "status: it does not say that collection is held");
        if (wish_garden_is_broken(v->wish))
                return json_object_get(data, "errors")
                               ? 0
                               : error_set(err, ERR_INVALID, "status: it does not say what is broken");
        TRY(expect(data, "errors", NULL, err));
        return expect(data, "synced", v->head.hex, err);
}

static int judge_repository(const struct garden_view *v, struct error *err)
{
        struct git_hash tag = { "" };
        unsigned others;
        bool has;

        TRY(sim_git_has(v->git, v->wish->head, &has, err));
        if (!has)
                return error_set(err, ERR_INVALID, "the branch is at %s, and lost %s, where users left it",
                                 v->head.hex, v->wish->head);
        TRY(sim_git_other_tags(v->git, &others, err));
        if (others)
                return error_set(err, ERR_INVALID, "%u tags are left in the repository", others);
        if (wish_garden_is_broken(v->wish))
                return 0;
        if (sim_git_tag(v->git, &tag, NULL) < 0 || !git_hash_equal(&tag, &v->head))
                return error_set(err, ERR_INVALID, "the sync tag is at \"%s\", should be at %s", tag.hex,
                                 v->head.hex);
        return 0;
}

int model_judge_garden(struct fleet *f, const struct wish_garden *g, struct sim_git *git, struct error *err)
{
        struct garden_view v = { .wish = g, .fleet = f, .git = git };
        int code;

        if (!g->there)
                return 0;
        code = sim_git_head(git, &v.head, err);
        if (code == 0)
                code = judge_requests(&v, err);
        if (code == 0)
                code = judge_beds(&v, err);
        if (code == 0)
                code = judge_status(&v, err);
        if (code == 0)
                code = judge_repository(&v, err);
        return code < 0 ? error_wrap(err, "garden") : 0;
}

/* ---- members ---- */

/* Whoever was out of the fleet may have kept what went meanwhile. */
int model_judge_member_beds(struct fleet *f, const struct wish_garden *g, unsigned member, bool was_out,
                            struct error *err)
{
        const struct garden_view v = { .wish = g, .fleet = f };
        char cluster[FLEET_AGENT_NAME];

        snprintf(cluster, sizeof(cluster), "member-%u", member);
        for (unsigned bed = 0; bed < WISH_BEDS && g->there; bed++)
                for (unsigned plot = 0; plot < WISH_PLOTS; plot++) {
                        bool placed =
                                get(&v, "hub", bed, PIECE_PLACEMENT) && get(&v, "hub", bed, PIECE_NAMESPACE);
                        const json_t *hub = placed ? get(&v, "hub", bed, plot) : NULL,
                                     *here = get(&v, cluster, bed, plot);

                        if (hub && !here)
                                return error_set(err, ERR_INVALID, "%s: bed-%u/plot-%u is not there", cluster,
                                                 bed, plot);
                        if (!hub && here && !was_out)
                                return error_set(err, ERR_INVALID,
                                                 "%s: bed-%u/plot-%u is there, should be gone", cluster, bed,
                                                 plot);
                        if (hub && here &&
                            !text_equal(doc_get_string(hub, "data.color"),
                                        doc_get_string(here, "data.color")))
                                return error_set(err, ERR_INVALID, "%s: bed-%u/plot-%u is not as on the hub",
                                                 cluster, bed, plot);
                }
        return 0;
}
