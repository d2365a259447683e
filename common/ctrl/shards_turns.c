/* What becomes of a shard.
 *
 *     FREE -> TAKEN (the lease is ours; caches are filled anew) -> OWNED -> GIVING (what runs ends) -> FREE
 *
 * From anywhere to FREE at once when the lease was not renewed in time, by the clock, or is another's. */
#include "common/ctrl/shards_internal.h"

#define PREPARE_PAUSE_MS 1000
#define GIVING_LOOK_MS 50
#define ARRIVALS_LOOK_MS 500

shard_set shards_in_state(const struct shards *s, enum shard_state state)
{
        shard_set set = 0;

        for (unsigned k = 0; k < s->o.n; k++)
                if (s->at[k].state == state)
                        set |= SHARD_BIT(k);
        return set;
}

shard_set shards_held_set(const struct shards *s)
{
        return SHARDS_ALL(s->o.n) & ~shards_in_state(s, SHARD_FREE);
}

void shards_show_held(const struct shards *s)
{
        shard_set worked_on = shards_in_state(s, SHARD_OWNED) | shards_in_state(s, SHARD_GIVING);

        metric_set(s->o.metrics, METRIC_SHARDS_HELD, __builtin_popcountll(worked_on), NULL);
        metric_set(s->o.metrics, METRIC_LEADER, shards_own(s, 0), (const char *const[]){ s->o.lease.name });
}

static void tell_shards(const struct shards *s, const char *what, shard_set set, const char *why)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1024);
        for (unsigned k = 0; k < s->o.n; k++)
                if (set & SHARD_BIT(k))
                        buf_printf(&b, "%s%u", b.len ? "," : "", k);
        log_info(s->o.log, what, "shards", b.data, "of", s->label, "why", why);
}

/* No write of it goes out any more from here on. */
void shards_lose(struct shards *s, shard_set set, const char *why)
{
        shard_set worked_on = set & (shards_in_state(s, SHARD_OWNED) | shards_in_state(s, SHARD_GIVING));

        for (unsigned k = 0; k < s->o.n; k++) {
                if (!(set & SHARD_BIT(k)) || s->at[k].state == SHARD_FREE)
                        continue;
                s->at[k].state = SHARD_FREE;
                s->at[k].term++;
        }
        if (!worked_on)
                return;
        tell_shards(s, "shards are lost: nothing of them is worked on any more", worked_on, why);
        s->o.work.end(s->o.work.ctx, worked_on, true);
        s->o.work.forget(s->o.work.ctx);
        shards_show_held(s);
}

const char shards_too_late[] = "its lease could not be renewed in time";
const char shards_too_late_layout[] = "the layout's lease could not be renewed in time";

static int64_t holds_until(const struct leader *le)
{
        return le->renewed_at_ms + le->options.renew_deadline_ms;
}

/* By the clock: what was not renewed in time is not ours, whether anybody took it or not. */
void shards_expire(struct shards *s)
{
        bool joined = shards_joined(s);
        shard_set gone = 0;

        for (unsigned k = 0; k < s->o.n; k++)
                if (s->at[k].state != SHARD_FREE && (!joined || !shards_holds(s, &s->at[k].lease)))
                        gone |= SHARD_BIT(k);
        shards_lose(s, gone, joined ? shards_too_late : shards_too_late_layout);
}

static void lapsed(struct timer *t)
{
        struct shards *s = container_of(t, struct shards, lapse);

        shards_expire(s);
        shards_arm_lapse(s);
}

void shards_arm_lapse(struct shards *s)
{
        int64_t until = INT64_MAX;

        for (unsigned k = 0; k < s->o.n; k++)
                if (s->at[k].state != SHARD_FREE)
                        until = MIN(until, holds_until(&s->at[k].lease));
        timer_stop(&s->lapse);
        if (until == INT64_MAX)
                return;
        until = MIN(until, holds_until(&s->layout));
        /* Without memory for it the next step sees to that, and no write goes out in between. */
        (void)timer_start(s->loop, &s->lapse, MAX(until, loop_now_ms(s->loop) + 1), lapsed);
}

/* ---- taking over ---- */

int64_t shards_arriving_ms(const struct shards *s, shard_set of)
{
        return s->o.work.arriving_ms(s->o.work.ctx, of);
}

static bool any_stale(const struct shards *s, shard_set set)
{
        for (unsigned k = 0; k < s->o.n; k++)
                if ((set & SHARD_BIT(k)) && s->at[k].stale)
                        return true;
        return false;
}

