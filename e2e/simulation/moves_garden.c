/* Users commit to the garden's repository, meddle with what is applied on the hub, and make requests; the
 * remote has troubles, and its agent dies. */
#include "common/base/memory.h"
#include "e2e/simulation/moves_internal.h"
#include "e2e/simulation/sim_fleet.h"
#include "e2e/simulation/sim_git.h"

#define COLORS 1000
#define IGNORE "fluxcd.io/ignore"
#define CHECKSUM "fluxcd.io/sync-checksum"
#define MARK "fluxcd.io/sync-gc-mark"

/* ---- what is told ---- */

static void say_bed(struct words *w, const struct wish_bed *b)
{
        words_add(w, "%s%s%s%s", b->cleared ? " cleared" : "", b->placed ? " placed" : "",
                  b->torn ? " torn" : "", b->gone ? " gone" : "");
        words_add(w, " v%u", b->image);
        for (unsigned i = 0; i < WISH_PLOTS; i++)
                if (b->plots[i].color)
                        words_add(w, " %u=%u%s%s", i, b->plots[i].color, b->plots[i].moved ? " moved" : "",
                                  b->plots[i].ignored ? " ignored" : "");
}

static int garden_done(struct player *p)
{
        const struct wish_garden *g = &p->wish->garden;
        struct words w = { 0 };

        for (unsigned i = 0; i < WISH_BEDS; i++) {
                words_add(&w, "%sbed-%u:", i ? "; " : "", i);
                say_bed(&w, &g->beds[i]);
        }
        return move_done(p, "%.7s %s", g->head, w.text);
}

/* ---- commits ---- */

/* What is pushed is noted before anybody can have seen it. */
static int commit(struct player *p, const struct wish_bed beds[WISH_BEDS], bool forced, struct error *err)
{
        TRY(sim_git_commit(p->git, beds, forced, err));
        wish_garden_note(&p->wish->garden, move_now(p));
        return garden_done(p);
}

static int commit_bed(struct player *p, unsigned bed, const struct wish_bed *wanted, struct error *err)
{
        struct wish_bed beds[WISH_BEDS];

        memcpy(beds, p->wish->garden.beds, sizeof(beds));
        beds[bed] = *wanted;
        return commit(p, beds, false, err);
}

typedef bool fits_fn(const struct wish_garden *g, unsigned bed);

static bool find_bed(const struct player *p, struct dice *d, fits_fn *fits, unsigned *ret)
{
        unsigned first = (unsigned)dice_below(d, WISH_BEDS);

        for (unsigned i = 0; i < WISH_BEDS && p->git; i++) {
                *ret = (first + i) % WISH_BEDS;
                if (fits(&p->wish->garden, *ret))
                        return true;
        }
        return false;
}

static bool is_whole(const struct wish_garden *g, unsigned bed)
{
        return !wish_bed_is_broken(&g->beds[bed]) && !g->beds[bed].cleared;
}

static bool is_poor(const struct wish_garden *g, unsigned bed)
{
        return !is_whole(g, bed);
}

static bool has_plots(const struct wish_garden *g, unsigned bed)
{
        for (unsigned i = 0; i < WISH_PLOTS; i++)
                if (g->beds[bed].plots[i].color && !g->beds[bed].cleared)
                        return true;
        return false;
}

static unsigned any_plot(const struct wish_bed *b, struct dice *d, bool there)
{
        unsigned first = (unsigned)dice_below(d, WISH_PLOTS);

        for (unsigned i = 0; i < WISH_PLOTS; i++)
                if ((b->plots[(first + i) % WISH_PLOTS].color != 0) == there)
                        return (first + i) % WISH_PLOTS;
        return first;
}

static unsigned draw_color(struct dice *d)
{
        return 1 + (unsigned)dice_below(d, COLORS);
}

/* Mostly of a bed that is as it should be. */
static bool find_any_bed(const struct player *p, struct dice *d, unsigned *ret)
{
        return find_bed(p, d, is_whole, ret) || find_bed(p, d, is_poor, ret);
}

int move_plot_add(struct player *p, struct dice *d, struct error *err)
{
        struct wish_bed b;
        unsigned bed, plot;

        if (!find_any_bed(p, d, &bed))
                return 0;
        b = p->wish->garden.beds[bed];
        plot = any_plot(&b, d, false);
        if (b.plots[plot].color)
                return 0;
        b.plots[plot] = (struct wish_plot){ .color = draw_color(d),
                                            .moved = dice_percent(d, 20),
                                            .ignored = dice_percent(d, 10) };
        return commit_bed(p, bed, &b, err);
}

