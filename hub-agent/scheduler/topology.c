#include "hub-agent/scheduler/topology.h"

#define SOFT_PENALTY 1000

static bool is_hard(const struct topology_spread_constraint *t)
{
        return !text_equal(t->when_unsatisfiable, WHEN_UNSATISFIABLE_SCHEDULE_ANYWAY);
}

static int constraint_init(struct cycle *c, const struct topology_spread_constraint *t,
                           struct constraint *ret)
{
        *ret = (struct constraint){ .key = t->topology_key,
                                    .hard = is_hard(t),
                                    .max_skew = t->max_skew.set ? t->max_skew.value : 1,
                                    .by_value = map_of_arena(c->arena),
                                    .domains = ARENA_NEW_ARRAY(c->arena, struct domain *, c->n + 1),
                                    .level = ARENA_NEW_ARRAY(c->arena, uint32_t, c->n + 2) };
        return ret->by_value && ret->domains && ret->level ? 0 : error_no_memory(c->err);
}

int topology_init(struct cycle *c, struct topology *ret)
{
        uint32_t n = c->policy ? c->policy->topology_spread_constraints.n : 0;

        *ret = (struct topology){ .constraints = ARENA_NEW_ARRAY(c->arena, struct constraint, n + 1) };
        if (!ret->constraints)
                return error_no_memory(c->err);
        for (uint32_t i = 0; i < n; i++)
                TRY(constraint_init(c, &c->policy->topology_spread_constraints.at[i],
                                    &ret->constraints[ret->n++]));
        return 0;
}

static struct domain *domain_new(struct cycle *c, struct constraint *t, const char *value)
{
        struct domain *d = ARENA_NEW(c->arena, struct domain);

        if (!d || map_put(t->by_value, value, d) < 0)
                return NULL;
        d->value = value;
        t->domains[t->n++] = d;
        return d;
}

int topology_domain(struct cycle *c, struct constraint *t, const struct candidate *k, struct domain **ret)
{
        const char *value = label_of(&k->cluster->object, t->key);

        *ret = value ? map_get(t->by_value, value) : NULL;
        if (value && !*ret && !(*ret = domain_new(c, t, value)))
                return error_no_memory(c->err);
        return 0;
}

/* What one more placement in a domain does to the skew, and whether the constraint is then broken. */
static int skew_change(const struct constraint *t, size_t count, bool *ret_violated)
{
        const struct skew *s = &t->skew;
        int change;

        if (s->largest == s->smallest)
                change = 1;
        else if (count == s->smallest && s->alone)
                change = -1;
        else if (count == s->largest)
                change = 1;
        else
                change = 0;
        /* One domain stays balanced whatever it gets. */
        *ret_violated = t->n > 1 && (int64_t)(s->largest - s->smallest) + change > t->max_skew;
        return change;
}

static void judge(const struct constraint *t, struct domain *d, void (*changed)(void *ctx, struct domain *d),
                  void *ctx)
{
        bool violated;
        int change = skew_change(t, d->count, &violated);
        int32_t worth = violated ? -SOFT_PENALTY : -change;
        bool forbidden = violated && t->hard;

        if (worth == d->worth && forbidden == d->forbidden)
                return;
        d->worth = worth;
        d->forbidden = forbidden;
        changed(ctx, d);
}

/* While the extremes are what they were, nothing changes but for the domain that was counted. */
size_t topology_judge(struct constraint *t, void (*changed)(void *ctx, struct domain *d), void *ctx)
{
        const struct skew *now = &t->skew, *then = &t->judged;
        bool all =
                now->smallest != then->smallest || now->largest != then->largest || now->alone != then->alone;
        struct domain **domains = all ? t->domains : &t->counted;
        size_t n = all ? t->n : t->counted != NULL;

        for (size_t i = 0; i < n; i++)
                judge(t, domains[i], changed, ctx);
        t->judged = t->skew;
        t->counted = NULL;
        return n;
}

void topology_begin(struct constraint *t)
{
        t->judged.smallest = SIZE_MAX; /* never: all are judged at first */
        t->skew.smallest = t->n ? SIZE_MAX : 0;
        for (size_t i = 0; i < t->n; i++) {
                size_t count = t->domains[i]->count;

                t->level[count]++;
                t->skew.smallest = MIN(t->skew.smallest, count);
                t->skew.largest = MAX(t->skew.largest, count);
        }
        t->skew.alone = t->level[t->skew.smallest] == 1;
}

/* Counts grow by one, so the smallest is followed by the next number as soon as no domain has it. */
void topology_count(struct constraint *t, struct domain *d)
{
        t->level[d->count]--;
        d->count++;
        t->level[d->count]++;
        t->skew.smallest += t->level[t->skew.smallest] == 0;
        t->skew.largest = MAX(t->skew.largest, d->count);
        t->skew.alone = t->level[t->skew.smallest] == 1;
        t->counted = d;
}

const char *topology_reason(struct cycle *c, struct constraint *t)
{
        if (!t->reason)
                t->reason = arena_printf(
                        c->arena, "violated doNotSchedule topology spread constraint \"%s\" (max skew %lld)",
                        t->key, (long long)t->max_skew);
        return t->reason;
}
