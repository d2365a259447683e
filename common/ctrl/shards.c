/* One replica among others: joins the layout, and does step by step what the leases tell it to. */
#include "common/ctrl/shards.h"

#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/ctrl/shards_internal.h"
#include "proto/names.h"

#define LONGEST_LEASES 10

int64_t shards_now_ms(const struct shards *s)
{
        return loop_now_us(s->loop) / 1000;
}

bool shards_holds(const struct shards *s, const struct leader *le)
{
        return le->leading && shards_now_ms(s) < le->renewed_at_ms + le->options.renew_deadline_ms;
}

unsigned shards_count(const struct shards *s)
{
        return s->o.n;
}

bool shards_joined(const struct shards *s)
{
        return s->joined && shards_holds(s, &s->layout);
}

bool shards_own(const struct shards *s, unsigned shard)
{
        const struct shard *sh = &s->at[shard];

        return sh->state == SHARD_OWNED && shards_joined(s) && shards_holds(s, &sh->lease);
}

uint32_t shards_term(const struct shards *s, unsigned shard)
{
        return s->at[shard].term;
}

bool shards_may_write(const struct shards *s, unsigned shard, uint32_t term)
{
        const struct shard *sh = &s->at[shard];

        return sh->term == term && (sh->state == SHARD_OWNED || sh->state == SHARD_GIVING) &&
               shards_joined(s) && shards_holds(s, &sh->lease);
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

/* ---- one step ---- */

/* Shards that another took though we held them: we were out of touch for too long. */
static void drop_others(struct shards *s)
{
        for (unsigned k = 0; k < s->o.n; k++)
                if (s->at[k].state != SHARD_FREE && s->at[k].listed && !s->at[k].ours)
                        shards_lose(s, SHARD_BIT(k), "another holds its lease");
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
        shards_begin_giving(s, plan->give_up);
        TRY(shards_write(s, plan->take));
        shards_arm_lapse(s);
        if (shards_in_state(s, SHARD_TAKEN))
                TRY(start_fiber(s, &s->taking_over, "take-over", shards_take_over));
        return shards_in_state(s, SHARD_GIVING) ? start_fiber(s, &s->giving_up, "give-up", shards_give_up)
                                                : 0;
}

static int share_out(struct shards *s, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *items = NULL;
        struct shards_view view;
        struct shards_plan plan;

        TRY(shards_look(s, shards_patience_ms(s), &items, err));
        drop_others(s);
        count_unowned(s);
        shards_expire(s);
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

        shards_expire(s);
        shards_show_presence(s);
        TRY(shards_hold_layout(s, err));
        shards_expire(s);
        TRY(shards_write(s, shards_held_set(s)));
        shards_arm_lapse(s);
        if (!shards_joined(s))
                return 0;
        error_clear(err);
        code = share_out(s, err);
        if (code < 0 && code != ERR_CANCELLED)
                shards_tell_problem(s, "the leases of the shards cannot be read", err);
        return code == ERR_CANCELLED ? code : 0;
}

int shards_run(struct shards *s, struct error *err)
{
        int64_t retry = s->layout.options.retry_ms;
        int code;

        metric_add(s->o.metrics, METRIC_SHARD_UNOWNED_SECONDS, 0, NULL);
        metric_add(s->o.metrics, METRIC_SHARD_TAKEOVERS, 0, NULL);
        shards_show_held(s);
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

void shards_release(struct shards *s)
{
        struct error err = { 0 };

        timer_stop(&s->lapse);
        if (!s->joined)
                return;
        if (shards_arriving_ms(s, SHARDS_ALL(s->o.n)) > 0) {
                log_info(s->o.log, "the shards' leases are not released but left to run out: a write may "
                                   "still arrive");
                return;
        }
        fiber_mask_cancel(s->loop);
        shards_release_held(s);
        if (s->layout.leading && shards_release_layout(s, &err) < 0 && err.code != ERR_CONFLICT)
                log_warn(s->o.log, "the layout's lease was not released", "error", err.text);
        fiber_unmask_cancel(s->loop);
        shards_show_held(s);
}
