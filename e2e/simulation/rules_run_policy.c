/* An update run is of no policy that its placement had given up before somebody made the run. */
#include "e2e/simulation/asked.h"
#include "e2e/simulation/rules.h"

#define WAITED_FOR_MS 15000 /* a policy that cannot be taken in is not waited for much longer */

struct run_policy {
        struct asked_map asked;
        bool begun;
        struct map made; /* uid -> when, by our clock */
};

static void note_made(struct run_policy *s, const struct change *c)
{
        if (!s->begun)
                map_init(&s->made, MAP_OWN_KEYS, NULL);
        s->begun = true;
        ASSERT(map_put(&s->made, doc_get_string(c->after, "metadata.uid"), (void *)(intptr_t)c->at_ms) == 0);
}

static const json_t *policy_of(struct watch *w, const struct change *c)
{
        const char *index = doc_get_string(c->after, "status.policySnapshotIndexUsed"),
                   *placement = doc_get_string(c->after, "spec.placementName");
        char name[256];

        snprintf(name, sizeof(name), "%s-%s", placement, index ? index : "");
        return watch_get(w, "hub", *c->ns ? RES_NS_POLICIES : RES_POLICIES, c->ns, name);
}

static void judge(struct watch *w, struct run_policy *s, const struct change *c)
{
        int64_t made_ms =
                s->begun ? (intptr_t)map_get(&s->made, doc_get_string(c->after, "metadata.uid")) : 0;
        const json_t *snapshot = policy_of(w, c);
        const struct asked_list *asked;
        char placement[320];

        snprintf(placement, sizeof(placement), "%s%s%s", c->ns, *c->ns ? "/" : "",
                 doc_get_string(c->after, "spec.placementName"));
        asked = asked_of(&s->asked, placement);
        if (!made_ms || c->at_ms - made_ms >= WAITED_FOR_MS || !snapshot || !asked)
                return;
        watch_judged(w, &rule_run_policy);
        if (!asked_policy(asked, doc_get(snapshot, "spec.policy"), made_ms))
                watch_broken(w, &rule_run_policy,
                             "run %s is of policy %s, which its placement had no more when it was made",
                             c->name, doc_get_string(snapshot, "metadata.name"));
}

static void run_policy(struct watch *w, void *state, const struct change *c)
{
        struct run_policy *s = state;

        asked_note(&s->asked, c);
        if (!c->after || !(text_equal(c->resource, RES_RUNS) || text_equal(c->resource, RES_NS_RUNS)))
                return;
        if (c->type == CHANGE_ADDED)
                note_made(s, c);
        else if (rule_run_began(c->after) && !rule_run_began(c->before))
                judge(w, s, c);
}

static void run_policy_end(void *state)
{
        struct run_policy *s = state;

        asked_free(&s->asked);
        if (s->begun)
                map_free(&s->made);
}

const struct rule rule_run_policy = { .name = "run-policy",
                                      .state_size = sizeof(struct run_policy),
                                      .changed = run_policy,
                                      .end = run_policy_end };
