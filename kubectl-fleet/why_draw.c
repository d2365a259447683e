/* The answers in lines: all clusters, or one of them requirement by requirement. */
#include "kubectl-fleet/placement_view.h"
#include "kubectl-fleet/why_view.h"

static void draw_problem(const struct why_view *v, struct screen *s)
{
        size_t start = s->out->len;

        if (!v->problem)
                return;
        screen_text(s, TONE_BAD, "%s", v->problem);
        screen_end_line(s, start);
}

void why_draw(const struct why_view *v, struct screen *s, bool headless)
{
        static const char *const headers[] = { "CLUSTER", "STATE", "WHY" };
        const struct object *o = &v->placement->object;
        size_t start = s->out->len;
        struct table t;

        screen_text(s, TONE_STRONG, "%s %s%s%s", o->kind->kind, or_empty(o->meta.ns), o->meta.ns ? "/" : "",
                    o->meta.name);
        screen_text(s, TONE_PLAIN, "  %s", v->policy);
        screen_end_line(s, start);
        draw_problem(v, s);
        table_open(&t, s, headers, ARRAY_LEN(headers), headless);
        for (size_t i = 0; i < v->n_clusters; i++) {
                const struct why_cluster *c = &v->clusters[i];

                table_cell(&t, TONE_PLAIN, "%s", c->verdict->cluster->object.meta.name);
                table_cell(&t, c->tone, "%s", c->word);
                table_cell(&t, TONE_PLAIN, "%s", c->because);
                table_end_row(&t);
        }
        table_print(&t);
        table_close(&t);
}

/* ---- one cluster ---- */

struct answer {
        struct tree tree;
        const struct member_cluster *cluster;
};

/* "✔ region=west  it is east" */
static void draw_requirement(struct answer *a, const struct why_requirement *r, bool last)
{
        struct screen *s = a->tree.screen;

        tree_branch(&a->tree, 2, last);
        screen_text(s, r->holds ? TONE_GOOD : TONE_BAD, "%s",
                    s->drawn ? (r->holds ? "✔ " : "✘ ") : (r->holds ? "holds  " : "fails  "));
        screen_text(s, TONE_PLAIN, "%s", r->text);
        screen_text(s, TONE_FAINT, r->actual ? "  it is %s" : "  the cluster has none", r->actual);
        tree_end_line(&a->tree);
}

static void draw_terms(struct answer *a, const struct why_terms *terms)
{
        for (size_t i = 0; i < terms->n; i++) {
                const struct why_term *t = &terms->at[i];

                tree_branch(&a->tree, 1, false);
                screen_text(a->tree.screen, TONE_PLAIN, "%s", t->title);
                tree_end_line(&a->tree);
                for (size_t k = 0; k < t->n; k++)
                        draw_requirement(a, &t->at[k], k + 1 == t->n);
        }
}

static void draw_fact(struct answer *a, bool last, const char *title, const char *text)
{
        tree_branch(&a->tree, 1, last);
        screen_text(a->tree.screen, TONE_PLAIN, "%s: %s", title, text);
        tree_end_line(&a->tree);
}

static void draw_taints(struct answer *a)
{
        const struct member_cluster_spec *spec = a->cluster->spec;

        for (uint32_t i = 0; spec && i < spec->taints.n; i++) {
                char text[512];

                snprintf(text, sizeof(text), "%s=%s:%s", or_empty(spec->taints.at[i].key),
                         or_empty(spec->taints.at[i].value), or_empty(spec->taints.at[i].effect));
                draw_fact(a, false, "taint", text);
        }
}

int why_draw_cluster(const struct why_view *v, const struct why_cluster *c, struct screen *s,
                     struct arena *arena)
{
        struct answer a = { .tree = { .screen = s }, .cluster = c->verdict->cluster };
        const struct object *o = &v->placement->object;
        struct why_terms terms;

        TRY(why_terms_of(arena, v, c, SIZE_MAX, NULL, &terms));
        tree_branch(&a.tree, 0, true);
        screen_text(s, TONE_STRONG, "%s", a.cluster->object.meta.name);
        screen_text(s, c->tone, " %s%s", text_starts_with(c->word, "would") ? "" : "is ", c->word);
        screen_text(s, TONE_PLAIN, " for %s %s%s%s (%s)", o->kind->kind, or_empty(o->meta.ns),
                    o->meta.ns ? "/" : "", o->meta.name, v->policy);
        tree_end_line(&a.tree);
        draw_problem(v, s);
        draw_terms(&a, &terms);
        draw_taints(&a);
        if (c->held)
                draw_fact(&a, false, "binding", c->held->object.meta.name);
        if (c->told)
                draw_fact(&a, false, "the scheduler said", c->said);
        draw_fact(&a, true, "now", c->because);
        return 0;
}
