/* The plugins that only filter: eligibility, namespaces, taints, clusters that are taken.
 * spec/scheduler.md 11. */
#include "hub-agent/membership/membership.h"
#include "hub-agent/scheduler/framework.h"

#define GRACE_MS (5 * 60 * 1000)
#define NEVER_MINUTES 153722867.28 /* what the reference prints for a heartbeat that never came */

static double minutes_since(int64_t then_ms, int64_t now_ms)
{
        return then_ms == TIME_NONE ? NEVER_MINUTES : (double)(now_ms - then_ms) / 60000.0;
}

static const struct agent_status *member_agent(const struct member_cluster *c)
{
        for (uint32_t i = 0; c->status && i < c->status->agent_status.n; i++)
                if (text_equal(c->status->agent_status.at[i].type, AGENT_MEMBER))
                        return &c->status->agent_status.at[i];
        return NULL;
}

#define NOT_CONNECTED "cluster is not connected to the fleet: "

static bool is_unheard(const struct member_cluster *c, const struct agent_status *a,
                       const struct condition *healthy, const struct patience *p)
{
        if (a->last_received_heartbeat == TIME_NONE)
                return true;
        if (p->now_ms - a->last_received_heartbeat <= GRACE_MS)
                return false;
        return !p->told || member_silence_ms(c, p->grace_ms) > GRACE_MS || condition_tells_silence(healthy);
}

bool cluster_is_eligible(const struct member_cluster *c, const struct patience *p, struct arena *arena,
                         struct ineligibility *ret)
{
        const struct agent_status *agent = member_agent(c);
        const struct condition *joined = agent ? condition_find(&agent->conditions, CONDITION_JOINED) : NULL;
        const struct condition *healthy =
                agent ? condition_find(&agent->conditions, CONDITION_HEALTHY) : NULL;
        int64_t now_ms = p->now_ms;

        *ret = (struct ineligibility){ 0 };
        if (is_deleting(&c->object)) {
                ret->reason = "cluster has left the fleet";
                return false;
        }
        if (!agent) {
                ret->reason = NOT_CONNECTED "member agent not online yet";
                return false;
        }
        if (is_unheard(c, agent, healthy, p)) {
                ret->reason = arena_printf(
                        arena, NOT_CONNECTED "no recent heartbeat signals (last received %.2f minutes ago)",
                        minutes_since(agent->last_received_heartbeat, now_ms));
                ret->counts_time = ret->silence = true;
                return false;
        }
        if (!joined || !text_equal(joined->status, CONDITION_TRUE)) {
                ret->reason = NOT_CONNECTED "member agent not joined yet";
                return false;
        }
        if (!healthy) {
                ret->reason = NOT_CONNECTED "health condition from member agent is not available";
                return false;
        }
        if (!text_equal(healthy->status, CONDITION_TRUE) && now_ms - healthy->last_transition_ms > GRACE_MS) {
                ret->reason = arena_printf(
                        arena,
                        NOT_CONNECTED
                        "unhealthy for a prolonged period of time (last transitioned %.2f minutes ago)",
                        minutes_since(healthy->last_transition_ms, now_ms));
                ret->counts_time = true;
                ret->silence = condition_tells_silence(healthy);
                return false;
        }
        return true;
}

static enum verdict filter_eligibility(struct cycle *c, struct candidate *k, const char **ret_reason)
{
        struct patience p = patience_of(c->in);
        struct ineligibility is;

        if (cluster_is_eligible(k->cluster, &p, c->arena, &is))
                return SUCCESS;
        *ret_reason = is.reason;
        k->counts_time = is.counts_time;
        return UNSCHEDULABLE;
}

const struct plugin cluster_eligibility_plugin = { .name = "ClusterEligibility",
                                                   .filter = filter_eligibility };

/* ---- namespaces ---- */

static enum verdict pre_filter_namespace(struct cycle *c)
{
        return text_empty(c->in->ns) ? SKIP : SUCCESS;
}

static enum verdict filter_namespace(struct cycle *c, struct candidate *k, const char **ret_reason)
{
        const struct member_cluster_status *s = k->cluster->status;

        if (!s || !condition_find(&s->conditions, CONDITION_NAMESPACE_COLLECTION_SUCCEEDED))
                return SUCCESS;
        if (s->namespaces.n == 0) {
                *ret_reason = "cluster has no namespace information available";
                return UNSCHEDULABLE;
        }
        if (!string_map_get(&s->namespaces, c->in->ns)) {
                *ret_reason = "target namespace does not exist on cluster";
                return UNSCHEDULABLE;
        }
        return SUCCESS;
}

const struct plugin namespace_affinity_plugin = {
        .name = "NamespaceAffinity",
        .pre_filter = pre_filter_namespace,
        .filter = filter_namespace,
};

/* ---- taints ---- */

static bool tolerates(const struct toleration *t, const struct taint *taint)
{
        bool effect = text_empty(t->effect) || text_equal(t->effect, taint->effect);

        if (text_equal(t->operator, TOLERATION_EXISTS))
                return effect && (text_empty(t->key) || text_equal(t->key, taint->key));
        if (text_equal(t->operator, TOLERATION_EQUAL))
                return effect && text_equal(or_empty(t->key), or_empty(taint->key)) &&
                       text_equal(or_empty(t->value), or_empty(taint->value));
        return false;
}

static bool tolerated(const struct placement_policy *p, const struct taint *taint)
{
        for (uint32_t i = 0; p && i < p->tolerations.n; i++)
                if (tolerates(&p->tolerations.at[i], taint))
                        return true;
        return false;
}

static enum verdict filter_taints(struct cycle *c, struct candidate *k, const char **ret_reason)
{
        const struct member_cluster_spec *s = k->cluster->spec;

        /* NoSchedule keeps new work away. What runs there since an earlier policy stays, as it does when the
         * taint is added. */
        if (k->obsolete)
                return SUCCESS;
        for (uint32_t i = 0; s && i < s->taints.n; i++) {
                const struct taint *t = &s->taints.at[i];

                if (tolerated(c->policy, t))
                        continue;
                *ret_reason = arena_printf(c->arena, "taint &{Key:%s Value:%s Effect:%s} cannot be tolerated",
                                           or_empty(t->key), or_empty(t->value), or_empty(t->effect));
                return UNSCHEDULABLE;
        }
        return SUCCESS;
}

const struct plugin taint_toleration_plugin = { .name = "TaintToleration", .filter = filter_taints };

/* ---- the cluster has the placement already ---- */

static enum verdict filter_taken(struct cycle *c, struct candidate *k, const char **ret_reason)
{
        return k->taken ? ALREADY_SELECTED : SUCCESS;
}

const struct plugin same_placement_plugin = { .name = "SamePlacementAntiAffinity", .filter = filter_taken };
