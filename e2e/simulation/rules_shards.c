/* Hub agents that share the placements out (common/ctrl/shards.h): of each placement only the holder of its
 * shard's lease writes, and of what belongs to none (members, what joins need, overrides, ResourceSets,
 * sources, profiles, webhook configurations: all that is not named here) only the holder of shard 0. */
#include <stdio.h>

#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/ctrl/shards_plan.h"
#include "e2e/simulation/held.h"
#include "e2e/simulation/rules.h"

#define SHARD_PREFIX LEASE_HUB_AGENT "-shard-"

struct shard_owner {
        struct held held[SHARDS_MAX][HELD_AGENTS];
        /* "resource ns/name" -> all shards that it ever was of (shard_set in the pointer): who asks may not
         * know yet that a user took its label off, or made another of that name. */
        struct map known;
        bool begun;
};

static struct shard_owner *begun(void *state)
{
        struct shard_owner *s = state;

        if (!s->begun)
                map_init(&s->known, MAP_OWN_KEYS, NULL);
        s->begun = true;
        return s;
}

static void shard_owner_end(void *state)
{
        struct shard_owner *s = state;

        if (s->begun)
                map_free(&s->known);
}

static void note_lease(struct shard_owner *s, const struct change *c)
{
        unsigned k, n;

        if (sscanf(c->name, SHARD_PREFIX "%u-of-%u", &k, &n) == 2 && k < SHARDS_MAX)
                held_note(s->held[k], c);
}

/* ---- whose an object is ---- */

struct about {
        const char *resource, *ns, *name;
        const json_t *doc; /* NULL = it is not known */
};

static void put_key(char ret[192], const char *ns, const char *name)
{
        snprintf(ret, 192, "%s%s%s", ns, ns[0] ? "/" : "", or_empty(name));
}

static bool is_one_of(const struct about *c, const char *cluster_wide, const char *namespaced)
{
        return text_equal(c->resource, cluster_wide) || text_equal(c->resource, namespaced);
}

/* An approval names its run. */
static const json_t *run_of(struct watch *w, const struct about *c)
{
        const char *name = rule_label(c->doc, LABEL_TARGET_UPDATE_RUN);

        return name ? watch_get(w, "hub", c->ns[0] ? RES_NS_RUNS : RES_RUNS, c->ns, name) : NULL;
}

enum owner {
        OWNER_ANY,       /* nobody's: leases, events, the webhooks' certificate, what users report back to */
        OWNER_OF_KEY,    /* whoever has the placement's shard */
        OWNER_OF_SHARD_0 /* what belongs to no placement */
};

static bool is_nobodys(const char *resource)
{
        static const char *const free_for_all[] = { RES_LEASES, "/events", "/secrets" };

        return text_in(resource, free_for_all, ARRAY_LEN(free_for_all));
}

static enum owner owner_of(struct watch *w, const struct about *o, char ret_placement[192])
{
        static const char *const labelled[] = { RES_BINDINGS,     RES_NS_BINDINGS, RES_SNAPSHOTS,
                                                RES_NS_SNAPSHOTS, RES_POLICIES,    RES_NS_POLICIES,
                                                RES_WORKS };
        const json_t *run = o->doc;

        if (is_nobodys(o->resource))
                return OWNER_ANY;
        if (is_one_of(o, RES_PLACEMENTS, RES_NS_PLACEMENTS)) {
                put_key(ret_placement, o->ns, o->name);
                return OWNER_OF_KEY;
        }
        if (text_equal(o->resource, RES_PLACEMENT_STATUSES)) { /* in the namespace, of one that has none */
                put_key(ret_placement, "", o->name);
                return OWNER_OF_KEY;
        }
        if (text_in(o->resource, labelled, ARRAY_LEN(labelled))) {
                if (!o->doc)
                        return OWNER_ANY;
                if (!rule_placement_of(o->doc, ret_placement)) /* it belongs to the empty name */
                        ret_placement[0] = 0;
                return OWNER_OF_KEY;
        }
        if (is_one_of(o, RES_APPROVALS, RES_NS_APPROVALS) && (!o->doc || !(run = run_of(w, o))))
                return OWNER_ANY; /* it goes with its run, and which that was is not known any more */
        if (run != o->doc || is_one_of(o, RES_RUNS, RES_NS_RUNS) || text_equal(o->resource, RES_EVICTIONS)) {
                if (!run)
                        return OWNER_ANY;
                put_key(ret_placement, o->ns, doc_get_string(run, "spec.placementName"));
                return OWNER_OF_KEY;
        }
        return OWNER_OF_SHARD_0;
}

