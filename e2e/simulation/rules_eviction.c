#include "common/base/map.h"
#include "common/base/memory.h"
#include "e2e/simulation/eviction_words.h"
#include "e2e/simulation/rules.h"

/* Evictions are decided once, within the budget, and nothing is evicted without one.
 *
 * A decision rests on what the server had at some time before it was asked to be stored, and after the last
 * decision about the same placement: one comes after the other. So all budgets and all counts of that time
 * are kept, and there has to be one of each that it follows from.
 *
 * An agent that does not hear that its decision was stored deletes nothing by it: it decides again, with what
 * it decided meanwhile in its count. Until then others may be decided with that one or without it. */

struct limit {
        struct eviction_limit limit;
        int64_t until_ms;
};
struct count {
        unsigned available, total;
        uint64_t decided; /* members whose binding is available, and which some eviction said it deletes */
        uint64_t unheard; /* those of them whose decision nobody heard of */
        int64_t until_ms;
};
struct history {
        VEC(struct limit) limits; /* the last one is in force */
        VEC(struct count) counts;
        int64_t decided_ms; /* the last decision about it was stored, and heard of */
};

struct evictions {
        bool begun;
        struct map histories; /* placement -> struct history */
        struct map decided;   /* "uid/version" of a binding that some eviction said it deletes -> anything */
        struct map unheard;   /* uid of a binding whose decision nobody heard of -> anything */
};

static void history_free(void *value)
{
        struct history *h = value;

        vec_free(&h->limits);
        vec_free(&h->counts);
        mem_free(h);
}

static void evictions_end(void *state)
{
        struct evictions *s = state;

        if (!s->begun)
                return;
        map_free(&s->histories);
        map_free(&s->decided);
        map_free(&s->unheard);
}

static struct history *history_of(struct evictions *s, const char *placement)
{
        struct history *h = map_get(&s->histories, placement);

        if (h)
                return h;
        h = mem_must(NEW(struct history));
        ASSERT(map_put(&s->histories, placement, h) == 0);
        return h;
}

/* ---- what is true of a placement now ---- */

static struct eviction_limit limit_now(struct watch *w, const char *placement)
{
        const json_t *budget = watch_get(w, "hub", RES_BUDGETS, "", placement),
                     *p = watch_get(w, "hub", RES_PLACEMENTS, "", placement),
                     *max = doc_get(budget, "spec.maxUnavailable"),
                     *min = doc_get(budget, "spec.minAvailable"), *value = max ? max : min;
        const char *type = doc_get_string(p, "spec.policy.placementType");
        struct eviction_limit l = { .exists = budget, .is_set = value, .max = max };

        l.percent = json_is_string(value);
        l.value = l.percent ? strtol(json_string_value(value), NULL, 10) : json_integer_value(value);
        l.pick_all = !type || text_equal(type, "PickAll");
        l.n_wanted = text_equal(type, "PickN") ? doc_get_int(p, "spec.policy.numberOfClusters", 0) : 0;
        return l;
}

struct search {
        const char *uid, *except; /* except: an eviction */
        bool found;
};

static bool names_binding(void *ctx, const json_t *eviction)
{
        struct search *s = ctx;

        s->found = !text_equal(doc_get_string(eviction, "metadata.name"), s->except) &&
                   text_equal(doc_get_string(eviction, "status.decision.bindingUID"), s->uid);
        return !s->found;
}

static bool is_decided(struct watch *w, const char *uid, const char *except)
{
        struct search s = { uid, except, false };

        watch_each(w, "hub", RES_EVICTIONS, NULL, names_binding, &s);
        return s.found;
}

static bool is_available(const json_t *binding)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(binding, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), CONDITION_AVAILABLE))
                        return text_equal(doc_get_string(c, "status"), CONDITION_TRUE) &&
                               doc_get_int(c, "observedGeneration", -1) ==
                                       doc_get_int(binding, "metadata.generation", 0);
        return false;
}

struct counting {
        struct watch *w;
        const struct evictions *s;
        const char *placement;
        struct count now;
};

static uint64_t bit_of(const char *member)
{
        unsigned number;

        return member && sscanf(member, "member-%u", &number) == 1 ? (uint64_t)1 << number % 64 : 0;
}

static bool count_binding(void *ctx, const json_t *binding)
{
        const char *uid = doc_get_string(binding, "metadata.uid");
        struct counting *c = ctx;
        uint64_t bit;

        if (!text_equal(rule_label(binding, LABEL_PARENT_PLACEMENT), c->placement))
                return true;
        c->now.total++;
        if (!is_available(binding) || rule_is_leaving(binding))
                return true;
        if (!is_decided(c->w, uid, NULL)) {
                c->now.available++;
                return true;
        }
        bit = bit_of(doc_get_string(binding, "spec.targetCluster"));
        c->now.decided |= bit;
        if (map_get(&c->s->unheard, uid))
                c->now.unheard |= bit;
        return true;
}

/* ---- keeping what was ---- */

