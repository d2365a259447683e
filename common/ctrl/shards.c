/* The life of one replica among others: joins the layout, holds shards, and lets go of them.
 *
 *     FREE -> TAKEN (the lease is ours; caches are filled anew) -> OWNED -> GIVING (what runs ends) -> FREE
 *
 * From anywhere to FREE at once when the lease was not renewed in time, by the clock, or is another's. */
#include "common/ctrl/shards.h"

#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "common/ctrl/shards_internal.h"
#include "common/kube/connection.h"
#include "proto/names.h"

#define RELEASE_DEADLINE_MS 400
#define PREPARE_PAUSE_MS 1000
#define GIVING_LOOK_MS 50
#define ARRIVALS_LOOK_MS 500
#define LEASES_IN_FLIGHT 8
#define LAYOUT_TRIES 5 /* others renew the same lease */
#define LONGEST_LEASES 10

int64_t shards_now_ms(const struct shards *s)
{
        return loop_now_us(s->loop) / 1000;
}

static bool holds(const struct shards *s, const struct leader *le)
{
        return le->leading && shards_now_ms(s) < le->renewed_at_ms + le->options.renew_deadline_ms;
}

unsigned shards_count(const struct shards *s)
{
        return s->o.n;
}

bool shards_joined(const struct shards *s)
{
        return s->joined && holds(s, &s->layout);
}

bool shards_own(const struct shards *s, unsigned shard)
{
        const struct shard *sh = &s->at[shard];

        return sh->state == SHARD_OWNED && shards_joined(s) && holds(s, &sh->lease);
}

uint32_t shards_term(const struct shards *s, unsigned shard)
{
        return s->at[shard].term;
}

bool shards_may_write(const struct shards *s, unsigned shard, uint32_t term)
{
        const struct shard *sh = &s->at[shard];

        return sh->term == term && (sh->state == SHARD_OWNED || sh->state == SHARD_GIVING) &&
               shards_joined(s) && holds(s, &sh->lease);
}

/* ---- set up ---- */

struct leader_options shards_lease_options(const struct shards *s, const char *name, const char *identity)
{
        struct leader_options o = s->layout.options;

        o.name = name;
        o.identity = identity;
        o.label = LABEL_SHARDS;
        o.label_value = s->label;
        o.longest_ms = LONGEST_LEASES * o.lease_ms;
        return o;
}

static void init_shard(struct shards *s, unsigned k)
{
        struct shard *sh = &s->at[k];
        struct leader_options o;

        sh->of = s;
        sh->free_since_ms = sh->gone_since_ms = -1;
        snprintf(sh->name, sizeof(sh->name), "%s-shard-%u-of-%u", s->o.lease.name, k, s->o.n);
        o = shards_lease_options(s, sh->name, s->o.lease.identity);
        leader_init(&sh->lease, s->o.kube, &o);
}

static void init_leases(struct shards *s)
{
        struct leader_options o = s->o.lease;
        const char *identity = s->o.lease.identity;

        snprintf(s->label, sizeof(s->label), "%u", s->o.n);
        snprintf(s->layout_holder, sizeof(s->layout_holder), "shards-%u", s->o.n);
        snprintf(s->presence_name, sizeof(s->presence_name), "%s-replica-%016llx", s->o.lease.name,
                 (unsigned long long)hash_bytes(identity, strlen(identity), 0));
        o.identity = s->layout_holder;
        leader_init(&s->layout, s->o.kube, &o);
        o = shards_lease_options(s, s->presence_name, identity);
        leader_init(&s->presence, s->o.kube, &o);
        for (unsigned k = 0; k < s->o.n; k++)
                init_shard(s, k);
}

struct shards *shards_new(const struct shards_options *o, struct fiber_group *group)
{
        struct shards *s = NEW(struct shards);

        ASSERT(o->n >= SHARDS_MIN && o->n <= SHARDS_MAX);
        if (!s)
                return NULL;
        s->o = *o;
        s->loop = o->kube->world->loop;
        s->looked_ms = -1;
        init_leases(s);
        s->group = fiber_group_new(s->loop, group, "shards");
        return s->group ? s : shards_free(s);
}

