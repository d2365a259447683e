/* What somebody waits for, before the caches are filled.
 *
 * A leader that begins lists all there is, which takes long where there is much. What a user asked for
 * meanwhile, or before, needs little of it: a placement with its own objects. So the lease is taken at once,
 * the kinds that are large (early_kind.select) have all others listed before them, and of a placement that
 * was edited the objects are listed alone. As soon as they are there controllers that take part work on keys
 * of that placement, and of no other.
 *
 * Nothing is decided from what is not known: all caches but the large kinds' are filled by then; of the large
 * ones a reconcile finds what is there, or all of a placement whose objects were listed (reconcile.c). Any
 * other read fails, and its key waits for the caches, as all others do. */
#include "common/base/memory.h"
#include "common/ctrl/frame.h"
#include "common/ctrl/informer_internal.h"

#define WANTED_MAX 16         /* placements; with more the lists themselves are sooner there */
#define TRIES_MAX 5           /* to list the objects of one */
#define AGAIN_MS 500          /* between them */
#define OTHERS_FIRST_MS 10000 /* so long large lists wait for the others */
#define HOLD_MS 3000          /* so long, all in all, they wait for what is worked on */
#define LOOK_MS 10

struct wish {
        bool whole;  /* its objects are there */
        bool failed; /* they could not be listed: it waits for the caches */
};

struct early {
        struct manager *m;
        struct map wishes; /* placement -> struct wish */
        struct waitq news;
        struct fiber_group *group; /* while the manager leads */
        int64_t begun_ms, held_ms;
};

struct early *early_new(struct manager *m)
{
        struct early *e = NEW(struct early);

        if (!e)
                return NULL;
        *e = (struct early){ .m = m, .begun_ms = loop_now_ms(m->options.world->loop) };
        map_init(&e->wishes, MAP_OWN_KEYS, mem_free);
        return e;
}

struct early *early_free(struct early *e)
{
        if (!e)
                return NULL;
        fiber_group_end(e->group);
        map_free(&e->wishes);
        mem_free(e);
        return NULL;
}

/* ---- kinds ---- */

static const struct early_kind *early_kind_of(const struct manager *m, const struct kind *kind)
{
        for (size_t i = 0; i < m->options.n_early; i++)
                if (m->options.early[i].kind == kind)
                        return &m->options.early[i];
        return NULL;
}

static bool is_large(const struct manager *m, const struct informer *i)
{
        const struct early_kind *k = early_kind_of(m, i->options.kind);

        return k && k->select;
}

/* ---- lists in order ---- */

static struct informer *first_unfilled(const struct manager *m)
{
        vec_for_each(&m->caches, c)
                if (c->awaited && !is_large(m, c->informer) && !informer_synced(c->informer))
                        return c->informer;
        return NULL;
}

static bool is_worked_on(const struct early *e)
{
        if (!e->group)
                return false;
        map_for_each(&e->wishes, it) {
                const struct wish *w = it->value;

                if (!w->whole && !w->failed)
                        return true;
        }
        vec_for_each(&e->m->running, r)
                if ((*r)->controller->early && work_queue_active((*r)->queue) > 0)
                        return true;
        return false;
}

static bool has_to_wait(const struct early *e)
{
        if (e->m->caches_awaited)
                return false;
        if (first_unfilled(e->m))
                return loop_now_ms(e->m->options.world->loop) - e->begun_ms < OTHERS_FIRST_MS;
        return e->held_ms < HOLD_MS && is_worked_on(e);
}

/* Between two pages of a large list. */
static int await_turn(void *ctx)
{
        struct early *e = ctx;

        while (has_to_wait(e)) {
                if (!first_unfilled(e->m))
                        e->held_ms += LOOK_MS;
                if (fiber_sleep(e->m->options.world->loop, LOOK_MS) < 0)
                        return ERR_CANCELLED;
        }
        return 0;
}

void early_options(struct manager *m, struct informer_options *o)
{
        const struct early_kind *k = m->early ? early_kind_of(m, o->kind) : NULL;

        if (!k || !k->select || o->resource || o->ns || o->label_selector || o->field_selector)
                return;
        o->part_of = k->part_of;
        o->turn = await_turn;
        o->turn_ctx = m->early;
}

/* ---- what is waited for ---- */

void early_want(struct manager *m, const char *placement)
{
        struct early *e = m->early;
        struct wish *w;

        if (!e || m->caches_awaited || map_count(&e->wishes) >= WANTED_MAX || map_has(&e->wishes, placement))
                return;
        w = NEW(struct wish);
        if (!w || map_put(&e->wishes, placement, w) < 0) { /* it waits for the caches */
                mem_free(w);
                return;
        }
        waitq_wake_all(&e->news);
}

