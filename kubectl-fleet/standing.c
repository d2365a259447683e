#include "kubectl-fleet/standing.h"

#include "proto/names.h"

/* What a condition tells while it is not True. A step that is not done keeps later ones from being looked at.
 */
struct step {
        const char *type;
        struct {
                enum standing standing;
                const char *word;
        } absent, fails;
        const char *in_progress[3]; /* reasons of a False that only says "not yet": as if it were absent */
};

static const struct step steps[] = {
        { CONDITION_ROLLOUT_STARTED,
          { STANDING_WAITS, "waiting" },
          { STANDING_WAITS, "held back" },
          { NULL } },
        { CONDITION_OVERRIDDEN,
          { STANDING_BUSY, "overriding" },
          { STANDING_FAILED, "override failed" },
          { REASON_OVERRIDDEN_PENDING } },
        { CONDITION_WORK_SYNCHRONIZED,
          { STANDING_BUSY, "synchronizing" },
          { STANDING_FAILED, "not synchronized" },
          { REASON_WORK_NOT_SYNCHRONIZED_YET } },
};
static const struct step apply_steps[] = {
        { CONDITION_APPLIED,
          { STANDING_BUSY, "applying" },
          { STANDING_FAILED, "apply failed" },
          { REASON_BINDING_APPLY_IN_PROGRESS, REASON_APPLY_PENDING } },
        { CONDITION_AVAILABLE, { STANDING_BUSY, "applied" }, { STANDING_BUSY, "not available" }, { NULL } },
};
static const struct step diff_steps[] = {
        { CONDITION_DIFF_REPORTED,
          { STANDING_BUSY, "comparing" },
          { STANDING_FAILED, "not compared" },
          { REASON_BINDING_DIFF_REPORT_IN_PROGRESS, REASON_DIFF_REPORTING_PENDING } },
};

static const struct condition *current(const struct condition_list *l, const char *type, int64_t generation)
{
        const struct condition *c = condition_find(l, type);

        return c && c->observed_generation.value == generation ? c : NULL;
}

/* A binding whose Works are still being applied, or compared, is False for the reason of one that failed: the
 * API has nothing but the message to tell them apart (spec/rollout-and-work.md 6.8). */
static bool says_not_yet(const struct step *s, const struct condition *c)
{
        return text_in(c->reason, s->in_progress, ARRAY_LEN(s->in_progress)) ||
               (c->message && strstr(c->message, " has not yet completed "));
}

static struct cluster_step judge_step(const struct step *s, const struct condition_list *l,
                                      int64_t generation)
{
        const struct condition *c = current(l, s->type, generation);

        if (c && text_equal(c->status, CONDITION_TRUE))
                return (struct cluster_step){ s->type, STANDING_DONE, "", c };
        if (c && text_equal(c->status, CONDITION_FALSE) && !says_not_yet(s, c))
                return (struct cluster_step){ s->type, s->fails.standing, s->fails.word, c };
        return (struct cluster_step){ s->type, s->absent.standing, s->absent.word, c };
}

/* True where all of the steps are done; else the word is that of the first that is not. */
static bool walk(const struct step *at, size_t n, const struct condition_list *l, int64_t generation,
                 struct cluster_word *ret)
{
        for (size_t i = 0; i < n; i++) {
                struct cluster_step s = judge_step(&at[i], l, generation);

                ret->because = s.condition;
                if (s.standing == STANDING_DONE)
                        continue;
                ret->standing = s.standing;
                ret->word = s.word;
                return false;
        }
        return true;
}

struct cluster_word cluster_word_of(const struct condition_list *l, int64_t generation)
{
        struct cluster_word w = { STANDING_WAITS, "waiting", NULL };
        bool compares = current(l, CONDITION_DIFF_REPORTED, generation) != NULL;

        if (!walk(steps, ARRAY_LEN(steps), l, generation, &w))
                return w;
        if (compares ? !walk(diff_steps, ARRAY_LEN(diff_steps), l, generation, &w)
                     : !walk(apply_steps, ARRAY_LEN(apply_steps), l, generation, &w))
                return w;
        w.standing = STANDING_DONE;
        w.word = compares ? "compared" : "available";
        return w;
}

size_t cluster_steps_of(const struct condition_list *l, int64_t generation,
                        struct cluster_step ret[CLUSTER_STEPS_MAX])
{
        bool compares = current(l, CONDITION_DIFF_REPORTED, generation) != NULL, done = true;
        const struct step *last = compares ? diff_steps : apply_steps;
        size_t n = ARRAY_LEN(steps) + (compares ? ARRAY_LEN(diff_steps) : ARRAY_LEN(apply_steps));

        for (size_t i = 0; i < n; i++) {
                const struct step *s = i < ARRAY_LEN(steps) ? &steps[i] : &last[i - ARRAY_LEN(steps)];

                ret[i] = done ? judge_step(s, l, generation)
                              : (struct cluster_step){ s->type, STANDING_WAITS, "", NULL };
                done = done && ret[i].standing == STANDING_DONE;
        }
        return n;
}

struct cluster_word cluster_words_next(struct cluster_words *w, const struct condition_list *l,
                                       int64_t generation)
{
        if (!l->n || w->at != l->at || w->n != l->n || w->generation != generation)
                *w = (struct cluster_words){ l->at, l->n, generation, cluster_word_of(l, generation) };
        return w->word;
}

void progress_add(struct progress *p, enum standing standing)
{
        p->total++;
        p->good += standing == STANDING_DONE;
        p->busy += standing == STANDING_BUSY;
        p->bad += standing == STANDING_FAILED;
}

enum tone tone_of(enum standing standing)
{
        static const enum tone tones[] = { [STANDING_WAITS] = TONE_FAINT,
                                           [STANDING_BUSY] = TONE_BUSY,
                                           [STANDING_DONE] = TONE_GOOD,
                                           [STANDING_FAILED] = TONE_BAD };

        return tones[standing];
}
