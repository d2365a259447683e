#include <limits.h>

#include "common/base/map.h"
#include "common/base/memory.h"
#include "e2e/simulation/asked.h"
#include "e2e/simulation/model_parts.h"
#include "e2e/simulation/rules.h"

/* A rollout never takes away more of a placement at once than maxUnavailable allows.
 *
 * A cluster of a placement is available when all its Works are. It is moving when it was available and a
 * rollout changed what its Works bring; what lost its availability by itself, or a Work by somebody's hand,
 * may be updated without a budget, and that decision may rest on old news and be carried out late. */

struct on_cluster {
        bool available, moving;
        bool bereft;     /* somebody deleted a Work of it, which is to be made again */
        int64_t lost_ms; /* last seen unavailable and not moving */
};

struct rollout {
        struct map clusters;                  /* namespace of a member -> struct on_cluster */
        unsigned least;                       /* clusters wanted, at least, since nothing of it moves */
        unsigned most;                        /* at most, since then and until `fewer_ms` is old */
        int64_t fewer_ms;                     /* since then fewer are wanted; 0 = they are not */
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

static struct rollout *rollout_of(struct map *rollouts, const char *placement)
{
        struct rollout *r = map_get(rollouts, placement);

        if (r)
                return r;
        r = mem_must(NEW(struct rollout));
        map_init(&r->clusters, MAP_OWN_KEYS, mem_free);
        if (map_put(rollouts, placement, r) < 0)
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
        const char *placement, *snapshot; /* index; NULL = none */
        unsigned n, available, of_snapshot;
};

static const char *snapshot_of(const json_t *work)
{
        return json_string_value(json_object_get(doc_get_object(work, "metadata.labels"),
                                                 LABEL_PARENT_RESOURCE_SNAPSHOT_INDEX));
}

static bool is_available(const json_t *work)
{
        return model_holds_now(doc_get(work, "status"), CONDITION_AVAILABLE,
                               doc_get_int(work, "metadata.generation", 0));
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
        works->of_snapshot += works->snapshot && text_equal(snapshot_of(work), works->snapshot);
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

/* What is made again in its place takes nothing away. */
static bool is_taken_by_hand(const struct change *c)
{
        return c->before && !rule_is_leaving(c->before) && (!c->after || rule_is_leaving(c->after)) &&
               !rule_is_hub_agent(c->who);
}

/* A hub agent that ended between two Works makes the rest when it is back, though what is there is available.
 */
static bool completes(const struct change *c, const struct works *works)
{
        return c->type == CHANGE_ADDED && works->of_snapshot > 1;
}

static void note(struct watch *w, struct rollout *r, const char *placement, const struct change *c)
{
        struct on_cluster *o = cluster_of(r, c->ns, c->at_ms);
        struct works works = { .placement = placement, .snapshot = snapshot_of(c->after) };

        watch_each(w, "hub", RES_WORKS, c->ns, count_work, &works);
        if (works.n == 0) { /* it left the placement */
                map_remove(&r->clusters, c->ns);
                return;
        }
        if (is_taken_by_hand(c))
                o->bereft = true;
        if (o->available && !o->bereft && rule_is_hub_agent(c->who) && changes_workload(c) &&
            !completes(c, &works) && c->at_ms - o->lost_ms > RULE_LAG_MS)
                o->moving = true;
        if (c->type == CHANGE_ADDED)
                o->bereft = false;
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

/* What maxUnavailable is measured by, where the policy says it. Clusters that are to leave yet do not count.
 */
static unsigned asked_number(const struct wish_policy *p)
{
        if (p->type == POLICY_PICK_FIXED)
                return (unsigned)__builtin_popcount(p->fixed);
        return p->type == POLICY_PICK_N ? p->n : UINT_MAX;
}

/* Some of what moves may have been let go while more were wanted: an eviction asks no rollout. */
static void note_wanted(struct rollout *r, unsigned n, unsigned moving, int64_t now)
{
        bool fewer = n < r->most;

        r->least = moving == 0 ? n : MIN(r->least, n);
        if (fewer && !r->fewer_ms)
                r->fewer_ms = now;
        if (fewer && (moving > 0 || now - r->fewer_ms < RULE_LAG_MS))
                return;
        r->most = n;
        r->fewer_ms = 0;
}

static void judge(struct watch *w, struct rollout *r, const char *placement, const struct wish_placement *p)
{
        struct wanted wanted = { placement, 0 };
        unsigned moving = 0, available = 0, may;

        watch_each(w, "hub", strchr(placement, '/') ? RES_NS_BINDINGS : RES_BINDINGS, NULL, count_binding,
                   &wanted);
        wanted.n = MIN(wanted.n, asked_number(&p->policy));
        map_for_each(&r->clusters, e) {
                const struct on_cluster *o = e->value;

                moving += o->moving;
                available += o->available;
        }
        note_wanted(r, wanted.n, moving, watch_now(w));
        may = (r->most * percent_allowed(r, p, watch_now(w)) + 99) / 100;
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
        r = rollout_of(&b->rollouts, placement);
        note(w, r, placement, c);
        if (!p->strategy.external_ms) /* that takes them whom a run sends */
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

/* ---- the decision itself ---- */

/* The rollout decides by bindings: to take a ready one to something else it needs as many others that are.
 * What loses its readiness otherwise may do so after the decision. */

#define DECIDED_MS 60000 /* a decision may be so old when it is written */

struct target {
        char placement[192];
        bool ready;
        int64_t since_ms, lost_ms; /* lost_ms: ready no more, by no pick; 0 = no such time */
        int64_t gone_ms;           /* 0 = it is there */
};

struct picks {
        bool begun;
        struct map targets; /* binding with namespace -> struct target */
        struct asked_map asked;
};

static struct target *target_of(struct picks *s, const char *key, const struct change *c)
{
        struct target *t = map_get(&s->targets, key);

        if (t && !t->gone_ms)
                return t;
        t = mem_must(NEW(struct target));
        t->since_ms = c->at_ms;
        if (!rule_placement_of(c->after, t->placement) || map_put(&s->targets, key, t) < 0)
                abort();
        return t;
}

static bool differ(const struct change *c, const char *path)
{
        const json_t *before = doc_get(c->before, path), *after = doc_get(c->after, path);

        return before != after && (!before || !after || !json_equal((json_t *)before, (json_t *)after));
}

static bool is_pick(const struct change *c)
{
        return c->before && rule_is_hub_agent(c->who) &&
               (differ(c, "spec.resourceSnapshotName") || differ(c, "spec.resourceOverrideSnapshots") ||
                differ(c, "spec.clusterResourceOverrideSnapshots"));
}

/* Whether it may be, for who saw the bindings as they were at `seen_ms`. */
static bool may_pick(struct picks *s, const struct change *c, const char *placement,
                     const struct asked *asked, int64_t seen_ms, unsigned *n, unsigned *ready)
{
        unsigned may;

        *n = *ready = 0;
        map_for_each(&s->targets, e) {
                const struct target *t = e->value;

                if (!text_equal(t->placement, placement) || (t->gone_ms && t->gone_ms <= seen_ms))
                        continue;
                *n += c->at_ms - t->since_ms > DECIDED_MS;
                *ready += t->ready || (t->lost_ms && c->at_ms - t->lost_ms < DECIDED_MS);
        }
        *n = MIN(*n, asked->n);
        may = (*n * asked->max_unavailable + 99) / 100;
        return *ready + may >= *n;
}

static bool may_pick_before_some_went(struct picks *s, const struct change *c, const char *placement,
                                      const struct asked *asked)
{
        unsigned n, ready;

        map_for_each(&s->targets, e) {
                const struct target *t = e->value;

                if (t->gone_ms && c->at_ms - t->gone_ms < DECIDED_MS && text_equal(t->placement, placement) &&
                    may_pick(s, c, placement, asked, t->gone_ms - 1, &n, &ready))
                        return true;
        }
        return false;
}

static void judge_pick(struct watch *w, struct picks *s, const struct change *c, const char *placement)
{
        const struct wish_placement *p = rule_wished(watch_wish(w), placement);
        const struct asked_list *list = asked_of(&s->asked, placement);
        unsigned n = 0, ready = 0;

        if (!list || !p || p->strategy.external_ms) /* runs go by maxConcurrency: rules_run_clusters.c */
                return;
        watch_judged(w, &rule_picks);
        vec_for_each(&list->all, asked)
                if (c->at_ms - asked->until_ms < DECIDED_MS &&
                    (may_pick_before_some_went(s, c, placement, asked) ||
                     may_pick(s, c, placement, asked, c->at_ms, &n, &ready)))
                        return;
        watch_broken(w, &rule_picks, "placement %s: %s was taken to another content, %u of %u are ready",
                     placement, c->name, ready, n);
}

static bool is_gone(const struct target *t, int64_t now)
{
        return t->gone_ms && now - t->gone_ms > DECIDED_MS;
}

static void target_changed(struct watch *w, struct picks *s, const struct change *c)
{
        struct target *t;
        bool was_ready, picked;
        char key[320];

        map_for_each(&s->targets, e)
                if (is_gone(e->value, c->at_ms))
                        map_remove(&s->targets, e->key);
        snprintf(key, sizeof(key), "%s/%s", c->ns, c->name);
        if (!c->after || !rule_binding_lives(c->after)) {
                t = map_get(&s->targets, key);
                if (t && !t->gone_ms)
                        t->gone_ms = c->at_ms;
                return;
        }
        t = target_of(s, key, c);
        was_ready = t->ready;
        picked = is_pick(c);
        t->ready = rule_binding_is_ready(c->after);
        if (was_ready && !t->ready)
                t->lost_ms = picked ? 0 : c->at_ms;
        if (was_ready && picked)
                judge_pick(w, s, c, t->placement);
}

static void picks_changed(struct watch *w, void *state, const struct change *c)
{
        struct picks *s = state;

        if (!s->begun)
                map_init(&s->targets, MAP_OWN_KEYS, mem_free);
        s->begun = true;
        asked_note(&s->asked, c);
        if (text_equal(c->resource, RES_BINDINGS) || text_equal(c->resource, RES_NS_BINDINGS))
                target_changed(w, s, c);
}

static void picks_end(void *state)
{
        struct picks *s = state;

        if (!s->begun)
                return;
        map_free(&s->targets);
        asked_free(&s->asked);
}

const struct rule rule_picks = {
        .name = "picks", .state_size = sizeof(struct picks), .changed = picks_changed, .end = picks_end
};
