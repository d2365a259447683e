/* ClusterAffinity: required terms filter, preferred terms score. spec/scheduler.md 11.1, 12.1. */
#include "common/json/quantity.h"
#include "common/kube/selector.h"
#include "hub-agent/scheduler/framework.h"

#define RESOURCE_PREFIX "resources.kubernetes-fleet.io/"

static int parse_amount(const char *what, const char *text, struct quantity *ret, struct error *err)
{
        if (quantity_parse(slice_of(text), ret, err) < 0)
                return error_wrap(err, "property %s", what);
        return 1;
}

static int resource_property(const struct member_cluster *c, const char *name, struct quantity *ret,
                             struct error *err)
{
        struct slice rest = slice_of(name + strlen(RESOURCE_PREFIX)), type;
        const struct resource_usage *u = c->status ? c->status->resource_usage : NULL;
        const struct string_map *amounts;
        const char *value;

        if (!slice_cut(&rest, '-', &type) || !type.len || !rest.len)
                return error_set(err, ERR_INVALID,
                                 "property name \"%s\" must be " RESOURCE_PREFIX "<capacity type>-<resource>",
                                 name);
        if (slice_is(type, "total"))
                amounts = u ? &u->capacity : NULL;
        else if (slice_is(type, "allocatable"))
                amounts = u ? &u->allocatable : NULL;
        else if (slice_is(type, "available"))
                amounts = u ? &u->available : NULL;
        else
                return error_set(err, ERR_INVALID, "property name \"%s\": unknown capacity type", name);
        value = amounts ? string_map_get(amounts, rest.data) : NULL;
        return value ? parse_amount(name, value, ret, err) : 0;
}

int cluster_property(const struct member_cluster *c, const char *name, struct quantity *ret,
                     struct error *err)
{
        if (text_starts_with(name, RESOURCE_PREFIX))
                return resource_property(c, name, ret, err);
        for (uint32_t i = 0; c->status && i < c->status->properties.n; i++)
                if (text_equal(c->status->properties.at[i].key, name))
                        return parse_amount(name, c->status->properties.at[i].value.value, ret, err);
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

static int compare(const char *operator, int order, struct error *err)
{
        static const struct {
                const char *name;
                bool less, equal, greater;
        } table[] = {
                { "Eq", false, true, false }, { "Ne", true, false, true },  { "Gt", false, false, true },
                { "Ge", false, true, true },  { "Lt", true, false, false }, { "Le", true, true, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++)
                if (text_equal(table[i].name, operator))
                        return order < 0 ? table[i].less : order > 0 ? table[i].greater : table[i].equal;
        return error_set(err, ERR_INVALID, "property selector: unknown operator \"%s\"", or_empty(operator));
}

/* Absent fails every operator, Ne included. */
static int requirement_matches(const struct property_requirement *r, const struct member_cluster *c,
                               struct error *err)
{
        struct quantity observed, expected;
        int found = cluster_property(c, r->name, &observed, err);

        if (found <= 0)
                return found;
        if (r->values.n != 1)
                return error_set(err, ERR_INVALID, "property selector on \"%s\" must have exactly one value",
                                 r->name);
        if (quantity_parse(slice_of(r->values.at[0]), &expected, err) < 0)
                return error_wrap(err, "property selector on \"%s\"", r->name);
        return compare(r->operator, quantity_compare(observed, expected), err);
}

static int term_matches(const struct cluster_selector_term *t, const struct member_cluster *c,
                        struct error *err)
{
        int match = term_labels_match(t, c, err);

        for (uint32_t i = 0;
             match > 0 && t->property_selector && i < t->property_selector->match_expressions.n; i++)
                match = requirement_matches(&t->property_selector->match_expressions.at[i], c, err);
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
                int match = term_matches(&required->terms.at[i], k->cluster, c->err);

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
                int found = cluster_property(c->candidates[i].cluster, property, &q, c->err);

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

/* The weight scaled by where the cluster stands between the extremes; 0 where the property is absent. */
static int interpolate(struct cycle *c, const struct candidate *k, const struct property_sorter *s,
                       const struct value_range *range, int64_t weight, int32_t *ret)
{
        struct quantity q;
        int found = cluster_property(k->cluster, s->name, &q, c->err);
        double min = quantity_to_double(range->min), max = quantity_to_double(range->max), ratio;

        if (found < 0)
                return found;
        *ret = 0;
        if (!found || max <= min)
                return 0;
        ratio = (quantity_to_double(q) - min) / (max - min);
        ratio = ratio < 0 ? 0 : ratio > 1 ? 1 : ratio;
        if (text_equal(s->sort_order, "Ascending"))
                ratio = 1 - ratio;
        else if (!text_equal(s->sort_order, "Descending"))
                return error_set(c->err, ERR_INVALID, "property sorter on \"%s\": unknown order \"%s\"",
                                 s->name, or_empty(s->sort_order));
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
