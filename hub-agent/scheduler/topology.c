/* TopologySpreadConstraints. spec/scheduler.md 11.6, 12.2. */
#include "hub-agent/scheduler/framework.h"

#define SOFT_PENALTY 1000

static int64_t post_batch(struct cycle *c)
{
        return c->policy && c->policy->topology_spread_constraints.n > 0 ? 1 : -1;
}

static bool is_hard(const struct topology_spread_constraint *t)
{
        return !text_equal(t->when_unsatisfiable, WHEN_UNSATISFIABLE_SCHEDULE_ANYWAY);
}

static int64_t max_skew(const struct topology_spread_constraint *t)
{
        return t->max_skew.set ? t->max_skew.value : 1;
}

/* Clusters with the placement, by value of the constraint's label. */
struct domain {
        const char *value;
        int64_t count;
};
struct domains {
        struct domain *at;
        size_t n;
        int64_t smallest, second, largest;
};

static const char *domain_value(const struct candidate *k, const char *key)
{
        return label_of(&k->cluster->object, key);
}

static struct domain *domain_find(const struct domains *d, const char *value)
{
        for (size_t i = 0; i < d->n; i++)
                if (text_equal(d->at[i].value, value))
                        return &d->at[i];
        return NULL;
}

static void find_extremes(struct domains *d)
{
        d->smallest = d->second = INT64_MAX;
        d->largest = 0;
        for (size_t i = 0; i < d->n; i++) {
                int64_t n = d->at[i].count;

                if (n < d->smallest) {
                        d->second = d->smallest;
                        d->smallest = n;
                } else if (n < d->second) {
                        d->second = n;
                }
                d->largest = MAX(d->largest, n);
        }
        if (d->second == INT64_MAX)
                d->second = d->smallest;
}

static int count_domains(struct cycle *c, const char *key, struct domains *ret)
{
        *ret = (struct domains){ .at = ARENA_NEW_ARRAY(c->arena, struct domain, c->n + 1) };
        if (!ret->at)
                return error_no_memory(c->err);
        for (size_t i = 0; i < c->n; i++) {
                const char *value = domain_value(&c->candidates[i], key);
                struct domain *d;

                if (!value)
                        continue;
                d = domain_find(ret, value);
                if (!d) {
                        d = &ret->at[ret->n++];
                        *d = (struct domain){ .value = value };
                }
                d->count += c->candidates[i].taken;
        }
        find_extremes(ret);
        return 0;
}

/* What one more placement in a domain does to the skew, and whether the constraint is then broken. */
static int skew_change(const struct domains *d, int64_t count, int64_t allowed, bool *ret_violated)
{
        int64_t skew = d->largest - d->smallest;
        int change;

        if (d->largest == d->smallest)
                change = 1;
        else if (count == d->smallest && d->smallest != d->second)
                change = -1;
        else if (count == d->largest)
                change = 1;
        else
                change = 0;
        /* One domain stays balanced whatever it gets. */
        *ret_violated = d->n > 1 && skew + change > allowed;
        return change;
}

static int apply_constraint(struct cycle *c, const struct topology_spread_constraint *t)
{
        struct domains d;

        TRY(count_domains(c, t->topology_key, &d));
        for (size_t i = 0; i < c->n; i++) {
                struct candidate *k = &c->candidates[i];
                const char *value = domain_value(k, t->topology_key);
                bool violated;
                int change;

                if (k->violated || !value)
                        continue;
                change = skew_change(&d, domain_find(&d, value)->count, max_skew(t), &violated);
                if (!violated) {
                        k->spread_score -= change;
                } else if (!is_hard(t)) {
                        k->spread_score -= SOFT_PENALTY;
                } else {
                        k->violated = arena_printf(
                                c->arena,
                                "violated doNotSchedule topology spread constraint \"%s\" (max skew %lld)",
                                t->topology_key, (long long)max_skew(t));
                        if (!k->violated)
                                return error_no_memory(c->err);
                }
        }
        return 0;
}

static enum verdict pre_filter(struct cycle *c)
{
        bool any_hard = false;

        if (post_batch(c) < 0)
                return SKIP;
        for (size_t i = 0; i < c->n; i++) {
                c->candidates[i].violated = NULL;
                c->candidates[i].spread_score = 0;
        }
        for (int pass = 0; pass < 2; pass++)
                for (uint32_t i = 0; i < c->policy->topology_spread_constraints.n; i++) {
                        const struct topology_spread_constraint *t =
                                &c->policy->topology_spread_constraints.at[i];

                        any_hard = any_hard || is_hard(t);
                        if (is_hard(t) == (pass == 0) && apply_constraint(c, t) < 0)
                                return FAILED;
                }
        return any_hard ? SUCCESS : SKIP;
}

static enum verdict filter(struct cycle *c, struct candidate *k, const char **ret_reason)
{
        if (!k->violated)
                return SUCCESS;
        *ret_reason = k->violated;
        return UNSCHEDULABLE;
}

static enum verdict pre_score(struct cycle *c)
{
        return post_batch(c) < 0 ? SKIP : SUCCESS;
}

static enum verdict score(struct cycle *c, struct candidate *k)
{
        k->topology += k->spread_score;
        return SUCCESS;
}

const struct plugin topology_spread_plugin = {
        .name = "TopologySpreadConstraints",
        .per_pick = true,
        .post_batch = post_batch,
        .pre_filter = pre_filter,
        .filter = filter,
        .pre_score = pre_score,
        .score = score,
};