int move_plot_change(struct player *p, struct dice *d, struct error *err)
{
        struct wish_bed b;
        unsigned bed, n;

        if (!find_bed(p, d, has_plots, &bed))
                return 0;
        b = p->wish->garden.beds[bed];
        n = 1 + (unsigned)dice_below(d, 2);
        while (n-- > 0)
                b.plots[any_plot(&b, d, true)].color = draw_color(d);
        return commit_bed(p, bed, &b, err);
}

int move_plot_remove(struct player *p, struct dice *d, struct error *err)
{
        struct wish_bed b;
        unsigned bed;

        if (!find_bed(p, d, has_plots, &bed))
                return 0;
        b = p->wish->garden.beds[bed];
        b.plots[any_plot(&b, d, true)] = (struct wish_plot){ 0 };
        return commit_bed(p, bed, &b, err);
}

int move_plot_rename(struct player *p, struct dice *d, struct error *err)
{
        struct wish_bed b;
        struct wish_plot *plot;
        unsigned bed;

        if (!find_bed(p, d, has_plots, &bed))
                return 0;
        b = p->wish->garden.beds[bed];
        plot = &b.plots[any_plot(&b, d, true)];
        plot->moved = !plot->moved;
        return commit_bed(p, bed, &b, err);
}

int move_plot_ignore(struct player *p, struct dice *d, struct error *err)
{
        struct wish_bed b;
        struct wish_plot *plot;
        unsigned bed;

        if (!find_bed(p, d, has_plots, &bed))
                return 0;
        b = p->wish->garden.beds[bed];
        plot = &b.plots[any_plot(&b, d, true)];
        plot->ignored = !plot->ignored;
        return commit_bed(p, bed, &b, err);
}

int move_bed_place(struct player *p, struct dice *d, struct error *err)
{
        struct wish_bed b;
        unsigned bed;

        if (!find_bed(p, d, is_whole, &bed))
                return 0;
        b = p->wish->garden.beds[bed];
        b.placed = !b.placed;
        return commit_bed(p, bed, &b, err);
}

/* The file is another then, whatever an update wrote into it. */
int move_job_change(struct player *p, struct dice *d, struct error *err)
{
        struct wish_bed b;
        unsigned bed;

        if (!find_bed(p, d, is_whole, &bed))
                return 0;
        b = p->wish->garden.beds[bed];
        b.image = b.image && dice_percent(d, 25) ? 0 : draw_color(d);
        return commit_bed(p, bed, &b, err);
}

/* ---- what cannot be synced ---- */

static const json_t *piece_of(const struct player *p, unsigned bed, unsigned piece)
{
        const struct kube_resource *r = wish_piece_resource(piece);
        char name[WISH_GARDEN_NAME], ns[WISH_GARDEN_NAME], resource[96];
        bool namespaced;

        wish_piece_place(bed, piece, name, ns, &namespaced);
        snprintf(resource, sizeof(resource), "%s/%s", r->group, r->plural);
        return sim_fleet_get(p->fleet, "hub", resource, namespaced ? ns : "", name);
}

/* The hub has what the bed has: who breaks it now knows what has to stay. */
static bool is_synced(const struct player *p, unsigned bed)
{
        const struct wish_bed *b = &p->wish->garden.beds[bed];
        char color[32];

        for (unsigned piece = 0; piece < WISH_PIECES; piece++) {
                const json_t *doc = piece_of(p, bed, piece);

                if (!doc != !wish_bed_has(b, piece) || doc_get(doc, "metadata.deletionTimestamp"))
                        return false;
                if (piece >= WISH_PLOTS || !doc)
                        continue;
                snprintf(color, sizeof(color), "c%u", b->plots[piece].color);
                if (b->plots[piece].ignored || !text_equal(doc_get_string(doc, "data.color"), color))
                        return false;
        }
        return p->git && is_whole(&p->wish->garden, bed);
}

static bool find_synced(const struct player *p, struct dice *d, unsigned *ret)
{
        unsigned first = (unsigned)dice_below(d, WISH_BEDS);

        for (unsigned i = 0; i < WISH_BEDS; i++) {
                *ret = (first + i) % WISH_BEDS;
                if (p->git && is_synced(p, *ret))
                        return true;
        }
        return false;
}

