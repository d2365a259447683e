#include "common/base/map.h"
#include "common/base/memory.h"
#include "e2e/simulation/held.h"
#include "e2e/simulation/rules.h"
#include "e2e/simulation/sim_fleet.h"

/* Nobody is called silent who spoke within its limit (hub-agent/membership/hearing.h): what a hub agent says
 * of a member is held against what the hub's store had by then, however late the agent's own view is. */

#define ON_ITS_WAY_MS 20000 /* between what a server answered and what an agent wrote by it */
#define KEPT 8
#define DELAYS_MS 5000 /* beside two periods: spec/membership-webhooks-charts.md 3 */

struct said {
        int64_t at_ms[KEPT];    /* when the store had it */
        int64_t stamp_ms[KEPT]; /* by the member's clock */
        unsigned n;             /* ever; the last KEPT are here */
};

struct heard {
        struct map members; /* name -> struct said */
        bool begun;
};

static const json_t *agent_of(const json_t *doc)
{
        const json_t *a;
        size_t i;

        json_array_foreach(doc_get_array(doc, "status.agentStatus"), i, a)
                if (text_equal(doc_get_string(a, "type"), AGENT_MEMBER))
                        return a;
        return NULL;
}

static bool is_called_silent(const json_t *member)
{
        const json_t *healthy = rule_condition(agent_of(member), CONDITION_HEALTHY);

        return text_equal(doc_get_string(healthy, "reason"), REASON_HEARTBEAT_LOST);
}

static void note_said(struct heard *h, const struct change *c)
{
        const char *text = doc_get_string(agent_of(c->after), "lastReceivedHeartbeat");
        struct said *s = map_get(&h->members, c->name);
        int64_t stamp_ms;

        if (c->type == CHANGE_DELETED) {
                map_remove(&h->members, c->name);
                return;
        }
        if (!text || time_parse_rfc3339(slice_of(text), &stamp_ms) < 0)
                return;
        if (!s) {
                s = NEW(struct said);
                ASSERT(s && map_put(&h->members, c->name, s) == 0);
        }
        if (s->n && s->stamp_ms[(s->n - 1) % KEPT] == stamp_ms)
                return;
        s->at_ms[s->n % KEPT] = c->at_ms;
        s->stamp_ms[s->n % KEPT] = stamp_ms;
        s->n++;
}

/* What the store had at that time; false: nothing is known of it. */
static bool said_by(const struct said *s, int64_t at_ms, int64_t *ret_stamp_ms)
{
        for (unsigned i = 0; s && i < MIN(s->n, KEPT); i++) {
                unsigned k = (s->n - 1 - i) % KEPT;

                if (s->at_ms[k] > at_ms)
                        continue;
                *ret_stamp_ms = s->stamp_ms[k];
                return true;
        }
        return false;
}

static int64_t limit_of(const json_t *member)
{
        int64_t period_ms = doc_get_int(member, "spec.heartbeatPeriodSeconds", 60) * 1000;

        return MAX((int64_t)SIM_HEARTBEAT_GRACE_MS, 2 * period_ms + DELAYS_MS);
}

/* What an agent was told by then its word may go by. Who was stopped after that may say it when it goes on,
 * and then looks again. */
static int64_t told_by(const struct wish *wish, const struct change *c)
{
        int64_t by_ms = c->asked_ms - ON_ITS_WAY_MS;
        int who = held_agent(c->who);
        const struct wish_stop *stop = who < 0 ? NULL : &wish->stops[who];

        if (!stop || !stop->from_ms || c->asked_ms < stop->from_ms || by_ms > stop->until_ms)
                return by_ms;
        return MIN(by_ms, stop->from_ms - ON_ITS_WAY_MS);
}

static void judge(struct watch *w, const struct heard *h, const struct change *c)
{
        int64_t by_ms = told_by(watch_wish(w), c), stamp_ms, age_ms;

        if (!rule_is_hub_agent(c->who) || is_called_silent(c->before) || !is_called_silent(c->after))
                return;
        if (watch_wish(w)->clock_ms && watch_wish(w)->clock_ms >= by_ms)
                return; /* by which time of day it was judged is not known */
        if (!said_by(map_get(&h->members, c->name), by_ms, &stamp_ms))
                return;
        watch_judged(w, &rule_heard);
        age_ms = c->asked_ms + watch_wall(w) - watch_now(w) - stamp_ms;
        if (age_ms <= limit_of(c->after))
                watch_broken(w, &rule_heard, "%s called %s silent, which had spoken %lld ms before", c->who,
                             c->name, (long long)age_ms);
}

static void heard_changed(struct watch *w, void *state, const struct change *c)
{
        struct heard *h = state;

        if (!text_equal(c->cluster, "hub"))
                return;
        if (!h->begun)
                map_init(&h->members, MAP_OWN_KEYS, mem_free);
        h->begun = true;
        if (text_equal(c->resource, RES_INTERNAL_MEMBERS))
                note_said(h, c);
        else if (text_equal(c->resource, RES_MEMBERS) && c->type == CHANGE_MODIFIED)
                judge(w, h, c);
}

static void heard_end(void *state)
{
        struct heard *h = state;

        if (h->begun)
                map_free(&h->members);
}

const struct rule rule_heard = {
        .name = "heard", .state_size = sizeof(struct heard), .changed = heard_changed, .end = heard_end
};