#define LATEST(v) ((v)->n > 0 ? &(v)->at[(v)->n - 1] : NULL)
/* Drops those that nobody can have seen who decides now. */
#define FORGET(v, now)                                                                                       \
        while ((v)->n > 1 && (v)->at[0].until_ms < (now)-2 * RULE_LAG_MS)                                    \
        vec_remove((v), 0)

static void note(struct watch *w, struct evictions *s, const char *placement, int64_t now)
{
        struct history *h = history_of(s, placement);
        struct limit limit = { limit_now(w, placement), INT64_MAX };
        struct counting c = { w, s, placement, { .until_ms = INT64_MAX } };

        watch_each(w, "hub", RES_BINDINGS, NULL, count_binding, &c);
        if (h->limits.n > 0)
                LATEST(&h->limits)->until_ms = now;
        if (h->counts.n > 0)
                LATEST(&h->counts)->until_ms = now;
        ASSERT(vec_push(&h->limits, limit) == 0 && vec_push(&h->counts, c.now) == 0);
        FORGET(&h->limits, now);
        FORGET(&h->counts, now);
}

/* ---- the verdict on a decision ---- */

/* Of the target it does not matter whether another eviction deletes it, too: that is one disruption. */
static bool follows(const struct eviction_said *said, uint64_t target, const struct limit *l,
                    const struct count *c)
{
        unsigned least = c->available + !!(c->decided & target),
                 most = least + (unsigned)__builtin_popcountll(c->unheard & ~target);

        switch (said->word) {
        case WORD_NO_BUDGET:
                return !l->limit.exists;
        case WORD_UNMEASURABLE:
                return eviction_limit_unmeasurable(&l->limit);
        case WORD_ALLOWED:
        case WORD_BLOCKED:
                return l->limit.exists && !eviction_limit_unmeasurable(&l->limit) &&
                       said->available >= least && said->available <= most && c->total == said->total &&
                       eviction_limit_allows(&l->limit, said->available, c->total) ==
                               (said->word == WORD_ALLOWED);
        default:
                return true; /* not by a budget */
        }
}

static bool follows_from_history(const struct history *h, const struct eviction_said *said, uint64_t target,
                                 int64_t asked_ms)
{
        int64_t from = MAX(asked_ms - RULE_LAG_MS, h->decided_ms);

        vec_for_each(&h->limits, l)
                vec_for_each(&h->counts, c)
                        if (l->until_ms >= from && c->until_ms >= from && follows(said, target, l, c))
                                return true;
        return false;
}

static const json_t *condition(const json_t *eviction, const char *type)
{
        return rule_condition(json_object_get(eviction, "status"), type);
}

static bool is_over(const json_t *eviction)
{
        return condition(eviction, "Executed") ||
               text_equal(doc_get_string(condition(eviction, "Valid"), "status"), CONDITION_FALSE);
}

/* The first time that it says anything about the budget: what it says when it looks again rests on what it
 * decided itself, too. */
static void judge_decision(struct watch *w, struct evictions *s, const struct change *c)
{
        const char *uid = doc_get_string(c->after, "status.decision.bindingUID"),
                   *placement = doc_get_string(c->after, "spec.placementName");
        const json_t *executed = condition(c->after, "Executed");
        struct eviction_said said =
                uid ? eviction_message(doc_get_string(c->after, "status.decision.message"))
                    : eviction_said(executed);

        if (is_over(c->before) || doc_get(c->before, "status.decision") || (!uid && !executed) ||
            (uid && is_decided(w, uid, c->name)))
                return;
        watch_judged(w, &rule_evictions);
        if (said.word == EVICTION_WORDS ||
            !follows_from_history(history_of(s, placement), &said,
                                  bit_of(doc_get_string(c->after, "spec.clusterName")), c->asked_ms))
                watch_broken(w, &rule_evictions,
                             "eviction %s of %s: word %u, %u of %u available, does not follow from anything "
                             "that was true",
                             c->name, placement, said.word, said.available, said.total);
}

/* ---- decided once, and as was decided ---- */

struct by_uid {
        const char *uid;
        const json_t *found;
};

static bool has_uid(void *ctx, const json_t *doc)
{
        struct by_uid *b = ctx;

        if (text_equal(doc_get_string(doc, "metadata.uid"), b->uid))
                b->found = doc;
        return !b->found;
}

static void judge_end(struct watch *w, const struct change *c)
{
        struct by_uid b = { doc_get_string(c->before, "status.decision.bindingUID"), NULL };
        const json_t *executed = condition(c->after, "Executed");
        bool is_executed, is_there;

        if (is_over(c->before)) {
                watch_broken(w, &rule_evictions, "eviction %s was decided, and %s wrote it again", c->name,
                             c->who);
                return;
        }
        if (!is_over(c->after) || !b.uid)
                return;
        watch_each(w, "hub", RES_BINDINGS, NULL, has_uid, &b);
        is_executed = text_equal(doc_get_string(executed, "status"), CONDITION_TRUE);
        is_there = b.found && !rule_is_leaving(b.found);
        if (is_executed == is_there)
                watch_broken(w, &rule_evictions, "eviction %s says it is%s executed, binding %s is %s",
                             c->name, is_executed ? "" : " not",
                             doc_get_string(c->before, "status.decision.bindingName"),
                             is_there ? "there" : "gone");
        else if (is_executed && !text_equal(doc_get_string(executed, "message"),
                                            doc_get_string(c->before, "status.decision.message")))
                watch_broken(w, &rule_evictions, "eviction %s says other words than it decided: %s", c->name,
                             doc_get_string(executed, "message"));
}

