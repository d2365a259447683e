/* What of a policy no cluster can be measured by: field and rule. spec/scheduler.md 11.1, 12.1; the words are
 * those of spec/membership-webhooks-charts.md 5.2. */
#include "common/json/quantity.h"
#include "common/kube/selector.h"
#include "hub-agent/scheduler/framework.h"

#define AFFINITY_PATH "spec.policy.affinity.clusterAffinity."

struct check {
        struct arena *arena;
        char where[160];     /* the term */
        const char *problem; /* the first one found */
        bool no_memory;
};

static bool tell(struct check *c, const char *part, const char *problem)
{
        c->problem = problem ? arena_printf(c->arena, "%s.%s: %s", c->where, part, problem) : NULL;
        c->no_memory = !c->problem;
        return false;
}

/* A qualified name without the slash. */
static bool is_name_part(const char *s)
{
        return text_is_label_key(s) && !strchr(s, '/');
}

/* Segments between slashes: the first may be a DNS subdomain, all may be names. */
static const char *plain_name_problem(struct arena *arena, const char *name)
{
        struct slice rest = slice_of(name), segment;
        bool first = true, last = false;

        while (!last) {
                const char *text;

                last = !slice_cut(&rest, '/', &segment);
                text = arena_strndup(arena, segment.data, segment.len);
                if (!text)
                        return NULL;
                if (!is_name_part(text) && !(first && !last && text_is_dns1123_subdomain(text)))
                        return arena_printf(arena,
                                            "invalid property name %s: property name segment %s is not valid",
                                            name, text);
                first = false;
        }
        return "";
}

static const char *name_problem(struct arena *arena, const char *name)
{
        struct property_ref ref;

        switch (property_ref_of(name, &ref)) {
        case PROPERTY_NO_CAPACITY_TYPE:
                return arena_printf(arena,
                                    "invalid resource property name %s, expected format is "
                                    "[PREFIX]/[CAPACITY_TYPE]-[RESOURCE_NAME]",
                                    name);
        case PROPERTY_UNKNOWN_CAPACITY_TYPE:
                return arena_printf(
                        arena,
                        "invalid capacity type in resource property name %s, supported values are "
                        "[allocatable available total]",
                        name);
        default:
                return plain_name_problem(arena, name);
        }
}

static const char *requirement_problem(struct arena *arena, const struct property_requirement *r)
{
        const char *name = or_empty(r->name), *problem = name_problem(arena, name);
        struct quantity q;

        if (!problem || *problem)
                return problem;
        if (property_compare(r->operator, 0) < 0)
                return arena_printf(arena, "invalid requirement on property %s: unsupported operator %s",
                                    name, or_empty(r->operator));
        if (r->values.n != 1)
                return arena_printf(
                        arena,
                        "invalid requirement on property %s: operator %s requires exactly one value, got %u",
                        name, r->operator, r->values.n);
        if (quantity_parse(slice_of(r->values.at[0]), &q, NULL) < 0)
                return arena_printf(
                        arena,
                        "invalid requirement on property %s: value \"%s\" is not a valid resource.Quantity",
                        name, r->values.at[0]);
        return "";
}

static bool check_properties(struct check *c, const struct property_selector *s)
{
        for (uint32_t i = 0; s && i < s->match_expressions.n; i++) {
                const char *problem = requirement_problem(c->arena, &s->match_expressions.at[i]);
                char part[64];

                snprintf(part, sizeof(part), "propertySelector.matchExpressions[%u]", i);
                if (!problem || *problem)
                        return tell(c, part, problem);
        }
        return true;
}

static bool check_sorter(struct check *c, const struct property_sorter *s)
{
        const char *problem = s ? name_problem(c->arena, or_empty(s->name)) : "";

        if (problem && !*problem && s && !property_order_known(s->sort_order))
                problem = arena_printf(c->arena, "invalid property sort order %s", or_empty(s->sort_order));
        return problem && !*problem ? true : tell(c, "propertySorter", problem);
}

static bool check_labels(struct check *c, const struct label_selector *s)
{
        struct error err = { 0 };

        if (label_selector_check(s, &err) == 0)
                return true;
        c->problem = arena_printf(c->arena, "%s.labelSelector.%s", c->where, err.text);
        c->no_memory = !c->problem;
        return false;
}

static bool check_required(struct check *c, const struct cluster_selector *required)
{
        for (uint32_t i = 0; required && i < required->terms.n; i++) {
                const struct cluster_selector_term *t = &required->terms.at[i];

                snprintf(c->where, sizeof(c->where),
                         AFFINITY_PATH
                         "requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms[%u]",
                         i);
                if (!check_labels(c, t->label_selector) || !check_properties(c, t->property_selector))
                        return false;
        }
        return true;
}

static bool check_preferred(struct check *c, const struct cluster_affinity *a)
{
        for (uint32_t i = 0; i < a->preferred.n; i++) {
                const struct cluster_selector_term *t = a->preferred.at[i].preference;

                snprintf(c->where, sizeof(c->where),
                         AFFINITY_PATH "preferredDuringSchedulingIgnoredDuringExecution[%u].preference", i);
                if (t && (!check_labels(c, t->label_selector) || !check_sorter(c, t->property_sorter)))
                        return false;
        }
        return true;
}

int policy_problem(struct arena *arena, const struct placement_policy *p, const char **ret)
{
        const struct cluster_affinity *a = p && p->affinity ? p->affinity->cluster_affinity : NULL;
        struct check c = { .arena = arena };

        /* A PickAll gives no scores, so its preferences are never read. */
        if (a && check_required(&c, a->required) && text_equal(p->placement_type, PLACEMENT_PICK_N))
                check_preferred(&c, a);
        *ret = c.problem;
        return c.no_memory ? ERR_NO_MEMORY : 0;
}
