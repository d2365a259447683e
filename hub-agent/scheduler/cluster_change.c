/* Which changes of member clusters can move placements. spec/scheduler.md 4.4. */
#include "common/json/quantity.h"
#include "hub-agent/scheduler/scheduler.h"

static bool has_taint(const struct member_cluster_spec *s, const struct taint *t)
{
        for (uint32_t i = 0; s && i < s->taints.n; i++)
                if (text_equal(s->taints.at[i].key, t->key) &&
                    text_equal(or_empty(s->taints.at[i].value), or_empty(t->value)) &&
                    text_equal(s->taints.at[i].effect, t->effect))
                        return true;
        return false;
}

static bool lost_a_taint(const struct member_cluster *before, const struct member_cluster *after)
{
        for (uint32_t i = 0; before->spec && i < before->spec->taints.n; i++)
                if (!has_taint(after->spec, &before->spec->taints.at[i]))
                        return true;
        return false;
}

static bool equal_properties(const struct property_value_map *a, const struct property_value_map *b)
{
        if (a->n != b->n)
                return false;
        for (uint32_t i = 0; i < a->n; i++)
                if (!text_equal(a->at[i].key, b->at[i].key) ||
                    !text_equal(a->at[i].value.value, b->at[i].value.value))
                        return false;
        return true;
}

static bool equal_amounts(const struct string_map *a, const struct string_map *b)
{
        if (a->n != b->n)
                return false;
        for (uint32_t i = 0; i < a->n; i++) {
                struct quantity x, y;

                if (!text_equal(a->at[i].key, b->at[i].key))
                        return false;
                if (text_equal(a->at[i].value, b->at[i].value))
                        continue;
                if (quantity_parse(slice_of(a->at[i].value), &x, NULL) < 0 ||
                    quantity_parse(slice_of(b->at[i].value), &y, NULL) < 0 || quantity_compare(x, y) != 0)
                        return false;
        }
        return true;
}

static bool equal_usage(const struct resource_usage *a, const struct resource_usage *b)
{
        static const struct resource_usage none;

        a = a ? a : &none;
        b = b ? b : &none;
        return equal_amounts(&a->capacity, &b->capacity) && equal_amounts(&a->allocatable, &b->allocatable) &&
               equal_amounts(&a->available, &b->available);
}

static bool eligible(const struct member_cluster *c, const struct patience *p)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct ineligibility why;

        return cluster_is_eligible(c, p, &arena, &why);
}

/* By what an event told of it. */
static bool out_of_the_question(const struct member_cluster *c, const struct patience *p)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct ineligibility why;

        return !cluster_is_eligible(c, p, &arena, &why) && !why.silence;
}

unsigned cluster_changes(const struct member_cluster *before, const struct member_cluster *after,
                         bool turned_away, const struct patience *p)
{
        static const struct member_cluster_status none;
        const struct member_cluster_status *old, *now;
        unsigned mask = 0;

        if (!after)
                return CHANGED_GONE;
        if (!before || is_deleting(&after->object))
                return 0;
        old = before->status ? before->status : &none;
        now = after->status ? after->status : &none;
        if (!string_map_equal(&before->object.meta.labels, &after->object.meta.labels) ||
            lost_a_taint(before, after) || (out_of_the_question(before, p) && eligible(after, p)))
                mask |= CHANGED_CLUSTER;
        else if (turned_away && eligible(after, p))
                mask |= CHANGED_BACK;
        if (!equal_properties(&old->properties, &now->properties) ||
            !equal_usage(old->resource_usage, now->resource_usage))
                mask |= CHANGED_PROPERTIES;
        if (!string_map_equal(&old->namespaces, &now->namespaces))
                mask |= CHANGED_NAMESPACES;
        return mask;
}

static bool term_reads_properties(const struct cluster_selector_term *t)
{
        return t && (t->property_selector || t->property_sorter);
}

bool policy_reads_properties(const struct placement_policy *p)
{
        const struct cluster_affinity *a = p && p->affinity ? p->affinity->cluster_affinity : NULL;

        for (uint32_t i = 0; a && a->required && i < a->required->terms.n; i++)
                if (term_reads_properties(&a->required->terms.at[i]))
                        return true;
        for (uint32_t i = 0; a && i < a->preferred.n; i++)
                if (term_reads_properties(a->preferred.at[i].preference))
                        return true;
        return false;
}