/* Once it was heard of, a decision about a binding stays so, whatever becomes of the answers to later ones.
 */
static void note_heard(struct watch *w, struct evictions *s, const struct change *c, const char *uid)
{
        bool known = text_equal(doc_get_string(c->before, "status.decision.bindingUID"), uid) ||
                     is_decided(w, uid, c->name);

        if (!c->unheard)
                map_remove(&s->unheard, uid);
        else if (!known)
                ASSERT(map_put(&s->unheard, uid, s) == 0);
}

static void eviction_changed(struct watch *w, struct evictions *s, const struct change *c)
{
        const char *placement = doc_get_string(c->after ? c->after : c->before, "spec.placementName"),
                   *uid = doc_get_string(c->after, "status.decision.bindingUID"),
                   *version = doc_get_string(c->after, "status.decision.bindingResourceVersion");
        bool written = c->before && c->after && rule_is_hub_agent(c->who) &&
                       !json_equal(json_object_get(c->before, "status"), json_object_get(c->after, "status"));
        char key[192];

        if (!placement)
                return;
        if (written) {
                judge_end(w, c);
                judge_decision(w, s, c);
                if (uid)
                        note_heard(w, s, c, uid);
        }
        note(w, s, placement, c->at_ms);
        if (!written)
                return;
        if (uid && version) {
                snprintf(key, sizeof(key), "%s/%s", uid, version);
                ASSERT(map_put(&s->decided, key, s) == 0);
                if (!c->unheard)
                        history_of(s, placement)->decided_ms = c->at_ms;
        }
}

/* ---- nothing goes without one ---- */

struct neighbours {
        const char *placement, *cluster, *name;
        unsigned n;
};

static bool count_neighbour(void *ctx, const json_t *binding)
{
        struct neighbours *n = ctx;

        n->n += rule_binding_lives(binding) &&
                text_equal(rule_label(binding, LABEL_PARENT_PLACEMENT), n->placement) &&
                text_equal(doc_get_string(binding, "spec.targetCluster"), n->cluster) &&
                !text_equal(doc_get_string(binding, "metadata.name"), n->name);
        return true;
}

/* Of those that stand for a choice, a hub agent deletes what belongs to a placement that goes, the second one
 * on a cluster, and what an eviction said. */
static void binding_goes(struct watch *w, struct evictions *s, const struct change *c)
{
        struct neighbours n = { rule_label(c->before, LABEL_PARENT_PLACEMENT),
                                doc_get_string(c->before, "spec.targetCluster"), c->name, 0 };
        const json_t *p = n.placement ? watch_get(w, "hub", RES_PLACEMENTS, "", n.placement) : NULL;
        char key[192];

        if (!rule_is_hub_agent(c->who) || !c->before || !rule_binding_lives(c->before) ||
            (c->after && !rule_is_leaving(c->after)) || !p || rule_is_leaving(p))
                return;
        watch_each(w, "hub", RES_BINDINGS, NULL, count_neighbour, &n);
        snprintf(key, sizeof(key), "%s/%s", doc_get_string(c->before, "metadata.uid"),
                 doc_get_string(c->before, "metadata.resourceVersion"));
        if (n.n == 0 && !map_get(&s->decided, key))
                watch_broken(w, &rule_evictions, "%s deleted binding %s of %s, and no eviction said so",
                             c->who, c->name, n.placement);
}

static void evictions_changed(struct watch *w, void *state, const struct change *c)
{
        const json_t *doc = c->after ? c->after : c->before;
        struct evictions *s = state;

        if (!text_equal(c->cluster, "hub"))
                return;
        if (!s->begun) {
                map_init(&s->histories, MAP_OWN_KEYS, history_free);
                map_init(&s->decided, MAP_OWN_KEYS, NULL);
                map_init(&s->unheard, MAP_OWN_KEYS, NULL);
        }
        s->begun = true;
        if (text_equal(c->resource, RES_EVICTIONS)) {
                eviction_changed(w, s, c);
        } else if (text_equal(c->resource, RES_BINDINGS)) {
                binding_goes(w, s, c);
                if (rule_label(doc, LABEL_PARENT_PLACEMENT))
                        note(w, s, rule_label(doc, LABEL_PARENT_PLACEMENT), c->at_ms);
        } else if (text_equal(c->resource, RES_BUDGETS) || text_equal(c->resource, RES_PLACEMENTS)) {
                note(w, s, c->name, c->at_ms);
        }
}

const struct rule rule_evictions = { .name = "evictions",
                                     .state_size = sizeof(struct evictions),
                                     .changed = evictions_changed,
                                     .end = evictions_end };
