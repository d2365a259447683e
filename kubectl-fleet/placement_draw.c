/* The tree of one placement: the snapshot, the clusters, their Works, and the objects that are not well. */
#include "common/base/timefmt.h"
#include "hub-agent/common.h"
#include "kubectl-fleet/placement_view.h"

#define CLUSTERS_SHOWN 20 /* of those that are well, without --all */
#define OBJECTS_SHOWN 5   /* of one cluster and one trouble, without --all */

struct drawing {
        const struct placement_view *view;
        struct placement_drawing *d;
        struct tree tree;
};

static struct screen *screen_of(struct drawing *g)
{
        return &g->d->screen;
}

static void draw_head(struct drawing *g)
{
        const struct placement_summary *v = &g->view->summary;
        const struct object *o = &v->placement->object;
        struct screen *s = screen_of(g);

        tree_branch(&g->tree, 0, true);
        screen_text(s, TONE_STRONG, "%s %s%s%s", o->kind->kind, or_empty(o->meta.ns), o->meta.ns ? "/" : "",
                    o->meta.name);
        screen_text(s, TONE_PLAIN, "  %s  ", v->policy);
        screen_bar(s, &v->progress);
        screen_text(s, tone_of(v->standing), "  %s", v->word);
        tree_end_line(&g->tree);
}

static void draw_scheduled(struct drawing *g)
{
        const struct condition *c = g->view->scheduled;

        if (!c || text_equal(c->status, CONDITION_TRUE))
                return;
        tree_branch(&g->tree, 1, false);
        screen_text(screen_of(g), TONE_BAD, "Scheduled %s", c->status);
        screen_text(screen_of(g), TONE_PLAIN, "  %s: %s", or_empty(c->reason), or_empty(c->message));
        tree_end_line(&g->tree);
}

static void draw_snapshot(struct drawing *g)
{
        const struct placement_view *v = g->view;
        const struct placement_status *status = v->summary.placement->status;
        struct screen *s = screen_of(g);
        char age[32] = "";

        tree_branch(&g->tree, 1, v->n_clusters == 0);
        screen_text(s, TONE_PLAIN, "snapshot %s", v->snapshot ? v->snapshot : "none yet");
        if (status && status->selected_resources.n)
                screen_text(s, TONE_PLAIN, "  %u resource%s", status->selected_resources.n,
                            status->selected_resources.n == 1 ? "" : "s");
        if (v->snapshot && v->snapshot_ms != TIME_NONE) {
                duration_format_human(MAX(0, g->d->now_ms - v->snapshot_ms), age, sizeof(age));
                screen_text(s, TONE_FAINT, "  %s old", age);
        }
        tree_end_line(&g->tree);
}

/* ---- clusters ---- */

struct branches {
        struct drawing *g;
        size_t n, at; /* below one cluster */
};

static void begin(struct branches *b)
{
        tree_branch(&b->g->tree, 2, ++b->at == b->n);
}

static size_t shown(const struct drawing *g, size_t n)
{
        return g->d->all || n <= OBJECTS_SHOWN + 1 ? n : OBJECTS_SHOWN;
}

static size_t lines_for(const struct drawing *g, size_t n)
{
        return shown(g, n) + (shown(g, n) < n);
}

static void draw_more(struct branches *b, size_t n)
{
        if (shown(b->g, n) == n)
                return;
        begin(b);
        screen_text(screen_of(b->g), TONE_FAINT, "and %zu more; --all shows them", n - shown(b->g, n));
        tree_end_line(&b->g->tree);
}

static void draw_failed(struct branches *b, const struct failed_placement_list *l)
{
        char text[RESOURCE_TEXT_SIZE];

        for (size_t i = 0; i < shown(b->g, l->n); i++) {
                const struct resource_identifier *id = &l->at[i].id;
                const struct condition *c = l->at[i].condition;

                begin(b);
                screen_text(screen_of(b->g), TONE_BAD, "%s", resource_text(id->kind, id->ns, id->name, text));
                if (c)
                        screen_text(screen_of(b->g), TONE_PLAIN, "  %s %s: %s", or_empty(c->type),
                                    or_empty(c->reason), or_empty(c->message));
                tree_end_line(&b->g->tree);
        }
        draw_more(b, l->n);
}

