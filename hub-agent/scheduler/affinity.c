/* ClusterAffinity: required terms filter, preferred terms score. spec/scheduler.md 11.1, 12.1. */
#include <math.h>
#include <stddef.h>

#include "common/json/quantity.h"
#include "common/kube/selector.h"
#include "hub-agent/scheduler/framework.h"

#define RESOURCE_PREFIX "resources.kubernetes-fleet.io/"

enum property_kind property_ref_of(const char *name, struct property_ref *ret)
{
        static const struct {
                const char *name;
                size_t offset;
        } types[] = {
                { "total", offsetof(struct resource_usage, capacity) },
                { "allocatable", offsetof(struct resource_usage, allocatable) },
                { "available", offsetof(struct resource_usage, available) },
        };
        struct slice rest, type;

        if (!text_starts_with(name, RESOURCE_PREFIX))
                return PROPERTY_PLAIN;
        rest = slice_of(name + strlen(RESOURCE_PREFIX));
        if (!slice_cut(&rest, '-', &type) || !type.len || !rest.len)
                return PROPERTY_NO_CAPACITY_TYPE;
        for (size_t i = 0; i < ARRAY_LEN(types); i++)
                if (slice_is(type, types[i].name)) {
                        *ret = (struct property_ref){ types[i].offset, rest.data };
                        return PROPERTY_RESOURCE;
                }
        return PROPERTY_UNKNOWN_CAPACITY_TYPE;
}

/* A property's name, taken apart once. */
struct property {
        const char *name;
        enum property_kind kind;
        struct property_ref ref;
};

static struct property property_named(const char *name)
{
        struct property p = { .name = or_empty(name) };

        p.kind = property_ref_of(p.name, &p.ref);
        return p;
}

static const char *text_of(const struct member_cluster *c, const struct property *p)
{
        const struct member_cluster_status *s = c->status;
        const struct property_value *plain;

        if (p->kind == PROPERTY_RESOURCE && s && s->resource_usage) {
                const char *usage = (const char *)s->resource_usage;

                return string_map_get((const struct string_map *)(const void *)(usage + p->ref.offset),
                                      p->ref.resource);
        }
        plain = p->kind == PROPERTY_PLAIN ? member_property(s, p->name) : NULL;
        return plain ? or_empty(plain->value) : NULL;
}

const char *cluster_property_text(const struct member_cluster *c, const char *name)
{
        struct property p = property_named(name);

        return text_of(c, &p);
}

static int observe(struct candidate *k, const struct property *p, struct quantity *ret, struct error *err)
{
        const char *value = text_of(k->cluster, p);

        if (p->kind == PROPERTY_NO_CAPACITY_TYPE || p->kind == PROPERTY_UNKNOWN_CAPACITY_TYPE)
                return error_set(err, ERR_INVALID, "\"%s\" is no name of a property", p->name);
        if (!value)
                return 0;
        if (quantity_parse(slice_of(value), ret, NULL) == 0)
                return 1;
        k->unreadable_property = p->name;
        k->unreadable_value = value;
        return 0;
}

