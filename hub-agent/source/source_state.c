#include "hub-agent/source/source_state.h"

/* The first of these that is True is what Ready says. spec/helm-chart.md 3 step 10. */
static const char *const negatives[] = { CONDITION_SOURCE_STORAGE_FAILED, CONDITION_SOURCE_FETCH_FAILED,
                                         CONDITION_SOURCE_BUILD_FAILED,   CONDITION_SOURCE_OUTDATED,
                                         CONDITION_FLUX_STALLED,          CONDITION_FLUX_RECONCILING };

static const char *const troubles[] = { [TROUBLE_STORAGE] = CONDITION_SOURCE_STORAGE_FAILED,
                                        [TROUBLE_FETCH] = CONDITION_SOURCE_FETCH_FAILED,
                                        [TROUBLE_BUILD] = CONDITION_SOURCE_BUILD_FAILED };

static int put(struct source_run *r, const char *type, const char *status, const char *reason,
               const char *message)
{
        struct condition c = make_condition(type, status, reason, message, r->generation);

        return flux_condition_put(&r->status->conditions, &c, r->now_ms, r->arena) < 0 ? ERR_NO_MEMORY : 0;
}

static void clear(struct source_run *r, const char *type)
{
        condition_remove(&r->status->conditions, type);
}

static const struct condition *of(const struct source_run *r, const char *type)
{
        return condition_find(&r->status->conditions, type);
}

static bool is_new(const struct source_run *r)
{
        return r->status->observed_generation.value != r->generation;
}

/* ---- the beginning ---- */

bool source_begins_visibly(const struct source_run *r, const char *requested_at)
{
        return is_new(r) || (requested_at && !text_equal(requested_at, r->status->last_handled_reconcile_at));
}

int source_begin(struct source_run *r)
{
        const struct condition *ready = of(r, CONDITION_FLUX_READY),
                               *verified = of(r, CONDITION_SOURCE_VERIFIED);
        const char *text = "reconciliation in progress";

        if (is_new(r))
                text = arena_printf(r->arena, "processing object: new generation %lld -> %lld",
                                    (long long)r->status->observed_generation.value,
                                    (long long)r->generation);
        if (!text)
                return ERR_NO_MEMORY;
        if (verified && text_equal(verified->status, CONDITION_FALSE))
                clear(r, CONDITION_SOURCE_VERIFIED);
        TRY(put(r, CONDITION_FLUX_RECONCILING, CONDITION_TRUE, REASON_FLUX_PROGRESSING, text));
        return !ready || text_equal(ready->status, CONDITION_UNKNOWN)
                       ? put(r, CONDITION_FLUX_READY, CONDITION_UNKNOWN, REASON_FLUX_PROGRESSING, text)
                       : 0;
}

/* ---- on the way ---- */

int source_progress(struct source_run *r, const char *message)
{
        TRY(put(r, CONDITION_FLUX_RECONCILING, CONDITION_TRUE, REASON_FLUX_PROGRESSING, message));
        return put(r, CONDITION_FLUX_READY, CONDITION_UNKNOWN, REASON_FLUX_PROGRESSING, message);
}

int source_outdated(struct source_run *r, const char *reason, const char *message)
{
        return put(r, CONDITION_SOURCE_OUTDATED, CONDITION_TRUE, reason, message);
}

int source_stored(struct source_run *r, const char *reason, const char *message)
{
        return put(r, CONDITION_SOURCE_STORED, CONDITION_TRUE, reason, message);
}

void source_lost(struct source_run *r)
{
        r->status->artifact = NULL;
        r->status->url = NULL;
        clear(r, CONDITION_SOURCE_STORED);
}

int source_verified(struct source_run *r, bool good, const char *reason, const char *message)
{
        return put(r, CONDITION_SOURCE_VERIFIED, good ? CONDITION_TRUE : CONDITION_FALSE, reason, message);
}

void source_unverified(struct source_run *r)
{
        clear(r, CONDITION_SOURCE_VERIFIED);
}

/* ---- the end ---- */

