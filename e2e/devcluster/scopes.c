/* Watches of one namespace of a table are woken by what is written there. Of a fleet with a namespace for
 * each of a thousand members every heartbeat would wake a thousand fibers otherwise, all but one for nothing.
 */
#include "e2e/devcluster/store_internal.h"

int watch_scope_take(struct table *t, const char *ns, struct watch_scope **ret)
{
        struct watch_scope *s;
        *ret = NULL;
        if (!ns)
                return 0;
        t->scopes.destroy = mem_free;
        s = map_get(&t->scopes, ns);
        if (!s) {
                s = NEW(struct watch_scope);
                if (!s || map_put(&t->scopes, ns, s) < 0) {
                        mem_free(s);
                        return ERR_NO_MEMORY;
                }
        }
        if (s->refs++ == 0) {
                s->last_rv = t->cluster->rv;
                s->before_rv = UINT64_MAX;
        }
        *ret = s;
        return 0;
}

void watch_scope_give(struct table *t, const char *ns, struct watch_scope *s)
{
        if (s && --s->refs == 0)
                map_remove(&t->scopes, ns);
}

struct waitq *watch_scope_queue(struct table *t, struct watch_scope *s)
{
        return s ? &s->watchers : &t->watchers;
}

void scopes_wake_all(struct table *t)
{
        map_for_each(&t->scopes, e)
                waitq_wake_all(&((struct watch_scope *)e->value)->watchers);
}

uint64_t watch_scope_skip(const struct table *t, const struct watch_scope *s, uint64_t rv)
{
        if (!s)
                return rv;
        if (s->last_rv <= rv)
                return MAX(rv, t->cluster->committed_rv);
        return s->before_rv <= rv ? MAX(rv, s->first_rv - 1) : rv;
}

static void note(struct watch_scope *s, uint64_t rv, uint64_t from)
{
        if (s->last_rv <= from) { /* the first of this commit */
                s->before_rv = s->last_rv;
                s->first_rv = rv;
        }
        s->last_rv = MAX(s->last_rv, rv);
        waitq_wake_all(&s->watchers);
}

void scopes_wake(struct table *t, uint64_t from)
{
        const struct event_queue *q = &t->events;
        if (map_count(&t->scopes) == 0)
                return;
        for (uint64_t at = api_store_events_after(t, from); at < q->base + q->n; at++) {
                const struct event *e = event_queue_get(q, at);
                struct watch_scope *s = map_get(&t->scopes, blob_ns(e->object));
                if (s)
                        note(s, e->rv, from);
        }
}

void scopes_forget(const struct event *e)
{
        struct watch_scope *s =
                map_count(&e->table->scopes) ? map_get(&e->table->scopes, blob_ns(e->object)) : NULL;
        if (s)
                s->forgotten_rv = e->rv;
}
