/* What evictions must say when all is quiet: each of them is decided, in one of the words there are, and what
 * was the same from the moment it was made on decides which. */
#include "e2e/simulation/eviction_words.h"
#include "e2e/simulation/model_parts.h"

/* ---- what it says ---- */

static bool is_current(const json_t *doc, const json_t *condition)
{
        return doc_get_int(condition, "observedGeneration", -1) == doc_get_int(doc, "metadata.generation", 0);
}

/* Valid=False alone, or Valid=True and Executed; nothing that is still to be done. */
static int read_words(const json_t *doc, struct eviction_said *ret, struct error *err)
{
        const json_t *status = doc_get_object(doc, "status"), *valid = model_condition(status, "Valid"),
                     *executed = model_condition(status, "Executed");

        if (!valid || !is_current(doc, valid))
                return error_set(err, ERR_INVALID, "it is not decided: Valid is %s",
                                 valid ? "of another generation" : "missing");
        if (doc_get(status, "decision"))
                return error_set(err, ERR_INVALID, "its decision was not carried out");
        if (text_equal(doc_get_string(valid, "status"), "True")) {
                if (!text_equal(doc_get_string(valid, "reason"), "ClusterResourcePlacementEvictionValid") ||
                    !text_equal(doc_get_string(valid, "message"), "Eviction is valid"))
                        return error_set(err, ERR_INVALID, "Valid is True with other words: %s, %s",
                                         doc_get_string(valid, "reason"), doc_get_string(valid, "message"));
                if (!executed || !is_current(doc, executed))
                        return error_set(err, ERR_INVALID, "it is valid, and Executed is %s",
                                         executed ? "of another generation" : "missing");
                valid = executed;
        } else if (executed) {
                return error_set(err, ERR_INVALID, "it is not valid, and there is a condition Executed");
        }
        *ret = eviction_said(valid);
        if (ret->word == EVICTION_WORDS)
                return error_set(err, ERR_INVALID, "no such words: %s %s, %s: %s",
                                 doc_get_string(valid, "type"), doc_get_string(valid, "status"),
                                 doc_get_string(valid, "reason"), doc_get_string(valid, "message"));
        return 0;
}

/* ---- what it may say ---- */

static int wrong(const struct eviction_said *said, const char *why, struct error *err)
{
        return error_set(err, ERR_INVALID, "its words (number %u, %u of %u available) are wrong: %s",
                         said->word, said->available, said->total, why);
}

static int judge_budget(const struct wish *w, const struct wish_eviction *e, const struct eviction_said *said,
                        struct error *err)
{
        const struct wish_budget *b = &w->apps[e->app].budgets[e->place];
        const struct wish_placement *p = &w->apps[e->app].placements[e->place];
        struct eviction_limit limit = { b->exists,
                                        true,
                                        b->max,
                                        b->percent,
                                        b->value,
                                        p->policy.type == POLICY_PICK_ALL,
                                        p->policy.type == POLICY_PICK_N ? p->policy.n : 0 };
        bool by_budget = said->word == WORD_ALLOWED || said->word == WORD_BLOCKED,
             same_number = p->policy.type != POLICY_PICK_N || p->count_ms < e->made_ms;

        if (b->changed_ms >= e->made_ms)
                return 0; /* it was decided by what it was before, or is now */
        if (!b->exists && (by_budget || said->word == WORD_UNMEASURABLE))
                return wrong(said, "there is no budget", err);
        if (b->exists && said->word == WORD_NO_BUDGET)
                return wrong(said, "there is a budget", err);
        if (b->exists && said->word == WORD_UNMEASURABLE && !eviction_limit_unmeasurable(&limit))
                return wrong(said, "the budget can be measured", err);
        if (by_budget && eviction_limit_unmeasurable(&limit))
                return wrong(said, "the budget cannot be measured", err);
        if (by_budget && same_number &&
            eviction_limit_allows(&limit, said->available, said->total) != (said->word == WORD_ALLOWED))
                return wrong(said, "the budget says otherwise", err);
        return 0;
}

static int judge_words(const struct wish *w, const struct wish_eviction *e, const struct eviction_said *said,
                       struct error *err)
{
        const struct wish_placement *p = &w->apps[e->app].placements[e->place];
        bool same = p->exists && p->since_ms < e->made_ms;

        if (e->of_nothing && !p->exists && !p->leaving && p->since_ms < e->made_ms)
                return said->word == WORD_NO_PLACEMENT ? 0 : wrong(said, "there is no placement", err);
        if (!same)
                return 0; /* it was one of several, or came and went */
        if (said->word == WORD_NO_PLACEMENT || said->word == WORD_PLACEMENT_GOING)
                return wrong(said, "the placement was there all the time", err);
        if ((p->policy.type == POLICY_PICK_FIXED) != (said->word == WORD_PICK_FIXED))
                return wrong(said, "it is PickFixed, or is not", err);
        return judge_budget(w, e, said, err);
}

static int judge(const struct wish *w, unsigned eviction, const json_t *doc, struct error *err)
{
        const struct wish_eviction *e = &w->evictions[eviction];
        struct eviction_said said = { .word = EVICTION_WORDS };

        if (e->exists != !!doc)
                return error_set(err, ERR_INVALID, "it is%s there", doc ? "" : " not");
        if (!doc)
                return 0;
        TRY(read_words(doc, &said, err));
        return judge_words(w, e, &said, err);
}

int model_judge_evictions(const struct wish *w, const json_t *list, struct error *err)
{
        char name[64];

        for (unsigned i = 0; i < WISH_EVICTIONS; i++) {
                wish_eviction_name(i, name);
                if (judge(w, i, model_find(list, name), err) < 0)
                        return error_wrap(err, "eviction %s", name);
        }
        return 0;
}