static void draw_changed(struct branches *b, const struct resource_identifier *id, size_t fields,
                         const char *how)
{
        char text[RESOURCE_TEXT_SIZE];

        begin(b);
        screen_text(screen_of(b->g), TONE_BUSY, "%s", resource_text(id->kind, id->ns, id->name, text));
        screen_text(screen_of(b->g), TONE_PLAIN, "  %s in %zu field%s", how, fields, fields == 1 ? "" : "s");
        tree_end_line(&b->g->tree);
}

static void draw_works(struct branches *b, const struct cluster_view *c)
{
        if (!c->n_works)
                return;
        begin(b);
        screen_text(screen_of(b->g), TONE_PLAIN, "work%s", c->n_works == 1 ? "" : "s");
        for (size_t i = 0; i < c->n_works; i++)
                screen_text(screen_of(b->g), TONE_PLAIN, "%s %s", i ? "," : "", c->works[i]);
        tree_end_line(&b->g->tree);
}

static void draw_below(struct drawing *g, const struct cluster_view *c)
{
        const struct binding_status *status = c->binding->status;
        struct failed_placement_list failed = LIST_OR_NONE(status ? status->failed_placements : NULL);
        struct drifted_placement_list drifted = LIST_OR_NONE(status ? status->drifted_placements : NULL);
        struct diffed_placement_list diffed = LIST_OR_NONE(status ? status->diffed_placements : NULL);
        struct branches b = { .g = g };

        b.n = (c->n_works > 0) + lines_for(g, failed.n) + lines_for(g, drifted.n) + lines_for(g, diffed.n);
        draw_works(&b, c);
        draw_failed(&b, &failed);
        for (size_t i = 0; i < shown(g, drifted.n); i++)
                draw_changed(&b, &drifted.at[i].id, drifted.at[i].observed_drifts.n, "drifted");
        draw_more(&b, drifted.n);
        for (size_t i = 0; i < shown(g, diffed.n); i++)
                draw_changed(&b, &diffed.at[i].id, diffed.at[i].observed_diffs.n, "differs");
        draw_more(&b, diffed.n);
}

static bool is_external(const struct placement *p)
{
        return p->spec && p->spec->strategy && text_equal(p->spec->strategy->type, ROLLOUT_EXTERNAL);
}

static void draw_cluster(struct drawing *g, const struct cluster_view *c, size_t width, bool last)
{
        struct screen *s = screen_of(g);
        const char *latest = g->view->latest;

        tree_branch(&g->tree, 1, last);
        screen_text(s, TONE_PLAIN, "%-*s  ", (int)width, c->cluster);
        if (*c->revision)
                screen_text(s, TONE_PLAIN, "revision %s", c->revision);
        if (*c->revision && *latest && !text_equal(c->revision, latest))
                screen_text(s, TONE_BUSY, " (%s is latest)", latest);
        if (*c->revision)
                screen_text(s, TONE_PLAIN, "  ");
        screen_text(s, tone_of(c->word.standing), "%s", c->word.word);
        if (c->word.standing != STANDING_DONE && c->word.because && !text_empty(c->word.because->message))
                screen_text(s, TONE_PLAIN, "  %s", c->word.because->message);
        else if (c->word.standing == STANDING_WAITS && is_external(g->view->summary.placement))
                screen_text(s, TONE_FAINT, "  for an update run");
        tree_end_line(&g->tree);
        draw_below(g, c);
}

void placement_draw(const struct placement_view *v, struct placement_drawing *d)
{
        struct drawing g = { .view = v, .d = d, .tree = { .screen = &d->screen } };
        size_t n_well = 0, left_out = 0, width = 0;

        for (size_t i = 0; i < v->n_clusters; i++) {
                n_well += v->clusters[i].word.standing == STANDING_DONE;
                width = MAX(width, strlen(v->clusters[i].cluster));
        }
        if (!d->all && n_well > CLUSTERS_SHOWN + 1)
                left_out = n_well - CLUSTERS_SHOWN; /* they stand last */
        draw_head(&g);
        draw_scheduled(&g);
        draw_snapshot(&g);
        for (size_t i = 0; i + left_out < v->n_clusters; i++)
                draw_cluster(&g, &v->clusters[i], width, i + 1 == v->n_clusters);
        if (!left_out)
                return;
        tree_branch(&g.tree, 1, true);
        screen_text(&d->screen, TONE_FAINT, "and %zu more clusters that are well; --all shows them",
                    left_out);
        tree_end_line(&g.tree);
}
