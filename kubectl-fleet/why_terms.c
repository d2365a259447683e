/* Requirements of a policy one by one, beside what a cluster has. */
#include "common/kube/selector.h"
#include "kubectl-fleet/why_view.h"

#define REQUIREMENT_BYTES 65536

struct terms {
        struct arena *arena;
        const struct member_cluster *cluster;
        size_t left;                 /* requirements for which there is room */
        const struct why_term *like; /* whose words these are, too; NULL */
        struct why_term *term;
};

/* NULL: they are to be written. */
static const char *known_text(const struct terms *t)
{
        return t->like ? t->like->at[t->term->n].text : NULL;
}

static int add(struct terms *t, bool holds, const char *text, const char *actual)
{
        if (!text)
                return ERR_NO_MEMORY;
        t->term->at[t->term->n++] = (struct why_requirement){ holds, text, actual };
        t->left--;
        return 0;
}

static int add_label(struct terms *t, const struct label_selector *one, const char *key)
{
        const struct string_map *labels = &t->cluster->object.meta.labels;
        const char *text = known_text(t);
        AUTO_BUF struct buf b;

        buf_init(&b, REQUIREMENT_BYTES);
        if (!t->left) {
                t->term->n_left++;
                return 0;
        }
        if (!text && label_selector_print(one, &b) < 0)
                return ERR_NO_MEMORY;
        return add(t, label_selector_matches(one, labels), text ? text : arena_strdup(t->arena, b.data),
                   string_map_get(labels, or_empty(key)));
}

static int add_labels(struct terms *t, const struct label_selector *l)
{
        for (uint32_t i = 0; l && i < l->match_labels.n; i++) {
                struct label_selector one = { .match_labels = { &l->match_labels.at[i], 1, true } };

                TRY(add_label(t, &one, l->match_labels.at[i].key));
        }
        for (uint32_t i = 0; l && i < l->match_expressions.n; i++) {
                struct label_selector one = { .match_expressions = { &l->match_expressions.at[i], 1, true } };

                TRY(add_label(t, &one, l->match_expressions.at[i].key));
        }
        return 0;
}

static const char *property_text(const struct terms *t, const struct property_requirement *r)
{
        const char *text = known_text(t);

        return text ? text
                    : arena_printf(t->arena, "%s %s %s", or_empty(r->name), or_empty(r->operator),
                                   r->values.n ? or_empty(r->values.at[0]) : "");
}

static int add_properties(struct terms *t, const struct property_selector *p)
{
        for (uint32_t i = 0; p && i < p->match_expressions.n; i++) {
                const struct property_requirement *r = &p->match_expressions.at[i];

                if (!t->left)
                        t->term->n_left++;
                else
                        TRY(add(t, cluster_meets(r, t->cluster, NULL) > 0, property_text(t, r),
                                cluster_property_text(t->cluster, or_empty(r->name))));
        }
        return 0;
}

static size_t requirements_of(const struct cluster_selector_term *t)
{
        const struct label_selector *l = t->label_selector;

        return (l ? l->match_labels.n + l->match_expressions.n : 0) +
               (t->property_selector ? t->property_selector->match_expressions.n : 0);
}

struct listing {
        struct terms t;
        size_t most;
        const struct why_terms *like;
        struct why_terms *ret;
};

static int add_requirements(struct terms *t, const struct cluster_selector_term *from)
{
        struct why_term *term = t->term;

        term->at = ARENA_NEW_ARRAY(t->arena, struct why_requirement, MIN(t->left, requirements_of(from)) + 1);
        if (!term->at)
                return ERR_NO_MEMORY;
        TRY(add_labels(t, from->label_selector));
        TRY(add_properties(t, from->property_selector));
        if (from->property_sorter) {
                term->sorted_by = or_empty(from->property_sorter->name);
                term->order = or_empty(from->property_sorter->sort_order);
                term->sorter_value = cluster_property_text(t->cluster, term->sorted_by);
        }
        return 0;
}

/* The next term; `fmt` tells its title. */
static int add_term(struct listing *l, const struct cluster_selector_term *from, const char *fmt, long long a,
                    long long b)
{
        struct why_terms *ret = l->ret;

        if (ret->n == l->most) {
                ret->n_left++;
                return 0;
        }
        l->t.like = l->like ? &l->like->at[ret->n] : NULL;
        l->t.term = &ret->at[ret->n++];
        l->t.term->title = l->t.like ? l->t.like->title : arena_printf(l->t.arena, fmt, a, b);
        return l->t.term->title ? add_requirements(&l->t, from) : ERR_NO_MEMORY;
}

static int add_required(struct listing *l, const struct cluster_selector *required)
{
        uint32_t n = required ? required->terms.n : 0;

        for (uint32_t i = 0; i < n; i++)
                TRY(add_term(l, &required->terms.at[i], n > 1 ? "required, term %lld of %lld" : "required",
                             i + 1LL, n));
        return 0;
}

int why_terms_of(struct arena *arena, const struct why_view *v, const struct why_cluster *c, size_t most,
                 const struct why_terms *like, struct why_terms *ret)
{
        const struct placement_policy *p = v->placement->spec ? v->placement->spec->policy : NULL;
        const struct cluster_affinity *a = p && p->affinity ? p->affinity->cluster_affinity : NULL;
        struct listing l = { { .arena = arena, .cluster = c->verdict->cluster, .left = most },
                             .most = most,
                             .like = like,
                             .ret = ret };
        size_t n = a ? (a->required ? a->required->terms.n : 0) + a->preferred.n : 0;

        *ret = (struct why_terms){ .at = ARENA_NEW_ARRAY(arena, struct why_term, MIN(n, most) + 1) };
        if (!ret->at)
                return ERR_NO_MEMORY;
        if (!a)
                return 0;
        TRY(add_required(&l, a->required));
        for (uint32_t i = 0; i < a->preferred.n; i++)
                if (a->preferred.at[i].preference)
                        TRY(add_term(&l, a->preferred.at[i].preference, "preferred, weight %lld",
                                     a->preferred.at[i].weight.value, 0));
        return 0;
}
