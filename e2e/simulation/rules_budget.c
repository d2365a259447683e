#include "common/base/map.h"
#include "common/base/memory.h"
#include "e2e/simulation/rules.h"

/* A rollout never takes away more of a placement at once than maxUnavailable allows.
 *
 * A cluster of a placement is available when all its Works are. It is moving when it was available and a
 * rollout changed what its Works bring; what lost its availability by itself may be updated without a budget,
 * and that decision may rest on old news and be carried out late. */

struct on_cluster {
        bool available, moving;
        int64_t lost_ms; /* last seen unavailable and not moving */
};

struct rollout {
        struct map clusters;                  /* namespace of a member -> struct on_cluster */
        unsigned least;                       /* clusters wanted, at least, since nothing of it moves */
        unsigned may_percent, before_percent; /* the latter until `since` is old */
        int64_t since_ms;
};

struct budget {
        bool begun;
        struct map rollouts; /* placement -> struct rollout */
};

static void rollout_free(void *value)
{
        struct rollout *r = value;

        map_free(&r->clusters);
        mem_free(r);
}

static struct rollout *rollout_of(struct budget *b, const char *placement)
{
        struct rollout *r = map_get(&b->rollouts, placement);

        if (r)
                return r;
        r = mem_must(NEW(struct rollout));
        map_init(&r->clusters, MAP_OWN_KEYS, mem_free);
        if (map_put(&b->rollouts, placement, r) < 0)
                abort();
        return r;
}

static struct on_cluster *cluster_of(struct rollout *r, const char *ns, int64_t now)
{
        struct on_cluster *o = map_get(&r->clusters, ns);

        if (o)
                return o;
        o = mem_must(NEW(struct on_cluster));
        o->lost_ms = now;
        if (map_put(&r->clusters, ns, o) < 0)
                abort();
        return o;
}

/* ---- what the Works of one placement on one member say ---- */

struct works {
        const char *placement;
        unsigned n, available;
};

static bool is_available(const json_t *work)
{
        int64_t generation = doc_get_int(work, "metadata.generation", 0);
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(work, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), CONDITION_AVAILABLE))
                        return text_equal(doc_get_string(c, "status"), CONDITION_TRUE) &&
                               doc_get_int(c, "observedGeneration", -1) == generation;
        return false;
}

static bool count_work(void *ctx, const json_t *work)
{
        struct works *works = ctx;
        char placement[192];

        if (rule_is_leaving(work) || !rule_placement_of(work, placement) ||
            !text_equal(placement, works->placement))
                return true;
        works->n++;
        works->available += is_available(work);
        return true;
}

/* A Work that goes may go with the whole cluster, which needs no budget. */
static bool changes_workload(const struct change *c)
{
        const json_t *before = doc_get(c->before, "spec.workload"),
                     *after = doc_get(c->after, "spec.workload");

        if (!c->after || rule_is_leaving(c->after))
                return false;
        return !before || !after || !json_equal((json_t *)before, (json_t *)after);
}

static void note(struct watch *w, struct rollout *r, const char *placement, const struct change *c)
{
        struct on_cluster *o = cluster_of(r, c->ns, c->at_ms);
        struct works works = { .placement = placement };

        watch_each(w, "hub", RES_WORKS, c->ns, count_work, &works);
        if (works.n == 0) { /* it left the placement */
                map_remove(&r->clusters, c->ns);
                return;
        }
        if (o->available && rule_is_hub_agent(c->who) && changes_workload(c) &&
            c->at_ms - o->lost_ms > RULE_LAG_MS)
                o->moving = true;
        o->available = works.available == works.n;
        if (o->available)
                o->moving = false;
        else if (!o->moving)
                o->lost_ms = c->at_ms;
}

/* ---- the verdict ---- */

struct wanted {
        const char *placement;
        unsigned n;
};

static bool count_binding(void *ctx, const json_t *binding)
{
        struct wanted *wanted = ctx;
        char placement[192];

        wanted->n += rule_placement_of(binding, placement) && text_equal(placement, wanted->placement) &&
                     rule_binding_lives(binding);
        return true;
}

static unsigned percent_allowed(struct rollout *r, const struct wish_placement *p, int64_t now)
{
        if (r->may_percent != p->strategy.max_unavailable) {
                r->before_percent = now - r->since_ms < RULE_LAG_MS ? MAX(r->before_percent, r->may_percent)
                                                                    : r->may_percent;
                r->may_percent = p->strategy.max_unavailable;
                r->since_ms = now;
        }
        return now - r->since_ms < RULE_LAG_MS ? MAX(r->before_percent, r->may_percent) : r->may_percent;
}

static void judge(struct watch *w, struct rollout *r, const char *placement, const struct wish_placement *p)
{
        struct wanted wanted = { placement, 0 };
        unsigned moving = 0, available = 0, may;

        watch_each(w, "hub", strchr(placement, '/') ? RES_NS_BINDINGS : RES_BINDINGS, NULL, count_binding,
                   &wanted);
        if (p->policy.type == POLICY_PICK_N)
                wanted.n = MIN(wanted.n, p->policy.n);
        map_for_each(&r->clusters, e) {
                const struct on_cluster *o = e->value;

                moving += o->moving;
                available += o->available;
        }
        r->least = moving == 0 ? wanted.n : MIN(r->least, wanted.n);
        may = (r->least * percent_allowed(r, p, watch_now(w)) + 99) / 100;
        if (moving > 0)
                watch_judged(w, &rule_budget);
        if (moving > may && available + may < r->least)
                watch_broken(
                        w, &rule_budget,
                        "placement %s: a rollout took %u clusters at once, %u allowed, %u available of %u",
                        placement, moving, may, available, r->least);
}

static void budget_changed(struct watch *w, void *state, const struct change *c)
{
        const json_t *work = c->after ? c->after : c->before;
        const struct wish_placement *p;
        struct budget *b = state;
        struct rollout *r;
        char placement[192];

        if (!text_equal(c->resource, RES_WORKS) || !text_starts_with(c->ns, NAMESPACE_MEMBER_PREFIX) ||
            !rule_placement_of(work, placement) || !(p = rule_wished(watch_wish(w), placement)))
                return;
        if (!b->begun)
                map_init(&b->rollouts, MAP_OWN_KEYS, rollout_free);
        b->begun = true;
        r = rollout_of(b, placement);
        note(w, r, placement, c);
        judge(w, r, placement, p);
}

static void budget_end(void *state)
{
        struct budget *b = state;

        if (b->begun)
                map_free(&b->rollouts);
}

const struct rule rule_budget = {
        .name = "budget", .state_size = sizeof(struct budget), .changed = budget_changed, .end = budget_end
};