int move_bed_break(struct player *p, struct dice *d, struct error *err)
{
        struct wish_bed b;
        unsigned bed;

        if (!find_synced(p, d, &bed))
                return 0;
        b = p->wish->garden.beds[bed];
        if (dice_percent(d, 65))
                b.torn = true;
        else
                b.gone = true;
        return commit_bed(p, bed, &b, err);
}

static const char *annotation_of(const json_t *doc, const char *key)
{
        const char *const keys[] = { "metadata", "annotations", key };

        return json_string_value(doc_get_keys(doc, keys, 3));
}

/* It would confirm what comes now. */
static bool has_open_collect(const struct player *p)
{
        char name[WISH_GARDEN_NAME];

        for (unsigned i = 0; i < p->wish->garden.requests; i++) {
                const json_t *doc = sim_fleet_get(p->fleet, "hub", "/configmaps", "fleet-system",
                                                  wish_request_name(i, name));
                const char *status = annotation_of(doc, "fluxcd.io/request-status");

                if (text_equal(doc_get_string(doc, "data.type"), "collect") &&
                    !text_equal(status, "succeeded") && !text_equal(status, "failed"))
                        return true;
        }
        return false;
}

int move_bed_clear(struct player *p, struct dice *d, struct error *err)
{
        struct wish_bed b;
        unsigned bed;

        if (!find_synced(p, d, &bed) || has_open_collect(p))
                return 0;
        b = p->wish->garden.beds[bed];
        b.cleared = true;
        return commit_bed(p, bed, &b, err);
}

int move_bed_mend(struct player *p, struct dice *d, struct error *err)
{
        struct wish_bed b;
        unsigned bed;

        if (!find_bed(p, d, is_poor, &bed))
                return 0;
        b = p->wish->garden.beds[bed];
        b.torn = b.gone = b.cleared = false;
        if (dice_percent(d, 40))
                b.plots[any_plot(&b, d, true)] = (struct wish_plot){ 0 };
        return commit_bed(p, bed, &b, err);
}

/* The branch begins anew. */
int move_branch_force(struct player *p, struct dice *d, struct error *err)
{
        struct wish_bed beds[WISH_BEDS];
        unsigned bed = (unsigned)dice_below(d, WISH_BEDS), plot = (unsigned)dice_below(d, WISH_PLOTS);

        if (!p->git)
                return 0;
        memcpy(beds, p->wish->garden.beds, sizeof(beds));
        beds[bed].plots[plot] = (struct wish_plot){ .color = dice_percent(d, 50) ? draw_color(d) : 0 };
        return commit(p, beds, true, err);
}

int move_tag_move(struct player *p, struct dice *d, struct error *err)
{
        bool away = dice_percent(d, 30);

        if (!p->git || !sim_git_move_tag(p->git, away))
                return 0;
        return move_done(p, away ? "it is gone" : "to the first commit");
}

/* ---- by hand on the hub ---- */

static int patch_plot(struct player *p, unsigned bed, unsigned plot, json_t *doc, struct error *err)
{
        AUTO_JSON json_t *patch = doc;
        char name[WISH_GARDEN_NAME], ns[WISH_GARDEN_NAME];
        struct kube_client *hub;
        bool namespaced;

        if (!patch)
                return error_no_memory(err);
        wish_piece_place(bed, plot, name, ns, &namespaced);
        TRY(move_client(p, 0, &hub, err));
        return kube_doc_patch(hub, wish_piece_resource(plot), ns, name, KUBE_PATCH_MERGE, patch, NULL, NULL,
                              err);
}

/* Of a bed that is looked after. */
static bool find_live_plot(struct player *p, struct dice *d, unsigned *ret_bed, unsigned *ret_plot)
{
        unsigned first = (unsigned)dice_below(d, WISH_PLOTS);

        if (!find_bed(p, d, is_whole, ret_bed))
                return false;
        for (unsigned i = 0; i < WISH_PLOTS; i++) {
                const json_t *doc;

                *ret_plot = (first + i) % WISH_PLOTS;
                doc = piece_of(p, *ret_bed, *ret_plot);
                if (doc && !doc_get(doc, "metadata.deletionTimestamp"))
                        return true;
        }
        return false;
}

static json_t *draw_edit(struct dice *d)
{
        switch (dice_below(d, 3)) {
        case 0:
                return json_pack("{s:{s:s}}", "data", "color", "mine");
        case 1: /* a label that it cannot do without, and its sum */
                return json_pack("{s:{s:{s:n}, s:{s:n}}, s:{s:s}}", "metadata", "labels", MARK, "annotations",
                                 CHECKSUM, "data", "color", "mine");
        default:
                return json_pack("{s:{s:n, s:s}}", "data", "color", "more", "mine");
        }
}