struct shards *shards_free(struct shards *s)
{
        if (!s)
                return NULL;
        timer_stop(&s->lapse);
        if (s->group)
                fiber_group_end(s->group);
        for (unsigned k = 0; k < s->o.n; k++)
                leader_clear(&s->at[k].lease);
        vec_for_each(&s->peers, p)
                peer_free(*p);
        vec_free(&s->peers);
        leader_clear(&s->layout);
        leader_clear(&s->presence);
        mem_free(s);
        return NULL;
}

/* ---- what becomes of a shard ---- */

static shard_set in_state(const struct shards *s, enum shard_state state)
{
        shard_set set = 0;

        for (unsigned k = 0; k < s->o.n; k++)
                if (s->at[k].state == state)
                        set |= SHARD_BIT(k);
        return set;
}

static shard_set held(const struct shards *s)
{
        return SHARDS_ALL(s->o.n) & ~in_state(s, SHARD_FREE);
}

static void show_held(const struct shards *s)
{
        shard_set worked_on = in_state(s, SHARD_OWNED) | in_state(s, SHARD_GIVING);

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
static void lose(struct shards *s, shard_set set, const char *why)
{
        shard_set worked_on = set & (in_state(s, SHARD_OWNED) | in_state(s, SHARD_GIVING));

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
        show_held(s);
}

static const char too_late[] = "its lease could not be renewed in time";
static const char too_late_layout[] = "the layout's lease could not be renewed in time";

static int64_t holds_until(const struct leader *le)
{
        return le->renewed_at_ms + le->options.renew_deadline_ms;
}

/* By the clock: what was not renewed in time is not ours, whether anybody took it or not. */
static void expire(struct shards *s)
{
        bool joined = shards_joined(s);
        shard_set gone = 0;

        for (unsigned k = 0; k < s->o.n; k++)
                if (s->at[k].state != SHARD_FREE && (!joined || !holds(s, &s->at[k].lease)))
                        gone |= SHARD_BIT(k);
        lose(s, gone, joined ? too_late : too_late_layout);
}

static void arm_lapse(struct shards *s);

static void lapsed(struct timer *t)
{
        struct shards *s = container_of(t, struct shards, lapse);

        expire(s);
        arm_lapse(s);
}

static void arm_lapse(struct shards *s)
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

static int64_t arriving_ms(const struct shards *s, shard_set of)
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
                if ((set & SHARD_BIT(k)) && (!s->at[k].worked_on || arriving_ms(s, SHARD_BIT(k)) == 0))
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
        show_held(s);
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
static void take_over(void *ctx)
{
        struct shards *s = ctx;
        shard_set set;

        while ((set = in_state(s, SHARD_TAKEN)) && !s->leaving)
                if (take_over_once(s, set) < 0)
                        break;
        s->taking_over = false;
}

/* ---- giving up ---- */

static void release_shard(struct shard *sh)
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
                    arriving_ms(s, SHARD_BIT(k)) > 0)
                        continue;
                release_shard(sh);
                done |= SHARD_BIT(k);
        }
        if (!done)
                return;
        tell_shards(s, "shards are given up", done, "others are to have them");
        s->o.work.forget(s->o.work.ctx);
        show_held(s);
}

static void give_up(void *ctx)
{
        struct shards *s = ctx;

        while (in_state(s, SHARD_GIVING) && !s->leaving) {
                release_idle(s);
                if (fiber_sleep(s->loop, GIVING_LOOK_MS) < 0)
                        break;
        }
        s->giving_up = false;
}

static void begin_giving(struct shards *s, shard_set set)
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
        show_held(s);
}

/* ---- leases ---- */

static int64_t patience_ms(const struct shards *s)
{
        return MAX(s->layout.options.renew_deadline_ms / 3, (int64_t)1);
}

static void tell_problem(struct shards *s, const char *what, const struct error *err)
{
        if (err->code != ERR_CANCELLED && !kube_connection_tells(s->o.kube, err))
                log_warn(s->o.log, what, "error", err->text);
}

/* Whether it did not hold when it was renewed last: keys may have been dropped since, though the timer that
 * tells of it was no faster than the answer. */
static bool was_late(const struct shards *s, const struct leader *le, int64_t renewed_before_ms)
{
        return shards_now_ms(s) >= renewed_before_ms + le->options.renew_deadline_ms;
}