/* ResourceSets make placements, too. */
static bool is_made_by_a_set(const struct about *o)
{
        return o->doc && rule_label(o->doc, LABEL_SET_NAME);
}

/* Of a member that goes, nobody takes the finalizers off its Works any more: who sees to members does. */
static bool is_of_leaving_member(struct watch *w, const struct about *o)
{
        const json_t *member;

        if (!text_equal(o->resource, RES_WORKS) || !text_starts_with(o->ns, NAMESPACE_MEMBER_PREFIX))
                return false;
        member = watch_get(w, "hub", RES_MEMBERS, "", o->ns + strlen(NAMESPACE_MEMBER_PREFIX));
        return !member || rule_is_leaving(member);
}

/* Any of whose holders may write it; none: whoever likes. *ret_shard is the one that it is told by. */
static shard_set whose(struct watch *w, const struct about *o, unsigned *ret_shard)
{
        char placement[192];
        enum owner owner = owner_of(w, o, placement);

        if (owner == OWNER_ANY)
                return 0;
        *ret_shard = owner == OWNER_OF_KEY ? shard_of_key(placement, watch_shards(w)) : 0;
        if (is_made_by_a_set(o) || is_of_leaving_member(w, o))
                return SHARD_BIT(*ret_shard) | SHARD_BIT(0);
        return SHARD_BIT(*ret_shard);
}

static bool holds_any(const struct shard_owner *s, int who, shard_set shards, int64_t sent_ms)
{
        for (unsigned k = 0; k < SHARDS_MAX; k++)
                if ((shards & SHARD_BIT(k)) && held_at(&s->held[k][who], sent_ms))
                        return true;
        return false;
}

static const struct rule *rule_for(const struct about *o)
{
        static const char *const of_placements[] = {
                RES_BINDINGS,     RES_NS_BINDINGS, RES_SNAPSHOTS,  RES_POLICIES,      RES_NS_SNAPSHOTS,
                RES_NS_POLICIES,  RES_WORKS,       RES_PLACEMENTS, RES_NS_PLACEMENTS, RES_APPROVALS,
                RES_NS_APPROVALS, RES_RUNS,        RES_NS_RUNS,    RES_EVICTIONS,     RES_PLACEMENT_STATUSES
        };

        return text_in(o->resource, of_placements, ARRAY_LEN(of_placements)) ? &rule_shard_owner
                                                                             : &rule_shard_zero;
}

static void judge(struct watch *w, const struct shard_owner *s, const char *who, const char *did,
                  const struct about *o, shard_set shards, unsigned shard, int64_t sent_ms)
{
        watch_judged(w, rule_for(o));
        if (!holds_any(s, held_agent(who), shards, sent_ms))
                watch_broken(w, rule_for(o), "%s %s %s %s%s%s of shard %u, which is not its own", who, did,
                             o->resource, o->ns, o->ns[0] ? "/" : "", o->name, shard);
}

/* ---- what is committed ---- */

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

static bool is_ours(const char *resource)
{
        static const char *const ours[] = { "placement.", "cluster.", "multicluster.", "source.", "fluxcd." };

        for (size_t i = 0; i < ARRAY_LEN(ours); i++)
                if (text_starts_with(resource, ours[i]))
                        return true;
        return false;
}

/* Statuses come back to what was placed, whatever that is: the object does not tell whose it is. */
static bool is_reported_back(const struct change *c)
{
        json_t *before, *after;
        bool same;

        if (is_ours(c->resource) || !c->before || !c->after)
                return false;
        before = without_status(c->before);
        after = without_status(c->after);
        same = json_equal(before, after);
        json_decref(before);
        json_decref(after);
        return same;
}

static void put_known_key(char ret[512], const struct about *o)
{
        snprintf(ret, 512, "%s %s/%s", o->resource, o->ns, o->name);
}