int property_compare(const char *operator, int order)
{
        static const struct {
                const char *name;
                bool less, equal, greater;
        } table[] = {
                { PROPERTY_EQ, false, true, false }, { PROPERTY_NE, true, false, true },
                { PROPERTY_GT, false, false, true }, { PROPERTY_GE, false, true, true },
                { PROPERTY_LT, true, false, false }, { PROPERTY_LE, true, true, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++)
                if (text_equal(table[i].name, operator))
                        return order < 0 ? table[i].less : order > 0 ? table[i].greater : table[i].equal;
        return -1;
}

int cluster_property(struct candidate *k, const char *name, struct quantity *ret, struct error *err)
{
        struct property p = property_named(name);

        return observe(k, &p, ret, err);
}

/* What is the same for every cluster that a requirement or term is asked about: found out when it is asked
 * about the first one. */
struct requirement_memo {
        bool named, read;
        struct property property;
        struct quantity expected;
};
struct term_memo {
        bool labels_checked;
        struct requirement_memo *requirements; /* of its property selector */
};

/* Absent fails every operator, Ne included. */
static int requirement_matches(const struct property_requirement *r, struct candidate *k,
                               struct requirement_memo *memo, struct error *err)
{
        struct quantity observed;
        int found, holds;

        if (!memo->named)
                memo->property = property_named(r->name);
        memo->named = true;
        found = observe(k, &memo->property, &observed, err);
        if (found <= 0)
                return found;
        if (r->values.n != 1)
                return error_set(err, ERR_INVALID, "property selector on \"%s\" must have exactly one value",
                                 r->name);
        if (!memo->read && quantity_parse(slice_of(r->values.at[0]), &memo->expected, err) < 0)
                return error_wrap(err, "property selector on \"%s\"", r->name);
        memo->read = true;
        holds = property_compare(r->operator, quantity_compare(observed, memo->expected));
        return holds < 0 ? error_set(err, ERR_INVALID, "property selector: unknown operator \"%s\"",
                                     or_empty(r->operator))
                         : holds;
}

int cluster_meets(const struct property_requirement *r, const struct member_cluster *c, struct error *err)
{
        struct candidate k = { .cluster = c };
        struct requirement_memo memo = { 0 };

        return requirement_matches(r, &k, &memo, err);
}

static uint32_t n_requirements(const struct cluster_selector_term *t)
{
        return t && t->property_selector ? t->property_selector->match_expressions.n : 0;
}

static int memo_init(struct cycle *c, const struct cluster_selector_term *t, struct term_memo *ret)
{
        ret->requirements = ARENA_NEW_ARRAY(c->arena, struct requirement_memo, n_requirements(t) + 1);
        return ret->requirements ? 0 : error_no_memory(c->err);
}

static int labels_match(const struct cluster_selector_term *t, const struct member_cluster *c,
                        struct term_memo *memo, struct error *err)
{
        if (!t->label_selector)
                return 1;
        if (!memo->labels_checked)
                TRY(label_selector_check(t->label_selector, err));
        memo->labels_checked = true;
        return label_selector_matches(t->label_selector, &c->object.meta.labels);
}

static int term_matches(const struct cluster_selector_term *t, struct candidate *k, struct term_memo *memo,
                        struct error *err)
{
        int match = labels_match(t, k->cluster, memo, err);

        for (uint32_t i = 0; match > 0 && i < n_requirements(t); i++)
                match = requirement_matches(&t->property_selector->match_expressions.at[i], k,
                                            &memo->requirements[i], err);
        return match;
}

static const struct cluster_affinity *affinity_of(const struct cycle *c)
{
        return c->policy && c->policy->affinity ? c->policy->affinity->cluster_affinity : NULL;
}

static enum verdict pre_filter(struct cycle *c)
{
        const struct cluster_affinity *a = affinity_of(c);

        if (!a || !a->required || a->required->terms.n == 0)
                return SKIP;
        c->required = ARENA_NEW_ARRAY(c->arena, struct term_memo, a->required->terms.n);
        if (!c->required) {
                error_no_memory(c->err);
                return FAILED;
        }
        for (uint32_t i = 0; i < a->required->terms.n; i++)
                if (memo_init(c, &a->required->terms.at[i], &c->required[i]) < 0)
                        return FAILED;
        return SUCCESS;
}

static enum verdict filter(struct cycle *c, struct candidate *k, const char **ret_reason)
{
        const struct cluster_selector *required = affinity_of(c)->required;

        for (uint32_t i = 0; i < required->terms.n; i++) {
                int match = term_matches(&required->terms.at[i], k, &c->required[i], c->err);

                if (match < 0)
                        return FAILED;
                if (match)
                        return SUCCESS;
        }
        *ret_reason = "cluster does not match with any of the required cluster affinity terms";
        return UNSCHEDULABLE;
}

/* ---- score ---- */

/* A preferred term; of its sorter what clusters report, and the extremes. */
struct preference_memo {
        struct term_memo term;
        double *values; /* by cluster; NAN = reports none. NULL: no sorter */
        double min, max;
};

/* Extremes over all clusters of the cycle, whether they can be picked or not (spec 12.1). */
static int read_values(struct cycle *c, const char *name, struct preference_memo *m)
{
        struct property property = property_named(name);

        m->min = INFINITY;
        m->max = -INFINITY;
        m->values = ARENA_NEW_ARRAY(c->arena, double, c->n + 1);
        if (!m->values)
                return error_no_memory(c->err);
        for (size_t i = 0; i < c->n; i++) {
                struct quantity q;
                int found = observe(&c->candidates[i], &property, &q, c->err);

                if (found < 0)
                        return found;
                m->values[i] = found ? quantity_to_double(q) : (double)NAN;
                m->min = found ? MIN(m->min, m->values[i]) : m->min;
                m->max = found ? MAX(m->max, m->values[i]) : m->max;
        }
        return 0;
}

static enum verdict pre_score(struct cycle *c)
{
        const struct cluster_affinity *a = affinity_of(c);

        if (!a || a->preferred.n == 0)
                return SKIP;
        c->preferred = ARENA_NEW_ARRAY(c->arena, struct preference_memo, a->preferred.n);
        if (!c->preferred) {
                error_no_memory(c->err);
                return FAILED;
        }
        for (uint32_t i = 0; i < a->preferred.n; i++) {
                const struct cluster_selector_term *t = a->preferred.at[i].preference;

                if (t && t->property_sorter && read_values(c, t->property_sorter->name, &c->preferred[i]) < 0)
                        return FAILED;
        }
        return SUCCESS;
}

static int32_t round_half_away(double w)
{
        return (int32_t)(w < 0 ? w - 0.5 : w + 0.5);
}

bool property_order_known(const char *order)
{
        return text_equal(order, SORT_ASCENDING) || text_equal(order, SORT_DESCENDING);
}

/* The weight scaled by where the cluster stands between the extremes; 0 where the property is absent. */
static int interpolate(struct cycle *c, const struct candidate *k, const struct property_sorter *s,
                       const struct preference_memo *m, int64_t weight, int32_t *ret)
{
        double value = m->values[k - c->candidates], ratio;

        *ret = 0;
        if (!property_order_known(s->sort_order))
                return error_set(c->err, ERR_INVALID, "property sorter on \"%s\": unknown order \"%s\"",
                                 s->name, or_empty(s->sort_order));
        if (isnan(value) || m->max <= m->min)
                return 0;
        ratio = (value - m->min) / (m->max - m->min);
        if (text_equal(s->sort_order, SORT_ASCENDING))
                ratio = 1 - ratio;
        *ret = round_half_away(ratio * (double)weight);
        return 0;
}

static enum verdict score(struct cycle *c, struct candidate *k)
{
        const struct cluster_affinity *a = affinity_of(c);

        for (uint32_t i = 0; i < a->preferred.n; i++) {
                const struct cluster_selector_term *t = a->preferred.at[i].preference;
                struct preference_memo *m = &c->preferred[i];
                int64_t weight = a->preferred.at[i].weight.value;
                int32_t points = (int32_t)weight;
                int match;

                if (weight == 0 || !t)
                        continue;
                match = labels_match(t, k->cluster, &m->term, c->err);
                if (match < 0)
                        return FAILED;
                if (!match)
                        continue;
                if (t->property_sorter && interpolate(c, k, t->property_sorter, m, weight, &points) < 0)
                        return FAILED;
                k->affinity += points;
        }
        return SUCCESS;
}

const struct plugin cluster_affinity_plugin = {
        .name = "ClusterAffinity",
        .pre_filter = pre_filter,
        .filter = filter,
        .pre_score = pre_score,
        .score = score,
};