static void hold_shard(struct shards *s, unsigned k, bool late)
{
        struct shard *sh = &s->at[k];
        enum leader_before before = sh->lease.before;

        /* LEASE_WAS_NEW: made anew where it was removed */
        if (sh->state != SHARD_FREE && before != LEASE_WAS_ANOTHERS && !late)
                return;
        if (sh->state != SHARD_FREE)
                lose(s, SHARD_BIT(k),
                     before == LEASE_WAS_ANOTHERS ? "it was another's for a moment" : too_late);
        /* Until the caches are filled anew: a take-over may be cut short, and the lease be ours again. */
        sh->stale |= !(before == LEASE_WAS_OURS && sh->ours) && !(before == LEASE_WAS_NEW && sh->listed);
        sh->ours = true;
        sh->free_since_ms = -1;
        sh->state = SHARD_TAKEN;
        sh->term++;
}

/* Takes it, or renews it where it is ours. */
static void write_shard(struct shard *sh)
{
        struct shards *s = sh->of;
        unsigned k = (unsigned)(sh - s->at);
        bool fresh = sh->state == SHARD_FREE;
        int64_t renewed_ms = sh->lease.renewed_at_ms;
        struct error err = { 0 };
        int code;

        sh->writing = true;
        code = fresh ? leader_try(&sh->lease, patience_ms(s), &err) : leader_renew(&sh->lease, &err);
        sh->writing = false;
        if (code == 0 && (fresh || sh->state != SHARD_FREE)) {
                hold_shard(s, k, was_late(s, &sh->lease, renewed_ms));
        } else if (code == ERR_EXISTS) {
                sh->ours = false;
                lose(s, SHARD_BIT(k), "another holds its lease");
        } else if (code < 0 && code != ERR_CONFLICT) {
                tell_problem(s, "a shard's lease cannot be written", &err);
        }
}

struct leases_to_write {
        struct shards *s;
        shard_set left;
};

static void write_some(void *ctx)
{
        struct leases_to_write *w = ctx;

        while (w->left && !fiber_cancelled(w->s->loop)) {
                unsigned k = (unsigned)__builtin_ctzll(w->left);

                w->left &= w->left - 1;
                write_shard(&w->s->at[k]);
        }
}

static int write_shards(struct shards *s, shard_set set)
{
        struct leases_to_write w = { s, 0 };
        struct fiber_group *group;
        int code;

        for (unsigned k = 0; k < s->o.n; k++)
                if ((set & SHARD_BIT(k)) && !s->at[k].writing)
                        w.left |= SHARD_BIT(k);
        if (!w.left)
                return 0;
        group = fiber_group_new(s->loop, s->group, "leases");
        if (!group)
                return ERR_NO_MEMORY;
        for (int i = 0; i < LEASES_IN_FLIGHT && i < __builtin_popcountll(set); i++)
                if (!fiber_spawn(group, "lease", write_some, &w) && i == 0)
                        write_some(&w);
        code = fiber_group_join(group, DEADLINE_NONE);
        fiber_group_end(group);
        return code;
}

/* With an acquireTime it was somebody's, for whoever takes it. */
static json_t *vacant_lease(const struct shards *s, const char *name, bool was_anothers)
{
        char now[RFC3339_SIZE];

        time_format_rfc3339_micro(loop_wall_us(s->loop), now);
        return json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s}}, s:{s:s, s:s*}}", "apiVersion",
                         "coordination.k8s.io/v1", "kind", "Lease", "metadata", "name", name, "namespace",
                         s->o.lease.ns, "labels", LABEL_SHARDS, s->label, "spec", "holderIdentity", "",
                         "acquireTime", was_anothers ? now : NULL);
}

/* Whoever makes the layout begins it: no shard of it is worked on anywhere, so leases that are missing were
 * never there. They are made vacant, for all to share. After another layout somebody wrote until a moment ago
 * nevertheless, and the leases say so. */
static void found_layout(struct shards *s)
{
        bool was_anothers = s->layout.before == LEASE_WAS_ANOTHERS;

        for (unsigned k = 0; k < s->o.n; k++) {
                struct kube_client bounded = *s->o.kube;
                AUTO_JSON json_t *lease = vacant_lease(s, s->at[k].name, was_anothers);

                s->at[k].ours = false;
                s->at[k].stale |= was_anothers; /* its lease may be there, and never taken */
                bounded.call_deadline_ms = patience_ms(s);
                if (lease) /* what fails is taken later, as if it had been removed */
                        (void)kube_doc_create(&bounded, &lease_resource, s->o.lease.ns, lease, NULL, NULL,
                                              NULL);
        }
}