static int load_of(struct early *e, const struct early_kind *k, const char *placement, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct informer *i = manager_find_informer(e->m, k->kind, NULL);
        const char *ns = NULL, *selector = NULL;

        if (!i || !k->select || informer_has_part(i, placement))
                return 0;
        if (k->select(placement, &arena, &ns, &selector) < 0)
                return error_no_memory(err);
        if (!ns && !selector)
                return 0;
        if (informer_wait_follows(i, DEADLINE_NONE) < 0)
                return error_set(err, ERR_CANCELLED, "cancelled");
        return informer_synced(i) ? 0 : informer_load_part(i, placement, ns, selector, err);
}

static int load(struct early *e, const char *placement, struct error *err)
{
        for (size_t i = 0; i < e->m->options.n_early; i++)
                TRY(load_of(e, &e->m->options.early[i], placement, err));
        return 0;
}

/* From here on its keys may be taken: those that wait, and its own, whatever the lists would say of it. */
static void begin_with(struct early *e, const char *placement)
{
        vec_for_each(&e->m->running, r) {
                if (!(*r)->controller->early)
                        continue;
                if ((*r)->controller->early == EARLY_PLACEMENTS &&
                    running_add(*r, placement, NULL, QUEUE_HIGH) < 0)
                        running_lose_key(*r, NULL, NULL);
                work_queue_wake((*r)->queue);
        }
}

static int fulfil(struct early *e, const char *placement, struct wish *w)
{
        struct loop *l = e->m->options.world->loop;
        struct error err;
        int code;

        for (unsigned tries = 1;; tries++) {
                error_clear(&err);
                code = load(e, placement, &err);
                if (code == 0 || code == ERR_CANCELLED || code == ERR_INVALID || tries == TRIES_MAX)
                        break;
                TRY(fiber_sleep(l, MAX(AGAIN_MS, (int64_t)err.retry_after_ms)));
        }
        if (code == ERR_CANCELLED)
                return code;
        w->whole = code == 0;
        w->failed = code < 0;
        if (code < 0) {
                log_info(&e->m->log, "an edited placement waits for the caches", "placement", placement,
                         "error", err.text);
                return 0;
        }
        log_info(&e->m->log, "an edited placement is worked on before the caches are filled", "placement",
                 placement);
        begin_with(e, placement);
        return 0;
}

static struct map_entry *next_wish(struct early *e)
{
        map_for_each(&e->wishes, it) {
                const struct wish *w = it->value;

                if (!w->whole && !w->failed)
                        return it;
        }
        return NULL;
}

/* All that is not large, so that nobody needs to ask of it what is known. */
static int await_others(struct early *e)
{
        struct informer *i;

        while ((i = first_unfilled(e->m))) {
                int code;

                informer_ref(i);
                code = informer_wait_synced(i, DEADLINE_NONE);
                informer_unref(i);
                if (code == ERR_CANCELLED)
                        return code;
        }
        return 0;
}

static void early_run(void *ctx)
{
        struct early *e = ctx;

        while (!e->m->caches_awaited) {
                struct map_entry *next = await_others(e) == 0 ? next_wish(e) : NULL;

                if (next ? fulfil(e, next->key, next->value) < 0
                         : waitq_wait(e->m->options.world->loop, &e->news, DEADLINE_NONE) < 0)
                        return;
        }
}

int early_start(struct manager *m)
{
        struct early *e = m->early;

        if (!e || m->caches_awaited)
                return 0;
        e->group = fiber_group_new(m->options.world->loop, NULL, "early");
        return e->group && fiber_spawn(e->group, "early", early_run, e) ? 0 : ERR_NO_MEMORY;
}

void early_stop(struct manager *m)
{
        if (m->early)
                m->early->group = fiber_group_end(m->early->group);
}

/* ---- what may be done ---- */

bool early_may_begin(struct running *r, const char *key)
{
        const struct controller *c = r->controller;
        struct manager *m = r->manager;
        AUTO_KEY struct key placement = KEY_EMPTY;
        const struct wish *w;

        if (!m->early || !c->early || first_unfilled(m) ||
            c->placement_of(m->options.agent, key, NULL, &placement) < 0 || !placement.text)
                return false;
        w = map_get(&m->early->wishes, placement.text);
        return w && w->whole;
}

int early_holds(struct manager *m, struct informer *i, const char *index, const char *value, bool *ret,
                struct error *err)
{
        const struct early_kind *k = m->early ? early_kind_of(m, i->options.kind) : NULL;
        AUTO_KEY struct key placement = KEY_EMPTY;

        *ret = false;
        if (!k || !k->placement_of_value)
                return 0;
        if (k->placement_of_value(m->options.agent, index, value, &placement) < 0)
                return error_no_memory(err);
        *ret = placement.text && informer_has_part(i, placement.text);
        return 0;
}
