#include "hub-agent/eviction/eviction.h"

#define PERCENT_MAX INT32_MAX

const char *placement_type_of(const struct placement *p)
{
        const struct placement_policy *policy = p->spec ? p->spec->policy : NULL;

        return policy && !text_empty(policy->placement_type) ? policy->placement_type : PLACEMENT_PICK_ALL;
}

/* What is no percentage counts as 0. */
static int64_t percent_of(const char *text, int64_t n_wanted)
{
        struct slice s = slice_of(text), digits;
        int64_t percent;

        if (!slice_cut(&s, '%', &digits) || s.len > 0 || !slice_parse_i64(digits, &percent))
                return 0;
        percent = MIN(MAX(percent, 0), PERCENT_MAX);
        return (percent * n_wanted + 99) / 100;
}

static int64_t value_of(const struct int_or_string *v, int64_t n_wanted)
{
        return v->text ? percent_of(v->text, n_wanted) : MIN(MAX(v->value, INT32_MIN), INT32_MAX);
}

int64_t budget_allows(const struct disruption_budget *b, int64_t n_wanted, size_t available, size_t total)
{
        const struct disruption_budget_spec *s = b->spec;
        int64_t n = 0;

        if (s && s->max_unavailable.set)
                n = value_of(&s->max_unavailable, n_wanted) - (int64_t)(total - available);
        else if (s && s->min_available.set)
                n = (int64_t)available - value_of(&s->min_available, n_wanted);
        return MAX(n, 0);
}

bool budget_is_misconfigured(const struct disruption_budget *b, const struct placement *p)
{
        return b->spec && text_equal(placement_type_of(p), PLACEMENT_PICK_ALL) &&
               (b->spec->max_unavailable.set || b->spec->min_available.text);
}
