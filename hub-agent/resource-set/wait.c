/* Waits until objects are as they are wanted, or gone: spec/resource-set.md 10. */
#include "hub-agent/resource-set/health.h"
#include "hub-agent/resource-set/pass.h"

#define POLL_MS 5000
#define FIRST_POLL_MS 200

struct look {
        struct set_pass *p;
        const struct set_item *items;
        enum object_health *health;
        const char **troubles; /* what could not be read, and why */
};

static int look_at(struct reconcile *one, void *ctx, size_t i)
{
        struct look *l = ctx;
        const struct set_item *item = &l->items[i];
        AUTO_JSON json_t *live = NULL;
        struct error err = { 0 };
        int code = kube_doc_get(&l->p->kube, &item->resource, item->ns, item->name, &live, &err);

        if (code == ERR_CANCELLED)
                return error_set(one->err, code, "%s", err.text);
        l->troubles[i] = code < 0 && code != ERR_NOT_FOUND ? arena_strdup(l->p->rc->arena, err.text) : NULL;
        l->health[i] = l->troubles[i] ? HEALTH_IN_PROGRESS
                                      : health_of(live, loop_wall_ms(agent_of(one)->world->loop));
        return 0;
}

static int unhealthy(const struct look *l, size_t n, const char *form, struct error *err)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 64u << 10);
        for (size_t i = 0; i < n; i++) {
                if (l->health[i] == HEALTH_CURRENT)
                        continue;
                if (b.len)
                        buf_append_str(&b, ", ");
                if (l->troubles[i])
                        buf_printf(&b, "can't determine status for %s: %s", l->items[i].words,
                                   l->troubles[i]);
                else
                        buf_printf(&b, "%s status: '%s'", l->items[i].words, health_word(l->health[i]));
        }
        l->p->reason = REASON_FLUX_HEALTH_FAILED;
        return error_set(err, ERR_RETRY, "%s: [%s]", form, or_empty(b.data));
}

static bool all_are(const enum object_health *h, size_t n, enum object_health wanted, bool any)
{
        for (size_t i = 0; i < n; i++)
                if ((h[i] == wanted) == any)
                        return any;
        return !any;
}

static int await_health(struct set_pass *p, const struct set_item *items, size_t n, int64_t timeout_ms,
                        struct error *err)
{
        struct loop *loop = agent_of(p->rc)->world->loop;
        int64_t deadline_ms = loop_now_ms(loop) + timeout_ms, pause_ms = FIRST_POLL_MS;
        struct look l = { p, items, ARENA_NEW_ARRAY(p->rc->arena, enum object_health, n + 1),
                          ARENA_NEW_ARRAY(p->rc->arena, const char *, n + 1) };

        if (!l.health || !l.troubles)
                return error_no_memory(err);
        for (;;) {
                if (rc_for_each(p->rc, n, look_at, &l) < 0)
                        return p->rc->err->code;
                if (all_are(l.health, n, HEALTH_CURRENT, false))
                        return 0;
                if (all_are(l.health, n, HEALTH_FAILED, true))
                        return unhealthy(&l, n, "failed early due to stalled resources", err);
                if (loop_now_ms(loop) >= deadline_ms)
                        return unhealthy(&l, n, "timeout waiting for", err);
                if (pass_is_overtaken(p))
                        return error_set(err, ERR_CLOSED, "New reconciliation triggered by %s",
                                         p->memory->trigger);
                if (fiber_sleep(loop, pause_ms) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
                pause_ms = MIN(pause_ms * 2, (int64_t)POLL_MS);
        }
}

/* The wait has a bound of its own: it does not count as work. */
int pass_await_health(struct set_pass *p, const struct set_item *items, size_t n, int64_t timeout_ms,
                      struct error *err)
{
        struct loop *loop = agent_of(p->rc)->world->loop;
        int64_t began_ms = loop_now_ms(loop);
        int code = await_health(p, items, n, timeout_ms, err);

        p->deadline_ms += loop_now_ms(loop) - began_ms;
        return code;
}

int pass_check_time(struct set_pass *p, struct error *err)
{
        char took[FLUX_TOOK_SIZE];

        if (loop_now_ms(agent_of(p->rc)->world->loop) < p->deadline_ms)
                return 0;
        flux_took_text(p->timeout_ms, took);
        return error_set(err, ERR_RETRY, "reconciliation timed out after %s", took);
}

int pass_await_gone(struct set_pass *p, const struct gone *o, int64_t poll_ms, int64_t deadline_ms,
                    struct error *err)
{
        struct loop *loop = agent_of(p->rc)->world->loop;
        json_t *live;

        for (;;) {
                int code = pass_read(p, &p->kube, o->resource, o->ns, o->name, &live, err);

                if (code == ERR_CANCELLED || code == ERR_NO_MEMORY)
                        return code;
                if (code == 0 && (!live || !text_equal(doc_get_string(live, "metadata.uid"), o->uid)))
                        return 0;
                if (loop_now_ms(loop) >= deadline_ms)
                        return code < 0 ? code : error_set(err, ERR_TIMEOUT, "%s is still there", o->name);
                error_clear(err); /* what cannot be read may be there */
                if (fiber_sleep(loop, poll_ms) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
        }
}