static int place_of(const char *type)
{
        static const char *const first[] = { CONDITION_FLUX_STALLED, CONDITION_FLUX_RECONCILING,
                                             CONDITION_FLUX_READY };

        for (int i = 0; i < (int)ARRAY_LEN(first); i++)
                if (text_equal(first[i], type))
                        return i;
        return ARRAY_LEN(first);
}

static bool comes_before(const struct condition *a, const struct condition *b)
{
        int x = place_of(a->type), y = place_of(b->type);

        return x != y ? x < y : strcmp(a->type, b->type) < 0;
}

static void sort(struct condition_list *l)
{
        for (uint32_t i = 1; i < l->n; i++)
                for (uint32_t k = i; k > 0 && comes_before(&l->at[k], &l->at[k - 1]); k--) {
                        struct condition c = l->at[k];

                        l->at[k] = l->at[k - 1];
                        l->at[k - 1] = c;
                }
}

static int say_ready(struct source_run *r, const char *status, const struct condition *because)
{
        return put(r, CONDITION_FLUX_READY, status, because->reason, because->message);
}

static int summarise(struct source_run *r)
{
        const struct condition *verified = of(r, CONDITION_SOURCE_VERIFIED),
                               *stored = of(r, CONDITION_SOURCE_STORED);
        const struct condition *wrong = NULL;

        for (size_t i = 0; i < ARRAY_LEN(negatives) && !wrong; i++)
                wrong = of(r, negatives[i]);
        if (verified && text_equal(verified->status, CONDITION_FALSE))
                wrong = verified;
        if (wrong)
                TRY(say_ready(r, CONDITION_FALSE, wrong));
        else if (stored)
                TRY(say_ready(r, CONDITION_TRUE, stored));
        sort(&r->status->conditions);
        return 0;
}

int source_succeed(struct source_run *r)
{
        for (size_t i = 0; i < ARRAY_LEN(negatives); i++)
                clear(r, negatives[i]);
        r->status->observed_generation = OPT_INT(r->generation);
        return summarise(r);
}

/* What could not be fetched was not built, and the other way round. */
static void clear_the_other(struct source_run *r, enum source_trouble t)
{
        if (t == TROUBLE_FETCH)
                clear(r, CONDITION_SOURCE_BUILD_FAILED);
        else if (t == TROUBLE_BUILD)
                clear(r, CONDITION_SOURCE_FETCH_FAILED);
        if (t != TROUBLE_STORAGE)
                clear(r, CONDITION_SOURCE_STORAGE_FAILED);
}

int source_fail(struct source_run *r, const struct source_failure *f)
{
        const struct condition *reconciling = of(r, CONDITION_FLUX_RECONCILING);

        clear_the_other(r, f->trouble);
        TRY(put(r, troubles[f->trouble], CONDITION_TRUE, f->reason, f->message));
        if (f->stalls) {
                clear(r, CONDITION_FLUX_RECONCILING);
                TRY(put(r, CONDITION_FLUX_STALLED, CONDITION_TRUE, f->reason, f->message));
                r->status->observed_generation = OPT_INT(r->generation);
                return summarise(r);
        }
        clear(r, CONDITION_FLUX_STALLED);
        TRY(put(r, CONDITION_FLUX_RECONCILING, CONDITION_TRUE, REASON_FLUX_RETRYING,
                reconciling ? reconciling->message : "reconciliation in progress"));
        return summarise(r);
}

void source_keep_times(struct condition_list *now, const struct condition_list *before)
{
        for (uint32_t i = 0; i < now->n; i++) {
                struct condition *c = &now->at[i];
                const struct condition *old = condition_find(before, c->type);

                if (old && text_equal(old->status, c->status) && text_equal(old->reason, c->reason) &&
                    text_equal(old->message, c->message))
                        c->last_transition_ms = old->last_transition_ms;
        }
}

void source_note_handled(struct source_run *r, const char *requested_at)
{
        if (requested_at)
                r->status->last_handled_reconcile_at = requested_at;
}