static int try_layout(struct shards *s, struct error *err)
{
        int code = ERR_CONFLICT;

        for (int i = 0; i < LAYOUT_TRIES && code == ERR_CONFLICT; i++) {
                error_clear(err);
                code = leader_try(&s->layout, patience_ms(s), err);
        }
        return code;
}

static void tell_waiting(struct shards *s, const struct error *err)
{
        if (!s->told_wait)
                log_info(s->o.log, "waiting for the layout of the shards", "lease", err->text);
        s->told_wait = true;
}

/* 0 also where it is not ours yet; ERR_TIMEOUT when it was ours and is another's. */
static int hold_layout(struct shards *s, struct error *err)
{
        int64_t renewed_ms = s->layout.renewed_at_ms;
        int code = try_layout(s, err);

        if (code == 0) {
                if (s->joined && was_late(s, &s->layout, renewed_ms))
                        lose(s, held(s), too_late_layout);
                if (s->layout.before == LEASE_WAS_ANOTHERS)
                        lose(s, SHARDS_ALL(s->o.n), "the layout was another's for a moment");
                if (s->layout.before == LEASE_WAS_ANOTHERS ||
                    (s->layout.before == LEASE_WAS_NEW && !s->joined))
                        found_layout(s);
                s->joined = true;
                s->told_wait = false;
                return 0;
        }
        if (code == ERR_EXISTS && s->joined) {
                s->layout.leading = false;
                lose(s, SHARDS_ALL(s->o.n), "another holds the layout's lease");
                return error_set(err, ERR_TIMEOUT, "shards lost: another holds the lease");
        }
        if (code == ERR_EXISTS)
                tell_waiting(s, err);
        else if (code != ERR_CANCELLED && code != ERR_CONFLICT)
                tell_problem(s, "the layout's lease cannot be written", err);
        return code == ERR_CANCELLED ? code : 0;
}

static void show_presence(struct shards *s)
{
        struct error err = { 0 };
        int code = holds(s, &s->presence) ? leader_renew(&s->presence, &err)
                                          : leader_try(&s->presence, patience_ms(s), &err);

        if (code < 0 && code != ERR_CONFLICT)
                tell_problem(s, "the lease that shows this replica cannot be written", &err);
}

/* ---- one step ---- */

/* Shards that another took though we held them: we were out of touch for too long. */
static void drop_others(struct shards *s)
{
        for (unsigned k = 0; k < s->o.n; k++)
                if (s->at[k].state != SHARD_FREE && s->at[k].listed && !s->at[k].ours)
                        lose(s, SHARD_BIT(k), "another holds its lease");
}

static void count_unowned(struct shards *s)
{
        int64_t now = shards_now_ms(s);
        unsigned n = 0;

        for (unsigned k = 0; k < s->o.n; k++)
                n += s->at[k].state == SHARD_TAKEN ||
                     (s->at[k].state == SHARD_FREE && s->at[k].free_since_ms >= 0);
        if (s->looked_ms >= 0)
                metric_add(s->o.metrics, METRIC_SHARD_UNOWNED_SECONDS,
                           n * (double)(now - s->looked_ms) / 1000, NULL);
        s->looked_ms = now;
}

static int start_fiber(struct shards *s, bool *running, const char *name, fiber_fn fn)
{
        if (*running)
                return 0;
        *running = true;
        if (fiber_spawn(s->group, name, fn, s))
                return 0;
        *running = false;
        return ERR_NO_MEMORY;
}

static int carry_out(struct shards *s, const struct shards_plan *plan)
{
        begin_giving(s, plan->give_up);
        TRY(write_shards(s, plan->take));
        arm_lapse(s);
        if (in_state(s, SHARD_TAKEN))
                TRY(start_fiber(s, &s->taking_over, "take-over", take_over));
        return in_state(s, SHARD_GIVING) ? start_fiber(s, &s->giving_up, "give-up", give_up) : 0;
}

static int share_out(struct shards *s, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *items = NULL;
        struct shards_view view;
        struct shards_plan plan;

        TRY(shards_look(s, patience_ms(s), &items, err));
        drop_others(s);
        count_unowned(s);
        expire(s);
        if (!shards_joined(s))
                return 0;
        if (shards_view(s, &arena, items, &view) < 0)
                return error_no_memory(err);
        shards_plan(&view, s->o.lease.identity, shards_now_ms(s), &plan);
        return carry_out(s, &plan);
}