/* Those of the set for which nothing of ours is on its way: nothing is, of what we did not work on. */
static shard_set at_rest(const struct shards *s, shard_set set)
{
        shard_set rest = 0;

        for (unsigned k = 0; k < s->o.n; k++)
                if ((set & SHARD_BIT(k)) && (!s->at[k].worked_on || shards_arriving_ms(s, SHARD_BIT(k)) == 0))
                        rest |= SHARD_BIT(k);
        return rest;
}

/* Those of the set that are still held, and by the same term: others came and went while we waited. */
static void begin_work(struct shards *s, shard_set set, const uint32_t terms[SHARDS_MAX])
{
        shard_set begun = 0;

        for (unsigned k = 0; k < s->o.n; k++) {
                struct shard *sh = &s->at[k];

                if (!(set & SHARD_BIT(k)) || sh->state != SHARD_TAKEN || sh->term != terms[k])
                        continue;
                sh->state = SHARD_OWNED;
                sh->stale = false;
                sh->worked_on = true;
                begun |= SHARD_BIT(k);
        }
        if (!begun)
                return;
        tell_shards(s, "shards are taken", begun, "their leases are ours");
        metric_add(s->o.metrics, METRIC_SHARD_TAKEOVERS, __builtin_popcountll(begun), NULL);
        shards_show_held(s);
        s->o.work.begin(s->o.work.ctx, begun);
}

static int take_over_once(struct shards *s, shard_set set)
{
        struct error err = { 0 };
        uint32_t terms[SHARDS_MAX];
        shard_set ready;
        int code;

        for (unsigned k = 0; k < s->o.n; k++)
                terms[k] = s->at[k].term;
        ready = at_rest(s, set);
        if (!ready)
                return fiber_sleep(s->loop, ARRIVALS_LOOK_MS);
        if (any_stale(s, ready)) {
                code = s->o.work.prepare(s->o.work.ctx, &err);
                if (code == ERR_CANCELLED)
                        return code;
                if (code < 0) {
                        log_warn(s->o.log, "shards cannot be taken over yet, trying again", "error",
                                 err.text);
                        return fiber_sleep(s->loop, PREPARE_PAUSE_MS);
                }
        }
        begin_work(s, ready, terms);
        return 0;
}

/* All that are there to be taken over, in one go; those that wait for what is on its way come later. */
void shards_take_over(void *ctx)
{
        struct shards *s = ctx;
        shard_set set;

        while ((set = shards_in_state(s, SHARD_TAKEN)) && !s->leaving)
                if (take_over_once(s, set) < 0)
                        break;
        s->taking_over = false;
}

/* ---- giving up ---- */

void shards_release_one(struct shard *sh)
{
        sh->state = SHARD_FREE;
        sh->term++;
        sh->ours = sh->worked_on = false;
        sh->writing = true;
        leader_release(&sh->lease);
        sh->writing = false;
}

static void release_idle(struct shards *s)
{
        shard_set done = 0;

        for (unsigned k = 0; k < s->o.n && !s->leaving; k++) { /* each release waits for its answer */
                struct shard *sh = &s->at[k];

                if (sh->state != SHARD_GIVING || sh->writing || s->o.work.busy(s->o.work.ctx, k) ||
                    shards_arriving_ms(s, SHARD_BIT(k)) > 0)
                        continue;
                shards_release_one(sh);
                done |= SHARD_BIT(k);
        }
        if (!done)
                return;
        tell_shards(s, "shards are given up", done, "others are to have them");
        s->o.work.forget(s->o.work.ctx);
        shards_show_held(s);
}

void shards_give_up(void *ctx)
{
        struct shards *s = ctx;

        while (shards_in_state(s, SHARD_GIVING) && !s->leaving) {
                release_idle(s);
                if (fiber_sleep(s->loop, GIVING_LOOK_MS) < 0)
                        break;
        }
        s->giving_up = false;
}

void shards_begin_giving(struct shards *s, shard_set set)
{
        shard_set ended = 0;

        for (unsigned k = 0; k < s->o.n; k++) {
                struct shard *sh = &s->at[k];

                if (!(set & SHARD_BIT(k)))
                        continue;
                if (sh->state == SHARD_OWNED)
                        ended |= SHARD_BIT(k);
                if (sh->state == SHARD_OWNED || sh->state == SHARD_TAKEN)
                        sh->state = SHARD_GIVING;
        }
        if (ended)
                s->o.work.end(s->o.work.ctx, ended, false);
        shards_show_held(s);
}
