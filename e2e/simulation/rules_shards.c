/* Hub agents that share the placements out (common/ctrl/shards.h): of each placement only the holder of its
 * shard's lease writes, and of what belongs to none (members, what joins need, overrides, ResourceSets,
 * sources, profiles, webhook configurations: all that is not named here) only the holder of shard 0. */
#include <stdio.h>

#include "common/base/memory.h"
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

static void put_key(char ret[192], const char *ns, const char *name)
{
        snprintf(ret, 192, "%s%s%s", ns, ns[0] ? "/" : "", or_empty(name));
}

static bool is_one_of(const struct change *c, const char *cluster_wide, const char *namespaced)
{
        return text_equal(c->resource, cluster_wide) || text_equal(c->resource, namespaced);
}

/* An approval names its run. */
static const json_t *run_of(struct watch *w, const struct change *c, const json_t *approval)
{
        const char *name = rule_label(approval, LABEL_TARGET_UPDATE_RUN);

        return name ? watch_get(w, "hub", c->ns[0] ? RES_NS_RUNS : RES_RUNS, c->ns, name) : NULL;
}

enum owner {
        OWNER_ANY,       /* nobody's: leases, events, the webhooks' certificate, what users report back to */
        OWNER_OF_KEY,    /* whoever has the placement's shard */
        OWNER_OF_SHARD_0 /* what belongs to no placement */
};

/* What is left when a status is written. */
static json_t *without_status(const json_t *doc)
{
        static const char *const moving[] = { "resourceVersion", "managedFields" };
        json_t *copy = mem_must(doc_copy(doc));

        json_object_del(copy, "status");
        for (size_t i = 0; i < ARRAY_LEN(moving); i++)
                json_object_del(json_object_get(copy, "metadata"), moving[i]);
        return copy;
}

/* Statuses come back to what was placed, whatever that is: the object does not tell whose it is. */
static bool is_reported_back(const struct change *c)
{
        static const char *const ours[] = { "placement.", "cluster.", "multicluster.", "source.", "fluxcd." };
        json_t *before, *after;
        bool same;

        for (size_t i = 0; i < ARRAY_LEN(ours); i++)
                if (text_starts_with(c->resource, ours[i]))
                        return false;
        if (!c->before || !c->after)
                return false;
        before = without_status(c->before);
        after = without_status(c->after);
        same = json_equal(before, after);
        json_decref(before);
        json_decref(after);
        return same;
}

static bool is_nobodys(const struct change *c)
{
        static const char *const free_for_all[] = { RES_LEASES, "/events", "/secrets" };

        return text_in(c->resource, free_for_all, ARRAY_LEN(free_for_all));
}

static enum owner owner_of(struct watch *w, const struct change *c, char ret_placement[192])
{
        static const char *const labelled[] = { RES_BINDINGS,     RES_NS_BINDINGS, RES_SNAPSHOTS,
                                                RES_NS_SNAPSHOTS, RES_POLICIES,    RES_NS_POLICIES,
                                                RES_WORKS };
        const json_t *doc = c->after ? c->after : c->before, *run = doc;

        if (is_nobodys(c))
                return OWNER_ANY;
        if (is_one_of(c, RES_PLACEMENTS, RES_NS_PLACEMENTS)) {
                put_key(ret_placement, c->ns, c->name);
                return OWNER_OF_KEY;
        }
        if (text_equal(c->resource, RES_PLACEMENT_STATUSES)) { /* in the namespace, of one that has none */
                put_key(ret_placement, "", c->name);
                return OWNER_OF_KEY;
        }
        if (text_in(c->resource, labelled, ARRAY_LEN(labelled))) {
                if (!rule_placement_of(doc, ret_placement)) /* it belongs to the empty name */
                        ret_placement[0] = 0;
                return OWNER_OF_KEY;
        }
        if (is_one_of(c, RES_APPROVALS, RES_NS_APPROVALS) && !(run = run_of(w, c, doc)))
                return OWNER_ANY; /* it goes with its run, and which that was is not known any more */
        if (run != doc || is_one_of(c, RES_RUNS, RES_NS_RUNS) || text_equal(c->resource, RES_EVICTIONS)) {
                put_key(ret_placement, c->ns, doc_get_string(run, "spec.placementName"));
                return OWNER_OF_KEY;
        }
        return is_reported_back(c) ? OWNER_ANY : OWNER_OF_SHARD_0;
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

/* Of a member that goes, nobody takes the finalizers off its Works any more: who sees to members does. */
static bool is_of_leaving_member(struct watch *w, const struct change *c)
{
        const json_t *member;

        if (!text_equal(c->resource, RES_WORKS) || !text_starts_with(c->ns, NAMESPACE_MEMBER_PREFIX))
                return false;
        member = watch_get(w, "hub", RES_MEMBERS, "", c->ns + strlen(NAMESPACE_MEMBER_PREFIX));
        return !member || rule_is_leaving(member);
}

static void shard_owner(struct watch *w, void *state, const struct change *c)
{
        struct shard_owner *s = state;
        int who = agent_number(c->who);
        char placement[192];
        enum owner owner;
        unsigned shard;

        if (!watch_shards(w) || !text_equal(c->cluster, "hub"))
                return;
        if (text_equal(c->resource, RES_LEASES))
                note_lease(s, c);
        owner = who < 0 ? OWNER_ANY : owner_of(w, c, placement);
        if (owner == OWNER_ANY)
                return;
        shard = owner == OWNER_OF_KEY ? shard_of_key(placement, watch_shards(w)) : 0;
        watch_judged(w, owner == OWNER_OF_KEY ? &rule_shard_owner : &rule_shard_zero);
        if (might_write(s, who, shard, c) ||
            ((is_made_by_a_set(c) || is_of_leaving_member(w, c)) && might_write(s, who, 0, c)))
                return;
        watch_broken(w, owner == OWNER_OF_KEY ? &rule_shard_owner : &rule_shard_zero,
                     "%s wrote %s %s%s%s of shard %u, which is not its own", c->who, c->resource, c->ns,
                     c->ns[0] ? "/" : "", c->name, shard);
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

/* Judged by rule_shard_owner, which knows who holds what; a name of its own, so that a run tells if there was
 * nothing to judge. */
const struct rule rule_shard_zero = { .of_shards = true, .name = "shard-zero" };