static void learn(struct shard_owner *s, const struct about *o, shard_set shards)
{
        char key[512];

        put_known_key(key, o);
        shards |= (uintptr_t)map_get(&s->known, key);
        if (shards)
                ASSERT(map_put(&s->known, key, (void *)(uintptr_t)shards) == 0);
}

/* Who has not heard of its coming back may go on for who sees to members. */
static void learn_of_member(struct shard_owner *s, const struct change *c)
{
        const struct about left = { "works of who left", "", c->name, NULL };

        if (text_equal(c->resource, RES_MEMBERS) && (!c->after || rule_is_leaving(c->after)))
                learn(s, &left, SHARD_BIT(0));
}

static void shard_changed(struct watch *w, void *state, const struct change *c)
{
        struct shard_owner *s = begun(state);
        const struct about o = { c->resource, c->ns, c->name, c->after ? c->after : c->before };
        unsigned shard = 0;
        shard_set shards;

        if (!watch_shards(w) || !text_equal(c->cluster, "hub"))
                return;
        if (text_equal(c->resource, RES_LEASES))
                note_lease(s, c);
        shards = whose(w, &o, &shard);
        learn(s, &o, shards);
        learn_of_member(s, c);
        if (shards && held_agent(c->who) >= 0 && !is_reported_back(c))
                judge(w, s, c->who, "wrote", &o, shards, shard, c->asked_ms);
}

/* ---- what is sent, whatever becomes of it ---- */

/* As above: no object tells that its status is reported back, but only such statuses are written of what is
 * not ours. */
static bool is_report(const struct sent *sent)
{
        return text_equal(sent->sub, "status") && !is_ours(sent->resource);
}

static bool had_left(const struct shard_owner *s, const struct about *o)
{
        struct about left = { "works of who left", "", o->ns, NULL };
        char key[512];

        if (!text_equal(o->resource, RES_WORKS) || !text_starts_with(o->ns, NAMESPACE_MEMBER_PREFIX))
                return false;
        left.name += strlen(NAMESPACE_MEMBER_PREFIX);
        put_known_key(key, &left);
        return map_has(&s->known, key);
}

/* A patch tells nothing of whose it is: that is what the store knows of the object, or knew. */
static shard_set whose_request(struct watch *w, const struct shard_owner *s, struct about o,
                               const json_t *body, unsigned *ret_shard)
{
        shard_set shards;
        char key[512];

        o.doc = watch_get(w, "hub", o.resource, o.ns, o.name);
        put_known_key(key, &o);
        shards = (uintptr_t)map_get(&s->known, key);
        if (shards)
                *ret_shard = (unsigned)__builtin_ctzll(shards);
        shards |= whose(w, &o, ret_shard);
        o.doc = body;
        if (doc_get_string(body, "kind"))
                shards |= whose(w, &o, ret_shard);
        return shards | (had_left(s, &o) ? SHARD_BIT(0) : 0);
}

static void shard_sent(struct watch *w, void *state, const struct sent *sent)
{
        struct shard_owner *s = begun(state);
        struct about o = { sent->resource, sent->ns, sent->name, NULL };
        AUTO_JSON json_t *body = NULL;
        unsigned shard = 0;
        shard_set shards;

        if (!watch_shards(w) || !text_equal(sent->cluster, "hub") || held_agent(sent->who) < 0 ||
            is_report(sent))
                return;
        if (sent->body.len > 0 && doc_parse(sent->body, &body, NULL) < 0)
                body = NULL;
        if (!sent->name[0])
                o.name = or_empty(doc_get_string(body, "metadata.name"));
        shards = whose_request(w, s, o, body, &shard);
        if (shards)
                judge(w, s, sent->who, "sent", &o, shards, shard, sent->at_ms);
}

/* ---- at rest ---- */

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
        l->n += held_agent(or_empty(doc_get_string(lease, "spec.holderIdentity"))) >= 0;
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
                                       .changed = shard_changed,
                                       .sent = shard_sent,
                                       .end = shard_owner_end,
                                       .at_rest = shards_at_rest };

/* Judged by rule_shard_owner, which knows who holds what; a name of its own, so that a run tells if there was
 * nothing to judge. */
const struct rule rule_shard_zero = { .of_shards = true, .name = "shard-zero" };
