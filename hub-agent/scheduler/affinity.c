/* ClusterAffinity: required terms filter, preferred terms score. spec/scheduler.md 11.1, 12.1. */
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

const char *cluster_property_text(const struct member_cluster *c, const char *name)
{
        const struct member_cluster_status *s = c->status;
        struct property_ref ref;
        enum property_kind kind = property_ref_of(name, &ref);
        const struct property_value *plain;

        if (kind == PROPERTY_RESOURCE && s && s->resource_usage) {
                const char *usage = (const char *)s->resource_usage;

                return string_map_get((const struct string_map *)(const void *)(usage + ref.offset),
                                      ref.resource);
        }
        plain = kind == PROPERTY_PLAIN ? member_property(s, name) : NULL;
        return plain ? or_empty(plain->value) : NULL;
}

int cluster_property(struct candidate *k, const char *name, struct quantity *ret, struct error *err)
{
        struct property_ref ref;
        enum property_kind kind = property_ref_of(name, &ref);
        const char *value = cluster_property_text(k->cluster, name);

        if (kind == PROPERTY_NO_CAPACITY_TYPE || kind == PROPERTY_UNKNOWN_CAPACITY_TYPE)
                return error_set(err, ERR_INVALID, "\"%s\" is no name of a property", name);
        if (!value)
                return 0;
        if (quantity_parse(slice_of(value), ret, NULL) == 0)
                return 1;
        k->unreadable_property = name;
        k->unreadable_value = value;
        return 0;
}

int term_labels_match(const struct cluster_selector_term *t, const struct member_cluster *c,
                      struct error *err)
{
        if (!t->label_selector)
                return 1;
        TRY(label_selector_check(t->label_selector, err));
        return label_selector_matches(t->label_selector, &c->object.meta.labels);
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

/* Absent fails every operator, Ne included. */
static int requirement_matches(const struct property_requirement *r, struct candidate *k, struct error *err)
{
        struct quantity observed, expected;
        int found = cluster_property(k, or_empty(r->name), &observed, err), holds;

        if (found <= 0)
                return found;
        if (r->values.n != 1)
                return error_set(err, ERR_INVALID, "property selector on \"%s\" must have exactly one value",
                                 r->name);
        if (quantity_parse(slice_of(r->values.at[0]), &expected, err) < 0)
                return error_wrap(err, "property selector on \"%s\"", r->name);
        holds = property_compare(r->operator, quantity_compare(observed, expected));
        return holds < 0 ? error_set(err, ERR_INVALID, "property selector: unknown operator \"%s\"",
                                     or_empty(r->operator))
                         : holds;
}

int cluster_meets(const struct property_requirement *r, const struct member_cluster *c, struct error *err)
{
        struct candidate k = { .cluster = c };

        return requirement_matches(r, &k, err);
}

static int term_matches(const struct cluster_selector_term *t, struct candidate *k, struct error *err)
{
        int match = term_labels_match(t, k->cluster, err);

        for (uint32_t i = 0;
             match > 0 && t->property_selector && i < t->property_selector->match_expressions.n; i++)
                match = requirement_matches(&t->property_selector->match_expressions.at[i], k, err);
        return match;
}

static const struct cluster_affinity *affinity_of(const struct cycle *c)
{
        return c->policy && c->policy->affinity ? c->policy->affinity->cluster_affinity : NULL;
}

static enum verdict pre_filter(struct cycle *c)
{
        const struct cluster_affinity *a = affinity_of(c);

        return a && a->required && a->required->terms.n > 0 ? SUCCESS : SKIP;
}

static enum verdict filter(struct cycle *c, struct candidate *k, const char **ret_reason)
{
        const struct cluster_selector *required = affinity_of(c)->required;

        for (uint32_t i = 0; i < required->terms.n; i++) {
                int match = term_matches(&required->terms.at[i], k, c->err);

                if (match < 0)
                        return FAILED;
                if (match)
                        return SUCCESS;
        }
        *ret_reason = "cluster does not match with any of the required cluster affinity terms";
        return UNSCHEDULABLE;
}

/* ---- score ---- */

struct value_range {
        bool any;
        struct quantity min, max;
};

/* Extremes over all clusters of the cycle, whether they can be picked or not (spec 12.1). */
static int find_range(struct cycle *c, const char *property, struct value_range *r)
{
        for (size_t i = 0; i < c->n; i++) {
                struct quantity q;
                int found = cluster_property(&c->candidates[i], property, &q, c->err);

                if (found < 0)
                        return found;
                if (!found)
                        continue;
                if (!r->any || quantity_compare(q, r->min) < 0)
                        r->min = q;
                if (!r->any || quantity_compare(q, r->max) > 0)
                        r->max = q;
                r->any = true;
        }
        return 0;
}

static enum verdict pre_score(struct cycle *c)
{
        const struct cluster_affinity *a = affinity_of(c);

        if (!a || a->preferred.n == 0)
                return SKIP;
        c->ranges = ARENA_NEW_ARRAY(c->arena, struct value_range, a->preferred.n);
        if (!c->ranges) {
                error_no_memory(c->err);
                return FAILED;
        }
        for (uint32_t i = 0; i < a->preferred.n; i++) {
                const struct cluster_selector_term *t = a->preferred.at[i].preference;

                if (t && t->property_sorter && find_range(c, t->property_sorter->name, &c->ranges[i]) < 0)
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
static int interpolate(struct cycle *c, struct candidate *k, const struct property_sorter *s,
                       const struct value_range *range, int64_t weight, int32_t *ret)
{
        struct quantity q;
        int found = cluster_property(k, s->name, &q, c->err);
        double min = quantity_to_double(range->min), max = quantity_to_double(range->max), ratio;

        if (found < 0)
                return found;
        *ret = 0;
        if (!property_order_known(s->sort_order))
                return error_set(c->err, ERR_INVALID, "property sorter on \"%s\": unknown order \"%s\"",
                                 s->name, or_empty(s->sort_order));
        if (!found || max <= min)
                return 0;
        ratio = (quantity_to_double(q) - min) / (max - min);
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
                int64_t weight = a->preferred.at[i].weight.value;
                int32_t points = (int32_t)weight;
                int match;

                if (weight == 0 || !t)
                        continue;
                match = term_labels_match(t, k->cluster, c->err);
                if (match < 0)
                        return FAILED;
                if (!match)
                        continue;
                if (t->property_sorter &&
                    interpolate(c, k, t->property_sorter, &c->ranges[i], weight, &points) < 0)
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