int move_plot_edit(struct player *p, struct dice *d, struct error *err)
{
        unsigned bed, plot;
        int code;

        if (!find_live_plot(p, d, &bed, &plot) || !p->wish->garden.beds[bed].plots[plot].color)
                return 0;
        code = patch_plot(p, bed, plot, draw_edit(d), err);
        return code < 0 ? move_refused(p, code, err) : move_done(p, "bed-%u/plot-%u", bed, plot);
}

int move_plot_delete(struct player *p, struct dice *d, struct error *err)
{
        char name[WISH_GARDEN_NAME], ns[WISH_GARDEN_NAME];
        struct kube_client *hub;
        unsigned bed, plot;
        bool namespaced;
        int code;

        if (!find_live_plot(p, d, &bed, &plot))
                return 0;
        TRY(move_client(p, 0, &hub, err));
        wish_piece_place(bed, plot, name, ns, &namespaced);
        code = kube_doc_delete(hub, wish_piece_resource(plot), ns, name, NULL, NULL, err);
        return code < 0 ? move_refused(p, code, err) : move_done(p, "bed-%u/plot-%u", bed, plot);
}

/* It is left alone from now on, or not any more. */
int move_plot_leave(struct player *p, struct dice *d, struct error *err)
{
        unsigned bed, plot;
        bool was;
        int code;

        if (!find_live_plot(p, d, &bed, &plot))
                return 0;
        was = annotation_of(piece_of(p, bed, plot), IGNORE) != NULL;
        code = patch_plot(p, bed, plot,
                          json_pack("{s:{s:{s:s?}}}", "metadata", "annotations", IGNORE, was ? NULL : "true"),
                          err);
        return code < 0 ? move_refused(p, code, err)
                        : move_done(p, "bed-%u/plot-%u%s", bed, plot, was ? " no more" : "");
}

/* A copy with all its labels, under another name. */
int move_plot_neighbour(struct player *p, struct dice *d, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        struct kube_client *hub;
        char ns[WISH_GARDEN_NAME];
        unsigned bed, plot;
        int code;

        if (!find_live_plot(p, d, &bed, &plot) || p->wish->garden.neighbours[bed][plot])
                return 0;
        TRY(move_client(p, 0, &hub, err));
        doc = wish_neighbour_plot(bed, plot, doc_get(piece_of(p, bed, plot), "metadata.labels"));
        if (!doc)
                return error_no_memory(err);
        code = kube_doc_create(hub, wish_piece_resource(plot), wish_bed_name(bed, ns), doc, NULL, NULL, err);
        if (code < 0)
                return move_refused(p, code, err);
        p->wish->garden.neighbours[bed][plot] = true;
        return move_done(p, "bed-%u/own-%u", bed, plot);
}

/* ---- requests ---- */

static int request(struct player *p, json_t *data, struct error *err)
{
        AUTO_JSON json_t *doc = wish_garden_request(p->wish->garden.requests, data);
        struct kube_client *hub;

        if (!doc)
                return error_no_memory(err);
        p->wish->garden.requests++;
        TRY(move_client(p, 0, &hub, err));
        return kube_doc_create(hub, wish_piece_resource(0), "fleet-system", doc, NULL, NULL, err);
}

/* That a request reached the hub whose answer was lost is not known: a refused one has no number. */
static int ask_for(struct player *p, json_t *data, const char *words, struct error *err)
{
        int code = request(p, data, err);

        if (code < 0) {
                p->wish->garden.requests--;
                return move_refused(p, code, err);
        }
        return move_done(p, "request-%u: %s", p->wish->garden.requests - 1, words);
}

static int ask(struct player *p, const char *type, struct error *err)
{
        return ask_for(p, json_pack("{s:s}", "type", type), type, err);
}

static bool has_job(const struct wish_garden *g, unsigned bed)
{
        return is_whole(g, bed) && g->beds[bed].image && g->n_asked[bed] < WISH_ASKED;
}

/* Noted before it is asked for. */
int move_garden_image(struct player *p, struct dice *d, struct error *err)
{
        struct wish_garden *g = &p->wish->garden;
        char workload[64], image[32];
        unsigned bed, color;

        if (!find_bed(p, d, has_job, &bed))
                return 0;
        color = draw_color(d);
        g->asked[bed][g->n_asked[bed]++] = color;
        snprintf(workload, sizeof(workload), "bed-%u:cronjob/job", bed);
        snprintf(image, sizeof(image), "app:v%u", color);
        return ask_for(p,
                       json_pack("{s:s, s:s, s:s, s:s*}", "type", "image", "workloads", workload, "image",
                                 image, "force", dice_percent(d, 50) ? "true" : NULL),
                       image, err);
}

