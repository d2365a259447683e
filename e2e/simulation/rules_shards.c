/* Hub agents that share the placements out (common/ctrl/shards.h): of each placement only the holder of its
 * shard's lease writes. */
#include <stdio.h>

#include "common/ctrl/shards_plan.h"
#include "e2e/simulation/rules.h"

#define AGENTS 3
#define SHARD_PREFIX LEASE_HUB_AGENT "-shard-"

struct shard_owner {
        /* What was asked for until then may still come: INT64_MAX = it is the holder. */
        int64_t until_ms[AGENTS][SHARDS_MAX];
};

/* -1: none. */
static int agent_number(const char *name)
{
        if (text_equal(name, "hub-agent"))
                return 0;
        return text_equal(name, "hub-agent-2") ? 1 : text_equal(name, "hub-agent-3") ? 2 : -1;
}

static const char *holder_of(const json_t *lease)
{
        return lease ? or_empty(doc_get_string(lease, "spec.holderIdentity")) : "";
}

static void note_lease(struct shard_owner *s, const struct change *c)
{
        int before = agent_number(holder_of(c->before)), after = agent_number(holder_of(c->after));
        unsigned k, n;

        if (sscanf(c->name, SHARD_PREFIX "%u-of-%u", &k, &n) != 2 || k >= SHARDS_MAX)
                return;
        if (before >= 0 && before != after)
                s->until_ms[before][k] = c->at_ms;
        if (after >= 0)
                s->until_ms[after][k] = INT64_MAX;
}

static bool put_key(char ret[192], const char *ns, const char *name)
{
        snprintf(ret, 192, "%s%s%s", ns, ns[0] ? "/" : "", or_empty(name));
        return !text_empty(name);
}

/* false: of which placement it is, if of any, is not told by the object. */
static bool placement_of(const struct change *c, char ret[192])
{
        static const char *const placements[] = { RES_PLACEMENTS, RES_NS_PLACEMENTS },
                                 *const naming[] = { RES_RUNS, RES_NS_RUNS, RES_EVICTIONS },
                                 *const labelled[] = { RES_BINDINGS,     RES_NS_BINDINGS, RES_SNAPSHOTS,
                                                       RES_NS_SNAPSHOTS, RES_POLICIES,    RES_NS_POLICIES,
                                                       RES_WORKS };
        const json_t *doc = c->after ? c->after : c->before;

        if (text_in(c->resource, placements, ARRAY_LEN(placements)))
                return put_key(ret, c->ns, c->name);
        if (text_in(c->resource, naming, ARRAY_LEN(naming)))
                return put_key(ret, c->ns, doc_get_string(doc, "spec.placementName"));
        return text_in(c->resource, labelled, ARRAY_LEN(labelled)) && rule_placement_of(doc, ret);
}

static bool shard_of(const struct watch *w, const struct change *c, unsigned *ret)
{
        char placement[192];

        if (text_equal(c->resource, RES_MEMBERS) || text_equal(c->resource, RES_INTERNAL_MEMBERS)) {
                *ret = 0;
                return true;
        }
        if (!placement_of(c, placement))
                return false;
        *ret = shard_of_key(placement, watch_shards(w));
        return true;
}

/* ResourceSets make placements, too. */
static bool is_made_by_a_set(const struct change *c)
{
        return rule_label(c->after ? c->after : c->before, LABEL_SET_NAME) != NULL;
}

/* What was asked for when it was the holder. */
static bool might_write(const struct shard_owner *s, int who, unsigned shard, const struct change *c)
{
        return s->until_ms[who][shard] && s->until_ms[who][shard] >= c->asked_ms;
}

static void shard_owner(struct watch *w, void *state, const struct change *c)
{
        struct shard_owner *s = state;
        int who = agent_number(c->who);
        unsigned shard;

        if (!watch_shards(w) || !text_equal(c->cluster, "hub"))
                return;
        if (text_equal(c->resource, RES_LEASES)) {
                note_lease(s, c);
                return;
        }
        if (who < 0 || !shard_of(w, c, &shard))
                return;
        watch_judged(w, &rule_shard_owner);
        if (!might_write(s, who, shard, c) && !(is_made_by_a_set(c) && might_write(s, who, 0, c)))
                watch_broken(w, &rule_shard_owner, "%s wrote %s %s%s%s of shard %u, which is not its own",
                             c->who, c->resource, c->ns, c->ns[0] ? "/" : "", c->name, shard);
}

struct layout {
        struct watch *w;
        unsigned n;
};

static bool count_held(void *ctx, const json_t *lease)
{
        struct layout *l = ctx;
        const char *name = or_empty(doc_get_string(lease, "metadata.name"));

        if (!text_starts_with(name, SHARD_PREFIX))
                return true;
        l->n += agent_number(holder_of(lease)) >= 0;
        return true;
}

static void shards_at_rest(struct watch *w, void *state)
{
        struct layout l = { w, 0 };

        if (!watch_shards(w))
                return;
        watch_each(w, "hub", RES_LEASES, NAMESPACE_FLEET_SYSTEM, count_held, &l);
        if (l.n != watch_shards(w))
                watch_broken(w, &rule_shard_owner, "%u of %u shards have an owner", l.n, watch_shards(w));
}

const struct rule rule_shard_owner = { .of_shards = true,
                                       .name = "shard-owner",
                                       .state_size = sizeof(struct shard_owner),
                                       .changed = shard_owner,
                                       .at_rest = shards_at_rest };