static int step(struct shards *s, struct error *err)
{
        int code;

        expire(s);
        show_presence(s);
        TRY(hold_layout(s, err));
        expire(s);
        TRY(write_shards(s, held(s)));
        arm_lapse(s);
        if (!shards_joined(s))
                return 0;
        error_clear(err);
        code = share_out(s, err);
        if (code < 0 && code != ERR_CANCELLED)
                tell_problem(s, "the leases of the shards cannot be read", err);
        return code == ERR_CANCELLED ? code : 0;
}

int shards_run(struct shards *s, struct error *err)
{
        int64_t retry = s->layout.options.retry_ms;
        int code;

        metric_add(s->o.metrics, METRIC_SHARD_UNOWNED_SECONDS, 0, NULL);
        metric_add(s->o.metrics, METRIC_SHARD_TAKEOVERS, 0, NULL);
        show_held(s);
        do {
                error_clear(err);
                code = step(s, err);
                if (code == ERR_NO_MEMORY) /* as when the server is away: what is held runs out in time */
                        code = 0;
                if (code == 0) /* up to a tenth more, so that replicas do not meet for ever */
                        code = fiber_sleep(s->loop, retry + (int64_t)(loop_random_u64(s->loop) %
                                                                      (uint64_t)(retry / 10 + 1)));
        } while (code == 0);
        return code == ERR_TIMEOUT ? code : error_set(err, ERR_CANCELLED, "cancelled");
}

/* ---- the end ---- */

void shards_withdraw(struct shards *s)
{
        struct kube_client quick = *s->o.kube;

        s->leaving = true;
        quick.call_deadline_ms = RELEASE_DEADLINE_MS;
        fiber_mask_cancel(s->loop);
        s->group = fiber_group_end(s->group);
        if (s->presence.held)
                (void)kube_doc_delete(&quick, &lease_resource, s->o.lease.ns, s->presence_name, NULL, NULL,
                                      NULL);
        fiber_unmask_cancel(s->loop);
}

static void release_held(void *ctx)
{
        struct shard *sh = ctx;

        release_shard(sh);
}

static void release_shards(struct shards *s)
{
        struct fiber_group *group = fiber_group_new(s->loop, NULL, "release");

        for (unsigned k = 0; group && k < s->o.n; k++)
                if (s->at[k].state != SHARD_FREE && !fiber_spawn(group, "release", release_held, &s->at[k]))
                        break; /* they run out */
        if (group)
                fiber_group_join(group, DEADLINE_NONE);
        fiber_group_end(group);
}

/* By who leaves last. The order matters: a replica that joins shows itself before it renews the layout, so
 * either it is in the list, or the lease that was read before the list is not the newest any more. */
static int release_layout(struct shards *s, struct error *err)
{
        const struct leader_options *o = &s->layout.options;
        struct kube_client quick = *s->o.kube;
        AUTO_JSON json_t *lease = NULL;
        size_t others;

        quick.call_deadline_ms = RELEASE_DEADLINE_MS;
        TRY(kube_doc_get(&quick, &lease_resource, o->ns, o->name, &lease, err));
        TRY(shards_count_others(s, RELEASE_DEADLINE_MS, &others, err));
        if (others > 0 || !text_equal(doc_get_string(lease, "spec.holderIdentity"), o->identity))
                return 0;
        if (doc_set_string(lease, "spec.holderIdentity", "") < 0 ||
            doc_set_int(lease, "spec.leaseDurationSeconds", 1) < 0)
                return error_no_memory(err);
        return kube_doc_update(&quick, &lease_resource, o->ns, o->name, lease, NULL, NULL, err);
}

void shards_release(struct shards *s)
{
        struct error err = { 0 };

        timer_stop(&s->lapse);
        if (!s->joined)
                return;
        if (arriving_ms(s, SHARDS_ALL(s->o.n)) > 0) {
                log_info(s->o.log, "the shards' leases are not released but left to run out: a write may "
                                   "still arrive");
                return;
        }
        fiber_mask_cancel(s->loop);
        release_shards(s);
        if (s->layout.leading && release_layout(s, &err) < 0 && err.code != ERR_CONFLICT)
                log_warn(s->o.log, "the layout's lease was not released", "error", err.text);
        fiber_unmask_cancel(s->loop);
        show_held(s);
}