int move_garden_policy(struct player *p, struct dice *d, struct error *err)
{
        bool locks = dice_percent(d, 55);
        char workload[64];
        unsigned bed;

        if (!find_bed(p, d, has_job, &bed))
                return 0;
        snprintf(workload, sizeof(workload), "bed-%u:cronjob/job", bed);
        return ask_for(p,
                       json_pack("{s:s, s:s, s:s}", "type", "policy", "workloads", workload,
                                 locks ? "add" : "remove", locks ? "locked=true" : "locked"),
                       locks ? "lock" : "unlock", err);
}

int move_garden_sync(struct player *p, struct dice *d, struct error *err)
{
        return p->git ? ask(p, "sync", err) : 0;
}

static bool is_held(const struct wish_garden *g, unsigned bed)
{
        return wish_bed_is_held(g, bed);
}

/* It confirms whatever is empty by then: noted before it is asked for. */
int move_garden_collect(struct player *p, struct dice *d, struct error *err)
{
        struct wish_garden *g = &p->wish->garden;
        unsigned bed;

        if (!find_bed(p, d, is_held, &bed))
                return 0;
        for (unsigned i = 0; i < WISH_BEDS; i++)
                if (wish_bed_is_held(g, i)) {
                        g->confirmed[i] = true;
                        g->confirms[i] = g->requests;
                }
        wish_garden_note(g, move_now(p));
        return ask(p, "collect", err);
}

/* ---- accidents ---- */

static int remote_done(struct player *p)
{
        static const char *const remotes[] = { "answers", "is slow", "fails", "hangs", "babbles", "refuses" };

        return move_done(p, "it %s", remotes[p->wish->garden.remote]);
}

int move_remote_trouble(struct player *p, struct dice *d, struct error *err)
{
        if (!p->git)
                return 0;
        p->wish->garden.remote = 1 + (unsigned)dice_below(d, WISH_REMOTES - 1);
        return remote_done(p);
}

int move_remote_answer(struct player *p, struct dice *d, struct error *err)
{
        if (!p->git || p->wish->garden.remote == REMOTE_ANSWERS)
                return 0;
        p->wish->garden.remote = REMOTE_ANSWERS;
        return remote_done(p);
}

static int stop(struct player *p, struct dice *d, bool hard, struct error *err)
{
        static const char *const losses[] = { "", ", its folder is lost", ", its folder is damaged" };
        enum sim_git_loss loss = dice_percent(d, 50) ? LOSS_NONE : 1 + (unsigned)dice_below(d, 2);

        if (!p->git || p->gardener_down)
                return 0;
        TRY(moves_keep_gardener(p, err));
        TRY(p->fleet->ops->stop_agent(p->fleet, WISH_GARDENER, hard, err));
        p->gardener_down = true;
        sim_git_lose_work(p->git, loss);
        return move_done(p, "%s%s", hard ? "killed" : "stopped", losses[loss]);
}

int move_kill_gardener(struct player *p, struct dice *d, struct error *err)
{
        return stop(p, d, true, err);
}

int move_stop_gardener(struct player *p, struct dice *d, struct error *err)
{
        return stop(p, d, false, err);
}

int move_start_gardener(struct player *p, struct dice *d, struct error *err)
{
        if (!p->git || !p->gardener_down)
                return 0;
        TRY(p->fleet->ops->start_agent(p->fleet, WISH_GARDENER, err));
        p->gardener_down = false;
        return move_done(p, WISH_GARDENER);
}

int moves_keep_gardener(struct player *p, struct error *err)
{
        int code = -1;

        if (!p->git || p->gardener_down)
                return 0;
        TRY(p->fleet->ops->exit_code(p->fleet, WISH_GARDENER, &code, err));
        if (code < 0)
                return 0;
        log_info(p->log, "agent ended by itself, starting it again", "agent", WISH_GARDENER);
        return p->fleet->ops->start_agent(p->fleet, WISH_GARDENER, err);
}

int moves_heal_garden(struct player *p, struct error *err)
{
        p->wish->garden.remote = REMOTE_ANSWERS;
        if (!p->git || !p->gardener_down)
                return moves_keep_gardener(p, err);
        p->gardener_down = false;
        return p->fleet->ops->start_agent(p->fleet, WISH_GARDENER, err);
}
