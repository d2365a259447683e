/* The answers in lines: all clusters, or one of them requirement by requirement. */
#include "common/kube/selector.h"
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
        struct arena *arena;
};

/* "✔ region=west  it is east" */
static void draw_requirement(struct answer *a, int holds, bool last, const char *text, const char *actual)
{
        struct screen *s = a->tree.screen;
        enum tone tone = holds > 0 ? TONE_GOOD : TONE_BAD;

        tree_branch(&a->tree, 2, last);
        screen_text(s, tone, "%s",
                    s->drawn ? (holds > 0 ? "✔ " : "✘ ") : (holds > 0 ? "holds  " : "fails  "));
        screen_text(s, TONE_PLAIN, "%s", text);
        screen_text(s, TONE_FAINT, actual ? "  it is %s" : "  the cluster has none", actual);
        tree_end_line(&a->tree);
}

static int draw_label(struct answer *a, const struct label_selector *one, const char *key, bool last)
{
        const struct string_map *labels = &a->cluster->object.meta.labels;
        AUTO_BUF struct buf text;

        buf_init(&text, 65536);
        if (label_selector_print(one, &text) < 0)
                return ERR_NO_MEMORY;
        draw_requirement(a, label_selector_matches(one, labels), last, text.data,
                         string_map_get(labels, key));
        return 0;
}

static int draw_labels(struct answer *a, const struct label_selector *l, size_t *left)
{
        for (uint32_t i = 0; l && i < l->match_labels.n; i++) {
                struct label_selector one = { .match_labels = { &l->match_labels.at[i], 1, true } };

                TRY(draw_label(a, &one, l->match_labels.at[i].key, --*left == 0));
        }
        for (uint32_t i = 0; l && i < l->match_expressions.n; i++) {
                struct label_selector one = { .match_expressions = { &l->match_expressions.at[i], 1, true } };

                TRY(draw_label(a, &one, l->match_expressions.at[i].key, --*left == 0));
        }
        return 0;
}

static void draw_properties(struct answer *a, const struct property_selector *p, size_t *left)
{
        for (uint32_t i = 0; p && i < p->match_expressions.n; i++) {
                const struct property_requirement *r = &p->match_expressions.at[i];
                char text[512];

                snprintf(text, sizeof(text), "%s %s %s", or_empty(r->name), or_empty(r->operator),
                         r->values.n ? r->values.at[0] : "");
                draw_requirement(a, cluster_meets(r, a->cluster, NULL), --*left == 0, text,
                                 cluster_property_text(a->cluster, or_empty(r->name)));
        }
}

static size_t requirements_of(const struct cluster_selector_term *t)
{
        const struct label_selector *l = t->label_selector;

        return (l ? l->match_labels.n + l->match_expressions.n : 0) +
               (t->property_selector ? t->property_selector->match_expressions.n : 0);
}

static int draw_term(struct answer *a, const struct cluster_selector_term *t, const char *title)
{
        size_t left = requirements_of(t);

        tree_branch(&a->tree, 1, false);
        screen_text(a->tree.screen, TONE_PLAIN, "%s", title);
        tree_end_line(&a->tree);
        TRY(draw_labels(a, t->label_selector, &left));
        draw_properties(a, t->property_selector, &left);
        return 0;
}

static int draw_affinity(struct answer *a, const struct placement_policy *p)
{
        const struct cluster_affinity *c = p && p->affinity ? p->affinity->cluster_affinity : NULL;
        char title[128];

        for (uint32_t i = 0; c && c->required && i < c->required->terms.n; i++) {
                snprintf(title, sizeof(title),
                         c->required->terms.n > 1 ? "required, term %u of %u" : "required", i + 1,
                         c->required->terms.n);
                TRY(draw_term(a, &c->required->terms.at[i], title));
        }
        for (uint32_t i = 0; c && i < c->preferred.n; i++) {
                if (!c->preferred.at[i].preference)
                        continue;
                snprintf(title, sizeof(title), "preferred, weight %lld",
                         (long long)c->preferred.at[i].weight.value);
                TRY(draw_term(a, c->preferred.at[i].preference, title));
        }
        return 0;
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
        struct answer a = { .tree = { .screen = s }, .cluster = c->verdict->cluster, .arena = arena };
        const struct placement_policy *policy = v->placement->spec ? v->placement->spec->policy : NULL;
        const struct object *o = &v->placement->object;

        tree_branch(&a.tree, 0, true);
        screen_text(s, TONE_STRONG, "%s", a.cluster->object.meta.name);
        screen_text(s, c->tone, " %s%s", text_starts_with(c->word, "would") ? "" : "is ", c->word);
        screen_text(s, TONE_PLAIN, " for %s %s%s%s (%s)", o->kind->kind, or_empty(o->meta.ns),
                    o->meta.ns ? "/" : "", o->meta.name, v->policy);
        tree_end_line(&a.tree);
        draw_problem(v, s);
        TRY(draw_affinity(&a, policy));
        draw_taints(&a);
        if (c->held)
                draw_fact(&a, false, "binding", c->held->object.meta.name);
        if (c->told)
                draw_fact(&a, false, "the scheduler said", or_empty(c->told->reason));
        draw_fact(&a, true, "now", c->because);
        return 0;
}
